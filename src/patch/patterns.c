#include "patch/patterns.h"

#include "base/memory.h"
#include "symbol/name.h"

#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ----------------------------------------------------------------------------------- */

#define WORD_LEAST 5 /* shorter ones are in too many names */

/* What a demangler writes that is abbreviated in the name: types, parts of std, what things are. */
static bool is_demanglers(const char *word, size_t length)
{
    static const char *const own[] = {
        "__int128",       "__vector",         "alignof",       "allocator",    "anonymous",
        "basic_iostream", "basic_istream",    "basic_ostream", "basic_string", "char16_t",
        "char32_t",       "char8_t",          "char_traits",   "clone",        "complex",
        "const",          "const_cast",       "construction",  "covariant",    "decltype",
        "default",        "delete",           "double",        "dynamic_cast", "false",
        "float",          "function",         "global",        "guard",        "hidden",
        "imaginary",      "instance",         "iostream",      "isize",        "istream",
        "keyed",          "lambda",           "namespace",     "noexcept",     "nullptr",
        "nullptr_t",      "object",           "operator",      "ostream",      "parameter",
        "reference",      "reinterpret_cast", "restrict",      "return",       "short",
        "signed",         "sizeof",           "static_cast",   "string",       "structured",
        "template",       "temporary",        "throw",         "thunk",        "transaction",
        "typeid",         "typeinfo",         "typename",      "unnamed",      "unsigned",
        "usize",          "variable",         "virtual",       "volatile",     "vtable",
        "wchar_t",        "wrapper",
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == length && strncmp(own[i], word, length) == 0)
            return true;
    return false;
}

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The longest that is the program's own. */
static char *word_of(const char *name)
{
    const char *best = NULL;
    size_t best_length = WORD_LEAST - 1;
    for (const char *at = name; *at;) {
        size_t length = 0;
        while (is_of_word(at[length]))
            length++;
        bool is_name = length > best_length && !(*at >= '0' && *at <= '9');
        if (is_name && !is_demanglers(at, length)) {
            best = at;
            best_length = length;
        }
        at += length ? length : 1;
    }
    return best ? memory__format("%.*s", (int)best_length, best) : NULL;
}

/* ---- patterns -------------------------------------------------------------------------------- */

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
    pattern.word = pattern.literal ? word_of(pattern.name) : NULL;
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
        free(pattern->word);
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

static bool is_mangled(const char *symbol)
{
    return symbol[0] == '_' &&
           (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'D' || symbol[1] == '_');
}

static void make_forms(struct forms *forms, const char *symbol)
{
    *forms = (struct forms){0};
    add_form(forms, memory__text(symbol));
    char *readable = is_mangled(symbol) ? symbol_name__demangle(symbol) : NULL;
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

/* Whether what a mangled symbol means could be asked for. */
static bool may_be_meant(const struct patterns *patterns, const char *symbol)
{
    if (patterns->glob_count)
        return true;
    VEC_EACH (pattern, &patterns->items, struct pattern)
        if (!pattern->word || strstr(symbol, pattern->word))
            return true;
    return false;
}

bool patterns__match(struct patterns *patterns, const struct pattern_module *module,
                     const char *symbol, bool *exact)
{
    struct forms forms;
    if (is_mangled(symbol) && !strpbrk(symbol, ".@") && !may_be_meant(patterns, symbol))
        return *exact = match_literals(patterns, module, symbol);
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
