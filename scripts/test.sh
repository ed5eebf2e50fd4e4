#!/bin/sh
# All tests, and what is quick to check besides; scripts/lint.sh checks the rest. Every server that
# a test needs is started by that test, on a free port, and stopped by it.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "set-up"
scripts/setup.sh --test

step "wording and formatting"
scripts/lint-wording.sh
if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --all --check
else
    echo "the formatting is NOT checked: rustfmt is missing"
fi

step "component"
cargo xtask component
cargo xtask component --check-reproducible

step "the original library"
reason=$(mktemp)
interop=
node_interop=
passed=
# Said last however the run ends: a run without the original library must not pass for one with it.
finish() {
    rm -f "$reason"
    if [ -z "$passed" ] && [ -n "${LEASELINE_INTEROP_PYTHON:-}" ]; then
        interop="was set up ($interop), but something failed"
    elif [ -n "${LEASELINE_INTEROP_PYTHON:-}" ]; then
        interop="ran live against $interop"
    fi
    [ -z "$interop" ] || step "Python interoperability $interop"
    [ -z "$node_interop" ] || step "ioredis $node_interop"
}
trap finish EXIT
versions() {
    printf '%s\n' "$LEASELINE_INTEROP_PYTHON" | tr : '\n' | while read -r python; do
        "$python" -c 'import importlib.metadata as m, platform
print(m.version("redis-message-queue"), f"(Python {platform.python_version()})")'
    done | paste -s -d , - | sed 's/,/, /'
}
if pythons=$(scripts/interop-python.sh 2>"$reason"); then
    export LEASELINE_INTEROP_PYTHON="$pythons"
    interop="redis-message-queue $(versions)"
else
    unset LEASELINE_INTEROP_PYTHON
    interop="did NOT run: $(tail -n 1 "$reason")"
fi
cat "$reason"

step "clients of Node.js"
if packages=$(scripts/interop-node.sh 2>"$reason"); then
    export LEASELINE_INTEROP_NODE="$packages"
    node_interop="ran live"
else
    unset LEASELINE_INTEROP_NODE
    node_interop="did NOT run: $(tail -n 1 "$reason")"
fi
cat "$reason"

if command -v cargo-nextest >/dev/null 2>&1; then
    step "documentation tests"
    cargo test --locked --workspace --doc
    step "tests"
    cargo nextest run --locked --workspace
    step "features of the client"
    cargo nextest run --locked --workspace --features leaseline/metrics,leaseline/tracing \
        --test metrics --test spans
    step "planted faults"
    cargo nextest run --locked -p leaseline-redis-model --features planted-faults planted
else
    step "tests"
    cargo test --locked --workspace --no-fail-fast
    step "features of the client"
    cargo test --locked --workspace --features leaseline/metrics,leaseline/tracing \
        --test metrics --test spans
    step "planted faults"
    cargo test --locked -p leaseline-redis-model --features planted-faults planted
fi
passed=yes
