#include "analysis/callsite/rules.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

/* Where the parameters of a demangled name begin: the '(' of its last ')' that is not in a name
 * such as "(anonymous namespace)::f" or "operator()". NULL: none. */
static const char *parameters_of(const char *function)
{
    const char *at = strrchr(function, ')');
    for (int depth = 0; at && at >= function; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0)
            return at > function ? at : NULL;
    }
    return NULL;
}

bool rule__matches(const char *pattern, const char *function)
{
    if (matches(pattern, function))
        return true;
    const char *parameters = parameters_of(function);
    if (!parameters)
        return false;
    char *plain = memory__text(function);
    plain[parameters - function] = 0;
    bool found = matches(pattern, plain);
    free(plain);
    return found;
}

bool rule__is_thread(const char *pattern, const struct trace_thread *thread)
{
    char *end;
    bool is_serial = *pattern == '#';
    const char *digits = pattern + is_serial;
    unsigned long number = strtoul(digits, &end, 10);
    if (*digits && !*end && number == (is_serial ? thread->serial : thread->tid))
        return true;
    return matches(pattern, thread->name);
}

int rule__find_thread(const char *pattern, const struct trace *trace, struct error *error)
{
    struct nearest nearest = nearest__to(pattern ? pattern : "");
    VEC_EACH (thread, trace__threads(trace), struct trace_thread) {
        if (!pattern || rule__is_thread(pattern, thread))
            return 0;
        nearest__offer(&nearest, thread->name);
    }
    if (!pattern)
        return 0;
    char *question = nearest__question(&nearest);
    error__set(error, -ENOENT,
               "no thread of this trace has the number or the name %s%s heurt report lists its "
               "threads",
               pattern, *question ? question : ";");
    free(question);
    return -ENOENT;
}

/* Whether a function that stands at the address, inlined calls included, is meant. */
static bool stands_at(const char *pattern, const struct symbols *symbols, uint32_t process,
                      uint64_t address)
{
    const struct symbol *symbol = symbols__get(symbols, process, address);
    for (; symbol; symbol = symbol->inlined_by)
        if (rule__matches(pattern, symbol->function))
            return true;
    return false;
}

static bool is_called_from(const char *pattern, const struct symbols *symbols,
                           const struct class_definition *what)
{
    if (!symbols)
        return false;
    if (stands_at(pattern, symbols, what->at.process, what->at.site))
        return true;
    VEC_EACH (stack, &what->stacks, struct profile_stack)
        for (size_t i = 0; i < stack->frame_count; i++)
            if (stands_at(pattern, symbols, stack->process, stack->frames[i]))
                return true;
    return false;
}

bool rules__ignore(const struct vec *rules, const struct symbols *symbols,
                   const struct class_definition *what)
{
    if (!rules)
        return false;
    VEC_EACH (rule, rules, struct profile_rule)
        if (rule->type == RULE_IGNORE && rule__matches(rule->function, what->at.function) &&
            (!rule->caller || is_called_from(rule->caller, symbols, what)))
            return true;
    return false;
}

bool rule_argument__next(const char **list, struct rule_argument *argument)
{
    if (!*list)
        return false;
    const char *start = *list + strspn(*list, ", ");
    size_t bytes = strcspn(start, ",");
    *list = start + bytes;
    while (bytes && start[bytes - 1] == ' ')
        bytes--;
    *argument = (struct rule_argument){start, bytes};
    return bytes > 0;
}

static bool same(const struct rule_argument *a, const struct rule_argument *b)
{
    return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* N of argN, 0 when it is another name. */
static unsigned number_of(const struct rule_argument *argument)
{
    if (argument->bytes < 4 || argument->bytes > 5 || memcmp(argument->text, "arg", 3) != 0)
        return 0;
    unsigned number = 0;
    for (size_t i = 3; i < argument->bytes; i++) {
        if (argument->text[i] < '0' || argument->text[i] > '9')
            return 0;
        number = number * 10 + (unsigned)(argument->text[i] - '0');
    }
    return number;
}

static unsigned recorded_count(const struct trace_function *function)
{
    uint32_t count = function->argument_count;
    return count < HEURT_ARGUMENTS_MAX ? count : HEURT_ARGUMENTS_MAX;
}

int rule_argument__place(const struct rule_argument *argument,
                         const struct trace_function *function)
{
    const char *list = function->argument_names;
    struct rule_argument recorded;
    unsigned count = recorded_count(function), place = 0;
    bool numbered = false;
    for (; place < count && rule_argument__next(&list, &recorded); place++) {
        if (same(argument, &recorded))
            return (int)place;
        numbered |= number_of(&recorded) != 0;
    }
    unsigned number = number_of(argument);
    return !numbered && number && number <= count ? (int)number - 1 : -1;
}

char *recorded_argument__name(const struct trace_function *function, unsigned place)
{
    const char *list = function->argument_names;
    struct rule_argument recorded;
    for (unsigned i = 0; rule_argument__next(&list, &recorded); i++) {
        if (i == place)
            return memory__format("%.*s", (int)recorded.bytes, recorded.text);
    }
    return memory__format("arg%u", place + 1);
}
