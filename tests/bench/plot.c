#include "plot.h"

#include "statistics.h"

#include <math.h>

enum {
    PANEL_WIDTH = 340,
    PANEL_HEIGHT = 290,
    MARGIN_LEFT = 58,
    MARGIN_RIGHT = 18,
    MARGIN_TOP = 52,
    MARGIN_BOTTOM = 46,
    TITLE_HEIGHT = 40,
    TICKS = 6,
};

/* Values of one axis and the pixels that they lie on. */
struct axis {
    double from, to, step;
    double pixel_from, pixel_to;
};

static double axis__pixel(const struct axis *axis, double value)
{
    double share = (value - axis->from) / (axis->to - axis->from);
    return axis->pixel_from + share * (axis->pixel_to - axis->pixel_from);
}

/* Widens from … to over the values and rounds both to whole steps. */
static struct axis axis__over(const double *values, size_t count, double from, double to)
{
    struct axis axis = {.from = from, .to = to};
    for (size_t i = 0; i < count; i++) {
        axis.from = fmin(axis.from, values[i]);
        axis.to = fmax(axis.to, values[i]);
    }
    if (!(axis.to > axis.from))
        axis.to = axis.from + 1;
    axis.step = axis__step(axis.to - axis.from, TICKS);
    axis.from = floor(axis.from / axis.step + 1e-9) * axis.step;
    axis.to = ceil(axis.to / axis.step - 1e-9) * axis.step;
    return axis;
}

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void write_text(FILE *out, double x, double y, const char *class, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    write_escaped(out, text);
    fputs("</text>\n", out);
}

static void write_line(FILE *out, const char *class, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
            x1, y1, x2, y2);
}

static void write_ticks(FILE *out, const struct axis *x, const struct axis *y)
{
    char text[32];
    for (int i = 0; x->from + i * x->step <= x->to + x->step / 2; i++) {
        double value = x->from + i * x->step, at = axis__pixel(x, value);
        snprintf(text, sizeof text, "%g", value);
        write_line(out, "grid", at, y->pixel_from, at, y->pixel_to);
        write_text(out, at, y->pixel_from + 16, "tick", text);
    }
    for (int i = 0; y->from + i * y->step <= y->to + y->step / 2; i++) {
        double value = y->from + i * y->step, at = axis__pixel(y, value);
        snprintf(text, sizeof text, "%g", fabs(value) < y->step / 1e6 ? 0 : value);
        write_line(out, "grid", x->pixel_from, at, x->pixel_to, at);
        write_text(out, x->pixel_from - 7, at + 4, "tick-left", text);
    }
}

static void write_labels(FILE *out, const struct panel *panel, const struct axis *x,
                         const struct axis *y)
{
    double middle = (y->pixel_from + y->pixel_to) / 2;
    write_text(out, x->pixel_from, y->pixel_to - 26, "panel", panel->title);
    write_text(out, x->pixel_from, y->pixel_to - 10, "note", panel->subtitle);
    write_text(out, (x->pixel_from + x->pixel_to) / 2, y->pixel_from + 36, "label", panel->x_label);
    fprintf(out, "<g transform=\"rotate(-90 %.1f %.1f)\">\n", x->pixel_from - 42, middle);
    write_text(out, x->pixel_from - 42, middle, "label", panel->y_label);
    fputs("</g>\n", out);
    write_line(out, "axis", x->pixel_from, y->pixel_from, x->pixel_to, y->pixel_from);
    write_line(out, "axis", x->pixel_from, y->pixel_from, x->pixel_from, y->pixel_to);
}

/* The fitted line between the outermost points, cut where it would leave the axes. */
static void write_fit(FILE *out, const struct panel *panel, const struct axis *x,
                      const struct axis *y)
{
    struct line line = samples__fit(panel->x, panel->y, panel->count);
    double from = INFINITY, to = -INFINITY;
    for (size_t i = 0; i < panel->count; i++) {
        from = fmin(from, panel->x[i]);
        to = fmax(to, panel->x[i]);
    }
    if (line.slope != 0) {
        double low = (y->from - line.offset) / line.slope,
               high = (y->to - line.offset) / line.slope;
        from = fmax(from, fmin(low, high));
        to = fmin(to, fmax(low, high));
    }
    if (from < to)
        write_line(out, "fit", axis__pixel(x, from),
                   axis__pixel(y, line.slope * from + line.offset), axis__pixel(x, to),
                   axis__pixel(y, line.slope * to + line.offset));
}

static void write_panel(FILE *out, const struct panel *panel, double left, double top)
{
    struct axis x = axis__over(panel->x, panel->count, panel->x_from, panel->x_from);
    struct axis y = axis__over(panel->y, panel->count, 0, panel->y_to);
    x.pixel_from = left + MARGIN_LEFT;
    x.pixel_to = left + PANEL_WIDTH - MARGIN_RIGHT;
    y.pixel_from = top + PANEL_HEIGHT - MARGIN_BOTTOM;
    y.pixel_to = top + MARGIN_TOP;
    write_ticks(out, &x, &y);
    write_labels(out, panel, &x, &y);
    if (panel->count == 0)
        return;
    write_fit(out, panel, &x, &y);
    fputs("<polyline class=\"sweep\" points=\"", out);
    for (size_t i = 0; i < panel->count; i++)
        fprintf(out, "%.1f,%.1f ", axis__pixel(&x, panel->x[i]), axis__pixel(&y, panel->y[i]));
    fputs("\"/>\n", out);
    for (size_t i = 0; i < panel->count; i++)
        fprintf(out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n",
                axis__pixel(&x, panel->x[i]), axis__pixel(&y, panel->y[i]));
}

static const char style[] =
    "<style>text{font-family:sans-serif;font-size:11px;fill:#333}"
    ".title{font-size:15px;font-weight:bold}.panel{font-size:13px;font-weight:bold}"
    ".note{fill:#666}.label,.tick{text-anchor:middle}.tick-left{text-anchor:end}"
    ".grid{stroke:#e4e4e4}.axis{stroke:#333}.fit{stroke:#b3541e;stroke-dasharray:5 4}"
    ".sweep{fill:none;stroke:#1f5f99;stroke-opacity:0.35}.point{fill:#1f5f99}</style>\n";

void plot__write(FILE *out, const char *title, const struct panel *panels, size_t count,
                 size_t columns)
{
    size_t rows = (count + columns - 1) / columns;
    size_t width = columns * PANEL_WIDTH, height = TITLE_HEIGHT + rows * PANEL_HEIGHT;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
            "viewBox=\"0 0 %zu %zu\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height, style);
    write_text(out, MARGIN_LEFT, 26, "title", title);
    for (size_t i = 0; i < count; i++)
        write_panel(out, &panels[i], (double)(i % columns * PANEL_WIDTH),
                    (double)(TITLE_HEIGHT + i / columns * PANEL_HEIGHT));
    fputs("</svg>\n", out);
}
