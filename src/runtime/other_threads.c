/* other_threads.c: waiting until none of the process's other threads is within what the runtime had
 * begun before: until each of them has waited for something of the program's, or has had the CPU
 * for longer than anything here takes. They need not help, and are sent nothing. What they begin
 * from now on looks at the state first. */
#include "runtime/other_threads.h"
#include "runtime/channel.h"
#include "runtime/runtime.h"

#include <fcntl.h>

/* Of CPU time: what the runtime takes at most, and what the system's count is behind by at most, a
 * tick of 100 a second. */
#define LONGEST_NS 12000000u
#define PATIENCE_NS 2000000000u /* then those who are left have had no CPU for that long */
#define LOOK_EVERY_NS 200000u

static long open_in(const char *task, const char *file)
{
    char path[64] = "/proc/self/task/", *end = path + text__length(path);
    end = (char *)bytes__copy(end, task, text__length(task)) + text__length(task);
    bytes__copy(end, file, text__length(file) + 1);
    return RAW3(open, path, O_RDONLY | O_CLOEXEC, 0);
}

/* What a file of the thread says; an empty text: it has gone. */
static void read_of(const char *task, const char *file, char *text, size_t room)
{
    long descriptor = open_in(task, file);
    long length = descriptor < 0 ? 0 : RAW3(read, descriptor, text, room - 1);
    if (descriptor >= 0)
        RAW1(close, descriptor);
    text[length > 0 ? length : 0] = 0;
}

/* Running, wanting a CPU, or within the kernel without a chance to be woken by a signal. */
static bool task__is_busy(const char *task)
{
    char text[512];
    const char *state = NULL;
    read_of(task, "/stat", text, sizeof text);
    for (const char *at = text; *at; at++)
        if (*at == ')')
            state = at + 2;
    return state && (*state == 'R' || *state == 'D');
}

static uint64_t task__cpu_ns(const char *task)
{
    char text[96];
    uint64_t ns = 0;
    read_of(task, "/schedstat", text, sizeof text);
    for (const char *at = text; *at >= '0' && *at <= '9'; at++)
        ns = ns * 10 + (uint64_t)(*at - '0');
    return ns;
}

static void task__wait(const char *task, uint64_t end_ns)
{
    const struct timespec pause = {0, LOOK_EVERY_NS};
    uint64_t before_ns = task__cpu_ns(task);
    while (task__is_busy(task) && task__cpu_ns(task) - before_ns < LONGEST_NS &&
           raw__clock_ns(CLOCK_MONOTONIC) < end_ns)
        RAW2(nanosleep, &pause, NULL);
}

/* The entry of a directory as getdents64 gives it. */
struct entry {
    uint64_t inode, next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static bool is_own(const char *task)
{
    char number[12];
    *number__put(number, (uint32_t)RAW0(gettid)) = 0;
    size_t length = text__length(number);
    for (size_t i = 0; i <= length; i++)
        if (number[i] != task[i])
            return false;
    return true;
}

void other_threads__wait(void)
{
    uint64_t end_ns = raw__clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    char entries[2048] __attribute__((aligned(8)));
    long directory = RAW3(open, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), bytes;
    if (directory < 0)
        return;
    while ((bytes = RAW3(getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < bytes;) {
            const struct entry *entry = (const void *)(entries + at);
            at += entry->bytes;
            if (entry->name[0] != '.' && !is_own(entry->name))
                task__wait(entry->name, end_ns);
        }
    RAW1(close, directory);
    while (__atomic_load_n(&heurt_state.scans, __ATOMIC_SEQ_CST) &&
           raw__clock_ns(CLOCK_MONOTONIC) < end_ns)
        RAW0(sched_yield);
}
