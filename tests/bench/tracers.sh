#!/bin/sh
# tracers.sh NAME THREADS: runs cost_probe under one tracer, in the current directory, and prints
# what cost_probe prints; where the tracer records, also, from its own reader,
#
#     counted=N             calls of measured_function that are in the trace, whole
#     mean_ns=X min_ns=X    their durations
#     bytes=N               of the trace's event data
#
# tracers.sh check NAME: prints why this tracer cannot run here; nothing when it can.
# Ends with 1 and a last sentence on stderr when it fails. Leaves no process behind.
# PROBES: where the cost_probes are; HEURT; JSON_GET; CALL_GROUPS: how many calls.
set -eu

calls=${CALL_GROUPS:-8}
seconds_most=${SECONDS_MOST:-60}

fail() {
    echo "$*" >&2
    exit 1
}

# ---- what is there --------------------------------------------------------------------------------

# needs PACKAGES PROGRAM…: says once which Debian packages have what is missing
needs() {
    packages=$1
    shift
    for program; do
        command -v "$program" >/dev/null && continue
        echo "$program is not installed (Debian: $packages)"
        return
    done
}

check() {
    case $1 in
    heurt-aggregate | heurt-overhead)
        "$HEURT" record --help | grep -q -- "--${1#heurt-}" ||
            echo "this heurt cannot record with --${1#heurt-}"
        ;;
    uftrace*) needs uftrace uftrace ;;
    eztrace)
        needs 'eztrace libeztrace-dev libotf2-trace-dev otf2-tools make pkg-config' eztrace \
            eztrace_create_plugin otf2-print make pkg-config
        ;;
    lttng*)
        needs 'lttng-tools babeltrace2 liblttng-ust-dev' lttng lttng-sessiond babeltrace2
        [ "$1" = lttng-callbacks ] || [ -x "$PROBES/cost_probe_tracepoints" ] ||
            echo 'the probe has no tracepoints: liblttng-ust-dev was missing when it was built'
        ;;
    esac | head -n 1
}

# ---- what a trace holds ---------------------------------------------------------------------------

# Reads calls: enter(key, ns) and leave(key, ns), key a thread or what takes its place.
pairs='
    function enter(key, ns) { enters++; at[key] = ns }
    function leave(key, ns,    duration) {
        leaves++
        if (!(key in at))
            return
        duration = ns - at[key]
        delete at[key]
        sum += duration
        if (!durations++ || duration < least)
            least = duration
    }
    END {
        printf "counted=%d\n", enters < leaves ? enters : leaves
        if (durations)
            printf "mean_ns=%.3f\nmin_ns=%.3f\n", sum / durations, least
    }'

bytes_of() { # FILE…
    echo "bytes=$(cat "$@" | wc -c)"
}

probe() { # FILE [PREFIX…]: the probe, with PREFIX before it, for a bounded time
    file=$1
    shift
    code=0
    timeout -k 5 "$seconds_most" "$@" "$file" "$sort" "$threads" "$calls" </dev/null || code=$?
    [ $code != 124 ] || fail "took more than $seconds_most s"
    [ $code = 0 ] || fail "${1:-cost_probe} ended with status $code"
}

# ---- the tracers ----------------------------------------------------------------------------------

report() { # PATH: the sum of all such numbers in heurt's report
    "$JSON_GET" report.json "$1" >numbers || fail "the report has no $1"
    awk '{ sum += $1 } END { printf "%.0f", sum }' numbers
}

heurt() { # OPTION…: of heurt record
    rm -rf trace
    probe "$PROBES/cost_probe" "$HEURT" record --quiet --no-pack -o trace -f measured_function "$@" --
    timeout -k 5 "$seconds_most" "$HEURT" report --json -i trace >report.json
    class='classes[function=measured_function]'
    [ "$sort" = function ] || class='classes[kind=lock]'
    counted=$(report "$class.count") sum_ns=$(report "$class.sum_ns")
    echo "counted=$counted"
    if [ "$sort" = function ]; then
        echo "min_ns=$(report "$class.min_ns")"
        echo "$sum_ns $counted" | awk '{ printf "mean_ns=%.3f\n", $1 / $2 }'
    fi
    # shellcheck disable=SC2046 # names of our own
    bytes_of $(find trace -type f ! -name symbols)
}

uftrace_dump() {
    timeout -k 5 "$seconds_most" uftrace dump -d trace --no-pager |
        awk "$pairs"'
            function ns(time,    parts) {
                split(time, parts, ".")
                return parts[1] % 1000000 * 1e9 + parts[2]
            }
            / \[entry\] measured_function\(/ { enter($2, ns($1)) }
            / \[exit \] measured_function\(/ { leave($2, ns($1)) }'
    bytes_of trace/[0-9]*.dat
}

uftrace_record() { # FILE [OPTION…]
    file=$1
    shift
    rm -rf trace
    probe "$file" uftrace record --no-pager --no-libcall --no-event -d trace "$@"
    uftrace_dump
}

# A plugin that wraps measured_function, as eztrace_create_plugin makes it.
eztrace_plugin() {
    [ ! -f plugin/libeztrace-probe.so ] || return 0
    cat >probe.tpl <<'END'
BEGIN_MODULE
NAME probe
DESC "the measured function"
LANGUAGE C
unsigned long measured_function(unsigned long value)
END_MODULE
END
    if ! eztrace_create_plugin -o plugin probe.tpl >plugin.log 2>&1 ||
        ! make -C plugin CFLAGS=-O2 >>plugin.log 2>&1; then
        fail "no plugin for EZTrace: $(grep -m 1 error plugin.log || tail -n 1 plugin.log)"
    fi
}

eztrace_record() {
    eztrace_plugin
    rm -rf trace
    probe "$PROBES/cost_probe_library" eztrace -t probe -l "$PWD/plugin" -o "$PWD/trace"
    timeout -k 5 "$seconds_most" otf2-print "$(find trace -name '*.otf2')" 2>otf2.log |
        awk "$pairs"'
            $5 == "\"measured_function\"" && $1 == "ENTER" { enter($2, $3) }
            $5 == "\"measured_function\"" && $1 == "LEAVE" { leave($2, $3) }'
    # shellcheck disable=SC2046 # names of our own
    bytes_of $(find trace -name '*.evt')
}

# LTTng's own daemon in a directory of its own. Of root it would be the one of the whole system: so
# it runs as nobody then.
lttng_record() { # PROBE EVENTS [LIBRARY]
    rm -rf lttng
    mkdir lttng
    cp "$PROBES/$1" lttng/probe
    owner=$(id -u) as_user=
    if [ "$owner" = 0 ]; then
        owner=65534
        as_user="setpriv --reuid $owner --regid $owner --clear-groups"
        chown -R $owner lttng
        chmod a+x .
        # shellcheck disable=SC2016 # the other shell's
        $as_user sh -c 'cd "$1"' sh "$PWD" 2>/dev/null ||
            fail "LTTng: user $owner cannot enter $PWD; see --on"
    fi
    shared=
    for file in /dev/shm/lttng-ust-wait-8 "/dev/shm/lttng-ust-wait-8-$owner"; do
        [ -e "$file" ] || shared="$shared $file"
    done
    export LTTNG_HOME="$PWD/lttng" HOME="$PWD/lttng" LTTNG_UST_ALLOW_BLOCKING=1
    export LTTNG_UST_REGISTER_TIMEOUT=-1
    session=
    trap lttng_end EXIT
    trap 'exit 1' HUP INT TERM
    lttng_start "$2" >lttng/log 2>&1 || fail "LTTng: $(grep -m 1 -i error lttng/log ||
        tail -n 1 lttng/log)"
    # shellcheck disable=SC2086 # several words or none
    probe ./lttng/probe $as_user ${3:+env LD_PRELOAD=$3}
    lttng_command stop >>lttng/log 2>&1
    lttng_command destroy >>lttng/log 2>&1
    babeltrace2_read
}

lttng_command() {
    # shellcheck disable=SC2086 # several words or none
    timeout -k 5 "$seconds_most" $as_user lttng -n "$@"
}

# Blocking: as buffers of any size could be too small, the program waits rather than loses calls.
lttng_start() { # EVENTS
    # shellcheck disable=SC2086 # several words or none
    $as_user lttng-sessiond --no-kernel &
    session=$!
    tries=0
    until lttng_command list 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] && kill -0 "$session" || return 1
        sleep 0.02
    done
    lttng_command create bench --output="$PWD/lttng/trace" &&
        lttng_command enable-channel --userspace --subbuf-size=1M --num-subbuf=16 \
            --blocking-timeout=inf calls &&
        lttng_command enable-event --userspace --channel=calls "$1" &&
        lttng_command start
}

lttng_end() {
    if [ -n "$session" ]; then
        kill "$session" 2>/dev/null || :
        wait "$session" || :
    fi
    # shellcheck disable=SC2086 # names without spaces
    [ -z "$shared" ] || rm -f $shared
}

# A CPU has a stream: only a leave right after an enter on the same one is surely of the same call.
babeltrace2_read() {
    timeout -k 5 "$seconds_most" babeltrace2 --clock-cycles lttng/trace |
        awk "$pairs"'
            $4 ~ /:(func_entry|measured_enter):$/ { enter($8, substr($1, 2) + 0) }
            $4 ~ /:(func_exit|measured_leave):$/ { leave($8, substr($1, 2) + 0) }'
    # shellcheck disable=SC2046 # names of our own
    bytes_of $(find lttng/trace -name 'calls_*' ! -name '*.idx')
}

# ---- the choice -----------------------------------------------------------------------------------

if [ "$1" = check ]; then
    check "$2"
    exit
fi
threads=$2 sort=function
case $1 in
bare) probe "$PROBES/cost_probe" ;;
callbacks) probe "$PROBES/cost_probe_callbacks" ;;
heurt) heurt --no-pack ;;
heurt-packed) heurt ;;
heurt-aggregate) heurt --aggregate ;;
heurt-overhead) heurt --overhead 5% ;;
uftrace) uftrace_record "$PROBES/cost_probe" -P measured_function ;;
uftrace-pg) uftrace_record "$PROBES/cost_probe_mcount" ;;
uftrace-callbacks) uftrace_record "$PROBES/cost_probe_callbacks" ;;
eztrace) eztrace_record ;;
lttng-callbacks)
    lttng_record cost_probe_callbacks 'lttng_ust_cyg_profile_fast:*' \
        liblttng-ust-cyg-profile-fast.so.1
    ;;
lttng-tracepoints) lttng_record cost_probe_tracepoints 'heurt_bench:*' ;;
lock-bare)
    sort=lock
    probe "$PROBES/cost_probe"
    ;;
lock-heurt)
    sort=lock
    heurt --no-pack
    ;;
*) fail "tracers.sh: $1 is not known" ;;
esac
