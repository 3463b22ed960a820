/* plan_functions.h: what plan_functions.c and plan_asm.S hold. */
#ifndef HEURT_TESTS_PLAN_FUNCTIONS_H
#define HEURT_TESTS_PLAN_FUNCTIONS_H

struct big {
    int values[10];
};

int ok_add(int a);
int ok_locks(int a);
int ok_exchanges(int a);
int ok_recursive(int n);
int ok_switch(int n);
int may_goto(int n);
int ok_locals(int n);
int ok_variable_array(int n);
int ok_aligned(int n);
int ok_calls_many(int n);
int ok_tail(int n);
int ok_double(int n);
int no_seven(int a, int b, int c, int d, int e, int f, int g);
int no_forward_seven(int a, int b, int c, int d, int e, int f, int g);
int no_big(struct big big);
int no_variadic(int count, ...);
int no_caller(int n);
int call_through(int n);

/* clang-format off */
#define PLAN_ASM(X)                                                                         \
    X(a_plain)                                                                              \
    X(a_rip_load)                                                                           \
    X(a_rip_immediate) X(a_rip_lea) X(a_branch_short) X(a_branch_near) X(a_branch_parity)   \
        X(a_jump_short) X(a_jump_near) X(a_push) X(a_frame) X(a_short) X(a_endbr) X(a_nops) \
            X(a_tail) X(a_red_zone) X(a_loop_later) X(a_table) X(a_calls) X(a_alias)
/* clang-format on */

#define DECLARE(name) int name(int n);
PLAN_ASM(DECLARE)
#undef DECLARE

#endif
