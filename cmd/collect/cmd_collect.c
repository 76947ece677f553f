#include <errno.h>
#include <string.h>

#include "cmd/collect/collect.h"

struct collect_args {
    const char *output, *jsonl, *revision, *name, *shard;
    bool json, strict;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "CORPUS", struct collect_args, output,
               "the database to make, or to add to"),
    OPT_STRING(0, "jsonl", "DIR", struct collect_args, jsonl,
               "write a folder of JSON lines (zstd) for each tape instead: DIR/tape=KEY"),
    OPT_STRING(0, "revision", "TEXT", struct collect_args, revision,
               "what these tapes were recorded of, a commit or a date: for queries"),
    OPT_STRING(0, "name", "NAME", struct collect_args, name,
               "the name of what comes from standard input"),
    OPT_SHARD(struct collect_args, shard),
    OPT_JSON(struct collect_args, json),
    OPT_STRICT(struct collect_args, strict),
    OPT_END,
};

static bool exists(const char *path, struct stat *ret)
{
    return stat(path, ret) == 0 || errno != ENOENT;
}

/* Adds the tapes that the output has already, and then the operands. */
static bool add_all(struct collect *c, const char *output, const struct shard *shard,
                    struct err *err)
{
    if (output && exists(output, &c->before) && !collect_add_corpus(c, output, err))
        return false;
    c->n_present = c->inputs.n;
    for (size_t i = 0; i < c->inputs.n; i++)
        c->inputs.v[i].present = true;
    c->n_given = 0;
    if (!collect_add_operands(c, shard, err))
        return false;
    collect_sort(c);
    return true;
}

static bool collect_all(struct collect *c, const struct collect_args *args, struct err *err)
{
    struct shard shard;
    return shard_parse(&shard, args->shard, err) && add_all(c, args->output, &shard, err) &&
           (args->jsonl ? collect_write_lines(c, args->jsonl, err)
                        : collect_write(c, args->output, err));
}

int collect_corpora(struct cmd *cmd, const char *output)
{
    const struct shard all = { 0 };
    struct collect c;
    struct err err = { 0 };
    collect_init(&c, cmd);
    int code = add_all(&c, output, &all, &err) && collect_write(&c, output, &err)
                   ? collect_report(&c, output, false)
                   : out_error(cmd->out, &err);
    collect_release(&c);
    return code;
}

static bool has_pipe(const struct cmd *cmd)
{
    bool has = false;
    for (size_t i = 0; i < cmd->n_operands; i++)
        has = has || strcmp(cmd->operands[i], "-") == 0;
    return has;
}

static int run_collect(struct cmd *cmd)
{
    const struct collect_args *args = cmd->args;
    struct collect c;
    struct err err = { 0 };
    if (!args->output == !args->jsonl)
        return out_usage(cmd->out, "collect: use -o CORPUS or --jsonl DIR");
    if (args->output && strcmp(args->output, "-") == 0)
        return out_usage(cmd->out, "collect: -o -: a corpus is a file that is added to");
    if (args->name && !has_pipe(cmd))
        return out_usage(cmd->out, "collect: --name is for standard input: name - as well");
    collect_init(&c, cmd);
    c.revision = args->revision;
    c.name = args->name;
    c.strict = args->strict;
    int code = collect_all(&c, args, &err)
                   ? collect_report(&c, args->output ? args->output : args->jsonl, args->json)
                   : out_error(cmd->out, &err);
    collect_release(&c);
    return code;
}

const struct command command_collect = {
    .synopsis = "[options] -o CORPUS {TAPE|DIR|-}...\n"
                "[options] --jsonl DIR {TAPE|DIR|-}...",
    .description =
        "Collects many tapes into one database of SQLite, a corpus: the tables of symtape export "
        "--sqlite for all of them, for symtape query. A tape that is in it is not read again. "
        "The same tapes give the same bytes, also if the process was killed and started again, or "
        "if several processes each collected a part (--shard) and symtape merge joined them.",
    .examples = "  symtape collect nightly/ -o all.sqlite\n"
                "  symtape collect --revision 1f2e3d4 logs/*.log -o all.sqlite\n"
                "  aws s3 cp s3://ci/bert.tape - | symtape collect - --name bert -o all.sqlite\n"
                "  symtape collect --shard 3/16 nightly/ -o part3.sqlite\n",
    .options = options,
    .args_size = sizeof(struct collect_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_collect,
};
