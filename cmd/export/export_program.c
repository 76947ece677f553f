/* Implements export --python, which writes a recorded graph as a program that PyTorch runs. */
#include "cmd/cli/hint_list.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/export/export.h"
#include "cmd/minify/minify.h"
#include "minify/program/program_names.h"
#include "minify/repro/repro.h"
#include "trace/base/file/output.h"

static int write_program(struct out *out, const struct export_args *args, struct str text)
{
    struct err err = { 0 };
    struct output *output = output_open(args->output ? args->output : "-",
                                        args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, &err);
    if (!output)
        return out_error(out, &err);
    if (!output_write(output, text, &err)) {
        output_abort(output);
        return out_error(out, &err);
    }
    return output_commit(output, &err) ? EXIT_DONE : out_error(out, &err);
}

static int print_program(struct out *out, const struct export_args *args,
                         const struct candidate *candidate)
{
    const struct repro_what what = { .check = REPRO_NOTHING,
                                     .cpu = args->cpu,
                                     .setup = { .allow = str_of(args->allow) } };
    struct repro_notes notes = { 0 };
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    int code;
    if (repro_print(candidate, &what, &notes, &text) && notes.refused) {
        err_set(&err, ERR_INPUT, "cannot write the graph as a program: it %s", notes.cannot);
        code = out_error(out, &err);
    } else if (!text.failed) {
        code = write_program(out, args, buf_str(&text));
    } else {
        err_nomem(&err);
        code = out_error(out, &err);
    }
    if (code == EXIT_DONE)
        minify_note_renamed(out, args->output ? args->output : "-", &notes);
    if (code == EXIT_DONE && notes.cannot[0])
        out_note(out, "PyTorch alone cannot run it: %s", notes.cannot);
    buf_release(&text);
    return code;
}

int export_program(struct out *out, const struct export_args *args, struct tape_arg *tape)
{
    struct hint_list hints = { .n = 0 };
    struct err err = { 0 };
    struct candidate *candidate = NULL;
    if (hint_list_read(&hints, &args->sizes, &out->limit->meter, &err) &&
        program_check_allow(str_of(args->allow), &err)) {
        const struct candidate_options options = { .hints = hints.hints, .n_hints = hints.n };
        candidate = candidate_load(tape->trace, &tape->selector, &options, &err);
    }
    hint_list_release(&hints);
    if (!candidate)
        return out_error(out, &err);
    int code = print_program(out, args, candidate);
    candidate_free(candidate);
    return code;
}
