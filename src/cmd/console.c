#include "base/sanitize.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/ranks.h"
#include "present/present.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

char *terminal__text(char *text)
{
    if (terminal__unicode())
        return text;
    char *plain = text__ascii(text);
    free(text);
    return plain;
}

static void say_arguments(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        return;
    char *clean = terminal__text(text__for_screen(text));
    fprintf(stderr, "heurt: %s\n", clean);
    free(clean);
    free(text);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(format, arguments);
    va_end(arguments);
}

int failed(const struct error *error)
{
    say("%s", error->text);
    return EXIT_HEURT;
}

#define USAGE_COLUMNS 100

/* Lines are broken in front of brackets, and stand under the first one. */
static void put_usage(const struct command *command, FILE *out)
{
    char *usage = terminal__text(options__usage(command)), *from = usage;
    int indent = fprintf(out, "usage: heurt %s ", command->name), column = indent;
    for (char *next; *from; from = next) {
        next = strstr(from + 1, " [");
        next = next ? next : from + strlen(from);
        int length = (int)(next - from);
        if (column > indent && column + length > USAGE_COLUMNS)
            column = fprintf(out, "\n%*s", indent - 1, "") - 1;
        column += fprintf(out, "%.*s", length, from);
    }
    fputc('\n', out);
    free(usage);
}

int wrong_usage(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(format, arguments);
    va_end(arguments);
    put_usage(command, stderr);
    return EXIT_USAGE;
}

int show_help(const struct command *command)
{
    put_usage(command, stdout);
    printf("\n%s\n\n", command->summary);
    options__put(command->rows, stdout);
    printf("\nThe whole manual: man heurt-%s\n", command->name);
    return 0;
}

FILE *pager__open(void)
{
    if (!isatty(STDOUT_FILENO) ||
        ranks__has_launcher()) /* which gets no keys, and shows no screen */
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

unsigned screen__columns(uint64_t width)
{
    const char *columns = getenv("COLUMNS");
    unsigned long asked = columns ? strtoul(columns, NULL, 10) : 0;
    if (width)
        return (unsigned)width;
    if (asked >= SCREEN_COLUMNS_LEAST && asked <= SCREEN_COLUMNS_MOST)
        return (unsigned)asked;
    unsigned wide = terminal__columns();
    return wide ? wide : SCREEN_COLUMNS;
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
