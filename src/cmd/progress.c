#include "cmd/progress.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000ull
#define EVERY_NS 250000000ull

struct progress progress__start(bool wanted)
{
    uint64_t now = clock__ns(CLOCK_MONOTONIC);
    return (struct progress){
        .wanted = wanted && isatty(STDERR_FILENO), .started_ns = now, .next_ns = now + FIRST_NS};
}

bool progress__is_due(struct progress *progress)
{
    uint64_t now = progress->wanted ? clock__ns(CLOCK_MONOTONIC) : 0;
    if (!progress->wanted || now < progress->next_ns)
        return false;
    progress->next_ns = now + EVERY_NS;
    return true;
}

double progress__seconds(const struct progress *progress)
{
    return (double)(clock__ns(CLOCK_MONOTONIC) - progress->started_ns) / 1e9;
}

void progress__put(struct progress *progress, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[Kheurt: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    progress->shown = true;
}

void progress__end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
