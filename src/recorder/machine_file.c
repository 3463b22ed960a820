#include "recorder/machine_file.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "format/machine_nodes.h"
#include "kernel/numa_nodes.h"
#include "recorder/cache.h"
#include "symbol/kept_file.h"

#include <fcntl.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(struct trace_writer *writer, const char *key, const char *value)
{
    if (value)
        trace_writer__meta(writer, key, value);
}

void machine_file__describe(struct trace_writer *writer)
{
    struct numa_nodes nodes;
    char number[16];
    numa_nodes__read("", &nodes);
    tell(writer, NODES_META, nodes.nodes);
    tell(writer, DISTANCES_META, nodes.distances);
    tell(writer, BALANCING_META, nodes.balancing);
    tell(writer, HUGE_PAGES_META, nodes.huge_pages);
    snprintf(number, sizeof number, "%u", nodes.line_bytes);
    tell(writer, LINE_BYTES_META, nodes.line_bytes ? number : NULL);
    numa_nodes__free(&nodes);
}

bool machine_file__has_nodes(void)
{
    struct numa_nodes told;
    numa_nodes__read("", &told);
    struct machine_nodes nodes = machine_nodes__parse(told.nodes, told.distances);
    bool has = nodes.count > 1;
    machine_nodes__free(&nodes);
    numa_nodes__free(&told);
    return has;
}

/* ---- as hwloc describes it ------------------------------------------------------------------- */

struct description {
    char *text;
    size_t bytes;
};

/* Devices are no matter, and what looks for some of them takes long. */
static bool load(hwloc_topology_t topology)
{
    static const char *const left_out[] = {"pci",  "opencl",    "cuda", "nvml",
                                           "rsmi", "levelzero", "gl"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                      left_out[i]);
    return hwloc_topology_load(topology) == 0;
}

/* text NULL: hwloc does not understand the machine. */
static struct description describe(void)
{
    struct description made = {NULL, 0};
    hwloc_topology_t topology;
    char *text;
    int length; /* with the zero */
    if (hwloc_topology_init(&topology) < 0)
        return made;
    if (load(topology) && hwloc_topology_export_xmlbuffer(topology, &text, &length, 0) == 0) {
        made = (struct description){memory__text(text), (size_t)length - 1};
        hwloc_free_xmlbuffer(topology, text);
    }
    hwloc_topology_destroy(topology);
    return made;
}

/* ---- kept from run to run -------------------------------------------------------------------- */

#define ENDING ".xml"
#define BYTES_MOST (1u << 20)

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

/* Lines of a file that begin so ("": all). */
static uint64_t add_lines(uint64_t hash, const char *path, const char *beginning)
{
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    while (in && getline(&line, &room, in) > 0)
        if (strncmp(line, beginning, strlen(beginning)) == 0)
            hash = add_text(hash, line);
    free(line);
    if (in)
        fclose(in);
    return hash;
}

/* What the description depends on, as a number: this boot of the machine, the CPUs and nodes that
 * are there, and those that this process may use. */
static uint64_t machine_key(void)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    hash = add_lines(hash, "/proc/sys/kernel/random/boot_id", "");
    hash = add_lines(hash, "/sys/devices/system/cpu/online", "");
    hash = add_lines(hash, "/sys/devices/system/node/online", "");
    hash = add_lines(hash, "/proc/self/status", "Cpus_allowed_list");
    return add_lines(hash, "/proc/self/status", "Mems_allowed_list");
}

static struct description read_kept(const char *path)
{
    struct description kept = {NULL, 0};
    struct stat status;
    int fd = kept_file__open(path, &status);
    if (fd < 0)
        return kept;
    size_t bytes = status.st_size > 0 && status.st_size < BYTES_MOST ? (size_t)status.st_size : 0;
    kept.text = memory__zeroed(bytes + 1, 1);
    while (kept.bytes < bytes) {
        ssize_t some = read(fd, kept.text + kept.bytes, bytes - kept.bytes);
        if (some <= 0)
            break;
        kept.bytes += (size_t)some;
    }
    close(fd);
    return kept;
}

static bool write_description(int fd, void *description)
{
    const struct description *made = description;
    return descriptor__write_all(fd, made->text, made->bytes);
}

/* It takes hwloc some ms, each time the same. */
static struct description describe_once(void)
{
    uint64_t key = machine_key();
    char *directory = cache__directory("machine");
    if (!directory)
        return describe();
    char *path = kept_file__path(directory, (const uint8_t *)&key, sizeof key, ENDING);
    struct description found = read_kept(path);
    if (!found.bytes) {
        free(found.text);
        found = describe();
        if (found.text)
            kept_file__save(directory, path, ENDING, BYTES_MOST, write_description, &found);
    }
    free(path);
    free(directory);
    return found;
}

/* As other files of a trace: new, for its owner alone. */
void machine_file__keep(const char *directory)
{
    struct description machine = describe_once();
    char *path = memory__format("%s/" HEURT_MACHINE_FILE, directory);
    int fd =
        machine.text ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        descriptor__write_all(fd, machine.text, machine.bytes);
        close(fd);
    }
    free(path);
    free(machine.text);
}
