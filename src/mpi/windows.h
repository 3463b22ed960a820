/* windows.h: what both files of wrappers of one-sided communication have in common
 * (wrap_windows.c, wrap_accesses.c). It stands on wrap.h. */
#ifndef HEURT_MPI_WINDOWS_H
#define HEURT_MPI_WINDOWS_H

#include "mpi/wrap.h"

static inline const struct communicator *window__of(MPI_Win handle)
{
    return handle == MPI_WIN_NULL ? NULL : group__of(KEY_OF(handle), GROUP_WINDOW);
}

/* A window that was made where nobody saw it is told by the first call of it. */
static inline uint64_t enter(uint64_t site, const struct communicator *in, uint64_t bytes)
{
    uint64_t since = heurt_message_enter(site, communicator__number(in), bytes);
    if (unlikely(since && in && !in->own->is_told))
        group__told(since, in);
    return since;
}

static inline int leave(uint64_t since, int result)
{
    if (likely(since))
        heurt_message_leave(since, (uint64_t)(int64_t)result);
    return result;
}

#endif
