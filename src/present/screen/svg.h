/* svg.h: pieces of a picture as SVG. Names come from the recorded program: they are escaped, and no
 * markup is made of them. Private to present/. */
#ifndef HEURT_PRESENT_SCREEN_SVG_H
#define HEURT_PRESENT_SCREEN_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* Text in an element or an attribute. */
void svg__put_text(FILE *out, const char *text);
/* A line of text in the colour of the page, in front of x where in_front, cut to letters (0: as it
 * is). Takes over text. */
void svg__take_line(FILE *out, double x, double y, bool in_front, unsigned letters, char *text);

#endif
