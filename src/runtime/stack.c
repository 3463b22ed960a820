/* stack.c: snapshots of the call stack: registers and the top of the stack's memory, unwound after
 * the run. */
#include "runtime/runtime.h"

#include <sys/uio.h>

/* Copies what is readable at from, up to bytes; returns how much. Never faults. */
static size_t copy_readable(void *to, uint64_t from, size_t bytes)
{
    const struct thread *thread = &heurt_thread;
    if (from >= thread->stack_low && from < thread->stack_high) {
        size_t most = thread->stack_high - from;
        bytes = bytes < most ? bytes : most;
        bytes__copy(to, (const void *)from, bytes);
        return bytes;
    }
    /* A coroutine's or a signal handler's stack, whose end nobody told. */
    if (thread__in_seccomp(thread))
        return 0;
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
    long copied = RAW6(process_vm_readv, heurt_state.pid, &local, 1, &remote, 1, 0);
    return copied < 0 ? 0 : (size_t)copied;
}

/* Whether the word is an address: of code, of a frame, or of an object that a frame has at hand.
 * All mappings that the kernel places are at the top of the address space; what is not, is known.
 */
static bool is_address(uint64_t word, uint64_t stack, uint64_t end_of_heap)
{
    if (word >> 40 == 0x7f || word >> 40 == 0x7e)
        return true;
    if (word < 4096 || word >> 47)
        return false;
    if (word >= stack && word < heurt_thread.stack_high)
        return true;
    uint64_t code_end = 0;
    for (unsigned i = 0; i < heurt_state.module_count; i++) {
        const struct known_module *module = &heurt_state.modules[i];
        if (word >= module->start && word < module->end)
            return true;
        if (module->end <= end_of_heap && module->end > code_end)
            code_end = module->end;
    }
    return word % 8 == 0 && word >= code_end && word < end_of_heap &&
           end_of_heap - word < 1ull << 36;
}

/* Tells a checker of memory (valgrind, whose sequence of instructions without effect this is) that
 * these bytes are meant, though the program has written only some of what they were copied from. */
static void call_defined(const void *from, size_t bytes)
{
    const uint64_t request[6] = {0x4d430002 /* MAKE_MEM_DEFINED */, (uint64_t)from, bytes};
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(request)
                     : "cc", "memory");
}

/* What a stack holds besides addresses is nobody's business: unwinding needs none of it. Under
 * seccomp nobody may ask where the heap ends, and what points there goes, too. */
static void drop_contents(uint64_t *words, size_t count, uint64_t stack)
{
    uint64_t end_of_heap = thread__in_seccomp(&heurt_thread) ? 0 : (uint64_t)RAW1(brk, 0);
    for (size_t i = 0; i < count; i++)
        if (!is_address(words[i], stack, end_of_heap))
            words[i] = 0;
}

/* bytes: at most; tick: 0: that of its end. */
static void write_stack(struct thread *thread, const uint64_t registers[HEURT_STACK_REGISTERS],
                        size_t bytes, uint64_t tick)
{
    size_t most = heurt_state.settings.stack_bytes;
    size_t words = (bytes < most ? bytes : most) / 8;
    uint64_t *at = event__claim(thread, (unsigned)(2 + HEURT_STACK_REGISTERS + words));
    if (!at)
        return;
    bytes__copy(at + 2, registers, HEURT_STACK_REGISTERS * 8);
    size_t copied = copy_readable(at + 2 + HEURT_STACK_REGISTERS, registers[1], words * 8);
    call_defined(at + 2, HEURT_STACK_REGISTERS * 8 + copied);
    if (!(heurt_state.settings.flags & HEURT_SESSION_RAW_STACKS))
        drop_contents(at + 2 + HEURT_STACK_REGISTERS, copied / 8, registers[1]);
    return_slot__translate(at + 2, at + 2 + HEURT_STACK_REGISTERS, copied / 8);
    at[1] = HEURT_STACK_REGISTERS + words;
    event__publish(at, tick ? tick : clock__tick(), HEURT_EVENT_STACK);
}

void stack__take(struct thread *thread, const uint64_t registers[HEURT_STACK_REGISTERS])
{
    write_stack(thread, registers, SIZE_MAX, 0);
}

/* The registers of the hook that called are not needed: the unwinder finds them from ours by this
 * library's own unwind information. */
__attribute__((noinline)) void stack__take_here(struct thread *thread, size_t bytes, uint64_t tick)
{
    uint64_t registers[HEURT_STACK_REGISTERS];
    __asm__ volatile("lea 0f(%%rip), %%rax\n\t"
                     "0: mov %%rax, 0(%0)\n\t"
                     "mov %%rsp, 8(%0)\n\t"
                     "mov %%rbp, 16(%0)\n\t"
                     "mov %%rbx, 24(%0)\n\t"
                     "mov %%r12, 32(%0)\n\t"
                     "mov %%r13, 40(%0)\n\t"
                     "mov %%r14, 48(%0)\n\t"
                     "mov %%r15, 56(%0)"
                     :
                     : "r"(registers)
                     : "rax", "memory");
    write_stack(thread, registers, bytes, tick);
}

#define PROBES 4
#define GAP_GROWS 8u /* by so much, until it is the one that is asked for */

/* What a place does first is often not what it does most: a wait that all kinds of waits go through
 * would be called after the first of them. */
static uint32_t next_gap(uint32_t gap)
{
    uint32_t most = (uint32_t)heurt_state.settings.stack_every;
    return gap < most / GAP_GROWS ? gap * GAP_GROWS : most;
}

void stack__consider(struct thread *thread, uint64_t key, uint64_t tick)
{
    if (!thread->countdowns) {
        event__refill(NULL, 0);
        if (!thread->countdowns)
            return;
    }
    struct class_countdown *classes = thread->countdowns->classes;
    uint64_t hash = class__hash(key);
    struct class_countdown *found = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        found = &classes[(hash + i) % CLASS_COUNTDOWNS];
        if (likely(found->key == key))
            break;
        if (found->key == 0) {
            found->key = key;
            found->left = 0;
            found->gap = 1;
            break;
        }
        /* The last of them is shared by classes that find no place of their own. */
    }
    if (likely(--found->left >= 0))
        return;
    found->gap = next_gap(found->gap);
    found->left = (int32_t)found->gap - 1;
    stack__take_here(thread, SIZE_MAX, tick);
}

/* ---- long waits ------------------------------------------------------------------------------ */

#define LONG_WAIT_TICKS 200000u /* some 0.1 ms */

/* The stack that is taken now and then at the begin of a class's occurrences is hardly that of a
 * long one, so these have their own. Each one that is taken makes the next one wait a quarter
 * longer, and half as long as itself at least: a thread takes some sixty in a run of minutes, and
 * no wait without one is a quarter longer than all that have one. An aggregated run has nowhere to
 * keep them. */
uint64_t stack__of_wait(struct thread *thread, uint64_t tick, uint64_t waited)
{
    if (!heurt_state.settings.stack_every || heurt_state.aggregates) {
        thread->long_wait = UINT64_MAX;
        return 0;
    }
    if (thread->long_wait < LONG_WAIT_TICKS)
        thread->long_wait = LONG_WAIT_TICKS;
    if (waited <= thread->long_wait || (int64_t)waited < 0) /* clocks of CPUs that differ */
        return 0;
    thread->long_wait += thread->long_wait / 4;
    if (thread->long_wait < waited / 2)
        thread->long_wait = waited / 2;
    uint64_t before = clock__tick();
    stack__take_here(thread, SIZE_MAX, tick);
    return clock__tick() - before;
}
