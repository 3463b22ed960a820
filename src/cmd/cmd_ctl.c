/* heurt ctl: what is asked of a recording that goes on. */
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/values.h"
#include "recorder/control.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ctl_asked {
    uint64_t last_ns; /* of a snapshot; 0: all */
};

static const struct option_row option_rows[] = {
    {.name = "last",
     .value = "TIME",
     .help = "of a snapshot: so much before now (all that there is)",
     .expected = DURATION_FORM,
     VALUE(struct ctl_asked, last_ns, duration__parse)},
    {.kind = OPTION_OPERAND, .name = "start", .help = "record again"},
    {.kind = OPTION_OPERAND,
     .name = "stop",
     .help = "record nothing from now on; what was recorded becomes a window"},
    {.kind = OPTION_OPERAND,
     .name = "snapshot",
     .help = "what was recorded so far becomes a window; the recording goes on"},
    {.kind = OPTION_OPERAND,
     .name = "mark TEXT",
     .help = "the text stands in the trace, at this moment"},
    {0},
};

/* The request's text. NULL: it was refused. */
static char *request_of(const struct command *self, const struct ctl_asked *asked, int count,
                        char **words)
{
    const char *verb = count ? words[0] : "";
    bool is_mark = strcmp(verb, "mark") == 0, is_snapshot = strcmp(verb, "snapshot") == 0;
    bool is_known =
        is_mark || is_snapshot || strcmp(verb, "start") == 0 || strcmp(verb, "stop") == 0;
    if (!is_known)
        wrong_usage(self, "start, stop, snapshot or mark TEXT? Found '%s'", verb);
    else if (is_mark != (count == 2) || (is_mark && !*words[1]))
        wrong_usage(self,
                    is_mark ? "mark: expected a text, as one word: mark '%s'"
                            : "%s: expected nothing behind it",
                    is_mark ? "deployed" : verb);
    else if (asked->last_ns && !is_snapshot)
        wrong_usage(self, "--last goes with snapshot");
    else if (is_mark && strlen(words[1]) > CONTROL_TEXT / 2)
        wrong_usage(self, "mark: the text is longer than %d characters", CONTROL_TEXT / 2);
    else if (is_mark)
        return memory__format("mark %s", words[1]);
    else if (asked->last_ns)
        return memory__format("%s %" PRIu64, verb, asked->last_ns);
    else
        return memory__text(verb);
    return NULL;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct ctl_asked asked = {0};
    char answer[CONTROL_TEXT];
    struct error error;
    int status = options__read(self, argc, argv, &asked);
    if (status)
        return status;
    if (optind >= argc)
        return wrong_usage(self, "which recording? Name its directory, such as %s", DEFAULT_TRACE);
    const char *directory = argv[optind];
    char *request = request_of(self, &asked, argc - optind - 1, argv + optind + 1);
    if (!request)
        return EXIT_USAGE;
    int done = control__ask(directory, request, answer, &error);
    free(request);
    if (done < 0)
        return failed(&error);
    if (*answer)
        say("%s", answer);
    return done ? 0 : EXIT_HEURT;
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "stop, start, mark or take a snapshot of a recording that goes on",
    .rows = option_rows,
    .operands = "DIR start|stop|snapshot|mark [TEXT]",
    .run = run};
