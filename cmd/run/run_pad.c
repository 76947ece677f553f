/* --pad: sizes that are rounded up, what they cost beside the sizes themselves, and whether the
 * graph computes the same at them. */
#include <stdlib.h>
#include <string.h>

#include "cmd/run/run_session.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/table.h"
#include "replay/backend/measure/memory_needs.h"
#include "replay/backend/measure/timing.h"
#include "replay/backend/pad/padded_run.h"
#include "replay/backend/pad/padding.h"

/* What one point of the sizes cost. */
struct measured_size {
    const int64_t *values; /* of the symbols; GRID_ANY: unknown */
    bool plain, padded;    /* it is one of the sizes, or one that they are rounded up to */
    double first_us, us;
    uint64_t peak;
};

struct pad_row {
    size_t plain, padded; /* in `measured` */
};

struct pad_report {
    struct session *session;
    uint32_t ref;
    const struct graph *graph;
    struct buf name;
    struct str symbols[GRID_SYMBOLS]; /* of the sizes, and of --pad */
    int64_t multiples[GRID_SYMBOLS];  /* 0: the symbol is not padded; PAD_AUTO */
    bool changed[GRID_SYMBOLS];       /* some size of it was padded */
    size_t n_symbols;
    vec_of(struct measured_size)
    measured;
    vec_of(struct pad_row)
    rows;
    bool has_symbols;
    struct pad_verdict refusal; /* of the graph, or of the first symbol or size that is not padded;
                                   its reason is "" if there is none */
    bool refused;               /* the graph cannot be padded as --pad says */
    uint64_t kept;              /* points whose padded sizes a condition forbids */
    struct padded_outputs outputs; /* of all rows */
    struct arena arena;
};

enum { PAD_AUTO = -1, PAD_LEAST = 8, PAD_SYMBOLS = 256 };

/* ---- The option ---- */

bool session_read_pad(struct session *s, struct err *err)
{
    static const char form[] = "--pad: auto, or SYMBOL:MULTIPLE[,SYMBOL:MULTIPLE...], as in s0:64";
    struct size_grid *pad = &s->pad;
    struct str rest = str_of(s->args->pad ? s->args->pad : "");
    if (!s->args->pad || str_is(rest, "auto"))
        return true;
    pad->values = arena_array(&pad->arena, int64_t, GRID_SYMBOLS);
    if (!pad->values)
        return err_nomem(err);
    do {
        size_t comma = str_find_char(rest, ',');
        struct str item = str_trim(str_first(rest, comma));
        size_t colon = str_find_char(item, ':');
        struct str name = str_trim(str_first(item, colon));
        struct str number = str_trim(str_from(item, colon < item.n ? colon + 1 : item.n));
        int64_t multiple;
        rest = str_from(rest, comma < rest.n ? comma + 1 : rest.n);
        if (!name.n || !str_to_i64(number, &multiple) || multiple < 1)
            return err_set(err, ERR_USAGE, "%s", form);
        for (size_t i = 0; i < pad->n_symbols; i++)
            if (str_eq(pad->symbols[i], name))
                return err_set(err, ERR_USAGE, "--pad: %.*s is named twice", STR_ARG(name));
        if (pad->n_symbols == GRID_SYMBOLS)
            return err_set(err, ERR_USAGE, "--pad: at most %d symbols", GRID_SYMBOLS);
        pad->symbols[pad->n_symbols] = name;
        pad->values[pad->n_symbols++] = multiple;
    } while (rest.n);
    return true;
}

/* ---- Sizes ---- */

/* Returns the symbol's number; GRID_SYMBOLS if there are too many. */
static size_t add_symbol(struct pad_report *r, struct str name)
{
    for (size_t i = 0; i < r->n_symbols; i++)
        if (str_eq(r->symbols[i], name))
            return i;
    if (r->n_symbols == GRID_SYMBOLS)
        return GRID_SYMBOLS;
    r->symbols[r->n_symbols] = name;
    return r->n_symbols++;
}

/* Without --sizes, all recorded symbols of the graph that have a size may be padded. */
static bool find_symbols(struct pad_report *r, const struct run_options *options, struct err *err)
{
    const struct session *s = r->session;
    const bool automatic = s->pad.n_symbols == 0;
    size_t more = 0;
    for (size_t i = 0; i < s->grid.n_symbols; i++)
        add_symbol(r, s->grid.symbols[i]);
    for (size_t i = 0; automatic && s->grid.n_symbols == 0 && i < options->n_symbols; i++)
        if (options->symbols[i].has_hint)
            more += add_symbol(r, options->symbols[i].name) == GRID_SYMBOLS;
    if (more)
        out_note(s->cmd->out, "%.*s: --pad pads at most %d symbols, and leaves out %zu",
                 STR_ARG(buf_str(&r->name)), GRID_SYMBOLS, more);
    for (size_t i = 0; i < r->n_symbols && automatic; i++)
        r->multiples[i] = graph_has_symbol(r->graph, r->symbols[i]) ? PAD_AUTO : 0;
    for (size_t i = 0; i < s->pad.n_symbols; i++) {
        size_t at = add_symbol(r, s->pad.symbols[i]);
        if (at == GRID_SYMBOLS)
            return err_set(err, ERR_USAGE, "--pad: at most %d symbols with those of --sizes",
                           GRID_SYMBOLS);
        if (graph_has_symbol(r->graph, s->pad.symbols[i]))
            r->multiples[at] = s->pad.values[i];
    }
    return r->has_symbols = true;
}

/* Returns the next multiple; with `auto` one of eight steps between two powers of two, so that no
 * more than an eighth is added, but at least PAD_LEAST. */
static int64_t round_up(int64_t size, int64_t multiple)
{
    if (multiple == PAD_AUTO)
        for (multiple = PAD_LEAST; multiple <= size / 16;)
            multiple *= 2;
    if (multiple <= 0 || size <= 0 || size > INT64_MAX - multiple)
        return size;
    return (size + multiple - 1) / multiple * multiple;
}

static int64_t size_of(const struct run_size *sizes, size_t n, struct str symbol)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(sizes[i].symbol, symbol))
            return sizes[i].value;
    return GRID_ANY;
}

/* Sizes that depend on data are those that the inputs have: the same with padding. */
static bool add_unbacked(struct pad_report *r, const struct run_options *options,
                         struct run_size *sizes, size_t *n, struct err *err)
{
    struct run *run = run_new(r->graph, options, err);
    for (size_t i = 0; run && i < run->n_symbols; i++) {
        struct run_size one = run->symbols[i];
        if (!str_starts(one.symbol, STR("u")) || size_of(sizes, *n, one.symbol) != GRID_ANY)
            continue;
        if (*n == PAD_SYMBOLS) {
            run_free(run);
            return err_set(err, ERR_USAGE, "--pad: more than %d sizes", PAD_SYMBOLS);
        }
        one.symbol = arena_copy(&r->arena, one.symbol);
        if (!one.symbol.p)
            err_nomem(err);
        sizes[(*n)++] = one;
    }
    run_free(run);
    return run && !err_is_set(err);
}

/* Sets the sizes at a point, those of symbols that it does not name from what was recorded. Symbols
 * without a size are left out of both. */
static bool make_sizes(struct pad_report *r, const struct run_options *given,
                       struct run_size *plain, struct run_size *padded, size_t *n, struct err *err)
{
    struct run_options options = *given;
    *n = 0;
    for (size_t i = 0; i < r->n_symbols; i++) {
        int64_t size = size_of(given->sizes, given->n_sizes, r->symbols[i]);
        for (size_t k = 0; k < given->n_symbols && size == GRID_ANY; k++)
            if (given->symbols[k].has_hint && str_eq(given->symbols[k].name, r->symbols[i]))
                size = given->symbols[k].hint;
        if (size != GRID_ANY)
            plain[(*n)++] = (struct run_size){ r->symbols[i], size };
    }
    options.sizes = plain;
    options.n_sizes = *n;
    if (!add_unbacked(r, &options, plain, n, err))
        return false;
    for (size_t i = 0; i < *n; i++) {
        padded[i] = plain[i];
        for (size_t k = 0; k < r->n_symbols; k++)
            if (str_eq(r->symbols[k], plain[i].symbol))
                padded[i].value = round_up(plain[i].value, r->multiples[k]);
    }
    return true;
}

/* ---- Measuring ---- */

static bool measure(struct pad_report *r, const struct run_options *options,
                    const struct run_size *sizes, size_t n, size_t *ret, struct err *err)
{
    struct session *s = r->session;
    const struct timing_options how = { .runs = (uint32_t)s->args->runs.value,
                                        .captures = !s->args->no_cuda_graph };
    struct run_options at = *options;
    int64_t *values = arena_array(&r->arena, int64_t, GRID_SYMBOLS);
    if (!values)
        return err_nomem(err);
    for (size_t i = 0; i < r->n_symbols; i++)
        values[i] = size_of(sizes, n, r->symbols[i]);
    for (*ret = 0; *ret < r->measured.n; ++*ret)
        if (memcmp(r->measured.v[*ret].values, values, r->n_symbols * sizeof *values) == 0)
            return true;
    at.sizes = sizes;
    at.n_sizes = n;
    struct timing *t = timing_new(r->graph, &at, &how, err);
    struct measured_size one = { .values = values };
    if (t) {
        one.first_us = t->first_us;
        one.us = t->wall_us;
        one.peak = t->peak.bytes;
        s->totals.peak = one.peak > s->totals.peak ? one.peak : s->totals.peak;
    }
    timing_free(t);
    return t && (vec_push(&r->measured, one) || err_nomem(err));
}

static bool compare_sizes(struct pad_report *r, const struct run_options *options,
                          const struct run_size *padded, struct err *err)
{
    struct padded_outputs outputs;
    struct padded_outputs *all = &r->outputs;
    struct run_options more = *options;
    more.sizes = padded;
    more.input = NULL;
    if (!run_fits(r->graph, &more, err) ||
        !padded_run_compare(r->graph, options, padded, &outputs, err))
        return false;
    if (outputs.differing && !all->differing)
        all->first = outputs.first;
    all->tensors = outputs.tensors;
    all->differing += outputs.differing;
    all->most = outputs.most > all->most ? outputs.most : all->most;
    return true;
}

/* Notes the first reason why something is not padded. */
static void note_refusal(struct pad_report *r, const struct pad_verdict *verdict)
{
    if (!r->refusal.reason.n)
        r->refusal = *verdict;
}

/* Symbols whose padding mixes rows keep their sizes with `auto`: each is tried by itself. */
static bool choose_symbols(struct pad_report *r, const struct run_options *options,
                           struct run_size *padded, struct err *err)
{
    const struct run_size *plain = options->sizes;
    struct run_size one[PAD_SYMBOLS];
    for (size_t i = 0; i < options->n_sizes; i++) {
        struct pad_verdict verdict;
        if (plain[i].value == padded[i].value)
            continue;
        memcpy(one, plain, options->n_sizes * sizeof *one);
        one[i] = padded[i];
        if (!pad_check(r->graph, options, one, &r->arena, &verdict, err))
            return false;
        for (size_t k = 0; k < r->n_symbols && verdict.mixes; k++)
            if (str_eq(r->symbols[k], plain[i].symbol))
                r->multiples[k] = 0;
        if (!verdict.allowed) {
            padded[i].value = plain[i].value;
            note_refusal(r, &verdict);
        }
    }
    return true;
}

static bool any_symbol(const struct pad_report *r)
{
    for (size_t i = 0; i < r->n_symbols; i++)
        if (r->multiples[i])
            return true;
    return false;
}

static bool is_changed(const struct run_options *options, const struct run_size *padded)
{
    for (size_t i = 0; i < options->n_sizes; i++)
        if (options->sizes[i].value != padded[i].value)
            return true;
    return false;
}

/* Checks the padded sizes. Where a condition forbids them, the point keeps its sizes. */
static bool check_sizes(struct pad_report *r, const struct run_options *options,
                        struct run_size *padded, struct err *err)
{
    struct pad_verdict verdict;
    if (r->session->pad.n_symbols == 0 && !choose_symbols(r, options, padded, err))
        return false;
    r->refused = !any_symbol(r);
    if (r->refused || !is_changed(options, padded))
        return true;
    if (!pad_check(r->graph, options, padded, &r->arena, &verdict, err))
        return false;
    if (verdict.allowed)
        return compare_sizes(r, options, padded, err);
    if (verdict.mixes)
        r->refusal.reason.n = 0;
    note_refusal(r, &verdict);
    r->refused = verdict.mixes;
    r->kept++;
    for (size_t i = 0; i < options->n_sizes; i++)
        padded[i] = options->sizes[i];
    return true;
}

/* Checks and measures one point. */
static bool pad_point(struct pad_report *r, const struct run_options *given, struct err *err)
{
    struct run_size plain[PAD_SYMBOLS], padded[PAD_SYMBOLS];
    struct run_options options = *given, random = *given;
    struct pad_row row;
    if (!r->has_symbols && !find_symbols(r, given, err))
        return false;
    options.sizes = plain;
    if (!make_sizes(r, given, plain, padded, &options.n_sizes, err) ||
        !check_sizes(r, &options, padded, err))
        return false;
    if (r->refused)
        return true;
    random.input = NULL; /* what is given is as large as without padding */
    if (!measure(r, &options, plain, options.n_sizes, &row.plain, err) ||
        !measure(r, &random, padded, options.n_sizes, &row.padded, err))
        return false;
    for (size_t i = 0; i < r->n_symbols; i++)
        r->changed[i] |= r->measured.v[row.plain].values[i] != r->measured.v[row.padded].values[i];
    r->measured.v[row.plain].plain = true;
    r->measured.v[row.padded].padded = true;
    return vec_push(&r->rows, row) || err_nomem(err);
}

/* ---- The report ---- */

struct pad_sums {
    uint64_t sizes, peak; /* different ones */
    double first_us, us;  /* of first runs, one for each of them; of later runs, one for each row */
};

static struct pad_sums sum_up(const struct pad_report *r, bool padded)
{
    struct pad_sums sums = { 0 };
    for (size_t i = 0; i < r->measured.n; i++) {
        const struct measured_size *m = &r->measured.v[i];
        if (!(padded ? m->padded : m->plain))
            continue;
        sums.sizes++;
        sums.first_us += m->first_us;
        sums.peak = m->peak > sums.peak ? m->peak : sums.peak;
    }
    for (size_t i = 0; i < r->rows.n; i++)
        sums.us += r->measured.v[padded ? r->rows.v[i].padded : r->rows.v[i].plain].us;
    return sums;
}

static void print_values(const struct pad_report *r, const struct measured_size *m, struct buf *out)
{
    for (size_t i = 0, n = 0; i < r->n_symbols; i++)
        if (m->values[i] != GRID_ANY && (r->multiples[i] || r->n_symbols == 1))
            buf_printf(out, "%s%.*s=%lld", n++ ? " " : "", STR_ARG(r->symbols[i]),
                       (long long)m->values[i]);
}

static void print_table(const struct pad_report *r, struct buf *out)
{
    static const struct column columns[] = {
        { "size", COLUMN_LEFT },    { "padded", COLUMN_LEFT },  { "first", COLUMN_RIGHT, 1 },
        { "time", COLUMN_RIGHT },   { "padded", COLUMN_RIGHT }, { "memory", COLUMN_RIGHT },
        { "padded", COLUMN_RIGHT },
    };
    struct session *s = r->session;
    const struct report_options how = session_report_options(s);
    struct table table = TABLE(columns);
    char text[HUMAN_SIZE];
    size_t most = how.limit && how.limit < r->rows.n ? how.limit : r->rows.n;
    for (size_t i = 0; i < most; i++) {
        const struct measured_size *a = &r->measured.v[r->rows.v[i].plain];
        const struct measured_size *b = &r->measured.v[r->rows.v[i].padded];
        print_values(r, a, &table.text);
        table_cell(&table);
        print_values(r, b, &table.text);
        table_cell(&table);
        table_ns(&table, (int64_t)(a->first_us * 1e3));
        table_ns(&table, (int64_t)(a->us * 1e3));
        table_ns(&table, (int64_t)(b->us * 1e3));
        table_printf(&table, "%s", human_bytes(text, a->peak));
        table_printf(&table, "%s", human_bytes(text, b->peak));
    }
    table_print(&table,
                &(struct table_layout){ .width = how.width, .indent = 2, .styles = how.styles },
                out);
    table_release(&table);
    if (most < r->rows.n)
        buf_printf(out, "  ... %zu more\n", r->rows.n - most);
}

static void print_sums(const struct pad_report *r, struct buf *out)
{
    const struct pad_sums plain = sum_up(r, false), padded = sum_up(r, true);
    char text[HUMAN_SIZE];
    buf_printf(out, "  first runs: %s at ", human_ns(text, (int64_t)(plain.first_us * 1e3)));
    format_plural(out, plain.sizes, "size");
    buf_puts(out, "; padded: ");
    buf_printf(out, "%s at %llu\n", human_ns(text, (int64_t)(padded.first_us * 1e3)),
               (unsigned long long)padded.sizes);
    buf_printf(out, "  later runs: %s; ", human_ns(text, (int64_t)(plain.us * 1e3)));
    buf_printf(out, "padded: %s\n", human_ns(text, (int64_t)(padded.us * 1e3)));
    buf_printf(out, "  peak memory: %s; ", human_bytes(text, plain.peak));
    buf_printf(out, "padded: %s\n", human_bytes(text, padded.peak));
}

static bool any_changed(const struct pad_report *r)
{
    for (size_t i = 0; i < r->n_symbols; i++)
        if (r->changed[i])
            return true;
    return false;
}

/* Prints ": padding s0 to multiples of 64, s1: outputs agree". */
static void print_symbols(const struct pad_report *r, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_symbols; i++) {
        if (!r->changed[i])
            continue;
        buf_printf(out, "%s%.*s", n++ ? ", " : ": padding ", STR_ARG(r->symbols[i]));
        if (r->multiples[i] > 0)
            buf_printf(out, " to multiples of %lld", (long long)r->multiples[i]);
    }
    buf_puts(out, !n                     ? ": no size is padded"
                  : r->outputs.differing ? ": outputs differ"
                                         : ": outputs agree");
    buf_putc(out, '\n');
}

static void print_refusal(const struct pad_report *r, struct buf *out)
{
    if (r->refusal.node < r->graph->n_nodes) {
        run_print_node(r->graph, r->refusal.node, r->refusal.node, out);
        buf_puts(out, ": ");
    }
    if (r->refusal.reason.n)
        buf_put(out, r->refusal.reason);
    else
        buf_puts(out, "it has no symbol to pad");
    buf_putc(out, '\n');
}

static void print_report(const struct pad_report *r)
{
    struct buf *out = &r->session->text;
    buf_put(out, buf_str(&r->name));
    if (r->refused) {
        buf_puts(out, ": cannot be padded: ");
        print_refusal(r, out);
        return;
    }
    print_symbols(r, out);
    if (r->refusal.reason.n) {
        buf_puts(out, "  not padded: ");
        print_refusal(r, out);
    }
    if (r->outputs.differing)
        buf_printf(out, "  output %u is the first that differs; max absolute %.3g\n",
                   r->outputs.first, r->outputs.most);
    if (!any_changed(r))
        return;
    print_table(r, out);
    print_sums(r, out);
}

static void json_values(const struct pad_report *r, struct json_writer *w, const char *key,
                        const struct measured_size *m)
{
    json_open_object(w, key);
    json_open_array(w, "sizes");
    for (size_t i = 0; i < r->n_symbols; i++) {
        if (m->values[i] == GRID_ANY)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "symbol", r->symbols[i]);
        json_put_i64(w, "value", m->values[i]);
        json_close(w);
    }
    json_close(w);
    json_put_double(w, "first_us", m->first_us);
    json_put_double(w, "us", m->us);
    json_put_u64(w, "peak_bytes", m->peak);
    json_close(w);
}

static void json_report(const struct pad_report *r, const struct err *err)
{
    struct session *s = r->session;
    struct json_writer *w = &s->writer;
    json_open_object(w, NULL);
    run_json_name(s, r->ref, &r->name);
    json_put_cstr(w, "error", err_is_set(err) ? err->text : NULL);
    json_open_object(w, "padding");
    json_put_bool(w, "allowed", !r->refused);
    json_put_str(w, "reason", r->refusal.reason);
    if (r->refusal.reason.n && r->refusal.node < r->graph->n_nodes)
        run_json_node(w, r->graph, r->refusal.node, r->refusal.node);
    json_put_u64(w, "kept", r->kept);
    json_open_array(w, "symbols");
    for (size_t i = 0; i < r->n_symbols; i++)
        if (r->changed[i])
            json_put_str(w, NULL, r->symbols[i]);
    json_close(w);
    json_put_u64(w, "outputs", r->outputs.tensors);
    json_put_u64(w, "differing", r->outputs.differing);
    json_put_double(w, "max_absolute", r->outputs.most);
    json_open_array(w, "points");
    for (size_t i = 0; i < r->rows.n; i++) {
        json_open_object(w, NULL);
        json_values(r, w, "plain", &r->measured.v[r->rows.v[i].plain]);
        json_values(r, w, "padded", &r->measured.v[r->rows.v[i].padded]);
        json_close(w);
    }
    json_close(w);
    json_close(w);
    json_close(w);
}

/* ---- A graph ---- */

/* Runs the graph at one point. Sizes that guards do not allow are reported and left out. Returns
 * whether the next point follows. */
static bool run_point(struct pad_report *r, size_t point, struct err *err)
{
    struct session *s = r->session;
    struct graph_run g;
    struct run_options options;
    bool ok = graph_run_begin(&g, s, r->ref, point, &options);
    options.backend = s->pair.tested;
    r->graph = g.graph ? g.graph : r->graph;
    if (r->name.n == 0)
        buf_put(&r->name, buf_str(&g.name));
    ok = ok && pad_point(r, &options, &g.err);
    if (!ok && g.err.kind == ERR_USAGE && s->grid.n > 1)
        out_note(s->cmd->out, "%.*s: %s", STR_ARG(buf_str(&g.name)), g.err.text);
    else if (!ok)
        *err = g.err;
    graph_run_release(&g);
    return !err_is_set(err) && !r->refused;
}

static int report_graph(struct pad_report *r, struct err *err)
{
    struct session *s = r->session;
    enum run_outcome outcome = r->refused || !r->rows.n ? RUN_REFUSED
                               : r->outputs.differing   ? RUN_DIFFERS
                                                        : RUN_AGREES;
    int code = outcome == RUN_REFUSED ? EXIT_DIFFERS : EXIT_DONE;
    if (err_is_set(err)) {
        outcome = err->kind == ERR_USAGE ? RUN_REFUSED : RUN_FAILED;
        err_at(err, "%.*s", STR_ARG(buf_str(&r->name)));
        code = out_error(s->cmd->out, err);
        code = err->kind == ERR_USAGE ? EXIT_DIFFERS : code;
    }
    s->totals.outcomes[outcome]++;
    if (outcome == RUN_DIFFERS && !s->totals.first_graph.n)
        buf_put(&s->totals.first_graph, buf_str(&r->name));
    if (s->args->json)
        json_report(r, err);
    else if (!err_is_set(err) && (r->refused || r->rows.n))
        print_report(r);
    return code;
}

int pad_graph(struct session *s, uint32_t ref)
{
    struct pad_report r = { .session = s, .ref = ref, .refusal = { .node = NODE_NONE } };
    struct err err = { 0 };
    for (size_t i = 0; i < s->grid.n && !session_stopped(s); i++) {
        out_progress(s->cmd->out, "%zu of %zu sizes", i, s->grid.n);
        if (!run_point(&r, i, &err))
            break;
    }
    out_progress_end(s->cmd->out);
    int code = report_graph(&r, &err);
    buf_release(&r.name);
    vec_release(&r.measured);
    vec_release(&r.rows);
    arena_release(&r.arena);
    return code;
}
