/* The tables of a report as CSV: the contract is in docs/heurt-report.md. */
#include "present/shared.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

static void classes(const struct report *report, size_t rank, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(class_rows(report, rank), out);
}

static void coverage(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(coverage_rows(report), out);
}

static void audit(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    table_rows__put_csv(profile__identity_rows(report->profile), out);
}

const struct presenter presenter_csv = {"csv", classes, coverage, audit};
