/* module.c: which files are mapped where, now and after each dlopen and dlclose. */
#include "runtime/arena.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

/* What one walk over the loader's list collects. */
struct module_walk {
    uint8_t *definitions; /* MODULE definitions of the new ones, for the recorder */
    size_t bytes, capacity;
    unsigned count;
};

static void note__read(const uint8_t *note, size_t bytes, struct heurt_module *module)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const void *)note;
        size_t name = (header->n_namesz + 3u) & ~3u, text = (header->n_descsz + 3u) & ~3u;
        size_t whole = sizeof *header + name + text;
        if (whole > bytes)
            return;
        const uint8_t *description = note + sizeof *header + name;
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
            memcmp(header + 1, "GNU", 4) == 0 && header->n_descsz <= HEURT_BUILD_ID_MAX) {
            module->build_id_bytes = header->n_descsz;
            memcpy(module->build_id, description, header->n_descsz);
        }
        note += whole;
        bytes -= whole;
    }
}

static struct known_module *known(uint64_t start, uint64_t bias)
{
    for (unsigned i = 0; i < heurt_state.module_count; i++)
        if (heurt_state.modules[i].start == start && heurt_state.modules[i].bias == bias)
            return &heurt_state.modules[i];
    return NULL;
}

/* The loader's name; the executable has none there, but its link in /proc. */
static const char *path_of(const struct dl_phdr_info *info, bool is_first, char room[4096])
{
    if (info->dlpi_name && info->dlpi_name[0])
        return info->dlpi_name;
    long length = is_first ? RAW3(readlink, "/proc/self/exe", room, 4095) : 0;
    room[length > 0 ? length : 0] = 0;
    return room;
}

/* Keeps the definition for the recorder's plan too. */
static void keep(struct module_walk *walk, const struct heurt_module *module, const char *path)
{
    size_t length = strlen(path) + 1;
    struct heurt_definition header = {
        .bytes = (uint32_t)(sizeof header + sizeof *module + length + 7) & ~7u,
        .type = HEURT_DEFINITION_MODULE,
    };
    if (walk->bytes + header.bytes > walk->capacity)
        return;
    uint8_t *to = walk->definitions + walk->bytes;
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, module, sizeof *module);
    memcpy(to + sizeof header + sizeof *module, path, length);
    walk->bytes += header.bytes;
    walk->count++;
}

/* In a program that is entered while it runs markers stay as they are: they would lead here when
 * nothing is recorded any more, too. */
static void mark_connect(const struct dl_phdr_info *info)
{
#ifdef HEURT_ATTACHED
    (void)info;
#else
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            marker__connect((const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                            info->dlpi_phdr[i].p_memsz);
#endif
}

/* Pages of other segments between two of code would not be left as they are. */
static struct known_module known_as(const struct heurt_module *module,
                                    const struct dl_phdr_info *info)
{
    struct known_module known = {module->start, module->end, module->bias, .seen = true};
    unsigned count = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        known.code_start = info->dlpi_addr + header->p_vaddr;
        known.code_end = known.code_start + (count++ ? 0 : header->p_memsz);
    }
    return known;
}

static struct heurt_module describe(const struct dl_phdr_info *info)
{
    struct heurt_module module = {.tick = clock__tick(), .bias = info->dlpi_addr, .start = ~0ull};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_NOTE)
            note__read((const uint8_t *)start, header->p_memsz, &module);
        if (header->p_type != PT_LOAD)
            continue;
        module.start = start < module.start ? start : module.start;
        module.end = start + header->p_memsz > module.end ? start + header->p_memsz : module.end;
    }
    return module;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct heurt_module module = describe(info);
    struct known_module *old = known(module.start, module.bias);
    if (old)
        old->seen = true;
    if (old || module.end == 0 || heurt_state.module_count == MODULES_MAX)
        return 0;
    char room[4096];
    const char *path = path_of(info, heurt_state.module_count == 0, room);
    define__parts(HEURT_DEFINITION_MODULE,
                  (struct text_part[]){{&module, sizeof module}, {path, strlen(path) + 1}}, 2);
    keep(data, &module, path);
    mark_connect(info);
    heurt_state.modules[heurt_state.module_count++] = known_as(&module, info);
    return 0;
}

static void note_gone(const struct known_module *module, uint64_t tick)
{
    struct gone_code *gone = &heurt_state.gone;
    gone->low = gone->times && gone->low < module->start ? gone->low : module->start;
    gone->high = gone->high > module->end ? gone->high : module->end;
    gone->tick = tick;
    gone->times++;
}

static void forget_unseen(void)
{
    for (unsigned i = 0; i < heurt_state.module_count;) {
        struct known_module *module = &heurt_state.modules[i];
        if (module->seen) {
            i++;
            continue;
        }
        struct heurt_module_gone gone = {clock__tick(), module->start};
        define__parts(HEURT_DEFINITION_MODULE_GONE, &(struct text_part){&gone, sizeof gone}, 1);
        note_gone(module, gone.tick);
        *module = heurt_state.modules[--heurt_state.module_count];
    }
}

/* ---- asking the recorder --------------------------------------------------------------------- */

#define WALK_BYTES (1u << 20)

/* There is one walk at a time: the loader's list changes under its lock, and before a process has a
 * second thread. Its memory is kept: to unmap what was touched is the dearest of a short program.
 */
static bool walk__begin(struct module_walk *walk)
{
    if (!heurt_state.walk_memory)
        heurt_state.walk_memory = pages__map(WALK_BYTES);
    *walk = (struct module_walk){.definitions = heurt_state.walk_memory, .capacity = WALK_BYTES};
    return walk->definitions != NULL;
}

static void ask(const struct module_walk *walk, enum heurt_plan_subject subject)
{
    if (walk->count)
        patch__modules(walk->definitions, walk->bytes, walk->count, subject);
}

static void scan__end(void)
{
    __atomic_fetch_sub(&heurt_state.scans, 1, __ATOMIC_SEQ_CST);
}

/* From here on who sets a filter of system calls for all threads waits. */
static bool scan__begin(struct module_walk *walk)
{
    __atomic_fetch_add(&heurt_state.scans, 1, __ATOMIC_SEQ_CST);
    if (!thread__in_seccomp(&heurt_thread) && walk__begin(walk))
        return true;
    scan__end();
    return false;
}

void module__scan(void)
{
    struct module_walk walk;
    if (!scan__begin(&walk))
        return;
    heurt_thread.inside++;
    spin__lock(&heurt_state.modules_lock);
    for (unsigned i = 0; i < heurt_state.module_count; i++)
        heurt_state.modules[i].seen = false;
    dl_iterate_phdr(visit, &walk);
    forget_unseen();
    if (walk.count && heurt_state.session->flags & HEURT_SESSION_LIVE)
        live__offer();
    spin__unlock(&heurt_state.modules_lock);
    if (heurt_state.session->flags & HEURT_SESSION_PLANS)
        ask(&walk, HEURT_PLAN_FUNCTIONS);
    if (heurt_state.sees_system_calls)
        ask(&walk, HEURT_PLAN_SYSTEM_CALLS);
    heurt_thread.inside--;
    scan__end();
}

/* ---- filters of system calls ----------------------------------------------------------------- */

/* More code than this is not looked through: it would cost the start of a program too much. */
#define CODE_LOOKED_AT_MAX (4u << 20)
/* The number is put into eax so near the call. */
#define NUMBER_DISTANCE 48

static bool is_caging(unsigned number)
{
    return number == SYS_seccomp || number == SYS_prctl || number == SYS_setuid ||
           number == SYS_setreuid || number == SYS_setresuid;
}

/* mov $number, %eax, a little before a system call at end. */
static bool sets_number(const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *at = end - begin > NUMBER_DISTANCE ? end - NUMBER_DISTANCE : begin;
    for (; end - at >= 5; at++)
        if (at[0] == 0xb8 && !at[3] && !at[4] && is_caging(at[1] | (unsigned)at[2] << 8))
            return true;
    return false;
}

static bool may_cage_itself(const uint8_t *code, size_t bytes)
{
    const uint8_t *end = code + bytes;
    for (const uint8_t *at = code; (at = memchr(at, 0x05, (size_t)(end - at))); at++)
        if (at > code && at[-1] == 0x0f && sets_number(code, at - 1))
            return true;
    return false;
}

static bool holds(const struct heurt_module *module, const void *function)
{
    return (uint64_t)function >= module->start && (uint64_t)function < module->end;
}

/* What is left of CODE_LOOKED_AT_MAX. The program comes first, then its libraries as they were
 * loaded; what libc and libheurt do is known. */
static int visit_for_filters(struct dl_phdr_info *info, size_t size, void *room)
{
    (void)size;
    size_t *left = room;
    struct heurt_module module = describe(info);
    if (holds(&module, (const void *)REAL(syscall)) || holds(&module, (const void *)is_caging))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum && !heurt_state.sees_system_calls; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || (header->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
            continue;
        size_t bytes = header->p_filesz < *left ? header->p_filesz : *left;
        heurt_state.sees_system_calls =
            may_cage_itself((const uint8_t *)info->dlpi_addr + header->p_vaddr, bytes);
        *left -= bytes;
    }
    return *left == 0 || heurt_state.sees_system_calls;
}

void module__expect_filters(void)
{
    size_t left = CODE_LOOKED_AT_MAX;
    if (heurt_state.session->flags & HEURT_SESSION_CALLS)
        dl_iterate_phdr(visit_for_filters, &left);
}

static int visit_for_system_calls(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct heurt_module module = describe(info);
    char room[4096];
    if (known(module.start, module.bias))
        keep(data, &module, path_of(info, ((struct module_walk *)data)->count == 0, room));
    return 0;
}

/* Nobody can be within the bytes of a jump as long as there is one thread. */
void module__see_system_calls(struct thread *thread)
{
    struct module_walk walk;
    uint64_t since = clock__tick();
    if (heurt_state.sees_system_calls || !(heurt_state.session->flags & HEURT_SESSION_CALLS) ||
        !program__is_single_threaded() || thread__in_seccomp(thread) || !walk__begin(&walk))
        return;
    heurt_state.sees_system_calls = true;
    thread->inside++;
    dl_iterate_phdr(visit_for_system_calls, &walk);
    ask(&walk, HEURT_PLAN_SYSTEM_CALLS);
    thread->inside--;
    event__write1(thread, HEURT_EVENT_PAUSED, clock__tick() - since);
}

/* The loader calls the function at r_brk, made for debuggers, when its list has changed: after a
 * new library is mapped and before any of its code has run.  Interposing dlopen instead would
 * change whose RUNPATH it searches. */
static void on_loader_change(void)
{
    if (heurt_state.recording && heurt_state.loader->r_state == RT_CONSISTENT &&
        heurt_thread.inside == 0)
        module__scan();
}

void module__watch_loader(void)
{
    /* By dlsym: a reference would put the loader on the list of needed libraries. */
    heurt_state.loader = dlsym(RTLD_DEFAULT, "_r_debug");
    uint8_t *entry = heurt_state.loader ? (uint8_t *)heurt_state.loader->r_brk : NULL;
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (!entry)
        return;
    uint8_t *body = memcmp(entry, endbr64, sizeof endbr64) == 0 ? entry + sizeof endbr64 : entry;
    /* An empty function that is padded to sixteen bytes: nothing is lost by the jump. */
    if (*body != 0xc3 || ((uintptr_t)entry & 15) != 0) {
        define__note("Libraries that are loaded later are not seen: this loader's debug hook is "
                     "not the empty function that heurt knows.");
        return;
    }
    uint8_t *jump =
        near__allocate((uint64_t)entry, (uint64_t)entry + 16, 4096, PROT_READ | PROT_WRITE);
    if (!jump)
        return;
    static const uint8_t code[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    void (*target)(void) = on_loader_change;
    memcpy(jump, code, sizeof code);
    memcpy(jump + sizeof code, &target, sizeof target);
    if (near__seal(jump, 4096))
        code__write_jump(body, jump);
}
