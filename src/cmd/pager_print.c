#include "cmd/pager_print.h"
#include "base/sanitize.h"

#include "cmd/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What leads to a terminal or a file that is not in UTF-8 is ASCII, names of the program included.
 */
static void put_in_ascii(void (*put)(const void *subject, const struct style *style, FILE *out),
                         const void *subject, const struct style *style, FILE *out)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return;
    put(subject, style, memory);
    fclose(memory);
    char *plain = text__ascii(text);
    fputs(plain, out);
    free(plain);
    free(text);
}

static int show_in(void (*put)(const void *subject, const struct style *style, FILE *out),
                   const void *subject, const struct style *style, bool is_data)
{
    FILE *out = pager__open();
    void (*before)(int) = out != stdout ? signal(SIGPIPE, SIG_IGN) : SIG_ERR;
    if (is_data || style->unicode)
        put(subject, style, out);
    else
        put_in_ascii(put, subject, style, out);
    bool failed = fflush(out) != 0 || ferror(out);
    int code = errno;
    pager__close(out);
    if (before != SIG_ERR)
        signal(SIGPIPE, before);
    if (!failed || out != stdout)
        return 0;
    say("cannot write the report: %s", strerror(code));
    return EXIT_HEURT;
}

int show(void (*put)(const void *subject, const struct style *style, FILE *out),
         const void *subject)
{
    return show_either(false, put, subject, 0);
}

int show_screen(void (*put)(const void *subject, const struct style *style, FILE *out),
                const void *subject, uint64_t width)
{
    return show_either(true, put, subject, width);
}

struct style style__of(bool is_screen, uint64_t width)
{
    return (struct style){is_screen ? screen__columns(width) : terminal__columns(),
                          terminal__colour(), terminal__unicode()};
}

int show_either(bool is_screen,
                void (*put)(const void *subject, const struct style *style, FILE *out),
                const void *subject, uint64_t width)
{
    const struct style style = style__of(is_screen, width);
    return show_in(put, subject, &style, !is_screen);
}
