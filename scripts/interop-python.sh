#!/bin/sh
# Provides a Python that has the original library, in a virtual environment that is kept in the
# target directory, and prints its path. Where that is impossible the last line on standard error
# says why, and the exit status is 1.
set -eu
cd "$(dirname "$0")/.."

PACKAGE=redis-message-queue
VERSION=8.3.0

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
environment=$(cd "$target" && pwd)/interop-python
python=$environment/bin/python

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

is_ready() {
    is_suitable "$python" && "$python" - "$PACKAGE" "$VERSION" >/dev/null 2>&1 <<'PYTHON'
import importlib.metadata, sys
import redis_message_queue
sys.exit(importlib.metadata.version(sys.argv[1]) != sys.argv[2])
PYTHON
}

if is_ready; then
    say "$PACKAGE $VERSION is there"
    printf '%s\n' "$python"
    exit
fi

problem="no Python 3.12 or newer was found"
for candidate in $(candidates); do
    is_suitable "$candidate" || continue
    if ! "$candidate" -m venv --clear "$environment" </dev/null >/dev/null 2>&1; then
        problem="$candidate cannot make a virtual environment"
        continue
    fi
    say "installing $PACKAGE $VERSION for $("$python" --version)"
    if "$python" -m pip install --quiet --disable-pip-version-check --no-input \
        --retries 2 "$PACKAGE==$VERSION" </dev/null >&2 && is_ready; then
        printf '%s\n' "$python"
        exit
    fi
    problem="pip cannot install $PACKAGE $VERSION"
    break
done
say "$problem"
exit 1
