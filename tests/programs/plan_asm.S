/* Functions for tests/unit/test_plan.c. Those that begin with a_ can be patched and are run before
 * and after with rdi = 0 … 9; each r_ holds one thing for which it has to be refused. */
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
number:
    .long 41
    .long 5
    .text

/* ---- what can be moved --------------------------------------------------------------------- */

function a_plain
    mov eax, edi
    imul eax, eax, 3
    add eax, 7
    ret
end a_plain

function a_rip_load
    mov eax, dword ptr [rip + number]
    add eax, edi
    ret
end a_rip_load

/* The immediate stands behind the displacement. */
function a_rip_immediate
    cmp dword ptr [rip + number], 41
    sete al
    movzx eax, al
    add eax, edi
    ret
end a_rip_immediate

function a_rip_lea
    lea rdx, [rip + number]
    mov eax, dword ptr [rdx + 4]
    sub eax, edi
    ret
end a_rip_lea

function a_branch_short
    cmp edi, 4
    jg 1f
    lea eax, [rdi + 100]
    ret
1:
    lea eax, [rdi + 200]
    ret
end a_branch_short

function a_branch_near
    cmp edi, 6
    .byte 0x0f, 0x8c            /* jl near */
    .long 1f - . - 4
    mov eax, 1
    ret
1:
    mov eax, 2
    ret
end a_branch_near

/* All conditions keep theirs. */
function a_branch_parity
    test edi, edi
    jp 1f
    js 2f
    mov eax, 11
    ret
1:
    mov eax, 12
    ret
2:
    mov eax, 13
    ret
end a_branch_parity

function a_jump_short
    mov eax, edi
    jmp 1f
    nop
    nop
    int3
1:
    inc eax
    ret
end a_jump_short

function a_jump_near
    .byte 0xe9
    .long 1f - . - 4
    int3
1:
    lea eax, [rdi * 2]
    ret
end a_jump_near

function a_push
    push rbx
    .cfi_adjust_cfa_offset 8
    push r12
    .cfi_adjust_cfa_offset 8
    sub rsp, 24
    .cfi_adjust_cfa_offset 24
    mov dword ptr [rsp + 12], edi
    mov ebx, dword ptr [rsp + 12]
    lea r12d, [rbx + rbx]
    mov eax, r12d
    add rsp, 24
    .cfi_adjust_cfa_offset -24
    pop r12
    .cfi_adjust_cfa_offset -8
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end a_push

function a_frame
    push rbp
    .cfi_def_cfa_offset 16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    sub rsp, 16
    mov dword ptr [rbp - 4], edi
    lea rax, [rsp + 12]
    mov eax, dword ptr [rax]
    leave
    .cfi_def_cfa 7, 8
    ret
end a_frame

/* Three bytes, and nops behind that nobody runs. */
function a_short
    xor eax, eax
    ret
end a_short

function a_endbr
    endbr64
    lea eax, [rdi + 1]
    add eax, dword ptr [rip + number]
    ret
end a_endbr

function a_nops
    .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
    mov eax, edi
    ret
end a_nops

function a_tail
    .byte 0xe9
    .long a_plain - . - 4
end a_tail

function a_red_zone
    mov dword ptr [rsp - 4], edi
    mov dword ptr [rsp - 8], 3
    mov eax, dword ptr [rsp - 4]
    add eax, dword ptr [rsp - 8]
    ret
end a_red_zone

function a_loop_later
    xor eax, eax
    mov ecx, 5
1:
    add eax, edi
    dec ecx
    jnz 1b
    ret
end a_loop_later

/* A jump table that leads elsewhere. */
function a_table
    and edi, 3
    lea rdx, [rip + .La_table_entries]
    movsxd rax, dword ptr [rdx + rdi * 4]
    add rax, rdx
    jmp rax
.La_table_0:
    mov eax, 70
    ret
.La_table_1:
    mov eax, 71
    ret
end a_table
    .section .rodata
    .p2align 2
.La_table_entries:
    .long .La_table_0 - .La_table_entries, .La_table_1 - .La_table_entries
    .long .La_table_0 - .La_table_entries, .La_table_1 - .La_table_entries
    .text

/* Called with the return address where the caller of a_calls left it. */
function a_calls
    push rbx
    .cfi_adjust_cfa_offset 8
    mov ebx, edi
    add edi, 1
    call a_plain
    add eax, ebx
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end a_calls

    .globl a_alias
    .type a_alias, @function
    .set a_alias, a_first_name
function a_first_name
    lea eax, [rdi + 9]
    add eax, eax
    ret
end a_first_name
    .size a_alias, . - a_alias

/* ---- what must be refused ------------------------------------------------------------------- */

function r_stack_read
    mov eax, dword ptr [rsp + 8]
    add eax, edi
    ret
end r_stack_read

function r_stack_write
    mov eax, edi
    mov qword ptr [rsp + 8], rdi
    ret
end r_stack_write

function r_stack_indexed
    movsxd rdi, edi
    mov rax, qword ptr [rsp + rdi * 8 + 8]
    ret
end r_stack_indexed

function r_stack_address
    lea rax, [rsp + 8]
    mov eax, dword ptr [rax]
    ret
end r_stack_address

function r_stack_drap
    lea r10, [rsp + 8]
    and rsp, -32
    mov rsp, r10
    sub rsp, 8
    ret
end r_stack_drap

/* The upper half of the 16 bytes read is an argument. */
function r_stack_wide
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    movups xmm0, [rsp + 8]
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end r_stack_wide

function r_stack_frame
    push rbp
    .cfi_def_cfa_offset 16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    mov eax, dword ptr [rbp + 16]
    pop rbp
    .cfi_def_cfa 7, 8
    ret
end r_stack_frame

/* rbp tells the CFA, rsp reaches above it. */
function r_stack_framed_rsp
    push rbp
    .cfi_def_cfa_offset 16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    push rbx
    sub rsp, 24
    mov eax, dword ptr [rsp + 48]
    mov rbx, qword ptr [rbp - 8]
    leave
    .cfi_def_cfa 7, 8
    ret
end r_stack_framed_rsp

function r_stack_copy
    push rbx
    .cfi_adjust_cfa_offset 8
    mov rax, rsp
    mov eax, dword ptr [rax + 16]
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end r_stack_copy

function r_stack_popped
    mov eax, edi
    nop
    nop
    ret 8
end r_stack_popped

function r_return_read
    mov rax, qword ptr [rsp]
    inc rax
    ret
end r_return_read

function r_return_address
    mov rax, rsp
    inc rax
    inc rax
    ret
end r_return_address

function r_return_pop
    pop rdx
    mov eax, edi
    inc eax
    jmp rdx
end r_return_pop

function r_switch
    push rbp
    .cfi_adjust_cfa_offset 8
    mov rsp, rdi
    pop rbp
    .cfi_adjust_cfa_offset -8
    ret
end r_switch

    .p2align 4
    .globl r_no_unwind
    .type r_no_unwind, @function
r_no_unwind:
    lea eax, [rdi + 9]
    add eax, eax
    ret
    .size r_no_unwind, . - r_no_unwind

/* The unwind information misses the pop. */
function r_unfit_unwind
    push rbx
    .cfi_adjust_cfa_offset 8
    mov eax, edi
    add eax, ebx
    pop rbx
    ret
end r_unfit_unwind

function r_not_entered
    .cfi_def_cfa_offset 24
    mov eax, edi
    add eax, ebx
    ret
end r_not_entered

function r_loop_entry
    add eax, edi
    dec edi
    jnz r_loop_entry
    ret
end r_loop_entry

function r_loop_endbr
    endbr64
1:
    add eax, edi
    dec edi
    jnz 1b
    ret
end r_loop_endbr

function r_inner_jump
    xor eax, eax
1:
    add eax, edi
    dec edi
    jg 1b
    ret
end r_inner_jump

function r_foreign_jump
    xor eax, eax
.Lr_foreign_target:
    add eax, edi
    inc eax
    ret
end r_foreign_jump

function x_intruder
    mov eax, 5
    cmp edi, 3
    je .Lr_foreign_target
    ret
end x_intruder

function r_foreign_address
    xor eax, eax
1:
    add eax, edi
    inc eax
    ret
end r_foreign_address
    .data
    .p2align 3
    .quad 1b
    .text

function r_table
    xor eax, eax
.Lr_table_0:
    inc eax
    inc eax
    and edi, 1
    lea rdx, [rip + .Lr_table_entries]
    movsxd rcx, dword ptr [rdx + rdi * 4]
    add rcx, rdx
    jmp rcx
.Lr_table_1:
    ret
end r_table
    .section .rodata
    .p2align 2
.Lr_table_entries:
    .long .Lr_table_1 - .Lr_table_entries, .Lr_table_0 - .Lr_table_entries
    .text

function r_call_first
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call a_plain
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end r_call_first

function r_short_loop
    mov ecx, edi
    jrcxz 1f
    inc ecx
1:
    mov eax, ecx
    ret
end r_short_loop

/* No room behind it. */
    .p2align 4
    .globl r_too_short, x_behind
    .type r_too_short, @function
    .type x_behind, @function
r_too_short:
    .cfi_startproc
    xor eax, eax
    ret
    .cfi_endproc
    .size r_too_short, . - r_too_short
x_behind:
    .cfi_startproc
    nop
    nop
    nop
    lea eax, [rdi + 9]
    ret
    .cfi_endproc
    .size x_behind, . - x_behind

function r_not_code
    lea eax, [rdi + 9]
    add eax, eax
    ret
    .byte 0x06
end r_not_code

function r_tail_stack
    inc edi
    nop
    nop
    nop
    jmp r_stack_read
end r_tail_stack

function r_falls_through
    inc edi
    lea eax, [rdi + 9]
end r_falls_through
    .globl x_fallen_to
    .type x_fallen_to, @function
x_fallen_to:
    .cfi_startproc
    mov edx, dword ptr [rsp + 8]
    nop
    ret
    .cfi_endproc
    .size x_fallen_to, . - x_fallen_to

function r_tail_unknown
    mov eax, edi
    inc eax
    inc eax
    jmp rsi
end r_tail_unknown

function r_tail_virtual
    mov rax, qword ptr [rdi]
    nop
    nop
    jmp qword ptr [rax + 16]
end r_tail_virtual

function r_cycle
    mov eax, edi
    dec edi
    jns x_cycle
    ret
end r_cycle
function x_cycle
    mov eax, edi
    dec edi
    jns r_cycle
    ret
end x_cycle

    .p2align 4
    .globl r_no_size
    .type r_no_size, @function
r_no_size:
    lea eax, [rdi + 9]
    add eax, eax
    ret

function r_half.cold
    lea eax, [rdi + 9]
    add eax, eax
    ret
end r_half.cold

function r_chosen_plain
    lea eax, [rdi + 9]
    add eax, eax
    ret
end r_chosen_plain
    .p2align 4
    .globl r_chosen
    .type r_chosen, @gnu_indirect_function
r_chosen:
    .cfi_startproc
    lea rax, [rip + r_chosen_plain]
    ret
    .cfi_endproc
    .size r_chosen, . - r_chosen

    .section .note.GNU-stack, "", @progbits
