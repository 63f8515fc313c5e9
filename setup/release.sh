#!/usr/bin/env bash
# Builds a release, checks it for leaks, and publishes it into the course's shared folder.
# Arguments go to the command: --check, --share DIR, --wheels PYTHON.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash setup/venv.sh
exec .venv/bin/python -m autograder release "$@"
