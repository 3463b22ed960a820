# Locks of real programs under load: how often they are taken is known from what the programs were
# asked to do, and from their sources.
load ../helpers
load servers

# The places that acquire locks in the report of trace t: a line "COUNT FUNCTION" each.
acquiring() {
    report_json t
    [ "$(json coverage.events_lost)" = 0 ]
    paste -d ' ' <(classes lock count) <(classes lock caller.function) | awk '
        { count = $1; sub(/^[0-9]+ /, ""); all[$0] += count }
        END { for (place in all) print all[place], place }'
}

# taken TIMES [FUNCTION]: so many places took a lock just so often.
taken() {
    grep -c "^$1 .*${2-}" places || :
}

# What heurt locks tells of trace t, in locks.json; the parts add up to the whole.
locks_json() {
    "$HEURT" locks -i t --json >locks.json
    ! "$JSON_GET" locks.json 'audit.checks[].is_good' | grep -q false
}

# heurt locks and heurt report find the same conditions idle.
same_idle() {
    paste -d ' ' <(classes condition object) <(classes condition idle) | sort -u >idle_of_report
    paste -d ' ' <(locks 'locks[kind=condition].address') <(locks 'locks[kind=condition].idle') \
        <(locks 'locks[kind=condition].exclusive.wait.count') | sed -n 's/ [1-9][0-9]*$//p' |
        sort -u >idle_of_locks
    [ -s idle_of_locks ]
    diff idle_of_report idle_of_locks
}

locks() { # PATH, in locks.json; nothing when there is none
    "$JSON_GET" locks.json "$1" || :
}

waited() { # KIND: ns, in all classes of that kind
    classes "$1" sum_ns | sum
}

number() { # KEY, that the program printed
    sed -n "s/^$1=//p" out
}

@test "LevelDB: writers queue, each on a condition of its own, for whom the first one writes" {
    [ -x "$PROGRAMS/leveldb_writer" ] || skip "LevelDB is not installed"
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/leveldb_writer" . 4 20000 >out </dev/null
    acquiring >places
    cat out places
    [ "$(number found)" = "$(number puts)" ]
    # Each Write takes the mutex once, each Get twice.
    json 'classes[kind=lock]' | grep -F DBImpl::Write | while IFS= read -r class; do
        "$JSON_GET" - count <<<"$class"
    done >writes
    grep -qx "$(number puts)" writes
    [ "$(taken $((2 * $(number puts))) DBImpl::Get)" = 1 ]
    # Who writes gives the mutex away for it, and writes the log once for all that it has found.
    local batches log_writes
    batches=$(grep -vx "$(number puts)" writes | sort -n | tail -n 1)
    log_writes=$(paste -d ' ' <(classes disk count) <(classes disk function) \
        <(classes disk caller.function) | awk '/ write .*Flush/ { n += $1 } END { print n }')
    echo "$batches batches, $log_writes writes"
    [ "$log_writes" -ge "$batches" ]
    # Records are cut where the log's blocks of 32 KiB end; the manifest is written, too.
    [ "$log_writes" -le $((batches + $(number puts) * 150 / 32768 + 10)) ]
    # The others wait in Write, and are woken from there.
    is_number_above "$(waited lock)" "$(waited condition)"
    json 'classes[kind=condition].caller.function' >waiters
    [ "$(grep -vc DBImpl::Write waiters || :)" = 0 ]
    json 'classes[kind=condition].blames[].function' | grep -q DBImpl::Write
    # Each condition is one writer's, waited with the database's mutex, and signalled for somebody:
    # the few signals for nobody come before the wait for which they were meant.
    locks_json
    same_idle
    local conditions signals waits for_nobody
    conditions=$(locks 'locks[kind=condition]' | grep -F DBImpl::Write)
    [ "$(wc -l <<<"$conditions")" -le 4 ]
    [ "$(while IFS= read -r row; do "$JSON_GET" - mutex <<<"$row"; done <<<"$conditions" |
        sort -u | wc -l)" = 1 ]
    signals=$(while IFS= read -r row; do "$JSON_GET" - signals <<<"$row"; done <<<"$conditions" | sum)
    waits=$(while IFS= read -r row; do "$JSON_GET" - exclusive.acquisitions <<<"$row"; done \
        <<<"$conditions" | sum)
    for_nobody=$(while IFS= read -r row; do "$JSON_GET" - signals_for_nobody <<<"$row"; done \
        <<<"$conditions" | sum)
    echo "$signals signals, $for_nobody for nobody, $waits waits"
    ! grep -q '"idle":true' <<<"$conditions"
    [ "$signals" -ge "$waits" ]
    [ $((signals - for_nobody)) -le "$waits" ]
}

@test "LevelDB: one writer waits for nobody" {
    [ -x "$PROGRAMS/leveldb_writer" ] || skip "LevelDB is not installed"
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/leveldb_writer" . 1 20000 >out </dev/null
    acquiring >places
    [ "$(waited condition)" = 0 ]
    [ "$(classes lock contended | sum)" = 0 ]
    [ "$(taken $((2 * $(number puts))) DBImpl::Write)" = 1 ] # each one a batch of its own
}

# kcprototest order: THREADS threads set, then get, then remove RECORDS records each, of one hash
# table under one rwlock. Beside these it opens, counts and closes.
@test "Kyoto Cabinet: readers and writers of one rwlock" {
    command -v kcprototest >/dev/null || skip "Kyoto Cabinet's utilities are not installed"
    local records=10000 threads=4 reads writes
    "$HEURT" record --quiet --overhead none -o t kcprototest order -th $threads $records >out \
        </dev/null
    grep -qx ok out
    acquiring >places
    cat places
    reads=$(sed -n 's/ kyotocabinet::RWLock::lock_reader().*//p' places)
    writes=$(sed -n 's/ kyotocabinet::RWLock::lock_writer().*//p' places)
    [ "$((reads / 100))" = $((threads * records / 100)) ]
    [ "$((writes / 100))" = $((2 * threads * records / 100)) ]
    # It is one lock, shared by readers and held by writers.
    [ "$(json 'classes[kind=lock].object' | sort -u | wc -l)" = 1 ]
    "$HEURT" dump -i t --function 'lock acquired' --function 'lock wait' >dump
    [ "$(grep -cE 'point +lock acquired \(read\)|leave +lock wait \(read\) result=0' dump)" = "$reads" ]
    [ "$(grep -cE 'point +lock acquired \(write\)|leave +lock wait \(write\) result=0' dump)" = "$writes" ]
    # It sets, gets and removes one after the other: no reader ever meets a writer.
    locks_json
    [ "$(locks 'locks[kind=rwlock].exclusive.acquisitions')" = "$writes" ]
    [ "$(locks 'locks[kind=rwlock].shared.acquisitions')" = "$reads" ]
    [ "$(locks 'locks[kind=rwlock].shared.contended')" = 0 ]
    [ "$(locks 'locks[kind=rwlock].exclusive.hold.count')" = "$writes" ]
    [ "$(locks 'locks[kind=rwlock].shared.hold.count')" = "$reads" ]
    "$HEURT" record --quiet --overhead none -o t kcprototest order -th 1 $records >out </dev/null
    acquiring >places
    [ "$(classes lock contended | sum)" = 0 ]
}

@test "pbzip2: a lock of the queue for every block, conditions for who finds it empty" {
    command -v pbzip2 >/dev/null || skip "pbzip2 is not installed"
    local blocks
    seq 600000 | awk '{ print $1 * 7919 % 1000003, $1 }' >data
    blocks=$((($(stat -c %s data) + 199999) / 200000))
    "$HEURT" record --quiet --overhead none -o t pbzip2 -k -c -p4 -b2 data >data.bz2 </dev/null
    pbzip2 -d -c data.bz2 | cmp - data
    acquiring >places
    cat places
    # The producer's, the consumers' and the writer's.
    is_number_above 1 "$(taken "$blocks" pbzip2)"
    is_number_above 0 "$(waited condition)"
    locks_json
    same_idle
    # A signal for each block that is queued, one for each that is taken.
    [ "$(locks 'locks[kind=condition].signals' | awk -v blocks="$blocks" '$1 >= blocks' | wc -l)" -ge 2 ]
    [ "$(locks inversions)" = '[]' ]
}

@test "memcached: a lock for every set, for every get, for every answer" {
    local sets gets
    start_memcached 4 --overhead none
    "$PROGRAMS/load_memcached" --socket "$PWD/socket" --connections 8 --operations 3000 >out
    end_server TERM
    [ "$ended" = 0 ] || fail "$(cat err)"
    acquiring >places
    sets=$(number sets)
    gets=$(number gets)
    sort -rn places | head -n 20
    is_number_above 0 "$(taken "$sets" memcached)"
    is_number_above 0 "$(taken "$gets" memcached)"
    is_number_above 2 "$(taken $((sets + gets)) memcached)"
    # It takes the locks of items in front of those of its lists, and behind them only by trying.
    locks_json
    [ "$(locks inversions)" = '[]' ]
}
