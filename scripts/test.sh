#!/bin/sh
# Everything that must hold before a change goes in. Every server that a test needs is started by
# that test, on a free port, and stopped by it.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "set-up"
scripts/setup.sh --test

step "component"
cargo xtask component
cargo xtask component --check-reproducible

step "the original library"
reason=$(mktemp)
trap 'rm -f "$reason"' EXIT
if python=$(scripts/interop-python.sh 2>"$reason"); then
    export LEASELINE_INTEROP_PYTHON="$python"
    interop="ran live against redis-message-queue, $("$python" --version)"
else
    unset LEASELINE_INTEROP_PYTHON
    interop="did NOT run: $(tail -n 1 "$reason")"
fi
cat "$reason"

if command -v cargo-nextest >/dev/null 2>&1; then
    step "documentation tests"
    cargo test --locked --workspace --doc
    step "tests"
    cargo nextest run --locked --workspace
else
    step "tests"
    cargo test --locked --workspace --no-fail-fast
fi

step "Python interoperability $interop"
