#include "cmd/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NS 1e18

bool number__parse(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (!digits || text[digits] || errno || value < least || value > most)
        return false;
    *number = value;
    return true;
}

bool decimal__parse(const char *text, const char **end, double *number)
{
    char *stop;
    size_t length = strspn(text, "0123456789.");
    double value = strtod(text, &stop);
    if (!length || stop != text + length || (!end && *stop))
        return false;
    *number = value;
    if (end)
        *end = stop;
    return true;
}

bool duration__parse(const char *text, void *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *unit;
    double value;
    if (!decimal__parse(text, &unit, &value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) != 0 || value * units[i].ns > LONGEST_NS)
            continue;
        *(uint64_t *)ns = (uint64_t)(value * units[i].ns + 0.5);
        return true;
    }
    return false;
}

bool seconds__parse(const char *text, void *ns)
{
    double seconds;
    if (!decimal__parse(text, NULL, &seconds) || !(seconds < 1e9))
        return false;
    *(uint64_t *)ns = (uint64_t)(seconds * 1e9 + 0.5);
    return true;
}

bool size__parse(const char *text, void *bytes)
{
    static const char suffixes[] = "kMGT";
    char digits[24];
    size_t length = strspn(text, "0123456789");
    const char *unit = text + length;
    const char *suffix = *unit ? strchr(suffixes, *unit == 'K' ? 'k' : *unit) : NULL;
    uint64_t value;
    if (length >= sizeof digits || (*unit && !suffix) ||
        (suffix && unit[1] && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    if (!number__parse(digits, 0, UINT64_MAX >> shift, &value))
        return false;
    *(uint64_t *)bytes = value << shift;
    return true;
}

bool share__parse(const char *text, void *share)
{
    double value;
    if (!decimal__parse(text, NULL, &value) || value > 1)
        return false;
    *(double *)share = value;
    return true;
}
