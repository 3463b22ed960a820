#include "present/openmp/openmp_names.h"

#include "present/openmp/openmp_screens.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the user's function in the name of one that was made of a construct in it. */
static size_t user_part(const char *function)
{
    static const char *const marks[] = {" [clone ._omp_fn.", " [clone .omp_", "._omp_fn.", ".omp_"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(function, marks[i]);
        if (mark)
            return (size_t)(mark - function);
    }
    return strlen(function);
}

static bool is_made(const char *function)
{
    return function[user_part(function)] != 0;
}

/* Older compilers of LLVM tell no function: then it is just a region. free() it. */
static char *user_function(const char *function)
{
    size_t bytes = user_part(function);
    return bytes ? memory__format("%.*s", (int)bytes, function) : memory__text("region");
}

char *openmp_place__text(const struct report *report, uint32_t process, uint64_t site)
{
    char unknown[32];
    struct place place = place__of_site(report, process, site, unknown);
    char *function = user_function(place.function);
    place.function = function;
    char *text = place__text(&place);
    free(function);
    return text;
}

char *openmp_place__in_region(const struct report *report, uint32_t process, uint64_t site,
                              uint64_t region_site)
{
    char unknown[32], unknown_region[32];
    struct place place = place__of_site(report, process, site, unknown);
    struct place region = place__of_site(report, process, region_site, unknown_region);
    if (strncmp(place.function, "__kmp", 5) == 0)
        return openmp_place__text(report, process, region_site);
    bool is_known = user_part(place.function) > 0;
    char *function = user_function(is_known ? place.function : region.function);
    place.function = function;
    char *text = place__text(&place);
    free(function);
    return text;
}

struct place_cells openmp_place_cells(struct table_rows *rows, const struct report *report,
                                      uint32_t process, uint64_t site)
{
    char unknown[32];
    struct place place = place__of_site(report, process, site, unknown);
    struct place_cells cells = place_cells__of(rows, &place, unknown);
    if (cells.function && is_made(cells.function))
        cells.function = table_rows__keep(rows, user_function(cells.function));
    cells.address = site;
    return cells;
}

/* gcc calls its runtime at one place, and the region's function begins at another: they have the
 * line in common, or, where no line is known, the user's function. */
bool parallel_region__is_at(const struct report *report, const struct parallel_region *region,
                            uint32_t process, uint64_t site)
{
    char unknown[2][32];
    if (region->process != process || region->site == site)
        return region->process == process;
    struct place own = place__of_site(report, process, region->site, unknown[0]);
    struct place other = place__of_site(report, process, site, unknown[1]);
    if (own.file && other.file)
        return own.line == other.line && strcmp(own.file, other.file) == 0;
    size_t bytes = user_part(own.function);
    return !own.file && !other.file && bytes == user_part(other.function) &&
           strncmp(own.function, other.function, bytes) == 0;
}
