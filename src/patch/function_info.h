/* function_info.h: what planning has to know of one file's functions, wherever the file is mapped:
 * found out when it is asked for, and kept from run to run (plan_cache.h). The items are plain
 * numbers and places in vecs, so that they are the same in memory and in the cache. All addresses
 * are addresses in the file.
 *
 * An object is used by one thread at a time.
 *
 * It costs the proofs of a function once for each build of a file, and stands on frame.h, move.h,
 * parameters.h and plan_cache.h. */
#ifndef HEURT_PATCH_FUNCTION_INFO_H
#define HEURT_PATCH_FUNCTION_INFO_H

#include "base/error.h"
#include "base/vec.h"
#include "format/layout.h"
#include "patch/code_file.h"
#include "patch/code_map.h"
#include "patch/frame.h"
#include "patch/move.h"

#include <stdbool.h>
#include <stdint.h>

enum fact { INFO_NOT_ASKED, INFO_YES, INFO_NO };

#define INFO_NO_FUNCTION UINT32_MAX

struct info_function {
    uint64_t start, end; /* equal: the size is not known */
    uint32_t first_name, name_count;
    uint32_t first_tail, tail_count; /* when judged */
    uint32_t choice;                 /* text why an IFUNC is refused; 0: not asked */
    uint32_t moved;                  /* place in moves, when move is INFO_YES */
    struct frame_verdict frame;      /* when judged */
    uint8_t ifunc;                   /* bool */
    uint8_t judged;                  /* bool */
    uint8_t fits;                    /* enum fact: its parameters certainly fit into registers */
    uint8_t keeps_rbx;               /* enum fact */
    uint8_t move;                    /* enum fact: its first instructions can be moved */
    uint8_t move_fault;              /* enum move_fault, why not */
    uint8_t reserved[2];
};

struct info_name {
    uint32_t text;
    uint32_t local; /* bool: only its own file knows it */
};

/* A jump out of a function: into another of the file, to a name that the loader looks up, or (both
 * empty) somewhere. */
struct info_tail {
    uint64_t address;  /* 0: not known */
    uint32_t function; /* index, or INFO_NO_FUNCTION */
    uint32_t name;     /* text; 0: none */
};

/* A system call that is made inline and may be futex(2). */
struct info_system_call {
    uint64_t address; /* of the jump that leads to its moved code */
    uint32_t moved;   /* place in moves */
    uint32_t reserved;
};

struct function_info {
    struct vec functions;      /* struct info_function, by start */
    struct vec names;          /* struct info_name, the best of a function first */
    struct vec tails;          /* struct info_tail */
    struct vec moves;          /* uint8_t: moved code, see function_info.c */
    struct vec texts;          /* char: strings, each ended by \0; the one at 0 is empty */
    struct vec system_calls;   /* struct info_system_call, when has_system_calls */
    uint32_t has_system_calls; /* bool: they were looked for */
    uint32_t stripped;         /* bool: only the dynamic symbols are known */
    /* Not kept: */
    bool changed; /* since it was read from the cache */
    char *path;
    const char *cache; /* directory, or NULL; the caller's */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
    size_t build_id_bytes;
    struct code_file *file; /* NULL: not needed yet */
    bool unreadable;        /* it was needed and could not be opened */
    struct code_map *map;   /* NULL: not needed yet */
    struct frame_checker *checker;
};

/* From the cache (a directory, kept; NULL: none) or the file. -errno. */
int function_info__open(const char *path, const uint8_t *build_id, size_t build_id_bytes,
                        const char *cache, struct function_info **info, struct error *error);
/* Writes what was found out into the cache. NULL is allowed. */
void function_info__close(struct function_info *info);

/* The file itself, for what the info does not tell; NULL: it is gone. Its functions have the same
 * indices. */
const struct code_file *function_info__file(struct function_info *info);

/* Texts and names stay where they are until something else is found out. */
const char *function_info__text(const struct function_info *info, uint32_t text);
const char *function_info__name(const struct function_info *info,
                                const struct info_function *function, size_t index);
bool function_info__name_is_local(const struct function_info *info,
                                  const struct info_function *function, size_t index);

/* What follows finds out what is not known yet. function is one of info->functions. */
void function_info__judge(struct function_info *info,
                          struct info_function *function); /* frame and its tails */
bool function_info__fits_registers(struct function_info *info, struct info_function *function);
bool function_info__keeps_rbx(struct function_info *info, struct info_function *function);
const char *function_info__choice(struct function_info *info, struct info_function *function);
/* Fills plan as move__plan does. */
enum move_fault function_info__move(struct function_info *info, struct info_function *function,
                                    struct heurt_plan *plan);

/* Appends plans (struct heurt_plan) for the system calls that the file makes inline and that may be
 * futex(2) (system_calls.h). */
void function_info__system_calls(struct function_info *info, struct vec *plans);

/* Whether what is kept of moved code at that place in moves is of a possible form. */
bool function_info__move_is_whole(const struct function_info *info, uint32_t moved);

#endif
