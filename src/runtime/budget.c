/* budget.c: keeps each thread's recording within the session's budget.
 *
 * Whenever a chunk is full, or a drawn occurrence finds the last look long ago, the thread asks
 * what the time since then (the window) cost and how often which function occurred, and settles
 * the lengths of the blocks of which one occurrence is recorded (share.h, block_sampling.h).  Which
 * functions there are, it learns from words of the chunk that are drawn at random; how often they
 * occur, from counters that the stubs keep anyway.  More is sampled at once, less by and by.
 *
 * Time is the thread's CPU time: a thread that sleeps much has no more to spend when it runs, and
 * what all threads spend together stays within the budget of the CPU time that they use, also when
 * there are more of them than CPUs.
 *
 * What hooks record is complete but for locks and semaphores that could be had at once: of each of
 * the two kinds all of a thread's together are one more "function" in the division, known by the
 * event's id.  Dividing the budget once, instead of functions first, treats both by one rule: what
 * is most frequent gives way.  Their frequency is estimated until they are sampled, then counted.
 * The first ones of a process are recorded whole, so that what is rare is exact.
 *
 * All of it runs on the thread itself: nothing is shared but the two notes and the session's
 * wishes. The countdowns of a thread that ended go on in the next one with their gaps: blocks then
 * span both, which keeps sums and counts of all threads right, and short threads within the budget.
 */
#include "runtime/runtime.h"

#define PERIOD_NS 10000000u  /* of a window that no full chunk ends */
#define CALM_NS 1000000u     /* shorter windows do not make a function be recorded more */
#define PATIENCE_NS 5000000u /* of too much, before the recorder is asked or a note written */
#define SAMPLED_WORDS_LEAST 256u
#define GOOD_WORDS 4u
#define SAMPLED_WORDS_PART 64u /* of a chunk one word in so many is looked at */

/* What is aimed at, in parts of the budget: costs are measured in a loop, and a program that is
 * less regular pays a little more for cache lines and branches. */
#define AIM_MULTIPLIER 3u
#define AIM_DIVISOR 4u

/* Acquisitions of a process that are recorded before any is left out: less than 1 ms. */
#define LOCKS_WHOLE 16384u

enum { NOTED_CALLS = 1, NOTED_OTHERS = 2 };

static uint32_t permille(void)
{
    return heurt_state.settings.overhead_permille;
}

bool budget__is_set(void)
{
    return permille() != 0;
}

/* The countdowns of a thread that has ended are another one's already, while the C library and the
 * kernel still do in its name what is left to be done, and wait for locks. */
static bool has_budget(const struct thread *thread)
{
    return permille() && !thread->ended;
}

/* ---- what things cost ------------------------------------------------------------------------ */

/* The dearest of it is an event (calibrate.c), and what finds the next gap is about as much again.
 */
static struct costs costs_beside(void)
{
    return (struct costs){.drawn = heurt_state.event_ticks * 3 / 2,
                          .left_out = heurt_state.left_out_ticks};
}

/* What is recorded is packed and analysed when the program has ended, which somebody waits for:
 * many times what it cost the program. Who names functions or a budget is not held to it. */
static uint32_t later_ticks(void)
{
    return (uint32_t)clock__ticks(heurt_state.settings.later_ns);
}

static bool is_hook(uint32_t id)
{
    return id < HEURT_EVENT_FUNCTIONS;
}

/* What recording an occurrence costs, with its leave or a lock's release. */
static uint32_t cost_of(uint32_t id)
{
    if (!is_hook(id))
        return patch__costs(id)->cost_ticks;
    return heurt_state.event_ticks * (id == HEURT_EVENT_LOCK_ACQUIRED ? 2 : 1);
}

/* What one that is left out costs: for a lock (the hook, and that its release finds that out) it
 * was measured as 4 ns where an acquisition and a release took 27, and cannot be without a
 * program's lock. */
static uint32_t cost_of_left_out(uint32_t id)
{
    return is_hook(id) ? heurt_state.event_ticks / 3 : heurt_state.left_out_ticks;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static struct budget_site *sites_of(struct budget *budget, uint32_t id)
{
    return &budget->sites[(id / 2 * 0x9e3779b1u >> 16) % (SITES / SITE_WAYS) * SITE_WAYS];
}

static struct budget_site *site__find(struct budget *budget, uint32_t id)
{
    struct budget_site *sites = sites_of(budget, id);
    for (unsigned i = 0; i < SITE_WAYS; i++)
        if (sites[i].id == id)
            return &sites[i];
    return NULL;
}

/* NULL when all places are taken by functions that are sampled. */
static struct budget_site *site__get(struct budget *budget, uint32_t id)
{
    struct budget_site *site = site__find(budget, id);
    struct budget_site *sites = sites_of(budget, id);
    for (unsigned i = 0; !site && i < SITE_WAYS; i++)
        if (!sites[i].drawing.block && !sites[i].passed && !sites[i].wished)
            site = &sites[i];
    if (site && site->id != id) {
        site->id = id;
        site->wanted = 1;
        site->is_known = false;
    }
    return site;
}

static int32_t *gap_of(struct thread *thread, const struct budget_site *site)
{
    return &thread->countdowns->function[site->id / 2].gap;
}

static void site__start(struct thread *thread, struct budget_site *site)
{
    site->gap =
        block_sampling__begin(&site->drawing, site->wanted, &thread->countdowns->budget.random);
    site->counted = site->passed = 0;
    __atomic_store_n(gap_of(thread, site), (int32_t)site->gap, __ATOMIC_RELEASE);
}

/* A block's end after which every occurrence is recorded again. */
static void site__stop(struct budget_site *site)
{
    site->drawing.block = site->gap = site->counted = 0;
}

/* ---- what the window held -------------------------------------------------------------------- */

struct budget_window {
    uint64_t now;
    uint64_t cpu_ns;
    const uint64_t *end; /* words before it have been looked at */
    uint64_t words;
    uint32_t row;      /* one word in so many is looked at */
    uint64_t calls;    /* what events cost that can be sampled */
    uint64_t others;   /* what those cost that cannot: of waits, I/O, marks */
    uint64_t left_out; /* ticks of what was left out */
    uint64_t cost;     /* ticks that recording took, all in all */
    uint64_t time;     /* ticks that the program itself took */
    uint64_t limit;    /* ticks that recording may have taken */
    unsigned shares;
};

static void count_occurrences(struct budget *budget, uint32_t id, uint32_t count)
{
    struct budget_site *site = site__get(budget, id);
    if (site && !site->drawing.block)
        site->passed += count;
}

/* Whether occurrences of a hook's event are left out where there are too many. */
static bool is_sampled(uint32_t id)
{
    uint32_t flags = heurt_state.session->flags;
    return id == HEURT_EVENT_LOCK_ACQUIRED        ? flags & HEURT_SESSION_SAMPLE_LOCKS
           : id == HEURT_EVENT_SEMAPHORE_ACQUIRED ? flags & HEURT_SESSION_SAMPLE_SEMAPHORES
                                                  : false;
}

static uint32_t cost_of_other(uint32_t id)
{
    return id == HEURT_EVENT_OFF_CPU ? heurt_state.off_cpu_ticks
           : id == HEURT_EVENT_FAULT ? heurt_state.fault_ticks
                                     : heurt_state.event_ticks;
}

/* An event of a hook, a mark or the kernel. The release of a lock is counted with its acquisition.
 */
static void count_other(struct thread *thread, struct budget_window *window, uint32_t id)
{
    uint64_t ticks = (uint64_t)window->row * cost_of_other(id);
    bool samples_locks = is_sampled(HEURT_EVENT_LOCK_ACQUIRED);
    if (is_sampled(id)) {
        window->calls += (uint64_t)window->row * cost_of(id);
        count_occurrences(&thread->countdowns->budget, id, window->row);
    } else if (samples_locks && id == (HEURT_EVENT_LOCK_WAIT | 1)) {
        window->others += 2 * ticks;
    } else if (!samples_locks || id != HEURT_EVENT_LOCK_RELEASED) {
        window->others += ticks;
    }
}

/* Counts a word that was drawn and stands for so many. A payload word that looks like an event
 * would need a time within the window in its upper bits. */
static void count_word(struct thread *thread, struct budget_window *window, const uint64_t *word)
{
    struct budget *budget = &thread->countdowns->budget;
    uint64_t age = ((*word >> HEURT_ID_BITS) - budget->tick) & HEURT_TICK_MASK;
    uint32_t id = *word & 0xffff;
    if (!*word || age > window->now - budget->tick || id == HEURT_EVENT_SAMPLED ||
        id == HEURT_EVENT_INSTRUCTIONS)
        return;
    if ((id & ~1u) == HEURT_EVENT_FUNCTION && word + 1 < window->end)
        id = (uint32_t)word[1] | (id & 1);
    if (id < HEURT_EVENT_FUNCTIONS || id > HEURT_FUNCTION_LAST + 1 || !heurt_state.bodies[id / 2]) {
        count_other(thread, window, id);
        return;
    }
    window->calls += (uint64_t)window->row * cost_of(id) / 2;
    if (!(id & 1))
        count_occurrences(budget, id, window->row);
}

/* One word of each row of equally many, so that no rhythm of the program's deceives. */
static void count_words(struct thread *thread, struct budget_window *window)
{
    struct budget *budget = &thread->countdowns->budget;
    uint32_t row =
        (uint32_t)(window->words / (window->words / SAMPLED_WORDS_PART + SAMPLED_WORDS_LEAST));
    window->row = row = row ? row : 1;
    for (const uint64_t *word = budget->looked; word < window->end; word += row) {
        const uint64_t *drawn = word + random__below(&budget->random, row);
        if (drawn < window->end)
            count_word(thread, window, drawn);
    }
}

static uint64_t count_of_sampled(struct thread *thread, struct budget_site *site)
{
    int32_t left = *gap_of(thread, site);
    uint32_t behind = site->gap - (left > 0 ? (uint32_t)left : 0);
    uint64_t count = site->passed + behind - site->counted;
    site->counted = behind;
    site->is_known = false;
    return count;
}

/* Every recorded occurrence counts down to the next call stack; then it begins anew. Where that is
 * too soon, of functions that are new, and of hooks, there is an estimate, and of few words no good
 * one. */
static uint64_t count_of_whole(struct thread *thread, struct budget_site *site, uint32_t row)
{
    uint32_t every = heurt_state.settings.stack_every;
    uint64_t cycle = every ? every : (uint64_t)INT32_MAX + 1, estimate = site->passed;
    int64_t left = thread->countdowns->function[site->id / 2].stack, before = site->stack;
    bool was_known = site->is_known;
    site->stack = (int32_t)left;
    site->is_known = !is_hook(site->id);
    if (was_known && estimate < cycle / 2)
        return left <= before ? (uint64_t)(before - left) : (uint64_t)(before - left) + cycle;
    return estimate < GOOD_WORDS * row ? 0 : estimate;
}

/* How often a site's function occurred in the window. */
static uint64_t site__take_count(struct thread *thread, struct budget_site *site, uint32_t row)
{
    uint64_t count =
        site->drawing.block ? count_of_sampled(thread, site) : count_of_whole(thread, site, row);
    site->passed = 0;
    return count;
}

static void gather_shares(struct thread *thread, struct budget_window *window)
{
    struct budget *budget = &thread->countdowns->budget;
    const uint32_t later = later_ticks();
    for (unsigned i = 0; i < SITES; i++) {
        struct budget_site *site = &budget->sites[i];
        if (!site->id)
            continue;
        uint64_t count = site__take_count(thread, site, window->row);
        if (!count && !site->drawing.block)
            continue;
        if (site->drawing.block)
            window->left_out += count * cost_of_left_out(site->id);
        budget->share_sites[window->shares] = (uint16_t)i;
        budget->shares[window->shares++] =
            (struct share){.occurrences = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
                           .recorded = cost_of(site->id) + later};
    }
    uint64_t drawn = (uint64_t)budget->drawn * heurt_state.left_out_ticks;
    window->left_out -= drawn < window->left_out ? drawn : window->left_out;
}

static void settle_account(struct budget *budget, struct budget_window *window)
{
    struct costs costs = costs_beside();
    uint64_t ns = window->cpu_ns > budget->cpu_ns ? window->cpu_ns - budget->cpu_ns : 0;
    uint64_t whole = clock__ticks(ns);
    window->cost = window->calls + window->others + (uint64_t)budget->drawn * costs.drawn +
                   window->left_out + budget->renewal;
    window->time = whole > window->cost + whole / 16 ? whole - window->cost : whole / 16;
    window->limit = window->time * permille() / 1000;
    uint64_t debt = budget->debt + window->cost;
    budget->debt = debt > window->limit ? debt - window->limit : 0;
    if (budget->debt > whole)
        budget->debt = whole; /* what cannot be saved anyway */
}

/* ---- what follows from it -------------------------------------------------------------------- */

static uint64_t without(uint64_t amount, uint64_t part)
{
    return amount > part + amount / 8 ? amount - part : amount / 8;
}

/* Counts what the window held. */
static bool is_recorded_whole(const struct budget_site *site, uint32_t occurrences)
{
    uint32_t *count = &heurt_state.locks_counted;
    if (!is_hook(site->id) || __atomic_load_n(count, __ATOMIC_RELAXED) >= LOCKS_WHOLE)
        return false;
    return __atomic_add_fetch(count, occurrences, __ATOMIC_RELAXED) < LOCKS_WHOLE;
}

/* Blocks become longer at once and shorter by half at most. */
static void want(struct thread *thread, struct budget_site *site, uint32_t block, bool calm)
{
    if (block >= site->wanted)
        site->wanted = block;
    else if (calm && block < site->wanted - site->wanted / 4)
        site->wanted = block > site->wanted / 2 ? block : site->wanted / 2;
    if (site->wanted > 1 && !site->drawing.block)
        site__start(thread, site);
}

static void settle_blocks(struct thread *thread, const struct budget_window *window)
{
    struct budget *budget = &thread->countdowns->budget;
    struct costs costs = costs_beside();
    uint64_t room = window->words ? 2 * budget->renewal / window->words : 0;
    for (unsigned i = 0; i < window->shares; i++) {
        uint32_t *recorded = &budget->shares[i].recorded;
        *recorded += (uint32_t)(room < *recorded ? room : *recorded);
    }
    uint64_t aim = window->limit * AIM_MULTIPLIER / AIM_DIVISOR;
    aim -= budget->debt < aim ? budget->debt / 2 : aim / 2;
    share__divide(budget->shares, window->shares, &costs, without(aim, window->others));
    bool calm = window->time > clock__ticks(CALM_NS);
    for (unsigned i = 0; i < window->shares; i++) {
        struct budget_site *site = &budget->sites[budget->share_sites[i]];
        if (!is_recorded_whole(site, budget->shares[i].occurrences))
            want(thread, site, budget->shares[i].block, calm);
    }
}

static void note_once(uint32_t which, const char *sentence)
{
    if (!(__atomic_fetch_or(&heurt_state.noted, which, __ATOMIC_RELAXED) & which))
        define__note(sentence);
}

static void wish_unpatched(struct budget_site *site)
{
    uint64_t wish = (uint64_t)(heurt_state.process + 1) << 32 | site->id;
    uint64_t *slots = heurt_state.session->too_frequent;
    for (unsigned i = 0; i < HEURT_TOO_FREQUENT_SLOTS && !site->wished; i++) {
        uint64_t there = 0;
        site->wished = __atomic_compare_exchange_n(&slots[i], &there, wish, false, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED) ||
                       there == wish;
    }
}

/* The most frequent sampled function whose unpatching was not asked for; UINT_MAX: none. */
static unsigned most_frequent(const struct budget *budget, const struct budget_window *window)
{
    unsigned found = UINT32_MAX;
    for (unsigned i = 0; i < window->shares; i++) {
        const struct budget_site *site = &budget->sites[budget->share_sites[i]];
        if (site->drawing.block && !site->wished && !is_hook(site->id) &&
            (found == UINT32_MAX ||
             budget->shares[i].occurrences > budget->shares[found].occurrences))
            found = i;
    }
    return found;
}

/* Asks for the most frequent functions to be unpatched until leaving out the rest is cheap enough.
 */
static void wish(struct budget *budget, const struct budget_window *window, uint64_t cost,
                 uint64_t limit)
{
    for (unsigned i = 0; cost > limit && i < HEURT_TOO_FREQUENT_SLOTS; i++) {
        unsigned most = most_frequent(budget, window);
        if (most == UINT32_MAX)
            return;
        wish_unpatched(&budget->sites[budget->share_sites[most]]);
        uint64_t saved = (uint64_t)budget->shares[most].occurrences * heurt_state.left_out_ticks;
        cost -= saved < cost ? saved : cost;
    }
    note_once(NOTED_CALLS,
              "Some functions are called so often that even leaving out most of their calls costs "
              "more than the budget (--overhead) allows.");
}

/* Of hooks; of those functions whose unpatching was not asked for. */
static uint64_t cost_of_leaving_out(const struct budget *budget, const struct budget_window *window,
                                    bool hooks)
{
    uint64_t ticks = 0;
    for (unsigned i = 0; i < window->shares; i++) {
        const struct budget_site *site = &budget->sites[budget->share_sites[i]];
        if (site->drawing.block && !site->wished && is_hook(site->id) == hooks)
            ticks += (uint64_t)budget->shares[i].occurrences * cost_of_left_out(site->id);
    }
    return ticks;
}

static void complain(struct budget *budget, const struct budget_window *window)
{
    uint64_t others = window->others + cost_of_leaving_out(budget, window, true);
    uint64_t patience = clock__ticks(PATIENCE_NS);
    uint64_t calls = cost_of_leaving_out(budget, window, false),
             limit = without(window->limit, others);
    uint64_t whole = window->time + window->cost;
    budget->calls_over = calls > limit ? budget->calls_over + whole : 0;
    budget->others_over = others > window->limit ? budget->others_over + whole : 0;
    if (budget->calls_over > patience)
        wish(budget, window, calls, limit);
    if (budget->others_over > patience)
        note_once(
            NOTED_OTHERS,
            "Calls that heurt knows (locks, input and output) and marks are so many that recording "
            "them costs more than --overhead allows: of these only locks that nobody waits for are "
            "drawn.");
}

/* ---- windows --------------------------------------------------------------------------------- */

static void begin_window(struct budget *budget, uint64_t now, uint64_t cpu_ns,
                         const uint64_t *looked)
{
    budget->cpu_ns = cpu_ns;
    budget->tick = now;
    budget->looked = looked;
    budget->drawn = 0;
    budget->renewal = 0;
}

/* Ends the window at that word of the chunk. Called with all signals blocked. */
static void look(struct thread *thread, const uint64_t *end)
{
    struct budget *budget = &thread->countdowns->budget;
    struct budget_window window = {
        .now = clock__tick(),
        .cpu_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID),
        .end = end,
        .words = end > budget->looked ? (uint64_t)(end - budget->looked) : 0,
    };
    if (budget->busy)
        return;
    budget->period = clock__ticks(PERIOD_NS);
    count_words(thread, &window);
    gather_shares(thread, &window);
    settle_account(budget, &window);
    settle_blocks(thread, &window);
    complain(budget, &window);
    begin_window(budget, window.now, window.cpu_ns, end);
}

void budget__begin(struct thread *thread, uint64_t cpu_ns)
{
    struct budget *budget = &thread->countdowns->budget;
    if (!permille())
        return;
    for (unsigned i = 0; i < LEFT_OUT_LOCKS; i++) /* of the thread that had them before */
        *(const void *volatile *)&thread->countdowns->left_out_locks[i].lock = NULL;
    uint64_t now = clock__tick();
    budget->random ^= now * 0x9e3779b97f4a7c15ull + thread->serial + 1;
    budget->random += !budget->random;
    budget->debt = budget->calls_over = budget->others_over = 0;
    budget->busy = 0;
    budget->period = clock__ticks(PERIOD_NS);
    begin_window(budget, now, cpu_ns, NULL);
}

void budget__chunk_ends(struct thread *thread)
{
    if (has_budget(thread) && thread->chunk && thread->limit)
        look(thread, thread->limit);
}

void budget__chunk_begins(struct thread *thread)
{
    struct budget *budget = &thread->countdowns->budget;
    if (!has_budget(thread))
        return;
    budget->looked = (const uint64_t *)(thread->chunk + 1);
    if (thread->sequence <= 1)
        return; /* what the first one costs, nobody can save, and short threads need not ask */
    uint64_t cpu_ns = raw__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (cpu_ns > budget->cpu_ns)
        budget->renewal = clock__ticks(cpu_ns - budget->cpu_ns);
}

/* ---- a drawn occurrence ---------------------------------------------------------------------- */

/* Settles when the next one is due; returns what this one stands for. */
static uint32_t draw_next(struct thread *thread, struct budget_site *site)
{
    struct budget *budget = &thread->countdowns->budget;
    uint32_t weight = site->drawing.block;
    budget->busy++;
    site->passed += site->gap - site->counted;
    site->counted = 0;
    if (weight == 1 && site->wanted == 1)
        site__stop(site);
    else
        site->gap = block_sampling__next(&site->drawing, site->wanted, &budget->random);
    /* A signal handler that interrupts us recorded the function as if it were not sampled. */
    __atomic_store_n(gap_of(thread, site), (int32_t)site->gap, __ATOMIC_RELEASE);
    budget->busy--;
    budget->drawn++;
    return weight;
}

static void end_window(struct thread *thread)
{
    uint64_t mask = signals__block();
    const uint64_t *end = thread->next < thread->limit ? thread->next : thread->limit;
    if (end && thread->countdowns->budget.looked)
        look(thread, end);
    signals__restore(mask);
}

void budget__drawn(struct thread *thread, uint32_t id)
{
    struct budget *budget = &thread->countdowns->budget;
    struct budget_site *site = site__find(budget, id);
    int32_t *gap = &thread->countdowns->function[id / 2].gap;
    if (*gap > 0 || thread->ended)
        return; /* a handler's call of the same function was the drawn one */
    if (!site || !site->drawing.block) {
        *gap = 0;
        return;
    }
    uint32_t weight = draw_next(thread, site);
    uint64_t tick = clock__tick();
    uint64_t *at = weight > 1 ? event__claim(thread, 2) : NULL;
    if (at) {
        at[1] = HEURT_SAMPLED(id, weight);
        event__publish(at, tick, HEURT_EVENT_SAMPLED);
    }
    if (tick - budget->tick > budget->period && !thread__in_seccomp(thread))
        end_window(thread);
}
