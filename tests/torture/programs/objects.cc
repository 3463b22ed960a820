/* objects.cc: the ways in which C++ calls: virtual and through several bases, lambdas,
 * std::function, templates, pointers to members, thread-local and static objects, coroutines,
 * results that are objects. */
#include "known.h"

#include <algorithm>
#include <coroutine>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace torture
{
enum { CALLS = 500, THREADS = 4 };

struct First {
    long first = 1;
    KNOWN_FUNCTION virtual long one(long n)
    {
        return n + first;
    }
    KNOWN_FUNCTION virtual ~First()
    {
        destroyed++;
    }
    static long destroyed;
};
long First::destroyed;

struct Second {
    long second = 2;
    KNOWN_FUNCTION virtual long two(long n)
    {
        return n * second;
    }
    virtual ~Second() = default;
};

/* Called through First, Second (by a thunk that moves this) and as itself. */
struct Both : First, Second {
    long own = 3;
    KNOWN_FUNCTION long one(long n) override
    {
        return n - own;
    }
    KNOWN_FUNCTION long two(long n) override
    {
        return n * own;
    }
    KNOWN_FUNCTION virtual std::string text(long n) const
    {
        return std::to_string(n + own);
    }
};

struct Virtual : virtual First {
    KNOWN_FUNCTION long one(long n) override
    {
        return n ^ first;
    }
};

template <typename T, int N> struct Box {
    T values[N];
    KNOWN_FUNCTION T sum(T start) const
    {
        for (const T &value : values)
            start = start + value;
        return start;
    }
};

template <typename... T> KNOWN_FUNCTION long total(T... values)
{
    return (static_cast<long>(values) + ...);
}

KNOWN_FUNCTION static std::vector<long> makes(long n)
{
    return std::vector<long>(static_cast<size_t>(n % 5 + 1), n);
}

KNOWN_FUNCTION static std::unique_ptr<First> chooses(long n)
{
    if (n % 3 == 0)
        return std::make_unique<First>();
    if (n % 3 == 1)
        return std::make_unique<Both>();
    return std::make_unique<Virtual>();
}

KNOWN_FUNCTION long takes(std::function<long(long)> function, std::string text, long n)
{
    return function(n) + static_cast<long>(text.size());
}

/* ---- coroutines ------------------------------------------------------------------------------ */

static long resumed;

struct Sequence {
    struct promise_type {
        long value = 0;
        Sequence get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(long next) noexcept
        {
            value = next;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            throw;
        }
    };
    std::coroutine_handle<promise_type> handle;
};

KNOWN_FUNCTION long counted(long n)
{
    return n * n;
}

static Sequence squares(long n)
{
    for (long i = 0; i < n; i++)
        co_yield counted(i);
    if (n % 2)
        throw n;
}

static long coroutines()
{
    long sum = 0;
    for (long n = 0; n < 50; n++) {
        Sequence sequence = squares(n);
        try {
            for (;;) {
                sequence.handle.resume();
                resumed++;
                if (sequence.handle.done())
                    break;
                sum = sum * 3 + sequence.handle.promise().value;
            }
        } catch (long thrown) {
            sum += thrown;
        }
        sequence.handle.destroy();
    }
    known__count("torture::counted", 49 * 50 / 2);
    return sum;
}

/* ---- objects that end with a thread or with the program -------------------------------------- */

static long ended;

struct Ends {
    KNOWN_FUNCTION ~Ends()
    {
        __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    }
    KNOWN_FUNCTION void touch(long n)
    {
        value += n;
    }
    long value = 0;
};
static thread_local Ends of_thread;

static void threads()
{
    std::vector<std::thread> all;
    for (int i = 0; i < THREADS; i++)
        all.emplace_back([] {
            for (long n = 0; n < CALLS; n++)
                of_thread.touch(n);
        });
    for (std::thread &thread : all)
        thread.join();
    KNOWN_CHECK(ended == THREADS);
    known__count("torture::Ends::touch", THREADS * CALLS);
    known__count("torture::Ends::~Ends", THREADS);
}

/* Counts and prints at the very end, after main. */
struct Last {
    KNOWN_FUNCTION ~Last()
    {
        known__count("torture::Last::~Last", 1);
        puts("the last has ended");
        fflush(stdout);
    }
};
static Last last;

static void calls()
{
    long sum = 0;
    Both both;
    First *volatile as_first = &both;
    Second *volatile as_second = &both;
    long (Second::*volatile member)(long) = &Second::two;
    Box<long, 3> longs = {{1, 2, 3}};
    Box<double, 2> doubles = {{1.5, 2.5}};
    auto lambda = [&](long n) { return n + sum % 7; };
    for (long n = 0; n < CALLS; n++) {
        sum = sum % 1000003 + as_first->one(n) + as_second->two(n) + (as_second->*member)(n);
        sum += static_cast<long>(both.text(n).size()) + longs.sum(n) +
               static_cast<long>(doubles.sum(0.5)) + total(n, 2.5, 'c') + total(n);
        sum += static_cast<long>(makes(n).size()) + takes(lambda, std::string(20, 'x'), n);
        std::unique_ptr<First> chosen = chooses(n);
        sum += chosen->one(n);
    }
    std::vector<long> sorted;
    for (long n = 0; n < CALLS; n++)
        sorted.push_back(n * 7919 % 1009);
    std::sort(sorted.begin(), sorted.end(), [](long a, long b) { return a > b; });
    sum += sorted[5];
    printf("calls %ld\n", sum);
    known__count("torture::Both::one", CALLS + (CALLS + 1) / 3);
    known__count("torture::Both::two", 2 * CALLS);
    known__count("torture::First::one", (CALLS + 2) / 3);
    known__count("torture::Virtual::one", CALLS / 3);
    known__count("torture::Both::text[abi:cxx11]", CALLS);
    known__count("torture::Box<long, 3>::sum", CALLS);
    known__count("torture::Box<double, 2>::sum", CALLS);
    known__count("torture::total<long, double, char>", CALLS);
    known__count("torture::total<long>", CALLS);
    known__count("torture::makes", CALLS);
    known__count("torture::takes", CALLS);
    known__count("torture::chooses", CALLS);
#ifndef __clang__ /* which calls it otherwise */
    known__count(
        "std::_Function_handler<long (long), torture::calls()::{lambda(long)#1}>::_M_invoke",
        CALLS);
#endif
}
} // namespace torture

int main()
{
    torture::calls();
    printf("coroutines %ld\n", torture::coroutines());
    torture::threads();
    /* Those that chooses made: the plain ones run it as the deleting one. */
    printf("destroyed %ld\n", torture::First::destroyed);
    return 0;
}
