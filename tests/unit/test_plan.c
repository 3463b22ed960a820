/* Plans are made for this very program, applied to it as the runtime will, and its functions called
 * again: what a moved function returns must be what it returned before. Built in several forms, see
 * meson.build; the functions are in tests/programs. */
#include "../programs/plan_functions.h"
#include "base/memory.h"
#include "patch/denylist.h"
#include "patch/parameters.h"
#include "patch/patterns.h"
#include "patch/plan.h"
#include "symbol/name.h"

#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char self_path[4096];

static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the first is the program itself */
}

static struct trace_module self_module(void)
{
    struct trace_module module = {.path = self_path};
    dl_iterate_phdr(take_bias, &module.bias);
    ssize_t length = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    assert_true(length > 0);
    self_path[length] = 0;
    return module;
}

struct asked {
    struct plan_request request;
};

static void ask(struct asked *asked)
{
    asked->request =
        (struct plan_request){VEC_OF(char *), VEC_OF(char *), VEC_OF(struct plan_arguments), NULL};
}

static void ask_function(struct asked *asked, const char *pattern)
{
    vec__push(&asked->request.functions, &pattern);
}

static void ask_module(struct asked *asked, const char *glob)
{
    vec__push(&asked->request.modules, &glob);
}

static void ask_arguments(struct asked *asked, const char *function, const char *names)
{
    struct plan_arguments arguments = {(char *)(uintptr_t)function, (char *)(uintptr_t)names};
    vec__push(&asked->request.arguments, &arguments);
}

static struct plan *answer(struct asked *asked, const struct trace_module *modules, size_t count)
{
    struct plan *plan = NULL;
    struct error error;
    assert_int_equal(plan__make(&asked->request, modules, count, &plan, &error), 0);
    vec__free(&asked->request.functions);
    vec__free(&asked->request.modules);
    vec__free(&asked->request.arguments);
    return plan;
}

static struct plan *plan_of_self(const char *pattern)
{
    struct trace_module module = self_module();
    struct asked asked;
    ask(&asked);
    ask_function(&asked, pattern);
    return answer(&asked, &module, 1);
}

static const struct planned_function *planned(const struct plan *plan, const char *name)
{
    VEC_EACH (function, &plan->functions, struct planned_function)
        if (strcmp(function->name, name) == 0)
            return function;
    return NULL;
}

static const char *refused(const struct plan *plan, const char *name)
{
    VEC_EACH (refusal, &plan->refusals, struct refused_function)
        if (strcmp(refusal->function, name) == 0)
            return refusal->reason;
    VEC_EACH (refusal, &plan->unmatched, struct refused_function)
        if (strcmp(refusal->function, name) == 0)
            return refusal->reason;
    return NULL;
}

static void assert_refused(const struct plan *plan, const char *name, const char *part)
{
    const char *reason = refused(plan, name);
    if (!reason || !strstr(reason, part))
        fail_msg("%s: expected a refusal with \"%s\", got \"%s\"", name, part,
                 reason ? reason : "none");
    assert_null(planned(plan, name));
}

/* ---- applying plans as the runtime does ------------------------------------------------------ */

enum { STUB_BYTES = 256, AREA_BYTES = 1 << 16 };

struct area {
    uint8_t *code;
    size_t used;
    volatile uint32_t *hits; /* one a stub, within reach of it */
};

static uint8_t *map_near(uint64_t address)
{
    uint64_t page = address & ~0xfffull;
    for (uint64_t at = page + (1 << 24); at < page + (1u << 30); at += 1 << 20) {
        void *memory = mmap((void *)at, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory == (void *)at)
            return memory;
        if (memory != MAP_FAILED)
            munmap(memory, AREA_BYTES);
    }
    fail_msg("no memory near 0x%llx", (unsigned long long)address);
    return NULL;
}

static void put_distance(uint8_t *field, uint64_t target, uint64_t from)
{
    int64_t distance = (int64_t)(target - from);
    assert_true(distance == (int32_t)distance);
    int32_t value = (int32_t)distance;
    memcpy(field, &value, 4);
}

static uint8_t *copy_moved(struct area *area, const struct heurt_plan *plan)
{
    uint8_t *code = area->code + area->used;
    area->used += STUB_BYTES;
    memcpy(code, plan->code, plan->code_bytes);
    for (unsigned i = 0; i < plan->fixup_count; i++) {
        const struct heurt_plan_fixup *fixup = &plan->fixups[i];
        if (fixup->next == HEURT_FIXUP_ABSOLUTE) {
            memcpy(code + fixup->offset, &fixup->target, 8);
            continue;
        }
        put_distance(code + fixup->offset, fixup->target, (uint64_t)code + fixup->next);
    }
    return code;
}

/* inc dword [rip + hits]; sub rsp, 8; call moved; add rsp, 8; ret */
static uint8_t *make_stub(struct area *area, const uint8_t *moved, volatile uint32_t *hits)
{
    static const uint8_t text[] = {0xff, 0x05, 0, 0, 0, 0,    0x48, 0x83, 0xec, 0x08,
                                   0xe8, 0,    0, 0, 0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    uint8_t *stub = area->code + area->used;
    area->used += STUB_BYTES;
    memcpy(stub, text, sizeof text);
    put_distance(stub + 2, (uint64_t)hits, (uint64_t)stub + 6);
    put_distance(stub + 11, (uint64_t)moved, (uint64_t)stub + 15);
    return stub;
}

/* inc dword [rip + hits]; push qword [rip + moved]; jmp qword [rip + return_slot_stub] */
static uint8_t *make_return_slot_stub(struct area *area, const uint8_t *moved,
                                      volatile uint32_t *hits)
{
    static const uint8_t text[] = {0xff, 0x05, 0, 0,    0,    0, 0xff, 0x35, 6,
                                   0,    0,    0, 0xff, 0x25, 8, 0,    0,    0};
    void (*common)(void) = return_slot_stub;
    uint8_t *stub = area->code + area->used;
    area->used += STUB_BYTES;
    memcpy(stub, text, sizeof text);
    put_distance(stub + 2, (uint64_t)hits, (uint64_t)stub + 6);
    memcpy(stub + sizeof text, &moved, 8);
    memcpy(stub + sizeof text + 8, &common, 8);
    return stub;
}

static void apply(struct area *area, const struct heurt_plan *plan, volatile uint32_t *hits)
{
    uint8_t *entry = (uint8_t *)plan->address + plan->skip;
    assert_true(plan->moved >= HEURT_PATCH_BYTES && plan->moved <= sizeof plan->original);
    assert_true(plan->code_bytes <= HEURT_PLAN_CODE_MAX);
    assert_memory_equal(entry, plan->original, plan->moved);
    uint8_t *moved = copy_moved(area, plan);
    uint8_t *stub = plan->mechanism == HEURT_MECHANISM_RETURN_SLOT
                        ? make_return_slot_stub(area, moved, hits)
                        : make_stub(area, moved, hits);
    uint64_t page = (uint64_t)entry & ~0xfffull;
    assert_int_equal(mprotect((void *)page, 0x2000, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    entry[0] = 0xe9;
    put_distance(entry + 1, (uint64_t)stub, (uint64_t)entry + 5);
    assert_int_equal(mprotect((void *)page, 0x2000, PROT_READ | PROT_EXEC), 0);
}

/* ---- functions to run ------------------------------------------------------------------------ */

struct subject {
    const char *name;
    int (*volatile call)(int n);
};

#define STACKED(name)                 \
    static int stacked_##name(int n)  \
    {                                 \
        return call_stacked(n, name); \
    }
PLAN_ASM_STACKED(STACKED)
PLAN_ASM_RETURN_SLOT(STACKED)
#undef STACKED

#define SUBJECT(name) {#name, name},
#define STACKED_SUBJECT(name) {#name, stacked_##name},
static const struct subject assembled[] = {PLAN_ASM(SUBJECT)};
static const struct subject assembled_stacked[] = {PLAN_ASM_STACKED(STACKED_SUBJECT)};
static const struct subject assembled_return_slot[] = {PLAN_ASM_RETURN_SLOT(STACKED_SUBJECT)};
#undef SUBJECT
#undef STACKED_SUBJECT

static const struct subject compiled[] = {
    {"ok_add", ok_add},         {"ok_recursive", ok_recursive},
    {"ok_switch", ok_switch},   {"may_goto", may_goto},
    {"ok_locals", ok_locals},   {"ok_variable_array", ok_variable_array},
    {"ok_aligned", ok_aligned}, {"ok_calls_many", ok_calls_many},
    {"ok_tail", ok_tail},       {"ok_double", ok_double},
};

static const struct subject compiled_return_slot[] = {
    {"pop_seven", call_seven},
    {"pop_forward_seven", call_forward_seven},
    {"pop_big", call_big},
    {"pop_variadic", call_variadic},
};

enum { ROUNDS = 10, SUBJECTS_MAX = 48 };

static void call_all(const struct subject *subjects, size_t count, int results[][ROUNDS])
{
    for (size_t i = 0; i < count; i++)
        for (int n = 0; n < ROUNDS; n++)
            results[i][n] = subjects[i].call(n);
}

static volatile uint32_t *run_patched(const char *pattern, const struct subject *subjects,
                                      size_t count, enum heurt_mechanism mechanism)
{
    static int before[SUBJECTS_MAX][ROUNDS], after[SUBJECTS_MAX][ROUNDS];
    struct plan *plan = plan_of_self(pattern);
    struct area area = {.code = map_near((uint64_t)subjects[0].call)};
    area.hits = (volatile uint32_t *)area.code;
    area.used = 4096;
    call_all(subjects, count, before);
    for (size_t i = 0; i < count; i++) {
        const struct planned_function *function = planned(plan, subjects[i].name);
        bool depends = strncmp(subjects[i].name, "may_", 4) == 0; /* on the compiler */
        if (!function && depends)
            continue;
        if (!function)
            fail_msg("%s was refused: %s", subjects[i].name, refused(plan, subjects[i].name));
        assert_true(function->plan.mechanism == mechanism || depends);
        apply(&area, &function->plan, &area.hits[i]);
    }
    call_all(subjects, count, after);
    for (size_t i = 0; i < count; i++) {
        if (memcmp(before[i], after[i], sizeof before[i]) != 0)
            fail_msg("%s returns something else when moved", subjects[i].name);
        assert_true(!planned(plan, subjects[i].name) || area.hits[i] >= ROUNDS);
    }
    plan__free(plan);
    return area.hits;
}

#define RUN_PATCHED(pattern, subjects, mechanism) \
    run_patched(pattern, subjects, sizeof(subjects) / sizeof *(subjects), mechanism)

static void assembled_functions_run_moved(void **state)
{
    (void)state;
    volatile uint32_t *hits = RUN_PATCHED("a_*", assembled, HEURT_MECHANISM_FRAME);
    for (size_t i = 0; i < sizeof assembled / sizeof *assembled; i++)
        if (strcmp(assembled[i].name, "a_call_itself") == 0)
            assert_int_equal(hits[i], ROUNDS * (ROUNDS + 1) / 2); /* n + 1 in round n */
    RUN_PATCHED("s_*", assembled_stacked, HEURT_MECHANISM_FRAME);
}

static void assembled_functions_run_with_their_return_address_put_aside(void **state)
{
    (void)state;
    RUN_PATCHED("p_*", assembled_return_slot, HEURT_MECHANISM_RETURN_SLOT);
}

static void compiled_functions_run_moved(void **state)
{
    (void)state;
    RUN_PATCHED("[mo][ak]*_*", compiled, HEURT_MECHANISM_FRAME);
    RUN_PATCHED("pop_*", compiled_return_slot, HEURT_MECHANISM_RETURN_SLOT);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void what_cannot_be_proven_is_refused(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"r_stack_wide", "return address"},
        {"r_return_read", "return address"},
        {"r_return_address", "return address"},
        {"r_return_pop", "return address"},
        {"r_switch", "switches stacks"},
        {"r_no_unwind", "no unwind information"},
        {"r_unfit_unwind", "does not fit"},
        {"r_not_entered", "not entered by a call"},
        {"r_loop_entry", "loop begins at its first"},
        {"r_loop_endbr", "loop begins at its first"},
        {"r_inner_jump", "jumps into its first"},
        {"r_foreign_jump", "jumps into its first"},
        {"r_foreign_address", "jumps into its first"},
        {"r_table", "jumps into its first"},
        {"r_call_short", "a call among its first bytes"},
        {"r_narrow_rip", "32-bit addresses"},
        {"r_rbx_read", "does not keep the register rbx"},
        {"r_rbx_write", "does not keep the register rbx"},
        {"r_rbx_hidden", "does not keep the register rbx"},
        {"r_rbx_tail", "jump to r_rbx_write: it may take arguments on the stack, and does not"},
        {"r_tail_looks", "jump to r_return_read: it looks at its return address"},
        {"r_too_short", "shorter than"},
        {"r_not_code", "no instruction"},
        {"r_cycle", "to its beginning again"},
        {"r_no_size", "size is not known"},
        {"r_chosen", "IFUNC"},
        {"r_chosen", "r_chosen_plain"},
    };
    struct plan *plan = plan_of_self("r_*");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_refused(plan, expected[i][0], expected[i][1]);
    assert_non_null(planned(plan, "r_chosen_plain"));
    assert_int_equal(plan->functions.count, 1);
    plan__free(plan);
}

static void compiled_functions_that_look_at_their_caller_are_refused(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("no_*");
    assert_refused(plan, "no_caller", "return address");
    assert_int_equal(plan->functions.count, 0);
    plan__free(plan);
}

static void unwinders_that_would_not_find_return_slot_frames_are_minded(void **state)
{
    (void)state;
    const char *unwinder = getenv("PLAN_UNWINDER");
    struct trace_module modules[2] = {self_module(), {.path = unwinder ? unwinder : ""}};
    struct asked asked;
    ask(&asked);
    ask_function(&asked, "p_read");
    ask_function(&asked, "a_plain");
    struct plan *plan = answer(&asked, modules, 2);
    assert_refused(plan, "p_read", "LLVM's libunwind");
    assert_non_null(planned(plan, "a_plain"));
    plan__free(plan);
}

static void code_that_depends_on_its_place_is_fixed(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("a_*");
    assert_int_equal(planned(plan, "a_plain")->plan.address, (uint64_t)a_plain);
    assert_int_equal(planned(plan, "a_plain")->plan.fixup_count, 1);     /* the jump back */
    assert_int_equal(planned(plan, "a_call_near")->plan.fixup_count, 2); /* none */
    assert_int_equal(planned(plan, "a_rip_load")->plan.fixup_count, 2);
    assert_int_equal(planned(plan, "a_branch_short")->plan.fixup_count, 2);
    assert_int_equal(planned(plan, "a_branch_parity")->plan.fixup_count, 3);
    assert_int_equal(planned(plan, "a_jump_near")->plan.fixup_count, 1); /* no way back */
    assert_int_equal(planned(plan, "a_short")->plan.fixup_count, 0);
    assert_int_equal(planned(plan, "a_endbr")->plan.skip, 4);
    assert_int_equal(planned(plan, "a_plain")->plan.skip, 0);
    plan__free(plan);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static void names_of_one_function_are_one(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("a_[af][li]*s*");
    assert_int_equal(plan->functions.count, 1);
    plan__free(plan);
    plan = plan_of_self("a_alias");
    assert_non_null(planned(plan, "a_alias"));
    plan__free(plan);
}

static void cold_parts_are_not_functions(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("r_half*");
    assert_null(refused(plan, "r_half.cold"));
    assert_int_equal(plan->functions.count, 0);
    plan__free(plan);
    plan = plan_of_self("r_half.cold");
    assert_refused(plan, "r_half.cold", "part of another function");
    plan__free(plan);
}

static void functions_that_lock_memory_are_ordered(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("ok_*");
    assert_int_equal(planned(plan, "ok_locks")->plan.ordered, 1);
    assert_int_equal(planned(plan, "ok_exchanges")->plan.ordered, 1);
    assert_int_equal(planned(plan, "ok_add")->plan.ordered, 0);
    plan__free(plan);
}

static bool is_meant(const char *pattern, const char *symbol)
{
    static const struct pattern_module module = {"/usr/bin/shelf", "shelf"};
    struct patterns patterns;
    bool exact;
    patterns__start(&patterns);
    patterns__add(&patterns, "something_else_altogether");
    patterns__add(&patterns, pattern);
    bool matched = patterns__match(&patterns, &module, symbol, &exact);
    patterns__free(&patterns);
    return matched;
}

/* Also where words of the pattern are abbreviated in the symbol, or written out by the demangler.
 */
static void patterns_without_wildcards_match_what_names_mean(void **state)
{
    (void)state;
    assert_true(is_meant("shelf::Boxes<int>::call", "_ZN5shelf5BoxesIiE4callEi"));
    assert_true(is_meant("shelf::Boxes<int>::call(int)", "_ZN5shelf5BoxesIiE4callEi"));
    assert_false(is_meant("shelf::Boxes<int>::close", "_ZN5shelf5BoxesIiE4callEi"));
    assert_true(is_meant("f(unsigned long)", "_Z1fm"));
    assert_true(
        is_meant("f(std::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
                 "_Z1fSs") ||
        is_meant("f(std::string)", "_Z1fSs"));
    assert_true(is_meant("(anonymous namespace)::f()", "_ZN12_GLOBAL__N_11fEv"));
    assert_true(is_meant("vtable for A", "_ZTV1A"));
    assert_true(is_meant("A::operator[](int)", "_ZN1AixEi"));
    assert_true(is_meant("core::fmt::write", "_ZN4core3fmt5write17h0123456789abcdefE"));
    assert_true(is_meant("queue_append", "queue_append.part.0"));
}

static void unanswered_patterns_are_told(void **state)
{
    (void)state;
    struct plan *plan = plan_of_self("there_is_no_such*");
    assert_refused(plan, "there_is_no_such*", "no function of this name");
    plan__free(plan);
}

static void modules_restrict(void **state)
{
    (void)state;
    struct trace_module module = self_module();
    struct asked asked;
    ask(&asked);
    ask_function(&asked, "a_plain @test_pl*");
    ask_function(&asked, "a_push @elsewhere");
    struct plan *plan = answer(&asked, &module, 1);
    assert_non_null(planned(plan, "a_plain"));
    assert_int_equal(plan->functions.count, 1);
    assert_refused(plan, "a_push @elsewhere", "no function of this name");
    plan__free(plan);
    ask(&asked);
    ask_module(&asked, "test_plan*");
    plan = answer(&asked, &module, 1);
    assert_non_null(planned(plan, "a_plain"));
    assert_non_null(planned(plan, "ok_add"));
    plan__free(plan);
    ask(&asked);
    ask_module(&asked, "elsewhere");
    plan = answer(&asked, &module, 1);
    assert_int_equal(plan->functions.count, 0);
    assert_int_equal(plan->refusals.count, 0);
    assert_int_equal(plan->unmatched.count, 1);
    plan__free(plan);
}

static void unreadable_modules_are_told(void **state)
{
    (void)state;
    static const uint8_t build_id[20] = {1};
    struct trace_module modules[4] = {{.path = "/nonexistent/libgone.so"},
                                      self_module(),
                                      {.path = "[vdso]"},
                                      {.path = "/etc/passwd"}};
    modules[1].build_id = build_id;
    modules[1].build_id_bytes = sizeof build_id;
    struct asked asked;
    ask(&asked);
    ask_function(&asked, "a_plain");
    struct plan *plan = answer(&asked, modules, 4);
    assert_int_equal(plan->functions.count, 0);
    assert_int_equal(plan->refusals.count, 3); /* the modules */
    assert_int_equal(plan->unmatched.count, 1);
    assert_refused(plan, "*", "libgone.so cannot be read");
    assert_non_null(
        strstr(VEC_AT(&plan->refusals, struct refused_function, 1)->reason, "replaced"));
    plan__free(plan);
}

static void some_functions_are_never_touched(void **state)
{
    (void)state;
    assert_non_null(denylist__function("app", "_setjmp"));
    assert_non_null(denylist__function("app", "_Unwind_Resume"));
    assert_non_null(denylist__function("libc.so.6", "pthread_mutex_lock"));
    assert_non_null(denylist__function("libc.so.6", "read@@GLIBC_2.2.5"));
    assert_non_null(denylist__function("ld-linux-x86-64.so.2", "anything"));
    assert_null(denylist__function("app", "read"));
    assert_null(denylist__function("libc.so.6", "qsort"));
    assert_non_null(denylist__chosen("libc.so.6", "__futex_abstimed_wait_common"));
    assert_non_null(denylist__chosen("libc.so.6", "_int_malloc"));
    assert_non_null(denylist__chosen("libc.so.6", NULL));
    assert_non_null(denylist__chosen("libgomp.so.1.0.0", "gomp_team_barrier_wait_end"));
    assert_null(denylist__chosen("libc.so.6", "__memmove_avx_unaligned_erms"));
    assert_non_null(denylist__chosen("libjemalloc.so.2", "arena_bin_malloc"));
    assert_null(denylist__chosen("app", "futex_wait"));
    assert_null(denylist__chosen("app", NULL));
    assert_non_null(denylist__module("libheurt.so"));
    assert_non_null(denylist__module("[vdso]"));
    assert_null(denylist__module("libc.so.6"));
}

/* ---- arguments ------------------------------------------------------------------------------- */

static const char *debug_program(void)
{
    const char *path = getenv("PLAN_DEBUG_PROGRAM");
    return path ? path : "plan_debug";
}

static struct plan *plan_arguments_of(const char *function, const char *names)
{
    struct trace_module module = {.path = debug_program(), .bias = 0x1000};
    struct asked asked;
    ask(&asked);
    ask_function(&asked, function);
    ask_arguments(&asked, function, names);
    return answer(&asked, &module, 1);
}

static void arguments_are_found_by_number_and_name(void **state)
{
    (void)state;
    struct plan *plan = plan_arguments_of("takes_numbers", "flag,name,arg2");
    const struct planned_function *function = planned(plan, "takes_numbers");
    assert_non_null(function);
    assert_int_equal(function->plan.argument_count, 3);
    assert_int_equal(function->plan.arguments[0], 3); /* weight is in a vector register */
    assert_int_equal(function->plan.arguments[1], 0);
    assert_int_equal(function->plan.arguments[2], 1);
    assert_string_equal(function->argument_names, "flag,name,arg2");
    plan__free(plan);
    plan = plan_arguments_of("returns_large", "seed,factor");
    function = planned(plan, "returns_large");
    assert_non_null(function);
    assert_int_equal(function->plan.arguments[0], 1); /* behind the place of the result */
    assert_int_equal(function->plan.arguments[1], 2);
    plan__free(plan);
}

static void arguments_that_cannot_be_found_are_told(void **state)
{
    (void)state;
    struct plan *plan = plan_arguments_of("takes_numbers", "weight");
    assert_non_null(strstr(refused(plan, "takes_numbers"), "argument weight: it is a floating"));
    assert_int_equal(planned(plan, "takes_numbers")->plan.argument_count, 0);
    plan__free(plan);
    plan = plan_arguments_of("takes_pair", "before,pair,after,missing");
    assert_int_equal(planned(plan, "takes_pair")->plan.argument_count, 1);
    assert_int_equal(plan->refusals.count, 3);
    plan__free(plan);
}

static void arguments_of_functions_that_are_not_recorded_are_told(void **state)
{
    (void)state;
    struct trace_module modules[2] = {self_module(), self_module()};
    struct asked asked;
    ask(&asked);
    ask_function(&asked, "a_plain");
    ask_arguments(&asked, "a_push", "arg1");
    struct plan *plan = answer(&asked, modules, 2);
    assert_int_equal(plan->functions.count, 1); /* though the module was told twice */
    assert_refused(plan, "a_push", "no function of this name is recorded");
    plan__free(plan);
}

static void local_functions_are_found_under_their_own_name(void **state)
{
    (void)state;
    struct trace_module module = {.path = debug_program()};
    struct asked asked;
    ask(&asked);
    ask_function(&asked, "is_local");
    struct plan *plan = answer(&asked, &module, 1);
    assert_int_equal(plan->functions.count, 1);
    plan__free(plan);
}

static void symbols_tell_what_fits_into_registers(void **state)
{
    (void)state;
    assert_true(symbol__fits_registers("_ZN1A3runEiPKcRd"));    /* int, pointer, reference */
    assert_true(symbol__fits_registers("_ZNK1A3runEv"));        /* nothing, const */
    assert_true(symbol__fits_registers("_Z1fPFviE"));           /* pointer to function */
    assert_false(symbol__fits_registers("_Z1fiiiii"));          /* this and result: seven */
    assert_false(symbol__fits_registers("_Z1fe"));              /* long double */
    assert_false(symbol__fits_registers("_Z1fz"));              /* variadic */
    assert_false(symbol__fits_registers("_Z1f3Big"));           /* a class by value */
    assert_false(symbol__fits_registers("_ZN1A3runEM1AFvvE"));  /* pointer to member */
    assert_false(symbol__fits_registers("_ZN1A3runEi.isra.0")); /* altered */
    assert_false(symbol__fits_registers("plain_c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_proven_is_refused),
        cmocka_unit_test(compiled_functions_that_look_at_their_caller_are_refused),
        cmocka_unit_test(unwinders_that_would_not_find_return_slot_frames_are_minded),
        cmocka_unit_test(code_that_depends_on_its_place_is_fixed),
        cmocka_unit_test(names_of_one_function_are_one),
        cmocka_unit_test(cold_parts_are_not_functions),
        cmocka_unit_test(functions_that_lock_memory_are_ordered),
        cmocka_unit_test(patterns_without_wildcards_match_what_names_mean),
        cmocka_unit_test(unanswered_patterns_are_told),
        cmocka_unit_test(modules_restrict),
        cmocka_unit_test(unreadable_modules_are_told),
        cmocka_unit_test(some_functions_are_never_touched),
        cmocka_unit_test(arguments_are_found_by_number_and_name),
        cmocka_unit_test(arguments_that_cannot_be_found_are_told),
        cmocka_unit_test(arguments_of_functions_that_are_not_recorded_are_told),
        cmocka_unit_test(local_functions_are_found_under_their_own_name),
        cmocka_unit_test(symbols_tell_what_fits_into_registers),
        cmocka_unit_test(assembled_functions_run_moved),
        cmocka_unit_test(assembled_functions_run_with_their_return_address_put_aside),
        cmocka_unit_test(compiled_functions_run_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
