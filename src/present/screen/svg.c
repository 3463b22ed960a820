#include "present/screen/svg.h"

#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

void svg__put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (strchr("<>&\"", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc((unsigned char)*text < ' ' || *text == 127 ? ' ' : *text, out);
}

void svg__take_line(FILE *out, double x, double y, bool in_front, unsigned letters, char *text)
{
    char *clean = text__for_screen(text);
    bool is_long = letters && text__width(clean) > letters;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"currentColor\"%s>", x, y,
            in_front ? " text-anchor=\"end\"" : "");
    char *shown =
        is_long ? memory__format("%.*s…", (int)text__bytes_of_columns(clean, letters - 1), clean)
                : memory__text(clean);
    svg__put_text(out, shown);
    fputs("</text>\n", out);
    free(shown);
    free(clean);
    free(text);
}
