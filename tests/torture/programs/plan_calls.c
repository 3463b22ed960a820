/* plan_calls.c: calls the functions of plan_functions.c and plan_asm.S, of which the planner's unit
 * tests make plans, in a program that heurt records. */
#include "../../programs/plan_functions.h"
#include "known.h"

enum { CALLS = 10 };

struct subject {
    const char *name;
    int (*function)(int n);
    const char *reason; /* why it may be refused, or NULL */
    int also;           /* calls by others than main */
};

int r_stack_read(long a, ...);
int r_stack_indexed(long a, ...);
int r_stack_address(long a, ...);
int r_stack_frame(long a, ...);
int r_stack_framed_rsp(long a, ...);
int r_stack_copy(long a, ...);
int r_tail_stack(long a, ...);
int r_falls_through(long a, ...);
int r_loop_entry(int n);
int r_loop_endbr(int n);
int r_inner_jump(int n);
int r_foreign_jump(int n);
int r_foreign_address(int n);
int r_call_first(int n);
int r_short_loop(int n);
int r_too_short(int n);
int r_no_unwind(int n);
int r_cycle(int n);
int r_chosen(int n);
int r_tail_unknown(int n, int (*next)(int));
int r_tail_virtual(void *object);
int r_return_read(int n);
int x_behind(int n);

static const struct subject plain[] = {
#define ASSEMBLED(name) {#name, name, NULL, 0},
    PLAN_ASM(ASSEMBLED)
#undef ASSEMBLED
        {"r_loop_entry", r_loop_entry, "loop begins at its first", 0},
    {"r_loop_endbr", r_loop_endbr, "loop begins at its first", 0},
    {"r_inner_jump", r_inner_jump, "jumps into its first", 0},
    {"r_foreign_jump", r_foreign_jump, "jumps into its first", 0},
    {"r_foreign_address", r_foreign_address, "jumps into its first", 0},
    {"r_call_first", r_call_first, NULL, 0},
    {"r_short_loop", r_short_loop, NULL, 0},
    {"r_too_short", r_too_short, "shorter than", 0},
    {"r_no_unwind", r_no_unwind, "no unwind information", 0},
    {"x_behind", x_behind, "jumps into its first|shorter than", 0},
    {"ok_add", ok_add, NULL, CALLS + 1}, /* by ok_tail, once by ok_switch */
    {"ok_switch", ok_switch, NULL, 0},
    {"ok_locals", ok_locals, NULL, 0},
    {"ok_variable_array", ok_variable_array, NULL, 0},
    {"ok_aligned", ok_aligned, NULL, 0},
    {"ok_calls_many", ok_calls_many, NULL, 0},
    {"ok_tail", ok_tail, NULL, 0},
    {"ok_double", ok_double, NULL, 0},
    {"may_goto", may_goto, "jumps into its first", 0},
};

/* With seven arguments, the seventh on the stack. */
static const struct {
    const char *name;
    int (*function)(long a, ...);
    int also;
} stacked[] = {
    {"r_stack_read", r_stack_read, CALLS}, /* by r_tail_stack */
    {"r_stack_indexed", r_stack_indexed, 0}, {"r_stack_address", r_stack_address, 0},
    {"r_stack_frame", r_stack_frame, 0},     {"r_stack_framed_rsp", r_stack_framed_rsp, 0},
    {"r_stack_copy", r_stack_copy, 0},       {"r_tail_stack", r_tail_stack, 0},
    {"r_falls_through", r_falls_through, 0},
};

static int also_called(const char *name)
{
    if (strcmp(name, "a_plain") == 0)
        return 6 * CALLS; /* a_tail, a_calls, r_call_first, r_tail_unknown, r_tail_virtual; main */
    return 0;
}

static void call_plain(void)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const struct subject *subject = &plain[i];
        if (strcmp(subject->name, "a_alias") == 0)
            continue; /* one function with two names */
        printf("%s:", subject->name);
        int first = strncmp(subject->name, "r_loop", 6) == 0; /* these count down to 0 */
        for (int n = first; n < first + CALLS; n++)
            printf(" %d", subject->function(n));
        printf("\n");
        known__count(subject->name, CALLS + subject->also + also_called(subject->name));
        if (subject->reason)
            known__refusable(subject->name, subject->reason);
    }
}

static void call_stacked(void)
{
    for (size_t i = 0; i < sizeof stacked / sizeof *stacked; i++) {
        printf("%s:", stacked[i].name);
        for (long n = 0; n < CALLS; n++)
            printf(" %d", stacked[i].function(n % 2, 1L, 2L, 3L, 4L, 5L, 60 + n, 70 + n));
        printf("\n");
        known__count(stacked[i].name, CALLS + stacked[i].also);
    }
}

static void call_unknown_tails(void)
{
    void *table[3] = {NULL, NULL, (void *)(uintptr_t)a_plain};
    void *object = table;
    printf("unknown tails:");
    for (int n = 0; n < CALLS; n++) {
        printf(" %d", r_tail_unknown(n, a_plain));
        r_tail_virtual(&object);
        a_plain(n);
    }
    printf("\n");
    known__count("r_tail_unknown", CALLS);
    known__count("r_tail_virtual", CALLS);
}

static void call_others(void)
{
    struct big big = {{1, 2, 3}};
    printf("others:");
    for (int n = 0; n < CALLS; n++)
        printf(" %d %d %d %d %d %d", no_seven(n, 2, 3, 4, 5, 6, 7),
               no_forward_seven(n, 2, 3, 4, 5, 6, 7), no_big(big), no_variadic(2, n, n),
               ok_recursive(n), r_chosen(n));
    for (int n = 0; n < CALLS; n++)
        printf(" %d %d", no_caller(n) == no_caller(n), r_return_read(n) == r_return_read(n));
    printf("\n");
    known__count("no_seven", 3 * CALLS); /* also by ok_calls_many and no_forward_seven */
    known__count("no_forward_seven", CALLS);
    known__count("no_big", CALLS);
    known__count("no_variadic", 2 * CALLS); /* also by ok_calls_many */
    known__count("r_chosen_plain", CALLS);
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
    call_plain();
    call_stacked();
    call_unknown_tails();
    call_others();
    call_cycle();
    return 0;
}
