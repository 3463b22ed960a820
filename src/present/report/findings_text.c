#include "analysis/memory/placement.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define COMMAND_COLUMNS 48 /* of a title; what is longer is cut */

/* ---- classes --------------------------------------------------------------------------------- */

enum standing class__standing(const struct profile_class *class)
{
    if (class->what.ignored)
        return STANDING_IGNORED;
    if (class->idle)
        return STANDING_IDLE;
    if (class->excess_ns == 0)
        return STANDING_NOTHING;
    return class->verdict == VERDICT_INTERFERENCE ? STANDING_RANKED
           : class->verdict == VERDICT_WORKLOAD   ? STANDING_WORKLOAD
                                                  : STANDING_UNCLEAR;
}

bool class__has_arguments(const struct report *report, const struct profile_class *class)
{
    const struct trace_process *process = report__process(report, class->what.at.process);
    if (!process || class->what.at.kind != CLASS_CALL)
        return false;
    VEC_EACH (function, &process->functions, struct trace_function)
        if (function->address == class->what.at.address && function->argument_count)
            return true;
    return false;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* As it would be typed into a shell: what is empty, or has blanks, between quotes. */
static char *add_argument(char *text, const char *argument, size_t bytes)
{
    bool plain = bytes > 0 && strcspn(argument, " \t\n;&|<>()$`*?#") >= bytes;
    const char *quote = plain || memchr(argument, '\'', bytes) ? "" : "'";
    return text__append(text, "%s%s%.*s%s", *text ? " " : "", quote, (int)bytes, argument, quote);
}

char *report__command(const struct report *report)
{
    const char *command = trace__meta(report->trace, "command");
    char *text = memory__text("");
    if (!command || !*command)
        return text__append(text, "(unknown command)");
    if (!strchr(command, '\n'))
        return text__append(text, "%s", command);
    for (const char *at = command; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        text = add_argument(text, at, strcspn(at, "\n"));
    return text;
}

char *report__title(const struct report *report, const struct style *style)
{
    char *command = report__command(report), *blank = strchr(command, ' ');
    size_t bytes = blank ? (size_t)(blank - command) : strlen(command);
    char *program = memory__format("%.*s", (int)bytes, command);
    char *text = memory__format("%s%s", path__name(program), command + bytes);
    char *clean = text__for_screen(text);
    bool is_long = text__width(clean) > COMMAND_COLUMNS;
    free(text);
    text = is_long
               ? memory__format("%.*s%s", (int)text__bytes_of_columns(clean, COMMAND_COLUMNS - 2),
                                clean, style->unicode ? "…" : "...")
               : memory__text(clean);
    free(clean);
    free(program);
    free(command);
    return text;
}

bool report__is_of_part(const struct report *report)
{
    return trace__whole(report->trace) || trace__has_asides(report->trace);
}

/* " --thread main --from 0.1s --to 0.15s", or "". free() it. */
static char *part_options(const struct report *report)
{
    const struct trace *whole = trace__whole(report->trace);
    uint64_t from_ns, to_ns, begin_ns, end_ns;
    char *text = memory__text(report->threads ? report->threads : "");
    if (!whole)
        return text;
    trace__bounds_ns(report->trace, &from_ns, &to_ns);
    trace__bounds_ns(whole, &begin_ns, &end_ns);
    if (from_ns > begin_ns)
        text = text__append(text, " --from %.10gs", round((double)from_ns / 1e3) / 1e6);
    if (to_ns < end_ns)
        text = text__append(text, " --to %.10gs", round((double)to_ns / 1e3) / 1e6);
    return text;
}

static char *hint(const struct report *report, const char *verb, const char *rest)
{
    const char *blank = *rest ? " " : "", *directory = report->directory;
    if (strcmp(directory, "heurt.data") == 0)
        return memory__format("heurt %s%s%s", verb, blank, rest);
    bool plain = *directory && strspn(directory, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                                 "WXYZ0123456789_-./+:@%") == strlen(directory);
    const char *quote = plain ? "" : "'";
    char *text =
        memory__format("heurt %s -i %s%s%s%s%s", verb, quote, directory, quote, blank, rest);
    char *clean = text__for_screen(text);
    free(text);
    return clean;
}

char *report__hint(const struct report *report, const char *verb, const char *rest)
{
    char *part = strcmp(verb, "report") == 0 ? part_options(report) : memory__text("");
    char *all = memory__format("%s%s%s", *part ? part + 1 : "", *part && *rest ? " " : "", rest);
    char *text = hint(report, verb, all);
    free(all);
    free(part);
    return text;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void warn(struct vec *warnings, char *sentence)
{
    vec__push(warnings, &sentence);
}

static void warn_about_the_end(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    if (!session->finished)
        warn(warnings, memory__text("the recording was cut off (the recorder is still at work or "
                                    "was killed): what came last may be missing"));
    else if (WIFSIGNALED(session->wait_status))
        warn(warnings, memory__format("the program was ended by signal %d (%s)",
                                      WTERMSIG(session->wait_status),
                                      strsignal(WTERMSIG(session->wait_status))));
}

/* Then the report is of the time until that. False: it was not. */
static bool warn_that_it_was_full(const struct report *report, struct vec *warnings)
{
    const struct trace *whole = trace__whole(report->trace);
    char after[16], all[16];
    uint64_t from_ns, to_ns;
    if (!whole || !trace__full_ns(whole))
        return false;
    trace__bounds_ns(whole, &from_ns, &to_ns);
    uint64_t full_ns = trace__full_ns(whole);
    warn(warnings,
         memory__format("the trace was full after %s of %s: all that is told here is of that time; "
                        "a larger --max-size holds more of a run, --overhead 1%% records less",
                        duration__format(full_ns > from_ns ? full_ns - from_ns : 0, after),
                        duration__format(to_ns - from_ns, all)));
    return true;
}

static void warn_about_losses(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    uint64_t lost = trace__events_lost(report->trace);
    uint64_t damaged = trace__damaged_chunks(report->trace);
    char number[32], size[16];
    uint64_t limit_bytes = session->limit_units * (uint64_t)HEURT_UNIT_BYTES;
    const char *went_on = trace__meta(report->trace, "went_on");
    if (went_on)
        warn(warnings,
             memory__format("%s process%s of the program went on when the recording ended: "
                            "what they did then is not in it",
                            went_on, strcmp(went_on, "1") ? "es" : ""));
    else if (warn_that_it_was_full(report, warnings))
        return;
    else if (lost && session->next_unit > session->limit_units)
        warn(warnings,
             memory__format("%s events were dropped when the trace had reached its limit "
                            "of %s, so counts and times are too low: record with a "
                            "larger --max-size or fewer functions",
                            count__format(lost, number), bytes__format(limit_bytes, size)));
    else if (lost)
        warn(warnings, memory__format("%s events were lost, so counts and times are too low: a "
                                      "larger --max-size or fewer functions may help",
                                      count__format(lost, number)));
    if (damaged)
        warn(warnings, memory__format("%s part%s of the trace %s damaged or never written: what "
                                      "stood there is missing",
                                      count__format(damaged, number), damaged == 1 ? "" : "s",
                                      damaged == 1 ? "is" : "are"));
}

char *report__why_no_kernel(const struct report *report)
{
    size_t without = profile__without_kernel(report->profile), all = report->profile->threads.count;
    char some[32], every[32];
    if (without == 0)
        return NULL;
    if (!(trace__session(report->trace)->flags & HEURT_SESSION_KERNEL))
        return memory__text("the kernel's records were not asked for, or were refused when the "
                            "recording began");
    if (without == all)
        return memory__text("no thread could open the kernel's records");
    return memory__format("%s of %s threads could not open the kernel's records",
                          count__format(without, some), count__format(all, every));
}

static void warn_of_the_kernel(const struct report *report, struct vec *warnings)
{
    char number[32];
    char *why = report__why_no_kernel(report);
    uint64_t lost = profile__kernel_lost(report->profile, report->trace);
    if (why)
        warn(warnings,
             memory__format("waiting for a CPU, page faults and other waits are not known and "
                            "count as running: %s (heurt check tells what would allow "
                            "them)",
                            why));
    if (lost)
        warn(warnings, memory__format("%s record%s of the kernel %s lost, so some time off the CPU "
                                      "counts as running",
                                      count__format(lost, number), lost == 1 ? "" : "s",
                                      lost == 1 ? "was" : "were"));
    free(why);
}

const char *check__name(enum profile_check_name name)
{
    static const char *const names[PROFILE_CHECKS] = {
        [CHECK_RUNNING] = "running",
        [CHECK_LIVES] = "lives",
        [CHECK_FAULT_TIME] = "page_fault_time",
        [CHECK_FAULT_COUNT] = "page_fault_count",
    };
    return names[name];
}

static char *check__sentence(enum profile_check_name name, const struct profile_check *check)
{
    char ours[32], counted[32];
    if (name == CHECK_FAULT_COUNT)
        return memory__format("%s page faults are told, and the system counted only %s",
                              count__format(check->ours, ours),
                              count__format(check->counted, counted));
    static const char *const forms[PROFILE_CHECKS] = {
        [CHECK_RUNNING] = "the threads' running time adds up to %s, and their CPU time only to %s, "
                          "so some waiting counts as running",
        [CHECK_LIVES] = "the threads' lives add up to %s, and the kernel knew of %s, so something "
                        "about some threads is missing",
        [CHECK_FAULT_TIME] = "page faults took %s of CPU time, and the program had only %s in the "
                             "kernel, so something else counts as page faults",
    };
    return memory__format(forms[name], duration__format(check->ours, ours),
                          duration__format(check->counted, counted));
}

static void warn_of_checks(const struct report *report, struct vec *warnings)
{
    for (int i = 0; i < PROFILE_CHECKS; i++) {
        const struct profile_check *check = &report->profile->checks[i];
        if (check->known && !check->holds)
            warn(warnings, check__sentence((enum profile_check_name)i, check));
    }
}

/* The same is said of that file's process already. */
static bool is_said(const struct report *report, const struct trace_process *of, const char *note)
{
    VEC_EACH (process, trace__processes(report->trace), struct trace_process) {
        if (process == of)
            return false;
        VEC_EACH (said, &process->notes, const char *)
            if (strcmp(process->path, of->path) == 0 && strcmp(*said, note) == 0)
                return true;
    }
    return false;
}

static size_t processes_with(const struct report *report, const struct trace_process *of,
                             const char *note)
{
    size_t count = 0;
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        VEC_EACH (said, &process->notes, const char *)
            count += strcmp(process->path, of->path) == 0 && strcmp(*said, note) == 0;
    return count;
}

static char *note_text(const struct report *report, const struct trace_process *process,
                       const char *note)
{
    char number[32];
    size_t more = processes_with(report, process, note) - 1;
    char *others =
        more ? memory__format(" and %s more", count__format(more, number)) : memory__text("");
    char *text = memory__format("%s (pid %u%s): %s", *process->path ? process->path : "the program",
                                process->pid, others, note);
    free(others);
    return text;
}

/* What is so of several processes of a file once. */
static void warn_of_notes(const struct report *report, struct vec *warnings)
{
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        VEC_EACH (note, &process->notes, const char *)
            if (!is_said(report, process, *note))
                warn(warnings, note_text(report, process, *note));
}

char *report__budget(const struct report *report)
{
    const struct heurt_session *session = trace__session(report->trace);
    const char *form = session->flags & HEURT_SESSION_SAMPLE_SEMAPHORES /* it was given */
                           ? "--overhead %g%%"
                           : "--overhead %g%% (the default)";
    return memory__format(form, session->overhead_permille / 10.0);
}

/* Functions whose unpatching the runtime asked for, and nobody granted it. */
static void warn_of_too_frequent(const struct report *report, struct vec *warnings)
{
    const struct heurt_session *session = trace__session(report->trace);
    char *budget = report__budget(report);
    for (size_t i = 0; i < HEURT_TOO_FREQUENT_SLOTS; i++) {
        uint64_t wish = session->too_frequent[i];
        VEC_EACH (process, trace__processes(report->trace), struct trace_process) {
            const struct trace_function *function =
                wish >> 32 == process->serial + 1ull
                    ? trace_process__function(process, (uint32_t)wish)
                    : NULL;
            if (function)
                warn(warnings,
                     memory__format("%s is called so often that even leaving out most of its calls "
                                    "costs more than %s: record the program without it",
                                    function->name, budget));
        }
    }
    free(budget);
}

/* Also where it is no finding, or a little one: what it costs is seldom known. */
static void warn_of_remote_memory(const struct report *report, struct vec *warnings)
{
    char share[16];
    uint64_t samples;
    double remote = placement__remote_share(report->trace, &samples);
    if (samples < PLACEMENT_SAMPLES_LEAST || remote <= 1 - PLACEMENT_LAR_GOOD)
        return;
    char *hint = report__hint(report, "place", "");
    warn(warnings, memory__format("%s of the time at memory is at memory of other NUMA nodes: %s "
                                  "tells of which objects",
                                  share__format(remote, share), hint));
    free(hint);
}

struct vec report__warnings(const struct report *report)
{
    struct vec warnings = VEC_OF(char *);
    warn_about_the_end(report, &warnings);
    warn_about_losses(report, &warnings);
    if (report->profile) {
        warn_of_the_kernel(report, &warnings);
        warn_of_checks(report, &warnings);
    }
    warn_of_notes(report, &warnings);
    warn_of_too_frequent(report, &warnings);
    warn_of_remote_memory(report, &warnings);
    const char *const *sentences = NULL;
    size_t count = symbols__warnings(report->symbols, &sentences);
    for (size_t i = 0; i < count; i++)
        warn(&warnings, memory__text(sentences[i]));
    if (!report->profile)
        return warnings;
    VEC_EACH (sentence, &report->profile->warnings, char *)
        warn(&warnings, memory__text(*sentence));
    return warnings;
}
