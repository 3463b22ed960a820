/* live_known: a program that is patched while it runs, and notices when anything but that happens.
 *
 * Threads call functions of several kinds and compare the results; others wait in system calls and
 * expect that none ends with EINTR or with less than was asked for unless a handler has run; others
 * fork, start threads and get signals. So it goes until the first byte comes on standard input.
 * Then the main thread, which has called none of the functions before, calls each CALLS times, and
 * so do its forked child and a new thread.  Prints how often everything was done; ends with 1 when
 * something was not as expected.  With "gently" the functions are called, and
 * threads started, less often. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 1000
#define HOT_THREADS 3
#define PIPE_BYTES (1 << 20)
#define SOCKET_BYTES (1 << 18)

static atomic_bool ending;
static atomic_int failures;
static bool gentle;

static void fail(const char *what, long result)
{
    int number = errno;
    atomic_fetch_add(&failures, 1);
    fprintf(stderr, "live_known: %s gave %ld (%s)\n", what, result,
            result < 0 ? strerror(number) : "a result");
}

/* ---- functions ------------------------------------------------------------------------------- */

#ifdef __clang__
#define KIND __attribute__((noinline)) static
#else
#define KIND __attribute__((noinline, noclone)) static
#endif

static volatile long global = 5;

KIND long kind_leaf(long n)
{
    __asm__ volatile("");
    return n * 3 + 1;
}

KIND long kind_loop(long n)
{
    long sum = 0;
    do {
        sum += n;
        __asm__ volatile("" : "+r"(sum));
    } while (n-- > 0);
    return sum;
}

KIND long kind_global(long n)
{
    return global + n;
}

KIND long kind_recursive(long n)
{
    if (n <= 0)
        return 0;
    long rest = kind_recursive(n - 1);
    __asm__ volatile("" : "+r"(rest));
    return rest + n;
}

struct big {
    long values[6];
};

KIND struct big kind_struct(long n)
{
    struct big big;
    for (int i = 0; i < 6; i++)
        big.values[i] = n + i;
    return big;
}

KIND long double kind_long_double(long n)
{
    return (long double)n * 0.5L;
}

KIND __int128 kind_wide(long n)
{
    return (__int128)n << 64 | (unsigned long)n;
}

KIND long kind_switch(long n)
{
    switch (n & 7) {
    case 0:
        return 11;
    case 1:
        return 23;
    case 2:
        return 5;
    case 3:
        return 91;
    case 4:
        return 2;
    case 5:
        return 77;
    case 6:
        return 8;
    default:
        return 40;
    }
}

KIND double kind_floating(double x)
{
    return x * 1.5 + 2.0;
}

/* As many instructions as possible within the bytes of a jump: threads stand in them often. */
long kind_inside(long n);
__asm__(".text\n.p2align 4\n.globl kind_inside\n.type kind_inside, @function\nkind_inside:\n"
        ".cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
        "nop\nnop\nnop\nnop\n"
        "mov %rdi, %rbx\nlea (%rbx,%rbx,4), %rax\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "ret\n.cfi_endproc\n.size kind_inside, . - kind_inside\n");

static bool call_each(long n)
{
    struct big big = kind_struct(n);
    return kind_leaf(n) == n * 3 + 1 && kind_loop(n & 15) == (n & 15) * ((n & 15) + 1) / 2 &&
           kind_global(n) == n + 5 && kind_recursive(4) == 10 && big.values[5] == n + 5 &&
           kind_long_double(n) == (long double)n * 0.5L && (long)(kind_wide(n) >> 64) == n &&
           kind_switch(n) == (const long[]){11, 23, 5, 91, 2, 77, 8, 40}[n & 7] &&
           kind_floating((double)global - 3) == 5.0 && kind_inside(n) == n * 5;
}

static void *call_functions(void *argument)
{
    long *rounds = argument;
    while (!ending) {
        for (int i = 0; i < 100; i++, ++*rounds)
            if (!call_each(*rounds & 0xffff))
                fail("a function", *rounds);
        if (gentle)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return NULL;
}

/* ---- waits ----------------------------------------------------------------------------------- */

static const struct timespec short_time = {.tv_nsec = 5000000};

static void expect(const char *what, long result, long expected)
{
    if (result != expected)
        fail(what, result);
}

static void expect_error(const char *what, long result, int number)
{
    if (result != -1 || errno != number)
        fail(what, result);
}

static void epoll_once(void)
{
    static int epoll = -1;
    if (epoll < 0)
        epoll = epoll_create1(0);
    struct epoll_event event;
    expect("epoll_wait", epoll_wait(epoll, &event, 1, 5), 0);
}

static void nanosleep_once(void)
{
    expect("nanosleep", nanosleep(&short_time, NULL), 0);
}

static void poll_once(void)
{
    expect("poll", poll(NULL, 0, 5), 0);
}

static void select_once(void)
{
    struct timeval time = {0, 5000};
    expect("select", select(0, NULL, NULL, NULL, &time), 0);
}

static void sigtimedwait_once(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    expect_error("sigtimedwait", sigtimedwait(&set, NULL, &short_time), EAGAIN);
}

static void semtimedop_once(void)
{
    static int semaphore = -1;
    if (semaphore < 0) {
        semaphore = semget(IPC_PRIVATE, 1, 0600);
        if (semaphore < 0)
            fail("semget", semaphore);
    }
    struct sembuf down = {0, -1, 0};
    expect_error("semtimedop", semtimedop(semaphore, &down, 1, &short_time), EAGAIN);
    if (ending)
        semctl(semaphore, 0, IPC_RMID);
}

static void receive_once(void)
{
    static int pair[2] = {-1, -1};
    if (pair[0] < 0) {
        struct timeval time = {0, 5000};
        expect("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    }
    char byte;
    expect_error("recv with a timeout", recv(pair[0], &byte, 1, 0), EAGAIN);
}

static void io_getevents_once(void)
{
    static aio_context_t context;
    if (!context && syscall(SYS_io_setup, 8, &context) < 0) {
        nanosleep(&short_time, NULL);
        return;
    }
    struct io_event event;
    struct timespec time = short_time;
    expect("io_getevents", syscall(SYS_io_getevents, context, 1, 1, &event, &time), 0);
}

static void condition_once(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    expect("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
}

static void fork_once(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(call_each(7) ? 7 : 1);
    int status = 0;
    expect("waitpid", waitpid(child, &status, 0), child);
    expect("the forked child's status", WEXITSTATUS(status), 7);
    nanosleep(&short_time, NULL);
}

static void vfork_once(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(9);
    int status = 0;
    expect("waitpid of vfork", waitpid(child, &status, 0), child);
    expect("the vforked child's status", WEXITSTATUS(status), 9);
    nanosleep(&short_time, NULL);
}

static void *end_at_once(void *argument)
{
    return call_each(3) ? argument : NULL;
}

static void thread_once(void)
{
    pthread_t thread;
    void *result = NULL;
    static char mark;
    expect("pthread_create", pthread_create(&thread, NULL, end_at_once, &mark), 0);
    pthread_join(thread, &result);
    if (result != &mark)
        fail("a thread's result", 0);
    if (gentle) /* each thread takes a chunk of the trace */
        nanosleep(&short_time, NULL);
}

/* A call of each of these must not be interrupted. */
static const struct wait {
    const char *name;
    void (*once)(void);
} waits[] = {
    {"epoll_wait", epoll_once},
    {"nanosleep", nanosleep_once},
    {"poll", poll_once},
    {"select", select_once},
    {"sigtimedwait", sigtimedwait_once},
    {"semtimedop", semtimedop_once},
    {"recv", receive_once},
    {"io_getevents", io_getevents_once},
    {"condition", condition_once},
    {"fork", fork_once},
    {"vfork", vfork_once},
    {"thread", thread_once},
};
#define WAITS (sizeof waits / sizeof waits[0])
static long wait_rounds[WAITS];

static void *wait_again(void *argument)
{
    size_t index = (size_t)argument;
    do {
        waits[index].once();
        wait_rounds[index]++;
    } while (!ending);
    return NULL;
}

/* ---- transfers that are not done at once ----------------------------------------------------- */

static int transfer_pipe[2], transfer_socket[2];
static long transfers;

static void *write_pipe(void *argument)
{
    char *bytes = malloc(PIPE_BYTES);
    (void)argument;
    for (long i = 0; !ending; i++) {
        memset(bytes, (int)i, PIPE_BYTES);
        expect("write", write(transfer_pipe[1], bytes, PIPE_BYTES), PIPE_BYTES);
    }
    close(transfer_pipe[1]);
    free(bytes);
    return NULL;
}

static void *read_pipe(void *argument)
{
    static char bytes[10000];
    long at = 0, got;
    (void)argument;
    while ((got = read(transfer_pipe[0], bytes, sizeof bytes)) > 0)
        for (long i = 0; i < got; i++, at++)
            if (bytes[i] != (char)(at / PIPE_BYTES)) {
                fail("what was read", at);
                return NULL;
            }
    expect("read", got, 0);
    expect("bytes read", at % PIPE_BYTES, 0);
    return NULL;
}

static void *send_socket(void *argument)
{
    static char bytes[SOCKET_BYTES];
    (void)argument;
    while (!ending)
        expect("send", send(transfer_socket[1], bytes, sizeof bytes, 0), sizeof bytes);
    close(transfer_socket[1]);
    return NULL;
}

static void *receive_socket(void *argument)
{
    static char bytes[SOCKET_BYTES];
    long got;
    (void)argument;
    while ((got = recv(transfer_socket[0], bytes, sizeof bytes, MSG_WAITALL)) > 0) {
        expect("recv of all", got, sizeof bytes);
        transfers++;
    }
    expect("recv", got, 0);
    return NULL;
}

/* ---- signals: each that is handled interrupts exactly one epoll_pwait ------------------------ */

static atomic_long handled, interrupted, alarms, wanted = -1;
static __thread bool is_woken;

static void on_user1(int number)
{
    (void)number;
    if (is_woken)
        handled++;
}

static void on_alarm(int number)
{
    (void)number;
    if (call_each(5))
        alarms++;
}

static void *be_interrupted(void *argument)
{
    (void)argument;
    is_woken = true;
    sigset_t waiting; /* while it waits, SIGUSR1 is not blocked; else it is, from the beginning */
    sigemptyset(&waiting);
    sigaddset(&waiting, SIGALRM);
    sigaddset(&waiting, SIGCHLD);
    int epoll = epoll_create1(0);
    while (wanted < 0 || interrupted < wanted) {
        struct epoll_event event;
        expect_error("epoll_pwait", epoll_pwait(epoll, &event, 1, -1, &waiting), EINTR);
        interrupted++;
        if (interrupted > handled)
            fail("EINTR without a handler", interrupted);
    }
    return NULL;
}

/* The next signal comes when the last one's EINTR was seen: a lost one would end in waiting for
 * ever. */
static void *interrupt(void *argument)
{
    pthread_t *other = argument;
    long sent = 0;
    for (bool last = false; !last;) {
        nanosleep(&short_time, NULL);
        last = ending;
        if (last)
            wanted = sent + 1;
        pthread_kill(*other, SIGUSR1);
        sent++;
        while (interrupted < sent)
            sched_yield();
    }
    return NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void start(pthread_t *thread, void *(*routine)(void *), void *argument)
{
    if (pthread_create(thread, NULL, routine, argument) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

static void *call_counted(void *argument)
{
    for (long i = 0; i < CALLS; i++)
        if (!call_each(i))
            fail("a counted function", i);
    return argument;
}

static void call_in_child(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        call_counted(NULL);
        _exit(failures != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect("the counting child's status", status, 0);
}

int main(int argc, char **argv)
{
    gentle = argc > 1 && strcmp(argv[1], "gently") == 0;
    pthread_t hot[HOT_THREADS], waiting[WAITS], moving[4], woken, waker, last;
    static long rounds[HOT_THREADS];
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_user1}, NULL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART}, NULL);
    expect("pipe", pipe(transfer_pipe), 0);
    expect("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, transfer_socket), 0);
    /* An ignored SIGCHLD that comes just while threads are seized may show (kernel/stop.h). */
    sigset_t ends_only;
    sigemptyset(&ends_only);
    sigaddset(&ends_only, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &ends_only, NULL);
    /* Alarms are for the hot threads: no wait of the others is to be interrupted. */
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    for (int i = 0; i < HOT_THREADS; i++)
        start(&hot[i], call_functions, &rounds[i]);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    for (size_t i = 0; i < WAITS; i++)
        start(&waiting[i], wait_again, (void *)i);
    void *(*const movers[])(void *) = {write_pipe, read_pipe, send_socket, receive_socket};
    for (int i = 0; i < 4; i++)
        start(&moving[i], movers[i], NULL);
    /* Blocked before the thread is there: a signal that came earlier than the thread's first wait
     * would interrupt nothing, and the waker would wait for ever. */
    sigset_t user1_only;
    sigemptyset(&user1_only);
    sigaddset(&user1_only, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &user1_only, NULL);
    start(&woken, be_interrupted, NULL);
    start(&waker, interrupt, &woken);
    struct itimerval timer = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_REAL, &timer, NULL);

    char byte;
    expect("read of standard input", read(STDIN_FILENO, &byte, 1), 1);
    ending = true;
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (int i = 0; i < HOT_THREADS; i++)
        pthread_join(hot[i], NULL);
    for (size_t i = 0; i < WAITS; i++)
        pthread_join(waiting[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(moving[i], NULL);
    pthread_join(waker, NULL);
    pthread_join(woken, NULL);

    call_counted(NULL);
    start(&last, call_counted, NULL);
    pthread_join(last, NULL);
    call_in_child();
    printf("hot %ld\n", rounds[0] + rounds[1] + rounds[2]);
    for (size_t i = 0; i < WAITS; i++)
        printf("%s %ld\n", waits[i].name, wait_rounds[i]);
    printf("transfers %ld\ninterrupted %ld\nalarms %ld\nfailures %d\n", transfers, interrupted,
           alarms, failures);
    return failures != 0;
}
