/* E7, E8: device memory that an executable graph holds; mapping memory in chunks. */
#include <stdio.h>
#include <unistd.h>

#include "tests/device/lab/lab.h"

/* ---- E7 ---- */

enum { EXECS = 32 };

static bool free_memory(struct lab *lab, size_t *ret, struct err *err)
{
    size_t all = 0;
    return lab_wait(lab, err) &&
           lab_check(lab, lab->cuda->driver.memory_info(ret, &all), "cuMemGetInfo", err);
}

/* Resident bytes of this process. */
static long resident(void)
{
    long pages = 0, whole = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &whole, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static bool print_execs(struct lab *lab, uint32_t n, uint32_t execs, struct err *err)
{
    struct chain chain = { .n = 0 };
    cu_exec made[EXECS] = { NULL };
    size_t before = 0, between = 0, after = 0;
    bool ok = chain_build(lab, n, false, 1, &chain, err) && free_memory(lab, &before, err);
    long host = resident();
    for (uint32_t i = 0; i < execs && ok; i++)
        ok = lab_check(lab, lab->graphs.instantiate(&made[i], chain.graph, 0), "cuGraphInstantiate",
                       err);
    ok = ok && free_memory(lab, &between, err);
    for (uint32_t i = 0; i < execs && ok; i++)
        ok = lab_check(lab, lab->graphs.launch(made[i], lab->cuda->stream), "cuGraphLaunch", err);
    ok = ok && free_memory(lab, &after, err);
    host = resident() - host;
    for (uint32_t i = 0; i < execs; i++)
        if (made[i])
            lab->graphs.exec_destroy(made[i]);
    chain_release(lab, &chain);
    if (ok)
        printf("| %u | %u | %.1f | %.1f | %.1f |\n", (unsigned)n, (unsigned)execs,
               ((double)before - (double)between) / execs / 1024,
               ((double)before - (double)after) / execs / 1024, (double)host / execs / 1024);
    return ok;
}

bool experiment_memory(struct lab *lab, struct err *err)
{
    static const uint32_t sizes[] = { 30, 100, 300, 1000 };
    if (!LAB_NEEDS(lab, instantiate, err) || !LAB_NEEDS(lab, launch, err))
        return false;
    printf(
        "| nodes | executable graphs | device KiB per graph after instantiation | after one launch | "
        "host KiB per graph |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= lab->longest; i++)
        if (!print_execs(lab, sizes[i], EXECS, err))
            return false;
    return true;
}

/* ---- E8 ---- */

enum { STEPS = 7, CHUNK_REPEATS = 15 };

static bool map_once(struct lab *lab, const struct chunk_properties *properties, size_t bytes,
                     double us[STEPS], struct err *err)
{
    const struct graph_table *g = &lab->graphs;
    const struct chunk_access access = { properties->location, ACCESS_READ_WRITE };
    unsigned long long chunk = 0;
    cu_address p = 0;
    double t[STEPS + 1];
    t[0] = clock_us();
    bool ok = lab_check(lab, g->reserve(&p, bytes, 0, 0, 0), "cuMemAddressReserve", err);
    t[1] = clock_us();
    bool created =
        ok && lab_check(lab, g->chunk_create(&chunk, bytes, properties, 0), "cuMemCreate", err);
    t[2] = clock_us();
    bool mapped = created && lab_check(lab, g->map(p, bytes, 0, chunk, 0), "cuMemMap", err);
    t[3] = clock_us();
    ok = mapped && lab_check(lab, g->allow(p, bytes, &access, 1), "cuMemSetAccess", err);
    t[4] = clock_us();
    if (mapped)
        ok &= lab_check(lab, g->unmap(p, bytes), "cuMemUnmap", err);
    t[5] = clock_us();
    if (created)
        ok &= lab_check(lab, g->chunk_release(chunk), "cuMemRelease", err);
    t[6] = clock_us();
    if (p)
        ok &= lab_check(lab, g->unreserve(p, bytes), "cuMemAddressFree", err);
    t[7] = clock_us();
    for (int i = 0; i < STEPS; i++)
        us[i] = t[i + 1] - t[i];
    return ok;
}

static bool allocate_once(struct lab *lab, size_t bytes, double us[2], struct err *err)
{
    cu_address p = 0;
    double begin = clock_us();
    if (!lab_check(lab, lab->cuda->driver.allocate(&p, bytes), "cuMemAlloc", err))
        return false;
    us[0] = clock_us() - begin;
    begin = clock_us();
    bool ok = lab_check(lab, lab->cuda->driver.release(p), "cuMemFree", err);
    us[1] = clock_us() - begin;
    return ok;
}

static bool print_chunk(struct lab *lab, const struct chunk_properties *properties, size_t bytes,
                        struct err *err)
{
    double us[STEPS + 2][CHUNK_REPEATS];
    for (int r = 0; r < CHUNK_REPEATS; r++) {
        double once[STEPS + 2];
        if (!map_once(lab, properties, bytes, once, err) ||
            !allocate_once(lab, bytes, once + STEPS, err))
            return false;
        for (int i = 0; i < STEPS + 2; i++)
            us[i][r] = once[i];
    }
    printf("| %zu MiB |", bytes >> 20);
    for (int i = 0; i < STEPS + 2; i++)
        printf(" %.1f |", lab_median(us[i], CHUNK_REPEATS));
    printf("\n");
    return true;
}

bool experiment_chunks(struct lab *lab, struct err *err)
{
    static const size_t sizes[] = { (size_t)2 << 20, (size_t)32 << 20, (size_t)256 << 20,
                                    (size_t)2 << 30 };
    const struct graph_table *g = &lab->graphs;
    const struct chunk_properties properties = {
        .type = CHUNK_PINNED, .location = { LOCATION_DEVICE, lab->cuda->device }
    };
    size_t least = 0;
    if (!lab_needs(g->reserve && g->unreserve && g->chunk_create && g->chunk_release && g->map &&
                       g->unmap && g->allow && g->granularity,
                   "mapped memory", err) ||
        !lab_check(lab, g->granularity(&least, &properties, GRANULARITY_LEAST),
                   "cuMemGetAllocationGranularity", err))
        return false;
    printf(
        "Chunks are multiples of %zu KiB.\n\n"
        "| bytes | reserve | create | map | set access | unmap | release | unreserve | cuMemAlloc "
        "| cuMemFree |\n|---|---|---|---|---|---|---|---|---|---|\n",
        least >> 10);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!print_chunk(lab, &properties, sizes[i], err))
            return false;
    return true;
}
