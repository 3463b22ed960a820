/* heurt.page/1: what the page shows. It is for the page alone, and no contract. */
#include "base/memory.h"
#include "present/glossary/glossary.h"
#include "present/html/internal.h"
#include "present/memory/memory_picture.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/table/table_source.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* ---- findings as cards ----------------------------------------------------------------------- */

struct card_cells {
    const struct report *report;
    const struct finding *finding;
    const char *subject, *cause, *gain, *command;
    const char *picture; /* SVG; NULL: there is none */
    bool noted, assumed;
};

struct card_part_cells {
    uint64_t lost_ns;
    const char *where, *because_of;
};

static const struct table card_parts_table =
    OBJECT(card_part_cells, FIELDS(card_part_cells, lost_ns, where, because_of));

static struct table_rows card_part_rows(const void *row)
{
    const struct card_cells *card = row;
    struct table_rows rows = table_rows__of(&card_parts_table);
    VEC_EACH (part, &card->finding->parts, struct finding_part) {
        struct card_part_cells *cells = table_rows__add(&rows);
        cells->lost_ns = part->lost_ns;
        cells->where =
            table_rows__keep(&rows, finding_part__where(card->report, card->finding, part));
        cells->because_of =
            table_rows__keep(&rows, finding_part__because_of(card->report, card->finding, part));
    }
    return rows;
}

static const struct table cards_table =
    OBJECT(card_cells, FIELDS(card_cells, subject, cause, gain, command, picture, noted, assumed),
           FIELD_LIST("parts", card_part_rows));

/* The cache lines of the object that the finding is about. NULL: it is about none, or they are not
 * known. free() it. */
static char *picture_of(const struct html_page *page, const struct finding *finding)
{
    uint32_t object = page->memory && finding->sharing
                          ? memory_use__object_of(page->memory, finding->sharing)
                          : UINT32_MAX;
    if (object == UINT32_MAX)
        return NULL;
    const struct memory_report shown = {
        .report = page->report, .use = page->memory, .rank = object + 1, .view = MEMORY_LINES};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(0);
    memory_picture__put(&shown, false, out);
    fclose(out);
    return text;
}

static struct card_cells *add_card(struct table_rows *rows, const struct report *report,
                                   const struct finding *finding)
{
    struct card_cells *card = table_rows__add(rows);
    *card = (struct card_cells){
        .report = report,
        .finding = finding,
        .subject = table_rows__keep(rows, finding__subject(report, finding)),
        .cause = table_rows__keep(rows, finding__in_full(report, finding)),
        .gain = table_rows__keep(rows, finding__gain(finding, true)),
        .command = table_rows__keep(rows, finding__checking_command(report, finding)),
        .noted = finding->is_noted,
        .assumed = finding->is_assumed};
    return card;
}

/* ---- the page -------------------------------------------------------------------------------- */

struct page_cells {
    const struct html_page *page;
    const char *command, *head, *verdict, *looked_at, *not_looked_at;
    bool has_events;
};

static const struct report *report_of(const void *root)
{
    return ((const struct page_cells *)root)->page->report;
}

static struct table_rows card_rows(const void *root)
{
    const struct report *report = report_of(root);
    struct table_rows rows = table_rows__of(report->findings ? &cards_table : NULL);
    const struct html_page *page = ((const struct page_cells *)root)->page;
    bool is_drawn = false;
    if (report->findings)
        VEC_EACH (finding, &report->findings->rows, struct finding) {
            struct card_cells *card = add_card(&rows, report, finding);
            card->picture = is_drawn ? NULL : table_rows__keep(&rows, picture_of(page, finding));
            is_drawn |= card->picture != NULL;
        }
    return rows;
}

static struct table_rows iteration_rows(const void *root)
{
    const struct iterations *iterations = ((const struct page_cells *)root)->page->iterations;
    return iterations ? phase_rows(report_of(root), iterations) : table_rows__of(NULL);
}

static struct table_rows loop_rows(const void *root)
{
    const struct iterations *iterations = ((const struct page_cells *)root)->page->iterations;
    struct table_rows rows = table_rows__of(&texts_table);
    if (iterations)
        VEC_EACH (phase, &iterations->phases, struct iteration_phase)
            text_rows__take(&rows, phase__text(report_of(root), phase));
    return rows;
}

static struct table_rows timeline_row(const void *root)
{
    return html_timeline__row(((const struct page_cells *)root)->page);
}

static const struct table page_table =
    OBJECT(page_cells, FIELD_SCHEMA("heurt.page/1"),
           FIELDS(page_cells, command, head, verdict, looked_at, not_looked_at, has_events),
           FIELD_LIST("cards", card_rows), FIELD_LIST("iterations", iteration_rows),
           FIELD_LIST("loops", loop_rows), FIELD_ONE("timeline", timeline_row));

static struct page_cells cells_of(const struct html_page *page, struct table_rows *texts)
{
    const struct report *report = page->report;
    bool has_events = report->profile->events > 0;
    return (struct page_cells){
        .page = page,
        .command = table_rows__keep(texts, report__command(report)),
        .head = table_rows__keep(texts, screen__line(report, text__head)),
        .verdict = has_events ? table_rows__keep(texts, screen__line(report, text__verdict)) : NULL,
        .looked_at = table_rows__keep(texts, report__looked_at(report)),
        .not_looked_at = table_rows__keep(texts, report__not_looked_at(report)),
        .has_events = has_events};
}

/* ---- no more than a page needs --------------------------------------------------------------- */

/* How many there were stands beside the list: "locks_of". */
static void keep_first(struct json_object *object, const char *key, size_t most)
{
    struct json_object *list = json_object_object_get(object, key);
    size_t count = list ? json_object_array_length(list) : 0;
    char *name = memory__format("%s_of", key);
    json_object_object_add(object, name, json_object_new_uint64(count));
    free(name);
    if (count > most)
        json_object_array_del_idx(list, most, count - most);
}

static struct json_object *report_data(const struct report *report)
{
    struct json_object *document = report_document__new(report, EVERY_ROW);
    struct json_object *coverage = json_object_object_get(document, "coverage");
    keep_first(document, "classes", HTML_CLASSES_MOST);
    keep_first(document, "threads", HTML_THREADS_MOST);
    keep_first(document, "long_functions", HTML_FUNCTIONS_MOST);
    keep_first(coverage, "refused", HTML_FUNCTIONS_MOST);
    keep_first(coverage, "functions", HTML_FUNCTIONS_MOST);
    return document;
}

/* The page makes its own strips of the waits, and who blocked whom of the timeline's; names of C++
 * may be long. */
static void drop_details(struct json_object *document)
{
    static const char *const details[] = {"acquiring_ns", "longest", "sites",  "holders",
                                          "pairs",        "wake",    "on_path"};
    struct json_object *locks = json_object_object_get(document, "locks");
    json_object_object_del(document, "pressure");
    json_object_object_del(document, "audit");
    for (size_t i = 0; i < json_object_array_length(locks); i++)
        for (size_t k = 0; k < sizeof details / sizeof *details; k++)
            json_object_object_del(json_object_array_get_idx(locks, i), details[k]);
}

static struct json_object *locks_data(const struct html_page *page)
{
    static const struct locks_filter everything;
    if (!page->locks)
        return NULL;
    struct json_object *document = locks_document__new(
        &(struct locks_report){page->report, page->locks, &everything, NULL}, EVERY_ROW);
    keep_first(document, "locks", HTML_LOCKS_MOST);
    drop_details(document);
    return document;
}

/* Without what becomes of each lock and barrier. */
static struct json_object *whatif_data(const struct whatif_view *whatif)
{
    if (!whatif)
        return NULL;
    struct json_object *document = whatif_document__new(whatif);
    struct json_object *answers = json_object_object_get(document, "answers");
    for (size_t i = 0; i < json_object_array_length(answers); i++) {
        struct json_object *prediction =
            json_object_object_get(json_object_array_get_idx(answers, i), "prediction");
        if (prediction)
            json_object_object_del(prediction, "objects");
    }
    return document;
}

/* What heurt explain says of each, in short. */
static struct json_object *words_data(void)
{
    struct json_object *words = json_object_new_array();
    for (const struct glossary_word *word = glossary_words; word->name; word++) {
        struct json_object *row = json_object_new_object();
        json_object_object_add(row, "word", json_object_new_string(word->name));
        json_object_object_add(row, "meaning", json_object_new_string(word->meaning));
        json_object_array_add(words, row);
    }
    return words;
}

struct json_object *html_data__new(const struct html_page *page)
{
    struct table_rows texts = table_rows__of(NULL);
    const struct page_cells root = cells_of(page, &texts);
    struct json_object *data = document__new(&page_table, &root);
    json_object_object_add(data, "report", report_data(page->report));
    json_object_object_add(data, "locks", locks_data(page));
    json_object_object_add(data, "whatif", whatif_data(page->whatif));
    json_object_object_add(data, "words", words_data());
    table_rows__free(&texts);
    return data;
}
