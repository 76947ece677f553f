/* Experiments on a device, before the design of a backend that keeps CUDA graphs: what updates,
 * launches, events, grafted library calls and memory cost here. A table in markdown for each.
 *
 *     experiments [--list] [--quick] [NAME...]        all of them unless named: update graft ...
 *
 * Exit status: 0, 1 an experiment failed (the others were run), 2 usage, 4 no device. */
#include <stdio.h>
#include <string.h>

#include "tests/device/lab/lab.h"

/* Those that may cost the context come last. */
static const struct {
    const char *name, *number, *title;
    experiment *run;
} experiments[] = {
    { "update", "E1", "What changing an executable graph costs", experiment_update },
    { "launch", "E2", "Launches on a stream and in a graph", experiment_launch },
    { "disabled", "E3", "Nodes switched off", experiment_disabled },
    { "grid", "E5", "Grids that fit the work, and grids that stay", experiment_grid },
    { "events", "E6", "Events between nodes", experiment_events },
    { "batches", "E11", "Chains of kernels that are set and launched", experiment_batches },
    { "memory", "E7", "Memory of executable graphs", experiment_memory },
    { "chunks", "E8", "Memory mapped by chunks", experiment_chunks },
    { "compile", "E10", "Kernels compiled in a hurry", experiment_compile },
    { "graft", "E4", "Products of cuBLASLt as nodes", experiment_graft },
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

static int find(const char *name)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        if (strcmp(experiments[i].name, name) == 0 || strcmp(experiments[i].number, name) == 0)
            return i;
    return -1;
}

static int list(void)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        printf("%-9s %-4s %s\n", experiments[i].name, experiments[i].number, experiments[i].title);
    return 0;
}

static bool read_words(int argc, char **argv, bool *chosen, bool *quick, bool *lists)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        int found = find(argv[i]);
        if (strcmp(argv[i], "--list") == 0) {
            *lists = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            *quick = true;
        } else if (found >= 0) {
            chosen[found] = any = true;
        } else {
            fprintf(stderr, "experiments: no experiment %s; --list lists them\n", argv[i]);
            return false;
        }
    }
    for (int i = 0; i < EXPERIMENTS && !any; i++)
        chosen[i] = true;
    return true;
}

static int run_all(struct lab *lab, const bool *chosen)
{
    int code = 0;
    printf("# Experiments: %s, driver for CUDA %d.%d\n", lab->cuda->device_name,
           lab->cuda->driver_version / 1000, lab->cuda->driver_version % 1000 / 10);
    for (int i = 0; i < EXPERIMENTS; i++) {
        struct err err = { 0 };
        if (!chosen[i])
            continue;
        printf("\n## %s %s\n\n", experiments[i].number, experiments[i].title);
        fflush(stdout);
        if (!experiments[i].run(lab, &err)) {
            printf("\nNot measured: %s\n", err.text);
            code = 1;
        }
        fflush(stdout);
    }
    return code;
}

int main(int argc, char **argv)
{
    bool chosen[EXPERIMENTS] = { false }, quick = false, lists = false;
    struct err err = { 0 };
    struct lab lab;
    if (!read_words(argc, argv, chosen, &quick, &lists))
        return 2;
    if (lists)
        return list();
    int code = 4;
    if (lab_open(&lab, quick, &err))
        code = run_all(&lab, chosen);
    else
        fprintf(stderr, "experiments: %s\n", err.text);
    lab_close(&lab);
    return code;
}
