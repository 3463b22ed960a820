#include "recorder/kept_costs.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "symbol/kept_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "heurt-k2"
#define ENDING ".costs"
#define BYTES_MOST 4096
#define RUNS 4 /* in which they are measured */
#define HOUR_NS 3600000000000ull

struct kept_costs {
    char magic[8];
    char boot_id[40];
    uint64_t clock;
    uint64_t since_ns; /* CLOCK_BOOTTIME: measured first */
    uint64_t runs;
    struct task_costs costs;
};

static struct kept_costs none(clockid_t clock)
{
    struct kept_costs kept = {.clock = (uint64_t)clock, .since_ns = clock__ns(CLOCK_BOOTTIME)};
    memcpy(kept.magic, MAGIC, sizeof kept.magic);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, kept.boot_id, sizeof kept.boot_id - 1) <= 0)
            kept.boot_id[0] = 0;
        close(fd);
    }
    return kept;
}

static bool is_of_now(const struct kept_costs *kept, const struct kept_costs *now)
{
    return memcmp(kept->magic, now->magic, sizeof kept->magic) == 0 &&
           memcmp(kept->boot_id, now->boot_id, sizeof kept->boot_id) == 0 &&
           kept->clock == now->clock && kept->since_ns <= now->since_ns &&
           now->since_ns - kept->since_ns < HOUR_NS;
}

static struct kept_costs load(const char *path, struct kept_costs now)
{
    struct kept_costs kept;
    struct stat status;
    int fd = kept_file__open(path, &status);
    bool is_read = fd >= 0 && status.st_size == (off_t)sizeof kept &&
                   descriptor__read_all(fd, &kept, sizeof kept) && is_of_now(&kept, &now);
    if (fd >= 0)
        close(fd);
    return is_read ? kept : now;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return !b || (a && a < b) ? a : b;
}

static struct task_costs merge(const struct kept_costs *kept, struct task_costs measured)
{
    return kept->runs ? (struct task_costs){
                            .way_of_fault_ns = measured.way_of_fault_ns,
                            .fault_ns = least(kept->costs.fault_ns, measured.fault_ns),
                            .off_cpu_ns = least(kept->costs.off_cpu_ns, measured.off_cpu_ns),
                            .thread_ns = least(kept->costs.thread_ns, measured.thread_ns),
                            .sample_ns = least(kept->costs.sample_ns, measured.sample_ns),
                        }
                      : measured;
}

static bool write_kept(int fd, void *context)
{
    return descriptor__write_all(fd, context, sizeof(struct kept_costs));
}

struct task_costs kept_costs__get(const char *directory, clockid_t clock)
{
    if (!directory)
        return task_events__costs(clock);
    char *path = memory__format("%s/kernel" ENDING, directory);
    struct kept_costs kept = load(path, none(clock));
    if (kept.runs < RUNS) {
        kept.costs = merge(&kept, task_events__costs(clock));
        kept.runs++;
        kept_file__save(directory, path, ENDING, BYTES_MOST, write_kept, &kept);
    }
    free(path);
    return kept.costs;
}
