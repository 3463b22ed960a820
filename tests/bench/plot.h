/* plot.h: panels of points over two axes, as SVG. */
#ifndef HEURT_BENCH_PLOT_H
#define HEURT_BENCH_PLOT_H

#include <stddef.h>
#include <stdio.h>

struct panel {
    const char *title, *subtitle;
    const char *x_label, *y_label;
    const double *x, *y; /* points, in the order in which they are joined */
    size_t count;
    double x_from; /* the x axis begins here, or before when a point lies before it */
    double y_to;   /* the y axis goes from 0 to here, or further when a point lies above it */
};

/* A whole SVG document: the panels in rows of columns. Texts may hold any characters. */
void plot__write(FILE *out, const char *title, const struct panel *panels, size_t count,
                 size_t columns);

#endif
