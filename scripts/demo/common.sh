# shellcheck shell=sh
# What both demonstrations begin with, and how they end: for `.` in a script of this directory, with set -eu.
# shellcheck disable=SC2164
cd "$(dirname "$0")/../.."
root=$PWD
build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
out=$build/demo

command -v ghc >/dev/null 2>&1 || {
        echo "demo: there is no ghc; install it (Debian: scripts/deps demo)" >&2
        exit 2
}
[ -x "$build/heapwatch" ] && [ -x "$build/heapwatchd" ] || {
        echo "demo: $build/heapwatch and heapwatchd are not there; run make first" >&2
        exit 2
}

mkdir -p "$out/objects"
HEAPWATCH_DIR=$(mktemp -d "${TMPDIR:-/tmp}/heapwatch-demo-XXXXXX")
export HEAPWATCH_DIR
# Ends what has its number in a .pid file of the directory, and only the daemon of this directory: it reports its own PID.
finish() {
        status=$?
        trap - EXIT
        for file in "$HEAPWATCH_DIR"/*.pid; do
                [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
        done
        pid=$("$build/heapwatch" status --format json 2>/dev/null |
                sed -n 's/.*"daemon":{[^{}]*"pid":\([0-9]\{1,\}\).*/\1/p' | head -n 1) || pid=
        [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
        rm -rf "$HEAPWATCH_DIR"
        exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# start_daemon OPTION...
start_daemon() {
        "$build/heapwatchd" "$@" 2>"$HEAPWATCH_DIR/daemon.log" &
        until "$build/heapwatch" status >/dev/null 2>&1; do
                kill -0 $! 2>/dev/null || {
                        cat "$HEAPWATCH_DIR/daemon.log" >&2
                        exit 1
                }
                sleep 0.1
        done
}

# attach_when_up PID OPTION...: its runtime must be up.
attach_when_up() {
        tries=0
        until [ -d "/proc/$1" ] && "$build/heapwatch" attach "$@" 2>"$HEAPWATCH_DIR/why"; do
                tries=$((tries + 1))
                [ "$tries" -lt 50 ] || {
                        cat "$HEAPWATCH_DIR/why" >&2
                        exit 1
                }
                sleep 0.1
        done
}
