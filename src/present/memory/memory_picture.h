/* memory_picture.h: views of memory as pictures (SVG): cache lines byte by byte, threads by pages,
 * and accesses by offset and time.
 *
 * In goes what the screens show, out comes one element of bounded size, whatever the number of
 * samples: threads, lines and cells of a grid are drawn, no single sample. Names are escaped.
 * Colours are of a middle brightness and texts those of the page, so that it can be read on light
 * and on dark ones. It stands on analysis/memory/memory_views.h. */
#ifndef HEURT_PRESENT_MEMORY_MEMORY_PICTURE_H
#define HEURT_PRESENT_MEMORY_MEMORY_PICTURE_H

#include "present/memory/memory_screens.h"

/* Of a view that is not MEMORY_OBJECTS. is_alone: a file of its own, with a background as the
 * reader's system likes it. */
void memory_picture__put(const struct memory_report *shown, bool is_alone, FILE *out);

#endif
