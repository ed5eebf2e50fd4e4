#!/bin/sh
# Provides Node.js packages of other Redis clients in the target directory, and prints where they are.
# Where that is impossible the last line on standard error says why, and the exit status is 1.
set -eu
cd "$(dirname "$0")/.."

PACKAGE=ioredis
VERSION=5.11.1

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/interop-node"
folder=$(cd "$target/interop-node" && pwd)

say() { printf '%s\n' "$*" >&2; }

for program in node npm; do
    if ! command -v "$program" >/dev/null 2>&1; then
        say "there is no $program"
        exit 1
    fi
done
is_ready() {
    node -e 'process.exit(Number(require(process.argv[1]).version !== process.argv[2]))' \
        "$folder/node_modules/$PACKAGE/package.json" "$VERSION" >/dev/null 2>&1
}
if ! is_ready; then
    say "installing $PACKAGE $VERSION for Node.js $(node --version)"
    npm install --silent --no-fund --no-audit --no-save --prefix "$folder" "$PACKAGE@$VERSION" \
        </dev/null >&2 || true
    if ! is_ready; then
        say "npm cannot install $PACKAGE $VERSION"
        exit 1
    fi
fi
printf '%s\n' "$folder/node_modules"
