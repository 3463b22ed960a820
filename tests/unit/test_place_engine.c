/* What is decided about placement: twelve programs by their structure, whose pages go where the
 * decisions put them; and single rounds, whose samples are written here. */
#include "base/memory.h"
#include "place_patterns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ROUNDS = 5, /* in which decisions must be right */
    NODES = PATTERN_NODES,
    FIRST_PAGE = 1 << 20
};

/* ---- what was decided -------------------------------------------------------------------------
 */

struct heard {
    uint64_t did[PLACE_DECISIONS], advised; /* in the first rounds */
    uint8_t moves[PATTERN_PAGES];           /* of the first pages, in all rounds */
    enum place_verdict verdict[PATTERN_NODES];
};

static void hear(void *context, uint32_t round, const struct place_outcome *outcome)
{
    struct heard *heard = context;
    VEC_EACH (decision, &outcome->decisions, struct place_decision)
        if (decision->from != decision->to && decision->page - FIRST_PAGE < PATTERN_PAGES)
            heard->moves[decision->page - FIRST_PAGE]++;
    if (round >= ROUNDS)
        return;
    VEC_EACH (finding, &outcome->findings, struct place_finding)
        heard->verdict[finding->application] = finding->verdict;
    VEC_EACH (decision, &outcome->decisions, struct place_decision) {
        heard->did[decision->kind] += !decision->is_advice;
        heard->advised += decision->is_advice;
    }
}

struct seen {
    struct place_stream stream;
    struct heard heard;
    struct place_result result; /* the last step is that after the first rounds */
    uint16_t *nodes;
};

static struct seen see(enum pattern pattern, enum place_strategy strategy, size_t steps,
                       uint64_t seed)
{
    struct seen seen = {.stream = pattern__stream(pattern)};
    struct place_simulation simulation = place_simulation__usual();
    struct place_machine machine = pattern__machine();
    seen.nodes = memory__zeroed(seen.stream.pages.count, sizeof *seen.nodes);
    seen.stream.steps.count = steps;
    simulation.interval_ns = 0; /* each step is a round */
    simulation.seed = seed;
    simulation.told = hear;
    simulation.context = &seen.heard;
    simulation.ends = seen.nodes;
    seen.result = place_simulation__run(&simulation, &seen.stream, &machine, strategy);
    return seen;
}

static void forget(struct seen *seen)
{
    place_stream__free(&seen->stream);
    free(seen->nodes);
}

/* Of pages from first on, those that are not where they were. */
static double moved_part(const struct seen *seen, uint32_t first, uint32_t count)
{
    double moved = 0;
    for (uint32_t i = first; i < first + count; i++)
        moved += seen->nodes[i] != VEC_AT(&seen->stream.pages, struct stream_page, i)->node;
    return moved / count;
}

/* Each thread's part is on its node. */
static double owned_part(const struct seen *seen, uint32_t first, uint32_t count)
{
    double owned = 0;
    for (uint32_t i = 0; i < count; i++)
        owned += seen->nodes[first + i] == i / (count / NODES);
    return owned / count;
}

static uint64_t done(const struct seen *seen)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < PLACE_DECISIONS; kind++)
        sum += seen->heard.did[kind];
    return sum;
}

/* ---- twelve programs --------------------------------------------------------------------------
 */

static bool is_right(enum pattern pattern, const struct seen *seen)
{
    const uint64_t *did = seen->heard.did;
    const struct place_result *result = &seen->result;
    double few = 0.05 * PATTERN_PAGES;
    uint32_t each = PATTERN_PAGES / NODES;
    double own = 0, several = 0;
    switch (pattern) {
    case PATTERN_PRIVATE_REMOTE:
    case PATTERN_MASTER:
        return owned_part(seen, 0, PATTERN_PAGES) >= 0.95 && !did[PLACE_SPREAD] &&
               !seen->heard.advised && !did[PLACE_BACK];
    case PATTERN_SHARED_READ: /* what may be done without copies is done besides */
        return (double)seen->heard.advised >= 0.9 * PATTERN_PAGES &&
               result->last_imbalance <= 0.35 && (double)did[PLACE_MIGRATE] <= few;
    case PATTERN_SHARED_WRITTEN:
        return result->last_imbalance <= 0.35 && !seen->heard.advised &&
               (double)did[PLACE_MIGRATE] <= few;
    case PATTERN_MIGRATING:
        return result->last_local >= 0.95 && (double)result->moved <= PATTERN_PAGES / 2 + few;
    case PATTERN_PING_PONG:
        return result->moved <= 2 * PATTERN_PAGES;
    case PATTERN_HOT_HUGE:
        return did[PLACE_SPLIT] == 1 && result->last_imbalance <= 0.35 &&
               moved_part(seen, 0, PLACE_HUGE_PAGES) >= 0.4 &&
               owned_part(seen, PLACE_HUGE_PAGES, PATTERN_PAGES) >= 0.99;
    case PATTERN_LOCAL:
        return !done(seen) && seen->heard.verdict[0] == PLACE_IS_GOOD;
    case PATTERN_TINY:
        return !done(seen) && seen->heard.verdict[1] == PLACE_TINY;
    case PATTERN_FORK:
        for (uint32_t child = 0; child < NODES; child++) {
            several += moved_part(seen, child * each, each / 4);
            for (uint32_t i = each / 4; i < each; i++)
                own += seen->nodes[child * each + i] == child;
        }
        return !(several > 0) && own >= 0.95 * 0.75 * PATTERN_PAGES;
    case PATTERN_FILE:
        return !done(seen) && (double)seen->heard.advised >= 0.9 * (PATTERN_PAGES - 500);
    default:
        return owned_part(seen, 0, PATTERN_PART) >= 0.9 && result->last_imbalance <= 0.35 &&
               moved_part(seen, PATTERN_PART, PATTERN_PART) >= 0.4 &&
               moved_part(seen, 2 * PATTERN_PART, PATTERN_PART) >= 0.4 &&
               moved_part(seen, 3 * PATTERN_PART, PATTERN_PART) <= 0.02;
    }
}

static void decisions_are_right_within_five_rounds(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct seen seen = see(pattern, STRATEGY_CARREFOUR,
                                   ROUNDS + 1 + (pattern == PATTERN_MIGRATING ? 2 : 0), seed);
            if (!is_right(pattern, &seen)) {
                print_error("%s: local %.2f, imbalance %.2f, moved %lu, advised %lu; %lu %lu %lu "
                            "%lu %lu %lu; guarded %lu\n",
                            pattern__name(pattern), seen.result.last_local,
                            seen.result.last_imbalance, seen.result.moved, seen.heard.advised,
                            seen.heard.did[0], seen.heard.did[1], seen.heard.did[2],
                            seen.heard.did[3], seen.heard.did[4], seen.heard.did[5],
                            seen.result.guarded);
                wrong++;
            }
            forget(&seen);
        }
    assert_int_equal(wrong, 0);
}

static void what_bounces_stays_after_the_guard(void **state)
{
    (void)state;
    struct seen seen = see(PATTERN_PING_PONG, STRATEGY_CARREFOUR, PATTERN_STEPS, 1);
    uint32_t most = 0, bounced = 0;
    for (uint32_t i = 0; i < PATTERN_PAGES; i++) {
        most = seen.heard.moves[i] > most ? seen.heard.moves[i] : most;
        bounced += seen.heard.moves[i] == 2;
    }
    assert_int_equal(most, 2);
    assert_true(bounced > PATTERN_PAGES / 2);
    assert_true(seen.result.guarded > 0);
    forget(&seen);
}

static void what_is_only_read_is_copied_where_that_can_be(void **state)
{
    (void)state;
    struct seen seen = see(PATTERN_SHARED_READ, STRATEGY_CARREFOUR_COPIES, ROUNDS + 1, 1);
    assert_true((double)seen.heard.did[PLACE_REPLICATE] >= 0.9 * PATTERN_PAGES);
    assert_int_equal(seen.heard.advised, 0);
    assert_true(seen.result.last_local >= 0.9);
    forget(&seen);
}

/* ---- single rounds ----------------------------------------------------------------------------
 */

struct table {
    struct place_engine *engine;
    struct place_thresholds thresholds;
    struct vec accesses; /* struct place_access */
    struct place_application application;
    struct place_facts facts;
    uint64_t decided[PLACE_DECISIONS];
    struct place_outcome outcome;
};

static struct table *table(void)
{
    struct table *self = memory__zeroed(1, sizeof *self);
    self->thresholds = place_thresholds__usual();
    self->engine = place_engine__new(NODES, &self->thresholds, 7);
    self->accesses = VEC_OF(struct place_access);
    self->application = (struct place_application){.id = 9, .cpus = 4, .progress = NAN};
    self->facts = (struct place_facts){.maptu = 200,
                                       .memory_share = NAN,
                                       .quality = 1,
                                       .applications = &self->application,
                                       .application_count = 1};
    return self;
}

static void free_table(struct table *self)
{
    place_outcome__free(&self->outcome);
    place_engine__free(self->engine);
    vec__free(&self->accesses);
    free(self);
}

/* So many pages from first on, each count times, from that node, being at another one. */
static void access_pages(struct table *self, uint64_t first, uint32_t pages, uint32_t count,
                         uint16_t from, uint16_t to, uint8_t flags)
{
    for (uint32_t i = 0; i < pages * count; i++)
        vec__push(&self->accesses, &(struct place_access){.page = first + i % pages,
                                                          .application = self->application.id,
                                                          .from = from,
                                                          .to = to,
                                                          .flags = flags});
}

static void round_ends(struct table *self)
{
    place_outcome__free(&self->outcome);
    self->facts.accesses = self->accesses.items;
    self->facts.access_count = self->accesses.count;
    self->outcome = place_engine__step(self->engine, &self->facts);
    self->accesses.count = 0;
    memset(self->decided, 0, sizeof self->decided);
    VEC_EACH (decision, &self->outcome.decisions, struct place_decision)
        self->decided[decision->kind]++;
}

static enum place_verdict verdict(const struct table *self)
{
    return VEC_AT(&self->outcome.findings, struct place_finding, 0)->verdict;
}

static void nothing_is_done_below_a_threshold(void **state)
{
    (void)state;
    struct table *self = table();
    self->facts.maptu = 49;
    access_pages(self, 100, 20, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(verdict(self), PLACE_QUIET);
    assert_int_equal(self->outcome.decisions.count, 0);
    self->facts.maptu = NAN;
    access_pages(self, 100, 20, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(verdict(self), PLACE_QUIET);
    self->facts.memory_share = 0.11;
    self->application.cpus = 0.09;
    access_pages(self, 100, 20, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(verdict(self), PLACE_TINY);
    self->application.cpus = 0.1;
    access_pages(self, 100, 19, 1, 1, 0, 0);
    round_ends(self);
    assert_int_equal(verdict(self), PLACE_UNKNOWN);
    access_pages(self, 100, 20, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(verdict(self), PLACE_ACTS);
    assert_int_equal(self->decided[PLACE_MIGRATE], 20);
    free_table(self);
}

static void a_page_wants_two_samples_or_more_of_a_weak_sensor(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 100, 30, 1, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->outcome.decisions.count, 0);
    access_pages(self, 200, 30, 2, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->decided[PLACE_MIGRATE], 30);
    self->facts.quality = 0.5;
    access_pages(self, 300, 30, 3, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->decided[PLACE_MIGRATE], 0);
    access_pages(self, 400, 30, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->decided[PLACE_MIGRATE], 30);
    free_table(self);
}

static void no_more_pages_than_a_round_has_room_for(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 1, 40000, 2, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->outcome.pages, 30000);
    assert_float_equal(self->outcome.sampling, 1, 0);
    access_pages(self, 1, 9, 4, 2, 2, 0);
    round_ends(self);
    assert_float_equal(self->outcome.sampling, 0.25, 0);
    free_table(self);
}

static void what_is_fixed_or_belongs_to_several_stays(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 100, 30, 4, 1, 0, PLACE_FIXED);
    access_pages(self, 200, 30, 4, 1, 0, PLACE_SEVERAL);
    access_pages(self, 300, 3, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->outcome.decisions.count, 3);
    free_table(self);
}

static void shared_round(struct table *self, bool is_written)
{
    for (uint16_t node = 0; node < NODES; node++)
        access_pages(self, 1000, 600, 1, node, 0, 0);
    if (is_written)
        access_pages(self, 1000, 1, 1, 2, 0, PLACE_WRITES);
    round_ends(self);
}

static void copies_go_when_they_are_written_and_do_not_come_again(void **state)
{
    (void)state;
    struct table *self = table();
    self->facts.can_replicate = true;
    shared_round(self, false);
    assert_int_equal(self->decided[PLACE_REPLICATE], 101); /* the first 499 only asked for it */
    shared_round(self, false);
    assert_int_equal(self->decided[PLACE_REPLICATE], 499);
    shared_round(self, true);
    assert_int_equal(self->decided[PLACE_COLLAPSE], 1);
    shared_round(self, false);
    assert_int_equal(self->decided[PLACE_REPLICATE], 0);
    for (int i = 0; i < 40; i++)
        shared_round(self, false);
    assert_int_equal(self->decided[PLACE_REPLICATE], 0);
    free_table(self);
}

static void nothing_is_copied_where_memory_is_short(void **state)
{
    (void)state;
    struct table *self = table();
    self->facts.can_replicate = true;
    self->facts.memory_used = 0.26;
    shared_round(self, false);
    shared_round(self, false);
    assert_int_equal(self->decided[PLACE_REPLICATE], 0);
    free_table(self);
}

/* A page that four nodes write alike: pieces of a large page, each used by one of them. */
static void large_round(struct table *self)
{
    for (uint16_t node = 0; node < NODES; node++)
        for (uint64_t page = 0; page < 16; page++)
            access_pages(self, (page + 1) * PLACE_HUGE_PAGES + node * 128ull, 8, 2, node, 0,
                         PLACE_HUGE | PLACE_WRITES);
    round_ends(self);
}

static void large_pages_are_split_when_that_would_help_twice(void **state)
{
    (void)state;
    struct table *self = table();
    self->thresholds.hot_page = 1;
    place_engine__free(self->engine);
    self->engine = place_engine__new(NODES, &self->thresholds, 7);
    large_round(self);
    assert_int_equal(self->decided[PLACE_SPLIT], 0);
    large_round(self);
    assert_int_equal(self->decided[PLACE_SPLIT], 16);
    free_table(self);
}

/* Pages move, and in the rounds after that the program's figures are so. */
static void act(struct table *self, double progress_before, double progress_after)
{
    self->application.progress = progress_before;
    for (int i = 0; i < 3; i++) {
        access_pages(self, 10, 30, 1, 1, 1, 0);
        round_ends(self);
    }
    access_pages(self, 100, 30, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(self->decided[PLACE_MIGRATE], 30);
    self->application.progress = progress_after;
    for (int i = 0; i < 3; i++) {
        access_pages(self, 100, 30, 2, 1, 1, 0);
        round_ends(self);
    }
}

static void what_made_the_program_slower_is_undone_and_not_repeated(void **state)
{
    (void)state;
    struct table *self = table();
    act(self, 100, 90);
    assert_int_equal(self->decided[PLACE_BACK], 30);
    const struct place_decision *back = self->outcome.decisions.items;
    assert_int_equal(back->from, 1);
    assert_int_equal(back->to, 0);
    self->application.progress = 100;
    for (int i = 0; i < 20; i++) {
        access_pages(self, 100, 30, 4, 1, 0, 0);
        round_ends(self);
        assert_int_equal(self->outcome.decisions.count, 0);
    }
    free_table(self);
}

static void what_made_it_no_slower_stays(void **state)
{
    (void)state;
    struct table *self = table();
    act(self, 100, 97);
    assert_int_equal(self->decided[PLACE_BACK], 0);
    free_table(self);
}

static void without_progress_less_local_accesses_tell(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 100, 100, 4, 1, 0, 0);
    access_pages(self, 400, 800, 1, 1, 1, 0);
    round_ends(self);
    assert_int_equal(self->decided[PLACE_MIGRATE], 100);
    for (int i = 0; i < 3; i++) {
        access_pages(self, 100, 100, 4, 1, 1, 0);
        access_pages(self, 400, 800, 1, 1, 0, 0);
        round_ends(self);
    }
    assert_int_equal(self->decided[PLACE_BACK], 100);
    free_table(self);
}

static void an_application_that_ended_is_forgotten(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 100, 30, 4, 1, 0, 0);
    round_ends(self);
    assert_int_equal(place_engine__pages(self->engine), 30);
    self->facts.application_count = 0;
    round_ends(self);
    assert_int_equal(place_engine__pages(self->engine), 0);
    assert_int_equal(self->outcome.findings.count, 0);
    free_table(self);
}

static void pages_without_samples_are_forgotten(void **state)
{
    (void)state;
    struct table *self = table();
    access_pages(self, 100, 300, 1, 1, 1, 0);
    round_ends(self);
    for (int i = 0; i < 20; i++)
        round_ends(self);
    assert_int_equal(place_engine__pages(self->engine), 0);
    free_table(self);
}

static void the_same_facts_and_seed_give_the_same_decisions(void **state)
{
    (void)state;
    struct seen one = see(PATTERN_MIXED, STRATEGY_CARREFOUR, 8, 3),
                other = see(PATTERN_MIXED, STRATEGY_CARREFOUR, 8, 3);
    assert_memory_equal(one.nodes, other.nodes, one.stream.pages.count * sizeof *one.nodes);
    assert_true(one.result.ns == other.result.ns);
    forget(&one);
    forget(&other);
}

/* ---- thresholds -------------------------------------------------------------------------------
 */

static void thresholds_are_set_by_name(void **state)
{
    struct place_thresholds thresholds = place_thresholds__usual();
    struct error error;
    (void)state;
    assert_float_equal(thresholds.maptu, 50, 0);
    assert_int_equal(place_thresholds__set(&thresholds, "maptu=15", &error), 0);
    assert_float_equal(thresholds.maptu, 15, 0);
    static const char *const wrong[] = {"maptu",     "maptu=",    "maptu=x",   "maptu=-1",
                                        "maptu=1 2", "nothing=1", "=1",        "",
                                        "mapt=1",    "maptu=nan", "hot_page=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error.text[0] = 0;
        assert_int_not_equal(place_thresholds__set(&thresholds, wrong[i], &error), 0);
        assert_int_not_equal(error.text[0], 0);
    }
    assert_float_equal(thresholds.maptu, 15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_right_within_five_rounds),
        cmocka_unit_test(what_bounces_stays_after_the_guard),
        cmocka_unit_test(what_is_only_read_is_copied_where_that_can_be),
        cmocka_unit_test(nothing_is_done_below_a_threshold),
        cmocka_unit_test(a_page_wants_two_samples_or_more_of_a_weak_sensor),
        cmocka_unit_test(no_more_pages_than_a_round_has_room_for),
        cmocka_unit_test(what_is_fixed_or_belongs_to_several_stays),
        cmocka_unit_test(copies_go_when_they_are_written_and_do_not_come_again),
        cmocka_unit_test(nothing_is_copied_where_memory_is_short),
        cmocka_unit_test(large_pages_are_split_when_that_would_help_twice),
        cmocka_unit_test(what_made_the_program_slower_is_undone_and_not_repeated),
        cmocka_unit_test(what_made_it_no_slower_stays),
        cmocka_unit_test(without_progress_less_local_accesses_tell),
        cmocka_unit_test(an_application_that_ended_is_forgotten),
        cmocka_unit_test(pages_without_samples_are_forgotten),
        cmocka_unit_test(the_same_facts_and_seed_give_the_same_decisions),
        cmocka_unit_test(thresholds_are_set_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
