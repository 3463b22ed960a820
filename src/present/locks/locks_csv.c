/* One line a lock, or a piece of the critical path. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"
#include "present/screen/csv_line.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_header(FILE *out)
{
    fputs("rank,kind,address,name,initialised_function,initialised_file,initialised_line,"
          "acquisitions,contended,busy,gave_up,wait_ns,wait_mean_ns,wait_max_ns,wait_share,"
          "hold_ns,hold_mean_ns,hold_max_ns,"
          "read_acquisitions,read_contended,read_busy,read_gave_up,read_wait_ns,"
          "read_wait_mean_ns,read_wait_max_ns,read_hold_ns,read_hold_mean_ns,read_hold_max_ns,"
          "path_acquisitions,path_contended,path_wait_ns,path_hold_ns,"
          "signals,broadcasts,signals_for_nobody,wake_mean_ns,wake_max_ns,"
          "rounds,spread_mean_ns,spread_max_ns,last_arriver,last_arrivals,idle\n",
          out);
}

static void put_address(struct csv_line *line, uint64_t address)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%" PRIx64, address);
    line__text(line, digits);
}

static void put_identity(struct csv_line *line, const struct locks_report *locks,
                         const struct encounter_object *object)
{
    char unknown[32];
    struct place made = {""};
    if (object->initialised_site)
        made = place__of_site(locks->report, object->process, object->initialised_site, unknown);
    line__text(line, object__noun(object));
    put_address(line, object->address);
    line__text(line, report__variable(locks->report, object->process, object->address));
    line__text(line, made.function);
    line__text(line, made.file);
    line__source_line(line, made.line);
}

static void put_times(struct csv_line *line, const struct lock_times *times)
{
    line__number(line, times->sum_ns);
    line__number(line, times__mean_ns(times));
    line__number(line, times->max_ns);
}

static void put_side(struct csv_line *line, const struct lock_side *side, const double *wait_share)
{
    line__number(line, side->acquisitions);
    line__number(line, side->contended);
    line__number(line, side->busy);
    line__number(line, side->gave_up);
    put_times(line, &side->wait);
    if (wait_share)
        line__share(line, *wait_share);
    put_times(line, &side->hold);
}

static void put_meeting(struct csv_line *line, const struct locks_report *locks,
                        const struct lock_row *row)
{
    const struct vec *threads = trace__threads(locks->report->trace);
    line__number(line, row->signals);
    line__number(line, row->broadcasts);
    line__number(line, row->signals_for_nobody);
    line__number(line, times__mean_ns(&row->wake));
    line__number(line, row->wake.max_ns);
    line__number(line, row->rounds);
    line__number(line, times__mean_ns(&row->spread));
    line__number(line, row->spread.max_ns);
    if (row->object.kind == CLASS_BARRIER && row->last_arriver < threads->count)
        line__number(line, VEC_AT(threads, struct trace_thread, row->last_arriver)->tid);
    else
        line__text(line, "");
    line__number(line, row->last_arrivals);
    line__number(line, row->is_idle);
}

static void put_row(const struct locks_report *locks, const struct lock_row *row, size_t rank,
                    FILE *out)
{
    struct csv_line line = {out, false};
    line__number(&line, rank);
    put_identity(&line, locks, &row->object);
    put_side(&line, &row->exclusive, &row->wait_share);
    put_side(&line, &row->shared, NULL);
    line__number(&line, row->on_path.acquisitions);
    line__number(&line, row->on_path.contended);
    line__number(&line, row->on_path.wait_ns);
    line__number(&line, row->on_path.hold_ns);
    put_meeting(&line, locks, row);
    fputc('\n', out);
}

static void summary(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    size_t rank = 0;
    put_header(out);
    VEC_EACH (row, &locks->result->rows, struct lock_row)
        put_row(locks, row, ++rank, out);
}

static void one_lock(const struct locks_report *locks, size_t rank, const struct style *style,
                     FILE *out)
{
    (void)style;
    put_header(out);
    if (rank >= 1 && rank <= locks->result->rows.count)
        put_row(locks, VEC_AT(&locks->result->rows, struct lock_row, rank - 1), rank, out);
}

static void put_piece(const struct locks_report *locks, const struct path_piece *piece, FILE *out)
{
    struct csv_line line = {out, false};
    const struct report *report = locks->report;
    const struct vec *threads = trace__threads(report->trace);
    const struct vec *objects = &locks->critical->objects;
    if (piece->thread < threads->count)
        line__number(&line, VEC_AT(threads, struct trace_thread, piece->thread)->tid);
    else
        line__text(&line, "");
    line__number(&line, trace__since_start_ns(report->trace, piece->start));
    line__number(&line, trace__since_start_ns(report->trace, piece->end));
    if (piece->object < objects->count) {
        const struct encounter_object *object =
            VEC_AT(objects, struct encounter_object, piece->object);
        line__text(&line, object__noun(object));
        put_address(&line, object->address);
        line__text(&line, report__variable(report, object->process, object->address));
    } else {
        line__text(&line, piece->how == ENCOUNTER_JOINED ? "join" : "start");
        line__text(&line, "");
        line__text(&line, "");
    }
    fputc('\n', out);
}

static void path(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    fputs("tid,from_ns,to_ns,by,address,name\n", out);
    if (!locks->critical)
        return;
    VEC_EACH (piece, &locks->critical->path.pieces, struct path_piece)
        put_piece(locks, piece, out);
}

const struct locks_presenter locks_csv = {"csv", summary, one_lock, path, locks_csv__audit};
