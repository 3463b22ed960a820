/* stub.S: what a patched function's jump leads to.
 *
 * A function's own piece of code near it does   push $id; jmp *stub   and nothing else. The stub
 * writes the enter event, calls the moved code, writes the leave event and returns.  All registers
 * but the flags are as the caller left them (callers compiled with -fipa-ra rely on it), and after
 * the call as the function left them.  The stack in a stub:
 *
 *        rsp+64   the function's arguments on the stack, if it has any
 *        rsp+56   return address of the caller        <- CFA - 8
 *        rsp+48   event id
 *        rsp+32   two words that are not used
 *        rsp+24   rcx
 *        rsp+16   rdx
 *        rsp+8    rax
 *        rsp+0    address of the moved code, and scratch before
 *
 * A call from here stores its return address 64 bytes below the caller's: functions whose callers
 * keep the stack aligned for vectors (-mpreferred-stack-boundary) rely on where it lies.
 *
 * There are two ways to call (enum heurt_mechanism).  "frame" calls from this very picture: the
 * caller's return address stays where it is, so every unwinder, debugger and shadow stack sees a
 * plain call chain with one frame more, described by this file's unwind information.
 *
 * "relocated return address" puts all of the picture aside first, the caller's return address included, and its own
 * call stores a return address in the very same slot: the function finds its arguments where they
 * belong.  What is put aside is a struct return_slot (relocated return address.c) of this thread's list, and rbx,
 * which functions preserve, leads to it.  Calls and returns still pair, so the processor predicts
 * returns, and shadow stacks agree.  For unwinders the stub's frame has no room of its own: its
 * stack pointer is the caller's.  They tell frames apart by the CFA that they came by (libgcc's
 * uw_identify_context), so this one is given an address that is no real frame's.
 */
#define ID 48
#define CALLER 56

/* Where the thread's struct is: rcx leads to it, in its thread-local memory or, of a library that came
 * while the program ran (attached.h), elsewhere. */
#ifdef HEURT_ATTACHED
#define OF_THREAD(member) member(%rcx)
        .macro  FIND_THREAD
        mov     heurt_own@gottpoff(%rip), %rcx
        mov     %fs:(%rcx), %rcx
        .endm
#else
#define OF_THREAD(member) %fs:member(%rcx)
        .macro  FIND_THREAD
        mov     heurt_thread@gottpoff(%rip), %rcx
        .endm
#endif

#define THREAD_NEXT 0
#define THREAD_LIMIT 8
#define THREAD_COUNTDOWNS 16
#define THREAD_RETURN_SLOT 24
#define THREAD_KERNEL_GATE 32
#define THREAD_KERNEL_SEEN 40

#define RETURN_SLOT_CALLER 0
#define RETURN_SLOT_RBX 8
#define RETURN_SLOT_NEXT 16
#define RETURN_SLOT_SLOT 24
#define RETURN_SLOT_BODY 32
#define RETURN_SLOT_TICK 40
#define RETURN_SLOT_ID 48

#define EVENT_FUNCTION 50

/* struct countdowns: function[id / 2].stack and .gap; to be scaled by 4 for an id */
#define COUNTDOWN_STACK 0
#define COUNTDOWN_GAP 4

        .text

/* The unwind rules of a return slot: the caller's return address is in rbx->caller and its rbx in
 * rbx->rbx (DW_CFA_expression, DW_OP_breg3); its rsp is rsp (DW_CFA_val_expression, DW_OP_breg7);
 * and a CFA of its own. */
        .macro  CFI_RETURN_SLOT
        .cfi_def_cfa %rsp, 2
        .cfi_escape 0x10, 16, 2, 0x73, RETURN_SLOT_CALLER
        .cfi_escape 0x10, 3, 2, 0x73, RETURN_SLOT_RBX
        .cfi_escape 0x16, 7, 2, 0x77, 0
        .endm

        .macro  SAVE
        mov     %rax, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rcx, 24(%rsp)
        .endm

        .macro  RESTORE
        mov     8(%rsp), %rax
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rcx
        .endm

/* Makes the next event's word of the tick in rdx:rax. */
        .macro  READ_TICK
        rdtsc
        shl     $32, %rdx
        or      %rdx, %rax
        .endm

/* Claims room for an event, rcx being heurt_thread's offset: rax is where, or jumps to full.
 * The limit is read first: see event__claim. */
        .macro  CLAIM wide, none
        mov     OF_THREAD(THREAD_LIMIT), %rdx
        mov     $8 + 8 * \wide, %eax
        xadd    %rax, OF_THREAD(THREAD_NEXT)
        .if     \wide
        lea     8(%rax), %rcx
        cmp     %rdx, %rcx
        .else
        cmp     %rdx, %rax
        .endif
        jae     \none
        .endm

/* Jumps to due when the kernel has written records of this thread that are not read yet: they come
 * before the leave event.  rcx is heurt_thread's offset; see kernel__look. */
        .macro  LOOK due
        mov     OF_THREAD(THREAD_KERNEL_GATE), %rax
        mov     (%rax), %rax
        test    %rax, %rax
        jz      14f
        mov     (%rax), %rax
        cmp     OF_THREAD(THREAD_KERNEL_SEEN), %rax
        jne     \due
14:
        .endm

/* rax = address of the moved code of the function in rcx. heurt_state's first member: bodies, by
 * id / 2. */
        .macro  FIND_BODY
        mov     heurt_state(%rip), %rax
        mov     (%rax,%rcx,4), %rax
        .endm

/* At a stub's beginning: a function that is sampled is counted, and most of its occurrences are left
 * out: the moved code is entered as if nothing were there.  Else goes on behind with heurt_thread's
 * offset in rcx, the countdowns in rdx (may be NULL) and the id in eax.  LEFT_OUT is the rest of it,
 * out of the way. */
        .macro  LEAVE_OUT
        FIND_THREAD
        mov     OF_THREAD(THREAD_COUNTDOWNS), %rdx
        mov     ID(%rsp), %eax
        test    %rdx, %rdx
        jz      22f
        cmpl    $0, COUNTDOWN_GAP(%rdx,%rax,4)
        jne     20f
22:
        .endm

        .macro  LEFT_OUT
20:     subl    $1, COUNTDOWN_GAP(%rdx,%rax,4)
        jle     23f
        JUMP_TO_BODY
23:     call    heurt_stub_drawn_saved
        FIND_THREAD
        mov     OF_THREAD(THREAD_COUNTDOWNS), %rdx
        mov     ID(%rsp), %eax
        jmp     22b
        .endm

/* Enters the moved code as if nothing were there.  Its address takes the id's place, which the last
 * instruction finds below the stack pointer: a signal handler leaves 128 bytes there alone. */
        .macro  JUMP_TO_BODY
        mov     ID(%rsp), %ecx
        FIND_BODY
        mov     %rax, ID(%rsp)
        RESTORE
        .cfi_remember_state
        add     $CALLER, %rsp
        .cfi_adjust_cfa_offset -CALLER
        jmp     *-8(%rsp)
        .cfi_restore_state
        .endm

/* Takes a struct return_slot off this thread's list and makes rbx lead to it. The list's head is its
 * address << 16 and a number that each return to the list changes: whatever handlers do between our
 * two looks at it, cmpxchg notices. What else is in it is written when nobody else can find it. */
        .macro  POP_CALL none
        mov     %rbx, (%rsp)
        .cfi_rel_offset %rbx, 0
11:     mov     OF_THREAD(THREAD_RETURN_SLOT), %rax
        mov     %rax, %rbx
        shr     $16, %rbx
        jz      \none
        mov     RETURN_SLOT_NEXT(%rbx), %rdx
        mov     %ax, %dx
        cmpxchg %rdx, OF_THREAD(THREAD_RETURN_SLOT)
        jne     11b
12:     mov     (%rsp), %rdx
        mov     %rdx, RETURN_SLOT_RBX(%rbx)
        .cfi_escape 0x10, 3, 2, 0x73, RETURN_SLOT_RBX
        mov     CALLER(%rsp), %rdx
        mov     %rdx, RETURN_SLOT_CALLER(%rbx)
        mov     ID(%rsp), %ecx
        mov     %rcx, RETURN_SLOT_ID(%rbx)
        FIND_BODY
        mov     %rax, RETURN_SLOT_BODY(%rbx)
        .endm

        .macro  PUSH_CALL
        mov     RETURN_SLOT_RBX(%rbx), %rdx
        mov     %rdx, (%rsp)
        .cfi_rel_offset %rbx, 0
        movq    $0, RETURN_SLOT_SLOT(%rbx)
        FIND_THREAD
13:     mov     OF_THREAD(THREAD_RETURN_SLOT), %rax
        mov     %rax, RETURN_SLOT_NEXT(%rbx)
        mov     %rbx, %rdx
        shl     $16, %rdx
        mov     %ax, %dx
        inc     %dx
        cmpxchg %rdx, OF_THREAD(THREAD_RETURN_SLOT)
        jne     13b
        mov     (%rsp), %rbx
        .cfi_restore %rbx
        .endm

/* The call of the moved code, from the picture above and back to it. */
        .macro  CALL_BODY return_slot
        .if     \return_slot
        lea     CALLER(%rsp), %rdx
        mov     %rdx, RETURN_SLOT_SLOT(%rbx)         /* tells that the rest is valid */
        RESTORE
        .cfi_remember_state
        add     $CALLER + 8, %rsp
        CFI_RETURN_SLOT
        call    *RETURN_SLOT_BODY(%rbx)
        pushq   RETURN_SLOT_CALLER(%rbx)
        .cfi_restore_state
        .cfi_def_cfa_offset 8
        pushq   RETURN_SLOT_ID(%rbx)
        .cfi_adjust_cfa_offset 8
        sub     $ID, %rsp
        .cfi_adjust_cfa_offset ID
        .else
        mov     ID(%rsp), %ecx
        FIND_BODY
        mov     %rax, (%rsp)
        RESTORE
        call    *(%rsp)
        .endif
        SAVE
        .endm

/* ordered: the leave's time stamp waits until all that the function did is done.  The processor
 * takes a plain one while loads and locked instructions before it are still under way: 20 additions
 * to a counter that another core writes, too, were seen as 10 to 28 ns.  It costs 10 ns, so only
 * functions that have locked instructions get it.
 * wide: the id does not fit into an event's word; it is the word after that of FUNCTION.
 * full: the events are written in C: functions whose arguments are recorded, or where the clock is
 * not the TSC. */
        .macro  STUB name, return_slot=0, ordered=0, wide=0, full=0
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        .cfi_personality 0x1b, heurt_personality
        .cfi_def_cfa_offset 16
        endbr64
        sub     $ID, %rsp
        .cfi_adjust_cfa_offset ID
        SAVE
        LEAVE_OUT
        .if     \return_slot
        POP_CALL 6f
        .endif
        .if     !\full
        .if     \return_slot
        FIND_THREAD
        mov     OF_THREAD(THREAD_COUNTDOWNS), %rdx
        mov     ID(%rsp), %eax
        .endif
        test    %rdx, %rdx
        jz      1f
        subl    $1, COUNTDOWN_STACK(%rdx,%rax,4)
        js      1f
        CLAIM   \wide, 2f
        mov     %rax, (%rsp)
        READ_TICK
        .if     \return_slot
        mov     %rax, RETURN_SLOT_TICK(%rbx)
        .endif
        shl     $16, %rax
        mov     ID(%rsp), %ecx
        mov     (%rsp), %rdx
        .if     \wide
        mov     %rcx, 8(%rdx)
        or      $EVENT_FUNCTION, %rax
        .else
        or      %rcx, %rax
        .endif
        mov     %rax, (%rdx)
3:      CALL_BODY \return_slot
        FIND_THREAD
        LOOK    15f
        CLAIM   \wide, 4f
        mov     %rax, %rcx
        .if     \ordered
        lfence
        .endif
        READ_TICK
        shl     $16, %rax
        mov     ID(%rsp), %edx
        .if     \wide
        mov     %rdx, 8(%rcx)
        or      $EVENT_FUNCTION | 1, %rax
        .else
        or      $1, %edx
        or      %rdx, %rax
        .endif
        mov     %rax, (%rcx)
        .else
        .if     \return_slot
        call    heurt_return_slot_enter_saved
        .else
        call    heurt_stub_enter_saved
        .endif
        CALL_BODY \return_slot
        movq    $0, (%rsp)
        call    heurt_stub_leave_saved
        .endif
5:
        .if     \return_slot
        PUSH_CALL
        .endif
        RESTORE
        .cfi_remember_state
        add     $CALLER, %rsp
        .cfi_adjust_cfa_offset -CALLER
        ret
        .cfi_restore_state

        .if     !\full
        /* Slow ways: the chunk is full, or a call stack is due. */
        .if     \return_slot
        .cfi_escape 0x10, 3, 2, 0x73, RETURN_SLOT_RBX
1:      call    heurt_return_slot_enter_saved
        jmp     3b
2:      mov     %rax, (%rsp)
        call    heurt_return_slot_refill_saved
        jmp     3b
        .else
1:      call    heurt_stub_enter_saved
        jmp     3b
2:      mov     %rax, (%rsp)
        call    heurt_stub_refill_saved
        jmp     3b
        .endif
15:     xor     %eax, %eax
4:      mov     %rax, (%rsp)
        call    heurt_stub_leave_saved
        jmp     5b
        .endif

        .if     \return_slot
        /* The list is empty. When there is no more, the function runs unrecorded. */
6:      .cfi_rel_offset %rbx, 0
        call    heurt_return_slot_take_saved
        test    %rbx, %rbx
        jnz     12b
        mov     (%rsp), %rbx
        .cfi_restore %rbx
        JUMP_TO_BODY
        .endif
        .cfi_restore %rbx
        LEFT_OUT
        .cfi_endproc
        .size   \name, . - \name
        .endm

        STUB    heurt_stub
        STUB    heurt_stub_ordered, ordered=1
        STUB    heurt_stub_wide, wide=1
        STUB    heurt_stub_wide_ordered, wide=1, ordered=1
        STUB    heurt_stub_full, full=1
        .globl  heurt_return_slot_first, heurt_return_slot_last
        .hidden heurt_return_slot_first, heurt_return_slot_last
heurt_return_slot_first:
        STUB    heurt_return_slot, return_slot=1
        STUB    heurt_return_slot_ordered, return_slot=1, ordered=1
        STUB    heurt_return_slot_wide, return_slot=1, wide=1
        STUB    heurt_return_slot_wide_ordered, return_slot=1, wide=1, ordered=1
        STUB    heurt_return_slot_full, return_slot=1, full=1
heurt_return_slot_last:

/* void heurt_calibrate_call(const void *stub, uint64_t id): calls it as a patched function's own
 * piece of code does. */
        .globl  heurt_calibrate_call, heurt_calibrate_body
        .hidden heurt_calibrate_call, heurt_calibrate_body
        .type   heurt_calibrate_call, @function
        .type   heurt_calibrate_body, @function
        .p2align 4
heurt_calibrate_call:
        push    %rsi
        jmp     *%rdi
        .p2align 4
heurt_calibrate_body:
        ret

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
        .cfi_rel_offset %rbx, 0
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
        .cfi_restore %rbx
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

/* What a loop's own code near it calls when the thread's counter has run out:
 *
 *        rsp+144  the loop's stack pointer (its red zone and the saved rax are below)
 *        rsp+8    event id of the loop
 *        rsp+0    back to that code
 *
 * All registers and flags are as they were when it returns. */
        .globl  heurt_loop
        .hidden heurt_loop
        .type   heurt_loop, @function
        .p2align 4
heurt_loop:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushfq
        .cfi_adjust_cfa_offset 8
        .irp    register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11, rbx
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        .cfi_rel_offset %rbx, 0
        mov     %rsp, %rbx
        .cfi_def_cfa_register %rbx
        mov     96(%rsp), %edi
        lea     240(%rsp), %rsi
        and     $-16, %rsp
        cld
        call    heurt_loop_mark
        mov     %rbx, %rsp
        .cfi_def_cfa_register %rsp
        .irp    register, rbx, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        .cfi_restore %rbx
        popfq
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   heurt_loop, . - heurt_loop

        SAVED   heurt_stub_drawn_saved, heurt_stub_drawn
        SAVED   heurt_stub_enter_saved, heurt_stub_enter
        SAVED   heurt_stub_refill_saved, heurt_stub_refill
        SAVED   heurt_stub_leave_saved, heurt_stub_leave
        SAVED   heurt_return_slot_take_saved, heurt_return_slot_take
        SAVED   heurt_return_slot_enter_saved, heurt_return_slot_enter
        SAVED   heurt_return_slot_refill_saved, heurt_return_slot_refill

/* Where the moved code of an inline system call goes that is futex(2) (src/patch/move.c): rcx leads to
 * the address behind the original call, and 16 bytes behind that the moved code goes on.  Of the
 * registers rcx and r11 are free, and rax, which is known; the flags are kept, because the
 * instruction keeps them.  What is below the stack pointer may be the function's red zone. */
        .globl  heurt_system_call_stub
        .hidden heurt_system_call_stub
        .type   heurt_system_call_stub, @function
        .p2align 4
heurt_system_call_stub:
        .cfi_startproc
        .cfi_def_cfa %rsp, 0
        .cfi_escape 0x10, 16, 2, 0x72, 0                /* the return address is where rcx leads to */
        endbr64
        lea     -128(%rsp), %rsp
        .cfi_adjust_cfa_offset 128
        push    (%rcx)
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset 16, 0
        lea     16(%rcx), %rcx
        push    %rcx
        .cfi_adjust_cfa_offset 8
        mov     %rax, %r11                              /* the number of the call */
        lahf
        seto    %al
        push    %rax
        .cfi_adjust_cfa_offset 8
        .irp    register, r11, rdi, rsi, rdx, r10, r8, r9, rbx
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        .cfi_rel_offset %rbx, 0
        mov     %rsp, %rdi
        mov     %rsp, %rbx
        .cfi_def_cfa_register %rbx
        and     $-16, %rsp
        cld
        call    heurt_inline_call
        mov     %rbx, %rsp
        .cfi_def_cfa_register %rsp
        mov     %rax, %r11
        .irp    register, rbx, r9, r8, r10, rdx, rsi, rdi
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        .cfi_restore %rbx
        pop     %rax                                    /* the number, once more */
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        add     $0x7f, %al                              /* sets OF where it was */
        sahf
        mov     %r11, %rax
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        lea     136(%rsp), %rsp
        .cfi_adjust_cfa_offset -136
        .cfi_escape 0x10, 16, 2, 0x72, 0x70             /* 16 bytes before rcx */
        jmp     *%rcx
        .cfi_endproc
        .size   heurt_system_call_stub, . - heurt_system_call_stub

/* syscall(2)'s wrapper: futex, and what sets a filter of system calls or the user, are looked at; everything
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
        cmp     $105, %rdi                      /* setuid */
        je      heurt_caging_call
        cmp     $113, %rdi                      /* setreuid */
        je      heurt_caging_call
        cmp     $117, %rdi                      /* setresuid */
        je      heurt_caging_call
        mov     heurt_real(%rip), %rax          /* its first member: syscall */
        test    %rax, %rax
        jz      heurt_early_syscall             /* before the constructor has run */
        jmp     *%rax
        .cfi_endproc
        .size   syscall, . - syscall

        .section .note.GNU-stack, "", @progbits
