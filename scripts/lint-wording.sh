#!/bin/sh
# Fails on promises that no queue can keep, and on paths of one person's machine, in tracked files.
set -eu
cd "$(dirname "$0")/.."

if ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "wording: not checked, this is no git checkout"
    exit
fi

status=0

# usage: forbid REASON PATTERN   (brackets in the patterns keep this file from matching itself)
forbid() {
    if git grep --line-number --ignore-case -I --extended-regexp -e "$2" -- . ':!Cargo.lock'; then
        printf 'wording: %s\n' "$1" >&2
        status=1
    fi
}

forbid "say what is done once: claims are, deliveries are not" 'exactly[- ]once[- ]deliver[y]'
forbid "say which failures are survived" '(no|zero)[- ]message[- ]los[s]'
forbid "a path of one machine" '(^|[^[:alnum:]_.-])/(root|work|Users|home/[[:alnum:]_]+)[/]'

exit $status
