#include "present/glossary/glossary.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "base/sanitize.h"
#include "base/text.h"
#include "present/report/findings_words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE_COLUMNS 100
#define TEXT_INDENT 4

/* ---- finding --------------------------------------------------------------------------------- */

/* The category, if it is another word than the name; else NULL. */
static const char *category_of(const struct glossary_word *word)
{
    const char *name = word->category == GLOSSARY_NO_CATEGORY
                           ? word->name
                           : finding_category__name(word->category);
    return strcmp(name, word->name) ? name : NULL;
}

/* Calls take for each of its names until that says true, which is the result. */
static bool names__any(const struct glossary_word *word, bool (*take)(void *, const char *),
                       void *context)
{
    const char *category = category_of(word);
    char *copy = memory__text(word->also ? word->also : ""), *rest = copy;
    bool taken = take(context, word->name) || (category && take(context, category));
    for (char *name; !taken && (name = strsep(&rest, "|"));)
        taken = take(context, name);
    free(copy);
    return taken;
}

static bool is_typed(void *typed, const char *name)
{
    return strcasecmp(typed, name) == 0;
}

static const struct glossary_word *find_by(const char *typed, bool whole)
{
    for (const struct glossary_word *word = glossary_words; word->name; word++)
        if (whole ? is_typed((void *)typed, word->name) : names__any(word, is_typed, (void *)typed))
            return word;
    return NULL;
}

const struct glossary_word *glossary__find(const char *typed)
{
    const struct glossary_word *word = find_by(typed, true);
    return word ? word : find_by(typed, false);
}

char *glossary__question(const char *typed)
{
    struct nearest nearest = nearest__to(typed);
    for (const struct glossary_word *word = glossary_words; word->name; word++)
        nearest__offer(&nearest, word->name);
    return nearest__question(&nearest);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* What to try, of the word or of findings of its category; "": nothing. free() it. */
static char *tries_of(const struct glossary_word *word, const char *between)
{
    char *text = memory__text(word->try ? word->try : "");
    if (word->try || word->category == GLOSSARY_NO_CATEGORY)
        return text;
    for (const char *const *try = finding_category__tries(word->category); *try; try++)
        text = text__join(text, between, *try);
    return text;
}

/* Titles are NULL of what a word means. Lines of a screen keep their columns where they fit. */
static void put_part(const struct style *style, FILE *out, const char *title, const char *text)
{
    if (!text || !*text)
        return;
    char *shown = style->unicode ? memory__text(text) : text__ascii(text);
    if (title) {
        ink__put(style, out, INK_DIM, title);
        fputc('\n', out);
    }
    if (text__width(shown) + TEXT_INDENT <= style->columns)
        fprintf(out, "%*s%s\n", TEXT_INDENT, "", shown);
    else
        paragraph__put(style, out, INK_PLAIN, "    ", shown);
    free(shown);
}

void glossary__put_word(const struct glossary_word *word, const struct style *style, FILE *out)
{
    const char *category = category_of(word);
    char *tries = tries_of(word, style->unicode ? " · " : "; ");
    ink__put(style, out, INK_BOLD, word->name);
    if (category)
        fprintf(out, " (in data: %s)", category);
    fputc('\n', out);
    put_part(style, out, NULL, word->meaning);
    put_part(style, out, "  how it is measured", word->measured);
    put_part(style, out, "  what makes it less certain", word->doubt);
    put_part(style, out, "  on a screen", word->example);
    put_part(style, out, "  to try", tries);
    free(tries);
}

/* Its first sentence. free() it. */
static char *summary_of(const struct glossary_word *word)
{
    const char *end = strstr(word->meaning, ". ");
    size_t bytes = end ? (size_t)(end - word->meaning) : strlen(word->meaning) - 1;
    return memory__format("%.*s", (int)bytes, word->meaning);
}

void glossary__put_list(const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", LEFT}, {"", WRAPPED}};
    struct grid grid = grid__start(columns, 2, 2);
    for (const struct glossary_word *word = glossary_words; word->name; word++) {
        grid__cell(&grid, memory__text(word->name), INK_BOLD);
        grid__cell(&grid, summary_of(word), INK_PLAIN);
    }
    grid__end_without_titles(&grid, style, out);
    fputs("\n  heurt explain WORD tells how it is measured, and what to try.\n", out);
}

/* ---- as a page ------------------------------------------------------------------------------- */

static void put_paragraph(FILE *out, const char *title, const char *text)
{
    static const struct style style = {.columns = PAGE_COLUMNS, .unicode = true};
    if (!text || !*text)
        return;
    char *whole = memory__format("%s%s", title, text);
    paragraph__put(&style, out, INK_PLAIN, "", whole);
    fputc('\n', out);
    free(whole);
}

static void put_on_page(const struct glossary_word *word, FILE *out)
{
    const char *category = category_of(word);
    char *tries = tries_of(word, "; ");
    fprintf(out, "## %s\n\n", word->name);
    if (category)
        fprintf(out, "In data: `%s`.\n\n", category);
    put_paragraph(out, "", word->meaning);
    put_paragraph(out, "*How it is measured.* ", word->measured);
    put_paragraph(out, "*What makes it less certain.* ", word->doubt);
    fprintf(out, "    %s\n\n", word->example);
    put_paragraph(out, "*To try:* ", tries);
    free(tries);
}

void glossary__put_page(FILE *out)
{
    fputs("# The words of the screens\n\n"
          "This page is what `heurt explain --markdown` prints; `heurt explain WORD` shows one of "
          "them.\n\n",
          out);
    for (const struct glossary_word *word = glossary_words; word->name; word++)
        put_on_page(word, out);
}
