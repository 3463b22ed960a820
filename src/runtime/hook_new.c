/* hook_new.c: the operators new and delete of C++, so that an object is told with the place at
 * which the program made it, not with one in the C++ library, and of allocators, too, whose
 * operators do without malloc.
 *
 * A library that only a plugin sees has operators that we do not: there the memory comes from
 * malloc, as such a library's own operators have it, and when there is none, the library says so.
 */
#include "runtime/objects.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <stdlib.h>

/* X(symbol, result, parameters, arguments): as the compilers of C++ name them. The size of an
 * object, its alignment, the reference to std::nothrow. */
#define OPERATORS_NEW(X)                                                                         \
    X(_Znwm, (size_t bytes), (bytes), 0)                                                         \
    X(_Znam, (size_t bytes), (bytes), 0)                                                         \
    X(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *nothrow), (bytes, nothrow), 0)             \
    X(_ZnamRKSt9nothrow_t, (size_t bytes, const void *nothrow), (bytes, nothrow), 0)             \
    X(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment), alignment)     \
    X(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment), alignment)     \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *nothrow), \
      (bytes, alignment, nothrow), alignment)                                                    \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *nothrow), \
      (bytes, alignment, nothrow), alignment)

#define OPERATORS_DELETE(X)                                                                        \
    X(_ZdlPv, (void *address), (address))                                                          \
    X(_ZdaPv, (void *address), (address))                                                          \
    X(_ZdlPvm, (void *address, size_t bytes), (address, bytes))                                    \
    X(_ZdaPvm, (void *address, size_t bytes), (address, bytes))                                    \
    X(_ZdlPvRKSt9nothrow_t, (void *address, const void *nothrow), (address, nothrow))              \
    X(_ZdaPvRKSt9nothrow_t, (void *address, const void *nothrow), (address, nothrow))              \
    X(_ZdlPvSt11align_val_t, (void *address, size_t alignment), (address, alignment))              \
    X(_ZdaPvSt11align_val_t, (void *address, size_t alignment), (address, alignment))              \
    X(_ZdlPvmSt11align_val_t, (void *address, size_t bytes, size_t alignment),                     \
      (address, bytes, alignment))                                                                 \
    X(_ZdaPvmSt11align_val_t, (void *address, size_t bytes, size_t alignment),                     \
      (address, bytes, alignment))                                                                 \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *address, size_t alignment, const void *nothrow), \
      (address, alignment, nothrow))                                                               \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *address, size_t alignment, const void *nothrow), \
      (address, alignment, nothrow))

enum {
#define OPERATOR_NEW_NUMBER(name, parameters, arguments, alignment) OPERATOR##name,
#define OPERATOR_DELETE_NUMBER(name, parameters, arguments) OPERATOR##name,
    OPERATORS_NEW(OPERATOR_NEW_NUMBER) OPERATORS_DELETE(OPERATOR_DELETE_NUMBER) OPERATOR_COUNT
};
_Static_assert(OPERATOR_COUNT == CXX_OPERATORS, "room in struct state");

static const char missing;
#define MISSING ((void *)&missing)

static __attribute__((noinline)) void *find(unsigned which, const char *name)
{
    heurt_thread.inside++;
    void *found = dlsym(BEHIND_US, name);
    if (!found) {
        found = MISSING;
        dlerror(); /* must not show in the program's */
    }
    heurt_thread.inside--;
    __atomic_store_n(&heurt_state.allocating.cxx_operators[which], found, __ATOMIC_RELEASE);
    return found;
}

static inline void *real(unsigned which, const char *name)
{
    void *known = __atomic_load_n(&heurt_state.allocating.cxx_operators[which], __ATOMIC_ACQUIRE);
    return likely(known) ? known : find(which, name);
}

/* Without a library that is seen. */
static void *from_malloc(size_t bytes, size_t alignment)
{
    bytes += !bytes;
    return alignment ? aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1))
                     : malloc(bytes);
}

#define OPERATOR_NEW(name, parameters, arguments, alignment)                          \
    EXPORT void *name parameters;                                                     \
    EXPORT void *name parameters                                                      \
    {                                                                                 \
        void *(*make)parameters = real(OPERATOR##name, #name);                        \
        struct operator_call call = operator__begins(SITE(HEURT_ALLOCATION_NEW));     \
        void *made = NULL;                                                            \
        if (unlikely((void *)make == MISSING)) {                                      \
            made = from_malloc(bytes, alignment);                                     \
            make = made ? NULL : real__of_module(#name, __builtin_return_address(0)); \
        }                                                                             \
        if (likely(make != NULL))                                                     \
            made = make arguments;                                                    \
        operator__ends(&call, made, bytes);                                           \
        return made;                                                                  \
    }
OPERATORS_NEW(OPERATOR_NEW)

#define OPERATOR_DELETE(name, parameters, arguments)               \
    EXPORT void name parameters;                                   \
    EXPORT void name parameters                                    \
    {                                                              \
        void(*give_back) parameters = real(OPERATOR##name, #name); \
        object__freed(address);                                    \
        if (unlikely((void *)give_back == MISSING))                \
            free(address);                                         \
        else                                                       \
            give_back arguments;                                   \
    }
OPERATORS_DELETE(OPERATOR_DELETE)
