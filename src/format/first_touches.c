#include "format/first_touches.h"

#define NEAR_PAGES 64u /* so far from a page another one's fault tells of it */

/* A page fault that is told. */
struct told_fault {
    uint64_t address; /* of the page */
    uint64_t tick;
    uint32_t process, thread, cpu;
    bool stands_for_others; /* that came before it, and were only counted */
};

static int by_page(const void *a, const void *b)
{
    const struct first_touch *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->address, right->address);
}

static int by_place(const void *a, const void *b)
{
    const struct told_fault *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->address, right->address)
               ?: ORDER(left->tick, right->tick);
}

const struct first_touch *first_touches__at(const struct vec *touches, uint32_t process,
                                            uint64_t address)
{
    struct first_touch asked = {.address = address & ~(uint64_t)(HEURT_PAGE_BYTES - 1),
                                .process = process};
    size_t place = VEC_FIRST(touch, touches, struct first_touch, by_page(touch, &asked) >= 0);
    const struct first_touch *found = VEC_AT(touches, struct first_touch, place);
    return place < touches->count && by_page(found, &asked) == 0 ? found : NULL;
}

/* ---- the faults ------------------------------------------------------------------------------ */

/* The thread's place, and what it has touched since its last fault that is told. */
struct touching {
    uint32_t process, thread, cpu;
    bool has_counted;
};

static void take_fault(struct vec *faults, struct touching *at, const struct event *event)
{
    bool is_told = HEURT_SITE_HOW(event->payload[0]) != HEURT_FAULT_COUNTED;
    struct told_fault fault = {event->payload[1] & ~(uint64_t)(HEURT_PAGE_BYTES - 1),
                               event->tick,
                               at->process,
                               at->thread,
                               at->cpu,
                               at->has_counted};
    if (is_told)
        vec__push(faults, &fault);
    at->has_counted = !is_told;
}

static void take_thread(struct vec *faults, const struct trace *trace, uint32_t thread)
{
    struct trace_cursor cursor;
    struct event event;
    struct touching at = {trace__thread_at(trace, thread)->process, thread, UINT32_MAX, false};
    trace_cursor__start(&cursor, trace, trace__thread_at(trace, thread));
    while (trace_cursor__next_fixed(&cursor, &event)) {
        if (event.id == HEURT_EVENT_KERNEL && event.words >= 1)
            at.cpu = (uint32_t)event.payload[0];
        else if (event.id == HEURT_EVENT_OFF_CPU && event.words >= 2)
            at.cpu = HEURT_SITE_HOW(event.payload[1]);
        else if (event.id == HEURT_EVENT_FAULT && event.words >= 2)
            take_fault(faults, &at, &event);
    }
}

/* ---- which of them tells of a page ----------------------------------------------------------- */

static uint64_t apart(const struct told_fault *fault, const struct first_touch *touch)
{
    return fault->address > touch->address ? fault->address - touch->address
                                           : touch->address - fault->address;
}

/* What it tells of the page: its own fault most, then one that others were counted with. */
static int weight(const struct told_fault *fault, const struct first_touch *touch)
{
    return fault->address == touch->address ? 2 : fault->stands_for_others;
}

/* Whether the fault counts, and tells more than what was found, or is nearer, or earlier. */
static bool is_better(const struct told_fault *fault, const struct told_fault *than,
                      const struct first_touch *touch)
{
    if (fault->process != touch->process || fault->tick < touch->since ||
        apart(fault, touch) > NEAR_PAGES * HEURT_PAGE_BYTES)
        return false;
    if (!than)
        return true;
    int order = ORDER(weight(than, touch), weight(fault, touch))
                    ?: ORDER(apart(fault, touch), apart(than, touch))
                           ?: ORDER(fault->tick, than->tick);
    return order < 0;
}

static void find_one(const struct vec *faults, struct first_touch *touch)
{
    const struct told_fault *found = NULL;
    uint64_t near = NEAR_PAGES * HEURT_PAGE_BYTES;
    struct told_fault from = {.process = touch->process,
                              .address = touch->address > near ? touch->address - near : 0};
    size_t first = VEC_FIRST(fault, faults, struct told_fault, by_place(fault, &from) >= 0);
    for (size_t i = first; i < faults->count; i++) {
        const struct told_fault *fault = VEC_AT(faults, struct told_fault, i);
        if (fault->process != touch->process || fault->address > touch->address + near)
            break;
        if (is_better(fault, found, touch))
            found = fault;
    }
    touch->tick = found ? found->tick : UINT64_MAX;
    touch->thread = found ? found->thread : UINT32_MAX;
    touch->cpu = found ? found->cpu : UINT32_MAX;
    touch->is_near = found && found->address != touch->address;
}

void first_touches__find(const struct trace *trace, struct vec *touches)
{
    struct vec faults = VEC_OF(struct told_fault);
    for (uint32_t i = 0; touches->count && i < trace__threads(trace)->count; i++)
        take_thread(&faults, trace, i);
    vec__sort(&faults, by_place);
    vec__sort(touches, by_page);
    VEC_EACH (touch, touches, struct first_touch)
        find_one(&faults, touch);
    vec__free(&faults);
}
