#!/bin/sh
# Prints a comment in Markdown: how the flags of a file differ from those of the environment.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

halyard export --output "$work/environment.yaml" >&2
halyard diff "$work/environment.yaml" "$1" >"$work/diff"

echo '<!-- flag-diff -->'
echo '### Flags: from what is live to this pull request'
echo
echo '```diff'
# GitHub refuses comments of more than 65,536 characters.
head -c 60000 "$work/diff"
[ "$(wc -c <"$work/diff")" -le 60000 ] || printf '\n… and more: halyard diff shows all of it.\n'
echo '```'
