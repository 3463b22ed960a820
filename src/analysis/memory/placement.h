/* placement.h: on which NUMA nodes the memory is that threads were sampled at, from which nodes it
 * is accessed, and what another placement would bring, by object.
 *
 *     samples (thread, CPU, address)  +  the page's node at that time  ──► from × to, by object
 *     page faults (thread, CPU)                                        ──► who touched it first
 *     pages that were found elsewhere later                            ──► what moved
 *
 * A sample stands for time of a thread at memory, not for an access that a counter has seen: all
 * shares are of that time. So they weigh slow accesses more, which is what placement is about.
 *
 * Where the processor tells what answered (struct heurt_answer), only samples that memory answered
 * are looked at, and whether that was the thread's own node's is as it says.
 *
 * In go a trace and memory_analysis' objects, out come those that lie in pages of known nodes. On a
 * machine of one node there is nothing to be found. It costs a pass over the events of no
 * functions. It stands on memory_use.h, format/first_touches.h and format/machine_nodes.h. */
#ifndef HEURT_ANALYSIS_MEMORY_PLACEMENT_H
#define HEURT_ANALYSIS_MEMORY_PLACEMENT_H

#include "analysis/memory/memory_use.h"
#include "format/machine_nodes.h"

/* Dashti and others, "Traffic Management", ASPLOS 2013, sections 3.2 and 3.3 (Carrefour): */
#define PLACEMENT_LAR_GOOD 0.80       /* local accesses: pages are migrated below that */
#define PLACEMENT_IMBALANCE_GOOD 0.35 /* of controllers: pages are interleaved above that */
#define PLACEMENT_READ_ONLY 0.95      /* reads: pages are replicated from that on */
/* Two accesses to one page are from one node with that chance where a node has four fifths of them
 * and another one has the rest (0.8² + 0.2²): pages have owners. */
#define PLACEMENT_OWNED 0.68
#define PLACEMENT_SAMPLES_LEAST 20u /* of less nothing is said */
/* Trahay and others, "NumaMMA", ICPP 2018: pages with more accesses than that go to the node that
 * accesses them most. */
#define PLACEMENT_TOP_SAMPLES 8u

enum placement_kind {
    PLACEMENT_UNKNOWN = 0, /* too few samples */
    PLACEMENT_LOCAL,       /* where it is used */
    PLACEMENT_ONE_NODE,    /* all of it on one node, used from others */
    PLACEMENT_SPREAD,      /* page by page on other nodes */
    PLACEMENT_APART,       /* part by part on other nodes, not on those that use it */
    PLACEMENT_MOVED,       /* moved while it was used */
    PLACEMENT_HUGE,        /* pages have owners, but the huge pages that they are in have not */
    PLACEMENT_KINDS
};

/* Lepers, "Improving performance on NUMA systems", 2014, section 1.6: what there is to be done. */
enum placement_advice {
    ADVICE_NONE = 0,
    ADVICE_LOCAL,          /* to be allocated, or touched first, by the thread that uses it */
    ADVICE_PARALLEL_TOUCH, /* each thread is to touch its part first */
    ADVICE_INTERLEAVE,     /* over all nodes */
    ADVICE_REPLICATE,      /* it is only read: a copy for each node */
    ADVICE_PIN,            /* threads are to stay where they were when they touched it */
    ADVICE_SMALL_PAGES,    /* no huge pages */
    PLACEMENT_ADVICES
};

/* A page that was sampled. */
struct placement_page {
    uint32_t process, object; /* indices: of trace__processes; of memory_use's objects */
    uint64_t address;
    uint32_t first_node, node; /* where it was found first and last; NO_NODE: not told */
    uint64_t seen_ns;          /* when it was looked for first; since the run's start */
    uint32_t moves;            /* how often it was found elsewhere, */
    uint64_t moved_ns;         /* and when first: since the run's start */
    bool is_huge;
    bool is_touch_seen;    /* a page fault there or nearby tells of the first touch; else the first
                              sample does */
    uint32_t touch_thread; /* index into trace__threads; UINT32_MAX: not known */
    uint32_t touch_node;   /* NO_NODE: not known */
    uint32_t samples;
    uint64_t ns, written_ns;
    const struct allocation *allocation; /* that was sampled in it first; NULL: none is told */
};

/* What is accessed of an object, from where and where it is. */
struct placement_object {
    uint32_t object;          /* index of memory_use's */
    size_t first_page, pages; /* that were sampled: of the placement's */
    uint64_t samples;
    uint64_t ns, local_ns, written_ns; /* of samples of which both nodes are known */
    double read_ratio;                 /* of the time, at instructions that only read (MRR) */
    double imbalance;                  /* of the nodes that have it: see placement__imbalance */
    double owned;                /* two accesses to one page: the chance that both are from one
                                    node */
    double owned_huge;           /* the same of 2 MiB */
    uint32_t block_pages;        /* that owned is of, where single pages have too few samples */
    uint32_t user_nodes;         /* that have 5 % of it at least */
    uint32_t top_node, top_user; /* that has, and that uses, most */
    uint64_t moved_pages, huge_pages;
    uint64_t movable_pages; /* that were seen before others moved */
    uint32_t moved_from;    /* node of most of those that moved */
    uint64_t moved_ns; /* since the run's start: the time that divides best what was there from what
                          was elsewhere; 0: none did */
    uint64_t before_samples, after_samples, astray_samples; /* on the wrong side of it */
    uint64_t before_ns, before_local_ns;                    /* before that time, */
    uint64_t after_ns, after_local_ns;    /* and since then; of objects with pages that moved */
    uint64_t touched_ns, touched_self_ns; /* remote accesses to pages whose first touch was seen; of
                                             these by that thread itself */
    uint32_t touch_threads;               /* that touched 5 % of its pages first, at least */
    uint32_t touch_thread, touch_node;    /* that did so most */
    bool is_touch_seen;                   /* page faults tell it; else first samples do */
    enum placement_kind kind;
    enum placement_advice advice;
};

struct placement {
    struct machine_nodes nodes;
    struct vec objects; /* struct placement_object, that of most remote time first */
    struct vec pages;   /* struct placement_page, by object and address */
    struct vec used;    /* uint64_t: ns by the node that accesses, for each page */
    struct vec matrix;  /* uint64_t: ns, from × count + to; the whole's, then each object's as
                           memory_use numbers them */
    struct placement_object all;
    uint64_t unknown_ns;                /* at known addresses, of which a node is not told */
    bool is_measured;                   /* the processor tells what answered: */
    uint64_t cached_ns;                 /* caches did so; these samples are in no other figure */
    const char *balancing, *huge_pages; /* as META tells them; NULL: not told */
};

/* The result is a struct placement; none where the machine has one node or nothing was sampled. */
extern const struct analysis placement_analysis;

/* Of the samples at memory whose nodes are known (how many: *samples) the part of their time that
 * is at other nodes than the thread's; without a look at objects. 0 on a machine of one node. */
double placement__remote_share(const struct trace *trace, uint64_t *samples);
/* The nodes of a sample's thread and data. False: one is not known, or the processor tells that a
 * cache answered. */
bool placement__ends(const struct trace *trace, const struct machine_nodes *nodes,
                     const struct heurt_sample *sample, uint32_t *from, uint32_t *to);
/* ns from one node to another; object: index of memory_use's, or PLACEMENT_ALL. */
#define PLACEMENT_ALL UINT32_MAX
uint64_t placement__ns(const struct placement *placement, uint32_t object, uint32_t from,
                       uint32_t to);
/* ns that the page was accessed from that node. */
uint64_t placement__used(const struct placement *placement, size_t page, uint32_t from);
/* MC-IMB: the standard deviation of what memory controllers have to do, as a part of their mean. */
double placement__imbalance(const uint64_t *loads, size_t count);

#endif
