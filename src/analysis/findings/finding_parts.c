#include "analysis/findings/internal.h"

#include <string.h>

/* ---- who was waited for ---------------------------------------------------------------------- */

static const struct symbol *function_at(const struct finder *finder, uint32_t process,
                                        uint64_t site)
{
    return program_frame__inlined(symbols__get(finder->symbols, process, site));
}

static bool is_same_function(const struct finder *finder, const struct finding_holder *holder,
                             const struct profile_blame *blame)
{
    const struct symbol *a = function_at(finder, holder->process, holder->site);
    const struct symbol *b = function_at(finder, blame->process, blame->site);
    if (!a || !b)
        return holder->process == blame->process && holder->site == blame->site;
    return strcmp(a->function, b->function) == 0;
}

static void add_holder(const struct finder *finder, struct finding_part *part,
                       const struct profile_blame *blame)
{
    VEC_EACH (holder, &part->holders, struct finding_holder)
        if (is_same_function(finder, holder, blame)) {
            holder->wait_ns += blame->wait_ns;
            return;
        }
    vec__push(&part->holders, &(struct finding_holder){.process = blame->process,
                                                       .site = blame->site,
                                                       .wait_ns = blame->wait_ns});
}

static int by_wait(const void *a, const void *b)
{
    const struct finding_holder *left = a, *right = b;
    return ORDER(right->wait_ns, left->wait_ns) ?: ORDER(left->site, right->site);
}

static void order_holders(struct finding_part *part)
{
    uint64_t sum_ns = 0;
    VEC_EACH (holder, &part->holders, struct finding_holder)
        sum_ns += holder->wait_ns;
    VEC_EACH (holder, &part->holders, struct finding_holder)
        holder->share = sum_ns ? (double)holder->wait_ns / (double)sum_ns : 0;
    vec__sort(&part->holders, by_wait);
}

/* ---- places, or objects ---------------------------------------------------------------------- */

static bool is_same_place(const struct symbol *a, const struct symbol *b)
{
    return a && b && strcmp(a->function, b->function) == 0 && a->line == b->line;
}

/* Of a finding that is several objects those, else places. */
static bool is_same_part(const struct finder *finder, const struct finding *finding,
                         const struct finding_part *part, uint32_t place,
                         const struct symbol *symbol)
{
    const struct class_definition *a = &profile_class_at(finder->profile, part->class)->what;
    const struct class_definition *b = &profile_class_at(finder->profile, place)->what;
    if (finding->objects > 1)
        return a->has_object == b->has_object && a->object == b->object;
    return symbol ? is_same_place(part->place, symbol)
                  : !part->place && a->at.site == b->at.site && a->at.address == b->at.address;
}

static struct finding_part *part_of_class(const struct finder *finder, struct finding *finding,
                                          uint32_t place)
{
    const struct symbol *symbol =
        program_frame__of_class(finder->symbols, &profile_class_at(finder->profile, place)->what);
    VEC_EACH (part, &finding->parts, struct finding_part)
        if (is_same_part(finder, finding, part, place, symbol))
            return part;
    return vec__push(&finding->parts,
                     &(struct finding_part){.class = place,
                                            .place = symbol,
                                            .holders = VEC_OF(struct finding_holder)});
}

static int by_lost(const void *a, const void *b)
{
    const struct finding_part *left = a, *right = b;
    return ORDER(right->lost_ns, left->lost_ns) ?: ORDER(left->class, right->class);
}

static void find_parts(const struct finder *finder, struct finding *finding)
{
    for (size_t i = 0; i < finding->classes.count; i++) {
        uint32_t place = *VEC_AT(&finding->classes, uint32_t, i);
        struct finding_part *part = part_of_class(finder, finding, place);
        part->lost_ns +=
            finding->losses.count ? *VEC_AT(&finding->losses, uint64_t, i) : finding->lost_ns;
        VEC_EACH (blame, &profile_class_at(finder->profile, place)->blames, struct profile_blame)
            add_holder(finder, part, blame);
    }
    VEC_EACH (part, &finding->parts, struct finding_part)
        order_holders(part);
    vec__sort(&finding->parts, by_lost);
}

/* ---- how often ------------------------------------------------------------------------------- */

static bool is_taken(const struct profile_class *class)
{
    return class->what.at.kind == CLASS_LOCK || class->what.at.kind == CLASS_SEMAPHORE;
}

static void count_class(const struct profile *profile, const struct profile_class *class,
                        struct finding_counts *counts)
{
    counts->waits += is_taken(class) ? class->contended : class->count;
    counts->wait_ns += class->sum_ns;
    counts->longest_ns = ns__larger(counts->longest_ns, class->max_ns);
    counts->unheld_ns += class__unheld_ns(profile, class);
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        counts->blamed_ns += blame->wait_ns;
        for (int i = 0; i < COMPONENTS; i++)
            counts->doing_ns[i] += blame->doing_ns[i];
    }
}

static bool is_object_of(const struct profile_class *class, const struct profile_class *leader)
{
    return class->what.has_object && class->what.object == leader->what.object &&
           class->what.at.kind == leader->what.at.kind &&
           class->what.at.process == leader->what.at.process;
}

/* Also where nobody had to wait for it. */
static uint64_t taken(const struct finder *finder, const struct finding *finding)
{
    uint64_t count = 0, of_object = 0;
    VEC_EACH (place, &finding->classes, uint32_t)
        count += profile_class_at(finder->profile, *place)->count;
    const struct profile_class *leader = profile_class_at(finder->profile, finding->leader);
    if (!is_taken(leader) || finding->objects != 1)
        return count;
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        of_object += is_object_of(class, leader) && !class->what.is_aside ? class->count : 0;
    return ns__larger(count, of_object);
}

void finding__find_parts(const struct finder *finder, struct finding *finding)
{
    if (finding->classes.count == 0 || finding->leader == FINDING_NO_CLASS)
        return;
    if (finding->classes.count == 1 || finding->losses.count == finding->classes.count)
        find_parts(finder, finding);
    /* Faults are in calls of a function, which are not as many, nor as long. */
    const struct profile_class *leader = profile_class_at(finder->profile, finding->leader);
    if (finding->category == FINDING_PAGE_FAULT && class__is_call(leader))
        return;
    VEC_EACH (place, &finding->classes, uint32_t)
        count_class(finder->profile, profile_class_at(finder->profile, *place), &finding->counts);
    finding->counts.taken = taken(finder, finding);
}

void finding__free(struct finding *finding)
{
    VEC_EACH (part, &finding->parts, struct finding_part)
        vec__free(&part->holders);
    vec__free(&finding->parts);
    vec__free(&finding->losses);
    vec__free(&finding->beside);
    vec__free(&finding->removed);
    vec__free(&finding->classes);
}
