/* The options of `symtape run`, and the command as a function, which `symtape replay --backend`
 * calls as well. */
#ifndef SYMTAPE_CMD_RUN_RUN_H
#define SYMTAPE_CMD_RUN_RUN_H

#include "cmd/cmd.h"

struct run_args {
    const char *backend; /* NULL: cpu */
    const char *inputs, *input_prefix, *compare, *compare_prefix, *outputs;
    const char *save, *tolerance, *perturb, *rules, *pad;
    struct opt_sizes sizes, warm;
    struct opt_number limit, jobs, samples, seed, runs, pool_budget, ranks;
    bool ignore_guards, profile, no_cuda_graph, device_sizes, nodes, tf32, bisect_codes, json,
        strict;
};

/* The table of its options. The struct that they fill begins with a struct run_args. */
extern const struct opt run_options_table[];

/* Runs the graphs of the tape that the first operand names, and prints the report. Returns the exit
 * code. */
int run_graphs(struct cmd *cmd, const struct run_args *args);

/* Runs the graphs of the tapes that the operands name as ranks of one job, and prints the report
 * (run_ranks.c). Returns the exit code. */
int run_ranks(struct cmd *cmd, const struct run_args *args);

#endif
