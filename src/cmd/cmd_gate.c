/* heurt gate: a program is run until it is sure whether it is slower than before. */
#include "analysis/compare/sequential.h"
#include "analysis/timeline/wall_ledger.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cmd/checking.h"
#include "cmd/command.h"
#include "cmd/compared_side.h"
#include "cmd/html_file.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/run_checks.h"
#include "cmd/single_run.h"
#include "cmd/values.h"
#include "format/directory.h"
#include "present/compare/comparison_screens.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { GATE_PASSES, GATE_FAILS, GATE_UNDECIDED };

#define BUDGET_DEFAULT 60000000000u
#define CONDITION_DEFAULT "wall > +5 %"

struct gate_options {
    const struct comparison_presenter *presenter;
    const char *against, *junit, *output;
    uint64_t budget_ns, width;
    struct vec conditions; /* const char * */
};

struct gate {
    const struct gate_options *options;
    struct compared_table table;
    struct vec directories;   /* char *: owned */
    struct vec before, after; /* struct run_figures */
    char *const *command;     /* that is asked about */
    char *const *other;       /* with which it takes turns; NULL: with kept runs, or with none */
    char *place;              /* of the traces; owned */
    bool is_recorded, is_compared;
    struct run_checks runs;            /* what is asked of each run by itself */
    struct vec decided;                /* struct checked, one a condition: what a look decided stays
                                          so; without a sentence: none did */
    double risk;                       /* of the look that is made, on one side */
    bool is_rest;                      /* it is made because time is over */
    struct checking checking;          /* of the last look */
    struct runs_comparison comparison; /* likewise */
    bool has_comparison;
    uint64_t started_ns, longest_ns; /* of a turn */
    size_t turns;
    const char *end; /* why no more runs are made */
};

/* ---- a run ----------------------------------------------------------------------------------- */

static int refuse_failed(const struct gate *gate, char *const *words, int wait_status)
{
    bool is_signal = WIFSIGNALED(wait_status);
    say("run %zu of %.100s %s %d: times of a program that fails tell nothing", gate->turns + 1,
        words[0], is_signal ? "was ended by signal" : "ended with status",
        is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    return EXIT_HEURT;
}

/* Times of two machines are no change of the program. */
static int check_machine(const struct gate *gate)
{
    const char *kept = VEC_AT(&gate->before, struct run_figures, 0)->machine,
               *now = VEC_AT(&gate->after, struct run_figures, 0)->machine;
    if (!kept || !now || strcmp(kept, now) == 0)
        return 0;
    say("%.60s ran on another machine (%.50s; this is %.50s): record the baseline here, or use "
        "--against",
        VEC_AT(&gate->before, struct run_figures, 0)->directory, kept, now);
    return EXIT_HEURT;
}

static int load_run(struct gate *gate, struct vec *side, const char *trace)
{
    int status = 0;
    if (gate->is_compared) {
        char *directory = memory__text(trace);
        vec__push(&gate->directories, &directory);
        status = compared_side__add(side, &gate->table, directory);
        if (status == 0 && !gate->other)
            status = check_machine(gate);
    }
    if (status == 0 && side == &gate->after)
        status = run_checks__add(&gate->runs, trace);
    return status;
}

/* 0, or the exit status; nothing is added where a signal came. */
static int make_run(struct gate *gate, char *const *words, struct vec *side)
{
    char *trace = gate->is_recorded ? memory__format("%s/run", gate->place) : NULL;
    const struct single_run run = {.words = words, .trace = trace, .output = "/dev/null"};
    struct run_end end;
    int status = single_run__make(&run, &end);
    if (status == 0 && !interrupts__came()) {
        if (end.wait_status)
            status = refuse_failed(gate, words, end.wait_status);
        else if (trace)
            status = load_run(gate, side, trace);
        else
            vec__push(side, &(struct run_figures){.directory = words[0],
                                                  .command = memory__text(words[0]),
                                                  .wall_ns = end.wall_ns,
                                                  .rows = VEC_OF(struct figures_row)});
        if (status == 0 && side->count) /* the order of turns, whatever the clock was set to */
            VEC_AT(side, struct run_figures, side->count - 1)->start_ns = gate->turns + 1;
    }
    if (trace)
        trace_directory__unmake(trace, false);
    free(trace);
    return status;
}

static bool is_heads(void)
{
    unsigned char byte = 0;
    return getrandom(&byte, 1, 0) == 1 && (byte & 1);
}

/* One run, or a pair of which chance decides what comes first. A pair of which one is missing is
 * none. */
static int make_turn(struct gate *gate)
{
    uint64_t started_ns = clock__ns(CLOCK_MONOTONIC);
    bool is_after_first = is_heads();
    int status = 0;
    for (unsigned i = 0; status == 0 && !interrupts__came() && i < 2; i++) {
        bool is_after = (i == 0) == is_after_first;
        if (is_after || gate->other)
            status = make_run(gate, is_after ? gate->command : gate->other,
                              is_after ? &gate->after : &gate->before);
    }
    uint64_t ns = clock__ns(CLOCK_MONOTONIC) - started_ns;
    gate->longest_ns = ns > gate->longest_ns ? ns : gate->longest_ns;
    gate->turns += status == 0 && !interrupts__came();
    return status;
}

static void drop_last(struct vec *side)
{
    run_figures__free(VEC_AT(side, struct run_figures, --side->count));
}

/* ---- a look ---------------------------------------------------------------------------------- */

static struct comparison_view view_of(const struct gate *gate)
{
    return (struct comparison_view){
        &gate->comparison, &gate->before,          &gate->after, gate->table.source->table->name,
        gate->table.value, &gate->checking.checks, NULL};
}

static int judge(const void *subject, const struct fail_condition *condition,
                 struct checked *checked, struct error *error)
{
    const struct gate *gate = subject;
    const struct comparison_view view = view_of(gate);
    size_t place =
        (size_t)(condition - VEC_AT(&gate->checking.conditions, struct fail_condition, 0));
    const struct checked *decided = VEC_AT(&gate->decided, struct checked, place);
    int code = 0;
    if (decided->sentence) {
        checked->outcome = decided->outcome;
        checked->sentence = memory__text(decided->sentence);
    } else if (fail_condition__is_of_one_run(condition)) {
        run_checks__judge(&gate->runs, condition, gate->is_rest ? 0 : gate->risk, checked);
    } else {
        code = comparison__judge(&view, condition, checked, error);
    }
    return code;
}

static void keep_decided(struct gate *gate)
{
    for (size_t i = 0; i < gate->checking.checks.count; i++) {
        const struct checked *check = VEC_AT(&gate->checking.checks, struct checked, i);
        struct checked *decided = VEC_AT(&gate->decided, struct checked, i);
        if (check->outcome == CHECK_UNDECIDED || decided->sentence)
            continue;
        *decided = *check;
        decided->sentence = memory__text(check->sentence);
    }
}

/* risk: on one side. is_rest: when time is over. */
static int look(struct gate *gate, double risk, bool is_rest)
{
    const struct shift_rule rule = {gate->other ? SHIFT_BY_PAIRS : SHIFT_BY_SETS, 2 * risk,
                                    SEQUENTIAL_FIRST};
    gate->risk = risk;
    gate->is_rest = is_rest;
    if (gate->has_comparison)
        comparison__free(&gate->comparison);
    VEC_EACH (check, &gate->checking.checks, struct checked)
        free(check->sentence);
    gate->checking.checks.count = 0;
    gate->has_comparison = gate->is_compared;
    if (gate->is_compared)
        gate->comparison = comparison__of(&gate->before, &gate->after, gate->is_recorded, &rule);
    int status = checking__judge(&gate->checking, judge, gate);
    if (status == 0)
        keep_decided(gate);
    return status;
}

/* The verdict of the last look. */
static int verdict_of(const struct gate *gate)
{
    int verdict = gate->checking.checks.count ? GATE_PASSES : GATE_UNDECIDED;
    VEC_EACH (check, &gate->checking.checks, struct checked) {
        if (check->outcome == CHECK_FAILS)
            return GATE_FAILS;
        if (check->outcome == CHECK_UNDECIDED)
            verdict = GATE_UNDECIDED;
    }
    return verdict;
}

static bool is_time_over(const struct gate *gate)
{
    uint64_t spent_ns = clock__ns(CLOCK_MONOTONIC) - gate->started_ns;
    return gate->turns > 0 && spent_ns + gate->longest_ns > gate->options->budget_ns;
}

/* Makes runs until the verdict is sure, or no more can be made. */
static int make_runs(struct gate *gate)
{
    size_t conditions = gate->checking.conditions.count, looked = 0;
    int status = 0;
    gate->started_ns = clock__ns(CLOCK_MONOTONIC);
    while (status == 0 && !gate->end) {
        status = make_turn(gate);
        if (status)
            break;
        double risk = sequential__risk(gate->turns, conditions);
        if (interrupts__came())
            gate->end = "it was interrupted";
        else if (risk > 0) {
            status = look(gate, risk, false);
            looked = gate->turns;
        }
        if (!gate->end && looked && verdict_of(gate) != GATE_UNDECIDED)
            gate->end = "the verdict is sure";
        else if (!gate->end && gate->turns == SEQUENTIAL_LAST)
            gate->end = "more runs would hardly tell more";
        else if (!gate->end && is_time_over(gate))
            gate->end = "the budget is used up";
    }
    if (status)
        return status;
    while (gate->after.count > gate->turns && gate->other)
        drop_last(&gate->after);
    while (gate->before.count > gate->turns && gate->other)
        drop_last(&gate->before);
    /* What is left of the risk: of pairs alone, whose number does not depend on their signs. */
    bool has_both = gate->after.count && gate->before.count;
    if (looked != gate->turns && (has_both || !gate->is_compared))
        status =
            look(gate,
                 gate->other && !interrupts__came() ? sequential__rest(gate->turns, conditions) : 0,
                 true);
    return status;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const char *const verdicts[] = {"pass", "regression", "undecided"};

static char *sentence_of(const struct gate *gate)
{
    char spent[16], longest[16];
    uint64_t spent_ns = clock__ns(CLOCK_MONOTONIC) - gate->started_ns;
    int verdict = verdict_of(gate);
    bool is_short = verdict == GATE_UNDECIDED && gate->turns < SEQUENTIAL_FIRST;
    char *text = memory__format("%s after %zu %s%s in %s: %s", verdicts[verdict], gate->turns,
                                gate->other ? "pair" : "run", gate->turns == 1 ? "" : "s",
                                duration__format(spent_ns, spent), gate->end);
    if (!is_short)
        return text;
    char *more =
        memory__format("%s; %d are the fewest that can show anything, and one takes %s "
                       "(--budget)",
                       text, SEQUENTIAL_FIRST, duration__format(gate->longest_ns, longest));
    free(text);
    return more;
}

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct gate *gate = subject;
    char *sentence = sentence_of(gate);
    bool is_markdown = gate->options->presenter == &comparison_markdown;
    fprintf(out, is_markdown ? "**%s**\n%s" : "  gate: %s\n%s", sentence,
            gate->has_comparison ? "\n" : "");
    free(sentence);
    const struct comparison_view view = view_of(gate);
    if (gate->has_comparison)
        gate->options->presenter->put(&view, style, out);
    else if (is_markdown)
        checks__put_markdown(&gate->checking.checks, out);
    else
        checks__put_text(&gate->checking.checks, style, out);
}

static void put_file(const void *subject, FILE *out)
{
    const struct style plain = {.columns = SCREEN_COLUMNS, .unicode = true};
    present(subject, &plain, out);
}

/* For GitHub, which shows such lines beside a pull request. */
static void annotate(const struct gate *gate)
{
    if (!getenv("GITHUB_ACTIONS"))
        return;
    VEC_EACH (check, &gate->checking.checks, struct checked)
        if (check->outcome != CHECK_HOLDS)
            fprintf(stderr, "::%s title=heurt gate::%s: %s\n",
                    check->outcome == CHECK_FAILS ? "error" : "warning",
                    check_outcome__name(check->outcome), check->sentence);
}

static int answer(const struct gate *gate)
{
    const struct gate_options *options = gate->options;
    int status = options->output ? html_file__write(gate->place, options->output, put_file, gate)
                                 : show_either(options->presenter == &comparison_text, present,
                                               gate, options->width);
    int other = checking__write_junit(&gate->checking, "heurt gate", gate->place, options->junit);
    annotate(gate);
    return status ? status : other ? other : verdict_of(gate);
}

/* ---- what is asked --------------------------------------------------------------------------- */

static bool is_of_wall(const struct fail_condition *condition)
{
    return strcmp(condition->quantity, "wall") == 0 && !condition->pattern;
}

/* A change needs something that it is to. */
static int check_conditions(struct gate *gate)
{
    gate->runs = run_checks__start(&gate->checking.conditions);
    gate->is_recorded = gate->is_recorded || gate->runs.asked;
    VEC_EACH (condition, &gate->checking.conditions, struct fail_condition) {
        vec__push(&gate->decided, &(struct checked){CHECK_UNDECIDED, NULL, NULL});
        if (fail_condition__is_of_one_run(condition))
            continue;
        gate->is_recorded = gate->is_recorded || !is_of_wall(condition);
        if (!gate->is_compared) {
            say("'%.100s' is a change: expected one BASELINE, or --against; of each run by itself "
                "ask as heurt report does, 'lock > 10 %%'",
                condition->text);
            return EXIT_HEURT;
        }
    }
    return 0;
}

static const char *program_of(const char *command)
{
    const char *blank = command + strcspn(command, " ");
    const char *slash = memrchr(command, '/', (size_t)(blank - command));
    return slash ? slash + 1 : command;
}

/* Kept runs are of the program of that name; that they are of this machine is not asked. */
static int check_baseline(const struct gate *gate)
{
    const struct run_figures *run = VEC_AT(&gate->before, struct run_figures, 0);
    const char *kept = program_of(run->command), *now = program_of(gate->command[0]);
    size_t length = strcspn(kept, " ");
    if (strlen(now) != length || strncmp(kept, now, length) != 0) {
        say("%.100s is of the program %.*s, not of %.60s: a gate compares a program with itself",
            run->directory, (int)(length < 60 ? length : 60), kept, now);
        return EXIT_HEURT;
    }
    if (gate->before.count < SHIFT_RULE.least) {
        say("%.100s has %zu runs, and %zu are the fewest that can show anything: heurt record "
            "--repeat 10 makes ten",
            run->directory, gate->before.count, SHIFT_RULE.least);
        return EXIT_HEURT;
    }
    return 0;
}

static int open_gate(struct gate *gate, const char *baseline)
{
    gate->is_recorded = !gate->other;
    int status = check_conditions(gate);
    const char *temporary = getenv("TMPDIR");
    gate->place = memory__format("%s/heurt-gate.XXXXXX", temporary ? temporary : "/tmp");
    if (status == 0 && !mkdtemp(gate->place)) {
        say("cannot make a directory for traces as %.150s", gate->place);
        return EXIT_HEURT;
    }
    if (status == 0 && baseline) {
        status = compared_side__add_set(&gate->before, &gate->table, baseline, &gate->directories);
        status = status ? EXIT_HEURT : check_baseline(gate);
    }
    return status;
}

static int run_gate(struct gate *gate, const char *baseline)
{
    struct interrupts interrupts;
    int status = open_gate(gate, baseline);
    if (status == 0) {
        interrupts__hold(&interrupts);
        status = make_runs(gate);
        interrupts__release(&interrupts);
        status = status ? status == EXIT_USAGE ? EXIT_HEURT : status : answer(gate);
    }
    rmdir(gate->place);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND,
     .name = "BASELINE",
     .help = "a set of runs that record --repeat made before"},
    {.name = "against",
     .value = "COMMAND",
     .help = "in place of it: run this in turns with PROGRAM",
     TEXT(struct gate_options, against)},
    {.name = "fail-if",
     .value = "CONDITION",
     .help = "a regression is: 'wall > +5 %' (without any), 'lock > +20 %';\n"
             "of each run: 'class(parse).score > 0.2'",
     TEXTS(struct gate_options, conditions)},
    {.name = "budget",
     .value = "TIME",
     .help = "run no longer than that (60s)",
     .expected = DURATION_FORM,
     VALUE(struct gate_options, budget_ns, duration__parse)},
    {.name = "junit",
     .value = "FILE",
     .help = "the conditions as JUnit XML",
     TEXT(struct gate_options, junit)},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .help = "into this file; it is there as a whole or not at all",
     TEXT(struct gate_options, output)},
    WIDTH_ROW(struct gate_options, width),
    {.name = "markdown",
     .help = "for a pull request",
     CONSTANT(struct gate_options, presenter, &comparison_markdown)},
    {0},
};

/* The program's words stand behind the first "--"; 0: there is none. */
static int separator_of(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

static int ask(const struct command *self, struct gate *gate, int separator, char **argv)
{
    const struct gate_options *options = gate->options;
    const char *baseline = optind < separator ? argv[optind] : NULL;
    wordexp_t words = {0};
    if (!separator)
        return wrong_usage(self, "which program? It stands behind --"), EXIT_HEURT;
    if ((baseline && options->against) || separator - optind > 1)
        return wrong_usage(self, "expected one BASELINE, or --against"), EXIT_HEURT;
    if (options->against &&
        (wordexp(options->against, &words, WRDE_NOCMD) != 0 || !words.we_wordc)) {
        say("--against '%.100s' is no program with its words; of several: --against \"sh -c '…'\"",
            options->against);
        return EXIT_HEURT;
    }
    gate->command = argv + separator + 1;
    gate->other = options->against ? words.we_wordv : NULL;
    gate->is_compared = baseline || gate->other;
    int status = checking__parse(&options->conditions, &gate->checking);
    status = status ? EXIT_HEURT : run_gate(gate, baseline);
    wordfree(&words);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct gate_options options = {.presenter = &comparison_text,
                                   .budget_ns = BUDGET_DEFAULT,
                                   .conditions = VEC_OF(const char *)};
    struct gate gate = {.options = &options,
                        .table = {&wall_source, table__column(wall_source.table, "wall_ns"),
                                  table__column(wall_source.table, "lives_ns"),
                                  CLASSES_BY_STRUCTURE},
                        .directories = VEC_OF(char *),
                        .before = VEC_OF(struct run_figures),
                        .after = VEC_OF(struct run_figures),
                        .decided = VEC_OF(struct checked)};
    int separator = separator_of(argc, argv);
    int status = options__read(self, separator ? separator : argc, argv, &options);
    if (!options.conditions.count)
        vec__push(&options.conditions, &(const char *){CONDITION_DEFAULT});
    status = status > 0 ? EXIT_HEURT : status ? status : ask(self, &gate, separator, argv);
    if (gate.has_comparison)
        comparison__free(&gate.comparison);
    compared_side__free(&gate.before);
    compared_side__free(&gate.after);
    texts__free(&gate.directories);
    run_checks__free(&gate.runs);
    VEC_EACH (decided, &gate.decided, struct checked)
        free(decided->sentence);
    vec__free(&gate.decided);
    checking__free(&gate.checking);
    vec__free(&options.conditions);
    free(gate.place);
    return status;
}

const struct command command_gate = {
    .name = "gate",
    .summary = "run a program until it is sure whether it is slower than before",
    .rows = option_rows,
    .operands = "[BASELINE] -- PROGRAM [ARG]…",
    .run = run};
