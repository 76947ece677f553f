#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/each/each.h"
#include "cmd/shards/shard.h"
#include "cmd/shards/tape_files.h"
#include "trace/base/file/output.h"
#include "trace/base/text/json_write.h"

struct each_args {
    const char *output, *shard;
    bool overwrite;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "FILE", struct each_args, output,
               "write the JSON lines to this file instead of standard output"),
    OPT_OVERWRITE(struct each_args, overwrite),
    OPT_SHARD(struct each_args, shard),
    OPT_END,
};

/* The command that runs for each tape. */
struct each {
    struct cmd *cmd;
    const struct command_row *row;
    void *args; /* its options, with --json set */
    struct opt_parse parse;
    struct tape_files files;
    struct shard shard;
    struct output *output;
    int code; /* the worst */
};

int each_worse(int a, int b)
{
    static const int severity[] = { EXIT_DONE,  EXIT_CANNOT_TELL, EXIT_DIFFERS,
                                    EXIT_USAGE, EXIT_INPUT,       EXIT_ENV };
    int n = (int)(sizeof severity / sizeof *severity), x = n, y = n;
    for (int i = 0; i < n; i++) {
        x = severity[i] == a ? i : x;
        y = severity[i] == b ? i : y;
    }
    return x > y ? a : b;
}

/* ---- The command ---- */

/* Returns why it cannot run for each tape, or NULL. */
static const char *unfit(const struct command_row *row)
{
    const struct command *command = row->command;
    if (!command->options || !opt_find(command->options, "json"))
        return "it has no --json";
    if (command->options_first || command->max_operands == 0 || command->min_operands > 1 ||
        opt_find(command->options, "shard"))
        return "it does not take a TAPE";
    return NULL;
}

/* Sets --json, and checks that nothing else says where the result goes. */
static bool set_json(struct each *each, struct err *err)
{
    static const char *const own[] = { "output", "format", "save" };
    const struct opt *options_ = each->row->command->options;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const struct opt *opt = opt_find(options_, own[i]);
        if (opt && opt_is_given(opt, each->args))
            return err_set(err, ERR_USAGE, "each: --%s of %s: the results are JSON lines", own[i],
                           each->row->name);
    }
    *(bool *)(void *)((char *)each->args + opt_find(options_, "json")->offset) = true;
    return true;
}

static bool parse_command(struct each *each, struct common_args *common, struct err *err)
{
    const struct command *command = each->row->command;
    const struct opt_target targets[] = { { command->options, each->args },
                                          { common_options, common },
                                          { command->unlisted, each->args } };
    each->parse = (struct opt_parse){ .targets = targets, .n_targets = 3 };
    return opt_parse(&each->parse, (int)each->cmd->n_operands - 1, each->cmd->operands + 1, err) ||
           err_at(err, "each: %s", each->row->name);
}

static bool find_files(struct each *each, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < each->parse.operands.n; i++)
        ok = tape_files_add(&each->files, each->parse.operands.v[i], err);
    tape_files_sort(&each->files);
    return ok;
}

/* ---- One tape ---- */

/* Runs the command with its data in a buffer. */
static int run_tape(struct each *each, const char *path, FILE *data)
{
    struct cmd *cmd = each->cmd;
    const char *operands[] = { path, NULL };
    struct out out = *cmd->out;
    out.data = data;
    out.data_color = out.data_tty = false;
    out.width = 0;
    out.exact = true;
    memory_limit_restart(cmd->out->limit, each->files.bytes);
    int code =
        each->row->command->run(&(struct cmd){ each->row->command, &out, each->args, operands, 1 });
    return out_finish(&out, code);
}

static bool write_line(struct each *each, const char *path, int code, struct str result,
                       struct err *err)
{
    struct buf line = BUF_INIT;
    struct json_writer w = json_writer_of(&line);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_EACH);
    json_put_cstr(&w, "command", each->row->name);
    json_put_cstr(&w, "tape", path);
    json_put_i64(&w, "exit", code);
    if (result.n > 0 && !str_contains(result, STR("\n")))
        json_put_raw(&w, "result", result);
    else
        json_put_null(&w, "result");
    json_close(&w);
    buf_putc(&line, '\n');
    bool ok = line.failed ? err_nomem(err) : output_write(each->output, buf_str(&line), err);
    buf_release(&line);
    return ok;
}

static bool do_tape(struct each *each, const char *path, struct err *err)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *data = open_memstream(&bytes, &n);
    if (!data)
        return err_nomem(err);
    int code = run_tape(each, path, data);
    /* glibc's fclose() succeeds with bytes == NULL where it cannot copy the buffer to its size. */
    bool ok = (fclose(data) == 0 && bytes) || err_nomem(err);
    each->code = each_worse(each->code, code);
    ok = ok && write_line(each, path, code, str_trim((struct str){ bytes, n }), err);
    free(bytes);
    return ok;
}

static bool do_tapes(struct each *each, struct err *err)
{
    struct source_meter *meter = &each->cmd->out->limit->meter;
    bool ok = true, is_recording;
    for (size_t i = 0; ok && i < each->files.paths.n; i++) {
        const struct tape_file *file = &each->files.paths.v[i];
        if (!shard_has(&each->shard, str_of(file->path)))
            continue;
        ok = tape_file_is_recording(file, meter, &is_recording, err) &&
             (!is_recording || do_tape(each, file->path, err));
    }
    return ok;
}

/* ---- All ---- */

static bool each_begin(struct each *each, struct common_args *common, struct err *err)
{
    const struct each_args *args = each->cmd->args;
    each->args = calloc(1, each->row->command->args_size);
    if (!each->args)
        return err_nomem(err);
    if (!shard_parse(&each->shard, args->shard, err) || !parse_command(each, common, err) ||
        !set_json(each, err) || !find_files(each, err))
        return false;
    each->output = output_open(args->output ? args->output : "-",
                               args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    return each->output;
}

static int run_each(struct cmd *cmd)
{
    struct each each = { .cmd = cmd, .row = command_find(cmd->operands[0]) };
    struct common_args common = { 0 };
    struct err err = { 0 };
    if (!each.row)
        return unknown_command(cmd->out, cmd->operands[0]);
    const char *why = unfit(each.row);
    if (why)
        return out_usage(cmd->out, "each: not with %s: %s", each.row->name, why);
    bool ok = each_begin(&each, &common, &err);
    if (ok && common.help) {
        output_abort(each.output);
        each.code = help_print(each.row, cmd->out);
    } else if (ok && do_tapes(&each, &err)) {
        ok = output_commit(each.output, &err);
    } else if (ok) {
        output_abort(each.output);
        ok = false;
    }
    int code = ok ? each.code : out_error(cmd->out, &err);
    if (each.args)
        opt_release(&each.parse);
    free(each.args);
    tape_files_release(&each.files);
    return code;
}

const struct command command_each = {
    .synopsis = "[-o FILE] [--shard K/N] COMMAND [options] {TAPE|DIR}...",
    .description =
        "Runs a command for each tape by itself, and prints a JSON line for each: its name, the "
        "exit code and what COMMAND --json prints. A tape that cannot be read does not stop the "
        "rest. With --shard, N processes do a part each, on any machines, and symtape merge makes "
        "of their files what one process would have written.",
    .examples = "  symtape each check --max guards:500 nightly/ -o checked.jsonl\n"
                "  symtape each --shard 3/16 -o part3.jsonl replay --stable nightly/\n"
                "  symtape merge -o replayed.jsonl part*.jsonl\n",
    .options = options,
    .args_size = sizeof(struct each_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .options_first = true,
    .run = run_each,
};
