/* heurt whatif: how long the program would have taken with something changed. */
#include "base/memory.h"
#include "cmd/changes.h"
#include "cmd/class_view.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "cmd/rules_file.h"
#include "cmd/targets.h"
#include "cmd/whatif_session.h"
#include "present/whatif/whatif_screens.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.2 /* as of heurt report: it numbers the classes */

struct options {
    const char *directory;
    const struct whatif_presenter *presenter;
    bool all;
    enum class_view view;
    struct vec asked; /* struct asked */
};

/* What the command line asks of a run. */
struct session {
    const struct options *options;
    struct whatif_session *of;
};

/* ---- questions ------------------------------------------------------------------------------- */

/* Takes over text. */
static char *joined(char *text, const char *more)
{
    char *longer = memory__format("%s%s%s", text, *text ? " " : "", more);
    free(text);
    return longer;
}

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
    char *text = memory__text("");
    VEC_EACH (asked, &session->options->asked, struct asked) {
        text = joined(text, asked->option);
        if (asked__resolve(asked, session->of->report, &question.changes, &lock, &error) == 0)
            continue;
        say("%s", error.text);
        question__free(&question);
        free(text);
        return EXIT_USAGE;
    }
    answer.asked = text;
    describe(session, &lock, &answer);
    whatif_session__ask(session->of, question, answer);
    return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

struct showing {
    const struct whatif_presenter *presenter;
    struct whatif_view view;
    bool is_question;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct showing *showing = subject;
    if (showing->is_question)
        showing->presenter->question(&showing->view, style, out);
    else
        showing->presenter->table(&showing->view, style, out);
}

static int show_answers(const struct session *session)
{
    const struct options *options = session->options;
    const struct whatif_answer *first = session->of->answers.items;
    if (options->asked.count && !first->prediction) {
        say("%s", first->refusal);
        return EXIT_HEURT;
    }
    return show(present, &(struct showing){.presenter = options->presenter,
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

static int compute(const struct options *options, const struct loaded *loaded,
                   const struct vec *rules)
{
    struct profile *profile;
    struct error error;
    int status = EXIT_HEURT;
    if (profile__compute_by(options->view, loaded->trace, loaded->symbols, rules, THRESHOLD,
                            &profile, &error) < 0) {
        say("%s", error.text);
        return status;
    }
    const struct report report = {.trace = loaded->trace,
                                  .symbols = loaded->symbols,
                                  .profile = profile,
                                  .directory = options->directory};
    struct whatif_session session;
    if (whatif_session__open(&session, &report, &error) == 0) {
        status = answer(&(struct session){options, &session});
        whatif_session__close(&session);
    } else {
        say("%s", error.text);
    }
    profile__free(profile);
    return status;
}

static int load_and_compute(const struct options *options)
{
    struct loaded loaded;
    struct rules rules;
    struct error error;
    int status = loaded__open(options->directory, &loaded);
    if (status)
        return status;
    if (rules__load(options->directory, &rules, &error) < 0) {
        say("%s", error.text);
        status = EXIT_HEURT;
    } else {
        struct vec list = rules__list(&rules);
        status = compute(options, &loaded, &list);
        rules__free_list(&list);
    }
    rules__free(&rules);
    loaded__close(&loaded);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    OPTION_REMOVE = 256,
    OPTION_SPEED,
    OPTION_SHRINK,
    OPTION_SPLIT,
    OPTION_THREADS,
    OPTION_ALL,
    OPTION_CLASS,
    OPTION_JSON,
    OPTION_CSV,
};

static const struct option_row option_rows[] = {
    {'i', "input", "DIR", "the trace (heurt.data)"},
    {OPTION_OPERAND, "N", NULL, "as --remove N"},
    {OPTION_REMOVE, "remove", "N|FUNC", "every occurrence of that class is as its fastest one"},
    {OPTION_OPERAND, "--remove lock=ADDR|NAME", NULL, "nobody waits for that lock"},
    {OPTION_SPEED, "speed", "FUNC=2x", "the time on a CPU in that function, over so much"},
    {OPTION_SHRINK, "shrink", "lock=ADDR:50%",
     "what is left of the time on a CPU with that lock held"},
    {OPTION_SPLIT, "split", "lock=ADDR:2",
     "so many locks in its place; lock=ADDR:site: one a place"},
    {OPTION_THREADS, "threads", "N", "the same work by so many threads"},
    {OPTION_ALL, "all", NULL, "without a change: a row for every class, not 20"},
    {OPTION_CLASS, "class", "site|structure",
     "what calls other things is another class (structure), or not"},
    {OPTION_JSON, "json", NULL, "everything as JSON"},
    {OPTION_CSV, "csv", NULL, "everything as comma-separated values"},
    {0},
};

static int take_change(struct options *options,
                       int (*read)(const char *value, struct asked *asked, struct error *error),
                       const char *value)
{
    struct asked asked;
    struct error error;
    if (read(value, &asked, &error) < 0) {
        asked__free(&asked);
        return wrong_usage(&command_whatif, "%s", error.text);
    }
    vec__push(&options->asked, &asked);
    return 0;
}

static int choose_presenter(struct options *options, const struct whatif_presenter *presenter)
{
    if (options->presenter != &whatif_text && options->presenter != presenter)
        return wrong_usage(&command_whatif, "--json and --csv exclude each other");
    options->presenter = presenter;
    return 0;
}

/* 0, or the exit status of wrong usage. */
static int take_option(int option, void *request)
{
    struct options *options = request;
    switch (option) {
    case 'i':
        options->directory = optarg;
        return 0;
    case OPTION_REMOVE:
        return take_change(options, asked__remove, optarg);
    case OPTION_SPEED:
        return take_change(options, asked__speed, optarg);
    case OPTION_SHRINK:
        return take_change(options, asked__shrink, optarg);
    case OPTION_SPLIT:
        return take_change(options, asked__split, optarg);
    case OPTION_THREADS:
        return take_change(options, asked__threads, optarg);
    case OPTION_ALL:
        options->all = true;
        return 0;
    case OPTION_CLASS:
        return view__parse(&command_whatif, optarg, &options->view);
    case OPTION_JSON:
        return choose_presenter(options, &whatif_json);
    case OPTION_CSV:
        return choose_presenter(options, &whatif_csv);
    default:
        return EXIT_USAGE;
    }
}

/* heurt whatif N is heurt whatif --remove N. */
static int take_ranks(int argc, char **argv, struct options *options)
{
    for (; optind < argc; optind++) {
        const char *word = argv[optind];
        if (!*word || word[strspn(word, "0123456789")])
            return wrong_usage(&command_whatif,
                               "expected the number of a class (as in the column # of heurt "
                               "report), found '%s'; another trace is chosen with -i DIR",
                               word);
        int status = take_change(options, asked__remove, word);
        if (status)
            return status;
    }
    return 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    int status = options__read(&command_whatif, option_rows, argc, argv, take_option, options);
    return status ? status : take_ranks(argc, argv, options);
}

static int run(int argc, char **argv)
{
    struct options options = {.directory = DEFAULT_TRACE,
                              .presenter = &whatif_text,
                              .view = CLASSES_BY_STRUCTURE,
                              .asked = VEC_OF(struct asked)};
    int status = parse(argc, argv, &options);
    if (status == 0)
        status = load_and_compute(&options);
    VEC_EACH (asked, &options.asked, struct asked)
        asked__free(asked);
    vec__free(&options.asked);
    return status < 0 ? 0 : status;
}

const struct command command_whatif = {
    "whatif",
    "[-i DIR] [--json|--csv] [--all] [--class site|structure] [--remove N|FUNC|lock=ADDR] [--speed "
    "FUNC=2x] "
    "[--shrink lock=ADDR:50%] [--split lock=ADDR:2] [--threads N] [N]…",
    "predict the wall time of a recorded program without one cause",
    run,
    NULL,
    option_rows};
