#include "analysis/compare/renames.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A function of a side, and the calls that it takes part in. */
struct known_function {
    const char *name;
    bool is_library;
    struct vec callers, callees, previous, next; /* const char *, each once */
};

struct functions {
    struct map names; /* places in all */
    struct vec all;   /* struct known_function */
    struct map pairs; /* of neighbours, each once */
};

/* ---- who calls whom -------------------------------------------------------------------------- */

static struct known_function *function_named(struct functions *functions, const char *name)
{
    size_t count = functions->all.count;
    size_t place = map__put(&functions->names, name, strlen(name), count);
    if (place == count) {
        const struct known_function one = {name,
                                           true,
                                           VEC_OF(const char *),
                                           VEC_OF(const char *),
                                           VEC_OF(const char *),
                                           VEC_OF(const char *)};
        vec__push(&functions->all, &one);
    }
    return VEC_AT(&functions->all, struct known_function, place);
}

static bool is_first(struct functions *functions, const char *how, const char *one,
                     const char *other)
{
    size_t count = functions->pairs.count;
    char *key = memory__format("%s\n%s\n%s", how, one, other);
    bool is = map__put(&functions->pairs, key, strlen(key), count) == count;
    free(key);
    return is;
}

static void add_caller(struct functions *functions, const struct function_call *call)
{
    struct known_function *callee = function_named(functions, call->callee);
    callee->is_library = callee->is_library && call->is_library;
    if (!is_first(functions, "calls", call->caller, call->callee))
        return;
    vec__push(&callee->callers, &call->caller);
    if (!*call->caller)
        return;
    struct known_function *caller = function_named(functions, call->caller);
    caller->is_library = false;
    vec__push(&caller->callees, &call->callee);
}

static void add_previous(struct functions *functions, const struct function_call *call)
{
    if (!is_first(functions, "then", call->previous, call->callee))
        return;
    vec__push(&function_named(functions, call->callee)->previous, &call->previous);
    if (*call->previous)
        vec__push(&function_named(functions, call->previous)->next, &call->callee);
}

static struct functions functions__of(const struct vec *calls)
{
    struct functions functions = {.all = VEC_OF(struct known_function)};
    VEC_EACH (call, calls, struct function_call) {
        add_caller(&functions, call);
        add_previous(&functions, call);
    }
    return functions;
}

static void functions__free(struct functions *functions)
{
    VEC_EACH (one, &functions->all, struct known_function) {
        vec__free(&one->callers);
        vec__free(&one->callees);
        vec__free(&one->previous);
        vec__free(&one->next);
    }
    vec__free(&functions->all);
    map__free(&functions->names);
    map__free(&functions->pairs);
}

static bool has_name(const struct functions *functions, const char *name)
{
    return map__get(&functions->names, name, strlen(name)) != MAP_ABSENT;
}

/* ---- what is known of a function besides its name -------------------------------------------- */

/* The sides, as seen from one of them. */
struct matching {
    struct functions *own, *other;
    const struct vec *renames;
    bool is_before;
    bool has_common;  /* some function has its name on both sides */
    bool with_places; /* what stands before and behind it counts, too */
};

static const struct renamed *rename_of(const struct matching *matching, const char *name)
{
    VEC_EACH (one, matching->renames, struct renamed)
        if (strcmp(matching->is_before ? one->before : one->after, name) == 0)
            return one;
    return NULL;
}

static bool is_unmatched(const struct matching *matching, const struct known_function *function)
{
    return !function->is_library && !has_name(matching->other, function->name) &&
           !rename_of(matching, function->name);
}

/* What both sides call it; "?": that is not known. */
static const char *common_name(const struct matching *matching, const struct known_function *of,
                               const char *name)
{
    const struct renamed *renamed = rename_of(matching, name);
    if (strcmp(name, of->name) == 0)
        return "itself";
    return renamed ? renamed->after : !*name || has_name(matching->other, name) ? name : "?";
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static char *append_names(char *text, const struct matching *matching,
                          const struct known_function *of, const struct vec *names, bool *is_told)
{
    struct vec sorted = VEC_OF(const char *);
    VEC_EACH (name, names, const char *) {
        const char *common = common_name(matching, of, *name);
        *is_told = *is_told || (*common ? *common != '?' : matching->has_common);
        vec__push(&sorted, &common);
    }
    vec__sort(&sorted, by_text);
    VEC_EACH (name, &sorted, const char *)
        text = text__append(text, "%s\n", *name);
    vec__free(&sorted);
    return text__append(text, "\n");
}

/* Its neighbours; NULL: nothing of them is known. free() it. */
static char *signature_of(const struct matching *matching, const struct known_function *function)
{
    bool is_told = false;
    char *text = append_names(memory__text(""), matching, function, &function->callers, &is_told);
    text = append_names(text, matching, function, &function->callees, &is_told);
    if (matching->with_places) {
        text = append_names(text, matching, function, &function->previous, &is_told);
        text = append_names(text, matching, function, &function->next, &is_told);
    }
    if (is_told)
        return text;
    free(text);
    return NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Functions of one signature. */
struct candidates {
    const char *before, *after;
    unsigned before_count, after_count;
};

static void offer(const struct matching *matching, struct map *signatures, struct vec *all)
{
    VEC_EACH (function, &matching->own->all, struct known_function) {
        char *signature =
            is_unmatched(matching, function) ? signature_of(matching, function) : NULL;
        if (!signature)
            continue;
        size_t place = map__put(signatures, signature, strlen(signature), all->count);
        struct candidates *one = VEC_REACH(all, struct candidates, place);
        *(matching->is_before ? &one->before : &one->after) = function->name;
        ++*(matching->is_before ? &one->before_count : &one->after_count);
        free(signature);
    }
}

static bool has_common(const struct functions *before, const struct functions *after)
{
    VEC_EACH (function, &before->all, struct known_function)
        if (!function->is_library && has_name(after, function->name))
            return true;
    return false;
}

/* Whether there are any more. */
static bool find_more(struct functions *before, struct functions *after, bool with_places,
                      struct vec *renames)
{
    struct map signatures = {0};
    struct vec all = VEC_OF(struct candidates);
    struct matching matching = {before,     after, renames, true, has_common(before, after),
                                with_places};
    const size_t known = renames->count;
    offer(&matching, &signatures, &all);
    matching.own = after;
    matching.other = before;
    matching.is_before = false;
    offer(&matching, &signatures, &all);
    VEC_EACH (one, &all, struct candidates)
        if (one->before_count == 1 && one->after_count == 1)
            vec__push(renames, &(struct renamed){one->before, one->after});
    map__free(&signatures);
    vec__free(&all);
    return renames->count > known;
}

struct vec renames__find(const struct vec *before, const struct vec *after)
{
    struct functions was = functions__of(before), is = functions__of(after);
    struct vec renames = VEC_OF(struct renamed);
    while (find_more(&was, &is, true, &renames) || find_more(&was, &is, false, &renames))
        continue;
    functions__free(&was);
    functions__free(&is);
    return renames;
}

const char *renames__of(const struct vec *renames, const char *before)
{
    VEC_EACH (one, renames, struct renamed)
        if (strcmp(one->before, before) == 0)
            return one->after;
    return before;
}
