#include "cmd/collect/collect.h"
#include "cmd/each/each.h"

struct merge_args {
    const char *output;
    bool overwrite;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "FILE", struct merge_args, output,
               "write to this file; a corpus that is there gets the tapes that it lacks"),
    OPT_OVERWRITE(struct merge_args, overwrite),
    OPT_END,
};

static int merge_corpora(struct cmd *cmd)
{
    const struct merge_args *args = cmd->args;
    if (!args->output)
        return out_usage(cmd->out, "merge: corpora need -o CORPUS");
    return collect_corpora(cmd, args->output);
}

static int run_merge(struct cmd *cmd)
{
    const struct merge_args *args = cmd->args;
    struct err err = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < cmd->n_operands; i++) {
        bool is_corpus;
        if (!corpus_is_database(cmd->operands[i], &is_corpus, &err))
            return out_error(cmd->out, &err);
        n += is_corpus;
    }
    if (n == cmd->n_operands)
        return merge_corpora(cmd);
    if (n > 0)
        return out_usage(cmd->out, "merge: corpora and JSON lines cannot be joined");
    return merge_lines(cmd, args->output ? args->output : "-", args->overwrite);
}

const struct command command_merge = {
    .synopsis = "-o CORPUS PART...\n[-o FILE] PART...",
    .description =
        "Joins the parts of a work that several processes did with --shard: corpora of symtape "
        "collect, or JSON lines of symtape each. The result has the bytes that one process would "
        "have written, in whatever order the parts are named. A part that is named twice, or was "
        "made twice, changes nothing.",
    .examples = "  symtape merge -o all.sqlite part*.sqlite\n"
                "  symtape merge -o checked.jsonl part*.jsonl\n",
    .options = options,
    .args_size = sizeof(struct merge_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_merge,
};
