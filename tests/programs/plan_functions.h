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
int pop_seven(int a, int b, int c, int d, int e, int f, int g);
int pop_forward_seven(int a, int b, int c, int d, int e, int f, int g);
int pop_big(struct big big);
int pop_variadic(int count, ...);
int no_caller(int n);
int call_through(int n);
int call_seven(int n);
int call_forward_seven(int n);
int call_big(int n);
int call_variadic(int n);

/* In plan_asm.S: what is called finds n on the stack, too. */
int call_stacked(int n, int (*function)(int n));
void return_slot_stub(void);

/* clang-format off */
#define PLAN_ASM(X)                                                                             \
    X(a_plain) X(a_rip_load) X(a_rip_immediate) X(a_rip_lea) X(a_branch_short) X(a_branch_near) \
    X(a_branch_parity) X(a_jump_short) X(a_jump_near) X(a_push) X(a_frame) X(a_short)           \
    X(a_endbr) X(a_nops) X(a_tail) X(a_red_zone) X(a_loop_later) X(a_table) X(a_calls)          \
    X(a_alias) X(a_call_near) X(a_call_first) X(a_call_prefixed) X(a_call_rip) X(a_call_back)   \
    X(a_call_itself) X(a_jrcxz) X(a_jecxz) X(a_jecxz_first) X(a_loop)                          \
    X(a_narrow_address) X(a_skips_prefix)
#define PLAN_ASM_STACKED(X)                                                                     \
    X(s_call_register) X(s_call_high_register) X(s_call_memory) X(s_call_indexed)               \
    X(s_call_stack) X(s_call_deep_stack) X(s_loopne) X(s_loope)
#define PLAN_ASM_RETURN_SLOT(X)                                                                      \
    X(p_read) X(p_write) X(p_indexed) X(p_address) X(p_drap) X(p_frame) X(p_framed_rsp)         \
    X(p_copy) X(p_return_slot) X(p_saves_rbx) X(p_tail_stack) X(p_falls_through) X(p_tail_unknown)   \
    X(p_tail_virtual)
/* clang-format on */

#define DECLARE(name) int name(int n);
PLAN_ASM(DECLARE)
PLAN_ASM_STACKED(DECLARE)
PLAN_ASM_RETURN_SLOT(DECLARE)
#undef DECLARE

#endif
