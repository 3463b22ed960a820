/* main.c: the table of subcommands. Each one lives in the file of its name. */
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/cut_file.h"
#include "cmd/limits.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_record, &command_report,  &command_view,    &command_locks,     &command_memory,
    &command_openmp, &command_mpi,     &command_place,   &command_structure, &command_whatif,
    &command_tables, &command_compare, &command_gate,    &command_scale,     &command_induce,
    &command_stat,   &command_hot,     &command_dump,    &command_export,    &command_import,
    &command_check,  &command_explain, &command_analyse, &command_merge,     &command_ctl,
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* Verbs of earlier versions, and short forms: what is written in their place. */
static const struct alias {
    const char *verb;
    const struct command *command;
    const char *option; /* NULL: none */
} aliases[] = {{"diff-occurrence", &command_report, "--compare"},
               {"diff", &command_compare, NULL},
               {"attach", &command_record, "--pid"}};
#define ALIASES (sizeof aliases / sizeof aliases[0])

/* Words that a user may take for a command; a program of such a name would be a surprise. */
static const struct reserved {
    const char *word, *instead;
} reserved_words[] = {
    {"annotate", "report"}, {"browse", "view"}, {"replay", "whatif"},
    {"show", "report"},     {"top", "report"},  {"trace", "record"},
};
#define RESERVED_WORDS (sizeof reserved_words / sizeof reserved_words[0])

_Noreturn void out_of_memory(size_t bytes)
{
    say("out of memory (asked for %zu bytes)", bytes);
    _exit(EXIT_HEURT);
}

static int show_overview(FILE *out)
{
    fputs("usage: heurt [record's options] PROGRAM [ARG]...   record, then report\n"
          "       heurt COMMAND ...\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-15s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nheurt COMMAND --help tells more; a program named like a command: heurt -- PROGRAM\n",
          out);
    return out == stdout ? 0 : EXIT_USAGE;
}

/* Runs the command as if the option stood behind its name, and the words behind that. */
static int run_with_option(const struct command *command, const char *option, int count,
                           char **words)
{
    char **arguments = memory__zeroed((size_t)count + 3, sizeof *arguments);
    arguments[0] = (char *)command->name;
    int first = 1;
    if (option)
        arguments[first++] = (char *)option;
    memcpy(arguments + first, words, (size_t)count * sizeof *arguments);
    int status = command->run(command, count + first, arguments);
    free(arguments);
    return status;
}

/* The program's file along PATH, or NULL. free() it. */
static char *program_file(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = memory__text(path ? path : ""), *rest = copy, *file = NULL;
    for (char *directory; !file && (directory = strsep(&rest, ":"));) {
        file = memory__format("%s/%s", *directory ? directory : ".", name);
        if (access(file, X_OK) != 0) {
            free(file);
            file = NULL;
        }
    }
    free(copy);
    return file;
}

/* NULL: the word is an option, a path, or near to no command. */
static const char *meant_command(const char *word)
{
    struct nearest nearest = nearest__to(word);
    for (size_t i = 0; i < COMMANDS; i++)
        nearest__offer(&nearest, commands[i]->name);
    return *word == '-' || strchr(word, '/') ? NULL : nearest.word;
}

static int refuse_reserved(const struct reserved *reserved)
{
    say("'%s' is no command, and is not taken for a program; did you mean 'heurt %s'? A program of "
        "that name: heurt -- %s",
        reserved->word, reserved->instead, reserved->word);
    return EXIT_USAGE;
}

/* heurt PROGRAM …: record, then report. The exit status is the program's. A word that may be a
 * mistyped command never becomes a program without a word. */
static int record_and_report(int count, char **words)
{
    const char *meant = meant_command(words[0]);
    char *file = meant ? program_file(words[0]) : NULL;
    if (meant && !file) {
        say("there is no command and no program '%s'; did you mean 'heurt %s'?", words[0], meant);
        return EXIT_NOT_FOUND;
    }
    if (meant)
        say("'%s' is no command of heurt's ('%s' is): recording the program %s", words[0], meant,
            file);
    free(file);
    return run_with_option(&command_record, "--and-report", count, words);
}

static const struct command *command_of(const char *verb)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(verb, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

/* heurt help [COMMAND] */
static int help(int count, char **words)
{
    const struct command *command = count ? command_of(words[0]) : NULL;
    if (command)
        return show_help(command);
    if (!count)
        return show_overview(stdout);
    const char *meant = meant_command(words[0]);
    say("there is no command '%.60s'%s%s%s", words[0], meant ? "; did you mean 'heurt help " : "",
        meant ? meant : "", meant ? "'?" : "");
    return EXIT_USAGE;
}

static int run_verb(int argc, char **argv)
{
    const struct command *command = command_of(argv[0]);
    if (command)
        return command->run(command, argc, argv);
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(argv[0], aliases[i].verb) == 0)
            return run_with_option(aliases[i].command, aliases[i].option, argc - 1, argv + 1);
    for (size_t i = 0; i < RESERVED_WORDS; i++)
        if (strcmp(argv[0], reserved_words[i].word) == 0)
            return refuse_reserved(&reserved_words[i]);
    return record_and_report(argc, argv);
}

int main(int argc, char **argv)
{
    limits__lift();
    cut_file__ends();
    setlocale(LC_CTYPE, "");
    if (argc < 2)
        return show_overview(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_overview(stdout);
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0)
        return puts("heurt " HEURT_PROGRAM_VERSION) < 0;
    int status = limits__with_stack(run_verb, argc - 1, argv + 1);
    return status < 0 ? 0 : status;
}
