/* The first difference between the tapes of a model at two points, as symtape diff finds it. */
#include "cmd/cli/tape_arg.h"
#include "cmd/dash/dash_cmd.h"
#include "profile/model/format.h"

static int take_snapshot(struct dash_cmd *d, uint32_t path_id, struct snapshot **ret)
{
    struct err err = { 0 };
    struct tape_arg tape = { 0 };
    struct str path = dash_text(d->dash, path_id);
    int code =
        tape_arg_open(&tape, d->cmd->out, path.p,
                      TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (d->args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE &&
        !(*ret = snapshot_take(tape.trace, &tape.selector, str_basename(path), &err)))
        code = out_error(d->cmd->out, &err);
    tape_arg_close(&tape);
    return code;
}

static void put_difference(const struct change_row *row, struct buf *out)
{
    buf_printf(out, "%s %s: ", change_kind_name(row->kind), change_name(row->change));
    if (row->change == CHANGE_CHANGED && row->was.n) {
        format_text(out, row->was, 0);
        buf_puts(out, " -> ");
    }
    format_text(out, row->change == CHANGE_CHANGED && row->now.n ? row->now : row->what, 0);
    if (row->place.file.n) {
        buf_puts(out, " at ");
        format_place(out, row->place.file, row->place.line);
    }
}

/* Times differ in every run, so they are no difference to begin with. */
static bool first_difference(struct dash_cmd *d, struct snapshot *before, struct snapshot *after,
                             struct dash_model_row *row, struct err *err)
{
    const struct compare_side sides[] = { { STR("before"), &before, 1 },
                                          { STR("after"), &after, 1 } };
    struct compare_options options = { .skip = { [CHANGE_SUPPRESSED] = true,
                                                 [CHANGE_MEASURES] = true,
                                                 [CHANGE_TIMES] = true,
                                                 [CHANGE_PHASES] = true,
                                                 [CHANGE_LINE_TIMES] = true } };
    struct buf text = BUF_INIT;
    struct compare *compare = compare_build(&sides[0], &sides[1], &options, err);
    if (!compare)
        return false;
    if (compare->n_rows > 0)
        put_difference(&compare->rows[0], &text);
    else
        buf_puts(&text, "none but times");
    compare_free(compare);
    if (!text.failed)
        row->difference = arena_copy(&d->view.arena, buf_str(&text));
    bool ok = !text.failed && row->difference.p;
    buf_release(&text);
    return ok || err_nomem(err);
}

static int compare_tapes(struct dash_cmd *d, struct dash_model_row *row)
{
    struct err err = { 0 };
    struct snapshot *before = NULL, *after = NULL;
    int code = take_snapshot(d, row->before_tape, &before);
    if (code == EXIT_DONE)
        code = take_snapshot(d, row->after_tape, &after);
    if (code == EXIT_DONE && !first_difference(d, before, after, row, &err))
        code = out_error(d->cmd->out, &err);
    snapshot_free(before);
    snapshot_free(after);
    return code;
}

static int compare_rows(struct dash_cmd *d, struct dash_model_row *rows, size_t n)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < n && code == EXIT_DONE; i++)
        if (rows[i].before_tape != INTERN_NONE && rows[i].after_tape != INTERN_NONE)
            code = compare_tapes(d, &rows[i]);
    return code;
}

int dash_differences(struct dash_cmd *d)
{
    int code = compare_rows(d, d->view.regressed.v, d->view.regressed.n);
    return code == EXIT_DONE ? compare_rows(d, d->view.slowest.v, d->view.slowest.n) : code;
}
