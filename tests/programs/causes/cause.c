#include "cause.h"

#include <sched.h>

static unsigned still_calling; /* threads */
static unsigned times = 1;     /* as many calls as the program says */

bool cause__read(int count, char **words)
{
    bool cured = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--cure") == 0)
            cured = true;
        else if (strcmp(words[i], "--times") == 0 && i + 1 < count)
            times = (unsigned)strtoul(words[++i], NULL, 10);
        else
            KNOWN_CHECK(!"an option that is known");
    }
    KNOWN_CHECK(times >= 1);
    return cured;
}

bool cause__is_over(void)
{
    return __atomic_load_n(&still_calling, __ATOMIC_ACQUIRE) == 0;
}

unsigned cause__cpus(void)
{
    cpu_set_t set;
    KNOWN_CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    return (unsigned)CPU_COUNT(&set);
}

KNOWN_FUNCTION void cause__compute(unsigned long turns)
{
    unsigned long value = turns;
    for (; turns; turns--) {
        value = value * 2862933555777941757ul + 3037000493ul;
        __asm__ volatile("" : "+r"(value));
    }
}

void cause__rest_us(unsigned long us)
{
    struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    syscall(SYS_nanosleep, &time, NULL);
}

unsigned long cause__draw(struct cause_thread *thread, unsigned long limit)
{
    thread->random = thread->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned long)(thread->random >> 33) % limit;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* How long the thread has waited for a CPU, in all. */
static uint64_t runnable_ns(const struct cause_thread *thread)
{
    char text[96];
    unsigned long long waited;
    long got = syscall(SYS_pread64, thread->schedstat, text, sizeof text - 1, 0l);
    KNOWN_CHECK(got > 0);
    text[got] = '\0';
    KNOWN_CHECK(sscanf(text, "%*u %llu", &waited) == 1);
    return waited;
}

/* Both clocks at one instant: the thread kept its CPU between them. */
static struct cause_instant now(const struct cause_thread *thread)
{
    struct cause_instant instant;
    do {
        instant.runnable_ns = runnable_ns(thread);
        instant.ns = clock_ns(CLOCK_MONOTONIC);
    } while (runnable_ns(thread) != instant.runnable_ns);
    return instant;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

/* What passed since an instant: in all, and waiting for a CPU. */
static struct cause_instant since(const struct cause_thread *thread, struct cause_instant begin)
{
    struct cause_instant end = now(thread);
    end.ns -= begin.ns;
    end.runnable_ns = at_most(end.runnable_ns - begin.runnable_ns, end.ns);
    return end;
}

void injected__begin(struct cause_thread *thread)
{
    thread->mark = now(thread);
}

void injected__end(struct cause_thread *thread, unsigned part)
{
    struct cause_instant passed = since(thread, thread->mark);
    thread->call->injected_ns[part] += passed.ns - passed.runnable_ns;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void call(struct cause_thread *thread)
{
    const struct cause *cause = thread->cause;
    struct cause_call *call = thread->call;
    unsigned long amount = cause->prepare(thread);
    bool on_cpu = cause->measure == CAUSE_ON_CPU;
    uint64_t cpu_ns = on_cpu ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    struct cause_instant begin = now(thread);
    work(thread, amount);
    struct cause_instant passed = since(thread, begin);
    call->ns = passed.ns;
    call->runnable_ns = passed.runnable_ns;
    if (on_cpu)
        call->injected_ns[0] = at_most(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns, call->ns);
    if (cause->measure == CAUSE_RUNNABLE)
        call->injected_ns[0] = call->runnable_ns;
}

/* To the CPU of its number among those that it may use. */
static void pin(const struct cause_thread *thread)
{
    cpu_set_t all, one;
    unsigned number = thread->number % cause__cpus();
    KNOWN_CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && number-- == 0)
            CPU_SET(cpu, &one);
    KNOWN_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static void thread__begin(struct cause_thread *thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", known__tid());
    thread->schedstat = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (thread->schedstat < 0) {
        fprintf(stderr, "%s is missing: the kernel was built without schedstat\n", path);
        _exit(77);
    }
    if (thread->cause->pinned)
        pin(thread);
    thread->random = 12345 + 977 * thread->number;
    thread->lifetime_ns = clock_ns(CLOCK_MONOTONIC);
}

static void *call_all(void *argument)
{
    struct cause_thread *thread = argument;
    thread__begin(thread);
    for (unsigned i = 0; i < thread->cause->calls; i++) {
        thread->call = &thread->calls[i];
        call(thread);
    }
    __atomic_sub_fetch(&still_calling, 1, __ATOMIC_RELEASE);
    thread->lifetime_ns = clock_ns(CLOCK_MONOTONIC) - thread->lifetime_ns;
    return NULL;
}

static void *run_background(void *argument)
{
    struct cause_thread *thread = argument;
    thread__begin(thread);
    thread->cause->background(thread);
    return NULL;
}

/* ---- the truth ------------------------------------------------------------------------------- */

static const struct cause_call *fastest_of(const struct cause_call *calls, size_t count)
{
    const struct cause_call *fastest = calls;
    for (size_t i = 1; i < count; i++)
        if (calls[i].ns < fastest->ns)
            fastest = &calls[i];
    return fastest;
}

static void print_injected(const struct cause *cause, unsigned part, const struct cause_call *calls,
                           size_t count, const struct cause_call *fastest)
{
    char key[64];
    long long sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (long long)(calls[i].injected_ns[part] - fastest->injected_ns[part]);
    snprintf(key, sizeof key, "injected_%s_ns", cause->parts[part]);
    known__number(key, sum);
}

static void print_truth(const struct cause *cause, const struct cause_call *calls, size_t count)
{
    const struct cause_call *fastest = fastest_of(calls, count);
    long long excess = 0, runnable = 0;
    printf("cause=%s\n", cause->name);
    for (unsigned part = 0; part < CAUSE_PARTS && cause->parts[part]; part++)
        print_injected(cause, part, calls, count, fastest);
    for (size_t i = 0; i < count; i++) {
        excess += (long long)(calls[i].ns - fastest->ns);
        runnable += (long long)(calls[i].runnable_ns - fastest->runnable_ns);
    }
    known__number("runnable_ns", runnable);
    known__number("excess_ns", excess);
    known__number("fastest_ns", (long long)fastest->ns);
    known__number("calls", (long long)count);
}

int cause__run(const struct cause *once)
{
    static struct cause_thread threads[CAUSE_THREADS_MOST + 1];
    struct cause all_calls = *once, *cause = &all_calls;
    cause->calls *= times;
    size_t count = (size_t)cause->threads * cause->calls;
    struct cause_call *calls = calloc(count, sizeof *calls);
    long long lifetime_ns = 0;
    KNOWN_CHECK(calls && cause->threads <= CAUSE_THREADS_MOST);
    memset(calls, 0, count * sizeof *calls); /* no page faults later */
    still_calling = cause->threads;
    unsigned all = cause->threads + (cause->background != NULL);
    for (unsigned i = 0; i < all; i++) {
        threads[i] = (struct cause_thread){
            .cause = cause, .number = i, .calls = calls + (size_t)i * cause->calls};
        KNOWN_CHECK(pthread_create(&threads[i].thread, NULL,
                                   i < cause->threads ? call_all : run_background,
                                   &threads[i]) == 0);
    }
    for (unsigned i = 0; i < all; i++) {
        KNOWN_CHECK(pthread_join(threads[i].thread, NULL) == 0);
        lifetime_ns += i < cause->threads ? (long long)threads[i].lifetime_ns : 0;
    }
    print_truth(cause, calls, count);
    known__number("lifetime_ns", lifetime_ns);
    free(calls);
    return 0;
}
