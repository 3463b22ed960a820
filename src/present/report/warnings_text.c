/* What makes figures less certain, on all screens: a sentence each, but files without names in one.
 */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

#define NAMELESS_MOST 3 /* files without names that are told */

static void put_warning(const char *warning, const struct style *style, FILE *out)
{
    char *clean = text__for_screen(warning);
    paragraph__put(style, out, INK_WARNING, "  warning: ", clean);
    free(clean);
}

/* The file that is said to be stripped, or NULL. free() it. */
static char *stripped_file(const char *warning)
{
    const char *reason = strstr(warning, SYMBOLS_STRIPPED);
    return reason ? memory__format("%.*s", (int)(reason - warning), warning) : NULL;
}

static bool is_program(const struct report *report, const char *path)
{
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        if (strcmp(path__name(process->path), path__name(path)) == 0)
            return true;
    return false;
}

/* Names of files (char *), those of programs first. */
static struct vec stripped_files(const struct report *report, const struct vec *warnings)
{
    struct vec files = VEC_OF(char *);
    for (int of_programs = 1; of_programs >= 0; of_programs--)
        VEC_EACH (warning, warnings, char *) {
            char *path = stripped_file(*warning);
            if (path && is_program(report, path) == of_programs) {
                char *name = memory__text(path__name(path));
                vec__push(&files, &name);
            }
            free(path);
        }
    return files;
}

/* "a, b and c", "a, b, c and 4 more files". free() it. */
static char *listed(const struct vec *names)
{
    char *text = memory__text("");
    size_t shown = 0, told = names->count < NAMELESS_MOST ? names->count : NAMELESS_MOST;
    VEC_EACH (name, names, char *) {
        if (shown == told)
            break;
        bool is_last = ++shown == names->count;
        text = text__append(text, "%s%s", shown == 1 ? "" : is_last ? " and " : ", ", *name);
    }
    size_t more = names->count - told;
    return more ? text__append(text, " and %zu more file%s", more, more == 1 ? "" : "s") : text;
}

static void put_stripped(const struct report *report, const struct vec *warnings,
                         const struct style *style, FILE *out)
{
    struct vec files = stripped_files(report, warnings);
    char *list = listed(&files), *clean = text__for_screen(list);
    if (files.count)
        paragraph__take(style, out, "  Names are missing: ",
                        memory__format("%s %s stripped (functions are file+offset). To have them: "
                                       "the debug symbols (on Debian -dbgsym packages), or a build "
                                       "with -g.",
                                       clean, files.count == 1 ? "is" : "are"));
    free(clean);
    free(list);
    texts__free(&files);
}

void text__warnings_of(const struct report *report, const struct vec *warnings,
                       const struct style *style, FILE *out)
{
    VEC_EACH (warning, warnings, char *)
        if (!strstr(*warning, SYMBOLS_STRIPPED))
            put_warning(*warning, style, out);
    put_stripped(report, warnings, style, out);
}

void text__warnings(const struct report *report, const struct style *style, FILE *out)
{
    struct vec warnings = report__warnings(report);
    text__warnings_of(report, &warnings, style, out);
    texts__free(&warnings);
}
