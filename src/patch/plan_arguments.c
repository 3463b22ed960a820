#include "patch/plan_arguments.h"

#include "base/memory.h"
#include "patch/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chooser {
    const struct process_module *module;
    const struct info_function *function;
    struct argument_choice *choice;
    struct parameters parameters;
    bool asked, known; /* whether DWARF was asked, and knew the function */
};

static void refuse(struct chooser *chooser, const char *name, const char *reason)
{
    struct argument_refusal refusal = {memory__format("argument %s: %s", name, reason)};
    vec__push(&chooser->choice->refusals, &refusal);
}

static void take(struct chooser *chooser, const char *name, unsigned number)
{
    struct argument_choice *choice = chooser->choice;
    for (unsigned i = 0; i < choice->count; i++)
        if (choice->registers[i] == number)
            return;
    choice->registers[choice->count++] = (uint8_t)number;
    char *names =
        *choice->names ? memory__format("%s,%s", choice->names, name) : memory__text(name);
    free(choice->names);
    choice->names = names;
}

/* 0 to 5 for "arg1" to "arg6", else -1. */
static int number_of(const char *name)
{
    if (strncmp(name, "arg", 3) != 0 || name[3] < '1' || name[3] > '0' + HEURT_ARGUMENTS_MAX ||
        name[4])
        return -1;
    return name[3] - '1';
}

/* Follows the System V ABI from the first parameter to the one called name. */
static const char *locate(const struct parameters *parameters, const char *name, unsigned *number)
{
    if (parameters->altered)
        return "the compiler has changed the parameters of this function; ask for arg1 to arg6";
    if (parameters->result == RESULT_UNKNOWN)
        return "how the result is returned is not known, so its place is not either";
    unsigned next = parameters->result == RESULT_IN_MEMORY;
    bool lost = false;
    VEC_EACH (parameter, &parameters->items, struct parameter) {
        bool is_meant = parameter->name && strcmp(parameter->name, name) == 0;
        lost |= parameter->class == PARAMETER_OTHER;
        if (is_meant && parameter->class == PARAMETER_FLOATING)
            return "it is a floating-point number; only integers and pointers are recorded";
        if (is_meant && parameter->class == PARAMETER_OTHER)
            return "it is neither an integer nor a pointer";
        if (is_meant && lost)
            return "a parameter before it is passed by value, so its register is not known";
        if (is_meant && next >= HEURT_ARGUMENTS_MAX)
            return "it is passed on the stack";
        if (is_meant) {
            *number = next;
            return NULL;
        }
        next += parameter->class == PARAMETER_INTEGER;
    }
    return "the function has no parameter of this name";
}

static bool read_parameters(struct chooser *chooser)
{
    struct function_info *info = chooser->module->info;
    const struct code_file *file = function_info__file(info);
    const struct info_function *first = info->functions.items;
    return file &&
           parameters__read(
               file, VEC_AT(&file->functions, struct code_function, chooser->function - first),
               &chooser->parameters);
}

static void choose_by_debug_info(struct chooser *chooser, const char *name)
{
    unsigned number;
    if (!chooser->asked)
        chooser->known = read_parameters(chooser);
    chooser->asked = true;
    const char *reason = chooser->known
                             ? locate(&chooser->parameters, name, &number)
                             : "there is no debug information that names it; ask for arg1 to arg6";
    if (reason)
        refuse(chooser, name, reason);
    else
        take(chooser, name, number);
}

static void choose_names(struct chooser *chooser, const char *names)
{
    char *copy = memory__text(names), *rest = copy, *name;
    while ((name = strsep(&rest, ","))) {
        int number = number_of(name);
        if (number >= 0)
            take(chooser, name, (unsigned)number);
        else if (*name)
            choose_by_debug_info(chooser, name);
    }
    free(copy);
}

static bool is_meant(const struct chooser *chooser, struct patterns *patterns)
{
    bool meant = false, exact;
    for (size_t i = 0; i < chooser->function->name_count && !meant; i++)
        meant = patterns__match(patterns, &chooser->module->name,
                                function_info__name(chooser->module->info, chooser->function, i),
                                &exact);
    return meant;
}

void arguments__choose(const struct vec *requests, const struct process_module *module,
                       const struct info_function *function, struct argument_choice *choice)
{
    struct chooser chooser = {.module = module, .function = function, .choice = choice};
    choice->names = memory__text("");
    VEC_EACH (request, requests, struct argument_request)
        if (is_meant(&chooser, &request->patterns))
            choose_names(&chooser, request->names);
    if (chooser.known)
        vec__free(&chooser.parameters.items);
}

void argument_requests__start(struct vec *requests, const struct vec *arguments)
{
    *requests = VEC_OF(struct argument_request);
    VEC_EACH (arguments_of, arguments, struct plan_arguments) {
        struct argument_request *request = vec__push(requests, NULL);
        request->names = arguments_of->names;
        patterns__start(&request->patterns);
        patterns__add(&request->patterns, arguments_of->function);
    }
}

void argument_requests__free(struct vec *requests)
{
    VEC_EACH (request, requests, struct argument_request)
        patterns__free(&request->patterns);
    vec__free(requests);
}
