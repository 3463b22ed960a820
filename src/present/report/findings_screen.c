/* Findings: one site or object each, its parts below it. */
#include "analysis/callsite/program_frame.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/memory/sharing_words.h"
#include "present/place/place_screens.h"
#include "present/report/findings_words.h"
#include "present/report/report_parts.h"
#include "present/report/unseen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MOST 8
#define PARTS_MOST 4
#define HOLDERS_MOST 3
#define HOLDER_FROM 0.05   /* of a part */
#define DOING_FROM 0.1     /* of what is known of a finding */
#define TWICE_SAID 1.5     /* times as long as nobody had it: less is no other fact */
#define CLASSES_MOST 10    /* numbers in a list */
#define OTHERWISE_FROM 0.1 /* of what its classes lost: so much has other causes */
#define REMOVED_MOST 3     /* classes in a command */
#define LOST_COLUMNS 8
#define SHARE_COLUMNS 5
#define GAIN_COLUMNS 11
#define BODY_INDENT 5
#define WIDE_COLUMNS 80

/* ---- the first line -------------------------------------------------------------------------- */

char *finding__gain(const struct finding *finding, bool unicode)
{
    char gain[GAIN_BYTES];
    gain__format(finding->wall_gain, unicode, gain);
    bool is_number = *gain >= '0' && *gain <= '9';
    return memory__format("%s%s", finding->is_assumed && is_number ? "~" : "", gain);
}

/* rank 0: it has none. */
static char *figures(const struct finding *finding, size_t rank, const struct style *style)
{
    char duration[16], share[16];
    const char *doubt = finding->confidence == CONFIDENCE_MEASURED ? "" : "~";
    char *number = rank ? memory__format("%zu", rank) : memory__text("");
    char *lost =
        text__padded(memory__format("%s%s", doubt, duration__format(finding->lost_ns, duration)),
                     LOST_COLUMNS, true);
    char *part =
        text__padded(memory__text(share__format(finding->share, share)), SHARE_COLUMNS, true);
    char *gain = text__padded(finding__gain(finding, style->unicode), GAIN_COLUMNS, false);
    char *text = memory__format("  %-2s %s  %s  %s ", number, lost, part, gain);
    free(number);
    free(lost);
    free(part);
    free(gain);
    return text;
}

void text__findings_titles(const struct style *style, FILE *out)
{
    char *text = memory__format("  %-2s %*s  %*s  %-*s  %s", "", LOST_COLUMNS, "lost",
                                SHARE_COLUMNS, "share", GAIN_COLUMNS, "gain", "where");
    ink__put(style, out, INK_DIM, text);
    fputc('\n', out);
    free(text);
}

/* On a narrow terminal what is long goes on below the figures. */
static void put_headline(const struct report *report, const struct finding *finding, size_t rank,
                         const struct style *style, FILE *out)
{
    char *lead = figures(finding, rank, style), *subject = finding__subject(report, finding);
    char *clean = text__for_screen(subject);
    bool is_narrow = style->columns && style->columns < WIDE_COLUMNS;
    unsigned column = text__width(lead);
    struct flow flow = flow__start(style, out, is_narrow ? BODY_INDENT : column + 1);
    fputs(lead, out);
    flow.column = column;
    flow.first = false;
    flow__words(&flow, clean, rank ? INK_BOLD : INK_PLAIN);
    flow__end(&flow);
    free(clean);
    free(subject);
    free(lead);
}

/* ---- the cause ------------------------------------------------------------------------------- */

static bool is_counted(const struct finding *finding)
{
    switch (finding->category) {
    case FINDING_CPU:
    case FINDING_IMBALANCE:
    case FINDING_OVERLAP:
    case FINDING_SPINNING:
    case FINDING_FALSE_SHARING:
    case FINDING_TRUE_SHARING:
    case FINDING_REMOTE_MEMORY:
    case FINDING_RETRY:
    case FINDING_UNEXPLAINED:
        return false;
    default:
        return finding->counts.waits > 0;
    }
}

/* " Blocked 83 of 16,000 times (1 %), 7.1 ms each, up to 28 ms." */
static char *how_often(const struct finding *finding)
{
    const struct finding_counts *counts = &finding->counts;
    char waits[32], taken[32], share[16], each[16], longest[16];
    if (!is_counted(finding))
        return memory__text("");
    count__format(counts->waits, waits);
    duration__format(counts->wait_ns / counts->waits, each);
    duration__format(counts->longest_ns, longest);
    if (counts->taken == counts->waits)
        return memory__format(" %s time%s, %s each, up to %s.", waits,
                              counts->waits == 1 ? "" : "s", each, longest);
    return memory__format(" Blocked %s of %s times (%s), %s each, up to %s.", waits,
                          count__format(counts->taken, taken),
                          share__format((double)counts->waits / (double)counts->taken, share), each,
                          longest);
}

/* " 1.52 s are no waits: …" */
static char *beside(const struct finding *finding)
{
    char lost[16];
    return finding->beside_ns
               ? memory__format(" %s of the loss is no wait: the code around it is slower while "
                                "others take it.",
                                duration__format(finding->beside_ns, lost))
               : memory__text("");
}

/* What of the loss bars show as want of a CPU: who had waited was woken, and did not run yet. */
static uint64_t without_cpu_ns(const struct report *report, const struct finding *finding)
{
    uint64_t waited_ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct profile_class *class =
            VEC_AT(&report->profile->classes, struct profile_class, *place);
        int64_t runnable_ns = class->why_ns[COMPONENT_RUNNABLE];
        waited_ns += class->excess_ns - (runnable_ns > 0 ? (uint64_t)runnable_ns : 0);
    }
    return finding->lost_ns > waited_ns ? finding->lost_ns - waited_ns : 0;
}

/* " In 287 ms of the loss they could go on and had no CPU." */
static char *behind_it(const struct report *report, const struct finding *finding)
{
    char lost[16];
    if (finding->category != FINDING_LOCK || finding->beside_ns || !is_counted(finding) ||
        trace__has_asides(report->trace))
        return memory__text("");
    uint64_t ns = without_cpu_ns(report, finding);
    bool is_said = (double)ns < TWICE_SAID * (double)finding->counts.unheld_ns;
    return !is_said && (double)ns >= DOING_FROM * (double)finding->lost_ns
               ? memory__format(" In %s of the loss they could go on and had no CPU.",
                                duration__format(ns, lost))
               : memory__text("");
}

static bool has_holder(const struct finding *finding)
{
    return finding->category == FINDING_LOCK || finding->category == FINDING_FILE_LOCK ||
           finding->category == FINDING_STDIO;
}

/* " For 25 % of that the holder wanted a CPU and had none." */
static char *what_the_other_did(const struct finding *finding)
{
    const struct finding_counts *counts = &finding->counts;
    unsigned most = 0;
    char share[16];
    for (unsigned i = 1; i < COMPONENT_RUNNING; i++)
        most = counts->doing_ns[i] > counts->doing_ns[most] ? i : most;
    double part = counts->wait_ns ? (double)counts->doing_ns[most] / (double)counts->wait_ns : 0;
    double unheld = counts->wait_ns ? (double)counts->unheld_ns / (double)counts->wait_ns : 0;
    if (is_counted(finding) && unheld >= DOING_FROM && unheld > part)
        return memory__format(" For %s of that nobody had it: the next in line had no CPU yet.",
                              share__format(unheld, share));
    if (!is_counted(finding) || part < DOING_FROM)
        return memory__text("");
    return memory__format(" For %s of that %s %s.", share__format(part, share),
                          has_holder(finding) ? "the holder" : "who was waited for",
                          most == COMPONENT_RUNNABLE ? "wanted a CPU and had none"
                                                     : doing__words((enum component)most));
}

/* Of threads and the CPUs that they share. */
static char *cause_of(const struct report *report, const struct finding *finding)
{
    const char *cpus = trace__meta(report->trace, "cpus");
    if (finding->category != FINDING_CPU || !cpus || !*cpus || trace__has_asides(report->trace))
        return finding__cause(report, finding);
    if (finding->bound_cpus)
        return memory__format("Threads that wanted a CPU stay on %u of the %s CPUs, and other CPUs "
                              "are free: something binds them.",
                              finding->bound_cpus, cpus);
    char *workers = workers__text(report);
    double others = profile__cpus_of_others(report->profile, report->trace);
    char *text =
        memory__format("%s had work, on %s CPU%s", workers, cpus, strcmp(cpus, "1") ? "s" : "");
    free(workers);
    return others > 0 ? text__append(text, ", of which other programs used %.1f.", others)
                      : text__append(text, ".");
}

char *finding__in_full(const struct report *report, const struct finding *finding)
{
    char *cause = cause_of(report, finding), *often = how_often(finding);
    char *doing = what_the_other_did(finding), *slower = beside(finding);
    char *behind = behind_it(report, finding);
    char *text = memory__format("%s%s%s%s%s", cause, often, doing, slower, behind);
    free(behind);
    free(cause);
    free(often);
    free(doing);
    free(slower);
    return text;
}

/* ---- its parts ------------------------------------------------------------------------------- */

/* Within a library of the system: whose call that was is not known. */
static bool is_in_library(const struct report *report, const struct finding_holder *holder)
{
    const struct symbol *symbol = symbols__get(report->symbols, holder->process, holder->site);
    return symbol && !program_frame__inlined(symbol);
}

char *finding_part__because_of(const struct report *report, const struct finding *finding,
                               const struct finding_part *part)
{
    char *text = memory__text(""), unknown[32], percent[16];
    size_t shown = 0;
    VEC_EACH (holder, &part->holders, struct finding_holder) {
        if (shown >= HOLDERS_MOST || holder->share < HOLDER_FROM)
            break;
        if (is_in_library(report, holder))
            continue;
        shown++;
        struct place place = place__of_site(report, holder->process, holder->site, unknown);
        char *name = function__short(place.function);
        text = text__append(text, "%s%s %s", *text ? ", " : "", name,
                            share__format(holder->share, percent));
        free(name);
    }
    const char *who = has_holder(finding) ? "holder:" : "because of";
    char *all = *text ? memory__format("%s %s", who, text) : memory__text("");
    free(text);
    return all;
}

char *finding_part__where(const struct report *report, const struct finding *finding,
                          const struct finding_part *part)
{
    char unknown[32];
    const struct symbol *symbol = part->place;
    const struct class_definition *what =
        &VEC_AT(&report->profile->classes, struct profile_class, part->class)->what;
    if (finding->objects > 1 && what->has_object)
        return class__object_text(report, what);
    struct place place =
        symbol ? (struct place){symbol->function, symbol->module, symbol->file, symbol->line}
               : place__of_class(report, what, unknown);
    char *where = place__text(&place), *text = memory__format("in %s", where);
    free(where);
    return text;
}

static void put_part(const struct report *report, const struct finding *finding,
                     const struct finding_part *part, const struct style *style, FILE *out)
{
    char duration[16], *lead;
    char *where = finding_part__where(report, finding, part),
         *by = finding_part__because_of(report, finding, part);
    const char *between = !*by ? "" : style->unicode ? " · " : " | ";
    lead = memory__format("     %*s  ", LOST_COLUMNS, duration__format(part->lost_ns, duration));
    paragraph__take(style, out, lead, memory__format("%s%s%s", where, between, by));
    free(lead);
    free(where);
    free(by);
}

/* What is not shown is a line, so that they add up. */
static void put_parts(const struct report *report, const struct finding *finding,
                      const struct style *style, FILE *out)
{
    uint64_t rest_ns = 0;
    size_t count = finding->parts.count, shown = 0;
    char duration[16], number[32];
    if (count < 2)
        return;
    VEC_EACH (part, &finding->parts, struct finding_part) {
        if (shown++ < PARTS_MOST)
            put_part(report, finding, part, style, out);
        else
            rest_ns += part->lost_ns;
    }
    if (count > PARTS_MOST)
        fprintf(out, "     %*s  in %s more\n", LOST_COLUMNS, duration__format(rest_ns, duration),
                count__format(count - PARTS_MOST, number));
}

/* ---- what to try ----------------------------------------------------------------------------- */

static char *removed_classes(const struct finding *finding)
{
    char *list = memory__text(""), number[32];
    VEC_EACH (class, &finding->classes, uint32_t) {
        snprintf(number, sizeof number, "%u", *class + 1);
        list = text__join(list, " ", number);
    }
    return list;
}

/* The replay knows locks, not what else a program makes one of. */
static bool is_one_lock(const struct report *report, const struct finding *finding)
{
    return finding->category == FINDING_LOCK && finding->objects == 1 && !finding->is_ordered &&
           !finding__is_of_rwlock(report, finding) &&
           VEC_AT(&report->profile->classes, struct profile_class, finding->leader)->what.at.kind ==
               CLASS_LOCK;
}

/* "--split 'lock=queue_lock:2'": by its variable, or its address. */
static char *split_in_two(const struct report *report, const struct finding *finding)
{
    const struct class_definition *what =
        &VEC_AT(&report->profile->classes, struct profile_class, finding->leader)->what;
    const char *name = class__object_name(report, what);
    return name ? memory__format("--split 'lock=%s:2'", name)
                : memory__format("--split 'lock=0x%" PRIx64 ":2'", what->object);
}

char *finding__checking_command(const struct report *report, const struct finding *finding)
{
    char *what = NULL, *with_hint = finding__hint_command(report, finding);
    if (with_hint)
        return with_hint;
    if (trace__is_aggregated(report->trace))
        what = NULL;
    else if (is_one_lock(report, finding) && finding->has_object)
        what = split_in_two(report, finding);
    else if (!report__is_of_part(report) && /* of which classes have other numbers */
             finding__can_be_replayed(report->profile, finding) &&
             finding->classes.count <= REMOVED_MOST)
        what = removed_classes(finding);
    char *hint = what ? report__hint(report, "whatif", what) : NULL;
    free(what);
    return hint;
}

/* Of memory of other nodes: who touched it first, and where all of it is told. */
static void put_touch(const struct report *report, const struct finding *finding,
                      const struct style *style, FILE *out)
{
    const struct place_report shown = {.report = report,
                                       .use = report->findings->remotes->use,
                                       .placement = report->findings->remotes->placement};
    char *touch = placement__touch_text(&shown, finding->remote->placed);
    char *hint = report__hint(report, "place", "");
    paragraph__take(style, out, "     ", memory__format("%sFrom node to node: %s", touch, hint));
    free(touch);
    free(hint);
}

/* Of a cache line: what lies there, and who does what to it. */
static void put_line(const struct report *report, const struct finding *finding,
                     const struct style *style, FILE *out)
{
    const struct sharing *sharing = finding->sharing;
    if (finding->remote)
        put_touch(report, finding, style, out);
    if (!sharing)
        return;
    char *object = sharing__object(report, sharing);
    char *sides = sharing->is_false ? sharing__sides(report, sharing) : memory__text("");
    const char *lies = !object ? "" : *sides ? ". They lie in " : "It lies in ";
    if (object || *sides)
        paragraph__take(style, out, "     ",
                        memory__format("%s%s%s.", sides, lies, object ? object : ""));
    free(object);
    free(sides);
}

static void put_tries(const struct report *report, const struct finding *finding,
                      const struct style *style, FILE *out)
{
    char *fix = finding__fix(report, finding), *text = memory__text(fix ? fix : "");
    char *with_hint = finding__hint_command(report, finding);
    char *command = with_hint ? with_hint : finding__checking_command(report, finding);
    for (const char *const *try = finding__tries(report, finding) + (fix != NULL); *try; try++)
        text = text__join(text, style->unicode ? " · " : "; ", *try);
    paragraph__take(style, out, "     To try: ", text);
    if (command)
        paragraph__take(style, out, "             ",
                        memory__format("%s (%s)", command,
                                       with_hint ? "the run with that"
                                       : is_one_lock(report, finding)
                                           ? "with two locks in place of it"
                                           : "the run without it"));
    free(command);
    free(fix);
}

void text__finding_brief(const struct report *report, const struct finding *finding, size_t rank,
                         const struct style *style, FILE *out)
{
    put_headline(report, finding, rank, style, out);
    if (rank)
        paragraph__take(style, out, "     ", finding__in_full(report, finding));
}

static void put_finding(const struct report *report, const struct finding *finding, size_t rank,
                        const struct style *style, FILE *out)
{
    text__finding_brief(report, finding, rank, style, out);
    put_parts(report, finding, style, out);
    put_line(report, finding, style, out);
    put_tries(report, finding, style, out);
}

/* ---- what was looked at, and what not -------------------------------------------------------- */

/* Functions and loops of which occurrences were recorded. */
static size_t functions_looked_at(const struct report *report, uint64_t *calls)
{
    size_t count = 0;
    *calls = 0;
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        bool is_of_program = !class__is_hooked(&class->what) && class->count > 1;
        count += is_of_program;
        *calls += is_of_program ? class->count : 0;
    }
    return count;
}

static bool has_samples(const struct report *report)
{
    const struct sharings *sharings = report->findings->sharings;
    return sharings && sharings->samples > 0;
}

/* Of what another tool recorded that is all which can have been looked at. */
static char *calls_looked_at(const struct report *report)
{
    const char *imported = trace__meta(report->trace, "imported");
    return imported ? memory__format("what was imported (%s)", imported)
                    : memory__text("locks, waits, input and output");
}

char *report__looked_at(const struct report *report)
{
    char number[32], calls_number[32];
    uint64_t calls;
    char *hooked = calls_looked_at(report), *text;
    size_t functions = functions_looked_at(report, &calls);
    const char *kernel = profile__without_kernel(report->profile) ? ""
                         : trace__meta(report->trace, "imported") ? ", CPU shortage"
                                                                  : ", page faults, CPU shortage";
    const char *lines = has_samples(report) ? ", sharing of cache lines" : "";
    if (functions == 0)
        text = memory__format("Looked at: %s%s%s.", hooked, kernel, lines);
    else
        text = memory__format("Looked at: %s%s%s, %s busy function%s (%s calls).", hooked, kernel,
                              lines, count__format(functions, number), functions == 1 ? "" : "s",
                              count__format(calls, calls_number));
    free(hooked);
    return text;
}

char *report__not_looked_at(const struct report *report)
{
    uint64_t calls;
    char *unseen = report__unseen_words(report);
    const char *functions = *unseen || functions_looked_at(report, &calls)
                                ? ""
                                : ", the program's own functions (none was recorded)";
    const char *kernel = profile__without_kernel(report->profile)
                             ? ", what threads did off the CPU in some threads"
                             : "";
    const char *lines =
        has_samples(report) ? "" : ", sharing of cache lines (the program was not sampled)";
    char *left = report__left_words(report);
    char *text =
        memory__format("Not looked at: %s%s%s%smemory bandwidth%s%s%s.", left, *left ? ", " : "",
                       unseen, *unseen ? ", " : "", lines, functions, kernel);
    free(left);
    free(unseen);
    return text;
}

/* Below findings: what is large enough to hide another one. */
static void put_unseen(const struct report *report, const struct style *style, FILE *out)
{
    char *all = report__left_words(report);
    if (profile__unseen(report->profile) >= UNSEEN_LARGE) {
        char *unseen = report__unseen_words(report);
        all = text__join(all, ", ", unseen);
        free(unseen);
    }
    if (*all)
        paragraph__take(style, out, "  ", memory__format("Not looked at: %s.", all));
    free(all);
    text__runtimes(report, style, out);
}

static void put_looked_at(const struct report *report, const struct style *style, FILE *out)
{
    paragraph__take(style, out, "  ", report__looked_at(report));
    paragraph__take(style, out, "  ", report__not_looked_at(report));
    text__runtimes(report, style, out);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void put_rest(const struct report *report, const struct style *style, FILE *out)
{
    char duration[16];
    uint64_t rest_ns = report->findings->rest_ns;
    bool one = report->profile->threads.count == 1, some = trace__has_asides(report->trace);
    const char *whom = !some ? "" : one ? " this thread" : " these threads";
    paragraph__take(style, out, "  ",
                    rest_ns ? memory__format("Nothing else costs%s more than %s.", whom,
                                             duration__format(rest_ns, duration))
                            : memory__text("Nothing else was found."));
    if (*whom)
        paragraph__take(style, out, "  ",
                        memory__format("Lost is what%s lost, share is of %s time. A gain is of the "
                                       "whole run, without what all threads lose there.",
                                       whom, one ? "its" : "their"));
}

bool finding__is_shown(const struct finding *finding)
{
    return finding->ranked || finding->is_noted;
}

/* Those that cost something, and not enough to be ranked, a line each. */
static void put_noted(const struct report *report, const struct style *style, FILE *out)
{
    VEC_EACH (finding, &report->findings->rows, struct finding)
        if (finding->is_noted)
            text__finding_brief(report, finding, 0, style, out);
}

static bool any_is_shown(const struct report *report)
{
    const struct vec *rows = &report->findings->rows;
    return rows->count && finding__is_shown(VEC_AT(rows, struct finding, 0));
}

void text__findings(const struct report *report, const struct style *style, FILE *out)
{
    size_t rank = 0;
    if (any_is_shown(report))
        text__findings_titles(style, out);
    VEC_EACH (finding, &report->findings->rows, struct finding)
        if (finding->ranked && ++rank <= SHOWN_MOST)
            put_finding(report, finding, rank, style, out);
    put_noted(report, style, out);
    text__findings_rest(report, style, out);
}

void text__findings_rest(const struct report *report, const struct style *style, FILE *out)
{
    if (any_is_shown(report)) {
        fputc('\n', out);
        put_rest(report, style, out);
    }
    if (findings__verdict(report->findings))
        put_unseen(report, style, out);
    else
        put_looked_at(report, style, out);
}

/* ---- one in depth ---------------------------------------------------------------------------- */

/* What its classes lost for other causes is no part of it: who is woken and has no CPU, say. */
static char *lost_otherwise(const struct report *report, const struct finding *finding)
{
    uint64_t lost_ns = 0;
    char all[16];
    VEC_EACH (place, &finding->classes, uint32_t)
        lost_ns += VEC_AT(&report->profile->classes, struct profile_class, *place)->excess_ns;
    bool is_more = lost_ns > finding->lost_ns &&
                   (double)(lost_ns - finding->lost_ns) >= OTHERWISE_FROM * (double)lost_ns;
    return is_more && !trace__has_asides(report->trace)
               ? memory__format(" lost %s, the rest of it for other causes",
                                duration__format(lost_ns, all))
               : memory__text("");
}

/* "Classes 3, 7 (heurt report --classes N); the first of them:" */
static char *classes_text(const struct report *report, const struct finding *finding)
{
    char *list = memory__text(""), number[32],
         *hint = report__hint(report, "report", "--classes N");
    size_t shown = 0;
    VEC_EACH (class, &finding->classes, uint32_t) {
        if (shown++ >= CLASSES_MOST)
            break;
        snprintf(number, sizeof number, "%u", *class + 1);
        list = text__join(list, ", ", number);
    }
    bool one = finding->classes.count == 1;
    char *otherwise = lost_otherwise(report, finding);
    char *text = memory__format("Class%s %s%s (%s)%s%s", one ? "" : "es", list,
                                finding->classes.count > CLASSES_MOST ? " ..." : "", hint,
                                otherwise, one ? ":" : "; what lost most:");
    free(otherwise);
    free(hint);
    free(list);
    return text;
}

void text__one_finding(const struct report *report, size_t rank, const struct style *style,
                       FILE *out)
{
    const struct finding *finding = VEC_AT(&report->findings->rows, struct finding, rank - 1);
    text__findings_titles(style, out);
    put_finding(report, finding, finding->ranked ? rank : 0, style, out);
    if (finding->leader == FINDING_NO_CLASS)
        return;
    fputc('\n', out);
    paragraph__take(style, out, "", classes_text(report, finding));
    fputc('\n', out);
    text__one_class(report, finding->leader + 1, style, out);
}
