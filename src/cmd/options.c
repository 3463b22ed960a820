#include "cmd/options.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 30 /* where the words about an option begin */

static size_t row_count(const struct option_row *rows)
{
    size_t count = 0;
    while (rows[count].code)
        count++;
    return count;
}

/* As getopt_long wants them. free() it. */
static struct option *long_options(const struct option_row *rows)
{
    struct option *options = memory__zeroed(row_count(rows) + 2, sizeof *options);
    size_t at = 0;
    for (; rows->code; rows++)
        if (rows->code != OPTION_OPERAND)
            options[at++] = (struct option){
                rows->name, rows->value ? required_argument : no_argument, NULL, rows->code};
    options[at] = (struct option){"help", no_argument, NULL, 'h'};
    return options;
}

/* "i:h". free() it. */
static char *letters(const struct option_row *rows)
{
    char *text = memory__zeroed(2 * row_count(rows) + 2, 1), *to = text;
    for (; rows->code; rows++)
        if (rows->code > 0 && rows->code < 256) {
            *to++ = (char)rows->code;
            if (rows->value)
                *to++ = ':';
        }
    *to = 'h';
    return text;
}

/* The row of "--name", "--name=value" or "-n", or NULL. */
static const struct option_row *row_of(const struct option_row *rows, const char *typed)
{
    bool is_long = typed[0] == '-' && typed[1] == '-';
    size_t length = is_long ? strcspn(typed + 2, "=") : 0;
    for (; rows->code; rows++) {
        if (rows->code == OPTION_OPERAND)
            continue;
        if (is_long ? strlen(rows->name) == length && strncmp(rows->name, typed + 2, length) == 0
                    : typed[0] == '-' && typed[1] == rows->code)
            return rows;
    }
    return NULL;
}

static int refuse(const struct command *command, const struct option_row *rows, const char *typed)
{
    const struct option_row *row = row_of(rows, typed);
    if (row && row->value)
        return wrong_usage(command, "'%s' lacks its value: %s", typed, row->value);
    if (row)
        return wrong_usage(command, "'%s': it takes no value", typed);
    char *name = memory__text(typed + strspn(typed, "-"));
    name[strcspn(name, "=")] = 0;
    struct nearest nearest = nearest__to(name);
    for (; rows->code; rows++)
        if (rows->code != OPTION_OPERAND)
            nearest__offer(&nearest, rows->name);
    char *hint =
        nearest.word ? memory__format("; did you mean '--%s'?", nearest.word) : memory__text("");
    int status = wrong_usage(command, "'%s' is no option of %s%s", typed, command->name, hint);
    free(hint);
    free(name);
    return status;
}

int options__read(const struct command *command, const struct option_row *rows, int argc,
                  char **argv, int (*take)(int code, void *request), void *request)
{
    if (wants_help(argc, argv)) {
        show_help(command);
        return -1;
    }
    struct option *options = long_options(rows);
    char *short_options = letters(rows);
    int status = 0;
    optind = 0; /* other commands may have used getopt before */
    opterr = 0;
    for (int code;
         status == 0 && (code = getopt_long(argc, argv, short_options, options, NULL)) != -1;)
        status = code == '?' ? refuse(command, rows, argv[optind - 1]) : take(code, request);
    free(short_options);
    free(options);
    return status;
}

static char *left_side(const struct option_row *row)
{
    const char *value = row->value ? row->value : "";
    const char *blank = row->value ? " " : "";
    if (row->code == OPTION_OPERAND)
        return memory__text(row->name);
    if (row->code < 256)
        return memory__format("-%c, --%s%s%s", row->code, row->name, blank, value);
    return memory__format("--%s%s%s", row->name, blank, value);
}

/* Those of UTF-8 that take no column of their own. */
static size_t continuation_bytes(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) == 0x80;
    return count;
}

void options__put(const struct option_row *rows, FILE *out)
{
    for (; rows->code; rows++) {
        char *left = left_side(rows);
        fprintf(out, "  %-*s  %s\n", HELP_COLUMN - 4 + (int)continuation_bytes(left), left,
                rows->help);
        free(left);
    }
}
