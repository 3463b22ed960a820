/* main.c: the table of subcommands. Each one lives in the file of its name. */
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/command.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_record, &command_report, &command_locks, &command_structure, &command_diff_occurrence,
    &command_whatif, &command_tables, &command_hot,   &command_dump,      &command_export,
    &command_check,
};
#define COMMANDS (sizeof commands / sizeof commands[0])

_Noreturn void out_of_memory(size_t bytes)
{
    say("out of memory (asked for %zu bytes)", bytes);
    _exit(EXIT_HEURT);
}

static int show_overview(FILE *out)
{
    fputs("usage: heurt [record's options] PROGRAM [ARG]…   record, then report\n"
          "       heurt COMMAND …\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-15s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nheurt COMMAND --help tells more; a program named like a command: heurt -- PROGRAM\n",
          out);
    return out == stdout ? 0 : EXIT_USAGE;
}

/* heurt PROGRAM …: record, then report. The exit status is the program's. */
static int record_and_report(int argc, char **argv)
{
    char **arguments = memory__zeroed((size_t)argc + 2, sizeof *arguments);
    arguments[0] = "record";
    arguments[1] = "--and-report";
    memcpy(arguments + 2, argv + 1, (size_t)(argc - 1) * sizeof *arguments);
    int status = command_record.run(argc + 1, arguments);
    free(arguments);
    return status;
}

/* Whether a program of that name can be found: main's, so that nothing is said of commands then. */
static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = memory__text(path ? path : ""), *rest = copy;
    bool found = strchr(name, '/') != NULL;
    for (char *directory; !found && (directory = strsep(&rest, ":"));) {
        char *file = memory__format("%s/%s", *directory ? directory : ".", name);
        found = access(file, X_OK) == 0;
        free(file);
    }
    free(copy);
    return found;
}

/* NULL: the word is an option, or a program, or near to no command. */
static const char *meant_command(const char *word)
{
    struct nearest nearest = nearest__to(word);
    for (size_t i = 0; i < COMMANDS; i++)
        nearest__offer(&nearest, commands[i]->name);
    return *word == '-' || !nearest.word || is_program(word) ? NULL : nearest.word;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    if (argc < 2)
        return show_overview(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return show_overview(stdout);
    if (strcmp(argv[1], "--version") == 0)
        return puts("heurt " HEURT_PROGRAM_VERSION) < 0;
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    const char *meant = meant_command(argv[1]);
    if (!meant)
        return record_and_report(argc, argv);
    say("there is no command and no program '%s'; did you mean 'heurt %s'?", argv[1], meant);
    return EXIT_NOT_FOUND;
}
