#include "runtime/longer_holds.h"

#include "runtime/runtime.h"

static bool is_meant(uint64_t site)
{
    const uint64_t *sites = heurt_state.settings.hold_sites, address = HEURT_SITE_ADDRESS(site);
    for (unsigned i = 0; i < HEURT_HOLD_SITES && sites[i]; i++)
        if (sites[i] == address)
            return true;
    return false;
}

void longer_hold__begins(struct thread *thread, uint64_t site, const void *lock)
{
    if (!is_meant(site))
        return;
    struct longer_hold *hold = &thread->longer_holds[thread->longer_holds_next++ % LONGER_HOLDS];
    hold->since = clock__tick();
    hold->lock = lock;
}

void longer_hold__ends(struct thread *thread, const void *lock)
{
    for (unsigned i = 0; i < LONGER_HOLDS; i++) {
        struct longer_hold *hold = &thread->longer_holds[i];
        if (hold->lock != lock)
            continue;
        hold->lock = NULL;
        uint64_t now = clock__tick(), permille = heurt_state.settings.hold_permille,
                 until = now + (now - hold->since) * permille / 1000;
        while ((int64_t)(until - clock__tick()) > 0)
            __builtin_ia32_pause();
        return;
    }
}
