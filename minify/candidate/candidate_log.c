/* Writes candidates as logs in the form of TORCH_TRACE. */
#include <inttypes.h>
#include <stdio.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/candidate_log.h"
#include "trace/base/md5.h"
#include "trace/base/text/json_write.h"

#define CODE_FILE    "torch/fx/experimental/symbolic_shapes.py"
#define GRAPH_FILE   "torch/_functorch/_aot_autograd/graph_compile.py"
#define VERSION_FILE "torch/_logging/_internal.py"

/* The files of the stacks, by number. */
static const char *const files[] = { CODE_FILE, "minified.py" };

struct trace_log_writer {
    const struct candidate *candidate;
    struct log_place place;
    struct buf *out;
};

/* Begins a header line with the event's name; its metadata follows if that is an object of its
 * own. */
static void begin_event(struct trace_log_writer *l, struct json_writer *w, const char *file,
                        unsigned line)
{
    buf_printf(l->out, "V0101 00:00:00.000000 1 %s:%u] ", file, line);
    *w = json_writer_of(l->out);
    json_open_object(w, NULL);
}

static void put_place(const struct trace_log_writer *l, struct json_writer *w)
{
    json_put_u64(w, "frame_id", l->place.frame);
    json_put_u64(w, "frame_compile_id", l->place.compile);
    json_put_u64(w, "attempt", l->place.attempt);
}

static void end_event(struct trace_log_writer *l, struct json_writer *w)
{
    put_place(l, w);
    json_close(w);
    buf_putc(l->out, '\n');
}

static void put_files(struct trace_log_writer *l)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        buf_printf(l->out,
                   "V0101 00:00:00.000000 1 torch/_logging/structured.py:28] {\"str\": [\"%s\", "
                   "%zu]}\n",
                   files[i], i);
}

static void put_stack_frame(struct json_writer *w, unsigned file, const char *function,
                            const char *code)
{
    json_open_object(w, NULL);
    json_put_u64(w, "line", 1);
    json_put_cstr(w, "name", function);
    json_put_u64(w, "filename", file);
    json_put_cstr(w, "loc", code);
    json_close(w);
}

static void put_symbol_event(struct trace_log_writer *l, const struct cand_symbol *symbol)
{
    struct json_writer w;
    struct buf text = BUF_INIT;
    begin_event(l, &w, CODE_FILE, 1);
    json_open_object(&w, symbol->backed ? "create_symbol" : "create_unbacked_symbol");
    json_put_str(&w, "symbol", symbol->name);
    if (symbol->backed && symbol->has_hint) {
        if (symbol->is_float)
            buf_printf(&text, "%.17g", symbol->float_hint);
        else
            buf_printf(&text, "%" PRId64, symbol->hint);
        json_put_str(&w, "val", buf_str(&text));
    }
    buf_clear(&text);
    buf_putc(&text, '[');
    candidate_put_bound(&text, symbol->min);
    buf_puts(&text, ", ");
    candidate_put_bound(&text, symbol->max);
    buf_putc(&text, ']');
    json_put_str(&w, "vr", buf_str(&text));
    if (symbol->backed)
        json_put_str(&w, "source", symbol->source);
    json_close(&w);
    end_event(l, &w);
    l->out->failed |= text.failed;
    buf_release(&text);
}

static void put_guard_event(struct trace_log_writer *l, const struct cand_guard *guard)
{
    struct json_writer w;
    begin_event(l, &w, CODE_FILE, 2);
    json_open_object(&w, "guard_added_fast");
    json_put_str(&w, "expr", guard->expr);
    json_open_array(&w, "stack");
    put_stack_frame(&w, 1, "forward", "");
    put_stack_frame(&w, 0, "evaluate_expr",
                    guard->deferred ? "self._log_guard(\"runtime_assert\", orig_expr)"
                                    : "self._log_guard(\"eval\", g)");
    json_close(&w);
    json_close(&w);
    end_event(l, &w);
}

static const char *graph_event_name(enum graph_kind kind)
{
    switch (kind) {
    case GRAPH_JOINT: return "aot_joint_graph";
    case GRAPH_FORWARD: return "aot_forward_graph";
    case GRAPH_BACKWARD: return "aot_backward_graph";
    case GRAPH_INFERENCE: return "aot_inference_graph";
    default: return "dynamo_output_graph";
    }
}

/* Ends a header line, and writes the payload that it announces. */
static bool end_with_payload(struct trace_log_writer *l, struct json_writer *w, struct str text,
                             struct err *err)
{
    struct md5 md5;
    unsigned char digest[MD5_BYTES];
    char hex[MD5_HEX];
    bool ok = md5_init(&md5, err);
    if (ok) {
        md5_update(&md5, text);
        ok = md5_final(&md5, digest, err);
        md5_release(&md5);
    }
    if (!ok)
        return false;
    md5_hex(digest, hex);
    json_put_str(w, "has_payload", (struct str){ hex, MD5_HEX });
    json_close(w);
    buf_puts(l->out, "\n\t");
    for (size_t i = 0; i < text.n; i++) {
        buf_putc(l->out, text.p[i]);
        if (text.p[i] == '\n')
            buf_putc(l->out, '\t');
    }
    buf_putc(l->out, '\n');
    return true;
}

/* Writes the artifact by which a log of torch 2.12 or later names its release. */
static bool put_version(struct trace_log_writer *l, struct err *err)
{
    struct json_writer w;
    struct buf text = BUF_INIT;
    if (l->candidate->torch_version.n == 0)
        return true;
    buf_puts(&text, "{\n\"pytorch_version\": ");
    json_quote(&text, l->candidate->torch_version);
    buf_puts(&text, "\n}");
    begin_event(l, &w, VERSION_FILE, 1);
    json_open_object(&w, "artifact");
    json_put_cstr(&w, "name", "torch_version");
    json_put_cstr(&w, "encoding", "json");
    json_close(&w);
    bool ok = !text.failed && end_with_payload(l, &w, buf_str(&text), err);
    buf_release(&text);
    return ok;
}

/* Lists the inputs that require gradients in the record of the graph, which is not PyTorch's
 * format: PyTorch describes inputs in records of their own, whose sizes would have to agree with
 * the graph's. lift_graph() reads both. */
static void put_gradients(const struct candidate *candidate, struct json_writer *w)
{
    if (!candidate_n_gradients(candidate))
        return;
    json_open_array(w, "requires_grad");
    for (node_id id = 0; id < candidate->graph->n_nodes; id++)
        if (candidate_requires_grad(candidate, id))
            json_put_str(w, NULL, candidate->graph->nodes[id].name);
    json_close(w);
}

static bool put_graph_event(struct trace_log_writer *l, struct err *err)
{
    struct json_writer w;
    struct buf text = BUF_INIT;
    graph_print(l->candidate->graph, &text);
    if (!text.failed && text.n && text.p[text.n - 1] == '\n')
        text.n--; /* the end of the line is part of the record */
    begin_event(l, &w, GRAPH_FILE, 1);
    json_open_object(&w, graph_event_name(l->candidate->kind));
    put_gradients(l->candidate, &w);
    json_close(&w);
    put_place(l, &w);
    bool ok = !text.failed && end_with_payload(l, &w, buf_str(&text), err);
    buf_release(&text);
    return ok;
}

static bool is_new_text(struct intern *written, struct str text, bool *ret)
{
    size_t before = written->texts.n;
    if (intern(written, text) == INTERN_NONE)
        return false;
    *ret = written->texts.n > before;
    return true;
}

bool candidate_log_begin(struct candidate_log *log, struct buf *out)
{
    *log = (struct candidate_log){ .out = out };
    struct trace_log_writer l = { .out = out };
    put_files(&l);
    return !out->failed;
}

bool candidate_log_add(struct candidate_log *log, const struct candidate *candidate,
                       struct log_place place)
{
    struct trace_log_writer l = { .candidate = candidate, .place = place, .out = log->out };
    struct err err = { 0 };
    bool same = log->begun && place.frame == log->last.frame &&
                place.compile == log->last.compile && place.attempt == log->last.attempt;
    if (!same) {
        intern_release(&log->symbols);
        intern_release(&log->guards);
    }
    if (!log->begun && !put_version(&l, &err))
        return false;
    log->begun = true;
    log->last = place;
    for (uint32_t i = 0; i < candidate->n_symbols; i++) {
        bool is_new;
        if (!is_new_text(&log->symbols, candidate->symbols[i].name, &is_new))
            return false;
        if (is_new)
            put_symbol_event(&l, &candidate->symbols[i]);
    }
    for (uint32_t i = 0; i < candidate->n_guards; i++) {
        bool is_new;
        if (!is_new_text(&log->guards, candidate->guards[i].expr, &is_new))
            return false;
        if (is_new)
            put_guard_event(&l, &candidate->guards[i]);
    }
    return put_graph_event(&l, &err) && !log->out->failed;
}

void candidate_log_end(struct candidate_log *log)
{
    intern_release(&log->symbols);
    intern_release(&log->guards);
}

bool candidate_print_log(const struct candidate *candidate, struct buf *out)
{
    struct candidate_log log;
    bool ok = candidate_log_begin(&log, out) &&
              candidate_log_add(&log, candidate, (struct log_place){ 0, 0, 0 });
    candidate_log_end(&log);
    return ok;
}
