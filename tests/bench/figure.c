#include "figure.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>

void figure__add(struct json_object *object, const char *name, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.4f", value);
    json_object_object_add(object, name,
                           isnan(value) ? NULL : json_object_new_double_s(value, text));
}

void figure__missing(struct json_object *object, bool failed, const char *why)
{
    json_object_object_add(object, failed ? "failed" : "skipped", json_object_new_string(why));
}
