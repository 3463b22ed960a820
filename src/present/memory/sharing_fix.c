/* sharing_fix.c: what to do about cache lines that threads take from each other. What is advised
 * takes apart what different threads use: by the layout that comes of it. */
#include "base/memory.h"
#include "format/sampled_lines.h"
#include "present/memory/accessed_data.h"
#include "present/memory/sharing_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 3u
#define CHANCE_PART 50u /* what fewer of the samples are of counts for nothing */
#define SEVERAL UINT32_MAX

/* Bytes of the line, and the thread that uses them; SEVERAL: more than one. */
struct line_user {
    uint64_t address;
    uint32_t thread;
    const struct line_access *access;
};

static int by_address(const void *left, const void *right)
{
    const struct line_user *one = left, *other = right;
    return ORDER(one->address, other->address) ?: ORDER(one->thread, other->thread);
}

static bool is_on_line(const struct sharing *sharing, const struct line_access *access)
{
    return access->address / CACHE_LINE_BYTES == sharing->line / CACHE_LINE_BYTES;
}

static uint64_t most_sampled(const struct sharing *sharing)
{
    uint64_t most = 0;
    VEC_EACH (access, &sharing->accesses, const struct line_access)
        if (is_on_line(sharing, access) && access->sampled_ns > most)
            most = access->sampled_ns;
    return most;
}

/* struct line_user by address, each address once. */
static struct vec users_of(const struct sharing *sharing)
{
    struct vec users = VEC_OF(struct line_user);
    uint64_t least_ns = most_sampled(sharing) / CHANCE_PART;
    size_t kept = 0;
    VEC_EACH (access, &sharing->accesses, const struct line_access)
        if (is_on_line(sharing, access) && access->sampled_ns >= least_ns)
            vec__push(&users, &(struct line_user){access->address, access->thread, access});
    vec__sort(&users, by_address);
    VEC_EACH (user, &users, const struct line_user) {
        struct line_user *last = kept ? VEC_AT(&users, struct line_user, kept - 1) : NULL;
        if (last && last->address == user->address)
            last->thread = last->thread == user->thread ? last->thread : SEVERAL;
        else
            *VEC_AT(&users, struct line_user, kept++) = *user;
    }
    users.count = kept;
    return users;
}

/* struct line_user: those before which another thread's lie. To begin a line at each of them takes
 * all threads' apart. */
static struct vec bounds_of(const struct vec *users)
{
    struct vec bounds = VEC_OF(struct line_user);
    const struct line_user *last = NULL;
    VEC_EACH (user, users, const struct line_user) {
        if (last && last->thread != user->thread)
            vec__push(&bounds, user);
        last = user;
    }
    return bounds;
}

/* What is to be declared otherwise: of an object the member of its type, whichever element it is.
 */
static char *data_of(const struct report *report, const struct sharing *sharing,
                     const struct line_access *access)
{
    struct accessed found = accessed__find(report, sharing->process, &sharing->accesses, access);
    bool is_member = found.type && found.path && *found.path && !found.variable && !found.given;
    char *text = is_member ? memory__format("%s.%s", found.type, found.path)
                           : access__data(report, sharing->process, &sharing->accesses, access);
    accessed__free(&found);
    return text;
}

/* "a, b and c". */
static char *names_of(const struct report *report, const struct sharing *sharing,
                      const struct vec *users)
{
    char *text = memory__text("");
    for (size_t i = 0; i < users->count; i++) {
        char *name = data_of(report, sharing, VEC_AT(users, struct line_user, i)->access);
        text = text__join(text, i + 1 < users->count ? ", " : " and ", name);
        free(name);
    }
    return text;
}

static uint64_t on_own_lines(uint64_t bytes)
{
    return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

/* " (32 → 128 bytes)": of a struct in which that member begins a line, where nothing before it can
 * make it longer. free() it. */
static char *sizes_text(const struct report *report, const struct sharing *sharing,
                        const struct line_access *at)
{
    enum { ALIGNED_MOST = 8 };
    struct accessed found = accessed__find(report, sharing->process, &sharing->accesses, at);
    char *text = memory__text("");
    if (found.object && found.size && found.path && *found.path && !strchr(found.path, '.')) {
        uint64_t offset = (at->address - found.object->address) % found.size;
        uint64_t whole = on_own_lines(on_own_lines(offset) + found.size - offset);
        if (offset % ALIGNED_MOST == 0) {
            free(text);
            text = memory__format(" (%" PRIu64 " → %" PRIu64 " bytes)", found.size, whole);
        }
    }
    accessed__free(&found);
    return text;
}

/* Fields of one struct, or variables. is_one: they keep their order, so that what is behind a bound
 * goes with it; else each needs a line of its own. */
static char *fix_of_neighbours(const struct report *report, const struct sharing *sharing,
                               bool is_one)
{
    struct vec users = users_of(sharing), bounds = bounds_of(&users);
    const struct vec *apart = is_one ? &bounds : &users;
    char *text = NULL;
    if (bounds.count == 1 && is_one) {
        const struct line_access *at = VEC_AT(&bounds, struct line_user, 0)->access;
        char *name = data_of(report, sharing, at), *sizes = sizes_text(report, sharing, at);
        text = memory__format("alignas(%u) on %s%s", CACHE_LINE_BYTES, name, sizes);
        free(name);
        free(sizes);
    } else if (bounds.count && apart->count <= NAMES_MOST) {
        char *names = names_of(report, sharing, apart);
        text = memory__format("alignas(%u) on each of %s", CACHE_LINE_BYTES, names);
        free(names);
    } else if (bounds.count) {
        text = memory__format("put what one thread uses together, and alignas(%u) on the first of "
                              "what each thread uses",
                              CACHE_LINE_BYTES);
    }
    vec__free(&users);
    vec__free(&bounds);
    return text;
}

/* Whether several threads use one element, each of them something else in it. */
static bool shares_elements(const struct report *report, const struct sharing *sharing)
{
    struct vec users = users_of(sharing), bounds = bounds_of(&users);
    bool shares = false;
    VEC_EACH (bound, &bounds, const struct line_user) {
        struct accessed own =
            accessed__find(report, sharing->process, &sharing->accesses, bound->access);
        VEC_EACH (user, &users, const struct line_user)
            shares |=
                own.object && own.size && user->access->object == own.object &&
                user->thread != bound->thread &&
                accessed__element(&own, user->access) == accessed__element(&own, bound->access);
        accessed__free(&own);
    }
    vec__free(&users);
    vec__free(&bounds);
    return shares;
}

/* Elements that are whole lines have to begin at one. */
static const char *where_allocated(const struct accessed *victim)
{
    return victim->object->call != HEURT_ALLOCATION_NEW &&
                   victim->object->address % CACHE_LINE_BYTES
               ? ", in memory of aligned_alloc(64, …)"
               : "";
}

/* Neighbours of one type: each needs a line of its own. */
static char *fix_of_elements(const struct accessed *victim)
{
    uint64_t whole = on_own_lines(victim->size);
    if (whole == victim->size)
        return memory__format("begin it at a cache line: aligned_alloc(%u, …)", CACHE_LINE_BYTES);
    bool is_struct = victim->path && *victim->path && *victim->path != '[';
    return memory__format(is_struct ? "alignas(%u) on %s (%" PRIu64 " → %" PRIu64 " bytes)%s"
                                    : "each %2$s in a struct of its own with alignas(%1$u) "
                                      "(%3$" PRIu64 " → %4$" PRIu64 " bytes)%5$s",
                          CACHE_LINE_BYTES, victim->type, victim->size, whole,
                          where_allocated(victim));
}

/* Objects that are small lie several to a line, whoever has which. */
static bool is_with_others(const struct sharing *sharing)
{
    VEC_EACH (access, &sharing->accesses, const struct line_access)
        if (is_on_line(sharing, access) && access->object &&
            access->object != sharing->victim.object)
            return true;
    return false;
}

static char *fix_of_object(const struct report *report, const struct sharing *sharing,
                           const struct accessed *victim, const struct accessed *by)
{
    bool is_typed = victim->type && by->type && strcmp(victim->type, by->type) == 0;
    if (!victim->size || !is_typed)
        return NULL;
    if (accessed__element(victim, &sharing->victim) == accessed__element(by, &sharing->by))
        return victim->path && by->path && *victim->path && *by->path
                   ? fix_of_neighbours(report, sharing, true)
                   : NULL;
    return shares_elements(report, sharing)
               ? memory__format("what each thread uses of %s in a struct of its own with "
                                "alignas(%u)",
                                victim->type, CACHE_LINE_BYTES)
               : fix_of_elements(victim);
}

/* "sums" of "sums[3].sx", where both are elements of one array. */
static size_t array_of(const char *one, const char *other)
{
    size_t root = strcspn(one, "["), index = strcspn(one + root, "]");
    return one[root] && strncmp(one, other, root + 1) == 0 &&
                   strncmp(one + root, other + root, index + 1) != 0
               ? root
               : 0;
}

static char *fix_of_variables(const struct report *report, const struct sharing *sharing,
                              const struct symbol *victim, const struct symbol *by)
{
    size_t root = array_of(victim->function, by->function);
    if (root)
        return memory__format("alignas(%u) on the elements of %.*s", CACHE_LINE_BYTES, (int)root,
                              victim->function);
    return fix_of_neighbours(report, sharing, symbol__is_same_variable(victim, by));
}

/* The count of owners that copies of a std::shared_ptr have in common, as libstdc++ and libc++ call
 * what it is in. */
static bool counts_owners(const struct accessed *victim)
{
    const char *type = victim->type ? victim->type : "";
    return strncmp(type, "std::_Sp_counted_base", 21) == 0 ||
           strncmp(type, "std::__1::__shared_count", 24) == 0 ||
           (victim->path && (strcmp(victim->path, "_M_use_count") == 0 ||
                             strcmp(victim->path, "_M_weak_count") == 0));
}

static char *fix_of(const struct report *report, const struct sharing *sharing,
                    const struct accessed *victim, const struct accessed *by)
{
    if (counts_owners(victim))
        return memory__text(
            "pass the std::shared_ptr by reference, or what it points to: each copy "
            "counts there");
    if (!sharing->is_false || sharing->is_spun || !sharing->by.samples)
        return NULL;
    bool is_one_object = victim->object && victim->object == by->object;
    if (victim->variable && by->variable && !victim->given && !is_one_object)
        return fix_of_variables(report, sharing, victim->variable, by->variable);
    if (!victim->object || !by->object)
        return NULL;
    if (victim->type && victim->size && victim->object->bytes < CACHE_LINE_BYTES &&
        is_with_others(sharing))
        return fix_of_elements(victim);
    if (is_one_object)
        return fix_of_object(report, sharing, victim, by);
    return memory__format("alignas(%u) on what lies there: two objects, of %" PRIu64 " and %" PRIu64
                          " bytes, share the line",
                          CACHE_LINE_BYTES, victim->object->bytes, by->object->bytes);
}

char *sharing__fix(const struct report *report, const struct sharing *sharing)
{
    struct accessed victim = accessed__find(report, sharing->process, &sharing->accesses,
                                            &sharing->victim),
                    by = accessed__find(report, sharing->process, &sharing->accesses, &sharing->by);
    char *text = fix_of(report, sharing, &victim, &by);
    accessed__free(&victim);
    accessed__free(&by);
    return text;
}
