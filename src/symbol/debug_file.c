#include "symbol/debug_file.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Whether there is something for libdwfl to look at, whose checksum it compares: plain files alone.
 */
static bool is_linked(const char *path, const char *link)
{
    int length = (int)(path__name(path) - path);
    static const char *const forms[] = {"%.*s%s", "%.*s.debug/%s", "/usr/lib/debug%.*s%s"};
    bool found = false, are_plain = true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct stat status;
        char *place = memory__format(forms[i], length, path, link);
        if (stat(place, &status) == 0) {
            found = true;
            are_plain &= S_ISREG(status.st_mode);
        }
        free(place);
    }
    return found && are_plain;
}

int debug_file__find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                     const char *path, const char *link, GElf_Word checksum, char **found)
{
    int fd = dwfl_build_id_find_debuginfo(module, user, name, base, path, link, checksum, found);
    if (fd >= 0 || !link || !path || !is_linked(path, link))
        return fd;
    return dwfl_standard_find_debuginfo(module, user, name, base, path, link, checksum, found);
}
