/* memory_use.h: which memory threads were sampled at, by object: where it was allocated or which
 * variable it is, who uses it, and where threads take its cache lines from each other.
 *
 * A sample stands for CPU time of its thread, and tells the instruction that waited for memory and
 * the address (format/layout.h: struct heurt_sample). An object on the heap is all that was
 * allocated at one place; a variable is itself with its fields and elements.
 *
 * In go the samples of a trace, out come its objects, that of most time first. It costs sorting the
 * samples and a pass over the events of no functions. It stands on format/allocations.h and
 * sharing.h. */
#ifndef HEURT_ANALYSIS_MEMORY_MEMORY_USE_H
#define HEURT_ANALYSIS_MEMORY_MEMORY_USE_H

#include "analysis/analysis.h"
#include "analysis/memory/answered.h"
#include "analysis/memory/counted.h"
#include "analysis/memory/sharing.h"

enum memory_kind {
    MEMORY_HEAP,   /* allocated */
    MEMORY_MAPPED, /* by the program's own mmap */
    MEMORY_STATIC, /* a variable, or a file's data */
    MEMORY_STACK,
    MEMORY_SHARED, /* of several processes */
    MEMORY_OTHER,  /* whose allocation was not told */
    MEMORY_KINDS
};

/* What a thread does in an object. */
struct memory_thread {
    uint32_t thread; /* index into trace__threads */
    uint64_t read_ns, written_ns;
    uint64_t reads, writes; /* that were counted */
};

/* Who was sampled at an object before a second thread was. */
struct first_sharing {
    uint32_t thread, second;      /* index into trace__threads; second UINT32_MAX: nobody */
    uint64_t since_ns, shared_ns; /* when each of both was there first, since the run's start */
    uint64_t before_samples, before_ns;
};

struct memory_object {
    uint32_t process; /* index into trace__processes */
    uint32_t number;  /* private: in which order they were found */
    enum memory_kind kind;
    uint64_t site;    /* where it was allocated, a return address; 0: not told */
    uint64_t born_ns; /* since the run's start, of the first that was sampled */
    uint64_t bytes;   /* of that; 0: not known */
    uint64_t address; /* where most was sampled */
    const char *name; /* of a variable; NULL: it has none */
    uint64_t objects; /* in how many there were samples; 0: not known */
    uint64_t samples, ns;
    uint64_t shared_ns; /* at lines that several threads used, and one wrote */
    uint64_t lost_ns;   /* about, as sharings tell it */
    struct first_sharing first;
    struct vec threads;  /* struct memory_thread, by index */
    struct vec accesses; /* struct line_access, that of most time first */
    struct counted_object counted;
    struct answered answered;
};

/* A sample at memory whose address is known. */
struct memory_sample {
    uint64_t since_ns; /* the run's start */
    uint32_t object;   /* place in objects */
    uint32_t thread;   /* index into trace__threads */
    const struct heurt_sample *sample;
    const struct heurt_answer *answer;   /* NULL: the processor told nothing of it */
    const struct allocation *allocation; /* NULL: none was told */
};

struct memory_oracle;

struct memory_use {
    struct vec objects;   /* struct memory_object, by ns; where accesses are counted by these */
    struct vec at_memory; /* struct memory_sample, by time */
    const struct sharings *sharings; /* those of sharings_analysis */
    const struct allocations *at;    /* at all sampled addresses: theirs, or */
    struct allocations *own;         /* the same; NULL: theirs are */
    uint64_t samples, all_ns;        /* of all threads */
    uint64_t memory_ns;              /* at memory, at known addresses */
    uint64_t unknown_ns;             /* at memory, the address is not known */
    uint64_t period_ns;              /* what a sample stands for, in the middle */
    uint64_t allocations;            /* that the trace tells of, in all */
    bool tells_allocations;          /* the run was to tell them */
    const char *told_by;      /* the processor's unit whose accesses these are; NULL: heurt works
                                 them out */
    struct answered answered; /* of all objects */
    bool is_timed;            /* the program took the samples itself, as the kernel refused them */
    uint64_t untold_ns;       /* of memory_ns: in memory of the process' own that no call gave */
    bool may_allocate_itself; /* much of it is, though all calls that allocate were told */
    struct counted_use counted;
    struct memory_oracle *oracle; /* oracle.h; NULL: there are no samples, or nothing is counted */
};

/* The result is a struct memory_use; none where the program was not sampled and counts nothing. */
extern const struct analysis memory_analysis;

/* Whose place in objects the sharing's first line has; UINT32_MAX: none's. */
uint32_t memory_use__object_of(const struct memory_use *use, const struct sharing *sharing);
/* As if it had been sampled: what tells names of data asks that. */
struct line_access counted_row__access(const struct counted_row *row);

#endif
