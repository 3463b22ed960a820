/* locks_filter.c: what of a trace counts. */
#include "analysis/callsite/rules.h"
#include "analysis/locks/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the range of time ----------------------------------------------------------------------- */

static uint64_t last_tick(const struct trace *trace)
{
    uint64_t last = trace__session(trace)->end.tick;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        last = thread->end_tick > last ? thread->end_tick : last;
    return last;
}

static int read_range(struct locks_walk *walk, struct error *error)
{
    const struct locks_filter *filter = walk->filter;
    uint64_t end_ns = trace__since_start_ns(walk->trace, last_tick(walk->trace));
    walk->from = filter->from_ns ? trace__tick(walk->trace, filter->from_ns) : 0;
    walk->to = filter->to_ns ? trace__tick(walk->trace, filter->to_ns) : UINT64_MAX;
    if (filter->to_ns && filter->to_ns <= filter->from_ns)
        return error__set(error, -EINVAL,
                          "the range of time is empty: it ends at %.9g s and begins at %.9g s",
                          (double)filter->to_ns / 1e9, (double)filter->from_ns / 1e9);
    if (filter->from_ns && filter->from_ns > end_ns)
        return error__set(error, -EINVAL,
                          "the range of time begins at %.9g s, but the run ended at %.9g s",
                          (double)filter->from_ns / 1e9, (double)end_ns / 1e9);
    return 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static int read_threads(struct locks_walk *walk, struct error *error)
{
    const char *pattern = walk->filter->thread;
    for (size_t i = 0; i < walk->thread_count; i++) {
        const struct trace_thread *thread = trace__thread_at(walk->trace, i);
        walk->threads[i].passes = !pattern || rule__is_thread(pattern, thread);
    }
    return rule__find_thread(pattern, walk->trace, error);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Whether text is an address; else it is a glob. */
static bool is_address(const char *text, uint64_t *address)
{
    char *end;
    if (strncmp(text, "0x", 2) != 0)
        return false;
    *address = strtoull(text, &end, 16);
    return text[2] && !*end;
}

bool locks_filter__wants_object(struct locks_walk *walk, const struct sync_object *object)
{
    uint64_t address;
    if (!walk->filter->lock)
        return true;
    if (is_address(walk->filter->lock, &address))
        return address == object->address;
    const struct symbol *variable =
        walk->symbols ? symbols__variable(walk->symbols, object->process, object->address) : NULL;
    if (!variable)
        return false;
    nearest__offer(&walk->nearest_lock, variable->function);
    return rule__matches(walk->filter->lock, variable->function);
}

int locks_filter__check(const struct locks_walk *walk, struct error *error)
{
    uint64_t address;
    if (!walk->filter->lock || walk->matched_locks)
        return 0;
    if (is_address(walk->filter->lock, &address))
        return error__set(error, -ENOENT,
                          "no lock of this trace has the address %s; heurt locks lists them",
                          walk->filter->lock);
    char *question = nearest__question(&walk->nearest_lock);
    error__set(error, -ENOENT,
               "no lock of this trace has the name %s%s heurt locks lists them (a lock on the heap "
               "may have an address alone)",
               walk->filter->lock, *question ? question : ";");
    free(question);
    return -ENOENT;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool is_function(struct locks_walk *walk, uint32_t process, uint64_t site)
{
    const struct symbol *symbol = walk->symbols ? symbols__get(walk->symbols, process, site) : NULL;
    for (; symbol; symbol = symbol->inlined_by) {
        if (rule__matches(walk->filter->site, symbol->function))
            return true;
        nearest__offer(&walk->nearest_function, symbol->function);
    }
    return false;
}

static bool function_passes(struct locks_walk *walk, uint32_t process, uint64_t site)
{
    uint64_t hash = (site + process) * 0x9e3779b97f4a7c15ull;
    struct cached_function *cached = &walk->functions[hash >> 40 & (CACHE_PLACES - 1)];
    if (cached->process_and_1 != process + 1 || cached->site != site) {
        bool passes = is_function(walk, process, site);
        *cached = (struct cached_function){site, process + 1, passes};
        walk->matched_functions += passes;
    }
    return cached->passes;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool locks_filter__counts(struct locks_walk *walk, const struct lock_state *state, uint32_t thread,
                          uint64_t site, uint64_t waited)
{
    if (walk->takes_all)
        return true;
    return state->passes && walk->threads[thread].passes && waited >= walk->least_wait &&
           (!walk->functions || function_passes(walk, state->process, site));
}

int locks_filter__start(struct locks_walk *walk, struct error *error)
{
    const struct locks_filter *filter = walk->filter;
    walk->least_wait = trace__ticks(walk->trace, filter->min_wait_ns);
    walk->takes_all = !filter->lock && !filter->site && !filter->thread && !filter->min_wait_ns;
    walk->nearest_lock = nearest__to(filter->lock ?: "");
    walk->nearest_function = nearest__to(filter->site ?: "");
    if (filter->site)
        walk->functions = memory__zeroed(CACHE_PLACES, sizeof *walk->functions);
    int code = read_range(walk, error);
    return code < 0 ? code : read_threads(walk, error);
}
