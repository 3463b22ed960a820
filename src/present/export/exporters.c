#include "present/export/exporters.h"

#include <stddef.h>

const struct exporter *const exporters[] = {&exporter_text, &exporter_json, &exporter_csv, NULL};
