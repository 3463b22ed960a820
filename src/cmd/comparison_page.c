/* comparison_page.c: see comparison_page.h. */
#include "cmd/comparison_page.h"

#include "analysis/timeline/timeline.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/html_file.h"
#include "cmd/span_feed.h"
#include "present/html/html_comparison.h"

#include <stdlib.h>

/* How long threads were in which stack. free() it. */
static char *stacks_of(const struct loaded *loaded)
{
    const struct span_request request = {&exporter_folded, "all", NULL, NULL};
    struct vec remarks = VEC_OF(char *);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(0);
    span_feed__tell(&loaded->report, &request, out, &remarks);
    fclose(out);
    texts__free(&remarks);
    return text;
}

static void put_flame(const void *subject, FILE *out)
{
    comparison_flame__put(subject, out);
}

static void put_page(const void *subject, FILE *out)
{
    html_comparison__put(subject, out);
}

static struct html_page page_of(const struct loaded *loaded)
{
    return (struct html_page){.report = &loaded->report,
                              .timeline = run__result(&loaded->run, &timeline_analysis)};
}

int comparison_page__write(const struct compared_runs *runs, const struct comparison_view *view,
                           const char *html, const char *flame)
{
    const char *directory = runs->before.report.directory;
    char *before = stacks_of(&runs->before), *after = stacks_of(&runs->after);
    struct flame_sides sides = {before,         after, directory, runs->after.report.directory,
                                &runs->renames, true};
    int status = flame ? html_file__write(directory, flame, put_flame, &sides) : 0;
    sides.is_alone = false;
    const struct comparison_page page = {view, page_of(&runs->before), page_of(&runs->after),
                                         &sides};
    if (status == 0 && html)
        status = html_file__write(directory, html, put_page, &page);
    free(before);
    free(after);
    return status;
}
