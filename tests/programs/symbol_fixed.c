/* Linked at a fixed address (no PIE): tells where its function is. */
#include <stdio.h>

static int line;

static __attribute__((noinline)) void *fixed_here(void)
{
    line = __LINE__;
    return __builtin_return_address(0);
}

int main(void)
{
    int call = __LINE__;
    void *site = fixed_here();
    printf("%p %p %d %d\n", (void *)fixed_here, site, line, call);
    return 0;
}
