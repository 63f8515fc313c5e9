#!/usr/bin/env bash
# Linters, type checker and tests, all of them even when one fails. Arguments go to pytest.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
python=.venv/bin/python
summary=""
failed=0

check() {
    local name=$1 verdict=passed
    shift
    printf '\n== %s\n' "$name"
    "$@" || verdict=FAILED
    [ "$verdict" = passed ] || failed=1
    summary="$summary  $(printf '%-12s' "$name") $verdict
"
}

check "ruff check" "$python" -m ruff check .
check "ruff format" "$python" -m ruff format --check .
check "mypy" "$python" -m mypy
check "imports" .venv/bin/lint-imports --no-logo
# One more process than two cores have: browsers and clusters wait a good part of their time.
check "pytest" "$python" -m pytest -n 3 --dist loadgroup "$@"
printf '\n%s' "$summary"
exit "$failed"
