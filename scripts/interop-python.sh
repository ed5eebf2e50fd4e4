#!/bin/sh
# Provides Pythons that have the original library, one for each version that the tests run, in
# virtual environments that are kept in the target directory. Prints their paths in the order of
# VERSIONS, separated as in PATH. Where one is impossible the last line on standard error says why,
# and the exit status is 1: all or none.
set -eu
cd "$(dirname "$0")/.."

PACKAGE=redis-message-queue
# The oldest that shares queues with this library, and the newest. crates/client/tests/interop
# knows them by their places.
VERSIONS="8.3.0 11.0.1"

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)

say() { printf '%s\n' "$*" >&2; }

candidates() {
    printf '%s\n' python3.14 python3.13 python3.12 python3
    if command -v pyenv >/dev/null 2>&1; then
        for candidate in "$(pyenv root)"/versions/*/bin/python3; do
            printf '%s\n' "$candidate"
        done
    fi
}

# Really runs it: a shim on the PATH may stand for a version that is not installed.
is_suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' </dev/null >/dev/null 2>&1
}

# is_ready PYTHON VERSION
is_ready() {
    is_suitable "$1" && "$1" - "$PACKAGE" "$2" >/dev/null 2>&1 <<'PYTHON'
import importlib.metadata, sys
import redis_message_queue
sys.exit(importlib.metadata.version(sys.argv[1]) != sys.argv[2])
PYTHON
}

# provide PYTHON VERSION
provide() {
    if is_ready "$1" "$2"; then
        say "$PACKAGE $2 is there"
        return
    fi
    problem="no Python 3.12 or newer was found"
    for candidate in $(candidates); do
        is_suitable "$candidate" || continue
        if ! "$candidate" -m venv --clear "${1%/bin/python}" </dev/null >/dev/null 2>&1; then
            problem="$candidate cannot make a virtual environment"
            continue
        fi
        say "installing $PACKAGE $2 for $("$1" --version)"
        if "$1" -m pip install --quiet --disable-pip-version-check --no-input \
            --retries 2 "$PACKAGE==$2" </dev/null >&2 && is_ready "$1" "$2"; then
            return
        fi
        problem="pip cannot install $PACKAGE $2"
        break
    done
    say "$problem"
    return 1
}

paths=
for version in $VERSIONS; do
    python=$target/interop-python-$version/bin/python
    provide "$python" "$version" || exit 1
    paths=$paths${paths:+:}$python
done
printf '%s\n' "$paths"
