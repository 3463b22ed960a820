#!/usr/bin/env bats
# What another user, a process with fewer rights, or who sends a trace may try: none of it gains them anything,
# and nobody waits for it. Each is named after the clause of docs/security.md that forbids it.
load ../helpers

teardown() {
    [ -z "${thief-}" ] || kill -9 "$thief" 2>/dev/null || :
    leave_room
}

# late LIBRARY [COMMAND]: opens a library, runs a command of the shell, and says what the library answers.
late() {
    compile late -ldl <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc > 2 && argv[2][0] == '-') /* before the library is opened */
        system(argv[2] + 1);
    long (*function)(long) = (long (*)(long))dlsym(dlopen(argv[1], RTLD_NOW), "plugin_function");
    printf("%ld\n", function ? function(3) : -1);
    fflush(stdout);
    return argc > 2 && argv[2][0] != '-' ? system(argv[2]) : 0;
}
C
}

# in_time COMMAND…: what waits for a pipe waits for ever.
in_time() {
    timeout -k 1 120 "$@"
}

# ---- another user: places ------------------------------------------------------------------------------------

@test "another user: a link that he left in the trace's place, or in the older one's, moves and removes nothing" {
    needs_root "a link of another user"
    record -o mine -- true
    cp mine/events before
    ln -s mine t && chown -h 65534 t
    heurt record -o t -- true
    expect_status 125
    says 'belongs to another user'
    rm t
    record -o t -- true
    ln -s mine t.old && chown -h 65534 t.old
    heurt record -o t -- true
    expect_status 125
    says 'belongs to another user'
    cmp mine/events before
    [ -e mine/symbols ]
    rm t.old && ln -s mine t.old # one's own link is followed, and makes room for the next
    for i in 1 2; do
        record -o t -- true
        expect_status 0
    done
}

@test "another user: the session, the events and the trace are not joined by a link, a pipe or a device" {
    local file
    for file in session events; do
        record -o t -- sh -c "mv t/$file kept; ln -s ../kept t/$file; true \$(cat /dev/null); rm t/$file
            mkfifo t/$file; true \$(cat /dev/null); rm t/$file; ln -s /dev/zero t/$file; true \$(cat /dev/null)
            rm t/$file; mv kept t/$file"
        expect_status 0
        "$HEURT" report -i t --json >report.json
        ! grep -q '"cat"' report.json || fail "joined by another $file"
    done
}

@test "another user: where users have no numbers (a user namespace), nobody's trace is taken for one's own" {
    needs_root "a directory of another user"
    unshare -U true 2>unshare.log || skip "no user namespace can be made here: $(cat unshare.log)"
    local namespace
    for namespace in -r -U; do # with -r this user has a number there
        record -o t -- sh -c "cp -r t theirs; chown -R 65534 theirs; chmod 777 theirs; chmod 666 theirs/*
            mv t mine; mv theirs t; unshare $namespace cat /dev/null; mv t theirs; mv mine t
            unshare $namespace head /dev/null"
        expect_status 0
        ! grep -q bin/cat theirs/events || fail "unshare $namespace: joined"
        rm -r theirs
    done
    record --no-pack -o t -- unshare -r head /dev/null
    grep -q bin/head t/events || fail "one's own trace is not joined with unshare -r"
}

# ---- another user: who starts programs with more or other rights -----------------------------------------------

@test "set-user-id programs see nothing of the recording in their environment" {
    needs_root "a set-user-id program"
    public_room
    compile "$room/shows" <<'C'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
    for (char **entry = environ; *entry; entry++)
        if (!strncmp(*entry, "HEURT_TRACE", 11) || !strncmp(*entry, "HEURT_PAD", 9) ||
            !strncmp(*entry, "LD_PRELOAD", 10))
            printf("%.30s\n", *entry);
    return geteuid() == 0 && getuid() != 0 ? 9 : 3;
}
C
    compile "$room/starts" -D_GNU_SOURCE <<'C'
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
    char path[] = "./shows", *list[] = {path, NULL};
    for (int how = 0; how < 7; how++) {
        int status = 0;
        pid_t child = how == 6 ? 0 : fork();
        if (how == 6 && posix_spawnp(&child, "shows", NULL, NULL, list, environ) != 0)
            return 2;
        if (child == 0) {
            if (how == 0)
                execv(path, list);
            else if (how == 1)
                execvp("shows", list);
            else if (how == 2)
                execle(path, path, NULL, environ);
            else if (how == 3)
                fexecve(open(path, O_RDONLY), list, environ);
            else if (how == 4)
                execlp("shows", path, NULL);
            else
                _exit(WEXITSTATUS(system(path)));
            _exit(1);
        }
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 9)
            return 10 + how;
    }
    return 0;
}
C
    chmod 755 "$room/starts"
    chmod 4755 "$room/shows"
    cd "$room"
    as_ordinary_user ./shows >bare || [ $? = 9 ] || skip "set-user-id programs get no rights here"
    PATH=$room:$PATH as_ordinary_user "$room_heurt" record -q -o t ./starts >starts.out
    [ ! -s starts.out ] || fail "it sees $(cat starts.out)"
    as_ordinary_user "$room_heurt" record -q -o u ./shows >shows.out || [ $? = 9 ]
    [ ! -s shows.out ] || fail "it sees $(cat shows.out)"
}

@test "who starts a program as another user (su, runuser) hands it nothing of the recording" {
    needs_root "su"
    local how
    for how in su runuser; do
        "$how" nobody -s /bin/sh -c true >/dev/null 2>&1 || continue
        record -q -o t -- sh -c "$how nobody -s /bin/sh -c env >env.out"
        expect_status 0
        [ -s env.out ]
        ! grep -E '^(HEURT_(TRACE|PAD)|LD_PRELOAD)=' env.out || fail "$how hands it on"
    done
}

# ---- a process with fewer rights -----------------------------------------------------------------------------

@test "a process with fewer rights names a pipe as a module: the recorder does not wait for it" {
    needs_root "giving up root"
    cp "$PROGRAMS/plugin.so" plugin.so
    mkfifo plugin.fi
    compile forges -ldl -D_GNU_SOURCE <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int forge(void)
{
    unsigned long start, end;
    char line[512];
    int count = 0;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(*(volatile long[]){105}), "D"(65534L) : "rcx", "r11", "memory");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (result == 0 && fgets(line, sizeof line, maps))
        if (strstr(line, "/events\n") && sscanf(line, "%lx-%lx", &start, &end) == 2)
            for (char *at = (char *)start; (at = memmem(at, start + 4000000 - (unsigned long)at, "/plugin.so", 11));)
                memcpy(at, "/plugin.fi", 10), count++;
    return count ? 0 : 1;
}
int main(void)
{
    int status;
    long (*function)(long) = (long (*)(long))dlsym(dlopen("./plugin.so", RTLD_NOW), "plugin_function");
    if (function(3) != 7)
        return 2;
    if (fork() == 0)
        _exit(forge());
    wait(&status);
    return WEXITSTATUS(status);
}
C
    local status=0
    in_time "$HEURT" record -q -o t -f plugin_function ./forges || status=$?
    [ "$status" = 0 ] || fail "status $status"
    in_time "$HEURT" report -i t >report
    grep -q forges report
}

@test "a library that becomes a pipe, a device or another file while it is recorded" {
    late
    local what
    for what in 'mkfifo plugin.so' 'ln -s /dev/zero plugin.so' 'echo no >plugin.so' 'cp ./late plugin.so'; do
        rm -f plugin.so && cp "$PROGRAMS/plugin.so" plugin.so
        local status=0
        HEURT_CACHE= in_time "$HEURT" record -q -o t -f plugin_function ./late ./plugin.so "rm plugin.so; $what" \
            >out 2>err || status=$?
        [ "$status" = 0 ] && [ "$(cat out)" = 7 ] || fail "$what: status $status, $(cat out err)"
    done
}

@test "a library that is swapped before the recorder has looked at it: what is in memory decides" {
    cp "$PROGRAMS/plugin.so" plugin.so
    # One thread loads it, while the recorder stands still; another one puts a file in its place that has the
    # same build-id and other code, and lets the recorder go on.
    compile swaps -ldl -D_GNU_SOURCE <<'C'
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile int stopped, loaded;
static int is_mapped(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, "/plugin.so\n") != NULL;
    fclose(maps);
    return found;
}
/* All threads of the recorder stand still. */
static int stands_still(void)
{
    char pattern[64], state = 'T';
    glob_t tasks;
    snprintf(pattern, sizeof pattern, "/proc/%d/task/*/stat", (int)getppid());
    glob(pattern, 0, NULL, &tasks);
    for (size_t i = 0; i < tasks.gl_pathc && state == 'T'; i++) {
        FILE *stat = fopen(tasks.gl_pathv[i], "r");
        if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = 'T'; /* it has ended */
        if (stat)
            fclose(stat);
    }
    globfree(&tasks);
    return state == 'T';
}
static void *swap(void *unused)
{
    kill(getppid(), SIGSTOP);
    while (!stands_still())
        usleep(100);
    stopped = 1;
    while (!is_mapped() && !loaded)
        usleep(100);
    rename("other.so", "plugin.so");
    kill(getppid(), SIGCONT);
    return unused;
}
/* A copy of the library in which the function's first bytes are no operations. */
static void make_other(const char *function, const char *base)
{
    static char bytes[1 << 20];
    FILE *in = fopen("plugin.so", "r"), *out = fopen("other.so", "w");
    size_t size = fread(bytes, 1, sizeof bytes, in);
    if (memcmp(bytes + (function - base), function, 16) == 0)
        memset(bytes + (function - base), 0x90, 16);
    fwrite(bytes, 1, size, out);
    fclose(in), fclose(out);
}
int main(int argc, char **argv)
{
    pthread_t thread;
    Dl_info info;
    if (argc == 1)
        pthread_create(&thread, NULL, swap, NULL);
    while (argc == 1 && !stopped)
        usleep(100);
    long (*function)(long) = (long (*)(long))dlsym(dlopen("./plugin.so", RTLD_NOW), "plugin_function");
    loaded = 1;
    if (argc == 1)
        pthread_join(thread, NULL);
    if (argc > 1 && dladdr((void *)function, &info))
        make_other((char *)function, info.dli_fbase);
    printf("%ld\n", function(3));
    return 0;
}
C
    ./swaps other >bare
    ! cmp -s plugin.so other.so || fail "the test does not make another file"
    HEURT_CACHE= record --patience 30 -o t -f plugin_function ./swaps
    expect_status 0
    [ "$output" = 7 ]
    cmp -s plugin.so "$PROGRAMS/plugin.so" && fail "it was not swapped"
    "$HEURT" report -i t --coverage >coverage
    ! grep -q ' 1 instrumented' coverage || fail "$(cat coverage)"
}

@test "no plan once the session has ended: a program that outlives the command asks nobody" {
    compile outlives -ldl <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char line[16];
    if (fork())
        return 0;
    FILE *in = fopen("in", "r"), *out = fopen("answer", "w");
    if (!fgets(line, sizeof line, in))
        return 1;
    long (*function)(long) = (long (*)(long))dlsym(dlopen(argv[1], RTLD_NOW), "plugin_function");
    fprintf(out, "%ld\n", function(3));
    fclose(out);
    return 0;
}
C
    compile thief <<'C'
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0)
        return 1;
    puts("bound");
    fflush(stdout);
    accept(fd, NULL, NULL);
    puts("asked");
    return 0;
}
C
    mkfifo in
    exec 7<>in
    record -o t -M 'plugin.so' ./outlives "$PROGRAMS/plugin.so"
    expect_status 0
    ./thief t/socket >thief.out 3>&- 7>&- &
    thief=$!
    wait_for grep -q bound thief.out
    echo go >&7
    wait_for grep -q . answer
    [ "$(cat answer)" = 7 ]
    ! grep -q asked thief.out || fail "it asked the thief"
}

# ---- what was kept -------------------------------------------------------------------------------------------

@test "another user: what he keeps in HEURT_CACHE is not believed, and nothing is put there" {
    needs_root "a cache of another user"
    late
    export HEURT_CACHE=$PWD/cache
    record -o t -f plugin_function ./late "$PROGRAMS/plugin.so"
    ls cache/plans/*.plan >/dev/null && ls cache/names/* >/dev/null || fail "nothing is kept: no test"
    local file
    for file in cache/*/*; do # each would be read, and says something else
        : >"$file"
    done
    chmod -R a+rwX cache
    chown -R 65534 cache
    record -o t -f plugin_function ./late "$PROGRAMS/plugin.so"
    expect_status 0
    [ -z "$(find cache -user 0)" ] || fail "root's: $(find cache -user 0)"
    [ -z "$(find cache -type f -size +0)" ] || fail "written: $(find cache -type f -size +0)"
    report_json t
    grep -q plugin_function report.json
    rm -r cache/plans cache/names cache/costs cache/machine
    mkfifo cache/costs
    mkfifo cache/plans
    mkfifo cache/machine
    ln -s /etc cache/names
    in_time "$HEURT" record -q -o t -f plugin_function ./late "$PROGRAMS/plugin.so"
}

# ---- who reads a trace ---------------------------------------------------------------------------------------

@test "a reader opens no file that a copied trace names, and no pipe or device ever" {
    late
    cp "$PROGRAMS/plugin.so" plugin.so
    record -o t -f plugin_function ./late ./plugin.so
    rm t/symbols
    cp -r t copy
    heurt report -i copy
    expect_status 0
    says 'files that a copied trace names are not opened'
    [ ! -e copy/symbols ]
    local what
    for what in 'mkfifo plugin.so' 'ln -s /dev/zero plugin.so' 'ln -s /dev/tty plugin.so'; do
        rm -f plugin.so t/symbols
        $what
        in_time "$HEURT" report -i t >report
        grep -q late report
    done
}

@test "a reader takes no pipe, device or endless file for a part of a trace or for rules" {
    needs_plain_heurt
    record -o t -- true
    local file what
    for file in t/events t/symbols t/rules; do
        [ ! -e "$file" ] || mv "$file" kept
        for what in 'mkfifo' 'ln -s /dev/zero' 'mkdir' 'truncate -s 2T'; do
            $what "$file" || continue
            local status=0
            (ulimit -d 500000 && in_time "$HEURT" report -i t >out 2>err) || status=$?
            [ "$status" = 0 ] || [ "$status" = 125 ] || fail "$what $file: status $status, $(cat err)"
            grep -q '^heurt: ' err || [ "$file" = t/events ] || fail "$what $file: nothing is said"
            rm -rf "$file"
        done
        [ ! -e kept ] || mv kept "$file"
    done
}

@test "a trace that is cut short while it is read ends the command with a sentence" {
    needs_plain_heurt
    compile takes <<'C'
#include <pthread.h>
int main(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 200000; i++)
        pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
    return 0;
}
C
    record --no-pack --no-choice --locks all -o t ./takes
    [ "$(stat -c %s t/events)" -gt 3000000 ] || fail "too short for this test"
    mkfifo out
    local status=0
    "$HEURT" dump -i t >out 2>err 3>&- &
    local dumping=$!
    exec 8<out
    read -r _ <&8 # it has begun, and a pipe holds 64 KiB of what it says
    truncate -s 16384 t/events
    cat <&8 >/dev/null
    exec 8<&-
    wait "$dumping" || status=$?
    [ "$status" = 125 ] || fail "status $status: $(cat err)"
    grep -q '^heurt: a file was cut short' err
}

@test "control characters and marks of direction in names are shown, not sent, in every format" {
    compile named <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) int evil(void) { return pthread_mutex_lock(&lock) + pthread_mutex_unlock(&lock); }
int main(void)
{
    pthread_setname_np(pthread_self(), "\xc2\x9b" "31m\xe2\x80\xae" "x\x1b[");
    for (int i = 0; i < 100; i++)
        evil();
    return 0;
}
C
    # A function and a file with such names: C1, a mark of direction, and an escape.
    objcopy --redefine-sym "evil=ev"$'\xc2\x9b'"31m"$'\xe2\x80\xae'"il" named "named"$'\xe2\x80\xae' || skip "no objcopy"
    record -o t -f '*' "./named"$'\xe2\x80\xae' $'an\xc2\x9b0margument'
    local verb
    for verb in report 'report --json' 'report --csv' 'report --classes' 'report --coverage' locks 'locks --json' \
        'locks --csv' structure 'structure --json' 'structure --csv' whatif 'whatif --json' dump export \
        'export --json' 'export --csv' 'tables classes --json' 'tables classes --csv' 'tables classes --latex' \
        'tables classes --markdown' 'tables threads'; do
        # shellcheck disable=SC2086
        "$HEURT" ${verb%% *} -i t $([[ $verb = *' '* ]] && echo "${verb#* }") >out 2>&1 || :
        [ -s out ]
        ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' out ||
            fail "heurt $verb sends them: $(LC_ALL=C grep -aP '\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' out | head -3 | cat -v)"
    done
}
