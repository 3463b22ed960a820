#include "analysis/findings/internal.h"

#include "base/memory.h"

/* What is only bounded may be nothing: then the least gain is none, and the finding is weak. */
static void add(struct finder *finder, const struct remote_object *remote)
{
    struct finding *finding = finder__add(finder, FINDING_REMOTE_MEMORY);
    uint32_t serial = trace__process_at(finder->trace, remote->object->process)->serial;
    const struct symbol *symbol = symbols__get(finder->symbols, serial, remote->instruction);
    const struct symbol *own = symbol ? program_frame__inlined(symbol) : NULL;
    finding->remote = remote;
    finding->place = own ? own : symbol;
    finding->objects = 1;
    finding->has_object = true;
    finding->confidence = remote->is_bound ? CONFIDENCE_WEAK : CONFIDENCE_ESTIMATED;
    finding__set_estimate(finder, finding, remote->lost_ns);
    finding->wall_gain[0] = remote->is_bound ? 1 : finding->wall_gain[0];
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        finding->lost_ns += finder->findings->had_work[i] ? remote->lost_ns[i] : 0;
}

void finder__add_remotes(struct finder *finder)
{
    if (finder->findings->remotes)
        VEC_EACH (remote, &finder->findings->remotes->rows, const struct remote_object)
            add(finder, remote);
}
