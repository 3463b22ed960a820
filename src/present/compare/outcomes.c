/* What a run or a comparison was checked for. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

const char *check_outcome__name(enum check_outcome outcome)
{
    return outcome == CHECK_HOLDS ? "passed" : outcome == CHECK_FAILS ? "failed" : "undecided";
}

void checks__put_text(const struct vec *checks, const struct style *style, FILE *out)
{
    if (checks->count)
        fputc('\n', out);
    VEC_EACH (check, checks, struct checked) {
        char *lead = memory__format("  %s: ", check_outcome__name(check->outcome));
        paragraph__put(style, out, check->outcome == CHECK_FAILS ? INK_ALARM : INK_PLAIN, lead,
                       check->sentence);
        free(lead);
    }
}

/* Names come from the program: nothing in them is markup, nor ends a cell. */
void markdown__put_plain(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("\\`*_[]<>#|~", *text))
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

void checks__put_markdown(const struct vec *checks, FILE *out)
{
    if (checks->count)
        fputc('\n', out);
    VEC_EACH (check, checks, struct checked) {
        bool fails = check->outcome == CHECK_FAILS;
        fprintf(out, fails ? "- **%s**: " : "- %s: ", check_outcome__name(check->outcome));
        markdown__put_plain(check->sentence, out);
        fputc('\n', out);
    }
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++)
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
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    put_xml(out, text);
    fputc('"', out);
}

/* What is not decided is skipped: it is neither. */
static void put_case(const char *suite, const struct checked *check, FILE *out)
{
    const char *element = check->outcome == CHECK_FAILS ? "failure" : "skipped";
    fputs("    <testcase", out);
    put_attribute(out, "classname", suite);
    put_attribute(out, "name", check->condition);
    if (check->outcome == CHECK_HOLDS) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", element);
    put_attribute(out, "message", check->sentence);
    fputs("/>\n    </testcase>\n", out);
}

void checks__put_junit(const char *suite, const struct vec *checks, FILE *out)
{
    size_t failed = 0, undecided = 0;
    VEC_EACH (check, checks, struct checked) {
        failed += check->outcome == CHECK_FAILS;
        undecided += check->outcome == CHECK_UNDECIDED;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\">\n",
            suite, checks->count, failed, undecided);
    VEC_EACH (check, checks, struct checked)
        put_case(suite, check, out);
    fputs("  </testsuite>\n</testsuites>\n", out);
}
