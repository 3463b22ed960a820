#!/bin/sh
# micro.sh BUILD [OPTION]…: bench-micro as it was built in BUILD; its plot goes there, too.
build=$1
shift
exec "$build/tests/bench/bench-micro" "$@"
