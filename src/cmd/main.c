/* main.c: the table of subcommands. Each one lives in the file of its name. */
#include "base/memory.h"
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
    return record_and_report(argc, argv);
}
