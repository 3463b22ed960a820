/* The plan of a placement as a script: a shell reads its first lines, libheurt-place.so those
 * behind "heurt-place 1" (docs/heurt-place.md). Nothing that the trace names is run: whoever calls
 * it says which program. */
#include "base/memory.h"
#include "present/place/place_screens.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t id_of(const struct placement *placement, uint32_t node)
{
    return *VEC_AT(&placement->nodes.ids, uint32_t, node);
}

/* ---- what is done ---------------------------------------------------------------------------- */

static void put_parts(const struct placement *placement, const struct placement_action *action,
                      FILE *out)
{
    if (action->what == PLACE_INTERLEAVE) {
        fputs(" interleave", out);
        return;
    }
    if (action->what == PLACE_PARTS)
        fprintf(out, " parts %" PRIu64, action->pages);
    else
        fputs(action->what == PLACE_CYCLE ? " cycle" : " each", out);
    VEC_EACH (part, &action->parts, struct placement_part)
        if (action->what == PLACE_PARTS)
            fprintf(out, " %" PRIu64 "=%" PRIu32, part->page, id_of(placement, part->node));
        else
            fprintf(out, " %" PRIu32, id_of(placement, part->node));
}

static void put_build_id(const struct trace_module *module, FILE *out)
{
    for (size_t i = 0; i < module->build_id_bytes; i++)
        fprintf(out, "%02x", module->build_id[i]);
}

static const struct trace_module *module_of(const struct place_report *shown,
                                            const struct memory_object *of, uint64_t address)
{
    const struct trace_process *process = trace__process_at(shown->report->trace, of->process);
    const struct trace_module *module = process__module_of(process, address);
    return module && module->build_id_bytes ? module : NULL;
}

/* "site BUILD-ID+OFFSET BYTES-BYTES", or "data BUILD-ID+OFFSET BYTES". */
static bool put_what(const struct place_report *shown, const struct placement_action *action,
                     FILE *out)
{
    const struct memory_object *of =
        VEC_AT(&shown->use->objects, struct memory_object, action->object);
    uint64_t address = of->kind == MEMORY_STATIC ? action->address : of->site;
    const struct trace_module *module = module_of(shown, of, address);
    if (!module)
        return false;
    fputs(of->kind == MEMORY_STATIC ? "data " : "site ", out);
    put_build_id(module, out);
    fprintf(out, "+0x%" PRIx64, address - module->bias);
    if (of->kind == MEMORY_STATIC)
        fprintf(out, " %" PRIu64, action->pages * HEURT_PAGE_BYTES);
    else
        fprintf(out, " %" PRIu64 "-%" PRIu64, action->least_bytes, action->most_bytes);
    return true;
}

static const struct placement_object *object_of(const struct placement *placement, uint32_t object)
{
    VEC_EACH (found, &placement->objects, struct placement_object)
        if (found->object == object)
            return found;
    return NULL;
}

/* A line of comment, fit for a screen. Takes over text. */
static void put_comment(FILE *out, char *text)
{
    char *clean = text__for_screen(text);
    for (char *at = clean; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    fprintf(out, "# %s\n", clean);
    free(clean);
    free(text);
}

static void put_title(const struct place_report *shown, const struct placement_action *action,
                      FILE *out)
{
    const struct placement_object *object = object_of(shown->placement, action->object);
    char *title = placement__title(shown, object);
    char *kind = placement__kind_text(shown->placement, object), now[16], then[16];
    share__format(object->ns ? (double)object->local_ns / (double)object->ns : 0, now);
    bool is_told = action->local == action->local; /* not NaN */
    put_comment(out, memory__format("%s: %s; local %s%s%s", title, kind, now,
                                    is_told ? ", then about " : "",
                                    is_told ? share__format(action->local, then) : ""));
    free(title);
    free(kind);
}

static void put_action(const struct place_report *shown, const struct placement_action *action,
                       FILE *out)
{
    put_title(shown, action, out);
    if (!put_what(shown, action, out)) {
        fputs("# (not placed: its module has no build-id)\n", out);
        return;
    }
    put_parts(shown->placement, action, out);
    fputs(action->no_huge_pages ? " small\n" : "\n", out);
}

/* ---- what is only advised -------------------------------------------------------------------- */

static bool is_planned(const struct placement_plan *plan, uint32_t object)
{
    VEC_EACH (action, &plan->actions, struct placement_action)
        if (action->object == object)
            return plan->whole == PLAN_OBJECTS;
    return false;
}

static void put_advice(const struct place_report *shown, const struct placement_plan *plan,
                       FILE *out)
{
    VEC_EACH (object, &shown->placement->objects, struct placement_object) {
        char *advice = placement__advice_text(shown, object);
        char *title = placement__title(shown, object);
        if (*advice && !is_planned(plan, object->object))
            put_comment(out, memory__format("%s: %s", title, advice));
        free(title);
        free(advice);
    }
}

/* ---- the script ------------------------------------------------------------------------------ */

static void put_head(const struct place_report *shown, FILE *out)
{
    fputs("#!/bin/sh\n", out);
    put_comment(out,
                memory__text("Runs a program with its memory placed: sh SCRIPT PROGRAM [ARG]…"));
    char *command = report__command(shown->report);
    put_comment(out, memory__format("Made by heurt place of a run of: %s", command));
    free(command);
}

static void put_usage(FILE *out)
{
    fputs("[ $# -gt 0 ] || { echo \"usage: $0 PROGRAM [ARG]...\" >&2; exit 2; }\n", out);
}

/* In single quotes. */
static void put_quoted(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

static void put_objects(const struct place_report *shown, const struct placement_plan *plan,
                        FILE *out)
{
    fputs("HEURT_PLACE=$(realpath \"$0\")\nLD_PRELOAD=", out);
    put_quoted(shown->library ? shown->library : "libheurt-place.so", out);
    fputs("${LD_PRELOAD:+:$LD_PRELOAD}\nexport HEURT_PLACE LD_PRELOAD\nexec \"$@\"\n\n"
          "heurt-place 1\n",
          out);
    VEC_EACH (action, &plan->actions, struct placement_action)
        put_action(shown, action, out);
}

static void put_plan(const struct place_report *shown, const struct placement_plan *plan, FILE *out)
{
    uint32_t node = id_of(shown->placement, plan->node);
    put_advice(shown, plan, out);
    put_usage(out);
    switch (plan->whole) {
    case PLAN_INTERLEAVE:
        fputs("exec numactl --interleave=all -- \"$@\"\n", out);
        break;
    case PLAN_BIND:
        fprintf(out, "exec numactl --cpunodebind=%" PRIu32 " --preferred=%" PRIu32 " -- \"$@\"\n",
                node, node);
        break;
    case PLAN_OBJECTS:
        put_objects(shown, plan, out);
        break;
    default:
        fputs("# There is nothing to be placed from outside.\nexec \"$@\"\n", out);
    }
}

static void put(const struct place_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    put_head(shown, out);
    if (!shown->placement) {
        put_usage(out);
        fputs("# One NUMA node, or nothing was sampled: there is nothing to be placed.\n"
              "exec \"$@\"\n",
              out);
        return;
    }
    struct placement_plan plan = placement_plan__make(shown->placement, shown->use);
    put_plan(shown, &plan, out);
    placement_plan__free(&plan);
}

const struct place_presenter place_script = {"script", put};
