# heurt record -p: a process that runs already is recorded, and left as it was.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset HEURT_TRACE NO_COLOR
    served=
}

# A failed test leaves nobody behind.
teardown() {
    [ -z "$served" ] || kill -9 "$served" 2>/dev/null || :
}

load ../helpers

# serve COMMAND…: runs it until end_of_service, its standard input open till then; its pid is in $served.
serve() {
    mkfifo input
    "$@" <input >served.out 2>served.err 3>&- &
    served=$!
    exec 8>input
}

# The program ended by itself, and found all its counts right.
end_of_service() { # [STATUS]
    local status=0
    exec 8>&-
    wait "$served" || status=$?
    served=
    [ "$status" = "${1-0}" ] || fail "the program ended with $status: $(cat served.out served.err)"
}

all_is_right() {
    end_of_service
    grep -q '^ok [1-9]' served.out || fail "$(cat served.out)"
}

maps_of() { # WORD…: lines of the map of $served with it
    grep -c -- "$1" "/proc/$served/maps" || :
}

@test "a process that runs is recorded for a while, and goes on as it was" {
    serve "$PROGRAMS/served" 3
    heurt record -p "$served" --duration 300ms -o t
    expect_status 0
    says "recording process $served: [1-9][0-9]* places of calls"
    says 'recorded [3-9] threads into t'
    [ "$(maps_of 'events')" = 0 ] # the trace is no longer mapped
    all_is_right
    report_json t
    [ "$(json 'command[0]')" = "$PROGRAMS/served" ]
    [[ "$("$HEURT" report -i t --classes)" == *use_pipe* ]]
}

@test "its threads end in the trace, with their CPU time" {
    serve "$PROGRAMS/served" 2
    heurt record -q -p "$served" --duration 300ms -o t
    expect_status 0
    all_is_right
    "$HEURT" dump -i t >dumped
    [ "$(grep -c 'thread end  *cpu=[1-9]' dumped)" -ge 2 ]
}

@test "Ctrl-C and SIGTERM end the recording, not the process" {
    local signal
    serve "$PROGRAMS/served" 2
    for signal in INT TERM; do
        env --default-signal=INT "$HEURT" record -p "$served" -o "t.$signal" 2>"said.$signal" 3>&- 8>&- &
        recorder=$!
        wait_for grep -q 'places of calls' "said.$signal"
        kill -"$signal" "$recorder"
        wait "$recorder"
        kill -0 "$served"
        report_json "t.$signal"
    done
    all_is_right
}

@test "a process that ends meanwhile ends the recording; its exit status is its own" {
    serve "$PROGRAMS/served" 2
    "$HEURT" record -p "$served" -o t 2>said 3>&- 8>&- &
    recorder=$!
    wait_for grep -q 'places of calls' said
    all_is_right
    wait "$recorder"
    grep -q 'has ended' said
    report_json t
}

@test "again and again: nothing of it grows" {
    local i before after
    serve "$PROGRAMS/served" 3
    for i in {1..12}; do
        heurt record -q --no-pack -p "$served" --duration 20ms -o "t$i"
        expect_status 0
        rm -rf "t$i"
        [ "$i" != 3 ] || before=$(wc -l <"/proc/$served/maps")
    done
    after=$(wc -l <"/proc/$served/maps")
    [ "$(maps_of 'libheurt-attach.so')" -gt 0 ] # parked
    [ "$after" -le $((before + 2)) ] || fail "maps: $before, then $after"
    all_is_right
}

@test "whose recorder is killed goes on; the next one tidies up" {
    local i
    serve "$PROGRAMS/served" 3
    for i in {1..8}; do
        "$HEURT" record -q --no-pack -p "$served" --duration 20ms -o "t$i" 2>/dev/null 3>&- 8>&- &
        recorder=$!
        perl -e 'select undef, undef, undef, rand 0.1'
        kill -9 "$recorder" 2>/dev/null || :
        wait "$recorder" || :
        kill -0 "$served"
    done
    heurt record -p "$served" --duration 100ms -o t
    expect_status 0
    [ "$(maps_of 'events')" = 0 ]
    all_is_right
}

@test "killed while it enters for the first time: the process goes on" {
    local i
    for i in {1..8}; do
        rm -f input
        serve "$PROGRAMS/served" 2
        "$HEURT" record -q --no-pack -p "$served" -o "t$i" 2>/dev/null 3>&- 8>&- &
        recorder=$!
        perl -e 'select undef, undef, undef, rand 0.04'
        kill -9 "$recorder" 2>/dev/null || :
        wait "$recorder" || :
        all_is_right
    done
}

# In the trace so far.
sees_late_turn() {
    "$HEURT" dump -i t 2>/dev/null | grep -q plugin.so
}

@test "what a library that is opened later does is seen, too" {
    compile plugin.so -shared -fPIC <<'END'
#include <pthread.h>
static pthread_mutex_t late = PTHREAD_MUTEX_INITIALIZER;
void late_turn(void)
{
    pthread_mutex_lock(&late);
    pthread_mutex_unlock(&late);
}
END
    compile opener -ldl <<'END'
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char byte;
    read(0, &byte, 1);
    void (*turn)(void) = dlsym(dlopen("./plugin.so", RTLD_NOW), "late_turn");
    struct pollfd end = {.fd = 0, .events = POLLIN};
    while (poll(&end, 1, 1) == 0)
        turn();
    puts("ok 1");
}
END
    serve ./opener
    "$HEURT" record --locks all -p "$served" -o t 2>said 3>&- 8>&- &
    recorder=$!
    wait_for grep -q 'places of calls' said
    echo >&8
    wait_for sees_late_turn
    kill -TERM "$recorder"
    wait "$recorder"
    all_is_right
}

@test "children that it forks meanwhile are not recorded, and go on" {
    compile forks <<'END'
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    int count = 0;
    while (poll(&end, 1, 2) == 0) {
        pid_t child = fork();
        if (child == 0) {
            char *memory = malloc(1000);
            int pipes[2];
            free(memory);
            exit(pipe(pipes) || write(pipes[1], "x", 1) != 1 ? 1 : 3);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
            return 1;
        count++;
    }
    printf("ok %d\n", count);
}
END
    serve ./forks
    heurt record -p "$served" --duration 300ms -o t
    expect_status 0
    all_is_right
}

@test "heurt attach PID is heurt record -p PID; heurt -p PID records and reports" {
    serve "$PROGRAMS/served" 2
    heurt attach "$served" --duration 100ms -o t
    expect_status 0
    says "recording process $served"
    heurt -p "$served" --duration 100ms -o u
    expect_status 0
    [[ "$stderr" == *"took "* ]]
    heurt record -p "$served" --after 50ms --duration 100ms -o v
    expect_status 0
    all_is_right
}

# ---- who cannot be entered -------------------------------------------------------------------------------------

refuses() { # PID SENTENCE
    heurt record -p "$1" --duration 100ms -o refused
    expect_status 125
    says "$2"
    [ ! -e refused ]
}

@test "a number that is no process's" {
    refuses 2147483646 'there is no process 2147483646'
}

@test "a thread is told whose it is" {
    serve "$PROGRAMS/served" 2
    local thread
    wait_for test -d "/proc/$served/task"
    wait_for sh -c "[ \$(ls /proc/$served/task | wc -l) = 3 ]"
    thread=$(ls "/proc/$served/task" | grep -vx "$served" | head -n 1)
    refuses "$thread" "is a thread of process $served"
    all_is_right
}

@test "a process that has ended and was not collected" {
    serve perl -e '$| = 1; my $p = fork; exit 0 if !$p; print "$p\n"; <STDIN>'
    wait_for test -s served.out
    wait_for grep -q Z "/proc/$(cat served.out)/stat"
    refuses "$(cat served.out)" 'has ended'
    end_of_service
}

@test "a process that is stopped" {
    serve "$PROGRAMS/served" 1
    kill -STOP "$served"
    refuses "$served" "is stopped: kill -CONT $served"
    kill -CONT "$served"
    all_is_right
}

@test "a process that is traced" {
    compile tracer <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    long code = ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0);
    printf("%ld\n", code);
    fflush(stdout);
    getchar();
}
END
    serve "$PROGRAMS/served" 1
    mkfifo trace_ends
    ./tracer "$served" <trace_ends >traced 3>&- 8>&- &
    tracer=$!
    exec 7>trace_ends
    wait_for test -s traced
    refuses "$served" "is traced by process $tracer"
    exec 7>&-
    wait "$tracer"
    all_is_right
}

@test "a process that heurt has started, or records already" {
    serve "$HEURT" record -q -o launched "$PROGRAMS/served" 1
    wait_for sh -c "pgrep -P $served >child"
    wait_for grep -q libheurt.so "/proc/$(cat child)/maps"
    refuses "$(cat child)" 'was started by heurt'
    all_is_right
    rm input
    serve "$PROGRAMS/served" 1
    "$HEURT" record -p "$served" -o t 2>said 3>&- 8>&- &
    recorder=$!
    wait_for grep -q 'places of calls' said
    refuses "$served" "is being recorded by heurt, process $recorder"
    kill -TERM "$recorder"
    wait "$recorder"
    all_is_right
}

@test "a program that is statically linked" {
    compile alone -static <<<'#include <stdio.h>
int main(void) { getchar(); }' || skip "there is no static C library"
    serve ./alone
    refuses "$served" 'static'
    end_of_service
}

@test "a process that limits its system calls" {
    compile limited <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
int main(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {1, &all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    fflush(stdout);
    getchar();
}
END
    serve ./limited
    wait_for test -s served.out
    grep -qx 0 served.out || skip "seccomp is not there"
    refuses "$served" 'limits its own system calls'
    end_of_service
}

@test "another user's process" {
    needs_root "another user's process"
    cp "$PROGRAMS/served" "${TMPDIR:-/tmp}/served.$$"
    serve setpriv --reuid=65534 --regid=65534 --clear-groups -- "${TMPDIR:-/tmp}/served.$$" 1
    wait_for grep -q 'Uid:.65534' "/proc/$served/status"
    refuses "$served" 'is of user 65534'
    all_is_right
    rm "${TMPDIR:-/tmp}/served.$$"
}

@test "wrong usage is told" {
    local arguments
    for arguments in '-p 0' '-p x' '-p 1 true' '--duration 1s true' '-p 1 -f main' '-p 1 --hot' '-p 1 --duration x' \
        '-p 1 --aggregate' '-p 1 --repeat 2'; do
        # shellcheck disable=SC2086 # words
        heurt record -o wrong $arguments
        expect_status 2
        [ ! -e wrong ]
    done
}
