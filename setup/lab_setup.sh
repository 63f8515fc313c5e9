#!/usr/bin/env bash
# Sets the lab up for a student on Open OnDemand. In the field for custom pre-load commands:
#
#     module load anaconda3
#     bash /the/course/folder/lab_setup.sh
#
# May run at every start, and twice at once. It unpacks the newest release of the folder in
# which it lies beside what the student has, makes a virtual environment, registers a kernel,
# and says what is OK and what is not. It always ends well: no failure ends the session.
#
# LAB_HOME     where to work (default: ~/recompute-lab)
# LAB_NEED_MB  room that an installation needs (default: by the size of the wheels)
# LAB_WAIT     seconds to wait for another session that is setting up (default: 900)

lab_setup() ( # a subshell: nothing of it stays in a session that sources this file
    set +e -u
    share=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    if [ -z "${LAB_HOME:-}${HOME:-}" ]; then
        echo "FAIL  HOME is not set, so that there is no place for your work"
        echo "      cure: write export LAB_HOME=/a/folder/of/yours above the line with lab_setup.sh"
        exit 0
    fi
    base=${LAB_HOME:-${HOME:-}/recompute-lab}
    state=$base/.setup
    log=$state/setup.log
    failed=0

    say() {
        printf '%s\n' "$*"
        printf '%s %s\n' "$(date +%FT%T)" "$*" 2>/dev/null >>"$log"
    }
    fail() { # fail WHAT CURE
        failed=1
        say "FAIL  $1"
        say "      cure: $2"
    }

    make_room_for_state() {
        if ! mkdir -p "$state" 2>/dev/null || ! : 2>/dev/null >>"$log"; then
            log=/dev/null
            fail "cannot write in $base" \
                "see with df -h ~ and quota -s whether your disk is full, and delete what you do not need; or set LAB_HOME to another folder above the line with lab_setup.sh"
            return 1
        fi
        if [ "$(wc -c <"$log")" -gt 1000000 ]; then
            tail -c 200000 "$log" >"$log.new" && mv "$log.new" "$log"
        fi
        # pip unpacks large files there; a TMPDIR of an earlier job may be gone.
        if [ -n "${TMPDIR:-}" ] && [ ! -w "$TMPDIR" ]; then
            say "      TMPDIR=$TMPDIR cannot be used; /tmp is used instead"
            export TMPDIR=/tmp
        fi
    }

    # One session at a time. Not every file system of a cluster knows flock; mkdir works on all.
    lock() {
        local wait=${LAB_WAIT:-900} status=2 waited
        if command -v flock >/dev/null && exec 9>"$state/lock"; then
            flock -n 9 2>>"$log"
            status=$?
            if [ "$status" -eq 1 ]; then
                say "      another session is setting up; waiting for it"
                flock -w "$wait" 9 2>>"$log"
                status=$?
                [ "$status" -ne 1 ] || locked_out "$state/lock"
            fi
        fi
        [ "$status" -gt 1 ] || return "$status"
        held=$state/lock.d
        for ((waited = 0; ; waited++)); do
            if mkdir "$held" 2>/dev/null; then
                echo "$(hostname) $$" >"$held/owner"
                trap 'rm -rf "$held"' EXIT
                return 0
            fi
            if [ "$waited" -ge "$wait" ]; then
                locked_out "$held"
                return 1
            fi
            free_abandoned "$held" || sleep 1
        done
    }
    # Two sessions may find the same owner gone: one at a time looks and deletes, or the
    # slower one would delete the lock that the faster one has taken since.
    free_abandoned() { # free_abandoned LOCK: fails while somebody holds it
        local host pid status=1
        mkdir "$1.freeing" 2>/dev/null || return 1
        read -r host pid 2>/dev/null <"$1/owner" || host=""
        if [ "$host" = "$(hostname)" ] && ! kill -0 "$pid" 2>/dev/null; then
            rm -rf "$1"
            status=$?
        fi
        rmdir "$1.freeing"
        return "$status"
    }
    locked_out() {
        fail "another session has been setting up for a long time" \
            "wait until it is done and start again; if there is none: rm -rf '$1'*"
    }

    choose_python() {
        local candidate
        for candidate in python3 python python3.13 python3.12 python3.11; do
            # The one behind a virtual environment: environments are not stacked.
            python=$("$candidate" -c '
import sys, venv
if sys.version_info < (3, 11):
    sys.exit(1)
print(sys._base_executable)' 2>/dev/null) && return
        done
        fail "found no Python 3.11 or newer (python3 is $(python3 --version 2>&1))" \
            "write module load anaconda3 above the line with lab_setup.sh; module avail lists others"
        return 1
    }

    # Of an unpacked release, or of one in its zip: needs nothing but Python.
    helper() { # helper RELEASE ARGUMENTS...
        local code=$1
        shift
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$code" "$python" -m lab_utils.kit.machine.on_demand "$@" 2>>"$log"
    }

    bring_release() {
        local zip name older
        zip=$(readlink -f "$share/current.zip")
        name=$(basename "$zip" .zip)
        if [ -r "$zip" ] && folder=$(helper "$zip/$name" unpack "$zip" "$base") && [ -d "$folder" ]; then
            say "OK    release $name"
        else
            # shellcheck disable=SC2012  # our own names: no newlines in them
            folder=$(ls -dt "$base"/recompute-lab-*/ 2>/dev/null | head -n 1)
            folder=${folder%/}
            if ! [ -r "$zip" ]; then
                fail "cannot read a release in $share" \
                    "run lab_setup.sh where it lies, in the course's folder; if you did, tell the course's staff that current.zip cannot be read"
            else
                fail "cannot unpack $name into $base: $(tail -n 1 "$log" | cut -c 1-200)" \
                    "make room (see df -h '$base' and quota -s), and start again"
            fi
            [ -n "$folder" ] || return 1
            say "      going on with what is there: $folder"
        fi
        older=$(helper "$folder" work "$base" "$folder")
        if [ -n "$older" ]; then
            say "NEW   a newer release lies beside your work: $folder"
            say "      your work stays as it is, and you may go on with it: $older"
            say "      to carry your answers over: cd '$folder' && $python -m lab_utils upgrade"
            work=$older
        else
            work=$folder
        fi
    }

    # A torch that the cluster brings and that the lab can use is not installed again.
    has_torch() {
        PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}" "$python" -c '
import sys
from lab_utils.kit.machine.environment import environment
sys.exit(not any(fact.ok and fact.text.startswith("torch ") for fact in environment()))' 2>/dev/null
    }

    enough_room() {
        local wheels=0 need free files
        [ ! -d "$share/wheelhouse" ] || wheels=$(du -sm "$share/wheelhouse" 2>/dev/null | cut -f 1)
        need=$((${wheels:-0} > 0 ? wheels * 4 : 4000))
        [ -z "$system" ] || need=$((need > 1000 ? 1000 : need))
        need=${LAB_NEED_MB:-$need}
        free=$(df -Pm "$state" | awk 'NR == 2 { print $4 }')
        files=$(df -Pi "$state" 2>/dev/null | awk 'NR == 2 && $2 > 0 { print $4 }')
        if [ "${free:-$need}" -lt "$need" ]; then
            fail "the disk has $free MB left, and the packages need about $need MB" \
                "delete what you do not need (du -sh ~/.cache ~/.conda), or set LAB_HOME to a larger disk"
        elif [ "${files:-100000}" -lt 40000 ]; then
            fail "the disk has room for only $files more files, and the packages are about 40000" \
                "delete folders with many small files (old environments, ~/.conda/pkgs), and start again"
        else
            return 0
        fi
        return 1
    }

    install() { # install SOURCE, where SOURCE is wheelhouse or registry
        local uri
        uri=$("$python" -c 'import pathlib, sys; print(pathlib.Path(sys.argv[1]).as_uri())' "$share/wheelhouse")
        (
            unset PIP_TARGET PIP_PREFIX
            export PIP_USER=0 PYTHONNOUSERSITE=1
            if [ -d "$share/wheelhouse" ]; then
                export PIP_FIND_LINKS="$uri"
            fi
            [ "$1" = registry ] || export PIP_NO_INDEX=1
            # No cache and no compiled files: they would count against quota and inodes.
            cd "$folder" && "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
                --no-cache-dir --no-compile --no-warn-script-location --timeout 20 --retries 1 \
                -r "$venv/kernel.txt" >"$state/pip.log" 2>&1
        )
        local status=$?
        cat "$state/pip.log" 2>/dev/null >>"$log"
        return "$status"
    }

    make_venv() {
        local key
        system=""
        has_torch && system=--system-site-packages
        key=$({
            cat "$folder/requirements.txt" "$folder/requirements.lock"
            echo "$system" "$("$python" -c 'import sys; print(sys.version, sys.base_prefix)')"
        } | cksum | cut -d ' ' -f 1)
        venv=$state/venv-$key
        if [ -f "$venv/.ready" ] && "$venv/bin/python" -c '' 2>/dev/null; then
            return 0
        fi
        enough_room || return 1
        say "      installing packages into $venv; this takes a few minutes, once"
        if ! "$python" -m venv --clear $system "$venv" >"$state/pip.log" 2>&1; then
            gave_up "$python cannot make a virtual environment in $state" "try another module"
            return 1
        fi
        cp "$folder/requirements.lock" "$venv/kernel.lock"
        {
            printf '%s\n' "-c kernel.lock" ipykernel
            grep -vE '^(#|-c|jupyterlab==|$)' "$folder/requirements.txt" |
                { if [ -n "$system" ]; then grep -vE '^(torch|numpy)=='; else cat; fi; }
        } >"$venv/kernel.txt"
        if { [ -d "$share/wheelhouse" ] && install wheelhouse; } || install registry; then
            touch "$venv/.ready"
            return 0
        fi
        gave_up "pip could not install the packages: $(grep -m 1 '^ERROR' "$state/pip.log" | cut -c 1-200)" \
            "start again; if it happens again, send $log to the course's staff"
        return 1
    }
    gave_up() { # gave_up WHAT CURE: unless it is the disk that was too small
        local free
        free=$(df -Pm "$state" | awk 'NR == 2 { print $4 }')
        if [ "${free:-9}" -lt 2 ] || grep -qiE 'quota exceeded|no space left' "$state/pip.log"; then
            set -- "the disk became full while packages were installed" \
                "make room (see df -h '$base' and quota -s), and start again"
        fi
        rm -rf "$venv" # half an environment only takes room
        fail "$1" "$2"
    }

    register_kernel() {
        local threads=${SLURM_CPUS_ON_NODE:-0}
        case $threads in *[!0-9]* | "") threads=0 ;; esac
        if kernel=$(helper "$folder" kernel "$venv/bin/python" "$threads"); then
            say "OK    kernel $(basename "$kernel"), $([ "$threads" -gt 0 ] && echo "$threads threads" || echo "threads as the node has cores")"
        else
            fail "cannot register a kernel: $(tail -n 1 "$log" | cut -c 1-200)" "make room in ~/.local/share/jupyter"
        fi
    }

    self_test() {
        local lines
        lines=$(cd "$work" && PYTHONNOUSERSITE=1 "$venv/bin/python" -m lab_utils check-env 2>&1)
        case $lines in *FAIL* | *Error*) failed=1 ;; esac
        say "$lines"
    }

    printf 'recompute-lab: setting up\n'
    if make_room_for_state && lock && choose_python && bring_release && make_venv; then
        register_kernel
        self_test
        (cd "$work" && PYTHONNOUSERSITE=1 "$venv/bin/python" -m lab_utils start >>"$log" 2>&1)
        say "      to pack: cd '$work' && '$venv/bin/python' -m lab_utils pack LAB"
    fi
    if [ "$failed" -eq 0 ]; then
        say "OK    all is ready. Open ${work:-}/notebooks/START.ipynb"
    else
        [ -z "${work:-}" ] || say "      your folder: $work/notebooks"
        say "FAIL  the lab is not ready: do what the lines above say. The session goes on. Log: $log"
    fi
    exit 0
)

lab_setup || :
