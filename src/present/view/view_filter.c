#include "base/memory.h"
#include "present/report/findings_words.h"
#include "present/view/internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is typed --------------------------------------------------------------------------- */

static const struct view_filter no_filter = {.to_ns = UINT64_MAX};

/* A word without signs of a glob is looked for anywhere in a name. Takes over the old one. */
static char *glob_of(char *old, const char *word)
{
    free(old);
    return strpbrk(word, "*?[") ? memory__text(word) : memory__format("*%s*", word);
}

/* What stands behind the key; NULL: it is another one, or nothing does. */
static const char *value_of(const char *word, const char *key)
{
    size_t bytes = strlen(key);
    return strncmp(word, key, bytes) == 0 && word[bytes] ? word + bytes : NULL;
}

/* False: it is none of the four. */
static bool read_word(struct view_filter *filter, const struct view_subject *subject,
                      const char *word)
{
    const char *value;
    if ((value = value_of(word, "thread=")))
        filter->thread = glob_of(filter->thread, value);
    else if ((value = value_of(word, "function=")))
        filter->function = glob_of(filter->function, value);
    else if ((value = value_of(word, "from=")))
        return subject->read_time(value, &filter->from_ns);
    else if ((value = value_of(word, "to=")))
        return subject->read_time(value, &filter->to_ns);
    return value;
}

/* NULL: all of it is read, else what is wrong. free() it. */
static char *read_words(struct view_filter *filter, const struct view_subject *subject, char *text)
{
    for (char *word; (word = strsep(&text, " "));)
        if (*word && !read_word(filter, subject, word))
            return memory__format("'%s' is no filter: thread=NAME function=NAME from=1.2s to=1.5s",
                                  word);
    return filter->from_ns < filter->to_ns ? NULL : memory__text("from= must be earlier than to=");
}

bool filter__read(struct view_filter *filter, const struct view_subject *subject, const char *text,
                  char **sentence)
{
    struct view_filter new = no_filter;
    new.text = memory__text(text);
    char *copy = memory__text(text);
    *sentence = read_words(&new, subject, copy);
    free(copy);
    struct view_filter *gone = *sentence ? &new : filter;
    filter__free(gone);
    if (!*sentence)
        *filter = new;
    return !*sentence;
}

bool filter__is_on(const struct view *view)
{
    return view->filter.text && *view->filter.text;
}

void filter__free(struct view_filter *filter)
{
    free(filter->text);
    free(filter->thread);
    free(filter->function);
    *filter = no_filter;
}

/* ---- what it lets through -------------------------------------------------------------------- */

bool filter__has_thread(const struct view *view, uint32_t thread)
{
    const char *glob = view->filter.thread;
    const struct vec *threads = trace__threads(view->subject.report->trace);
    if (!glob)
        return true;
    if (thread >= threads->count)
        return false;
    const struct trace_thread *row = VEC_AT(threads, struct trace_thread, thread);
    char *number = memory__format("%u", row->tid), *role = view__role_name(view, thread);
    bool has = fnmatch(glob, row->name, 0) == 0 || fnmatch(glob, number, 0) == 0 ||
               (role && fnmatch(glob, role, 0) == 0);
    free(number);
    free(role);
    return has;
}

static bool class_has_thread(const struct view *view, const struct profile_class *class)
{
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (filter__has_thread(view, row->thread))
            return true;
    return false;
}

static bool has_function(const struct view *view, const struct finding *finding)
{
    const char *glob = view->filter.function;
    char *subject = finding__subject(view->subject.report, finding);
    bool has = !glob || fnmatch(glob, subject, 0) == 0;
    free(subject);
    VEC_EACH (place, &finding->classes, uint32_t)
        has = has || class__is_named(view->subject.report, view__class(view, *place), glob);
    return has;
}

bool filter__has_finding(const struct view *view, const struct finding *finding)
{
    bool has = !view->filter.thread ||
               (finding->thread != UINT32_MAX && filter__has_thread(view, finding->thread));
    VEC_EACH (place, &finding->classes, uint32_t)
        has = has || class_has_thread(view, view__class(view, *place));
    return has && has_function(view, finding);
}

bool filter__has_occurrence(const struct view *view, const struct occurrence_item *item)
{
    const struct view_filter *filter = &view->filter;
    const struct kept_occurrence *row = item->row;
    return filter__has_thread(view, row->thread) && row->start_ns < filter->to_ns &&
           row->start_ns + row->duration_ns >= filter->from_ns &&
           (!filter->function || class__is_named(view->subject.report,
                                                 view__class(view, item->class), filter->function));
}
