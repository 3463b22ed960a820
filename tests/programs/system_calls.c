/* System calls that are made by instructions of the program itself, and waits inside of libc that
 * no hook tells: system_calls [inline|file].  Prints NAME=VALUE lines. */
#include "known.h"

#include <linux/futex.h>

enum { ROUNDS = 20 };

/* Any system call, the number in a register, in a leaf function with a red zone; what must be kept
 * is looked at: bit 0 the red zone, 1 the flags, 2 the registers. */
long call_inline(long number, const void *address, long operation, long value, long *kept);
__asm__(".text\n"
        ".globl call_inline\n"
        ".type call_inline, @function\n"
        "call_inline:\n"
        "        .cfi_startproc\n"
        "        mov     %rdi, %rax\n"
        "        mov     %rsi, %rdi\n"
        "        mov     %rdx, %rsi\n"
        "        mov     %rcx, %rdx\n"
        "        mov     %r8, -120(%rsp)\n"
        "        movq    $0x1234567, -128(%rsp)\n"
        "        movq    $0x7654321, -8(%rsp)\n"
        "        xor     %r10d, %r10d\n"
        "        mov     $0x55, %r8d\n"
        "        mov     %rdi, %r9\n"
        "        movb    $0x7f, -16(%rsp)\n"
        "        addb    $1, -16(%rsp)\n" /* OF, SF and AF, not CF, ZF */
        "        stc\n"
        "        syscall\n"
        "        mov     $0, %ecx\n"
        "        jno     1f\n"
        "        jns     1f\n"
        "        jnc     1f\n"
        "        je      1f\n"
        "        or      $2, %ecx\n"
        "1:      cmpq    $0x1234567, -128(%rsp)\n"
        "        jne     2f\n"
        "        cmpq    $0x7654321, -8(%rsp)\n"
        "        jne     2f\n"
        "        or      $1, %ecx\n"
        "2:      cmp     $0x55, %r8\n"
        "        jne     3f\n"
        "        cmp     %rdi, %r9\n"
        "        jne     3f\n"
        "        test    %r10, %r10\n"
        "        jne     3f\n"
        "        or      $4, %ecx\n"
        "3:      mov     -120(%rsp), %r8\n"
        "        and     %rcx, (%r8)\n"
        "        ret\n"
        "        .cfi_endproc\n"
        "        .size call_inline, . - call_inline\n");

static uint32_t word;
static int waiter_tid;
static long kept = 7;

static void until_it_sleeps(const void *address, size_t bytes)
{
    while (!__atomic_load_n(&waiter_tid, __ATOMIC_ACQUIRE))
        known__yield();
    known__await_sleep(waiter_tid, address, bytes);
}

/* ---- futex(2) by an instruction: each round is one wait and one wake ------------------------- */

static void *wait_inline(void *nothing)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        __atomic_store_n(&waiter_tid, known__tid(), __ATOMIC_RELEASE);
        while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == i)
            call_inline(SYS_futex, &word, FUTEX_WAIT_PRIVATE, i, &kept);
    }
    return nothing;
}

static void wake_inline(void)
{
    pthread_t waiter;
    KNOWN_CHECK(pthread_create(&waiter, NULL, wait_inline, NULL) == 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        until_it_sleeps(&word, sizeof word);
        __atomic_store_n(&waiter_tid, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&word, i + 1, __ATOMIC_RELEASE);
        KNOWN_CHECK(call_inline(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, &kept) == 1);
    }
    KNOWN_CHECK(call_inline(SYS_getpid, NULL, 0, 0, &kept) == getpid());
    KNOWN_CHECK(call_inline(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kept) == -EAGAIN);
    pthread_join(waiter, NULL);
    known__number("waits", ROUNDS + 1);
    known__number("wakes", ROUNDS);
    known__number("kept", kept);
}

/* ---- a FILE's lock, taken by a call that has no hook ----------------------------------------- */

static FILE *file;
static int round_number;

KNOWN_FUNCTION static void *move_in_file(void *nothing)
{
    for (int i = 1; i <= ROUNDS; i++) {
        known__await(&round_number, i);
        __atomic_store_n(&waiter_tid, known__tid(), __ATOMIC_RELEASE);
        KNOWN_CHECK(fseek(file, 0, SEEK_SET) == 0);
        __atomic_store_n(&waiter_tid, 0, __ATOMIC_RELEASE);
    }
    return nothing;
}

static void hold_file(void)
{
    pthread_t waiter;
    file = tmpfile();
    KNOWN_CHECK(file);
    KNOWN_CHECK(pthread_create(&waiter, NULL, move_in_file, NULL) == 0);
    for (int i = 1; i <= ROUNDS; i++) {
        flockfile(file);
        __atomic_store_n(&round_number, i, __ATOMIC_RELEASE);
        until_it_sleeps(file->_lock, 4);
        funlockfile(file);
        known__await(&waiter_tid, 0);
    }
    pthread_join(waiter, NULL);
    known__number("waits", ROUNDS);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "file") == 0)
        hold_file();
    else
        wake_inline();
    return 0;
}
