/* heurt structure --grammar. The JSON contract is in docs/heurt-structure.md. */
#include "present/structure/structure_grammar.h"

#include "base/memory.h"
#include "present/screen/csv_line.h"
#include "present/screen/json_members.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

#define RULE_COLUMN 8 /* where the items begin */

static const struct trace_thread *thread_of(const struct grammar_report *shown)
{
    return VEC_AT(trace__threads(shown->report->trace), struct trace_thread, shown->thread);
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
    char *name = function__short(class->at.function);
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
    flow__take(&flow, report__command(shown->report), INK_BOLD, 3);
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct json_object *new_item(const struct grammar_item *item)
{
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"rule", is_rule(item) ? rule_of(item) : UINT64_MAX},
                 {"place", is_rule(item) ? UINT64_MAX : item->symbol}, {"times", item->count});
    return object;
}

static struct json_object *new_rule(const struct grammar_report *shown, size_t rule)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();
    struct vec items = items_of(shown, rule);
    VEC_EACH (item, &items, struct grammar_item)
        json_object_array_add(list, new_item(item));
    vec__free(&items);
    JSON_NUMBERS(object, {"rule", rule}, {"length", grammar__length(shown->grammar, rule)},
                 {"count", grammar__uses(shown->grammar, rule)});
    json__add(object, "items", list);
    return object;
}

static struct json_object *new_places(const struct grammar_report *shown)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (place, &shown->structure->places, struct structure_place) {
        struct json_object *object = json__entry(list);
        json__text(object, "class_kind", class_kind__name(place->what.at.kind));
        json__identity(object, shown->report, &place->what);
    }
    return list;
}

static void put_json(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object(), *rules = json_object_new_array();
    json__text(root, "schema", "heurt.structure.grammar/1");
    json__command(root, shown->report);
    json__number(root, "tid", thread_of(shown)->tid);
    json__text(root, "thread", thread_of(shown)->name);
    json__add(root, "places", new_places(shown));
    for (size_t i = 0; i < grammar__rules(shown->grammar); i++)
        json_object_array_add(rules, new_rule(shown, i));
    json__add(root, "rules", rules);
    json__warnings(root, shown->report);
    json__put(root, out);
}

const struct grammar_presenter grammar_json = {put_json};

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_csv_item(const struct grammar_report *shown, size_t rule, size_t position,
                         const struct grammar_item *item, FILE *out)
{
    char unknown[32];
    struct csv_line line = {out, false};
    struct place place = {0};
    if (!is_rule(item))
        place = place__of_class(shown->report, place_of(shown, item), unknown);
    line__number(&line, rule);
    line__number(&line, position);
    if (is_rule(item))
        line__number(&line, rule_of(item));
    else
        line__text(&line, "");
    line__text(&line, is_rule(item) ? "" : place_of(shown, item)->at.function);
    line__text(&line, place.file);
    line__source_line(&line, place.line);
    line__number(&line, item->count);
    fputc('\n', out);
}

static void put_csv(const struct grammar_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    fputs("rule,position,item_rule,function,file,line,times\n", out);
    for (size_t rule = 0; rule < grammar__rules(shown->grammar); rule++) {
        struct vec items = items_of(shown, rule);
        for (size_t i = 0; i < items.count; i++)
            put_csv_item(shown, rule, i, VEC_AT(&items, struct grammar_item, i), out);
        vec__free(&items);
    }
}

const struct grammar_presenter grammar_csv = {put_csv};
