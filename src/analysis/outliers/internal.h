/* internal.h: what the rooms of stand_out.h share: the spreads that the first walk fills, and
 * the walk itself. Private to stand_out*.c. */
#ifndef HEURT_ANALYSIS_OUTLIERS_INTERNAL_H
#define HEURT_ANALYSIS_OUTLIERS_INTERNAL_H

#include "analysis/outliers/outliers.h"
#include "analysis/outliers/spread.h"
#include "analysis/structure/shape_walk.h"

/* Durations that are compared. */
struct likes {
    struct spread spread;
    struct spread_limits limits; /* when the first walk is over */
};

/* Most pieces are of kinds that were met just now. */
struct recent_kind {
    uint32_t key[3], kind_and_1;
};
#define RECENT_KINDS 1024u

/* A point while it is looked for: in ticks. */
struct found_point {
    enum point_reason reason;
    uint32_t thread, path, previous, next;
    uint64_t start, end, took;
    uint64_t usual; /* of RARE 0 */
    uint64_t lost;
    uint64_t components[COMPONENTS];
};

struct survey {
    struct class_table table;
    struct shapes *shapes;
    struct map kind_numbers;    /* within, previous, next -> index into kinds */
    struct recent_kind *recent; /* RECENT_KINDS */
    struct vec kinds;           /* struct likes: pieces */
    struct vec pieces_of_place; /* struct likes: of all kinds within it; [0]: of the threads */
    struct vec whole_of_place;  /* struct likes: durations of occurrences that hold others */
    struct vec whole_of_shape;  /* likewise, of shapes that came several times */
    struct vec shape_likes;     /* uint32_t: by shape: index into whole_of_shape and 1; 0: none */
    struct map path_numbers;    /* outer, place -> index into paths */
    struct vec points;          /* struct found_point */
    struct stand_out *found;    /* NULL in the first walk */
    uint64_t floor, rare_floor; /* ticks */
    uint64_t limit_floor;       /* ticks: points that lost less are above the limit */
    size_t limit;
};

/* key: within, previous, next. NULL: of no kind, for there are too many. */
#define KINDS_MAX (1u << 18)
struct likes *survey__kind(struct survey *survey, const uint32_t key[3]);
/* NULL: the shape came too rarely. */
struct likes *survey__shape(struct survey *survey, uint32_t shape);
/* The likes at that index, empty ones when there were none. */
struct likes *likes__at(struct vec *likes, size_t index);

/* Keeps the point, unless it is above the limit. Its place until the next one is added, or NULL. */
struct found_point *survey__add_point(struct survey *survey, const struct found_point *point);
uint32_t survey__path(struct survey *survey, uint32_t outer, uint32_t place);

/* One thread, event by event: fills the spreads, or, with survey->found, finds its points. */
void *survey__thread(struct survey *survey, uint32_t thread);
void survey__event(void *part, const struct event *event);
void survey__end(void *part); /* frees it */

#endif
