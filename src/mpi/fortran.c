/* fortran.c: how calls of Fortran come to the wrappers of C. An MPI's library for Fortran has all
 * of what the standard's three interfaces are compiled to, and calls C's functions with what it has
 * converted: by their PMPI names (Open MPI), or by both (MPICH). So two things are caught:
 *
 *     program ─► mpi_send_, mpi_send_f08_ …    notes who calls, and jumps on to
 *     libmpi_mpifh.so's, which converts  ─► PMPI_Send    of that library alone to the wrapper
 *
 * and a call's place is the one that was noted (fortran__calls in wrap.h). PMPI calls of all
 * others, which are of tools and of MPI itself, go on to MPI. */
#include "mpi/mpi_functions.h"
#include "mpi/trampolines.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* libheurt.so's, where it is loaded. */
extern void heurt_message_called_from(uint64_t address) __attribute__((weak));

HIDDEN void *heurt_mpi_enter_fortran(uint64_t caller, uint32_t number);

/* The code of the library for Fortran; it has none until it is known. */
HIDDEN struct mpi_code heurt_mpi_fortran_code;

/* ---- PMPI ------------------------------------------------------------------------------------ */

#define PMPI_SLOT(name, lower) HIDDEN void *heurt_slot_P##name;
MPI_FUNCTIONS(PMPI_SLOT)
#undef PMPI_SLOT

static const struct mpi_entry entries[MPI_FUNCTION_COUNT] = {
#define ENTRY(name, lower) [F_##name] = {"P" #name, &heurt_slot_P##name},
    MPI_FUNCTIONS(ENTRY)
#undef ENTRY
};

/* clang-format off */
#define PMPI_TRAMPOLINE(name, lower)                                                      \
    __asm__(TRAMPOLINE_BEGIN("P" #name)                                               \
            "2:\n"                                                                        \
            "  mov (%rsp), %r11\n"                                                        \
            "  sub heurt_mpi_fortran_code(%rip), %r11\n"                                  \
            "  cmp heurt_mpi_fortran_code+8(%rip), %r11\n"                                \
            "  jb 3f\n"                                                                   \
            "  mov heurt_slot_P" #name "(%rip), %r11\n"                               \
            "  test %r11, %r11\n"                                                         \
            "  jz 1f\n"                                                                   \
            "  jmp *%r11\n"                                                               \
            "3:\n"                                                                        \
            "  jmp *heurt_slot_" #name "(%rip)\n"                                     \
            "1:\n"                                                                        \
            SAVE_ARGUMENTS                                                                \
            "  call heurt_mpi_resolve\n"                                                  \
            RESTORE_ARGUMENTS                                                             \
            "  jmp 2b\n"                                                                  \
            TRAMPOLINE_END("P" #name));
/* clang-format on */
MPI_FUNCTIONS(PMPI_TRAMPOLINE)

/* Their files, as both call them, and those that are compatible with MPICH. */
static int find_code(struct dl_phdr_info *info, size_t bytes, void *context)
{
    static const char *const beginnings[] = {"libmpi_mpifh.so.", "libmpichfort.so.",
                                             "libmpifort.so.", "libmpichf90.so."};
    struct mpi_code *code = context;
    const char *name = strrchr(info->dlpi_name, '/');
    bool is_it = false;
    (void)bytes;
    name = name ? name + 1 : info->dlpi_name;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        is_it |= strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
    for (unsigned i = 0; is_it && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            code->start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            code->bytes = info->dlpi_phdr[i].p_memsz;
        }
    return is_it;
}

struct mpi_code fortran__resolve(void *wrapper)
{
    struct mpi_code code = {0, 0};
    void **last = wrapper ? dlsym(wrapper, MPI_LAST_SYMBOL) : NULL;
    for (unsigned i = 0; i < MPI_FUNCTION_COUNT; i++) {
        void *real = dlsym(RTLD_NEXT, entries[i].name);
        if (!real && wrapper)
            real = dlsym(wrapper, entries[i].name);
        if (last)
            __atomic_store_n(&last[i], real, __ATOMIC_RELEASE);
        __atomic_store_n(entries[i].slot, real ? real : (void *)trampoline__missing,
                         __ATOMIC_RELEASE);
    }
    if (wrapper)
        dl_iterate_phdr(find_code, &code);
    return code;
}

void fortran__leads_to_wrappers(struct mpi_code code)
{
    heurt_mpi_fortran_code.start = code.start;
    __atomic_store_n(&heurt_mpi_fortran_code.bytes, code.bytes, __ATOMIC_RELEASE);
}

/* ---- Fortran's names ------------------------------------------------------------------------- */

/* As compilers spell them, and as the module mpi_f08 of each MPI calls its own. */
#define SPELLINGS(X, lower) \
    X(#lower "_")           \
    X(#lower "__")          \
    X(#lower "_f08_")       \
    X(#lower "_f08ts_")

static struct fortran_entry {
    const char *name;
    void *target; /* NULL: not known yet */
} spelled[] = {
#define SPELLED(text) {text, NULL},
#define FORTRAN_ENTRIES(name, lower) SPELLINGS(SPELLED, lower)
    MPI_FUNCTIONS(FORTRAN_ENTRIES)
#undef FORTRAN_ENTRIES
#undef SPELLED
};

/* Where a call of Fortran, by its number in the table above, is to go. */
void *heurt_mpi_enter_fortran(uint64_t caller, uint32_t number)
{
    struct fortran_entry *entry = &spelled[number];
    void *target = __atomic_load_n(&entry->target, __ATOMIC_ACQUIRE);
    if (heurt_message_called_from)
        heurt_message_called_from(caller);
    if (target)
        return target;
    target = dlsym(RTLD_NEXT, entry->name);
    if (!target)
        dlerror();
    target = target ? target : (void *)trampoline__missing;
    __atomic_store_n(&entry->target, target, __ATOMIC_RELEASE);
    return target;
}

/* The assembler counts them, in the table's order. */
__asm__(".set heurt_fortran_number, 0\n");
/* clang-format off */
#define FORTRAN_TRAMPOLINE(symbol)                                                        \
    __asm__(TRAMPOLINE_BEGIN(symbol)                                                      \
            SAVE_ARGUMENTS                                                                \
            "  mov 56(%rsp), %rdi\n"                                                      \
            "  mov $heurt_fortran_number, %esi\n"                                         \
            "  call heurt_mpi_enter_fortran\n"                                            \
            "  mov %rax, %r11\n"                                                          \
            RESTORE_ARGUMENTS                                                             \
            "  jmp *%r11\n"                                                               \
            TRAMPOLINE_END(symbol)                                                        \
            ".set heurt_fortran_number, heurt_fortran_number + 1\n");
/* clang-format on */
#define FORTRAN_TRAMPOLINES(name, lower) SPELLINGS(FORTRAN_TRAMPOLINE, lower)
MPI_FUNCTIONS(FORTRAN_TRAMPOLINES)
