/* heurt structure: sequences that occur in several places. */
#include "base/memory.h"
#include "present/leaves.h"
#include "present/structure_shared.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

#define SEQUENCES_AT_MOST 8
#define SHARE_FROM 0.005 /* of all threads' time */
#define NAMES_AT_MOST 12 /* of one sequence */

static const struct sequence *sequence_at(const struct structure_report *shown, uint32_t row)
{
    return VEC_AT(&shown->sequences->rows, struct sequence, row);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void add_names(const struct structure_report *shown, uint32_t row, char **text,
                      unsigned *names, const struct style *style);

static void add_name(char **text, const char *name, unsigned *names, const struct style *style)
{
    if (*names <= NAMES_AT_MOST)
        *text = list_text(*text, *names < NAMES_AT_MOST ? name : ellipsis(style));
    ++*names;
}

/* Of a loop what stands in it, in parentheses. */
static char *shape_text(const struct structure_report *shown, uint32_t number,
                        const struct style *style)
{
    const struct shapes *shapes = shown->structure->shapes;
    const struct shape *shape = shapes__get(shapes, number);
    if (shape->kind == SHAPE_OCCURRENCE)
        return function__short(
            VEC_AT(&shown->structure->places, struct structure_place, shape->symbol)
                ->what.function);
    char *text = memory__text("");
    unsigned names = 0;
    for (uint32_t i = 0; i < shape->item_count; i++) {
        char *name = shape_text(shown, shapes__items(shapes, number)[i].shape, style);
        add_name(&text, name, &names, style);
        free(name);
    }
    char *loop = memory__format("loop (%s)", text);
    free(text);
    return loop;
}

static void add_item(const struct structure_report *shown, const struct sequence_item *item,
                     char **text, unsigned *names, const struct style *style)
{
    for (uint64_t i = 0; i < item->count && *names <= NAMES_AT_MOST; i++) {
        if (item->is_sequence) {
            add_names(shown, item->what, text, names, style);
            continue;
        }
        char *name = shape_text(shown, item->what, style);
        add_name(text, name, names, style);
        free(name);
    }
}

/* Sequences in it are spelled out, too. */
static void add_names(const struct structure_report *shown, uint32_t row, char **text,
                      unsigned *names, const struct style *style)
{
    VEC_EACH(item, &sequence_at(shown, row)->items, struct sequence_item)
    add_item(shown, item, text, names, style);
}

/* ---- the section ------------------------------------------------------------------------------
 */

static bool is_shown(const struct structure_report *shown, const struct sequence *sequence)
{
    return sequence->occurrences > 1 && sequence__share(shown->sequences, sequence) >= SHARE_FROM;
}

static void put_sequence(struct table *table, const struct structure_report *shown, uint32_t row,
                         const struct style *style)
{
    const struct sequence *sequence = sequence_at(shown, row);
    char *text = memory__text("");
    unsigned names = 0;
    add_names(shown, row, &text, &names, style);
    table__take(table, text, INK_PLAIN);
    table__count(table, sequence->occurrences);
    table__count(table, sequence->places);
    table__duration(table, sequence->sum_ns);
    table__share(table, sequence__share(shown->sequences, sequence));
}

void sequences__put(const struct structure_report *shown, const struct style *style, FILE *out)
{
    static const struct table_column columns[] = {{"in this order", ALIGN_LEFT, true},
                                                  {"count", ALIGN_RIGHT, false},
                                                  {"places", ALIGN_RIGHT, false},
                                                  {"time", ALIGN_RIGHT, false},
                                                  {"share", ALIGN_RIGHT, false}};
    struct table table = table__start(columns, 5, 2);
    unsigned put = 0;
    for (uint32_t i = 0; i < shown->sequences->rows.count && put < SEQUENCES_AT_MOST; i++)
        if (is_shown(shown, sequence_at(shown, i))) {
            put_sequence(&table, shown, i, style);
            put++;
        }
    if (put)
        heading__put(style, out, "  Sequences that occur in several places:");
    if (put)
        table__end(&table, style, out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static struct json_object *new_item(const struct structure_report *shown,
                                    const struct sequence_item *item);

static struct json_object *new_loop(const struct structure_report *shown, uint32_t number)
{
    const struct shapes *shapes = shown->structure->shapes;
    struct json_object *body = json_object_new_array();
    for (uint32_t i = 0; i < shapes__get(shapes, number)->item_count; i++) {
        const struct sequence_item item = {false, shapes__items(shapes, number)[i].shape, 1};
        json_object_array_add(body, new_item(shown, &item));
    }
    return body;
}

/* function, loop or sequence: one of them is not null. */
static struct json_object *new_item(const struct structure_report *shown,
                                    const struct sequence_item *item)
{
    struct json_object *object = json_object_new_object();
    const struct shape *shape =
        item->is_sequence ? NULL : shapes__get(shown->structure->shapes, item->what);
    bool is_place = shape && shape->kind == SHAPE_OCCURRENCE;
    json__text(object, "function",
               is_place ? VEC_AT(&shown->structure->places, struct structure_place, shape->symbol)
                              ->what.function
                        : NULL);
    json__add(object, "loop", shape && !is_place ? new_loop(shown, item->what) : NULL);
    json__known(object, "sequence", item->is_sequence ? item->what : UINT64_MAX);
    json__number(object, "times", item->count);
    return object;
}

static struct json_object *new_sequence(const struct structure_report *shown, uint32_t row)
{
    const struct sequence *sequence = sequence_at(shown, row);
    struct json_object *object = json_object_new_object(), *items = json_object_new_array();
    VEC_EACH(item, &sequence->items, struct sequence_item)
    json_object_array_add(items, new_item(shown, item));
    json__number(object, "sequence", row);
    json__add(object, "items", items);
    json__number(object, "length", sequence->length);
    json__number(object, "places", sequence->places);
    json__number(object, "count", sequence->occurrences);
    json__number(object, "sum_ns", sequence->sum_ns);
    json__share(object, "share", sequence__share(shown->sequences, sequence));
    return object;
}

struct json_object *sequences__json(const struct structure_report *shown)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < shown->sequences->rows.count; i++)
        json_object_array_add(list, new_sequence(shown, i));
    return list;
}
