#include "cmd/report_page.h"

#include "analysis/findings/wall_gains.h"
#include "analysis/timeline/long_functions.h"
#include "cmd/command.h"
#include "cmd/html_file.h"
#include "cmd/whatif_session.h"
#include "present/html/html.h"

static void put_page(const void *subject, FILE *out)
{
    html__put(subject, out);
}

/* Events that are replayed for a page, for each question. */
#define PAGE_REPLAYED_MOST 1000000u

/* Valid as long as the session. */
static struct whatif_view answer_for_page(struct whatif_session *session)
{
    whatif_session__ask_about_all(session, false);
    whatif_session__ask_about_splits(session);
    whatif_session__answer(session);
    return whatif_session__view(session);
}

/* What is drawn of memory is asked for where a finding is about it. */
static int analyse_memory(struct loaded *loaded)
{
    const struct findings *findings = run__result(&loaded->run, &findings_analysis);
    size_t shared = 0;
    if (findings)
        VEC_EACH (finding, &findings->rows, const struct finding)
            shared += finding->sharing != NULL;
    if (!shared)
        return 0;
    run__ask(&loaded->run, &memory_analysis, NULL);
    return loaded__analyse(loaded);
}

int report_page__write(struct loaded *loaded, const char *directory, const char *path)
{
    static const struct locks_filter everything;
    run__ask(&loaded->run, &findings_analysis, NULL);
    run__ask(&loaded->run, &timeline_analysis, NULL);
    run__ask(&loaded->run, &long_functions_analysis, NULL);
    if (!trace__is_aggregated(loaded->trace)) {
        run__ask(&loaded->run, &locks_analysis, &everything);
        run__ask(&loaded->run, &iterations_analysis, NULL);
    }
    int status = loaded__analyse(loaded);
    status = status ? status : analyse_memory(loaded);
    if (status)
        return status;
    loaded__predict(loaded, run__result(&loaded->run, &findings_analysis), 0);
    struct html_page page = {.report = &loaded->report,
                             .locks = run__result(&loaded->run, &locks_analysis),
                             .iterations = run__result(&loaded->run, &iterations_analysis),
                             .timeline = run__result(&loaded->run, &timeline_analysis),
                             .memory = run__result(&loaded->run, &memory_analysis)};
    struct whatif_session session;
    struct whatif_view answers;
    struct error error;
    bool is_answered =
        whatif_session__open(&session, &loaded->report, PAGE_REPLAYED_MOST, &error) == 0;
    if (is_answered) {
        answers = answer_for_page(&session);
        page.whatif = &answers;
    }
    status = html_file__write(directory, path, put_page, &page);
    if (is_answered)
        whatif_session__close(&session);
    return status;
}
