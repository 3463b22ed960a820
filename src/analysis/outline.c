#include "analysis/outline.h"

#include "base/map.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN_WINDOW 64u     /* items that are looked at for one of the same surface */
#define UNRECORDED_FROM 0.02 /* of the group's lifetime */
#define OUTERMOST_FROM 0.25  /* of what is around it */
#define FITTING_SHARE_MAX 0.5
#define ROOTS_TOLD 64u /* of a group: more of them share the last bit */

/* All occurrences of one shape that a row stands for. Ticks. */
struct part {
    uint32_t shape;
    uint64_t bodies;        /* occurrences; of a loop: turns */
    struct shape_time time; /* of a loop: of loops */
    struct shape_turns turns;
    uint64_t excess;
    uint64_t roots; /* bits: in which of the group's roots; see ROOTS_TOLD */
    bool is_estimated, is_excess_estimated;
};

/* What is shown together. */
struct node {
    uint32_t surface;
    struct vec parts; /* struct part: no two of one shape */
};

struct outliner {
    const struct trace *trace;
    const struct structure *structure;
    const struct outline_options *options;
    struct outline *outline;
    struct vec loop_sums;     /* uint64_t, by shape: what all its loops took; 0 of other shapes */
    struct vec spelled;       /* uint32_t, by shape: row + 1 that has its body; 0: none yet */
    uint64_t least;           /* ticks: rows that take less are folded */
    uint64_t unrecorded_from; /* likewise, of what is not recorded */
    uint32_t group;
    uint32_t root_threads[ROOTS_TOLD]; /* of the group: by bit, how many have that root */
};

/* ---- kinds of shapes: all that is to be known of them is here ----------------------------------
 */

static bool is_loop(const struct shape *shape)
{
    return shape->kind == SHAPE_LOOP;
}

static enum outline_kind row_kind(const struct shape *shape)
{
    return is_loop(shape) ? OUTLINE_LOOP : OUTLINE_OCCURRENCE;
}

/* Shapes with equal surfaces may be shown as one. */
static uint32_t surface_of(const struct outliner *outliner, uint32_t shape)
{
    return shapes__cut(outliner->structure->shapes, shape, 0);
}

static uint64_t whole_sum(const struct outliner *outliner, uint32_t shape)
{
    const struct shape *what = shapes__get(outliner->structure->shapes, shape);
    return is_loop(what) ? *VEC_AT(&outliner->loop_sums, uint64_t, shape) : what->time.sum;
}

static uint64_t bodies_of(const struct shape *shape, const struct shape_item *item)
{
    return is_loop(shape) ? item->turns.sum : item->time.count;
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static uint64_t scaled(uint64_t value, uint64_t part, uint64_t whole)
{
    if (part == whole || !whole)
        return value;
    return (uint64_t)((unsigned __int128)value * part / whole);
}

/* An item of a shape of which all occurrences are there. */
static struct part whole_part(const struct outliner *outliner, const struct shape_item *item)
{
    const struct shapes *shapes = outliner->structure->shapes;
    const struct shape *shape = shapes__get(shapes, item->shape);
    struct part part = {.shape = item->shape,
                        .bodies = bodies_of(shape, item),
                        .time = item->time,
                        .turns = item->turns,
                        .excess = shape_item__excess(shapes, item)};
    if (!is_loop(shape))
        return part;
    part.is_excess_estimated = part.bodies != shape->time.count;
    part.excess = scaled(shape__excess(shape), part.bodies, shape->time.count);
    part.time.min = shape->time.min;
    part.time.max = shape->time.max;
    return part;
}

/* The item in the bodies of outer alone. */
static struct part part_in(const struct outliner *outliner, const struct part *outer,
                           const struct shape_item *item)
{
    struct part part = whole_part(outliner, item);
    uint64_t all = shapes__get(outliner->structure->shapes, outer->shape)->time.count;
    part.roots = outer->roots;
    part.is_estimated = outer->is_estimated || outer->bodies != all;
    part.is_excess_estimated |= part.is_estimated;
    if (outer->bodies == all)
        return part;
    uint64_t sum = whole_sum(outliner, outer->shape);
    part.bodies = scaled(part.bodies, outer->bodies, all);
    part.time.count = scaled(part.time.count, outer->bodies, all);
    part.turns.sum = scaled(part.turns.sum, outer->bodies, all);
    part.time.sum = scaled(part.time.sum, outer->time.sum, sum);
    part.excess = scaled(part.excess, outer->time.sum, sum);
    return part;
}

static uint64_t lesser(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t greater(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* What both stand for. */
static void part__join(struct part *part, const struct part *other)
{
    part->roots |= other->roots;
    part->bodies += other->bodies;
    part->time.count += other->time.count;
    part->time.sum += other->time.sum;
    part->time.min = lesser(part->time.min, other->time.min);
    part->time.max = greater(part->time.max, other->time.max);
    part->turns.sum += other->turns.sum;
    part->turns.min = lesser(part->turns.min, other->turns.min);
    part->turns.max = greater(part->turns.max, other->turns.max);
    part->excess += other->excess;
    part->is_estimated |= other->is_estimated;
    part->is_excess_estimated |= other->is_excess_estimated;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static void node__add(struct node *node, const struct part *part)
{
    VEC_EACH(known, &node->parts, struct part)
    if (known->shape == part->shape) {
        part__join(known, part);
        return;
    }
    vec__push(&node->parts, part);
}

static void node__join(struct node *node, const struct node *other)
{
    VEC_EACH(part, &other->parts, struct part)
    node__add(node, part);
}

static struct part node__all(const struct node *node)
{
    struct part all = *VEC_AT(&node->parts, struct part, 0);
    for (size_t i = 1; i < node->parts.count; i++)
        part__join(&all, VEC_AT(&node->parts, struct part, i));
    return all;
}

static uint64_t node__sum(const struct node *node)
{
    uint64_t sum = 0;
    VEC_EACH(part, &node->parts, struct part)
    sum += part->time.sum;
    return sum;
}

static void free_nodes(struct vec *nodes)
{
    VEC_EACH(node, nodes, struct node)
    vec__free(&node->parts);
    vec__free(nodes);
}

/* ---- bodies -----------------------------------------------------------------------------------
 */

/* Neighbours with one surface are one node. */
static void append(struct vec *nodes, uint32_t surface, const struct part *part)
{
    struct node *last = nodes->count ? VEC_AT(nodes, struct node, nodes->count - 1) : NULL;
    if (last && last->surface == surface) {
        node__add(last, part);
        return;
    }
    struct node node = {surface, VEC_OF(struct part)};
    vec__push(&node.parts, part);
    vec__push(nodes, &node);
}

/* struct node: the items of a part's body. */
static struct vec body_of(const struct outliner *outliner, const struct part *part)
{
    struct vec nodes = VEC_OF(struct node);
    const struct shapes *shapes = outliner->structure->shapes;
    uint32_t count = shapes__get(shapes, part->shape)->item_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t surface = surface_of(outliner, shapes__items(shapes, part->shape)[i].shape);
        struct part item = part_in(outliner, part, &shapes__items(shapes, part->shape)[i]);
        append(&nodes, surface, &item);
    }
    return nodes;
}

/* The next node of that surface, from first on; nodes->count: there is none near. */
static size_t find_surface(const struct vec *nodes, size_t first, uint32_t surface)
{
    size_t end = lesser(nodes->count, first + ALIGN_WINDOW);
    for (size_t i = first; i < end; i++)
        if (VEC_AT(nodes, struct node, i)->surface == surface)
            return i;
    return nodes->count;
}

static void move_nodes(struct vec *to, const struct vec *from, size_t *at, size_t end)
{
    while (*at < end)
        vec__push(to, VEC_AT(from, struct node, (*at)++));
}

/* Lays other beside nodes; takes over both. Between two that are in both, those of nodes come
 * first. */
static struct vec lay_beside(struct vec *nodes, struct vec *other)
{
    struct vec both = VEC_OF(struct node);
    size_t at = 0, held = 0;
    for (size_t i = 0; i < other->count; i++) {
        struct node *node = VEC_AT(other, struct node, i);
        size_t found = find_surface(nodes, at, node->surface);
        if (found == nodes->count)
            continue;
        move_nodes(&both, nodes, &at, found);
        move_nodes(&both, other, &held, i);
        struct node *joined = vec__push(&both, VEC_AT(nodes, struct node, at++));
        node__join(joined, node);
        vec__free(&node->parts);
        held = i + 1;
    }
    move_nodes(&both, nodes, &at, nodes->count);
    move_nodes(&both, other, &held, other->count);
    vec__free(nodes);
    vec__free(other);
    return both;
}

static struct vec body_of_all(const struct outliner *outliner, const struct node *node)
{
    struct vec nodes = VEC_OF(struct node);
    VEC_EACH(part, &node->parts, struct part)
    {
        struct vec body = body_of(outliner, part);
        nodes = nodes.count ? lay_beside(&nodes, &body) : body;
    }
    return nodes;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static struct outline_row *add_row(struct outliner *outliner, enum outline_kind kind,
                                   uint32_t depth)
{
    struct outline_row row = {
        .kind = kind, .depth = depth, .group = outliner->group, .same_as = OUTLINE_NONE};
    return vec__push(&outliner->outline->rows, &row);
}

static uint32_t threads_of(const struct outliner *outliner, uint64_t roots)
{
    uint32_t threads = 0;
    for (unsigned i = 0; i < ROOTS_TOLD; i++)
        threads += roots >> i & 1 ? outliner->root_threads[i] : 0;
    return threads;
}

static void fill_row(const struct outliner *outliner, struct outline_row *row,
                     const struct node *node)
{
    const struct part all = node__all(node);
    const struct shape *shape = shapes__get(outliner->structure->shapes, all.shape);
    row->place = shape->symbol;
    row->threads = threads_of(outliner, all.roots);
    row->shapes = (uint32_t)node->parts.count;
    row->is_estimated = all.is_estimated;
    row->is_excess_estimated = all.is_excess_estimated;
    row->count = all.bodies;
    row->turns = all.turns;
    row->loops = is_loop(shape) ? all.time.count : 0;
    row->sum_ns = trace__ns(outliner->trace, all.time.sum);
    row->min_ns = trace__ns(outliner->trace, all.time.min);
    row->max_ns = trace__ns(outliner->trace, all.time.max);
    row->excess_ns = trace__ns(outliner->trace, all.excess);
}

/* The row that has the bodies of all parts; OUTLINE_NONE: they are spelled out now. */
static uint32_t spelled_in(struct outliner *outliner, const struct node *node, uint32_t row)
{
    uint32_t first = OUTLINE_NONE;
    bool all = true;
    VEC_EACH(part, &node->parts, struct part)
    {
        uint32_t *known = VEC_AT(&outliner->spelled, uint32_t, part->shape);
        if (*known && first == OUTLINE_NONE)
            first = *known - 1;
        all &= *known != 0;
        if (!*known)
            *known = row + 1;
    }
    return all ? first : OUTLINE_NONE;
}

static bool has_body(const struct outliner *outliner, const struct node *node)
{
    VEC_EACH(part, &node->parts, struct part)
    if (shapes__get(outliner->structure->shapes, part->shape)->item_count)
        return true;
    return false;
}

static void put_body(struct outliner *outliner, const struct node *node, uint32_t depth);

static bool ends_here(const struct outliner *outliner, uint32_t depth)
{
    unsigned limit = outliner->options->depth;
    return depth + 1 >= OUTLINE_DEPTH_MAX || (limit && depth + 1 >= limit);
}

static void put_node(struct outliner *outliner, const struct node *node, uint32_t depth)
{
    const struct part *first = VEC_AT(&node->parts, struct part, 0);
    uint32_t number = (uint32_t)outliner->outline->rows.count;
    struct outline_row *row =
        add_row(outliner, row_kind(shapes__get(outliner->structure->shapes, first->shape)), depth);
    fill_row(outliner, row, node);
    if (!has_body(outliner, node))
        return;
    row->is_cut = ends_here(outliner, depth);
    if (row->is_cut)
        return;
    row->same_as = spelled_in(outliner, node, number);
    if (row->same_as == OUTLINE_NONE)
        put_body(outliner, node, depth + 1);
}

/* Those that take too little, of one surface together, in the order of their first ones. */
static struct vec gather_small(const struct vec *nodes, uint64_t least)
{
    struct map by_surface = {0};
    struct vec gathered = VEC_OF(struct node);
    VEC_EACH(node, nodes, struct node)
    {
        if (node__sum(node) >= least)
            continue;
        size_t at = map__put(&by_surface, &node->surface, sizeof node->surface, gathered.count);
        if (at == gathered.count)
            vec__push(&gathered, &(struct node){node->surface, VEC_OF(struct part)});
        struct node *to = VEC_AT(&gathered, struct node, at);
        node__join(to, node);
    }
    map__free(&by_surface);
    return gathered;
}

static bool is_of_place(const struct outliner *outliner, const struct node *node)
{
    const struct part *first = VEC_AT(&node->parts, struct part, 0);
    return !is_loop(shapes__get(outliner->structure->shapes, first->shape));
}

static void put_rest(struct outliner *outliner, uint64_t rows, uint64_t ticks, uint32_t depth)
{
    if (!rows)
        return;
    struct outline_row *row = add_row(outliner, OUTLINE_REST, depth);
    row->count = rows;
    row->sum_ns = trace__ns(outliner->trace, ticks);
}

static void put_small(struct outliner *outliner, const struct vec *nodes, uint32_t depth)
{
    uint64_t rows = 0, ticks = 0;
    struct vec gathered = gather_small(nodes, outliner->least);
    VEC_EACH(node, &gathered, struct node)
    {
        if (is_of_place(outliner, node) && node__sum(node) >= outliner->least)
            fill_row(outliner, add_row(outliner, OUTLINE_SCATTERED, depth), node);
        else
            rows++, ticks += node__sum(node);
    }
    put_rest(outliner, rows, ticks, depth);
    free_nodes(&gathered);
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
    VEC_EACH(node, nodes, struct node)
    small += node__sum(node) < outliner->least;
    return small > 1;
}

static void put_body(struct outliner *outliner, const struct node *node, uint32_t depth)
{
    uint64_t recorded = 0;
    struct vec nodes = body_of_all(outliner, node);
    bool folds = any_folded(outliner, &nodes);
    VEC_EACH(child, &nodes, struct node)
    {
        recorded += node__sum(child);
        if (!folds || node__sum(child) >= outliner->least)
            put_node(outliner, child, depth);
    }
    if (folds)
        put_small(outliner, &nodes, depth);
    put_unrecorded(outliner, node__sum(node), recorded, depth);
    free_nodes(&nodes);
}

/* ---- groups of threads ------------------------------------------------------------------------
 */

/* While groups are found. */
struct gathering {
    struct node roots;
    struct vec threads; /* const struct structure_thread * */
    uint64_t lifetime;
};

static uint32_t main_item(const struct shapes *shapes, uint32_t root)
{
    uint32_t found = SHAPE_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < shapes__get(shapes, root)->item_count; i++) {
        const struct shape_item *item = &shapes__items(shapes, root)[i];
        if (found != SHAPE_NONE && item->time.sum <= most)
            continue;
        found = item->shape;
        most = item->time.sum;
    }
    return found;
}

static char *without_digits(const char *name)
{
    char *text = memory__text(name), *to = text;
    for (const char *from = text; *from; from++)
        if (!isdigit((unsigned char)*from))
            *to++ = *from;
    *to = '\0';
    return text;
}

/* What threads of one group have in common. free() it. */
static char *group_key(const struct outliner *outliner, const struct structure_thread *thread)
{
    const struct trace_thread *traced =
        VEC_AT(trace__threads(outliner->trace), struct trace_thread, thread->thread);
    const struct trace_process *process =
        VEC_AT(trace__processes(outliner->trace), struct trace_process, traced->process);
    uint32_t item = main_item(outliner->structure->shapes, thread->root);
    char *name = without_digits(traced->name);
    char *key = memory__format("%s\n%s\n%u", process->path, name,
                               item == SHAPE_NONE ? item : surface_of(outliner, item));
    free(name);
    return key;
}

static size_t group_of(const struct outliner *outliner, const struct structure_thread *thread,
                       struct map *by_root, struct map *by_key, size_t next)
{
    uint64_t known = map__get(by_root, &thread->root, sizeof thread->root);
    if (known != MAP_ABSENT)
        return known;
    char *key = group_key(outliner, thread);
    known = map__put(by_key, key, strlen(key), next);
    free(key);
    return map__put(by_root, &thread->root, sizeof thread->root, known);
}

static void gathering__add(struct gathering *gathering, const struct outliner *outliner,
                           const struct structure_thread *thread)
{
    const struct shape *root = shapes__get(outliner->structure->shapes, thread->root);
    struct part part = {.shape = thread->root,
                        .bodies = 1,
                        .time = {1, thread->lifetime, root->time.min, root->time.max}};
    node__add(&gathering->roots, &part);
    vec__push(&gathering->threads, &thread);
    gathering->lifetime += thread->lifetime;
}

static void tell_roots(struct outliner *outliner, struct gathering *gathering)
{
    memset(outliner->root_threads, 0, sizeof outliner->root_threads);
    for (size_t i = 0; i < gathering->roots.parts.count; i++) {
        struct part *root = VEC_AT(&gathering->roots.parts, struct part, i);
        size_t bit = lesser(i, ROOTS_TOLD - 1);
        root->roots = 1ull << bit;
        outliner->root_threads[bit] += (uint32_t)root->bodies;
    }
}

static struct vec gather_threads(const struct outliner *outliner)
{
    struct vec gatherings = VEC_OF(struct gathering);
    struct map by_root = {0}, by_key = {0};
    VEC_EACH(thread, &outliner->structure->threads, struct structure_thread)
    {
        size_t group = group_of(outliner, thread, &by_root, &by_key, gatherings.count);
        if (group == gatherings.count)
            vec__push(&gatherings,
                      &(struct gathering){.roots = {0, VEC_OF(struct part)},
                                          .threads = VEC_OF(const struct structure_thread *)});
        gathering__add(VEC_AT(&gatherings, struct gathering, group), outliner, thread);
    }
    map__free(&by_root);
    map__free(&by_key);
    return gatherings;
}

static int by_lifetime(const void *left, const void *right)
{
    const struct gathering *one = left, *other = right;
    if (one->lifetime != other->lifetime)
        return one->lifetime < other->lifetime ? 1 : -1;
    const struct structure_thread *first = *VEC_AT(&one->threads, struct structure_thread *, 0);
    const struct structure_thread *second = *VEC_AT(&other->threads, struct structure_thread *, 0);
    return first->thread < second->thread ? -1 : first->thread > second->thread;
}

static void put_group(struct outliner *outliner, struct gathering *gathering)
{
    struct vec *groups = &outliner->outline->groups;
    struct outline_group group = {.threads = VEC_OF(uint32_t),
                                  .lifetime_ns = trace__ns(outliner->trace, gathering->lifetime),
                                  .first_row = (uint32_t)outliner->outline->rows.count};
    VEC_EACH(thread, &gathering->threads, const struct structure_thread *)
    vec__push(&group.threads, &(*thread)->thread);
    outliner->group = (uint32_t)groups->count;
    outliner->least = (uint64_t)(outliner->options->least_share * (double)gathering->lifetime);
    outliner->unrecorded_from =
        greater(outliner->least, (uint64_t)(UNRECORDED_FROM * (double)gathering->lifetime));
    tell_roots(outliner, gathering);
    put_body(outliner, &gathering->roots, 0);
    group.row_count = (uint32_t)outliner->outline->rows.count - group.first_row;
    vec__push(groups, &group);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* Room for what is known of each shape; surfaces are shapes, too, and have no body. */
static void find_loop_sums(struct outliner *outliner)
{
    const struct shapes *shapes = outliner->structure->shapes;
    uint32_t count = (uint32_t)shapes__count(shapes);
    vec__extend(&outliner->loop_sums, count);
    vec__extend(&outliner->spelled, count);
    memset(outliner->loop_sums.items, 0, count * sizeof(uint64_t));
    memset(outliner->spelled.items, 0, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < shapes__get(shapes, i)->item_count; j++) {
            const struct shape_item *item = &shapes__items(shapes, i)[j];
            *VEC_AT(&outliner->loop_sums, uint64_t, item->shape) +=
                is_loop(shapes__get(shapes, item->shape)) ? item->time.sum : 0;
        }
}

struct outline *outline__new(const struct trace *trace, const struct structure *structure,
                             const struct outline_options *options)
{
    struct outline *outline = memory__zeroed(1, sizeof *outline);
    *outline = (struct outline){VEC_OF(struct outline_group), VEC_OF(struct outline_row)};
    struct outliner outliner = {.trace = trace,
                                .structure = structure,
                                .options = options,
                                .outline = outline,
                                .loop_sums = VEC_OF(uint64_t),
                                .spelled = VEC_OF(uint32_t)};
    find_loop_sums(&outliner);
    struct vec gatherings = gather_threads(&outliner);
    if (gatherings.count)
        qsort(gatherings.items, gatherings.count, sizeof(struct gathering), by_lifetime);
    VEC_EACH(gathering, &gatherings, struct gathering)
    {
        put_group(&outliner, gathering);
        vec__free(&gathering->roots.parts);
        vec__free(&gathering->threads);
    }
    vec__free(&gatherings);
    vec__free(&outliner.loop_sums);
    vec__free(&outliner.spelled);
    return outline;
}

struct outline *outline__fitting(const struct trace *trace, const struct structure *structure,
                                 struct outline_options *options, size_t rows_at_most)
{
    struct outline *outline = outline__new(trace, structure, options);
    while (outline->rows.count > rows_at_most && options->least_share < FITTING_SHARE_MAX) {
        options->least_share = options->least_share > 0 ? 2 * options->least_share : 0.001;
        outline__free(outline);
        outline = outline__new(trace, structure, options);
    }
    return outline;
}

void outline__free(struct outline *outline)
{
    if (!outline)
        return;
    VEC_EACH(group, &outline->groups, struct outline_group)
    vec__free(&group->threads);
    vec__free(&outline->groups);
    vec__free(&outline->rows);
    free(outline);
}

/* ---- what follows from the rows ---------------------------------------------------------------
 */

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

/* The largest of the rows of that depth, from first on until a less deep one. */
static uint32_t heaviest(const struct outline *outline, uint32_t first, uint32_t end,
                         uint32_t depth)
{
    uint32_t found = OUTLINE_NONE;
    uint64_t most = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct outline_row *row = VEC_AT(&outline->rows, struct outline_row, i);
        if (row->depth < depth)
            break;
        if (row->depth > depth || row->kind > OUTLINE_LOOP || row->sum_ns <= most)
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
    uint64_t around = whole->lifetime_ns;
    for (uint32_t depth = 0;; depth++) {
        at = heaviest(outline, at, end, depth);
        if (at == OUTLINE_NONE)
            return OUTLINE_NONE;
        const struct outline_row *row = VEC_AT(&outline->rows, struct outline_row, at);
        if ((double)row->sum_ns < OUTERMOST_FROM * (double)around)
            return OUTLINE_NONE;
        if (row->kind == OUTLINE_LOOP)
            return at;
        around = row->sum_ns;
        at++;
    }
}
