/* Linked at a fixed address (no PIE): tells where its function is. */
#include <stdio.h>

static __attribute__((noinline)) void *fixed_here(void)
{
    return __builtin_return_address(0);
}

int main(void)
{
    int line;
    void *site = (line = __LINE__, fixed_here());
    printf("%p %p %d\n", (void *)fixed_here, site, line);
    return 0;
}
