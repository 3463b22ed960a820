/* measured_function.c: built by itself, as the tracer at hand needs it; see meson.build. */
#include "short_function.h"

uint64_t measured_function(uint64_t value)
{
    return SHORT_WORK(value);
}
