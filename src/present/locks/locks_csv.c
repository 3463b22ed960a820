/* The tables of locks as CSV: the contract is in docs/heurt-locks.md. */
#include "present/table/table_format.h"
#include "present/table/table_source.h"

static void put(struct table_rows rows, FILE *out)
{
    table_rows__put_csv(&rows, out);
    table_rows__free(&rows);
}

static void summary(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    put(lock_rows(locks, EVERY_ROW), out);
}

static void one_lock(const struct locks_report *locks, size_t rank, const struct style *style,
                     FILE *out)
{
    (void)style;
    put(lock_rows(locks, rank), out);
}

static void path(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    put(path_rows(locks), out);
}

static void audit(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    put(lock_check_rows(locks), out);
}

const struct locks_presenter locks_csv = {"csv", summary, one_lock, path, audit};
