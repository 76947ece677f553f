/* Finds what each kernel computes: nodes by the artifacts of provenance and by names of kernels,
 * and their operators and user lines from the graphs of the same attempt. */
#include "trace/events/user_line.h"
#include "trace/graph/traceback.h"
#include "trace/kernels/call_order.h"
#include "trace/kernels/kernel_reading.h"

/* An operator that is in the names of more kernels than this tells nothing. */
enum { MOST_SHARING = 64, LONGEST_RUN = 8 };

/* ------------------------------------------------------------------------------------------------
 * Provenance */

/* Returns the kernel of the program that a key of provenance names: "NAME:7", or "NAME" in versions
 * without handles. Keys of the forward's kernels are in the backward's artifacts, too. */
static uint32_t kernel_of_key(const struct kernel_reader *r, struct str key)
{
    uint32_t handle = intern_find(&r->handles, key);
    if (handle != INTERN_NONE)
        return r->handle_kernels.v[handle];
    if (r->handle_kernels.n)
        return TRACE_NONE;
    size_t end = key.n;
    while (end > 0 && is_digit(key.p[end - 1]))
        end--;
    return kernel_find(r, end > 0 && key.p[end - 1] == ':' ? str_first(key, end - 1) : key);
}

static bool claim_nodes(struct kernel_reader *r, uint32_t kernel, json_id names)
{
    for (json_id id = json_first(&r->doc, names); id != JSON_NONE; id = json_next(&r->doc, id)) {
        struct str name = json_str(&r->doc, id);
        if (name.n == 0)
            continue;
        uint32_t node = kernel_find_node(r, name, false, true);
        if (node == TRACE_NONE || !kernel_claim_node(r, kernel, node, KERNEL_PROVENANCE))
            return false;
    }
    return true;
}

/* Returns the innermost frame of a traceback outside PyTorch's own files, or the innermost of all;
 * false when it has none. */
static bool user_frame_of(struct str text, struct traceback_frame *ret)
{
    struct traceback_frame frame;
    bool any = false, user = false;
    while (traceback_next(&text, &frame)) {
        bool own = torch_is_own_file(frame.file);
        if (!own || !user)
            *ret = frame;
        any = true;
        user |= !own;
    }
    return any;
}

/* Claims the user lines of tracebacks, one a string. */
static bool claim_tracebacks(struct kernel_reader *r, uint32_t kernel, json_id traces)
{
    bool ok = true;
    struct buf text = BUF_INIT;
    for (json_id id = json_first(&r->doc, traces); ok && id != JSON_NONE;
         id = json_next(&r->doc, id)) {
        struct traceback_frame frame;
        buf_clear(&text);
        json_decode(&r->doc, id, &text);
        if (text.failed || !user_frame_of(buf_str(&text), &frame)) {
            ok = !text.failed;
            continue;
        }
        uint32_t line = kernel_add_line(r, (struct kernel_line){ .file = frame.file,
                                                                 .function = frame.function,
                                                                 .code = frame.code,
                                                                 .line = frame.line });
        ok = line != TRACE_NONE && kernel_claim_line(r, kernel, line);
    }
    buf_release(&text);
    return ok;
}

bool kernels_read_provenance(struct kernel_reader *r, struct str name, struct str payload)
{
    static const struct str MAPPINGS = { "inductor_provenance_tracking_node_mappings", 42 },
                            STACKS = { "inductor_provenance_tracking_kernel_stack_traces", 48 },
                            NODES = { "inductor_triton_kernel_to_post_grad_nodes", 41 };
    bool stacks = str_eq(name, STACKS);
    struct err unreadable = { 0 };
    if (!stacks && !str_eq(name, MAPPINGS) && !str_eq(name, NODES))
        return true;
    if (!json_parse(&r->doc, payload, &unreadable))
        return unreadable.kind != ERR_ENV;
    json_id map =
        str_eq(name, MAPPINGS) ? json_get(&r->doc, JSON_ROOT, STR("cppCodeToPost")) : JSON_ROOT;
    if (json_kind_of(&r->doc, map) != JSON_OBJECT)
        return true;
    json_id value;
    for (json_id key = json_first(&r->doc, map); key != JSON_NONE;
         key = json_next(&r->doc, value)) {
        value = json_next(&r->doc, key);
        uint32_t kernel = kernel_of_key(r, json_text(&r->doc, key));
        if (kernel == TRACE_NONE || json_kind_of(&r->doc, value) != JSON_ARRAY)
            continue;
        if (!(stacks ? claim_tracebacks(r, kernel, value) : claim_nodes(r, kernel, value)))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Names */

/* The runs of words in the names of the kernels that have no node: of "cpp_fused_div_gelu_0" those
 * are "div", "gelu" and "div_gelu". */
struct name_runs {
    struct intern runs;
    vec_of(uint32_t)
    last; /* by run: index into uses plus 1 of the last kernel with it; 0: none */
    vec_of(uint32_t)
    counts; /* by run */
    vec_of(struct run_use)
    uses;
};

struct run_use {
    uint32_t kernel, previous;
};

static void name_runs_release(struct name_runs *n)
{
    intern_release(&n->runs);
    vec_release(&n->last);
    vec_release(&n->counts);
    vec_release(&n->uses);
}

static bool add_name_run(struct name_runs *n, struct str run, uint32_t kernel)
{
    uint32_t id = intern(&n->runs, run);
    if (id == INTERN_NONE ||
        (id == n->last.n && (!vec_push(&n->last, 0) || !vec_push(&n->counts, 0))))
        return false;
    uint32_t previous = n->last.v[id];
    if (previous && n->uses.v[previous - 1].kernel == kernel)
        return true;
    n->counts.v[id]++;
    if (!vec_push(&n->uses, (struct run_use){ kernel, previous }))
        return false;
    n->last.v[id] = (uint32_t)n->uses.n;
    return true;
}

static struct str without_underscores(struct str name)
{
    while (name.n && name.p[0] == '_')
        name = str_from(name, 1);
    while (name.n && name.p[name.n - 1] == '_')
        name.n--;
    return name;
}

/* Adds the runs of up to LONGEST_RUN words of a kernel's name behind "fused_". */
static bool add_runs(struct name_runs *n, struct str name, uint32_t kernel)
{
    static const struct str FUSED = { "fused_", 6 };
    struct str rest = str_from(name, str_find(name, FUSED) + FUSED.n);
    for (; rest.n; rest = str_from(rest, str_find_char(rest, '_') + 1)) {
        size_t end = 0;
        for (int words = 0; words < LONGEST_RUN && end < rest.n; words++) {
            end += str_find_char(str_from(rest, end), '_');
            struct str run = without_underscores(str_first(rest, end));
            if (run.n && !add_name_run(n, run, kernel))
                return false;
            end++;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Graphs */

struct resolving {
    struct kernel_reader *r;
    const struct name_runs *runs; /* NULL: no kernel is matched by its name */
    const struct call_order *order;
    bool post_grad; /* whether the graph is the post-grad graph */
};

/* The kernel that is called first of those that may compute a node. */
struct best_kernel {
    uint32_t kernel, ordinal;
};

static void offer_kernels(const struct resolving *v, struct str run, struct node_span span,
                          struct best_kernel *best)
{
    const struct name_runs *n = v->runs;
    uint32_t id = intern_find(&n->runs, run);
    if (id == INTERN_NONE || n->counts.v[id] > MOST_SHARING)
        return;
    for (uint32_t use = n->last.v[id]; use; use = n->uses.v[use - 1].previous) {
        uint32_t kernel = n->uses.v[use - 1].kernel;
        uint32_t ordinal = call_order_first(v->order, kernel, span);
        if (ordinal < best->ordinal)
            *best = (struct best_kernel){ kernel, ordinal };
    }
}

/* Claims a node for the first kernel in whose name its operator is, or a word of its line. */
static bool claim_by_name(struct resolving *v, const struct graph *graph, const struct node *node,
                          struct node_span span)
{
    struct best_kernel best = { TRACE_NONE, UINT32_MAX };
    offer_kernels(v, without_underscores(target_base_name(node->target)), span, &best);
    struct str code =
        node->location == LOCATION_NONE ? STR("") : graph->locations[node->location].code;
    for (size_t at = 0, end; at < code.n; at = end + 1) {
        for (end = at; end < code.n && is_word_char(code.p[end]); end++)
            ;
        struct str word = without_underscores((struct str){ code.p + at, end - at });
        if (word.n > 2)
            offer_kernels(v, word, span, &best);
    }
    if (best.kernel == TRACE_NONE)
        return true;
    uint32_t at = kernel_find_node(v->r, node->name, false, true);
    return at != TRACE_NONE && kernel_claim_node(v->r, best.kernel, at, KERNEL_NAME);
}

/* Claims the nodes of the post-grad graph that no library computes. */
static bool claim_graph_by_name(struct resolving *v, const struct graph *graph)
{
    struct node_span *spans = call_order_spans(v->order, graph);
    bool ok = spans != NULL;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++)
        if (node_is_call(&graph->nodes[i]) && spans[i].call == TRACE_NONE)
            ok = claim_by_name(v, graph, &graph->nodes[i], spans[i]);
    free(spans);
    return ok;
}

/* Fills in one of the program's nodes, if it is not filled in yet. */
static bool fill_node(struct kernel_reader *r, uint32_t at, const struct graph *graph,
                      const struct node *node)
{
    if (at == TRACE_NONE || r->nodes.v[at].op.n)
        return true;
    struct buf op = BUF_INIT;
    node_op_name(node, &op);
    struct str text = kernel_text(r, buf_str(&op));
    bool ok = !op.failed && text.p;
    buf_release(&op);
    if (!ok)
        return false;
    r->nodes.v[at].op = text;
    const struct location *place =
        node->location == LOCATION_NONE ? NULL : &graph->locations[node->location];
    if (!place || !location_has_place(place))
        return true;
    uint32_t line = kernel_add_line(r, (struct kernel_line){ .file = place->file,
                                                             .function = place->function,
                                                             .code = place->code,
                                                             .line = place->line });
    r->nodes.v[at].line = line;
    return line != TRACE_NONE;
}

static bool resolve_in_graph(void *user, const struct graph *graph)
{
    struct resolving *v = user;
    if (v->runs && v->post_grad && !claim_graph_by_name(v, graph))
        return false;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (!node_is_call(node))
            continue;
        uint32_t post =
            v->post_grad ? kernel_find_node(v->r, node->name, false, false) : TRACE_NONE;
        uint32_t source = kernel_find_node(v->r, node->name, true, false);
        if (!fill_node(v->r, post, graph, node) || !fill_node(v->r, source, graph, node))
            return false;
    }
    return true;
}

/* A graph that cannot be read leaves its nodes without lines. */
static bool resolve_by(struct resolving *v, uint32_t ref, bool dynamo, struct err *err)
{
    struct err unreadable = { 0 };
    if (ref == TRACE_NONE)
        return true;
    v->post_grad = !dynamo;
    return trace_visit_graph(v->r->trace, ref, resolve_in_graph, v, &unreadable) ||
           (err_is_set(&unreadable) ? unreadable.kind != ERR_ENV || (*err = unreadable, false)
                                    : err_nomem(err));
}

bool kernels_resolve_nodes(struct kernel_reader *r, uint32_t dynamo, uint32_t post_grad,
                           struct err *err)
{
    struct name_runs runs = { 0 };
    struct call_order order = { 0 };
    bool ok = true;
    for (size_t i = r->graphs.v[r->graphs.n - 1].first; ok && i < r->kernels.n; i++)
        if (r->kernels.v[i].kind != KERNEL_EXTERN && r->kernels.v[i].origin == KERNEL_ORIGIN_NONE)
            ok = add_runs(&runs, r->kernels.v[i].name, (uint32_t)i);
    ok = (ok && (!runs.uses.n || call_order_init(&order, r))) || err_nomem(err);
    struct resolving v = { .r = r, .runs = runs.uses.n ? &runs : NULL, .order = &order };
    /* Dynamo's names first: the post-grad graph may have another node of such a name. */
    ok = ok && resolve_by(&v, dynamo, true, err) && resolve_by(&v, post_grad, false, err);
    call_order_release(&order);
    name_runs_release(&runs);
    return ok;
}
