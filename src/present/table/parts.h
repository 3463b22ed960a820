/* parts.h: cells, and columns of them, that rows of several tables have. */
#ifndef HEURT_PRESENT_TABLE_PARTS_H
#define HEURT_PRESENT_TABLE_PARTS_H

#include "base/table.h"
#include "present/shared.h"
#include "present/table/document.h"

/* ---- places ---------------------------------------------------------------------------------- */

struct place_cells {
    const char *function, *module, *file;
    uint64_t line;    /* UINT64_MAX: not known */
    uint64_t address; /* likewise; of the call */
};
extern const struct table place_table; /* without the address */
extern const struct table site_table;  /* with it */
#define PLACE_NOWHERE ((struct place_cells){.line = UINT64_MAX, .address = UINT64_MAX})

/* Of an address in a process; nothing of address 0. */
struct place_cells place_cells__of_site(struct table_rows *rows, const struct report *report,
                                        uint32_t process, uint64_t site);
/* unknown: a buffer that place->function may point to. */
struct place_cells place_cells__of(struct table_rows *rows, const struct place *place,
                                   const char *unknown);
struct place_cells place_cells__of_class(struct table_rows *rows, const struct report *report,
                                         const struct class_definition *class);
/* The members of an object of which the place is no object of its own. */
#define FIELDS_OF_PLACE(row, member)                                              \
    FIELD("function", row, member.function), FIELD("module", row, member.module), \
        FIELD("file", row, member.file), FIELD("line", row, member.line)

/* What a class is: of a hooked call what was called, and where it is called from. */
struct identity_cells {
    const char *kind, *function;
    struct place_cells place;
    struct place_cells caller; /* nothing of others */
};
extern const struct table identity_table;
/* NULL: nothing. */
struct identity_cells identity_cells__of(struct table_rows *rows, const struct report *report,
                                         const struct class_definition *class);

/* A place of the program, and which hooked call is made there. */
struct call_cells {
    const char *kind, *call;
    struct place_cells place;
};
struct call_cells call_cells__of(struct table_rows *rows, const struct report *report,
                                 const struct class_definition *class);
extern const struct table call_table;
#define FIELDS_OF_CALL(row, member)                                   \
    FIELD("kind", row, member.kind), FIELD("call", row, member.call), \
        FIELDS_OF_PLACE(row, member.place)

/* The number of a thread by its index in trace__threads; UINT32_MAX: there is none. */
uint32_t report__tid(const struct report *report, uint32_t thread);

/* ---- components ------------------------------------------------------------------------------ */

extern const struct table components_table;        /* uint64_t[COMPONENTS] */
extern const struct table signed_components_table; /* int64_t[COMPONENTS] */
#define FIELD_COMPONENTS(key, row, member) FIELD_OBJECT(key, row, member, components_table)

/* ---- stacks ---------------------------------------------------------------------------------- */

struct stack_cells {
    const struct report *report;
    struct profile_stack stack; /* its share as it is */
    bool of_this_wait;          /* of waits: not another one's of the same class */
};
extern const struct table stack_table;      /* share, frames */
extern const struct table wait_stack_table; /* likewise, and of_this_wait */

/* ---- the run --------------------------------------------------------------------------------- */

/* What the root of a document begins with. */
struct run_cells {
    const struct report *report;
    uint64_t wall_ns;
    uint32_t exit_status, signal; /* UINT32_MAX: none */
    const struct vec *warnings;   /* char *: besides the report's; NULL: none */
};
struct run_cells run_cells__of(const struct report *report);
/* These make rows of a struct run_cells, which a root begins with. */
struct table_rows command_rows(const void *root);
struct table_rows warning_rows(const void *root);
struct table_rows machine_row(const void *root);
#define FIELD_COMMAND FIELD_LIST("command", command_rows)
#define FIELD_WARNINGS FIELD_LIST("warnings", warning_rows)
#define FIELD_MACHINE FIELD_ONE("machine", machine_row)
#define FIELDS_OF_EXIT(row, member) \
    FIELD("exit_status", row, member.exit_status), FIELD("signal", row, member.signal)

#endif
