# What root's recorder adds: who woke whom, futex waits, waits for a device; and nothing without it.
load ../helpers

# traced COMMAND…: with tracefs, in a mount namespace of its own where it is not mounted.
traced() {
    if [ -e /sys/kernel/tracing/events/sched/sched_waking/format ]; then
        "$@"
    else
        unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' - "$@"
    fi
}

needs_tracepoints() {
    needs_plain_heurt
    local state
    traced "$HEURT" check --json >table 2>/dev/null || skip "no tracefs for this user"
    state=$("$JSON_GET" table 'facilities[key=tracepoints].state')
    [ "$state" = yes ] || skip "no tracepoints for this user"
}

# record_all ARG…: until none of the records is lost, as happens when the recorder gets no CPU in time.
record_all() {
    local attempt
    for attempt in 1 2 3 4 5 6 7 8; do
        traced "$HEURT" record -q --no-choice --no-pack --overhead none "$@" >out
        "$HEURT" dump >events
        grep -aq 'records were lost' heurt.data/events || return 0
    done
    too_busy "records are lost each time"
}

known() { # NAME: what the program said
    awk -v name="$1" '$1 == name { print $2 }' out
}

off() { # THREAD HOW [WAKER]: so many times was it off its CPU
    grep -Ec " $(known "$1") .*off cpu \($2\)${3+.* waker=$(known "$3")\$}" events || true
}

# off_in THREAD CALL HOW [WAKER]: in so many of its calls was it off its CPU like that
off_in() {
    grep " $(known "$1") " events | awk -v call="$2" -v how="off cpu [(]$3[)]${4+.* waker=$(known "$4")\$}" '
        $0 ~ "enter " call { inside = 1; was = 0 }
        $0 ~ how { was = inside }
        $0 ~ "leave " call { count += was; inside = 0; was = 0 }
        END { print count + 0 }'
}

# by_waker TURNS: nearly each of so many waits has the waker as its waker, and none another thread. (A
# busy machine takes the sleeper's CPU away on the way now and then, or an interrupt wakes it.)
by_waker() {
    [ "$(off sleeper futex waker)" -ge $(($1 - $1 / 50)) ]
    [ "$(off sleeper futex waker)" -le "$1" ]
    [ "$(off_in sleeper read blocked waker)" -ge $(($1 - $1 / 50)) ]
    grep -E " $(known sleeper) .*off cpu \((futex|blocked)\).* waker=[1-9]" events >woken
    [ "$(grep -vc " waker=$(known waker)\$" woken)" -le $(($1 / 50)) ]
}

@test "each of a hundred wake-ups through a pipe and a futex has its waker, each read its wait" {
    needs_tracepoints
    head -c 819200 /dev/zero >blocks && sync blocks
    record_all "$PROGRAMS/wakes_known" 100 blocks
    by_waker 100
    [ "$(off_in sleeper read disk)" = 0 ]
    # Whoever is preempted on the way finds that it need not wait any more.
    # Of what interrupts an idle CPU some kernels tell nothing: there may be none.
    [ "$(off_in main pread disk)" -le "$(known blocks)" ]
    grep -aq 'sched_waking' heurt.data/events
}

@test "each of ten thousand wake-ups has its waker, and a thread is runnable no longer than it is off" {
    needs_tracepoints
    record_all "$PROGRAMS/wakes_known" 5000
    by_waker 5000
    grep 'off cpu' events | sed 's/.*off=\([0-9]*\) ns runnable=\([0-9]*\) ns.*/\1 \2/' >times
    [ "$(awk 'NF == 2 && $2 > $1' times | wc -l)" = 0 ]
    [ "$(awk 'NF == 2' times | wc -l)" -ge 9800 ]
}

@test "where they cost more than the budget they are given up, and that is told" {
    needs_tracepoints
    traced "$HEURT" record -q --no-choice --no-pack --overhead 0.1% "$PROGRAMS/wakes_known" 50000 >out
    grep -aq 'sched_waking futex.*calls of futex until [0-9.]* s, as they are too many' heurt.data/events
}

@test "without them, with --aggregate and with --no-kernel nothing is completed and nobody complains" {
    needs_plain_heurt
    [ -e /sys/kernel/tracing/events ] || {
        "$HEURT" record -q --no-choice --no-pack "$PROGRAMS/wakes_known" 20 >out 2>err
        [ ! -s err ]
        "$HEURT" dump >events
        ! grep 'off cpu' events | grep -q 'waker='
        grep -aq 'none: tracefs is not mounted' heurt.data/events
    }
    "$HEURT" record -q --no-choice --aggregate "$PROGRAMS/wakes_known" 20 >out 2>err
    [ ! -s err ]
    grep -aq 'none: a run with --aggregate' heurt.data/events
    "$HEURT" record -q --no-choice --no-kernel "$PROGRAMS/wakes_known" 20 >out 2>err
    [ ! -s err ]
    "$HEURT" dump >events
    ! grep -q 'off cpu' events
}
