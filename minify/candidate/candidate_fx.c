/* Writes and reads candidates as FX text: the graph as print_readable() writes it, after a comment
 * with what the graph does not contain:
 *
 *     # symtape candidate: forward, torch 2.11.0, seed 0
 *     # symbol s77 = 8 in [2, int_oo] marked from L['x'].size()[0]
 *     # guard Ne(Mod(s27, 7), 0) before add_3
 *     # assert u0 >= 0
 *     # requires_grad primals_1 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/candidate_source.h"
#include "replay/shape/expr/sym.h"
#include "trace/base/text/printable.h"

#define TITLE    "# symtape candidate: "
#define GRADIENT "# requires_grad "

/* ---- Writing ---- */

void candidate_put_bound(struct buf *out, int64_t bound)
{
    if (bound == INT64_MIN)
        buf_puts(out, "-int_oo");
    else if (bound == INT64_MAX)
        buf_puts(out, "int_oo");
    else
        buf_printf(out, "%" PRId64, bound);
}

static void put_symbol_comment(struct buf *out, const struct cand_symbol *symbol)
{
    buf_printf(out, "# symbol %.*s", STR_ARG(symbol->name));
    if (symbol->has_hint && symbol->is_float)
        buf_printf(out, " = %.17g", symbol->float_hint);
    else if (symbol->has_hint)
        buf_printf(out, " = %" PRId64, symbol->hint);
    buf_puts(out, " in [");
    candidate_put_bound(out, symbol->min);
    buf_puts(out, ", ");
    candidate_put_bound(out, symbol->max);
    buf_puts(out, symbol->backed ? "]" : "] unbacked");
    buf_puts(out, symbol->marked ? " marked" : "");
    if (symbol->source.n) {
        buf_puts(out, " from ");
        printable_line(out, symbol->source);
    }
    buf_putc(out, '\n');
}

static void put_guard_comment(struct buf *out, const struct candidate *candidate,
                              const struct cand_guard *guard)
{
    buf_printf(out, "# %s %.*s", guard->deferred ? "assert" : "guard", STR_ARG(guard->expr));
    if (guard->node && guard->node < candidate->graph->n_nodes)
        buf_printf(out, " before %.*s",
                   STR_ARG(candidate->graph->nodes[guard->node].op == NODE_OUTPUT
                               ? STR("return")
                               : candidate->graph->nodes[guard->node].name));
    buf_putc(out, '\n');
}

bool candidate_print_fx(const struct candidate *candidate, struct buf *out)
{
    buf_printf(out, TITLE "%s", graph_kind_name(candidate->kind));
    if (candidate->torch_version.n) {
        buf_puts(out, ", torch ");
        printable_line(out, candidate->torch_version);
    }
    buf_printf(out, ", seed %" PRIu64 "\n", candidate->seed);
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        put_symbol_comment(out, &candidate->symbols[i]);
    for (uint32_t i = 0; i < candidate->n_guards; i++)
        put_guard_comment(out, candidate, &candidate->guards[i]);
    for (node_id id = 0; id < candidate->graph->n_nodes; id++)
        if (candidate_requires_grad(candidate, id))
            buf_printf(out, GRADIENT "%.*s\n", STR_ARG(candidate->graph->nodes[id].name));
    graph_print(candidate->graph, out);
    return !out->failed;
}

/* ---- Reading ---- */

struct fx_reader {
    struct candidate *like;
    vec_of(struct cand_symbol)
    symbols;
    vec_of(struct cand_guard)
    guards;
    vec_of(struct str)
    before; /* by guard: the node's name, "" for the start */
    vec_of(struct str)
    gradients; /* names of inputs */
    struct err *err;
};

/* Moves past `word`; returns false if the text does not begin with it. */
static bool take_prefix(struct str *text, const char *word)
{
    if (!str_starts(*text, str_of(word)))
        return false;
    *text = str_from(*text, strlen(word));
    return true;
}

static struct str take_until(struct str *text, const char *end)
{
    size_t at = str_find(*text, str_of(end));
    struct str ret = str_first(*text, at);
    *text = str_from(*text, at < text->n ? at + strlen(end) : text->n);
    return str_trim(ret);
}

static bool read_bound(struct str text, int64_t *ret)
{
    if (str_is(text, "int_oo") || str_is(text, "oo"))
        *ret = INT64_MAX;
    else if (str_is(text, "-int_oo") || str_is(text, "-oo"))
        *ret = INT64_MIN;
    else
        return str_to_i64(text, ret);
    return true;
}

static bool read_float_hint(struct str text, double *ret)
{
    char copy[64], *end;
    if (text.n == 0 || text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = strtod(copy, &end);
    return *end == '\0';
}

static bool read_symbol_comment(struct fx_reader *r, struct str line)
{
    struct cand_symbol symbol = default_symbol(STR(""));
    struct str head = take_until(&line, " in ["), value = head;
    symbol.name = take_until(&value, " = ");
    symbol.is_float = str_starts(symbol.name, STR("z"));
    symbol.has_hint = value.n > 0;
    bool good = symbol.name.n > 0;
    if (symbol.has_hint && symbol.is_float)
        good = read_float_hint(value, &symbol.float_hint);
    else if (symbol.has_hint)
        good = str_to_i64(value, &symbol.hint);
    good = good && read_bound(take_until(&line, ","), &symbol.min) &&
           read_bound(take_until(&line, "]"), &symbol.max);
    symbol.backed = !take_prefix(&line, " unbacked");
    symbol.marked = take_prefix(&line, " marked");
    if (take_prefix(&line, " from "))
        symbol.source = line;
    if (!good)
        return err_set(r->err, ERR_INPUT, "symbol \"%.*s\" cannot be read", STR_ARG(head));
    return vec_push(&r->symbols, symbol) || err_nomem(r->err);
}

static bool read_guard(struct fx_reader *r, struct str line, bool deferred)
{
    struct cand_guard guard = { .deferred = deferred };
    guard.expr = take_until(&line, " before ");
    return (vec_push(&r->guards, guard) && vec_push(&r->before, line)) || err_nomem(r->err);
}

static void read_title(struct fx_reader *r, struct str line)
{
    struct str kind = take_until(&line, ",");
    for (int i = 0; i < GRAPH_KINDS; i++)
        if (str_is(kind, graph_kind_name((enum graph_kind)i)))
            r->like->kind = (enum graph_kind)i;
    while (line.n) {
        struct str part = take_until(&line, ",");
        if (take_prefix(&part, "torch "))
            r->like->torch_version = part;
        else if (take_prefix(&part, "seed "))
            str_to_u64(part, &r->like->seed);
    }
}

static bool read_fx_line(struct fx_reader *r, struct str line)
{
    if (take_prefix(&line, TITLE))
        read_title(r, line);
    else if (take_prefix(&line, "# symbol "))
        return read_symbol_comment(r, line);
    else if (take_prefix(&line, "# guard "))
        return read_guard(r, line, false);
    else if (take_prefix(&line, "# assert "))
        return read_guard(r, line, true);
    else if (take_prefix(&line, GRADIENT))
        return vec_push(&r->gradients, line) || err_nomem(r->err);
    return true;
}

/* Reads the comment at the beginning; a text without it has only annotations. */
static bool read_comment(struct fx_reader *r, struct str text)
{
    bool ok = true;
    while (text.n && ok) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        struct str bare = str_trim(line);
        text = str_from(text, line.n + 1);
        if (bare.n && bare.p[0] != '#' && !str_is(bare, "ExportedProgram:"))
            break;
        ok = read_fx_line(r, bare);
    }
    return ok;
}

static uint32_t find_node(const struct graph *graph, struct str name)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_OUTPUT ? str_is(name, "return")
                                              : str_eq(graph->nodes[i].name, name))
            return i;
    return 0;
}

/* Returns by node whether it is an input that requires a gradient, which integers cannot; NULL when
 * memory ran out. */
static bool *find_gradients(const struct fx_reader *r, const struct graph *graph)
{
    bool *ret = calloc((size_t)graph->n_nodes + 1, sizeof *ret);
    for (size_t i = 0; ret && i < r->gradients.n; i++) {
        uint32_t node = find_node(graph, r->gradients.v[i]); /* 0, too, if there is none */
        ret[node] |= str_eq(graph->nodes[node].name, r->gradients.v[i]) &&
                     data_may_have_gradient(node_meta(graph, &graph->nodes[node]));
    }
    return ret;
}

/* Fails if a size of an input is no integer: not a number, infinite, or a division by 0. */
static bool check_size(struct sym_pool *pool, const struct graph *graph, const struct node *node,
                       expr_id size, struct err *err)
{
    struct err why = { 0 };
    struct buf text = BUF_INIT;
    sym_id e = sym_read(pool, &graph->pool->exprs, size, sym_by_name, NULL);
    if (!sym_ok(pool, &why) && why.no_memory)
        return err_nomem(err);
    if (e == SYM_NONE || /* it is no expression, and so tells nothing */
        (!sym_has(pool, e, SYM_ID_NAN) && !sym_has(pool, e, SYM_ID_ZOO) &&
         (!sym_is_number(pool, e) || sym_kind_of(pool, e) == SYM_INTEGER)))
        return true;
    expr_print(&graph->pool->exprs, size, &text);
    err_set(err, ERR_INPUT, "input %.*s: its size %.*s is no integer", STR_ARG(node->name),
            STR_ARG(buf_str(&text)));
    if (text.failed)
        err_nomem(err);
    buf_release(&text);
    return false;
}

static bool check_inputs(const struct graph *graph, struct err *err)
{
    struct sym_pool *pool = sym_pool_new(err);
    bool ok = pool != NULL;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->op != NODE_PLACEHOLDER || node->meta == META_NONE ||
            graph->pool->metas[node->meta].kind != META_TENSOR)
            continue;
        const struct meta *meta = &graph->pool->metas[node->meta];
        for (uint32_t d = 0; ok && d < meta->n_sizes; d++)
            ok = check_size(pool, graph, node, meta->sizes[d], err);
    }
    sym_pool_free(pool);
    return ok;
}

struct candidate *candidate_read_fx(struct str text, const struct candidate_options *options,
                                    struct err *err)
{
    struct candidate like = { .kind = GRAPH_ANY, .torch_version = STR("") };
    struct cand_source source = { .like = &like };
    struct fx_reader r = { .like = &like, .err = err };
    struct graph *graph = graph_parse(text, err);
    struct candidate *ret = NULL;
    bool *gradients = NULL;
    bool ok = graph && check_inputs(graph, err) && read_comment(&r, text);
    if (ok && options && options->gradients && r.gradients.n) {
        gradients = find_gradients(&r, graph);
        ok = gradients || err_nomem(err);
    }
    if (ok) {
        for (size_t i = 0; i < r.guards.n; i++)
            r.guards.v[i].node = find_node(graph, r.before.v[i]);
        source.graph = graph;
        source.gradients = gradients;
        source.symbols = r.symbols.v;
        source.n_symbols = (uint32_t)r.symbols.n;
        source.guards = r.guards.v;
        source.n_guards = (uint32_t)r.guards.n;
        ret = candidate_make(&source, options, err);
    }
    graph_free(graph);
    vec_release(&r.symbols);
    vec_release(&r.guards);
    vec_release(&r.before);
    vec_release(&r.gradients);
    free(gradients);
    return ret;
}
