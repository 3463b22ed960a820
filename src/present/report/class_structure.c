/* Classes by structure in words. */
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *append_times(char *text, const struct profile_inside *inside)
{
    char least[32], most[32];
    if (inside->most < 2)
        return text;
    count__format(inside->least, least);
    count__format(inside->most, most);
    char *times = inside->least == inside->most ? memory__format(" x%s", most)
                                                : memory__format(" x%s..%s", least, most);
    text = text__join(text, "", times);
    free(times);
    return text;
}

/* The rows from *place on that are so deep, and what is inside of each. */
static char *append_level(char *text, const struct vec *rows, size_t *place, uint32_t level)
{
    for (bool first = true; *place < rows->count; first = false) {
        const struct profile_inside *inside = VEC_AT(rows, struct profile_inside, *place);
        if (inside->level < level)
            break;
        char *name = function__bare(inside->function);
        text = text__join(text, "", first ? "" : ", ");
        text = text__join(text, "", name);
        text = append_times(text, inside);
        free(name);
        ++*place;
        bool holds =
            *place < rows->count && VEC_AT(rows, struct profile_inside, *place)->level > level;
        if (!holds && !inside->is_irregular)
            continue;
        text = text__join(text, "", " (");
        text = holds ? append_level(text, rows, place, level + 1) : text__join(text, "", "...");
        text = text__join(text, "", ")");
    }
    return text;
}

char *class_structure__text(const struct profile_structure *structure)
{
    size_t place = 0;
    if (structure->is_rest)
        return memory__text("other structures");
    return append_level(memory__text(""), &structure->inside, &place, 1);
}

/* ---- what tells classes of one site apart ---------------------------------------------------- */

#define WORDS_COLUMNS 32 /* of a first screen: a structure that is shorter is told whole */

static bool is_of_same_site(const struct profile_class *left, const struct profile_class *right)
{
    if (!left->what.structure || !right->what.structure ||
        left->what.at.kind != right->what.at.kind ||
        left->what.at.process != right->what.at.process ||
        left->what.at.address != right->what.at.address ||
        left->what.at.line != right->what.at.line ||
        left->what.keys.count != right->what.keys.count ||
        strcmp(left->what.at.function, right->what.at.function) != 0)
        return false;
    for (size_t i = 0; i < left->what.keys.count; i++)
        if (VEC_AT(&left->what.keys, struct profile_key, i)->value !=
            VEC_AT(&right->what.keys, struct profile_key, i)->value)
            return false;
    return true;
}

static bool calls(const struct profile_class *class, uint32_t place)
{
    VEC_EACH (inside, &class->what.structure->inside, struct profile_inside)
        if (inside->level == 1 && inside->place == place)
            return true;
    return false;
}

/* Whether all other classes of the site call it, too. */
static bool all_call(const struct report *report, const struct profile_class *class, uint32_t place)
{
    VEC_EACH (other, &report->profile->classes, struct profile_class)
        if (other != class && is_of_same_site(class, other) && !other->what.structure->is_rest &&
            !calls(other, place))
            return false;
    return true;
}

/* "... store ...": what not all classes of the site call; NULL: nothing. */
static char *distinct_words(const struct report *report, const struct profile_class *class)
{
    char *text = memory__text("");
    bool found = false, left_out = false;
    VEC_EACH (inside, &class->what.structure->inside, struct profile_inside) {
        if (inside->level > 1)
            continue;
        if (all_call(report, class, inside->place)) {
            left_out = true;
            continue;
        }
        char *name = function__bare(inside->function);
        text = text__join(text, "", found ? (left_out ? " ... " : ", ") : left_out ? "... " : "");
        text = text__join(text, "", name);
        free(name);
        found = true;
        left_out = false;
    }
    if (found)
        return left_out ? text__join(text, "", " ...") : text;
    free(text);
    return NULL;
}

/* "without store": what another class of the site calls and this one does not; NULL: nothing. */
static char *missing_words(const struct report *report, const struct profile_class *class)
{
    VEC_EACH (other, &report->profile->classes, struct profile_class) {
        if (other == class || !is_of_same_site(class, other))
            continue;
        VEC_EACH (inside, &other->what.structure->inside, struct profile_inside) {
            if (inside->level > 1 || calls(class, inside->place))
                continue;
            char *name = function__bare(inside->function);
            char *text = memory__format("without %s", name);
            free(name);
            return text;
        }
    }
    return NULL;
}

static char *cut_words(char *text)
{
    if (text__width(text) <= WORDS_COLUMNS)
        return text;
    char *cut =
        memory__format("%.*s...", (int)text__bytes_of_columns(text, WORDS_COLUMNS - 3), text);
    free(text);
    return cut;
}

/* "parse, store x1..8": what it calls itself. */
static char *top_text(const struct profile_structure *structure)
{
    char *text = memory__text("");
    VEC_EACH (inside, &structure->inside, struct profile_inside) {
        if (inside->level > 1)
            continue;
        char *name = function__bare(inside->function);
        text = text__join(text, "", *text ? ", " : "");
        text = append_times(text__join(text, "", name), inside);
        free(name);
    }
    return text;
}

/* The place of the next row on level 1, from place on. */
static size_t next_top(const struct vec *rows, size_t place)
{
    while (place < rows->count && VEC_AT(rows, struct profile_inside, place)->level > 1)
        place++;
    return place;
}

/* Whether both call the same themselves, in the same order. */
static bool has_same_top(const struct profile_class *left, const struct profile_class *right)
{
    const struct vec *a = &left->what.structure->inside, *b = &right->what.structure->inside;
    size_t i = next_top(a, 0), j = next_top(b, 0);
    for (; i < a->count && j < b->count; i = next_top(a, i + 1), j = next_top(b, j + 1))
        if (VEC_AT(a, struct profile_inside, i)->place !=
            VEC_AT(b, struct profile_inside, j)->place)
            return false;
    return i == a->count && j == b->count;
}

static bool top_tells(const struct report *report, const struct profile_class *class)
{
    VEC_EACH (other, &report->profile->classes, struct profile_class)
        if (other != class && is_of_same_site(class, other) && has_same_top(class, other))
            return false;
    return true;
}

/* As much of it as is needed and fits. */
static char *structure_words(const struct report *report, const struct profile_class *class)
{
    char *whole = class_structure__text(class->what.structure);
    char *words = !*whole ? memory__text("calls nothing")
                  : class->what.structure->is_rest || !top_tells(report, class)
                      ? memory__text(whole)
                      : top_text(class->what.structure);
    if (text__width(words) > WORDS_COLUMNS) {
        char *fewer = distinct_words(report, class);
        fewer = fewer ? fewer : missing_words(report, class);
        if (fewer) {
            free(words);
            words = fewer;
        }
    }
    free(whole);
    return cut_words(words);
}

char *class__name(const struct report *report, const struct profile_class *class,
                  const struct place *place)
{
    char *name = function__short(place->function);
    if (!class->what.structure)
        return name;
    char *words = structure_words(report, class);
    char *text = memory__format("%s (%s)", name, words);
    free(words);
    free(name);
    return text;
}

/* ---- in depth -------------------------------------------------------------------------------- */

static char *times_text(const struct profile_inside *inside)
{
    char *text = append_times(memory__text(""), inside);
    char *shown = memory__text(*text ? text + 1 : "");
    free(text);
    return shown;
}

void class_structure__put(const struct profile_structure *structure, const struct style *style,
                          FILE *out)
{
    static const struct grid_column columns[] = {{"", WRAPPED}, {"", LEFT}};
    if (!structure)
        return;
    heading__put(style, out, "what it calls, in order (what is repeated stands there once)");
    if (structure->is_rest || !structure->inside.count) {
        paragraph__put(style, out, INK_PLAIN, "  ",
                       structure->is_rest
                           ? "Differs: these are the occurrences that are in no other class of "
                             "this site, and the fastest of them may be of another kind."
                           : "Nothing that was recorded.");
        return;
    }
    struct grid grid = grid__start(columns, 2, 2);
    VEC_EACH (inside, &structure->inside, struct profile_inside) {
        char *name = text__for_screen(inside->function);
        grid__cell(&grid,
                   memory__format("%*s%s%s", 2 * (int)(inside->level - 1), "", name,
                                  inside->is_irregular ? " (...)" : ""),
                   INK_PLAIN);
        grid__cell(&grid, times_text(inside), INK_PLAIN);
        free(name);
    }
    grid__end_without_titles(&grid, style, out);
}
