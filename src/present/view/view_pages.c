/* What stands on the pages of a view, but for threads by time. */
#include "base/memory.h"
#include "base/text.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/view/internal.h"

#include <stdlib.h>
#include <string.h>

#define THREAD_COLUMNS 22
#define OCCURRENCES_SHOWN 2000u /* of all classes of a finding */

static const struct report *report_of(const struct view *view)
{
    return view->subject.report;
}

/* ---- findings -------------------------------------------------------------------------------- */

static const struct finding *finding_at(const void *item)
{
    return *(const struct finding *const *)item;
}

/* As they are told: by what they cost. */
static int by_lost(const void *left, const void *right)
{
    return ORDER(finding_at(left), finding_at(right));
}

static int by_gain(const void *left, const void *right)
{
    const double *one = finding_at(left)->wall_gain, *other = finding_at(right)->wall_gain;
    int order = ORDER(other[1], one[1]);
    return order ? order : by_lost(left, right);
}

static int by_category(const void *left, const void *right)
{
    int order = ORDER(finding_at(left)->category, finding_at(right)->category);
    return order ? order : by_lost(left, right);
}

static const struct {
    const char *words;
    int (*order)(const void *, const void *);
} finding_orders[] = {{"by time lost", by_lost}, {"by gain", by_gain}, {"by kind", by_category}};

static void put_head(struct view *view, struct view_page *page)
{
    const struct report *report = report_of(view);
    struct line_writer writer;
    lines__begin(&writer);
    text__head(report, &view->style, writer.out);
    fputc('\n', writer.out);
    if (report->profile->events) {
        text__verdict(report, &view->style, writer.out);
        fputc('\n', writer.out);
    } else {
        fputs("  Nothing was recorded.\n", writer.out);
    }
    if (page->items.count)
        text__findings_titles(&view->style, writer.out);
    else if (filter__is_on(view))
        fputs("  The filter lets no finding through.\n", writer.out);
    lines__end(&writer, &page->lines, NO_ITEM);
}

/* Its place among the ranked ones, from 1; 0: it is none of these. */
static size_t rank_of(const struct view *view, const struct finding *finding)
{
    const struct finding *first = report_of(view)->findings->rows.items;
    return finding->ranked ? (size_t)(finding - first) + 1 : 0;
}

static void fill_findings(struct view *view, struct view_page *page)
{
    const struct report *report = report_of(view);
    struct line_writer writer;
    VEC_EACH (finding, &report->findings->rows, const struct finding)
        if (finding__is_shown(finding) && filter__has_finding(view, finding))
            vec__push(&page->items, &finding);
    vec__sort(&page->items, finding_orders[page->sort].order);
    put_head(view, page);
    for (size_t i = 0; i < page->items.count; i++) {
        const struct finding *finding = *VEC_AT(&page->items, const struct finding *, i);
        lines__begin(&writer);
        text__finding_brief(report, finding, rank_of(view, finding), &view->style, writer.out);
        lines__end(&writer, &page->lines, i);
    }
    lines__begin(&writer);
    text__findings_rest(report, &view->style, writer.out);
    text__roles(report, &view->style, writer.out);
    text__ignored(report, &view->style, writer.out);
    text__sampled(report, &view->style, writer.out);
    text__warnings(report, &view->style, writer.out);
    lines__end(&writer, &page->lines, NO_ITEM);
}

/* ---- one finding ----------------------------------------------------------------------------- */

static void fill_finding(struct view *view, struct view_page *page)
{
    const struct finding *first = report_of(view)->findings->rows.items;
    struct line_writer writer;
    lines__begin(&writer);
    text__one_finding(report_of(view), (size_t)(page->finding - first) + 1, &view->style,
                      writer.out);
    lines__end(&writer, &page->lines, NO_ITEM);
}

/* "pthread_mutex_lock in queue__append queue.c:44". free() it. */
static char *class_text(const struct view *view, uint32_t place)
{
    char unknown[32];
    const struct profile_class *class = view__class(view, place);
    struct place where = place__of_class(report_of(view), &class->what, unknown);
    char *text = place__text(&where);
    if (class__is_hooked(&class->what)) {
        char *all = memory__format("%s in %s", class->what.at.function, text);
        free(text);
        text = all;
    }
    return text;
}

static void fill_stacks(struct view *view, struct view_page *page)
{
    struct line_writer writer;
    lines__begin(&writer);
    VEC_EACH (place, &page->finding->classes, uint32_t) {
        const struct profile_class *class = view__class(view, *place);
        char *lead = memory__format("class %u: ", *place + 1);
        paragraph__take(&view->style, writer.out, lead, class_text(view, *place));
        class_stacks__put(report_of(view), class, SIZE_MAX, &view->style, writer.out);
        if (!class->what.stacks.count)
            fputs("  No call stack was taken.\n", writer.out);
        fputc('\n', writer.out);
        free(lead);
    }
    if (!page->finding->classes.count)
        fputs("  No call stacks: this finding is of threads, not of a place in the code.\n",
              writer.out);
    lines__end(&writer, &page->lines, NO_ITEM);
}

/* ---- occurrences ----------------------------------------------------------------------------- */

static const struct kept_occurrence *row_at(const void *item)
{
    return ((const struct occurrence_item *)item)->row;
}

static int by_time(const void *left, const void *right)
{
    int order = ORDER(row_at(left)->start_ns, row_at(right)->start_ns);
    return order ? order : ORDER(row_at(left)->thread, row_at(right)->thread);
}

static int by_duration(const void *left, const void *right)
{
    int order = ORDER(row_at(right)->duration_ns, row_at(left)->duration_ns);
    return order ? order : by_time(left, right);
}

static int by_thread(const void *left, const void *right)
{
    int order = ORDER(row_at(left)->thread, row_at(right)->thread);
    return order ? order : by_time(left, right);
}

static const struct {
    const char *words;
    int (*order)(const void *, const void *);
} occurrence_orders[] = {
    {"by duration", by_duration}, {"by time", by_time}, {"by thread", by_thread}};

/* How many there were in the run. */
static uint64_t take_occurrences(const struct view *view, struct view_page *page)
{
    const struct thread_times *thread_times = view->subject.thread_times;
    uint64_t all = 0;
    VEC_EACH (place, &page->finding->classes, uint32_t) {
        all += view__class(view, *place)->count;
        VEC_EACH (row, &thread_times->longest[*place], const struct kept_occurrence) {
            const struct occurrence_item item = {row, *place};
            if (filter__has_occurrence(view, &item))
                vec__push(&page->items, &item);
        }
    }
    vec__sort(&page->items, by_duration);
    if (page->items.count > OCCURRENCES_SHOWN)
        page->items.count = OCCURRENCES_SHOWN;
    vec__sort(&page->items, occurrence_orders[page->sort].order);
    return all;
}

static void put_occurrence(const struct view *view, const struct occurrence_item *item, FILE *out)
{
    char duration[16];
    unsigned columns = view->style.columns, used = 2 + 10 + 2 + 10 + 2 + THREAD_COLUMNS + 2;
    char *thread =
        text__fit(view__thread_name(view, item->row->thread), THREAD_COLUMNS, view->style.unicode);
    char *where = text__fit(class_text(view, item->class), columns > used ? columns - used : 0,
                            view->style.unicode);
    fprintf(out, "  %10.6f  %10s  %s  %s\n", (double)item->row->start_ns / 1e9,
            duration__format(item->row->duration_ns, duration), thread, where);
    free(thread);
    free(where);
}

static void put_occurrences_head(const struct view *view, const struct view_page *page,
                                 uint64_t all, FILE *out)
{
    char shown[32], every[32];
    if (!view->subject.thread_times) {
        fputs("  The run was recorded with --aggregate, which keeps no single occurrences.\n", out);
        return;
    }
    count__format(page->items.count, shown);
    count__format(all, every);
    paragraph__take(&view->style, out, "  ",
                    page->items.count == 0 && filter__is_on(view)
                        ? memory__format("The filter lets no occurrence of %s through.", every)
                    : page->items.count == 0
                        ? memory__text("Its occurrences are not kept one by one.")
                        : memory__format("The %s longest of %s occurrences. Enter shows what "
                                         "threads did then.",
                                         shown, every));
    if (page->items.count)
        ink__put(&view->style, out, INK_DIM, "\n      at (s)        took  thread");
    fputc('\n', out);
}

static void fill_occurrences(struct view *view, struct view_page *page)
{
    struct line_writer writer;
    uint64_t all = view->subject.thread_times ? take_occurrences(view, page) : 0;
    lines__begin(&writer);
    put_occurrences_head(view, page, all, writer.out);
    lines__end(&writer, &page->lines, NO_ITEM);
    for (size_t i = 0; i < page->items.count; i++) {
        lines__begin(&writer);
        put_occurrence(view, VEC_AT(&page->items, struct occurrence_item, i), writer.out);
        lines__end(&writer, &page->lines, i);
    }
}

/* ---- help ------------------------------------------------------------------------------------ */

static const char *const help[] = {
    "Everywhere",
    "  Up Down j k          one line, or one row of a list",
    "  PgUp PgDn b Space    one screen",
    "  Home End g G         to the begin, to the end",
    "  Enter Right          into what is selected: finding, call stacks,",
    "                       occurrences, threads",
    "  q Backspace Left     back; on the findings q ends",
    "  F10 Q                end",
    "  / F3, n, N           search; the next one, the one before",
    "  f F4                 filter: thread=NAME function=NAME from=1.2s to=1.5s,",
    "                       or some of these; nothing: all is shown (^U erases)",
    "  s F6                 sort by something else",
    "  t F2                 threads by time",
    "  c F5                 call stacks of the finding",
    "  o F9                 occurrences of the finding",
    "  ? h F1               this page",
    "",
    "Threads by time",
    "  + F8, - F7           see less time, see more",
    "  Left Right           earlier, later",
    "  0                    the whole run",
    "  Enter                on a row of idle threads: one by one, or together",
    "",
    "A cell has the letter of what the thread did most of that time; the line",
    "below the threads has what the selected one did with all of it.",
    "heurt report has the same findings, heurt locks more about locks.",
};

static void fill_help(struct view *view, struct view_page *page)
{
    (void)view;
    for (size_t i = 0; i < sizeof help / sizeof help[0]; i++) {
        const struct view_line line = {memory__text(help[i]), NO_ITEM};
        vec__push(&page->lines, &line);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define ORDERS(orders) (sizeof(orders) / sizeof(orders)[0])

unsigned page__orders(const struct view_page *page)
{
    return page->kind == PAGE_FINDINGS      ? ORDERS(finding_orders)
           : page->kind == PAGE_OCCURRENCES ? ORDERS(occurrence_orders)
           : page->kind == PAGE_THREADS     ? 2
                                            : 0;
}

static const char *order_of(const struct view_page *page)
{
    return page->kind == PAGE_FINDINGS      ? finding_orders[page->sort].words
           : page->kind == PAGE_OCCURRENCES ? occurrence_orders[page->sort].words
                                            : thread_strips__order(page->sort);
}

char *page__title(const struct view *view, const struct view_page *page)
{
    static const char *const names[PAGES] = {
        [PAGE_FINDINGS] = "findings",       [PAGE_FINDING] = "finding",
        [PAGE_STACKS] = "call stacks",      [PAGE_OCCURRENCES] = "occurrences",
        [PAGE_THREADS] = "threads by time", [PAGE_HELP] = "help"};
    char *title = memory__text(names[page->kind]);
    size_t rank = page->finding ? rank_of(view, page->finding) : 0;
    if (rank)
        title = text__append(title, page->kind == PAGE_FINDING ? " %zu" : " of finding %zu", rank);
    return page__orders(page) ? text__append(title, ", %s", order_of(page)) : title;
}

void page__free(struct view_page *page)
{
    lines__free(&page->lines);
    vec__free(&page->items);
}

void page__fill(struct view *view, struct view_page *page)
{
    static void (*const fill[PAGES])(struct view *, struct view_page *) = {
        [PAGE_FINDINGS] = fill_findings,      [PAGE_FINDING] = fill_finding,
        [PAGE_STACKS] = fill_stacks,          [PAGE_OCCURRENCES] = fill_occurrences,
        [PAGE_THREADS] = thread_strips__fill, [PAGE_HELP] = fill_help};
    page__free(page);
    page->lines = VEC_OF(struct view_line);
    page->items = page->kind == PAGE_FINDINGS      ? VEC_OF(const struct finding *)
                  : page->kind == PAGE_OCCURRENCES ? VEC_OF(struct occurrence_item)
                                                   : VEC_OF(uint32_t);
    page->found = NO_ITEM;
    fill[page->kind](view, page);
    if (page->selected >= page->items.count)
        page->selected = page->items.count ? page->items.count - 1 : 0;
}
