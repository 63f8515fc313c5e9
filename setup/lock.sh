#!/usr/bin/env bash
# Writes requirements.lock: the versions that pip chooses today for all that the packages
# of requirements.txt need in turn. Run it after a change of requirements.txt.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=build/lock
"${PYTHON:-python3}" -m venv --clear "$scratch"
grep -v '^-c' requirements.txt >"$scratch/requirements.txt"
# Held back: later versions refuse Python 3.11.0 to 3.11.4, and Debian 12 has 3.11.2.
echo "soupsieve<3" >"$scratch/held_back.txt"
"$scratch/bin/python" -m pip install --disable-pip-version-check --no-input \
    -c "$scratch/held_back.txt" -r "$scratch/requirements.txt"
{
    echo "# Written by make lock: what the packages of requirements.txt need in turn."
    # A build's own mark (as in 1.2+cpu) differs between machines, its version does not.
    "$scratch/bin/python" -m pip freeze | sed 's/+.*//' | grep -vixFf requirements.txt
} >"$scratch/requirements.lock"
mv "$scratch/requirements.lock" requirements.lock
rm -rf "$scratch"
