/* Cases: made from the calls on tapes, read from case files, written to one. */
#include <stdio.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/opcheck/opcheck.h"
#include "replay/replay.h"
#include "trace/base/file/output.h"
#include "trace/base/text/json_write.h"

enum { LINE_MAX_BYTES = 1 << 20 };

/* ---- What is in a case ---- */

static void look_at_value(struct opcheck_operator *op, const struct json *doc, json_id at)
{
    char name[64];
    json_id dtype = json_get(doc, at, STR("t"));
    if (dtype == JSON_NONE)
        return;
    size_t rank = json_count(doc, json_get(doc, at, STR("size")));
    snprintf(name, sizeof name, "torch.%.*s", STR_ARG(str_first(json_str(doc, dtype), 40)));
    op->dtypes |= UINT64_C(1) << dtype_by_python_name(str_of(name));
    op->ranks |= UINT64_C(1) << (rank < 63 ? rank : 63);
}

static void look_at_arguments(struct opcheck_operator *op, const struct json *doc)
{
    json_id list = json_get(doc, JSON_ROOT, STR("args"));
    for (json_id at = json_first(doc, list); at != JSON_NONE; at = json_next(doc, at)) {
        look_at_value(op, doc, at);
        for (json_id item = json_first(doc, at);
             json_kind_of(doc, at) == JSON_ARRAY && item != JSON_NONE; item = json_next(doc, item))
            look_at_value(op, doc, item);
    }
}

/* Adds a line; its operator has to be selected. */
static bool add_case(struct opcheck_run *run, struct str text, const struct json *doc,
                     struct err *err)
{
    struct opcheck_operator *op =
        opcheck_operator(run, json_str(doc, json_get(doc, JSON_ROOT, STR("op"))));
    struct opcheck_case row = { .op = 0 };
    if (!op || !opcheck_keep(run, text, &row.text, err))
        return err_nomem(err);
    row.op = (uint32_t)(op - run->operators.v);
    op->cases++;
    look_at_arguments(op, doc);
    return vec_push(&run->cases, row) || err_nomem(err);
}

/* ---- Tapes ---- */

static void put_line(struct json_writer *w, const struct replay_call *call)
{
    if (!call->location_graph || call->location >= call->location_graph->n_locations)
        return;
    const struct location *place = &call->location_graph->locations[call->location];
    if (!location_has_place(place))
        return;
    json_put_str(w, "file", place->file);
    json_put_u64(w, "line", place->line);
    json_put_str(w, "code", place->code);
}

/* Adds the place to a case whose object is open. */
static void put_place(const struct tape_arg *tape, const char *operand,
                      const struct graph_list *list, const struct replay_call *call,
                      struct buf *out)
{
    struct buf graph = BUF_INIT;
    selector_print_graph(tape->trace, list, call->ref, &graph);
    buf_puts(out, ",\"place\":");
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "tape", str_basename(str_of(operand)));
    json_put_str(&w, "graph", buf_str(&graph));
    if (call->graph.n)
        json_put_str(&w, "subgraph", call->graph);
    json_put_str(&w, "node", call->node);
    put_line(&w, call);
    json_close(&w);
    buf_putc(out, '}');
    out->failed |= graph.failed;
    buf_release(&graph);
}

static bool count_calls(struct opcheck_run *run, struct str op, uint64_t count, struct err *err)
{
    struct opcheck_operator *row = opcheck_operator(run, op);
    if (!row)
        return err_nomem(err);
    row->recorded = true;
    row->calls += count;
    run->calls += count;
    return true;
}

/* A call of the tape: counted, and made a case unless an equal one is there or --cases has them. */
static bool add_call(struct opcheck_run *run, const struct tape_arg *tape, const char *operand,
                     const struct graph_list *list, const struct replay_call *call,
                     struct json *doc, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_put(&text, call->text);
    size_t n = text.n, before = run->texts.texts.n;
    put_place(tape, operand, list, call, &text);
    bool ok = (!text.failed || err_nomem(err)) && json_parse(doc, buf_str(&text), err);
    struct str op = ok ? json_str(doc, json_get(doc, JSON_ROOT, STR("op"))) : STR("");
    if (ok && opcheck_selects(run->args, op)) {
        ok = count_calls(run, op, call->count, err);
        uint32_t id =
            ok && !run->args->cases ? intern(&run->texts, str_first(buf_str(&text), n)) : 0;
        if (ok && id == INTERN_NONE)
            ok = err_nomem(err);
        if (ok && !run->args->cases && id == before)
            ok = add_case(run, buf_str(&text), doc, err);
    }
    buf_release(&text);
    return ok;
}

static bool replay_calls(struct opcheck_run *run, const struct tape_arg *tape, const char *operand,
                         struct err *err)
{
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    struct json doc = { 0 };
    how.selector = tape->selector;
    how.rules = run->rules;
    how.calls = true;
    struct replay *replay = replay_trace(tape->trace, &how, err);
    const struct graph_list *list = replay ? trace_graphs(tape->trace, err) : NULL;
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < replay->n_calls; i++)
        ok = add_call(run, tape, operand, list, &replay->calls[i], &doc, err);
    json_release(&doc);
    replay_free(replay);
    return ok;
}

int opcheck_read_tape(struct opcheck_run *run, const char *operand)
{
    struct tape_arg tape = { 0 };
    struct err err = { 0 };
    int code =
        tape_arg_open(&tape, run->cmd->out, operand, run->args->strict ? TAPE_ARG_STRICT : 0);
    if (code == EXIT_DONE && !replay_calls(run, &tape, operand, &err))
        code = out_error(run->cmd->out, &err);
    tape_arg_close(&tape);
    return code;
}

/* ---- Case files ---- */

static bool read_line(struct opcheck_run *run, struct str line, struct json *doc, struct err *err)
{
    if (line.n > LINE_MAX_BYTES)
        return err_set(err, ERR_INPUT, "a case is longer than %d bytes", LINE_MAX_BYTES);
    if (!json_parse(doc, line, err))
        return false;
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    if (!op.n)
        return err_set(err, ERR_INPUT, "no case: it has no \"op\"");
    return !opcheck_selects(run->args, op) || add_case(run, line, doc, err);
}

struct line_reader {
    struct source *in;
    struct buf text;
    size_t at; /* of the next line in `text` */
    bool ended;
};

/* Returns false at the end, and when reading failed. */
static bool next_line(struct line_reader *r, struct str *ret, struct err *err)
{
    for (;;) {
        struct str rest = str_from(buf_str(&r->text), r->at);
        size_t end = str_find_char(rest, '\n');
        if (end < rest.n || (r->ended && rest.n)) {
            *ret = str_first(rest, end);
            r->at += end < rest.n ? end + 1 : rest.n;
            return true;
        }
        if (r->ended)
            return false;
        if (rest.n > LINE_MAX_BYTES)
            return err_set(err, ERR_INPUT, "a case is longer than %d bytes", LINE_MAX_BYTES);
        if (rest.n)
            memmove(r->text.p, rest.p, rest.n);
        r->text.n = rest.n;
        r->at = 0;
        size_t n = 0;
        if (!buf_reserve(&r->text, SOURCE_READ_SIZE))
            return err_nomem(err);
        if (!source_read(r->in, r->text.p + r->text.n, SOURCE_READ_SIZE, &n, err))
            return false;
        r->text.n += n;
        r->ended = n == 0;
    }
}

int opcheck_read_cases(struct opcheck_run *run, const char *path)
{
    struct err err = { 0 };
    struct line_reader r = { .in = source_open(path, &err) };
    struct json doc = { 0 };
    struct str line;
    size_t n = 0;
    bool ok = r.in != NULL;
    if (ok)
        source_set_meter(r.in, &run->cmd->out->limit->meter);
    while (ok && next_line(&r, &line, &err)) {
        n++;
        if (str_trim(line).n && !read_line(run, line, &doc, &err))
            ok = err_at(&err, "%s:%zu", path, n);
    }
    json_release(&doc);
    buf_release(&r.text);
    if (r.in)
        source_close(r.in);
    return err_is_set(&err) ? out_error(run->cmd->out, &err) : EXIT_DONE;
}

int opcheck_write_cases(struct opcheck_run *run)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < run->cases.n; i++) {
        buf_put(&text, run->cases.v[i].text);
        buf_putc(&text, '\n');
    }
    int code = out_report(run->cmd->out, run->args->generate, run->args->overwrite, &text);
    buf_release(&text);
    if (code == EXIT_DONE && strcmp(run->args->generate, "-") != 0)
        out_note(run->cmd->out, "%s: %zu cases of %zu operators", run->args->generate, run->cases.n,
                 run->operators.n);
    return code;
}
