#include "cmd/run/run.h"

const struct opt run_options_table[] = {
    OPT_CHOICE(0, "backend", "cpu|cuda|null", struct run_args, backend,
               "where to run (default: cpu, the reference); null computes nothing and reports "
               "calls and memory only"),
    OPT_STRING(0, "compare-with", "NAME", struct run_args, compare,
               "compare the outputs with those of that backend, or with the values in a "
               ".safetensors file",
               .old = "against"),
    OPT_FLAG(0, "nodes", struct run_args, nodes,
             "with --compare-with: compare each node, and report the first that differs"),
    OPT_STRING(0, "tolerance", "FACTOR", struct run_args, tolerance,
               "with --compare-with: multiply the tolerance by FACTOR (default: 1)"),
    OPT_SIZES(0, "sizes", "SIZES", struct run_args, sizes,
              "other sizes than the recorded ones: s77=31, lists and ranges (s0=1..64,s1=8,16), or "
              "a file of lines of s0=3 s1=8",
              .old = "set"),
    OPT_FLAG(0, "ignore-guards", struct run_args, ignore_guards,
             "run at sizes that guards or asserts do not allow, and report which", .old = "force"),
    OPT_FLAG(0, "profile", struct run_args, profile,
             "report where the time goes: by operator and fusion group, with user lines"),
    OPT_NUMBER(0, "runs", "N", struct run_args, runs,
               "with --profile or --pad: report medians of N runs (default: 5)"),
    OPT_FLAG(
        0, "no-cuda-graph", struct run_args, no_cuda_graph,
        "with --profile or --pad: make the calls of each run one by one, without a CUDA graph"),
    OPT_FLAG(0, "device-sizes", struct run_args, device_sizes,
             "with --profile or --outputs: keep sizes that depend on data on the device, and read "
             "them once"),
    OPT_SIZES(0, "warm", "SIZES", struct run_args, warm,
              "with --profile: run at these sizes before, to choose plans of libraries"),
    OPT_NUMBER(0, "pool-budget", "BYTES", struct run_args, pool_budget,
               "with --profile: give unused device memory beyond BYTES back after each size"),
    OPT_STRING(0, "pad", "SYMBOL:N[,...]|auto", struct run_args, pad,
               "round sizes up to multiples of N, if the graph then computes the same, and compare "
               "time and memory"),
    OPT_NUMBER(0, "ranks", "N", struct run_args, ranks,
               "run the graphs as N ranks of one job, which meet in their collectives; several "
               "recordings are ranks, too"),
    OPT_STRING(0, "inputs", "FILE", struct run_args, inputs,
               "values of the inputs, in order, from a .safetensors file (default: random)"),
    OPT_STRING(0, "input-prefix", "TEXT", struct run_args, input_prefix,
               "the prefix before an input's number in its name there (default: in.)"),
    OPT_NUMBER(0, "seed", "N", struct run_args, seed,
               "the seed of random inputs and random operators (default: 0)"),
    OPT_STRING(0, "outputs", "FILE", struct run_args, outputs,
               "write the outputs to a .safetensors file"),
    OPT_STRING(0, "compare-prefix", "TEXT", struct run_args, compare_prefix,
               "the prefix before an output's number in its name in files (default: out.)",
               .old = "against-prefix"),
    OPT_STRING(0, "save-nodes", "NODE[,NODE...]", struct run_args, save,
               "with --outputs: also write the values of these nodes, of all, or of the inputs",
               .old = "save"),
    OPT_NUMBER(0, "samples", "N", struct run_args, samples,
               "with --save-nodes: of nodes with more elements keep N, and a hash (default: all)"),
    OPT_STRING(0, "perturb", "NODE=EPS", struct run_args, perturb,
               "test a report: add EPS * (1 + |x|) to each element x of that node"),
    OPT_FLAG(0, "tf32", struct run_args, tf32,
             "matmuls and convolutions of float32 may use TF32 inputs, as PyTorch's allow_tf32 "
             "permits"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct run_args, rules,
               "rules of custom operators, as symtape-rules(5) describes them"),
    OPT_NUMBER('n', "limit", "N", struct run_args, limit,
               "differences and rows of a table to print; 0 is all (default: 10)"),
    OPT_NUMBER('j', "jobs", "N", struct run_args, jobs,
               "threads of the CPU backend, and kernels that are compiled at a time (default: as "
               "many as there are processors)"),
    OPT_FLAG(0, "bisect-codes", struct run_args, bisect_codes,
             "exit as git bisect run expects: 0 good, 1 bad, 125 cannot tell"),
    OPT_JSON(struct run_args, json),
    OPT_STRICT(struct run_args, strict),
    OPT_END,
};

static int run_graph_command(struct cmd *cmd)
{
    const struct run_args *args = cmd->args;
    return cmd->n_operands > 1 || args->ranks.given ? run_ranks(cmd, args) : run_graphs(cmd, args);
}

const struct command command_run = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]...",
    .description =
        "Runs recorded graphs with values, without PyTorch: forward, backward and inference graphs "
        "and exported programs, at the recorded sizes or others. It says whether they run, what "
        "they need, and whether two backends compute the same. Several operands are the ranks of one "
        "job, which exchange values in their collectives.",
    .examples = "  symtape run bert.tape\n"
                "  symtape run bert.tape:0/0:forward --backend cuda --compare-with cpu --nodes\n"
                "  symtape run bert.tape --backend null --sizes s77=1..4096:x2\n"
                "  symtape run bert.tape:0/0:forward --backend cuda --profile\n"
                "  symtape run rank0.log rank1.log --backend cuda --compare-with cpu\n"
                "  symtape run ddp.tape --ranks 8\n",
    .options = run_options_table,
    .args_size = sizeof(struct run_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_graph_command,
};
