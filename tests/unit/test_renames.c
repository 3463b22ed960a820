/* Functions with another name in the other run, and loops of two runs beside each other. */
#include "analysis/compare/phases.h"
#include "analysis/compare/renames.h"

#include "base/memory.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- functions ------------------------------------------------------------------------------- */

/* A body, as "caller: callee callee /read": with '/' calls of a library. */
static void add_body(struct vec *calls, char *body, struct vec *texts)
{
    char *text = memory__text(body), *rest = text, *caller = strsep(&rest, ":");
    const char *previous = "";
    vec__push(texts, &text);
    for (char *callee; (callee = strsep(&rest, " "));) {
        if (!*callee)
            continue;
        bool is_library = *callee == '/';
        const struct function_call call = {caller, callee + is_library, previous, is_library};
        vec__push(calls, &call);
        previous = call.callee;
    }
}

/* "parse=parse_line store=keep", by the order in which they were found. free() it. */
static char *renames_between(const char *const *before, const char *const *after)
{
    struct vec sides[2] = {VEC_OF(struct function_call), VEC_OF(struct function_call)};
    struct vec texts = VEC_OF(char *);
    for (; *before; before++)
        add_body(&sides[0], (char *)*before, &texts);
    for (; *after; after++)
        add_body(&sides[1], (char *)*after, &texts);
    struct vec renames = renames__find(&sides[0], &sides[1]);
    char *found = memory__text("");
    VEC_EACH (renamed, &renames, struct renamed) {
        char *one = memory__format("%s=%s", renamed->before, renamed->after);
        found = text__join(found, " ", one);
        free(one);
        assert_string_equal(renames__of(&renames, renamed->before), renamed->after);
    }
    assert_string_equal(renames__of(&renames, "nobody"), "nobody");
    vec__free(&renames);
    vec__free(&sides[0]);
    vec__free(&sides[1]);
    texts__free(&texts);
    return found;
}

#define BODIES(...)       \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static void assert_renames(const char *const *before, const char *const *after,
                           const char *expected)
{
    char *found = renames_between(before, after);
    assert_string_equal(found, expected);
    free(found);
}

static void a_function_is_known_by_what_it_calls_and_by_whom(void **context)
{
    (void)context;
    assert_renames(BODIES(":main", "main:parse store", "parse:/read /free"),
                   BODIES(":main", "main:parse_line store", "parse_line:/read /free"),
                   "parse=parse_line");
    /* The place among others tells two of them apart. */
    assert_renames(BODIES(":main", "main:fetch one two store"),
                   BODIES(":main", "main:fetch first second store"), "one=first two=second");
    /* It stands elsewhere now, but has the same callers and callees. */
    assert_renames(BODIES(":main", "main:parse store", "parse:/read"),
                   BODIES(":main", "main:store scan", "scan:/read"), "parse=scan");
}

static void callers_that_are_renamed_too_are_known_by_their_new_name(void **context)
{
    (void)context;
    assert_renames(BODIES(":main", "main:outer other", "outer:a", "a:b", "b:/write"),
                   BODIES(":main", "main:around other", "around:x", "x:y", "y:/write"),
                   "outer=around a=x b=y");
}

static void what_is_not_sure_is_no_rename(void **context)
{
    (void)context;
    /* Two could be it. */
    assert_renames(BODIES(":main", "main:one", "main:two", "main:three"),
                   BODIES(":main", "main:uno", "main:dos", "main:three"), "");
    /* Another program has nothing in common. */
    assert_renames(BODIES(":work"), BODIES(":run"), "");
    assert_renames(BODIES(":main", "main:work"), BODIES(":start", "start:run"), "");
    /* A call of a library is not renamed. */
    assert_renames(BODIES(":main", "main:/pthread_mutex_lock"),
                   BODIES(":main", "main:/pthread_spin_lock"), "");
    /* Both names are there after. */
    assert_renames(BODIES(":main", "main:parse"), BODIES(":main", "main:parse parse_line"), "");
    assert_renames(BODIES(":main"), BODIES(":main"), "");
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Each letter is a place: "ab cd" are two loops. */
static struct vec loops_of(const char *letters)
{
    struct vec phases = VEC_OF(struct told_phase);
    struct told_phase *phase = NULL;
    for (; *letters; letters++) {
        if (*letters == ' ' || !phase) {
            const struct told_phase none = {.text = memory__text(""), .body = VEC_OF(char *)};
            phase = vec__push(&phases, &none);
        }
        char *name = memory__format("%c", *letters);
        if (*letters == ' ')
            free(name);
        else
            vec__push(&phase->body, &name);
    }
    return phases;
}

/* "1=1 2=- -=2" */
static void assert_aligned(const char *before, const char *after, const char *expected)
{
    struct vec sides[2] = {loops_of(before), loops_of(after)};
    struct vec pairs = phases__align(&sides[0], &sides[1]);
    char *found = memory__text("");
    VEC_EACH (pair, &pairs, struct phase_pair) {
        char numbers[2][12] = {"-", "-"};
        if (pair->before != PHASE_NONE)
            snprintf(numbers[0], sizeof numbers[0], "%u", pair->before + 1);
        if (pair->after != PHASE_NONE)
            snprintf(numbers[1], sizeof numbers[1], "%u", pair->after + 1);
        char *one = memory__format("%s=%s", numbers[0], numbers[1]);
        found = text__join(found, " ", one);
        free(one);
    }
    assert_string_equal(found, expected);
    free(found);
    vec__free(&pairs);
    told_phases__free(&sides[0]);
    told_phases__free(&sides[1]);
}

static void loops_are_matched_in_their_order(void **context)
{
    (void)context;
    assert_aligned("a b c", "a b c", "1=1 2=2 3=3");
    assert_aligned("a b c", "a c", "1=1 2=- 3=2");
    assert_aligned("a c", "a b c", "1=1 -=2 2=3");
    assert_aligned("a b", "b a b", "-=1 1=2 2=3");
    assert_aligned("a", "b", "1=- -=1");
    assert_aligned("", "a", "-=1");
    assert_aligned("", "", "");
}

static void loops_that_are_alike_by_half_are_the_same(void **context)
{
    (void)context;
    assert_aligned("abcd", "abc", "1=1");
    assert_aligned("abc", "abd", "1=1");
    assert_aligned("abc", "axy", "1=- -=1");
    /* The one that is more alike. */
    assert_aligned("abcd", "abce abcd", "-=1 1=2");
}

static void loops_of_different_sorts_are_different(void **context)
{
    struct vec sides[2] = {loops_of("a"), loops_of("a")};
    (void)context;
    VEC_AT(&sides[0], struct told_phase, 0)->sort = 1;
    struct vec pairs = phases__align(&sides[0], &sides[1]);
    assert_int_equal(pairs.count, 2);
    vec__free(&pairs);
    told_phases__free(&sides[0]);
    told_phases__free(&sides[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_known_by_what_it_calls_and_by_whom),
        cmocka_unit_test(callers_that_are_renamed_too_are_known_by_their_new_name),
        cmocka_unit_test(what_is_not_sure_is_no_rename),
        cmocka_unit_test(loops_are_matched_in_their_order),
        cmocka_unit_test(loops_that_are_alike_by_half_are_the_same),
        cmocka_unit_test(loops_of_different_sorts_are_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
