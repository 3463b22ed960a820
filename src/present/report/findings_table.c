/* The table of findings: what the first screen shows, a row a finding. */
#include "present/report/findings_words.h"
#include "present/table/table_source.h"

struct finding_cells {
    uint64_t rank;
    bool ranked;
    const char *category, *sentence, *try;
    struct place_cells place, by;
    const char *object, *by_doing;
    struct finding finding; /* its figures as they are */
    const char *confidence;
    uint64_t leader;
};

#define FINDING(member, title, unit, help) \
    COLUMN_KEYED(#member, finding_cells, finding.member, title, unit, help)
#define PLACE(key, member, title, help) COLUMN_KEYED(key, finding_cells, member, title, "", help)
#define GAIN(key, end, title, help) \
    COLUMN_WHOLE(key, COLUMN_FACTOR, finding_cells, finding.wall_gain[end], title, "×", help)

static const struct column columns[] = {
    COLUMN(finding_cells, rank, "#", "", "place among the findings, from 1"),
    COLUMN(finding_cells, ranked, NULL, "", "whether the first screen gives it a number"),
    COLUMN(finding_cells, category, "category", "", "lock, barrier, disk, imbalance …"),
    COLUMN(finding_cells, sentence, NULL, "", "what it is, in words"),
    PLACE("function", place.function, "in", "function of the program"),
    PLACE("module", place.module, NULL, "file of the program or library"),
    PLACE("file", place.file, NULL, "source file"),
    PLACE("line", place.line, NULL, "line in it"),
    COLUMN(finding_cells, object, "object", "", "name or address of the lock, barrier …"),
    PLACE("by_function", by.function, "for", "function that blocked it"),
    PLACE("by_file", by.file, NULL, "its source file"),
    PLACE("by_line", by.line, NULL, "line in it"),
    COLUMN(finding_cells, by_doing, NULL, "", "what the blocker did most besides working"),
    FINDING(lost_ns, "lost", "ns", "of the time of the threads that had work"),
    FINDING(error_ns, NULL, "ns", "error of that, where it was sampled"),
    FINDING(share, "share", "share", "of the time of the threads that had work"),
    GAIN("wall_gain_low", 0, "gain from",
         "how many times as fast the run would be without it, at least"),
    GAIN("wall_gain_high", 1, "to", "the same, at most"),
    COLUMN(finding_cells, confidence, NULL, "", "measured, estimated, or weak"),
    COLUMN(finding_cells, leader, NULL, "", "place in the report of the class that lost most"),
    COLUMN(finding_cells, try, NULL, "", "what to try first"),
};
static const struct table findings_table =
    TABLE(finding_cells, "findings", "a row a cause of lost time, as the first screen shows them",
          columns);

static void fill_places(struct table_rows *rows, const struct report *report,
                        const struct finding *finding, struct finding_cells *row)
{
    char unknown[32];
    struct place place;
    struct finding_by by;
    if (finding__place(report, finding, &place, unknown))
        row->place = place_cells__of(rows, &place, unknown);
    if (!finding__by(report, finding, &by))
        return;
    row->by = place_cells__of_site(rows, report, by.process, by.site);
    row->by_doing = by.doing;
}

static void add_finding(struct table_rows *rows, const struct report *report,
                        const struct finding *finding, uint64_t rank)
{
    struct finding_cells *row = table_rows__add(rows);
    *row = (struct finding_cells){
        .rank = rank,
        .ranked = finding->ranked,
        .category = finding_category__name(finding->category),
        .sentence = table_rows__keep(rows, finding__sentence(report, finding)),
        .try = *finding__tries(finding),
        .place = {.line = UINT64_MAX},
        .by = {.line = UINT64_MAX},
        .object = table_rows__keep(rows, finding__object(report, finding)),
        .finding = *finding,
        .confidence = confidence__name(finding->confidence),
        .leader = finding->leader == FINDING_NO_CLASS ? UINT64_MAX : finding->leader + 1ull,
    };
    fill_places(rows, report, finding, row);
}

static struct table_rows finding_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&findings_table);
    uint64_t rank = 0;
    VEC_EACH (finding, &subject->report->findings->rows, struct finding)
        add_finding(&rows, subject->report, finding, ++rank);
    return rows;
}

const struct table_source findings_source = {&findings_table, MADE_OF(&findings_analysis),
                                             finding_rows, NEEDS_GAINS};
