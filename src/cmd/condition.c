#include "cmd/condition.h"

#include "base/memory.h"
#include "cmd/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 4096u /* longer ones are nobody's */
#define LIMIT_MOST 1e18

/* Where in the text. */
struct condition_reading {
    const char *text, *at;
    struct error *error;
};

static void skip_blanks(struct condition_reading *reading)
{
    while (isspace((unsigned char)*reading->at))
        reading->at++;
}

static int expected(const struct condition_reading *reading, const char *what)
{
    bool is_end = !*reading->at;
    return error__set(reading->error, -EINVAL,
                      "'%.200s': expected %s%s%.60s%s; as 'lock > 10 %%', 'wall > +5 %%' or "
                      "'finding(queue.c:30).lost > 50ms'",
                      reading->text, what, is_end ? " at the end" : ", found '", reading->at,
                      is_end ? "" : "'");
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Words with single blanks between them; NULL: there is none. free() it. */
static char *take_words(struct condition_reading *reading)
{
    char *words = memory__zeroed(strlen(reading->at) + 2, 1);
    size_t count = 0;
    while (is_word(*reading->at)) {
        words[count] = ' ';
        count += count > 0;
        while (is_word(*reading->at))
            words[count++] = *reading->at++;
        skip_blanks(reading);
    }
    words[count] = 0;
    if (count)
        return words;
    free(words);
    return NULL;
}

/* ---- the quantity ---------------------------------------------------------------------------- */

/* Whether what stands behind a ')' ends a pattern: in "f(int).lost" the first one does not. */
static bool ends_pattern(const char *behind)
{
    behind += strspn(behind, " \t");
    return *behind == '.' || *behind == '<' || *behind == '>';
}

static int take_pattern(struct condition_reading *reading, char **pattern)
{
    const char *begin = ++reading->at, *end = strchr(begin, ')');
    while (end && !ends_pattern(end + 1))
        end = strchr(end + 1, ')');
    if (!end) {
        reading->at += strlen(reading->at);
        return expected(reading, "')' and a comparison behind the pattern");
    }
    if (end == begin)
        return expected(reading, "a pattern in the brackets");
    *pattern = memory__format("%.*s", (int)(end - begin), begin);
    reading->at = end + 1;
    skip_blanks(reading);
    return 0;
}

static int take_quantity(struct condition_reading *reading, struct fail_condition *condition)
{
    skip_blanks(reading);
    condition->quantity = take_words(reading);
    if (!condition->quantity)
        return expected(reading, "what is looked at");
    if (*reading->at == '(') {
        int code = take_pattern(reading, &condition->pattern);
        if (code)
            return code;
    }
    if (*reading->at != '.')
        return 0;
    reading->at++;
    skip_blanks(reading);
    condition->field = take_words(reading);
    return condition->field ? 0 : expected(reading, "a word behind the '.'");
}

/* ---- the limit ------------------------------------------------------------------------------- */

static int take_comparison(struct condition_reading *reading, struct fail_condition *condition)
{
    if (*reading->at != '<' && *reading->at != '>')
        return expected(reading, "'>' or '<'");
    condition->is_more = *reading->at++ == '>';
    condition->is_with = *reading->at == '=';
    reading->at += condition->is_with;
    skip_blanks(reading);
    return 0;
}

static const struct unit_name {
    const char *name;
    enum condition_unit unit;
    double factor;
} unit_names[] = {
    {"%", CONDITION_SHARE, 0.01}, {"ns", CONDITION_TIME, 1},  {"us", CONDITION_TIME, 1e3},
    {"ms", CONDITION_TIME, 1e6},  {"s", CONDITION_TIME, 1e9}, {"x", CONDITION_FACTOR, 1},
    {"×", CONDITION_FACTOR, 1},   {"", CONDITION_NUMBER, 1},
};

static int take_unit(struct condition_reading *reading, struct fail_condition *condition)
{
    size_t length = strlen(reading->at);
    while (length && isspace((unsigned char)reading->at[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof unit_names / sizeof *unit_names; i++) {
        const struct unit_name *unit = &unit_names[i];
        if (strlen(unit->name) != length || strncmp(reading->at, unit->name, length) != 0)
            continue;
        condition->unit = unit->unit;
        condition->limit *= unit->factor;
        return 0;
    }
    return expected(reading, "%, ns, us, ms, s, x or nothing behind the number");
}

static int take_limit(struct condition_reading *reading, struct fail_condition *condition)
{
    bool is_negative = *reading->at == '-';
    condition->has_sign = is_negative || *reading->at == '+';
    reading->at += condition->has_sign;
    skip_blanks(reading);
    const char *end;
    if (!decimal__parse(reading->at, &end, &condition->limit) || end == reading->at)
        return expected(reading, "a number");
    if (condition->limit > LIMIT_MOST)
        return expected(reading, "a smaller number");
    reading->at = end;
    condition->limit *= is_negative ? -1 : 1;
    skip_blanks(reading);
    return take_unit(reading, condition);
}

/* ---- the whole ------------------------------------------------------------------------------- */

int condition__parse(const char *text, struct fail_condition *condition, struct error *error)
{
    struct condition_reading reading = {text, text, error};
    *condition = (struct fail_condition){.text = text};
    if (strlen(text) > TEXT_MOST)
        return error__set(error, -EINVAL, "a condition has %u characters at most", TEXT_MOST);
    int code = take_quantity(&reading, condition);
    code = code ? code : take_comparison(&reading, condition);
    code = code ? code : take_limit(&reading, condition);
    if (code)
        condition__free(condition);
    return code;
}

void condition__free(struct fail_condition *condition)
{
    free(condition->quantity);
    free(condition->pattern);
    free(condition->field);
    condition->quantity = condition->pattern = condition->field = NULL;
}

bool condition__is_met(const struct fail_condition *condition, double figure)
{
    if (condition->is_with && figure == condition->limit)
        return true;
    return condition->is_more ? figure > condition->limit : figure < condition->limit;
}

char *condition__limit(const struct fail_condition *condition)
{
    const char *at = strpbrk(condition->text + strcspn(condition->text, "<>"), "<>");
    if (condition->pattern) { /* it may have such signs of its own */
        const char *behind = strstr(condition->text, condition->pattern);
        at = strpbrk(behind + strlen(condition->pattern), "<>");
    }
    return memory__text(at ? at : condition->text);
}
