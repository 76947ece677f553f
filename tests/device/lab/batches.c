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

/* Sets *us to the time of the host for a kernel. Nodes that are not set count 1. */
static bool chains_cost(struct lab *lab, struct chain *chains, uint32_t every, double *us,
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
    double stream, made, few, all;
    /* The quarter first: the other nodes still count 1. */
    bool ok = stream_cost(lab, n, &stream, err) && make_chains(lab, chains, n, &made, err) &&
              chains_cost(lab, chains, 4, &few, err) && chains_cost(lab, chains, 1, &all, err);
    if (ok)
        printf("| %u | %.2f | %.2f | %.2f | %.1f |\n", (unsigned)n, stream, all, few, made);
    for (int c = 0; c < CHAINS; c++)
        chain_release(lab, &chains[c]);
    return ok;
}

bool experiment_batches(struct lab *lab, struct err *err)
{
    static const uint32_t sizes[] = { 8, 16, 32 };
    struct chain *chains = calloc(CHAINS, sizeof *chains);
    bool ok = (chains || err_nomem(err)) && LAB_NEEDS(lab, set_params, err);
    if (ok)
        printf(
            "%d chains between two waits; us of the host for a kernel, of a chain that is made "
            "for all of it.\n\n"
            "| kernels in a chain | one by one | all nodes set | a quarter of them | a chain made "
            "and launched |\n|---|---|---|---|---|\n",
            CHAINS);
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes && sizes[i] <= lab->longest; i++)
        ok = print_batches(lab, chains, sizes[i], err);
    free(chains);
    return ok;
}
