#include "import/import_states.h"

#include <string.h>

static enum heurt_off why_of(const char *state)
{
    return strcmp(state, "wanted a CPU") == 0 ? HEURT_OFF_PREEMPTED
           : strcmp(state, "blocked") == 0    ? HEURT_OFF_FUTEX
           : strcmp(state, "disk") == 0       ? HEURT_OFF_DISK
                                              : HEURT_OFF_BLOCKED;
}

static void write_fault(struct import *import, uint32_t thread, int64_t ns, uint64_t took_ns)
{
    const uint64_t payload[] = {HEURT_OFF(took_ns, HEURT_FAULT_MEASURED), 0, 0};
    import__event(import, thread, ns, HEURT_EVENT_FAULT, payload, 3);
}

static void write_off(struct import *import, uint32_t thread, const struct import_states *states,
                      int64_t ns)
{
    uint64_t off_ns = (uint64_t)(ns - states->from_ns);
    uint64_t wanted_ns = states->why == HEURT_OFF_PREEMPTED ? off_ns
                         : states->is_wanted                ? (uint64_t)(ns - states->wanted_ns)
                                                            : HEURT_NOT_KNOWN;
    const uint64_t payload[] = {HEURT_OFF(off_ns, states->why), HEURT_BACK(wanted_ns, 0), 0};
    import__event(import, thread, ns, HEURT_EVENT_OFF_CPU, payload, 3);
}

static void end_state(struct import *import, uint32_t thread, struct import_states *states,
                      int64_t ns)
{
    if (states->is_off && ns > states->from_ns && states->is_fault)
        write_fault(import, thread, ns, (uint64_t)(ns - states->from_ns));
    else if (states->is_off && ns > states->from_ns)
        write_off(import, thread, states, ns);
    states->is_off = states->is_wanted = false;
}

void import_states__change(struct import *import, uint32_t thread, struct import_states *states,
                           int64_t ns, const char *state)
{
    bool is_wanted = strcmp(state, "wanted a CPU") == 0;
    if (!states->has_any)
        import__event(import, thread, ns, HEURT_EVENT_KERNEL, (const uint64_t[]){0}, 1);
    states->has_any = true;
    if (is_wanted && states->is_off && !states->is_fault && !states->is_wanted) {
        states->is_wanted = true;
        states->wanted_ns = ns;
        return;
    }
    end_state(import, thread, states, ns);
    if (strcmp(state, IMPORT_ON_CPU) == 0)
        return;
    states->is_off = true;
    states->is_fault = strcmp(state, "page faults") == 0;
    states->why = why_of(state);
    states->from_ns = ns;
}
