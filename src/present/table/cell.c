#include "present/table/cell.h"

#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct cell number_if(bool is_known, long double number)
{
    return (struct cell){is_known, NULL, is_known ? number : 0};
}

struct cell cell__of(const struct column *column, const void *row)
{
    const void *at = (const char *)row + column->offset;
    switch (column->type) {
    case COLUMN_TEXT: {
        const char *text = *(const char *const *)at;
        return (struct cell){text != NULL, text, 0};
    }
    case COLUMN_WORD: {
        const char *text = column->word(*(const unsigned *)at);
        return (struct cell){text != NULL, text, 0};
    }
    case COLUMN_CONSTANT:
        return (struct cell){true, column->help, 0};
    case COLUMN_COUNT:
    case COLUMN_ADDRESS: {
        uint64_t value = *(const uint64_t *)at;
        return number_if(value != UINT64_MAX, value);
    }
    case COLUMN_SMALL: {
        uint32_t value = *(const uint32_t *)at;
        return number_if(value != UINT32_MAX, value);
    }
    case COLUMN_SIGNED:
        return number_if(true, *(const int64_t *)at);
    case COLUMN_REAL:
        return number_if(isfinite(*(const double *)at), *(const double *)at);
    case COLUMN_FACTOR:
        return number_if(*(const double *)at > 0, *(const double *)at);
    case COLUMN_BOOLEAN:
        return number_if(true, *(const bool *)at);
    default:
        break;
    }
    return number_if(false, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool parse_boolean(const char *text, long double *number)
{
    bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    bool no = strcmp(text, "no") == 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    *number = yes;
    return yes || no;
}

/* What the number is to be multiplied by; 0: there is no such unit. */
static long double factor_of(const struct column *column, const char *suffix)
{
    static const struct {
        const char *suffix, *unit;
        long double factor;
    } factors[] = {{"ns", "ns", 1},   {"us", "ns", 1e3L},    {"ms", "ns", 1e6L},
                   {"s", "ns", 1e9L}, {"%", "share", 0.01L}, {"x", "×", 1}};
    if (!*suffix)
        return 1;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        if (strcmp(suffix, factors[i].suffix) == 0 && strcmp(column->unit, factors[i].unit) == 0)
            return factors[i].factor;
    return 0;
}

bool cell__parse(const struct column *column, const char *text, long double *number)
{
    char *end;
    if (column->type == COLUMN_BOOLEAN)
        return parse_boolean(text, number);
    *number = strtold(text, &end);
    long double factor = factor_of(column, end);
    *number *= factor;
    return end != text && factor > 0 && isfinite(*number);
}

/* ---- writing --------------------------------------------------------------------------------- */

char *cell__digits(const struct column *column, const struct cell *cell)
{
    if (!cell->is_known)
        return memory__text("");
    switch (column->type) {
    case COLUMN_TEXT:
    case COLUMN_WORD:
    case COLUMN_CONSTANT:
        return memory__text(cell->text);
    case COLUMN_ADDRESS:
        return memory__format("0x%" PRIx64, (uint64_t)cell->number);
    case COLUMN_SIGNED:
        return memory__format("%" PRId64, (int64_t)cell->number);
    case COLUMN_REAL:
        return memory__format("%.6f", (double)cell->number);
    case COLUMN_FACTOR:
        return memory__format("%.4f", (double)cell->number);
    default:
        return memory__format("%" PRIu64, (uint64_t)cell->number);
    }
}

static char *time_in_words(const struct cell *cell)
{
    char buffer[16];
    bool is_negative = cell->number < 0;
    long double ns = is_negative ? -cell->number : cell->number;
    return memory__format("%s%s", is_negative ? "-" : "", duration__format((uint64_t)ns, buffer));
}

char *cell__words(const struct column *column, const struct cell *cell)
{
    char buffer[32];
    if (!cell->is_known || cell->text || column->type == COLUMN_ADDRESS)
        return cell__digits(column, cell);
    if (column->type == COLUMN_BOOLEAN)
        return memory__text(cell->number > 0 ? "yes" : "no");
    if (column->type == COLUMN_FACTOR)
        return memory__format("%.2f", (double)cell->number);
    if (strcmp(column->unit, "ns") == 0)
        return time_in_words(cell);
    if (strcmp(column->unit, "share") == 0)
        return memory__text(share__format((double)cell->number, buffer));
    if (column->type == COLUMN_COUNT)
        return memory__text(count__format((uint64_t)cell->number, buffer));
    return cell__digits(column, cell);
}

bool column__is_text(const struct column *column)
{
    return column->type == COLUMN_TEXT || column->type == COLUMN_WORD;
}

const char *column__title(const struct column *column)
{
    return column->title ? column->title : column->key;
}
