/* stub.S: what a patched function's jump leads to.
 *
 * A function's own piece of code near it does   push $id; jmp *heurt_stub   and nothing else. The
 * stub writes the enter event, calls the moved code in frame, writes the leave event and returns.
 * The caller's return address stays where it is, so every unwinder, debugger and shadow stack sees
 * a plain call chain with one frame more, described by this file's unwind information.
 *
 *     at the call of the moved code:
 *
 *        rsp+40   return address of the caller        <- CFA - 8
 *        rsp+32   event id
 *        rsp+24   rcx
 *        rsp+16   rdx
 *        rsp+8    rax
 *        rsp+0    address of the moved code, and scratch before
 *
 * All registers but the flags are as the caller left them (callers compiled with -fipa-ra rely on
 * it), and after the call as the function left them.
 */
#define THREAD_NEXT 0
#define THREAD_LIMIT 8
#define THREAD_COUNTDOWNS 16

/* struct countdowns: function[id / 2].stack and .gap; to be scaled by 4 for an id */
#define COUNTDOWN_STACK 0
#define COUNTDOWN_GAP 4

        .text

/* At a stub's beginning, when rax, rdx and rcx are saved: a function that is sampled is counted,
 * and most of its occurrences are left out: the moved code is entered as if nothing were there.
 * Else goes on behind with heurt_thread's offset in rcx, the countdowns in rdx (may be NULL) and
 * the id in eax.  LEFT_OUT is the rest of it, out of the way. */
        .macro  LEAVE_OUT
        mov     heurt_thread@gottpoff(%rip), %rcx
        mov     %fs:THREAD_COUNTDOWNS(%rcx), %rdx
        mov     32(%rsp), %eax
        test    %rdx, %rdx
        jz      22f
        cmpl    $0, COUNTDOWN_GAP(%rdx,%rax,4)
        jne     20f
22:
        .endm

/* The address to go to takes the id's place, which the last instruction finds below the stack
 * pointer: a signal handler leaves 128 bytes there alone. */
        .macro  LEFT_OUT
20:     subl    $1, COUNTDOWN_GAP(%rdx,%rax,4)
        jle     23f
        mov     heurt_state(%rip), %rdx         /* its first member: bodies */
        mov     (%rdx,%rax,4), %rdx             /* bodies[id / 2] */
        mov     %rdx, 32(%rsp)
        mov     8(%rsp), %rax
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        add     $40, %rsp
        .cfi_adjust_cfa_offset -40
        jmp     *-8(%rsp)
        .cfi_adjust_cfa_offset 40
23:     call    heurt_stub_drawn_saved
        mov     heurt_thread@gottpoff(%rip), %rcx
        mov     %fs:THREAD_COUNTDOWNS(%rcx), %rdx
        mov     32(%rsp), %eax
        jmp     22b
        .endm

/* Restores what the entry saved and calls the moved code; then the leave event. */
        .macro  CALL_AND_LEAVE
        mov     32(%rsp), %ecx
        mov     heurt_state(%rip), %rax         /* its first member: bodies */
        mov     (%rax,%rcx,4), %rax             /* bodies[id / 2] */
        mov     %rax, (%rsp)
        mov     8(%rsp), %rax
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        call    *(%rsp)
        .endm

/* ordered: the leave's time stamp waits until all that the function did is done.  The processor
 * takes a plain one while loads and locked instructions before it are still under way: 20 additions
 * to a counter that another core writes, too, were seen as 10 to 28 ns.  It costs 10 ns, so only
 * functions that have locked instructions get it. */
        .macro  STUB name, ordered
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        .cfi_personality 0x1b, heurt_personality
        .cfi_def_cfa_offset 16
        endbr64
        sub     $32, %rsp
        .cfi_adjust_cfa_offset 32
        mov     %rax, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        LEAVE_OUT
        test    %rdx, %rdx
        jz      1f
        subl    $1, COUNTDOWN_STACK(%rdx,%rax,4)
        js      1f
        mov     %fs:THREAD_LIMIT(%rcx), %rdx    /* before the claim: see event__claim */
        mov     $8, %eax
        xadd    %rax, %fs:THREAD_NEXT(%rcx)
        cmp     %rdx, %rax
        jae     2f
        mov     %rax, (%rsp)
        rdtsc
        shl     $32, %rdx
        or      %rdx, %rax
        shl     $16, %rax
        mov     32(%rsp), %ecx
        or      %rcx, %rax
        mov     (%rsp), %rdx
        mov     %rax, (%rdx)
3:      CALL_AND_LEAVE
        mov     %rax, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        mov     heurt_thread@gottpoff(%rip), %rcx
        mov     %fs:THREAD_LIMIT(%rcx), %rdx
        mov     $8, %eax
        xadd    %rax, %fs:THREAD_NEXT(%rcx)
        cmp     %rdx, %rax
        jae     4f
        mov     %rax, %rcx
        .if     \ordered
        lfence
        .endif
        rdtsc
        shl     $32, %rdx
        or      %rdx, %rax
        shl     $16, %rax
        mov     32(%rsp), %edx
        or      $1, %edx
        or      %rdx, %rax
        mov     %rax, (%rcx)
5:      mov     8(%rsp), %rax
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        add     $40, %rsp
        .cfi_adjust_cfa_offset -40
        ret
        .cfi_adjust_cfa_offset 40

        /* Slow ways: the chunk is full, or a call stack is due. */
1:      call    heurt_stub_enter_saved
        jmp     3b
2:      mov     %rax, (%rsp)
        call    heurt_stub_refill_saved
        jmp     3b
4:      mov     %rax, (%rsp)
        call    heurt_stub_leave_saved
        jmp     5b
        LEFT_OUT
        .cfi_endproc
        .size   \name, . - \name
        .endm

        STUB    heurt_stub, 0
        STUB    heurt_stub_ordered, 1

/* The same for functions whose arguments are recorded, and where the clock is not the TSC. */
        .globl  heurt_stub_full
        .hidden heurt_stub_full
        .type   heurt_stub_full, @function
        .p2align 4
heurt_stub_full:
        .cfi_startproc
        .cfi_personality 0x1b, heurt_personality
        .cfi_def_cfa_offset 16
        endbr64
        sub     $32, %rsp
        .cfi_adjust_cfa_offset 32
        mov     %rax, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        LEAVE_OUT
        call    heurt_stub_enter_saved
        CALL_AND_LEAVE
        mov     %rax, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        movq    $0, (%rsp)
        call    heurt_stub_leave_saved
        mov     8(%rsp), %rax
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        add     $40, %rsp
        .cfi_adjust_cfa_offset -40
        ret
        .cfi_adjust_cfa_offset 40
        LEFT_OUT
        .cfi_endproc
        .size   heurt_stub_full, . - heurt_stub_full

/* Calls a function in C that uses no vector registers, with all other registers saved:
 * struct stub_frame in patch.c is this picture. */
        .macro  SAVED name, target
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        push    %r11
        .cfi_adjust_cfa_offset 8
        push    %rbx
        .cfi_adjust_cfa_offset 8
        push    %rbp
        .cfi_adjust_cfa_offset 8
        push    %r12
        .cfi_adjust_cfa_offset 8
        push    %r13
        .cfi_adjust_cfa_offset 8
        push    %r14
        .cfi_adjust_cfa_offset 8
        push    %r15
        .cfi_adjust_cfa_offset 8
        mov     %rsp, %rdi
        mov     %rsp, %rbx
        .cfi_def_cfa_register %rbx
        and     $-16, %rsp
        cld
        call    \target
        mov     %rbx, %rsp
        .cfi_def_cfa_register %rsp
        pop     %r15
        .cfi_adjust_cfa_offset -8
        pop     %r14
        .cfi_adjust_cfa_offset -8
        pop     %r13
        .cfi_adjust_cfa_offset -8
        pop     %r12
        .cfi_adjust_cfa_offset -8
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        pop     %r11
        .cfi_adjust_cfa_offset -8
        pop     %r10
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        SAVED   heurt_stub_drawn_saved, heurt_stub_drawn
        SAVED   heurt_stub_enter_saved, heurt_stub_enter
        SAVED   heurt_stub_refill_saved, heurt_stub_refill
        SAVED   heurt_stub_leave_saved, heurt_stub_leave

/* syscall(2)'s wrapper: futex, and what sets a filter of system calls, are looked at; everything
 * else goes on untouched, also calls that return twice. */
        .globl  syscall
        .type   syscall, @function
        .p2align 4
syscall:
        .cfi_startproc
        endbr64
        cmp     $202, %rdi
        je      heurt_futex
        cmp     $157, %rdi                      /* prctl */
        je      heurt_caging_call
        cmp     $317, %rdi                      /* seccomp */
        je      heurt_caging_call
        mov     heurt_real(%rip), %rax          /* its first member: syscall */
        test    %rax, %rax
        jz      heurt_early_syscall             /* before the constructor has run */
        jmp     *%rax
        .cfi_endproc
        .size   syscall, . - syscall

        .section .note.GNU-stack, "", @progbits
