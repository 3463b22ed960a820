# heurt whatif on real runs: what it predicts, what it refuses, and the report's wall gain.
load ../helpers
load ../contended

@test "a lock is named by its address and by its variable, and the answer is the same" {
    contended
    whatif --remove "lock=$(address_of first_lock)"
    [ "$(json 'answers[0].object')" = "$(address_of first_lock)" ]
    [ "$(json 'answers[0].object_name')" = first_lock ]
    local by_address
    by_address=$(gain 0)
    whatif --remove lock=first_lock
    [ "$(gain 0)" = "$by_address" ]
}

@test "of a lock that is removed the others' waits are told" {
    contended 150000
    whatif --remove lock=first_lock
    local second="answers[0].prediction.objects[object=$(address_of second_lock)]"
    is_number_above -1 "$(json "$second.waited_before_ns")"
    is_number_above -1 "$(json "$second.waited_after_ns")"
    heurt whatif -i t --remove lock=first_lock
    expect_status 0
}

# A class that reaches the threshold has the replay's gain in a report, too; of one that does not, a
# report tells 1 and the most that it could be.
report_agrees() { # LEAST MOST, of the first class
    local score told
    score=$(json 'classes[rank=1].score')
    told="$(json 'classes[rank=1].wall_gain[0]') $(json 'classes[rank=1].wall_gain[1]')"
    if awk -v score="$score" 'BEGIN { exit !(score >= 0.2) }'; then
        [ "$told" = "$1 $2" ] || fail "score $score: report $told, whatif $1 $2"
    else
        awk -v most="$1" -v told="$told" 'BEGIN { split(told, t, " "); exit !(t[1] == 1 && t[2] + 0.0002 >= most) }' ||
            fail "score $score: report $told, whatif $1 $2"
    fi
}

@test "without a change each class has its row, and the report the same gain" {
    contended
    whatif
    [ "$(json 'answers[].prediction.wall_ns')" = "$(json 'answers[].prediction.wall_ns' | sort -n)" ]
    local first least most
    first=$(json 'answers[rank=1].asked')
    [ "$first" = '--remove 1' ]
    least=$(json 'answers[rank=1].prediction.wall_gain[0]')
    most=$(json 'answers[rank=1].prediction.wall_gain[1]')
    report_json t
    report_agrees "$least" "$most"
    heurt whatif -i t --csv
    expect_status 0
    [ "$(head -n 1 <<<"$output" | cut -d, -f1-3)" = asked,rank,function ]
    grep -q '^--remove 1,1,pthread_mutex_lock\|^--remove 1,1,hold,' <<<"$output"
    heurt whatif -i t
    expect_status 0
    grep -q 'Replayed without a change it takes' <<<"$output"
    heurt report -i t --classes # what the machine lacked has a part in the rank of a finding
    grep -Eq '^ *1 .*(×|x|none) ' <<<"$output"
}

@test "several changes are one question" {
    contended
    local own
    own=lock=$(address_of own_locks)
    whatif --remove "$own" --shrink lock=first_lock:50%
    [ "$(json 'answers[].asked')" = "--remove $own --shrink lock=first_lock:50%" ]
    [ "$(json 'answers[0].object')" = null ]
}

refuses() { # STATUS SENTENCE ARG…
    local status_wanted=$1 sentence=$2
    shift 2
    heurt whatif -i t "$@"
    expect_status "$status_wanted"
    [ -z "$output" ]
    says "$sentence"
}

@test "what makes no sense is refused before the trace is read" {
    refuses 2 '--remove wants' --remove ''
    refuses 2 '--remove wants' --remove 0
    refuses 2 '--speed wants' --speed work
    refuses 2 '--speed wants' --speed work=0x
    refuses 2 '--shrink wants' --shrink lock=0x10
    refuses 2 '--shrink wants' --shrink lock=0x10:150%
    refuses 2 '--split wants' --split lock=0x10:1
    refuses 2 '--threads wants' --threads none
    refuses 2 'exclude each other' --json --csv
    refuses 2 "no option of whatif; did you mean '--remove'" --remvoe
    refuses 125 'no trace at t' first
    refuses 125 'no trace at t' 1
}

@test "classes, functions and locks that are not there are named" {
    contended
    refuses 2 'there is no class 99' 99
    refuses 2 'no class of the report is of that function' --remove nobody
    refuses 2 'no lock' --remove lock=nobody
}

@test "a name that two locks have is not guessed" {
    printf '%s\n' '#include <pthread.h>' \
        'static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;' \
        'void NAME(void) { pthread_mutex_lock(&lock);' \
        'for (volatile long i = 0; i < 100000; i++); pthread_mutex_unlock(&lock); }' >part.c
    local cc=${HEURT_CC:-${CC:-cc}}
    "$cc" -g -w -c -DNAME=left -o left.o part.c
    "$cc" -g -w -c -DNAME=right -o right.o part.c
    printf '%s\n' '#include <pthread.h>' 'void left(void); void right(void);' \
        'static void *work(void *a) { for (int i = 0; i < 100; i++) left(), right(); return a; }' \
        'int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0);' \
        'return pthread_join(t, 0); }' >main.c
    "$cc" -g -w -pthread -o twins main.c left.o right.o
    record -o t --quiet --no-choice ./twins
    report_json t
    [ "$(classes lock object | grep -c 0x)" = 2 ] || skip "only one of the locks was waited for"
    refuses 2 '2 locks have that name; choose one: lock=0x[0-9a-f]*, lock=0x[0-9a-f]*$' \
        --remove lock=lock
}

@test "a report looks for the gain of what reaches its threshold, and of what is asked for" {
    contended
    "$HEURT" report -i t --json --threshold 0 >report.json
    [ "$(json 'classes[rank=1].wall_gain[0]')" != null ]
    local replayed
    replayed=$(json 'classes[rank=1].wall_gain')
    "$HEURT" report -i t --json --threshold 1 >report.json
    [ "$(json 'classes[rank=1].wall_gain')" != "$replayed" ]
    heurt report -i t --threshold 1 1
    expect_status 0
    grep -Eq 'faster as a whole|none: the program as a whole' <<<"$output"
}

@test "a run without a trace cannot be replayed, and its report knows no gain" {
    contended
    record -o t --quiet --aggregate ./contended
    refuses 125 'aggregated'
    report_json t
    [ "$(json 'classes[rank=1].wall_gain')" = null ]
    heurt report -i t --classes 1
    grep -q 'gain  *not known: an aggregated run kept no events' <<<"$output"
}

@test "with fewer and with more threads that are alike, main is there all the same" {
    "$HEURT" record -q -o t "$EXAMPLES/mutex" --threads 2 --iterations 500 >out
    local count
    for count in 1 3; do
        "$HEURT" whatif -i t --threads $count --json >report.json
        [ "$(json 'answers[0].prediction.threads')" = $((count + 1)) ] || fail "$count threads"
    done
}
