/* heurt whatif: how long the program would have taken with something changed. */
#include "base/memory.h"
#include "base/text.h"
#include "cmd/changes.h"
#include "cmd/command.h"
#include "cmd/kept_print.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/rank_whatif.h"
#include "cmd/targets.h"
#include "cmd/whatif_session.h"
#include "present/whatif/whatif_screens.h"

#include <getopt.h>
#include <stdlib.h>

struct whatif_options {
    const char *directory;
    const struct whatif_presenter *presenter;
    bool all;
    enum class_view view;
    uint64_t width;    /* 0: not given */
    struct vec asked;  /* struct asked */
    const char *ranks; /* of MPI: what of them changes, as it was written; NULL: nothing */
    struct rank_change rank_change;
};

/* What the command line asks of a run. */
struct session {
    const struct whatif_options *options;
    const struct kept_print *print;
    struct whatif_session *of;
    const struct openmp_use *openmp; /* NULL: nobody asks about regions, or there are none */
};

/* ---- questions ------------------------------------------------------------------------------- */

/* What the one question is about, when that is one class or one lock. */
static void describe(const struct session *session, const struct lock_target *lock,
                     struct whatif_answer *answer)
{
    const struct vec *asked = &session->options->asked;
    const struct asked *first = VEC_AT(asked, struct asked, 0);
    if (asked->count > 1)
        return;
    if (first->of == ASKED_OF_CLASS) {
        answer->rank = first->rank;
        answer->lost_ns =
            VEC_AT(&session->of->report->profile->classes, struct profile_class, first->rank - 1)
                ->excess_ns;
    } else if (first->of == ASKED_OF_LOCK) {
        answer->has_lock = true;
        answer->lock = lock->address;
        answer->process = lock->process;
        answer->lost_ns = lock->lost_ns;
    }
}

/* All that is asked is one question. */
static int ask_what_was_asked(struct session *session)
{
    struct question question = question__of(NULL);
    struct whatif_answer answer = {.lost_ns = UINT64_MAX};
    struct lock_target lock = {0};
    struct error error;
    char *text = NULL;
    VEC_EACH (asked, &session->options->asked, struct asked) {
        text = text__join(text, " ", asked->option);
        if (asked__resolve(asked, session->of->report, session->openmp, &question.changes, &lock,
                           &error) == 0)
            continue;
        say("%s", error.text);
        question__free(&question);
        free(text);
        return EXIT_USAGE;
    }
    if (whatif__has_regions(session->of->whatif))
        VEC_EACH (change, &question.changes, struct change)
            if (change->type == CHANGE_THREADS)
                change->type = CHANGE_TEAM;
    answer.asked = text;
    describe(session, &lock, &answer);
    whatif_session__ask(session->of, question, answer);
    return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

struct whatif_showing {
    const struct whatif_presenter *presenter;
    struct whatif_view view;
    bool is_question;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct whatif_showing *showing = subject;
    if (showing->is_question)
        showing->presenter->question(&showing->view, style, out);
    else
        showing->presenter->table(&showing->view, style, out);
}

static int show_answers(const struct session *session)
{
    const struct whatif_options *options = session->options;
    const struct whatif_answer *first = session->of->answers.items;
    if (options->asked.count && !first->prediction) {
        say("%s", first->refusal);
        return EXIT_HEURT;
    }
    return kept_print__make(session->print, session->of->report->trace, present,
                            &(struct whatif_showing){.presenter = options->presenter,
                                                     .view = whatif_session__view(session->of),
                                                     .is_question = options->asked.count > 0});
}

static int answer(struct session *session)
{
    int status = 0;
    if (session->options->asked.count)
        status = ask_what_was_asked(session);
    else
        whatif_session__ask_about_all(session->of, session->options->all);
    if (status)
        return status;
    whatif_session__answer(session->of);
    return show_answers(session);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static bool asks_about_regions(const struct whatif_options *options)
{
    VEC_EACH (asked, &options->asked, const struct asked)
        if (asked->of == ASKED_OF_REGION)
            return true;
    return false;
}

static const struct openmp_use *regions_of(const struct whatif_options *options,
                                           const struct loaded *loaded)
{
    return asks_about_regions(options) ? run__result(&loaded->run, &openmp_analysis) : NULL;
}

static int answer_of(const struct whatif_options *options, const struct kept_print *print,
                     struct loaded *loaded)
{
    struct whatif_session session;
    struct error error;
    if (asks_about_regions(options))
        run__ask(&loaded->run, &openmp_analysis, NULL);
    int status = loaded__profile(loaded, options->view);
    if (status)
        return status;
    if (whatif_session__open(&session, &loaded->report, UINT64_MAX, &error) < 0)
        return failed(&error);
    status = answer(&(struct session){options, print, &session, regions_of(options, loaded)});
    whatif_session__close(&session);
    return status;
}

static int make_whatif(const struct whatif_options *options, const struct kept_print *print)
{
    struct loaded loaded;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    status = answer_of(options, print, &loaded);
    loaded__close(&loaded);
    return status;
}

static int make_of_ranks(const struct whatif_options *options, const struct kept_print *print)
{
    char *asked = memory__format("--ranks %s", options->ranks);
    int status = rank_whatif__make(options->directory, asked, &options->rank_change,
                                   options->presenter, print);
    free(asked);
    return status;
}

static char *name_of(const struct whatif_options *options)
{
    const char *format = options->presenter == &whatif_text   ? "text"
                         : options->presenter == &whatif_json ? "json"
                                                              : "csv";
    char *name =
        memory__format("whatif %s %d%s", format, (int)options->view, options->all ? " all" : "");
    VEC_EACH (asked, &options->asked, struct asked)
        name = text__join(name, " ", asked->option);
    if (options->ranks)
        name = text__append(name, " --ranks %s", options->ranks);
    return name;
}

static int whatif_of(const struct whatif_options *options)
{
    struct kept_print print = kept_print__of(options->directory, name_of(options),
                                             options->presenter == &whatif_text, options->width);
    int status = 0;
    if (!kept_print__show(&print, &status))
        status = options->ranks ? make_of_ranks(options, &print) : make_whatif(options, &print);
    kept_print__free(&print);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int take_change(const struct command *self, const char *value, void *request,
                       int (*read)(const char *value, struct asked *asked, struct error *error))
{
    struct whatif_options *options = request;
    struct asked asked;
    struct error error;
    if (read(value, &asked, &error) < 0) {
        asked__free(&asked);
        return wrong_usage(self, "%s", error.text);
    }
    vec__push(&options->asked, &asked);
    return 0;
}

#define TAKE(change)                                                                       \
    static int take_##change(const struct command *self, const char *value, void *request) \
    {                                                                                      \
        return take_change(self, value, request, asked__##change);                         \
    }
TAKE(remove)
TAKE(speed)
TAKE(shrink)
TAKE(split)
TAKE(schedule)
TAKE(balance)
TAKE(threads)

static int take_ranks(const struct command *self, const char *value, void *request)
{
    struct whatif_options *options = request;
    options->ranks = value;
    if (!rank_change__parse(value, &options->rank_change))
        return wrong_usage(self,
                           "--ranks: expected balance, even, rank=3, latency=2x or bandwidth=0.5x, "
                           "not '%.40s'",
                           value);
    return 0;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct whatif_options, directory),
    {.kind = OPTION_OPERAND, .name = "N|FUNC", .help = "as --remove N"},
    {.name = "remove",
     .value = "N|FUNC|lock=ADDR",
     .help = "every occurrence of that class is as its fastest one; nobody waits\n"
             "for that lock, also by its name; critical=NAME: for that section",
     OWN(take_remove)},
    {.name = "speed",
     .value = "FUNC=2x",
     .help = "the time on a CPU in that function, over so much",
     OWN(take_speed)},
    {.name = "shrink",
     .value = "lock=ADDR:50%",
     .help = "what is left of the time on a CPU with that lock held",
     OWN(take_shrink)},
    {.name = "split",
     .value = "lock=ADDR:2",
     .help = "so many locks in its place; lock=ADDR:site: one a place",
     OWN(take_split)},
    {.name = "schedule",
     .value = "REGION=dynamic,16",
     .help = "loops of that parallel region (heurt openmp) are shared so; =guided",
     OWN(take_schedule)},
    {.name = "balance",
     .value = "REGION",
     .help = "its threads have the same work between two barriers",
     OWN(take_balance)},
    {.name = "threads",
     .value = "N",
     .help = "the same work by so many threads",
     OWN(take_threads)},
    {.name = "ranks",
     .value = "balance|even|rank=N|latency=2x|bandwidth=2x",
     .help = "ranks of MPI have the same to do between operations of all, or\n"
             "in the whole run; that one no more than the others; another network",
     OWN(take_ranks)},
    {.name = "all",
     .help = "without a change: a row for every class, not 20",
     FLAG(struct whatif_options, all)},
    CLASS_ROW(struct whatif_options, view),
    WIDTH_ROW(struct whatif_options, width),
    FORMAT_ROW(struct whatif_options, presenter, json, &whatif_json),
    FORMAT_ROW(struct whatif_options, presenter, csv, &whatif_csv),
    {0},
};

/* heurt whatif N is heurt whatif --remove N. */
static int take_operands(const struct command *self, int argc, char **argv,
                         struct whatif_options *options)
{
    int status = 0;
    for (; status == 0 && optind < argc; optind++)
        status = take_remove(self, argv[optind], options);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct whatif_options options = {.directory = DEFAULT_TRACE,
                                     .presenter = &whatif_text,
                                     .view = CLASSES_BY_STRUCTURE,
                                     .asked = VEC_OF(struct asked)};
    int status = options__read(self, argc, argv, &options);
    if (status == 0)
        status = take_operands(self, argc, argv, &options);
    if (status == 0 && options.ranks && options.asked.count)
        status = wrong_usage(self, "--ranks goes with no other change");
    if (status == 0)
        status = whatif_of(&options);
    VEC_EACH (asked, &options.asked, struct asked)
        asked__free(asked);
    vec__free(&options.asked);
    return status;
}

const struct command command_whatif = {
    .name = "whatif",
    .summary = "predict the wall time of a recorded program without one cause",
    .rows = option_rows,
    .operands = "[N|FUNC]…",
    .run = run};
