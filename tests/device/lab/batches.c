/* E11: launches in batches, as runtime/batches.c makes them: between two waits of the host, several
 * chains are set and launched once each. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/device/lab/lab.h"

enum { CHAINS = 8 };

/* Sets every `every`th node of each chain to count `by`, and launches the chains. */
static bool launch_chains(struct lab *lab, struct chain *chains, uint32_t every, int64_t by,
                          struct err *err)
{
    for (int c = 0; c < CHAINS; c++) {
        for (uint32_t i = 0; i < chains[c].n; i += every)
            if (!chain_set(lab, &chains[c], i, by, err))
                return false;
        if (!lab_check(lab, lab->graphs.launch(chains[c].exec, lab->cuda->stream), "cuGraphLaunch",
                       err))
            return false;
    }
    return true;
}

static bool expect_count(struct lab *lab, int64_t wanted, struct err *err)
{
    int64_t counted = 0;
    if (!lab_counter(lab, &counted, err))
        return false;
    return counted == wanted || err_set(err, ERR_ENV, "batches counted %lld, not %lld",
                                        (long long)counted, (long long)wanted);
}

/* How chains differ from chains of one function with small arguments. */
struct chain_use {
    const char *what;
    bool wide;  /* 512 bytes of arguments */
    bool flips; /* each round sets another function */
    bool cold;  /* the host writes much memory before each round, so that its caches have others */
};

enum { COLD_BYTES = 256 << 20, CACHE_LINE = 64 };

static void begin_round(const struct chain_use *use, struct chain *chains, uint32_t round,
                        unsigned char *memory)
{
    for (int c = 0; c < CHAINS; c++)
        chains[c].wide = use->wide != (use->flips && round % 2 != 0);
    for (size_t i = 0; use->cold && i < COLD_BYTES; i += CACHE_LINE)
        memory[i]++;
}

/* Sets *us to the time of the host for a kernel. Nodes that are not set count 1. */
static bool chains_cost(struct lab *lab, struct chain *chains, uint32_t every,
                        const struct chain_use *use, unsigned char *memory, double *us,
                        struct err *err)
{
    const uint32_t n = chains[0].n, set = (n + every - 1) / every;
    double rounds[REPEATS_MAX];
    int64_t count = 0;
    if (!lab_reset(lab, err))
        return false;
    for (uint32_t r = 0; r < lab->repeats; r++) {
        const int64_t by = (int64_t)r + 2;
        if (!lab_wait(lab, err))
            return false;
        begin_round(use, chains, r, memory);
        const double begin = clock_us();
        if (!launch_chains(lab, chains, every, by, err))
            return false;
        rounds[r] = (clock_us() - begin) / (CHAINS * n);
        count += CHAINS * (by * set + (n - set));
    }
    *us = lab_median(rounds, lab->repeats);
    return lab_wait(lab, err) && expect_count(lab, count, err);
}

static bool stream_cost(struct lab *lab, uint32_t n, double *us, struct err *err)
{
    struct wide_args args = { .to = lab->counter, .by = 1 };
    double rounds[REPEATS_MAX];
    for (uint32_t r = 0; r < lab->repeats; r++) {
        if (!lab_wait(lab, err))
            return false;
        const double begin = clock_us();
        for (uint32_t i = 0; i < CHAINS * n; i++)
            if (!lab_launch(lab, lab->tick, 1, 32, &args, err))
                return false;
        rounds[r] = (clock_us() - begin) / (CHAINS * n);
    }
    *us = lab_median(rounds, lab->repeats);
    return lab_wait(lab, err);
}

/* Makes the chains and sets *us to the time of the host for one, with its first launch. */
static bool make_chains(struct lab *lab, struct chain *chains, uint32_t n, double *us,
                        struct err *err)
{
    double times[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        if (!lab_wait(lab, err))
            return false;
        const double begin = clock_us();
        if (!chain_build(lab, n, false, 1, &chains[c], err) ||
            !chain_instantiate(lab, &chains[c], err) ||
            !lab_check(lab, lab->graphs.launch(chains[c].exec, lab->cuda->stream), "cuGraphLaunch",
                       err))
            return false;
        times[c] = clock_us() - begin;
    }
    *us = lab_median(times, CHAINS);
    return lab_wait(lab, err);
}

static bool print_batches(struct lab *lab, struct chain *chains, uint32_t n, struct err *err)
{
    static const struct chain_use small = { .what = "" };
    double stream, made, few, all;
    /* The quarter first: the other nodes still count 1. */
    bool ok = stream_cost(lab, n, &stream, err) && make_chains(lab, chains, n, &made, err) &&
              chains_cost(lab, chains, 4, &small, NULL, &few, err) &&
              chains_cost(lab, chains, 1, &small, NULL, &all, err);
    if (ok)
        printf("| %u | %.2f | %.2f | %.2f | %.1f |\n", (unsigned)n, stream, all, few, made);
    for (int c = 0; c < CHAINS; c++)
        chain_release(lab, &chains[c]);
    return ok;
}

static bool print_uses(struct lab *lab, struct chain *chains, unsigned char *memory,
                       struct err *err)
{
    static const struct chain_use uses[] = {
        { "one function, 16 bytes of arguments", false, false, false },
        { "- the host's caches have other memory", false, false, true },
        { "one function, 512 bytes", true, false, false },
        { "- the host's caches have other memory", true, false, true },
        { "another function each time", false, true, false },
        { "- the host's caches have other memory", false, true, true },
    };
    enum { NODES = 16 };
    double us = 0;
    bool ok = make_chains(lab, chains, NODES, &us, err);
    printf("\n| chains of %d, all nodes set | us of the host for a kernel |\n|---|---|\n", NODES);
    for (size_t i = 0; ok && i < sizeof uses / sizeof *uses; i++) {
        ok = chains_cost(lab, chains, 1, &uses[i], memory, &us, err);
        if (ok)
            printf("| %s | %.2f |\n", uses[i].what, us);
    }
    for (int c = 0; c < CHAINS; c++)
        chain_release(lab, &chains[c]);
    return ok;
}

bool experiment_batches(struct lab *lab, struct err *err)
{
    static const uint32_t sizes[] = { 8, 16, 32 };
    struct chain *chains = calloc(CHAINS, sizeof *chains);
    unsigned char *memory = calloc(1, COLD_BYTES);
    bool ok = ((chains && memory) || err_nomem(err)) && LAB_NEEDS(lab, set_params, err);
    if (ok)
        printf(
            "%d chains between two waits; us of the host for a kernel, of a chain that is made "
            "for all of it.\n\n"
            "| kernels in a chain | one by one | all nodes set | a quarter of them | a chain made "
            "and launched |\n|---|---|---|---|---|\n",
            CHAINS);
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes && sizes[i] <= lab->longest; i++)
        ok = print_batches(lab, chains, sizes[i], err);
    ok = ok && print_uses(lab, chains, memory, err);
    free(memory);
    free(chains);
    return ok;
}
