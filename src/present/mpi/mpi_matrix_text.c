/* Who sends whom how much, as a matrix: numbers of few ranks, shades of many, blocks of more. */
#include "base/memory.h"
#include "base/ratio.h"
#include "base/text.h"
#include "present/mpi/mpi_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define NUMBERS_MOST 8u /* ranks */
#define SHADES_MOST 64u
#define MARGIN 8u /* columns beside the shades */

struct matrix {
    uint32_t block, side; /* ranks that are one; blocks */
    uint64_t *cells;      /* by sender, then receiver */
    uint64_t most;
};

static uint64_t value_of(const struct mpi_pair *pair, enum mpi_matrix what)
{
    switch (what) {
    case MPI_MATRIX_MESSAGES:
        return pair->messages;
    case MPI_MATRIX_WAITED:
        return pair->late_sender_ns + pair->late_receiver_ns;
    default:
        return pair->bytes;
    }
}

static struct matrix matrix_of(const struct mpi_use *use, enum mpi_matrix what, uint32_t side_most)
{
    struct matrix matrix = {.block = use->block};
    uint32_t size = 1;
    VEC_EACH (pair, &use->pairs, const struct mpi_pair) {
        size = pair->from + use->block > size ? pair->from + use->block : size;
        size = pair->to + use->block > size ? pair->to + use->block : size;
    }
    if (use->size > size)
        size = use->size;
    while ((size - 1) / matrix.block + 1 > side_most)
        matrix.block *= 2;
    matrix.side = (size - 1) / matrix.block + 1;
    matrix.cells = memory__zeroed((size_t)matrix.side * matrix.side, sizeof *matrix.cells);
    VEC_EACH (pair, &use->pairs, const struct mpi_pair) {
        uint64_t *cell = &matrix.cells[(size_t)(pair->from / matrix.block) * matrix.side +
                                       pair->to / matrix.block];
        *cell += value_of(pair, what);
        matrix.most = *cell > matrix.most ? *cell : matrix.most;
    }
    return matrix;
}

static char *cell_text(uint64_t value, enum mpi_matrix what)
{
    char text[32];
    if (!value)
        return memory__text("");
    return memory__text(what == MPI_MATRIX_WAITED  ? duration__format(value, text)
                        : what == MPI_MATRIX_BYTES ? bytes__format(value, text)
                                                   : count__format(value, text));
}

static void put_numbers(const struct matrix *matrix, enum mpi_matrix what,
                        const struct style *style, FILE *out)
{
    char titles[NUMBERS_MOST][16];
    struct grid_column columns[NUMBERS_MOST + 1] = {{"from \\ to", RIGHT}};
    for (uint32_t i = 0; i < matrix->side; i++) {
        snprintf(titles[i], sizeof titles[i], "%" PRIu32, i * matrix->block);
        columns[i + 1] = (struct grid_column){titles[i], RIGHT};
    }
    struct grid grid = grid__start(columns, matrix->side + 1, 2);
    for (uint32_t from = 0; from < matrix->side; from++) {
        grid__cell(&grid, memory__format("%" PRIu32, from * matrix->block), INK_PLAIN);
        for (uint32_t to = 0; to < matrix->side; to++)
            grid__cell(&grid, cell_text(matrix->cells[from * matrix->side + to], what), INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

static const char *shade(uint64_t value, uint64_t most, bool unicode)
{
    static const char *const blocks[] = {"·", "░", "▒", "▓", "█"};
    static const char *const letters[] = {".", "-", "+", "x", "#"};
    unsigned level = value ? 1 + (unsigned)(3.999 * (double)value / (double)most) : 0;
    return unicode ? blocks[level > 4 ? 4 : level] : letters[level > 4 ? 4 : level];
}

static void put_shades(const struct matrix *matrix, const struct style *style, FILE *out)
{
    for (uint32_t from = 0; from < matrix->side; from++) {
        fprintf(out, "  %5" PRIu32 " ", from * matrix->block);
        for (uint32_t to = 0; to < matrix->side; to++)
            fputs(shade(matrix->cells[(size_t)from * matrix->side + to], matrix->most,
                        style->unicode),
                  out);
        fputc('\n', out);
    }
}

static const char *what_of(enum mpi_matrix what)
{
    return what == MPI_MATRIX_BYTES      ? "Bytes"
           : what == MPI_MATRIX_MESSAGES ? "Messages"
                                         : "Waits for a late sender or receiver, of messages";
}

void mpi_text__matrix(const struct mpi_report *shown, const struct style *style, FILE *out)
{
    uint32_t room = style->columns > MARGIN + NUMBERS_MOST ? style->columns - MARGIN : SHADES_MOST;
    if (!shown->use->pairs.count) {
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "No message from rank to rank is in the trace: collective operations are in "
                       "heurt mpi's table of calls.");
        return;
    }
    struct matrix matrix =
        matrix_of(shown->use, shown->matrix, room < SHADES_MOST ? room : SHADES_MOST);
    bool is_few = matrix.side <= NUMBERS_MOST;
    char *most = cell_text(matrix.most, shown->matrix);
    paragraph__take(style, out, "  ",
                    memory__format("%s from the rank of the row to that of the column%s%s.",
                                   what_of(shown->matrix), is_few ? "" : "; the darkest cell: ",
                                   is_few  ? ""
                                   : *most ? most
                                           : "0"));
    if (matrix.block > 1)
        paragraph__take(style, out, "  ",
                        memory__format("%" PRIu32 " ranks that stand side by side are one here.",
                                       matrix.block));
    fputc('\n', out);
    if (is_few)
        put_numbers(&matrix, shown->matrix, style, out);
    else
        put_shades(&matrix, style, out);
    free(most);
    free(matrix.cells);
}
