#include "recorder/session_clock.h"

#include "base/clock.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

enum heurt_clock session_clock__choose(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return HEURT_CLOCK_MONOTONIC;
    char source[64] = "";
    FILE *in = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (in) {
        if (!fgets(source, sizeof source, in))
            source[0] = 0;
        fclose(in);
    }
    bool mistrusted = strncmp(source, "hpet", 4) == 0 || strncmp(source, "acpi_pm", 7) == 0 ||
                      strncmp(source, "jiffies", 7) == 0;
    return mistrusted ? HEURT_CLOCK_MONOTONIC : HEURT_CLOCK_TSC;
}

struct heurt_clock_pair session_clock__pair(enum heurt_clock clock)
{
    uint64_t before = __rdtsc();
    uint64_t ns = clock__ns(CLOCK_MONOTONIC);
    uint64_t after = __rdtsc();
    return (struct heurt_clock_pair){clock == HEURT_CLOCK_TSC ? before + (after - before) / 2 : ns,
                                     ns};
}
