#!/bin/sh
# Installs what is missing to build and to test, one line a step. It asks nothing and may be run
# again at any time. What is there already is used without asking the network.
#
# usage: scripts/setup.sh [--test]    --test: also what only the tests need
set -eu
cd "$(dirname "$0")/.."

TARGET=wasm32-unknown-unknown
DEBIAN_RUSTC=/usr/bin/rustc
OLDEST_RUST=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)

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

# Brings the package lists up to date, once. Fails quietly where apt-get cannot be used.
updated=
update() {
    have apt-get || return 1
    [ "$(id -u)" -eq 0 ] || { have sudo && sudo -n true 2>/dev/null; } || return 1
    if [ -z "$updated" ]; then
        say "apt-get update"
        as_root apt-get -qq update || return 1
        updated=yes
    fi
}

# Installs packages. Never removes one: Debian's compilers exclude each other. No service is started
# in containers: the tests start servers of their own.
install() {
    update || return 1
    say "apt-get install $*"
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install -y --no-remove \
        --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" >/dev/null
}

# Whether a version such as 1.96.0 or 1.96.0+dfsg1 is new enough for the workspace.
is_new_enough() {
    printf '%s\n%s\n' "$OLDEST_RUST" "$1" | awk -F '[^0-9]+' '
        NR == 1 { major = $1; minor = $2; next }
        { ok = $1 + 0 > major + 0 || ($1 + 0 == major + 0 && $2 + 0 >= minor + 0) }
        END { exit !ok }'
}

# usage: version_of RUSTC
version_of() { "$1" --version 2>/dev/null | cut -d ' ' -f 2; }

# The compiler that builds everything else.
active_rustc() { printf '%s\n' "${RUSTC:-rustc}"; }

rust() {
    { have cargo && have "$(active_rustc)"; } ||
        fail "Rust is missing: install it with rustup, then run this again"
    version=$(version_of "$(active_rustc)")
    is_new_enough "$version" ||
        fail "Rust ${version:-of no known version} is too old, $OLDEST_RUST or newer is needed: run 'rustup update', or make a newer toolchain the active one"
    say "Rust: $version"
}

c_compiler() {
    if have cc; then
        say "C compiler: there"
    else
        install build-essential || fail "a C compiler is missing: install Debian's build-essential or the like"
        say "C compiler: installed"
    fi
}

active_toolchain_has_target() {
    [ -d "$("$(active_rustc)" --print sysroot)/lib/rustlib/$TARGET/lib" ]
}

# The linker for Debian's compiler: Debian's own is too old for it.
rust_lld_is_there() {
    rustc=$(active_rustc)
    [ -e "$("$rustc" --print sysroot)/lib/rustlib/$("$rustc" --print host-tuple)/bin/rust-lld" ]
}

# Debian's compiler, new enough, with the sources of its standard library and a linker.
debian_toolchain_is_there() {
    [ -x "$DEBIAN_RUSTC" ] &&
        [ -e "$("$DEBIAN_RUSTC" --print sysroot)/lib/rustlib/src/rust/library/Cargo.toml" ] &&
        rust_lld_is_there && is_new_enough "$(version_of "$DEBIAN_RUSTC")"
}

rustup_adds_target() {
    have rustup || return 1
    say "WebAssembly: rustup target add $TARGET"
    limited 120 rustup target add "$TARGET" </dev/null >/dev/null 2>&1 && active_toolchain_has_target
}

# Succeeds when there is a compiler then, else says what is in the way.
debian_toolchain_is_installed() {
    if ! rust_lld_is_there; then
        say "WebAssembly: the active toolchain has no rust-lld, which Debian's compiler needs"
        return 1
    fi
    update || return 1
    offered=$(LC_ALL=C apt-cache policy rustc-web | sed -n 's/^ *Candidate: //p')
    if ! is_new_enough "$offered"; then
        say "WebAssembly: Debian's archive offers rustc-web ${offered:-(none)}, $OLDEST_RUST or newer is needed"
        return 1
    fi
    install rustc-web rust-web-src && debian_toolchain_is_there
}

# `cargo xtask component` looks for a compiler in the same order, but installs none.
webassembly() {
    if active_toolchain_has_target; then
        say "WebAssembly: the active toolchain has $TARGET"
    elif debian_toolchain_is_there; then
        say "WebAssembly: Debian's compiler is there"
    elif rustup_adds_target; then
        say "WebAssembly: target installed"
    elif debian_toolchain_is_installed; then
        say "WebAssembly: Debian's compiler installed"
    else
        fail "no compiler for $TARGET: run 'rustup target add $TARGET', or on Debian 12 as root 'apt-get install rustc-web rust-web-src' (and keep rustup's toolchain, whose rust-lld links the module)"
    fi
}

redis() {
    if have redis-server; then
        say "Redis: there"
    else
        install redis-server || fail "redis-server is missing: install Redis 7.0 or newer so that it is on the PATH"
        say "Redis: installed"
    fi
}

formatter() {
    if cargo fmt --version >/dev/null 2>&1; then
        say "rustfmt: there"
    elif have rustup && limited 120 rustup component add rustfmt </dev/null >/dev/null 2>&1; then
        say "rustfmt: installed"
    else
        say "rustfmt: cannot be installed, the formatting is not checked"
    fi
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
if [ "${1:-}" = --test ]; then
    redis
    formatter
    nextest
fi
