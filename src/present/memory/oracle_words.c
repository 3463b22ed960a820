/* oracle_words.c: samples held against counted accesses, as a screen and as rows. */
#include "analysis/memory/oracle.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/memory/counted_words.h"
#include "present/report/report_parts.h"
#include "present/table/parts.h"
#include "present/table/table_source.h"

static const struct column oracle_columns[] = {
    COLUMN(oracle_row, object, "object", "", "what it is"),
    COLUMN(oracle_row, sampled, "samples", "share", "of the time that is judged, as samples say"),
    COLUMN(oracle_row, expected, "oracle", "share",
           "of that time, as the counts of each instruction's place say"),
    COLUMN(oracle_row, by_line, "by line", "share",
           "likewise, as the counts of its line say, reads and writes apart"),
    COLUMN(oracle_row, counted, "accesses", "share", "of all accesses that were counted"),
    COLUMN(oracle_row, distance, "distance", "share",
           "half of the difference of samples and oracle: it adds up over objects"),
    COLUMN(oracle_row, line_distance, NULL, "share", "likewise, of samples and by line"),
};
static const struct table oracle_table = TABLE(
    oracle_row, "memory_oracle",
    "a row an object: time by samples against what counted accesses let expect", oracle_columns);

struct table_rows oracle_rows(const struct memory_oracle *oracle)
{
    struct table_rows rows = table_rows__of(&oracle_table);
    if (oracle)
        VEC_EACH (row, &oracle->rows, const struct oracle_row)
            *(struct oracle_row *)table_rows__add(&rows) = *row;
    return rows;
}

static struct table_rows rows_of_oracle(const struct table_subject *subject)
{
    const struct memory_use *use = subject->memory->use;
    return oracle_rows(use ? use->oracle : NULL);
}

const struct table_source memory_oracle_source = {
    .table = &oracle_table, .of = MADE_OF(&memory_analysis), .rows = rows_of_oracle};

/* ---- the screen ------------------------------------------------------------------------------ */

#define SHARE_SHOWN 0.001

static void put_verdict(const struct memory_oracle *oracle, const struct style *style, FILE *out)
{
    char distance[16], by_line[16], judged[16], stack[16], rest[16], samples[32];
    double all_ns = (double)(oracle->judged_ns + oracle->stack_ns + oracle->unjudged_ns);
    all_ns = all_ns > 0 ? all_ns : 1;
    paragraph__take(style, out, "  ",
                    memory__format("Samples and counted accesses differ by %s of the time; by %s "
                                   "where all that a line does is taken together.",
                                   share__format(oracle->distance, distance),
                                   share__format(oracle->line_distance, by_line)));
    paragraph__take(
        style, out, "  Compared: ",
        memory__format("%s of the time at known addresses, of %s samples. Not: %s on stacks where "
                       "the compiler announces nothing, %s at code that does not count.",
                       share__format((double)oracle->judged_ns / all_ns, judged),
                       count__format(oracle->samples, samples),
                       share__format((double)oracle->stack_ns / all_ns, stack),
                       share__format((double)oracle->unjudged_ns / all_ns, rest)));
}

void oracle_text__put(const struct memory_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"samples", RIGHT},
                                                 {"oracle", RIGHT},
                                                 {"by line", RIGHT},
                                                 {"accesses", RIGHT},
                                                 {"object", WRAPPED}};
    struct grid grid = grid__start(columns, 5, 2);
    put_verdict(shown->oracle, style, out);
    fputc('\n', out);
    VEC_EACH (row, &shown->oracle->rows, const struct oracle_row) {
        if (!shown->all && row->sampled < SHARE_SHOWN && row->expected < SHARE_SHOWN)
            continue;
        grid__share(&grid, row->sampled);
        grid__share(&grid, row->expected);
        grid__share(&grid, row->by_line);
        grid__share(&grid, row->counted);
        grid__cell(&grid, memory__text(row->object), INK_PLAIN);
    }
    grid__end(&grid, style, out);
}
