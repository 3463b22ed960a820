/* mpi_screens.h: ranks of MPI and their waits, as a screen and as JSON (heurt.mpi/1,
 * docs/heurt-mpi.md).
 *
 * In goes what the analysis found, out comes text. It stands on analysis/mpi/mpi.h. */
#ifndef HEURT_PRESENT_MPI_MPI_SCREENS_H
#define HEURT_PRESENT_MPI_MPI_SCREENS_H

#include "analysis/mpi/mpi.h"
#include "analysis/mpi/mpi_efficiency.h"
#include "base/table.h"
#include "present/present.h"

/* What of the pairs of ranks a matrix has in its cells. */
enum mpi_matrix { MPI_MATRIX_NONE, MPI_MATRIX_BYTES, MPI_MATRIX_MESSAGES, MPI_MATRIX_WAITED };

struct mpi_report {
    const struct report *report;
    const struct mpi_use *use; /* NULL: no rank is told */
    /* What alone is shown; all zeroes, and no rank: everything. */
    unsigned wait;    /* places with that kind of wait (enum mpi_wait) */
    bool is_one_rank; /* that rank, */
    uint32_t rank;
    const char *site; /* a place: "file.c:12", its function, or MPI's; NULL: all */
    enum mpi_matrix matrix;
    uint64_t least_message_ns, least_collective_ns; /* shorter waits were left out */
};

/* The kind of wait of that name, or of a part of it that no other has; 0: there is none. */
unsigned mpi_wait__named(const char *name);
/* "Rank 2 had 3.0 times the work of the others: they waited 1.2 s for it.", or what else stands
 * out; NULL: nothing does. free() it. */
char *mpi_use__verdict(const struct report *report);

/* mpi_culprit.c. The rank that is the cause of most that ranks waited; NULL: no one is. */
const struct mpi_rank *mpi_use__culprit(const struct mpi_use *use);
/* Whether what a rank did more than the others is known, and as long as they waited for it. */
bool mpi_use__knows_doing(const struct mpi_use *use, const struct mpi_rank *rank);
/* "save checkpoint.c:33": where that rank of the report's is; NULL: it is not known. free() it. */
char *mpi_rank__doing(const struct report *report, const struct mpi_rank *rank);
/* "64 ranks × 4 threads on 8 hosts". free() it. */
char *mpi_use__job(const struct report *report, const struct style *style);
/* Of the report, where a call of MPI is made; NULL: no rank calls there. */
struct callsite;
const struct mpi_site *mpi_use__site_of(const struct report *report, const struct callsite *call);
/* Whom they wait for there in the end; NULL: for nobody. */
const struct mpi_rank *mpi_site__culprit(const struct mpi_use *use, const struct mpi_site *site);
/* "ranks 1-3 wait for rank 0, which is in save checkpoint.c:33 meanwhile"; NULL: nobody waits.
 * free() it. */
char *mpi_site__waits(const struct report *report, const struct mpi_site *site);

/* Whether a site is of those that are shown alone; that of no name is asked for: all. */
bool mpi_report__shows(const struct mpi_report *shown, const struct mpi_site *site);
/* With the report's parallel regions. */
struct mpi_efficiency mpi_report__efficiency(const struct mpi_report *shown);
/* Whether what is to be shown alone is there at all. */
bool mpi_report__has_any(const struct mpi_report *shown);
/* "rank 3", "ranks 1–3 and 5", "ranks 0–2, 7 and 12 more": of numbers (uint32_t, sorted, each
 * once), each of which stands for so many ranks. free() it. */
char *ranks__text(const struct vec *ranks, uint32_t block, const struct style *style);
/* "ranks 1–3 wait for rank 0", of a site, most first; NULL: nobody waits there. free() it. */
char *mpi_site__who_waits(const struct mpi_use *use, const struct mpi_site *site,
                          const struct style *style);
/* The parts of the screen. */
void mpi_text__one_rank(const struct mpi_report *shown, const struct style *style, FILE *out);
void mpi_text__sites(const struct mpi_report *shown, const struct style *style, FILE *out);
void mpi_text__matrix(const struct mpi_report *shown, const struct style *style, FILE *out);
void mpi_text__efficiency(const struct mpi_report *shown, const struct style *style, FILE *out);

struct mpi_presenter {
    const char *name;
    void (*put)(const struct mpi_report *shown, const struct style *style, FILE *out);
};
extern const struct mpi_presenter mpi_text, mpi_json, mpi_csv;

#endif
