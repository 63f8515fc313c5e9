#!/usr/bin/env bash
# Makes .venv hold what requirements.txt asks for; does nothing when it already does.
# PYTHON names the interpreter to use: 3.11 or newer.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ready=.venv/.ready # written last: a .venv without it is unfinished, and is made anew

say() { printf 'setup: %s\n' "$*" >&2; }

# Prints the executable that stands behind an interpreter: the one of .venv itself
# cannot make .venv anew.
new_enough() {
    "$1" -c '
import sys
if sys.version_info < (3, 11):
    sys.exit(1)
print(sys._base_executable)' 2>/dev/null
}

choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" && return
        say "PYTHON=$PYTHON is not a working Python 3.11 or newer"
        return 1
    fi
    # What .venv was made with comes first, so that PYTHON need be given only once.
    for candidate in .venv/bin/python python3 python3.14 python3.13 python3.12 python3.11; do
        new_enough "$candidate" && return
    done
    say "found no Python 3.11 or newer: install one, or name it: make setup PYTHON=/path/to/python"
    return 1
}

if [ -L .venv ]; then
    say ".venv is a link to $(readlink .venv), and what it leads to is not touched: delete the link"
    exit 1
fi
python=$(choose_python)
version=$("$python" -c 'import sys; print(sys.version.split()[0], "of", sys.base_prefix)')
# Scripts in a .venv hold its path, so that one which was moved is of no use.
made_with="Python $version for $PWD"
packages=$(cat requirements.txt requirements.lock pyproject.toml | cksum)
before=$(cat "$ready" 2>/dev/null || true)
after="$made_with
$packages"
[ "$before" != "$after" ] || exit 0

rm -f "$ready"
if [ "${before%%
*}" != "$made_with" ]; then
    say "making .venv with Python $version"
    if ! "$python" -m venv --clear .venv; then
        say "this Python cannot make virtual environments: on Debian, apt-get install python3-venv;" \
            "or name another one: make setup PYTHON=/path/to/python"
        exit 1
    fi
fi
log=.venv/pip.log
say "installing requirements.txt (the first time, this takes a few minutes; pip writes to $log)"
if ! .venv/bin/python -m pip install --disable-pip-version-check --no-input --progress-bar off \
    -r requirements.txt >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    say "pip could not install requirements.txt (its reason stands above, all of it in $log);" \
        "make setup tries again"
    exit 1
fi
# lab_utils is imported from where it is edited; no build step, no copy.
printf '%s\n' "$PWD" >"$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lab_utils.pth"
printf '%s\n' "$after" >"$ready"
say "done: .venv is ready"
