/* Tables for papers and pages: LaTeX without any package, and Markdown with pipes. */
#include "present/shared.h"
#include "present/table/cell.h"
#include "present/table/table_format.h"

#include <stdlib.h>
#include <string.h>

/* How a language writes a table. */
struct markup {
    const char *row_begins, *between, *row_ends;
    const char *const *escapes; /* pairs: a character, and what stands for it; NULL-ended */
};

static const char *escape_of(const struct markup *markup, char character)
{
    for (const char *const *pair = markup->escapes; *pair; pair += 2)
        if (**pair == character)
            return pair[1];
    return NULL;
}

static void put_text(const struct markup *markup, const char *text, FILE *out)
{
    char *clean = text__for_screen(text);
    for (const char *at = clean; *at; at++) {
        const char *escape = escape_of(markup, *at);
        if (escape)
            fputs(escape, out);
        else
            fputc(*at, out);
    }
    free(clean);
}

static void put_titles(const struct markup *markup, const struct table_view *view, FILE *out)
{
    fputs(markup->row_begins, out);
    for (size_t i = 0; i < view->columns.count; i++) {
        fputs(i ? markup->between : "", out);
        put_text(markup, column__title(*VEC_AT(&view->columns, const struct column *, i)), out);
    }
    fputs(markup->row_ends, out);
}

static void put_row(const struct markup *markup, const struct table_view *view, const void *row,
                    FILE *out)
{
    fputs(markup->row_begins, out);
    for (size_t i = 0; i < view->columns.count; i++) {
        const struct column *column = *VEC_AT(&view->columns, const struct column *, i);
        const struct cell cell = cell__of(column, row);
        char *words = cell__words(column, &cell);
        fputs(i ? markup->between : "", out);
        put_text(markup, words, out);
        free(words);
    }
    fputs(markup->row_ends, out);
}

static void put_rows(const struct markup *markup, const struct table_view *view, FILE *out)
{
    VEC_EACH (row, &view->rows, const void *)
        put_row(markup, view, *row, out);
}

static bool is_text(const struct column *column)
{
    return column__is_text(column);
}

/* ---- LaTeX ----------------------------------------------------------------------------------- */

static const char *const latex_escapes[] = {"\\", "\\textbackslash{}",
                                            "{",  "\\{",
                                            "}",  "\\}",
                                            "$",  "\\$",
                                            "&",  "\\&",
                                            "#",  "\\#",
                                            "^",  "\\textasciicircum{}",
                                            "_",  "\\_",
                                            "~",  "\\textasciitilde{}",
                                            "%",  "\\%",
                                            "<",  "\\textless{}",
                                            ">",  "\\textgreater{}",
                                            "|",  "\\textbar{}",
                                            "\"", "\\textquotedbl{}",
                                            NULL};
static const struct markup latex = {"  ", " & ", " \\\\\n", latex_escapes};

static void put_latex_table(const struct table_view *view, FILE *out)
{
    fprintf(out, "%% %s: %s\n\\begin{tabular}{", view->table->name, view->table->help);
    VEC_EACH (column, &view->columns, const struct column *)
        fputc(is_text(*column) ? 'l' : 'r', out);
    fputs("}\n  \\hline\n", out);
    put_titles(&latex, view, out);
    fputs("  \\hline\n", out);
    put_rows(&latex, view, out);
    fputs("  \\hline\n\\end{tabular}\n", out);
}

static void put_latex(const struct table_view *views, size_t count, const struct style *style,
                      FILE *out)
{
    (void)style;
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "\n" : "", out);
        put_latex_table(&views[i], out);
    }
}

const struct table_format table_latex = {"latex", false, put_latex};

/* ---- Markdown -------------------------------------------------------------------------------- */

static const char *const markdown_escapes[] = {"|", "\\|", "\\", "\\\\",  "*", "\\*",  "_", "\\_",
                                               "`", "\\`", "<",  "&lt;",  ">", "&gt;", "[", "\\[",
                                               "]", "\\]", "&",  "&amp;", "~", "\\~",  NULL};
static const struct markup markdown = {"| ", " | ", " |\n", markdown_escapes};

static void put_markdown_table(const struct table_view *view, FILE *out)
{
    put_titles(&markdown, view, out);
    fputc('|', out);
    VEC_EACH (column, &view->columns, const struct column *)
        fputs(is_text(*column) ? " --- |" : " ---: |", out);
    fputc('\n', out);
    put_rows(&markdown, view, out);
}

static void put_markdown(const struct table_view *views, size_t count, const struct style *style,
                         FILE *out)
{
    (void)style;
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            fprintf(out, "%s**%s**: %s\n\n", i ? "\n" : "", views[i].table->name,
                    views[i].table->help);
        put_markdown_table(&views[i], out);
    }
}

const struct table_format table_markdown = {"markdown", false, put_markdown};

/* ---- all formats ----------------------------------------------------------------------------- */

const struct table_format *const table_formats[] = {&table_text,  &table_csv,      &table_json,
                                                    &table_latex, &table_markdown, NULL};

const struct table_format *table_format__named(const char *name)
{
    for (const struct table_format *const *format = table_formats; *format; format++)
        if (strcmp((*format)->name, name) == 0)
            return *format;
    return NULL;
}

void table_format__put_rows(const struct table_format *format, struct table_rows rows,
                            const struct style *style, FILE *out)
{
    struct table_view shown = table_view__of(&rows);
    if (!format->is_data)
        table_view__choose_titled(&shown);
    format->put(&shown, 1, style, out);
    table_view__free(&shown);
    table_rows__free(&rows);
}

/* ---- by name --------------------------------------------------------------------------------- */

const struct named_table *named_table__of(const struct named_table *tables, const char *name)
{
    while (tables->table && strcmp(tables->table->name, name) != 0)
        tables++;
    return tables->table ? tables : NULL;
}

void named_table__put(const struct named_table *tables, const char *name, const void *view,
                      const struct table_format *format, const struct style *style, FILE *out)
{
    table_format__put_rows(format, named_table__of(tables, name)->rows(view), style, out);
}
