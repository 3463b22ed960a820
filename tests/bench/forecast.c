#include "forecast.h"

#include "statistics.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    return object && json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static double seconds(struct json_object *object, const char *name)
{
    struct json_object *value = member(object, name);
    return value ? json_object_get_double(value) / 1e9 : NAN;
}

static const char *text_of(struct json_object *object, const char *name)
{
    struct json_object *value = member(object, name);
    return value ? json_object_get_string(value) : "";
}

int forecast__read(const char *json, struct forecast *forecast, struct error *error)
{
    struct json_object *root = json_tokener_parse(json), *answers = member(root, "answers");
    struct json_object *answer = answers ? json_object_array_get_idx(answers, 0) : NULL;
    struct json_object *prediction = member(answer, "prediction");
    *forecast = (struct forecast){.measured = seconds(root, "measured_ns"),
                                  .replayed = seconds(root, "replayed_ns"),
                                  .wall = seconds(prediction, "wall_ns"),
                                  .least = seconds(prediction, "least_ns"),
                                  .most = seconds(prediction, "most_ns")};
    double check =
        forecast->measured + forecast->replayed + forecast->wall + forecast->least + forecast->most;
    int code = isfinite(check) ? 0
                               : error__set(error, -EPROTO, "heurt whatif predicted nothing: %s",
                                            text_of(answer, "refusal"));
    json_object_put(root);
    return code;
}

static bool fits(struct json_object *class, const char *kind, const char *function)
{
    if (*kind && strcmp(text_of(class, "kind"), kind) != 0)
        return false;
    return !*function || strcmp(text_of(class, "function"), function) == 0 ||
           strcmp(text_of(member(class, "caller"), "function"), function) == 0;
}

int loser__find(const char *json, const char *kind, const char *function, struct loser *loser,
                struct error *error)
{
    struct json_object *root = json_tokener_parse(json), *classes = member(root, "classes");
    double most = -1;
    *loser = (struct loser){0};
    for (size_t i = 0; classes && i < json_object_array_length(classes); i++) {
        struct json_object *class = json_object_array_get_idx(classes, i);
        double lost = seconds(class, "excess_ns");
        if (!fits(class, kind, function) || !(lost > most))
            continue;
        most = lost;
        loser->rank = (size_t)json_object_get_int64(member(class, "rank"));
        snprintf(loser->object, sizeof loser->object, "%s", text_of(class, "object"));
    }
    json_object_put(root);
    return loser->rank ? 0
                       : error__set(error, -EPROTO, "the report has no class of kind '%s' of '%s'",
                                    kind, function);
}

/* ---- rows ------------------------------------------------------------------------------------ */

double forecast_row__error(const struct forecast_row *row)
{
    return row->predicted / row->cured - 1;
}

bool forecast_row__in_range(const struct forecast_row *row)
{
    return row->cured >= row->least && row->cured <= row->most;
}

struct forecast_summary forecast__summary(const struct forecast_row *rows, size_t count)
{
    double sizes[SAMPLES_MOST];
    struct forecast_summary summary = {.worst = NAN};
    for (size_t i = 0; i < count && i < SAMPLES_MOST; i++) {
        sizes[i] = fabs(forecast_row__error(&rows[i]));
        summary.worst = fmax(summary.worst, sizes[i]);
        summary.in_range += forecast_row__in_range(&rows[i]);
        summary.rows++;
    }
    summary.median = samples__median(sizes, summary.rows);
    return summary;
}

bool forecast_summary__is_met(const struct forecast_summary *summary)
{
    return !(summary->median > FORECAST_MEDIAN_BAR) && !(summary->worst > FORECAST_WORST_BAR);
}
