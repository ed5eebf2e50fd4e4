#!/bin/sh
# Builds the command and runs its tour. On a terminal the first build shows Cargo's progress.
set -eu
cd "$(dirname "$0")/.."

quiet=--quiet
if [ ! -e "${CARGO_TARGET_DIR:-target}/debug/leaseline" ]; then
    echo "demo: the first build takes about ten minutes on two cores"
    if [ -t 2 ]; then quiet=; fi
fi
# shellcheck disable=SC2086 # an empty word must vanish
exec cargo run $quiet --locked --package leaseline-cli -- demo
