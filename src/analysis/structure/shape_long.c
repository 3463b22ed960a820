#include "analysis/structure/shape_level.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT 8u         /* folded is short: so many times fewer items */
#define HEADS_MAX 24u    /* that are tried */
#define HEAD_LEAST 8u    /* times that a head begins */
#define ADMITTED_MAX 48u /* alternatives of the iterations that are there when a choice is made */
#define SEPARATORS (1u << 31) /* no shape has so large a number */

/* ---- how long a description is --------------------------------------------------------------- */

/* Of a number of which nothing is known: Elias' gamma code. */
static double bits_of(uint64_t number)
{
    return number ? 2 * log2((double)number) + 1 : 0;
}

/* Of the iterations of so many loops. Those that never vary are told once; else as much as if they
 * were spread geometrically, which is the most with that mean. */
static double bits_of_iterations(const struct shape_iterations *iterations, uint64_t count)
{
    if (!count || iterations->min == iterations->max)
        return bits_of(iterations->max);
    double mean = (double)iterations->sum / (double)count;
    return bits_of(iterations->max) +
           (double)count * (log2(mean) + (mean - 1) * log2(mean / (mean - 1)));
}

/* Of the counts of the loops in its iterations. */
static double bits_of_counts(const struct repeat *repeat)
{
    double bits = 0;
    for (uint32_t i = 0; i < repeat->item_count; i++) {
        const struct body_place *place = &repeat->places[i];
        const struct repeat *last = repeat->has_last ? repeat->last[i].repeat : NULL;
        if (place->loops)
            bits += bits_of_iterations(&place->iterations, place->time.count) +
                    bits_of_counts(place->loops);
        else if (last)
            bits += bits_of(last->iteration_count) + bits_of_counts(last);
    }
    return bits;
}

/* Whose begin the node is. */
static uint32_t head_of(const struct shapes *shapes, uint32_t shape)
{
    while (shape_at(shapes, shape)->kind == SHAPE_LOOP)
        shape = shape_items(shapes, shape)->shape;
    return shape_at(shapes, shape)->symbol;
}

/* How a body can be told. */
struct telling {
    double bits;
    size_t items;   /* that have to be spelled */
    size_t longest; /* occurrences in its longest loop */
    uint32_t head;  /* with which that begins */
};

static size_t occurrences_in(const struct repeat *repeat)
{
    size_t count = 0;
    for (uint32_t i = 0; i < repeat->item_count; i++) {
        const struct repeat *last = repeat->has_last ? repeat->last[i].repeat : NULL;
        if (repeat->places[i].loops)
            count += occurrences_in(repeat->places[i].loops);
        if (last)
            count += occurrences_in(last);
        if (!last && !repeat->places[i].loops)
            count += repeat->iteration_count;
    }
    return count;
}

/* Of nodes that were folded. */
static struct telling tell_nodes(struct draft *draft, const struct node *nodes, size_t count,
                                 double item_bits)
{
    struct telling telling = {.items = count};
    for (size_t i = 0; i < count; i++) {
        const struct repeat *repeat = nodes[i].repeat;
        size_t inside = repeat ? occurrences_in(repeat) : 0;
        if (repeat)
            telling.bits += bits_of(repeat->iteration_count) + bits_of_counts(repeat);
        if (inside > telling.longest) {
            telling.longest = inside;
            telling.head = head_of(draft->shapes, nodes[i].shape);
        }
    }
    draft__note_loops(draft, nodes, count);
    VEC_EACH (known, &draft->known, struct known)
        telling.items += shape_at(draft->shapes, known->loop)->item_count;
    telling.bits += (double)telling.items * item_bits;
    return telling;
}

static double bits_of_item(const struct node *nodes, size_t count)
{
    uint32_t *shapes = memory__zeroed(count, sizeof *shapes);
    uint64_t different = 1;
    for (size_t i = 0; i < count; i++)
        shapes[i] = nodes[i].shape;
    qsort(shapes, count, sizeof *shapes, order__u32);
    for (size_t i = 1; i < count; i++)
        different += shapes[i] != shapes[i - 1];
    free(shapes);
    return log2((double)different);
}

static void free_nodes(struct draft *draft, struct node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        node__free(draft, &nodes[i]);
}

/* ---- heads ----------------------------------------------------------------------------------- */

struct head {
    uint32_t symbol;
    uint32_t count;
    uint32_t first; /* place of its first */
};

static size_t raw_count(const struct shape_builder *builder, const struct shape_level *level)
{
    return builder->nodes.count - level->raw;
}

static uint32_t *symbols_of(struct shape_builder *builder, size_t from)
{
    size_t count = builder->nodes.count - from;
    uint32_t *symbols = memory__zeroed(count, sizeof *symbols);
    for (size_t i = 0; i < count; i++)
        symbols[i] = head_of(builder->draft.shapes, builder__node(builder, from + i)->shape);
    return symbols;
}

static int by_count(const void *left, const void *right)
{
    const struct head *one = left, *other = right;
    return ORDER(other->count, one->count) ?: ORDER(one->first, other->first);
}

/* Those that begin often enough, of equally frequent ones the first: it begins what the others are
 * in. */
static struct vec find_heads(const uint32_t *symbols, size_t count)
{
    struct vec heads = VEC_OF(struct head);
    struct map by_symbol = {0};
    for (uint32_t i = 0; i < count; i++) {
        size_t at = map__put(&by_symbol, &symbols[i], sizeof symbols[i], heads.count);
        if (at == heads.count)
            vec__push(&heads, &(struct head){.symbol = symbols[i], .first = i});
        VEC_AT(&heads, struct head, at)->count++;
    }
    map__free(&by_symbol);
    qsort(heads.items, heads.count, sizeof(struct head), by_count);
    size_t kept = 0;
    const struct head *all = heads.items;
    for (size_t i = 0; i < heads.count; i++)
        if (all[i].count >= HEAD_LEAST && (!kept || all[i].count != all[kept - 1].count))
            *VEC_AT(&heads, struct head, kept++) = all[i];
    heads.count = kept;
    return heads;
}

/* Iterations of one head that differ in counts only. */
struct iteration_kind {
    uint64_t count;
    uint64_t loop_count; /* in all of them, not those in loops */
    struct shape_iterations iterations;
    double bits; /* of what is in these loops */
};

struct cutting {
    struct map by_body, loops;
    struct vec kinds; /* struct iteration_kind */
    uint64_t iterations;
    size_t items; /* of the kinds, and of the loops in them */
};

static bool has_loops(const struct node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].repeat)
            return true;
    return false;
}

/* With the loops in it that no kind before had. */
static size_t items_of_kind(struct draft *draft, struct cutting *cutting, const struct node *nodes,
                            size_t count)
{
    size_t items = count;
    draft__note_loops(draft, nodes, count);
    VEC_EACH (known, &draft->known, struct known) {
        size_t loops = cutting->loops.count;
        map__put(&cutting->loops, &known->loop, sizeof known->loop, 1);
        if (cutting->loops.count > loops)
            items += shape_at(draft->shapes, known->loop)->item_count;
    }
    return items;
}

static struct iteration_kind *kind_of(struct draft *draft, struct cutting *cutting,
                                      const struct node *nodes, size_t count)
{
    const struct vec *key = &draft->shapes->key;
    draft__set_key(draft, nodes, count);
    size_t at = map__put(&cutting->by_body, key->items, key->count * sizeof(uint32_t),
                         cutting->kinds.count);
    if (at == cutting->kinds.count) {
        cutting->items += items_of_kind(draft, cutting, nodes, count);
        vec__push(&cutting->kinds, NULL);
    }
    return VEC_AT(&cutting->kinds, struct iteration_kind, at);
}

/* Iterations with loops in them are taken as they are: these cannot be folded on trial. */
static void add_cut(struct shape_builder *builder, struct cutting *cutting,
                    const struct node *nodes, size_t count)
{
    struct draft *draft = &builder->draft;
    bool is_raw = !has_loops(nodes, count);
    builder->trial.count = 0;
    struct node *iteration = vec__extend(&builder->trial, count);
    memcpy(iteration, nodes, count * sizeof *iteration);
    if (is_raw)
        count = draft__fold(draft, iteration, count);
    struct iteration_kind *kind = kind_of(draft, cutting, iteration, count);
    kind->count++;
    cutting->iterations++;
    for (size_t i = 0; i < count; i++) {
        const struct repeat *repeat = iteration[i].repeat;
        if (!repeat)
            continue;
        kind->loop_count++;
        shape_iterations__add(&kind->iterations, repeat->iteration_count);
        kind->bits += bits_of_counts(repeat);
    }
    if (is_raw)
        free_nodes(draft, iteration, count);
}

/* The kinds' bodies, which kind each iteration is of, and how often its loops ran. */
static struct telling tell_cutting(const struct cutting *cutting, double item_bits)
{
    struct telling telling = {.items = cutting->items, .bits = (double)cutting->items * item_bits};
    VEC_EACH (kind, &cutting->kinds, struct iteration_kind)
        telling.bits +=
            (double)kind->count * log2((double)cutting->iterations / (double)kind->count) +
            bits_of_iterations(&kind->iterations, kind->loop_count) + kind->bits;
    return telling;
}

/* Whether the nodes from last on begin like those of an iteration before: they are not a whole one.
 */
static bool is_begun(const struct node *nodes, const uint32_t *symbols, size_t last, size_t count)
{
    for (size_t i = 0, alike; i < last; i++) {
        if (symbols[i] != symbols[last])
            continue;
        for (alike = 0; last + alike < count && i + alike < last; alike++)
            if (nodes[i + alike].shape != nodes[last + alike].shape)
                break;
        if (last + alike == count)
            return true;
    }
    return false;
}

static struct telling tell_head(struct shape_builder *builder, const struct node *nodes,
                                const uint32_t *symbols, size_t count, const struct head *head,
                                double item_bits)
{
    struct cutting cutting = {.kinds = VEC_OF(struct iteration_kind), .items = head->first};
    size_t mark = shapes__count(builder->draft.shapes),
           iterations = builder->draft.iterations.count;
    for (size_t i = head->first, end; i < count; i = end) {
        for (end = i + 1; end < count && symbols[end] != head->symbol;)
            end++;
        if (end < count || !is_begun(nodes, symbols, i, count))
            add_cut(builder, &cutting, nodes + i, end - i);
    }
    const struct telling telling = tell_cutting(&cutting, item_bits);
    map__free(&cutting.by_body);
    map__free(&cutting.loops);
    vec__free(&cutting.kinds);
    builder->draft.iterations.count = iterations;
    shapes__rewind(builder->draft.shapes, mark);
    return telling;
}

/* Gives what is told with it. No symbol begins often enough: INFINITY bits. */
static struct head best_head(struct shape_builder *builder, size_t from, struct telling *telling)
{
    size_t count = builder->nodes.count - from;
    const struct node *nodes = builder__node(builder, from);
    double item_bits = bits_of_item(nodes, count);
    uint32_t *symbols = symbols_of(builder, from);
    struct vec heads = find_heads(symbols, count);
    struct head best = {.symbol = symbols[0]};
    *telling = (struct telling){.bits = INFINITY};
    for (size_t i = 0; i < heads.count && i < HEADS_MAX; i++) {
        size_t at = heads.count > HEADS_MAX ? i * heads.count / HEADS_MAX : i;
        const struct head *head = VEC_AT(&heads, struct head, at);
        struct telling own = tell_head(builder, nodes, symbols, count, head, item_bits);
        bool is_better =
            own.bits < telling->bits || (own.bits <= telling->bits && head->first < best.first);
        if (is_better) {
            *telling = own;
            best = *head;
        }
    }
    vec__free(&heads);
    free(symbols);
    return best;
}

/* ---- iterations of a choice ------------------------------------------------------------------ */

static struct node *choice_node(struct shape_builder *builder, const struct shape_level *level)
{
    return builder__node(builder, level->raw - 1);
}

static void count_iteration(struct shape_builder *builder, struct shape_level *level,
                            uint32_t sequence, uint64_t start, uint64_t end)
{
    struct shapes *shapes = builder->draft.shapes;
    struct node *node = choice_node(builder, level);
    uint32_t place = shapes__find_alternative(shapes, level->choice, &sequence);
    level->seen[place / 64] |= UINT64_C(1) << place % 64;
    const struct shape_iteration iteration = {.loop = level->choice,
                                              .alternative = sequence,
                                              .depth = level->depth,
                                              .first = !node->iterations,
                                              .instance = level->instance,
                                              .start = start,
                                              .end = end};
    shape_time__add(&shape_items(shapes, level->choice)[place].time, end - start, 1);
    shape_time__add(&shape_at(shapes, level->choice)->time, end - start, 1);
    shape_time__add(&shape_at(shapes, sequence)->time, end - start, 1);
    if (!node->iterations++)
        node->start = start;
    node->end = end;
    node->duration = end - node->start;
    draft__note_iteration(&builder->draft, &iteration);
}

/* The nodes are a folded iteration. Only those that are admitted may become a new alternative. */
static void add_iteration(struct shape_builder *builder, struct shape_level *level,
                          struct node *nodes, size_t count, bool is_admitted)
{
    struct draft *draft = &builder->draft;
    struct shapes *shapes = draft->shapes;
    uint32_t head = shape_at(shapes, level->choice)->symbol;
    is_admitted &= !shapes__is_full_choice(shapes, level->choice);
    draft__set_key(draft, nodes, count);
    uint32_t sequence = is_admitted ? shapes__find(shapes, SHAPE_SEQUENCE, head)
                                    : shapes__known(shapes, SHAPE_SEQUENCE, head);
    count_iteration(builder, level, sequence, nodes[0].start, nodes[count - 1].end);
    if (sequence != SHAPE_NONE && !shape_at(shapes, sequence)->other)
        draft__pour(draft, sequence, nodes, count);
    else
        free_nodes(draft, nodes, count);
}

static void note_rules(struct draft *draft, struct shape_level *level, const struct node *nodes,
                       size_t count)
{
    draft__note_loops(draft, nodes, count);
    VEC_EACH (known, &draft->known, struct known) {
        bool is_there = false;
        VEC_EACH (rule, &level->rules, uint32_t)
            is_there |= *rule == known->loop;
        if (!is_there && level->rules.count < KNOWN_MAX)
            vec__push(&level->rules, &known->loop);
    }
}

/* Folds the iteration that is there. Returns of how many nodes it is then. */
static size_t fold_iteration(struct shape_builder *builder, struct shape_level *level)
{
    struct draft *draft = &builder->draft;
    struct node *nodes = builder__node(builder, level->raw);
    draft->rules = &level->rules;
    draft->no_new = shapes__is_full_choice(draft->shapes, level->choice);
    size_t count = draft__fold(draft, nodes, raw_count(builder, level));
    draft->rules = NULL;
    draft->no_new = false;
    note_rules(draft, level, nodes, count);
    return count;
}

static void end_iteration(struct shape_builder *builder, struct shape_level *level)
{
    size_t count = fold_iteration(builder, level);
    add_iteration(builder, level, builder__node(builder, level->raw), count, true);
    builder->nodes.count = level->raw;
}

static bool was_seen(const struct shapes *shapes, const struct shape_level *level,
                     uint32_t sequence)
{
    uint32_t place = shapes__place(shapes, sequence);
    return place != SHAPE_NONE && (level->seen[place / 64] >> place % 64 & 1);
}

/* How many of the nodes are an iteration as there was one before, at most; 0: none. */
static size_t known_part(struct shape_builder *builder, const struct shape_level *level,
                         size_t count)
{
    struct shapes *shapes = builder->draft.shapes;
    const struct node *nodes = builder__node(builder, level->raw);
    uint32_t head = shape_at(shapes, level->choice)->symbol;
    for (; count; count--) {
        draft__set_key(&builder->draft, nodes, count);
        if (was_seen(shapes, level, shapes__known(shapes, SHAPE_SEQUENCE, head)))
            return count;
    }
    return 0;
}

/* What stands behind the last iteration is not of it. */
void level__close_choice(struct shape_builder *builder, struct shape_level *level)
{
    size_t count = fold_iteration(builder, level), part = known_part(builder, level, count);
    struct node *nodes = builder__node(builder, level->raw);
    if (!part)
        part = count;
    add_iteration(builder, level, nodes, part, true);
    memmove(nodes, nodes + part, (count - part) * sizeof *nodes);
    builder->nodes.count = level->raw + count - part;
    level->choice = SHAPE_NONE;
    level->rules.count = 0;
    level->folded = true;
    level->fold_at = LEVEL_WINDOW;
}

void level__put_choice(struct shape_builder *builder, struct shape_level *level,
                       const struct node *node)
{
    const struct shapes *shapes = builder->draft.shapes;
    if (head_of(shapes, node->shape) == shape_at(shapes, level->choice)->symbol)
        end_iteration(builder, level);
    vec__push(&builder->nodes, node);
    if (raw_count(builder, level) > LEVEL_NODES)
        level__close_choice(builder, level);
}

/* ---- making a choice ------------------------------------------------------------------------- */

/* An iteration among those of which a choice is made. */
struct shape_cut {
    size_t first, count; /* in builder->moved */
    size_t kind;         /* equal ones have the same */
};

/* Folds the nodes as one, but no loop goes over the beginning of an iteration. */
static struct vec fold_iterations(struct shape_builder *builder, size_t from, uint32_t symbol)
{
    struct draft *draft = &builder->draft;
    struct vec cuts = VEC_OF(struct shape_cut);
    builder->moved.count = 0;
    for (size_t i = from; i < builder->nodes.count; i++) {
        const struct node *node = builder__node(builder, i);
        if (head_of(draft->shapes, node->shape) == symbol)
            vec__push(&builder->moved, &(struct node){.shape = SEPARATORS + (uint32_t)(i - from)});
        vec__push(&builder->moved, node);
    }
    struct node *nodes = builder->moved.items;
    size_t count = draft__fold(draft, nodes, builder->moved.count);
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].shape >= SEPARATORS)
            vec__push(&cuts, &(struct shape_cut){.first = i + 1});
        else
            VEC_AT(&cuts, struct shape_cut, cuts.count - 1)->count++;
    }
    return cuts;
}

static int by_size(const void *left, const void *right)
{
    const uint64_t *one = left, *other = right;
    return ORDER(*other, *one);
}

/* How often each kind of iteration came; the least that is admitted. */
static uint64_t find_kinds(struct shape_builder *builder, struct vec *cuts, struct vec *sizes)
{
    struct map kinds = {0};
    const struct vec *key = &builder->draft.shapes->key;
    VEC_EACH (cut, cuts, struct shape_cut) {
        draft__set_key(&builder->draft, VEC_AT(&builder->moved, struct node, cut->first),
                       cut->count);
        cut->kind = map__put(&kinds, key->items, key->count * sizeof(uint32_t), sizes->count);
        if (cut->kind == sizes->count)
            vec__push(sizes, NULL);
        ++*VEC_AT(sizes, uint64_t, cut->kind);
    }
    map__free(&kinds);
    if (sizes->count <= ADMITTED_MAX)
        return 0;
    uint64_t *sorted = memory__zeroed(sizes->count, sizeof *sorted);
    memcpy(sorted, sizes->items, sizes->count * sizeof *sorted);
    qsort(sorted, sizes->count, sizeof *sorted, by_size);
    uint64_t least = sorted[ADMITTED_MAX - 1];
    free(sorted);
    return least;
}

static void open_choice(struct shape_builder *builder, struct shape_level *level, uint32_t symbol,
                        uint64_t start)
{
    level->choice = shapes__find_choice(builder->draft.shapes, symbol);
    level->instance = builder->draft.instances++;
    level->seen[0] = level->seen[1] = 0;
    vec__push(&builder->nodes,
              &(struct node){.shape = level->choice, .weight = 1, .start = start, .end = start});
    level->raw = builder->nodes.count;
}

/* The nodes from the head's first on become iterations; the last one is not over. */
static void make_choice(struct shape_builder *builder, struct shape_level *level, size_t from,
                        uint32_t symbol)
{
    struct vec cuts = fold_iterations(builder, from, symbol), sizes = VEC_OF(uint64_t);
    uint64_t least = find_kinds(builder, &cuts, &sizes),
             start = builder__node(builder, from)->start;
    builder->nodes.count =
        level->first +
        draft__fold(&builder->draft, builder__node(builder, level->first), from - level->first);
    open_choice(builder, level, symbol, start);
    VEC_EACH (cut, &cuts, struct shape_cut) {
        struct node *nodes = VEC_AT(&builder->moved, struct node, cut->first);
        note_rules(&builder->draft, level, nodes, cut->count);
        if (cut != VEC_AT(&cuts, struct shape_cut, cuts.count - 1))
            add_iteration(builder, level, nodes, cut->count,
                          *VEC_AT(&sizes, uint64_t, cut->kind) >= least);
        else
            memcpy(vec__extend(&builder->nodes, cut->count), nodes, cut->count * sizeof *nodes);
    }
    builder->moved.count = 0;
    vec__free(&cuts);
    vec__free(&sizes);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* Folds a copy of what is raw, with the loops that are settled. */
static struct telling try_fold(struct shape_builder *builder, struct shape_level *level,
                               double item_bits)
{
    struct draft *draft = &builder->draft;
    size_t count = raw_count(builder, level), mark = shapes__count(draft->shapes);
    size_t iterations = draft->iterations.count;
    note_rules(draft, level, builder__node(builder, level->first), level->raw - level->first);
    builder->trial.count = 0;
    struct node *copy = vec__extend(&builder->trial, count);
    memcpy(copy, builder__node(builder, level->raw), count * sizeof *copy);
    draft->rules = &level->rules;
    count = draft__fold(draft, copy, count);
    draft->rules = NULL;
    const struct telling telling = tell_nodes(draft, copy, count, item_bits);
    level->rules.count = 0;
    free_nodes(draft, copy, count);
    draft->iterations.count = iterations;
    shapes__rewind(draft->shapes, mark);
    return telling;
}

static void fold_all(struct shape_builder *builder, struct shape_level *level)
{
    size_t count = draft__fold(&builder->draft, builder__node(builder, level->first),
                               builder->nodes.count - level->first);
    builder->nodes.count = level->first + count;
    level->folded = true;
}

static void fold_and_go_on(struct shape_builder *builder, struct shape_level *level, bool is_end)
{
    fold_all(builder, level);
    if (is_end)
        return;
    if (builder->nodes.count - level->first > LEVEL_NODES) {
        struct telling cut;
        struct head head = best_head(builder, level->first, &cut);
        make_choice(builder, level, level->first + head.first, head.symbol);
        return;
    }
    level__resume(builder, level);
    level__settle(builder, level);
}

static void choose(struct shape_builder *builder, struct shape_level *level,
                   const struct head *head, bool is_end)
{
    make_choice(builder, level, level->raw + head->first, head->symbol);
    if (is_end)
        level__close_choice(builder, level);
}

/* The fold is that of loops, and not of chance: little has to be told, a loop is most of it, and to
 * cut it where that begins does not tell it in much less. */
static bool is_regular(struct shape_builder *builder, const struct shape_level *level,
                       const struct telling *folded, double item_bits)
{
    size_t count = raw_count(builder, level);
    if (folded->items * SHORT > count || 4 * folded->longest < 3 * count)
        return false;
    const struct node *nodes = builder__node(builder, level->raw);
    uint32_t *symbols = symbols_of(builder, level->raw);
    struct head head = {.symbol = folded->head};
    while (symbols[head.first] != head.symbol)
        head.first++;
    struct telling cut = tell_head(builder, nodes, symbols, count, &head, item_bits);
    free(symbols);
    return 3 * (cut.items + 1) >= 2 * folded->items;
}

/* What a choice is for: kinds of iterations that come in any order make many loops by chance. Of
 * few nodes more is asked: loops that vary look like that, too. */
static bool is_choice(const struct telling *folded, const struct telling *cut, size_t count)
{
    size_t items = (count < LEVEL_NODES ? 2 * cut->items : cut->items) + 1;
    return 2 * folded->items > count || (cut->bits < 1.25 * folded->bits && items < folded->items);
}

void level__decide(struct shape_builder *builder, struct shape_level *level, bool is_end)
{
    size_t count = raw_count(builder, level);
    if (count < LEVEL_WINDOW || has_loops(builder__node(builder, level->raw), count)) {
        fold_and_go_on(builder, level, is_end);
        return;
    }
    double item_bits = bits_of_item(builder__node(builder, level->raw), count);
    const struct telling folded = try_fold(builder, level, item_bits);
    if (is_regular(builder, level, &folded, item_bits)) {
        fold_and_go_on(builder, level, is_end);
    } else if (count < LEVEL_NODES && !is_end) {
        level->fold_at = count * 4 < LEVEL_NODES ? count * 4 : LEVEL_NODES;
    } else {
        struct telling cut;
        struct head head = best_head(builder, level->raw, &cut);
        if (is_choice(&folded, &cut, count))
            choose(builder, level, &head, is_end);
        else
            fold_and_go_on(builder, level, is_end);
    }
}
