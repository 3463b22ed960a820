/* openmp_names.h: where constructs of OpenMP are in the program. Compilers make functions of them,
 * "relax._omp_fn.0", that begin at the construct's line; they go by the user's function.
 * Private to what shows them. */
#ifndef HEURT_PRESENT_OPENMP_OPENMP_NAMES_H
#define HEURT_PRESENT_OPENMP_OPENMP_NAMES_H

#include "present/table/parts.h"

/* "relax, stencil.c:24". free() it. */
char *openmp_place__text(const struct report *report, uint32_t process, uint64_t site);
/* Of what is in a region, whose function it has where compilers made it nameless; a call that
 * became a jump has no place but the region's. */
char *openmp_place__in_region(const struct report *report, uint32_t process, uint64_t site,
                              uint64_t region_site);
struct place_cells openmp_place_cells(struct table_rows *rows, const struct report *report,
                                      uint32_t process, uint64_t site);

#endif
