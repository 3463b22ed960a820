#include "present/shared.h"

#include <inttypes.h>
#include <string.h>

#define GAIN_LEAST 0.01 /* what is less reads as noise */
#define FACTOR_MOST 1e12

/* Three digits that count: 1.23, 12.3, 123. value and unit are integers so that 999.96 rounds up
 * into the next unit in one place. */
static bool three_digits(uint64_t value, uint64_t unit, const char *name, char *buffer, size_t size)
{
    uint64_t fraction[] = {100, 10, 1};
    uint64_t limit[] = {1000, 1000, 1000};
    for (int i = 0; i < 3; i++) {
        uint64_t step = unit / fraction[i] ? unit / fraction[i] : 1;
        uint64_t steps = value / step + (value % step >= (step + 1) / 2 && step > 1);
        if (steps >= limit[i])
            continue;
        snprintf(buffer, size, "%.*f %s", 2 - i, (double)steps / (double)fraction[i], name);
        return true;
    }
    return false;
}

char *duration__format(uint64_t ns, char buffer[16])
{
    if (ns < 1000)
        snprintf(buffer, 16, "%" PRIu64 " ns", ns);
    else if (!three_digits(ns, 1000, "us", buffer, 16) &&
             !three_digits(ns, 1000000, "ms", buffer, 16) &&
             !three_digits(ns, 1000000000, "s", buffer, 16))
        snprintf(buffer, 16, "%" PRIu64 " s", ns / 1000000000 + (ns % 1000000000 >= 500000000));
    return buffer;
}

char *bytes__format(uint64_t bytes, char buffer[16])
{
    if (bytes < 1000)
        snprintf(buffer, 16, "%" PRIu64 " B", bytes);
    else if (!three_digits(bytes, 1000, "kB", buffer, 16) &&
             !three_digits(bytes, 1000000, "MB", buffer, 16) &&
             !three_digits(bytes, 1000000000, "GB", buffer, 16))
        snprintf(buffer, 16, "%" PRIu64 " GB", bytes / 1000000000);
    return buffer;
}

char *count__format(uint64_t count, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = buffer;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return buffer;
}

char *share__format(double share, char buffer[16])
{
    double percent = share * 100;
    if (percent < 0 && percent > -0.5)
        snprintf(buffer, 16, "0 %%");
    else if (percent > 0 && percent < 0.5)
        snprintf(buffer, 16, "<1 %%");
    else if (percent > 99.5 && percent < 100)
        snprintf(buffer, 16, ">99 %%");
    else
        snprintf(buffer, 16, "%.0f %%", percent);
    return buffer;
}

/* Two digits behind the point where a gain is so small that one of them would hide it. */
static char *factor__format(double factor, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*f", factor < 1.095 ? 2 : factor < 9.95 ? 1 : 0, factor);
    return buffer;
}

char *gain__format(const double gain[2], bool unicode, char buffer[GAIN_BYTES])
{
    char least[24], most[24];
    const char *times = unicode ? "×" : "x";
    if (!(gain[0] > 0) || !(gain[1] < FACTOR_MOST)) {
        snprintf(buffer, GAIN_BYTES, "?");
        return buffer;
    }
    factor__format(gain[0], least, sizeof least);
    factor__format(gain[1], most, sizeof most);
    if (gain[1] < 1 + GAIN_LEAST && gain[1] > 1 - GAIN_LEAST)
        snprintf(buffer, GAIN_BYTES, "none");
    else if (strcmp(least, most) == 0)
        snprintf(buffer, GAIN_BYTES, "%s%s", most, times);
    else if (gain[0] < 1 + GAIN_LEAST && gain[1] > 1)
        snprintf(buffer, GAIN_BYTES, "%s %s%s", unicode ? "≤" : "<=", most, times);
    else
        snprintf(buffer, GAIN_BYTES, "%s%s%s%s", least, unicode ? "–" : "-", most, times);
    return buffer;
}

static const char *const component_keys[COMPONENTS] = {
    [COMPONENT_LOCK] = "lock",         [COMPONENT_CONDITION] = "condition",
    [COMPONENT_BARRIER] = "barrier",   [COMPONENT_DISK] = "disk",
    [COMPONENT_NETWORK] = "network",   [COMPONENT_MESSAGE] = "message",
    [COMPONENT_SLEEP] = "sleep",       [COMPONENT_PAGE_FAULT] = "page_fault",
    [COMPONENT_RUNNABLE] = "runnable", [COMPONENT_OTHER_BLOCKED] = "other_blocked",
    [COMPONENT_OVERHEAD] = "overhead", [COMPONENT_RUNNING] = "running",
};

static const char *const reason_keys[REASONS] = {
    [REASON_WORKLOAD] = "workload",
    [REASON_SLOW_MACHINE] = "slow_machine",
    [REASON_OVERLAP] = "overlap",
    [REASON_SPIN] = "spin",
    [REASON_FALSE_SHARING] = "false_sharing",
    [REASON_TRUE_SHARING] = "true_sharing",
    [REASON_REMOTE_MEMORY] = "remote_memory",
    [REASON_IDLE] = "idle",
    [REASON_UNEXPLAINED] = "unexplained",
};

const char *component__key(enum component component)
{
    return component_keys[component];
}

const char *component__words(enum component component)
{
    switch (component) {
    case COMPONENT_PAGE_FAULT:
        return "page faults";
    case COMPONENT_OTHER_BLOCKED:
        return "other waits";
    case COMPONENT_OVERHEAD:
        return "recording";
    default:
        return component_keys[component];
    }
}

const char *reason__key(enum reason reason)
{
    return reason < REASON_WORKLOAD ? component_keys[reason] : reason_keys[reason];
}

const char *reason__words(enum reason reason)
{
    switch (reason) {
    case REASON_WORKLOAD:
        return "workload varies";
    case REASON_SLOW_MACHINE:
        return "slow machine";
    case REASON_OVERLAP:
        return "others at work";
    case REASON_IDLE:
        return "waiting for work";
    case REASON_FALSE_SHARING:
        return "false sharing";
    case REASON_TRUE_SHARING:
        return "true sharing";
    case REASON_SPIN:
        return "spinning";
    case REASON_REMOTE_MEMORY:
        return "remote memory";
    case REASON_UNEXPLAINED:
        return "unexplained";
    default:
        return component__words((enum component)reason);
    }
}

const char *doing__words(enum component component)
{
    static const char *const words[COMPONENTS] = {
        [COMPONENT_LOCK] = "waited for a lock",
        [COMPONENT_CONDITION] = "waited for a condition",
        [COMPONENT_BARRIER] = "waited at a barrier",
        [COMPONENT_DISK] = "was in disk I/O",
        [COMPONENT_NETWORK] = "was in network I/O",
        [COMPONENT_MESSAGE] = "waited for a message",
        [COMPONENT_SLEEP] = "slept",
        [COMPONENT_PAGE_FAULT] = "was in page faults",
        [COMPONENT_RUNNABLE] = "was preempted",
        [COMPONENT_OTHER_BLOCKED] = "was blocked",
        [COMPONENT_OVERHEAD] = "was being recorded",
        [COMPONENT_RUNNING] = "worked",
    };
    return words[component];
}

static const char *const verdict_names[] = {"interference", "workload", "unclear"};

const char *verdict__name(enum verdict verdict)
{
    return verdict_names[verdict];
}

static const struct {
    const char *name, *words;
} doubts[DOUBTS] = {
    {"few", "fewer than 100 occurrences: the fastest may not be the undisturbed one"},
    {"unclean", "even the fastest occurrence waited or was off the CPU: more may be lost than is "
                "shown"},
    {"outlier", "the fastest occurrence took over 5 % less than the 1st percentile: it may be an "
                "exception, and less be lost than is shown"},
    {"halves", "the fastest occurrences of the two halves of the run are more than 5 % apart: "
               "something changed while it ran"},
    {"modes", "the durations have several modes: these may be several kinds of work"},
    {"kernel", "the kernel's records are missing or were lost in some thread: what the thread did "
               "off the CPU may count as running"},
};

const char *doubt__name(unsigned bit)
{
    return doubts[bit].name;
}

const char *doubt__words(unsigned bit)
{
    return doubts[bit].words;
}

const char *confidence__name(enum confidence confidence)
{
    static const char *const names[] = {"measured", "estimated", "weak"};
    return names[confidence];
}
