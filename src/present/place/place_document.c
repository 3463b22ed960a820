/* heurt.place/1: the contract is in docs/heurt-place.md; and the tables of placement. */
#include "base/memory.h"
#include "present/place/place_screens.h"
#include "present/table/parts.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <stdlib.h>

static double part(uint64_t some, uint64_t all)
{
    return all ? (double)some / (double)all : COLUMN_UNKNOWN;
}

static uint32_t id_of(const struct placement *placement, uint32_t node)
{
    return node < placement->nodes.count ? *VEC_AT(&placement->nodes.ids, uint32_t, node)
                                         : UINT32_MAX;
}

/* ---- from node to node ----------------------------------------------------------------------- */

struct node_cells {
    uint64_t rank; /* of the object; 0: all */
    uint32_t from, to, distance;
    uint64_t ns;
};

static const struct column node_columns[] = {
    FLAT("rank", node_cells, rank, "#", "",
         "place of the object in memory_placement; 0: all memory"),
    COLUMN(node_cells, from, "from", "", "node of the thread that accesses"),
    COLUMN(node_cells, to, "to", "", "node that has the page"),
    COLUMN(node_cells, distance, NULL, "", "as the firmware tells it; 10: its own; 0: not known"),
    COLUMN_KEYED("time_ns", node_cells, ns, "time", "ns", "CPU time that its samples stand for"),
};
static const struct table nodes_table = TABLE(
    node_cells, "memory_nodes", "a row an object, a thread's node and a page's node", node_columns);

static void add_nodes(struct table_rows *rows, const struct placement *placement, uint32_t object,
                      uint64_t rank)
{
    for (uint32_t from = 0; from < placement->nodes.count; from++)
        for (uint32_t to = 0; to < placement->nodes.count; to++)
            TABLE_ROW(rows, node_cells, .rank = rank, .from = id_of(placement, from),
                      .to = id_of(placement, to),
                      .distance = machine_nodes__distance(&placement->nodes, from, to),
                      .ns = placement__ns(placement, object, from, to));
}

static struct table_rows rows_of_nodes(const struct table_subject *subject)
{
    const struct placement *placement = subject->place->placement;
    struct table_rows rows = table_rows__of(&nodes_table);
    uint64_t rank = 0;
    if (!placement)
        return rows;
    add_nodes(&rows, placement, PLACEMENT_ALL, 0);
    VEC_EACH (object, &placement->objects, struct placement_object)
        add_nodes(&rows, placement, object->object, ++rank);
    return rows;
}

/* ---- pages ----------------------------------------------------------------------------------- */

struct page_node_cells {
    uint64_t rank, address, offset, samples, ns, written_ns, moves, moved_ns;
    uint32_t node, first_node, touch_node, touch_tid, top_node;
    double top_share;
    bool is_huge, is_touch_seen;
};

static const struct column page_columns[] = {
    FLAT("rank", page_node_cells, rank, "#", "", "place of the object in memory_placement, from 1"),
    COLUMN_AS(COLUMN_ADDRESS, page_node_cells, address, "page", "", "its first byte"),
    COLUMN(page_node_cells, offset, NULL, "", "of that byte in the object that was allocated"),
    COLUMN(page_node_cells, node, "node", "", "that had it last"),
    COLUMN(page_node_cells, first_node, NULL, "", "that had it when it was looked for first"),
    COLUMN(page_node_cells, moves, "moves", "", "how often it was found elsewhere"),
    COLUMN(page_node_cells, moved_ns, NULL, "ns", "when for the first time, since the run's start"),
    COLUMN(page_node_cells, is_huge, NULL, "", "most of the mapping is in huge pages"),
    COLUMN(page_node_cells, touch_tid, "touched first by", "", "number of the thread"),
    COLUMN(page_node_cells, touch_node, "on node", "", "that it was on then"),
    COLUMN(page_node_cells, is_touch_seen, NULL, "",
           "by a page fault there or nearby; else by its first sample"),
    COLUMN(page_node_cells, samples, "samples", "", "that named it"),
    COLUMN_KEYED("time_ns", page_node_cells, ns, "time", "ns", "CPU time that these stand for"),
    COLUMN(page_node_cells, written_ns, NULL, "ns", "of that, at instructions that write"),
    COLUMN(page_node_cells, top_node, "used from", "", "node that accesses it most"),
    COLUMN(page_node_cells, top_share, "share", "share", "of its time that is from there"),
};
static const struct table pages_table =
    TABLE(page_node_cells, "memory_page_nodes", "a row a page that was sampled", page_columns);

static void add_page(struct table_rows *rows, const struct place_report *shown, uint64_t rank,
                     size_t index)
{
    const struct placement *placement = shown->placement;
    const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, index);
    uint32_t top = 0;
    for (uint32_t node = 1; node < placement->nodes.count; node++)
        if (placement__used(placement, index, node) > placement__used(placement, index, top))
            top = node;
    TABLE_ROW(rows, page_node_cells, .rank = rank, .address = page->address,
              .offset = page->allocation && page->address >= page->allocation->address
                            ? page->address - page->allocation->address
                        : page->allocation ? 0
                                           : UINT64_MAX,
              .samples = page->samples, .ns = page->ns, .written_ns = page->written_ns,
              .moves = page->moves, .moved_ns = page->moves ? page->moved_ns : UINT64_MAX,
              .node = id_of(placement, page->node),
              .first_node = id_of(placement, page->first_node),
              .touch_node = id_of(placement, page->touch_node),
              .touch_tid = page->touch_thread == UINT32_MAX
                               ? UINT32_MAX
                               : report__tid(shown->report, page->touch_thread),
              .top_node = id_of(placement, top),
              .top_share = part(placement__used(placement, index, top), page->ns),
              .is_huge = page->is_huge, .is_touch_seen = page->is_touch_seen);
}

static struct table_rows rows_of_pages(const struct table_subject *subject)
{
    const struct placement *placement = subject->place->placement;
    struct table_rows rows = table_rows__of(&pages_table);
    uint64_t rank = 0;
    if (placement)
        VEC_EACH (object, &placement->objects, struct placement_object) {
            rank++;
            for (size_t i = 0; i < object->pages; i++)
                add_page(&rows, subject->place, rank, object->first_page + i);
        }
    return rows;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct placement_cells {
    const struct place_report *shown;
    const struct placement_object *of;
    uint64_t rank;
    const char *title, *text, *advice_text;
    enum memory_kind memory;
    uint64_t ns, remote_ns, touch_threads, user_nodes, moved_ns;
    double local, share, moved_before, moved_after;
    uint32_t top_node, top_user, touch_node, touch_tid;
    struct placement_object figures;
    struct place_cells born;
};

struct node_share {
    uint32_t node;
    uint64_t pages, touched, ns, used_ns;
};
static const struct table node_shares_table =
    OBJECT(node_share, FIELDS(node_share, node, pages, touched), FIELD("time_ns", node_share, ns),
           FIELD("used_ns", node_share, used_ns));

/* By node: what it has of the object, and how much it uses it. */
static struct table_rows shares_of(const void *row)
{
    const struct placement_cells *cells = row;
    const struct placement *placement = cells->shown->placement;
    struct table_rows rows = table_rows__of(&node_shares_table);
    for (uint32_t node = 0; node < placement->nodes.count; node++) {
        struct node_share share = {.node = id_of(placement, node)};
        for (size_t i = 0; i < cells->of->pages; i++) {
            const struct placement_page *page =
                VEC_AT(&placement->pages, struct placement_page, cells->of->first_page + i);
            share.pages += page->node == node;
            share.touched += page->touch_node == node;
        }
        for (uint32_t other = 0; other < placement->nodes.count; other++) {
            share.ns += placement__ns(placement, cells->of->object, other, node);
            share.used_ns += placement__ns(placement, cells->of->object, node, other);
        }
        *(struct node_share *)table_rows__add(&rows) = share;
    }
    return rows;
}

static struct table_rows flows_of(const void *row)
{
    const struct placement_cells *cells = row;
    struct table_rows rows = table_rows__of(&nodes_table);
    add_nodes(&rows, cells->shown->placement, cells->of->object, cells->rank);
    return rows;
}

static const struct column object_columns[] = {
    COLUMN(placement_cells, rank, "#", "", "place among the objects, by remote time"),
    COLUMN_NAMED("memory", placement_cells, memory, memory_kind__name, "memory",
                 "as in memory_objects"),
    COLUMN(placement_cells, title, "object", "", "what it is"),
    COLUMN_NAMED("kind", placement_cells, figures.kind, placement_kind__name, "placement",
                 "unknown, local, one_node, interleaved, partitioned_wrong, moved or huge_pages"),
    COLUMN_NAMED("advice", placement_cells, figures.advice, placement_advice__name, "to try",
                 "none, local_allocation, parallel_first_touch, interleave, replicate, pin or "
                 "small_pages"),
    COLUMN_KEYED("time_ns", placement_cells, ns, "time", "ns",
                 "CPU time at it of which both nodes are known"),
    COLUMN(placement_cells, remote_ns, "remote", "ns", "of that, from other nodes than have it"),
    COLUMN(placement_cells, local, "local", "share",
           "of the time, from the node that has it (LAR)"),
    COLUMN(placement_cells, share, "share", "share", "of the remote time of all objects"),
    COLUMN_KEYED("samples", placement_cells, figures.samples, NULL, "", "how many there are"),
    COLUMN_KEYED("read_ratio", placement_cells, figures.read_ratio, "reading", "share",
                 "of the time, at instructions that only read (MRR)"),
    COLUMN_KEYED("imbalance", placement_cells, figures.imbalance, "imbalance", "share",
                 "standard deviation of the nodes' times that have it, of their mean (MC-IMB)"),
    COLUMN_KEYED("owned", placement_cells, figures.owned, "owned", "share",
                 "of two accesses to one page, the chance that both are from one node"),
    COLUMN_KEYED("owned_huge", placement_cells, figures.owned_huge, NULL, "share",
                 "the same of 2 MiB"),
    FLAT("pages", placement_cells, figures.pages, "pages", "", "that were sampled"),
    COLUMN_KEYED("moved_pages", placement_cells, figures.moved_pages, "moved", "",
                 "of them, found elsewhere later"),
    COLUMN(placement_cells, moved_ns, NULL, "ns", "when, since the run's start"),
    COLUMN(placement_cells, moved_before, NULL, "share", "local before they moved"),
    COLUMN(placement_cells, moved_after, NULL, "share", "local since then"),
    COLUMN_KEYED("huge_pages", placement_cells, figures.huge_pages, NULL, "",
                 "of them, in mappings of which most is in huge pages"),
    COLUMN(placement_cells, top_node, "on node", "", "that has most of it"),
    COLUMN(placement_cells, top_user, "used from", "", "node that uses most of it"),
    COLUMN(placement_cells, user_nodes, NULL, "", "nodes that have 5 % of its time at least"),
    COLUMN(placement_cells, touch_threads, NULL, "", "threads that touched pages of it first"),
    COLUMN(placement_cells, touch_tid, NULL, "", "thread that touched most of it first"),
    COLUMN(placement_cells, touch_node, NULL, "", "node that it was on"),
    COLUMN_KEYED("says", placement_cells, text, NULL, "", "the placement in words"),
    COLUMN_KEYED("try", placement_cells, advice_text, NULL, "", "what to try in words"),
    FIELD_OPTIONAL("born", placement_cells, born, site_table),
    FIELD_LIST("nodes", shares_of),
    FIELD_LIST("flows", flows_of),
};
static const struct table objects_table =
    TABLE(placement_cells, "memory_placement",
          "a row an object of which the nodes of pages are known", object_columns);

static void add_object(struct table_rows *rows, const struct place_report *shown,
                       const struct placement_object *object, uint64_t rank)
{
    const struct placement *placement = shown->placement;
    const struct memory_object *of =
        VEC_AT(&shown->use->objects, struct memory_object, object->object);
    uint32_t serial = trace__process_at(shown->report->trace, of->process)->serial;
    uint64_t all_remote = placement->all.ns - placement->all.local_ns;
    struct placement_cells *row = table_rows__add(rows);
    *row = (struct placement_cells){
        .shown = shown,
        .of = object,
        .rank = rank,
        .title = table_rows__keep(rows, placement__title(shown, object)),
        .text = table_rows__keep(rows, placement__kind_text(placement, object)),
        .advice_text = table_rows__keep(rows, placement__advice_text(shown, object)),
        .memory = of->kind,
        .ns = object->ns,
        .remote_ns = object->ns - object->local_ns,
        .local = part(object->local_ns, object->ns),
        .share = part(object->ns - object->local_ns, all_remote),
        .moved_ns = object->moved_pages ? object->moved_ns : UINT64_MAX,
        .moved_before = part(object->before_local_ns, object->before_ns),
        .moved_after = part(object->after_local_ns, object->after_ns),
        .top_node = id_of(placement, object->top_node),
        .top_user = id_of(placement, object->top_user),
        .user_nodes = object->user_nodes,
        .touch_threads = object->touch_threads,
        .touch_node = id_of(placement, object->touch_node),
        .touch_tid = object->touch_thread == UINT32_MAX
                         ? UINT32_MAX
                         : report__tid(shown->report, object->touch_thread),
        .figures = *object,
        .born = place_cells__of_site(rows, shown->report, serial, of->site)};
}

static struct table_rows placement_rows(const struct place_report *shown)
{
    struct table_rows rows = table_rows__of(&objects_table);
    uint64_t rank = 0;
    if (shown->placement)
        VEC_EACH (object, &shown->placement->objects, struct placement_object)
            if (++rank == shown->rank || !shown->rank)
                add_object(&rows, shown, object, rank);
    return rows;
}

static struct table_rows rows_of_objects(const struct table_subject *subject)
{
    return placement_rows(subject->place);
}

const struct table_source memory_placement_source = {
    .table = &objects_table, .of = MADE_OF(&placement_analysis), .rows = rows_of_objects};
const struct table_source memory_page_nodes_source = {
    .table = &pages_table, .of = MADE_OF(&placement_analysis), .rows = rows_of_pages};
const struct table_source memory_nodes_source = {
    .table = &nodes_table, .of = MADE_OF(&placement_analysis), .rows = rows_of_nodes};

/* ---- the document ---------------------------------------------------------------------------- */

struct place_document {
    struct run_cells run;
    const struct place_report *shown;
    uint64_t nodes; /* of the machine; UINT64_MAX: not known */
    uint64_t ns, local_ns, unknown_ns, cached_ns, samples;
    double local, read_ratio, imbalance, maptu;
    const char *balancing, *huge_pages;
};

static struct table_rows object_rows(const void *root)
{
    return placement_rows(((const struct place_document *)root)->shown);
}

static struct table_rows flow_rows(const void *root)
{
    const struct placement *placement = ((const struct place_document *)root)->shown->placement;
    struct table_rows rows = table_rows__of(&nodes_table);
    if (placement)
        add_nodes(&rows, placement, PLACEMENT_ALL, 0);
    return rows;
}

static const struct table document_table = OBJECT(
    place_document, FIELD_SCHEMA("heurt.place/1"), FIELD_COMMAND,
    FIELDS_OF_EXIT(place_document, run), FIELD_MACHINE,
    FIELD("wall_ns", place_document, run.wall_ns), FIELD("nodes", place_document, nodes),
    FIELD("samples", place_document, samples), FIELD("time_ns", place_document, ns),
    FIELD("local_ns", place_document, local_ns), FIELD("unknown_ns", place_document, unknown_ns),
    FIELD("cached_ns", place_document, cached_ns),
    FIELDS(place_document, local, read_ratio, imbalance, maptu),
    FIELD("numa_balancing", place_document, balancing),
    FIELD("huge_pages", place_document, huge_pages), FIELD_LIST("flows", flow_rows),
    FIELD_LIST("objects", object_rows), FIELD_WARNINGS);

static void put_json(const struct place_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    const struct placement *placement = shown->placement;
    struct machine_nodes nodes = machine_nodes__of(shown->report->trace);
    struct place_document document = {.run = run_cells__of(shown->report),
                                      .shown = shown,
                                      .nodes = nodes.count ? nodes.count : UINT64_MAX,
                                      .local = COLUMN_UNKNOWN,
                                      .read_ratio = COLUMN_UNKNOWN,
                                      .imbalance = COLUMN_UNKNOWN,
                                      .maptu = COLUMN_UNKNOWN};
    if (placement) {
        document.samples = placement->all.samples;
        document.ns = placement->all.ns;
        document.local_ns = placement->all.local_ns;
        document.unknown_ns = placement->unknown_ns;
        document.cached_ns = placement->is_measured ? placement->cached_ns : UINT64_MAX;
        document.local = part(placement->all.local_ns, placement->all.ns);
        document.read_ratio = placement->all.read_ratio;
        document.imbalance = placement->all.imbalance;
        document.balancing = placement->balancing;
        document.huge_pages = placement->huge_pages;
    }
    machine_nodes__free(&nodes);
    document__put(&document_table, &document, out);
}

static void put_csv(const struct place_report *shown, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(placement_rows(shown), out);
}

const struct place_presenter place_json = {"json", put_json};
const struct place_presenter place_csv = {"csv", put_csv};
