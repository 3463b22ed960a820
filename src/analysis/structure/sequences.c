#include "analysis/structure/sequences.h"

#include "analysis/structure/grammar.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define ENDS (UINT32_C(1) << 30) /* symbols from here on stand between bodies; shapes are less */

/* A body as it looks on the surface; shapes whose bodies look alike have one. */
struct sequence_body {
    size_t first, count; /* in the string */
    uint64_t weight;     /* how often it occurred */
};

struct sequence_finder {
    const struct trace *trace;
    struct shapes *shapes;
    struct vec string; /* uint32_t: surfaces and ends */
    struct vec ticks;  /* uint64_t, by place in the string: what the items took */
    struct vec bodies; /* struct sequence_body */
    struct map known;  /* surfaces of a body -> index into bodies */
    struct vec key;    /* uint32_t: of the body that is looked up */
    struct grammar *grammar;
    struct sequences *found;
};

/* ---- the string ------------------------------------------------------------------------------ */

static void add_end(struct sequence_finder *finder)
{
    uint32_t end = ENDS + (uint32_t)finder->bodies.count;
    vec__push(&finder->string, &end);
    vec__push(&finder->ticks, NULL);
}

static struct sequence_body *body_of(struct sequence_finder *finder)
{
    const struct vec *key = &finder->key;
    size_t at =
        map__put(&finder->known, key->items, key->count * sizeof(uint32_t), finder->bodies.count);
    if (at < finder->bodies.count)
        return VEC_AT(&finder->bodies, struct sequence_body, at);
    const struct sequence_body body = {.first = finder->string.count, .count = key->count};
    VEC_EACH (surface, key, uint32_t) {
        vec__push(&finder->string, surface);
        vec__push(&finder->ticks, NULL);
    }
    vec__push(&finder->bodies, &body);
    add_end(finder);
    return VEC_AT(&finder->bodies, struct sequence_body, at);
}

static void add_body(struct sequence_finder *finder, uint32_t shape)
{
    uint32_t count = shapes__get(finder->shapes, shape)->item_count;
    finder->key.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t surface =
            shapes__cut(finder->shapes, shapes__items(finder->shapes, shape)[i].shape, 0);
        vec__push(&finder->key, &surface);
    }
    struct sequence_body *body = body_of(finder);
    body->weight += shapes__get(finder->shapes, shape)->time.count;
    for (uint32_t i = 0; i < count; i++)
        *VEC_AT(&finder->ticks, uint64_t, body->first + i) +=
            shapes__items(finder->shapes, shape)[i].time.sum;
}

/* Surfaces, which are shapes, too, never occurred; what a choice consists of has no order. */
static void write_string(struct sequence_finder *finder)
{
    uint32_t count = (uint32_t)shapes__count(finder->shapes);
    for (uint32_t i = 0; i < count; i++) {
        const struct shape *shape = shapes__get(finder->shapes, i);
        if (shape->item_count && shape->time.count && shape->kind != SHAPE_CHOICE)
            add_body(finder, i);
    }
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* Rule number 1 is the first row. */
static void add_rule(struct sequence_finder *finder, size_t rule)
{
    struct sequence *sequence = vec__push(&finder->found->rows, NULL);
    sequence->items = VEC_OF(struct sequence_item);
    sequence->length = grammar__length(finder->grammar, rule);
    struct vec items = VEC_OF(struct grammar_item);
    grammar__rule(finder->grammar, rule, &items);
    VEC_EACH (item, &items, struct grammar_item) {
        bool is_rule = (item->symbol & GRAMMAR_RULE) != 0;
        uint32_t what = is_rule ? (item->symbol & ~GRAMMAR_RULE) - 1 : item->symbol;
        vec__push(&sequence->items, &(struct sequence_item){is_rule, what, item->count});
    }
    vec__free(&items);
}

/* The sequence stands at *at, in a body of that weight; *at moves behind it. Returns its ticks. */
static uint64_t visit(struct sequence_finder *finder, size_t row, size_t *at, uint64_t weight)
{
    uint64_t ticks = 0;
    struct sequence *sequence = VEC_AT(&finder->found->rows, struct sequence, row);
    sequence->places++;
    sequence->occurrences += weight;
    VEC_EACH (item, &sequence->items, struct sequence_item)
        for (uint64_t i = 0; i < item->count; i++)
            ticks += item->is_sequence ? visit(finder, item->what, at, weight)
                                       : *VEC_AT(&finder->ticks, uint64_t, (*at)++);
    sequence->sum_ns += ticks; /* ns at the end */
    return ticks;
}

/* Every place where a rule stands, and so at most as many as the string is long. */
static void visit_all(struct sequence_finder *finder)
{
    size_t at = 0, body = 0;
    struct vec items = VEC_OF(struct grammar_item);
    grammar__rule(finder->grammar, 0, &items);
    VEC_EACH (item, &items, struct grammar_item)
        for (uint64_t i = 0; i < item->count; i++) {
            while (at > VEC_AT(&finder->bodies, struct sequence_body, body)->first +
                            VEC_AT(&finder->bodies, struct sequence_body, body)->count)
                body++;
            if (item->symbol & GRAMMAR_RULE)
                visit(finder, (item->symbol & ~GRAMMAR_RULE) - 1, &at,
                      VEC_AT(&finder->bodies, struct sequence_body, body)->weight);
            else
                at++;
        }
    vec__free(&items);
}

/* ---- the table ------------------------------------------------------------------------------- */

struct ranked_sequence {
    struct sequence sequence;
    uint32_t row; /* as the grammar numbers it */
};

static int by_time(const void *left, const void *right)
{
    const struct ranked_sequence *one = left, *other = right;
    int order = ORDER(other->sequence.sum_ns, one->sequence.sum_ns);
    return order ?: ORDER(one->row, other->row);
}

/* Sorts the rows, and has items name them as they stand then. */
static void rank(struct vec *rows)
{
    size_t count = rows->count;
    struct ranked_sequence *ranked = memory__zeroed(count, sizeof *ranked);
    uint32_t *places = memory__zeroed(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked_sequence){*VEC_AT(rows, struct sequence, i), i};
    if (count)
        qsort(ranked, count, sizeof *ranked, by_time);
    for (uint32_t i = 0; i < count; i++) {
        places[ranked[i].row] = i;
        *VEC_AT(rows, struct sequence, i) = ranked[i].sequence;
    }
    VEC_EACH (sequence, rows, struct sequence)
        VEC_EACH (item, &sequence->items, struct sequence_item)
            if (item->is_sequence)
                item->what = places[item->what];
    free(ranked);
    free(places);
}

static void find(struct sequence_finder *finder)
{
    finder->grammar = grammar__new();
    VEC_EACH (symbol, &finder->string, uint32_t)
        grammar__add(finder->grammar, *symbol);
    grammar__end(finder->grammar);
    for (size_t rule = 1; rule < grammar__rules(finder->grammar); rule++)
        add_rule(finder, rule);
    visit_all(finder);
    VEC_EACH (sequence, &finder->found->rows, struct sequence)
        sequence->sum_ns = trace__ns(finder->trace, sequence->sum_ns);
    rank(&finder->found->rows);
    grammar__free(finder->grammar);
}

struct sequences *sequences__find(const struct trace *trace, const struct structure *structure)
{
    struct sequence_finder finder = {.trace = trace,
                                     .shapes = structure->shapes,
                                     .string = VEC_OF(uint32_t),
                                     .ticks = VEC_OF(uint64_t),
                                     .bodies = VEC_OF(struct sequence_body),
                                     .key = VEC_OF(uint32_t),
                                     .found = memory__zeroed(1, sizeof(struct sequences))};
    finder.found->rows = VEC_OF(struct sequence);
    VEC_EACH (thread, &structure->threads, struct structure_thread)
        finder.found->lifetime_ns += trace__ns(trace, thread->lifetime);
    write_string(&finder);
    find(&finder);
    vec__free(&finder.string);
    vec__free(&finder.ticks);
    vec__free(&finder.bodies);
    vec__free(&finder.key);
    map__free(&finder.known);
    return finder.found;
}

void sequences__free(struct sequences *sequences)
{
    if (!sequences)
        return;
    VEC_EACH (sequence, &sequences->rows, struct sequence)
        vec__free(&sequence->items);
    vec__free(&sequences->rows);
    free(sequences);
}

double sequence__share(const struct sequences *sequences, const struct sequence *sequence)
{
    if (!sequences->lifetime_ns)
        return 0;
    double share = (double)sequence->sum_ns / (double)sequences->lifetime_ns;
    return share > 1 ? 1 : share;
}
