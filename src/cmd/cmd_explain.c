/* heurt explain: the words that screens are made of. */
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/pager_print.h"
#include "present/glossary/glossary.h"

#include <getopt.h>
#include <stdlib.h>

struct explain_options {
    bool is_page;
    uint64_t width; /* 0: not given */
};

static void put(const void *word, const struct style *style, FILE *out)
{
    if (word)
        glossary__put_word(word, style, out);
    else
        glossary__put_list(style, out);
}

/* "wanted a CPU" may come as three words. free() it. */
static char *typed_word(int count, char **words)
{
    char *text = NULL;
    for (int i = 0; i < count; i++)
        text = text__join(text, " ", words[i]);
    return text;
}

static int explain(const struct command *self, const struct explain_options *options,
                   const char *typed)
{
    const struct glossary_word *word = typed ? glossary__find(typed) : NULL;
    if (!typed || word)
        return show_screen(put, word, options->width);
    char *question = glossary__question(typed);
    int status = wrong_usage(self, "'%.60s' is no word of a screen%s%s", typed, question,
                             *question ? "" : "; heurt explain lists them");
    free(question);
    return status;
}

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND, .name = "WORD", .help = "that one in depth; else the list of all"},
    {.name = "markdown",
     .help = "all of them in depth, as a page",
     FLAG(struct explain_options, is_page)},
    WIDTH_ROW(struct explain_options, width),
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct explain_options options = {0};
    int status = options__read(self, argc, argv, &options);
    if (status)
        return status;
    if (options.is_page && optind < argc)
        return wrong_usage(self, "--markdown and a word exclude each other");
    if (options.is_page) {
        glossary__put_page(stdout);
        return 0;
    }
    char *typed = typed_word(argc - optind, argv + optind);
    status = explain(self, &options, typed);
    free(typed);
    return status;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "explain a word of the screens: what it means, how it is measured",
    .rows = option_rows,
    .operands = "[WORD]",
    .run = run};
