/* What placement is called. */
#include "base/memory.h"
#include "present/place/place_screens.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>

const char *placement_kind__name(unsigned kind)
{
    static const char *const names[] = {
        [PLACEMENT_UNKNOWN] = "unknown",         [PLACEMENT_LOCAL] = "local",
        [PLACEMENT_ONE_NODE] = "one_node",       [PLACEMENT_SPREAD] = "interleaved",
        [PLACEMENT_APART] = "partitioned_wrong", [PLACEMENT_MOVED] = "moved",
        [PLACEMENT_HUGE] = "huge_pages",
    };
    return kind < PLACEMENT_KINDS ? names[kind] : "unknown";
}

const char *placement_advice__name(unsigned advice)
{
    static const char *const names[] = {
        [ADVICE_NONE] = "none",
        [ADVICE_LOCAL] = "local_allocation",
        [ADVICE_PARALLEL_TOUCH] = "parallel_first_touch",
        [ADVICE_INTERLEAVE] = "interleave",
        [ADVICE_REPLICATE] = "replicate",
        [ADVICE_PIN] = "pin",
        [ADVICE_SMALL_PAGES] = "small_pages",
    };
    return advice < PLACEMENT_ADVICES ? names[advice] : "none";
}

static uint32_t node_id(const struct placement *placement, uint32_t node)
{
    return node < placement->nodes.count ? *VEC_AT(&placement->nodes.ids, uint32_t, node) : 0;
}

/* "node 2", or "3 nodes". */
static char *users_text(const struct placement *placement, const struct placement_object *object)
{
    return object->user_nodes == 1
               ? memory__format("node %" PRIu32, node_id(placement, object->top_user))
               : memory__format("%" PRIu32 " nodes", object->user_nodes);
}

char *placement__kind_text(const struct placement *placement, const struct placement_object *object)
{
    char *users = users_text(placement, object), *text = NULL, before[16], after[16], when[16];
    switch (object->kind) {
    case PLACEMENT_LOCAL:
        text = memory__text("on the nodes that use it");
        break;
    case PLACEMENT_ONE_NODE:
        text = memory__format("all on node %" PRIu32 ", used from %s",
                              node_id(placement, object->top_node), users);
        break;
    case PLACEMENT_SPREAD:
        text = memory__format("interleaved over nodes, used from %s", users);
        break;
    case PLACEMENT_APART:
        text = memory__format("divided among nodes, but not as it is used, from %s", users);
        break;
    case PLACEMENT_MOVED:
        text = memory__format(
            "moved to another node after %s: %s local before, %s then",
            duration__format(object->moved_ns, when),
            share__format(
                object->before_ns ? (double)object->before_local_ns / (double)object->before_ns : 0,
                before),
            share__format(
                object->after_ns ? (double)object->after_local_ns / (double)object->after_ns : 0,
                after));
        break;
    case PLACEMENT_HUGE:
        text = memory__format("in huge pages that %s use", users);
        break;
    default:
        text = memory__format("fewer than %u samples", PLACEMENT_SAMPLES_LEAST);
    }
    free(users);
    return text;
}

/* "Touched first by main #12 on node 0. " */
static char *touch_text(const struct place_report *shown, const struct placement_object *object)
{
    const struct trace *trace = shown->report->trace;
    const char *how = object->is_touch_seen ? "Touched first by" : "Sampled first in";
    if (object->touch_thread == UINT32_MAX || object->touch_node == NO_NODE)
        return memory__text("");
    const struct trace_thread *thread = trace__thread_at(trace, object->touch_thread);
    const char *name = *thread->name ? thread->name : "thread";
    if (object->touch_threads == 1)
        return memory__format("%s %s #%" PRIu32 " on node %" PRIu32 ". ", how, name, thread->tid,
                              node_id(shown->placement, object->touch_node));
    return memory__format("%s %" PRIu32 " threads. ", how, object->touch_threads);
}

static char *what_to_try(const struct placement *placement, const struct placement_object *object)
{
    char owned[16], reads[16], imbalance[16], self[16];
    share__format(object->owned, owned);
    share__format(object->read_ratio, reads);
    share__format(object->imbalance, imbalance);
    share__format(object->touched_ns ? (double)object->touched_self_ns / (double)object->touched_ns
                                     : 0,
                  self);
    switch (object->advice) {
    case ADVICE_LOCAL:
        return memory__format("each page is used from one node (so are %s of two samples at one): "
                              "allocate it, or write it first, in the thread that uses it",
                              owned);
    case ADVICE_PARALLEL_TOUCH:
        return memory__format("each page is used from one node (so are %s of two samples at one): "
                              "let each thread be the first to write the part that it uses",
                              owned);
    case ADVICE_INTERLEAVE:
        return memory__format("nodes use the same pages (%s of two samples at one are from one "
                              "node), and the imbalance of the nodes that have them is %s: "
                              "interleave it (numactl --interleave=all)",
                              owned, imbalance);
    case ADVICE_REPLICATE:
        return memory__format("nodes use the same pages, and %s of its time is reading: if it is "
                              "only read then, give each node a copy; else interleave it",
                              reads);
    case ADVICE_PIN:
        return memory__format("%s of the remote time is of threads that touched it first "
                              "themselves, and moved: keep threads on their nodes "
                              "(OMP_PROC_BIND=true, taskset, hwloc-bind)%s",
                              self,
                              placement->balancing && *placement->balancing != '0'
                                  ? "; kernel.numa_balancing is on, and moves pages, too"
                                  : "");
    case ADVICE_SMALL_PAGES:
        return memory__format(
            "each page of 4 KiB is used from one node (so are %s of two samples "
            "at one), a huge one of 2 MiB is not: parts that begin at multiples of 2 MiB, or "
            "madvise(MADV_NOHUGEPAGE)",
            owned);
    default:
        return memory__text("");
    }
}

char *placement__advice(const struct place_report *shown, const struct placement_object *object)
{
    char *what = what_to_try(shown->placement, object);
    char *text = *what ? memory__text(what) : NULL;
    free(what);
    return text;
}

char *placement__touch_text(const struct place_report *shown, const struct placement_object *object)
{
    return touch_text(shown, object);
}

char *placement__advice_text(const struct place_report *shown,
                             const struct placement_object *object)
{
    char *what = what_to_try(shown->placement, object), *touch = touch_text(shown, object);
    char *text = *what ? memory__format("%sTo try: %s.", touch, what) : memory__text("");
    free(what);
    free(touch);
    return text;
}

char *placement__title(const struct place_report *shown, const struct placement_object *object)
{
    return memory_object__title(shown->report,
                                VEC_AT(&shown->use->objects, struct memory_object, object->object));
}
