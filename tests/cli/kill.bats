# A trace outlives everyone who writes it.
load ../helpers

# A program that works on until it is killed; it says "ready" when it has made many events.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >endless.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;
static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (++count == 100000 && write(1, "ready\n", 6) < 0)
            _exit(1);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    return 0;
}
C
    "${CC:-cc}" -O1 -g -pthread -w -o endless endless.c
}

start() { # heurt in the background, the endless program in it; $recorder and $program are known
    "$HEURT" record -o t --max-size 256M sh -c 'echo $$ >pid; exec "$0"' "$BATS_FILE_TMPDIR/endless" \
        >out 2>err </dev/null 3>&- &
    recorder=$!
    wait_for grep -q ready out
    program=$(cat pid)
}

teardown() {
    [ -z "${program-}" ] || kill -9 "$program" 2>/dev/null || :
    [ -z "${recorder-}" ] || kill -9 "$recorder" 2>/dev/null || :
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"
}

many_locks_in_report() {
    report_json t
    is_number_above 50000 "$(classes lock count | sum)"
    run "$HEURT" report -i t
    [ "$status" -eq 0 ]
}

@test "the program is killed" {
    start
    kill -9 "$program"
    ended=0
    wait "$recorder" || ended=$?
    [ "$ended" -eq 137 ]
    many_locks_in_report
}

@test "the recorder is killed: the program works on, then the report" {
    start
    kill -9 "$recorder"
    wait_for is_gone "$recorder"
    ! is_gone "$program"
    many_locks_in_report
    kill -9 "$program"
    wait_for is_gone "$program"
    many_locks_in_report
}

@test "both are killed" {
    start
    kill -9 "$recorder" "$program"
    wait_for is_gone "$program"
    wait_for is_gone "$recorder"
    many_locks_in_report
}

@test "an interrupt from the terminal ends the program, and heurt finishes the trace" {
    perl -e '$SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' "$HEURT" record -o t --max-size 256M sh -c 'echo $$ >pid; exec "$0"' \
        "$BATS_FILE_TMPDIR/endless" >out 2>err </dev/null 3>&- &
    recorder=$!
    wait_for grep -q ready out
    program=$(cat pid)
    perl -e 'kill "INT", -$ARGV[0]' "$recorder"
    ended=0
    wait "$recorder" || ended=$?
    [ "$ended" -eq 130 ]
    [ -s t/symbols ]
    many_locks_in_report
}

@test "a request to heurt to terminate is passed on to the program" {
    start
    kill -TERM "$recorder"
    ended=0
    wait "$recorder" || ended=$?
    [ "$ended" -eq 143 ]
    wait_for is_gone "$program"
    [ -s t/symbols ]
}

@test "what a process sends heurt is passed on, what the terminal sends is not" {
    cat >told.c <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int fd;
static void told(int number)
{
    const char *word = number == SIGINT ? "key\n" : number == SIGUSR1 ? "user\n" : "ended\n";
    if (write(fd, word, strlen(word)) < 0 || number == SIGTERM)
        _exit(5);
}
int main(int argc, char **argv)
{
    FILE *pid = fopen("pid", "w");
    fprintf(pid, "%d\n", (int)getppid());
    fclose(pid);
    signal(SIGINT, told);
    signal(SIGUSR1, told);
    signal(SIGTERM, told);
    fd = open(argv[argc - 1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (;;)
        pause();
}
C
    "${CC:-cc}" -O1 -w -o told told.c
    # A witness shares the terminal with heurt, the program has left it.
    {
        wait_for test -e program >&2
        printf '\003'
        wait_for test -e done >&2
    } | env --default-signal=INT script -qec \
        "./told witness & wait_for() { until \"\$@\"; do :; done; }; wait_for test -e witness
        $HEURT record -o t setsid ./told program" /dev/null >talk 2>&1 3>&- &
    terminal=$!
    wait_for grep -q key witness
    recorder=$(cat pid)
    kill -USR1 "$recorder"
    wait_for grep -q user program
    kill -TERM "$recorder"
    wait_for grep -q ended program
    touch done
    wait "$terminal" || :
    [ "$(tr '\n' ' ' <program)" = "user ended " ] || fail "$(cat program talk)"
}
