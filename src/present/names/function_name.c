/* Names of functions as a first screen shows them; the whole name is in the class's own view. */
#include "base/memory.h"
#include "present/shared.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WITH_PARAMETERS_AT_MOST 48 /* columns */

static void replace_all(char *text, const char *from, const char *to)
{
    size_t from_bytes = strlen(from), to_bytes = strlen(to); /* to is not longer */
    for (char *at = text; (at = strstr(at, from)); at += to_bytes) {
        memcpy(at, to, to_bytes);
        memmove(at + to_bytes, at + from_bytes, strlen(at + from_bytes) + 1);
    }
}

/* Marks of copies: f.constprop.0, f.isra.0.part.1, f.cold; of what compilers make of OpenMP's
 * constructs: f._omp_fn.0, f.omp_outlined; demangled: f(int) [clone .part.0]
 */
static void cut_copies(char *text)
{
    static const char *const marks[] = {".constprop.", ".isra.", ".part.", ".cold",
                                        "._omp_fn.",   ".omp_",  ".omp."};
    char *clone = strstr(text, " [clone .");
    if (clone && clone > text)
        *clone = 0;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char *at = strstr(text, marks[i]);
        if (at && at > text && !strpbrk(at, "(<: "))
            *at = 0;
    }
}

/* The '(' that opens the parameters at the end of a name, or NULL: "f(a, g(b)) const" */
static char *parameters(char *text)
{
    char *end = strrchr(text, ')');
    if (!end || (end[1] && strcmp(end + 1, " const") != 0))
        return NULL;
    int depth = 0;
    for (char *at = end; at > text; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Whether a bracket is no part of an operator's name or of an arrow. */
static bool is_bracket(const char *text, const char *at)
{
    const char *first = at > text && at[-1] == *at ? at - 1 : at; /* of "<<", ">>" */
    bool is_operator = first - text >= 8 && strncmp(first - 8, "operator", 8) == 0;
    return !is_operator && (*at == '<' || (*at == '>' && at > text && at[-1] != '-'));
}

/* "map<...>::find": without template arguments. Takes over text. */
static char *without_templates(char *text)
{
    char *cut = memory__zeroed(strlen(text) + 1, 5), *to = cut;
    int depth = 0;
    for (const char *at = text; *at; at++) {
        bool closes = depth > 0 && *at == '>' && is_bracket(text, at);
        bool opens = *at == '<' && is_bracket(text, at);
        depth -= closes;
        if (depth == 0 && opens)
            to = stpcpy(to, "<...");
        else if (depth == 0)
            *to++ = *at;
        depth += opens;
    }
    free(text);
    return cut;
}

/* "draw(int)::{lambda()#1}::operator()": without the parameters of the function around. */
static void cut_inner_parameters(char *text)
{
    static const char anonymous[] = "(anonymous namespace)";
    int braces = 0;
    for (char *at = text; *at; at++) {
        braces += *at == '{';
        braces -= *at == '}';
        if (*at != '(' || braces || strncmp(at, anonymous, sizeof anonymous - 1) == 0)
            continue;
        char *end = at;
        int depth = 0;
        for (; *end; end++) {
            depth += *end == '(';
            depth -= *end == ')';
            if (!depth)
                break;
        }
        if (*end && strncmp(end + 1, "::", 2) == 0 && at > text)
            memmove(at, end + 1, strlen(end + 1) + 1);
        else
            at = *end ? end : end - 1;
    }
}

/* Names of templates begin with what they return. "vtable for x" begins with what it is. */
static void cut_return(char *text)
{
    char *blank = NULL;
    int depth = 0;
    for (char *at = text; *at && strncmp(at, "operator", strlen("operator")) != 0; at++) {
        if (depth == 0 && *at == '(' && at > text && at[-1] != ' ')
            break;
        blank = depth == 0 && *at == ' ' ? at : blank;
        depth += strchr("<({[", *at) != NULL;
        depth -= strchr(">)}]", *at) != NULL;
    }
    bool is_word = blank && blank - text > 3 &&
                   (strncmp(blank - 3, "for", 3) == 0 || strncmp(blank - 3, " to", 3) == 0);
    if (blank && !is_word && strchr(blank, '<'))
        memmove(text, blank + 1, strlen(blank));
}

char *function__short(const char *function)
{
    char *text = memory__text(function);
    replace_all(text,
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string");
    replace_all(text, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
                "std::string");
    replace_all(text, "std::string >", "std::string>");
    cut_copies(text);
    cut_return(text);
    char *open = text__width(text) > WITH_PARAMETERS_AT_MOST ? parameters(text) : NULL;
    if (open && open > text)
        *open = 0;
    if (text__width(text) > WITH_PARAMETERS_AT_MOST)
        text = without_templates(text);
    if (text__width(text) > WITH_PARAMETERS_AT_MOST)
        cut_inner_parameters(text);
    for (size_t bytes = strlen(text); bytes && text[bytes - 1] == ' ';)
        text[--bytes] = 0;
    return text;
}

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

/* Of a name without parameters: where its last two parts begin, behind what it returns. */
static const char *last_parts(const char *text)
{
    const char *last = text, *before = text; /* the last part, and the one before it */
    int depth = 0;
    for (const char *at = text; *at && strncmp(at, "operator", strlen("operator")) != 0; at++) {
        depth += strchr("<({", *at) != NULL;
        depth -= strchr(">)}", *at) != NULL;
        if (depth == 0 && *at == ' ')
            last = before = at + 1;
        if (depth == 0 && at[0] == ':' && at[1] == ':') {
            before = last;
            last = at + 2;
        }
    }
    return before;
}

/* "lambda in pool" of "pool::pool(int)::{lambda()#1}::operator()() const"; NULL: it is none. */
static char *lambda_in(const char *name)
{
    static const char begin[] = "::{lambda(";
    const char *lambda = NULL;
    for (const char *at = name; (at = strstr(at, begin)); at++)
        lambda = at;
    if (!lambda || lambda == name)
        return NULL;
    char *outer = memory__format("%.*s", (int)(lambda - name), name), *bare = function__bare(outer);
    const char *last = strrchr(bare, ':');
    char *text = memory__format("lambda in %s", last ? last + 1 : bare);
    free(bare);
    free(outer);
    return text;
}

char *function__bare(const char *function)
{
    char *name = function__short(function), *lambda = lambda_in(name);
    if (lambda) {
        free(name);
        return lambda;
    }
    char *open = ends_with(name, "operator()") ? NULL : parameters(name);
    if (open && open > name)
        *open = 0;
    char *bare = memory__text(last_parts(name));
    free(name);
    return bare;
}
