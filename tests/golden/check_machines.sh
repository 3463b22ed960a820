#!/bin/sh
# check_machines.sh HEURT MACHINES: heurt check must say of each captured machine what its file
# "expected" holds (the table, then the exit status). UPDATE=1 writes those files anew: read them.
heurt=$1 machines=$2 failures=0
for machine in "$machines"/*/; do
    found=$("$heurt" check --machine "$machine" 2>&1; echo "exit status $?")
    [ -n "$UPDATE" ] && printf '%s\n' "$found" >"$machine/expected"
    if ! printf '%s\n' "$found" | diff -u "$machine/expected" -; then
        echo "differs: $machine"
        failures=$((failures + 1))
    fi
done
[ -e "$machines/server/expected" ] && [ $failures -eq 0 ]
