#!/usr/bin/env bats
# Whatever the surroundings do to a program, recorded it does what it would have done.
load ../helpers

# counts: four threads and a lock; it prints a number that is known.
counts() {
    compile counts <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *unused)
{
    for (int i = 0; i < 20000; i++)
        pthread_mutex_lock(&lock), count++, pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 9;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", count);
    return 3;
}
C
}

# as_bare: the program recorded in each way, after the commands of the shell in $1.
as_bare() {
    local option
    for option in --no-choice '-f*' --aggregate --overhead=5%; do
        status=0
        bash -c "$1"'; exec "$@"' bash "$HEURT" record -q -o "$BATS_TEST_TMPDIR/t" $option -- \
            "$BATS_TEST_TMPDIR/counts" >out 2>err || status=$?
        [ "$status" = 3 ] && [ "$(cat out)" = 80000 ] ||
            fail "$1, $option: status $status, $(cat out err)"
        rm -rf t
    done
}

@test "limits of stacks, of files' lengths and of the address space are the program's" {
    needs_plain_heurt
    counts
    as_bare 'ulimit -s 64'
    as_bare 'ulimit -f 100'
    as_bare 'ulimit -Sn 10'
    as_bare 'ulimit -v 50000'
    bash -c 'ulimit -v 50000; exec "$@"' bash "$HEURT" record -o t ./counts >out 2>err || [ $? = 3 ]
    grep -q 'heurt: nothing was recorded: .*(ulimit -v)' err || fail "$(cat err)"
    for page in report memory place; do
        "$HEURT" $page -i t --width 200 >page
        grep -q 'Nothing was recorded: .*(ulimit -v)' page || fail "$page: $(cat page)"
    done
    bash -c 'ulimit -Sn 10; ulimit -Sf 100; ulimit -Ss 100; exec "$@"' bash "$HEURT" record -q -o t \
        bash -c 'ulimit -Sn; ulimit -Sf; ulimit -Ss; ulimit -Hs' >out 2>err
    bash -c 'ulimit -Sn 10; ulimit -Sf 100; ulimit -Ss 100; ulimit -Sn; ulimit -Sf; ulimit -Ss; ulimit -Hs' >bare
    cmp out bare || fail "the program has other limits: $(cat out)"
}

@test "too few descriptors: heurt says what it lacks" {
    needs_plain_heurt
    status=0
    bash -c 'ulimit -n 5; exec "$@"' bash "$HEURT" record -o t true 2>err 3>&- || status=$?
    if [ "$status" != 0 ]; then # who may, has raised it
        [ "$status" = 125 ] && grep -q '^heurt: .*(ulimit -n)' err || fail "status $status: $(cat err)"
    fi
}

@test "no HOME, no place for temporary files, no current directory" {
    counts
    mkdir gone
    as_bare 'unset HOME TMPDIR HEURT_CACHE XDG_CACHE_HOME'
    as_bare 'export HOME=/nowhere TMPDIR=/nowhere; unset HEURT_CACHE'
    as_bare 'mkdir -p gone; cd gone; rmdir ../gone'
}

@test "a checker of memory finds nothing that the program has not" {
    command -v valgrind >valgrind.path || skip "valgrind is not here"
    counts
    status=0
    valgrind -q --error-exitcode=9 ./counts >out 2>err || status=$?
    [ "$status" = 3 ] || skip "valgrind does not work here: $(head -n 3 err)"
    LD_PRELOAD=$LIBHEURT valgrind -q true 2>err ||
        skip "valgrind cannot read what this compiler writes: $(head -n 3 err)"
    local option
    for option in --no-choice --aggregate '-f*' --stack-every=1; do
        record -q -o t $option -- valgrind -q --error-exitcode=9 ./counts
        expect_status 3
        [ "$output" = 80000 ]
    done
}

@test "a program may have all 1,024 keys of threads, and each destructor runs" {
    compile keys <<'C'
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
static pthread_key_t keys[PTHREAD_KEYS_MAX];
static int count, destroyed;
static void destroy(void *value)
{
    __atomic_fetch_add(&destroyed, value != NULL, __ATOMIC_SEQ_CST);
}
static void *use(void *value)
{
    for (int i = 0; i < count; i++)
        pthread_setspecific(keys[i], value);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], destroy) == 0)
        count++;
    pthread_create(&thread, NULL, use, &thread);
    pthread_join(thread, NULL);
    printf("%d %d\n", count, destroyed);
    return 0;
}
C
    ./keys >bare
    local option
    for option in --no-choice --aggregate '-f*'; do
        record -q -o t $option ./keys
        expect_status 0
        [ "$output" = "$(cat bare)" ] || fail "$output instead of $(cat bare)"
    done
}

@test "a call with a bad pointer fails as it does alone, and does not end the program" {
    compile bad -D_GNU_SOURCE <<'C'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define TRY(call)                                                    \
    do {                                                             \
        errno = 0;                                                   \
        long result = (long)(call);                                  \
        printf("%s %s: %ld %s\n", how, #call, result, strerror(errno)); \
    } while (0)
static char *page; /* one that can be read and written, and behind it one that cannot */
/* All calls that take a pointer which may lead anywhere, each with this one. */
static void with(const char *how, void *bad, int file, int set)
{
    struct msghdr message = {.msg_iov = bad, .msg_iovlen = 2};
    char *list[] = {"true", NULL}, *entries[] = {"A=b", bad, NULL};
    pid_t child = 0;
    TRY(readv(file, bad, 2));
    TRY(writev(file, bad, 1000));
    TRY(preadv(file, bad, 2, 0));
    TRY(pwritev(file, bad, 2, 0));
    TRY(preadv2(file, bad, 2, 0, 0));
    TRY(pwritev2(file, bad, 2, 0, 0));
    TRY(readv(file, bad, -1));
    TRY(writev(file, bad, 0));
    int ends[2];
    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends);
    TRY(sendmsg(ends[0], bad, 0));
    TRY(sendmsg(ends[0], &message, 0));
    TRY(recvmsg(ends[1], bad, 0));
    TRY(recvmsg(ends[1], &message, 0));
    message.msg_iovlen = 1ul << 33;
    TRY(sendmsg(ends[0], &message, 0));
    TRY(sendmmsg(ends[0], bad, 1, 0));
    close(ends[0]), close(ends[1]);
    TRY(nanosleep(bad, NULL));
    TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, bad, NULL));
    sigset_t none;
    sigemptyset(&none);
    TRY(sigtimedwait(&none, NULL, bad));
    int many = epoll_create1(0);
    struct epoll_event event;
    TRY(epoll_pwait2(many, &event, 1, bad, NULL));
    close(many);
    TRY(fcntl(file, F_SETLK, bad));
    TRY(fcntl(file, F_SETLKW, bad));
    TRY(fcntl(file, F_OFD_SETLK, bad));
    TRY(semop(set, bad, 2));
    TRY(setrlimit(RLIMIT_AS, bad));
    TRY(prlimit(0, RLIMIT_AS, bad, NULL));
    TRY(execve("/bin/true", list, bad));
    TRY(execve("/bin/true", list, entries));
    TRY(fexecve(file, list, bad));
    TRY(posix_spawn(&child, "/bin/true", NULL, NULL, list, bad));
    TRY(posix_spawn(&child, "/bin/true", NULL, NULL, list, entries));
}
static pthread_t *place;
static volatile int is_gone;
static void *takes_away(void *unused)
{
    mprotect(place, 4096, PROT_NONE);
    is_gone = 1;
    return unused;
}
int main(void)
{
    int file = open("file", O_RDWR | O_CREAT, 0600), set = semget(IPC_PRIVATE, 2, 0600), status;
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    memset(page, 0, 4096);
    with("low", (void *)16, file, set);
    with("forbidden", page + 4096, file, set);
    with("odd", (void *)0x8000000000000000, file, set);
    with("kernel's", (void *)-4096, file, set);
    struct iovec *last = (void *)(page + 4096 - sizeof *last);
    *last = (struct iovec){page, 5};
    printf("%zd %zd\n", writev(file, last, 1), writev(file, last, 2));
    struct timespec *short_time = (void *)(page + 4096 - sizeof *short_time);
    *short_time = (struct timespec){0, 1000};
    printf("%d\n", nanosleep(short_time, NULL));
    strcpy(page + 4090, "A=bcd");
    char *list[] = {"sh", "-c", "echo $A", NULL}, **entries = (void *)(page + 4064);
    entries[0] = page + 4090;
    entries[1] = NULL;
    fflush(stdout);
    pid_t child;
    posix_spawn(&child, "/bin/sh", NULL, NULL, list, entries);
    waitpid(child, &status, 0);
    place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 50; i++) {
        is_gone = 0;
        pthread_create(place, &detached, takes_away, NULL);
        while (!is_gone)
            ;
        mprotect(place, 4096, PROT_READ | PROT_WRITE);
    }
    semctl(set, 0, IPC_RMID);
    puts("done");
    return 4;
}
C
    status=0
    ./bad >bare || status=$?
    [ "$status" = 4 ] && [ "$(grep -c 'Bad address' bare)" -gt 50 ] || fail "status $status: $(cat bare)"
    local option
    for option in --no-choice --aggregate '-f*'; do
        record -q -o t $option ./bad
        expect_status 4
        diff bare .out || fail "$option"
    done
}

@test "threads and children whose stacks are small start programs, which are recorded" {
    compile small -D_GNU_SOURCE <<'C'
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static char *list[] = {"sh", "-c", "exit 6", NULL};
static int exec_it(void *unused)
{
    execv("/bin/sh", list);
    _exit(9);
}
static int ended(pid_t child)
{
    int status = 0;
    return child > 0 && waitpid(child, &status, __WALL) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
/* With a page that may not be touched below each stack. */
static char *new_stack(size_t bytes)
{
    char *pages = mmap(NULL, 4096 + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages, 4096, PROT_NONE);
    return pages + 4096 + bytes;
}
static void *work(void *unused)
{
    pid_t child = 0;
    printf("%d", posix_spawn(&child, "/bin/sh", NULL, NULL, list, environ));
    printf(" %d", ended(child));
    printf(" %d", posix_spawnp(&child, "sh", NULL, NULL, list, environ));
    printf(" %d", ended(child));
    child = vfork();
    if (child == 0)
        exec_it(NULL);
    printf(" %d", ended(child));
    child = fork();
    if (child == 0)
        exec_it(NULL);
    printf(" %d", ended(child));
    printf(" %d", ended(clone(exec_it, new_stack(8192), SIGCHLD, NULL)));
    printf(" %d", ended(clone(exec_it, new_stack(8192), SIGCHLD | CLONE_VM | CLONE_VFORK, NULL)));
    printf(" %d\n", ended(clone(exec_it, new_stack(8192), SIGCHLD | CLONE_VM, NULL)));
    fflush(stdout);
    return NULL;
}
int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, &attributes, work, NULL);
        pthread_join(thread, NULL);
    }
    return 5;
}
C
    status=0
    ./small >bare || status=$?
    [ "$status" = 5 ] && [ "$(sort -u bare)" = '0 6 0 6 6 6 6 6 6' ] || skip "not so here: $status, $(cat bare)"
    local option
    for option in --no-choice --aggregate '-f*'; do
        record -q -o t --no-pack $option ./small
        expect_status 5
        [ "$output" = "$(cat bare)" ] || fail "$option: $output"
        [ "$(strings -a t/events | grep -cE '/(ba|da)?sh$')" -gt 5 ] || fail "$option: what it starts is not recorded"
    done
}

@test "SIGBUS is the program's: its disposition, its handler, its death" {
    compile bus <<'C'
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static sigjmp_buf out;
static void on_bus(int number)
{
    siglongjmp(out, number);
}
static void fail(void)
{
    int file = open("short", O_RDWR | O_CREAT | O_TRUNC, 0600);
    *(volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) = 1;
}
int main(int count, char **words)
{
    struct sigaction before;
    sigaction(SIGBUS, NULL, &before);
    printf("%d ", before.sa_handler == SIG_DFL && !before.sa_flags);
    printf("%d ", signal(SIGBUS, on_bus) == SIG_DFL);
    if (!sigsetjmp(out, 1))
        fail();
    printf("%d ", signal(SIGBUS, SIG_DFL) == on_bus);
    sigaction(SIGBUS, &before, &before);
    printf("%d\n", before.sa_handler == SIG_DFL && !before.sa_flags);
    fflush(stdout);
    strcmp(words[1], "sent") ? fail() : raise(SIGBUS);
    return 0;
}
C
    local how
    for how in sent failed; do
        record -q -o t ./bus "$how"
        expect_status 135
        [ "$output" = "1 1 1 1" ] || fail "$how: $output"
    done
}

@test "too few processes and threads: the program has what is there, and heurt says what it lacks" {
    needs_plain_heurt
    needs_root "a user of our own"
    public_room
    local program=$room/programs/counted user=$((60000 + $$ % 5000)) threads status
    for threads in 1 2 3 4 5 6 40; do
        rm -rf "$room/t" "$room/counts"
        status=0
        setpriv --reuid=$user --regid=$user --clear-groups --inh-caps=-all bash -c \
            "ulimit -u $threads; exec \"\$@\"" bash "$room_heurt" record -q -o "$room/t" "$program" "$room/counts" 100 \
            >out 2>err || status=$?
        # counted ends with 99 where it gets no thread.
        [ "$status" = 3 ] || [ "$status" = 99 ] || { [ "$status" = 125 ] && grep -q '^heurt: .*(ulimit -u' err; } ||
            fail "$threads: status $status, $(cat out err)"
    done
    [ "$status" = 3 ] && [ "$(cat out)" = sum=300 ] || fail "status $status, $(cat out err)"
}

@test "in other namespaces: no library that cannot be found, no clock that is taken for another" {
    needs_plain_heurt
    needs_root "a mount namespace"
    unshare -m true || skip "no namespaces can be made here"
    counts
    record -q -o t unshare -m sh -c 'mount -t tmpfs none "$0" && ls / >/dev/null && echo hidden' "${LIBHEURT%/*}"
    expect_status 0
    [ "$output" = hidden ] && [ -z "$stderr" ] || fail "$output $stderr"
    unshare -T --monotonic 864000 --fork true || skip "clocks cannot be set apart here"
    record -q -o t --no-choice --locks all unshare -T --monotonic 864000 --fork ./counts
    expect_status 3
    report_json t
    [ "$(classes lock count | sum)" = 80000 ]
    is_number_above "$(json lifetime_ns)" 864000000000000
}

@test "a kill for want of memory, of whomever it meets, leaves a trace that can be read" {
    needs_plain_heurt
    needs_root "a limit of memory"
    local group=/sys/fs/cgroup/memory/heurt-$$ limit=memory.limit_in_bytes
    [ -d "${group%/*}" ] || group=/sys/fs/cgroup/heurt-$$ limit=memory.max
    mkdir "$group" && echo 25M >"$group/$limit" || skip "no limit of memory can be set here"
    compile hog <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    static volatile char *last; /* a compiler leaves out what nobody reads */
    for (int i = 0; i < 1 << 14; i++) {
        pthread_mutex_lock(&lock);
        last = memset(malloc(1 << 16), 1, 1 << 16);
        last[i] = 2;
        pthread_mutex_unlock(&lock);
    }
    return 1;
}
C
    status=0
    bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$HEURT" record -q --no-choice --locks all -o t ./hog ||
        status=$?
    wait_for rmdir "$group" 2>/dev/null
    [ "$status" = 137 ] || fail "status $status"
    report_json t
    is_number_above 50 "$(classes lock count | sum)"
}
