/* plan_calls.c: calls the functions of plan_functions.c and plan_asm.S, of which the planner's unit
 * tests make plans, in a program that heurt records. */
#include "../../programs/plan_functions.h"
#include "known.h"

enum { CALLS = 10 };

struct subject {
    const char *name;
    int (*function)(int n);
    const char *reason; /* why it may be refused, or NULL */
};

int r_loop_entry(int n);
int r_loop_endbr(int n);
int r_inner_jump(int n);
int r_foreign_jump(int n);
int r_foreign_address(int n);
int r_too_short(int n);
int r_no_unwind(int n);
int r_cycle(int n);
int r_chosen(int n);
int r_return_read(int n);
int x_behind(int n);

#define SUBJECT(name) {#name, name, NULL},
static const struct subject plain[] = {
    PLAN_ASM(SUBJECT) /* with n alone */
    SUBJECT(ok_add) SUBJECT(ok_locks) SUBJECT(ok_exchanges) SUBJECT(ok_switch) SUBJECT(ok_locals)
        SUBJECT(ok_variable_array) SUBJECT(ok_aligned) SUBJECT(ok_calls_many) SUBJECT(ok_tail)
            SUBJECT(ok_double){"may_goto", may_goto, "jumps into its first"},
    {"r_loop_entry", r_loop_entry, "loop begins at its first"},
    {"r_loop_endbr", r_loop_endbr, "loop begins at its first"},
    {"r_inner_jump", r_inner_jump, "jumps into its first"},
    {"r_foreign_jump", r_foreign_jump, "jumps into its first"},
    {"r_foreign_address", r_foreign_address, "jumps into its first"},
    {"r_too_short", r_too_short, "shorter than"},
    {"r_no_unwind", r_no_unwind, "no unwind information"},
    {"x_behind", x_behind, "jumps into its first|shorter than"},
};
static const struct subject stacked[] = {PLAN_ASM_STACKED(SUBJECT) PLAN_ASM_RETURN_SLOT(SUBJECT)};

/* How often all calls of the functions above call or jump to each of these. */
static const struct {
    const char *name;
    int calls;
} called_by_others[] = {
    /* a_tail, a_calls, a_call_near, _first, _prefixed, _rip; all s_call_; p_tail_unknown, _virtual
     */
    {"a_plain", (6 + 6 + 2) * CALLS},
    {"a_call_itself", CALLS *(CALLS - 1) / 2},
    {"ok_add", CALLS + 1}, /* ok_tail, once ok_switch */
    {"p_read", CALLS},     /* p_tail_stack */
};

static int also_called(const char *name)
{
    for (size_t i = 0; i < sizeof called_by_others / sizeof *called_by_others; i++)
        if (strcmp(called_by_others[i].name, name) == 0)
            return called_by_others[i].calls;
    return 0;
}

static void tell(const struct subject *subject)
{
    known__count(subject->name, CALLS + also_called(subject->name));
    if (subject->reason)
        known__refusable(subject->name, subject->reason);
}

static void call_plain(const struct subject *subject)
{
    if (strcmp(subject->name, "a_alias") == 0)
        return;                                           /* one function with two names */
    int first = strncmp(subject->name, "r_loop", 6) == 0; /* these count down to 0 */
    printf("%s:", subject->name);
    for (int n = first; n < first + CALLS; n++) {
        int result = subject->function(n);
        printf(" %d", first ? 0 : result); /* these add to what eax happens to hold */
    }
    printf("\n");
    tell(subject);
}

static void call_with_stack(const struct subject *subject)
{
    printf("%s:", subject->name);
    for (int n = 0; n < CALLS; n++)
        printf(" %d", call_stacked(n, subject->function));
    printf("\n");
    tell(subject);
}

static void call_others(void)
{
    printf("others:");
    for (int n = 0; n < CALLS; n++)
        printf(" %d %d %d %d %d %d", call_seven(n), call_forward_seven(n), call_big(n),
               call_variadic(n), ok_recursive(n), r_chosen(n));
    for (int n = 0; n < CALLS; n++)
        printf(" %d %d", no_caller(n) == no_caller(n), r_return_read(n) == r_return_read(n));
    printf("\n");
    known__count("pop_seven", 3 * CALLS); /* also by ok_calls_many and pop_forward_seven */
    known__count("pop_forward_seven", CALLS);
    known__refusable("pop_forward_seven", "shorter than"); /* no more than a jump, with -Os */
    known__count("pop_big", CALLS);
    known__count("pop_variadic", 2 * CALLS); /* also by ok_calls_many */
    known__count("r_chosen_plain", CALLS);
    known__count("x_caller_offset", CALLS);
    known__refusable("x_caller_offset", "return address");
    known__count("x_fallen_to", CALLS);
    known__count("no_caller", 2 * CALLS);
    known__refusable("no_caller", "return address");
    known__count("r_return_read", 2 * CALLS);
    known__refusable("r_return_read", "return address");
}

/* They jump to each other: how many of these jumps are calls is a matter of taste. */
static void call_cycle(void)
{
    printf("cycle:");
    for (int n = 0; n < CALLS; n++)
        printf(" %d", r_cycle(n));
    printf("\n");
}

int main(void)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        call_plain(&plain[i]);
    for (size_t i = 0; i < sizeof stacked / sizeof *stacked; i++)
        call_with_stack(&stacked[i]);
    call_others();
    call_cycle();
    return 0;
}
