/* The memory that the machine and the container still have. */
#include "replay/backend/cpu/free_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static bool read_memory_field(const char *path, const char *key, uint64_t *ret)
{
    char line[256];
    FILE *f = fopen(path, "re");
    bool found = false;
    size_t n = strlen(key);
    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, key, n) == 0 && sscanf(line + n, "%" SCNu64, ret) == 1;
    if (f)
        fclose(f);
    return found;
}

static uint64_t lowest_limit(uint64_t free_bytes, uint64_t most)
{
    return free_bytes == 0 || most < free_bytes ? (most ? most : 1) : free_bytes;
}

uint64_t cpu_free_memory(void)
{
    static const char *const limits[][2] = {
        { "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current" },
        { "/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/memory/memory.usage_in_bytes" },
    };
    uint64_t free_bytes = 0, most, used;
    struct rlimit limit;
    if (read_memory_field("/proc/meminfo", "MemAvailable:", &most))
        free_bytes = lowest_limit(free_bytes, most * 1024);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (read_memory_field(limits[i][0], "", &most) &&
            read_memory_field(limits[i][1], "", &used))
            free_bytes = lowest_limit(free_bytes, most > used ? most - used : 1);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        free_bytes = lowest_limit(free_bytes, limit.rlim_cur);
    return free_bytes;
}
