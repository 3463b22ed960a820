#include "runtime/real.h"

#include "runtime/runtime.h"

#include <dlfcn.h>

struct real heurt_real;

static void *find(const char *name)
{
    static const char prefix[] = "pthread_cond_";
    unsigned i = 0;
    while (prefix[i] && name[i] == prefix[i])
        i++;
    void *found = NULL;
    if (!prefix[i])
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

void real__find(void)
{
    heurt_thread.inside++;
#define REAL_FIND(name, result, parameters) \
    if (!heurt_real.name)                   \
        *(void **)&heurt_real.name = find(#name);
    REAL_FUNCTIONS(REAL_FIND)
#undef REAL_FIND
    dlerror(); /* a name that this libc lacks must not show in the program's dlerror */
    heurt_thread.inside--;
}
