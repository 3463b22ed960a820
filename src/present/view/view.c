/* The pages that lie on one another, their keys, the line at which is typed. */
#include "present/view/view.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/report/report_parts.h"
#include "present/view/internal.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_LEAST 8u
#define COLUMNS_LEAST 40u
#define TYPED_MOST 200u
#define CONTROL_U 21u
#define ESCAPE 27u

static struct view_page *current_page(const struct view *view)
{
    return VEC_AT(&view->pages, struct view_page, view->pages.count - 1);
}

unsigned view__body_rows(const struct view *view)
{
    return view->rows - 3;
}

const struct profile_class *view__class(const struct view *view, uint32_t place)
{
    return VEC_AT(&view->subject.report->profile->classes, struct profile_class, place);
}

char *view__role_name(const struct view *view, uint32_t thread)
{
    const struct findings *findings = view->subject.report->findings;
    return role__bare_name(VEC_AT(&findings->roles, struct role, findings->roles_of[thread]));
}

/* Threads that were given names have numbers in them, which a role has not. */
char *view__thread_name(const struct view *view, uint32_t thread)
{
    const struct trace_thread *row = trace__thread_at(view->subject.report->trace, thread);
    const struct findings *findings = view->subject.report->findings;
    const struct role *role = VEC_AT(&findings->roles, struct role, findings->roles_of[thread]);
    char *name = role->name ? memory__text(row->name) : view__role_name(view, thread);
    char *text = memory__format(name ? "%u %s" : "thread %u", row->tid, name);
    free(name);
    return text;
}

static bool is_by_rows(const struct view_page *page)
{
    return page->kind == PAGE_THREADS;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static struct view_page *open_page(struct view *view, enum page_kind kind,
                                   const struct finding *finding)
{
    const struct view_page page = {.kind = kind, .finding = finding, .found = NO_ITEM};
    struct view_page *opened = vec__push(&view->pages, &page);
    page__fill(view, opened);
    return opened;
}

struct view *view__new(const struct view_subject *subject, const struct style *style)
{
    struct view *view = memory__zeroed(1, sizeof *view);
    view->subject = *subject;
    view->style = *style;
    view->rows = 24;
    view->filter.to_ns = UINT64_MAX;
    view->pages = VEC_OF(struct view_page);
    view->typed = memory__text("");
    view->search = memory__text("");
    view->message = memory__text("");
    thread_strips__note_states(view);
    open_page(view, PAGE_FINDINGS, NULL);
    return view;
}

void view__free(struct view *view)
{
    VEC_EACH (page, &view->pages, struct view_page)
        page__free(page);
    vec__free(&view->pages);
    filter__free(&view->filter);
    free(view->typed);
    free(view->search);
    free(view->message);
    free(view);
}

static void say(struct view *view, char *message)
{
    free(view->message);
    view->message = message;
}

static void refill(struct view *view)
{
    VEC_EACH (page, &view->pages, struct view_page)
        page__fill(view, page);
}

/* ---- where one is on a page ------------------------------------------------------------------ */

/* How many lines, or rows of threads, are seen at a time, and are there. */
static size_t seen_lines(const struct view *view, const struct view_page *page)
{
    return is_by_rows(page) ? thread_strips__rows(view) : view__body_rows(view);
}

static size_t all_lines(const struct view_page *page)
{
    return is_by_rows(page) ? page->items.count : page->lines.count;
}

static size_t first_line_of(const struct view_page *page, size_t item)
{
    size_t line = 0;
    while (!is_by_rows(page) && line < page->lines.count &&
           VEC_AT(&page->lines, struct view_line, line)->item != item)
        line++;
    return is_by_rows(page) ? item : line;
}

static size_t last_line_of(const struct view_page *page, size_t item)
{
    size_t line = first_line_of(page, item);
    while (!is_by_rows(page) && line + 1 < page->lines.count &&
           VEC_AT(&page->lines, struct view_line, line + 1)->item == item)
        line++;
    return line;
}

static void set_top(const struct view *view, struct view_page *page, size_t top)
{
    size_t all = all_lines(page), seen = seen_lines(view, page);
    size_t most = all > seen ? all - seen : 0;
    page->top = top < most ? top : most;
}

/* Lines from first to last are seen; first rather than last. */
static void show_lines(const struct view *view, struct view_page *page, size_t first, size_t last)
{
    size_t seen = seen_lines(view, page), top = page->top;
    if (last >= top + seen)
        top = last + 1 - seen;
    if (first < top)
        top = first;
    set_top(view, page, top);
}

/* What stands above the first item and below the last one is seen with them. */
static void select_item(const struct view *view, struct view_page *page, size_t item)
{
    page->selected = item < page->items.count ? item : page->items.count - 1;
    size_t first = page->selected ? first_line_of(page, page->selected) : 0;
    size_t last = last_line_of(page, page->selected);
    show_lines(view, page, first, last);
}

void view__resize(struct view *view, unsigned rows, unsigned columns)
{
    view->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows;
    view->style.columns = columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns;
    refill(view);
    VEC_EACH (page, &view->pages, struct view_page) {
        if (page->items.count)
            select_item(view, page, page->selected);
        else
            set_top(view, page, page->top);
    }
}

/* By so many items, or lines where there are none; what stands below the last item can be read. */
static void move(struct view *view, struct view_page *page, long by)
{
    bool down = by > 0;
    size_t steps = (size_t)(down ? by : -by);
    if (!page->items.count) {
        set_top(view, page,
                down ? page->top + steps : page->top - (page->top < steps ? page->top : steps));
        return;
    }
    size_t from = page->selected;
    if (down && from + 1 == page->items.count)
        set_top(view, page, page->top + steps);
    else
        select_item(view, page, down ? from + steps : from - (from < steps ? from : steps));
}

static void move_to_end(struct view *view, struct view_page *page)
{
    if (page->items.count)
        select_item(view, page, page->items.count - 1);
    set_top(view, page, SIZE_MAX);
}

/* A screen of items: about as many as are seen. */
static long page_step(const struct view *view, const struct view_page *page)
{
    size_t seen = seen_lines(view, page), lines = page->lines.count;
    if (page->items.count && !is_by_rows(page) && lines)
        seen = seen * page->items.count / lines;
    return seen > 1 ? (long)seen - 1 : 1;
}

static bool moves(struct view *view, struct view_page *page, uint32_t key)
{
    switch (key) {
    case 'j':
    case VIEW_KEY_DOWN:
        move(view, page, 1);
        return true;
    case 'k':
    case VIEW_KEY_UP:
        move(view, page, -1);
        return true;
    case ' ':
    case VIEW_KEY_PAGE_DOWN:
        move(view, page, page_step(view, page));
        return true;
    case 'b':
    case VIEW_KEY_PAGE_UP:
        move(view, page, -page_step(view, page));
        return true;
    case 'g':
    case '<':
    case VIEW_KEY_HOME:
        page->selected = 0;
        set_top(view, page, 0);
        return true;
    case 'G':
    case '>':
    case VIEW_KEY_END:
        move_to_end(view, page);
        return true;
    default:
        return false;
    }
}

/* ---- searching ------------------------------------------------------------------------------- */

/* What a search sees: of threads what stands before their strips. */
static char *line_text(const struct view *view, const struct view_page *page, size_t line)
{
    if (!is_by_rows(page))
        return memory__text(VEC_AT(&page->lines, struct view_line, line)->text);
    uint32_t thread = *VEC_AT(&page->items, uint32_t, line);
    if (thread == FOLDED_THREADS)
        return left_out__text(view->subject.report, &view->style);
    return view__thread_name(view, thread);
}

static void go_to_line(struct view *view, struct view_page *page, size_t line)
{
    size_t item = is_by_rows(page) ? line : VEC_AT(&page->lines, struct view_line, line)->item;
    page->found = line;
    if (item != NO_ITEM)
        select_item(view, page, item);
    show_lines(view, page, line, line);
}

/* Where the search goes on from. */
static size_t current_line(const struct view_page *page)
{
    if (page->found != NO_ITEM)
        return page->found;
    return page->items.count ? first_line_of(page, page->selected) : page->top;
}

/* The next line that has it, around the end; is_back: the one before. is_here: this one will do. */
static void search(struct view *view, struct view_page *page, bool is_back, bool is_here)
{
    size_t all = all_lines(page), from = current_line(page);
    bool has = false;
    for (size_t i = is_here ? 0 : 1; *view->search && !has && i <= all; i++) {
        size_t line = (is_back ? from + 2 * all - i : from + i) % (all ? all : 1);
        char *text = all ? line_text(view, page, line) : memory__text("");
        has = line__has(text, view->search);
        free(text);
        if (has)
            go_to_line(view, page, line);
    }
    if (!*view->search)
        say(view, memory__text("Nothing was searched for yet: / searches."));
    else if (!has)
        say(view, memory__format("Nothing here has '%s'.", view->search));
}

/* ---- the prompt ------------------------------------------------------------------------------ */

static void begin_prompt(struct view *view, enum view_prompt prompt, const char *typed)
{
    view->prompt = prompt;
    free(view->typed);
    view->typed = typed && *typed ? memory__format("%s ", typed) : memory__text("");
}

static void take_typed(struct view *view)
{
    char *sentence = NULL;
    if (view->prompt == PROMPT_SEARCH) {
        free(view->search);
        view->search = memory__text(view->typed);
        current_page(view)->found = NO_ITEM;
        search(view, current_page(view), false, true);
    } else if (filter__read(&view->filter, &view->subject, view->typed, &sentence)) {
        VEC_EACH (page, &view->pages, struct view_page)
            page->from_ns = page->to_ns = page->top = 0;
        refill(view);
    } else {
        say(view, sentence);
    }
}

static size_t put_utf8(char *to, uint32_t point)
{
    size_t bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes; i-- > 1; point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(first[bytes] | point);
    to[bytes] = 0;
    return bytes;
}

static void type(struct view *view, uint32_t key)
{
    char character[5];
    if (key < 0x20 || key == 0x7f || key >= VIEW_KEY_UP || strlen(view->typed) >= TYPED_MOST)
        return;
    put_utf8(character, key);
    view->typed = text__append(view->typed, "%s", character);
}

static void erase(struct view *view)
{
    size_t bytes = text__bytes_of_columns(view->typed, text__width(view->typed) - 1);
    if (!*view->typed)
        view->prompt = PROMPT_NONE;
    else
        view->typed[bytes] = 0;
}

static void prompt_key(struct view *view, uint32_t key)
{
    if (key == '\n') {
        take_typed(view);
        view->prompt = PROMPT_NONE;
    } else if (key == ESCAPE) {
        view->prompt = PROMPT_NONE;
    } else if (key == VIEW_KEY_BACKSPACE) {
        erase(view);
    } else if (key == CONTROL_U) {
        *view->typed = 0;
    } else {
        type(view, key);
    }
}

/* ---- from page to page ----------------------------------------------------------------------- */

/* Of the page, or the one that is selected on it; NULL: there is none. */
static const struct finding *current_finding(const struct view *view)
{
    for (size_t i = view->pages.count; i-- > 0;) {
        const struct view_page *page = VEC_AT(&view->pages, struct view_page, i);
        if (page->finding)
            return page->finding;
        if (page->kind == PAGE_FINDINGS && page->items.count)
            return *VEC_AT(&page->items, const struct finding *, page->selected);
    }
    return NULL;
}

static bool go_back(struct view *view)
{
    if (view->pages.count == 1)
        return false;
    page__free(current_page(view));
    view->pages.count--;
    return true;
}

/* A page of that kind that lies below is come back to. */
static void go_to(struct view *view, enum page_kind kind)
{
    const struct finding *finding = current_finding(view);
    bool is_of_finding = kind == PAGE_FINDING || kind == PAGE_STACKS || kind == PAGE_OCCURRENCES;
    if (is_of_finding && !finding) {
        say(view, memory__text("There is no finding here: t shows threads by time."));
        return;
    }
    for (size_t i = 0; i < view->pages.count; i++) {
        const struct view_page *page = VEC_AT(&view->pages, struct view_page, i);
        if (page->kind != kind || (is_of_finding && page->finding != finding))
            continue;
        while (view->pages.count > i + 1)
            go_back(view);
        return;
    }
    open_page(view, kind, is_of_finding ? finding : NULL);
}

static void show_occurrence(struct view *view, const struct view_page *page)
{
    if (!page->items.count)
        return;
    const struct kept_occurrence *row =
        VEC_AT(&page->items, struct occurrence_item, page->selected)->row;
    go_to(view, PAGE_THREADS);
    thread_strips__show(view, current_page(view), row);
    select_item(view, current_page(view), current_page(view)->selected);
}

static void enter(struct view *view, const struct view_page *page)
{
    if (page->kind == PAGE_FINDINGS)
        go_to(view, PAGE_FINDING);
    else if (page->kind == PAGE_FINDING)
        go_to(view, PAGE_STACKS);
    else if (page->kind == PAGE_STACKS)
        go_to(view, PAGE_OCCURRENCES);
    else if (page->kind == PAGE_OCCURRENCES)
        show_occurrence(view, page);
}

static void sort(struct view *view, struct view_page *page)
{
    unsigned orders = page__orders(page);
    if (!orders) {
        say(view, memory__text("Nothing is sorted here."));
        return;
    }
    page->sort = (page->sort + 1) % orders;
    page->selected = 0;
    page__fill(view, page);
    set_top(view, page, 0);
}

static bool goes_somewhere(struct view *view, struct view_page *page, uint32_t key)
{
    switch (key) {
    case '\n':
    case VIEW_KEY_RIGHT:
        enter(view, page);
        return true;
    case '?':
    case 'h':
    case VIEW_KEY_F1:
        go_to(view, PAGE_HELP);
        return true;
    case 't':
    case VIEW_KEY_F1 + 1:
        go_to(view, PAGE_THREADS);
        return true;
    case 'c':
    case VIEW_KEY_F1 + 4:
        go_to(view, PAGE_STACKS);
        return true;
    case 'o':
    case VIEW_KEY_F1 + 8:
        go_to(view, PAGE_OCCURRENCES);
        return true;
    default:
        return false;
    }
}

static void other_key(struct view *view, struct view_page *page, uint32_t key)
{
    switch (key) {
    case '/':
    case VIEW_KEY_F1 + 2:
        begin_prompt(view, PROMPT_SEARCH, NULL);
        break;
    case 'n':
    case 'N':
        search(view, page, key == 'N', false);
        break;
    case 'f':
    case VIEW_KEY_F1 + 3:
        begin_prompt(view, PROMPT_FILTER, view->filter.text);
        break;
    case 's':
    case VIEW_KEY_F1 + 5:
        sort(view, page);
        break;
    default:
        break;
    }
}

bool view__key(struct view *view, uint32_t key)
{
    struct view_page *page = current_page(view);
    say(view, memory__text(""));
    if (view->prompt != PROMPT_NONE) {
        prompt_key(view, key);
        return true;
    }
    if (key == 'Q' || key == VIEW_KEY_F10)
        return false;
    if (page->kind == PAGE_THREADS && thread_strips__key(view, page, key))
        return true;
    if (key == 'q' || key == ESCAPE || key == VIEW_KEY_BACKSPACE || key == VIEW_KEY_LEFT)
        return go_back(view) || key != 'q';
    if (moves(view, page, key))
        page->found = NO_ITEM;
    else if (!goes_somewhere(view, page, key))
        other_key(view, page, key);
    return true;
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef void (*put_row)(void *screen, unsigned row, const char *text, bool is_marked);

/* Takes over text. */
static void put_bar(const struct view *view, put_row put, void *screen, unsigned row, char *text)
{
    text = text__fit(text, view->style.columns, view->style.unicode);
    put(screen, row, text, true);
    free(text);
}

static char *title_text(const struct view *view, const struct view_page *page)
{
    size_t all = all_lines(page), seen = seen_lines(view, page), last = page->top + seen;
    char *title = page__title(view, page);
    char *text = memory__format(" heurt view: %s", title);
    free(title);
    if (all > seen)
        text = text__append(text, "   %zu-%zu of %zu", page->top + 1, last < all ? last : all, all);
    if (view->filter.text && *view->filter.text)
        text = text__append(text, "   filter: %s", view->filter.text);
    return text;
}

static const char *keys_text(const struct view_page *page)
{
    return page->kind == PAGE_THREADS
               ? " q Back F1 Help F3 Search F4 Filter F6 Sort F7 - F8 + 0 All F10 End"
           : page->kind == PAGE_FINDINGS
               ? " q End Enter Open F1 Help F2 Threads F3 Search F4 Filter F6 Sort"
               : " q Back F1 Help F2 Threads F3 Search F4 Filter F5 Stacks F6 Sort F9 Occur.";
}

static char *talk_text(const struct view *view)
{
    return view->prompt == PROMPT_SEARCH   ? memory__format("/%s_", view->typed)
           : view->prompt == PROMPT_FILTER ? memory__format("filter: %s_", view->typed)
                                           : memory__text(view->message);
}

static void put_lines(const struct view *view, const struct view_page *page, put_row put,
                      void *screen)
{
    size_t marked = page->items.count ? first_line_of(page, page->selected) : page->found;
    for (unsigned row = 0; row < view__body_rows(view); row++) {
        size_t line = page->top + row;
        const char *text =
            line < page->lines.count ? VEC_AT(&page->lines, struct view_line, line)->text : "";
        bool is_marked = line == marked || (line == page->found && line < page->lines.count);
        char *selected = is_marked && *text == ' ' ? memory__format(">%s", text + 1) : NULL;
        put(screen, row + 1, selected ? selected : text, is_marked);
        free(selected);
    }
}

static void put_threads(const struct view *view, const struct view_page *page, put_row put,
                        void *screen)
{
    struct line_writer writer;
    struct vec lines = VEC_OF(struct view_line);
    lines__begin(&writer);
    thread_strips__put(view, page, writer.out);
    lines__end(&writer, &lines, NO_ITEM);
    for (unsigned row = 0; row < view__body_rows(view); row++)
        put(screen, row + 1, row < lines.count ? VEC_AT(&lines, struct view_line, row)->text : "",
            false);
    lines__free(&lines);
}

void view__draw(const struct view *view, put_row put, void *screen)
{
    const struct view_page *page = current_page(view);
    put_bar(view, put, screen, 0, title_text(view, page));
    (page->kind == PAGE_THREADS ? put_threads : put_lines)(view, page, put, screen);
    char *talk = talk_text(view);
    char *fit = text__fit(talk, view->style.columns, view->style.unicode);
    put(screen, view->rows - 2, fit, false);
    free(fit);
    put_bar(view, put, screen, view->rows - 1, memory__text(keys_text(page)));
}
