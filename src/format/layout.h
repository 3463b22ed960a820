/* layout.h: the one contract between the runtime inside the recorded program, the recorder, and
 * every reader of a trace.  Constants and structs, no functions.  docs/format.md tells it in prose.
 * A trace is a directory:
 *
 *     heurt.data/events      this file's structs, memory-mapped by every recorded process
 *     heurt.data/symbols     names of the addresses in it (JSON, made when the run has ended)
 *     heurt.data/machine.xml the machine as hwloc describes it: for lstopo and its like
 *     heurt.data/session     while it is recorded: the session header as the recorder wrote it, for
 *                            processes, which believe nothing that another one can write
 *     heurt.data/socket      while it is recorded: where the recorder answers (plan_layout.h)
 *     heurt.data/control     likewise, what heurt ctl asks
 *     heurt.data/1, 2, …     windows: traces of parts of the run, made while it goes on
 *
 * The events file is cut into units of HEURT_UNIT_BYTES.  Unit 0 holds the session header.  A
 * chunk is one or more units that one writer has claimed by an atomic addition to next_unit:
 *
 *     unit 0      unit 1          2            3                    6
 *     +---------+---------------+------------+--------------------+----
 *     | session | DEFINITIONS   | EVENTS     | EVENTS             | ...
 *     |         | process 0     | thread 0   | thread 1           |
 *     +---------+---------------+------------+--------------------+----
 *
 * When the run has ended the recorder packs the file: the same chunks in smaller units, what they
 * hold compressed (see "packed chunks" below).
 *
 * A claimed chunk whose header was not written before the writer died has no magic: a reader goes
 * on at the next unit.  Everything in a fresh chunk is zero; words are written so that the first
 * word of an event, and the size of a definition, are stored last.  A zero there is the end.
 * All numbers are little-endian. */
#ifndef HEURT_FORMAT_LAYOUT_H
#define HEURT_FORMAT_LAYOUT_H

#include <stdint.h>

#define HEURT_MAGIC "heurt\r\n\x1a"             /* 8 bytes, no terminator */
#define HEURT_CHUNK_MAGIC 0x6b6e686374727565ull /* "eurtchnk" */
#define HEURT_VERSION 12u
#define HEURT_UNIT_BYTES 4096u
#define HEURT_SPACE_MIN (128ull << 20) /* in less a program is left alone: it needs all of it */
#define HEURT_SPACE_PART 8u            /* of a limited address space the trace takes at most 1/8 */
#define HEURT_CHUNK_UNITS_MAX 256u     /* a thread's chunks double from 1 unit to this */
#define HEURT_EVENTS_FILE "events"
#define HEURT_SYMBOLS_FILE "symbols"
#define HEURT_RULES_FILE "rules"
#define HEURT_SCREENS_FILE "screens"
#define HEURT_RANKS_FILE "ranks"
#define HEURT_MACHINE_FILE "machine.xml"
#define HEURT_SESSION_FILE "session"
#define HEURT_SOCKET_FILE "socket"
#define HEURT_CONTROL_FILE "control"

/* The environment variable that tells the runtime where the trace is (an absolute directory). */
#define HEURT_ENVIRONMENT "HEURT_TRACE"
#define HEURT_PRELOAD "LD_PRELOAD"
/* Two more variables, which fill up what these and their pointers take of a new stack to a multiple
 * of so many bytes: what the program has on its stack then has its place within a page. */
#define HEURT_PAD "HEURT_PAD"
#define HEURT_PAD_BYTES 4096u

enum heurt_clock {
    HEURT_CLOCK_TSC = 1,       /* ticks of an invariant time-stamp counter */
    HEURT_CLOCK_MONOTONIC = 2, /* ticks are nanoseconds of CLOCK_MONOTONIC */
};

/* One instant on both clocks. A zero pair means not taken. */
struct heurt_clock_pair {
    uint64_t tick;
    uint64_t monotonic_ns;
};

enum heurt_session_flag {
    HEURT_SESSION_CLOSED = 1u << 0,    /* the recorder has ended: claim no more chunks */
    HEURT_SESSION_PLANS = 1u << 1,     /* ask the recorder which functions to patch */
    HEURT_SESSION_LIVE = 1u << 2,      /* functions may be patched while the program runs: tell the
                                          recorder what it needs for it (struct heurt_live) */
    HEURT_SESSION_AGGREGATE = 1u << 3, /* keep no events: fold them into AGGREGATES chunks */
    HEURT_SESSION_SAMPLE_LOCKS = 1u << 4, /* the budget holds for locks that nobody waits for: they
                                             are sampled, too */
    HEURT_SESSION_KERNEL = 1u << 5, /* the kernel's records are wanted: OFF_CPU, FAULT. Without
                                       KERNEL_LOG threads open perf events of their own for them */
    HEURT_SESSION_INSTRUCTIONS = 1u << 6, /* and count retired instructions: INSTRUCTIONS */
    HEURT_SESSION_KERNEL_LOG = 1u << 7,   /* the recorder keeps them: KERNEL chunks */
    HEURT_SESSION_CALLS = 1u << 8,  /* ask the recorder for inline system calls, too, when a program
                                       gets its second thread */
    HEURT_SESSION_SILENT = 1u << 9, /* the recorder did not answer in time: ask it nothing until it
                                       is back and takes this away */
    HEURT_SESSION_RAW_STACKS = 1u << 10,        /* stacks are kept as they are, not their addresses
                                                   alone */
    HEURT_SESSION_SAMPLE_SEMAPHORES = 1u << 11, /* the budget holds for semaphores, too */
    HEURT_SESSION_OBJECTS = 1u << 12, /* tell what memory the program gets: ALLOCATED, FREED */
    HEURT_SESSION_HOSTS = 1u << 14,   /* ranks of MPI compare their hosts' clocks: CLOCK */
    HEURT_SESSION_TIMERS = 1u << 13,  /* the kernel refuses samples: threads have timers that
                                         interrupt them, and write SAMPLES chunks */
    HEURT_SESSION_PAUSED = 1u << 15,  /* (atomic) nothing is recorded until it is taken away */
    HEURT_SESSION_RING = 1u << 16,    /* events go into cells, which are used again: struct
                                         heurt_cells */
};

#define HEURT_TOO_FREQUENT_SLOTS 64
#define HEURT_HOLD_SITES 16
/* Written by the recorder before the program starts; the fields marked (atomic) are shared. */
struct heurt_session {
    char magic[8];
    uint32_t version;
    uint32_t unit_bytes;
    uint32_t clock;        /* enum heurt_clock */
    uint32_t flags;        /* enum heurt_session_flag (atomic) */
    uint64_t limit_units;  /* the file's bound; a claim past it fails */
    uint64_t next_unit;    /* (atomic) may run past limit_units when claims failed */
    uint32_t next_process; /* (atomic) serial number of the next process image */
    uint32_t next_thread;  /* (atomic) serial number of the next thread */
    uint64_t events_lost;  /* (atomic) lost by threads that never got a chunk */
    uint32_t stack_every;  /* a call stack at the first and every N-th occurrence; 0: never */
    uint32_t stack_bytes;  /* at most this much of the top of the stack */
    uint32_t recorder_pid;
    uint32_t finished;   /* 1 when the recorder has written end and wait_status */
    int32_t wait_status; /* of the recorded command, as by waitpid */
    uint32_t
        overhead_permille; /* its own cost's budget in each thread, 1/1000 of its time; 0: none */
    uint64_t cpu_ns;       /* user and system time of the command and its awaited descendants */
    struct heurt_clock_pair start;
    struct heurt_clock_pair end;
    uint64_t start_realtime_ns; /* CLOCK_REALTIME at start */
    uint32_t patience_ms;       /* a process waits no longer for a sign of life of the recorder */
    uint32_t later_ns; /* what an occurrence costs when it is packed and analysed; 0: no matter */
    /* In the session file alone: arguments are kept as what this key makes of them; 0: as they are.
     */
    uint64_t argument_key[2];
    /* With KERNEL_LOG: what an OFF_CPU and a FAULT cost the program in all; 0: not known. */
    uint32_t off_cpu_ticks, fault_ticks;
    uint32_t thread_cost_ns;          /* likewise a thread's beginning and end */
    uint32_t sample_ns;               /* and what a sample of its code costs a thread */
    uint64_t file_device, file_inode; /* which file the recorder made; another one is a copy */
    uint64_t full_tick; /* (atomic) when room first ran out; 0: it did not, or nobody noted it */
    /* (atomic) Functions of which even the occurrences that are skipped cost more than the budget:
     * (process serial + 1) << 32 | event id. The recorder unpatches them and clears the slot. */
    uint64_t too_frequent[HEURT_TOO_FREQUENT_SLOTS];
    uint64_t packed_bytes; /* length of the file when it is packed, else 0. Then units are of
                              HEURT_PACKED_UNIT_BYTES; limit_units and next_unit are still those of
                              the recording */
    uint64_t kernel_lost;  /* (atomic) with KERNEL_LOG: records of the kernel that were lost */
    /* What the system counted of the command and its awaited descendants, when it had ended; */
    uint64_t system_ns; /* of cpu_ns, in the kernel */
    uint64_t faults;    /* page faults; 0: not known */
    uint64_t others_ns; /* CPU time of all others but the recorder meanwhile; ~0: not known */
    uint32_t timer_us;  /* (atomic) with TIMERS: CPU time of a thread from sample to sample */
    uint32_t host;      /* whose clocks these are, as a hash that is none other's; 0: not known */
    /* Locks taken at these return addresses (0: no more) are held so many thousandths longer. */
    uint32_t hold_permille, hold_spare;
    uint64_t hold_sites[HEURT_HOLD_SITES];
    /* Of a window: only what lies between these is meant; chunks may begin before. 0: it is none.
     */
    uint64_t from_tick, behind_tick;
    uint64_t cells_unit; /* with RING: where the chunk of the cells is */
};

enum heurt_chunk_kind {
    HEURT_CHUNK_DEFINITIONS = 1,
    HEURT_CHUNK_EVENTS = 2,
    HEURT_CHUNK_AGGREGATES =
        3,                  /* what a thread's events come to, in a run that does not keep them */
    HEURT_CHUNK_FREE = 4,   /* given back by its thread; may be claimed again */
    HEURT_CHUNK_KERNEL = 5, /* lives of threads and what the kernel told of them: runs; packed, it
                               is of one thread, and its life is in reserved */
    HEURT_CHUNK_SAMPLES =
        6,                  /* while it is recorded, a ring of a process: struct heurt_timed_ring */
    HEURT_CHUNK_COUNTS = 7, /* accesses that a thread counted (access_layout.h); never packed */
    HEURT_CHUNK_CELLS = 9,  /* while it is recorded: struct heurt_cells */
    HEURT_CHUNK_PACKED = 1u << 8, /* added to the kind of a chunk that holds blocks of it */
};

#define HEURT_NO_SERIAL 0xffffffffu /* process or thread: the recorder itself */

/* 128 bytes in front of every chunk; magic is stored last. */
struct heurt_chunk {
    uint64_t magic;
    uint32_t kind;    /* enum heurt_chunk_kind */
    uint32_t units;   /* length of the chunk with this header */
    uint32_t process; /* serial of the process image, or HEURT_NO_SERIAL */
    uint32_t thread;  /* serial of the thread (events), else HEURT_NO_SERIAL */
    uint32_t pid;
    uint32_t tid;
    uint64_t sequence; /* 0, 1, 2 … in the thread, or in the process for definitions */
    struct heurt_clock_pair start; /* when the chunk was claimed: every event in it is later,
                                      or earlier by less than one 2^47 ticks */
    uint64_t events_lost;          /* by this thread while this was its chunk */
    uint64_t reserved[8];          /* the first one of events: HEURT_CHUNK_BEHIND_PAUSE, or 0 */
};
#define HEURT_CHUNK_BEHIND_PAUSE                                    \
    1u /* the thread was not recorded between the one before and it \
        */

/* A ring's events are in chunks of HEURT_CELL_UNITS. The recorder takes the oldest ones away from
 * threads that have gone on, clears them, and puts their units here; a thread that needs a chunk
 * takes one. */
#define HEURT_CELL_UNITS 8u
#define HEURT_CELLS_MAX ((HEURT_UNIT_BYTES - 128u) / 8u)
struct heurt_cells {
    uint64_t units[HEURT_CELLS_MAX]; /* (atomic) 0: none */
};

/* ---- the kernel's records, as the recorder keeps them ---------------------------------------- */

enum heurt_life_flag {
    HEURT_LIFE_ENDED = 1u << 0, /* end_tick is when the thread ended */
};

/* What the kernel told of a thread, from its start until end_tick. Exec ends no life. */
struct heurt_life {
    uint64_t start_tick;  /* forked, or, of the command's first thread, its exec */
    uint64_t end_tick;    /* ended, or the last that is known */
    uint64_t exec_tick;   /* of its last exec; 0: none */
    uint64_t cpu_ns;      /* that it was on a CPU */
    uint64_t runnable_ns; /* that it wanted one and had none; ~0: not known */
    uint32_t flags;       /* enum heurt_life_flag */
    uint32_t wait_ticks;  /* from its start until it first had a CPU, at most UINT32_MAX */
    char name[16];
};

/* A KERNEL chunk is a row of runs: this, then events of the thread (OFF_CPU and FAULT). Several
 * runs of one thread (the same tid and life.start_tick) follow one another in the chunks' order,
 * and the life of the last one is valid. bytes is stored last; 0 ends the chunk. */
struct heurt_run {
    uint32_t bytes; /* with this header, a multiple of 8 */
    uint32_t pid, tid;
    uint32_t reserved;
    uint64_t tick; /* near its first event's, as heurt_chunk.start is for a chunk's */
    struct heurt_life life;
};

/* ---- samples that a program takes of itself -------------------------------------------------- */

/* Where a thread was when its timer interrupted it. */
struct heurt_timed_sample {
    uint64_t number; /* (atomic) of the sample, from 1; stored last, 0 before the rest is written */
    uint64_t monotonic_ns;
    uint64_t weight_ns; /* of CPU time since the one before it of the thread */
    uint64_t instruction;
    uint64_t registers[16]; /* as the processor numbers them */
    uint32_t tid, reserved;
};

#define HEURT_RING_UNITS 32u
#define HEURT_TIMER_VALUE 0x7472756568ll /* of these timers' signals (sigev_value): "heurt" */

/* Behind the header of a SAMPLES chunk of HEURT_RING_UNITS: sample n is at (n - 1) modulo their
 * number, which is as many as have room. The recorder takes them out before they are written over;
 * when the run has ended it makes the chunk a FREE one. */
struct heurt_timed_ring {
    uint64_t taken; /* (atomic) numbers that were given */
    uint64_t reserved[7];
    struct heurt_timed_sample samples[];
};
#define HEURT_RING_SAMPLES                                               \
    ((HEURT_RING_UNITS * HEURT_UNIT_BYTES - sizeof(struct heurt_chunk) - \
      sizeof(struct heurt_timed_ring)) /                                 \
     sizeof(struct heurt_timed_sample))

/* ---- definitions ----------------------------------------------------------------------------- */

enum heurt_definition_type {
    HEURT_DEFINITION_META = 1,        /* text: key \0 value \0 */
    HEURT_DEFINITION_PROCESS = 2,     /* struct heurt_process, then path \0 */
    HEURT_DEFINITION_MODULE = 3,      /* struct heurt_module, then path \0 */
    HEURT_DEFINITION_MODULE_GONE = 4, /* struct heurt_module_gone */
    HEURT_DEFINITION_FUNCTION = 5,    /* struct heurt_function, then name \0 file \0 arguments \0 */
    HEURT_DEFINITION_REFUSAL = 6,     /* text: function \0 module \0 reason \0 */
    HEURT_DEFINITION_NOTE = 7,        /* text: one sentence from the runtime, why it stopped etc. */
    HEURT_DEFINITION_THREAD_NAME = 8, /* struct heurt_thread_name */
    HEURT_DEFINITION_LIVE = 9,        /* struct heurt_live */
    HEURT_DEFINITION_OBJECT = 10,     /* struct heurt_object_name, then its name \0 */
    HEURT_DEFINITION_SAMPLES = 11,    /* a row of struct heurt_sample */
    HEURT_DEFINITION_COSTS = 12,      /* struct heurt_process_costs */
    HEURT_DEFINITION_PLACED = 20,     /* a row of struct heurt_placed */
    HEURT_DEFINITION_PAGES = 21,      /* a row of struct heurt_page */
    HEURT_DEFINITION_ANSWERS = 22,    /* a row of struct heurt_answer */
    HEURT_DEFINITION_CLOCK = 24,      /* struct heurt_host_clock */
    HEURT_DEFINITION_SHARED = 26,     /* a row of struct heurt_shared_range */
    HEURT_DEFINITION_MARK = 27,       /* struct heurt_mark, then its text \0 */
};

/* Somebody said so while it was recorded (heurt ctl mark). */
struct heurt_mark {
    uint64_t tick;
};

/* How the reason of a refusal begins when the function was recorded until then. */
#define HEURT_LEFT_OUT "left out after "

/* In front of every definition; bytes (with this header, a multiple of 8) is stored last. */
struct heurt_definition {
    uint32_t bytes;
    uint32_t type; /* enum heurt_definition_type */
};

struct heurt_process {
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t tick;           /* when this image began: start, fork or exec */
    uint32_t parent_process; /* serial of the image it was forked from, or HEURT_NO_SERIAL */
    uint16_t event_ticks;    /* what an event costs that is not of a function; 0: not known */
    uint16_t left_out_ticks; /* what an occurrence costs that is sampled and not drawn */
    uint32_t
        off_cpu_ticks; /* what an OFF_CPU costs in all, the kernel's part included; 0: not known */
    uint32_t fault_ticks; /* likewise a FAULT */
};

/* What recording costs the image beside its events. */
struct heurt_process_costs {
    uint64_t begin_ns;  /* to begin its record */
    uint64_t thread_ns; /* what each of its threads costs the kernel; 0: not known */
};

#define HEURT_BUILD_ID_MAX 32

struct heurt_module {
    uint64_t tick;           /* when it was seen */
    uint64_t bias;           /* what to add to an address in the file */
    uint64_t start;          /* lowest mapped address */
    uint64_t end;            /* one past the highest */
    uint32_t build_id_bytes; /* 0: none */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
    uint32_t reserved;
};

struct heurt_module_gone {
    uint64_t tick;
    uint64_t start;
};

enum heurt_function_kind {
    HEURT_FUNCTION_PATCHED = 1,   /* a function of the program, by entry patch */
    HEURT_FUNCTION_REGION = 2,    /* heurt_begin … heurt_end in the source */
    HEURT_FUNCTION_ITERATION = 3, /* heurt_iteration: one or more turns of a loop */
    HEURT_FUNCTION_LOOP = 4,      /* a loop that the recorder marks: the argument of an occurrence
                                     says how many iterations it is */
};

#define HEURT_ARGUMENTS_MAX 6

enum heurt_function_flag {
    HEURT_FUNCTION_LOCKED = 1u << 0, /* it has locked instructions (struct heurt_plan.ordered) */
};

/* Gives an even id (enter; id|1 is leave) to a function or marked region. */
struct heurt_function {
    uint32_t id;             /* HEURT_EVENT_FUNCTIONS … HEURT_FUNCTION_LAST, even, one per process
                                image; above HEURT_EVENT_LAST it comes in FUNCTION events */
    uint32_t kind;           /* enum heurt_function_kind */
    uint64_t address;        /* of the entry, or of the marker's code */
    uint32_t line;           /* of a marker, else 0 */
    uint32_t flags;          /* enum heurt_function_flag */
    uint32_t argument_count; /* payload words of its enter event, ≤ HEURT_ARGUMENTS_MAX */
    uint32_t bias_ticks;     /* what recording adds to the time between enter and leave */
    uint32_t cost_ticks;     /* what one recorded occurrence costs the program in all */
    uint32_t reserved;
    /* strings: name, file (of a marker, else empty), argument names joined by ',' */
};

/* Room for code that the recorder puts near some modules of a process image when it patches a
 * function of the running program: the one with event id HEURT_EVENT_LIVE + 2 n has the n-th slot.
 * Behind these are the slots of loops: that with event id HEURT_EVENT_LOOPS + 2 n has the n-th. */
#define HEURT_LIVE_SLOT_BYTES 128u
#define HEURT_LIVE_LOOP_SLOT_BYTES 256u
#define HEURT_LIVE_LOOPS_AT ((HEURT_EVENT_LAST - HEURT_EVENT_LIVE + 2) / 2 * HEURT_LIVE_SLOT_BYTES)
#define HEURT_LIVE_BYTES (HEURT_LIVE_LOOPS_AT + HEURT_LOOPS_MAX * HEURT_LIVE_LOOP_SLOT_BYTES)

#define HEURT_LOOPS_MAX 128u /* that are marked in one session */

/* What the memory of the process holds of a marked loop: the recorder writes parent before it marks
 * the loop. */
struct heurt_loop {
    uint32_t parent; /* number + 1 of the nearest marked loop around it; 0: none */
    uint32_t every;  /* (atomic) iterations from one mark to the next; 0: not yet known */
    uint32_t brief;  /* (atomic) marks in a row at which iterations were too short to be counted */
    uint32_t alone;  /* (atomic) marks in a row that came too soon, and after those of others */
};

#define HEURT_LIVE_ENTERED \
    2u /* entries of a function in a thread that are told apart: 0, 1, more */

struct heurt_live {
    uint64_t room;    /* HEURT_LIVE_BYTES, readable and executable, zero */
    uint64_t process; /* address of the image's serial (uint32_t): another there is another image */
    uint64_t bodies;  /* address of the table of moved code: 8 bytes by event id / 2 */
    uint64_t stubs[2][2]; /* by enum heurt_mechanism and heurt_plan.ordered; 0: there is none */
    uint32_t bias_ticks[2][2], cost_ticks[2][2]; /* of these, as in struct heurt_function */
    uint64_t entered;      /* address of a byte for each id from HEURT_EVENT_LIVE on: how often the
                              function was entered by the thread that did so most, HEURT_LIVE_ENTERED at
                              most */
    uint64_t loops;        /* address of struct heurt_loop[HEURT_LOOPS_MAX] */
    uint64_t loop_stub;    /* 0: loops cannot be marked */
    int64_t loop_counters; /* where a thread's counters of loops are, from its thread pointer: each
                              int32_t, iterations until the next mark */
    uint32_t loop_cost_ticks; /* of one mark */
    uint32_t reserved;
};

/* What the runtime's data of a process hold where they begin with this: the process itself vouches
 * for what is said of it in the trace, which others write, too. */
#define HEURT_OFFERS_MAGIC "heurt's offers\x1a"
#define HEURT_OFFERS_MAX 16
struct heurt_offers {
    char magic[16];
    uint64_t process;      /* as in struct heurt_live */
    uint64_t module_count; /* of what is mapped: address of a uint32_t */
    uint64_t modules;      /* address of the first: three words, its start, end and bias */
    uint64_t module_bytes; /* from one to the next */
    uint64_t count;        /* (atomic) of rooms */
    struct heurt_live rooms[HEURT_OFFERS_MAX];
};

/* What an object is called that has no name in the program's symbols: the path of a file. */
#define HEURT_FILE_ADDRESS(descriptor) ((uint64_t)(descriptor) + 1) /* where no variable can be */
struct heurt_object_name {
    uint64_t tick;    /* when it was so */
    uint64_t address; /* as events tell it */
};

struct heurt_thread_name {
    uint32_t thread;
    uint32_t reserved;
    char name[16];
};

/* ---- events ---------------------------------------------------------------------------------- */

/* An event is one word, then the payload words its id has:
 *
 *     63              16 15     0
 *     +-----------------+-------+
 *     | tick (low 48)   |  id   |   id: even = enter or point, odd = leave; never 0
 *     +-----------------+-------+
 *
 * A payload word called SITE is an address in its low 48 bits (the return address of the call)
 * with a small number, the event's "how", in its high 16.
 */
#define HEURT_ID_BITS 16
#define HEURT_TICK_MASK ((1ull << 48) - 1)
#define HEURT_SITE(address, how) (((uint64_t)(address)&HEURT_TICK_MASK) | (uint64_t)(how) << 48)
#define HEURT_SITE_ADDRESS(word) ((word)&HEURT_TICK_MASK)
#define HEURT_SITE_HOW(word) ((uint32_t)((word) >> 48))

#define HEURT_WORDS_VARIABLE 255 /* the first payload word tells how many more follow */

/* POINT(name, id, payload words)   SPAN(name, id, enter payload words, leave payload words) */
/* clang-format off */
#define HEURT_EVENT_TABLE(POINT, SPAN)                                                           \
    /* pthread_self; serial of the creator (or HEURT_NO_SERIAL); start routine */                \
    POINT(THREAD_START, 2, 3)                                                                    \
    /* CPU time since its start ns; time runnable but not running ns (or ~0: not known) */        \
    POINT(THREAD_END, 4, 2)                                                                      \
    /* SITE(lock kind), lock | result of the call (0 or EOWNERDEAD: acquired) */                 \
    SPAN(LOCK_WAIT, 6, 2, 1)                                                                     \
    /* without waiting: SITE(lock kind, HEURT_LOCK_TRIED), lock */                                \
    POINT(LOCK_ACQUIRED, 8, 2)                                                                   \
    /* a try that failed: SITE(lock kind), lock */                                               \
    POINT(LOCK_BUSY, 10, 2)                                                                      \
    /* the release that follows is of a lock whose acquisition was left out, and for which others   \
     * began to wait so many ticks ago: SITE(lock kind, HEURT_LOCK_TRIED) of the acquisition, lock, \
     * ticks (0: not known) */                                                                      \
    POINT(LOCK_HELD, 76, 3)                                                                      \
    /* just before the release: SITE(lock kind), lock */                                         \
    POINT(LOCK_RELEASED, 12, 2)                                                                  \
    /* SITE(0 or HEURT_CONDITION_OPENMP_REGION), condition variable, mutex | result */          \
    SPAN(CONDITION_WAIT, 14, 3, 1)                                                               \
    /* SITE(0 signal, 1 broadcast), condition variable */                                        \
    POINT(CONDITION_SIGNALLED, 16, 2)                                                            \
    /* SITE(enum heurt_barrier_kind), barrier | result */                                                           \
    SPAN(BARRIER_WAIT, 18, 2, 1)                                                                 \
    /* SITE(0), semaphore | result */                                                            \
    SPAN(SEMAPHORE_WAIT, 20, 2, 1)                                                               \
    POINT(SEMAPHORE_ACQUIRED, 22, 2)                                                             \
    POINT(SEMAPHORE_POSTED, 24, 2)                                                               \
    /* SITE(0), pthread_t | result */                                                            \
    SPAN(JOIN, 26, 2, 1)                                                                         \
    /* SITE(0), pthread_t of the new thread, ticks that making it took */                          \
    POINT(THREAD_CREATED, 28, 3)                                                                 \
    /* SITE(enum heurt_io), descriptor | enum heurt_descriptor << 32, bytes asked (or timeout in \
     * ms for the poll family) | result */                                                       \
    SPAN(IO, 30, 3, 1)                                                                           \
    /* SITE(enum heurt_sleep), requested ns */                                                   \
    SPAN(SLEEP, 32, 2, 0)                                                                        \
    /* futex(2) waits, by whoever: SITE(operation or HEURT_FUTEX_ONCE), address | result */                                  \
    SPAN(FUTEX_WAIT, 34, 2, 1)                                                                   \
    /* raw futex(2) wakes: SITE(operation), address */                                           \
    POINT(FUTEX_WOKEN, 36, 2)                                                                    \
    /* this process is about to fork */                                                          \
    POINT(FORKED, 38, 0)                                                                         \
    /* this image is about to be replaced */                                                     \
    POINT(EXEC, 40, 0)                                                                           \
    /* the innermost open function was left by an exception or a forced unwind */                \
    POINT(UNWOUND, 42, 0)                                                                        \
    /* the stack at the event that follows: words that follow; rip rsp rbp rbx r12 r13 r14 r15;  \
     * then the memory from rsp upwards */                                                       \
    POINT(STACK, 44, HEURT_WORDS_VARIABLE)                                                       \
    /* events that could not be written at this place: how many */                               \
    POINT(LOST, 46, 1)                                                                           \
    /* HEURT_SAMPLED: the next enter event of that function, or LOCK_ACQUIRED or                 \
     * SEMAPHORE_ACQUIRED of that id, stands for so many occurrences: it is                      \
     * the one that was drawn from a block of that many */                                        \
    POINT(SAMPLED, 48, 1)                                                                        \
    /* the recording itself took so many ticks of the thread's time until now */                  \
    POINT(PAUSED, 52, 1)                                                                         \
    /* a function whose id does not fit: the even id, then the arguments | the even id */        \
    SPAN(FUNCTION, 50, 1, 1)                                                                     \
    /* back on a CPU: HEURT_OFF(ticks it was off, enum heurt_off), HEURT_BACK(ticks of these that \
     * it only waited for a CPU, or HEURT_NOT_KNOWN; the CPU), tid of who woke it (0: not known).  \
     * In the stream before the leave of whatever span it was in, but perhaps after enters of      \
     * functions that came later: its ticks tell */                                               \
    POINT(OFF_CPU, 54, 3)                                                                        \
    /* the end of a page fault: HEURT_OFF(ticks on a CPU, enum heurt_fault), address; the address of   \
     * the instruction (0: not known); placed as OFF_CPU is */                                    \
    POINT(FAULT, 56, 3)                                                                          \
    /* from here on OFF_CPU and FAULT tell all there was of the thread, which is on that CPU */   \
    POINT(KERNEL, 58, 1)                                                                         \
    /* so many records of the kernel were lost before this */                                    \
    POINT(KERNEL_LOST, 60, 1)                                                                    \
    /* instructions that this thread has retired until now (of the user's, as counted by a PMU);   \
     * just before the enter and the leave of a function */                                       \
    POINT(INSTRUCTIONS, 62, 1)                                                                   \
    /* made by pthread_mutex_init and the like: SITE(enum heurt_object), address, the parties of   \
     * a barrier or the value of a semaphore (else 0) */                                          \
    POINT(INITIALISED, 64, 3)                                                                     \
    /* SITE(enum heurt_memory_map), address, bytes | result; in programs with several threads,    \
     * which wait there for the one lock that the kernel has for a process's memory map */         \
    SPAN(MEMORY_MAP, 66, 3, 1)                                                                     \
    /* memory that the program got: SITE(enum heurt_allocation), address, bytes and context. One that is \
     * drawn of many (HEURT_ALLOCATION_DRAWN) stands for HEURT_ALLOCATION_EVERY / bytes of its size */          \
    POINT(ALLOCATED, 70, 3)                                                                        \
    /* just before it is given back, or moved: the address. Only of what ALLOCATED told */              \
    POINT(FREED, 72, 1)                                                                            \
    /* from here on the process's descriptor is an end of channels: descriptor | enum                \
     * heurt_descriptor << 32; what is read from it comes from the channel, what is written to it   \
     * goes to the channel (0: not known; or HEURT_CHANNEL_MEETS) */                                \
    POINT(CHANNEL, 68, 3)                                                                          \
    /* the innermost open occurrence of that loop (its even id) was left without a mark: it and    \
     * what is open inside of it are no occurrences */                                             \
    POINT(LOOP_LEFT, 80, 1)                                                                        \
    /* OpenMP: a region, a loop … begins on this thread: SITE(enum heurt_openmp), two figures that       \
     * the enum tells. The site of a region and of tasks is that of their function, plus one */                                                                                 \
    POINT(OPENMP_BEGIN, 82, 3)                                                                     \
    /* It ends, or has ended and began so many ticks ago: SITE(enum heurt_openmp), ticks (0: there was   \
     * a begin), two figures */                                                                          \
    POINT(OPENMP_END, 84, 4)                                                                           \
    /* MPI (message_layout.h). A call: SITE(enum heurt_message_call), communicator, bytes | calls in it but for the first, result (two numbers) */    \
    SPAN(MESSAGE_CALL, 86, 3, 1)                                                                         \
    POINT(MESSAGE_SENT, 88, 3)                                                                           \
    POINT(MESSAGE_AWAITED, 90, 3)                                                                        \
    POINT(MESSAGE_DONE, 92, 3)                                                                           \
    POINT(MESSAGE_COLLECTIVE, 94, 3)                                                                     \
    POINT(MESSAGE_COMMUNICATOR, 96, 3)                                                                   \
    POINT(MESSAGE_RANK, 98, 2)
/* clang-format on */

enum heurt_event_id {
#define HEURT_POINT_ID(name, id, words) HEURT_EVENT_##name = id,
#define HEURT_SPAN_ID(name, id, enter_words, leave_words) HEURT_EVENT_##name = id,
    HEURT_EVENT_TABLE(HEURT_POINT_ID, HEURT_SPAN_ID)
#undef HEURT_POINT_ID
#undef HEURT_SPAN_ID
        HEURT_EVENT_FUNCTIONS = 1024, /* the first id that definitions give to functions */
    HEURT_EVENT_LOOPS = 61184,        /* the first id that the recorder gives to loops */
    HEURT_EVENT_LIVE = 61440,         /* the first id that the recorder gives to functions that it
                                         patches in the running program */
    HEURT_EVENT_LAST = 65534,
    HEURT_FUNCTION_LAST = (1 << 20) - 2,
};

#define HEURT_IS_LOOP(id) ((id) >= HEURT_EVENT_LOOPS && (id) < HEURT_EVENT_LIVE)

/* A function's or event's even id and the number of its occurrences that one stands for. */
#define HEURT_SAMPLED(id, block) ((uint64_t)(id) << 32 | (uint32_t)(block))
#define HEURT_SAMPLED_ID(word) ((uint32_t)((word) >> 32))
#define HEURT_SAMPLED_BLOCK(word) ((uint32_t)(word))

/* Words of OFF_CPU and FAULT: ticks in the low 48 bits, a small number in the high 16. */
#define HEURT_OFF(ticks, how) HEURT_SITE(ticks, how)
#define HEURT_BACK(ticks, cpu) HEURT_SITE(ticks, cpu)
#define HEURT_NOT_KNOWN HEURT_TICK_MASK

/* The note of a process of which nothing is recorded any more. */
#define HEURT_NOTE_LEAVES "The process changes its user: what it does then is not recorded."

/* Why a thread was off the CPU. */
enum heurt_off {
    HEURT_OFF_BLOCKED = 0,   /* it waited for something that is not told here */
    HEURT_OFF_PREEMPTED = 1, /* it wanted to go on */
    HEURT_OFF_FAULT = 2,     /* a page had to be fetched */
    HEURT_OFF_FUTEX = 3,     /* in futex(2): known only when the recorder may see tracepoints */
    HEURT_OFF_DISK = 4,      /* a block device: likewise */
    HEURT_OFF_STOPPED = 5,   /* the recorder had stopped its process, to patch it */
};

enum heurt_fault {
    HEURT_FAULT_MEASURED = 0,  /* its ticks were measured */
    HEURT_FAULT_ESTIMATED = 1, /* they are the mean of those that were measured before it */
    /* Likewise, and its place is an estimate, too: the kernel counted it with the next one that is
     * not of this kind. It cost nothing. */
    HEURT_FAULT_COUNTED = 2,
};

#define HEURT_STACK_REGISTERS 8

enum heurt_lock_kind {
    HEURT_LOCK_MUTEX = 0,
    HEURT_LOCK_READ = 1,  /* rwlock, shared */
    HEURT_LOCK_WRITE = 2, /* rwlock, exclusive */
    HEURT_LOCK_SPIN = 3,
    HEURT_LOCK_RW_ANY = 4, /* release of an rwlock: either side */
    HEURT_LOCK_STREAM = 5, /* that of a FILE */
    HEURT_LOCK_FILE = 6,   /* of a file, held by a process or an open file: fcntl, lockf, flock */
    /* OpenMP's: */
    HEURT_LOCK_CRITICAL = 8, /* a critical section, or an atomic update that takes a lock */
    HEURT_LOCK_OPENMP = 9,   /* omp_set_lock */
    HEURT_LOCK_ORDERED = 10, /* an ordered section: who is not next waits */
};

/* As the operation of a futex: of pthread_once's flag. */
#define HEURT_FUTEX_ONCE 64u
#define HEURT_CONDITION_OPENMP_REGION 1u /* a condition: the next parallel region */

enum heurt_barrier_kind {
    HEURT_BARRIER_PTHREAD = 0,
    HEURT_BARRIER_OPENMP = 1,        /* of a team; the object is the place that it is called at */
    HEURT_BARRIER_OPENMP_REGION = 2, /* the end of a parallel region, likewise */
    HEURT_BARRIER_OPENMP_TEAM = 3,   /* alone, who calls one: the others begin, or end it */
};

/* An object from there on is no address (those of a program end below): it is the same in all
 * processes. */
#define HEURT_SHARED_OBJECT (1ull << 47)

/* Beside the kind, of LOCK_ACQUIRED: by a try, which would not have waited for it. */
#define HEURT_LOCK_TRIED 0x100u
#define HEURT_LOCK_KIND(site_word) (HEURT_SITE_HOW(site_word) & 0xffu)

/* What INITIALISED has made. */
enum heurt_object {
    HEURT_OBJECT_MUTEX = 0,
    HEURT_OBJECT_RWLOCK = 1,
    HEURT_OBJECT_SPIN = 2,
    HEURT_OBJECT_CONDITION = 3,
    HEURT_OBJECT_SEMAPHORE = 4,
    HEURT_OBJECT_BARRIER = 5,
};

/* Which call got the memory that ALLOCATED tells of. */
enum heurt_allocation {
    HEURT_ALLOCATION_MALLOC = 0, /* and its kin */
    HEURT_ALLOCATION_CALLOC = 1,
    HEURT_ALLOCATION_REALLOC = 2, /* what was there before is gone */
    HEURT_ALLOCATION_NEW = 3,     /* of C++ */
    HEURT_ALLOCATION_MMAP = 4,
    HEURT_ALLOCATION_NAMED = 5, /* heurt_object: the process's objects have its name */
};
#define HEURT_ALLOCATION_DRAWN 0x100u /* beside the kind: one of all that were not told whole; */
#define HEURT_ALLOCATION_EVERY (1u << 18) /* of each so many bytes of these, one byte is drawn */
/* The stack just before has its tick. Those of one site and context were called alike, most likely.
 */
#define HEURT_ALLOCATION_STACK 0x200u
#define HEURT_ALLOCATION_KIND(site_word) (HEURT_SITE_HOW(site_word) & 0xffu)
#define HEURT_ALLOCATION_BYTES(bytes_word) ((bytes_word)&0xffffffffffffull)
#define HEURT_ALLOCATION_CONTEXT(bytes_word) ((uint16_t)((bytes_word) >> 48)) /* 0: not told */

/* What a descriptor leads to. */
enum heurt_descriptor {
    HEURT_DESCRIPTOR_UNKNOWN = 0,
    HEURT_DESCRIPTOR_FILE = 1, /* regular file or block device: disk */
    HEURT_DESCRIPTOR_SOCKET = 2,
    HEURT_DESCRIPTOR_PIPE = 3,
    HEURT_DESCRIPTOR_TERMINAL = 4, /* or another character device */
    HEURT_DESCRIPTOR_OTHER = 5,    /* eventfd, timerfd, epoll, directory … */
};

/* What stands as the descriptor of System V's queue of messages of that number, and the other way
 * round; 0 and above: it is a descriptor. */
#define HEURT_QUEUE_OF(number) (-2 - (number))

/* In place of a channel that is written to: the other end of a Unix socket is not known but by what
 * this is without HEURT_CHANNEL_ACCEPTED: ends meet in the order in which they were connected and
 * accepted. */
#define HEURT_CHANNEL_MEETS (1ull << 63)
#define HEURT_CHANNEL_ACCEPTED (1ull << 62)

/* clang-format off */
#define HEURT_IO_TABLE(X)           \
    X(READ, 1, "read")              \
    X(WRITE, 2, "write")            \
    X(PREAD, 3, "pread")            \
    X(PWRITE, 4, "pwrite")          \
    X(READV, 5, "readv")            \
    X(WRITEV, 6, "writev")          \
    X(PREADV, 7, "preadv")          \
    X(PWRITEV, 8, "pwritev")        \
    X(SENDFILE, 9, "sendfile")      \
    X(FSYNC, 10, "fsync")           \
    X(FDATASYNC, 11, "fdatasync")   \
    X(OPEN, 12, "open")             \
    X(CLOSE, 13, "close")           \
    X(POLL, 14, "poll")             \
    X(SELECT, 15, "select")         \
    X(EPOLL_WAIT, 16, "epoll_wait") \
    X(SEND, 17, "send")             \
    X(SENDTO, 18, "sendto")         \
    X(SENDMSG, 19, "sendmsg")       \
    X(SENDMMSG, 20, "sendmmsg")     \
    X(RECV, 21, "recv")             \
    X(RECVFROM, 22, "recvfrom")     \
    X(RECVMSG, 23, "recvmsg")       \
    X(RECVMMSG, 24, "recvmmsg")     \
    X(ACCEPT, 25, "accept")         \
    X(CONNECT, 26, "connect")       \
    X(MQ_SEND, 27, "mq_send")       \
    X(MQ_RECEIVE, 28, "mq_receive") \
    X(MSGSND, 29, "msgsnd")         \
    X(MSGRCV, 30, "msgrcv")
/* clang-format on */

enum heurt_io {
#define HEURT_IO_ID(name, id, text) HEURT_IO_##name = id,
    HEURT_IO_TABLE(HEURT_IO_ID)
#undef HEURT_IO_ID
};

/* clang-format off */
#define HEURT_SLEEP_TABLE(X)                 \
    X(NANOSLEEP, 1, "nanosleep")             \
    X(CLOCK_NANOSLEEP, 2, "clock_nanosleep") \
    X(USLEEP, 3, "usleep")                   \
    X(SLEEP, 4, "sleep")                     \
    X(YIELD, 5, "sched_yield")               \
    X(THRD_SLEEP, 6, "thrd_sleep")           \
    X(WAITPID, 7, "waitpid")                 \
    X(SIGWAIT, 8, "sigwait")                 \
    X(SIGSUSPEND, 9, "sigsuspend")
/* clang-format on */

enum heurt_sleep {
#define HEURT_SLEEP_ID(name, id, text) HEURT_SLEEP_##name = id,
    HEURT_SLEEP_TABLE(HEURT_SLEEP_ID)
#undef HEURT_SLEEP_ID
};

/* Beside the call: it is one of a row of them at one place, with next to nothing done in between:
 * the row, but its first, is one wait for something that is asked for again and again. */
#define HEURT_SLEEP_POLLS 0x100u
#define HEURT_SLEEP_CALL(site_word) (HEURT_SITE_HOW(site_word) & 0xffu)

/* clang-format off */
#define HEURT_MEMORY_MAP_TABLE(X) \
    X(MMAP, 1, "mmap")            \
    X(MUNMAP, 2, "munmap")        \
    X(MPROTECT, 3, "mprotect")    \
    X(MADVISE, 4, "madvise")      \
    X(MREMAP, 5, "mremap")
/* clang-format on */

enum heurt_memory_map {
#define HEURT_MEMORY_MAP_ID(name, id, text) HEURT_MEMORY_MAP_##name = id,
    HEURT_MEMORY_MAP_TABLE(HEURT_MEMORY_MAP_ID)
#undef HEURT_MEMORY_MAP_ID
};

/* ---- packed chunks --------------------------------------------------------------------------- */

#define HEURT_PACKED_UNIT_BYTES 64u
#define HEURT_PACKED_START_BYTES 4096u /* of a packed file are the session's header and zeroes */
#define HEURT_PACKED_WORDS_MAX 16384u  /* that one block unpacks to */

/* A packed chunk holds a row of blocks, each of which can be unpacked by itself: this, then a zstd
 * frame, padded to 8 bytes. The frame's content is the words of a definitions chunk as they are, or
 * those of whole events, taken apart as docs/format.md tells. Zeroes are the chunk's end. */
struct heurt_packed_block {
    uint32_t frame_bytes;
    uint32_t words;       /* that it unpacks to, 1 to HEURT_PACKED_WORDS_MAX */
    uint32_t events;      /* that these words are; 0: they are no events */
    uint32_t shapes;      /* different pairs of an id and a number of payload words */
    uint32_t shape_bytes; /* of the content: the shapes; then a byte (more than 256 shapes: */
    uint32_t
        tick_rest_bytes;    /* two) and a byte for each event; bits of ticks that need more; and */
    uint32_t payload_bytes; /* the payload */
    uint32_t reserved;
};

#include "format/aggregate_layout.h"
#include "format/answer_layout.h"
#include "format/first_libraries.h"
#include "format/message_layout.h"
#include "format/openmp_layout.h"
#include "format/placed_layout.h"
#include "format/plan_layout.h"
#include "format/sample_layout.h"

#endif
