// fields_known.cc: accesses to fields in the ways that C++ has, see fields_known.h.
#include "fields_known.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#define APART __attribute__((noinline))

APART void *operator new(size_t bytes)
{
    made_at(__builtin_return_address(0));
    return std::malloc(bytes);
}

void operator delete(void *made) noexcept
{
    std::free(made);
}
void operator delete(void *made, size_t) noexcept
{
    std::free(made);
}

namespace pool
{

template <class Number> class Counter
{
  public:
    APART void add(Number by)
    {
        sum += by;
        ++calls;
    }
    void add_inlined(Number by)
    {
        sum += by;
        ++calls;
    }
    Number get() const
    {
        return sum;
    }

  private:
    long calls = 0;
    Number sum = 0;
};

struct Base {
    virtual ~Base()
    {
    }
    virtual long ask(int n) = 0;
    long base_value = 0;
};

struct Second {
    long second_value = 0;
    void touch()
    {
        second_value++;
    }
};

struct Derived : Base, Second {
    long own = 0;
    std::atomic<int> waiting{0};
    std::array<long, 4> history{};
    long ask(int n) override
    {
        base_value += n;
        own += second_value;
        history[(size_t)n & 3] += n;
        return own;
    }
    APART void wait(int n)
    {
        waiting.fetch_add(n);
        waiting.store(waiting.load() + 1, std::memory_order_relaxed);
        touch();
    }
};

struct Slot {
    int state = 0;
    long used = 0;
    struct Inner {
        short a = 0, b = 0;
    } inner;
};

class Pool
{
  public:
    explicit Pool(size_t n) : slots(n), counts(n)
    {
    }
    APART long use(size_t n)
    {
        slots[n].state++;
        slots[n].inner.b++;
        for (auto &slot : slots)
            slot.used += slot.state;
        for (size_t i = 0; i < counts.size(); i++)
            counts[i] += (int)i;
        counters[n & 1].add_inlined(2);
        counters[0].add(3);
        if (derived)
            derived->own++;
        return counts[n] + slots[n].used + counters[1].get();
    }
    std::vector<Slot> slots;
    std::vector<int> counts;
    Counter<long> counters[2];
    Counter<int> *apart = nullptr;
    std::unique_ptr<Derived> derived;
};

} // namespace pool

using pool::Counter;
using pool::Derived;
using pool::Pool;
using pool::Slot;

static Pool *the_pool;
static Counter<int> global_counter;

APART static long through_reference(Slot &slot, Counter<int> &counter)
{
    slot.used += 2;
    counter.add_inlined((int)slot.used);
    counter.add(1);
    return counter.get();
}

APART static long by_lambda(Pool &pool, int n)
{
    long sum = 0;
    auto each = [&sum, n](Slot &slot) {
        slot.state += n;
        sum += slot.inner.a;
    };
    for (auto &slot : pool.slots)
        each(slot);
    return sum;
}

APART static long share(const std::shared_ptr<Derived> &from)
{
    std::shared_ptr<Derived> mine = from;
    mine->own++;
    mine->touch();
    return mine->own;
}

APART static long by_static()
{
    the_pool->apart->add_inlined(3);
    global_counter.add_inlined(4);
    global_counter.add(4);
    the_pool->slots[1].inner.a++;
    return global_counter.get();
}

static long work(Pool *pool, const std::shared_ptr<Derived> &shared, Derived *derived)
{
    long sum = pool->use(2) + pool->use(3);
    sum += through_reference(pool->slots[1], *pool->apart);
    sum += by_lambda(*pool, 2);
    sum += share(shared);
    sum += by_static();
    derived->wait(2);
    pool::Base *base = derived;
    HIDE(base);
    sum += base->ask(3);
    return sum;
}

static void tell_fields()
{
    tell_known_row();
    printf("field 0 8 calls;pool::Counter<long int>\nfield 8 8 sum;pool::Counter<long int>\n");
    printf("field 0 8 calls;pool::Counter<int>\nfield 8 4 sum;pool::Counter<int>\n");
    TELL_FIELD(Slot, state, "state", "pool::Slot");
    TELL_FIELD(Slot, used, "used", "pool::Slot");
    TELL_FIELD(Slot, inner.a, "inner.a", "pool::Slot");
    TELL_FIELD(Slot, inner.b, "inner.b", "pool::Slot");
    // Offsets in what is no standard layout are those of the ABI: the table of functions is first.
    printf("field 0 8 _vptr;pool::Derived\nfield 8 8 base_value;pool::Derived\n"
           "field 16 8 second_value;pool::Derived\nfield 24 8 own;pool::Derived\n"
           "field 32 4 waiting;pool::Derived\nfield 40 32 history;pool::Derived\n"
           "field 0 8 _vptr;pool::Base\nfield 8 8 base_value;pool::Base\n"
           "field 0 8 second_value;pool::Second\n"
           "part 16 8 1 pool::Second;pool::Derived\npart 0 16 1 pool::Base;pool::Derived\n");
    printf("field 0 24 slots;pool::Pool\nfield 24 24 counts;pool::Pool\n"
           "field 48 8 counters[].calls;pool::Pool\nfield 56 8 counters[].sum;pool::Pool\n"
           "field 64 8 counters[].calls;pool::Pool\nfield 72 8 counters[].sum;pool::Pool\n"
           "field 80 8 apart;pool::Pool\nfield 88 8 derived;pool::Pool\n"
           "part 48 16 2 pool::Counter<long int>;pool::Pool\n");
    // What the library calls these, inside of them.
    printf("part 0 48 1 *;pool::Pool\npart 88 8 1 *;pool::Pool\n"
           "part 32 4 1 *;pool::Derived\npart 40 32 1 *;pool::Derived\n");
}

int main()
{
    MAKES(Slot, "pool::Slot");
    Pool pool(6);
    MAKES(Derived, "pool::Derived");
    made_before = 16; // the counts, by the ABI of libstdc++
    auto shared = std::make_shared<Derived>();
    MAKES(Counter<int>, "pool::Counter<int>");
    pool.apart = new Counter<int>;
    MAKES(Derived, "pool::Derived");
    pool.derived.reset(new Derived);
    MAKES(Derived, "pool::Derived");
    auto *derived = new Derived;
    the_pool = &pool;
    KNOW(&pool, 1, "-", "pool::Pool");
    KNOW(pool.slots.data(), 6, "-", "pool::Slot");
    KNOW(pool.counts.data(), 6, "-", "int");
    // What counts who shares an object lies before it, by the ABI of libstdc++.
    know(reinterpret_cast<char *>(shared.get()) - 8, sizeof(int), 1, "_M_use_count", "*");
    KNOW(pool.apart, 1, "-", "pool::Counter<int>");
    KNOW(pool.derived.get(), 1, "-", "pool::Derived");
    KNOW(shared.get(), 1, "-", "pool::Derived");
    KNOW(derived, 1, "-", "pool::Derived");
    KNOW(&global_counter, 1, "-", "pool::Counter<int>");
    know(&the_pool, sizeof the_pool, 1, "the_pool", "pool::Pool *");
    TRAP();
    long sum = work(&pool, shared, derived);
    TRAP();
    tell_objects();
    tell_fields();
    tell_made();
    printf("sum %ld\n", sum);
    delete pool.apart;
    delete derived;
    return 0;
}
