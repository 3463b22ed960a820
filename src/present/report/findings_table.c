/* The table of findings: what the first screen shows, a row a finding. */
#include "present/memory/sharing_words.h"
#include "present/report/findings_words.h"
#include "present/table/table_source.h"

struct finding_cells {
    uint64_t rank;
    const char *sentence, *try;
    const char *const *tries; /* ended by NULL */
    const char *fix; /* what to try first, where the very place is known; NULL: it is not */
    struct place_cells place, by, born;
    const char *object, *object_kind, *by_doing;
    struct finding finding; /* its figures as they are */
    uint64_t leader;
};

/* ---- objects in it --------------------------------------------------------------------------- */

static struct table_rows born_row(const void *row)
{
    const struct place_cells *born = &((const struct finding_cells *)row)->born;
    struct table_rows rows = table_rows__of(&place_table);
    if (born->function)
        vec__push(&rows.rows, born);
    return rows;
}

static const struct table object_table = OBJECT(
    finding_cells, FIELD("name", finding_cells, object), FIELD("kind", finding_cells, object_kind),
    FIELD_ONE("born", born_row), FIELD("count", finding_cells, finding.objects));

static const struct table by_table = OBJECT(finding_cells, FIELDS_OF_PLACE(finding_cells, by),
                                            FIELD("doing", finding_cells, by_doing));

static struct table_rows if_known(const struct table *table, const char *known, const void *row)
{
    struct table_rows rows = table_rows__of(table);
    if (known)
        vec__push(&rows.rows, row);
    return rows;
}

static struct table_rows object_row(const void *row)
{
    return if_known(&object_table, ((const struct finding_cells *)row)->object, row);
}

static struct table_rows by_row(const void *row)
{
    return if_known(&by_table, ((const struct finding_cells *)row)->by_doing, row);
}

static struct table_rows try_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&texts_table);
    const struct finding_cells *cells = row;
    const char *const *text = cells->tries + (cells->fix != NULL);
    if (cells->fix)
        vec__push(&rows.rows, &cells->fix);
    for (; *text; text++)
        vec__push(&rows.rows, text);
    return rows;
}

static struct table_rows class_rank_rows(const void *row)
{
    struct table_rows rows = table_rows__of(&numbers_table);
    VEC_EACH (class, &((const struct finding_cells *)row)->finding.classes, uint32_t)
        *(uint64_t *)table_rows__add(&rows) = *class + 1ull;
    return rows;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FINDING(member, title, unit, help) \
    COLUMN_KEYED(#member, finding_cells, finding.member, title, unit, help)
#define PLACE(key, member, title, help) FLAT(key, finding_cells, member, title, "", help)
#define GAIN(key, end, title, help) \
    FLAT_AS(COLUMN_FACTOR, key, finding_cells, finding.wall_gain[end], title, "×", help)

static const struct column columns[] = {
    COLUMN(finding_cells, rank, "#", "", "place among the findings, from 1"),
    FINDING(ranked, NULL, "", "whether the first screen gives it a number"),
    COLUMN_NAMED("category", finding_cells, finding.category, finding_category__name, "category",
                 "lock, barrier, disk, imbalance …"),
    COLUMN(finding_cells, sentence, NULL, "", "what it is, in words"),
    FIELD_LIST("try", try_rows),
    FIELD_OPTIONAL("place", finding_cells, place, place_table),
    PLACE("function", place.function, "in", "function of the program"),
    PLACE("module", place.module, NULL, "file of the program or library"),
    PLACE("file", place.file, NULL, "source file"),
    PLACE("line", place.line, NULL, "line in it"),
    FIELD_ONE("object", object_row),
    FLAT("object", finding_cells, object, "object", "", "name or address of the lock, barrier …"),
    FIELD_ONE("by", by_row),
    PLACE("by_function", by.function, "for", "function that blocked it"),
    PLACE("by_file", by.file, NULL, "its source file"),
    PLACE("by_line", by.line, NULL, "line in it"),
    FLAT("by_doing", finding_cells, by_doing, NULL, "",
         "what the blocker did most besides working"),
    FINDING(lost_ns, "lost", "ns", "of the time of the threads that had work"),
    FINDING(error_ns, NULL, "ns", "error of that, where it was sampled"),
    FINDING(share, "share", "share", "of the time of the threads that had work"),
    GAIN("wall_gain_low", 0, "gain from",
         "how many times as fast the run would be without it, at least"),
    GAIN("wall_gain_high", 1, "to", "the same, at most"),
    FIELD_AS(COLUMN_RANGE, "wall_gain", finding_cells, finding.wall_gain),
    COLUMN_NAMED("confidence", finding_cells, finding.confidence, confidence__name, NULL,
                 "measured, estimated, or weak"),
    FIELD_LIST("classes", class_rank_rows),
    FLAT("leader", finding_cells, leader, NULL, "",
         "place in the report of the class that lost most"),
    FLAT("try", finding_cells, try, NULL, "", "what to try first"),
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

static struct place_cells born_place(struct table_rows *rows, const struct report *report,
                                     const struct finding *finding)
{
    if (finding->sharing)
        return place_cells__of_site(
            rows, report, trace__process_at(report->trace, finding->sharing->process)->serial,
            sharing__born_site(finding->sharing));
    if (finding->remote)
        return place_cells__of_site(
            rows, report,
            trace__process_at(report->trace, finding->remote->object->process)->serial,
            finding->remote->object->site);
    const struct class_definition *what =
        finding->has_object && finding->leader != FINDING_NO_CLASS
            ? &VEC_AT(&report->profile->classes, struct profile_class, finding->leader)->what
            : NULL;
    return what ? place_cells__of_site(rows, report, what->at.process, what->born_site)
                : PLACE_NOWHERE;
}

static void add_finding(struct table_rows *rows, const struct report *report,
                        const struct finding *finding, uint64_t rank)
{
    struct finding_cells *row = table_rows__add(rows);
    char *fix = finding__fix(report, finding);
    const char *const *tries = finding__tries(report, finding);
    *row = (struct finding_cells){
        .rank = rank,
        .sentence = table_rows__keep(rows, finding__sentence(report, finding)),
        .fix = fix ? table_rows__keep(rows, fix) : NULL,
        .try = *tries,
        .tries = tries,
        .place = PLACE_NOWHERE,
        .by = PLACE_NOWHERE,
        .born = born_place(rows, report, finding),
        .object = table_rows__keep(rows, finding__object(report, finding)),

        .finding = *finding,
        .leader = finding->leader == FINDING_NO_CLASS ? UINT64_MAX : finding->leader + 1ull,
    };
    if (row->object) {
        row->object_kind = finding__object_kind(report, finding);
        row->finding.objects += !finding->objects; /* it is named, so it is one */
    }
    row->try = row->fix ? row->fix : row->try;
    fill_places(rows, report, finding, row);
}

struct table_rows finding_rows(const struct report *report)
{
    struct table_rows rows = table_rows__of(report->findings ? &findings_table : NULL);
    uint64_t rank = 0;
    if (report->findings)
        VEC_EACH (finding, &report->findings->rows, struct finding)
            add_finding(&rows, report, finding, ++rank);
    return rows;
}

static struct table_rows rows_of_findings(const struct table_subject *subject)
{
    return finding_rows(subject->report);
}

const struct table_source findings_source = {&findings_table, MADE_OF(&findings_analysis),
                                             rows_of_findings, NEEDS_GAINS};
