#include "truth.h"

#include "base/memory.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the program says ------------------------------------------------------------------- */

static struct truth *truth_of(struct vec *truths, const char *name, size_t length)
{
    VEC_EACH (truth, truths, struct truth)
        if (strlen(truth->name) == length && memcmp(truth->name, name, length) == 0)
            return truth;
    struct truth *truth = vec__push(truths, NULL);
    truth->name = memory__format("%.*s", (int)length, name);
    return truth;
}

/* Where the name ends: at its last blank, as names of C++ have blanks, numbers have none. */
static const char *before_number(const char *text)
{
    const char *blank = strrchr(text, ' ');
    return blank && (isdigit((unsigned char)blank[1]) || blank[1] == '-') ? blank : NULL;
}

static const struct {
    const char *word;
    size_t place;
} numbers[] = {
    {"count ", offsetof(struct truth, count)},
    {"unfinished ", offsetof(struct truth, unfinished)},
    {"abandoned ", offsetof(struct truth, abandoned)},
    {"uncertain ", offsetof(struct truth, uncertain)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static bool take_number(const char *line, struct vec *truths)
{
    size_t which = 0;
    while (which < NUMBERS && strncmp(line, numbers[which].word, strlen(numbers[which].word)) != 0)
        which++;
    if (which == NUMBERS)
        return false;
    size_t length = strlen(numbers[which].word);
    const char *name = line + length, *blank = before_number(name);
    if (!blank)
        return false;
    struct truth *truth = truth_of(truths, name, (size_t)(blank - name));
    *(long long *)((char *)truth + numbers[which].place) += atoll(blank);
    truth->counted |= which == 0;
    return true;
}

static bool take_refusal(const char *line, struct vec *truths)
{
    if (strncmp(line, "refused ", 8) != 0)
        return false;
    const char *name = line + 8, *blank = strchr(name, ' ');
    if (!blank)
        return false;
    struct truth *truth = truth_of(truths, name, (size_t)(blank - name));
    free(truth->may_be_refused);
    truth->may_be_refused = memory__text(blank + 1);
    return true;
}

static bool is_asked_for(const char *name, const struct vec *patterns)
{
    VEC_EACH (pattern, patterns, char *)
        if (fnmatch(*pattern, name, 0) == 0)
            return true;
    return false;
}

/* NAME=N with a plain number. Another key of the kind (an address, NAME.arg1) is left out of both:
 * it may differ from run to run. */
static bool take_key(const char *line, const struct vec *patterns, struct vec *truths)
{
    const char *equals = strchr(line, '=');
    if (!equals || equals[1] == 0)
        return false;
    char *name = memory__format("%.*s", (int)(equals - line), line);
    bool asked = is_asked_for(name, patterns);
    if (asked && !strchr(name, '.') && strspn(equals + 1, "0123456789") == strlen(equals + 1)) {
        struct truth *truth = truth_of(truths, name, strlen(name));
        truth->count += atoll(equals + 1);
        truth->counted = true;
    }
    free(name);
    return asked;
}

char *truths__read(const char *output, const struct vec *patterns, struct vec *truths)
{
    char *result = NULL;
    size_t bytes = 0;
    FILE *rest = open_memstream(&result, &bytes);
    char *copy = memory__text(output), *at = copy;
    for (char *line; rest && (line = strsep(&at, "\n"));)
        if (!take_number(line, truths) && !take_refusal(line, truths) &&
            !take_key(line, patterns, truths))
            fprintf(rest, "%s\n", line);
    if (rest)
        fclose(rest);
    free(copy);
    return result;
}

void truths__free(struct vec *truths)
{
    VEC_EACH (truth, truths, struct truth) {
        free(truth->name);
        free(truth->may_be_refused);
    }
    vec__free(truths);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The length of a demangled name without its parameters: the last '(' at depth 0 of parentheses and
 * angle brackets that the name's last ')' closes; names of lambdas and "operator()" keep theirs. */
static size_t without_parameters(const char *name)
{
    size_t end = strlen(name);
    const char *close = strrchr(name, ')');
    if (!close || strcmp(close, ")::operator()") == 0)
        return end;
    int depth = 0;
    for (const char *at = close; at >= name; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0)
            return at > name ? (size_t)(at - name) : end;
    }
    return end;
}

/* Templates are shown with the type that they return: up to the last blank outside of brackets. */
static const char *without_type(const char *name, size_t length)
{
    const char *start = name;
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += strchr("<({", name[i]) != NULL;
        depth -= strchr(">)}", name[i]) != NULL;
        if (name[i] == ' ' && depth == 0)
            start = name + i + 1;
    }
    return start;
}

static bool is_same(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* The length without the endings that compilers give to the copies of a whole function. */
static size_t without_clone(const char *name)
{
    static const char *const endings[] = {".isra.", ".constprop.", ".lto_priv.", ".llvm."};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *found = strstr(name, endings[i]);
        if (found && (size_t)(found - name) < length)
            length = (size_t)(found - name);
    }
    if (strstr(name, ".part.") || strstr(name, ".cold"))
        return strlen(name);
    size_t number = length; /* functions in functions are numbered */
    while (number && isdigit((unsigned char)name[number - 1]))
        number--;
    return number > 1 && number < length && name[number - 1] == '.' ? number - 1 : length;
}

bool function__is(const char *reported, const char *name)
{
    if (strcmp(reported, name) == 0 || is_same(reported, without_clone(reported), name))
        return true;
    if (strstr(reported, "[clone .part") || strstr(reported, "[clone .cold") ||
        strstr(reported, "[clone .actor") || strstr(reported, "[clone .destroy"))
        return false;
    size_t length = without_parameters(reported);
    if (is_same(reported, length, name))
        return true;
    const char *start = without_type(reported, length);
    return is_same(start, length - (size_t)(start - reported), name);
}

/* ---- what the report says -------------------------------------------------------------------- */

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    json_object_object_get_ex(object, name, &value);
    return value;
}

static bool is_about(struct json_object *object, const char *name)
{
    const char *function = json_object_get_string(member(object, "function"));
    return function && function__is(function, name);
}

static size_t length_of(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

struct finding report__find(struct json_object *report, const char *name)
{
    struct finding finding = {0};
    struct json_object *classes = member(report, "classes"), *coverage = member(report, "coverage");
    for (size_t i = 0; i < length_of(classes); i++) {
        struct json_object *class = json_object_array_get_idx(classes, i);
        if (strcmp(json_object_get_string(member(class, "kind")), "call") || !is_about(class, name))
            continue;
        long long unfinished = json_object_get_int64(member(class, "unfinished"));
        finding.count += json_object_get_int64(member(class, "count")) + unfinished;
        finding.unfinished += unfinished;
    }
    struct json_object *functions = member(coverage, "functions");
    for (size_t i = 0; i < length_of(functions); i++)
        finding.instrumented |= is_about(json_object_array_get_idx(functions, i), name);
    struct json_object *refused = member(coverage, "refused");
    for (size_t i = 0; i < length_of(refused); i++) {
        struct json_object *one = json_object_array_get_idx(refused, i);
        if (is_about(one, name))
            finding.reason = json_object_get_string(member(one, "reason"));
    }
    return finding;
}
