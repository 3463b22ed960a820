#include "cmd/pager_print.h"

#include "cmd/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int show(void (*put)(const void *subject, const struct style *style, FILE *out),
         const void *subject)
{
    return show_at(put, subject, terminal__columns());
}

int show_at(void (*put)(const void *subject, const struct style *style, FILE *out),
            const void *subject, unsigned columns)
{
    const struct style style = {columns, terminal__colour(), terminal__unicode()};
    FILE *out = pager__open();
    void (*before)(int) = out != stdout ? signal(SIGPIPE, SIG_IGN) : SIG_ERR;
    put(subject, &style, out);
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
