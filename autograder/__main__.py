"""``python -m autograder``: grade a class, judge two files, publish a release."""

import gc
import sys

from autograder.cli import main

if __name__ == "__main__":
    gc.set_threshold(10_000, 20, 20)  # most of what a class is made of lives on
    sys.exit(main())
