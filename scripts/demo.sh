#!/bin/sh
# Builds the command and runs its tour. On a terminal the first build shows Cargo's progress.
set -eu
cd "$(dirname "$0")/.."

quiet=--quiet
if [ ! -e "${CARGO_TARGET_DIR:-target}/debug/leaseline" ]; then
    echo "demo: the first build takes about ten minutes on two cores"
    if [ -t 2 ]; then quiet=; fi
fi
# `--workspace` although it is one program: its dependencies get the features that the tests build
# them with, and are built once.
# shellcheck disable=SC2086 # an empty word must vanish
cargo build $quiet --locked --workspace --bin leaseline
exec "${CARGO_TARGET_DIR:-target}/debug/leaseline" demo
