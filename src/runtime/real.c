#include "runtime/real.h"

#include "runtime/runtime.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>

struct real heurt_real;

/* A lookup that fails makes libc write why, in memory of the program's heap: what the program then
 * allocates would lie elsewhere than without us. So nobody asks for what may not be there. */

/* Of these glibc keeps an incompatible version, of 2.2.5, beside the one that is meant. */
static const char *const with_old_version[] = {"pthread_cond_init", "pthread_cond_wait",
                                               "pthread_cond_timedwait", "pthread_cond_signal",
                                               "pthread_cond_broadcast"};

/* Since which minor version of glibc 2 there are these. */
static const struct {
    const char *name;
    unsigned minor;
} younger[] = {{"pthread_cond_clockwait", 30},
               {"pthread_mutex_clocklock", 30},
               {"pthread_rwlock_clockrdlock", 30},
               {"pthread_rwlock_clockwrlock", 30},
               {"sem_clockwait", 30},
               {"pthread_clockjoin_np", 31},
               {"_Fork", 34},
               {"execveat", 34},
               {"epoll_pwait2", 35}};

static unsigned minor_version(void)
{
    const char *text = gnu_get_libc_version();
    unsigned minor = 0;
    text = strchr(text, '.');
    for (text = text ? text + 1 : ""; *text >= '0' && *text <= '9'; text++)
        minor = minor * 10 + (unsigned)(*text - '0');
    return minor;
}

static bool is_there(const char *name)
{
    for (unsigned i = 0; i < sizeof younger / sizeof younger[0]; i++)
        if (strcmp(name, younger[i].name) == 0)
            return minor_version() >= younger[i].minor;
    return true;
}

static void *find(const char *name)
{
    for (unsigned i = 0; i < sizeof with_old_version / sizeof with_old_version[0]; i++)
        if (strcmp(name, with_old_version[i]) == 0)
            return dlvsym(BEHIND_US, name, "GLIBC_2.3.2");
    return is_there(name) ? dlsym(BEHIND_US, name) : NULL;
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

void *real__of_module(const char *name, const void *site)
{
    Dl_info module;
    struct link_map *map = NULL;
    if (!dladdr1(site, &module, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
        return NULL;
    void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle); /* the module that calls keeps what it needs loaded */
    return found;
}
