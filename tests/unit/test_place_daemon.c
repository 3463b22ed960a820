/* The daemon that moves memory: what it does to processes when the kernel refuses, whom it follows,
 * what it tells; and all of it around processes that run, on a machine whose nodes are made up:
 * each CPU is one, and where pages are a table says. */
#include "base/memory.h"
#include "place/place_daemon.h"
#include "place/place_sensors.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a kernel that is made up ---------------------------------------------------------------- */

enum { PAGES = 32, PAGE = 4096 };

static struct {
    uint64_t first; /* page */
    int node[PAGES];
    int refuse[PAGES];     /* a status that a move gets; 0: it is done */
    unsigned tried[PAGES]; /* moves */
    int fails;             /* errno of moves, as a whole; 0: none */
    int fails_on;          /* to that node alone; -1: to all */
    int fails_asking;      /* errno of queries */
    unsigned stops_at;     /* of a call: pages from there on get no status; 0: none */
    int fails_splitting;
    unsigned moves, splits; /* calls */
} kernel;

static void begin_kernel(uint64_t first)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.first = first;
    kernel.fails_on = -1;
}

static long made_move(pid_t pid, unsigned long count, void **pages, const int *nodes, int *status,
                      int flags)
{
    (void)pid, (void)flags;
    errno = nodes ? (kernel.fails_on < 0 || nodes[0] == kernel.fails_on ? kernel.fails : 0)
                  : kernel.fails_asking;
    kernel.moves += nodes != NULL;
    if (errno)
        return -1;
    for (unsigned long i = 0; i < count; i++) {
        uint64_t page = (uint64_t)(uintptr_t)pages[i] / PAGE - kernel.first;
        if (nodes && kernel.stops_at && i >= kernel.stops_at)
            return (long)(count - i);
        if (page >= PAGES) {
            status[i] = nodes ? nodes[i] : 0;
            continue;
        }
        kernel.tried[page] += nodes != NULL;
        if (nodes && kernel.refuse[page])
            status[i] = kernel.refuse[page];
        else
            status[i] = nodes ? (kernel.node[page] = nodes[i]) : kernel.node[page];
    }
    return 0;
}

static long made_split(int pidfd, void *address)
{
    (void)pidfd, (void)address;
    kernel.splits++;
    errno = kernel.fails_splitting;
    return errno ? -1 : 0;
}

static const struct place_calls made_calls = {made_move, made_split};

/* ---- the actuator ---------------------------------------------------------------------------- */

static const uint32_t two_nodes[] = {0, 4}; /* the kernel's numbers have gaps */

struct acted {
    struct place_actuator actuator;
    struct place_target targets[2];
    struct place_outcome outcome;
    uint8_t effects[PAGES + 1];
};

static void begin_acting(struct acted *acted, uint64_t first)
{
    begin_kernel(first);
    *acted = (struct acted){.actuator = place_actuator__of(&made_calls, two_nodes, 2),
                            .targets = {{.application = 3, .pid = 1000, .pidfd = -1},
                                        {.application = 7, .pid = 1001, .pidfd = -1}},
                            .outcome.decisions = VEC_OF(struct place_decision)};
}

static void decide(struct acted *acted, enum place_decision_kind kind, uint32_t application,
                   uint64_t page, uint16_t to)
{
    vec__push(&acted->outcome.decisions, &(struct place_decision){.kind = kind,
                                                                  .application = application,
                                                                  .page = kernel.first + page,
                                                                  .from = !to,
                                                                  .to = to,
                                                                  .is_huge = kind == PLACE_SPLIT});
}

static void act(struct acted *acted)
{
    place_actuator__do(&acted->actuator, &acted->outcome, acted->targets, 2, acted->effects);
}

static void end_acting(struct acted *acted)
{
    vec__free(&acted->outcome.decisions);
}

static void each_page_is_told_what_became_of_it(void **state)
{
    static const struct {
        int status;
        enum place_effect effect;
    } rows[] = {{0, EFFECT_DONE},         {-EACCES, EFFECT_SEVERAL}, {-EBUSY, EFFECT_BUSY},
                {-ENOENT, EFFECT_GONE},   {-EFAULT, EFFECT_GONE},    {-ENOMEM, EFFECT_FULL},
                {-EPERM, EFFECT_REFUSED}, {-EIO, EFFECT_OTHER}};
    enum { ROWS = sizeof rows / sizeof *rows };
    struct acted acted;
    (void)state;
    begin_acting(&acted, 1000);
    for (unsigned i = 0; i < ROWS; i++) {
        kernel.refuse[i] = rows[i].status;
        decide(&acted, PLACE_MIGRATE, 3, i, 1);
    }
    act(&acted);
    for (unsigned i = 0; i < ROWS; i++)
        assert_int_equal(acted.effects[i], rows[i].effect);
    assert_int_equal(kernel.node[0], 4);
    assert_int_equal(kernel.moves, 1);
    assert_int_equal(acted.actuator.pages[EFFECT_GONE], 2);
    end_acting(&acted);
}

static void decisions_go_by_process_and_node(void **state)
{
    struct acted acted;
    (void)state;
    begin_acting(&acted, 1000);
    for (unsigned i = 0; i < 8; i++)
        decide(&acted, i % 4 == 3 ? PLACE_BACK : PLACE_SPREAD, i % 2 ? 3 : 7, i, i < 4);
    decide(&acted, PLACE_REPLICATE, 3, 9, 0);
    VEC_AT(&acted.outcome.decisions, struct place_decision, 8)->is_advice = true;
    decide(&acted, PLACE_MIGRATE, 5, 10, 1); /* of a process that is there no more */
    act(&acted);
    assert_int_equal(kernel.moves, 4);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(acted.effects[i], EFFECT_DONE);
        assert_int_equal(kernel.node[i], i < 4 ? 4 : 0);
    }
    assert_int_equal(acted.effects[8], EFFECT_NONE);
    assert_int_equal(acted.effects[9], EFFECT_NONE);
    end_acting(&acted);
}

static void a_call_that_fails_is_not_tried_for_each_page(void **state)
{
    static const struct {
        int code;
        enum place_effect effect;
        bool is_barred;
    } rows[] = {{ENODEV, EFFECT_REFUSED, true}, /* the node is offline */
                {EACCES, EFFECT_REFUSED, true}, /* it is not the process's cpuset's */
                {EPERM, EFFECT_REFUSED, true},  {ENOSYS, EFFECT_REFUSED, true},
                {ESRCH, EFFECT_GONE, false},    {ENOMEM, EFFECT_FULL, false}};
    (void)state;
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct acted acted;
        begin_acting(&acted, 1000);
        kernel.fails = rows[row].code;
        kernel.fails_on = 4;
        for (unsigned i = 0; i < PAGES; i++)
            decide(&acted, PLACE_MIGRATE, 3, i, i % 2);
        act(&acted);
        assert_int_equal(kernel.moves, 2);
        for (unsigned i = 0; i < PAGES; i++)
            assert_int_equal(acted.effects[i], i % 2 ? rows[row].effect : EFFECT_DONE);
        assert_int_equal(acted.targets[0].barred_nodes, rows[row].is_barred ? 2 : 0);
        end_acting(&acted);
    }
}

/* Where the kernel cannot copy a page it stops, and its result counts what is left. */
static void pages_without_a_status_are_asked_for(void **state)
{
    struct acted acted;
    (void)state;
    begin_acting(&acted, 1000);
    kernel.stops_at = 5;
    for (unsigned i = 0; i < 8; i++)
        decide(&acted, PLACE_MIGRATE, 3, i, 1);
    act(&acted);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(acted.effects[i], i < 5 ? EFFECT_DONE : EFFECT_BUSY);
    end_acting(&acted);
}

static void splitting_may_be_refused(void **state)
{
    (void)state;
    for (unsigned is_refused = 0; is_refused < 2; is_refused++) {
        struct acted acted;
        begin_acting(&acted, 1024);
        kernel.fails_splitting = is_refused ? EPERM : 0;
        decide(&acted, PLACE_SPLIT, 7, 0, 0);
        act(&acted);
        assert_int_equal(kernel.splits, 1);
        assert_int_equal(acted.effects[0], is_refused ? EFFECT_REFUSED : EFFECT_DONE);
        assert_int_equal(acted.actuator.split, !is_refused);
        end_acting(&acted);
    }
}

/* ---- the status ------------------------------------------------------------------------------ */

static void what_is_told_is_read(void **state)
{
    struct place_status status = place_status__new(), read;
    (void)state;
    free(status.daemon.whom);
    status.daemon.whom = memory__text("cgroup a b%=\n\x1b[31m é");
    status.daemon.moved = UINT64_MAX - 1;
    status.daemon.local = 0.25;
    vec__push(&status.applications, &(struct status_application){.name = memory__text("a b"),
                                                                 .verdict = memory__text(""),
                                                                 .advice = memory__text("x=y"),
                                                                 .pid = 12,
                                                                 .reads = NAN,
                                                                 .cpus = 1.5});
    vec__push(&status.sensors, &(struct status_sensor){.name = memory__text("s"),
                                                       .tells = memory__text("t"),
                                                       .missing = memory__text(""),
                                                       .quality = 0.5});
    char *text = place_status__text(&status);
    assert_null(strchr(text, '\x1b'));
    assert_true(place_status__parse(text, &read));
    assert_string_equal(read.daemon.whom, status.daemon.whom);
    assert_int_equal(read.daemon.moved, UINT64_MAX - 1);
    assert_float_equal(read.daemon.local, 0.25, 0);
    assert_true(isnan(read.daemon.imbalance));
    assert_int_equal(read.applications.count, 1);
    const struct status_application *application = read.applications.items;
    assert_string_equal(application->name, "a b");
    assert_string_equal(application->advice, "x=y");
    assert_true(isnan(application->reads));
    assert_float_equal(application->cpus, 1.5, 0);
    assert_int_equal(read.sensors.count, 1);
    assert_int_equal(read.decisions.count, 0);
    place_status__free(&read);
    place_status__free(&status);
    free(text);
}

static void what_is_no_status_is_passed_over(void **state)
{
    static const char *const texts[] = {
        "heurt-place-status 1\n", "heurt-place-status 1\ndaemon",
        "heurt-place-status 1\n=\n \ndaemon  = pid= x\nother a=1\n",
        "heurt-place-status 1\napplication name=%zz%4 pid=-1 cpus=x"};
    struct place_status status;
    (void)state;
    char other[] = "heurt-place 1\n", empty[] = "";
    assert_false(place_status__parse(other, &status));
    assert_false(place_status__parse(empty, &status));
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = memory__text(texts[i]);
        assert_true(place_status__parse(text, &status));
        place_status__free(&status);
        free(text);
    }
}

static void a_status_is_this_user_s_alone(void **state)
{
    char directory[] = "/tmp/heurt_status_XXXXXX", path[64], file[96], link_to[96];
    struct error error;
    (void)state;
    assert_non_null(mkdtemp(directory));
    setenv("XDG_RUNTIME_DIR", directory, 1);
    snprintf(path, sizeof path, "%s/heurt", directory);
    snprintf(file, sizeof file, "%s/place-%d", path, (int)getpid());
    snprintf(link_to, sizeof link_to, "%s/place-1", path);
    struct place_status status = place_status__new();
    status.daemon.pid = (uint64_t)getpid();
    status.daemon.started_ticks = place_status__own_ticks();
    assert_int_equal(place_status__write(&status, &error), 0);
    struct stat about;
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(symlink(file, link_to), 0); /* it is not followed */
    struct vec all = place_status__read_all();
    assert_int_equal(all.count, 1);
    assert_true(place_status__is_alive(all.items));
    place_statuses__free(&all);
    unlink(link_to);
    place_status__sweep();
    assert_int_equal(stat(file, &about), 0);
    status.daemon.started_ticks++; /* another process has the number now */
    assert_int_equal(place_status__write(&status, &error), 0);
    place_status__sweep();
    assert_int_not_equal(stat(file, &about), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_true(place_status__write(&status, &error) < 0);
    assert_non_null(strstr(error.text, path));
    all = place_status__read_all();
    assert_int_equal(all.count, 0);
    place_statuses__free(&all);
    place_status__free(&status);
    rmdir(path);
    rmdir(directory);
    unsetenv("XDG_RUNTIME_DIR");
}

/* ---- sensors --------------------------------------------------------------------------------- */

static void put_file(const char *root, const char *path, const char *text)
{
    char *whole = memory__format("%s%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *out = fopen(whole, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    free(whole);
}

static void sensors_tell_what_grew(void **state)
{
    char root[] = "/tmp/heurt_sensors_XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(root));
    struct place_sensors none = place_sensors__open(root);
    for (unsigned i = 0; i < PLACE_SENSORS; i++)
        assert_false(none.states[i].is_open);
    struct place_sensed sensed = place_sensors__round(&none, 1);
    assert_true(isnan(sensed.maptu) && isnan(sensed.memory_used));
    put_file(root, "/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 750 kB\n");
    put_file(root, "/proc/vmstat", "numa_hint_faults 10\nnuma_hint_faults_local 10\n");
    put_file(root, "/proc/sys/kernel/numa_balancing", "1\n");
    put_file(root, "/sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "6400\n");
    put_file(root, "/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "0\n");
    put_file(root, "/sys/devices/system/node/node0/numastat", "numa_hit 5\nnuma_miss 5\n");
    struct place_sensors sensors = place_sensors__open(root);
    for (unsigned i = 0; i < PLACE_SENSORS; i++)
        assert_true(sensors.states[i].is_open);
    put_file(root, "/proc/vmstat", "numa_hint_faults 30\nnuma_hint_faults_local 15\n");
    put_file(root, "/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "128000000\n");
    put_file(root, "/sys/devices/system/node/node0/numastat", "numa_hit 8\nnuma_miss 6\n");
    sensed = place_sensors__round(&sensors, 2);
    assert_float_equal(sensed.memory_used, 0.25, 1e-9);
    assert_float_equal(sensed.maptu, 1, 1e-9); /* two million lines in two seconds */
    assert_float_equal(sensed.hint_local, 0.25, 1e-9);
    assert_float_equal(sensed.missed, 0.25, 1e-9);
    char *command = memory__format("rm -r %s", root);
    assert_int_equal(system(command), 0);
    free(command);
}

/* ---- processes that run ---------------------------------------------------------------------- */

static _Atomic int *told; /* by children, in memory that is shared */

static pid_t start(void (*work)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        _exit(0);
    }
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void await(int value)
{
    while (*told < value)
        sched_yield();
}

static void sit(void)
{
    ++*told;
    for (;;)
        pause();
}

static void have_a_child(void)
{
    start(sit);
    sit();
}

static void become_another(void)
{
    await(1);
    execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    _exit(1);
}

static void hear_gone(const struct place_process *process, void *context)
{
    (void)process;
    ++*(unsigned *)context;
}

static struct place_processes follow(pid_t pid)
{
    struct place_selection selection = {.pids = VEC_OF(pid_t)};
    struct place_processes processes;
    struct error error;
    vec__push(&selection.pids, &pid);
    assert_int_equal(place_processes__open(&processes, &selection, &error), 0);
    vec__free(&selection.pids);
    processes.selection.pids = VEC_OF(pid_t);
    return processes;
}

static void children_are_followed_until_they_end(void **state)
{
    unsigned gone = 0;
    (void)state;
    *told = 0;
    pid_t pid = start(have_a_child);
    await(2);
    struct place_processes processes = follow(pid);
    place_processes__look(&processes, hear_gone, &gone);
    assert_int_equal(processes.items.count, 2);
    assert_true(VEC_AT(&processes.items, struct place_process, 1)->pid != pid);
    assert_int_equal(gone, 0);
    stop(pid); /* its child ends with it */
    while (processes.items.count)
        place_processes__look(&processes, hear_gone, &gone);
    assert_int_equal(gone, 2);
    place_processes__free(&processes);
}

static void after_an_exec_it_is_another_application(void **state)
{
    unsigned gone = 0;
    (void)state;
    *told = 0;
    pid_t pid = start(become_another);
    struct place_processes processes = follow(pid);
    uint32_t id = VEC_AT(&processes.items, struct place_process, 0)->id;
    *told = 1;
    do {
        place_processes__look(&processes, hear_gone, &gone);
        assert_int_equal(processes.items.count, 1);
    } while (VEC_AT(&processes.items, struct place_process, 0)->id == id && sched_yield() == 0);
    assert_int_equal(gone, 1);
    stop(pid);
    place_processes__look(&processes, hear_gone, &gone);
    assert_int_equal(processes.items.count, 0);
    assert_int_equal(gone, 2);
    place_processes__free(&processes);
}

static void whom_it_may_not_follow_is_said(void **state)
{
    struct place_processes processes;
    struct error error;
    (void)state;
    pid_t ended = start(sit);
    stop(ended);
    const struct {
        pid_t pid;
        const char *says;
    } rows[] = {{ended, "there is no process"}, {getpid(), "heurt itself"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct place_selection selection = {.pids = VEC_OF(pid_t)};
        vec__push(&selection.pids, &rows[i].pid);
        assert_true(place_processes__open(&processes, &selection, &error) < 0);
        assert_non_null(strstr(error.text, rows[i].says));
        place_processes__free(&processes);
        vec__free(&selection.pids);
    }
    struct place_selection selection = {.pids = VEC_OF(pid_t), .cgroup = "no/such"};
    assert_int_equal(place_processes__open(&processes, &selection, &error), -ENOENT);
    place_processes__free(&processes);
    if (geteuid() == 0) {
        selection = (struct place_selection){.pids = VEC_OF(pid_t), .of_user = true};
        assert_int_equal(place_processes__open(&processes, &selection, &error), -EPERM);
        place_processes__free(&processes);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static unsigned char *pages;
enum {
    FEW = 8
}; /* pages that a thread uses: where it has a tenth of a CPU each must have samples */

/* A row of accesses to pages from first on, for ever; on the CPU of that number. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static void
use_pages(unsigned cpu, unsigned first, unsigned count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    ++*told;
    for (;;)
        for (unsigned page = first; page < first + count; page++)
            for (volatile unsigned char *at = pages + (size_t)page * PAGE, *end = at + PAGE;
                 at != end; at += 64)
                *at = 1;
}

static void use_second_half_far_away(void)
{
    use_pages(1, PAGES / 2, FEW);
}

static void use_first_half_near(void)
{
    use_pages(0, 0, FEW);
}

static void use_both(void)
{
    start(use_first_half_near);
    use_second_half_far_away();
}

static struct vec watched; /* pid_t: kept as long as the daemon that watches them */

/* How many samples a round has is the machine's business: the processes may have a hundredth of a
 * CPU, and they may stand still for rounds. They always use the same pages, so that samples are
 * added up until they are enough. Whether what was done is undone is a test of the engine. */
static struct place_daemon *watch_with(pid_t pid, bool is_dry)
{
    struct place_settings settings = place_settings__usual();
    vec__free(&watched);
    watched = VEC_OF(pid_t);
    vec__push(&watched, &pid);
    struct error error = {""};
    settings.calls = &made_calls;
    settings.nodes = "0:0;1:1";
    settings.cpu_share = 1;
    settings.is_dry = is_dry;
    settings.thresholds.application_cpus = 0.001;
    settings.thresholds.application_samples = 1;
    settings.thresholds.sampling_less = 1;
    settings.thresholds.history_rounds = 100000;
    settings.thresholds.worse_local = settings.thresholds.better_imbalance = 2;
    settings.whom.pids = watched;
    return place_daemon__new(&settings, &error);
}

static struct place_daemon *watch(pid_t pid)
{
    return watch_with(pid, false);
}

static struct place_round next_round(struct place_daemon *daemon)
{
    for (int i = 0; i < 4; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        place_daemon__drain(daemon);
    }
    return place_daemon__round(daemon);
}

static unsigned on_node(unsigned first, unsigned count, int node)
{
    unsigned on = 0;
    for (unsigned page = first; page < first + count; page++)
        on += kernel.node[page] == node;
    return on;
}

enum { ROUNDS_MOST = 600 };

static bool can_watch(void)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return false;
    *told = 0;
    pid_t pid = start(sit);
    struct place_daemon *daemon = watch(pid);
    bool can = daemon != NULL;
    place_daemon__free(daemon);
    stop(pid);
    return can;
}

/* A round's metrics are from before what it does: they follow one round later, at the least. Those
 * of all processes together also change with the share of the CPU that each has. */
static bool more_is_local(const struct place_daemon *daemon, pid_t pid)
{
    struct place_status status = place_daemon__tell(daemon, "watching");
    bool is_more = false;
    VEC_EACH (application, &status.applications, struct status_application)
        is_more |=
            application->pid == (uint64_t)pid && application->local > application->first_local;
    place_status__free(&status);
    return is_more;
}

static void pages_go_where_they_are_used(void **state)
{
    (void)state;
    if (!can_watch())
        skip();
    begin_kernel((uint64_t)(uintptr_t)pages / PAGE);
    kernel.refuse[PAGES / 2] = -EACCES;
    kernel.refuse[PAGES / 2 + 1] = -EBUSY;
    *told = 0;
    pid_t pid = start(use_both);
    await(2);
    struct place_daemon *daemon = watch(pid);
    unsigned rounds = 0;
    while (rounds++ < ROUNDS_MOST &&
           (on_node(PAGES / 2, FEW, 1) < FEW - 2 || !more_is_local(daemon, pid) ||
            kernel.tried[PAGES / 2] + kernel.tried[PAGES / 2 + 1] == 0))
        next_round(daemon);
    assert_int_equal(on_node(PAGES / 2, FEW, 1), FEW - 2);
    assert_int_equal(on_node(0, FEW, 0), FEW);
    assert_true(more_is_local(daemon, pid));
    struct place_status status = place_daemon__tell(daemon, "watching");
    assert_true(status.daemon.moved >= FEW - 2);
    assert_true(status.daemon.several + status.daemon.busy > 0);
    place_status__free(&status);
    for (int i = 0; i < 5; i++)
        next_round(daemon);
    assert_true(kernel.tried[PAGES / 2] <= 2 && kernel.tried[PAGES / 2 + 1] <= 2);
    stop(pid); /* its child must have the CPU to end */
    while (place_daemon__has_any(daemon))
        next_round(daemon);
    place_daemon__free(daemon);
}

static void where_asking_is_refused_nothing_is_moved(void **state)
{
    (void)state;
    if (!can_watch())
        skip();
    begin_kernel((uint64_t)(uintptr_t)pages / PAGE);
    kernel.fails_asking = EPERM;
    *told = 0;
    pid_t pid = start(use_second_half_far_away);
    await(1);
    struct place_daemon *daemon = watch(pid);
    bool is_told = false;
    for (unsigned i = 0; i < ROUNDS_MOST && !is_told; i++) {
        next_round(daemon);
        struct place_status status = place_daemon__tell(daemon, "watching");
        VEC_EACH (sensor, &status.sensors, struct status_sensor)
            is_told |= strcmp(sensor->name, "move_pages") == 0 && *sensor->missing;
        place_status__free(&status);
    }
    assert_true(is_told);
    place_daemon__free(daemon);
    stop(pid);
}

static void a_dry_run_decides_and_does_nothing(void **state)
{
    (void)state;
    if (!can_watch())
        skip();
    begin_kernel((uint64_t)(uintptr_t)pages / PAGE);
    *told = 0;
    pid_t pid = start(use_second_half_far_away);
    await(1);
    struct place_daemon *daemon = watch_with(pid, true);
    size_t decided = 0;
    for (unsigned i = 0; i < ROUNDS_MOST && !decided; i++)
        decided = next_round(daemon).outcome->decisions.count;
    assert_true(decided > 0);
    assert_int_equal(kernel.moves, 0);
    place_daemon__free(daemon);
    stop(pid);
}

static int open_shared(void **state)
{
    (void)state;
    told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pages =
        mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(pages, 1, (size_t)PAGES * PAGE);
    return told == MAP_FAILED || pages == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_page_is_told_what_became_of_it),
        cmocka_unit_test(decisions_go_by_process_and_node),
        cmocka_unit_test(a_call_that_fails_is_not_tried_for_each_page),
        cmocka_unit_test(pages_without_a_status_are_asked_for),
        cmocka_unit_test(splitting_may_be_refused),
        cmocka_unit_test(what_is_told_is_read),
        cmocka_unit_test(what_is_no_status_is_passed_over),
        cmocka_unit_test(a_status_is_this_user_s_alone),
        cmocka_unit_test(sensors_tell_what_grew),
        cmocka_unit_test(children_are_followed_until_they_end),
        cmocka_unit_test(after_an_exec_it_is_another_application),
        cmocka_unit_test(whom_it_may_not_follow_is_said),
        cmocka_unit_test(pages_go_where_they_are_used),
        cmocka_unit_test(where_asking_is_refused_nothing_is_moved),
        cmocka_unit_test(a_dry_run_decides_and_does_nothing),
    };
    return cmocka_run_group_tests(tests, open_shared, NULL);
}
