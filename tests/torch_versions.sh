#!/usr/bin/env bash
# Runs the tests of what students use with other versions of PyTorch than the pinned one:
#   tests/torch_versions.sh 2.9.1 2.14.1
# Each version gets a throwaway environment below TMPDIR: about 8 GB with CUDA's libraries,
# 2 GB where pip is shown builds for the CPU (PIP_EXTRA_INDEX_URL).
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
if [ "$#" = 0 ]; then
    echo "usage: tests/torch_versions.sh VERSION ... (as in 2.9.1)" >&2
    exit 2
fi
tests=(tests/steps/test_{trace,memory,schedule,story,dot,dot_language,dot_parts,diff,cli}.py
    tests/steps/test_{pictures,widgets}.py tests/labs/lab4a/test_{catalogue,files}.py
    tests/labs/project/test_catalogue.py tests/support/student_path.py)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
summary=""
failed=0

# requirements.txt with another torch, which chooses the packages that it needs in turn.
install() {
    local venv=$1 version=$2
    "${PYTHON:-python3}" -m venv "$venv" &&
        grep -vE '^(-c|torch==)' requirements.txt >"$venv/others.txt" &&
        "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --quiet \
            --no-cache-dir -c requirements.lock "torch==$version" -r "$venv/others.txt"
}

for version in "$@"; do
    printf '\n== torch %s\n' "$version"
    venv=$scratch/torch-$version
    verdict=passed
    if ! install "$venv" "$version"; then
        verdict="could not be installed"
    elif ! "$venv/bin/python" -m pytest -q -n 2 "${tests[@]}"; then
        verdict=FAILED
    fi
    [ "$verdict" = passed ] || failed=1
    summary="$summary  torch $version $verdict"$'\n'
    rm -rf "$venv"
done
printf '\n%s' "$summary"
exit "$failed"
