/* Paje's text format (version 1.2.5), as ViTE and pj_dump read it: a container a process, in it one
 * a thread; a pushed state a call, which ends with it. A state's value is defined before
 * its first use: a call, with what it waited for; a link between threads a message of MPI. Points,
 * states off the CPU and counters are left out. Times are in s. */
#include "base/map.h"
#include "base/memory.h"
#include "base/sanitize.h"
#include "base/vec.h"
#include "present/export/span_exporters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The events that are used, and the types of what they tell. */
static const char *const head[] = {
    "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name "
    "string\n%EndEventDef\n",
    "%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n",
    "%EventDef PajeDefineEntityValue 2\n% Alias string\n% Type string\n% Name string\n% Color "
    "color\n%EndEventDef\n",
    "%EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Type string\n% Container "
    "string\n% Name string\n%EndEventDef\n",
    "%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value "
    "string\n%EndEventDef\n",
    "%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef\n",
    "%EventDef PajeDestroyContainer 6\n% Time date\n% Type string\n% Name string\n%EndEventDef\n",
    "%EventDef PajeDefineLinkType 7\n% Alias string\n% Type string\n% StartContainerType string\n% "
    "EndContainerType string\n% Name string\n%EndEventDef\n",
    "%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% StartContainer "
    "string\n% Value string\n% Key string\n%EndEventDef\n",
    "%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% EndContainer "
    "string\n% Value string\n% Key string\n%EndEventDef\n",
    "0 P 0 Process\n",
    "0 T P Thread\n",
    "7 M 0 T T Message\n",
    "1 S T State\n",
};

/* By kind of what is told: work, waits for others, other waits. */
static const char *colour_of(const struct span_label *label)
{
    switch (class_kind__component(label->kind)) {
    case COMPONENT_RUNNING:
        return "0.3 0.6 0.3";
    case COMPONENT_LOCK:
    case COMPONENT_CONDITION:
    case COMPONENT_BARRIER:
        return "0.8 0.2 0.2";
    default:
        return "0.5 0.5 0.7";
    }
}

/* A quoted word: one line, without quotes inside. */
static void put_text(const char *text, FILE *out)
{
    char *clean = text__for_screen(text);
    for (char *at = clean; (at = strchr(at, '"'));)
        *at = '\'';
    fprintf(out, "\"%s\"", clean);
    free(clean);
}

static void put_time(uint64_t ns, FILE *out)
{
    fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void create(uint64_t ns, const char *alias, unsigned number, const char *type,
                   const char *around, const char *name, unsigned id, FILE *out)
{
    char *told = memory__format("%s (%u)", name, id);
    fputs("3 ", out);
    put_time(ns, out);
    fprintf(out, " %s%u %s %s ", alias, number, type, around);
    put_text(told, out);
    fputc('\n', out);
    free(told);
}

struct paje {
    struct map values;    /* struct paje_value */
    struct vec of_labels; /* uint64_t: the value's number, and 1, of labels without objects */
};

static void begin(struct span_export *export)
{
    const struct span_run *run = export->run;
    struct paje *paje = export->own = memory__zeroed(1, sizeof *paje);
    paje->of_labels = VEC_OF(uint64_t);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        fputs(head[i], export->out);
    for (uint32_t i = 0; i < run->process_count; i++)
        create(run->from_ns, "p", i, "P", "0", run->processes[i].path, run->processes[i].pid,
               export->out);
    for (uint32_t i = 0; i < run->thread_count; i++) {
        char *around = memory__format("p%u", run->threads[i].process);
        create(run->from_ns, "t", i, "T", around, run->threads[i].name, run->threads[i].tid,
               export->out);
        free(around);
    }
}

/* A call and its object. 0: it has none. */
struct paje_value {
    uint32_t label, object;
};

static char *value_name(const struct span_enter *enter)
{
    return enter->object ? memory__format("%s (%s %s)", enter->label->name, enter->object->noun,
                                          enter->object->name)
                         : memory__text(enter->label->name);
}

static uint64_t find_value(struct span_export *export, const struct span_enter *enter)
{
    struct map *values = &((struct paje *)export->own)->values;
    const struct paje_value value = {enter->label->number,
                                     enter->object ? enter->object->number + 1 : 0};
    size_t before = values->count;
    uint64_t number = map__put(values, &value, sizeof value, before);
    if (number < before)
        return number;
    char *name = value_name(enter);
    fprintf(export->out, "2 v%" PRIu64 " S ", number);
    put_text(name, export->out);
    fprintf(export->out, " \"%s\"\n", colour_of(enter->label));
    free(name);
    return number;
}

static uint64_t number_of_value(struct span_export *export, const struct span_enter *enter)
{
    struct paje *paje = export->own;
    if (enter->object)
        return find_value(export, enter);
    uint64_t *known = VEC_REACH(&paje->of_labels, uint64_t, enter->label->number);
    if (!*known)
        *known = find_value(export, enter) + 1;
    return *known - 1;
}

static void enter(struct span_export *export, uint32_t thread, const struct span_enter *enter)
{
    uint64_t value = number_of_value(export, enter);
    fputs("4 ", export->out);
    put_time(enter->ns, export->out);
    fprintf(export->out, " S t%u v%" PRIu64 "\n", thread, value);
}

static void leave(struct span_export *export, uint32_t thread, const struct span_leave *leave)
{
    fputs("5 ", export->out);
    put_time(leave->ns, export->out);
    fprintf(export->out, " S t%u\n", thread);
}

static void message(struct span_export *export, const struct span_message *message)
{
    fputs(message->is_received ? "9 " : "8 ", export->out);
    put_time(message->ns, export->out);
    fprintf(export->out, " M 0 t%u \"%" PRIu64 " bytes\" m%" PRIu64 "\n", message->thread,
            message->bytes, message->number);
}

static void destroy(struct span_export *export, const char *type, const char *alias, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputs("6 ", export->out);
        put_time(export->run->to_ns, export->out);
        fprintf(export->out, " %s %s%u\n", type, alias, i);
    }
}

static void finish(struct span_export *export)
{
    destroy(export, "T", "t", export->run->thread_count);
    destroy(export, "P", "p", export->run->process_count);
    struct paje *paje = export->own;
    map__free(&paje->values);
    vec__free(&paje->of_labels);
    free(paje);
}

const struct span_exporter exporter_paje = {
    .name = "paje",
    .order = SPANS_IN_TIME,
    .begin = begin,
    .enter = enter,
    .leave = leave,
    .message = message,
    .finish = finish,
};
