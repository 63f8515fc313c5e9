"""``python -m autograder``: grade a class, judge two files, publish a release."""

import sys

from autograder.cli import main

if __name__ == "__main__":
    sys.exit(main())
