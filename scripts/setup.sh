#!/bin/sh
# Installs what is missing to build and to test, one line a step. It asks nothing and may be run
# again at any time.
#
# usage: scripts/setup.sh [--test]    --test: also what only the tests need
set -eu
cd "$(dirname "$0")/.."

TARGET=wasm32-unknown-unknown

say() { printf 'setup: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# Runs a command for at most so many seconds, where the system can limit it.
limited() {
    if have timeout; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install() {
    have apt-get && { [ "$(id -u)" -eq 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }
}

# Installs packages, or fails quietly where apt-get cannot be used. No service is started in
# containers: the tests start servers of their own.
updated=
install() {
    can_install || return 1
    if [ -z "$updated" ]; then
        say "apt-get update"
        as_root apt-get -qq update || return 1
        updated=yes
    fi
    say "apt-get install $*"
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" >/dev/null
}

rust() {
    { have cargo && have rustc; } || fail "Rust is missing: install it with rustup, then run this again"
    say "Rust: $(rustc --version)"
}

c_compiler() {
    if have cc; then
        say "C compiler: there"
    else
        install build-essential || fail "a C compiler is missing: install Debian's build-essential or the like"
        say "C compiler: installed"
    fi
}

redis() {
    if have redis-server; then
        say "Redis: there"
    else
        install redis-server || fail "redis-server is missing: install Redis 6.2 or newer so that it is on the PATH"
        say "Redis: installed"
    fi
}

active_toolchain_has_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET/lib" ]
}

# Debian's compiler with the sources of its standard library.
debian_toolchain_is_there() {
    [ -x /usr/bin/rustc ] &&
        [ -e "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.toml" ]
}

# Two ways, in this order; `cargo xtask component` looks for them in the same order.
webassembly() {
    if active_toolchain_has_target; then
        say "WebAssembly: the active toolchain has $TARGET"
        return
    fi
    if debian_toolchain_is_there; then
        say "WebAssembly: Debian's compiler is there"
        return
    fi
    if have rustup; then
        say "WebAssembly: rustup target add $TARGET"
        if limited 120 rustup target add "$TARGET" </dev/null >/dev/null 2>&1 && active_toolchain_has_target; then
            say "WebAssembly: target installed"
            return
        fi
        say "WebAssembly: rustup cannot provide it, trying Debian's compiler"
    fi
    if install rustc-web rust-web-src && debian_toolchain_is_there; then
        say "WebAssembly: Debian's compiler installed"
        return
    fi
    fail "no compiler for $TARGET: run 'rustup target add $TARGET', or on Debian 12 as root 'apt-get install rustc-web rust-web-src'"
}

# Without it the tests run under plain `cargo test`, which knows no time limits.
nextest() {
    if have cargo-nextest; then
        say "cargo-nextest: there"
        return
    fi
    say "cargo-nextest: cargo install (a few minutes)"
    if cargo install --quiet --locked cargo-nextest </dev/null; then
        say "cargo-nextest: installed"
    else
        say "cargo-nextest: cannot be installed, the tests use cargo test"
    fi
}

rust
c_compiler
webassembly
redis
if [ "${1:-}" = --test ]; then
    nextest
fi
