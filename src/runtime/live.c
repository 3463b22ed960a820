/* live.c: what the recorder needs to patch functions while the program runs. It does so from
 * outside, with all threads stopped; here is only told where things are. */
#include "runtime/runtime.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

void heurt_loop(void); /* stub.S */

/* Among the data of the library's file, where the recorder finds it: in no other process' reach. */
static volatile struct heurt_offers offers = {.magic = HEURT_OFFERS_MAGIC};

static bool has_room(const struct known_module *module)
{
    for (unsigned i = 0; i < heurt_state.live_room_count; i++)
        if (near__reaches(module->start, module->end, heurt_state.live_rooms[i], HEURT_LIVE_BYTES))
            return true;
    return false;
}

/* The same in every thread: the library's thread-local memory is of the initial-exec model. */
static int64_t loop_counters(void)
{
    return (int64_t)((uint64_t)heurt_thread.loops - raw__thread_pointer());
}

static void offer(uint64_t room)
{
    struct heurt_live live = {
        .room = room,
        .process = (uint64_t)&heurt_state.process,
        .bodies = (uint64_t)heurt_state.bodies,
        .entered = (uint64_t)heurt_state.live_entered,
        .loops = (uint64_t)heurt_state.loops,
        .loop_stub = (uint64_t)heurt_loop,
        .loop_counters = loop_counters(),
        .loop_cost_ticks = heurt_state.marker.cost_ticks,
    };
    for (unsigned mechanism = 0; mechanism < 2; mechanism++)
        for (unsigned ordered = 0; ordered < 2; ordered++) {
            const struct calibration *costs =
                &heurt_state.stubs[mechanism][patch__stub_kind(ordered, false)];
            live.stubs[mechanism][ordered] =
                (uint64_t)patch__stub(mechanism, false, ordered, false);
            live.bias_ticks[mechanism][ordered] = costs->bias_ticks;
            live.cost_ticks[mechanism][ordered] = costs->cost_ticks;
        }
    offers.process = live.process;
    offers.module_count = (uint64_t)&heurt_state.module_count;
    offers.modules = (uint64_t)heurt_state.modules;
    offers.module_bytes = sizeof *heurt_state.modules;
    bytes__copy((void *)&offers.rooms[offers.count], &live, sizeof live);
    __atomic_store_n(&offers.count, offers.count + 1, __ATOMIC_RELEASE);
    define__parts(HEURT_DEFINITION_LIVE, &(struct text_part){&live, sizeof live}, 1);
}

void live__offer(void)
{
    struct state *state = &heurt_state;
    /* A core that turns to one of our threads, which all stood still while their code was changed,
     * is made to forget what it has read of the code before (membarrier(2), SYNC_CORE): the kernel
     * does so for processes that have registered. */
    if (!state->live_room_count)
        RAW3(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    if (!patch__make_tables())
        return;
    if (!state->loop_mark_ticks)
        state->loop_mark_ticks = loop__mark_ticks();
    for (unsigned i = 0; i < state->module_count; i++) {
        const struct known_module *module = &state->modules[i];
        if (state->live_room_count == LIVE_ROOMS_MAX || has_room(module))
            continue;
        void *room =
            near__allocate(module->start, module->end, HEURT_LIVE_BYTES, PROT_READ | PROT_EXEC);
        if (!room)
            continue;
        state->live_rooms[state->live_room_count++] = (uint64_t)room;
        offer((uint64_t)room);
    }
}
