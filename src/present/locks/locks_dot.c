/* heurt locks --dot: a graph of who waits for whom, in the language of Graphviz. An edge goes from
 * the function of the holder (or signaller) to the function of who waited; each lock has a colour.
 */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_AT_MOST 200 /* more are no picture */
#define WIDEST 6.0        /* points */
#define HEAVIEST 1000     /* of Graphviz's weights */

struct edge {
    const struct lock_row *row;
    char *from, *to; /* functions */
    uint64_t waits, wait_ns;
};

/* ---- edges ----------------------------------------------------------------------------------- */

static char *function_of(const struct locks_report *locks, const struct lock_row *row,
                         uint64_t site)
{
    char unknown[32];
    if (!site)
        return memory__text("not known");
    struct place place = place__of_site(locks->report, row->object.process, site, unknown);
    return function__short(place.function);
}

/* Sites of one function are one end. Takes over from and to. */
static void add_edge(struct vec *edges, size_t first, const struct edge *edge)
{
    for (size_t i = first; i < edges->count; i++) {
        struct edge *known = VEC_AT(edges, struct edge, i);
        if (strcmp(known->from, edge->from) != 0 || strcmp(known->to, edge->to) != 0)
            continue;
        known->waits += edge->waits;
        known->wait_ns += edge->wait_ns;
        free(edge->from);
        free(edge->to);
        return;
    }
    vec__push(edges, edge);
}

static int by_wait(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->wait_ns != b->wait_ns)
        return ORDER(b->wait_ns, a->wait_ns);
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    int from = strcmp(a->from, b->from);
    return from ? from : strcmp(a->to, b->to);
}

static struct vec collect_edges(const struct locks_report *locks)
{
    struct vec edges = VEC_OF(struct edge);
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        size_t first = edges.count;
        VEC_EACH (pair, &row->pairs, struct lock_pair) {
            const struct edge edge = {row, function_of(locks, row, pair->holder_site),
                                      function_of(locks, row, pair->waiter_site), pair->waits,
                                      pair->wait_ns};
            add_edge(&edges, first, &edge);
        }
    }
    vec__sort(&edges, by_wait);
    return edges;
}

/* ---- dot ------------------------------------------------------------------------------------- */

/* A quoted string: of a backslash and a quotation mark each is escaped. Takes over text. */
static char *quoted(char *text)
{
    char *clean = text__for_screen(text);
    char *result = memory__zeroed(strlen(clean) + 2, 2), *to = result;
    *to++ = '"';
    for (const char *at = clean; *at; at++) {
        if (*at == '"' || *at == '\\')
            *to++ = '\\';
        *to++ = *at;
    }
    *to = '"';
    free(clean);
    free(text);
    return result;
}

static const char *colour_of(const struct locks_report *locks, const struct lock_row *row)
{
    static const char *const colours[] = {"#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e",
                                          "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"};
    size_t rank = (size_t)(row - VEC_AT(&locks->result->rows, struct lock_row, 0));
    return colours[rank % (sizeof colours / sizeof colours[0])];
}

/* Graphviz reads \n in a label as the end of a line; what is in front of it is foreign text. */
static char *label_of(const struct locks_report *locks, const struct edge *edge)
{
    char waited[16], number[32];
    char *name = quoted(object__clear_name(locks->report, &edge->row->object));
    char *text = memory__format("%.*s\\n%s, %s wait%s\"", (int)strlen(name) - 1, name,
                                duration__format(edge->wait_ns, waited),
                                count__format(edge->waits, number), edge->waits == 1 ? "" : "s");
    free(name);
    return text;
}

static void put_edge(const struct locks_report *locks, const struct edge *edge, uint64_t most_ns,
                     FILE *out)
{
    double share = ratio(edge->wait_ns, most_ns);
    char *from = quoted(memory__text(edge->from)), *to = quoted(memory__text(edge->to));
    char *label = label_of(locks, edge);
    const char *colour = colour_of(locks, edge->row);
    bool is_lock = edge->row->object.kind == CLASS_LOCK;
    fprintf(out,
            "    %s -> %s [label=%s, weight=%u, penwidth=%.2f, color=\"%s\", fontcolor=\"%s\", "
            "style=%s, waited_ns=%" PRIu64 ", waits=%" PRIu64 "];\n",
            from, to, label, 1 + (unsigned)(share * (HEAVIEST - 1)), 1 + share * (WIDEST - 1),
            colour, colour, is_lock ? "solid" : "dashed", edge->wait_ns, edge->waits);
    free(from);
    free(to);
    free(label);
}

static void put_title(const struct locks_report *locks, size_t left_out, FILE *out)
{
    char *command = report__command(locks->report);
    char *more =
        left_out ? memory__format(" (%zu lighter edges are left out)", left_out) : memory__text("");
    char *title = quoted(memory__format("%s: who was waited for, by whom%s", command, more));
    fprintf(out,
            "digraph locks {\n"
            "    graph [rankdir=LR, label=%s];\n"
            "    node [shape=box, fontname=\"sans-serif\"];\n"
            "    edge [fontname=\"sans-serif\"];\n",
            title);
    free(title);
    free(more);
    free(command);
}

void locks__dot(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    struct vec edges = collect_edges(locks);
    uint64_t most_ns = edges.count ? VEC_AT(&edges, struct edge, 0)->wait_ns : 0;
    size_t shown = 0;
    put_title(locks, edges.count > EDGES_AT_MOST ? edges.count - EDGES_AT_MOST : 0, out);
    VEC_EACH (edge, &edges, struct edge) {
        if (shown++ < EDGES_AT_MOST)
            put_edge(locks, edge, most_ns, out);
        free(edge->from);
        free(edge->to);
    }
    fputs("}\n", out);
    vec__free(&edges);
}
