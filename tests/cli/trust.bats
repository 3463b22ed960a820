#!/usr/bin/env bats
# Who may write what, and who is believed: another user gets neither at a trace nor into a program.
load ../helpers

# A program that opens a library when it reads a line, and one that takes the name of a dead recorder's
# socket and says whether the program asks it for a plan.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >late.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char line[16];
    puts("ready");
    fflush(stdout);
    if (argc < 2 || !fgets(line, sizeof line, stdin))
        return 1;
    long (*function)(long) = (long (*)(long))dlsym(dlopen(argv[1], RTLD_NOW), "plugin_function");
    return function && function(3) == 7 ? 0 : 2;
}
C
    cat >thief.c <<'C'
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char byte;
    if (argc < 2)
        return 1;
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(argv[1]);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0)
        return 1;
    puts("bound");
    fflush(stdout);
    int peer = accept(fd, NULL, NULL);
    puts(read(peer, &byte, 1) == 1 ? "asked" : "refused");
    return 0;
}
C
    cat >fewer.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* The events file of the recording, as it is mapped here. */
static char *events(size_t *bytes)
{
    unsigned long start, end;
    char line[512], *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (!found && fgets(line, sizeof line, maps))
        if (strstr(line, "/events\n") && sscanf(line, "%lx-%lx", &start, &end) == 2)
            found = (char *)start, *bytes = end - start;
    fclose(maps);
    return found;
}
/* Gives up root as libc does, or behind its back; the second one writes what it likes into the file. */
static int child(int inlined)
{
    size_t bytes = 0;
    long result;
    if (inlined)
        __asm__ volatile("syscall" : "=a"(result) : "a"(*(volatile long[]){105}), "D"(65534L) : "rcx", "r11", "memory");
    else
        result = setuid(65534);
    char *file = events(&bytes);
    FILE *again = fopen(TRACE "/session", "r+");
    if (result != 0 || again)
        return 1;
    if (!inlined)
        return file ? 2 : 0;
    for (size_t at = 24; file && at < 864; at += 8) /* all of the header but how it begins */
        *(uint64_t *)(file + at) = at == 32 ? ~0ull - 1 : 0x4141414141414141;
    for (size_t unit = 1; file && unit < 256; unit++) /* units, links of chunks, sizes of definitions */
        memset(file + unit * 4096 + 12, 0x41, 4), memset(file + unit * 4096 + 64, 0x41, 72);
    return file ? 0 : 3;
}
static void *lock(void *mutex)
{
    for (int i = 0; i < 1000; i++)
        pthread_mutex_lock(mutex), pthread_mutex_unlock(mutex);
    return NULL;
}
int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int status = 1, inlined = strcmp(argv[1], "inlined") == 0;
    pthread_t thread;
    pid_t pid = fork();
    if (pid == 0)
        _exit(child(inlined));
    waitpid(pid, &status, 0);
    if (status)
        return WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 20;
    for (int i = 0; i < 8; i++) {
        pthread_create(&thread, NULL, lock, &mutex);
        pthread_join(thread, NULL);
        if ((pid = fork()) == 0)
            _exit(dlopen(PLUGIN, RTLD_NOW) == NULL);
        waitpid(pid, &status, 0);
        if (status)
            return 30;
    }
    return 0;
}
C
    "${CC:-cc}" -O1 -w -o late late.c -ldl
    "${CC:-cc}" -O1 -w -o thief thief.c
}

teardown() {
    [ -z "${program-}" ] || kill -9 "$program" 2>/dev/null || :
    [ -z "${thief-}" ] || kill -9 "$thief" 2>/dev/null || :
    leave_room
}

@test "a trace is its owner's alone" {
    umask 0
    record -o t -- true
    [ "$(stat -c %a t)" = 700 ] || fail "the directory: $(stat -c %a t)"
    for file in t/*; do
        [ "$(stat -c %a "$file")" = 600 ] || fail "$file: $(stat -c %a "$file")"
    done
    mkdir -m 777 empty
    record -o empty -- true
    [ "$(stat -c %a empty)" = 700 ] || fail "the directory that was there: $(stat -c %a empty)"
}

@test "somebody else's directory and trace are left alone" {
    needs_root "a directory of another user"
    mkdir -m 777 theirs && chown 65534 theirs
    heurt record -o theirs -- true
    expect_status 125
    says 'belongs to another user, so it is left alone; give another place with -o'
    [ -z "$(ls -A theirs)" ]
    record -o t -- true
    chown -R 65534 t
    heurt record -o t -- true
    expect_status 125
    says 'belongs to another user'
    [ -e t/events ] && [ ! -e t.old ]
}

@test "security.md: who takes a dead recorder's name is asked for nothing" {
    mkfifo in
    exec 7<>in
    "$HEURT" record -o t -M 'plugin.so' sh -c 'echo $$ >pid; exec "$@"' sh \
        "$BATS_FILE_TMPDIR/late" "$PROGRAMS/plugin.so" <in >out 2>err 3>&- &
    recorder=$!
    wait_for grep -q ready out
    program=$(cat pid)
    [ -S t/socket ] || fail "the recorder has no socket"
    kill -9 "$recorder"
    wait "$recorder" || :
    "$BATS_FILE_TMPDIR/thief" t/socket >thief.out 3>&- &
    thief=$!
    wait_for grep -q bound thief.out
    echo go >&7
    wait_for grep -Eq 'asked|refused' thief.out
    grep -q refused thief.out || fail "the program asked the thief"
}

@test "security.md: no other user reaches the socket, nor is there a name to take" {
    needs_root "another user"
    mkfifo in
    exec 7<>in
    "$HEURT" record -o t -M 'plugin.so' sh -c 'exec "$@"' sh "$BATS_FILE_TMPDIR/late" \
        "$PROGRAMS/plugin.so" <in >out 2>err 3>&- &
    recorder=$!
    wait_for grep -q ready out
    ! grep "@heurt-$recorder" /proc/net/unix || fail "a name that anybody may take"
    chmod 777 .
    as_ordinary_user ls t && fail "the directory can be read"
    as_ordinary_user "$BATS_FILE_TMPDIR/thief" "$PWD/t/socket" && fail "the socket was taken"
    [ "$(stat -c %a t/socket)" = 600 ]
    echo go >&7
    wait "$recorder"
    [ ! -e t/socket ] && [ ! -e t/session ]
    "$HEURT" report -i t >report
    ! grep 'did not answer' report
}

@test "security.md: the trace of another user is not joined" {
    needs_root "another user"
    # A directory that was swapped while the program runs: what is started then goes unrecorded.
    record -o t -- sh -c 'mv t t.mine; cp -r t.mine t; chown -R 65534 t; true "$(cat /dev/null)"; rm -r t; mv t.mine t'
    expect_status 0
    "$HEURT" report -i t --json >report.json
    ! grep -q '"cat"' report.json
}

fewer() { # HOW: the program that gives up root in a child, recorded
    needs_root "giving up root"
    compile fewer -DPLUGIN="\"$PROGRAMS/plugin.so\"" -DTRACE="\"$PWD/t\"" \
        <"$BATS_FILE_TMPDIR/fewer.c" || return 1
    chmod 755 .
    rm -rf t # what the one before has left of it need not be a trace any more
    record -o t "${@:2}" -- ./fewer "$1"
}

@test "security.md: who changes its user has no trace to write any more" {
    fewer libc
    expect_status 0
    "$HEURT" report -i t | tr -s ' \n' ' ' >report
    grep 'changes its user' report
    grep -E 'Not looked at: 1 process that changed its user \([<>0-9]+ % of the time on a CPU\)' report
}

@test "security.md: what a process with fewer rights writes into the trace leads nobody astray" {
    for options in '-M plugin.so' '--aggregate' '--stack-every 1'; do
        fewer inlined $options
        expect_status 0
    done
}

@test "security.md: nobody waits for a recorder that is stopped" {
    mkfifo in
    exec 7<>in
    "$HEURT" record -o t --patience 0.2 -M 'plugin.so' sh -c 'echo $$ >pid; exec "$@"; ' sh \
        "$BATS_FILE_TMPDIR/late" "$PROGRAMS/plugin.so" <in >out 2>err 3>&- &
    recorder=$!
    wait_for grep -q ready out
    program=$(cat pid)
    kill -STOP "$recorder"
    echo go >&7
    wait_for sh -c '[ ! -d /proc/'"$program"' ] || grep -q "State:.Z" /proc/'"$program"'/status'
    kill -CONT "$recorder"
    wait "$recorder"
    "$HEURT" report -i t | grep 'The recorder did not answer'
}

@test "security.md: stacks hold addresses and nothing that was kept on them" {
    compile secret <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static int check(const char *password)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    char copy[256];
    strcpy(copy, password);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    __asm__ volatile("" ::"r"(copy) : "memory");
    return copy[0] == 0;
}
int main(void)
{
    char line[64];
    return !fgets(line, sizeof line, stdin) || check(line);
}
C
    for options in --raw-stacks --overhead=5% ''; do
        "$HEURT" record -q --no-pack -o "t$options" $options -f check -- ./secret <<<'an0ther5password'
    done
    grep -q an0ther5password t--raw-stacks/events || fail "the test does not put it on the stack"
    ! grep -q an0ther5password t/events || fail "a password is in the trace"
    ! grep -q an0ther5password t--overhead=5%/events || fail "a password is in the trace with a budget"
}

@test "security.md: arguments can be left out, and are still told apart" {
    compile apart <<'C'
__attribute__((noinline, noclone)) int twice(long number) { return __builtin_printf("%ld\n", 2 * number); }
int main(void)
{
    twice(7001), twice(7002), twice(7001);
}
C
    record -o t --redact-arguments -A twice=arg1 -- ./apart 'sec ret'
    "$HEURT" dump -i t | grep -o 'enter twice arg1=[-0-9]*' >calls
    [ "$(wc -l <calls)" = 3 ] && [ "$(sort -u calls | wc -l)" = 2 ] || fail "$(cat calls)"
    ! grep -E '=700[12]$' calls
    "$HEURT" report -i t --json >report.json
    ! grep -q 'sec ret' report.json t/* || fail "the command is told"
}

@test "security.md: no export onto the trace itself, and no rules from a pipe" {
    record -o t -- true
    cp t/events before
    ln t/events other
    for name in t/events other ./t/symbols; do
        heurt export -i t -o "$name"
        expect_status 125
        says 'a file of the trace itself'
    done
    cmp t/events before
    mkfifo t/rules
    heurt report -i t
    expect_status 125
    says 't/rules.*--no-rules'
}

@test "security.md: live patching asks the process itself" {
    needs_root "a process of another user"
    compile other <<'C'
#include <pthread.h>
#include <unistd.h>
__attribute__((noinline, noclone)) long work(long n)
{
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i;
    return sum;
}
static void *run(void *unused)
{
    for (int i = 0; i < 400000; i++)
        work(8000 + i % 7);
    return unused;
}
int main(int argc, char **argv)
{
    long result;
    if (argc > 1) /* gives up root where nobody looks */
        __asm__ volatile("syscall" : "=a"(result) : "a"(*(volatile long[]){105}), "D"(65534L) : "rcx", "r11", "memory");
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    run(0);
    return pthread_join(thread, 0);
}
C
    record -o t --choose-after 0.1 -- ./other
    heurt report -i t --coverage
    grep -q 'asked for: [1-9][0-9]* instrumented' <<<"$output" || fail "nothing was patched: $output"
    record -o t --choose-after 0.1 -- ./other fewer
    ! "$HEURT" dump -i t | grep -q 'enter work' || fail "a process of another user was patched"
}

@test "two recordings with one cache: names that are added while functions are judged" {
    export HEURT_CACHE=$PWD/cache
    for functions in '+0x11*' '+0x*'; do
        record -o t -f "$functions" -- "$(command -v as)" --version
        expect_status 0
    done
}
