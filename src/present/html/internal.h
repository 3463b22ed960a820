/* internal.h: what the files of the page share. */
#ifndef HEURT_PRESENT_HTML_INTERNAL_H
#define HEURT_PRESENT_HTML_INTERNAL_H

#include "present/html/html.h"

#include <stdio.h>

struct json_object;
struct table_rows;

/* What the page shows, heurt.page/1; the caller's. */
struct json_object *html_data__new(const struct html_page *page);
/* Its timeline: no row or one. table_rows__free it. */
struct table_rows html_timeline__row(const struct html_page *page);

/* Into the page's element "data": JSON, whose '<' are written otherwise; and text outside of it. */
void html__put_data(struct json_object *data, FILE *out);
void html__put_escaped(const char *text, FILE *out);

/* page*.js and page.css in page_parts.c and comparison_parts.c, which embed.sh makes: what stands
 * before the text, between it and the data, and behind the data. */
extern const char html_page_head[], html_page_middle[], html_page_tail[];
extern const char html_comparison_head[], html_comparison_middle[], html_comparison_tail[];

#endif
