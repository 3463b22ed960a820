/* internal.h: the importers, one a file. */
#ifndef HEURT_IMPORT_INTERNAL_H
#define HEURT_IMPORT_INTERNAL_H

#include "import/import.h"

extern const struct importer importer_chrome, importer_ctf, importer_otf2, importer_paje,
    importer_perf, importer_perfetto, importer_uftrace;

#endif
