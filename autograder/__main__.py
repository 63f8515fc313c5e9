"""``python -m autograder``: grade a class, judge files."""

import sys

from autograder.cli import main

if __name__ == "__main__":
    sys.exit(main())
