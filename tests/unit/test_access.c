#include "patch/access.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A loop whose iterations rdx counts, by eights; each instruction has a label. */
__asm__(".text\n"
        ".type waits, @function\n"
        "waits: mov (%rdi,%rsi,8), %rax\n"
        "waits_add: add %rcx, %rax\n"
        "waits_store: mov %rax, 16(%r9)\n"
        "waits_read: mov 16(%r9), %r10\n"
        "waits_lock: lock incq (%rdi)\n"
        "waits_chase: mov (%rdi), %rdi\n"
        "waits_count: add $8, %rdx\n"
        "waits_again: cmp %rbx, %rdx\n"
        "jne waits\n"
        "waits_spin: pause\n"
        "waits_ask: mov (%r9), %eax\n"
        "waits_compare: cmp %ecx, %eax\n"
        "jne waits_spin\n"
        "waits_delay: add $1, %ecx\n"
        "waits_limit: cmp %ecx, (%r9)\n"
        "waits_over: ja waits_delay\n"
        "waits_patient: dec %r11d\n"
        "jz waits_end\n"
        "waits_flag: cmp %ebx, (%r9)\n"
        "waits_asked: jne waits_patient\n"
        "waits_stop: cmpb $0, 8(%rsp)\n"
        "jne waits_end\n"
        "waits_seen: mov (%r9), %ebx\n"
        "waits_less: cmp %ebx, 16(%rsp)\n"
        "waits_more: jg waits_stop\n"
        "waits_end: ret\n"
        "waits_sleep: mov $2000, %edi\n" /* while (flag < wanted) usleep(2000); */
        "call waits_end\n"
        "waits_slept: mov (%rbx), %eax\n"
        "cmp %ebp, %eax\n"
        "jl waits_sleep\n"
        "waits_again_slept: mov %rsp, %rdi\n" /* while (flag) while (nanosleep() && EINTR); */
        "call waits_end\n"
        "waits_rested: test %eax, %eax\n"
        "je waits_flag_off\n"
        "call waits_end\n"
        "cmpl $4, (%rax)\n"
        "je waits_again_slept\n"
        "waits_flag_off: cmpl $0, (%rbx)\n"
        "jne waits_again_slept\n"
        "waits_paced: mov $2000, %edi\n" /* while (flag) usleep(2000), count++; */
        "call waits_end\n"
        "waits_counted: incq 8(%rbx)\n"
        "cmpl $0, (%rbx)\n"
        "jne waits_paced\n"
        "waits_works: mov $2000, %edi\n" /* while (flag) usleep(2000), work(); */
        "call waits_end\n"
        "waits_worked: call waits\n"
        "cmpl $0, (%rbx)\n"
        "jne waits_works\n"
        "waits_times: mov $2000, %edi\n" /* while (--n) usleep(2000); */
        "call waits_end\n"
        "waits_passed: dec %ebx\n"
        "jne waits_times\n"
        "call waits_end\n"
        "waits_once: ret\n"
        "waits_locks: call pthread_mutex_lock@PLT\n" /* until there is one: takes it, or sleeps */
        "cmpl $0, (%rbx)\n"
        "je waits_none\n"
        "decl (%rbx)\n"
        "ret\n"
        "nopl (%rax)\n"
        "waits_none: call pthread_mutex_unlock@PLT\n"
        "call waits_end\n"
        "waits_unlocked: jmp waits_locks\n"
        "waits_writes: call puts@PLT\n" /* while (flag) puts(), usleep(); */
        "cmpl $0, (%rbx)\n"
        "je waits_done\n"
        "call waits_end\n"
        "waits_written: jmp waits_writes\n"
        "waits_done: ret\n"
        "waits_holds: call pthread_rwlock_rdlock@PLT\n" /* lock(), h ^= *c, usleep(), unlock() */
        "xor (%rbx), %ebp\n"
        "call waits_end\n"
        "waits_held: call pthread_rwlock_unlock@PLT\n"
        "dec %r14d\n"
        "jne waits_holds\n"
        "ret\n"
        "waits_computes: mov (%rbx), %ecx\n" /* h = *c, 60,000 times h * h + h, usleep() */
        "mov $60000, %eax\n"
        "waits_product: imul %ecx, %ecx\n"
        "add %ebp, %ecx\n"
        "dec %eax\n"
        "jne waits_product\n"
        "call waits_end\n"
        "waits_computed: dec %r14d\n"
        "jne waits_computes\n"
        "ret\n"
        "waits_backs_off: mov $100, %eax\n" /* while (flag) pause 100 times, usleep() */
        "waits_pauses: pause\n"
        "dec %eax\n"
        "jne waits_pauses\n"
        "call waits_end\n"
        "waits_backed_off: cmpl $0, (%rbx)\n"
        "jne waits_backs_off\n"
        "ret\n"
        "waits_frame: mov -8(%rbp), %rax\n" /* as unoptimised code: frame->second->field += … */
        "mov 8(%rax), %rax\n"
        "waits_second: mov 24(%rax), %rax\n"
        "waits_field: mov -16(%rbp), %eax\n"
        "cltq\n"
        "waits_index: mov (%rdx,%rax,8), %rax\n"
        "waits_none_known: add %rax, %rcx\n"
        "waits_sum: mov -8(%rbp), %rbx\n"
        "lea 32(%rbx), %rcx\n"
        "add $8, %rcx\n"
        "mov (%rcx), %rcx\n"
        "waits_summed: ret\n"
        "waits_take: mov $1, %eax\n" /* while (exchange(flag, 1)); */
        "waits_exchange: xchg %eax, (%r9)\n"
        "waits_taken: test %eax, %eax\n"
        "jne waits_take\n"
        "waits_try: xor %eax, %eax\n" /* while (!compare_exchange(flag, 0, ecx)); */
        "waits_swap: lock cmpxchg %ecx, (%r9)\n"
        "waits_tried: jne waits_try\n"
        "waits_old: mov (%r9), %eax\n" /* compare_exchange(sum, old, old + 2) until it succeeds */
        "mov %eax, %ecx\n"
        "add $2, %ecx\n"
        "waits_new: lock cmpxchg %ecx, (%r9)\n"
        "waits_added: jne waits_old\n"
        "ret\n"
        ".size waits, . - waits\n");
/* What keeps its frame in rbp, and who calls it and another. */
__asm__(".globl framed\n"
        ".type framed, @function\n"
        "framed: push %rbp\n"
        "mov %rsp, %rbp\n"
        "mov -8(%rbp), %rax\n"
        "framed_reads: mov (%rax), %rax\n"
        "framed_then: nop\n"
        "pop %rbp\n"
        "ret\n"
        "framed_caller: call framed\n"
        "framed_returns: call waits\n"
        "other_returns: call *%rax\n"
        "any_returns: ret\n"
        ".size framed, . - framed\n");
extern const char framed_reads[], framed_then[], framed_returns[], other_returns[], any_returns[];

extern const char waits_spin[], waits[], waits_add[], waits_store[], waits_read[], waits_lock[],
    waits_chase[], waits_count[], waits_again[], waits_compare[], waits_ask[], waits_limit[],
    waits_over[], waits_flag[], waits_asked[], waits_seen[], waits_less[], waits_more[],
    waits_end[], waits_slept[], waits_rested[], waits_counted[], waits_worked[], waits_passed[],
    waits_once[], waits_unlocked[], waits_written[], waits_exchange[], waits_taken[], waits_swap[],
    waits_tried[], waits_new[], waits_added[], waits_second[], waits_field[], waits_index[],
    waits_none_known[], waits_summed[], waits_held[], waits_computed[], waits_backed_off[];

static struct module_functions *functions;
static struct code_accesses *accesses;
static uint64_t loaded_at; /* of this program's code: address less offset in the file */
static const uint64_t registers[16] = {[2] = 800,    [3] = 0x3000, [5] = 0x4000, [6] = 3,
                                       [7] = 0x1000, [9] = 0x2000}; /* rdx rbx rbp rsi rdi r9 */

static int find_code(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)waits - start < part->p_memsz)
            loaded_at = start - part->p_offset;
    }
    return 1;
}

static int setup(void **state)
{
    struct error error;
    (void)state;
    dl_iterate_phdr(find_code, NULL);
    if (module_functions__open("/proc/self/exe", &functions, &error) < 0)
        return -1;
    accesses = code_accesses__new("/proc/self/exe", functions);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    code_accesses__free(accesses);
    module_functions__close(functions);
    return 0;
}

/* A frame at 0x4000 with a pointer to 0x3000, where there is one to 0x5000. */
static bool read_own(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    *word = address == 0x4000 - 8 ? 0x3000 : address == 0x3000 + 8 ? 0x5000 : 0;
    return *word != 0;
}

/* The frame at 0x4000 with a return address, where code is read as it is. */
static bool read_frame(void *context, uint64_t address, uint64_t *word)
{
    const char *code = context;
    if (address == 0x4000 + 8)
        *word = (uintptr_t)code;
    else if (address + 8 == (uintptr_t)code)
        memcpy(word, code - 8, sizeof *word);
    else
        return read_own(NULL, address, word);
    return true;
}

static uint64_t read_in_frame(const char *returns_to)
{
    struct access access =
        code_accesses__find(accesses, (uintptr_t)framed_then - loaded_at, registers, loaded_at,
                            (struct memory_reader){read_frame, (void *)(uintptr_t)returns_to});
    assert_int_equal(access.file_offset + loaded_at, (uintptr_t)framed_reads);
    return access.address;
}

static struct access interrupted_at(const char *code)
{
    return code_accesses__find(accesses, (uintptr_t)code - loaded_at, registers, loaded_at,
                               (struct memory_reader){read_own, NULL});
}

static void assert_access(struct access access, const char *instruction, enum access_kind kind,
                          uint64_t address)
{
    assert_int_equal(access.file_offset + loaded_at, (uintptr_t)instruction);
    assert_int_equal(access.kind, kind);
    assert_int_equal(access.address, address);
}

static void who_waited_is_the_instruction_before(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_add), waits, ACCESS_READ, 0x1018);
    assert_access(interrupted_at(waits_read), waits_store, ACCESS_WRITE, 0x2010);
    assert_access(interrupted_at(waits_chase), waits_lock, ACCESS_ATOMIC, 0x1000);
    assert_int_equal(interrupted_at(waits_read).bytes, 8);
}

static void an_address_is_not_known_when_its_register_is_overwritten(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_count), waits_chase, ACCESS_READ, 0);
}

/* Where a pointer was loaded from is looked up again; what a register was indexed by is not. */
static void an_overwritten_register_is_worked_out(void **state)
{
    (void)state;
    struct access second = interrupted_at(waits_second), field = interrupted_at(waits_field);
    assert_int_equal(second.address, 0x3000 + 8);
    assert_int_equal(field.address, 0x5000 + 24);
    assert_int_equal(field.kind, ACCESS_READ);
    assert_access(interrupted_at(waits_none_known), waits_index, ACCESS_READ, 0);
    assert_int_equal(interrupted_at(waits_summed).address, 0x3000 + 40);
}

/* A frame is believed while its return address is behind a call of the function. */
static void a_frame_is_not_read_when_another_function_has_it(void **state)
{
    (void)state;
    assert_int_equal(read_in_frame(framed_returns), 0x3000);
    assert_int_equal(read_in_frame(other_returns), 0);
    assert_int_equal(read_in_frame(any_returns), 0x3000);
    assert_int_equal(read_in_frame(framed_then), 0);
}

static void what_the_loop_writes_too_is_updated(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_lock), waits_read, ACCESS_UPDATE, 0x2010);
}

static void who_only_asks_spins(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_compare), waits_ask, ACCESS_SPIN, 0x2000);
    assert_access(interrupted_at(waits_spin), waits_ask, ACCESS_SPIN, 0x2000); /* it pauses */
}

static void who_takes_a_lock_again_and_again_spins(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_taken), waits_exchange, ACCESS_TAKE, 0x2000);
    assert_access(interrupted_at(waits_tried), waits_swap, ACCESS_TAKE, 0x2000);
}

static void who_makes_a_new_value_of_the_old_one_does_not(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_added), waits_new, ACCESS_ATOMIC, 0x2000);
}

/* A flag that is asked for so often is waited for; a count that is read is come to. */
static void who_counts_to_what_it_reads_waits_for_nobody(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_over), waits_limit, ACCESS_READ, 0x2000);
    assert_access(interrupted_at(waits_asked), waits_flag, ACCESS_SPIN, 0x2000);
}

/* while (!stop && flag < wanted), of which wanted is on the stack: at each of the three it is the
 * flag that is waited for. */
static void who_asks_for_a_condition_too_spins_on_the_other(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits_seen), waits_seen, ACCESS_SPIN, 0x2000);
    assert_access(interrupted_at(waits_less), waits_seen, ACCESS_SPIN, 0x2000);
    assert_access(interrupted_at(waits_more), waits_seen, ACCESS_SPIN, 0x2000);
}

/* The loop's first instruction is jumped to: who was before it is not known. */
static void else_it_is_the_interrupted_one(void **state)
{
    (void)state;
    assert_access(interrupted_at(waits), waits, ACCESS_READ, 0x1018);
    assert_access(interrupted_at(waits_store), waits_store, ACCESS_WRITE, 0x2010);
    assert_access(interrupted_at(waits_again), waits_again, ACCESS_NONE, 0);
}

static void a_register_counts_iterations(void **state)
{
    (void)state;
    struct counted_loop loop = interrupted_at(waits_store).loop;
    assert_int_equal(loop.file_offset + loaded_at, (uintptr_t)waits);
    assert_int_equal(loop.step, 8);
    assert_int_equal(loop.count, 800);
    assert_true(loop.least_ns > 0);
    assert_int_equal(interrupted_at(waits_end).loop.file_offset, 0);
}

static bool asks_after(const char *returns_to)
{
    return code_accesses__call_asks(accesses, (uintptr_t)returns_to - loaded_at);
}

static void a_sleep_asks_in_a_loop_that_only_looks(void **state)
{
    (void)state;
    assert_true(asks_after(waits_slept));
    assert_true(asks_after(waits_rested)); /* and sleeps again when a signal came */
    assert_false(asks_after(waits_counted));
    assert_false(asks_after(waits_worked));
    assert_false(asks_after(waits_passed));
    assert_false(asks_after(waits_once));
    assert_true(asks_after(waits_unlocked));
    assert_false(asks_after(waits_written));
    assert_true(asks_after(waits_backed_off));
}

/* Who holds a lock meanwhile, or computes between two sleeps, asks nobody. */
static void a_sleep_is_work_where_more_than_looks_is_around_it(void **state)
{
    (void)state;
    assert_false(asks_after(waits_held));
    assert_false(asks_after(waits_computed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waited_is_the_instruction_before),
        cmocka_unit_test(an_address_is_not_known_when_its_register_is_overwritten),
        cmocka_unit_test(an_overwritten_register_is_worked_out),
        cmocka_unit_test(a_frame_is_not_read_when_another_function_has_it),
        cmocka_unit_test(what_the_loop_writes_too_is_updated),
        cmocka_unit_test(who_only_asks_spins),
        cmocka_unit_test(who_takes_a_lock_again_and_again_spins),
        cmocka_unit_test(who_makes_a_new_value_of_the_old_one_does_not),
        cmocka_unit_test(who_counts_to_what_it_reads_waits_for_nobody),
        cmocka_unit_test(who_asks_for_a_condition_too_spins_on_the_other),
        cmocka_unit_test(else_it_is_the_interrupted_one),
        cmocka_unit_test(a_register_counts_iterations),
        cmocka_unit_test(a_sleep_asks_in_a_loop_that_only_looks),
        cmocka_unit_test(a_sleep_is_work_where_more_than_looks_is_around_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
