/* plan_arguments.h: which registers hold the arguments that the user asked for.
 *
 * In go the requests and a function, out come registers by name, or refusals. It costs one match
 * for each request, and a walk of the function's DIE where names are asked for. It stands on
 * parameters.h and patterns.h. */
#ifndef HEURT_PATCH_PLAN_ARGUMENTS_H
#define HEURT_PATCH_PLAN_ARGUMENTS_H

#include "format/layout.h"
#include "patch/patterns.h"
#include "patch/plan.h"
#include "patch/process_image.h"

struct argument_refusal {
    char *reason; /* owned by whoever empties the vec */
};

struct argument_choice {
    char *names; /* joined by ','; owned by the caller */
    uint8_t count;
    uint8_t registers[HEURT_ARGUMENTS_MAX];
    struct vec refusals; /* struct argument_refusal */
};

/* One struct plan_arguments, ready for matching. */
struct argument_request {
    struct patterns patterns; /* the one pattern */
    const char *names;
};

/* From struct plan_arguments to struct argument_request; the texts must outlive these. */
void argument_requests__start(struct vec *requests, const struct vec *arguments);
void argument_requests__free(struct vec *requests);

/* Chooses what requests (struct argument_request) want of the function; later ones add to earlier
 * ones. "arg1" to "arg6" are the integer registers in order; other names are looked up in DWARF. */
void arguments__choose(const struct vec *requests, const struct process_module *module,
                       const struct info_function *function, struct argument_choice *choice);

#endif
