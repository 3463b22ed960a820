#include "kernel/remote_call.h"

#include "base/clock.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define RED_ZONE 128u /* System V ABI, AMD64: 3.2.2 */
#define STATE_BYTES_MAX (16u << 10)
#define EVENT_STOP 128 /* PTRACE_EVENT_STOP */
#define RESTARTS_FROM (-516)
#define RESTARTS_TO (-512)

/* As the kernel lays it out: arch/x86/include/asm/sigframe.h and uapi's ucontext.h. */
struct signal_frame {
    uint64_t restorer;
    uint64_t flags, link;
    uint64_t stack, stack_flags, stack_bytes;
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t error, trap, old_mask, cr2, state, reserved[8];
    uint64_t mask;
    siginfo_t info;
};
#define FLAGS_STATE 1u
#define FLAGS_SEGMENT 6u   /* ss is told, and to be set */
#define NO_STACK 0xffffffu /* is refused, so that the thread keeps its stack for signals */

/* Where the processor leaves bytes of the state to software: what the kernel tells by ptrace there
 * are the features alone (uapi's sigcontext.h, struct _fpx_sw_bytes). */
#define STATE_MARK 464
#define STATE_MAGIC 0x46505853u
#define STATE_END 0x46505845u
struct state_mark {
    uint32_t magic, whole_bytes;
    uint64_t features;
    uint32_t bytes, padding[7];
};

/* What the thread has besides its registers. */
struct kept_state {
    uint8_t state[STATE_BYTES_MAX];
    size_t state_bytes;
    uint64_t mask;
};

static bool read_beside(pid_t tid, struct kept_state *beside)
{
    struct iovec state = {beside->state, sizeof beside->state};
    bool read = ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &state) == 0 &&
                state.iov_len < sizeof beside->state &&
                ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof beside->mask, &beside->mask) == 0;
    beside->state_bytes = state.iov_len;
    return read;
}

static bool write_beside(pid_t tid, const struct kept_state *beside)
{
    struct iovec state = {(void *)beside->state, beside->state_bytes};
    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &state) == 0 &&
           ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof beside->mask, &beside->mask) == 0;
}

/* Registers with which the thread goes on by itself: a system call that was interrupted is made
 * again, with its whole timeout. */
static struct user_regs_struct by_itself(const struct user_regs_struct *registers)
{
    struct user_regs_struct own = *registers;
    int64_t result = (int64_t)own.rax;
    bool again = (result >= RESTARTS_FROM && result <= RESTARTS_TO) || result == -EINTR;
    if ((int64_t)own.orig_rax >= 0 && again) {
        own.rax = own.orig_rax;
        own.rip -= 2;
    }
    own.orig_rax = ~0ull;
    return own;
}

/* The copy of the state as sigreturn(2) wants it: what the kernel has told in the bytes that the
 * processor leaves to software, and a mark behind. */
static void mark_state(struct kept_state *copy)
{
    const uint32_t end = STATE_END;
    struct state_mark mark = {.magic = STATE_MAGIC,
                              .whole_bytes = (uint32_t)(copy->state_bytes + sizeof end),
                              .bytes = (uint32_t)copy->state_bytes};
    memcpy(&mark.features, copy->state + STATE_MARK, sizeof mark.features);
    memcpy(copy->state + STATE_MARK, &mark, sizeof mark);
    memcpy(copy->state + copy->state_bytes, &end, sizeof end);
}

static struct signal_frame make_frame(const struct user_regs_struct *from,
                                      const struct remote_call *call, uint64_t state, uint64_t mask)
{
    struct user_regs_struct own = by_itself(from);
    return (struct signal_frame){
        .restorer = call->restorer,
        .flags = FLAGS_STATE | FLAGS_SEGMENT,
        .stack_flags = NO_STACK,
        .r8 = own.r8,
        .r9 = own.r9,
        .r10 = own.r10,
        .r11 = own.r11,
        .r12 = own.r12,
        .r13 = own.r13,
        .r14 = own.r14,
        .r15 = own.r15,
        .rdi = own.rdi,
        .rsi = own.rsi,
        .rbp = own.rbp,
        .rbx = own.rbx,
        .rdx = own.rdx,
        .rax = own.rax,
        .rcx = own.rcx,
        .rsp = own.rsp,
        .rip = own.rip,
        .eflags = own.eflags,
        .cs = (uint16_t)own.cs,
        .ss = (uint16_t)own.ss,
        .state = state,
        .mask = mask,
    };
}

/* Writes all of it onto the stack; the registers for the call. */
static bool set_up(const struct stop *stop, const struct stopped_thread *thread,
                   const struct remote_call *call, const struct kept_state *beside,
                   struct user_regs_struct *registers)
{
    struct kept_state copy = *beside;
    size_t length = call->text ? strlen(call->text) + 1 : 0;
    uint64_t top = thread->registers.rsp - RED_ZONE - length, text = top;
    uint64_t state = (top - beside->state_bytes - sizeof(uint32_t)) & ~63ull;
    uint64_t at = ((state - sizeof(struct signal_frame)) & ~15ull) - 8; /* as behind a call */
    struct signal_frame frame = make_frame(&thread->registers, call, state, beside->mask);
    mark_state(&copy);
    *registers = thread->registers;
    registers->rip = call->function;
    registers->rsp = at;
    registers->rdi = text;
    registers->rsi = call->second;
    registers->rax = 0;
    registers->orig_rax = ~0ull;
    registers->eflags &= ~0x400ull; /* the direction flag is clear between functions */
    return (!length || stop__write(stop, text, call->text, length)) &&
           stop__write(stop, state, copy.state, beside->state_bytes + sizeof(uint32_t)) &&
           stop__write(stop, at, &frame, sizeof frame);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The next stop of the thread: its status as waitid tells it; 0: patience is over; -1: it
 * has ended. */
static int next_stop(pid_t tid, struct patience *patience)
{
    for (unsigned turn = 0;; turn++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | __WALL | WNOHANG) < 0 &&
            errno != EINTR)
            return -1;
        if (info.si_pid)
            return info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED ? info.si_status : -1;
        if (patience__is_over(patience))
            return 0;
        if (turn < 64)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static bool is_return(pid_t tid, const struct user_regs_struct *call)
{
    struct user_regs_struct now;
    return ptrace(PTRACE_GETREGS, tid, NULL, &now) == 0 && now.orig_rax == SYS_rt_sigreturn &&
           now.rsp == call->rsp + sizeof(uint64_t);
}

static bool is_fault(int status)
{
    return status == SIGSEGV || status == SIGBUS || status == SIGILL || status == SIGFPE ||
           status == SIGABRT;
}

/* Until it is about to return from the made-up signal. */
static int run(pid_t tid, const struct user_regs_struct *call, uint64_t limit_ns)
{
    struct patience patience = patience__of(limit_ns);
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL) != 0)
            return -ESRCH;
        int status = next_stop(tid, &patience);
        if (status <= 0)
            return status < 0 ? -ESRCH : -ETIMEDOUT;
        if (status == (SIGTRAP | 0x80) && is_return(tid, call))
            return 0;
        if (is_fault(status))
            return -EFAULT;
    }
}

/* It stands at a stop from which it has not come back into its own code: as it stood at first. */
static int set_back(struct stopped_thread *thread, const struct kept_state *beside)
{
    pid_t tid = thread->tid;
    struct patience patience = patience__of(1000000000);
    struct user_regs_struct own = by_itself(&thread->registers);
    if (!write_beside(tid, beside) || ptrace(PTRACE_SETREGS, tid, NULL, &own) != 0 ||
        ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 || ptrace(PTRACE_CONT, tid, NULL, NULL) != 0)
        return -ESRCH;
    int status = next_stop(tid, &patience);
    if (status <= 0)
        return -ESRCH;
    if (status >> 8 != EVENT_STOP)
        thread->signal = status & 0x7f;
    return ptrace(PTRACE_SETREGS, tid, NULL, &thread->registers) == 0 ? 0 : -ESRCH;
}

/* It goes on alone, in the call. */
static void leave_alone(struct stopped_thread *thread)
{
    struct patience patience = patience__of(1000000000);
    ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
    if (next_stop(thread->tid, &patience) > 0)
        ptrace(PTRACE_DETACH, thread->tid, NULL, NULL);
    stopped_thread__let_out(thread);
}

int remote_call__make(const struct stop *stop, struct stopped_thread *thread,
                      const struct remote_call *call, struct error *error)
{
    struct kept_state beside;
    struct user_regs_struct registers;
    const uint64_t all = ~0ull;
    if (thread->signal || !read_beside(thread->tid, &beside) ||
        !set_up(stop, thread, call, &beside, &registers) ||
        ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof all, &all) != 0)
        return error__set(error, -EAGAIN, "thread %d cannot be led elsewhere now", thread->tid);
    int code = ptrace(PTRACE_SETREGS, thread->tid, NULL, &registers) != 0
                   ? -ESRCH
                   : run(thread->tid, &registers, call->limit_ns);
    if (code == 0 || code == -EFAULT) {
        int back = set_back(thread, &beside);
        code = back ? back : code;
    }
    switch (code) {
    case 0:
        return 0;
    case -ETIMEDOUT:
        leave_alone(thread);
        return error__set(error, code, "thread %d does not come back from heurt's library in time",
                          thread->tid);
    case -EFAULT:
        return error__set(error, code, "heurt's library failed in thread %d", thread->tid);
    default:
        stopped_thread__let_out(thread);
        return error__set(error, -ESRCH, "thread %d ended meanwhile", thread->tid);
    }
}
