/* heurt structure: sequences that occur in several places. */
#include "base/memory.h"
#include "present/screen/json_members.h"
#include "present/structure/internal.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENCES_AT_MOST 5
#define SEQUENCES_OF_DATA 1000
#define COUNT_FROM 3
#define LENGTH_AT_MOST 12
#define SHARE_FROM 0.005 /* of all threads' time */
#define NAMES_AT_MOST 12 /* of one sequence */

static const struct sequence *sequence_at(const struct structure_report *shown, uint32_t row)
{
    return VEC_AT(&shown->sequences->rows, struct sequence, row);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names in a row; equal neighbours are one, with a number. */
struct listing {
    const struct structure_report *shown;
    const struct style *style;
    char *text, *last; /* last: not yet in text, or NULL */
    unsigned times;    /* of it */
    unsigned names;    /* that were begun; more than NAMES_AT_MOST: the last ones are left out */
};

static void put_last(struct listing *listing)
{
    const char *times = listing->style->unicode ? "×" : "x";
    if (!listing->last)
        return;
    char *name = listing->times > 1
                     ? memory__format("%s %s%u", listing->last, times, listing->times)
                     : memory__text(listing->last);
    listing->text = list_text(listing->text, name);
    free(name);
    free(listing->last);
    listing->last = NULL;
}

/* Takes over name. */
static void add_name(struct listing *listing, char *name)
{
    if (listing->last && strcmp(listing->last, name) == 0) {
        listing->times++;
        free(name);
        return;
    }
    put_last(listing);
    listing->names++;
    if (listing->names > NAMES_AT_MOST) {
        free(name);
        return;
    }
    listing->last = name;
    listing->times = 1;
}

static struct listing start_listing(const struct structure_report *shown, const struct style *style)
{
    return (struct listing){.shown = shown, .style = style, .text = memory__text("")};
}

/* free() it. */
static char *end_listing(struct listing *listing)
{
    put_last(listing);
    return listing->names > NAMES_AT_MOST ? list_text(listing->text, ellipsis(listing->style))
                                          : listing->text;
}

/* Of a loop what stands in it, in parentheses. free() it. */
static char *shape_text(const struct structure_report *shown, uint32_t number,
                        const struct style *style)
{
    const struct shapes *shapes = shown->structure->shapes;
    const struct shape *shape = shapes__get(shapes, number);
    if (shape->kind == SHAPE_OCCURRENCE)
        return function__short(
            VEC_AT(&shown->structure->places, struct structure_place, shape->symbol)
                ->what.at.function);
    struct listing listing = start_listing(shown, style);
    for (uint32_t i = 0; i < shape->item_count && listing.names <= NAMES_AT_MOST; i++)
        add_name(&listing, shape_text(shown, shapes__items(shapes, number)[i].shape, style));
    char *text = end_listing(&listing);
    const char *form = shape->kind == SHAPE_CHOICE ? "loop (one of %s)"
                       : shape->kind == SHAPE_LOOP ? "loop (%s)"
                                                   : "(%s)";
    char *loop = memory__format(form, text);
    free(text);
    return loop;
}

/* Sequences in it are spelled out, too. */
static void add_sequence(struct listing *listing, uint32_t row)
{
    VEC_EACH (item, &sequence_at(listing->shown, row)->items, struct sequence_item)
        for (uint64_t i = 0; i < item->count && listing->names <= NAMES_AT_MOST; i++)
            if (item->is_sequence)
                add_sequence(listing, item->what);
            else
                add_name(listing, shape_text(listing->shown, item->what, listing->style));
}

/* ---- the section ----------------------------------------------------------------------------- */

static bool is_shown(const struct structure_report *shown, const struct sequence *sequence)
{
    return sequence->occurrences >= COUNT_FROM && sequence->length <= LENGTH_AT_MOST &&
           sequence__share(shown->sequences, sequence) >= SHARE_FROM;
}

static void put_sequence(struct grid *grid, const struct structure_report *shown, uint32_t row,
                         const struct style *style)
{
    const struct sequence *sequence = sequence_at(shown, row);
    struct listing listing = start_listing(shown, style);
    add_sequence(&listing, row);
    grid__take(grid, end_listing(&listing), INK_PLAIN);
    grid__count(grid, sequence->occurrences);
    grid__count(grid, sequence->places);
    grid__duration(grid, sequence->sum_ns);
    grid__share(grid, sequence__share(shown->sequences, sequence));
}

void sequences__put(const struct structure_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"in this order", WRAPPED},
                                                 {"count", RIGHT},
                                                 {"places", RIGHT},
                                                 {"time", RIGHT},
                                                 {"share", RIGHT}};
    struct grid grid = grid__start(columns, 5, 2);
    unsigned put = 0;
    for (uint32_t i = 0; i < shown->sequences->rows.count && put < SEQUENCES_AT_MOST; i++)
        if (is_shown(shown, sequence_at(shown, i))) {
            put_sequence(&grid, shown, i, style);
            put++;
        }
    if (put)
        heading__put(style, out, "  Sequences that occur in several places:");
    if (put)
        grid__end(&grid, style, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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
                              ->what.at.function
                        : NULL);
    json__add(object, "loop", shape && !is_place ? new_loop(shown, item->what) : NULL);
    JSON_NUMBERS(object, {"sequence", item->is_sequence ? item->what : UINT64_MAX},
                 {"times", item->count});
    return object;
}

static struct json_object *new_sequence(const struct structure_report *shown, uint32_t row)
{
    const struct sequence *sequence = sequence_at(shown, row);
    struct json_object *object = json_object_new_object(), *items = json_object_new_array();
    VEC_EACH (item, &sequence->items, struct sequence_item)
        json_object_array_add(items, new_item(shown, item));
    json__number(object, "sequence", row);
    json__add(object, "items", items);
    JSON_NUMBERS(object, {"length", sequence->length}, {"places", sequence->places},
                 {"count", sequence->occurrences}, {"sum_ns", sequence->sum_ns});
    json__share(object, "share", sequence__share(shown->sequences, sequence));
    return object;
}

struct json_object *sequences__json(const struct structure_report *shown)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < shown->sequences->rows.count && i < SEQUENCES_OF_DATA; i++)
        json_object_array_add(list, new_sequence(shown, i));
    return list;
}
