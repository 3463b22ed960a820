/* What base asks of the program that links it. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "out of memory (%zu bytes)\n", bytes);
    abort();
}
