/* Functions for tests/unit/test_loops.c, each of one thing about loops: they are run before and after
 * their loops are marked, with rdi = 0 … 9. */
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

    .text

/* The shortest there is: the jump needs bytes from behind the loop. */
function l_short
    lea ecx, [rdi + 1]
    xor eax, eax
    nop
    nop
    nop
    nop
    nop
1:  dec ecx
    jnz 1b
    mov eax, 7
    ret
end l_short

/* Flags that are set once and read in every iteration: at no place are they dead. */
function l_flags
    lea rcx, [rdi + 1]
    xor eax, eax
    cmp rdi, 5
1:  mov edx, 0
    setl dl
    lea rax, [rax + rdx]
    mov edx, 0
    seto dl
    lea rax, [rax + rdx*8]
    mov edx, 0
    setp dl
    lea rax, [rax + rdx*2]
    mov edx, 0
    setz dl
    lea rax, [rax + rdx*4]
    loop 1b
    ret
end l_flags

/* A carry from one iteration to the next. */
function l_carry
    mov rcx, rdi
    inc rcx
    mov rax, -3
    clc
1:  adc rax, 1
    lea rdx, [rax + 1]
    dec rcx
    jnz 1b
    sbb rax, 0
    ret
end l_carry

/* What the function keeps is below the stack pointer. */
function l_red_zone
    mov qword ptr [rsp - 8], rdi
    mov qword ptr [rsp - 128], 1
    lea rcx, [rdi + 3]
1:  mov rax, qword ptr [rsp - 128]
    add rax, qword ptr [rsp - 8]
    mov qword ptr [rsp - 128], rax
    dec rcx
    jnz 1b
    ret
end l_red_zone

/* Two loops, one in the other; the outer one's head is not the inner one's. */
function l_nested
    lea rcx, [rdi + 2]
    xor eax, eax
1:  mov rdx, rcx
    imul rdx, rdx, 3
2:  add rax, rdx
    xor rax, 85
    dec rdx
    jnz 2b
    dec rcx
    jnz 1b
    ret
end l_nested

/* A call in the loop, which returns in front of where it can be marked. */
function l_calls
    push rbx
    .cfi_adjust_cfa_offset 8
    push rbp
    .cfi_adjust_cfa_offset 8
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    lea rbx, [rdi + 1]
    xor ebp, ebp
1:  mov rdi, rbx
    call l_carry
    add rbp, rax
    dec rbx
    jnz 1b
    mov rax, rbp
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    pop rbp
    .cfi_adjust_cfa_offset -8
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end l_calls

/* Each run of five bytes has a place in it that something jumps to. */
function l_entered
    lea ecx, [rdi + 1]
    xor eax, eax
    test edi, edi
    jz 9f
1:  jz 2f
    inc eax
2:  jc 3f
    inc eax
3:  dec ecx
    jnz 1b
9:  inc eax
    ret
end l_entered

/* A circle that is entered in two places is no loop. */
function l_two_heads
    lea ecx, [rdi + 1]
    xor eax, eax
    test edi, 1
    jz 2f
1:  add eax, 3
    nop dword ptr [rax]
2:  add eax, 5
    nop dword ptr [rax]
    dec ecx
    jnz 1b
    ret
end l_two_heads

/* A landing pad of exceptions among the bytes of the only place. */
    .p2align 4
    .globl l_landing
    .type l_landing, @function
l_landing:
    .cfi_startproc
    .cfi_personality 0x1b, l_personality
    .cfi_lsda 0x1b, l_landing_table
    lea ecx, [rdi + 1]
    xor eax, eax
    test edi, edi
    jz 9f
1:  inc eax
    inc eax
l_landing_pad:
    dec ecx
    jnz 1b
9:  inc eax
    ret
    .cfi_endproc
    .size l_landing, . - l_landing

l_personality:
    ud2

    .section .gcc_except_table, "a", @progbits
l_landing_table:
    .byte 0xff, 0xff, 0x01
    .uleb128 2f - 1f
1:  .uleb128 0
    .uleb128 4
    .uleb128 l_landing_pad - l_landing
    .uleb128 0
2:
    .text

/* Where the loops' code goes when their counters have run out: counts, and sets them anew.
 * All flags are changed meanwhile. */
    .globl loop_stub
    .type loop_stub, @function
loop_stub:
    pushfq
    push rax
    push rcx
    mov eax, dword ptr [rsp + 32]
    lea rcx, [rip + loop_hits]
    add dword ptr [rcx + rax * 2], 1
    mov ecx, dword ptr [rip + loop_every]
    mov dword ptr fs:[loop_counters@tpoff + rax * 2], ecx
    lea rcx, [rsp + 32 + 144]
    lea rax, [rip + loop_frame]
    mov qword ptr [rax], rcx
    mov eax, 0x7fffffff
    add eax, 1
    stc
    pop rcx
    pop rax
    popfq
    ret

/* long call_with_frame(long (*function)(long), long n, uint64_t *frame): frame is the function's
 * stack pointer at its entry. */
    .globl call_with_frame
    .type call_with_frame, @function
call_with_frame:
    .cfi_startproc
    lea rax, [rsp - 16]
    mov qword ptr [rdx], rax
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    mov rax, rdi
    mov rdi, rsi
    call rax
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
