#include "place/place_thresholds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct place_threshold place_threshold_rows[] = {
#define PLACE_THRESHOLD_ROW(name, value, least, most, source, meaning) \
    {#name, value, least, most, source, meaning, offsetof(struct place_thresholds, name)},
    PLACE_THRESHOLDS(PLACE_THRESHOLD_ROW)
#undef PLACE_THRESHOLD_ROW
};
const size_t place_threshold_count = sizeof place_threshold_rows / sizeof *place_threshold_rows;

struct place_thresholds place_thresholds__usual(void)
{
    return (struct place_thresholds){
#define PLACE_THRESHOLD_VALUE(name, value, least, most, source, meaning) .name = (value),
        PLACE_THRESHOLDS(PLACE_THRESHOLD_VALUE)
#undef PLACE_THRESHOLD_VALUE
    };
}

int place_thresholds__set(struct place_thresholds *thresholds, const char *text,
                          struct error *error)
{
    const char *equals = strchrnul(text, '=');
    size_t length = (size_t)(equals - text);
    for (const struct place_threshold *row = place_threshold_rows;
         row < place_threshold_rows + place_threshold_count; row++) {
        char *end;
        if (strlen(row->name) != length || strncmp(row->name, text, length) != 0)
            continue;
        double value = *equals ? strtod(equals + 1, &end) : 0;
        if (!*equals || end == equals + 1 || *end || !(value >= row->least && value <= row->most))
            return error__set(error, -EINVAL, "'%s' should be %s=NUMBER, from %g to %g", text,
                              row->name, row->least, row->most);
        *(double *)((char *)thresholds + row->at) = value;
        return 0;
    }
    return error__set(error, -EINVAL,
                      "no threshold is called '%.*s': heurt place --thresholds lists them",
                      (int)length, text);
}
