#include "analysis/callsite/program_frame.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* So near to a wait a function that takes a lock waits for that. */
#define LOCK_FRAMES 6

bool symbol__is_of_openmp(const struct symbol *symbol)
{
    return symbol__is_of_library(symbol, "libgomp.so") ||
           symbol__is_of_library(symbol, "libomp.so") ||
           symbol__is_of_library(symbol, "libiomp5.so");
}

/* Headers of the system, of compilers and of the C++ library, and Rust's own library. Clang comes
 * to gcc's by way of its folder: "/usr/bin/../lib/gcc/…/include/x86_64-linux-gnu/c++/12/bits/…". */
static bool is_of_system(const char *file)
{
    static const char *const parts[] = {"/include/c++/",     "/lib/gcc/",
                                        "/lib/clang/",       "library/std/src/",
                                        "library/core/src/", "library/alloc/src/"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(file, parts[i]))
            return true;
    return strncmp(file, "/usr/include/", 13) == 0;
}

bool symbol__is_system(const struct symbol *symbol)
{
    static const char *const libraries[] = {"libc.so.",       "libstdc++.so.", "libc++.so.",
                                            "libpthread.so.", "libgomp.so.",   "libomp.so.",
                                            "libabsl_",       "ld-linux"};
    if (symbol->file && is_of_system(symbol->file))
        return true;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (symbol__is_of_library(symbol, libraries[i]))
            return true;
    return symbol__is_of_runtime(symbol);
}

const struct symbol *program_frame__inlined(const struct symbol *symbol)
{
    while (symbol && symbol__is_system(symbol))
        symbol = symbol->inlined_by;
    return symbol;
}

/* The last part of a name: "Queue::Guard::lock(int)" is "lock". */
static size_t last_part(const char *function, const char **part)
{
    size_t bytes = strcspn(function, "(<["), start = bytes;
    while (start > 0 && function[start - 1] != ':' && function[start - 1] != ' ' &&
           function[start - 1] != '.')
        start--;
    *part = function + start;
    return bytes - start;
}

static bool begins_word(const char *part, size_t at)
{
    return at == 0 || part[at - 1] == '_' ||
           (isupper((unsigned char)part[at]) && islower((unsigned char)part[at - 1]));
}

/* "queue_lock" and "queueLock" end in the word "lock", "block" does not. */
static bool ends_in_word(const char *part, size_t bytes, const char *word)
{
    size_t length = strlen(word);
    return bytes >= length && strncasecmp(part + bytes - length, word, length) == 0 &&
           begins_word(part, bytes - length);
}

static bool part_ends_in(const struct symbol *symbol, const char *const *words, size_t count)
{
    const char *part;
    size_t bytes = last_part(symbol->function, &part);
    for (size_t i = 0; i < count; i++)
        if (ends_in_word(part, bytes, words[i]))
            return true;
    return false;
}

/* A function of the program or of a runtime that takes a lock on behalf of its caller, by its name.
 */
static bool takes_lock(const struct symbol *symbol)
{
    static const char *const words[] = {"lock",         "rdlock",     "wrlock",      "trylock",
                                        "spinlock",     "lock_guard", "mutex_enter", "MutexEnter",
                                        "monitorenter", "take_gil"};
    static const char *const parts[] = {"Monitor::enter", "lock_acquire", "LockAcquire"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(symbol->function, parts[i]))
            return true;
    return part_ends_in(symbol, words, sizeof words / sizeof *words);
}

/* "g_malloc0" ends as "malloc" does. */
static bool ends_in(const char *part, size_t bytes, const char *end)
{
    size_t length = strlen(end);
    while (bytes && isdigit((unsigned char)part[bytes - 1]))
        bytes--;
    return bytes >= length && strncasecmp(part + bytes - length, end, length) == 0;
}

bool symbol__allocates(const struct symbol *symbol)
{
    static const char *const words[] = {"alloc", "allocate", "zalloc"};
    static const char *const ends[] = {"malloc", "calloc", "realloc", "memalign", "strdup"};
    const char *part;
    size_t bytes = last_part(symbol->function, &part);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(part, bytes, ends[i]))
            return true;
    return part_ends_in(symbol, words, sizeof words / sizeof *words) ||
           strncmp(symbol->function, "operator new", 12) == 0;
}

/* What is acquired otherwise may be anything that there is a number of. */
static bool is_lock_wrapper(const struct symbol *symbol)
{
    static const char *const word = "acquire";
    return takes_lock(symbol) || part_ends_in(symbol, &word, 1);
}

/* In a chain of inlined calls the first that is no wrapper; first: gets the first of all, unless
 * there is one already. */
static const struct symbol *user_of_lock(const struct symbol *symbol, const struct symbol **first)
{
    for (; symbol; symbol = symbol->inlined_by) {
        if (symbol__is_system(symbol))
            continue;
        *first = *first ? *first : symbol;
        if (!is_lock_wrapper(symbol))
            return symbol;
    }
    return NULL;
}

static const struct symbol *wrapper_among(const struct symbol *symbol)
{
    while (symbol && (symbol__is_system(symbol) || !takes_lock(symbol)))
        symbol = symbol->inlined_by;
    return symbol;
}

/* Code that was made while the program ran. */
static bool is_nameless(const struct symbol *symbol)
{
    return (!symbol->module || !*symbol->module) && symbol->function[0] == '[';
}

/* Where it begins in the class's most frequent stack: its site, or the top. A function's last call,
 * which returns to a stub in its place, has a site that is in no stack. */
static size_t begin_in_stack(const struct class_definition *class,
                             const struct profile_stack *stack)
{
    size_t i = 0;
    while (class->at.site && i < stack->frame_count && stack->frames[i] != class->at.site)
        i++;
    return i < stack->frame_count ? i : 0;
}

static bool may_be_lock(enum class_kind kind)
{
    return kind == CLASS_CONDITION || kind == CLASS_FUTEX || kind == CLASS_SEMAPHORE ||
           kind == CLASS_POLL;
}

/* Functions next to a wait that take the lock it waits for. */
struct lock_frames {
    const struct symbol *innermost, *outermost; /* NULL: there is none */
    size_t frame;                               /* of the outermost, in the stack */
};

static struct lock_frames find_lock(const struct symbols *symbols,
                                    const struct class_definition *class)
{
    struct lock_frames found = {0};
    if (!may_be_lock(class->at.kind))
        return found;
    if (class->stacks.count == 0) {
        found.outermost = wrapper_among(symbols__get(symbols, class->at.process, class->at.site));
        found.innermost = found.outermost;
        return found;
    }
    const struct profile_stack *stack = VEC_AT(&class->stacks, struct profile_stack, 0);
    size_t begin = begin_in_stack(class, stack);
    for (size_t i = begin; i < stack->frame_count && i < begin + LOCK_FRAMES; i++) {
        const struct symbol *wrapper =
            wrapper_among(symbols__get(symbols, stack->process, stack->frames[i]));
        if (wrapper)
            found = (struct lock_frames){found.innermost ? found.innermost : wrapper, wrapper, i};
    }
    return found;
}

/* Go's threads wait there for a goroutine that can go on, whatever goroutines wait for. */
bool program_frame__is_scheduler(const struct symbols *symbols,
                                 const struct class_definition *class)
{
    const struct symbol *site = symbols__get(symbols, class->at.process, class->at.site);
    return class->at.kind == CLASS_FUTEX && site && site->file &&
           strncmp(site->function, "runtime.futex", 13) == 0 && strstr(site->file, "/src/runtime/");
}

/* The conditions of CPython's runtime are the GIL's; its functions have no names where it is
 * stripped. */
static bool is_of_interpreter(const struct symbols *symbols, const struct class_definition *class)
{
    static const char runtime[] = "_PyRuntime";
    const struct symbol *object = class->at.kind == CLASS_CONDITION && class->has_object
                                      ? symbols__variable(symbols, class->at.process, class->object)
                                      : NULL;
    return object && strncmp(object->function, runtime, sizeof runtime - 1) == 0;
}

bool program_frame__takes_lock(const struct symbols *symbols, const struct class_definition *class)
{
    return is_of_interpreter(symbols, class) || find_lock(symbols, class).outermost;
}

bool program_frame__takes_gil(const struct symbols *symbols, const struct class_definition *class)
{
    const struct symbol *lock = find_lock(symbols, class).innermost;
    return is_of_interpreter(symbols, class) || (lock && strcmp(lock->function, "take_gil") == 0);
}

const struct symbol *program_frame__in_stack(const struct symbols *symbols,
                                             const struct class_definition *class)
{
    struct lock_frames lock = find_lock(symbols, class);
    const struct symbol *first = lock.innermost, *user;
    if (lock.outermost && (user = user_of_lock(lock.outermost, &first)))
        return user;
    if (class->stacks.count == 0)
        return first;
    const struct profile_stack *stack = VEC_AT(&class->stacks, struct profile_stack, 0);
    size_t i = lock.outermost ? lock.frame + 1 : begin_in_stack(class, stack);
    for (; i < stack->frame_count; i++) {
        const struct symbol *symbol = symbols__get(symbols, stack->process, stack->frames[i]);
        if (!symbol || (first && is_nameless(symbol)))
            return first;
        if ((user = user_of_lock(symbol, &first)))
            return user;
    }
    return first;
}

/* At a function's first address another one may already be inlined. */
static const struct symbol *function_symbol(const struct symbols *symbols,
                                            const struct class_definition *class)
{
    const struct symbol *symbol = symbols__get(symbols, class->at.process, class->at.address);
    while (symbol && symbol->inlined_by && strcmp(symbol->function, class->at.function) != 0)
        symbol = symbol->inlined_by;
    return symbol;
}

/* A barrier of OpenMP stands in its parallel region, which is a function of its own: what the
 * compiler tells of code inlined right before it is no matter. NULL: it is in no such function. */
static const struct symbol *parallel_region(const struct class_definition *class,
                                            const struct symbol *symbol)
{
    while (symbol && symbol->inlined_by)
        symbol = symbol->inlined_by;
    bool is_region = symbol && (strstr(symbol->function, "._omp_fn.") ||
                                strstr(symbol->function, ".omp_outlined"));
    return is_region && class->at.kind == CLASS_BARRIER ? symbol : NULL;
}

const struct symbol *program_frame__of_class(const struct symbols *symbols,
                                             const struct class_definition *class)
{
    const struct symbol *first = NULL, *symbol = NULL;
    const struct symbol *site = symbols__get(symbols, class->at.process, class->at.site);
    if (program_frame__takes_lock(symbols, class))
        return program_frame__in_stack(symbols, class);
    if (class->at.site)
        symbol = parallel_region(class, site) ?: user_of_lock(site, &first);
    else
        symbol = function_symbol(symbols, class);
    if (symbol && !symbol__is_system(symbol))
        return symbol;
    symbol = program_frame__in_stack(symbols, class);
    return symbol ? symbol : first;
}
