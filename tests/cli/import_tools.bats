#!/usr/bin/env bats
# heurt import of LTTng-UST's, perf's and Perfetto's traces, made by these tools here, and of what
# heurt export --ctf and --perfetto write; and what is damaged.
load ../helpers
load ../imported

needs() { # COMMAND
    command -v "$1" >/dev/null || skip "$1 is not installed (make deps)"
}

teardown() {
    if [ -s sessiond.pid ]; then
        kill "$(cat sessiond.pid)" 2>/dev/null || :
    fi
    leave_room
}

columns() { # DIR TABLE:COLUMNS [ARG…]
    local dir=$1 table=$2
    shift 2
    "$HEURT" tables -i "$dir" --format csv "$table" "$@" | tail -n +2 | sort
}

# ---- LTTng-UST --------------------------------------------------------------------------------

# A session daemon of this test's own, or the one that runs; none where neither is possible.
lttng_session() { # DIR CONTEXT…
    needs lttng
    needs babeltrace2
    export LTTNG_HOME=$PWD LTTNG_UST_REGISTER_TIMEOUT=-1
    local dir=$1 event
    shift
    lttng --no-sessiond list >/dev/null 2>&1 ||
        lttng-sessiond --daemonize --no-kernel --pidfile "$PWD/sessiond.pid" >/dev/null 2>&1 ||
        skip "no session daemon of LTTng can run here"
    session=heurt-$$-$RANDOM
    lttng --no-sessiond create "$session" --output="$PWD/$dir" >lttng.log || skip "LTTng makes no session here"
    for event in cyg_profile pthread statedump; do
        lttng enable-event -u "lttng_ust_$event*" >>lttng.log
    done
    lttng add-context -u "$@" >>lttng.log
    lttng start >>lttng.log
}

lttng_run() { # LIBRARY…: p with these, until all of it is written
    LD_PRELOAD="$*" ./p
    lttng destroy "$session" >>lttng.log
}

@test "LTTng-UST: calls and locks are those of the program" {
    make_program -finstrument-functions
    lttng_session l -t vpid -t vtid -t procname -t ip
    lttng_run liblttng-ust-cyg-profile.so.1 liblttng-ust-pthread-wrapper.so.1
    heurt import l -o i
    expect_status 0
    says 'imported from LTTng-UST in CTF: no off-CPU times'
    [ "$(count_of i leaf)" = 400 ]
    [ "$(count_of i work)" = 40 ]
    [ "$(count_of i main)" = 1 ]
    [ "$(columns i classes:file --where function=work --where kind=call)" = "$PWD/p.c" ]
    [ "$(columns i locks:name,acquisitions | grep the_lock)" = the_lock,40 ]
    [ "$(columns i lock_sites:function,line --where name=the_lock)" = run,9 ]
    [ "$(columns i threads:name | grep -cx p)" -ge 3 ] # LTTng has threads of its own
    "$HEURT" structure -i i | grep -q 'loop ×10'
    # As many ends of calls as babeltrace2 reads.
    babeltrace2 l >printed
    [ "$("$HEURT" dump -i i | grep -cE ' (enter|leave) +(leaf|work|run|main)$')" = "$(grep -c func_ printed)" ]
    # Half of a stream gives what stands before, or a sentence.
    find l -type f -name 'channel*' -size +8k | while read -r stream; do truncate -s 6000 "$stream"; done
    heurt import l -o cut
    [ "$status" = 0 ] || says '(can be read|damaged|no events)'
}

@test "LTTng-UST: the fast library; and a trace that does not tell threads is refused" {
    make_program -finstrument-functions
    lttng_session l -t vpid -t vtid
    lttng_run liblttng-ust-cyg-profile-fast.so.1
    "$HEURT" import -q l -o i
    [ "$(count_of i leaf)" = 400 ]
    [ "$(count_of i work)" = 40 ]
    lttng_session without -t vpid
    lttng_run liblttng-ust-cyg-profile-fast.so.1
    heurt import without -o no
    expect_status 125
    says 'does not tell which thread.*lttng add-context'
    [ ! -e no ]
}

# ---- perf -------------------------------------------------------------------------------------

record_perf() { # FILE ARG…
    local file=$1
    shift
    perf record -q -e cpu-clock -F 5000 "$@" -o "$file" "$EXAMPLES/queue" --threads 3 --delay 2000 --iterations 3000 \
        >out 2>perf.log </dev/null || skip "perf cannot record here"
}

# What perf script says of each thread: times off the CPU, those that were preemptions (a new thread waits for
# its first CPU, too), and their ns.
perf_switches() { # FILE
    perf script -i "$1" --ns -F tid,time,event --show-switch-events --show-task-events 2>/dev/null |
        awk '{ t = $2; sub(/:$/, "", t); split(t, part, "."); ns = part[1] * 1000000000 + part[2] }
            /PERF_RECORD_FORK/ { split($0, a, "[(:)]"); for (i in a) if (a[i] == "PERF_RECORD_FORK") break
                match($0, /FORK\([0-9]+:[0-9]+\)/); split(substr($0, RSTART + 5, RLENGTH - 6), b, ":")
                off[b[2]] = ns; preempted[b[2]]++ }
            /SWITCH OUT/ { off[$1] = ns; if (/preempt/) preempted[$1]++ }
            /SWITCH IN/ && ($1 in off) { times[$1]++; total[$1] += ns - off[$1]; delete off[$1] }
            END { for (tid in times) print tid "," times[tid] "," preempted[tid] + 0 "," total[tid] }' | sort
}

@test "perf.data: switches and threads are those that perf script tells; samples become calls" {
    needs perf
    record_perf perf.data --switch-events -g
    perf_switches perf.data >told
    [ "$(wc -l <told)" -ge 3 ]
    heurt import perf.data -o i
    expect_status 0
    says 'imported from perf.data: calls are what samples saw'
    "$HEURT" dump -i i | awk '/off cpu/ { match($0, /off=[0-9]+/); times[$2]++
        total[$2] += substr($0, RSTART + 4, RLENGTH - 4); preempted[$2] += /preempted/ }
        END { for (tid in times) print tid "," times[tid] "," preempted[tid] "," total[tid] }' | sort >read
    diff told read
    [ "$(columns i classes:function --where function=busy --where kind=call | sort -u)" = busy ]
    # Its threads spend their time on a CPU in that function.
    [ "$(columns i classes:sum_ns --where function=busy | sum)" -gt 0 ]
    "$HEURT" report -i i | grep -q 'wanted a CPU'
    "$HEURT" report -i i --audit >audit
}

@test "perf.data: without switches, stacks or an end; through a pipe" {
    needs perf
    record_perf plain.data
    heurt import plain.data -o plain
    expect_status 0
    "$HEURT" dump -i plain | grep -q 'enter *busy'
    ! "$HEURT" dump -i plain | grep -q 'off cpu' || fail "switches that were not recorded"
    perf record -q -e cpu-clock -F 5000 --switch-events -g -o - "$EXAMPLES/queue" --threads 3 --delay 2000 \
        --iterations 3000 2>/dev/null >piped.data || skip "perf cannot record here"
    heurt import piped.data -o piped
    expect_status 0
    "$HEURT" dump -i piped | grep -q 'off cpu'
    [ "$(columns piped threads:tid | wc -l)" = 4 ]
    head -c $(($(stat -c %s plain.data) * 2 / 3)) plain.data >cut.data
    heurt import cut.data -o cut
    expect_status 0
    says 'where the file breaks off'
}

# ---- Perfetto ---------------------------------------------------------------------------------

encode() { # text of a Trace on stdin
    protoc --encode=perfetto.protos.Trace -I "$HEURT_SOURCE/tests/cli/readers" perfetto.proto
}

# What another program might write: two sequences, one with a clock of its own in units of 1000 ns and names
# by number, its default track told behind its events; the other with names in place. Packets stand in no order.
foreign_trace() {
    cat <<'T'
packet { timestamp: 5000 trusted_packet_sequence_id: 2 sequence_flags: 1
  track_event { type: TYPE_SLICE_END track_uuid: 22 } timestamp_clock_id: 6 }
packet { trusted_packet_sequence_id: 1 sequence_flags: 1
  trace_packet_defaults { timestamp_clock_id: 64 track_event_defaults { track_uuid: 11 } }
  clock_snapshot { clocks { clock_id: 6 timestamp: 1000 }
    clocks { clock_id: 64 timestamp: 0 is_incremental: true unit_multiplier_ns: 1000 } } }
packet { trusted_packet_sequence_id: 1 timestamp: 1
  interned_data { event_names { iid: 1 name: "outer" } event_names { iid: 2 name: "inner" }
    event_categories { iid: 1 name: "cat" } source_locations { iid: 1 file_name: "a.c" line_number: 7 } }
  track_event { type: TYPE_SLICE_BEGIN name_iid: 1 category_iids: 1 source_location_iid: 1 } }
packet { trusted_packet_sequence_id: 1 timestamp: 2
  track_event { type: TYPE_SLICE_BEGIN name_iid: 2 flow_ids: 9 } }
packet { trusted_packet_sequence_id: 1 timestamp: 0
  track_event { type: TYPE_INSTANT name_iid: 2 } }
packet { trusted_packet_sequence_id: 1 timestamp: 3 track_event { type: TYPE_SLICE_END } }
packet { trusted_packet_sequence_id: 1 timestamp: 4 track_event { type: TYPE_SLICE_END } }
packet { timestamp: 3000 trusted_packet_sequence_id: 2 timestamp_clock_id: 6
  track_event { type: TYPE_SLICE_BEGIN name: "other" track_uuid: 22 } }
packet { trusted_packet_sequence_id: 1 sequence_flags: 1 }
packet { trusted_packet_sequence_id: 1 timestamp: 20000 interned_data { event_names { iid: 1 name: "anew" } }
  track_event { type: TYPE_SLICE_BEGIN name_iid: 1 track_uuid: 11 } }
packet { trusted_packet_sequence_id: 1 timestamp: 21000 track_event { type: TYPE_SLICE_END track_uuid: 11 } }
packet { trusted_packet_sequence_id: 1 timestamp: 1 track_event { type: TYPE_SLICE_BEGIN name: "async" track_uuid: 99 } }
packet { track_descriptor { uuid: 10 process { pid: 7 process_name: "/bin/prog" } } }
packet { track_descriptor { uuid: 11 parent_uuid: 10 thread { pid: 7 tid: 8 thread_name: "worker" } } }
packet { track_descriptor { uuid: 22 parent_uuid: 10 thread { pid: 7 tid: 9 thread_name: "second" } } }
T
}

@test "Perfetto: sequences, clocks, numbers of texts, defaults, tracks that are told late" {
    needs protoc
    foreign_trace | encode >f.pftrace
    heurt import f.pftrace -o i
    expect_status 0
    says 'imported from Perfetto: no locks, no off-CPU times'
    says '2 parts of the source were passed over; the first: instants'
    "$HEURT" dump -i i | awk '$4 == "enter" || $4 == "leave" { printf "%d %s %s %s %s\n", $1 * 1000000000 + 0.5, $2, $3, $4, $5 }' >calls
    diff - calls <<'T'
0 8 worker enter outer
1000 9 second enter other
2000 8 worker enter inner
3000 9 second leave other
5000 8 worker leave inner
9000 8 worker leave outer
18000 8 worker enter anew
19000 8 worker leave anew
T
    [ "$(columns i classes:module,file,line --where function=outer)" = cat,a.c,7 ]
    head -c $(($(stat -c %s f.pftrace) - 10)) f.pftrace >cut
    heurt import cut -o cut.data
    expect_status 0
    says '[3-9] parts of the source were passed over'
}

@test "Perfetto: calls and times off the CPU of heurt's own export come back" {
    "$HEURT" record --quiet --overhead none -f 'step_*' -f 'whole_*' -o heurt.data "$PROGRAMS/structure_known" \
        --threads 2 --iterations 300 --anomalies 8 --seed 7 >out </dev/null
    "$HEURT" export --perfetto -o run.pftrace
    "$HEURT" import -q run.pftrace -o back
    for dir in heurt.data back; do
        columns $dir classes:function,count --where kind=call | grep -E '^(step|whole)_' >$dir.calls
        columns $dir threads:tid,switches,preempted >$dir.switches
        "$HEURT" structure -i $dir | grep -q '×300 .*run a loop each' || fail "the loop of $dir"
    done
    diff heurt.data.calls back.calls
    diff heurt.data.switches back.switches
}

# ---- heurt in CTF -----------------------------------------------------------------------------

# Equal texts; numbers that differ by no more than 1 in 1000, or 20.
alike() { # FILE FILE
    [ -s "$1" ] || fail "$1 is empty"
    paste -d, "$1" "$2" | awk -F, '{
        for (i = 1; i <= NF / 2; i++) {
            a = $i; b = $(i + NF / 2); d = a - b; d = d < 0 ? -d : d
            if (a == b) continue
            if (a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/ || (d > a / 1000 && d > 20)) { print; exit 1 }
        } }' || fail "$1 and $2 differ"
}

there_and_back() {
    "$HEURT" export --ctf -o c
    heurt import c -o back
    expect_status 0
    says 'imported from heurt in CTF'
}

@test "CTF, there and back: functions, scores and the loop are the same" {
    "$HEURT" record --quiet --overhead none --no-kernel -o heurt.data -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 2 --iterations 300 --anomalies 8 --seed 7 >out </dev/null
    there_and_back
    for dir in heurt.data back; do
        columns $dir classes:function,count,score --class site | grep -E '^(step|whole)_' >$dir.classes
        columns $dir threads:tid,name,lifetime_ns >$dir.threads
        "$HEURT" structure -i $dir | grep -q '×300 .*run a loop each' || fail "the loop of $dir"
    done
    # What recording adds to each call, heurt knows and takes off in its own trace: it falls out of excesses.
    alike heurt.data.threads back.threads
    cut -d, -f1,2 heurt.data.classes | cmp - <(cut -d, -f1,2 back.classes)
    paste -d, heurt.data.classes back.classes |
        awk -F, '{ d = $3 - $6; if (d < 0) d = -d; if (d > 0.02 + 0.05 * $3) { print; exit 1 } }'
}

@test "CTF, there and back: locks, who has them, the critical path, and times off the CPU are the same" {
    "$HEURT" record --quiet --overhead none --locks all -o heurt.data "$EXAMPLES/queue" \
        --threads 3 --delay 2000 --iterations 2000 >out </dev/null
    there_and_back
    for dir in heurt.data back; do
        columns $dir locks:address,name,acquisitions,contended,wait_ns >$dir.locks
        columns $dir locks:hold_ns >$dir.holds
        columns $dir lock_sites:function,line,acquisitions,contended,wait_ns >$dir.sites
        columns $dir classes:kind,function,caller_line,count --where kind=lock >$dir.classes
        columns $dir threads:tid,cpu_ns,switches,preempted >$dir.threads
    done
    alike heurt.data.locks back.locks
    # What heurt itself took while a lock was held, it takes off in its own trace alone: no more than all of it.
    columns heurt.data threads:overhead_ns | awk '{ sum += $1 } END { print sum }' >overhead
    paste -d, heurt.data.holds back.holds |
        awk -F, -v took="$(cat overhead)" '
            { d = $2 - $1; if (d < -0.05 * $1 || d > 0.05 * $1 + took) { print; exit 1 } }'
    alike heurt.data.sites back.sites
    alike heurt.data.classes back.classes
    alike heurt.data.threads back.threads
}

# ---- damage -----------------------------------------------------------------------------------

damaged_copies() { # SOURCE: of it are imported
    mkdir "room.$1"
    "$HEURT_BUILD/tests/tools/damage_imports" 100 7 "$1" "room.$1" >counts 2>/dev/null || fail "$(cat counts)"
    grep -q ' 0 failed$' counts
}

record_little() {
    "$HEURT" record --quiet --overhead none --no-kernel --locks all -f 'queue__*' -o heurt.data "$EXAMPLES/queue" \
        --threads 2 --delay 50 --iterations 50 >out </dev/null
}

@test "damaged sources: a sentence or what can be read, and no crash" {
    record_little
    for format in perfetto paje chrome; do
        "$HEURT" export --$format -o $format
        damaged_copies $format
    done
    : >empty
    heurt import empty -o no
    expect_status 125
    says 'no format that is known'
    [ ! -e no ]
}

@test "damaged CTF: likewise, and what the library says of it is not for the user" {
    record_little
    "$HEURT" export --ctf -o c
    damaged_copies c
    head -c 1000 c/thread-0 >cut && mv cut c/thread-0
    heurt import c -o i
    [ "$(grep -vc '^heurt: ' <<<"$stderr")" = 0 ]
    rm c/metadata
    heurt import c -o no
    expect_status 125
    says 'no format that is known'
}

# ---- two recorders, one run -------------------------------------------------------------------

@test "EZTrace and heurt, of one run: the same waits for the lock" {
    needs eztrace
    "$HEURT" record --quiet --overhead none --locks all --no-kernel -o both.data eztrace -t pthread -o e \
        "$EXAMPLES/queue" --threads 3 --delay 20000 --iterations 500 >out 2>&1 </dev/null || skip "eztrace cannot record here"
    heurt import e/*_trace -o i
    expect_status 0
    for dir in both.data i; do
        "$HEURT" tables -i $dir --format csv locks:contended,wait_ns | sed -n 2p >$dir.lock
    done
    # heurt asks for a lock before it calls what EZTrace sees, so that this sees the waits alone; one of less
    # than 1 us counts as none there.
    paste -d, both.data.lock i.lock | awk -F, '{ n = $1 - $3; ns = $2 - $4; if (n < 0) n = -n; if (ns < 0) ns = -ns
        if (n > 2 + $1 / 20 || ns > 20000 * ($1 + 1) + $2 / 50) { print; exit 1 } }'
}
