#include "cmd/command.h"
#include "cmd/options.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void say_arguments(const char *format, va_list arguments)
{
    fputs("heurt: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(format, arguments);
    va_end(arguments);
}

int wrong_usage(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(format, arguments);
    va_end(arguments);
    fprintf(stderr, "usage: heurt %s %s\n", command->name, command->usage);
    return EXIT_USAGE;
}

bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int show_help(const struct command *command)
{
    printf("usage: heurt %s %s\n\n%s\n\n", command->name, command->usage, command->summary);
    if (command->rows)
        options__put(command->rows, stdout);
    else
        fputs(command->options, stdout);
    printf("\nThe whole manual: man heurt-%s\n", command->name);
    return 0;
}

FILE *pager__open(void)
{
    if (!isatty(STDOUT_FILENO))
        return stdout;
    const char *pager = getenv("PAGER");
    if (!pager || !*pager)
        pager = "less -FRX";
    if (strcmp(pager, "cat") == 0)
        return stdout;
    FILE *out = popen(pager, "w");
    return out ? out : stdout;
}

void pager__close(FILE *out)
{
    if (out != stdout)
        pclose(out);
    else
        fflush(out);
}

bool terminal__colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

unsigned terminal__columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return isatty(STDOUT_FILENO) ? 80 : 0;
}

bool terminal__unicode(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
