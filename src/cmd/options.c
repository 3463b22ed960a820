#include "cmd/options.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/config.h"
#include "cmd/values.h"
#include "format/directory.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_COLUMN 30  /* where the words about an option begin */
#define LONG_CODE 0x100 /* getopt's code of the first row's long option */

static bool is_option(const struct option_row *row)
{
    return row->kind != OPTION_OPERAND;
}

static bool is_shown(const struct option_row *row)
{
    return is_option(row) && row->help;
}

static bool is_repeatable(const struct option_row *row)
{
    return row->kind == OPTION_TEXTS || row->kind == OPTION_OWN;
}

static size_t row_count(const struct option_row *rows)
{
    size_t count = 0;
    while (rows[count].kind != OPTION_END)
        count++;
    return count;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* As getopt_long wants them. free() it. */
static struct option *long_options(const struct option_row *rows)
{
    size_t count = row_count(rows), at = 0;
    struct option *options = memory__zeroed(count + 2, sizeof *options);
    for (size_t i = 0; i < count; i++)
        if (is_option(&rows[i]))
            options[at++] =
                (struct option){rows[i].name, rows[i].value ? required_argument : no_argument, NULL,
                                LONG_CODE + (int)i};
    options[at] = (struct option){"help", no_argument, NULL, 'h'};
    return options;
}

/* "+:i:h". free() it. */
static char *letters(const struct command *command)
{
    const struct option_row *row = command->rows;
    char *text = memory__zeroed(2 * row_count(row) + 4, 1), *to = text;
    if (command->runs_a_program)
        *to++ = '+';
    *to++ = ':';
    for (; row->kind != OPTION_END; row++)
        if (row->letter) {
            *to++ = row->letter;
            if (row->value)
                *to++ = ':';
        }
    *to = 'h';
    return text;
}

/* The row of a code of getopt's. */
static const struct option_row *row_of(const struct option_row *rows, int code)
{
    if (code >= LONG_CODE)
        return &rows[code - LONG_CODE];
    for (; rows->kind != OPTION_END; rows++)
        if (rows->letter == code)
            return rows;
    return NULL;
}

static int is_unknown(const struct command *command, const char *typed)
{
    char *name = memory__text(typed + strspn(typed, "-"));
    name[strcspn(name, "=")] = 0;
    struct nearest nearest = nearest__to(name);
    for (const struct option_row *row = command->rows; row->kind != OPTION_END; row++)
        if (is_shown(row))
            nearest__offer(&nearest, row->name);
    char *hint = nearest.word && typed[1] == '-'
                     ? memory__format("; did you mean '--%s'?", nearest.word)
                     : memory__text("");
    int status = wrong_usage(command, "'%s' is no option of %s%s", typed, command->name, hint);
    free(hint);
    free(name);
    return status;
}

/* What getopt could not read: optopt is 0 for a long option that is not known. */
static int refuse(const struct command *command, int code, const char *typed)
{
    const char letter[] = {'-', (char)optopt, 0};
    if (optopt && optopt < LONG_CODE)
        typed = letter;
    if (code == ':')
        return wrong_usage(command, "'%s' lacks its value: %s", typed,
                           row_of(command->rows, optopt)->value);
    if (optopt >= LONG_CODE || strncmp(typed, "--help=", 7) == 0)
        return wrong_usage(command, "'%s': it takes no value", typed);
    return is_unknown(command, typed);
}

/* NULL: the text is one; else what was expected. free() it. */
static char *read_number(const struct option_row *row, const char *text, void *member)
{
    if (number__parse(text, row->least, row->most, member))
        return NULL;
    return memory__format("%s from %" PRIu64 " to %" PRIu64, row->expected, row->least, row->most);
}

/* Likewise. */
static char *take_value(const struct option_row *row, const char *text, void *member)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return NULL;
    case OPTION_CHOICE:
        *(int *)member = row->number;
        return NULL;
    case OPTION_CONSTANT:
        *(const void **)member = row->constant;
        return NULL;
    case OPTION_TEXT:
    case OPTION_TEXTS:
        if (!*text)
            return memory__text(row->value);
        if (row->kind == OPTION_TEXTS)
            vec__push(member, &text);
        else
            *(const char **)member = text;
        return NULL;
    case OPTION_NUMBER:
        return read_number(row, text, member);
    default:
        return row->read(text, member) ? NULL : memory__text(row->expected);
    }
}

/* "; did you mean 'json'?" where the value is one of several words. free() it. */
static char *question_of(const struct option_row *row, const char *text)
{
    char *words = memory__text(row->value), *rest = words;
    bool is_choice = row->kind == OPTION_VALUE && strchr(row->value, '|');
    struct nearest nearest = nearest__to(text);
    for (char *word; is_choice && (word = strsep(&rest, "|"));)
        nearest__offer(&nearest, word);
    char *question = nearest__question(&nearest);
    free(words);
    return question;
}

static int take(const struct command *command, const struct option_row *row, void *request)
{
    if (row->kind == OPTION_OWN)
        return row->take(command, optarg, request);
    char *expected = take_value(row, optarg, (char *)request + row->at);
    if (!expected)
        return 0;
    char *question = question_of(row, optarg);
    int status = wrong_usage(command, "--%s: expected %s, found '%s'%s", row->name, expected,
                             optarg, question);
    free(question);
    free(expected);
    return status;
}

/* Whether the row may be beside those that were given: one a group. */
static int keep_apart(const struct command *command, const struct option_row *row,
                      const struct option_row **given)
{
    const struct option_row **other = &given[(unsigned char)row->group];
    if (row->group && *other && *other != row)
        return wrong_usage(command, "--%s and --%s exclude each other", (*other)->name, row->name);
    *other = row;
    return 0;
}

/* One code of getopt's. */
static int read_option(const struct command *command, int code, char **argv,
                       const struct option_row **given, void *request)
{
    if (code == 'h')
        return show_help(command) - 1;
    if (code == '?' || code == ':')
        return refuse(command, code, argv[optind - 1]);
    const struct option_row *row = row_of(command->rows, code);
    int status = keep_apart(command, row, given);
    return status ? status : take(command, row, request);
}

/* One line of words. */
static int read_words(const struct command *command, int argc, char **argv, void *request)
{
    struct option *options = long_options(command->rows);
    char *short_options = letters(command);
    const struct option_row *given[1 << 8] = {NULL};
    int status = 0, code;
    optind = 0; /* getopt may have been used before */
    opterr = 0;
    while (status == 0 && (code = getopt_long(argc, argv, short_options, options, NULL)) != -1)
        status = read_option(command, code, argv, given, request);
    free(short_options);
    free(options);
    return status;
}

/* Whose options are read, and where to. */
struct option_reading {
    const struct command *command;
    void *request;
};

static int read_configured(void *reading, int count, char **words)
{
    const struct option_reading *own = reading;
    int status = read_words(own->command, count, words, own->request);
    return status ? status : options__end(own->command, count, words);
}

/* Of a trace that has windows alone the last one is meant. */
static void find_window(const struct command *command, void *request)
{
    static char *window; /* lives as long as the request: until the process ends */
    const struct option_row *row = command->rows;
    while (row->kind != OPTION_END &&
           !(row->kind == OPTION_TEXT && strcmp(row->name, "input") == 0))
        row++;
    if (row->kind == OPTION_END)
        return;
    const char **directory = (const char **)((char *)request + row->at);
    char *events = *directory ? memory__format("%s/" HEURT_EVENTS_FILE, *directory) : NULL;
    bool is_there = !events || access(events, F_OK) == 0;
    unsigned last = is_there ? 0 : trace_directory__last_window(*directory);
    free(events);
    if (!last)
        return;
    free(window);
    *directory = window = trace_directory__window(*directory, last);
}

int options__read(const struct command *command, int argc, char **argv, void *request)
{
    struct option_reading reading = {command, request};
    int status = config__each(command->name, read_configured, &reading);
    status = status ? status : read_words(command, argc, argv, request);
    if (!status)
        find_window(command, request);
    return status;
}

int options__end(const struct command *command, int argc, char **argv)
{
    if (optind >= argc)
        return 0;
    return wrong_usage(command,
                       "expected options only, found '%s'; another trace is chosen with -i DIR",
                       argv[optind]);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* The row in the usage, without brackets, behind text. */
static char *append_to_usage(char *text, const struct option_row *row)
{
    text = row->letter ? text__append(text, "-%c", row->letter)
                       : text__append(text, "--%s", row->name);
    return row->value ? text__append(text, " %s", row->value) : text;
}

char *options__usage(const struct command *command)
{
    char *text = NULL;
    for (const struct option_row *row = command->rows; row->kind != OPTION_END; row++) {
        if (!is_shown(row))
            continue;
        bool goes_on = row != command->rows && row->group && row[-1].group == row->group;
        text = goes_on ? text__append(text, "|") : text__join(text, " ", "[");
        text = append_to_usage(text, row);
        if (!row->group || row[1].group != row->group)
            text = text__append(text, is_repeatable(row) ? "]…" : "]");
    }
    return *command->operands ? text__join(text, " ", command->operands) : text;
}

static char *left_side(const struct option_row *row)
{
    const char *value = row->value ? row->value : "";
    const char *blank = row->value ? " " : "";
    if (row->kind == OPTION_OPERAND)
        return memory__text(row->name);
    if (row->letter)
        return memory__format("-%c, --%s%s%s", row->letter, row->name, blank, value);
    return memory__format("--%s%s%s", row->name, blank, value);
}

/* The bytes of UTF-8 that take no column of their own. */
static size_t continuation_bytes(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) == 0x80;
    return count;
}

/* Lines of the help after the first stand under it. */
static void put_help(const char *help, FILE *out)
{
    for (const char *end; (end = strchr(help, '\n')); help = end + 1)
        fprintf(out, "%.*s\n%*s", (int)(end - help), help, HELP_COLUMN, "");
    fprintf(out, "%s\n", help);
}

void options__put(const struct option_row *rows, FILE *out)
{
    for (; rows->kind != OPTION_END; rows++) {
        if (!rows->help)
            continue;
        char *left = terminal__text(left_side(rows));
        fprintf(out, "  %-*s  ", HELP_COLUMN - 4 + (int)continuation_bytes(left), left);
        put_help(rows->help, out);
        free(left);
    }
}
