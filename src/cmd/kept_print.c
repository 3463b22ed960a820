#include "cmd/kept_print.h"

#include "base/memory.h"
#include "cmd/kept_screens.h"
#include "cmd/pager_print.h"

#include <stdlib.h>
#include <string.h>

struct kept_print kept_print__of(const char *directory, char *what, bool is_screen, uint64_t width)
{
    bool is_line = what && !strchr(what, '\n');
    if (!is_line)
        free(what);
    return (struct kept_print){directory, is_line ? what : NULL, is_screen, width};
}

void kept_print__free(struct kept_print *print)
{
    free(print->what);
}

static void put_text(const void *subject, const struct style *style, FILE *out)
{
    (void)style;
    fputs(subject, out);
}

char *kept_print__text(const struct kept_print *print)
{
    if (!print->what)
        return NULL;
    const struct style style = style__of(print->is_screen, print->width);
    struct vec screens = kept_screens__read(print->directory);
    char *name = kept_screens__name(print->what, print->is_screen, &style);
    const char *found = kept_screens__find(&screens, name);
    char *text = found ? memory__text(found) : NULL;
    free(name);
    kept_screens__free(&screens);
    return text;
}

bool kept_print__show(const struct kept_print *print, int *status)
{
    char *text = kept_print__text(print);
    if (!text)
        return false;
    *status = show_either(print->is_screen, put_text, text, print->width);
    free(text);
    return true;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* What is written, and by whom. */
struct put_subject {
    void (*put)(const void *subject, const struct style *style, FILE *out);
    const void *subject;
};

static void keep(const struct kept_print *print, const struct put_subject *of,
                 const struct style *style, struct vec *screens)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    of->put(of->subject, style, out);
    fclose(out);
    kept_screens__add(screens, kept_screens__name(print->what, print->is_screen, style), text);
}

/* As it was shown comes last: what is first makes room (kept_screens__write). */
static void keep_widths(const struct kept_print *print, const struct put_subject *of)
{
    static const unsigned widths[] = KEPT_WIDTHS;
    const struct style shown = style__of(print->is_screen, print->width);
    struct style style = shown;
    struct vec screens = kept_screens__read(print->directory);
    for (size_t i = 0; print->is_screen && i < sizeof widths / sizeof *widths; i++) {
        style.columns = widths[i];
        keep(print, of, &style, &screens);
    }
    keep(print, of, &shown, &screens);
    kept_screens__write(print->directory, &screens);
    kept_screens__free(&screens);
}

int kept_print__make(const struct kept_print *print, const struct trace *trace,
                     void (*put)(const void *subject, const struct style *style, FILE *out),
                     const void *subject)
{
    int status = show_either(print->is_screen, put, subject, print->width);
    if (status == 0 && print->what && trace__session(trace)->finished)
        keep_widths(print, &(struct put_subject){put, subject});
    return status;
}
