/* exceptions.cc: exceptions that leave recorded functions, in every way. */
#include "known.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace torture
{
enum { CALLS = 300, DEPTH = 1000, THREADS = 4, ROUNDS = 20 };

static thread_local long destroyed;

struct Guard {
    ~Guard()
    {
        destroyed++;
    }
};

KNOWN_FUNCTION long throws(long n)
{
    if (n % 2)
        throw n;
    return n;
}

/* The call is in a function that throws, too: the immediate caller catches. */
KNOWN_FUNCTION long catches(long n)
{
    try {
        return throws(n);
    } catch (long thrown) {
        return -thrown;
    }
}

KNOWN_FUNCTION long passes(long n)
{
    Guard guard;
    return throws(n) + 1;
}

/* Seven words: the last is on the stack. */
KNOWN_FUNCTION long passes_stack(long a, long b, long c, long d, long e, long f, long g)
{
    Guard guard;
    return throws(g) + a + b + c + d + e + f;
}

KNOWN_FUNCTION long rethrows(long n)
{
    try {
        return passes(n);
    } catch (long thrown) {
        Guard guard;
        throw;
    }
}

KNOWN_FUNCTION long translates(long n)
{
    try {
        return rethrows(n);
    } catch (long thrown) {
        throw std::runtime_error("number " + std::to_string(thrown));
    }
}

struct Part {
    KNOWN_FUNCTION explicit Part(long n)
    {
        throws(n);
    }
    KNOWN_FUNCTION ~Part()
    {
        destroyed++;
    }
};

/* The second of its parts may throw: the first is taken apart, the handler of the whole runs. */
struct Whole {
    Part first, second;
    KNOWN_FUNCTION explicit Whole(long n)
    try : first(0), second(n) {
    } catch (long thrown) {
        throw thrown + 100000;
    }
};

KNOWN_FUNCTION long whole_function(long n)
try {
    return passes(n) * 3;
} catch (long thrown) {
    return -thrown * 5;
}

KNOWN_FUNCTION long deep(long depth, long n)
{
    Guard guard;
    if (depth == 0)
        return throws(n);
    return deep(depth - 1, n) + 1;
}

KNOWN_FUNCTION long deep_rethrown(long depth, long n)
{
    try {
        return depth == 0 ? throws(n) : deep_rethrown(depth - 1, n) + 1;
    } catch (...) {
        Guard guard;
        throw;
    }
}

KNOWN_FUNCTION std::exception_ptr carries(long n)
{
    try {
        translates(n);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

KNOWN_FUNCTION void throws_again(std::exception_ptr carried)
{
    std::rethrow_exception(carried);
}

template <typename F> static long attempt(F function)
{
    try {
        return function();
    } catch (long thrown) {
        return -thrown;
    } catch (const std::exception &error) {
        return -static_cast<long>(std::string(error.what()).size());
    }
}

static unsigned long one_thread()
{
    long sum = 0;
    destroyed = 0;
    for (long n = 0; n < CALLS; n++) {
        sum = sum % 1000003 * 3 + catches(n);
        sum += attempt([&] { return passes(n); });
        sum += attempt([&] { return passes_stack(1, 2, 3, 4, 5, 6, n); });
        sum += attempt([&] { return rethrows(n); });
        sum += attempt([&] { return translates(n); });
        sum += whole_function(n);
        sum += attempt([&] {
            Whole whole(n);
            return n * 7;
        });
        if (std::exception_ptr carried = carries(n))
            sum += attempt([&] {
                throws_again(carried);
                return 1;
            });
    }
    for (long n = 0; n < ROUNDS; n++)
        sum += attempt([&] { return deep(DEPTH, n); });
    sum += attempt([&] { return deep_rethrown(DEPTH / 10, 1); });
    return static_cast<unsigned long>(sum * 31 + destroyed);
}

static void print_counts(long times)
{
    known__count("torture::catches", times * CALLS);
    known__count("torture::passes", times * 5 * CALLS);
    known__count("torture::passes_stack", times * CALLS);
    known__count("torture::rethrows", times * 3 * CALLS);
    known__count("torture::translates", times * 2 * CALLS);
    known__count("torture::whole_function", times * CALLS);
    known__count("torture::Whole::Whole", times * CALLS);
    known__count("torture::Part::Part", times * 2 * CALLS);
    known__count("torture::Part::~Part", times * (CALLS + CALLS / 2));
    known__count("torture::carries", times * CALLS);
    known__count("torture::throws_again", times * CALLS / 2);
    known__count("torture::deep", times * ROUNDS * (DEPTH + 1));
    known__count("torture::deep_rethrown", times * (DEPTH / 10 + 1));
    known__count("torture::throws", times * (9 * CALLS + ROUNDS + 1));
}
} // namespace torture

/* The number of turns, for those who want to meet it while it runs. */
int main(int count, char **words)
{
    for (int turns = count > 1 ? atoi(words[1]) : 1; turns > 1; turns--)
        torture::one_thread();
    unsigned long mine = torture::one_thread(), theirs[torture::THREADS];
    std::vector<std::thread> threads;
    for (unsigned long &their : theirs)
        threads.emplace_back([&] { their = torture::one_thread(); });
    for (std::thread &thread : threads)
        thread.join();
    for (unsigned long their : theirs)
        KNOWN_CHECK(their == mine);
    printf("exceptions %lu\n", mine);
    torture::print_counts(torture::THREADS + 1);
    return 0;
}
