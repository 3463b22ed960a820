#include "patch/denylist.h"

#include <stddef.h>
#include <string.h>

static const char RETURNS_TWICE[] = "it returns twice, or to another place than its caller";
static const char INSPECTS[] = "it looks at who called it";
static const char STARTS[] = "it starts or ends the program";
static const char HOOKED[] = "already measured by its hook";
static const char LOADER[] = "it belongs to the dynamic loader, which is left alone";
static const char WAITS[] = "it waits on behalf of its caller";
static const char ALLOCATES[] = "it is a part of the allocator";
static const char COMMUNICATES[] = "it is a part of MPI, whose calls are measured";
static const char NAMELESS[] = "it is a part of the C library without a name";

struct denylist_entry {
    const char *name; /* with a '*' at its end: any name that begins so */
    const char *reason;
};

static const struct denylist_entry anywhere[] = {
    {"setjmp", RETURNS_TWICE},
    {"_setjmp", RETURNS_TWICE},
    {"sigsetjmp", RETURNS_TWICE},
    {"__sigsetjmp", RETURNS_TWICE},
    {"longjmp", RETURNS_TWICE},
    {"_longjmp", RETURNS_TWICE},
    {"__longjmp", RETURNS_TWICE},
    {"____longjmp_chk", RETURNS_TWICE},
    {"__longjmp_chk", RETURNS_TWICE},
    {"siglongjmp", RETURNS_TWICE},
    {"__libc_longjmp", RETURNS_TWICE},
    {"__libc_siglongjmp", RETURNS_TWICE},
    {"__run_prefork_handlers", RETURNS_TWICE}, /* recording is held within it (start.c) */
    {"__run_postfork_handlers", RETURNS_TWICE},
    {"vfork", RETURNS_TWICE},
    {"__vfork", RETURNS_TWICE},
    {"clone", RETURNS_TWICE},
    {"__clone", RETURNS_TWICE},
    {"__clone2", RETURNS_TWICE},
    {"clone3", RETURNS_TWICE},
    {"__clone3", RETURNS_TWICE},
    {"getcontext", RETURNS_TWICE},
    {"setcontext", RETURNS_TWICE},
    {"swapcontext", RETURNS_TWICE},
    {"makecontext", RETURNS_TWICE},
    {"__start_context", RETURNS_TWICE},
    {"__push___start_context", RETURNS_TWICE},
    {"jump_fcontext", RETURNS_TWICE},
    {"make_fcontext", RETURNS_TWICE},
    {"ontop_fcontext", RETURNS_TWICE},
    {"__morestack", RETURNS_TWICE},
    {"__restore_rt", RETURNS_TWICE},
    {"_Unwind_*", INSPECTS},
    {"dlopen", INSPECTS},
    {"dlmopen", INSPECTS},
    {"dlsym", INSPECTS},
    {"dlvsym", INSPECTS},
    {"mcount", INSPECTS},
    {"_mcount", INSPECTS},
    {"__fentry__", INSPECTS},
    {"_start", STARTS},
    {"_init", STARTS},
    {"_fini", STARTS},
    {"__libc_start_main", STARTS},
    {"__libc_start_main_impl", STARTS},
    {"__libc_start_call_main", STARTS},
    {"__libc_csu_init", STARTS},
    {"__libc_csu_fini", STARTS},
    {"_dl_relocate_static_pie", STARTS},
};

static const struct denylist_entry hooked[] = {
    {"pthread_create", HOOKED},
    {"pthread_exit", HOOKED},
    {"pthread_join", HOOKED},
    {"pthread_tryjoin_np", HOOKED},
    {"pthread_timedjoin_np", HOOKED},
    {"pthread_clockjoin_np", HOOKED},
    {"pthread_mutex_lock", HOOKED},
    {"pthread_mutex_trylock", HOOKED},
    {"pthread_mutex_timedlock", HOOKED},
    {"pthread_mutex_clocklock", HOOKED},
    {"pthread_mutex_unlock", HOOKED},
    {"pthread_rwlock_rdlock", HOOKED},
    {"pthread_rwlock_wrlock", HOOKED},
    {"pthread_rwlock_try*", HOOKED},
    {"pthread_rwlock_timed*", HOOKED},
    {"pthread_rwlock_clock*", HOOKED},
    {"pthread_rwlock_unlock", HOOKED},
    {"pthread_spin_lock", HOOKED},
    {"pthread_spin_trylock", HOOKED},
    {"pthread_spin_unlock", HOOKED},
    {"pthread_cond_wait", HOOKED},
    {"pthread_cond_timedwait", HOOKED},
    {"pthread_cond_clockwait", HOOKED},
    {"pthread_cond_signal", HOOKED},
    {"pthread_cond_broadcast", HOOKED},
    {"pthread_barrier_wait", HOOKED},
    {"sem_wait", HOOKED},
    {"sem_trywait", HOOKED},
    {"sem_timedwait", HOOKED},
    {"sem_clockwait", HOOKED},
    {"sem_post", HOOKED},
    {"thrd_create", HOOKED},
    {"thrd_exit", HOOKED},
    {"thrd_join", HOOKED},
    {"thrd_sleep", HOOKED},
    {"thrd_yield", HOOKED},
    {"mtx_lock", HOOKED},
    {"mtx_trylock", HOOKED},
    {"mtx_timedlock", HOOKED},
    {"mtx_unlock", HOOKED},
    {"cnd_wait", HOOKED},
    {"cnd_timedwait", HOOKED},
    {"cnd_signal", HOOKED},
    {"cnd_broadcast", HOOKED},
    {"read", HOOKED},
    {"write", HOOKED},
    {"pread", HOOKED},
    {"pread64", HOOKED},
    {"pwrite", HOOKED},
    {"pwrite64", HOOKED},
    {"readv", HOOKED},
    {"writev", HOOKED},
    {"preadv", HOOKED},
    {"preadv64", HOOKED},
    {"pwritev", HOOKED},
    {"pwritev64", HOOKED},
    {"sendfile", HOOKED},
    {"sendfile64", HOOKED},
    {"fsync", HOOKED},
    {"fdatasync", HOOKED},
    {"open", HOOKED},
    {"open64", HOOKED},
    {"openat", HOOKED},
    {"openat64", HOOKED},
    {"close", HOOKED},
    {"poll", HOOKED},
    {"ppoll", HOOKED},
    {"select", HOOKED},
    {"pselect", HOOKED},
    {"epoll_wait", HOOKED},
    {"epoll_pwait", HOOKED},
    {"epoll_pwait2", HOOKED},
    {"send", HOOKED},
    {"sendto", HOOKED},
    {"sendmsg", HOOKED},
    {"sendmmsg", HOOKED},
    {"recv", HOOKED},
    {"recvfrom", HOOKED},
    {"recvmsg", HOOKED},
    {"recvmmsg", HOOKED},
    {"accept", HOOKED},
    {"accept4", HOOKED},
    {"connect", HOOKED},
    {"nanosleep", HOOKED},
    {"clock_nanosleep", HOOKED},
    {"usleep", HOOKED},
    {"sleep", HOOKED},
    {"sched_yield", HOOKED},
    {"waitpid", HOOKED},
    {"wait", HOOKED},
    {"wait3", HOOKED},
    {"wait4", HOOKED},
    {"waitid", HOOKED},
    {"sigwait", HOOKED},
    {"sigwaitinfo", HOOKED},
    {"sigtimedwait", HOOKED},
    {"sigsuspend", HOOKED},
    {"pause", HOOKED},
    {"pthread_once", HOOKED},
    {"call_once", HOOKED},
    {"syscall", HOOKED},
    {"fork", HOOKED},
    {"execve", HOOKED},
    {"execv", HOOKED},
    {"execvp", HOOKED},
    {"execvpe", HOOKED},
    {"execveat", HOOKED},
    {"fexecve", HOOKED},
};

static bool fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static const char *look_up(const struct denylist_entry *entries, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fits(entries[i].name, name))
            return entries[i].reason;
    return NULL;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool denylist__is_c_library(const char *module)
{
    return begins(module, "libc.so.") || begins(module, "libm.so.") ||
           begins(module, "libpthread.so.");
}

const char *denylist__function(const char *module, const char *name)
{
    char plain[64]; /* without a version ("@@GLIBC_2.34"); longer than any name in the tables */
    size_t length = strcspn(name, "@");
    if (length >= sizeof plain)
        length = sizeof plain - 1;
    memcpy(plain, name, length);
    plain[length] = 0;
    if (begins(module, "ld-linux"))
        return LOADER;
    const char *reason = look_up(anywhere, sizeof anywhere / sizeof *anywhere, plain);
    if (!reason && (begins(module, "libc.so.") || begins(module, "libpthread.so.")))
        reason = look_up(hooked, sizeof hooked / sizeof *hooked, plain);
    return reason;
}

/* Which do nothing on their own account: what waits in the libraries' own waits, and what takes and
 * gives memory inside of malloc and free. */
static const struct denylist_entry inside_libc[] = {
    {"__futex_*", WAITS},
    {"futex_*", WAITS},
    {"__lll_*", WAITS},
    {"___lll_*", WAITS},
    {"lll_*", WAITS},
    {"__pthread_*", WAITS},
    {"___pthread_*", WAITS},
    {"__GI___pthread_*", WAITS},
    {"pthread_*", WAITS},
    {"__nptl_*", WAITS},
    {"__new_sem_*", WAITS},
    {"__old_sem_*", WAITS},
    {"do_futex_wait*", WAITS},
    {"do_sigwait", WAITS},
    {"__syscall_cancel*", WAITS},
    {"__internal_syscall_cancel", WAITS},
    {"start_thread", WAITS},
    {"__sched_yield", WAITS},
    {"__clock_nanosleep*", WAITS},
    {"_int_malloc", ALLOCATES},
    {"_int_free*", ALLOCATES},
    {"_int_realloc", ALLOCATES},
    {"_int_memalign", ALLOCATES},
    {"malloc_consolidate", ALLOCATES},
    {"unlink_chunk*", ALLOCATES},
    {"sysmalloc*", ALLOCATES},
    {"systrim*", ALLOCATES},
    {"tcache_*", ALLOCATES},
    {"arena_get*", ALLOCATES},
    {"get_free_list", ALLOCATES},
};

static const struct denylist_entry inside_openmp[] = {
    {"gomp_*", WAITS},  {"GOMP_*", WAITS}, {"futex_*", WAITS},    {"do_spin", WAITS},
    {"do_wait", WAITS}, {"__kmp*", WAITS}, {"_INTERNAL*", WAITS},
};

static bool is_allocator(const char *module)
{
    return begins(module, "libjemalloc") || begins(module, "libtcmalloc") ||
           begins(module, "libmimalloc") || begins(module, "libtbbmalloc");
}

/* Libraries of MPI, and those that carry its messages: they spin for what comes. */
static bool is_of_mpi(const char *module)
{
    static const char *const beginnings[] = {"libmpi.so",   "libmpi_",   "libmpich", "libopen-pal.",
                                             "libopen-rte", "libmca_",   "mca_",     "libpmix",
                                             "libuc",       "libfabric", "libpsm",   "libevent"};
    for (unsigned i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(module, beginnings[i]))
            return true;
    return false;
}

const char *denylist__chosen(const char *module, const char *name)
{
    if (is_allocator(module))
        return ALLOCATES;
    if (is_of_mpi(module))
        return COMMUNICATES;
    if (begins(module, "libgomp.so.") || begins(module, "libomp.so") ||
        begins(module, "libiomp5.so"))
        return name ? look_up(inside_openmp, sizeof inside_openmp / sizeof *inside_openmp, name)
                    : WAITS;
    if (!begins(module, "libc.so.") && !begins(module, "libpthread.so."))
        return NULL;
    return name ? look_up(inside_libc, sizeof inside_libc / sizeof *inside_libc, name) : NAMELESS;
}

const char *denylist__system_call(const char *module, const char *name)
{
    if (!begins(module, "libc.so.") && !begins(module, "libpthread.so.") && !begins(module, "ld-"))
        return NULL;
    if (strcmp(name, "__lll_lock_wait_private") == 0 ||
        strcmp(name, "__lll_lock_wake_private") == 0)
        return NULL;
    return HOOKED;
}

const char *denylist__module(const char *module)
{
    if (begins(module, "libheurt"))
        return "it is part of heurt itself";
    if (begins(module, "[") || begins(module, "linux-vdso") || begins(module, "linux-gate"))
        return "it belongs to the kernel and is not a file";
    return NULL;
}
