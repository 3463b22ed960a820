#!/usr/bin/env bats
# heurt memory: which memory threads use, by object.
load ../helpers

# Where heurt chooses functions it samples often enough for a run this short.
record() {
    "$HEURT" record --quiet -o "$1" "$PROGRAMS/memory_known" "$1" >out
}

# Two threads side by side write bytes of one line, so far apart, sampled each ms.
shared_line() { # DISTANCE
    local thread ms
    printf 'start 1000 1000\nend 200001000 200001000 0\nmeta command ./sums\nmeta cpus 2\n'
    printf 'process 0 100 /nowhere/sums\n'
    for thread in 0 1; do
        printf 'thread %s worker\n1000 thread_start 0 %s 0x401000\n' $thread $((thread - 1))
        printf '200001000 thread_end 200000000 0\n'
    done
    for ((ms = 0; ms < 200; ms++)); do
        for thread in 0 1; do
            printf 'sample %s 100 %s 1000000 %s %s 3\n' $((1000 + ms * 1000000 + thread * 1000)) \
                $((1000 + thread)) $((0x401100 + thread * 256)) $((0x8000 + thread * $1))
        done
    done
}

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    record packed
    record reused
    record fixed
    shared_line 16 | "$HEURT_BUILD/tests/tools/make_trace" apart
    shared_line 0 | "$HEURT_BUILD/tests/tools/make_trace" same
    "$HEURT" record --quiet --no-choice --no-memory -o untold "$PROGRAMS/memory_known" >out
}

setup() {
    cd "$BATS_FILE_TMPDIR"
    "$HEURT" memory -i packed --json >packed.json
}

# The number, from 0, of the object of that kind that was allocated at, or is called so.
object() {
    local title rest i=0
    "$JSON_GET" "$1" 'objects[].title' >titles
    while read -r title; do
        [[ $title == *"$2"* ]] && echo "$i" && return
        i=$((i + 1))
    done <titles
    return 1
}

@test "an object on the heap is told with its size and where it was made" {
    local -i at
    [ "$("$JSON_GET" packed.json schema)" = heurt.memory/1 ]
    at=$(object packed.json 'made at memory_known.c')
    [ "$("$JSON_GET" packed.json "objects[$at].kind")" = heap ]
    [ "$("$JSON_GET" packed.json "objects[$at].bytes")" = 32 ]
    [ "$("$JSON_GET" packed.json "objects[$at].born.function")" = main ]
    grep -n 'calloc(2, apart)' "$HEURT_SOURCE/tests/programs/memory_known.c" >line
    [ "$("$JSON_GET" packed.json "objects[$at].born.line")" = "$(cut -d: -f1 line)" ]
}

@test "of each access the thread, the offset and the function are told" {
    local -i at
    at=$(object packed.json 'made at memory_known.c')
    "$JSON_GET" packed.json "objects[$at].accesses[].offset" | sort -un >offsets
    grep -qx 8 offsets
    grep -qx 24 offsets
    [ "$("$JSON_GET" packed.json "objects[$at].threads[].tid" | wc -l)" -ge 2 ]
    [ "$("$JSON_GET" packed.json "objects[$at].accesses[0].place.function")" = count ]
}

@test "a variable has its name, and the times of all objects are that of all samples at memory" {
    "$HEURT" memory -i fixed --json >fixed.json
    local -i at sum=0 ns
    at=$(object fixed.json fixed)
    [ "$("$JSON_GET" fixed.json "objects[$at].kind")" = static ]
    for ns in $("$JSON_GET" fixed.json 'objects[].time_ns'); do
        sum+=ns
    done
    [ "$sum" = "$("$JSON_GET" fixed.json at_memory_ns)" ]
}

@test "memory belongs to the object that lived there then, not to those before it" {
    local -i at
    "$HEURT" memory -i reused --json >reused.json
    at=$(object reused.json 'made at memory_known.c')
    [ "$("$JSON_GET" reused.json "objects[$at].born.function")" = make_and_free ]
    grep -n 'return malloc(bytes)' "$HEURT_SOURCE/tests/programs/memory_known.c" >line
    [ "$("$JSON_GET" reused.json "objects[$at].born.line")" = "$(cut -d: -f1 line)" ]
}

@test "what the program has named is told by that name, and where it was" {
    record named
    "$HEURT" memory -i named --json >named.json
    local -i at
    at=$(object named.json tallies)
    [ "$("$JSON_GET" named.json "objects[$at].kind")" = static ]
    [ "$("$JSON_GET" named.json "objects[$at].bytes")" = 32 ]
    grep -n 'heurt_object(fixed' "$HEURT_SOURCE/tests/programs/memory_known.c" >line
    [ "$("$JSON_GET" named.json "objects[$at].born.line")" = "$(cut -d: -f1 line)" ]
    "$JSON_GET" named.json "objects[$at].accesses[].data" | grep -q '^tallies'
}

@test "the screen shows objects, and one of them by its number or a part of its name" {
    "$HEURT" memory -i packed >screen
    grep -q '^  Seen: ' screen
    grep -q '32 bytes\|tally' screen
    "$HEURT" memory -i packed 'made at memory_known.c' >one
    grep -q 'line 0' one
    run --separate-stderr "$HEURT" memory -i packed nowhere_at_all
    [ "$status" -eq 2 ]
    [[ $stderr == *"no object is 'nowhere_at_all'"* ]]
}

# The number, from 1, of what the threads of memory_known count in.
counted() {
    echo $(($(object "$1" 'made at memory_known.c') + 1))
}

# Of columns of CSV on stdin, by their name: what is in them.
column() {
    awk -F, -v name="^$1\$" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ name) at[++columns] = i }
        NR > 1 { for (i = 1; i <= columns; i++) print $(at[i]) }'
}

@test "a cache line is shown byte by byte: who writes which" {
    "$HEURT" memory -i apart 1 --lines --csv >lines.csv
    # Each thread writes its own 8 bytes, 16 from the other's, and no byte is the other's.
    [ "$(column byte <lines.csv | sort -n | xargs)" = '0 16' ]
    [ "$(column bytes <lines.csv | sort -u)" = 8 ]
    [ "$(column tid <lines.csv | sort | xargs)" = '1000 1001' ]
    [ "$(column written_ns <lines.csv | sort -u)" = 200000000 ]
    [ "$(column met <lines.csv | sort -u)" = 0 ]
    "$HEURT" memory -i apart 1 --lines >lines
    grep -q '^  thread 0  wwwwwwww [. ]*  200 ms$' lines
    grep -q '^  thread 1  [.]* [.]* wwwwwwww [. ]*  200 ms$' lines
    ! grep -q '^ *\^' lines
}

@test "bytes that one thread writes and another one uses are marked" {
    "$HEURT" memory -i same 1 --lines >lines
    grep -q '^ *^^^^^^^^$' lines
    "$HEURT" memory -i same 1 --lines --json >lines.json
    [ "$("$JSON_GET" lines.json 'lines[0].met')" = true ]
    [ "$("$JSON_GET" lines.json pages)" = null ]
}

@test "lines fit the terminal, and stand in ASCII where that is all there is" {
    local columns
    for columns in 60 80 100; do
        "$HEURT" memory -i apart --lines --width "$columns" >lines
        [ "$(wc -L <lines)" -le "$columns" ]
        grep -q '^  thread 1  .*wwww' lines
        "$HEURT" memory -i apart --pages --width "$columns" >pages
        [ "$(wc -L <pages)" -le "$columns" ]
        "$HEURT" memory -i apart --flow object=1 --width "$columns" >flow
        [ "$(wc -L <flow)" -le "$columns" ]
    done
    local view
    for view in --lines --pages '--flow thread=1'; do
        # shellcheck disable=SC2086
        LC_ALL=C "$HEURT" memory -i apart $view >plain
        ! LC_ALL=C grep -q '[^ -~]' plain
    done
}

@test "pages and time slices hold all of the time at memory" {
    local -i sum=0 ns
    for ns in $("$HEURT" memory -i packed --pages --csv | column time_ns); do
        sum+=ns
    done
    [ "$sum" = "$("$JSON_GET" packed.json at_memory_ns)" ]
    sum=0
    for ns in $("$HEURT" tables -i packed --format csv memory_flow | column time_ns); do
        sum+=ns
    done
    [ "$sum" = "$("$JSON_GET" packed.json at_memory_ns)" ]
    "$HEURT" memory -i packed --pages >pages
    [ "$(grep -c '^  thread [012]  *|.*|  ' pages)" -ge 2 ]
}

@test "who was at an object before a second thread was is told, and each in its time" {
    record handed
    "$HEURT" memory -i handed --json >handed.json
    local -i at before all
    local number main
    at=$(object handed.json 'made at memory_known.c')
    number=$(counted handed.json)
    main=$("$JSON_GET" handed.json "objects[$at].first_tid")
    before=$("$JSON_GET" handed.json "objects[$at].before_sharing_ns")
    all=$("$JSON_GET" handed.json "objects[$at].time_ns")
    [ "$before" -gt 0 ]
    [ "$before" -lt "$all" ]
    "$HEURT" memory -i handed --flow "object=$number" --csv >flow.csv
    # The first thread is done before others begin.
    awk -F, -v main="$main" 'NR > 1 && $4 == main { if (others) exit 1; ns += $6 }
        NR > 1 && $4 != main { if (from != "" && $1 != from) others = 1; from = $1 }
        END { exit !ns }' flow.csv
    "$HEURT" memory -i handed --flow "object=$number" >flow
    grep -q '^  Before it was shared: thread 0 alone, ' flow
    "$HEURT" memory -i handed --flow thread=0 >flow
    grep -q "^  Thread 0 (memory_known, number $main): " flow
    "$HEURT" memory -i handed --flow "thread=$main" >by_number
    cmp flow by_number
}

# Bytes that are drawn as written, of full height.
bytes_written() {
    grep -c '<rect .* width="9.0" height="16.0"' "$1"
}

is_xml() {
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

@test "each view is a picture, too, in which names are text" {
    record oddly-named
    "$HEURT" memory -i oddly-named --json >odd.json
    local view number
    number=$(counted odd.json)
    for view in "$number --lines" "$number --pages" "--flow object=$number" '--flow thread=1'; do
        # shellcheck disable=SC2086
        "$HEURT" memory -i oddly-named $view --picture view.svg >out
        [ ! -s out ]
        is_xml view.svg
        grep -q '&#60;b&#62;&#38;&#34;t' view.svg
        run ! grep -qE '<b>|href|script|'$'\e' view.svg
    done
    "$HEURT" memory -i apart 1 --lines --picture - >view.svg
    [ "$(bytes_written view.svg)" = 16 ]
    run --separate-stderr "$HEURT" memory -i oddly-named 1 --picture view.svg
    [ "$status" -eq 2 ]
    [[ $stderr == *"--picture goes with --lines, --pages or --flow"* ]]
    run --separate-stderr "$HEURT" memory -i oddly-named 1 --lines --picture nowhere/view.svg
    [ "$status" -eq 125 ]
}

@test "the page of a report has the lines of its first finding of sharing" {
    "$HEURT" report -i apart --html page.html
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' page.html >data
    [ "$("$JSON_GET" data 'report.findings[0].category')" = 'false sharing' ]
    "$JSON_GET" data 'cards[0].picture' >picture.svg
    is_xml picture.svg
    [ "$(bytes_written picture.svg)" = 16 ]
}

# Calls of 2 ms; those of the second half of the run take 3 ms more, at a line that both threads write.
calls_that_share() {
    local thread ms i k
    printf 'start 1000 1000\nend 700001000 700001000 0\nmeta command ./tally\nmeta cpus 2\n'
    printf 'process 0 100 /nowhere/tally\nfunction 0 1024 tally 0x401000\n'
    for thread in 0 1; do
        printf 'thread %s worker\n1000 thread_start 0 %s 0x402000\n' $thread $((thread - 1))
        for ((i = 0, ms = 0; i < 200; i++)); do
            printf '%s tally\n' $((1000 + ms * 1000000))
            for ((k = 0; k < (i < 100 ? 2 : 5); k++, ms++)); do
                printf 'sample %s 100 %s 1000000 ' $((501000 + ms * 1000000 + thread * 1000)) $((1000 + thread))
                if ((k < 2)); then
                    printf '%s 0 0\n' $((0x401008 + ms % 31))
                else
                    printf '0x401004 %s 3\n' $((0x8000 + thread * 16))
                fi
            done
            printf '%s leave tally\n' $((990 + ms * 1000000))
        done
        printf '700001000 thread_end 700000000 0\n'
    done
}

@test "what sharing costs calls is in the ledger, as that, and all adds up" {
    calls_that_share | "$HEURT_BUILD/tests/tools/make_trace" calls
    "$HEURT" report -i calls --json >calls.json
    local -i at=0 lost shared sum=0 ns
    [ "$("$JSON_GET" calls.json "classes[$at].function")" = tally ]
    lost=$("$JSON_GET" calls.json "classes[$at].excess_ns")
    shared=$("$JSON_GET" calls.json "classes[$at].why_ns.false_sharing")
    [ $((shared * 10)) -gt $((lost * 9)) ]
    [ "$("$JSON_GET" calls.json "classes[$at].cause")" = false_sharing ]
    [ "$("$JSON_GET" calls.json "classes[$at].evidence[0].cache_line")" = 0x8000 ]
    [ "$("$JSON_GET" calls.json "classes[$at].evidence[0].confidence")" = estimated ]
    [ "$("$JSON_GET" calls.json "classes[$at].evidence[0].explained")" = null ]
    for ns in $("$HEURT" report -i calls --class site --csv | head -2 | column 'why_[a-z_]*'); do
        sum+=ns
    done
    [ "$sum" = "$lost" ]
    "$HEURT" report -i calls --audit >audit
    "$HEURT" report -i calls --classes 1 >class
    grep -q '^  why      false sharing' class
    grep -q 'false sharing  *samples: threads write different bytes' class
}

@test "what is called once a thread is told with its classes, from samples" {
    "$HEURT" record --quiet -f count -o once "$PROGRAMS/memory_known" >out
    "$HEURT" report -i once --classes >classes
    sed -n '/functions that no calls tell of/,/^$/p' classes >seldom
    grep -Eq '^ .* 2  +2  +count  +memory_known.c:' seldom
    "$HEURT" report -i once --json >once.json
    [ "$("$JSON_GET" once.json 'long_functions[0].function')" = count ]
    [ "$("$JSON_GET" once.json 'long_functions[0].calls')" = 2 ]
    "$HEURT" report -i once --html once.html
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' once.html >data
    [ "$("$JSON_GET" data 'report.long_functions[].time_ns')" = "$("$JSON_GET" once.json 'long_functions[].time_ns')" ]
}

@test "what was allocated before a fork has its place in the child, too" {
    record forked
    "$HEURT" memory -i forked --json >forked.json
    # One object a process, both used by threads.
    [ "$("$JSON_GET" forked.json 'objects[].title' | grep -c 'made at memory_known.c:')" = 2 ]
    ! "$JSON_GET" forked.json 'objects[].title' | grep 'made at 0x' || false
}

@test "a flow tells in which recorded calls threads were, and what they started in" {
    "$HEURT" record --quiet -f main -o within "$PROGRAMS/memory_known" handed >out
    local main
    "$HEURT" memory -i within --json >within.json
    "$HEURT" memory -i within --flow "object=$(counted within.json)" --csv >flow.csv
    main=$("$JSON_GET" within.json "objects[$(object within.json 'made at memory_known.c')].first_tid")
    awk -F, -v main="$main" 'NR > 1 { rows++; bad += $NF != ($4 == main ? "main" : "work") }
        END { exit !rows || bad }' flow.csv
    "$HEURT" memory -i within --flow thread=1 --width 160 >flow
    grep -q 'count memory_known.c:[0-9]* within work$' flow
}

@test "views that cannot be are refused with a sentence" {
    run --separate-stderr "$HEURT" memory -i packed --lines --pages
    [ "$status" -eq 2 ]
    run --separate-stderr "$HEURT" memory -i packed --flow elsewhere
    [ "$status" -eq 2 ]
    [[ $stderr == *"expected thread= and a thread, or object= and an object"* ]]
    run --separate-stderr "$HEURT" memory -i packed --flow thread=77
    [ "$status" -eq 2 ]
    [[ $stderr == *"no thread is '77'"* ]]
    run --separate-stderr "$HEURT" memory -i packed --flow object=1 2
    [ "$status" -eq 2 ]
}

@test "memory that no call gave is said to be of an allocator of the program's own" {
    record own
    "$HEURT" memory -i own --json >own.json
    [ "$("$JSON_GET" own.json may_allocate_itself)" = true ]
    [ "$("$JSON_GET" own.json untold_ns)" -gt 0 ]
    "$HEURT" memory -i own | grep -q 'This program may have an allocator of its own'
    [ "$("$JSON_GET" packed.json may_allocate_itself)" = false ]
    "$HEURT" memory -i packed >screen
    ! grep -q 'allocator of its own' screen
}

@test "a run that does not tell allocations says so" {
    "$HEURT" memory -i untold --json >untold.json
    [ "$("$JSON_GET" untold.json tells_allocations)" = false ]
    [ "$("$JSON_GET" untold.json allocations)" = 0 ]
    "$HEURT" memory -i untold | grep -q -- '--no-memory'
}

# Sums over what was told: whole ones stand for themselves, drawn ones for 262,144 bytes each. Within
# five standard errors.
@test "where allocations are frequent, those that are told stand for all of their size" {
    "$HEURT" record --quiet --no-choice -o many "$PROGRAMS/memory_known" many
    "$HEURT" dump -i many | grep ' allocated .*malloc' >told
    awk -v size=100 -v count=3000000 -v few=30000 '
        function value(name) { return match($0, name "=[0-9]+") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : "" }
        value("size") == size && value("drawn") { drawn++; sum += 262144 / size }
        value("size") == size && !value("drawn") { sum++ }
        END { error = 5 * sqrt(drawn) * 262144 / size
              print drawn, sum, error
              exit !(drawn > 500 && sum > count - error && sum < count + error && NR < few) }' told
    awk -v size=5000 -v count=20000 '
        function value(name) { return match($0, name "=[0-9]+") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : "" }
        value("size") == size && value("drawn") { drawn++; sum += 262144 / size }
        value("size") == size && !value("drawn") { sum++ }
        END { error = 5 * sqrt(drawn) * 262144 / size
              print drawn, sum, error
              exit !(drawn > 100 && sum > count - error && sum < count + error) }' told
}

told() { # SIZE
    "$HEURT" dump -i news | grep -c " allocated (new) .* size=$1\$"
}

@test "what wrappers and templates allocate was made where the program called them" {
    "$HEURT" record --quiet --no-choice -o births "$PROGRAMS/births_known" >out
    "$HEURT" memory -i births --json >births.json
    local place line function
    for place in "first make_first" "second make_second" "third Table::Table"; do
        read -r place function <<<"$place"
        line=$(grep -n "/\* $place \*/" "$HEURT_SOURCE/tests/programs/births_known.cc" | cut -d: -f1)
        "$JSON_GET" births.json 'objects[].born.line' | grep -qx "$line" || fail "nothing was made at line $line"
        "$JSON_GET" births.json 'objects[].born.function' | grep -q "^$function" || fail "nor in $function"
    done
    # Without stacks all there is to tell is who called the allocator.
    "$HEURT" record --quiet --no-choice --stack-bytes 0 -o stackless "$PROGRAMS/births_known" >out
    "$HEURT" memory -i stackless --json >stackless.json
    "$JSON_GET" stackless.json 'objects[].born.function' | grep -qx xmalloc
}

@test "the operators of C++ are told once each, and what they throw is caught" {
    "$PROGRAMS/news_known" >bare
    "$HEURT" record --quiet --no-choice -o news "$PROGRAMS/news_known" >out
    cmp bare out
    [ "$(told 100)" = 100 ]
    [ "$(told 128)" = 10 ]
    [ "$(told 20)" = 7 ]
    "$HEURT" dump -i news >all
    ! grep -q ' allocated (malloc) .* size=\(100\|20\)$' all
    # Each is freed: as often as the address was told, until the end.
    grep -o ' allocated (new) .* address=0x[0-9a-f]* size=\(100\|128\|20\)$' all |
        sed 's/.* address=//; s/ .*//' | sort | uniq -c >made
    [ -s made ]
    local count address
    while read -r count address; do
        [ "$(grep -c " freed address=$address\$" all)" -ge "$count" ]
    done <made
}
