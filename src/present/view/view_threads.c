/* Threads by time: a strip each, of cells that stand for what it did most of their time. */
#include "base/memory.h"
#include "base/text.h"
#include "present/report/report_parts.h"
#include "present/view/internal.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_LEAST 10u
#define LABEL_MOST 22u
#define LEGEND_ROWS_MOST 4u
#define SELECTED_ROWS 2u /* about the thread that is selected */
#define TOLD_FROM 0.005  /* of what is seen */

/* How a state looks: letters are read without colour. */
static const struct state_look {
    const char *sign, *ascii;
    const char *colour; /* select graphic rendition */
} looks[THREAD_STATES] = {
    [COMPONENT_LOCK] = {"L", "L", "1;31"},
    [COMPONENT_CONDITION] = {"C", "C", "33"},
    [COMPONENT_BARRIER] = {"B", "B", "35"},
    [COMPONENT_DISK] = {"D", "D", "34"},
    [COMPONENT_NETWORK] = {"N", "N", "36"},
    [COMPONENT_MESSAGE] = {"M", "M", "36"},
    [COMPONENT_SLEEP] = {"S", "S", "2"},
    [COMPONENT_PAGE_FAULT] = {"F", "F", "34"},
    [COMPONENT_RUNNABLE] = {"w", "w", "1;33"},
    [COMPONENT_OTHER_BLOCKED] = {"o", "o", "36"},
    [COMPONENT_OVERHEAD] = {"R", "R", "2"},
    [COMPONENT_RUNNING] = {"█", "#", "32"},
    [STATE_IDLE] = {"·", ".", "2"},
};

static const char *state_words(const struct view *view, unsigned state)
{
    return state == STATE_IDLE ? "idle"
                               : component__doing(view->subject.report, (enum component)state);
}

static unsigned label_columns(const struct view *view)
{
    unsigned quarter = view->style.columns / 4;
    return quarter < LABEL_LEAST ? LABEL_LEAST : quarter > LABEL_MOST ? LABEL_MOST : quarter;
}

static unsigned cells_of(const struct view *view)
{
    unsigned used = 2 + label_columns(view) + 1;
    return view->style.columns > used ? view->style.columns - used : 1;
}

/* ---- which time ------------------------------------------------------------------------------ */

/* A range of that length about the middle, within the run. */
static void set_range_about(const struct view *view, struct view_page *page, uint64_t middle_ns,
                            uint64_t length_ns)
{
    uint64_t begin_ns = view->subject.thread_times->begin_ns, least_ns = cells_of(view);
    uint64_t end_ns = view->subject.thread_times->end_ns, all_ns = end_ns - begin_ns;
    length_ns = length_ns < least_ns ? least_ns : length_ns;
    length_ns = length_ns > all_ns ? all_ns : length_ns;
    page->from_ns = middle_ns > begin_ns + length_ns / 2 ? middle_ns - length_ns / 2 : begin_ns;
    if (page->from_ns > end_ns - length_ns)
        page->from_ns = end_ns - length_ns;
    page->to_ns = page->from_ns + length_ns;
}

/* As far as the run has it; all of the run when it has nothing of it. */
static void set_range(const struct view *view, struct view_page *page, uint64_t from_ns,
                      uint64_t to_ns)
{
    uint64_t begin_ns = view->subject.thread_times->begin_ns;
    uint64_t end_ns = view->subject.thread_times->end_ns;
    bool has_any = from_ns < end_ns && to_ns > begin_ns;
    page->from_ns = has_any && from_ns > begin_ns ? from_ns : begin_ns;
    page->to_ns = has_any && to_ns < end_ns ? to_ns : end_ns;
}

/* ---- which threads --------------------------------------------------------------------------- */

static struct state_times whole_life(const struct view *view, uint32_t thread)
{
    const struct thread_times *thread_times = view->subject.thread_times;
    struct state_times times;
    thread_states__fill(&thread_times->threads[thread], 0, thread_times->end_ns, 1, &times);
    return times;
}

void thread_strips__note_states(struct view *view)
{
    const struct thread_times *thread_times = view->subject.thread_times;
    for (uint32_t i = 0; thread_times && i < thread_times->thread_count; i++) {
        struct state_times times = whole_life(view, i);
        for (unsigned state = 0; state < THREAD_STATES; state++)
            view->uses_state[state] |= times.ns[state] > 0;
    }
}

const char *thread_strips__order(unsigned sort)
{
    return sort ? "most waiting first" : "by number";
}

struct waiting_thread {
    uint64_t waiting_ns;
    uint32_t thread;
};

static int by_waiting(const void *left, const void *right)
{
    const struct waiting_thread *one = left, *other = right;
    int order = ORDER(other->waiting_ns, one->waiting_ns);
    return order ? order : ORDER(one->thread, other->thread);
}

static uint64_t waiting_ns(const struct view *view, uint32_t thread)
{
    struct state_times times = whole_life(view, thread);
    uint64_t ns = 0;
    for (unsigned state = 0; state < COMPONENT_OVERHEAD; state++)
        ns += times.ns[state];
    return ns;
}

static void sort_by_waiting(const struct view *view, struct vec *items)
{
    struct vec rows = VEC_OF(struct waiting_thread);
    VEC_EACH (thread, items, uint32_t) {
        const struct waiting_thread row = {waiting_ns(view, *thread), *thread};
        vec__push(&rows, &row);
    }
    vec__sort(&rows, by_waiting);
    for (size_t i = 0; i < rows.count; i++)
        *VEC_AT(items, uint32_t, i) = VEC_AT(&rows, struct waiting_thread, i)->thread;
    vec__free(&rows);
}

/* Those that had work, or had none. */
static struct vec threads_of(const struct view *view, bool had_work)
{
    struct vec threads = VEC_OF(uint32_t);
    for (uint32_t i = 0; i < view->subject.thread_times->thread_count; i++)
        if (view->subject.report->findings->had_work[i] == had_work && filter__has_thread(view, i))
            vec__push(&threads, &i);
    return threads;
}

static void append_all(struct vec *items, const struct vec *more)
{
    VEC_EACH (thread, more, uint32_t)
        vec__push(items, thread);
}

/* Who looks for a thread by its name sees it, idle or not. */
void thread_strips__fill(struct view *view, struct view_page *page)
{
    if (!view->subject.thread_times)
        return;
    struct vec workers = threads_of(view, true), idle = threads_of(view, false);
    if (page->sort) {
        sort_by_waiting(view, &workers);
        sort_by_waiting(view, &idle);
    }
    append_all(&page->items, &workers);
    if (idle.count && workers.count && !view->filter.thread)
        vec__push(&page->items, &(uint32_t){FOLDED_THREADS});
    if (!workers.count || view->filter.thread || page->is_unfolded)
        append_all(&page->items, &idle);
    vec__free(&workers);
    vec__free(&idle);
    if (page->to_ns)
        return;
    set_range(view, page, view->filter.from_ns, view->filter.to_ns);
}

void thread_strips__show(struct view *view, struct view_page *page,
                         const struct kept_occurrence *row)
{
    set_range_about(view, page, row->start_ns + row->duration_ns / 2, row->duration_ns * 2);
    page->is_unfolded = !view->subject.report->findings->had_work[row->thread];
    page__fill(view, page);
    for (size_t i = 0; i < page->items.count; i++)
        if (*VEC_AT(&page->items, uint32_t, i) == row->thread)
            page->selected = i;
}

static bool is_fold(const struct view_page *page, size_t item)
{
    return item < page->items.count && *VEC_AT(&page->items, uint32_t, item) == FOLDED_THREADS;
}

static void unfold(struct view *view, struct view_page *page)
{
    if (!is_fold(page, page->selected))
        return;
    page->is_unfolded = !page->is_unfolded;
    page__fill(view, page);
}

bool thread_strips__key(struct view *view, struct view_page *page, uint32_t key)
{
    if (!view->subject.thread_times)
        return false;
    uint64_t length_ns = page->to_ns - page->from_ns, middle_ns = page->from_ns + length_ns / 2;
    uint64_t step_ns = length_ns / 4 + 1;
    switch (key) {
    case '+':
    case '=':
    case VIEW_KEY_F1 + 7:
        set_range_about(view, page, middle_ns, length_ns / 2);
        return true;
    case '-':
    case VIEW_KEY_F1 + 6:
        set_range_about(view, page, middle_ns, length_ns * 2);
        return true;
    case 'l':
    case VIEW_KEY_RIGHT:
        set_range_about(view, page, middle_ns + step_ns, length_ns);
        return true;
    case 'h':
    case VIEW_KEY_LEFT:
        set_range_about(view, page, middle_ns > step_ns ? middle_ns - step_ns : 0, length_ns);
        return true;
    case '0':
        set_range(view, page, 0, UINT64_MAX);
        return true;
    case '\n':
        unfold(view, page);
        return true;
    default:
        return false;
    }
}

/* ---- a strip --------------------------------------------------------------------------------- */

/* THREAD_STATES: it did not live. */
static unsigned longest_state(const struct state_times *times)
{
    unsigned longest = THREAD_STATES;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        if (times->ns[state] && (longest == THREAD_STATES || times->ns[state] > times->ns[longest]))
            longest = state;
    return longest;
}

static void put_cell(const struct view *view, unsigned state, unsigned before, FILE *out)
{
    bool changes = view->style.colour && state != before;
    if (changes && before != THREAD_STATES)
        fputs("\x1b[0m", out);
    if (changes && state != THREAD_STATES)
        fprintf(out, "\x1b[%sm", looks[state].colour);
    if (state == THREAD_STATES)
        fputc(' ', out);
    else
        fputs(view->style.unicode ? looks[state].sign : looks[state].ascii, out);
}

static void put_strip(const struct view *view, const struct view_page *page, uint32_t thread,
                      FILE *out)
{
    unsigned cells = cells_of(view), before = THREAD_STATES;
    struct state_times *times = memory__zeroed(cells, sizeof *times);
    thread_states__fill(&view->subject.thread_times->threads[thread], page->from_ns, page->to_ns,
                        cells, times);
    for (unsigned i = 0; i < cells; i++) {
        unsigned state = longest_state(&times[i]);
        put_cell(view, state, before, out);
        before = state;
    }
    if (view->style.colour && before != THREAD_STATES)
        fputs("\x1b[0m", out);
    fputc('\n', out);
    free(times);
}

static char *folded_text(const struct view *view)
{
    char *names = left_out__text(view->subject.report, &view->style);
    char *text = memory__format("idle: %s", names);
    free(names);
    return text;
}

static void put_row(const struct view *view, const struct view_page *page, size_t item, FILE *out)
{
    const char *mark = item == page->selected ? ">" : " ";
    uint32_t thread = *VEC_AT(&page->items, uint32_t, item);
    if (thread == FOLDED_THREADS) {
        char *text = text__fit(folded_text(view), view->style.columns - 2, view->style.unicode);
        fprintf(out, "%s%c%s\n", mark, page->is_unfolded ? '-' : '+', text);
        free(text);
        return;
    }
    char *label =
        text__fit(view__thread_name(view, thread), label_columns(view), view->style.unicode);
    fprintf(out, "%s %s ", mark, label);
    put_strip(view, page, thread, out);
    free(label);
}

/* ---- what stands around them ----------------------------------------------------------------- */

#define NS_FROM 1000000u /* what is seen is so short that ns are told */

/* Seconds since the start. free() it. */
static char *moment_text(const struct view_page *page, uint64_t ns)
{
    int digits = page->to_ns - page->from_ns < NS_FROM ? 9 : 6;
    return memory__format("%.*f s", digits, (double)ns / 1e9);
}

/* What does not fit between the two ends is left out. */
static void put_axis(const struct view *view, const struct view_page *page, FILE *out)
{
    char each[16];
    unsigned cells = cells_of(view);
    char *from = moment_text(page, page->from_ns), *to = moment_text(page, page->to_ns);
    char *cell =
        memory__format("a cell: %s", duration__format((page->to_ns - page->from_ns) / cells, each));
    unsigned ends = text__width(from) + text__width(to), width = text__width(cell);
    bool fits = cells >= ends + width + 2;
    unsigned gap = fits ? (cells - ends - width) / 2 : cells > ends ? cells - ends : 1;
    fprintf(out, "  %*s %s%*s%s", (int)label_columns(view), "", from, (int)gap, "",
            fits ? cell : "");
    fprintf(out, "%*s%s\n", fits ? (int)(cells - ends - width - gap) : 0, "", to);
    free(cell);
    free(from);
    free(to);
}

static void put_legend(const struct view *view, FILE *out)
{
    struct flow flow = flow__start(&view->style, out, 2);
    fputs("  ", out);
    flow.column = 2;
    for (unsigned left = THREAD_STATES; left-- > 0;) {
        unsigned state = left == STATE_IDLE          ? COMPONENT_RUNNING
                         : left == COMPONENT_RUNNING ? STATE_IDLE
                                                     : left;
        if (!view->uses_state[state])
            continue;
        char *piece =
            memory__format("%s %s", view->style.unicode ? looks[state].sign : looks[state].ascii,
                           state_words(view, state));
        flow__add(&flow, piece, INK_PLAIN, 3);
        free(piece);
    }
    flow__end(&flow);
}

static unsigned legend_rows(const struct view *view)
{
    struct line_writer writer;
    struct vec lines = VEC_OF(struct view_line);
    lines__begin(&writer);
    put_legend(view, writer.out);
    lines__end(&writer, &lines, NO_ITEM);
    size_t rows = lines.count;
    lines__free(&lines);
    return rows < LEGEND_ROWS_MOST ? (unsigned)rows : LEGEND_ROWS_MOST;
}

unsigned thread_strips__rows(const struct view *view)
{
    unsigned body = view__body_rows(view), used = 1 + SELECTED_ROWS + legend_rows(view);
    return body > used ? body - used : 1;
}

/* ", waiting for a lock 51 %", the most first. Takes over text. */
static char *append_states(const struct view *view, struct state_times times, char *text)
{
    char percent[16];
    double all_ns = 0;
    for (unsigned state = 0; state < THREAD_STATES; state++)
        all_ns += (double)times.ns[state];
    if (all_ns == 0)
        return text__append(text, "it did not live then");
    for (unsigned state, told = 0; (state = longest_state(&times)) < THREAD_STATES; told++) {
        double share = (double)times.ns[state] / all_ns;
        times.ns[state] = 0;
        if (told && share < TOLD_FROM)
            break;
        text = text__append(text, "%s%s %s", told ? ", " : "", state_words(view, state),
                            share__format(share, percent));
    }
    return text;
}

static char *selected_text(const struct view *view, const struct view_page *page)
{
    struct state_times times;
    uint32_t thread = *VEC_AT(&page->items, uint32_t, page->selected);
    if (thread == FOLDED_THREADS)
        return folded_text(view);
    thread_states__fill(&view->subject.thread_times->threads[thread], page->from_ns, page->to_ns, 1,
                        &times);
    char *name = view__thread_name(view, thread);
    char *text = append_states(view, times, memory__format("%s: ", name));
    free(name);
    return text;
}

/* What the selected one did with all of the time that is seen. */
static void put_selected(const struct view *view, const struct view_page *page, FILE *out)
{
    struct line_writer writer;
    struct vec lines = VEC_OF(struct view_line);
    lines__begin(&writer);
    paragraph__take(&view->style, writer.out, "  ", selected_text(view, page));
    lines__end(&writer, &lines, NO_ITEM);
    for (size_t i = 0; i < SELECTED_ROWS; i++)
        fprintf(out, "%s\n", i < lines.count ? VEC_AT(&lines, struct view_line, i)->text : "");
    lines__free(&lines);
}

void thread_strips__put(const struct view *view, const struct view_page *page, FILE *out)
{
    if (!view->subject.thread_times || !page->items.count) {
        fputs(view->subject.thread_times
                  ? "  The filter lets no thread through.\n"
                  : "  The run was recorded with --aggregate, which keeps no order of events.\n",
              out);
        return;
    }
    unsigned rows = thread_strips__rows(view);
    put_axis(view, page, out);
    for (size_t i = 0; i < rows; i++) {
        if (page->top + i < page->items.count)
            put_row(view, page, page->top + i, out);
        else
            fputc('\n', out);
    }
    put_selected(view, page, out);
    put_legend(view, out);
}
