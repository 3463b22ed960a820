/* heurt structure --grammar. The JSON contract is in docs/heurt-structure.md. */
#include "present/structure/structure_grammar.h"

#include "base/memory.h"
#include "present/table/parts.h"
#include "present/table/table_format.h"

#include <inttypes.h>
#include <stdlib.h>

#define RULE_COLUMN 8 /* where the items begin */

static const struct trace_thread *thread_of(const struct grammar_report *shown)
{
    return trace__thread_at(shown->report->trace, shown->thread);
}

static const struct class_definition *place_of(const struct grammar_report *shown,
                                               const struct grammar_item *item)
{
    return &VEC_AT(&shown->structure->places, struct structure_place, item->symbol)->what;
}

static bool is_rule(const struct grammar_item *item)
{
    return (item->symbol & GRAMMAR_RULE) != 0;
}

static uint32_t rule_of(const struct grammar_item *item)
{
    return item->symbol & ~GRAMMAR_RULE;
}

/* struct grammar_item; vec__free it. */
static struct vec items_of(const struct grammar_report *shown, size_t rule)
{
    struct vec items = VEC_OF(struct grammar_item);
    grammar__rule(shown->grammar, rule, &items);
    return items;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "step_load", "pthread_mutex_lock(queue.c:44)". free() it. */
static char *place_name(const struct grammar_report *shown, const struct grammar_item *item)
{
    char unknown[32];
    const struct class_definition *class = place_of(shown, item);
    char *name = function__short(class__function(shown->report, class));
    if (!class__is_hooked(class))
        return name;
    struct place place = place__of_class(shown->report, class, unknown);
    char *source = place__source(&place, false);
    char *text = memory__format("%s(%s)", name, *source ? source : place.function);
    free(source);
    free(name);
    return text;
}

static void put_item(struct flow *flow, const struct grammar_report *shown,
                     const struct grammar_item *item)
{
    char times[32], number[32];
    char *name =
        is_rule(item) ? memory__format("R%" PRIu32, rule_of(item)) : place_name(shown, item);
    const char *sign = flow->style->unicode ? "×" : "x";
    times[0] = '\0';
    if (item->count > 1)
        snprintf(times, sizeof times, "%s%s", sign, count__format(item->count, number));
    flow__take(flow, memory__format("%s%s%s", name, *times ? " " : "", times),
               item->count > 1 ? INK_BOLD : INK_PLAIN, 2);
    free(name);
}

static void put_rule(const struct grammar_report *shown, size_t rule, const struct style *style,
                     FILE *out)
{
    char name[24];
    struct flow flow = flow__start(style, out, RULE_COLUMN);
    struct vec items = items_of(shown, rule);
    if (rule == 0)
        snprintf(name, sizeof name, "all");
    else
        snprintf(name, sizeof name, "R%zu", rule);
    fprintf(out, "  %-*s", RULE_COLUMN - 2, name);
    flow.column = RULE_COLUMN;
    VEC_EACH (item, &items, struct grammar_item)
        put_item(&flow, shown, item);
    flow__end(&flow);
    vec__free(&items);
}

static void put_header(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    char ended[32], rules[32], size[32];
    const struct trace_thread *thread = thread_of(shown);
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(shown->report, style), INK_BOLD, 3);
    flow__take(&flow, memory__format("thread %s #%" PRIu32, thread->name, thread->tid), INK_PLAIN,
               3);
    flow__take(&flow,
               memory__format("%s calls, %s rules, %s items",
                              count__format(grammar__length(shown->grammar, 0), ended),
                              count__format(grammar__rules(shown->grammar), rules),
                              count__format(grammar__size(shown->grammar), size)),
               INK_PLAIN, 3);
    flow__end(&flow);
    paragraph__put(style, out, INK_PLAIN, "  ",
                   "Every call of the thread in the order in which they ended, what is in one "
                   "before it.");
    fputc('\n', out);
}

static void put_text(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    size_t rules = grammar__rules(shown->grammar);
    put_header(shown, style, out);
    for (size_t i = 0; i < rules && i < shown->rules_at_most; i++)
        put_rule(shown, i, style, out);
    if (rules <= shown->rules_at_most)
        return;
    fputc('\n', out);
    paragraph__take(
        style, out, "  ",
        memory__format("%zu more rules: --all shows them.", rules - shown->rules_at_most));
}

const struct grammar_presenter grammar_text = {put_text};

/* ---- as a document, and as a table ----------------------------------------------------------- */

struct grammar_item_cells {
    uint64_t rule, position;
    uint64_t item_rule, item_place; /* one of them is known */
    const char *function;
    struct place_cells place;
    struct grammar_item of; /* its count as it is */
};

static const struct table items_table = OBJECT(
    grammar_item_cells, FLAT("rule", grammar_item_cells, rule, NULL, "", "number of the rule"),
    FLAT("position", grammar_item_cells, position, NULL, "", "of the item in it, from 0"),
    FIELD("rule", grammar_item_cells, item_rule),
    FLAT("item_rule", grammar_item_cells, item_rule, NULL, "",
         "number of the rule that the item is"),
    FIELD("place", grammar_item_cells, item_place),
    FLAT("function", grammar_item_cells, function, NULL, "", "or what was called"),
    FLAT("file", grammar_item_cells, place.file, NULL, "", "its source file"),
    FLAT("line", grammar_item_cells, place.line, NULL, "", "line in it"),
    COLUMN_KEYED("times", grammar_item_cells, of.count, NULL, "", "in a row"));

static void add_items(struct table_rows *rows, const struct grammar_report *shown, size_t rule)
{
    struct vec items = items_of(shown, rule);
    uint64_t position = 0;
    VEC_EACH (item, &items, struct grammar_item) {
        const struct class_definition *what = is_rule(item) ? NULL : place_of(shown, item);
        TABLE_ROW(rows, grammar_item_cells, .rule = rule, .position = position++,
                  .item_rule = what ? UINT64_MAX : rule_of(item),
                  .item_place = what ? item->symbol : UINT64_MAX,
                  .function = what ? what->at.function : NULL,
                  .place = what ? place_cells__of_class(rows, shown->report, what) : PLACE_NOWHERE,
                  .of = *item);
    }
    vec__free(&items);
}

struct rule_cells {
    const struct grammar_report *shown;
    uint64_t rule, length, count;
};

static struct table_rows item_rows(const void *row)
{
    const struct rule_cells *cells = row;
    struct table_rows rows = table_rows__of(&items_table);
    add_items(&rows, cells->shown, cells->rule);
    return rows;
}

static const struct table rules_table =
    OBJECT(rule_cells, FIELDS(rule_cells, rule, length, count), FIELD_LIST("items", item_rows));

struct grammar_document {
    struct run_cells run;
    const struct grammar_report *shown;
    uint32_t tid;
    const char *thread;
};

static struct table_rows rule_rows(const void *root)
{
    const struct grammar_report *shown = ((const struct grammar_document *)root)->shown;
    struct table_rows rows = table_rows__of(&rules_table);
    for (size_t i = 0; i < grammar__rules(shown->grammar); i++)
        TABLE_ROW(&rows, rule_cells, shown, i, grammar__length(shown->grammar, i),
                  grammar__uses(shown->grammar, i));
    return rows;
}

static struct table_rows place_rows(const void *root)
{
    const struct grammar_report *shown = ((const struct grammar_document *)root)->shown;
    struct table_rows rows = table_rows__of(&identity_table);
    VEC_EACH (place, &shown->structure->places, struct structure_place)
        *(struct identity_cells *)table_rows__add(&rows) =
            identity_cells__of(&rows, shown->report, &place->what);
    return rows;
}

static const struct table document_table =
    OBJECT(grammar_document, FIELD_SCHEMA("heurt.structure.grammar/1"), FIELD_COMMAND,
           FIELDS(grammar_document, tid, thread), FIELD_LIST("places", place_rows),
           FIELD_LIST("rules", rule_rows), FIELD_WARNINGS);

static void put_json(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    document__put(&document_table,
                  &(struct grammar_document){run_cells__of(shown->report), shown,
                                             thread_of(shown)->tid, thread_of(shown)->name},
                  out);
}

const struct grammar_presenter grammar_json = {put_json};

static void put_csv(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    struct table_rows rows = table_rows__of(&items_table);
    for (size_t rule = 0; rule < grammar__rules(shown->grammar); rule++)
        add_items(&rows, shown, rule);
    table_rows__put_csv(rows, out);
}

const struct grammar_presenter grammar_csv = {put_csv};
