/* heurt.compare-page/1: it is for the page alone, and no contract. */
#include "present/html/html_comparison.h"

#include "base/memory.h"
#include "present/html/internal.h"
#include "present/report/report_parts.h"
#include "present/table/document.h"
#include "present/table/parts.h"

#include <json-c/json.h>
#include <stdlib.h>

#define ROWS_MOST 200

/* ---- a run of each side ---------------------------------------------------------------------- */

struct compared_run_cells {
    const struct html_page *page;
    const char *directory, *head;
    uint64_t wall_ns;
};

static struct table_rows timeline_row(const void *root)
{
    return html_timeline__row(((const struct compared_run_cells *)root)->page);
}

static const struct table compared_run_table =
    OBJECT(compared_run_cells, FIELDS(compared_run_cells, directory, head, wall_ns),
           FIELD_ONE("timeline", timeline_row));

static struct json_object *run_data(const struct html_page *page)
{
    char *head = screen__line(page->report, text__head);
    const struct compared_run_cells cells = {page, page->report->directory, head,
                                             page->report->profile->wall_ns};
    struct json_object *data = document__new(&compared_run_table, &cells);
    free(head);
    return data;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What put writes. free() it. */
static char *written(void (*put)(const struct comparison_page *page, FILE *out),
                     const struct comparison_page *page)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        out_of_memory(0);
    put(page, out);
    fclose(out);
    return text;
}

static void put_flame(const struct comparison_page *page, FILE *out)
{
    comparison_flame__put(page->flame, out);
}

static void put_screen(const struct comparison_page *page, FILE *out)
{
    static const struct style style = {.columns = 100, .unicode = true};
    comparison_text.put(page->view, &style, out);
}

static struct json_object *notes_data(const struct comparison_view *view)
{
    struct json_object *list = json_object_new_array();
    struct vec notes = comparison__notes(view);
    VEC_EACH (note, &notes, char *)
        json_object_array_add(list, json__new_text(*note));
    texts__free(&notes);
    return list;
}

/* Of the rows the largest; how many there are stands beside them. */
static struct json_object *comparison_data(const struct comparison_view *view)
{
    struct json_object *document = comparison_document__new(view);
    struct json_object *rows = json_object_object_get(document, "rows");
    size_t count = json_object_array_length(rows);
    json_object_object_add(document, "rows_of", json_object_new_uint64(count));
    if (count > ROWS_MOST)
        json_object_array_del_idx(rows, ROWS_MOST, count - ROWS_MOST);
    return document;
}

static struct json_object *page_data(const struct comparison_page *page)
{
    struct json_object *data = json_object_new_object();
    char *flame = written(put_flame, page);
    json_object_object_add(data, "schema", json_object_new_string("heurt.compare-page/1"));
    json_object_object_add(data, "comparison", comparison_data(page->view));
    json_object_object_add(data, "notes", notes_data(page->view));
    json_object_object_add(data, "before", run_data(&page->before));
    json_object_object_add(data, "after", run_data(&page->after));
    json_object_object_add(data, "flame", json__new_text(flame));
    free(flame);
    return data;
}

void html_comparison__put(const struct comparison_page *page, FILE *out)
{
    char *text = written(put_screen, page);
    struct json_object *data = page_data(page);
    fputs(html_comparison_head, out);
    html__put_escaped(text, out);
    fputs(html_comparison_middle, out);
    html__put_data(data, out);
    fputs(html_comparison_tail, out);
    json_object_put(data);
    free(text);
}
