#include "present/html/html.h"

#include "base/memory.h"
#include "present/html/internal.h"
#include "present/shared.h"

#include <json-c/json.h>
#include <stdlib.h>

/* JSON has '<' in strings alone. */
void html__put_data(struct json_object *data, FILE *out)
{
    const char *at = json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN |
                                                              JSON_C_TO_STRING_NOSLASHESCAPE);
    for (; *at; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
}

void html__put_escaped(const char *text, FILE *out)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc(*text, out);
}

/* For who allows no scripts. */
static void put_text(const struct report *report, FILE *out)
{
    static const struct style style = {.columns = 100, .unicode = true};
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        out_of_memory(0);
    presenter_text.classes(report, 0, &style, memory);
    fclose(memory);
    html__put_escaped(text, out);
    free(text);
}

void html__put(const struct html_page *page, FILE *out)
{
    struct json_object *data = html_data__new(page);
    fputs(html_page_head, out);
    put_text(page->report, out);
    fputs(html_page_middle, out);
    html__put_data(data, out);
    json_object_put(data);
    fputs(html_page_tail, out);
}
