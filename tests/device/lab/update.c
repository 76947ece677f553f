/* E1: what it costs to change a graph that was instantiated, and the launch after it. */
#include <stdio.h>
#include <string.h>

#include "tests/device/lab/lab.h"

enum { SIZES = 4, ROWS_MAX = 48 };
static const uint32_t sizes[SIZES] = { 30, 100, 300, 1000 };

struct table {
    const char *names[ROWS_MAX];
    double us[ROWS_MAX][SIZES];
    size_t n, column;
};

static void put(struct table *t, const char *name, double us)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->names[i], name) == 0) {
            t->us[i][t->column] = us;
            return;
        }
    if (t->n < ROWS_MAX) {
        t->names[t->n] = name;
        t->us[t->n++][t->column] = us;
    }
}

static void print(const struct table *t, size_t columns)
{
    printf("| us, by kernel nodes in a row |");
    for (size_t c = 0; c < columns; c++)
        printf(" %u |", (unsigned)sizes[c]);
    printf("\n|---|");
    for (size_t c = 0; c < columns; c++)
        printf("---|");
    for (size_t i = 0; i < t->n; i++) {
        printf("\n| %s |", t->names[i]);
        for (size_t c = 0; c < columns; c++)
            printf(" %.2f |", t->us[i][c]);
    }
    printf("\n");
}

/* ---- Changes; each leaves a graph whose ticks add what `turn` says ---- */

static bool set_all(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err)
{
    for (uint32_t i = 0; i < chain->n; i++)
        if (!chain_set(lab, chain, i, 1 + (turn & 1), err))
            return false;
    return true;
}

static bool set_one(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err)
{
    return chain_set(lab, chain, chain->n / 2, 1 + (turn & 1), err);
}

static bool upload(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err)
{
    (void)turn;
    return lab_check(lab, lab->graphs.upload(chain->exec, lab->cuda->stream), "cuGraphUpload",
                     err) &&
           lab_wait(lab, err);
}

static bool set_all_and_upload(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err)
{
    return set_all(lab, chain, turn, err) && upload(lab, chain, turn, err);
}

static bool toggle_half(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err)
{
    for (uint32_t i = 0; i < chain->n; i += 2)
        if (!lab_check(lab, lab->graphs.set_enabled(chain->exec, chain->nodes[i], turn & 1),
                       "cuGraphNodeSetEnabled", err))
            return false;
    return true;
}

/* ---- Measuring ---- */

static bool measure(struct lab *lab, struct table *t, struct chain *chain, chain_change *change,
                    const char *const names[4], struct err *err)
{
    struct launch_cost cost;
    if (!chain_cost(lab, chain, change, &cost, err))
        return false;
    const double us[] = { cost.change, cost.call, cost.done, cost.device };
    for (int i = 0; i < 4; i++)
        if (names[i])
            put(t, names[i], us[i]);
    return true;
}

/* Building, instantiating and the first launch, anew each time. */
static bool measure_new(struct lab *lab, struct table *t, uint32_t n, bool uploads, struct err *err)
{
    double us[6][REPEATS_MAX];
    for (uint32_t i = 0; i < lab->repeats; i++) {
        struct chain chain;
        double begin = clock_us();
        bool ok = chain_build(lab, n, false, 1, &chain, err);
        us[0][i] = clock_us() - begin;
        begin = clock_us();
        ok = ok && chain_instantiate(lab, &chain, err);
        us[1][i] = clock_us() - begin;
        begin = clock_us();
        ok = ok && (!uploads || upload(lab, &chain, 0, err));
        us[2][i] = clock_us() - begin;
        begin = clock_us();
        ok = ok && lab_check(lab, lab->graphs.launch(chain.exec, lab->cuda->stream),
                             "cuGraphLaunch", err);
        us[3][i] = clock_us() - begin;
        ok = ok && lab_wait(lab, err);
        us[4][i] = clock_us() - begin;
        begin = clock_us();
        if (ok && chain.exec) {
            lab->graphs.exec_destroy(chain.exec);
            chain.exec = NULL;
        }
        us[5][i] = clock_us() - begin;
        chain_release(lab, &chain);
        if (!ok)
            return false;
    }
    put(t, "cuGraphAddKernelNode, all", lab_median(us[0], lab->repeats));
    put(t, "cuGraphInstantiate", lab_median(us[1], lab->repeats));
    if (uploads)
        put(t, "cuGraphUpload after it, until done", lab_median(us[2], lab->repeats));
    put(t, uploads ? "first launch after that: the call" : "first launch without it: the call",
        lab_median(us[3], lab->repeats));
    put(t, uploads ? "first launch after that: until done" : "first launch without it: until done",
        lab_median(us[4], lab->repeats));
    put(t, "cuGraphExecDestroy", lab_median(us[5], lab->repeats));
    return true;
}

static bool measure_update(struct lab *lab, struct table *t, struct chain *chain, struct err *err)
{
    double us[3][REPEATS_MAX];
    struct chain other[2];
    struct cu_update_result result = { 0 };
    bool ok = chain_build(lab, chain->n, false, 1, &other[0], err);
    if (!chain_build(lab, chain->n, false, 2, &other[1], err))
        ok = false;
    for (uint32_t i = 0; i < lab->repeats && ok; i++) {
        double begin = clock_us();
        ok = lab_check(lab, lab->graphs.exec_update(chain->exec, other[i & 1].graph, &result),
                       "cuGraphExecUpdate", err);
        us[0][i] = clock_us() - begin;
        begin = clock_us();
        ok = ok && lab_check(lab, lab->graphs.launch(chain->exec, lab->cuda->stream),
                             "cuGraphLaunch", err);
        us[1][i] = clock_us() - begin;
        ok = ok && lab_wait(lab, err);
        us[2][i] = clock_us() - begin;
    }
    if (ok) {
        put(t, "cuGraphExecUpdate of the whole", lab_median(us[0], lab->repeats));
        put(t, "- launch after: the call", lab_median(us[1], lab->repeats));
        put(t, "- launch after: until done", lab_median(us[2], lab->repeats));
    }
    chain_release(lab, &other[0]);
    chain_release(lab, &other[1]);
    return ok;
}

/* Did the last changes take? All ticks add 2, every second is off: so they count. */
static bool verify(struct lab *lab, struct chain *chain, struct err *err)
{
    int64_t counted = 0, expected = 2 * (int64_t)(chain->n / 2);
    if (!set_all(lab, chain, 1, err) || !toggle_half(lab, chain, 0, err) || !lab_reset(lab, err) ||
        !lab_check(lab, lab->graphs.launch(chain->exec, lab->cuda->stream), "cuGraphLaunch", err) ||
        !lab_wait(lab, err) || !lab_counter(lab, &counted, err) || !toggle_half(lab, chain, 1, err))
        return false;
    return counted == expected ||
           err_set(err, ERR_ENV, "%u nodes counted %lld after updates, not %lld",
                   (unsigned)chain->n, (long long)counted, (long long)expected);
}

static bool measure_changes(struct lab *lab, struct table *t, struct chain *chain, struct err *err)
{
    static const char *const again[] = { NULL, "launch again: the call", "launch again: until done",
                                         "launch again: the device" },
                             *const all[] = { "SetParams of all nodes, 16 bytes of arguments",
                                              "- launch after SetParams of all: the call",
                                              "- launch after SetParams of all: until done",
                                              "- launch after SetParams of all: the device" },
                             *const one[] = { "SetParams of one node",
                                              "- launch after SetParams of one: the call",
                                              "- launch after SetParams of one: until done", NULL },
                             *const uploaded[] = { "SetParams of all and cuGraphUpload, until done",
                                                   "- launch after both: the call",
                                                   "- launch after both: until done", NULL },
                             *const toggled[] = { "SetEnabled of every second node",
                                                  "- launch after SetEnabled: the call",
                                                  "- launch after SetEnabled: until done", NULL };
    return verify(lab, chain, err) && measure(lab, t, chain, NULL, again, err) &&
           measure(lab, t, chain, set_all, all, err) && measure(lab, t, chain, set_one, one, err) &&
           measure(lab, t, chain, set_all_and_upload, uploaded, err) &&
           measure(lab, t, chain, toggle_half, toggled, err) && toggle_half(lab, chain, 1, err) &&
           measure_update(lab, t, chain, err);
}

static bool measure_wide(struct lab *lab, struct table *t, uint32_t n, struct err *err)
{
    static const char *const names[] = { "SetParams of all nodes, 512 bytes of arguments",
                                         "- launch after that: the call",
                                         "- launch after that: until done", NULL };
    struct chain chain;
    bool ok = chain_build(lab, n, true, 1, &chain, err) && chain_instantiate(lab, &chain, err) &&
              measure(lab, t, &chain, set_all, names, err);
    chain_release(lab, &chain);
    return ok;
}

bool experiment_update(struct lab *lab, struct err *err)
{
    struct table t = { .n = 0 };
    bool ok = LAB_NEEDS(lab, set_params, err) && LAB_NEEDS(lab, set_enabled, err) &&
              LAB_NEEDS(lab, exec_update, err) && LAB_NEEDS(lab, upload, err);
    size_t columns = 0;
    for (; ok && columns < SIZES && sizes[columns] <= lab->longest; columns++) {
        struct chain chain = { .n = 0 };
        t.column = columns;
        ok = measure_new(lab, &t, sizes[columns], true, err) &&
             measure_new(lab, &t, sizes[columns], false, err) &&
             chain_build(lab, sizes[columns], false, 1, &chain, err) &&
             chain_instantiate(lab, &chain, err) && measure_changes(lab, &t, &chain, err) &&
             measure_wide(lab, &t, sizes[columns], err);
        chain_release(lab, &chain);
    }
    print(&t, columns);
    return ok;
}
