#include "analysis/structure/outline.h"

#include "analysis/structure/outline_groups.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define UNRECORDED_FROM 0.02 /* of the group's lifetime */
#define OUTERMOST_FROM 0.1   /* of the group's lifetime */
#define FITTING_FIRST 0.001  /* shares that are tried */
#define FITTING_STEP 1.5
#define FITTING_SHARE_MAX 0.2
#define ANY_SURFACE (SHAPE_NONE - 1)

struct outliner {
    const struct trace *trace;
    const struct structure *structure;
    const struct outline_options *options;
    struct outline *outline;
    struct outline_shapes known;
    struct vec spelled;           /* uint32_t, by shape: row + 1 that has its body; 0: none yet */
    uint64_t least;               /* ticks: rows that take less are folded */
    uint64_t unrecorded_from;     /* likewise, of what is not recorded */
    const uint32_t *root_threads; /* of the group: OUTLINE_ROOTS */
    uint32_t group;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static struct outline_row new_row(const struct outliner *outliner, enum outline_kind kind,
                                  uint32_t depth)
{
    return (struct outline_row){
        .kind = kind, .depth = depth, .group = outliner->group, .same_as = OUTLINE_NONE};
}

static struct outline_row *add_row(struct outliner *outliner, enum outline_kind kind,
                                   uint32_t depth)
{
    const struct outline_row row = new_row(outliner, kind, depth);
    return vec__push(&outliner->outline->rows, &row);
}

static uint32_t threads_of(const struct outliner *outliner, uint64_t roots)
{
    uint32_t threads = 0;
    for (unsigned i = 0; i < OUTLINE_ROOTS; i++)
        threads += roots >> i & 1 ? outliner->root_threads[i] : 0;
    return threads;
}

static uint64_t ns_or_unknown(const struct outliner *outliner, uint64_t ticks)
{
    return ticks == UINT64_MAX ? ticks : trace__ns(outliner->trace, ticks);
}

/* Of the iterations of the node's choices; alternatives of one head are those of one choice. */
static uint32_t kinds_of(const struct outliner *outliner, const struct outline_node *node)
{
    uint32_t kinds = 0;
    VEC_EACH (part, &node->parts, struct outline_part) {
        const struct shape *shape = shapes__get(outliner->structure->shapes, part->shape);
        if (shape->kind == SHAPE_CHOICE && shape->item_count > kinds)
            kinds = shape->item_count;
    }
    return kinds;
}

static void fill_row(const struct outliner *outliner, struct outline_row *row,
                     const struct outline_node *node)
{
    const struct outline_part all = node__all(node);
    const struct shape *shape = shapes__get(outliner->structure->shapes, all.shape);
    row->place = shape->symbol;
    row->threads = threads_of(outliner, all.roots);
    row->shapes = (uint32_t)node->parts.count;
    row->is_count_estimated = all.is_count_estimated;
    row->is_estimated = all.is_estimated;
    row->is_excess_estimated = all.is_excess_estimated;
    row->count = all.bodies;
    row->iterations = all.iterations;
    row->loops = row->kind == OUTLINE_LOOP ? all.time.count : 0;
    row->kinds = kinds_of(outliner, node);
    row->sum_ns = trace__ns(outliner->trace, all.time.sum);
    row->min_ns = ns_or_unknown(outliner, all.time.min);
    row->max_ns = ns_or_unknown(outliner, all.time.max);
    row->excess_ns = trace__ns(outliner->trace, all.excess);
}

/* The row that has the bodies of all parts; OUTLINE_NONE: they are spelled out now. */
static uint32_t spelled_in(struct outliner *outliner, const struct outline_node *node, uint32_t row)
{
    uint32_t first = OUTLINE_NONE;
    bool all = true;
    VEC_EACH (part, &node->parts, struct outline_part) {
        uint32_t *known = VEC_AT(&outliner->spelled, uint32_t, part->shape);
        if (*known && first == OUTLINE_NONE)
            first = *known - 1;
        all &= *known != 0;
        if (!*known)
            *known = row + 1;
    }
    return all ? first : OUTLINE_NONE;
}

static bool has_body(const struct outliner *outliner, const struct outline_node *node)
{
    VEC_EACH (part, &node->parts, struct outline_part)
        if (shapes__get(outliner->structure->shapes, part->shape)->item_count)
            return true;
    return false;
}

static void put_body(struct outliner *outliner, struct outline_node *node, uint32_t depth);

static bool ends_here(const struct outliner *outliner, uint32_t depth)
{
    unsigned limit = outliner->options->depth;
    return depth + 1 >= OUTLINE_DEPTH_MAX || (limit && depth + 1 >= limit);
}

static bool is_loop(const struct outliner *outliner, const struct outline_node *node)
{
    const struct outline_part *first = VEC_AT(&node->parts, struct outline_part, 0);
    return shape__row_kind(shapes__get(outliner->structure->shapes, first->shape)) == OUTLINE_LOOP;
}

/* A loop that ran once here and there, and more often elsewhere, among others of its kind:
 * iterations that differ by chance look so. Where loops are meant, they run twice at least. */
static bool may_iteration_once(const struct outline_node *node)
{
    return node__all(node).iterations.min == 1;
}

/* The place with which the node's bodies begin. */
static uint32_t head_of(const struct outliner *outliner, const struct outline_node *node)
{
    const struct shapes *shapes = outliner->structure->shapes;
    uint32_t number = VEC_AT(&node->parts, struct outline_part, 0)->shape;
    while (shapes__get(shapes, number)->kind == SHAPE_LOOP)
        number = shapes__items(shapes, number)[0].shape;
    return shapes__get(shapes, number)->symbol;
}

/* Loops with one head. Several of them only when each may run once. */
static bool are_one_loop(const struct outliner *outliner, const struct vec *nodes)
{
    const struct outline_node *first = nodes->items;
    VEC_EACH (node, nodes, struct outline_node) {
        if (!is_loop(outliner, node) || head_of(outliner, node) != head_of(outliner, first) ||
            (nodes->count > 1 && !may_iteration_once(node)))
            return false;
    }
    return nodes->count > 0;
}

/* The loop that the node's bodies consist of, when there is nothing else in them, all of several
 * that differ in their iterations; the caller frees its parts. */
static bool only_loop(struct outliner *outliner, struct outline_node *node,
                      struct outline_node *inner)
{
    size_t left_out;
    if (!is_loop(outliner, node))
        return false;
    struct vec nodes = node__body(&outliner->known, node, &left_out);
    bool is_only = left_out == 0 && are_one_loop(outliner, &nodes);
    if (is_only) {
        *inner = (struct outline_node){.surface = VEC_AT(&nodes, struct outline_node, 0)->surface,
                                       .parts = VEC_OF(struct outline_part)};
        VEC_EACH (only, &nodes, struct outline_node)
            node__join(inner, only);
        node__tidy(inner);
    }
    nodes__free(&nodes);
    return is_only;
}

/* Loops of nothing but loops of one head are one loop of what these consist of. Of the inner
 * ones it is not known how many iterations each outer one had. */
static void unnest(struct outliner *outliner, struct outline_node *node, struct outline_row *row)
{
    struct outline_node inner;
    const struct outline_part whole = node__all(node);
    bool any = false;
    for (; only_loop(outliner, node, &inner); any = true) {
        vec__free(&node->parts);
        *node = inner;
    }
    fill_row(outliner, row, node);
    if (!any)
        return;
    row->loops = whole.time.count;
    row->iterations.min = row->iterations.max = row->loops == 1 ? row->count : UINT64_MAX;
    row->sum_ns = trace__ns(outliner->trace, whole.time.sum);
    row->is_count_estimated |= whole.is_count_estimated;
    row->is_estimated |= whole.is_estimated;
}

/* Nodes of one surface together, in the order of their first ones. */
struct gathered {
    struct vec nodes;      /* struct outline_node */
    struct map by_surface; /* -> index into nodes */
};

/* Of loops what they consist of is gathered. */
static void gather(struct outliner *outliner, struct gathered *gathered, struct outline_node *node)
{
    if (is_loop(outliner, node)) {
        size_t left_out;
        struct vec body = node__body(&outliner->known, node, &left_out);
        VEC_EACH (child, &body, struct outline_node)
            gather(outliner, gathered, child);
        nodes__free(&body);
        return;
    }
    size_t at = map__put(&gathered->by_surface, &node->surface, sizeof node->surface,
                         gathered->nodes.count);
    if (at == gathered->nodes.count) {
        struct outline_node *added = vec__push(&gathered->nodes, NULL);
        added->surface = node->surface;
        added->parts = VEC_OF(struct outline_part);
    }
    node__join(VEC_AT(&gathered->nodes, struct outline_node, at), node);
}

static struct outline_node copy_of(const struct outline_node *node)
{
    struct outline_node copy = {.surface = node->surface, .parts = VEC_OF(struct outline_part)};
    node__join(&copy, node);
    node__tidy(&copy);
    return copy;
}

static void put_node(struct outliner *outliner, const struct outline_node *node, uint32_t depth)
{
    struct outline_row row =
        new_row(outliner, is_loop(outliner, node) ? OUTLINE_LOOP : OUTLINE_OCCURRENCE, depth);
    struct outline_node shown = copy_of(node);
    uint32_t number = (uint32_t)outliner->outline->rows.count;
    unnest(outliner, &shown, &row);
    bool has = has_body(outliner, &shown);
    row.is_cut = has && ends_here(outliner, depth);
    if (has && !row.is_cut)
        row.same_as = spelled_in(outliner, &shown, number);
    vec__push(&outliner->outline->rows, &row);
    if (has && !row.is_cut && row.same_as == OUTLINE_NONE)
        put_body(outliner, &shown, depth + 1);
    vec__free(&shown.parts);
}

/* A place among the names of what is folded. */
static void fold_into(struct outliner *outliner, struct outline_row *rest,
                      const struct outline_node *node)
{
    const struct outline_part *part = VEC_AT(&node->parts, struct outline_part, 0);
    vec__push(&outliner->outline->folded,
              &shapes__get(outliner->structure->shapes, part->shape)->symbol);
    rest->folded_count++;
}

/* Places that take enough where all that is small is put together have a row each. Returns their
 * ticks. */
static uint64_t put_scattered(struct outliner *outliner, struct vec *nodes, uint32_t depth,
                              struct outline_row *rest)
{
    uint64_t sum = 0;
    rest->first_folded = (uint32_t)outliner->outline->folded.count;
    VEC_EACH (node, nodes, struct outline_node) {
        node__tidy(node);
        if (node__sum(node) < outliner->least) {
            fold_into(outliner, rest, node);
            continue;
        }
        fill_row(outliner, add_row(outliner, OUTLINE_SCATTERED, depth), node);
        sum += node__sum(node);
    }
    return sum;
}

/* What of the small ones is no row of its own is put to the rest. */
static void put_small(struct outliner *outliner, struct vec *nodes, uint32_t depth,
                      struct outline_row *rest)
{
    uint64_t small = 0;
    struct gathered gathered = {.nodes = VEC_OF(struct outline_node)};
    VEC_EACH (node, nodes, struct outline_node)
        if (node->parts.count && node__sum(node) < outliner->least) {
            small += node__sum(node);
            rest->count++;
            gather(outliner, &gathered, node);
        }
    uint64_t scattered = put_scattered(outliner, &gathered.nodes, depth, rest);
    rest->sum_ns += trace__ns(outliner->trace, small > scattered ? small - scattered : 0);
    if (!rest->folded_count && scattered)
        rest->count = 0;
    nodes__free(&gathered.nodes);
    map__free(&gathered.by_surface);
}

/* The surface that all that the node consists of has; SHAPE_NONE: there are several, or loops in it
 * that are meant. An occurrence has its own. */
static uint32_t sole_surface(struct outliner *outliner, struct outline_node *node)
{
    size_t left_out;
    if (!is_loop(outliner, node))
        return node->surface;
    struct vec body = node__body(&outliner->known, node, &left_out);
    uint32_t surface = left_out || !body.count ? SHAPE_NONE : ANY_SURFACE;
    VEC_EACH (child, &body, struct outline_node) {
        bool is_meant = is_loop(outliner, child) && !may_iteration_once(child);
        uint32_t of_child =
            is_meant || surface == SHAPE_NONE ? SHAPE_NONE : sole_surface(outliner, child);
        surface = surface == ANY_SURFACE || surface == of_child ? of_child : SHAPE_NONE;
    }
    nodes__free(&body);
    return surface;
}

/* Whether the loop's iterations are not a call each: loops of one place in a loop. */
static bool is_nested(struct outliner *outliner, struct outline_node *node)
{
    size_t left_out;
    if (!is_loop(outliner, node))
        return false;
    struct vec body = node__body(&outliner->known, node, &left_out);
    bool is_nested = body.count > 1;
    nodes__free(&body);
    return is_nested;
}

/* So many nodes from the first on are loops and calls of one place, and there are loops in one of
 * these loops: it is one loop, whose iterations differ. 0: it is not. */
static size_t run_length(struct outliner *outliner, struct outline_node *nodes, size_t count)
{
    uint32_t surface = sole_surface(outliner, &nodes[0]);
    size_t length = 1;
    bool any = is_nested(outliner, &nodes[0]);
    if (surface == SHAPE_NONE)
        return 0;
    for (; length < count && sole_surface(outliner, &nodes[length]) == surface; length++)
        any |= is_nested(outliner, &nodes[length]);
    return any ? length : 0;
}

/* Loops and calls of one place in a row are a loop of it; in each of so many bodies. Takes the
 * nodes' parts. */
static void put_run(struct outliner *outliner, struct outline_node *nodes, size_t count,
                    uint64_t bodies, uint32_t depth)
{
    struct gathered gathered = {.nodes = VEC_OF(struct outline_node)};
    struct outline_row row = new_row(outliner, OUTLINE_LOOP, depth);
    uint64_t ticks = 0;
    for (size_t i = 0; i < count; i++) {
        ticks += node__sum(&nodes[i]);
        gather(outliner, &gathered, &nodes[i]);
        vec__free(&nodes[i].parts);
    }
    struct outline_node *calls = VEC_AT(&gathered.nodes, struct outline_node, 0);
    node__tidy(calls);
    fill_row(outliner, &row, calls);
    row.shapes = 1;
    row.loops = bodies;
    row.iterations = (struct shape_iterations){row.count, UINT64_MAX, UINT64_MAX};
    if (bodies == 1)
        row.iterations.min = row.iterations.max = row.count;
    row.sum_ns = trace__ns(outliner->trace, ticks);
    row.is_cut = ends_here(outliner, depth);
    vec__push(&outliner->outline->rows, &row);
    if (!row.is_cut)
        put_node(outliner, calls, depth + 1);
    nodes__free(&gathered.nodes);
    map__free(&gathered.by_surface);
}

static void put_unrecorded(struct outliner *outliner, uint64_t whole, uint64_t recorded,
                           uint32_t depth)
{
    if (recorded >= whole || whole - recorded < outliner->unrecorded_from)
        return;
    struct outline_row *row = add_row(outliner, OUTLINE_UNRECORDED, depth);
    row->sum_ns = trace__ns(outliner->trace, whole - recorded);
}

/* One row that takes too little is as short as what would stand in its place. */
static bool any_folded(const struct outliner *outliner, const struct vec *nodes)
{
    size_t small = 0;
    VEC_EACH (node, nodes, struct outline_node)
        small += node__sum(node) < outliner->least;
    return small > 1;
}

/* The node's last parts, so many, whose bodies are not looked at. Returns their ticks. */
static uint64_t fold_parts(const struct outliner *outliner, struct outline_row *rest,
                           const struct outline_node *node, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = node->parts.count - count; i < node->parts.count; i++)
        sum += VEC_AT(&node->parts, struct outline_part, i)->time.sum;
    rest->count += count;
    rest->sum_ns += trace__ns(outliner->trace, sum);
    return sum;
}

static uint64_t sum_of(const struct outline_node *nodes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += node__sum(&nodes[i]);
    return sum;
}

static void put_body(struct outliner *outliner, struct outline_node *node, uint32_t depth)
{
    struct outline_row rest = new_row(outliner, OUTLINE_REST, depth);
    size_t left_out;
    struct vec nodes = node__body(&outliner->known, node, &left_out);
    bool folds = any_folded(outliner, &nodes);
    uint64_t recorded = 0;
    uint64_t bodies = node__all(node).bodies;
    for (size_t i = 0, next; i < nodes.count; i = next) {
        struct outline_node *child = VEC_AT(&nodes, struct outline_node, i);
        size_t run = run_length(outliner, child, nodes.count - i);
        next = i + (run ? run : 1);
        uint64_t ticks = sum_of(child, next - i);
        recorded += ticks;
        if (folds && ticks < outliner->least)
            continue;
        if (run)
            put_run(outliner, child, run, bodies, depth);
        else
            put_node(outliner, child, depth);
    }
    if (folds)
        put_small(outliner, &nodes, depth, &rest);
    recorded += fold_parts(outliner, &rest, node, left_out);
    if (rest.count)
        vec__push(&outliner->outline->rows, &rest);
    put_unrecorded(outliner, node__sum(node), recorded, depth);
    nodes__free(&nodes);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static uint64_t share_of(double share, uint64_t ticks)
{
    return (uint64_t)(share * (double)ticks);
}

static void put_group(struct outliner *outliner, struct outline_gathering *gathering)
{
    struct vec *groups = &outliner->outline->groups;
    struct outline_group group = {.threads = VEC_OF(uint32_t),
                                  .lifetime_ns = trace__ns(outliner->trace, gathering->lifetime),
                                  .first_row = (uint32_t)outliner->outline->rows.count};
    VEC_EACH (thread, &gathering->threads, const struct structure_thread *)
        vec__push(&group.threads, &(*thread)->thread);
    uint64_t unrecorded_from = share_of(UNRECORDED_FROM, gathering->lifetime);
    outliner->group = (uint32_t)groups->count;
    outliner->root_threads = gathering->root_threads;
    outliner->least = share_of(outliner->options->least_share, gathering->lifetime);
    outliner->unrecorded_from =
        unrecorded_from > outliner->least ? unrecorded_from : outliner->least;
    put_body(outliner, &gathering->roots, 0);
    group.row_count = (uint32_t)outliner->outline->rows.count - group.first_row;
    vec__push(groups, &group);
}

static struct vec zeroes(size_t count)
{
    struct vec vec = VEC_OF(uint32_t);
    if (count)
        memset(vec__extend(&vec, count), 0, count * sizeof(uint32_t));
    return vec;
}

struct outline *outline__new(const struct trace *trace, const struct structure *structure,
                             const struct outline_options *options)
{
    struct outline *outline = memory__zeroed(1, sizeof *outline);
    outline->groups = VEC_OF(struct outline_group);
    outline->rows = VEC_OF(struct outline_row);
    outline->folded = VEC_OF(uint32_t);
    struct outliner outliner = {.trace = trace,
                                .structure = structure,
                                .options = options,
                                .outline = outline,
                                .spelled = zeroes(shapes__count(structure->shapes))};
    outline_shapes__start(&outliner.known, structure->shapes);
    outline->is_sampled = outliner.known.is_sampled;
    struct vec gatherings = gatherings__of(trace, structure, &outliner.known);
    VEC_EACH (gathering, &gatherings, struct outline_gathering)
        put_group(&outliner, gathering);
    gatherings__free(&gatherings);
    outline_shapes__free(&outliner.known);
    vec__free(&outliner.spelled);
    return outline;
}

struct outline *outline__fitting(const struct trace *trace, const struct structure *structure,
                                 struct outline_options *options, size_t rows_at_most)
{
    struct outline *outline = outline__new(trace, structure, options);
    while (outline->rows.count > rows_at_most && options->least_share < FITTING_SHARE_MAX) {
        options->least_share =
            options->least_share > 0 ? FITTING_STEP * options->least_share : FITTING_FIRST;
        outline__free(outline);
        outline = outline__new(trace, structure, options);
    }
    return outline;
}

void outline__free(struct outline *outline)
{
    if (!outline)
        return;
    VEC_EACH (group, &outline->groups, struct outline_group)
        vec__free(&group->threads);
    vec__free(&outline->groups);
    vec__free(&outline->rows);
    vec__free(&outline->folded);
    free(outline);
}

/* ---- what follows from the rows -------------------------------------------------------------- */

static double of_lifetime(const struct outline *outline, const struct outline_row *row, uint64_t ns)
{
    uint64_t lifetime = VEC_AT(&outline->groups, struct outline_group, row->group)->lifetime_ns;
    double share = lifetime ? (double)ns / (double)lifetime : 0;
    return share > 1 ? 1 : share;
}

double outline_row__share(const struct outline *outline, const struct outline_row *row)
{
    return of_lifetime(outline, row, row->sum_ns);
}

double outline_row__score(const struct outline *outline, const struct outline_row *row)
{
    return of_lifetime(outline, row, row->excess_ns);
}

uint64_t outline_row__mean_ns(const struct outline_row *row)
{
    return row->count ? row->sum_ns / row->count : 0;
}

/* Whether it is no loop, and nothing is in it. */
static bool is_leaf(const struct outline *outline, uint32_t number)
{
    const struct outline_row *row = VEC_AT(&outline->rows, struct outline_row, number);
    if (row->kind == OUTLINE_LOOP || row->same_as != OUTLINE_NONE || row->is_cut)
        return false;
    return number + 1 >= outline->rows.count || row[1].depth <= row->depth;
}

/* The largest of the rows of that depth that are no leaves, from first on until a less deep one. */
static uint32_t heaviest(const struct outline *outline, uint32_t first, uint32_t end,
                         uint32_t depth)
{
    uint32_t found = OUTLINE_NONE;
    uint64_t most = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct outline_row *row = VEC_AT(&outline->rows, struct outline_row, i);
        if (row->depth < depth)
            break;
        if (row->depth > depth || row->kind > OUTLINE_LOOP || row->sum_ns <= most ||
            is_leaf(outline, i))
            continue;
        found = i;
        most = row->sum_ns;
    }
    return found;
}

uint32_t outline__outermost(const struct outline *outline, uint32_t group)
{
    const struct outline_group *whole = VEC_AT(&outline->groups, struct outline_group, group);
    uint32_t end = whole->first_row + whole->row_count, at = whole->first_row;
    for (uint32_t depth = 0;; depth++) {
        at = heaviest(outline, at, end, depth);
        if (at == OUTLINE_NONE)
            return OUTLINE_NONE;
        const struct outline_row *row = VEC_AT(&outline->rows, struct outline_row, at);
        if ((double)row->sum_ns < OUTERMOST_FROM * (double)whole->lifetime_ns)
            return OUTLINE_NONE;
        if (row->kind == OUTLINE_LOOP)
            return at;
        at++;
    }
}
