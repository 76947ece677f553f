/* E2, E3, E6: what a launch costs a node, on a stream and in a graph; nodes that are switched off;
 * events between nodes. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/device/lab/lab.h"

static uint32_t length(const struct lab *lab, uint32_t wanted)
{
    return wanted < lab->longest ? wanted : lab->longest;
}

/* ---- E2 ---- */

static bool stream_cost(struct lab *lab, uint32_t n, bool wide, struct launch_cost *ret,
                        struct err *err)
{
    double us[3][REPEATS_MAX];
    struct wide_args args = { .to = lab->counter, .by = 1 };
    for (uint32_t r = 0; r < lab->repeats; r++) {
        if (!lab_wait(lab, err) || !lab_mark(lab, lab->start, err))
            return false;
        double begin = clock_us();
        for (uint32_t i = 0; i < n; i++)
            if (!lab_launch(lab, wide ? lab->wide : lab->tick, 1, 32, &args, err))
                return false;
        us[0][r] = clock_us() - begin;
        if (!lab_mark(lab, lab->end, err) || !lab_wait(lab, err))
            return false;
        us[1][r] = clock_us() - begin;
        if (!lab_between(lab, &us[2][r], err))
            return false;
    }
    *ret = (struct launch_cost){ 0, lab_median(us[0], lab->repeats),
                                 lab_median(us[1], lab->repeats), lab_median(us[2], lab->repeats) };
    return true;
}

static void print_cost(const char *how, uint32_t n, const struct launch_cost *cost)
{
    printf("| %s | %u | %.1f | %.3f | %.1f | %.3f |\n", how, (unsigned)n, cost->call,
           cost->call / n, cost->done, cost->device / n);
}

bool experiment_launch(struct lab *lab, struct err *err)
{
    static const uint32_t sizes[] = { 1, 10, 30, 100, 300, 1000 };
    printf("| launches | kernels | host: calls | host, a kernel | until done | device, a kernel |\n"
           "|---|---|---|---|---|---|\n");
    for (int wide = 0; wide < 2; wide++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= lab->longest; i++) {
            struct launch_cost cost;
            struct chain chain = { .n = 0 };
            if (!stream_cost(lab, sizes[i], wide, &cost, err))
                return false;
            print_cost(wide ? "stream, 512 bytes of arguments" : "stream, 16 bytes of arguments",
                       sizes[i], &cost);
            bool ok = chain_build(lab, sizes[i], wide, 1, &chain, err) &&
                      chain_instantiate(lab, &chain, err) &&
                      chain_cost(lab, &chain, NULL, &cost, err);
            chain_release(lab, &chain);
            if (!ok)
                return false;
            print_cost(wide ? "graph, 512 bytes" : "graph, 16 bytes", sizes[i], &cost);
        }
    return true;
}

/* ---- E3 ---- */

static bool switch_off(struct lab *lab, struct chain *chain, uint32_t off, struct err *err)
{
    for (uint32_t i = 0; i < off; i++) /* spread over the chain */
        if (!lab_check(
                lab,
                lab->graphs.set_enabled(chain->exec, chain->nodes[(uint64_t)i * chain->n / off], 0),
                "cuGraphNodeSetEnabled", err))
            return false;
    return true;
}

static bool print_off(struct lab *lab, uint32_t n, uint32_t off, struct err *err)
{
    struct chain all = { .n = 0 }, fewer = { .n = 0 };
    struct launch_cost with, without;
    int64_t counted = 0;
    bool ok = chain_build(lab, n, false, 1, &all, err) && chain_instantiate(lab, &all, err) &&
              switch_off(lab, &all, off, err) && lab_reset(lab, err) &&
              chain_cost(lab, &all, NULL, &with, err) && lab_counter(lab, &counted, err) &&
              chain_build(lab, n - off, false, 1, &fewer, err) &&
              chain_instantiate(lab, &fewer, err) && chain_cost(lab, &fewer, NULL, &without, err);
    chain_release(lab, &all);
    chain_release(lab, &fewer);
    if (ok && counted != (int64_t)(n - off) * lab->repeats)
        ok = err_set(err, ERR_ENV, "%u nodes of %u off, and %lld of %u ran", (unsigned)off,
                     (unsigned)n, (long long)counted, (unsigned)((n - off) * lab->repeats));
    if (ok)
        printf("| %u | %u | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", (unsigned)n,
               (unsigned)off, with.call, without.call, with.done, without.done, with.device,
               without.device);
    return ok;
}

bool experiment_disabled(struct lab *lab, struct err *err)
{
    const uint32_t n = length(lab, 300);
    const uint32_t off[] = { 0, 1, n / 10, n / 2, n - 1 };
    if (!LAB_NEEDS(lab, set_enabled, err))
        return false;
    printf("| nodes | switched off | call | call, a graph without them | until done | without them "
           "| device | without them |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (!print_off(lab, n, off[i], err))
            return false;
    return true;
}

/* ---- E6 ---- */

struct measured_chain {
    struct chain chain;
    cu_event *events;
    uint32_t n_events;
};

/* Ticks with an event in front of each and behind the last. */
static bool build_measured(struct lab *lab, uint32_t n, struct measured_chain *m, struct err *err)
{
    struct wide_args args = { .to = lab->counter, .by = 1 };
    void *arguments[] = { &args };
    const struct cu_kernel_node tick = {
        .function = lab->tick->f, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .arguments = arguments
    };
    cu_node last = NULL;
    m->events = calloc((size_t)n + 1, sizeof(cu_event));
    if (!m->events)
        return err_nomem(err);
    if (!lab_check(lab, lab->graphs.graph_create(&m->chain.graph, 0), "a graph", err))
        return false;
    for (uint32_t i = 0; i <= n; i++) {
        cu_node node = NULL;
        if (!lab_check(lab, lab->cuda->driver.event_create(&m->events[i], 0), "an event", err))
            return false;
        m->n_events++;
        if (!lab_check(
                lab,
                lab->graphs.add_event(&node, m->chain.graph, &last, last != NULL, m->events[i]),
                "cuGraphAddEventRecordNode", err))
            return false;
        last = node;
        if (i < n &&
            !lab_check(lab,
                       lab->graphs.add_kernel(&m->chain.nodes[i], m->chain.graph, &last, 1, &tick),
                       "cuGraphAddKernelNode", err))
            return false;
        last = i < n ? m->chain.nodes[i] : last;
    }
    m->chain.n = n;
    return chain_instantiate(lab, &m->chain, err);
}

static void release_measured(struct lab *lab, struct measured_chain *m)
{
    chain_release(lab, &m->chain);
    for (uint32_t i = 0; i < m->n_events; i++)
        lab->cuda->driver.event_destroy(m->events[i]);
    free(m->events);
}

/* What the events of the last launch tell of a tick: the median. */
static bool read_events(struct lab *lab, const struct measured_chain *m, double *ret,
                        struct err *err)
{
    double us[CHAIN_MAX];
    for (uint32_t i = 0; i + 1 < m->n_events; i++) {
        float ms = 0;
        if (!lab_check(lab, lab->cuda->driver.event_between(&ms, m->events[i], m->events[i + 1]),
                       "the time between two nodes", err))
            return false;
        us[i] = (double)ms * 1e3;
    }
    *ret = lab_median(us, m->n_events - 1);
    return true;
}

bool experiment_events(struct lab *lab, struct err *err)
{
    const uint32_t n = length(lab, 100);
    struct chain plain = { .n = 0 };
    struct measured_chain measured = { .n_events = 0 };
    struct launch_cost without, with;
    double told = 0;
    bool ok = LAB_NEEDS(lab, add_event, err) && chain_build(lab, n, false, 1, &plain, err) &&
              chain_instantiate(lab, &plain, err) && chain_cost(lab, &plain, NULL, &without, err) &&
              build_measured(lab, n, &measured, err) &&
              chain_cost(lab, &measured.chain, NULL, &with, err) &&
              read_events(lab, &measured, &told, err);
    if (ok)
        printf("| nodes in a row | call | until done | device | device, a kernel node |\n"
               "|---|---|---|---|---|\n"
               "| %u kernels | %.1f | %.1f | %.1f | %.3f |\n"
               "| %u kernels, %u events | %.1f | %.1f | %.1f | %.3f |\n\n"
               "An event node costs %.3f us on the device, %.3f us of the call; between two events "
               "a kernel takes %.3f us.\n",
               (unsigned)n, without.call, without.done, without.device, without.device / n,
               (unsigned)n, (unsigned)n + 1, with.call, with.done, with.device, with.device / n,
               (with.device - without.device) / (n + 1), (with.call - without.call) / (n + 1),
               told);
    chain_release(lab, &plain);
    release_measured(lab, &measured);
    return ok;
}
