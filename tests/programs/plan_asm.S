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
    .p2align 3
pointer:
    .quad a_plain, 0, a_plain
    .text

/* ---- what can be moved ----------------------------------------------------------------------- */

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

/* Calls are made by the original code's name: the called sees where it would have returned to. */
function a_call_near
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call a_plain
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end a_call_near

function a_call_first
    call a_plain
    inc eax
    ret
end a_call_first

/* addr32 call, as linkers make of a call through the GOT. */
function a_call_prefixed
    .byte 0x67, 0xe8
    .long a_plain - . - 4
    inc eax
    ret
end a_call_prefixed

function a_call_rip
    push rbx
    .cfi_adjust_cfa_offset 8
    call qword ptr [rip + pointer]
    inc eax
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end a_call_rip

/* The called returns to the original code and nowhere else. */
function a_call_back
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call x_caller_offset
.La_call_back:
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end a_call_back
function x_caller_offset
    lea rax, [rip + .La_call_back]
    sub rax, qword ptr [rsp]
    ret
end x_caller_offset

/* Is called n + 1 times in all. */
function a_call_itself
    dec edi
    js 1f
    call a_call_itself
    inc eax
    ret
1:
    mov eax, 5
    ret
end a_call_itself

function a_jrcxz
    mov ecx, edi
    jrcxz 1f
    inc ecx
1:
    mov eax, ecx
    ret
end a_jrcxz

/* Looks at ecx alone. */
function a_jecxz
    bts rdi, 40
    mov rcx, rdi
    .byte 0x67
    jrcxz 1f
    inc ecx
1:
    mov eax, ecx
    ret
end a_jecxz

function a_jecxz_first
    .byte 0x67
    jrcxz 1f
    nop
    nop
1:
    mov eax, edi
    ret
end a_jecxz_first

function a_loop
    mov ecx, edi
    loop 1f
    nop
    mov ecx, 17
1:
    mov eax, ecx
    ret
end a_loop

function a_narrow_address
    lea eax, [edi + edi * 2]
    ret
end a_narrow_address

/* A jump to the middle of the last moved instruction, behind its prefix: nothing is written there. */
function a_skips_prefix
    xor eax, eax
    mov edx, edi
.byte 0xf0
1:
    or dword ptr [rip + number], 0
    inc eax
    cmp eax, 3
    jl 1b
    ret
end a_skips_prefix

/* ---- the same, called by call_stacked: n in edi and twice on the stack, a_plain in rdx, a
 * pointer to it in rcx, nothing in r8 ------------------------------------------------------------------------------- */

function call_stacked
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    push rdi
    push rdi
    lea rdx, [rip + a_plain]
    lea rcx, [rip + pointer]
    xor r8d, r8d
    call rsi
    leave
    .cfi_def_cfa 7, 8
    ret
end call_stacked

function s_loopne
    test edi, edi
    loopne 1f
    mov eax, 1
    ret
1:
    mov eax, 2
    ret
end s_loopne

function s_loope
    test edi, edi
    loope 1f
    mov eax, 1
    ret
1:
    mov eax, 2
    ret
end s_loope

function s_call_register
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call rdx
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end s_call_register

function s_call_high_register
    mov r11, rdx
    call r11
    inc eax
    ret
end s_call_high_register

function s_call_memory
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call qword ptr [rcx]
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end s_call_memory

function s_call_indexed
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call qword ptr [rcx + r8 * 8 + 16]
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end s_call_indexed

function s_call_stack
    push rdx
    .cfi_adjust_cfa_offset 8
    xchg ax, ax
    call qword ptr [rsp]
    pop rdx
    .cfi_adjust_cfa_offset -8
    ret
end s_call_stack

function s_call_deep_stack
    push rdx
    .cfi_adjust_cfa_offset 8
    push rax
    .cfi_adjust_cfa_offset 8
    call qword ptr [rsp + 8]
    pop rdx
    .cfi_adjust_cfa_offset -8
    pop rdx
    .cfi_adjust_cfa_offset -8
    ret
end s_call_deep_stack

/* ---- the same, for functions that reach above their return address --------------------------- */

function p_read
    mov eax, dword ptr [rsp + 8]
    add eax, edi
    ret
end p_read

function p_write
    inc edi
    mov qword ptr [rsp + 8], rdi
    mov rax, qword ptr [rsp + 8]
    ret
end p_write

function p_indexed
    and edi, 1
    mov rax, qword ptr [rsp + rdi * 8 + 8]
    ret
end p_indexed

function p_address
    lea rax, [rsp + 8]
    mov eax, dword ptr [rax]
    ret
end p_address

function p_drap
    lea r10, [rsp + 8]
    mov eax, dword ptr [r10]
    and rsp, -32
    mov rsp, r10
    sub rsp, 8
    ret
end p_drap

function p_frame
    push rbp
    .cfi_def_cfa_offset 16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    mov eax, dword ptr [rbp + 16]
    pop rbp
    .cfi_def_cfa 7, 8
    ret
end p_frame

/* rbp tells the CFA, rsp reaches above it. */
function p_framed_rsp
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
    mov rbp, rsp
    .cfi_def_cfa_register 6
    push rbx
    .cfi_offset 3, -24
    sub rsp, 24
    mov ebx, dword ptr [rsp + 48]
    mov eax, ebx
    mov rbx, qword ptr [rbp - 8]
    leave
    .cfi_def_cfa 7, 8
    ret
end p_framed_rsp

function p_copy
    push rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset 3, -16
    mov rax, rsp
    mov eax, dword ptr [rax + 16]
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end p_copy

function p_return_slot
    mov eax, edi
    add eax, dword ptr [rsp + 8]
    ret 8
end p_return_slot

/* Keeps rbx in the frame, not by a push. */
function p_saves_rbx
    sub rsp, 24
    .cfi_adjust_cfa_offset 24
    mov qword ptr [rsp + 8], rbx
    .cfi_offset 3, -24
    mov ebx, dword ptr [rsp + 32]
    lea eax, [rbx + 3]
    mov rbx, qword ptr [rsp + 8]
    .cfi_restore 3
    add rsp, 24
    .cfi_adjust_cfa_offset -24
    ret
end p_saves_rbx

function p_tail_stack
    inc edi
    nop
    nop
    nop
    jmp p_read
end p_tail_stack

function p_falls_through
    inc edi
    lea eax, [rdi + 9]
end p_falls_through
    .globl x_fallen_to
    .type x_fallen_to, @function
x_fallen_to:
    .cfi_startproc
    mov eax, dword ptr [rsp + 8]
    nop
    ret
    .cfi_endproc
    .size x_fallen_to, . - x_fallen_to

function p_tail_unknown
    mov eax, edi
    inc eax
    inc eax
    jmp rdx
end p_tail_unknown

function p_tail_virtual
    mov rax, rcx
    nop
    nop
    jmp qword ptr [rax + 16]
end p_tail_virtual

/* The stub of what is called with its return address put aside, as plainly as it can be:
 * moved code, return address on the stack. */
    .p2align 4
    .globl return_slot_stub
return_slot_stub:
    push rax
    mov rax, qword ptr [rip + aside_top]
    add qword ptr [rip + aside_top], 24
    mov qword ptr [rax + 8], rbx
    mov rbx, rax
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rbx], rax
    pop rax
    pop qword ptr [rbx + 16]
    add rsp, 8
    call qword ptr [rbx + 16]
    push qword ptr [rbx]
    mov qword ptr [rip + aside_top], rbx
    mov rbx, qword ptr [rbx + 8]
    ret
    .data
    .p2align 3
aside_top:
    .quad aside
aside:
    .zero 24 * 64
    .text

/* ---- what must be refused -------------------------------------------------------------------- */

/* The lower half of the 16 bytes read is no argument. */
function r_stack_wide
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    movups xmm0, [rsp + 8]
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    ret
end r_stack_wide

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

function r_call_short
    call rdi
    inc eax
    inc eax
    ret
end r_call_short

function r_narrow_rip
    .byte 0x67
    lea eax, [rip + number]
    ret
end r_narrow_rip

/* Takes something in rbx. */
function r_rbx_read
    mov eax, dword ptr [rsp + 8]
    add eax, ebx
    ret
end r_rbx_read

/* Leaves something in rbx. */
function r_rbx_write
    mov eax, dword ptr [rsp + 8]
    mov ebx, eax
    ret
end r_rbx_write

/* Unwinders do not know that it is saved. */
function r_rbx_hidden
    push rbx
    .cfi_adjust_cfa_offset 8
    mov ebx, dword ptr [rsp + 16]
    mov eax, ebx
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
end r_rbx_hidden

function r_rbx_tail
    mov eax, dword ptr [rsp + 8]
    cmp eax, edi
    jne r_rbx_write
    ret
end r_rbx_tail

function r_tail_looks
    mov eax, edi
    inc eax
    inc eax
    jmp r_return_read
end r_tail_looks

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
