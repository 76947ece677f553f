#include <inttypes.h>

#include "cmd/cli/interrupt.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/model/human.h"
#include "trace/base/text/json_write.h"
#include "trace/log/import.h"

struct import_args {
    const char *output;
    bool overwrite, redact, strict, json;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "TAPE", struct import_args, output,
               "write the tape here; - is standard output"),
    OPT_OVERWRITE(struct import_args, overwrite),
    OPT_REDACT(struct import_args, redact),
    OPT_STRICT(struct import_args, strict),
    OPT_JSON(struct import_args, json),
    OPT_END,
};

enum { DAMAGE_SHOWN = 3 };

static void note_import_damage(struct out *out, const struct import_result *result)
{
    if (result->damaged == 0)
        return;
    out_note(out, "%" PRIu64 " damaged %s; kept as raw bytes, the rest was read", result->damaged,
             result->damaged == 1 ? "place" : "places");
    for (size_t i = 0; i < result->n_damage && i < DAMAGE_SHOWN; i++)
        out_note(out, "%s:%" PRIu64 ": offset %" PRIu64 ": %s", result->damage[i].source,
                 result->damage[i].line, result->damage[i].offset, result->damage[i].what);
    if (result->damaged > DAMAGE_SHOWN)
        out_note(out, "... and %" PRIu64 " more", result->damaged - DAMAGE_SHOWN);
}

static void put_import_json(const struct import_result *result, const char *output,
                            struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "schema", SCHEMA_IMPORT);
    json_put_cstr(w, "tape", output);
    json_put_u64(w, "recordings", result->recordings);
    json_put_u64(w, "records", result->records);
    json_put_u64(w, "payloads", result->payloads);
    json_put_u64(w, "damaged", result->damaged);
    json_put_u64(w, "bytes", result->log_bytes);
    json_put_u64(w, "input_bytes", result->input_bytes);
    json_put_u64(w, "tape_bytes", result->tape_bytes);
    json_open_array(w, "damage");
    for (size_t i = 0; i < result->n_damage; i++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "source", result->damage[i].source);
        json_put_u64(w, "line", result->damage[i].line);
        json_put_u64(w, "offset", result->damage[i].offset);
        json_put_cstr(w, "what", result->damage[i].what);
        json_close(w);
    }
    json_close(w);
    json_put_bool(w, "interrupted", result->interrupted);
    json_close(w);
}

static int print_import_json(struct out *out, const struct import_result *result,
                             const char *output)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    put_import_json(result, output, &w);
    buf_putc(&text, '\n');
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}

static void note_result(struct out *out, const struct import_result *result, const char *output)
{
    char records[HUMAN_SIZE], log[HUMAN_SIZE], tape[HUMAN_SIZE];
    if (result->records == 0 && !result->interrupted)
        out_note(out, "no records were found: PyTorch logged nothing");
    out_note(out, "%s: %s records of %" PRIu64 " %s, %s of log in %s of tape", output,
             human_count(records, result->records), result->recordings,
             result->recordings == 1 ? "recording" : "recordings",
             human_bytes(log, result->log_bytes), human_bytes(tape, result->tape_bytes));
}

static void show_progress(void *user, uint64_t log_bytes)
{
    char bytes[HUMAN_SIZE];
    out_progress(user, "%s of log read", human_bytes(bytes, log_bytes));
}

/* Reports that -o is missing, with the command that was probably meant. */
static int no_output(struct cmd *cmd)
{
    const char *input = cmd->operands[0];
    struct str name = str_basename(str_of(input));
    struct err err = { 0 };
    if (tape_is_program(input))
        return tape_program_error(input, &err), out_error(cmd->out, &err);
    name = str_is(name, "-") ? STR("") : str_first(name, str_find_char(name, '.'));
    return out_usage(cmd->out,
                     "import: -o TAPE is missing; it names the tape to write: symtape import -o "
                     "%.*s.tape %s%s",
                     name.n ? (int)name.n : 5, name.n ? name.p : "stdin", input,
                     cmd->n_operands > 1 ? " ..." : "");
}

/* Says how to record what is a program. */
static int import_error(struct cmd *cmd, struct err *err)
{
    for (size_t i = 0; i < cmd->n_operands && err->kind == ERR_INPUT; i++)
        if (tape_is_program(cmd->operands[i]))
            tape_program_error(cmd->operands[i], err);
    return out_error(cmd->out, err);
}

static int run_import(struct cmd *cmd)
{
    const struct import_args *args = cmd->args;
    struct import_result result = { 0 };
    struct err err = { 0 };
    struct interrupt saved;
    if (!args->output)
        return no_output(cmd);
    if (args->json && strcmp(args->output, "-") == 0)
        return out_usage(cmd->out, "import: --json and -o - both write to standard output");
    const struct import_options import = { .overwrite = args->overwrite,
                                           .strict = args->strict,
                                           .redact = args->redact,
                                           .stop = interrupt_begin(&saved),
                                           .progress = show_progress,
                                           .user = cmd->out,
                                           .meter = &cmd->out->limit->meter };
    bool ok = import_paths(cmd->operands, cmd->n_operands, args->output, &import, &result, &err);
    interrupt_end(&saved);
    out_progress_end(cmd->out);
    int code = EXIT_DONE;
    note_import_damage(cmd->out, &result);
    if (!ok)
        code = import_error(cmd, &err);
    else if (args->json)
        code = print_import_json(cmd->out, &result, args->output);
    else
        note_result(cmd->out, &result, args->output);
    if (code == EXIT_DONE && result.interrupted) {
        out_note(cmd->out, "interrupted: the tape has what was read until then");
        code = EXIT_INTERRUPTED;
    }
    import_result_release(&result);
    return code;
}

const struct command command_import = {
    .synopsis = "[options] -o TAPE INPUT...",
    .description =
        "Packs TORCH_TRACE logs (plain, .zst, .gz), folders of logs, .pt2 archives and standard "
        "input (-) into one tape. Every byte is kept; symtape export writes a log back. With "
        "--redact, an INPUT may also be a tape.",
    .examples = "  symtape import -o bert.tape /tmp/torch_trace\n"
                "  zstdcat bert.log.zst | symtape import -o bert.tape -\n"
                "  symtape import --redact -o shown.tape bert.tape\n",
    .options = options,
    .args_size = sizeof(struct import_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_import,
};
