/* The memory that the machine and the container still have. */
#include "replay/backend/cpu/free_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static bool read_line(const char *path, const char *key, uint64_t *ret)
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

static uint64_t less(uint64_t room, uint64_t most)
{
    return room == 0 || most < room ? (most ? most : 1) : room;
}

uint64_t cpu_free_memory(void)
{
    static const char *const limits[][2] = {
        { "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current" },
        { "/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/memory/memory.usage_in_bytes" },
    };
    uint64_t room = 0, most, used;
    struct rlimit limit;
    if (read_line("/proc/meminfo", "MemAvailable:", &most))
        room = less(room, most * 1024);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (read_line(limits[i][0], "", &most) && read_line(limits[i][1], "", &used))
            room = less(room, most > used ? most - used : 1);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        room = less(room, limit.rlim_cur);
    return room;
}
