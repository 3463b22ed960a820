/* runtime.h: the injected library's one state, a thread's buffer, and how events are written.
 *
 * Concurrency
 *   what                     who writes                       how
 *   struct thread            its own thread, and that         a claim is one xadd: a handler that
 *                            thread's signal handlers         interrupts it gets words of its own
 *   a chunk                  the thread that claimed it       first word of an event stored last
 *   definitions chunk        any thread, under                size of a definition stored last
 *                            state.definitions_lock
 *   session header           all processes                    atomic additions
 *   state                    the constructor, later under     readers need no lock: written before
 *                            its locks                        recording is set
 *
 * Everything here may run in a signal handler and inside a patched function's entry: no libc call
 * except where a comment says so, no vector registers (the room is compiled with
 * -mgeneral-regs-only), errno untouched. */
#ifndef HEURT_RUNTIME_RUNTIME_H
#define HEURT_RUNTIME_RUNTIME_H

#include "format/layout.h"
#include "runtime/allocation_sampling.h"
#include "runtime/attached.h"
#include "runtime/budget.h"
#include "runtime/cpu_timer.h"
#include "runtime/instructions.h"
#include "runtime/kernel.h"
#include "runtime/longer_holds.h"
#include "runtime/openmp_state.h"
#include "runtime/raw.h"

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* How often each class of hooked calls still runs until its next call stack is taken. */
struct class_countdown {
    uint64_t key; /* 0: free */
    int32_t left;
    uint32_t gap; /* that the last one left */
};
#define CLASS_COUNTDOWNS 1024

/* A lock whose last acquisition by this thread was left out, and where that was (SITE). */
struct left_out_lock {
    const void *lock; /* NULL: none */
    uint64_t site;
};
#define LEFT_OUT_LOCKS 64

/* Counters of one function in one thread; stub.S knows them. */
struct function_countdown {
    int32_t stack; /* recorded occurrences until the next call stack */
    int32_t gap;   /* occurrences until one is recorded, this one included; 0: all are */
};

/* Counters of one thread, mapped once and passed on when it ends. */
struct countdowns {
    struct function_countdown function[HEURT_FUNCTION_LAST / 2 + 1]; /* by event id / 2 */
    struct class_countdown classes[CLASS_COUNTDOWNS];
    /* By lock__hash; later ones take the places of earlier ones. */
    struct left_out_lock left_out_locks[LEFT_OUT_LOCKS];
    struct countdowns *next_free;
    struct budget budget;                               /* touched only when there is one */
    struct openmp_running running[OPENMP_RUNNING_MOST]; /* likewise, by tasks of libomp */
};

/* A marked loop that a thread is in (loop_mark.c). */
struct open_loop {
    uint32_t number, every; /* iterations from the last mark to the next one */
    uint64_t frame;         /* the stack pointer in the loop */
    uint64_t tick;          /* of the last mark */
};
#define OPEN_LOOPS 8

/* stub.S knows the offsets of the first six. */
/* The last wait in which a thread polled, for as long as nothing was recorded behind its leave. */
struct poll {
    uint64_t site;
    uint64_t *end;        /* behind the leave event, or behind the PAUSED that follows it */
    uint64_t leave;       /* that event's first word, */
    unsigned words;       /* of so many */
    uint64_t tick, ticks; /* when its last call returned; how long that took */
    uint64_t ns;          /* that a sleep asked for */
    unsigned uneven;      /* how uneven sleeps in a row are: those of who asks are not */
    uint64_t pause;       /* ticks of that PAUSED; 0: there is none */
    uint64_t pause_word;
};

/* The pthread_once that the thread is in, as it began. */
struct once {
    void (*routine)(void);
    const void *control;
    uint64_t site;
};

struct thread {
    uint64_t *next;  /* first unclaimed word of the chunk; may run past limit */
    uint64_t *limit; /* one past the chunk's last word; NULL: no chunk yet */
    struct countdowns *countdowns;
    uint64_t return_slot; /* head of the list of free records of return slots (relocated return
                             address.c) */
    /* Where the address stands of the word that tells how far the kernel's records go (kernel.h),
     * or 0: there are none. Never NULL. */
    const volatile uint64_t *kernel_gate;
    uint64_t kernel_seen; /* how far they are read */
    struct heurt_chunk *chunk;
    struct aggregate *aggregate; /* in an aggregated run (aggregate.h), else NULL */
    uint64_t sequence;           /* of the next chunk */
    uint64_t start_routine;
    uint64_t cpu_before_ns;         /* CPU time that it had before its record began: the loader's */
    uint64_t stack_low, stack_high; /* what is surely mapped between them; 0: not known */
    uint32_t serial;                /* valid when started */
    uint32_t creator;
    uint32_t next_units;              /* size of the next chunk */
    uint32_t inside;                  /* > 0: the runtime itself calls libc: hooks pass through */
    uint64_t *held_next, *held_limit; /* of its chunk, while it forks (start.c) */
    bool forking;
    uint64_t long_wait;       /* ticks of a wait that is worth a call stack (stack.c) */
    uint32_t signals_blocked; /* depth of signals__block */
    uint32_t end_rounds;      /* rounds of destructors seen at the thread's end */
    uint64_t *instructions;   /* the way to the page of its counter (instructions.c); NULL: none */
    uint64_t return_slot_taken, return_slot_sweep_at; /* records; when to look for dead ones next */
    bool started, ended;
    bool in_seccomp;    /* a filter of system calls holds this thread (seccomp filter.c) */
    bool roams;         /* its creator was not held, so it is not */
    bool leaves_itself; /* its record ends where its routine returns (hook_key.c) */
    bool is_in_wait;    /* a wait is told: futexes, yields, conditions that it is made of are not */
    bool has_team;      /* threads wait for its next parallel region (hook_openmp.c) */
    char name[16];      /* as last defined */
    struct poll poll;
    uint64_t fortran_caller; /* of MPI (hook_message.c) */
    uint64_t asked;          /* calls of MPI that the poll has been until now, but for the first */
    uint64_t refused;        /* tick of the last try that found a lock taken; 0: there was none */
    uint64_t docked;         /* tick since which it waits for a parallel region; 0: it does not */
    struct once once;
    struct kernel kernel;
    struct image_room *image_room;       /* new_image.h; NULL: not needed yet */
    uint32_t image_room_user;            /* the process that has it; 0: nobody */
    int32_t loops[HEURT_LOOPS_MAX];      /* by number: iterations until the next mark */
    uint64_t marked_at[HEURT_LOOPS_MAX]; /* by number: tick of the last mark */
    struct open_loop open_loops[OPEN_LOOPS];
    uint32_t open_loop_count; /* the innermost is the last */
    bool marks;               /* a mark is being made */
    bool was_paused;          /* since its chunk events were not to be recorded */
    struct allocation_sampling allocations;
    struct cpu_timer timer;
    struct openmp_thread openmp;
    struct longer_hold longer_holds[LONGER_HOLDS];
    uint64_t longer_holds_next; /* the place of the next one */
    THREAD_ATTACHED
} __attribute__((aligned(64))); /* so that no compiler leaves a gap behind it */

#define TLS_MODEL __attribute__((tls_model("initial-exec")))
#ifdef HEURT_ATTACHED
extern __thread struct thread *heurt_own TLS_MODEL; /* NULL: it has made no call that is seen */
struct thread *thread__make(void);
#define heurt_thread (*(likely(heurt_own != NULL) ? heurt_own : thread__make()))
#else
extern __thread struct thread heurt_thread TLS_MODEL;
#endif

#define ENVIRONMENT_TEXT 16384
#define LENT_SLOTS 4096

/* Where code was whose module has gone. */
struct gone_code {
    uint64_t low, high; /* all of it lies between these */
    uint64_t tick;      /* when the last module went */
    uint64_t times;     /* how many went */
};

#define STACKS_KEPT_WORDS 64

#define MODULES_MAX 2048
struct known_module {
    uint64_t start, end, bias;
    uint64_t code_start, code_end; /* its segment of code; equal: it has several, or none */
    bool seen;                     /* in the walk that is under way */
};

/* What a new thread needs before it runs the program's function: taken by its creator, given back
 * by its first instructions. */
#define BEGINNINGS_MAX 256
struct beginning {
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *argument;
    uint64_t stack_bytes;
    uint32_t creator;
    bool in_seccomp;
    uint32_t taken;
};

#define LIVE_ROOMS_MAX HEURT_OFFERS_MAX
#define RETURN_SLOT_BLOCKS_MAX 10

/* What recording an occurrence costs, in ticks (calibrate.c; struct heurt_function). */
struct calibration {
    uint32_t bias_ticks, cost_ticks;
};
enum stub_kind { STUB_PLAIN, STUB_ORDERED, STUB_FULL, STUB_KINDS };

#define REGIONS_MAX 4096
#define SHARED_STREAMS 64
#define TOLD_QUEUES 64
struct marked_region {
    uint32_t id, kind;
    char name[120];
};

/* Who waits for locks of the process, by lock__hash: one word, so that what is read of it belongs
 * together. Locks that share a place are told whole more often than they need be. */
struct waited_lock {
    uint64_t waits;   /* (atomic) tick since when somebody does << 16 | how many do; 0: nobody */
    const void *lock; /* (atomic) for which somebody waited last */
};
#define WAITED_LOCKS 1024
#define WAITERS_BITS 16
#define WAITERS_MASK ((1u << WAITERS_BITS) - 1)

struct state {
    /* read on hot paths; stub.S knows that bodies is the first */
    const void **bodies; /* by event id / 2: the moved code of a patched function */
    bool recording;
    bool uses_tsc;
    uint8_t *descriptor_kinds;  /* enum heurt_descriptor by descriptor, 0: ask; then their files */
    uint32_t event_descriptors; /* (atomic) eventfds that were made */

    struct heurt_session *session; /* which others write, too: only what is marked (atomic) */
    struct heurt_session settings; /* as the recorder wrote it, the rest */
    uint64_t mapped_units;         /* of the events file */
    uint64_t ticks_per_1024_ns;
    bool full;         /* no chunk could be had: count, write no more */
    bool in_seccomp;   /* a filter of system calls holds all threads */
    uint32_t scans;    /* (atomic) threads that look at modules, and may ask the recorder */
    bool seccomp_some; /* or some, and so perhaps those that have only begun */
    uint32_t process;  /* serial */
    uint32_t pid;
    uint32_t end_key; /* pthread_key_t whose destructor marks a thread's end (hook_key.c) */
    bool has_end_key; /* under end_key_lock */
    bool watches_forks;
    uint32_t end_key_lock;

    uint32_t definitions_lock;
    struct heurt_chunk
        *definitions; /* the current one; reserved[0] is the unit of the one before */
    uint32_t definitions_used;
    uint64_t definitions_sequence;
    uint32_t next_function; /* event id of the next function or region */

    /* What a forked child sets anew, together with what is above: few pages are to be copied. */
    uint32_t lent_lock; /* the environment that system and popen are lent (hook_process.c) */
    uint32_t countdowns_lock;
    struct countdowns *countdowns_free;
    uint32_t chunks_lock;
    struct heurt_chunk *chunks_free; /* given back; reserved[0] is the next one's unit */
    uint32_t ended_lock;
    uint32_t return_slot_lock;
    uint32_t regions_lock;
    uint32_t modules_lock;
    bool has_waited_locks;   /* somebody has waited */
    uint32_t threads_kept;   /* ended threads with records of their own */
    struct aggregate *ended; /* of the others */

    struct beginning beginnings[BEGINNINGS_MAX];

    char *lent_slots[LENT_SLOTS];
    char lent_text[ENVIRONMENT_TEXT];

    struct waited_lock waited_locks[WAITED_LOCKS]; /* hook_lock.c */

    struct calibration stubs[2][STUB_KINDS]; /* by enum heurt_mechanism */
    struct calibration marker;
    /* struct heurt_process */
    uint32_t event_ticks, left_out_ticks, off_cpu_ticks, fault_ticks;

    uint32_t locks_counted; /* (atomic) acquisitions that the budget knows of (budget.c) */
    uint32_t noted;         /* what of the budget has been said (budget.c) */
    /* What the kernel tells of threads (kernel.c). */
    struct kernel_clock kernel_clock; /* as it was when the process began */
    uint64_t *kernel_slots;
    uint64_t fault_ns;       /* (atomic) mean of page faults that were measured */
    uint64_t fault_least_ns; /* (atomic) the shortest of them */
    uint64_t fault_cost_ns;  /* as fault_ticks */
    uint64_t fault_way_ns;   /* (atomic) what a fault takes besides what is told of it */
    bool fault_way_known;    /* (atomic) somebody has looked, or does */
    uint32_t kernel_missing; /* (atomic) what of that has been said */
    bool counts_instructions, instructions_noted; /* threads count; that one could not was said */
    /* Aggregated runs (aggregate.c, arena.c). */
    bool aggregates;
    struct gone_code gone;
    uint64_t stacks_kept[STACKS_KEPT_WORDS]; /* (atomic) a bit for each of which one was kept */

    unsigned return_slot_blocks; /* how many there are; each is twice as long as the one before */
    size_t return_slot_used;     /* records of the last one */
    struct return_slot *return_slot_block[RETURN_SLOT_BLOCKS_MAX];
    struct return_slot *return_slot_spare; /* of threads that have ended */

    unsigned region_count;
    struct marked_region regions[REGIONS_MAX]; /* named regions and loops, by first use */

    /* (atomic) Streams that somebody had to wait for, and with which descriptor their names were
     * told (hook_stdio.c). */
    const void *shared_streams[SHARED_STREAMS];
    uint64_t named_streams[SHARED_STREAMS];
    uint32_t told_queues[TOLD_QUEUES]; /* (atomic) descriptors and 1: the trace knows what it is */

    struct r_debug *loader; /* <link.h> */
    bool sees_system_calls; /* module__see_system_calls was called */
    unsigned module_count;
    void *walk_memory; /* of module.c; NULL: not needed yet */
    struct known_module modules[MODULES_MAX];

    struct argument_registers *argument_registers; /* by event id / 2 (patch.c) */

    /* What the recorder reads and writes of functions and loops that it patches (live.c). */
    uint8_t live_entered[(HEURT_EVENT_LAST - HEURT_EVENT_LIVE) / 2 + 1];
    struct heurt_loop loops[HEURT_LOOPS_MAX];
    uint64_t loop_mark_ticks; /* as far marks are apart at least (loop_mark.c) */

    unsigned live_room_count; /* under modules_lock */
    uint64_t live_rooms[LIVE_ROOMS_MAX];

    struct allocating allocating;
    struct timers timers;
    struct openmp openmp;
    char directory[4096]; /* of the trace, absolute */
    char library[4096];   /* path of this library as LD_PRELOAD had it */
};
extern struct state heurt_state __attribute__((visibility("hidden")));

/* ---- spin locks for rare paths; signals are blocked by the caller where handlers may come ---- */

/* Not for under seccomp threads. */
static inline void spin__lock(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        RAW0(sched_yield);
}

static inline void spin__unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Blocks all signals of this thread but SIGBUS (hook_signal.c); the old mask. */
uint64_t signals__block(void);
void signals__restore(uint64_t mask);

/* Takes SIGBUS, unless the program was started with another disposition than the default. Once,
 * before what is mapped is written to by others than the thread that starts. */
void trace__guard(void);

/* ---- clock ----------------------------------------------------------------------------------- */

static inline uint64_t clock__tick(void)
{
    if (unlikely(!heurt_state.uses_tsc))
        return raw__clock_ns(CLOCK_MONOTONIC);
    return __builtin_ia32_rdtsc();
}

/* Waits until what was done before is done: a time stamp alone does not wait for loads and locked
 * instructions that are still under way (stub.S has the figures). For the end of a span. */
static inline void clock__settle(void)
{
    __asm__ volatile("lfence" : : : "memory");
}

struct heurt_clock_pair clock__pair(void);

/* By the rate from the session's begin to the process image's. */
void clock__find_rate(void);
static inline uint64_t clock__ticks(uint64_t ns)
{
    uint64_t rate = heurt_state.ticks_per_1024_ns;
    return ns / 1024 * rate + ns % 1024 * rate / 1024;
}

/* ---- chunks and events ----------------------------------------------------------------------- */

/* A claimed and zeroed run of units with its header filled in, or NULL (sets state.full). */
/* What a chunk says of itself or of another one is in the file, where any process of the session
 * may have written it, also one that has fewer rights: it is a number of a unit, never an address,
 * and leads to a place in the mapping or to none. */
uint64_t chunk__unit(const struct heurt_chunk *chunk); /* NULL: 0 */
struct heurt_chunk *chunk__at(uint64_t unit);
uint32_t chunk__units(const struct heurt_chunk *chunk);

struct heurt_chunk *chunk__claim(uint32_t units, enum heurt_chunk_kind kind, uint32_t thread,
                                 uint64_t sequence);

/* Fills in the header of a zeroed chunk. */
void chunk__begin(struct heurt_chunk *chunk, uint32_t units, enum heurt_chunk_kind kind,
                  uint32_t thread, uint64_t sequence);

/* The slow path of event__claim: a new chunk, the thread's first event, or the count of what is
 * lost. at is what the claim got. NULL: not to be written. */
uint64_t *event__refill(uint64_t *at, unsigned words);

/* Gives the thread a chunk with room for an event of that many words; end: of what was claimed in
 * the one that it has. Called with all signals blocked. */
bool thread__renew(struct thread *thread, uint64_t *end, unsigned words);

/* Those of a thread that ended, or new ones; NULL: no memory. With all signals blocked. */
struct countdowns *countdowns__get(void);

/* Counts an event that cannot be written, where a reader finds it after the process's death. */
void event__count_lost(struct thread *thread);

/* Room for an event of that many words, or NULL. The caller stores the first word last. */
static inline uint64_t *event__claim(struct thread *thread, unsigned words)
{
    uint64_t *limit = *(uint64_t *volatile *)&thread->limit;
    uint64_t at = words * 8;
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(thread->next) : : "memory", "cc");
    if (unlikely((uint64_t *)at + words > limit))
        return event__refill((uint64_t *)at, words);
    return (uint64_t *)at;
}

/* Whether the kernel's records are written before an event of that id, so that they are in the
 * stream before a span is closed; and before some that are frequent in threads without spans. None
 * of these has a call stack in front of it. */
static inline bool event__drains(uint32_t id)
{
    return id & 1 || id == HEURT_EVENT_UNWOUND || id == HEURT_EVENT_THREAD_END ||
           id == HEURT_EVENT_FORKED || id == HEURT_EVENT_EXEC || id == HEURT_EVENT_LOCK_RELEASED ||
           id == HEURT_EVENT_SEMAPHORE_POSTED || id == HEURT_EVENT_CONDITION_SIGNALLED;
}

/* Writes the kernel's records when there are any, and returns the tick before that; or 0. */
static inline uint64_t kernel__look(struct thread *thread)
{
    const volatile uint64_t *head = (const volatile uint64_t *)*thread->kernel_gate;
    if (likely(!head || *head == thread->kernel_seen))
        return 0;
    return kernel__drain(thread);
}

/* To be called first of all for an event: the tick that it gets, or 0: that of its publication. */
static inline uint64_t event__begin(struct thread *thread, uint32_t id)
{
    return event__drains(id) ? kernel__look(thread) : 0;
}

/* To be called when the event is written for which event__begin gave that tick. */
static inline void event__end(struct thread *thread, uint64_t tick)
{
    if (unlikely(tick))
        kernel__drained(thread);
}

static inline void event__publish(uint64_t *at, uint64_t tick, uint32_t id)
{
    __atomic_store_n(at, tick << HEURT_ID_BITS | id, __ATOMIC_RELEASE);
}

static inline void event__write0(struct thread *thread, uint32_t id)
{
    uint64_t tick = event__begin(thread, id);
    uint64_t *at = event__claim(thread, 1);
    if (likely(at))
        event__publish(at, tick ? tick : clock__tick(), id);
    event__end(thread, tick);
}

static inline void event__write1(struct thread *thread, uint32_t id, uint64_t a)
{
    uint64_t tick = event__begin(thread, id);
    uint64_t *at = event__claim(thread, 2);
    if (unlikely(!at))
        return;
    at[1] = a;
    event__publish(at, tick ? tick : clock__tick(), id);
    event__end(thread, tick);
}

static inline void event__write2(struct thread *thread, uint32_t id, uint64_t a, uint64_t b)
{
    uint64_t tick = event__begin(thread, id);
    uint64_t *at = event__claim(thread, 3);
    if (unlikely(!at))
        return;
    at[1] = a;
    at[2] = b;
    event__publish(at, tick ? tick : clock__tick(), id);
    event__end(thread, tick);
}

static inline void event__write3(struct thread *thread, uint32_t id, uint64_t a, uint64_t b,
                                 uint64_t c)
{
    uint64_t tick = event__begin(thread, id);
    uint64_t *at = event__claim(thread, 4);
    if (unlikely(!at))
        return;
    at[1] = a;
    at[2] = b;
    at[3] = c;
    event__publish(at, tick ? tick : clock__tick(), id);
    event__end(thread, tick);
}

/* The words of a function's or region's event before its arguments, and its first word's store:
 * id even for enter, odd for leave. */
static inline unsigned function__words(uint32_t id)
{
    return likely(id <= HEURT_EVENT_LAST + 1) ? 1 : 2;
}

static inline void function__publish(uint64_t *at, uint64_t tick, uint32_t id)
{
    if (unlikely(id > HEURT_EVENT_LAST + 1)) {
        at[1] = id & ~1u;
        id = HEURT_EVENT_FUNCTION | (id & 1);
    }
    event__publish(at, tick, id);
}

static inline void function__write(struct thread *thread, uint32_t id)
{
    uint64_t tick = event__begin(thread, id);
    uint64_t *at = event__claim(thread, function__words(id));
    if (likely(at))
        function__publish(at, tick ? tick : clock__tick(), id);
    event__end(thread, tick);
}

/* Writes how many instructions the thread has retired, where it counts them: before all else that
 * belongs to the enter or leave of a function. */
static inline void instructions__tell(struct thread *thread)
{
    if (unlikely(thread->instructions))
        instructions__write(thread);
}

/* ---- the budget (budget.c) ------------------------------------------------------------------- */

bool budget__is_set(void);
/* A thread's record begins; its chunk is full; it has a new one. With all signals blocked. */
void budget__begin(struct thread *thread, uint64_t cpu_ns); /* that it has had */
void budget__chunk_ends(struct thread *thread);
void budget__chunk_begins(struct thread *thread);
/* The gap of a function or a hook's event has run out: says what its occurrence stands for, which
 * is to be recorded now, and draws the next one. */
void budget__drawn(struct thread *thread, uint32_t id);

/* ---- hooks ----------------------------------------------------------------------------------- */

/* This thread when its calls are to be recorded, else NULL: pass through. */
static inline struct thread *hook__thread(void)
{
    struct thread *thread = &heurt_thread;
    return likely(heurt_state.recording && !thread->inside) ? thread : NULL;
}

/* Whether this thread must make no system call that the program did not ask for. */
static inline bool thread__in_seccomp(const struct thread *thread)
{
    return unlikely(thread->in_seccomp || heurt_state.in_seccomp ||
                    (heurt_state.seccomp_some && !thread->started && !thread->roams));
}

/* Makes a system call that limits those of the program, or changes its user, with what has to be
 * done before and after it; *result is the kernel's. False: it is none of these (seccomp.c). */
bool caging__call(long number, const long arguments[6], long *result);

/* Whether the program has had no second thread yet, as far as its libc tells that. */
extern char __libc_single_threaded __attribute__((weak));
static inline bool program__is_single_threaded(void)
{
    return &__libc_single_threaded && __libc_single_threaded;
}

#define SITE(how) HEURT_SITE(__builtin_return_address(0), how)

/* ---- call stacks (stack.c) ------------------------------------------------------------------- */

/* Takes a call stack when this occurrence of the class is the first or an N-th one, or one of the
 * few that are taken sooner, at growing distances. key: site and object. Called just before the
 * event that it belongs to, from the hook itself. tick: of that event; 0: now. */
void stack__consider(struct thread *thread, uint64_t key, uint64_t tick);

/* The same for a patched function at its entry, whose counter has run out.
 * registers: rip rsp rbp rbx r12 r13 r14 r15. */
void stack__take(struct thread *thread, const uint64_t registers[HEURT_STACK_REGISTERS]);

/* Of the hook itself. tick: as that of the event that it belongs to; 0: now. */
void stack__take_here(struct thread *thread, size_t bytes, uint64_t tick);

/* Where a class is looked for first, modulo CLASS_COUNTDOWNS. */
static inline uint64_t class__hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15ull >> 40;
}

/* tick: of the event that it belongs to, of which is told when it is long over; 0: now. What
 * happened in between would else come before it. */
static inline void hook__stack_at(struct thread *thread, uint64_t site, const void *object,
                                  uint64_t tick)
{
    if (!heurt_state.settings.stack_every)
        return;
    uint64_t key = HEURT_SITE_ADDRESS(site) * 31 + (uintptr_t)object;
    struct countdowns *countdowns = thread->countdowns;
    if (likely(countdowns)) {
        struct class_countdown *class = &countdowns->classes[class__hash(key) % CLASS_COUNTDOWNS];
        if (likely(class->key == key && class->left > 0)) {
            class->left--;
            return;
        }
    }
    stack__consider(thread, key, tick);
}

static inline void hook__stack(struct thread *thread, uint64_t site, const void *object)
{
    hook__stack_at(thread, site, object, 0);
}

/* Before the leave event of a wait that lasted longer than thread->long_wait: takes a call stack of
 * the same tick if it is worth one; returns the ticks that this took, or 0. */
uint64_t stack__of_wait(struct thread *thread, uint64_t tick, uint64_t waited);

/* The leave event of a wait that began at since; where it is, or NULL. */
static inline uint64_t *wait__end(struct thread *thread, uint32_t id, uint64_t since,
                                  uint64_t result)
{
    uint64_t drained = event__begin(thread, id), took = 0;
    uint64_t tick = drained ? drained : clock__tick();
    if (unlikely(tick - since > thread->long_wait))
        took = stack__of_wait(thread, tick, tick - since);
    uint64_t *at = event__claim(thread, 2);
    if (unlikely(!at))
        return NULL;
    at[1] = result;
    event__publish(at, tick, id);
    event__end(thread, drained);
    if (unlikely(took))
        event__write1(thread, HEURT_EVENT_PAUSED, took);
    return at;
}

/* Whether the next occurrence of a hook's event is left out (hook__leaves_out), if no handler of a
 * signal comes before it. */
static inline bool hook__is_next_left_out(const struct thread *thread, uint32_t id)
{
    return thread->countdowns && thread->countdowns->function[id / 2].gap > 1;
}

/* Whether this occurrence of a hook's event is left out to stay within the budget; if not, says
 * what it stands for. To be asked before the event's call stack is taken: nothing may come between
 * the two. */
static inline bool hook__leaves_out(struct thread *thread, uint32_t id)
{
    struct countdowns *countdowns = thread->countdowns;
    if (unlikely(!countdowns) || likely(!countdowns->function[id / 2].gap) || thread->ended)
        return false;
    bool is_left_out;
    __asm__ volatile("decl %0" /* whole for a signal handler */
                     : "+m"(countdowns->function[id / 2].gap), "=@ccg"(is_left_out));
    if (unlikely(!is_left_out))
        budget__drawn(thread, id);
    return is_left_out;
}

/* Fills in what is known of costs (calibrate.c). Of this thread, before it has a record. */
void calibrate__all(void);

/* ---- calls whose return address is put aside (relocated return address.c)
 * -------------------------------------- */

struct return_slot;

/* Gives the thread's empty list records. With signals blocked. */
void return_slot__prepare(struct thread *thread);
/* A record for one call, when the list is empty; NULL: it goes unrecorded. */
struct return_slot *return_slot__take(struct thread *thread);
/* The thread has ended: others use its records. */
void return_slot__pass_on(struct thread *thread);
/* Makes a copied call stack, whose words begin at rsp, what it would be without the stubs. */
void return_slot__translate(uint64_t registers[HEURT_STACK_REGISTERS], uint64_t *words,
                            size_t count);
void return_slot__begin(struct return_slot *call, uint64_t tick);
uint64_t return_slot__caller_rbx(const struct return_slot *call);

/* ---- definitions (define.c) ------------------------------------------------------------------ */

struct text_part {
    const void *bytes;
    size_t length;
};

/* Appends one definition made of parts. False when the trace is full. */
bool define__parts(enum heurt_definition_type type, const struct text_part *parts, unsigned count);
void define__note(const char *sentence);
void define__refusal(const char *function, const char *module, const char *reason);
/* Gives an id; 0 when there is none left. function: all but the id. */
uint32_t define__function(struct heurt_function *function, const char *name, const char *file,
                          const char *argument_names);
void define__process(uint32_t parent_process);
/* CPU time that it took to begin the image's record. */
void define__costs(uint64_t begin_ns);
/* The object at that address is called so from now on. */
void define__object(const void *address, const char *name);
/* Says the calling thread's name when it is not what was last said. */
void define__thread_name(struct thread *thread);
/* In a forked child: says again what the parent's image had defined. */
void define__inherited(const struct heurt_chunk *last_of_parent, uint64_t chunks, uint32_t used);
size_t text__length(const char *text);
void *bytes__copy(void *to, const void *from, size_t count);

/* ---- modules (module.c), patches (patch.c), markers (marker.c) ------------------------------- */

/* Defines modules that are new, notes those that are gone, patches what the recorder plans in the
 * new ones. Calls libc (dl_iterate_phdr). */
void module__scan(void);
/* Looks whether the program limits its own system calls, or changes its user, by instructions of
 * its own or of its libraries, which are then led through the runtime from the first scan on. */
void module__expect_filters(void);
/* From now on the system calls that modules make inline and that may be futex(2) are seen: those of
 * the modules that there are, if the program has no second thread yet, and of later ones as they
 * come. To be called before a thread is made; costs nothing when that was done. */
void module__see_system_calls(struct thread *thread);
/* From now on the loader calls module__scan after each dlopen and dlclose. */
void module__watch_loader(void);

/* Payload words of the enter event of a function (its even id). */
uint32_t arguments__count(uint32_t id);

/* Asks the recorder for a plan for these modules and applies it. definitions: MODULE definitions.
 */
struct answer {
    struct heurt_plan_answer header;
    uint8_t *plans; /* mapped; header.bytes of them */
};
/* Asks the recorder, and waits for it as long as the session has patience (request.c). NULL, or a
 * sentence about what goes without a plan. */
const char *request__plan(const void *definitions, size_t bytes, unsigned count,
                          enum heurt_plan_subject subject, struct answer *answer);
void patch__modules(const void *definitions, size_t bytes, unsigned count,
                    enum heurt_plan_subject subject);
/* What stubs look up by event id; false: no memory. */
bool patch__make_tables(void);
/* The stub for a function, and its kind. */
void *patch__stub(enum heurt_mechanism mechanism, bool wide, bool ordered, bool arguments);
enum stub_kind patch__stub_kind(bool ordered, bool arguments);
/* What recording a patched function costs; of one that the recorder patched, that of the most. */
const struct calibration *patch__costs(uint32_t id);
/* Memory for code within reach of a jump from [start, end), or NULL. protection: PROT_READ |
 * PROT_WRITE until near__seal, or what it shall have for ever. */
void *near__allocate(uint64_t start, uint64_t end, size_t bytes, int protection);
bool near__reaches(uint64_t start, uint64_t end, uint64_t memory, size_t bytes);
bool near__seal(void *memory, size_t bytes);
/* Overwrites the five bytes at address with a jump; protection is what the segment has. */
bool code__write_jump(uint8_t *address, const void *target);

/* Tells the recorder where it may put code near the modules that are new, and what else it needs to
 * patch their functions while the program runs (live.c). */
void live__offer(void);

/* How many ticks lie between two marks of a loop at least (loop_mark.c). */
uint64_t loop__mark_ticks(void);

/* Connects the markers of a module: its .note.heurt notes. */
void marker__connect(const uint8_t *note, size_t bytes);

/* ---- processes (start.c; new_image.h)
 * ------------------------------------------------------------ */

void thread__end(void);

/* The key whose destructor is called at a thread's end (hook_key.c). end_key__set gives the calling
 * thread a value of it; false: the program has that key, so nobody will be called. */
bool end_key__take(void (*destructor)(void *));
bool end_key__set(void *value);
void end_key__drop(void); /* the program may have it; nobody else takes or sets it meanwhile */
/* What that destructor does at last: the end of the thread's record. */
void thread__leave(void);

/* Unmaps what is not needed of the trace beyond that many bytes: before the program limits its
 * address space or locks what it has mapped. */
void trace__shrink(uint64_t bytes);

/* Joins the session of the trace in state.directory: settings and the mapping. False: it is not
 * there, not this user's, or has ended. */
bool session__attach(void);
/* Whether this user has a number here, so that "the same user" says something. */
bool user__is_known(void);
bool session__has_ended(void);
/* The result of a system call that changes the user: when it did, the process leaves. */
long user__changed(long result);

#endif
