#!/bin/sh
# test_objects.sh JUDGE: the judge of samples by object, with compilers and a heurt that say what is known.
set -u
judge=$1
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
# Programs that do nothing, and comparisons that this test has written.
for name in gcc g++ clang clang++; do
    cat >"$scratch/$name" <<'END'
#!/bin/sh
echo "$*" >>"$SCRATCH/compiled"
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nexit 0\n' >"$2" && chmod +x "$2"
END
done
cat >"$scratch/heurt" <<'END'
#!/bin/sh
echo "$*" >>"$SCRATCH/ran"
case $* in
memory*--counted*) cat "$SCRATCH/said" ;;
esac
END
chmod +x "$scratch/heurt" "$scratch/gcc" "$scratch/g++" "$scratch/clang" "$scratch/clang++"
SCRATCH=$scratch PATH=$scratch:$PATH
export SCRATCH PATH

said() { # DISTANCE SAMPLES
    printf '{"distance":%s,"samples":%s,"objects":[{"distance":%s,"sampled":0.5,"expected":0.25,"object":"tally"}]}' \
        "$1" "$2" "$1" >"$scratch/said"
}

expect() { # STATUS TEXT ARGUMENTS
    wanted=$1 text=$2
    shift 2
    "$judge" --verbose "$@" >"$scratch/out" 2>&1
    status=$?
    if [ "$status" != "$wanted" ] || ! tr -s ' ' <"$scratch/out" | grep -qF -- "$text"; then
        echo "status $status and not $wanted, or not said: \"$text\" of"
        cat "$scratch/said" "$scratch/out"
        failed=1
    fi
}

made() { # FILE PATTERN
    grep -q -- "$2" "$scratch/$1" || { echo "$1 has no \"$2\""; cat "$scratch/$1"; failed=1; }
}

all() { # PROGRAM
    echo "$scratch/heurt $scratch/libheurt-access.so $1"
}

said 0.04 100
expect 0 'rows 4.0 4.0 4.0 4.0 4.0 4.0 100–100' $(all rows)
expect 0 '-O2: 2 judged, median 4.0 %, most 4.0 %, 2 of at most 5 % met' $(all rows)
made compiled '-O2 -fsanitize=thread -fno-builtin -c .*sharers.cc'
made compiled '-O3 -fsanitize=thread -mllvm -tsan-instrument-read-before-write=1 -c .*sharers.cc'
made compiled '-lheurt-access'
made ran 'record -o .*/counts -- .*-counts rows 4$'
said 0.14 100 # enough for unoptimised code alone
expect 0 '-O0: 2 judged, median 14.0 %, most 14.0 %, 2 of at most 15 % met' --levels=-O0 $(all rows)
expect 1 '-O2: 2 judged, median 14.0 %, most 14.0 %, 0 of at most 5 % MISSED: rows' $(all rows)
expect 1 '50.0% sampled 25.0% expected tally' $(all rows)
said 0.3 10 # too few to say anything
expect 1 'rows (30.0)' $(all rows)
expect 1 '-O2: nothing could be judged' $(all rows)
expect 1 '-O2: nothing could be judged' --levels=-O2 --least 11 $(all rows)
expect 1 'MISSED' --levels=-O2 --least 10 $(all rows)
echo 'heurt memory: nothing is counted' >"$scratch/said"
expect 1 'rows - - - - - -' $(all rows)
said 0 100
: >"$scratch/own.c"
expect 0 'own 0.0' --levels=-O2 --source "$scratch/own.c -lm -- 5 -x" "$scratch/heurt" "$scratch/libheurt-access.so"
made ran 'record -o .*/samples -- .*own.cgcc-O2 5 -x$'
expect 2 'no such program: unknown' $(all unknown)
expect 2 'no such files' --source missing.c "$scratch/heurt" "$scratch/libheurt-access.so"
expect 2 'levels are' --levels=-O1 $(all rows)
printf '#!/bin/sh\nexit 1\n' >"$scratch/g++"
expect 2 'it cannot be built' $(all rows)
exit $failed
