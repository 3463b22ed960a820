/* calls_known.cc: known numbers of calls of C++ functions: methods, virtual ones, templates,
 * constructors, and functions that are left by an exception.  Names are printed demangled, without
 * parameters: NAME=calls, and NAME.thrown=how many of them an exception left. */
#include "known.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace known
{
enum { CALLS = 1000, DEPTH = 10 };

class Counter
{
  public:
    KNOWN_FUNCTION explicit Counter(long start) : value(start)
    {
    }
    KNOWN_FUNCTION virtual ~Counter()
    {
        destroyed++;
    }
    KNOWN_FUNCTION void add(long amount)
    {
        value += amount;
    }
    KNOWN_FUNCTION long get() const
    {
        return value;
    }
    KNOWN_FUNCTION virtual long step()
    {
        return ++value;
    }
    static long destroyed;

  protected:
    long value;
};
long Counter::destroyed = 0;

class Doubling : public Counter
{
  public:
    using Counter::Counter;
    KNOWN_FUNCTION long step() override
    {
        return value *= 2;
    }
};

template <typename T> KNOWN_FUNCTION T largest(T a, T b)
{
    return a < b ? b : a;
}

/* Every tenth call is left by an exception. */
KNOWN_FUNCTION long throws(long i)
{
    if (i % 10 == 0)
        throw std::runtime_error("every tenth");
    return i;
}

/* An exception goes through it; it has something to destroy. */
KNOWN_FUNCTION long passes(long i)
{
    std::string text(static_cast<size_t>(i % 40), 'x');
    return throws(i) + static_cast<long>(text.size()) * 0;
}

KNOWN_FUNCTION long catches(long i)
{
    try {
        return passes(i);
    } catch (const std::runtime_error &) {
        return -1;
    }
}

/* Catches and throws again, at every level. */
KNOWN_FUNCTION void rethrows(int depth)
{
    try {
        if (depth == 0)
            throw depth;
        rethrows(depth - 1);
    } catch (int) {
        throw;
    }
}

KNOWN_FUNCTION long never_throws(long i) noexcept
{
    return i + 1;
}
} // namespace known

using namespace known;

static void methods()
{
    for (long i = 0; i < CALLS; i++) {
        Doubling counter(i);
        counter.add(2);
        KNOWN_CHECK(counter.get() == i + 2);
        Counter *base = &counter;
        KNOWN_CHECK(base->step() == 2 * (i + 2));
        KNOWN_CHECK(largest<long>(i, 500) >= 500);
        KNOWN_CHECK(largest<double>(0.5, 0.25) == 0.5);
        KNOWN_CHECK(never_throws(i) == i + 1);
    }
    KNOWN_CHECK(Counter::destroyed == CALLS);
    known__number("known::Counter::add", CALLS);
    known__number("known::Counter::get", CALLS);
    known__number("known::Doubling::step", CALLS);
    known__number("known::Counter::step", 0);
    known__number("known::largest<long>", CALLS);
    known__number("known::largest<double>", CALLS);
    known__number("known::never_throws", CALLS);
}

static void exceptions()
{
    long caught = 0, thrown_again = 0;
    for (long i = 0; i < CALLS; i++)
        caught += catches(i) < 0;
    for (int i = 0; i < CALLS / DEPTH; i++) {
        try {
            rethrows(DEPTH - 1);
        } catch (int) {
            thrown_again++;
        }
    }
    KNOWN_CHECK(caught == CALLS / 10 && thrown_again == CALLS / DEPTH);
    known__number("known::throws", CALLS);
    known__number("known::throws.thrown", CALLS / 10);
    known__number("known::passes", CALLS);
    known__number("known::passes.thrown", CALLS / 10);
    known__number("known::catches", CALLS);
    known__number("known::catches.thrown", 0);
    known__number("known::rethrows", CALLS);
    known__number("known::rethrows.thrown", CALLS);
}

int main()
{
    methods();
    exceptions();
    return 0;
}
