#include "cmd/durations.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_NS 1e18

bool duration__parse(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    /* strtod takes more than people mean: blanks, signs, hexadecimal digits, inf. */
    if (strspn(text, "0123456789.") == 0)
        return false;
    double value = strtod(text, &end);
    if (end != text + strspn(text, "0123456789."))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) != 0 || value * units[i].ns > LONGEST_NS)
            continue;
        *ns = (uint64_t)(value * units[i].ns + 0.5);
        return true;
    }
    return false;
}
