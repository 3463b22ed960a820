/* plan_layout.h: what runtime and recorder say to each other over the session's socket. The runtime
 * asks for plans of patches, the recorder answers. It is a part of layout.h: constants and structs,
 * no functions. */
#ifndef HEURT_FORMAT_PLAN_LAYOUT_H
#define HEURT_FORMAT_PLAN_LAYOUT_H

#include <stdint.h>

#define HEURT_PLAN_MAGIC 0x326c7068u
/* In place of an answer's magic: the recorder is at work, and the answer is still to come. */
#define HEURT_PLAN_AT_WORK 0x776c7068u

/* What a plan is asked for. */
enum heurt_plan_subject {
    HEURT_PLAN_FUNCTIONS = 1,
    HEURT_PLAN_SYSTEM_CALLS = 2, /* those that are made inline and may be futex(2) */
};

/* The request: this, then module_count times a MODULE definition (header, struct, path). */
struct heurt_plan_request {
    uint32_t magic;
    uint32_t process; /* serial, for the refusals that the recorder writes */
    uint32_t module_count;
    uint32_t bytes;   /* of the definitions that follow */
    uint32_t subject; /* enum heurt_plan_subject */
    uint32_t reserved;
};

/* The answer: this, then function_count times struct heurt_plan, each followed by its strings
 * (name \0 argument names joined by ',' \0), padded to 8 bytes. */
struct heurt_plan_answer {
    uint32_t magic;
    uint32_t function_count;
    uint64_t bytes;
};

#define HEURT_PLAN_CODE_MAX 96
#define HEURT_PLAN_FIXUPS_MAX 8
#define HEURT_PATCH_BYTES 5 /* jmp rel32 */

#define HEURT_FIXUP_ABSOLUTE 0    /* as next: the field is the 8 bytes of target itself */
#define HEURT_FIXUP_SYSTEM_CALL 1 /* as next: the 8 bytes are the address of the runtime's stub */
/* Bytes from where moved code goes on behind a system call back to the call itself. */
#define HEURT_SYSTEM_CALL_BACK 30

/* A field of the moved code that depends on where something lies. */
struct heurt_plan_fixup {
    uint64_t target; /* absolute address that is meant */
    uint32_t offset; /* of the 32-bit field in code */
    uint32_t next;   /* offset the processor counts from; field = target - (code + next) */
};

/* How the stub calls the moved code. */
enum heurt_mechanism {
    HEURT_MECHANISM_FRAME = 0, /* from a frame of its own: the function's view of the stack from
                                  its return address upwards is shifted */
    HEURT_MECHANISM_RETURN_SLOT =
        1, /* with the caller's return address put aside: nothing is shifted;
         for functions that take, or may take, arguments on the stack */
    HEURT_MECHANISM_SYSTEM_CALL =
        2, /* no function: the moved code holds a system call, is jumped to and jumps back. Where
              the call is futex(2) it goes on in the runtime's stub, else it makes it itself */
};

/* How to instrument one function.  The runtime copies code to executable memory within ±2 GiB,
 * applies the fixups, and overwrites the first HEURT_PATCH_BYTES bytes at address + skip with a
 * jump to a stub of the function's own that ends in a call of the moved code. */
struct heurt_plan {
    uint64_t address;   /* of the function's entry in the process */
    uint32_t bytes;     /* of this struct with its strings and padding */
    uint8_t skip;       /* bytes at the entry that stay (endbr64) */
    uint8_t moved;      /* bytes of original code that are moved, ≥ HEURT_PATCH_BYTES */
    uint8_t code_bytes; /* of code, the jump back included */
    uint8_t fixup_count;
    uint8_t original[32]; /* what must stand at address + skip (moved bytes), else refuse */
    uint8_t code[HEURT_PLAN_CODE_MAX];
    struct heurt_plan_fixup fixups[HEURT_PLAN_FIXUPS_MAX];
    uint8_t argument_count;                 /* payload words of the enter event */
    uint8_t arguments[HEURT_ARGUMENTS_MAX]; /* which integer argument registers: 0 = rdi … 5 = r9 */
    uint8_t ordered; /* 1: it has locked instructions: its leave event waits until they are done */
    uint8_t mechanism; /* enum heurt_mechanism */
    uint64_t reserved;
};

#endif
