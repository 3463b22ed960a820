/* heurt view: a trace, browsed on the terminal. */
#include "analysis/findings/wall_gains.h"
#include "analysis/timeline/thread_times.h"
#include "cmd/browser.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "cmd/report.h"
#include "cmd/values.h"
#include "present/view/view.h"

#include <stdio.h>
#include <stdlib.h>

struct view_request {
    const char *directory;
};

static int browse(const struct loaded *loaded)
{
    const struct view_subject subject = {
        &loaded->report, run__result(&loaded->run, &thread_times_analysis), duration__parse};
    const struct style style = {SCREEN_COLUMNS, terminal__colour(), terminal__unicode()};
    struct error error;
    struct view *view = view__new(&subject, &style);
    int code = browser__run(view, &error);
    view__free(view);
    return code < 0 ? failed(&error) : 0;
}

/* A longer trace takes seconds to read. */
#define LONG_TRACE_BYTES (1u << 20)

/* What is kept of the first screen stands there meanwhile. */
static void show_meanwhile(const char *directory, uint64_t trace_bytes)
{
    struct kept_print print = report__kept_summary(directory);
    char *text = trace_bytes >= LONG_TRACE_BYTES ? kept_print__text(&print) : NULL;
    if (text) {
        fputs(text, stdout);
        fflush(stdout);
    }
    free(text);
    kept_print__free(&print);
}

/* All that the view shows is found before it begins. */
static int analyse(struct loaded *loaded)
{
    int status = loaded__ask_profile(loaded, CLASSES_BY_STRUCTURE);
    if (status)
        return status;
    run__ask(&loaded->run, &findings_analysis, NULL);
    run__ask(&loaded->run, &thread_times_analysis, NULL);
    status = loaded__analyse(loaded);
    if (status)
        return status;
    loaded__predict(loaded, run__result(&loaded->run, &findings_analysis), 0);
    return 0;
}

static int view_of(const struct view_request *request)
{
    struct loaded loaded;
    struct error error;
    if (browser__check(&error) < 0) {
        say("%s", error.text);
        return EXIT_USAGE;
    }
    int status = loaded__open(request->directory, &loaded);
    if (status)
        return status;
    show_meanwhile(request->directory, loaded.report.trace_bytes);
    status = analyse(&loaded);
    status = status ? status : browse(&loaded);
    loaded__close(&loaded);
    return status;
}

static const struct option_row option_rows[] = {
    INPUT_ROW(struct view_request, directory),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct view_request request = {.directory = DEFAULT_TRACE};
    int status = options__read(self, argc, argv, &request);
    if (status == 0)
        status = options__end(self, argc, argv);
    return status ? status : view_of(&request);
}

const struct command command_view = {
    .name = "view",
    .summary = "browse what was found, and what threads did over time, on the terminal",
    .rows = option_rows,
    .operands = "",
    .run = run};
