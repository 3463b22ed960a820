// C++ names: a namespace, a template, a lambda, an inlined member.
namespace shelf
{
template <typename T> struct Box {
    T inside;
    __attribute__((noinline)) T call(T add, void (*take)())
    {
        take();
        return inside += add;
    }
    inline __attribute__((always_inline)) void inlined(void (*take)())
    {
        take();
        inside += 1;
    }
};
} // namespace shelf

extern "C" __attribute__((noinline)) int cxx_begin(void (*take)())
{
    shelf::Box<int> box = {1};
    box.inlined(take);
    int sum = box.call(2, take);
    __asm__ volatile("" ::: "memory");
    return sum;
}

#if defined(__clang__)
#define STANDS_ALONE __attribute__((noinline))
#else
#define STANDS_ALONE __attribute__((noipa))
#endif

template <typename F> static __attribute__((noinline)) void call(F closure, void (*take)())
{
    closure(take);
}

// A closure that is made in a block of a template, which is inlined, while the closure is not.
template <typename T> inline __attribute__((always_inline)) T in_block(T sum, void (*take)())
{
    for (T from = 0; from < 1; from++) {
        call(
            [=](void (*taken)()) STANDS_ALONE {
                shelf::Box<T> box = {from};
                box.inlined(taken);
                __asm__ volatile("" ::: "memory"); // no tail call
            },
            take);
    }
    return sum;
}

extern "C" __attribute__((noinline)) int cxx_in_block(void (*take)())
{
    return in_block<int>(0, take);
}
