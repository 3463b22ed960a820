/* heurt locks --audit: whether the parts add up to the whole, both sides of each check. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

bool locks__add_up(const struct locks_report *locks)
{
    VEC_EACH (check, &locks->result->checks, struct locks_check)
        if (!check->is_good)
            return false;
    return true;
}

static char *result_of(const struct locks_check *check)
{
    char number[32];
    if (check->is_good)
        return memory__text(check->left == check->right ? "exact" : "holds");
    bool more = check->left > check->right;
    return memory__format(
        "off by %s%s", more ? "" : "-",
        count__format(more ? check->left - check->right : check->right - check->left, number));
}

static void put_check(struct grid *grid, const struct locks_check *check)
{
    grid__cell(grid, memory__format("%s, of %s", check->what, check->of), INK_PLAIN);
    grid__count(grid, check->left);
    grid__cell(grid,
               memory__format("%s %s", check->is_most ? "at most of" : "equals of", check->with),
               INK_PLAIN);
    grid__count(grid, check->right);
    grid__cell(grid, result_of(check), check->is_good ? INK_PLAIN : INK_ALARM);
}

void locks_text__audit(const struct locks_report *locks, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"this", WRAPPED}, {"", RIGHT}, {"must be", WRAPPED}, {"", RIGHT}, {"", WRAPPED}};
    ink__put(style, out, INK_BOLD, "do the parts add up to the whole? (ticks, or numbers)");
    fputc('\n', out);
    struct grid grid = grid__start(columns, 5, 2);
    VEC_EACH (check, &locks->result->checks, struct locks_check)
        put_check(&grid, check);
    grid__end(&grid, style, out);
    fputc('\n', out);
    if (locks__add_up(locks))
        fputs("Everything adds up.\n", out);
    else
        paragraph__put(style, out, INK_ALARM, "",
                       "Not everything adds up: the trace is damaged, or this is a defect of "
                       "heurt.");
}
