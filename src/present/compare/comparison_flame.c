#include "present/compare/comparison_flame.h"

#include "analysis/compare/renames.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "present/screen/svg.h"
#include "present/shared.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define ROW 20
#define TOP 62        /* what stands above the boxes */
#define LEAST 0.4     /* narrower boxes are not drawn */
#define LETTER 7.3    /* the width of one, about */
#define DEPTH_MOST 80 /* drawn; what is deeper is in the box around it */
#define GONE_MOST 6   /* lines about what is not there after */
#define NO_BOX UINT32_MAX

struct flame_box {
    const char *text; /* a key's */
    uint32_t parent, depth;
    double before_ns, after_ns; /* with all that is in it */
    double left;                /* where it begins, and */
    double filled;              /* where the next box in it does */
};

struct flame {
    const struct flame_sides *sides;
    struct map places; /* by parent and text */
    struct vec boxes;  /* struct flame_box: parents first; the first is all */
    struct vec texts;  /* char *: owned */
};

/* ---- boxes of stacks ------------------------------------------------------------------------- */

static struct flame_box *box_at(const struct flame *flame, uint32_t place)
{
    return VEC_AT(&flame->boxes, struct flame_box, place);
}

static uint32_t box_in(struct flame *flame, uint32_t parent, const char *text)
{
    uint32_t count = (uint32_t)flame->boxes.count;
    char *key = memory__format("%u %s", parent, text);
    uint64_t place = map__put(&flame->places, key, strlen(key), count);
    free(key);
    if (place < count)
        return (uint32_t)place;
    char *own = memory__text(text);
    vec__push(&flame->texts, &own);
    const struct flame_box box = {.text = own,
                                  .parent = parent,
                                  .depth = parent == NO_BOX ? 0 : box_at(flame, parent)->depth + 1};
    vec__push(&flame->boxes, &box);
    return count;
}

static void add_time(struct flame *flame, uint32_t place, double ns, bool is_before)
{
    for (; place != NO_BOX; place = box_at(flame, place)->parent)
        *(is_before ? &box_at(flame, place)->before_ns : &box_at(flame, place)->after_ns) += ns;
}

/* Without numbers between blanks: processes have other ones in the next run. free() it. */
static char *without_numbers(const char *name)
{
    char *words = memory__text(name), *rest = words, *text = memory__text("");
    for (char *word; (word = strsep(&rest, " "));)
        if (!*word || word[strspn(word, "0123456789")])
            text = text__join(text, " ", word);
    free(words);
    return text;
}

/* "thread;f;g 123": us. */
static void add_line(struct flame *flame, char *line, const struct renamed *root, bool is_before)
{
    char *blank = strrchr(line, ' '), *frame;
    if (!blank)
        return;
    double ns = strtod(blank, NULL) * 1000;
    *blank = 0;
    uint32_t place = 0;
    while ((frame = strsep(&line, ";"))) {
        char *name = without_numbers(frame);
        const char *known = is_before ? renames__of(flame->sides->renames, name) : name;
        if (place == 0 && root->before && strcmp(name, root->before) == 0)
            known = root->after;
        place = box_in(flame, place, known);
        free(name);
    }
    add_time(flame, place, ns, is_before);
}

static void add_side(struct flame *flame, const char *stacks, const struct renamed *root,
                     bool is_before)
{
    char *lines = memory__text(stacks), *rest = lines;
    for (char *line; (line = strsep(&rest, "\n"));)
        add_line(flame, line, root, is_before);
    free(lines);
}

/* ---- threads that are called as their program is --------------------------------------------- */

static struct vec roots_of(const char *stacks)
{
    struct vec roots = VEC_OF(char *);
    for (const char *line = stacks; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, ";\n");
        const char *blank = line[length] == ';' ? NULL : memrchr(line, ' ', length);
        char *name = memory__format("%.*s", (int)(blank ? blank - line : (ptrdiff_t)length), line);
        char *root = without_numbers(name);
        free(name);
        vec__push(&roots, &root);
    }
    return roots;
}

static bool has_text(const struct vec *texts, const char *text)
{
    VEC_EACH (one, texts, char *)
        if (strcmp(*one, text) == 0)
            return true;
    return false;
}

/* The only one that the other side has not; NULL: none, or several. */
static const char *only_own(const struct vec *own, const struct vec *other)
{
    const char *found = NULL;
    VEC_EACH (root, own, char *) {
        if (has_text(other, *root) || (found && strcmp(found, *root) == 0))
            continue;
        if (found)
            return NULL;
        found = *root;
    }
    return found;
}

static struct flame flame__of(const struct flame_sides *sides)
{
    struct flame flame = {
        .sides = sides, .boxes = VEC_OF(struct flame_box), .texts = VEC_OF(char *)};
    struct vec before = roots_of(sides->before), after = roots_of(sides->after);
    struct renamed root = {only_own(&before, &after), only_own(&after, &before)};
    if (!root.after)
        root.before = NULL;
    box_in(&flame, NO_BOX, "all threads");
    add_side(&flame, sides->before, &root, true);
    add_side(&flame, sides->after, &(const struct renamed){NULL, NULL}, false);
    texts__free(&before);
    texts__free(&after);
    return flame;
}

static void flame__free(struct flame *flame)
{
    map__free(&flame->places);
    vec__free(&flame->boxes);
    texts__free(&flame->texts);
}

/* ---- SVG ------------------------------------------------------------------------------------- */

static char *time_text(double ns)
{
    char buffer[16];
    return memory__text(duration__format((uint64_t)fmax(ns, 0), buffer));
}

/* "take: 1.31 s before, 980 ms after" */
static char *box_text(const struct flame_box *box)
{
    char *before = time_text(box->before_ns), *after = time_text(box->after_ns);
    char *text = memory__format("%s: %s before, %s after", box->text, before, after);
    free(before);
    free(after);
    return text;
}

/* From blue (less) by grey to orange (more), as people with any sight tell them apart. */
static void put_colour(FILE *out, double part)
{
    static const double less[] = {86, 180, 233}, same[] = {226, 226, 220}, more[] = {238, 136, 60};
    const double *end = part < 0 ? less : more;
    double weight = fmin(fabs(part), 1);
    fprintf(out, "#%02x%02x%02x", (unsigned)(same[0] + (end[0] - same[0]) * weight),
            (unsigned)(same[1] + (end[1] - same[1]) * weight),
            (unsigned)(same[2] + (end[2] - same[2]) * weight));
}

static double part_of(const struct flame_box *box)
{
    double most = fmax(box->before_ns, box->after_ns);
    return most > 0 ? (box->after_ns - box->before_ns) / most : 0;
}

static void put_label(const struct flame_box *box, double x, double y, double wide, FILE *out)
{
    unsigned letters = (unsigned)(fmax(wide - 6, 0) / LETTER);
    if (letters < 3)
        return;
    char *text = text__width(box->text) <= letters
                     ? memory__text(box->text)
                     : memory__format("%.*s…", (int)text__bytes_of_columns(box->text, letters - 1),
                                      box->text);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#000\">", x + 3, y + ROW - 5.0);
    svg__put_text(out, text);
    fputs("</text>", out);
    free(text);
}

static void put_box(const struct flame_box *box, double a_ns, FILE *out)
{
    double x = box->left * a_ns, y = TOP + (double)box->depth * ROW, wide = box->after_ns * a_ns;
    char *text = box_text(box);
    fputs("<g><title>", out);
    svg__put_text(out, text);
    fprintf(out, "</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"", x, y,
            fmax(wide - 0.5, 0.2), ROW - 1);
    put_colour(out, part_of(box));
    fputs("\"/>", out);
    put_label(box, x, y, wide, out);
    fputs("</g>\n", out);
    free(text);
}

/* ---- where boxes stand ----------------------------------------------------------------------- */

static int by_depth_and_text(const void *left, const void *right)
{
    const struct flame_box *one = *(struct flame_box *const *)left;
    const struct flame_box *other = *(struct flame_box *const *)right;
    return ORDER(one->depth, other->depth) ?: strcmp(one->text, other->text) ?: ORDER(one, other);
}

/* What is around a box stands before it. free() it. */
static struct flame_box **in_order(const struct flame *flame)
{
    struct flame_box **boxes = memory__zeroed(flame->boxes.count, sizeof *boxes);
    for (uint32_t i = 0; i < flame->boxes.count; i++)
        boxes[i] = box_at(flame, i);
    qsort(boxes, flame->boxes.count, sizeof *boxes, by_depth_and_text);
    return boxes;
}

static void place_box(struct flame *flame, struct flame_box *box)
{
    if (box->parent != NO_BOX) {
        struct flame_box *around = box_at(flame, box->parent);
        box->left = around->filled;
        around->filled += box->after_ns;
    }
    box->filled = box->left;
}

static bool is_drawn(const struct flame_box *box, double a_ns)
{
    return box->after_ns * a_ns >= LEAST && box->depth <= DEPTH_MOST;
}

static unsigned height_of(const struct flame *flame, double a_ns)
{
    uint32_t deepest = 0;
    VEC_EACH (box, &flame->boxes, struct flame_box)
        deepest = is_drawn(box, a_ns) && box->depth > deepest ? box->depth : deepest;
    return TOP + (deepest + 1) * ROW;
}

/* ---- what is not there after ----------------------------------------------------------------- */

static int by_before(const void *left, const void *right)
{
    const struct flame_box *one = *(struct flame_box *const *)left;
    const struct flame_box *other = *(struct flame_box *const *)right;
    return ORDER(other->before_ns, one->before_ns) ?: ORDER(one, other);
}

/* The outermost boxes that have nothing after. struct flame_box *. */
static struct vec gone_of(const struct flame *flame)
{
    struct vec gone = VEC_OF(struct flame_box *);
    VEC_EACH (box, &flame->boxes, struct flame_box) {
        bool is_around = box->parent == NO_BOX || box_at(flame, box->parent)->after_ns > 0;
        struct flame_box *one = box;
        if (is_around && box->after_ns <= 0 && box->before_ns > 0)
            vec__push(&gone, &one);
    }
    vec__sort(&gone, by_before);
    return gone;
}

static void put_line(FILE *out, double y, const char *text)
{
    fprintf(out, "<text x=\"0\" y=\"%.1f\" fill=\"currentColor\">", y);
    svg__put_text(out, text);
    fputs("</text>\n", out);
}

static void put_gone(const struct flame *flame, const struct vec *gone, double y, FILE *out)
{
    for (size_t i = 0; i < gone->count && i < GONE_MOST; i++) {
        const struct flame_box *box = *VEC_AT(gone, struct flame_box *, i);
        char *time = time_text(box->before_ns), *stack = memory__text(box->text);
        for (uint32_t at = box->parent; at != NO_BOX && at; at = box_at(flame, at)->parent) {
            char *more = memory__format("%s > %s", box_at(flame, at)->text, stack);
            free(stack);
            stack = more;
        }
        char *text = memory__format("only before: %s, %.*s", time,
                                    (int)text__bytes_of_columns(stack, 160), stack);
        put_line(out, y + (double)(i + 1) * ROW, text);
        free(text);
        free(stack);
        free(time);
    }
}

/* ---- the picture ----------------------------------------------------------------------------- */

static void put_head(const struct flame_sides *sides, FILE *out)
{
    static const double steps[] = {-1, -0.5, 0, 0.5, 1};
    char *title = memory__format("Thread time of %s (width), and what became of it since %s "
                                 "(colour). Work and waits; a box is in what called it.",
                                 sides->after_name, sides->before_name);
    put_line(out, 14, title);
    free(title);
    put_line(out, 38, "less");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fprintf(out, "<rect x=\"%zu\" y=\"25\" width=\"40\" height=\"%d\" fill=\"", 40 + i * 41,
                ROW - 2);
        put_colour(out, steps[i]);
        fputs("\"/>\n", out);
    }
    fputs("<text x=\"252\" y=\"38\" fill=\"currentColor\">more</text>\n", out);
}

void comparison_flame__put(const struct flame_sides *sides, FILE *out)
{
    struct flame flame = flame__of(sides);
    struct flame_box **boxes = in_order(&flame);
    double all_ns = box_at(&flame, 0)->after_ns, a_ns = all_ns > 0 ? WIDTH / all_ns : 0;
    struct vec gone = gone_of(&flame);
    unsigned height = height_of(&flame, a_ns);
    size_t lines = gone.count < GONE_MOST ? gone.count : GONE_MOST;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %zu\" width=\"100%%\" "
            "font-family=\"ui-monospace, monospace\" font-size=\"12\"%s>\n",
            WIDTH, height + lines * ROW + ROW / 2,
            sides->is_alone ? " style=\"background:#fff;color:#000\"" : "");
    put_head(sides, out);
    for (size_t i = 0; i < flame.boxes.count; i++) {
        place_box(&flame, boxes[i]);
        if (is_drawn(boxes[i], a_ns))
            put_box(boxes[i], a_ns, out);
    }
    put_gone(&flame, &gone, height, out);
    fputs("</svg>\n", out);
    vec__free(&gone);
    free(boxes);
    flame__free(&flame);
}
