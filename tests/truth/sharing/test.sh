#!/bin/sh
# test.sh JUDGE: the judge of shared cache lines, with a compiler and a heurt that say what is known.
set -u
judge=$1
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
# A program that does nothing, and reports of it, and of its cured twin, that this test has written.
cat >"$scratch/compiler" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nexit 0\n' >"$2" && chmod +x "$2"
END
cat >"$scratch/heurt" <<'END'
#!/bin/sh
case $* in
record*-cured*) cp "$SCRATCH/silent" "$3" ;;
record*) cp "$SCRATCH/said" "$3" ;;
report*--json) sed 1d "$3" ;;
report*) sed -n 1p "$3" ;;
esac
END
chmod +x "$scratch/compiler" "$scratch/heurt"
SCRATCH=$scratch
export SCRATCH

finding() { # SIDES CATEGORY OBJECT
    printf '     %s\n{"findings":[{"ranked":true,"category":"imbalance","wall_gain":null,"object":null},\n' "$1"
    printf '{"ranked":true,"category":"%s","object":{"name":"%s"},"wall_gain":null}]}\n' "$2" "$3"
}

expect() { # STATUS PROGRAM TEXT
    "$judge" --runs 2 --compilers "$scratch/compiler" --flags=-O2 "$scratch/heurt" "$2" >"$scratch/out" 2>&1
    status=$?
    if [ "$status" != "$1" ] || ! tr -s ' ' <"$scratch/out" | grep -qF -- "$3"; then
        echo "status $status and not $1, or not said: \"$3\" of"
        cat "$scratch/said" "$scratch/silent" "$scratch/out"
        failed=1
    fi
}

printf '\n{"findings":[]}\n' >"$scratch/silent"
said() { # SIDES
    finding "$1. They lie in memory." 'false sharing' '' >"$scratch/said"
}

# first kind object fields twin
said 'Thread 1 writes tally[1].sum and reads tally[1].seen (a.cc:2); thread 2 writes tally[0].sum, tally[0].seen (a.cc)'
expect 0 rows 'rows 0/2 2/2 2/2 2/2 2/2'
said 'Thread 1 writes (anonymous namespace)::tally.sum (a.cc:2); thread 2 writes tally[1].sum, others and reads rounds'
expect 0 rows 'rows 0/2 2/2 2/2 2/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2); thread 2 writes tally[1].seen (a.cc:2)' # the same element
expect 1 rows 'rows 0/2 2/2 2/2 0/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2); thread 2 writes tally[0].sum, tally[0].other (a.cc:2)' # no such field
expect 1 rows 'rows 0/2 2/2 2/2 0/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2); thread 2 writes bytes 8 to 15 of 64 (a.cc:2)' # an offset
expect 1 rows 'rows 0/2 2/2 0/2 0/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2); thread 2 writes rally[0].sum (a.cc:2)' # another object
expect 1 rows 'rows 0/2 2/2 0/2 0/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2)' # one side
expect 1 rows 'rows 0/2 2/2 0/2 0/2 2/2'
said 'Thread 1 writes accumulator<int>[1].sum and reads rounds (a.cc:2); thread 2 writes accumulator<int>[0].least'
expect 0 members 'members 0/2 2/2 2/2 2/2 2/2'
finding '' 'true sharing' one_for_all.hits >"$scratch/said"
expect 0 one_counter 'one_counter 0/2 2/2 2/2 2/2 2/2'
expect 1 rows 'rows 0/2 0/2 0/2 0/2 2/2'
finding '' 'true sharing' one_for_all.misses >"$scratch/said"
expect 1 one_counter 'one_counter 0/2 2/2 2/2 0/2 2/2'
said 'Thread 1 writes tally[1].sum (a.cc:2); thread 2 writes tally[0].sum (a.cc:2)'
cp "$scratch/said" "$scratch/silent" # of the twin, too
expect 1 rows 'rows 0/2 2/2 2/2 2/2 0/2'
# What cannot be measured is not judged.
echo 'no report' >"$scratch/said"
expect 2 rows 'judge_sharing: '
expect 2 unknown 'no such program: unknown'
rm "$scratch/compiler"
expect 2 rows 'judge_sharing: '
exit $failed
