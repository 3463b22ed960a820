/* The tables of locks as CSV: the contract is in docs/heurt-locks.md. */
#include "present/table/table_format.h"
#include "present/table/table_source.h"

static void rows(const struct locks_report *locks, size_t rank, const struct style *style,
                 FILE *out)
{
    (void)style;
    table_rows__put_csv(lock_rows(locks, rank), out);
}

static void path(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(path_rows(locks), out);
}

static void audit(const struct locks_report *locks, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(lock_check_rows(locks), out);
}

const struct locks_presenter locks_csv = {"csv", rows, path, audit};
