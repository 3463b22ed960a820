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
