"""``python -m lab_utils``: trace, measure, compare and draw graphs; check-env; pack; upgrade."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lab_utils.kit import commands, upgrade_command
from lab_utils.kit.hand_in import commands as hand_in_commands
from lab_utils.kit.start import commands as start_commands
from lab_utils.steps import commands as graph_commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A user's mistake is one line on stderr."""
    rooms = (graph_commands, hand_in_commands, start_commands, upgrade_command)
    return commands.run("lab_utils", __doc__, (room.add_commands for room in rooms), arguments)


if __name__ == "__main__":
    sys.exit(main())
