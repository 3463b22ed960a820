/* options.h: the options of a command as a table: what reads the command line, prints the usage and
 * --help, keeps apart what excludes each other, and answers what was mistyped.
 *
 * In goes a table of rows and the command line; out come the members of the command's request that
 * the rows name, or one sentence. It stands on getopt_long(3) for cutting the line into options.
 *
 * The table is our own rather than argp's: argp prints messages, usage and the sections of its help
 * in a form of its own, ends the process unless it is told not to, and knows no nearest word. */
#ifndef HEURT_CMD_OPTIONS_H
#define HEURT_CMD_OPTIONS_H

#include "cmd/command.h"

#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_END,      /* the table ends here */
    OPTION_OPERAND,  /* no option, but a line of --help about what stands without one */
    OPTION_FLAG,     /* bool: becomes true */
    OPTION_CHOICE,   /* int or an enum: becomes number */
    OPTION_CONSTANT, /* a pointer to const: becomes constant */
    OPTION_TEXT,     /* const char *, which is not empty */
    OPTION_TEXTS,    /* struct vec of such texts: one more; the option may be repeated */
    OPTION_NUMBER,   /* uint64_t, from least to most */
    OPTION_VALUE,    /* what read makes of the text */
    OPTION_OWN,      /* what take does with it; the option may be repeated */
};

struct option_row {
    enum option_kind kind;
    char letter;          /* 'i'; 0: it has none */
    char group;           /* rows of one group exclude each other; 0: of none */
    const char *name;     /* "min-wait"; of an operand what it stands for: "N" */
    const char *value;    /* "TIME"; NULL: it takes none */
    const char *help;     /* a few words; NULL: the option is the house's own, and shown nowhere */
    const char *expected; /* NUMBER, VALUE: what the text should have been, "bytes" */
    size_t at;            /* the member's offset in the request; not of OPERAND and OWN */
    union {
        int number;
        const void *constant;
        struct {
            uint64_t least, most;
        };
        /* False: the text is not what is expected. */
        bool (*read)(const char *text, void *member);
        /* Returns 0, or the exit status after a sentence. */
        int (*take)(const struct command *command, const char *text, void *request);
    };
};

/* A member's offset; a member of another type does not compile. */
#define MEMBER(type, member, of) \
    (offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (of *)0))

/* How a row says what becomes of its option: {.name = "all", FLAG(struct options, all), …}. */
#define FLAG(type, member) .kind = OPTION_FLAG, .at = MEMBER(type, member, bool)
#define CHOICE(type, member, value) \
    .kind = OPTION_CHOICE, .at = offsetof(type, member), .number = value
#define CONSTANT(type, member, value) \
    .kind = OPTION_CONSTANT, .at = offsetof(type, member), .constant = value
#define TEXT(type, member) .kind = OPTION_TEXT, .at = MEMBER(type, member, const char *)
#define TEXTS(type, member) .kind = OPTION_TEXTS, .at = MEMBER(type, member, struct vec)
#define NUMBER(type, member, from, to) \
    .kind = OPTION_NUMBER, .at = MEMBER(type, member, uint64_t), .least = from, .most = to
#define VALUE(type, member, how) .kind = OPTION_VALUE, .at = offsetof(type, member), .read = how
#define OWN(how) .kind = OPTION_OWN, .take = how

/* Options that several commands have. */
#define INPUT_ROW(type, member)                                                           \
    {                                                                                     \
        .letter = 'i', .name = "input", .value = "DIR", .help = "the trace (heurt.data)", \
        TEXT(type, member)                                                                \
    }
#define FORMAT_ROW(type, member, format, put)                                                   \
    {                                                                                           \
        .name = #format, .help = "everything as " FORMAT_##format, CONSTANT(type, member, put), \
        .group = 'f'                                                                            \
    }
#define WIDTH_ROW(type, member)                                         \
    {                                                                   \
        .name = "width", .value = "COLUMNS",                            \
        .help = "as wide as that, not as COLUMNS or the terminal says", \
        .expected = "a number of columns",                              \
        NUMBER(type, member, SCREEN_COLUMNS_LEAST, SCREEN_COLUMNS_MOST) \
    }
#define FORMAT_json "JSON"
#define FORMAT_csv "comma-separated values"
#define CLASS_ROW(type, member)                                                 \
    {                                                                           \
        .name = "class", .value = "site|structure",                             \
        .help = "what calls other things is another class (structure), or not", \
        .expected = "site or structure", VALUE(type, member, class_view__parse) \
    }

/* Reads the command's options into the request: those that the user wants always (config.h), then
 * the command line's, which win. Returns 0 with optind at the first operand;
 * EXIT_USAGE, or what take returned, after a sentence; -1 after --help. Values point into argv.
 * It is not thread-safe, as getopt is not. */
int options__read(const struct command *command, int argc, char **argv, void *request);
/* 0 where nothing is left on the command line but options, else EXIT_USAGE after a sentence. */
int options__end(const struct command *command, int argc, char **argv);

/* "[-i DIR] [--json|--csv] [N]": every option of the command, and its operands. free() it. */
char *options__usage(const struct command *command);
/* The lines of --help. */
void options__put(const struct option_row *rows, FILE *out);

#endif
