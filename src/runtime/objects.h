/* objects.h: which memory of the program is told of as it is allocated and freed, so that an
 * address that was sampled belongs to the object that lived there then.
 *
 * As long as there are few, all allocations are told. Where they are frequent, bytes are drawn, one
 * of each HEURT_ALLOCATION_EVERY of those that are not told whole: large objects are told always,
 * small ones in proportion to their size (docs/heurt-memory.md).
 *
 *   what                     who writes                       how
 *   allocating.objects       any thread                       compare and exchange of one address
 *   thread->allocations      its thread                       no allocator is called by handlers
 *   allocating.whole_left    any thread                       atomic subtraction
 *   allocating.places        any thread                       atomic addition
 *   allocating.callers       any thread                       atomic or; one of two may be lost
 *
 * An address is in the table from behind its allocation until before it is freed: so it is there
 * once, whoever gets the memory next.
 *
 * In go addresses that an allocator gave and takes back, out come events; an allocation that is not
 * told costs a few instructions, a free the look at a count for its address. */
#ifndef HEURT_RUNTIME_OBJECTS_H
#define HEURT_RUNTIME_OBJECTS_H

#include "runtime/runtime.h"

#define OBJECTS_TOLD_WHOLE 8192    /* allocations of a process, however frequent they are */
#define OBJECTS_STACKS 128         /* call stacks of allocations that a process takes at first */
#define OBJECTS_WAYS 8u            /* addresses of one hash: a cache line */
#define OBJECTS_BITS 14            /* of the hash */
#define OPERATOR_STACK_BYTES 1024u /* more than an operator needs on its way to malloc */
#define OBJECTS_BYTES ((8ul * OBJECTS_WAYS) << OBJECTS_BITS)

/* Writes the event, and a call stack before it where nobody has called so yet: from the same site
 * with the stack as high, which tells callers apart nearly always (Mytkowicz and others, Inferred
 * call path profiling, OOPSLA 2009). */
void object__tell(struct thread *thread, uint64_t site, const void *address, size_t bytes);

/* Something else lies there: accesses are counted anew, where they are counted. And this thread's
 * record ends (counting.c). */
void counting__renew(const void *address, size_t bytes);
void counting__end(void);

/* The rest of object__allocated and object__freed, for what may have to be told. */
void object__consider(struct thread *thread, uint64_t site, const void *address, size_t bytes);
void object__consider_freed(const void *address);

/* Whether an allocation of so many bytes need not be told, which takes it off what the thread may
 * leave out. Nothing but the thread's own counters is looked at for most of them: who is not
 * recorded finds that out when they run out. */
static inline bool object__is_left_out(size_t bytes)
{
    struct allocation_sampling *allocations = &heurt_thread.allocations;
    if (unlikely(allocations->whole_left || !allocations->patience ||
                 bytes >= allocations->bytes_left))
        return false;
    allocations->bytes_left -= (uint32_t)bytes;
    allocations->patience--;
    return true;
}

/* The program has got that memory. site: SITE(enum heurt_allocation). */
static inline void object__allocated(uint64_t site, const void *address, size_t bytes)
{
    if (unlikely(!object__is_left_out(bytes)))
        object__consider(&heurt_thread, site, address, bytes);
}

/* How many objects were told that begin there, or where its place is likewise: what is freed is
 * mostly none. Neighbours have places side by side. */
static inline uint16_t *object__place(const void *address)
{
    uint64_t granule = (uintptr_t)address >> 4;
    return &heurt_state.allocating.places[(granule ^ granule >> 16) & (OBJECT_PLACES - 1)];
}

/* The program is about to give that memory back. NULL is allowed. */
static inline void object__freed(const void *address)
{
    if (unlikely(__atomic_load_n(object__place(address), __ATOMIC_RELAXED)))
        object__consider_freed(address);
}

static inline uint64_t stack__pointer(void)
{
    uint64_t here;
    __asm__("mov %%rsp, %0" : "=r"(here));
    return here;
}

/* An operator new of C++ calls the one behind it: what that gets by way of malloc is the
 * operator's, with the place that the program called it from. */
struct operator_call {
    uint32_t whole_left, patience; /* as they were: an allocation changes one of them */
    bool is_inner;                 /* the operator of another operator */
};

static inline struct operator_call operator__begins(uint64_t site)
{
    struct allocation_sampling *allocations = &heurt_thread.allocations;
    struct operator_call call = {allocations->whole_left, allocations->patience,
                                 allocations->operator_frame - stack__pointer() <
                                     OPERATOR_STACK_BYTES};
    if (!call.is_inner) {
        allocations->operator_frame = stack__pointer();
        allocations->operator_site = site;
    }
    return call;
}

static inline void operator__ends(const struct operator_call *call, const void *address,
                                  size_t bytes)
{
    struct allocation_sampling *allocations = &heurt_thread.allocations;
    if (call->is_inner)
        return;
    allocations->operator_frame = 0;
    if (unlikely(call->whole_left == allocations->whole_left &&
                 call->patience == allocations->patience))
        object__allocated(allocations->operator_site, address, bytes);
}

#endif
