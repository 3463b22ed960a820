#include "base/memory.h"
#include "base/text.h"
#include "present/report/findings_words.h"
#include "present/report/unseen.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_MOST 8

static size_t ranked_count(const struct report *report)
{
    size_t count = 0;
    VEC_EACH (finding, &report->findings->rows, struct finding)
        count += finding->ranked;
    return count;
}

static void put_tries(const struct finding *finding, const struct style *style, FILE *out)
{
    char *text = memory__text("");
    for (const char *const *what = finding__tries(finding); *what; what++)
        text = text__join(text, style->unicode ? " · " : "; ", *what);
    paragraph__take(style, out, "     To try: ", text);
}

static void put_finding(const struct report *report, const struct finding *finding, size_t rank,
                        const struct style *style, FILE *out)
{
    char gain[GAIN_BYTES], lead[16], *sentence = finding__sentence(report, finding);
    const char *doubt = finding->confidence == CONFIDENCE_MEASURED ? "" : "~";
    snprintf(lead, sizeof lead, "  %-2zu ", rank);
    paragraph__take(style, out, lead,
                    memory__format("%s Gain %s%s", sentence, doubt,
                                   gain__format(finding->wall_gain, style->unicode, gain)));
    put_tries(finding, style, out);
    free(sentence);
}

/* Functions and loops of which occurrences were recorded. */
static size_t functions_looked_at(const struct report *report, uint64_t *calls)
{
    size_t count = 0;
    *calls = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        bool is_of_program = !class__is_hooked(&class->what) && class->count > 1;
        count += is_of_program;
        *calls += is_of_program ? class->count : 0;
    }
    return count;
}

static bool has_samples(const struct report *report)
{
    const struct sharings *sharings = report->findings->sharings;
    return sharings && sharings->samples > 0;
}

static char *looked_at(const struct report *report)
{
    char number[32], calls_number[32];
    uint64_t calls;
    size_t functions = functions_looked_at(report, &calls);
    const char *kernel = report__without_kernel(report) ? "" : ", page faults, CPU shortage";
    const char *lines = has_samples(report) ? ", sharing of cache lines" : "";
    if (functions == 0)
        return memory__format("Looked at: locks, waits, input and output%s%s.", kernel, lines);
    return memory__format("Looked at: locks, waits, input and output%s%s, %s busy function%s (%s "
                          "calls).",
                          kernel, lines, count__format(functions, number),
                          functions == 1 ? "" : "s", count__format(calls, calls_number));
}

static char *not_looked_at(const struct report *report)
{
    uint64_t calls;
    char *unseen = report__unseen_words(report);
    const char *functions = *unseen || functions_looked_at(report, &calls)
                                ? ""
                                : ", the program's own functions (none was recorded)";
    const char *kernel =
        report__without_kernel(report) ? ", what threads did off the CPU in some threads" : "";
    const char *lines =
        has_samples(report) ? "" : ", sharing of cache lines (the program was not sampled)";
    char *text = memory__format("Not looked at: %s%smemory bandwidth%s%s%s.", unseen,
                                *unseen ? ", " : "", lines, functions, kernel);
    free(unseen);
    return text;
}

/* Below findings: what is large enough to hide another one. */
static void put_unseen(const struct report *report, const struct style *style, FILE *out)
{
    if (report__unseen(report) >= UNSEEN_LARGE) {
        char *unseen = report__unseen_words(report);
        paragraph__take(style, out, "  ", memory__format("Not looked at: %s.", unseen));
        free(unseen);
    }
    text__runtimes(report, style, out);
}

static void put_nothing(const struct report *report, const struct style *style, FILE *out)
{
    char *text = memory__format("No interference found that is worth a row. %s",
                                "What was too little or not certain is in --json.");
    paragraph__take(style, out, "  ", text);
    paragraph__take(style, out, "  ", looked_at(report));
    paragraph__take(style, out, "  ", not_looked_at(report));
    text__runtimes(report, style, out);
}

void text__findings(const struct report *report, const struct style *style, FILE *out)
{
    size_t rank = 0, ranked = ranked_count(report);
    fputc('\n', out);
    if (ranked == 0)
        put_nothing(report, style, out);
    VEC_EACH (finding, &report->findings->rows, struct finding)
        if (finding->ranked && ++rank <= SHOWN_MOST)
            put_finding(report, finding, rank, style, out);
    if (ranked)
        put_unseen(report, style, out);
}
