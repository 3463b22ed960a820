/* What threads did with their time, by roles. */
#include "base/memory.h"
#include "base/text.h"
#include "present/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define BAR_CELLS 20 /* of a role's whole time */
#define ROLES_MOST 4 /* that have bars */
#define LEFT_OUT_MOST 4
#define BAR_FROM 0.005 /* of the time; what is less is with the others */

/* ---- names ----------------------------------------------------------------------------------- */

static bool has_programs(const struct report *report)
{
    const struct role *first = report->findings->roles.items;
    VEC_EACH (role, &report->findings->roles, struct role)
        if (strcmp(role->program, first->program) != 0)
            return true;
    return false;
}

char *role__bare_name(const struct role *role)
{
    if (role->is_main)
        return memory__text("main");
    if (role->name && role->threads == 1)
        return memory__text(role->name);
    if (role->name)
        return memory__format("%.*s%s", (int)role->name_bytes, role->name,
                              role->name[role->name_bytes] ? "N" : "");
    bool has_name = role->start && role->start->function[0] != '['; /* else it is stripped */
    return has_name ? function__bare(role->start->function) : NULL;
}

char *role__of_library(const struct role *role)
{
    const char *module = role->start && !role->name && !role->is_main ? role->start->module : NULL;
    bool is_library = role->start && role->start->function[0] == '[' && module &&
                      strcmp(path__name(module), path__name(role->program)) != 0 &&
                      strstr(path__name(module), ".so");
    return is_library ? memory__format(" of %s", path__name(module)) : memory__text("");
}

/* "4 × mc-worker", "main", "3 threads". */
static char *role_name(const struct report *report, const struct role *role,
                       const struct style *style)
{
    char number[32], *name = role__bare_name(role), *text;
    count__format(role->threads, number);
    if (!name) {
        char *library = role__of_library(role);
        text = memory__format("%s %sthread%s%s", number, role->is_of_openmp ? "OpenMP " : "",
                              role->threads == 1 ? "" : "s", library);
        free(library);
    } else if (role->threads == 1)
        text = memory__text(name);
    else if (role->is_main)
        text = memory__format("main of %s processes", number);
    else
        text = memory__format("%s %s %s", number, style->unicode ? "×" : "x", name);
    if (has_programs(report) && *role->program)
        text = text__append(text, " of %s", path__name(role->program));
    free(name);
    return text;
}

char *workers__text(const struct report *report)
{
    char number[32];
    uint32_t count = report->findings->working_threads;
    return memory__format("%s thread%s", count__format(count, number), count == 1 ? "" : "s");
}

/* ---- bars ------------------------------------------------------------------------------------ */

const char *component__doing(const struct report *report, enum component component)
{
    static const char *const words[COMPONENTS] = {
        [COMPONENT_LOCK] = "waiting for a lock",
        [COMPONENT_CONDITION] = "waiting at a condition",
        [COMPONENT_BARRIER] = "waiting at a barrier",
        [COMPONENT_DISK] = "waiting for the disk",
        [COMPONENT_NETWORK] = "waiting for the network",
        [COMPONENT_MESSAGE] = "waiting for a message",
        [COMPONENT_SLEEP] = "sleeping",
        [COMPONENT_PAGE_FAULT] = "page faults",
        [COMPONENT_RUNNABLE] = "wanted a CPU, had none",
        [COMPONENT_OTHER_BLOCKED] = "other waits",
        [COMPONENT_OVERHEAD] = "recording",
    };
    if (component == COMPONENT_RUNNING)
        return profile__without_kernel(report->profile) ? "working or not known" : "working";
    return words[component];
}

static void put_bar(struct flow *flow, const char *name, double share)
{
    char percent[16];
    char *bar = bar__format(flow->style, share, BAR_CELLS);
    flow__take(
        flow,
        memory__format("%s %s%s%s", name, share__format(share, percent), *bar ? " " : "", bar),
        INK_PLAIN, 3);
    free(bar);
}

static unsigned largest_but_running(const uint64_t ns[COMPONENTS])
{
    unsigned most = 0;
    for (unsigned i = 1; i < COMPONENT_RUNNING; i++)
        most = ns[i] > ns[most] ? i : most;
    return most;
}

/* Working, then the largest first; what is too little for a bar is one, so that they add up. */
static void put_bars(const struct report *report, const struct role *role,
                     const struct style *style, FILE *out)
{
    uint64_t left[COMPONENTS], others_ns = 0;
    double all_ns = (double)role->lifetime_ns;
    memcpy(left, role->component_ns, sizeof left);
    struct flow flow = flow__start(style, out, 4);
    fputs("    ", out);
    flow.column = flow.indent;
    put_bar(&flow, component__doing(report, COMPONENT_RUNNING),
            (double)left[COMPONENT_RUNNING] / all_ns);
    if ((double)role->idle_ns >= BAR_FROM * all_ns)
        put_bar(&flow, "idle", (double)role->idle_ns / all_ns);
    else
        others_ns = role->idle_ns;
    if ((double)role->asked_ns >= BAR_FROM * all_ns)
        put_bar(&flow, "yielding or asking", (double)role->asked_ns / all_ns);
    else
        others_ns += role->asked_ns;
    for (unsigned shown = 0; shown < COMPONENT_RUNNING; shown++) {
        unsigned most = largest_but_running(left);
        if ((double)left[most] < BAR_FROM * all_ns)
            others_ns += left[most];
        else
            put_bar(&flow, component__doing(report, (enum component)most),
                    (double)left[most] / all_ns);
        left[most] = 0;
    }
    if ((double)others_ns >= BAR_FROM * all_ns)
        put_bar(&flow, "other", (double)others_ns / all_ns);
    flow__end(&flow);
}

static void put_role(const struct report *report, const struct role *role,
                     const struct style *style, FILE *out)
{
    char duration[16], *name = role_name(report, role, style);
    paragraph__take(style, out, "  ",
                    memory__format("%s, %s of thread time", name,
                                   duration__format(role->lifetime_ns, duration)));
    put_bars(report, role, style, out);
    free(name);
}

/* ---- who has none ---------------------------------------------------------------------------- */

static char *left_out_name(const struct report *report, const struct role *role,
                           const struct style *style)
{
    char *name = role_name(report, role, style);
    if (role->joined_ns >= role->lifetime_ns / 2)
        name = text__append(name, " (for the end of others)");
    return name;
}

/* Threads without names, begun at places without names, are all called so. */
static bool is_called_so(const struct report *report, const struct role *role,
                         const struct role *other, const struct style *style)
{
    bool waits = role->joined_ns >= role->lifetime_ns / 2;
    if (role->name || role->is_main || other->name || other->is_main || other->had_work ||
        (other->joined_ns >= other->lifetime_ns / 2) != waits)
        return role == other;
    struct role one = *role, other_one = *other;
    one.threads = other_one.threads = 1;
    char *name = role_name(report, &one, style), *other_name = role_name(report, &other_one, style);
    bool is_same = strcmp(name, other_name) == 0;
    free(name);
    free(other_name);
    return is_same;
}

/* Those that are called the same are told once, with the first of them; 0: they have been. */
static uint32_t threads_called_so(const struct report *report, const struct role *role,
                                  const struct style *style)
{
    uint32_t threads = 0;
    VEC_EACH (other, &report->findings->roles, struct role) {
        if (!is_called_so(report, role, other, style))
            continue;
        if (!threads && other != role)
            return 0;
        threads += other->threads;
    }
    return threads;
}

char *left_out__text(const struct report *report, const struct style *style)
{
    char *list = memory__text("");
    uint64_t shown = 0, more = 0;
    VEC_EACH (each, &report->findings->roles, struct role) {
        struct role all = *each, *role = &all;
        if (role->had_work || (all.threads = threads_called_so(report, each, style)) == 0)
            continue;
        if (shown++ >= LEFT_OUT_MOST) {
            more += role->threads;
            continue;
        }
        char *name = left_out_name(report, role, style);
        list = text__join(list, ", ", name);
        free(name);
    }
    if (more)
        list = text__append(list, " and %llu more", (unsigned long long)more);
    return list;
}

static void put_left_out(const struct report *report, const struct style *style, FILE *out)
{
    char *list = left_out__text(report, style);
    if (*list)
        paragraph__take(style, out, "  ", memory__format("Left out, they waited: %s.", list));
    free(list);
}

static void put_more_roles(uint64_t threads, uint64_t lifetime_ns, const struct style *style,
                           FILE *out)
{
    char number[32], duration[16];
    paragraph__take(style, out, "  ",
                    memory__format("and %s more thread%s, %s of thread time",
                                   count__format(threads, number), threads == 1 ? "" : "s",
                                   duration__format(lifetime_ns, duration)));
}

void text__roles(const struct report *report, const struct style *style, FILE *out)
{
    uint64_t shown = 0, threads = 0, lifetime_ns = 0;
    VEC_EACH (role, &report->findings->roles, struct role) {
        if (!role->had_work || role->lifetime_ns == 0)
            continue;
        if (shown++ < ROLES_MOST) {
            put_role(report, role, style, out);
            continue;
        }
        threads += role->threads;
        lifetime_ns += role->lifetime_ns;
    }
    if (threads)
        put_more_roles(threads, lifetime_ns, style, out);
    put_left_out(report, style, out);
}
