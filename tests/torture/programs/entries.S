/* First instructions of every kind, for entries.c. Each takes rdi = 0 … 9 (rsi, rdx, rcx as the
 * caller there gives them) and returns in eax. */
    .intel_syntax noprefix

    .macro function name
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    .endm

    .macro end name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .data
    .p2align 4
word:
    .long 41
    .long 5
real:
    .double 2.5
pointer:
    .quad e_helper
target:
    .quad e_helper
changed:
    .long 0
    .text

/* Called by others without an aligned stack. */
function e_helper
    lea eax, [rdi + rdi * 2 + 1]
    ret
end e_helper

/* ---- short ones ------------------------------------------------------------------------------ */

function e_one_byte
    ret
end e_one_byte

function e_two_bytes
    rep ret
end e_two_bytes

function e_four_bytes
    lea eax, [rdi + 1]
    ret
end e_four_bytes

    .p2align 4
    .globl e_one_tight, e_behind, e_four_tight, e_behind_four
    .type e_one_tight, @function
    .type e_behind, @function
e_one_tight:
    .cfi_startproc
    ret
    .cfi_endproc
    .size e_one_tight, . - e_one_tight
e_behind:
    .cfi_startproc
    lea eax, [rdi + 9]
    add eax, edi
    ret
    .cfi_endproc
    .size e_behind, . - e_behind

    .p2align 4
    .type e_four_tight, @function
    .type e_behind_four, @function
e_four_tight:
    .cfi_startproc
    lea eax, [rdi + 2]
    ret
    .cfi_endproc
    .size e_four_tight, . - e_four_tight
e_behind_four:
    .cfi_startproc
    lea eax, [rdi + 8]
    add eax, edi
    ret
    .cfi_endproc
    .size e_behind_four, . - e_behind_four

/* ---- loops to their first bytes -------------------------------------------------------------- */

    .macro loop_to offset
    function e_loop\offset
    .rept \offset
    nop
    .endr
1:
    lea eax, [rax + rdi]
    dec edi
    jg 1b
    lea eax, [rdi + 3]
    ret
    end e_loop\offset
    .endm
    .irp offset, 0, 1, 2, 3, 4, 5
    loop_to \offset
    .endr

/* ---- branches first -------------------------------------------------------------------------- */

function e_jcc_first
    test edi, edi
    je 1f
    lea eax, [rdi + 10]
    ret
1:
    mov eax, 7
    ret
end e_jcc_first

/* Nobody knows the flags at an entry: both ways lead to the same. */
function e_jcc_very_first
    js 1f
    nop
    nop
    nop
    nop
1:
    lea eax, [rdi + 11]
    ret
end e_jcc_very_first

function e_jrcxz_first
    jrcxz 1f
    lea eax, [rcx + 1]
    add eax, edi
    ret
1:
    mov eax, 77
    ret
end e_jrcxz_first

function e_jecxz_first
    jecxz 1f
    lea eax, [rcx + 2]
    add eax, edi
    ret
1:
    mov eax, 78
    ret
end e_jecxz_first

function e_loop_first
    loop 1f
    lea eax, [rcx + 3]
    add eax, edi
    ret
1:
    lea eax, [rcx + 400]
    ret
end e_loop_first

function e_loopne_first
    cmp edi, 3
    loopne 1f
    lea eax, [rcx + 3]
    ret
1:
    lea eax, [rcx + 500]
    ret
end e_loopne_first

function e_loope_first
    cmp edi, 3
    loope 1f
    lea eax, [rcx + 3]
    ret
1:
    lea eax, [rcx + 600]
    ret
end e_loope_first

function e_jmp_short
    jmp 1f
    .fill 20, 1, 0xcc
1:
    lea eax, [rdi + 4]
    ret
end e_jmp_short

function e_jmp_memory
    jmp qword ptr [rip + target]
end e_jmp_memory

function e_jmp_register
    nop
    nop
    nop
    jmp rsi
end e_jmp_register

function e_jmp_register_first
    jmp rsi
end e_jmp_register_first
    .fill 8, 1, 0xcc

/* ---- calls first ----------------------------------------------------------------------------- */

function e_call_first
    call e_helper
    add eax, 5
    ret
end e_call_first

function e_call_second
    push rbx
    .cfi_adjust_cfa_offset 8
    mov ebx, edi
    call e_helper
    add eax, ebx
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end e_call_second

function e_call_register
    call rsi
    lea eax, [rax + rax]
    ret
end e_call_register

function e_call_memory
    call qword ptr [rip + pointer]
    add eax, 6
    ret
end e_call_memory

function e_call_memory_register
    call qword ptr [rdx]
    add eax, 7
    ret
end e_call_memory_register

/* Where am I: as 32-bit habits have it. */
function e_call_next
    call 1f
1:
    pop rax
    lea rdx, [rip + 1b]
    sub rax, rdx
    add eax, edi
    ret
end e_call_next

/* ---- operands that depend on the place ------------------------------------------------------- */

function e_rip_cmp
    cmp dword ptr [rip + word], edi
    setg al
    movzx eax, al
    ret
end e_rip_cmp

function e_rip_cmp_byte
    cmp byte ptr [rip + word], 41
    sete al
    movzx eax, al
    add eax, edi
    ret
end e_rip_cmp_byte

function e_rip_cmp_long
    cmp qword ptr [rip + word], 0x12345678
    seta al
    movzx eax, al
    add eax, edi
    ret
end e_rip_cmp_long

function e_rip_sse
    movsd xmm0, qword ptr [rip + real]
    cvtsi2sd xmm1, edi
    mulsd xmm0, xmm1
    cvttsd2si eax, xmm0
    ret
end e_rip_sse

function e_rip_sse_second
    cvtsi2sd xmm0, edi
    addsd xmm0, qword ptr [rip + real]
    cvttsd2si eax, xmm0
    ret
end e_rip_sse_second

function e_rip_mov
    mov eax, dword ptr [rip + word + 4]
    add eax, edi
    ret
end e_rip_mov

function e_rip_store
    mov dword ptr [rip + changed], 0x1234567
    mov eax, dword ptr [rip + changed]
    add eax, edi
    ret
end e_rip_store

function e_rip_push
    push qword ptr [rip + word]
    .cfi_adjust_cfa_offset 8
    pop rax
    .cfi_adjust_cfa_offset -8
    add eax, edi
    ret
end e_rip_push

/* ---- other first instructions ---------------------------------------------------------------- */

function e_long_immediate
    movabs rax, 0x1122334455667788
    shr rax, 32
    add eax, edi
    ret
end e_long_immediate

function e_thread_local
    mov rax, qword ptr fs:[0]
    sub rax, qword ptr fs:[0]
    add eax, edi
    ret
end e_thread_local

function e_locked
    lock add dword ptr [rip + changed], 0
    lea eax, [rdi + 5]
    ret
end e_locked

function e_enter
    enter 16, 0
    .cfi_def_cfa rbp, 16
    mov dword ptr [rbp - 4], edi
    mov eax, dword ptr [rbp - 4]
    leave
    .cfi_def_cfa rsp, 8
    ret
end e_enter

function e_flags
    pushfq
    .cfi_adjust_cfa_offset 8
    popfq
    .cfi_adjust_cfa_offset -8
    lea eax, [rdi + 6]
    ret
end e_flags

function e_align
    push rbp
    .cfi_def_cfa_offset 16
    mov rbp, rsp
    .cfi_def_cfa rbp, 16
    and rsp, -64
    lea rax, [rsp]
    and eax, 63
    add eax, edi
    leave
    .cfi_def_cfa rsp, 8
    ret
end e_align

function e_system_call
    mov eax, 186
    syscall
    xor eax, eax
    add eax, edi
    ret
end e_system_call

function e_string
    mov rcx, rdi
    lea rdi, [rsp - 64]
    mov eax, 3
    rep stosb
    lea eax, [rcx + 3]
    ret
end e_string

function e_nops
    .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
    lea eax, [rdi + 8]
    ret
end e_nops

/* Takes its argument from the stack away when it returns. */
function e_pops
    mov eax, dword ptr [rsp + 8]
    add eax, edi
    ret 8
end e_pops

/* Who is inside of its caller's frame. */
function e_calls_pops
    push rbx
    .cfi_adjust_cfa_offset 8
    mov rbx, rsp
    .cfi_def_cfa rbx, 16
    lea eax, [rdi + 100]
    push rax
    call e_pops
    sub rbx, rsp
    add eax, ebx
    mov rbx, rsp
    pop rbx
    .cfi_def_cfa rsp, 8
    ret
end e_calls_pops

/* ---- what a call may not change -------------------------------------------------------------- */

function e_touches_nothing
    nop
    nop
    nop
    nop
    ret
end e_touches_nothing

/* The same, and perhaps it takes arguments on the stack. */
function e_touches_stack
    test byte ptr [rsp + 8], 1
    ret
end e_touches_stack

/* int registers_kept(void (*f)(void), const void *values): fills all registers, calls f, and tells
 * which are other ones then: bit i for the general register i in the order below, 16 + i for xmm i,
 * 32 the control words, 33 the x87 stack. values: 16 words. */
    .section .bss
    .p2align 4
kept_pointer:
    .skip 8
kept_stack:
    .skip 8
kept_general:
    .skip 16 * 8
kept_vectors:
    .skip 16 * 16
kept_control:
    .skip 8
    .text
function registers_kept
    push rbx
    .cfi_adjust_cfa_offset 8
    push rbp
    .cfi_adjust_cfa_offset 8
    push r12
    .cfi_adjust_cfa_offset 8
    push r13
    .cfi_adjust_cfa_offset 8
    push r14
    .cfi_adjust_cfa_offset 8
    push r15
    .cfi_adjust_cfa_offset 8
    sub rsp, 24
    .cfi_adjust_cfa_offset 24
    mov qword ptr [rip + kept_pointer], rdi
    mov qword ptr [rip + kept_stack], rsp
    stmxcsr dword ptr [rsp + 8]
    fnstcw word ptr [rsp + 12]
    mov eax, dword ptr [rsp + 8]
    or eax, 0x6000
    mov dword ptr [rip + kept_control], eax
    ldmxcsr dword ptr [rip + kept_control]
    movzx eax, word ptr [rsp + 12]
    or eax, 0x0c00
    mov dword ptr [rip + kept_control + 4], eax
    fldcw word ptr [rip + kept_control + 4]
    fld1
    fldpi
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movq xmm\i, qword ptr [rsi + 8 * \i]
    punpcklqdq xmm\i, xmm\i
    .endr
    mov rax, qword ptr [rsi]
    mov rbx, qword ptr [rsi + 8]
    mov rcx, qword ptr [rsi + 16]
    mov rdx, qword ptr [rsi + 24]
    mov rdi, qword ptr [rsi + 40]
    mov rbp, qword ptr [rsi + 48]
    .irp i, 8, 9, 10, 11, 12, 13, 14, 15
    mov r\i, qword ptr [rsi + 8 * (\i - 1)]
    .endr
    mov rsi, qword ptr [rsi + 32]
    call qword ptr [rip + kept_pointer]
    mov qword ptr [rip + kept_general], rax
    mov qword ptr [rip + kept_general + 8], rbx
    mov qword ptr [rip + kept_general + 16], rcx
    mov qword ptr [rip + kept_general + 24], rdx
    mov qword ptr [rip + kept_general + 32], rsi
    mov qword ptr [rip + kept_general + 40], rdi
    mov qword ptr [rip + kept_general + 48], rbp
    .irp i, 8, 9, 10, 11, 12, 13, 14, 15
    mov qword ptr [rip + kept_general + 8 * (\i - 1)], r\i
    .endr
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movdqu [rip + kept_vectors + 16 * \i], xmm\i
    .endr
    stmxcsr dword ptr [rsp + 16]
    mov ecx, dword ptr [rsp + 16]
    xor eax, eax
    cmp ecx, dword ptr [rip + kept_control]
    setne al
    fnstcw word ptr [rsp + 20]
    movzx ecx, word ptr [rsp + 20]
    cmp ecx, dword ptr [rip + kept_control + 4]
    setne cl
    or al, cl
    fldpi
    fucomip st, st(1)
    setne cl
    or al, cl
    fstp st(0)
    fld1
    fucomip st, st(1)
    setne cl
    or al, cl
    fstp st(0)
    cmp rsp, qword ptr [rip + kept_stack]
    setne cl
    or al, cl
    ldmxcsr dword ptr [rsp + 8]
    fldcw word ptr [rsp + 12]
    add rsp, 24
    .cfi_adjust_cfa_offset -24
    pop r15
    .cfi_adjust_cfa_offset -8
    pop r14
    .cfi_adjust_cfa_offset -8
    pop r13
    .cfi_adjust_cfa_offset -8
    pop r12
    .cfi_adjust_cfa_offset -8
    pop rbp
    .cfi_adjust_cfa_offset -8
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end registers_kept

/* What it left in the registers. */
function kept_in_general
    lea rax, [rip + kept_general]
    ret
end kept_in_general
function kept_in_vectors
    lea rax, [rip + kept_vectors]
    ret
end kept_in_vectors

    .section .note.GNU-stack, "", @progbits
