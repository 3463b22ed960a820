#include "cmd/changes.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MOST 100000 /* locks or threads that somebody may ask for */
#define FACTOR_MOST 1e6

static const char lock_prefix[] = "lock=";
static const char critical_prefix[] = "critical="; /* a lock, too */

void asked__free(struct asked *asked)
{
    free(asked->target);
    free(asked->option);
    *asked = (struct asked){0};
}

static void begin(struct asked *asked, enum change_type type, const char *option, const char *value)
{
    *asked = (struct asked){.type = type, .option = memory__format("%s %s", option, value)};
}

/* A whole number from 1 to most; 0: it is none. */
static uint32_t count_of(const char *text, uint32_t most)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    bool digits = text[0] >= '0' && text[0] <= '9';
    return errno || *end || !digits || number > most ? 0 : (uint32_t)number;
}

/* "50%" and "0.5" are 0.5, "2x" and "2" are 2; NAN: neither. unit: the sign that may follow. */
static double factor_of(const char *text, char unit)
{
    char *end;
    double number = strtod(text, &end);
    bool digits = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
    if (end == text || !digits || !isfinite(number) || number > FACTOR_MOST)
        return NAN;
    if (*end == unit && end[1] == '\0')
        return unit == '%' ? number / 100 : number;
    return *end ? NAN : number;
}

static bool is_lock(const char *value)
{
    return strncmp(value, lock_prefix, sizeof lock_prefix - 1) == 0;
}

/* "lock=TARGET:AMOUNT", where a target (a C++ name) may have colons itself: the last one counts.
 * Returns the amount, NULL: it is not of that form. */
static const char *lock_and_amount(const char *value, struct asked *asked)
{
    const char *target = value + sizeof lock_prefix - 1, *colon = strrchr(value, ':');
    if (!is_lock(value) || !colon || colon <= target || !colon[1])
        return NULL;
    asked->of = ASKED_OF_LOCK;
    asked->target = memory__format("%.*s", (int)(colon - target), target);
    return colon + 1;
}

/* As variables of critical sections are named. free() it. */
static char *critical_name(const char *name)
{
    return *name ? memory__format("critical(%s)", name) : memory__text("");
}

int asked__remove(const char *value, struct asked *asked, struct error *error)
{
    begin(asked, CHANGE_REMOVE, "--remove", value);
    if (strncmp(value, critical_prefix, sizeof critical_prefix - 1) == 0) {
        asked->type = CHANGE_REMOVE_LOCK;
        asked->of = ASKED_OF_LOCK;
        asked->target = critical_name(value + sizeof critical_prefix - 1);
    } else if (is_lock(value)) {
        asked->type = CHANGE_REMOVE_LOCK;
        asked->of = ASKED_OF_LOCK;
        asked->target = memory__text(value + sizeof lock_prefix - 1);
    } else if (value[strspn(value, "0123456789")] == '\0') {
        asked->of = ASKED_OF_CLASS;
        asked->rank = count_of(value, UINT32_MAX);
    } else {
        asked->of = ASKED_OF_FUNCTION;
        asked->target = memory__text(value);
    }
    if (asked->of == ASKED_OF_CLASS ? asked->rank == 0 : !*asked->target)
        return error__set(error, -EINVAL,
                          "--remove wants the number of a class (as in the column # of heurt "
                          "report), a function, lock=0x… or lock=NAME, or critical=NAME, not '%s'",
                          value);
    return 0;
}

int asked__speed(const char *value, struct asked *asked, struct error *error)
{
    const char *equals = strrchr(value, '=');
    begin(asked, CHANGE_SPEED, "--speed", value);
    asked->of = ASKED_OF_FUNCTION;
    asked->factor = equals ? factor_of(equals + 1, 'x') : NAN;
    if (!equals || equals == value || !(asked->factor > 0))
        return error__set(error, -EINVAL,
                          "--speed wants a function and how many times as fast it is to be, such "
                          "as parse=2x, not '%s'",
                          value);
    asked->target = memory__format("%.*s", (int)(equals - value), value);
    return 0;
}

int asked__shrink(const char *value, struct asked *asked, struct error *error)
{
    begin(asked, CHANGE_SHRINK, "--shrink", value);
    const char *amount = lock_and_amount(value, asked);
    asked->factor = amount ? factor_of(amount, '%') : NAN;
    if (!(asked->factor >= 0 && asked->factor <= 1))
        return error__set(error, -EINVAL,
                          "--shrink wants a lock and what is to be left of the time in its "
                          "sections, 0%% to 100%%, such as lock=0x4a0040:50%%, not '%s'",
                          value);
    return 0;
}

int asked__split(const char *value, struct asked *asked, struct error *error)
{
    begin(asked, CHANGE_SPLIT, "--split", value);
    const char *amount = lock_and_amount(value, asked);
    asked->by_site = amount && strcmp(amount, "site") == 0;
    asked->count = amount && !asked->by_site ? count_of(amount, COUNT_MOST) : 0;
    if (!asked->by_site && asked->count < 2)
        return error__set(error, -EINVAL,
                          "--split wants a lock and into how many, such as lock=0x4a0040:2, or "
                          "lock=0x4a0040:site for one a place that takes it, not '%s'",
                          value);
    return 0;
}

int asked__threads(const char *value, struct asked *asked, struct error *error)
{
    begin(asked, CHANGE_THREADS, "--threads", value);
    asked->of = ASKED_OF_ALL;
    asked->count = count_of(value, COUNT_MOST);
    if (!asked->count)
        return error__set(error, -EINVAL, "--threads wants how many threads, from 1, not '%s'",
                          value);
    return 0;
}

/* "dynamic,16", "dynamic" (1), "guided". False: neither. */
static bool schedule_of(const char *text, struct asked *asked)
{
    static const char dynamic[] = "dynamic";
    asked->is_shared = true;
    if (strcmp(text, "guided") == 0)
        return true;
    if (strncmp(text, dynamic, sizeof dynamic - 1) != 0)
        return false;
    text += sizeof dynamic - 1;
    asked->count = *text ? count_of(text + (*text == ','), UINT32_MAX) : 1;
    return asked->count > 0;
}

int asked__schedule(const char *value, struct asked *asked, struct error *error)
{
    const char *equals = strrchr(value, '=');
    begin(asked, CHANGE_BALANCE, "--schedule", value);
    asked->of = ASKED_OF_REGION;
    if (!equals || equals == value || !schedule_of(equals + 1, asked))
        return error__set(error, -EINVAL,
                          "--schedule wants a parallel region and how its loops are to be shared, "
                          "such as 1=dynamic,16 or relax=guided, not '%s'",
                          value);
    asked->target = memory__format("%.*s", (int)(equals - value), value);
    return 0;
}

int asked__balance(const char *value, struct asked *asked, struct error *error)
{
    begin(asked, CHANGE_BALANCE, "--balance", value);
    asked->of = ASKED_OF_REGION;
    asked->target = memory__text(value);
    if (!*value)
        return error__set(
            error, -EINVAL,
            "--balance wants a parallel region: its number in heurt openmp, or a part "
            "of what it is called");
    return 0;
}
