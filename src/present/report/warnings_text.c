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

/* What is said of a file without names. */
struct nameless_file {
    char *name, *package; /* NULL: in which package its names are is not known */
};

/* The package that is told behind a warning, or NULL: it is none, or no name of one. free() it. */
static char *package_of(const char *warning)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789+.-";
    const char *package = strstr(warning, SYMBOLS_PACKAGE);
    size_t length;
    if (!package)
        return NULL;
    package += strlen(SYMBOLS_PACKAGE);
    length = strspn(package, letters);
    bool is_name = length && *package != '-' && strcmp(package + length, ")") == 0;
    return is_name ? memory__format("%.*s", (int)length, package) : NULL;
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

/* struct nameless_file, those of programs first. */
static struct vec stripped_files(const struct report *report, const struct vec *warnings)
{
    struct vec files = VEC_OF(struct nameless_file);
    for (int of_programs = 1; of_programs >= 0; of_programs--)
        VEC_EACH (warning, warnings, char *) {
            char *path = stripped_file(*warning);
            if (path && is_program(report, path) == of_programs) {
                vec__push(&files, &(struct nameless_file){memory__text(path__name(path)),
                                                          package_of(*warning)});
            }
            free(path);
        }
    return files;
}

/* "a, b and c", "a, b, c and 4 more files". free() it. */
static char *listed(const struct vec *files)
{
    char *text = memory__text("");
    size_t shown = 0, told = files->count < NAMELESS_MOST ? files->count : NAMELESS_MOST;
    VEC_EACH (file, files, struct nameless_file) {
        if (shown == told)
            break;
        bool is_last = ++shown == files->count;
        text = text__append(text, "%s%s", shown == 1 ? "" : is_last ? " and " : ", ", file->name);
    }
    size_t more = files->count - told;
    return more ? text__append(text, " and %zu more file%s", more, more == 1 ? "" : "s") : text;
}

/* "apt install a-dbgsym b-dbgsym", of the files that are listed; NULL: none is known. free() it. */
static char *installing(const struct vec *files)
{
    char *text = NULL;
    for (size_t i = 0; i < files->count && i < NAMELESS_MOST; i++) {
        const char *package = VEC_AT(files, struct nameless_file, i)->package;
        if (package && (!text || !strstr(text, package)))
            text = text__append(text ? text : memory__text("apt install"), " %s", package);
    }
    return text;
}

static void put_stripped(const struct report *report, const struct vec *warnings,
                         const struct style *style, FILE *out)
{
    struct vec files = stripped_files(report, warnings);
    char *list = listed(&files), *clean = text__for_screen(list), *packages = installing(&files);
    if (files.count)
        paragraph__take(
            style, out, "  Names are missing: ",
            memory__format(
                "%s %s stripped (functions are file+offset). To have them: %s, or a build with -g.",
                clean, files.count == 1 ? "is" : "are",
                packages ? packages : "the debug symbols (on Debian -dbgsym packages)"));
    free(packages);
    free(clean);
    free(list);
    VEC_EACH (file, &files, struct nameless_file) {
        free(file->name);
        free(file->package);
    }
    vec__free(&files);
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
