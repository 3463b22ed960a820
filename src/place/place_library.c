/* place_library.c: libheurt-place.so: binds objects to NUMA nodes as the program allocates them, by
 * the policy in the file that HEURT_PLACE names.
 *
 *     malloc & co. ──► the program's allocator ──► the object ──► mbind(2), by the rule of the call
 *
 * A policy that cannot be read, or a kernel that refuses, is one sentence on stderr, and the
 * program runs as if the library were not there. What a rule is not for costs a comparison of its
 * size and then of the caller's address with each rule's. errno stays as the allocator left it.
 *
 * Concurrency: rules are made before main and read by all threads; what changes in them is atomic.
 */
#include "place/place_policy.h"
#include "place/place_sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define ENVIRONMENT "HEURT_PLACE"
#define PAGE ((uint64_t)4096)
#define POLICY_BYTES_MOST (16u << 20)
#define LENT_BYTES 65536
#define NODE_WORDS (PLACE_NODES_MOST / 64)

static struct {
    struct place_policy policy;
    uint64_t least_bytes;        /* of all rules */
    bool has_refused;            /* (atomic) it was said that the kernel refuses */
    struct place_range recorder; /* where libheurt.so is: it may stand between us and a caller */
    uint64_t modules;            /* (atomic) that had been added when rules were looked up last */
    uint64_t nodes[NODE_WORDS];  /* that rules name, for interleaving */
    bool is_looking, has_looked; /* (atomic) for the program's allocator */
    size_t lent_bytes;           /* (atomic) of what is lent meanwhile */
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*operator_new)(size_t);
    void *(*operator_new_array)(size_t);
    _Alignas(PAGE) char lent[LENT_BYTES];
} place;

/* ---- talking --------------------------------------------------------------------------------- */

static void write_text(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void say_number(const char *before, unsigned number, const char *behind)
{
    char digits[16], *at = digits + sizeof digits - 1;
    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    write_text(before);
    write_text(at);
    write_text(behind);
}

static void refused(int code)
{
    if (!__atomic_exchange_n(&place.has_refused, true, __ATOMIC_RELAXED))
        say_number("libheurt-place: memory is not placed: the kernel refuses mbind (error ",
                   (unsigned)code, ")\n");
}

/* ---- binding --------------------------------------------------------------------------------- */

/* start and end: multiples of a page. Pages that are there already move. */
static void bind_range(uint64_t start, uint64_t end, int mode, const uint64_t *nodes)
{
    if (end <= start)
        return;
    if (syscall(SYS_mbind, start, end - start, mode, nodes, PLACE_NODES_MOST, MPOL_MF_MOVE) < 0)
        refused(errno);
}

static void bind_to_node(uint64_t start, uint64_t end, uint32_t node)
{
    uint64_t nodes[NODE_WORDS] = {0};
    nodes[node / 64] = 1ull << node % 64;
    bind_range(start, end, MPOL_PREFERRED, nodes);
}

/* The parts of the run's object are those of this one, whatever its size. */
static void bind_parts(const struct place_rule *rule, uint64_t start, uint64_t end)
{
    uint64_t pages = (end - start) / PAGE;
    for (uint32_t i = 0; i < rule->part_count; i++) {
        uint64_t from = rule->parts[i].page, to = rule->pages;
        if (i + 1 < rule->part_count)
            to = rule->parts[i + 1].page;
        from = from < rule->pages ? from * pages / rule->pages : pages;
        to = to < rule->pages ? to * pages / rule->pages : pages;
        bind_to_node(start + from * PAGE, start + to * PAGE, rule->parts[i].node);
    }
}

/* Neighbours on one node are bound together. The kernel allows a process some 65,000 mappings. */
static void bind_cycle(const struct place_rule *rule, uint64_t start, uint64_t end)
{
    enum { PAGES_MOST = 16384 };
    uint64_t pages = (end - start) / PAGE, first = 0;
    for (uint64_t page = 1; page <= pages && pages <= PAGES_MOST; page++) {
        uint32_t node = rule->parts[first % rule->part_count].node;
        if (page < pages && rule->parts[page % rule->part_count].node == node)
            continue;
        bind_to_node(start + first * PAGE, start + page * PAGE, node);
        first = page;
    }
}

static void apply(struct place_rule *rule, uint64_t start, uint64_t end)
{
    if (rule->small)
        madvise((void *)start, end - start, MADV_NOHUGEPAGE);
    if (rule->policy == POLICY_INTERLEAVE) {
        bind_range(start, end, MPOL_INTERLEAVE, place.nodes);
    } else if (rule->policy == POLICY_EACH) {
        uint64_t number = __atomic_fetch_add(&rule->seen, 1, __ATOMIC_RELAXED);
        bind_to_node(start, end, rule->parts[number % rule->part_count].node);
    } else if (rule->policy == POLICY_CYCLE) {
        bind_cycle(rule, start, end);
    } else {
        bind_parts(rule, start, end);
    }
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Rules may be of a library that was opened since then. */
static void look_for_sites(void)
{
    uint64_t modules = place_sites__modules();
    if (__atomic_exchange_n(&place.modules, modules, __ATOMIC_RELAXED) != modules)
        place_sites__find(&place.policy);
}

#define HOOK_WORDS 64 /* that a hook of libheurt.so has on the stack, at most */

/* In a recorded program libheurt.so's hook calls us. Where it returns to lies on the stack above
 * our frame: stack, when it is not NULL. */
static bool is_called_from(uint64_t site, uint64_t caller, const uint64_t *stack)
{
    if (site == caller)
        return true;
    for (unsigned i = 0; stack && i < HOOK_WORDS; i++)
        if (stack[i] == site)
            return true;
    return false;
}

static struct place_rule *rule_of(uint64_t caller, const uint64_t *stack, uint64_t bytes)
{
    bool is_whole = true;
    for (uint32_t i = 0; i < place.policy.count; i++)
        is_whole &= __atomic_load_n(&place.policy.rules[i].address, __ATOMIC_RELAXED) != 0;
    if (!is_whole)
        look_for_sites();
    for (uint32_t i = 0; i < place.policy.count; i++) {
        struct place_rule *rule = &place.policy.rules[i];
        uint64_t site = __atomic_load_n(&rule->address, __ATOMIC_RELAXED);
        if (rule->kind == RULE_SITE && bytes >= rule->least_bytes && bytes <= rule->most_bytes &&
            site && is_called_from(site, caller, stack))
            return rule;
    }
    return NULL;
}

/* Whole pages of the object; the one that it begins in, too, where nothing but the allocator's own
 * words stands in front of it, as in a chunk that has pages of its own. */
static void place_object(void *object, uint64_t bytes, void *caller)
{
    enum { ALLOCATORS_WORDS = 16 };
    if (!object || bytes < place.least_bytes || !place.policy.count)
        return;
    int code = errno;
    bool is_hooked =
        (uint64_t)caller >= place.recorder.start && (uint64_t)caller < place.recorder.end;
    struct place_rule *rule =
        rule_of((uint64_t)caller, is_hooked ? __builtin_frame_address(0) : NULL, bytes);
    uint64_t start = (uint64_t)object, end = (start + bytes) & ~(PAGE - 1);
    start =
        start % PAGE <= ALLOCATORS_WORDS ? start & ~(PAGE - 1) : (start + PAGE - 1) & ~(PAGE - 1);
    if (rule && end > start)
        apply(rule, start, end);
    errno = code;
}

/* ---- the program's allocator ----------------------------------------------------------------- */

/* While it is looked for, dlsym may ask for memory itself: it is lent some that nobody gets back,
 * with its size in front of it. NULL: there is none left. */
static void *lend(size_t alignment, size_t bytes)
{
    alignment = alignment > 16 ? alignment : 16;
    if (bytes > LENT_BYTES || alignment > LENT_BYTES)
        return NULL;
    size_t room = bytes + alignment + sizeof(size_t);
    size_t at = __atomic_fetch_add(&place.lent_bytes, room, __ATOMIC_RELAXED);
    if (at > LENT_BYTES || room > LENT_BYTES - at)
        return NULL;
    uint64_t object =
        ((uint64_t)place.lent + at + sizeof(size_t) + alignment - 1) & ~(uint64_t)(alignment - 1);
    memcpy((void *)(object - sizeof(size_t)), &bytes, sizeof bytes);
    return (void *)object;
}

static bool is_lent(const void *object)
{
    return (const char *)object >= place.lent && (const char *)object < place.lent + LENT_BYTES;
}

static void find_real(void)
{
    place.malloc = dlsym(RTLD_NEXT, "malloc");
    place.calloc = dlsym(RTLD_NEXT, "calloc");
    place.realloc = dlsym(RTLD_NEXT, "realloc");
    place.free = dlsym(RTLD_NEXT, "free");
    place.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    place.memalign = dlsym(RTLD_NEXT, "memalign");
    place.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    place.mmap = dlsym(RTLD_NEXT, "mmap");
    place.operator_new = dlsym(RTLD_NEXT, "_Znwm");
    place.operator_new_array = dlsym(RTLD_NEXT, "_Znam");
}

/* Other libraries' constructors and the loader may allocate before ours has run. What they get is
 * of the allocator that it goes back to, whichever that is. False: that one is being looked for. */
static bool look_for_real(void)
{
    if (__atomic_load_n(&place.has_looked, __ATOMIC_ACQUIRE))
        return true;
    if (__atomic_exchange_n(&place.is_looking, true, __ATOMIC_ACQ_REL))
        return __atomic_load_n(&place.has_looked, __ATOMIC_ACQUIRE);
    find_real();
    __atomic_store_n(&place.has_looked, true, __ATOMIC_RELEASE);
    return true;
}

/* ---- the policy ------------------------------------------------------------------------------ */

static char *read_policy(const char *path, size_t *length)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    off_t bytes = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    char *text = NULL;
    if (bytes >= 0 && bytes < POLICY_BYTES_MOST)
        text = mmap(NULL, (size_t)bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    *length = 0;
    while (text && text != MAP_FAILED && *length < (size_t)bytes) {
        ssize_t some = pread(file, text + *length, (size_t)bytes - *length, (off_t)*length);
        if (some <= 0)
            break;
        *length += (size_t)some;
    }
    if (file >= 0)
        close(file);
    return text == MAP_FAILED ? NULL : text;
}

/* Interleaving is over all nodes that this process may use. */
static void find_nodes(void)
{
    int mode;
    if (syscall(SYS_get_mempolicy, &mode, place.nodes, PLACE_NODES_MOST, NULL,
                MPOL_F_MEMS_ALLOWED) < 0)
        place.nodes[0] = 1;
}

static void place_data(void)
{
    for (uint32_t i = 0; i < place.policy.count; i++) {
        struct place_rule *rule = &place.policy.rules[i];
        uint64_t start = rule->address & ~(PAGE - 1);
        if (rule->kind == RULE_DATA && start)
            apply(rule, start, (start + rule->least_bytes + PAGE - 1) & ~(PAGE - 1));
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(ENVIRONMENT);
    size_t length;
    char *text = path ? read_policy(path, &length) : NULL;
    look_for_real();
    if (!text) {
        write_text("libheurt-place: memory is not placed: " ENVIRONMENT " names no policy that "
                   "can be read\n");
        return;
    }
    struct place_policy policy = place_policy__parse(text, length);
    if (policy.wrong_line) {
        say_number("libheurt-place: memory is not placed: line ", policy.wrong_line,
                   " of the policy cannot be understood\n");
        return;
    }
    place.least_bytes = UINT64_MAX;
    for (uint32_t i = 0; i < policy.count; i++)
        if (policy.rules[i].kind == RULE_SITE && policy.rules[i].least_bytes < place.least_bytes)
            place.least_bytes = policy.rules[i].least_bytes;
    place_sites__find(&policy);
    place.modules = place_sites__modules();
    place.recorder = place_sites__range("/libheurt.so");
    find_nodes();
    place.policy = policy;
    place_data();
}

/* ---- what the program calls ------------------------------------------------------------------ */

#define CALLER __builtin_return_address(0)

EXPORT void *malloc(size_t bytes)
{
    if (!look_for_real())
        return lend(0, bytes);
    void *object = place.malloc(bytes);
    place_object(object, bytes, CALLER);
    return object;
}

/* What is lent was never used. */
EXPORT void *calloc(size_t count, size_t bytes)
{
    if (!look_for_real())
        return bytes && count > LENT_BYTES / bytes ? NULL : lend(0, count * bytes);
    void *object = place.calloc(count, bytes);
    place_object(object, count * bytes, CALLER);
    return object;
}

static void *grow_lent(void *old, size_t bytes)
{
    size_t had;
    memcpy(&had, (char *)old - sizeof had, sizeof had);
    void *object = look_for_real() ? place.malloc(bytes) : lend(0, bytes);
    if (object)
        memcpy(object, old, had < bytes ? had : bytes);
    return object;
}

EXPORT void *realloc(void *old, size_t bytes)
{
    if (is_lent(old))
        return grow_lent(old, bytes);
    if (!look_for_real())
        return old ? NULL : lend(0, bytes);
    void *object = place.realloc(old, bytes);
    place_object(object, bytes, CALLER);
    return object;
}

EXPORT void free(void *object)
{
    if (object && !is_lent(object) && look_for_real())
        place.free(object);
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    if (!look_for_real() || !place.memalign)
        return look_for_real() ? NULL : lend(alignment, bytes);
    void *object = place.memalign(alignment, bytes);
    place_object(object, bytes, CALLER);
    return object;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!look_for_real())
        return lend(alignment, bytes);
    void *object = place.aligned_alloc(alignment, bytes);
    place_object(object, bytes, CALLER);
    return object;
}

EXPORT int posix_memalign(void **object, size_t alignment, size_t bytes)
{
    if (!look_for_real()) {
        void *made = lend(alignment, bytes);
        *object = made ? made : *object;
        return made ? 0 : ENOMEM;
    }
    int code = place.posix_memalign(object, alignment, bytes);
    if (code == 0)
        place_object(*object, bytes, CALLER);
    return code;
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (!place.mmap)
        return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    void *object = place.mmap(address, bytes, protection, flags, file, offset);
    if (object != MAP_FAILED && flags & MAP_ANONYMOUS)
        place_object(object, bytes, CALLER);
    return object;
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

/* Of C++. Where it is not there, nobody calls these; while it is looked for, they get what malloc
 * gives, which their delete hands to free. */
EXPORT void *heurt_place_new(size_t bytes) __asm__("_Znwm");
EXPORT void *heurt_place_new(size_t bytes)
{
    void *object = look_for_real() && place.operator_new ? place.operator_new(bytes)
                   : place.has_looked                    ? place.malloc(bytes)
                                                         : lend(0, bytes);
    place_object(object, bytes, CALLER);
    return object;
}

EXPORT void *heurt_place_new_array(size_t bytes) __asm__("_Znam");
EXPORT void *heurt_place_new_array(size_t bytes)
{
    void *object = look_for_real() && place.operator_new_array ? place.operator_new_array(bytes)
                   : place.has_looked                          ? place.malloc(bytes)
                                                               : lend(0, bytes);
    place_object(object, bytes, CALLER);
    return object;
}
