#!/bin/sh
# Fuzzes each target of fuzz/ for SECONDS_EACH seconds. It needs no cargo-fuzz: the coverage that
# libFuzzer asks for is a pass of the compiler, which every toolchain has.
set -eu
cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
passes="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
passes="$passes -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
passes="$passes -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
export RUSTFLAGS="--cfg fuzzing $passes -Ccodegen-units=1 -Cdebug-assertions"
# With a target named, build scripts are built without the coverage.
cargo build --release --locked --target "$host"
for target in fuzz_targets/*.rs; do
    name=$(basename "$target" .rs)
    mkdir -p "corpus/$name" "artifacts/$name"
    echo "== $name, ${SECONDS_EACH:-60} s"
    "${CARGO_TARGET_DIR:-target}/$host/release/$name" "corpus/$name" \
        -artifact_prefix="artifacts/$name/" -max_total_time="${SECONDS_EACH:-60}" -max_len=1200 \
        -rss_limit_mb=2048 -print_final_stats=1
done
