#include "patch/patterns.h"

#include "base/memory.h"
#include "symbol/name.h"

#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

void patterns__start(struct patterns *patterns)
{
    *patterns = (struct patterns){.items = VEC_OF(struct pattern)};
}

void patterns__add(struct patterns *patterns, const char *text)
{
    struct pattern pattern = {.text = text, .name = memory__text(text)};
    char *module = strstr(pattern.name, " @");
    if (module) {
        *module = 0;
        pattern.module = memory__text(module + 2);
    }
    pattern.literal = !strpbrk(pattern.name, "*?[\\");
    size_t index = patterns->items.count;
    if (pattern.literal) {
        uint64_t first = map__put(&patterns->literals, pattern.name, strlen(pattern.name), index);
        if (first != index) {
            struct pattern *head = VEC_AT(&patterns->items, struct pattern, first);
            pattern.next = head->next;
            head->next = index + 1;
        }
    } else
        patterns->glob_count++;
    vec__push(&patterns->items, &pattern);
}

void patterns__free(struct patterns *patterns)
{
    VEC_EACH (pattern, &patterns->items, struct pattern) {
        free(pattern->name);
        free(pattern->module);
    }
    vec__free(&patterns->items);
    map__free(&patterns->literals);
}

bool pattern_module__matches(const struct pattern_module *module, const char *glob)
{
    return fnmatch(glob, module->base, 0) == 0 || fnmatch(glob, module->path, 0) == 0;
}

static bool is_for(const struct pattern *pattern, const struct pattern_module *module)
{
    return !pattern->module || pattern_module__matches(module, pattern->module);
}

bool patterns__concern(const struct patterns *patterns, const struct pattern_module *module)
{
    VEC_EACH (pattern, &patterns->items, struct pattern)
        if (is_for(pattern, module))
            return true;
    return false;
}

/* The forms in which a symbol may be asked for. Owns them; the first is the symbol itself. */
struct forms {
    char *text[4];
    size_t count;
};

static void add_form(struct forms *forms, char *text)
{
    if (text)
        forms->text[forms->count++] = text;
}

static char *cut_at(const char *text, const char *end)
{
    if (!end || end == text)
        return NULL;
    char *copy = memory__text(text);
    copy[end - text] = 0;
    return copy;
}

static void make_forms(struct forms *forms, const char *symbol)
{
    *forms = (struct forms){0};
    add_form(forms, memory__text(symbol));
    bool mangled = symbol[0] == '_' &&
                   (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'D' || symbol[1] == '_');
    char *readable = mangled ? symbol_name__demangle(symbol) : NULL;
    if (!readable || strcmp(readable, symbol) == 0) {
        free(readable);
        add_form(forms, cut_at(symbol, strpbrk(symbol, ".@")));
        return;
    }
    char *clone = strstr(readable, " [clone ");
    if (clone)
        *clone = 0;
    add_form(forms, readable);
    add_form(forms, cplus_demangle(symbol, DMGL_ANSI | DMGL_AUTO));
}

static void free_forms(struct forms *forms)
{
    for (size_t i = 0; i < forms->count; i++)
        free(forms->text[i]);
}

static bool answer(struct pattern *pattern)
{
    pattern->answered = true;
    return true;
}

static bool match_literals(struct patterns *patterns, const struct pattern_module *module,
                           const char *form)
{
    bool matched = false;
    uint64_t at = map__get(&patterns->literals, form, strlen(form));
    for (size_t next = at == MAP_ABSENT ? 0 : at + 1; next;) {
        struct pattern *pattern = VEC_AT(&patterns->items, struct pattern, next - 1);
        if (is_for(pattern, module))
            matched = answer(pattern);
        next = pattern->next;
    }
    return matched;
}

static bool match_globs(struct patterns *patterns, const struct pattern_module *module,
                        const struct forms *forms)
{
    bool matched = false;
    VEC_EACH (pattern, &patterns->items, struct pattern) {
        if (pattern->literal || !is_for(pattern, module))
            continue;
        for (size_t i = 0; i < forms->count; i++)
            if (fnmatch(pattern->name, forms->text[i], 0) == 0 ||
                strcmp(pattern->name, forms->text[i]) == 0) {
                matched = answer(pattern);
                break;
            }
    }
    return matched;
}

bool patterns__match(struct patterns *patterns, const struct pattern_module *module,
                     const char *symbol, bool *exact)
{
    struct forms forms;
    make_forms(&forms, symbol);
    bool matched = *exact = match_literals(patterns, module, symbol);
    for (size_t i = 1; i < forms.count; i++)
        matched |= match_literals(patterns, module, forms.text[i]);
    if (patterns->glob_count)
        matched |= match_globs(patterns, module, &forms);
    free_forms(&forms);
    return matched;
}

void pattern__offer(const struct pattern *pattern, const struct pattern_module *module,
                    const char *symbol, struct nearest *nearest, char **kept)
{
    struct forms forms;
    if (!is_for(pattern, module))
        return;
    make_forms(&forms, symbol);
    for (size_t i = 0; i < forms.count; i++) {
        nearest__offer(nearest, forms.text[i]);
        if (nearest->word != forms.text[i])
            continue;
        free(*kept);
        nearest->word = *kept = memory__text(forms.text[i]);
    }
    free_forms(&forms);
}

bool symbol__is_cold(const char *symbol)
{
    const char *at = strstr(symbol, ".cold");
    return at && at != symbol && (at[5] == 0 || at[5] == '.');
}
