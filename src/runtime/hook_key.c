/* hook_key.c: the thread key whose destructor ends a thread's record.
 *
 * The program has the keys that it would have without us, by their numbers and to the last. Ours is
 * the last one whose value needs no memory of the heap; when the program comes to that one it gets
 * it. From then on a thread's record ends where its routine returns (hook_thread.c), else with the
 * last that was seen of it. */
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>

/* glibc keeps the values of keys below it in the thread's descriptor. */
#define KEYS_WITHOUT_HEAP 32

static bool take(pthread_key_t *key, void (*destructor)(void *))
{
    return REAL(pthread_key_create)(key, destructor) == 0;
}

bool end_key__take(void (*destructor)(void *))
{
    pthread_key_t others[KEYS_WITHOUT_HEAP], key = 0;
    unsigned count = 0;
    bool taken;
    while ((taken = take(&key, destructor)) && key < KEYS_WITHOUT_HEAP - 1)
        others[count++] = key;
    if (taken && key >= KEYS_WITHOUT_HEAP) {
        pthread_key_delete(key);
        taken = false;
    }
    if (!taken && count) {
        key = others[--count];
        taken = true;
    }
    while (count)
        pthread_key_delete(others[--count]);
    heurt_state.end_key = key;
    heurt_state.has_end_key = taken;
    return true;
}

/* The lock is taken in no signal handler: neither of its holders may be called there. */
bool end_key__set(void *value)
{
    struct state *state = &heurt_state;
    spin__lock(&state->end_key_lock);
    bool has = state->has_end_key;
    if (has)
        pthread_setspecific(state->end_key, value);
    spin__unlock(&state->end_key_lock);
    return has;
}

/* Makes our key the next one that the program gets. False: it was no longer ours. */
static bool end_key__give(void)
{
    struct state *state = &heurt_state;
    spin__lock(&state->end_key_lock);
    bool had = state->has_end_key;
    if (had)
        pthread_key_delete(state->end_key);
    state->has_end_key = false;
    spin__unlock(&state->end_key_lock);
    return had;
}

void end_key__drop(void)
{
    end_key__give();
}

/* What the program's call gets in exchange for what it got. */
static int exchange(pthread_key_t *key, void (*destructor)(void *), int result)
{
    bool is_beyond = result == 0 && *key > heurt_state.end_key;
    if (!heurt_state.has_end_key || !(is_beyond || result == EAGAIN) || !end_key__give())
        return result;
    pthread_key_t beyond = result == 0 ? *key : 0;
    int again = REAL(pthread_key_create)(key, destructor);
    if (result == 0 && again == 0)
        pthread_key_delete(beyond);
    else if (result == 0)
        *key = beyond;
    return result == 0 ? 0 : again;
}

EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    return exchange(key, destructor, REAL(pthread_key_create)(key, destructor));
}

EXPORT int tss_create(tss_t *key, tss_dtor_t destructor)
{
    int result = exchange(key, destructor, REAL(pthread_key_create)(key, destructor));
    return result == 0 ? thrd_success : result == ENOMEM ? thrd_nomem : thrd_error;
}
