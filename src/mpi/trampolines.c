/* trampolines.c: libheurt-mpi.so: functions of MPI that jump to where they are to go, which is
 * found out at the first call of any: to our wrapper for the MPI that is loaded, or, where we know
 * none of it, to what would have been called without us. It needs libc alone, and knows no ABI:
 * arguments pass as they are. */
#include "mpi/trampolines.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* libheurt.so's, where it is loaded. */
extern void heurt_message_note(const char *sentence) __attribute__((weak));

/* Where each function leads; 0: not known yet. */
#define SLOT(name, lower) HIDDEN void *heurt_slot_##name;
MPI_FUNCTIONS(SLOT)
#undef SLOT

static const struct mpi_entry entries[MPI_FUNCTION_COUNT] = {
#define ENTRY(name, lower) [F_##name] = {#name, &heurt_slot_##name},
    MPI_FUNCTIONS(ENTRY)
#undef ENTRY
};

/* clang-format off */
#define TRAMPOLINE(name, lower)                                                           \
    __asm__(TRAMPOLINE_BEGIN(#name)                                                \
            "  mov heurt_slot_" #name "(%rip), %r11\n"                                \
            "  test %r11, %r11\n"                                                         \
            "  jz 1f\n"                                                                   \
            "  jmp *%r11\n"                                                               \
            "1:\n"                                                                        \
            SAVE_ARGUMENTS                                                                \
            "  call heurt_mpi_resolve\n"                                                  \
            RESTORE_ARGUMENTS                                                             \
            "  jmp *heurt_slot_" #name "(%rip)\n"                                     \
            TRAMPOLINE_END(#name));
/* clang-format on */
MPI_FUNCTIONS(TRAMPOLINE)

/* ---- which MPI there is ---------------------------------------------------------------------- */

static const struct mpi_library {
    const char *beginning; /* of its file's name */
    const char *wrapper;   /* NULL: of an ABI that we have none for */
} libraries[] = {{"libmpi.so.40", "libheurt-mpi-openmpi.so"},
                 {"libmpich.so.12", "libheurt-mpi-mpich.so"},
                 {"libmpi.so.12", "libheurt-mpi-mpich.so"}, /* MPICH's, by its other name */
                 {"libmpi.so.", NULL},
                 {"libmpich.so.", NULL},
                 {"libmpi_abi.so.", NULL}};
#define LIBRARIES (sizeof libraries / sizeof *libraries)

/* The first of them, in the table's order, that is loaded. */
static int find_library(struct dl_phdr_info *info, size_t bytes, void *context)
{
    const struct mpi_library **found = context;
    const char *name = strrchr(info->dlpi_name, '/');
    (void)bytes;
    name = name ? name + 1 : info->dlpi_name;
    for (size_t i = 0; i < LIBRARIES && (!*found || &libraries[i] < *found); i++)
        if (strncmp(name, libraries[i].beginning, strlen(libraries[i].beginning)) == 0)
            *found = &libraries[i];
    return 0;
}

/* It lies beside this library. */
static void *open_wrapper(const char *file)
{
    char path[4096];
    Dl_info own;
    const char *slash =
        dladdr((void *)entries, &own) && own.dli_fname ? strrchr(own.dli_fname, '/') : NULL;
    size_t length = slash ? (size_t)(slash + 1 - own.dli_fname) : 0;
    if (!slash || length + strlen(file) >= sizeof path)
        return NULL;
    memcpy(path, own.dli_fname, length);
    memcpy(path + length, file, strlen(file) + 1);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* What would be called without us; in a plugin's MPI, which only the wrapper sees, its own. */
static void *next_of(const char *name, void *wrapper)
{
    char own_name[64] = "P";
    void *next = dlsym(RTLD_NEXT, name);
    if (next || !wrapper || strlen(name) + 2 > sizeof own_name)
        return next;
    memcpy(own_name + 1, name, strlen(name) + 1);
    return dlsym(wrapper, own_name);
}

/* As our own sentence has it; a call of a function that is nowhere is an error of MPI
 * (MPI_ERR_OTHER of both). */
int trampoline__missing(void)
{
    return 16;
}

static const char *why_not(const struct mpi_library *library, const void *wrapper)
{
    if (!library || !library->wrapper)
        return "The program uses an MPI that heurt does not know (it knows Open MPI 4 and MPICH 3 "
               "and "
               "4): its calls are not recorded.";
    return wrapper ? NULL
                   : "heurt was built without the MPI that the program uses: its calls are not "
                     "recorded.";
}

/* Several threads may do so at a time, and find the same. */
void heurt_mpi_resolve(void)
{
    const struct mpi_library *library = NULL;
    dl_iterate_phdr(find_library, &library);
    void *wrapper = library && library->wrapper ? open_wrapper(library->wrapper) : NULL;
    const char *reason = why_not(library, wrapper);
    if (reason && heurt_message_note)
        heurt_message_note(reason);
    void **next = wrapper ? dlsym(wrapper, MPI_NEXT_SYMBOL) : NULL;
    void *const *wrappers = next ? dlsym(wrapper, MPI_WRAPPERS_SYMBOL) : NULL;
    struct mpi_code *told = wrappers ? dlsym(wrapper, MPI_FORTRAN_SYMBOL) : NULL;
    struct mpi_code fortran = fortran__resolve(wrapper);
    if (told)
        *told = fortran;
    for (unsigned i = 0; i < MPI_FUNCTION_COUNT; i++) {
        void *real = next_of(entries[i].name, wrapper);
        if (next)
            __atomic_store_n(&next[i], real, __ATOMIC_RELEASE);
        void *target = wrappers && wrappers[i] && real && heurt_message_note ? wrappers[i] : real;
        __atomic_store_n(entries[i].slot, target ? target : (void *)trampoline__missing,
                         __ATOMIC_RELEASE);
    }
    dlerror();
    fortran__leads_to_wrappers(fortran);
}
