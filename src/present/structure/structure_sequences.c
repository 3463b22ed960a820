/* heurt structure: sequences that occur in several places. */
#include "base/memory.h"
#include "present/structure/internal.h"

#include <inttypes.h>
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
        return function__short(class__function(
            shown->report,
            &VEC_AT(&shown->structure->places, struct structure_place, shape->symbol)->what));
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

/* ---- in a document --------------------------------------------------------------------------- */

/* function, loop or sequence: one of them is known. */
struct sequence_item_cells {
    const struct structure_report *shown;
    struct sequence_item of;
    const char *function;
    uint64_t sequence;
};

static struct table_rows loop_rows(const void *row);

static const struct table items_table =
    OBJECT(sequence_item_cells, FIELD("function", sequence_item_cells, function),
           FIELD_LIST("loop", loop_rows), FIELD("sequence", sequence_item_cells, sequence),
           FIELD("times", sequence_item_cells, of.count));

static void add_item(struct table_rows *rows, const struct structure_report *shown,
                     const struct sequence_item *item)
{
    const struct shape *shape =
        item->is_sequence ? NULL : shapes__get(shown->structure->shapes, item->what);
    bool is_place = shape && shape->kind == SHAPE_OCCURRENCE;
    TABLE_ROW(rows, sequence_item_cells, shown, *item,
              is_place ? VEC_AT(&shown->structure->places, struct structure_place, shape->symbol)
                             ->what.at.function
                       : NULL,
              item->is_sequence ? item->what : UINT64_MAX);
}

static struct table_rows loop_rows(const void *row)
{
    const struct sequence_item_cells *cells = row;
    const struct shapes *shapes = cells->shown->structure->shapes;
    bool is_loop = !cells->function && !cells->of.is_sequence;
    struct table_rows rows = table_rows__of(is_loop ? &items_table : NULL);
    for (uint32_t i = 0; is_loop && i < shapes__get(shapes, cells->of.what)->item_count; i++)
        add_item(&rows, cells->shown,
                 &(struct sequence_item){false, shapes__items(shapes, cells->of.what)[i].shape, 1});
    return rows;
}

struct sequence_cells {
    const struct structure_report *shown;
    uint64_t sequence;
    struct sequence of; /* its figures as they are */
    double share;
};

static struct table_rows item_rows(const void *row)
{
    const struct sequence_cells *cells = row;
    struct table_rows rows = table_rows__of(&items_table);
    VEC_EACH (item, &cells->of.items, struct sequence_item)
        add_item(&rows, cells->shown, item);
    return rows;
}

static const struct table sequences_table = OBJECT(
    sequence_cells, FIELD("sequence", sequence_cells, sequence), FIELD_LIST("items", item_rows),
    FIELDS_OF(sequence_cells, of, length, places), FIELD("count", sequence_cells, of.occurrences),
    FIELD("sum_ns", sequence_cells, of.sum_ns), FIELD("share", sequence_cells, share));

struct table_rows sequence_rows(const struct structure_report *shown)
{
    struct table_rows rows = table_rows__of(&sequences_table);
    for (uint32_t i = 0; i < shown->sequences->rows.count && i < SEQUENCES_OF_DATA; i++)
        TABLE_ROW(&rows, sequence_cells, shown, i, *sequence_at(shown, i),
                  sequence__share(shown->sequences, sequence_at(shown, i)));
    return rows;
}
