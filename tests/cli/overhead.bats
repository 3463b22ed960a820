# heurt record --overhead: a budget, and figures that stay true.
load ../helpers

known() { # KEY, in the program's output
    sed -n "s/^$1=//p" <<<"$output"
}

class() { # FUNCTION FIELD
    json "classes[function=$1].$2"
}

# about COUNT TRUTH MOST: not further from it than that
about() {
    local away=$(($1 - $2))
    [ "${away#-}" -lt "$3" ] || fail "$1 is not within $3 of $2"
}

# Patched no longer, and counted until then.
is_left_out() { # FUNCTION
    json "coverage.refused[function=$1].reason" | grep -q '^left out after'
}

@test "counts of sampled functions are exact to a block, results are the program's own" {
    "$PROGRAMS/sampled_known" 2 >plain
    record -o t -f 'sampled_*' --overhead 5% "$PROGRAMS/sampled_known" 2
    expect_status 0
    [ "$(known check)" = "$(sed -n 's/^check=//p' plain)" ]
    report_json t
    local function
    for function in varied short tree signalled; do
        ! is_left_out sampled_$function || continue
        # One block of 1024 at most on each of 2 threads.
        about "$(class sampled_$function count)" "$(known sampled_$function)" 2048
        is_number_above 100 "$(class sampled_$function sampled)"
        is_number_above "$(class sampled_$function sampled)" \
            "$(($(class sampled_$function count) / 2))"
        [ "$(class sampled_$function confidence)" != measured ] # weak, perhaps, for other reasons
    done
}

@test "what is slow and rare is recorded whole" {
    record -o t -f 'sampled_*' --overhead 5% "$PROGRAMS/sampled_known" 2
    report_json t
    [ "$(class sampled_rare count)" = "$(known sampled_rare)" ]
    [ "$(class sampled_rare sampled)" = null ]
}

@test "without a trace the counts are as exact" {
    record -o t --aggregate -f 'sampled_*' --overhead 5% "$PROGRAMS/sampled_known" 2
    report_json t
    local function
    for function in varied short tree signalled; do
        ! is_left_out sampled_$function || continue
        about "$(class sampled_$function count)" "$(known sampled_$function)" 2048
        [ "$(class sampled_$function confidence)" != measured ] # weak, perhaps, for other reasons
    done
    [ "$(class sampled_rare count)" = "$(known sampled_rare)" ]
}

@test "a function that is too frequent even to be left out is named" {
    record -o t -f 'sampled_*' --overhead 5% "$PROGRAMS/sampled_known"
    report_json t
    [[ $(json 'coverage.refused[function=sampled_short].reason') == "left out after "*"budget"* ]]
}

@test "without a budget everything is recorded" {
    local option
    for option in '' '--overhead none'; do
        # shellcheck disable=SC2086 # words
        record -o t $option -f sampled_signalled "$PROGRAMS/sampled_known"
        report_json t
        [ "$(class sampled_signalled count | sum)" = "$(known sampled_signalled)" ]
        [ "$(class sampled_signalled sampled | sort -u)" = null ]
    done
}

# Of every class of a kind, the occurrences that did not wait.
at_once() { # KIND
    paste -d' ' <(classes "$1" count) <(classes "$1" contended) | awk '{ n += $1 - $2 } END { print n }'
}

@test "counts of sampled locks are exact to a block, waits are complete" {
    local option
    for option in '' --aggregate; do
        # shellcheck disable=SC2086 # words
        record -o t $option --overhead 5% --no-choice "$PROGRAMS/sampled_locks"
        expect_status 0
        report_json t
        # One block of 1024 at most on each of 2 threads.
        about "$(at_once lock)" "$(known acquired)" 2048
        about "$(at_once semaphore)" "$(known semaphore)" 1024
        [ "$(classes lock contended | sum)" = "$(known waits)" ]
        is_number_above "$(classes lock sampled | sum)" "$(($(known acquired) / 4))"
        [ "$(classes lock sum_error_ns | grep -vcE '^(null|0)$')" = 0 ]
        heurt report -i t --threshold 0
        grep -q '~ locks: every wait is recorded' <<<"$output"
    done
    record -o t --overhead none "$PROGRAMS/sampled_locks"
    report_json t
    [ "$(at_once lock)" = "$(known acquired)" ]
    [ "$(at_once semaphore)" = "$(known semaphore)" ]
    [ "$(classes lock sampled | grep -vc null)" = 0 ]
}

# Some of the waits are for a known holder: the right one.
@test "sampled locks have no wrong holders, and each recorded acquisition its release" {
    record -o t --overhead 50% --no-choice "$PROGRAMS/sampled_locks"
    report_json t
    ! grep -q '"function": *"others"' <(sed -n '/"holders": *\[/,/\]/p' report.json) ||
        fail "a wait was put on one who had released the lock"
    heurt dump -i t
    awk '{
        for (i = 2; $i != "point" && $i != "leave" && $i != "enter" && i < NF; i++);
        if (!match($0, / lock=0x[0-9a-f]+/))
            next
        lock = substr($0, RSTART) " " $2
        what = $(i + 1) " " $(i + 2)
        if (what == "lock acquired") { held[lock] = 1; acquired++ }
        if (what == "lock released") { held[lock] = 0; released++ }
    }
    END {
        for (lock in held) open += held[lock]
        print acquired, released, open
        exit !(acquired > 100 && released >= acquired && released < acquired + 2000 && !open)
    }' <<<"$output" || fail "releases are missing, or those of acquisitions that were left out are there"
}

of_locks() { # MEMBER
    "$JSON_GET" locks.json "$1"
}

# Without --overhead: what kept somebody is told also where its acquisition was left out.
@test "of drawn locks all holders are known, and the right ones" {
    local option waits
    for option in '' '--locks all'; do
        # shellcheck disable=SC2086 # words
        record -o t $option --no-choice "$PROGRAMS/sampled_locks"
        waits=$(($(known waits) * 99 / 100))
        heurt locks -i t --json --lock shared 1
        printf "%s\n" "$output" >locks.json
        [ "$(of_locks 'locks[0].holders[0].place.function')" = rightful ]
        is_number_above "$waits" "$(of_locks 'locks[0].holders[0].waits')"
        heurt locks -i t
        if [ "$option" ]; then
            ! grep -q ' ~ drawn: ' <<<"$output"
        else
            grep -q ' ~ drawn: .* of .* acquisitions without a wait' <<<"$output"
        fi
        heurt whatif -i t --remove lock=shared
        expect_status 0
    done
}

@test "hooks alone over the budget: it is said" {
    compile locks <<'END'
#include <pthread.h>
int main(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 20000000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
}
END
    record -o t --overhead 5% --no-choice ./locks
    report_json t
    grep -q 'recording them costs more than --overhead allows' report.json
}

@test "the report says what was sampled" {
    record -o t -f 'sampled_*' --overhead 3% "$PROGRAMS/sampled_known"
    heurt report -i t --threshold 0
    tr -s ' \n' ' ' <<<"$output" | grep -q '~ sampled: .* at random, as --overhead asks (3 %)'
    # Where it stands, in the table or among what is not explained, depends on the machine.
    grep -Eq '~[0-9.]+ (s|ms|us) .*sampled_varied|sampled_varied ~[0-9.]+ ' <<<"$output"
    grep -Eq ' [0-9.]+ (s|ms|us) .*sampled_rare|sampled_rare [0-9.]+ ' <<<"$output"
    ! grep -Eq '~[0-9.]+ (s|ms|us) .*sampled_rare  |sampled_rare ~' <<<"$output" || fail "sampled_rare is marked"
    heurt dump -i t --function sampled
    grep -Eq 'point sampled function=sampled_varied block=[0-9]+' <<<"$output"
}

@test "wrong budgets are refused" {
    local value
    for value in '' 0 0% -5% 101% 5%% five 5x nan inf; do
        heurt record -o t --overhead "$value" touch ran
        expect_status 2
        [ ! -e ran ]
    done
    for value in 5 5% 0.5% 100% none; do
        heurt record -q -o t --overhead "$value" true
        expect_status 0
    done
}
