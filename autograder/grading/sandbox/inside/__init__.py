"""All of the executor that enters the sandbox.

Nothing here may import the rest of ``autograder``: in the sandbox this folder is a
package of its own, beside ``lab_utils``.
"""
