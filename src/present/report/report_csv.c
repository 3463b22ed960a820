/* The tables of a report as CSV: the contract is in docs/heurt-report.md. */
#include "present/shared.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

static void put(struct table_rows rows, FILE *out)
{
    table_rows__put_csv(&rows, out);
    table_rows__free(&rows);
}

static void summary(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    put(class_rows(report, EVERY_ROW), out);
}

static void one_class(const struct report *report, size_t rank, const struct style *style,
                      FILE *out)
{
    (void)style;
    put(class_rows(report, rank), out);
}

static void coverage(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    put(coverage_rows(report), out);
}

const struct presenter presenter_csv = {"csv", summary, one_class, coverage, csv__audit};
