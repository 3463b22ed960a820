#!/bin/sh
# Fails when an object or static library needs a symbol of somebody else.
undefined=$(nm -u "$1" | grep ' U ') || exit 0
echo "$1 needs:"
echo "$undefined"
exit 1
