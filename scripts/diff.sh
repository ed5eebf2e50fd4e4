#!/bin/sh
# Plays random sequences on the Redis model and on a real Redis, and compares. In the environment:
#
#   N       about how many commands; a fifth of that in scripts. Without it as many as every run of
#           the tests tries.
#   ONLY    the name of one test, or a part of it
#   SEED    where to begin
set -eu
cd "$(dirname "$0")/.."

scripts/setup.sh --test
export LEASELINE_DIFFERENTIAL_COMMANDS="${N:-}" LEASELINE_DIFFERENTIAL_SEED="${SEED:-}"
exec cargo test --locked -p leaseline-redis-model --test differential -- --nocapture "${ONLY:-}"
