/* shared.h: what the presenters have in common. Private to this room. */
#ifndef HEURT_PRESENT_SHARED_H
#define HEURT_PRESENT_SHARED_H

#include "base/sanitize.h"
#include "base/text.h"
#include "present/present.h"

/* ---- words.c: numbers and names as people read them ------------------------------------------ */

/* "1,234,567" into a buffer of 32 bytes; returns it. */
char *count__format(uint64_t count, char buffer[32]);
/* "38 MB" (powers of 1000) into a buffer of 16 bytes; returns it. */
char *bytes__format(uint64_t bytes, char buffer[16]);
/* "46 %", "<1 %" of a share (0 … 1) into a buffer of 16 bytes; returns it. */
char *share__format(double share, char buffer[16]);

/* A gain, at least and at most: "1.7–1.9×"; "≤ 1.1×" when it may be nothing; "none"; "?" when it is
 * not known (0, 0). Returns the buffer. */
#define GAIN_BYTES 64
char *gain__format(const double gain[2], bool unicode, char buffer[GAIN_BYTES]);

/* A column for each component but COMPONENT_RUNNING: ONE(component, key, what the thread did). */
#define COMPONENT_COLUMNS(ONE)                                                        \
    ONE(COMPONENT_LOCK, "lock", "waited for locks"),                                  \
        ONE(COMPONENT_CONDITION, "condition", "waited at conditions and semaphores"), \
        ONE(COMPONENT_BARRIER, "barrier", "waited at barriers"),                      \
        ONE(COMPONENT_DISK, "disk", "waited for files"),                              \
        ONE(COMPONENT_NETWORK, "network", "waited for sockets"),                      \
        ONE(COMPONENT_MESSAGE, "message", "waited for messages"),                     \
        ONE(COMPONENT_SLEEP, "sleep", "slept"),                                       \
        ONE(COMPONENT_PAGE_FAULT, "page_fault", "was in page faults"),                \
        ONE(COMPONENT_RUNNABLE, "runnable", "wanted a CPU and had none"),             \
        ONE(COMPONENT_OTHER_BLOCKED, "other_blocked", "other waits"),                 \
        ONE(COMPONENT_OVERHEAD, "overhead", "was being recorded")
_Static_assert(COMPONENTS == 12, "every component has a column");

/* Keys of the JSON contract, for a thread's time and for an excess. */
const char *component__key(enum component component);
const char *reason__key(enum reason reason);
/* As a person reads it. */
const char *component__words(enum component component);
const char *reason__words(enum reason reason);
/* What a holder did: "was preempted". */
const char *doing__words(enum component component);
const char *verdict__name(enum verdict verdict); /* as in the JSON contract */
#define DOUBTS 6
/* Of the doubt 1 << bit: a word for JSON, and a sentence. */
const char *doubt__name(unsigned bit);
const char *doubt__words(unsigned bit);
const char *confidence__name(enum confidence confidence);

/* ---- width.c: what text takes on a terminal ---------------------------------------------------
 */

/* Columns of UTF-8 text on a terminal, one a character. */
unsigned text__width(const char *text);
/* Bytes of the first characters that fill at most columns. */
size_t text__bytes_of_columns(const char *text, unsigned columns);

/* ---- place.c: where in the program ----------------------------------------------------------- */

struct place {
    const char *function; /* never NULL */
    const char *module;   /* or NULL */
    const char *file;     /* or NULL */
    uint32_t line;        /* 0: not known */
};

/* A line of a stack: one address can stand for several, where calls were inlined. */
struct frame {
    uint64_t address;
    struct place place;
    bool inlined;
};

const struct trace_process *report__process(const struct report *report, uint32_t serial);
/* The module that holds address at any time of the run, or NULL. */
const struct trace_module *process__module_of(const struct trace_process *process,
                                              uint64_t address);

/* The function that holds a call, skipping inlined frames that lie in system headers.
 * unknown must be a buffer for the text of an address without a name. */
struct place place__of_site(const struct report *report, uint32_t process, uint64_t site,
                            char unknown[32]);
/* Of a hooked call: its caller (through the class's stacks when the call was made by libc or
 * libstdc++); of a function or a marker: itself. */
struct place place__of_class(const struct report *report, const struct class_definition *class,
                             char unknown[32]);
/* Whether a class is a call that the runtime hooks, not a function or a marker. */
bool class__is_hooked(const struct class_definition *class);
/* The variable at the class's object, or NULL. */
const char *class__object_name(const struct report *report, const struct class_definition *class);
/* "made at queue.c:30": where an object was initialised, from there; "": not seen. free() it. */
char *object__made_at(const struct report *report, uint32_t process, uint64_t site);
/* The same name on every screen: of its variable, else where it was made, else its address; NULL:
 * it has no object. free() it. */
char *class__object_known_as(const struct report *report, const struct class_definition *class);
/* "0x4a0040 queue.lock, declared in /src/queue.c:12": of a class that has an object. free() it. */
/* Its function; what a compiler of LLVM made of a construct of OpenMP, by whose it is, which the
 * program's own name for it does not tell: "relax.omp_outlined." for ".omp_outlined.". */
const char *class__function(const struct report *report, const struct class_definition *class);
char *class__object_text(const struct report *report, const struct class_definition *class);
/* struct frame, innermost first. vec__free it; names without a symbol are in *texts (char *, to be
 * freed by texts__free). */
struct vec stack__frames(const struct report *report, const struct profile_stack *stack,
                         struct vec *texts);

/* A C++ or copied function's name without what a first screen can spare: std::string for what it
 * stands for, no .constprop.0, no parameters when it is long. free() it. */
char *function__short(const char *function);
/* Less of it, where it stands among others: "Reader::peek", without parameters, what it returns and
 * outer scopes. free() it. */
char *function__bare(const char *function);

/* "queue.c:97" (base name) or "" — free() it. */
char *place__source(const struct place *place, bool whole_path);
/* "write_batch queue.c:97" — free() it. */
char *place__text(const struct place *place);

/* ---- why.c: why a class loses time ----------------------------------------------------------- */

/* In a few words. free() it. */
char *class__why(const struct report *report, const struct profile_class *class,
                 const struct style *style);
/* The verdict's cause, or the largest reason. */
enum reason class__main_reason(const struct profile_class *class);
/* The largest evidence for a reason, or NULL. */
const struct profile_evidence *class__evidence(const struct profile_class *class,
                                               enum reason reason);
/* The place (from 1) of the class with that number in the profile; 0: there is none. */
size_t report__rank_of(const struct report *report, uint32_t number);
/* The function of the other class of a piece of evidence. free() it. */
char *evidence__other(const struct report *report, const struct profile_class *class,
                      const struct profile_evidence *evidence);
/* What the one who is blamed did the most besides working; COMPONENT_RUNNING: nothing. */
enum component blame__doing(const struct profile_blame *blame);
/* "was preempted 80 %, worked 20 %": what takes at least 5 %, the most first. free() it. */
char *blame__meanwhile(const struct report *report, const struct profile_blame *blame);
/* "fd=5 bytes=512", "" without keys. free() it. */
char *class__keys(const struct class_definition *class);

/* ---- class_structure.c: what a class calls --------------------------------------------------- */

/* What its occurrences call: "parse, store (write) x2..40"; "" of nothing. free() it. */
char *class_structure__text(const struct profile_structure *structure);
/* The short name of its function, and in few words what it calls that others of its site do not:
 * "handle (parse, store)". place: the class's. free() it. */
char *class__name(const struct report *report, const struct profile_class *class,
                  const struct place *place);
/* What it calls as an outline; nothing of NULL. */
void class_structure__put(const struct profile_structure *structure, const struct style *style,
                          FILE *out);

/* ---- findings.c: what the numbers say in words ----------------------------------------------- */

/* Where a class is shown. */
enum standing {
    STANDING_RANKED, /* interference */
    STANDING_UNCLEAR,
    STANDING_WORKLOAD,
    STANDING_NOTHING, /* lost nothing: not at all */
    STANDING_IDLE,
    STANDING_IGNORED,
};
enum standing class__standing(const struct profile_class *class);
/* Whether arguments of that function were recorded. */
bool class__has_arguments(const struct report *report, const struct profile_class *class);
/* The command that was recorded, on one line. free() it. */
char *report__command(const struct report *report);
/* How a screen begins: that command, without directories, and cut where it is long. free() it. */
char *report__title(const struct report *report, const struct style *style);
/* A time of it, or some of its threads, alone. */
bool report__is_of_part(const struct report *report);
/* "heurt report -i 'a b' --coverage", to be typed into a shell; -i only where the trace is not the
 * default one. free() it. */
char *report__hint(const struct report *report, const char *verb, const char *rest);
/* Why the kernel's records of threads are missing; NULL: none is. free() it. */
char *report__why_no_kernel(const struct report *report);
const char *check__name(enum profile_check_name name); /* in data */
/* What recording was allowed to cost, as part of a sentence; free() it. */
char *report__budget(const struct report *report);
/* Everything that makes the report less certain, as far as its profile (which may be NULL here) and
 * its trace tell: sentences (char *), texts__free it. */
struct vec report__warnings(const struct report *report);

/* ---- warnings_text.c ------------------------------------------------------------------------- */

/* They as a screen shows them: files that are stripped are one line. */
void text__warnings(const struct report *report, const struct style *style, FILE *out);
/* These sentences (char *) in place of the report's. */
void text__warnings_of(const struct report *report, const struct vec *warnings,
                       const struct style *style, FILE *out);

/* ---- coverage.c ------------------------------------------------------------------------------ */

struct coverage_row {
    const char *function, *module; /* module may be "" */
    const char *reason;            /* NULL: instrumented */
};

struct coverage {
    struct vec instrumented; /* struct coverage_row, each once */
    struct vec refused;      /* struct coverage_row, each once, grouped by reason */
    size_t markers;          /* regions and iterations in the source */
};

struct coverage coverage__collect(const struct report *report);
void coverage__free(struct coverage *coverage);

/* ---- layout.c: lines, paragraphs, bars, tables ----------------------------------------------- */

enum ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_ALARM, INK_WARNING };

/* Writes text in a colour when style has any. */
void ink__put(const struct style *style, FILE *out, enum ink ink, const char *text);

/* Pieces in a row that goes on in the next line, indented, where the terminal ends. */
struct flow {
    const struct style *style;
    FILE *out;
    unsigned indent;
    unsigned column;
    bool first; /* nothing stands in this line yet */
};

struct flow flow__start(const struct style *style, FILE *out, unsigned indent);
/* A piece is never divided. gap: blanks before it when it is not the first of its line. */
void flow__add(struct flow *flow, const char *piece, enum ink ink, unsigned gap);
void flow__words(struct flow *flow, const char *sentence, enum ink ink);
void flow__end(struct flow *flow);
/* A whole paragraph in one call: lead stands in front, the rest is indented below it. */
void paragraph__put(const struct style *style, FILE *out, enum ink ink, const char *lead,
                    const char *sentence);

/* share (0 … 1) of cells as blocks or '#'; at least a sliver when share > 0. free() it. */
char *bar__format(const struct style *style, double share, unsigned cells);

enum alignment {
    LEFT,
    RIGHT,
    WRAPPED, /* left, and broken at blanks when the terminal is too narrow */
};

struct grid_column {
    const char *title;
    enum alignment alignment;
};

struct grid_cell {
    char *text; /* owned by the grid; fit for a screen */
    enum ink ink;
};

/* Cells in rows and columns on a screen. */
struct grid {
    const struct grid_column *columns;
    size_t column_count;
    unsigned indent;
    struct vec
        cells; /* struct grid_cell, row by row; what goes across is one cell, the others NULL */
};

struct grid grid__start(const struct grid_column *columns, size_t column_count, unsigned indent);
/* Takes over text. */
void grid__cell(struct grid *grid, char *text, enum ink ink);
/* A line across the table, between its rows; a blank one of "". Takes over text. */
void grid__note(struct grid *grid, char *text);
/* More of the last row than a column has room for: a paragraph below it. Takes over text. */
void grid__below(struct grid *grid, char *text);
/* Prints and frees. */
void grid__end(struct grid *grid, const struct style *style, FILE *out);
void grid__end_without_titles(struct grid *grid, const struct style *style, FILE *out);

/* ---- cells.c: pieces of screens that several of them have ------------------------------------ */

/* A blank line, then the heading. */
void heading__put(const struct style *style, FILE *out, const char *heading);
/* Each takes over text, and cleans it. */
void paragraph__take(const struct style *style, FILE *out, const char *lead, char *text);
void flow__take(struct flow *flow, char *text, enum ink ink,
                unsigned gap); /* cut to the terminal */
void grid__take(struct grid *grid, char *text, enum ink ink);
/* Blanks in front of text, or behind it, up to a width. Takes over text; free() the result. */
char *text__padded(char *text, unsigned width, bool in_front);
/* A command that helps from here, in a row of such. */
void flow__hint(struct flow *flow, const struct report *report, const char *verb, const char *rest);
void grid__duration(struct grid *grid, uint64_t ns);
void grid__count(struct grid *grid, uint64_t count);
void grid__share(struct grid *grid, double share);

/* ---- histogram.c ----------------------------------------------------------------------------- */

/* A duration that has a name; it stands behind the line that holds it. */
struct bin_mark {
    const char *name;
    uint64_t ns;
};

/* The lines that have any; nothing when none has. */
void bins__put(const struct duration_bin *bins, unsigned count, const struct bin_mark *marks,
               unsigned mark_count, const struct style *style, FILE *out);
void histogram__put(const struct report *report, const struct profile_class *class,
                    const struct style *style, FILE *out);

/* ---- text_apart.c: what is not ranked -------------------------------------------------------- */

void text__not_interference(const struct report *report, const struct style *style, FILE *out);
void text__idle(const struct report *report, const struct style *style, FILE *out);
/* That rules hide something, near the head of a screen. */
void text__ignored(const struct report *report, const struct style *style, FILE *out);
void text__sampled(const struct report *report, const struct style *style, FILE *out);
void text__coverage_line(const struct report *report, FILE *out);

/* ---- long_functions_text.c ------------------------------------------------------------------- */

/* Functions that take time of which no calls tell; nothing where there are none. */
void text__long_functions(const struct report *report, const struct style *style, FILE *out);
/* Of such a class the lines at which its time was; nothing of others. */
void text__lines_of_class(const struct report *report, const struct profile_class *class,
                          const struct style *style, FILE *out);

/* ---- audit.c --------------------------------------------------------------------------------- */

void text__audit(const struct report *report, const struct style *style, FILE *out);

/* ---- text_class.c ---------------------------------------------------------------------------- */

void text__one_class(const struct report *report, size_t rank, const struct style *style,
                     FILE *out);
/* At most so many of the class's call stacks. */
void class_stacks__put(const struct report *report, const struct profile_class *class, size_t most,
                       const struct style *style, FILE *out);
/* The frames of a stack, a line each. */
void stack__put(const struct report *report, const struct profile_stack *stack, unsigned indent,
                const struct style *style, FILE *out);
void text__coverage(const struct report *report, const struct style *style, FILE *out);

#endif
