#include "runtime/slots.h"

#include "runtime/arena.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

struct hook {
    const char *name; /* in our own table of strings */
    uint64_t ours, behind;
};
#define HOOKS_MAX 1024u /* a power of two, twice as many as there are */

/* By the hash of the name, open addressing. */
static struct hook *hooks;

/* A module as its dynamic section tells it. */
struct linked {
    uint64_t bias, start, end;
    uint64_t relro_start, relro_end;
    const Elf64_Sym *symbols;
    const char *strings;
    const uint16_t *versions; /* by symbol; NULL: none */
    const uint8_t *needed;    /* Elf64_Verneed */
    const uint32_t *hash;     /* DT_GNU_HASH */
    const Elf64_Rela *late, *early;
    uint64_t late_bytes, early_bytes;
    bool is_open; /* what is read-only after relocation can be written */
};

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (uint8_t)*name++;
    return hash;
}

/* Where it is, or would be. */
static struct hook *place_of(const char *name)
{
    uint32_t at = hash_of(name);
    while (hooks[at & (HOOKS_MAX - 1)].name && strcmp(hooks[at & (HOOKS_MAX - 1)].name, name) != 0)
        at++;
    return &hooks[at & (HOOKS_MAX - 1)];
}

/* Of these glibc has a version of 2.2.5 beside that which ours stand for. */
static bool has_old_version(const char *name)
{
    return strncmp(name, "pthread_cond_", 13) == 0 && strcmp(name, "pthread_cond_clockwait") != 0 &&
           strcmp(name, "pthread_cond_destroy") != 0;
}
#define CONDITION_VERSION "GLIBC_2.3.2"

/* Runtimes of OpenMP are told from their first region on, or not at all. */
static bool is_left(const char *name)
{
    static const char *const beginnings[] = {"heurt_",  "GOMP_", "omp_", "ompt_",
                                             "__kmpc_", "kmp_",  "MPI_", "PMPI_"};
    for (unsigned i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* The loader has made addresses of most, not of all. */
static const void *pointer_of(const struct linked *module, uint64_t value)
{
    return (const void *)(value < module->start ? value + module->bias : value);
}

static void read_dynamic(struct linked *module, const Elf64_Dyn *entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *pointer = pointer_of(module, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            module->symbols = pointer;
            break;
        case DT_STRTAB:
            module->strings = pointer;
            break;
        case DT_VERSYM:
            module->versions = pointer;
            break;
        case DT_VERNEED:
            module->needed = pointer;
            break;
        case DT_GNU_HASH:
            module->hash = pointer;
            break;
        case DT_JMPREL:
            module->late = pointer;
            break;
        case DT_PLTRELSZ:
            module->late_bytes = entry->d_un.d_val;
            break;
        case DT_RELA:
            module->early = pointer;
            break;
        case DT_RELASZ:
            module->early_bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static bool linked__read(struct linked *module, const struct dl_phdr_info *info)
{
    const Elf64_Dyn *dynamic = NULL;
    *module = (struct linked){.bias = info->dlpi_addr, .start = ~0ull};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type == PT_LOAD) {
            module->start = start < module->start ? start : module->start;
            module->end = end > module->end ? end : module->end;
        } else if (header->p_type == PT_DYNAMIC) {
            dynamic = (const Elf64_Dyn *)start;
        } else if (header->p_type == PT_GNU_RELRO) {
            module->relro_start = start & ~4095ull;
            module->relro_end = end & ~4095ull; /* as the loader rounds it */
        }
    }
    if (!dynamic || module->start == ~0ull)
        return false;
    read_dynamic(module, dynamic);
    return module->symbols && module->strings;
}

static bool has(const struct linked *module, uint64_t address)
{
    return address >= module->start && address < module->end;
}

/* ---- the functions behind -------------------------------------------------------------------- */

static uint32_t count_symbols(const uint32_t *hash)
{
    uint32_t buckets = hash[0], first = hash[1], most = 0;
    const uint32_t *bucket = hash + 4 + hash[2] * 2ul, *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        most = bucket[i] > most ? bucket[i] : most;
    if (most < first)
        return 0;
    while (!(chain[most - first] & 1))
        most++;
    return most + 1;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *module)
{
    (void)size;
    return linked__read(module, info) && has(module, (uint64_t)&heurt_state);
}

static void find_behind(const struct linked *own, const Elf64_Sym *symbol)
{
    const char *name = own->strings + symbol->st_name;
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || is_left(name))
        return;
    void *behind =
        has_old_version(name) ? dlvsym(BEHIND_US, name, CONDITION_VERSION) : dlsym(BEHIND_US, name);
    if (behind && !has(own, (uint64_t)behind))
        *place_of(name) = (struct hook){name, own->bias + symbol->st_value, (uint64_t)behind};
}

bool slots__find(void)
{
    struct linked own = {0};
    if (!hooks)
        hooks = pages__map(HOOKS_MAX * sizeof *hooks);
    if (!hooks || !dl_iterate_phdr(find_own, &own) || !own.hash)
        return false;
    memset(hooks, 0, HOOKS_MAX * sizeof *hooks);
    uint32_t count = count_symbols(own.hash);
    for (uint32_t i = 0; i < count && i < HOOKS_MAX / 2; i++)
        find_behind(&own, &own.symbols[i]);
    dlerror(); /* of those that are not there: nothing of it must show in the program's */
    return true;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The name of the version that a symbol needs; "": none. */
static const char *version_of(const struct linked *module, uint32_t symbol)
{
    if (!module->versions || !module->needed)
        return "";
    unsigned wanted = module->versions[symbol] & 0x7fff;
    for (const uint8_t *at = module->needed;;) {
        const Elf64_Verneed *file = (const void *)at;
        const uint8_t *one = at + file->vn_aux;
        for (unsigned i = 0; i < file->vn_cnt; i++) {
            const Elf64_Vernaux *version = (const void *)one;
            if (version->vna_other == wanted)
                return module->strings + version->vna_name;
            one += version->vna_next;
        }
        if (!file->vn_next)
            return "";
        at += file->vn_next;
    }
}

/* Whether the loader has yet to fill it in: it leads into the module's own linkage table. */
static bool is_unresolved(const struct linked *module, const Elf64_Rela *relocation, uint64_t value,
                          const struct hook *hook)
{
    uint32_t symbol = ELF64_R_SYM(relocation->r_info);
    return ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT && has(module, value) &&
           module->symbols[symbol].st_shndx == SHN_UNDEF &&
           (!has_old_version(hook->name) ||
            strcmp(version_of(module, symbol), CONDITION_VERSION) == 0);
}

static bool open_relro(struct linked *module)
{
    if (!module->is_open)
        module->is_open =
            RAW3(mprotect, module->relro_start, module->relro_end - module->relro_start,
                 PROT_READ | PROT_WRITE) == 0;
    return module->is_open;
}

static bool put(struct linked *module, uint64_t *slot, uint64_t value)
{
    uint64_t at = (uint64_t)slot;
    if (at >= module->relro_start && at < module->relro_end && !open_relro(module))
        return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    return true;
}

static unsigned visit_relocations(struct linked *module, const Elf64_Rela *relocations,
                                  uint64_t bytes, bool take)
{
    unsigned changed = 0;
    for (uint64_t i = 0; i < bytes / sizeof *relocations; i++) {
        const Elf64_Rela *one = &relocations[i];
        uint32_t type = ELF64_R_TYPE(one->r_info), symbol = ELF64_R_SYM(one->r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || !symbol)
            continue;
        const struct hook *hook = place_of(module->strings + module->symbols[symbol].st_name);
        uint64_t *slot = (uint64_t *)(module->bias + one->r_offset);
        if (!hook->name || !has(module, (uint64_t)slot))
            continue;
        uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
        if (take && (value == hook->behind || is_unresolved(module, one, value, hook)))
            changed += put(module, slot, hook->ours);
        else if (!take && value == hook->ours)
            changed += put(module, slot, hook->behind);
    }
    return changed;
}

struct slots_visit {
    struct slot_count count;
    bool take;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct slots_visit *visit = data;
    struct linked module;
    if (!linked__read(&module, info) || has(&module, (uint64_t)&heurt_state) ||
        has(&module, (uint64_t)REAL(pthread_mutex_lock)) || module.bias == getauxval(AT_BASE))
        return 0;
    unsigned changed = visit_relocations(&module, module.late, module.late_bytes, visit->take) +
                       visit_relocations(&module, module.early, module.early_bytes, visit->take);
    if (module.is_open)
        RAW3(mprotect, module.relro_start, module.relro_end - module.relro_start, PROT_READ);
    visit->count.slots += changed;
    visit->count.modules += changed > 0;
    return 0;
}

static struct slot_count visit_all(bool take)
{
    struct slots_visit visit = {.take = take};
    dl_iterate_phdr(visit_module, &visit);
    return visit.count;
}

struct slot_count slots__take(void)
{
    return visit_all(true);
}

struct slot_count slots__give_back(void)
{
    return hooks ? visit_all(false) : (struct slot_count){0, 0};
}
