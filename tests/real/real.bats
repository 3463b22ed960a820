# Programs from Debian's packages under load, and programs such as people write.
# Each must do what it does without heurt, and the report must tell what is known of it.
load ../helpers
load servers

# The report of trace t must be whole: nothing lost, the exit status that was seen.
whole_report() { # STATUS
    report_json t
    [ "$(json coverage.events_lost)" = 0 ]
    [ "$(json exit_status)" = "$1" ]
    is_number_above 0 "$(json overhead.events)"
}

# How many threads did something of a kind that is more than the given count.
busy_threads() { # COMPONENT NS
    json "threads[].components_ns.$1" | awk -v limit="$2" '$1 > limit { n++ } END { print n + 0 }'
}

# Callers of a class's occurrences that are functions of the program itself.
callers_in() { # KIND MODULE
    json 'classes[]' | grep -F "\"kind\":\"$1\"" | grep -F "$2" | while IFS= read -r line; do
        "$JSON_GET" - caller.function <<<"$line"
    done
}

@test "memcached with 4 threads under load" {
    start_memcached 4
    "$PROGRAMS/load_memcached" --socket "$PWD/socket" --connections 8 --operations 3000 >load
    end_server TERM
    echo "ended $ended; $(cat err load)"
    [ "$ended" -eq 0 ] # it ends orderly
    whole_report 0
    # The four workers read from sockets; listener and maintenance threads come on top.
    is_number_above 3 "$(json 'threads[].tid' | wc -l)"
    is_number_above 4 "$(json 'threads[].lifetime_ns' | wc -l)"
    # Every operation is at least one read and one write on a socket.
    local operations
    operations=$(awk -F= '/^(sets|gets)=/ { n += $2 } END { print n }' load)
    is_number_above "$((operations - 1))" "$(classes network count | sum)"
    # memcached's items and statistics are under locks that its own code takes.
    [ -n "$(classes lock object)" ]
    [ -n "$(callers_in lock memcached)" ]
}

@test "pbzip2: the same output, bit for bit" {
    command -v pbzip2 >/dev/null || skip "pbzip2 is not installed"
    seq 600000 | awk '{ print $1 * 7919 % 1000003, $1 }' >data
    pbzip2 -k -c -p4 -b2 data >plain.bz2
    "$HEURT" record --quiet -o t pbzip2 -k -c -p4 -b2 data >recorded.bz2 </dev/null
    cmp plain.bz2 recorded.bz2
    "$HEURT" record --quiet -o back pbzip2 -d -c -p4 recorded.bz2 >again </dev/null
    cmp data again
    whole_report 0
    is_number_above 4 "$(json 'threads[].tid' | wc -l)" # producer, 4 consumers, writer
    # Consumers wait on conditions for blocks; the queue is under a mutex.
    [ -n "$(classes condition count)" ] || [ -n "$(classes sleep count)" ]
    is_number_above 0 "$(classes lock count | sum)"
    [ -n "$(callers_in lock pbzip2)" ]
}

@test "redis-server with 4 io-threads under redis-benchmark" {
    start_redis -- --io-threads 4 --io-threads-do-reads yes
    redis-benchmark -s "$PWD/socket" -t set,get -n 500 -c 16 -q >load
    redis-cli -s "$PWD/socket" set truth known >answers
    redis-cli -s "$PWD/socket" get truth >>answers
    end_server TERM
    echo "ended $ended; $(cat err load)"
    [ "$(cat answers)" = $'OK\nknown' ]
    [ "$ended" -eq 0 ]
    whole_report 0
    # With fewer processors than its threads that spin, it answers a few hundred requests a second.
    # main, three more for input and output, background workers
    is_number_above 3 "$(json 'threads[].tid' | wc -l)"
    json 'threads[].name' | grep -q io_thd
    is_number_above 1000 "$(classes network count | sum)" # a read and a write each of 1000 requests
    [ -n "$(classes poll count)" ]
}

@test "a C++ program with exceptions and many short functions" {
    "$PROGRAMS/word_count" >plain
    "$HEURT" record --quiet -o t -f 'Counter::count' -f read_word "$PROGRAMS/word_count" >recorded \
        </dev/null
    diff <(grep -v address plain) <(grep -v address recorded)
    whole_report 0
    is_number_above 4 "$(json 'threads[].tid' | wc -l)"
    is_number_above 0 "$(classes lock count | sum)"
}

@test "the C++ program's functions are counted exactly, thrown through or not" {
    "$HEURT" record --quiet -o t -M calls_known_cxx "$PROGRAMS/calls_known_cxx" >out </dev/null
    report_json t
    # A demangled name has a result before it, for templates, and parameters behind it.
    json 'classes[kind=call]' | while IFS= read -r class; do
        printf '%s=%s\n' "$("$JSON_GET" - function <<<"$class" | sed 's/(.*//; s/.* //')" \
            "$("$JSON_GET" - count <<<"$class")"
    done | awk -F= '{ sum[$1] += $2 } END { for (name in sum) print name "=" sum[name] }' >counted
    local name calls counted compared=0
    while IFS='=' read -r name calls; do
        counted=$(sed -n "s/^$name=//p" counted)
        [ -n "$counted" ] || continue # refused
        [ "$counted" = "$calls" ] || fail "$name: counted $counted, called $calls times"
        compared=$((compared + 1))
    done < <(grep -E '^[A-Za-z_:~<>]+=[0-9]+$' out)
    is_number_above 6 "$compared"
}

@test "a gcc -fopenmp program, its parallel region by name" {
    [ -x "$PROGRAMS/openmp" ] || skip "this compiler has no OpenMP library"
    OMP_NUM_THREADS=4 "$PROGRAMS/openmp" >plain
    OMP_NUM_THREADS=4 "$HEURT" record --quiet -o t -f '*omp_fn*' -f '*omp_outlined*' \
        "$PROGRAMS/openmp" >recorded </dev/null
    diff plain recorded
    whole_report 0
    [ "$(json 'threads[].tid' | wc -l)" = 4 ]
    json 'classes[kind=call].function' | grep -Eq 'omp_(fn|outlined)'
}

@test "a shell pipeline of many processes" {
    seq 1 5000 >numbers
    sh -c 'sort -R numbers | sort -n | tail -n 1 | tr 0 o' >plain
    "$HEURT" record --quiet -o t sh -c 'sort -R numbers | sort -n | tail -n 1 | tr 0 o' >recorded
    cmp plain recorded
    report_json t
    is_number_above 3 "$(json 'threads[].tid' | wc -l)"
}

@test "a compiler compiles the same object" {
    printf 'int main(void) { return 3; }\n' >program.c
    "${CC:-cc}" -c -o plain.o program.c
    "$HEURT" record --quiet -o t "${CC:-cc}" -c -o recorded.o program.c </dev/null
    cmp plain.o recorded.o
}
