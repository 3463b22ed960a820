/* symbols.h: the names of a trace's addresses, kept in the trace (file "symbols", JSON, schema
 * heurt.symbols/1), so that a report made on another machine is the same report.
 * symbol/ finds them; this room only keeps, saves and loads them.
 *
 * In go addresses with their names, out comes the file, and later the same table again. A look-up
 * costs one hash; loading costs the file's length. It stands on json-c and base/map.h. */
#ifndef HEURT_FORMAT_SYMBOLS_H
#define HEURT_FORMAT_SYMBOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the source. Inlined frames: inlined_by leads to the function it was inlined into. */
struct symbol {
    const char *function;            /* demangled; "[module+0x1234]" when there is no name */
    const char *module;              /* path of the file */
    const char *file;                /* or NULL */
    uint32_t line;                   /* 0: not known */
    bool named;                      /* false: function is only module+offset (a stripped binary) */
    const struct symbol *inlined_by; /* or NULL */
};

/* Its module's file name begins so: "libgomp.so". */
bool symbol__is_of_library(const struct symbol *symbol, const char *beginning);
/* Code of heurt's own library: what records, and the stubs that patched functions return to. */
bool symbol__is_of_runtime(const struct symbol *symbol);

/* The function that handlers of signals return to. */
#define SYMBOL_SIGNAL_RETURN "__restore_rt"

struct symbols;

/* Arrays in each other that a member may be in. */
enum { SYMBOL_ARRAYS_MOST = 3 };

struct symbols *symbols__new(void);
void symbols__free(struct symbols *symbols);

/* Keeps copies of everything, the chain of inlined_by too. A second put at an address replaces the
 * first. Pointers that were given out stay valid until symbols__free. */
void symbols__put(struct symbols *symbols, uint32_t process, uint64_t address,
                  const struct symbol *symbol);
/* Innermost frame at address in the process image with that serial; NULL when not kept.
 * For a return address pass the address itself: it was looked up as a call (address - 1). */
const struct symbol *symbols__get(const struct symbols *symbols, uint32_t process,
                                  uint64_t address);

/* The static object, or the field of one, that lies at a data address: function is its name as it
 * would be written in the source ("queue.head_lock", "tables[3].lock", "cache::mutex"); file and
 * line are where the variable is declared. A second put replaces the first. */
void symbols__put_variable(struct symbols *symbols, uint32_t process, uint64_t address,
                           const struct symbol *variable);
/* NULL when not kept: an address on the heap or a stack, or of an object without a name. */
const struct symbol *symbols__variable(const struct symbols *symbols, uint32_t process,
                                       uint64_t address);

/* Between the names of an address at which several things lay, one after the other. */
#define SYMBOL_LATER ", later "

/* How much of such a name is that of the variable: "sums" of "sums[3].sx"; of several names all. */
size_t symbol__variable_bytes(const char *name);
/* Whether both are places in one variable, as it is declared. NULL is allowed: then they are not.
 */
bool symbol__is_same_variable(const struct symbol *one, const struct symbol *other);

/* The frames of a STACK event, innermost first: keyed by thread serial and the event's tick; those
 * that belong to a wait (LOCK_WAIT, CONDITION_WAIT, …), whether they were taken as it began or as
 * it ended, by the tick of its enter event, too. */
void symbols__put_stack(struct symbols *symbols, uint32_t thread, uint64_t tick,
                        const uint64_t *frames, size_t count);
/* Number of frames, 0 when not kept. */
size_t symbols__get_stack(const struct symbols *symbols, uint32_t thread, uint64_t tick,
                          const uint64_t **frames);

/* A place, by its return address, from which a sleep is called. asks: that its loop does nothing
 * else than look whether it may go on. A second put replaces the first. */
struct sleep_site {
    uint64_t process, address, asks;
};
void symbols__put_sleep(struct symbols *symbols, uint32_t process, uint64_t address, bool asks);
bool symbols__sleep_asks(const struct symbols *symbols, uint32_t process, uint64_t address);
size_t symbols__sleeps(const struct symbols *symbols, const struct sleep_site **sites);

/* A sampled instruction in a loop that tries again when its compare-and-swap failed. */
struct retry_site {
    uint64_t process, address;
    uint64_t exchange;  /* where that is */
    uint64_t is_static; /* 1: what it exchanges is always the same variable */
};
void symbols__put_retry(struct symbols *symbols, const struct retry_site *site);
/* NULL: it is in no such loop. */
const struct retry_site *symbols__retry(const struct symbols *symbols, uint32_t process,
                                        uint64_t address);

/* What an instruction accesses, as the source names it. */
struct symbol_field {
    const char *name;  /* to be shown: "lreg_args.SXY", "counts[]", "local variable sum of work" */
    const char *type;  /* of the object: "lreg_args", "Counter<int>"; of an array: of an element */
    const char *field; /* within it: "SXY", "head.next", "x[]"; "": all of it */
    uint64_t size;     /* bytes of that type; 0: not known */
    uint64_t offset;   /* of the field in it; of an array's element its begin */
    bool is_guess;     /* likely, but not shown by the code */
    const struct symbol_type *layout; /* that type with its fields; NULL: not known */
};
void symbols__put_field(struct symbols *symbols, uint32_t process, uint64_t instruction,
                        const struct symbol_field *field);
/* instruction: as SAMPLES have it. NULL: not kept, or the code does not tell. */
const struct symbol_field *symbols__field(const struct symbols *symbols, uint32_t process,
                                          uint64_t instruction);

/* The type of what a call that allocates gives, as the code behind it uses it. */
struct symbol_type {
    const char *name; /* "lreg_args", "int" */
    uint64_t size;    /* of one of them; 0: not known */
    const struct symbol_member *members;
    size_t member_count; /* of a struct; 0: it is none, or they are not known */
};
/* A field of a struct of the program: unions and what libraries define whole, and bit fields that
 * have bytes in common as one. */
struct symbol_member {
    uint64_t offset, bytes; /* in an array: of the first element */
    const char *path;       /* "head.next", "rows[].hits", "level–seen" */
    struct symbol_array {
        uint64_t stride, count;   /* count 0: not known */
    } arrays[SYMBOL_ARRAYS_MOST]; /* of each "[]" of the path, */
    unsigned array_count;
};
/* What lies at an offset of the type; NULL: not known. */
const struct symbol_member *symbol_type__member(const struct symbol_type *type, uint64_t offset);
/* Its path with the indices of that offset, "rows[2].hits"; free() it. begin: gets where that
 * begins in the type. NULL: not known. */
char *symbol_type__path(const struct symbol_type *type, uint64_t offset, uint64_t *begin);

/* A call, by its return address, of which the type is to be found when the trace's names are: to be
 * asked for while they are looked up. */
void symbols__ask_made_type(struct symbols *symbols, uint32_t process, uint64_t return_address);
void symbols__put_made_type(struct symbols *symbols, uint32_t process, uint64_t return_address,
                            const struct symbol_type *type);
/* NULL: not asked for, or not known. */
const struct symbol_type *symbols__made_type(const struct symbols *symbols, uint32_t process,
                                             uint64_t return_address);
/* What was asked for and is not known. */
struct made_site {
    uint32_t process;
    uint64_t return_address;
};
size_t symbols__made_sites(const struct symbols *symbols, const struct made_site **sites);

/* What is said of a file that has no names, behind its path. */
#define SYMBOLS_STRIPPED                                                                      \
    ": stripped; functions are shown as module+offset. Install its debug symbols or rebuild " \
    "with -g"
/* Behind that, where the distribution tells in which package they are; its name and ")" follow. */
#define SYMBOLS_PACKAGE " (package "

/* A sentence about a module, e.g. that it is stripped. Each is kept once. */
void symbols__warn(struct symbols *symbols, const char *sentence);
size_t symbols__warnings(const struct symbols *symbols, const char *const **sentences);

/* Replaces the file in the trace at once, so that no reader sees a half of it. */
int symbols__save(const struct symbols *symbols, const char *directory, struct error *error);
/* What that file would hold; free() it. */
char *symbols__text(const struct symbols *symbols, size_t *bytes);
/* -ENOENT when the trace has none yet. */
int symbols__load(const char *directory, struct symbols **symbols, struct error *error);
/* The same from the text of the file. */
int symbols__load_memory(const char *text, size_t bytes, struct symbols **symbols,
                         struct error *error);

#endif
