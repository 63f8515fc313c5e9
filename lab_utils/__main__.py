"""``python -m lab_utils``: trace, measure, compare and draw graphs; check-env; pack a hand-in."""

import sys

from lab_utils.kit.commands import main

if __name__ == "__main__":
    sys.exit(main())
