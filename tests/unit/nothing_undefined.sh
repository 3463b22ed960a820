#!/bin/sh
# Fails when the objects of a static library need a symbol that none of them has.
whole=$(mktemp) || exit 1
trap 'rm -f "$whole"' EXIT
ld -r --whole-archive "$1" -o "$whole" || exit 1
undefined=$(nm -u "$whole" | grep ' U ') || exit 0
echo "$1 needs:"
echo "$undefined"
exit 1
