/* What a report comes to, as a comment on a pull request. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/table/table_format.h"

#include <stdlib.h>
#include <string.h>

char *screen__line(const struct report *report,
                   void (*put)(const struct report *, const struct style *, FILE *))
{
    static const struct style style = {.unicode = true};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(0);
    put(report, &style, out);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
    char *line = memory__text(text + strspn(text, " "));
    free(text);
    return line;
}

/* Takes over text. */
static void put_taken(char *text, FILE *out)
{
    markdown__put_plain(text, out);
    free(text);
}

static void put_finding(const struct report *report, const struct finding *finding, FILE *out)
{
    char duration[16], share[16];
    const char *doubt = finding->confidence == CONFIDENCE_MEASURED ? "" : "\\~";
    fprintf(out, "| %s%s | %s | ", doubt, duration__format(finding->lost_ns, duration),
            share__format(finding->share, share));
    put_taken(finding__gain(finding, true), out);
    fputs(" | ", out);
    put_taken(finding__subject(report, finding), out);
    fputs(" |\n", out);
}

static void put_findings(const struct report *report, FILE *out)
{
    bool has_title = false;
    VEC_EACH (finding, &report->findings->rows, struct finding) {
        if (!finding__is_shown(finding))
            continue;
        if (!has_title)
            fputs("\n| lost | share | gain | where |\n| ---: | ---: | --- | --- |\n", out);
        has_title = true;
        put_finding(report, finding, out);
    }
}

static void put(const struct report *report, size_t rank, const struct style *style, FILE *out)
{
    (void)rank;
    (void)style;
    fputs("**", out);
    put_taken(report->profile->events ? screen__line(report, text__verdict)
                                      : memory__text("Nothing was recorded."),
              out);
    fputs("**\n\n", out);
    put_taken(screen__line(report, text__head), out);
    fputc('\n', out);
    if (report->findings)
        put_findings(report, out);
    if (report->checks)
        checks__put_markdown(report->checks, out);
}

const struct presenter presenter_markdown = {"markdown", put, NULL, NULL};
