# Locks in strange use: what is recorded is what happened, and every command gets on with it.
load ../helpers

cases='robust robust_shared abandoned recursive errorcheck handed_over reborn timed tries upgrade
    read_twice vain cancelled barriers posted_by_other interrupted forked inversion'

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    # shellcheck disable=SC2086
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/locks_strange" $cases >out </dev/null
    "$HEURT" dump -i t >dump
    counted dump >counted
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$BATS_FILE_TMPDIR/t" "$BATS_FILE_TMPDIR/out" "$BATS_FILE_TMPDIR/dump" \
        "$BATS_FILE_TMPDIR/counted" .
}

# Of a dump: lines "KIND ADDRESS CALLS CONTENDED BUSY GAVE_UP".
counted() { # FILE
    awk '
        function field(name,    at) {
            at = match($0, name "=0x[0-9a-f]+")
            return at ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : ""
        }
        function side(    at) {
            match($0, /\([a-z ]+\)/)
            return substr($0, RSTART + 1, RLENGTH - 2)
        }
        function key() {
            if (/ semaphore /) return "semaphore " field("semaphore")
            if (/ condition /) return "condition " field("condition")
            if (/ barrier /) return "barrier " field("barrier")
            return side() " " field("lock")
        }
        $4 == "enter" && / (lock|semaphore|condition|barrier) wait/ { waits[$2] = key(); gave_up[key()]++ }
        $4 == "leave" && / (lock|semaphore|condition|barrier) wait/ && waits[$2] != "" {
            match($0, /result=-?[0-9]+/)
            result = substr($0, RSTART + 7, RLENGTH - 7)
            # 130: EOWNERDEAD; a barrier tells one of its threads so
            if (result == 0 || result == 130 || (result == -1 && / barrier /)) {
                calls[waits[$2]]++
                contended[waits[$2]]++
                gave_up[waits[$2]]--
            }
            waits[$2] = ""
        }
        / point +(lock|semaphore) acquired/ { calls[key()]++ }
        / point +lock busy/ { busy[key()]++ }
        END {
            for (k in calls) all[k]
            for (k in busy) all[k]
            for (k in gave_up) all[k]
            for (k in all) print k, calls[k] + 0, contended[k] + 0, busy[k] + 0, gave_up[k] + 0
        }' "$1"
}

# locks_json DIR: heurt locks of it, in locks.json, and in rows as lines
# "KIND ADDRESS ACQUIRED CONTENDED BUSY GAVE_UP HOLDS", processes and sides apart.
locks_json() {
    "$HEURT" locks -i "$1" --json >locks.json
    [ "$("$JSON_GET" locks.json schema)" = heurt.locks/1 ]
    ! "$JSON_GET" locks.json 'audit.checks[].is_good' | grep -q false
    {
        side exclusive write
        side shared read
    } >rows
}

side() { # SIDE KIND_OF_RWLOCK
    paste -d ' ' <("$JSON_GET" locks.json 'locks[].kind') <("$JSON_GET" locks.json 'locks[].address') \
        <("$JSON_GET" locks.json "locks[].$1") | while read -r kind address numbers; do
        [ "$numbers" != null ] || continue
        [ "$kind" != rwlock ] || kind=$2
        echo "$kind $address $(for field in acquisitions contended busy gave_up hold.count; do
            "$JSON_GET" - "$field" <<<"$numbers"
        done | paste -sd ' ')"
    done
}

# The sums over processes of rows: "ACQUIRED CONTENDED BUSY GAVE_UP HOLDS".
row_of() { # KIND ADDRESS
    awk -v kind="$1" -v address="$2" '
        $1 == kind && $2 == address { for (i = 3; i <= 7; i++) sum[i] += $i }
        END { print sum[3] + 0, sum[4] + 0, sum[5] + 0, sum[6] + 0, sum[7] + 0 }' rows
}

known() { # KEY, of a line KEY=VALUE
    sed -n "s/^$1=//p" out
}

@test "every call, wait, failed try and wait in vain is recorded" {
    local name kind address calls acquired contended busy gave_up row seen=0
    while read -r _ name kind address calls acquired contended busy gave_up; do
        [ "$kind" != condition ] || calls=$acquired # those in vain are no success
        row=$(grep "^$kind $address " counted || :)
        # vain and cancelled, and the three of reborn, share addresses
        [[ $name != vain_* && $name != cancelled_* ]] || continue
        # shellcheck disable=SC2086
        set -- ${row:-$kind $address 0 0 0 0}
        echo "$name: calls $calls, contended $contended, busy $busy, in vain $gave_up; counted: $row"
        [ "$3" = "$calls" ]
        [ "$contended" = -1 ] || [ "$4" = "$contended" ]
        [ "$busy" = -1 ] || [ "$5" = "$busy" ]
        [ "$6" = "$gave_up" ]
        seen=$((seen + 1))
    done < <(grep '^object' out)
    [ "$seen" -ge 25 ]
}

@test "condition waits that are cancelled, time out, or were woken for nothing" {
    local address vain_woken vain_gave_up cancelled_gave_up
    read -r address vain_woken vain_gave_up < <(awk '$2 == "vain_condition" { print $4, $6, $9 }' out)
    cancelled_gave_up=$(awk '$2 == "cancelled_condition" { print $9 }' out)
    grep "^condition $address $vain_woken $vain_woken 0 $((vain_gave_up + cancelled_gave_up))\$" counted
    # After a cancellation the mutex is released, as the program does.
    [ "$(grep -c 'lock released (mutex) site=wait_for_cancellation' dump)" = "$cancelled_gave_up" ]
}

@test "heurt locks: recursion is one acquisition, each ends in a release or with its thread" {
    local name kind address calls acquired contended busy gave_up seen=0
    locks_json t
    while read -r _ name kind address calls acquired contended busy gave_up; do
        [[ $name != vain_* && $name != cancelled_* ]] || continue
        # shellcheck disable=SC2046
        set -- $(row_of "$kind" "$address")
        echo "$name: acquired $acquired, contended $contended, busy $busy, in vain $gave_up; told: $*"
        [ "$kind" != barrier ] || acquired=$calls
        [ "$1" = "$acquired" ] || fail "$(grep "=$address\\>\\|cpu\\|lost" dump | tail -n 120)"
        [ "$contended" = -1 ] || [ "$2" = "$contended" ]
        [ "$busy" = -1 ] || [ "$3" = "$busy" ]
        [ "$4" = "$gave_up" ]
        [[ $kind == barrier || $kind == semaphore ]] || [ "$5" = "$acquired" ]
        seen=$((seen + 1))
    done < <(grep '^object' out)
    [ "$seen" -ge 27 ]
    # One barrier's place for one to four threads.
    [ "$("$JSON_GET" locks.json 'locks[kind=barrier].rounds')" = \
        "$(awk '$2 == "barriers" { print $6 }' out)" ]
    [ "$("$JSON_GET" locks.json "locks[address=$(awk '$2 == "posted_by_other" { print $4 }' \
        out)].signals")" = "$(known posted_by_other_posts)" ]
}

@test "heurt locks: conditions, who signalled and for whom" {
    local condition mutex woken gave_up acquired
    record --overhead none -o vain "$PROGRAMS/locks_strange" vain
    printf '%s\n' "$output" >out
    locks_json vain
    read -r condition woken gave_up < <(awk '$2 == "vain_condition" { print $4, $6, $9 }' out)
    read -r mutex acquired < <(awk '$2 == "vain_mutex" { print $4, $6 }' out)
    [ "$(row_of condition "$condition")" = "$woken $woken 0 $gave_up 0" ]
    [ "$("$JSON_GET" locks.json "locks[kind=condition].broadcasts")" = "$(known vain_broadcasts)" ]
    [ "$("$JSON_GET" locks.json "locks[kind=condition].signals_for_nobody")" = \
        "$(known vain_signals_for_nobody)" ]
    # Every wait gives the mutex back and takes it again.
    [ "$(row_of mutex "$mutex" | cut -d' ' -f1)" = $((acquired + woken + gave_up)) ]
    record --overhead none -o cancelled "$PROGRAMS/locks_strange" cancelled
    printf '%s\n' "$output" >out
    locks_json cancelled
    read -r mutex acquired < <(awk '$2 == "cancelled_mutex" { print $4, $6 }' out)
    [ "$(row_of mutex "$mutex" | cut -d' ' -f1)" = "$acquired" ]
    read -r condition gave_up < <(awk '$2 == "cancelled_condition" { print $4, $9 }' out)
    [ "$(row_of condition "$condition")" = "0 0 0 $gave_up 0" ]
}

# inversion NAME: how "heurt locks --json" tells of the circle that these locks are in, or nothing.
inversion() {
    local address ranks=
    for address in $(awk -v name="inversion_$1" '$2 == name { print $4 }' out); do
        ranks+=" $("$JSON_GET" locks.json "locks[address=$address].rank")"
    done
    "$JSON_GET" locks.json 'inversions[]' | while IFS= read -r line; do
        [ "$("$JSON_GET" - 'orders[].taken' <<<"$line" | sort | paste -sd ' ')" != \
            "$(tr ' ' '\n' <<<"$ranks" | sed '/^$/d' | sort | paste -sd ' ')" ] || echo "$line"
    done
}

@test "locks in both orders, in a circle, under a guard, by tries, in one order" {
    locks_json t
    [ "$("$JSON_GET" locks.json 'inversions[].guarded' | wc -l)" = 3 ]
    [ "$(inversion pair | "$JSON_GET" - guarded)" = false ]
    [ "$(inversion pair | "$JSON_GET" - one_thread)" = false ]
    [ "$(inversion pair | "$JSON_GET" - 'orders[].times' | paste -sd ' ')" = "20 20" ]
    [ "$(inversion circle | "$JSON_GET" - one_thread)" = true ]
    [ "$(inversion guarded | "$JSON_GET" - guarded)" = true ]
    [ -z "$(inversion tried)" ]
    [ -z "$(inversion ordered)" ]
    [ "$(grep -c 'site=nest_try .* tried=1' dump)" = 20 ]
}

@test "the report of all of it is whole" {
    report_json t
    [ "$(json coverage.events_lost)" = 0 ]
    [ "$(json exit_status)" = 0 ]
    heurt report -i t --audit
    expect_status 0
}

@test "two hundred thousand locks" {
    record --overhead none -o many "$PROGRAMS/locks_strange" many_locks
    expect_status 0
    local locks acquired
    locks=$(sed -n 's/^many_locks=//p' <<<"$output")
    acquired=$(sed -n 's/^many_locks_acquired=//p' <<<"$output")
    "$HEURT" dump -i many --function 'lock acquired' >dump
    [ "$(wc -l <dump)" = "$acquired" ]
    [ "$(grep -o 'lock=0x[0-9a-f]*' dump | sort -u | wc -l)" = "$locks" ]
    report_json many
    [ "$(json coverage.events_lost)" = 0 ]
    "$HEURT" locks -i many --json >locks.json
    [ "$("$JSON_GET" locks.json all.acquisitions)" = "$acquired" ]
    heurt locks -i many
    expect_status 0
    [[ $output == *"200,000 locks"* ]]
    [[ $output =~ 190,?000\ locks\ are\ left\ out ]]
}

@test "two thousand threads that take one lock each" {
    record --overhead none -o many "$PROGRAMS/locks_strange" many_threads
    expect_status 0
    local address acquired own
    read -r address acquired < <(awk '$2 == "everyones" { print $4, $6 }' <<<"$output")
    own=$(sed -n 's/^own_acquired=//p' <<<"$output")
    "$HEURT" dump -i many >dump
    [ "$(counted dump | awk -v address="$address" '$2 == address { print $3 }')" = "$acquired" ]
    [ "$(counted dump | awk '{ all += $3 } END { print all }')" = $((acquired + own)) ]
    report_json many
    [ "$(json coverage.events_lost)" = 0 ]
    is_number_above "$own" "$(json 'threads[].tid' | wc -l)"
}

@test "killed in the critical section, while another thread waits for it" {
    record -o killed "$PROGRAMS/locks_strange" killed
    expect_status 137
    local address calls gave_up
    read -r address calls gave_up < <(awk '$2 == "killed" { print $4, $5, $9 }' <<<"$output")
    "$HEURT" dump -i killed >dump
    [ "$(counted dump)" = "mutex $address $calls 0 0 $gave_up" ]
    report_json killed
    [ "$(json exit_status)" = 137 ]
    locks_json killed
    [ "$(row_of mutex "$address")" = "$calls 0 0 $gave_up $calls" ]
}
