#!/bin/sh
# Everything that a reader would stumble over. Warnings are errors.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "wording"
scripts/lint-wording.sh

step "formatting"
cargo fmt --all --check

step "clippy"
cargo clippy --quiet --locked --workspace --all-targets --all-features -- --deny warnings

step "documentation"
RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --locked --workspace --no-deps --document-private-items

if command -v cargo-deny >/dev/null 2>&1; then
    step "dependencies"
    cargo deny --locked check
fi
