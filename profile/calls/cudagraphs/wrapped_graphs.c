#include "profile/calls/cudagraphs/wrapped_graphs.h"

#include "profile/calls/cudagraphs/wrap_graph.h"

/* The most inputs of a graph whose place among Dynamo's is looked up. */
enum { MOST_INPUTS = 1 << 20 };

struct wrap_reader {
    struct wrapped_graphs *graphs;
    struct trace *trace;
    const struct wrap_settings *settings;
    uint32_t attempt;
    enum run_mode mode;
    vec_of(bool)
    keeps; /* by input of Dynamo's graph: a parameter or buffer */
    struct intern symbols;
    struct buf text;
    struct err *err;
};

static bool nomem(struct wrap_reader *in)
{
    return err_nomem(in->err);
}

/* ---- Which inputs keep their address ---- */

/* Dynamo names an input by its source: L['self']._modules['fc']._parameters['weight'] is
 * L_self_modules_fc_parameters_weight_ (VariableBuilder.wrap_tensor() in
 * torch/_dynamo/variables/builder.py). Parameters and buffers are static inputs. */
static bool is_kept(const struct graph *graph, const struct node *node)
{
    const struct meta *meta = node->meta == META_NONE ? NULL : &graph->pool->metas[node->meta];
    return str_contains(node->name, STR("_parameters_")) ||
           str_contains(node->name, STR("_buffers_")) ||
           (meta && str_is(meta->wrapper, "Parameter"));
}

static bool read_dynamo_inputs(void *user, const struct graph *graph)
{
    struct wrap_reader *in = user;
    for (uint32_t i = 0; i < graph->n_nodes && in->keeps.n < MOST_INPUTS; i++)
        if (graph->nodes[i].op == NODE_PLACEHOLDER &&
            !vec_push(&in->keeps, is_kept(graph, &graph->nodes[i])))
            return nomem(in);
    return true;
}

/* Returns the place of an input of AOTAutograd's graph among Dynamo's: that of its descriptor,
 * PlainAOTInput(idx=3), or that of its name, primals_4 or arg3_1. */
static bool read_place(const struct node *node, uint64_t *ret)
{
    static const struct str PLAIN = { "PlainAOTInput(idx=", 18 }, PRIMAL = { "primals_", 8 };
    size_t at = str_find(node->descriptor, PLAIN);
    struct str number = str_from(node->descriptor, at + PLAIN.n);
    if (at < node->descriptor.n)
        return str_to_u64(str_first(number, str_digits(number)), ret);
    number = str_from(node->name, PRIMAL.n);
    if (str_starts(node->name, PRIMAL))
        return str_to_u64(str_first(number, str_digits(number)), ret) && (*ret)-- > 0;
    number = str_from(node->name, 3);
    return str_starts(node->name, STR("arg")) &&
           str_to_u64(str_first(number, str_digits(number)), ret);
}

/* In a backward graph, what the forward saved is at the same address for each recording: it is in
 * the pool, or a parameter. Tangents are copied (compile_fx() in torch/_inductor/compile_fx.py:
 * static_input_idxs of the backward compiler). */
static bool keeps_address(const struct wrap_reader *in, const struct node *node)
{
    uint64_t place;
    if (in->mode == MODE_BACKWARD)
        return !str_starts(node->name, STR("tangents_"));
    return read_place(node, &place) && place < in->keeps.n && in->keeps.v[place];
}

/* ---- Sizes ---- */

/* Copies an expression, and lists its symbols if the size of a graph depends on them. */
static bool copy_expr(struct wrap_reader *in, const struct expr_pool *pool, expr_id id, bool listed)
{
    struct err unreadable = { 0 };
    buf_clear(&in->text);
    expr_print(pool, id, &in->text);
    struct str text =
        in->text.failed ? (struct str){ 0 } : arena_copy(&in->graphs->arena, buf_str(&in->text));
    if (!text.p)
        return nomem(in);
    size_t from = in->graphs->exprs.exprs.n;
    expr_id copy = expr_parse(&in->graphs->exprs, text, &unreadable);
    if (copy == EXPR_NONE && unreadable.kind == ERR_ENV)
        return *in->err = unreadable, false;
    for (size_t i = from; listed && copy != EXPR_NONE && i < in->graphs->exprs.exprs.n; i++) {
        const struct expr *e = &in->graphs->exprs.exprs.v[i];
        if (e->kind == EXPR_SYMBOL && intern(&in->symbols, e->text) == INTERN_NONE)
            return nomem(in);
    }
    return vec_push(&in->graphs->dims, copy) || nomem(in);
}

static bool is_symbolic(const struct graph *graph, const struct meta *meta)
{
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        if (expr_at(&graph->pool->exprs, meta->sizes[i])->kind != EXPR_INT)
            return true;
    return false;
}

static bool add_input(struct wrap_reader *in, const struct graph *graph, uint32_t node,
                      const struct meta *meta, bool listed)
{
    struct sized_input input = {
        .name = arena_copy(&in->graphs->arena, graph->nodes[node].name),
        .first = (uint32_t)in->graphs->dims.n,
        .n = meta->n_sizes,
        .element_bytes = meta->kind == META_TENSOR ? dtype_size(meta->dtype) : 0,
        .symbolic = is_symbolic(graph, meta),
    };
    if (!input.name.p)
        return nomem(in);
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        if (!copy_expr(in, &graph->pool->exprs, meta->sizes[i], listed))
            return false;
    return vec_push(&in->graphs->inputs, input) || nomem(in);
}

/* A float that is a symbol is no int of the key. */
static bool is_float(const struct graph *graph, const struct meta *meta)
{
    const struct expr *e = expr_at(&graph->pool->exprs, meta->sizes[0]);
    return e->kind == EXPR_SYMBOL && str_starts(e->text, STR("z"));
}

static const struct meta *input_meta(const struct graph *graph, uint32_t node)
{
    const struct node *n = &graph->nodes[node];
    return n->op == NODE_PLACEHOLDER && n->meta != META_NONE ? &graph->pool->metas[n->meta] : NULL;
}

static bool add_ints(struct wrap_reader *in, const struct graph *graph, struct wrapped_graph *ret)
{
    ret->first_int = (uint32_t)in->graphs->inputs.n;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct meta *meta = input_meta(graph, i);
        if (meta && meta->kind == META_SYM && meta->n_sizes && !is_float(graph, meta) &&
            !add_input(in, graph, i, meta, true))
            return false;
    }
    ret->n_ints = (uint32_t)in->graphs->inputs.n - ret->first_int;
    return true;
}

static bool add_tensors(struct wrap_reader *in, const struct graph *graph, const bool *keeps,
                        struct wrapped_graph *ret)
{
    ret->first_tensor = (uint32_t)in->graphs->inputs.n;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct meta *meta = input_meta(graph, i);
        if (meta && meta->kind == META_TENSOR && !keeps[i] && !add_input(in, graph, i, meta, true))
            return false;
    }
    ret->n_tensors = (uint32_t)in->graphs->inputs.n - ret->first_tensor;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct meta *meta = input_meta(graph, i);
        if (meta && meta->kind == META_TENSOR && keeps[i] && is_symbolic(graph, meta) &&
            !add_input(in, graph, i, meta, false))
            return false;
    }
    ret->n_saved = (uint32_t)in->graphs->inputs.n - ret->first_tensor - ret->n_tensors;
    return true;
}

static bool add_symbols(struct wrap_reader *in, struct wrapped_graph *ret)
{
    ret->first_symbol = (uint32_t)in->graphs->symbols.n;
    ret->n_symbols = (uint32_t)in->symbols.texts.n;
    for (size_t i = 0; i < in->symbols.texts.n; i++) {
        struct str name = arena_copy(&in->graphs->arena, in->symbols.texts.v[i]);
        if (!name.p || !vec_push(&in->graphs->symbols, name))
            return nomem(in);
    }
    if (ret->n_symbols)
        qsort(in->graphs->symbols.v + ret->first_symbol, ret->n_symbols, sizeof(struct str),
              str_compare);
    return true;
}

/* Lists what a graph returns: "return (add, None, view)". */
static bool add_outputs(struct wrap_reader *in, const struct graph *graph,
                        struct wrapped_graph *ret)
{
    ret->first_output = (uint32_t)in->graphs->outputs.n;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        const struct arg *args = node_args(graph, node);
        for (uint32_t k = 0; node->op == NODE_OUTPUT && k < node->n_args; k++) {
            bool is_node = args[k].kind == ARG_NODE && args[k].u.node < graph->n_nodes;
            struct str name = arena_copy(&in->graphs->arena,
                                         is_node ? graph->nodes[args[k].u.node].name : STR(""));
            if (!name.p || !vec_push(&in->graphs->outputs, name))
                return nomem(in);
        }
    }
    ret->n_outputs = (uint32_t)in->graphs->outputs.n - ret->first_output;
    return true;
}

/* ---- One graph ---- */

static bool set_place(struct wrap_reader *in, const struct graph *graph, uint32_t at,
                      struct wrapped_graph *ret)
{
    const struct node *node = &graph->nodes[at];
    struct arena *arena = &in->graphs->arena;
    ret->node = arena_copy(arena, node->name);
    if (!ret->node.p)
        return nomem(in);
    if (node->location == LOCATION_NONE)
        return true;
    const struct location *place = &graph->locations[node->location];
    ret->file = arena_copy(arena, place->file);
    ret->code = arena_copy(arena, place->code);
    ret->line = place->line;
    return (ret->file.p && ret->code.p) || nomem(in);
}

static bool read_graph(struct wrap_reader *in, const struct graph *graph, const bool *keeps)
{
    struct wrapped_graph ret = {
        .compile = in->trace->attempts[in->attempt].compile,
        .attempt = in->attempt,
        .mode = in->mode,
        .node = STR(""),
        .file = STR(""),
        .code = STR(""),
    };
    struct graph_limits limits;
    if (!graph_limits_find(graph, keeps, in->settings, &limits))
        return nomem(in);
    ret.skip = limits.skip == SKIP_NONE && limits.mutates ? SKIP_MUTATION : limits.skip;
    ret.n_partitions = limits.n_partitions;
    for (uint32_t i = 0; i < graph->n_nodes && in->mode != MODE_BACKWARD; i++)
        ret.reads_module |= keeps[i];
    intern_release(&in->symbols);
    in->symbols = (struct intern){ 0 };
    return (limits.node == NODE_NONE || set_place(in, graph, limits.node, &ret)) &&
           add_ints(in, graph, &ret) && add_tensors(in, graph, keeps, &ret) &&
           add_symbols(in, &ret) && add_outputs(in, graph, &ret) &&
           (vec_push(&in->graphs->graphs, ret) || nomem(in));
}

static bool visit_graph(void *user, const struct graph *graph)
{
    struct wrap_reader *in = user;
    bool *keeps = calloc((size_t)graph->n_nodes + 1, sizeof *keeps);
    for (uint32_t i = 0; keeps && i < graph->n_nodes; i++)
        keeps[i] = graph->nodes[i].op == NODE_PLACEHOLDER && keeps_address(in, &graph->nodes[i]);
    bool ok = keeps ? read_graph(in, graph, keeps) : nomem(in);
    free(keeps);
    return ok;
}

/* ---- All of an attempt ---- */

static bool is_wanted(const struct graph_ref *ref, bool backward)
{
    return ref->is_event && (backward ? ref->kind == GRAPH_BACKWARD
                                      : ref->kind == GRAPH_FORWARD || ref->kind == GRAPH_INFERENCE);
}

/* A graph that cannot be read is left out. */
static bool visit(struct wrap_reader *in, uint32_t ref,
                  bool (*take)(void *user, const struct graph *graph))
{
    struct err unreadable = { 0 };
    if (trace_visit_graph(in->trace, ref, take, in, &unreadable) || err_is_set(in->err))
        return !err_is_set(in->err);
    return unreadable.kind == ERR_INPUT || (*in->err = unreadable, false);
}

/* Makes lists of the graphs of each attempt, the first of which comes last. */
static bool index_refs(struct wrapped_graphs *graphs, const struct graph_list *list,
                       uint32_t n_attempts)
{
    if (graphs->first_ref.n || !n_attempts)
        return true;
    if (!vec_reserve(&graphs->first_ref, n_attempts) || !vec_reserve(&graphs->next_ref, list->n))
        return false;
    while (graphs->first_ref.n < n_attempts)
        graphs->first_ref.v[graphs->first_ref.n++] = TRACE_NONE;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t attempt = list->refs[i].attempt;
        graphs->has_dynamo |= list->refs[i].kind == GRAPH_DYNAMO && list->refs[i].is_event;
        graphs->next_ref.v[graphs->next_ref.n++] =
            attempt < n_attempts ? graphs->first_ref.v[attempt] : TRACE_NONE;
        if (attempt < n_attempts)
            graphs->first_ref.v[attempt] = i;
    }
    return true;
}

struct ref_list {
    vec_of(uint32_t)
    refs; /* the last first */
    uint32_t dynamo;
};

static bool list_refs(const struct wrapped_graphs *graphs, const struct graph_list *list,
                      uint32_t attempt, bool backward, struct ref_list *ret)
{
    ret->dynamo = TRACE_NONE;
    if (attempt >= graphs->first_ref.n)
        return true;
    for (uint32_t i = graphs->first_ref.v[attempt]; i != TRACE_NONE; i = graphs->next_ref.v[i]) {
        if (list->refs[i].kind == GRAPH_DYNAMO && list->refs[i].is_event)
            ret->dynamo = i;
        if (is_wanted(&list->refs[i], backward) && !vec_push(&ret->refs, i))
            return false;
    }
    return true;
}

/* ---- Compiles without operators ---- */

static bool index_breaks(struct wrap_reader *in)
{
    struct wrapped_graphs *graphs = in->graphs;
    if (graphs->incidents)
        return true;
    graphs->incidents = incidents_read_failures(in->trace, in->err);
    if (!graphs->incidents)
        return false;
    while (graphs->break_of.n < in->trace->n_attempts)
        if (!vec_push(&graphs->break_of, TRACE_NONE))
            return nomem(in);
    for (uint32_t i = 0; i < graphs->incidents->n_breaks; i++)
        if (graphs->incidents->breaks[i].attempt < graphs->break_of.n)
            graphs->break_of.v[graphs->incidents->breaks[i].attempt] = i;
    return true;
}

/* Dynamo compiles no graph that has neither operators nor outputs (compile_subgraph() in
 * torch/_dynamo/output_graph.py), as of a function whose first call breaks the graph. */
static bool is_empty(const struct wrap_reader *in)
{
    return in->graphs->has_dynamo && in->attempt < in->graphs->first_ref.n &&
           in->graphs->first_ref.v[in->attempt] == TRACE_NONE &&
           in->trace->attempts[in->attempt].status == ATTEMPT_OK;
}

/* Sets the user line of the break that ended the graph; attempts of a compile that broke before
 * were discarded. */
static bool set_break(struct wrap_reader *in, struct wrapped_graph *ret)
{
    if (!index_breaks(in))
        return false;
    for (uint32_t at = in->attempt; at < in->graphs->break_of.n;) {
        uint32_t number = in->graphs->break_of.v[at], previous = in->trace->attempts[at].previous;
        if (number != TRACE_NONE) {
            const struct graph_break *one = &in->graphs->incidents->breaks[number];
            ret->file = one->file;
            ret->code = one->code;
            ret->line = one->line;
            return true;
        }
        at = previous < at ? previous : TRACE_NONE;
    }
    return true;
}

static bool add_none(struct wrap_reader *in)
{
    struct wrapped_graph none = { .compile = in->trace->attempts[in->attempt].compile,
                                  .attempt = in->attempt,
                                  .skip = is_empty(in) ? SKIP_EMPTY : SKIP_NO_GRAPH,
                                  .node = STR(""),
                                  .file = STR(""),
                                  .code = STR("") };
    return (none.skip != SKIP_EMPTY || set_break(in, &none)) &&
           (vec_push(&in->graphs->graphs, none) || nomem(in));
}

static bool read_refs(struct wrap_reader *in, const struct graph_list *list,
                      const struct ref_list *refs, bool backward)
{
    size_t before = in->graphs->graphs.n;
    for (size_t i = 0; i < refs->refs.n; i++) {
        /* Dynamo splits a graph in parts at times; their backwards run in reverse. */
        uint32_t ref = refs->refs.v[backward ? i : refs->refs.n - 1 - i];
        in->mode = backward                                  ? MODE_BACKWARD
                   : list->refs[ref].kind == GRAPH_INFERENCE ? MODE_INFERENCE
                                                             : MODE_FORWARD;
        if (!visit(in, ref, visit_graph))
            return false;
    }
    return backward || in->graphs->graphs.n > before || add_none(in);
}

bool wrapped_graphs_read(struct wrapped_graphs *graphs, struct trace *trace, uint32_t attempt,
                         bool backward, const struct wrap_settings *settings, struct err *err)
{
    struct wrap_reader in = {
        .graphs = graphs, .trace = trace, .settings = settings, .attempt = attempt, .err = err
    };
    struct ref_list refs = { 0 };
    const struct graph_list *list = trace_graphs(trace, err);
    bool ok = list && ((index_refs(graphs, list, trace->n_attempts) &&
                        list_refs(graphs, list, attempt, backward, &refs)) ||
                       nomem(&in));
    if (ok && refs.dynamo != TRACE_NONE)
        ok = visit(&in, refs.dynamo, read_dynamo_inputs);
    ok = ok && read_refs(&in, list, &refs, backward);
    vec_release(&refs.refs);
    vec_release(&in.keeps);
    intern_release(&in.symbols);
    buf_release(&in.text);
    return ok;
}

void wrapped_graphs_release(struct wrapped_graphs *graphs)
{
    arena_release(&graphs->arena);
    expr_pool_release(&graphs->exprs);
    vec_release(&graphs->graphs);
    vec_release(&graphs->inputs);
    vec_release(&graphs->dims);
    vec_release(&graphs->symbols);
    vec_release(&graphs->outputs);
    vec_release(&graphs->first_ref);
    vec_release(&graphs->next_ref);
    vec_release(&graphs->break_of);
    incidents_free(graphs->incidents);
}

const char *skip_reason_name(enum skip_reason reason)
{
    static const char *const NAMES[SKIP_REASONS] = {
#define SKIP(id, name, because) name,
#include "profile/calls/cudagraphs/skip_reasons.def"
#undef SKIP
    };
    return NAMES[reason];
}

const char *skip_reason_text(enum skip_reason reason)
{
    static const char *const TEXTS[SKIP_REASONS] = {
#define SKIP(id, name, because) because,
#include "profile/calls/cudagraphs/skip_reasons.def"
#undef SKIP
    };
    return TEXTS[reason];
}
