/* profile/model/graph_memory.h says what is estimated. Forward and backward graphs share names of
 * nodes: a value that the forward graph returns under the name of an input of the backward graph is
 * saved for it (torch/_functorch/partitioners.py, _extract_fwd_bwd_modules). */
#include "profile/model/graph_storages.h"
#include "profile/model/lines/line_table.h"

enum { LIVE_NODES = 20 }; /* the largest nodes of each graph are stored */

struct memory_estimator {
    struct profile_build *b;
    struct line_table *lines;
    const struct build_input *in;
    struct storage_finder storages;
    struct err *err;
};

/* The estimate of one graph. */
struct memory_estimate {
    const struct graph *graph;
    struct graph_storages storages;
    uint64_t *allocated, *freed; /* bytes by node */
    struct graph_memory row;
};

/* ---- The peak ---- */

static void add_saturated(uint64_t *sum, int64_t bytes)
{
    if (__builtin_add_overflow(*sum, (uint64_t)bytes, sum))
        *sum = UINT64_MAX;
}

static bool is_input(const struct memory_estimate *s, uint32_t node)
{
    return storage_owns(&s->storages, node) && storage_is_input(s->graph, node);
}

/* Whether a call of the graph allocates the node's memory. */
static bool is_allocated(const struct memory_estimate *s, uint32_t node)
{
    return storage_owns(&s->storages, node) && !storage_is_input(s->graph, node);
}

/* Sums the inputs and outputs. */
static void sum_ends(struct memory_estimate *s)
{
    const struct graph_storages *found = &s->storages;
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        if (is_input(s, i))
            add_saturated(&s->row.input_bytes, found->bytes[i]);
        else if (is_allocated(s, i) && found->last[i] + 1 == s->graph->n_nodes)
            add_saturated(&s->row.output_bytes, found->bytes[i]);
    }
}

/* What is counted in a walk over a graph, and what was found. */
struct memory_walk {
    int64_t block;      /* each storage takes a multiple of it */
    bool inputs;        /* inputs are counted, too */
    uint64_t *live;     /* NULL, or by node: what is alive while it runs */
    uint64_t peak;      /* result */
    uint32_t peak_node; /* result; NODE_NONE if nothing is ever alive */
};

static int64_t in_blocks(int64_t bytes, int64_t block)
{
    int64_t rest = bytes % block;
    return rest && bytes <= INT64_MAX - block ? bytes + block - rest : bytes;
}

/* Sets what each node allocates and frees. Returns what is alive before the first call. */
static uint64_t sum_events(struct memory_estimate *s, const struct memory_walk *walk)
{
    const struct graph_storages *found = &s->storages;
    size_t n = s->graph->n_nodes;
    uint64_t before = 0;
    memset(s->allocated, 0, n * sizeof *s->allocated);
    memset(s->freed, 0, n * sizeof *s->freed);
    for (uint32_t i = 0; i < n; i++) {
        int64_t bytes = in_blocks(found->bytes[i], walk->block);
        bool input = is_input(s, i), allocated = is_allocated(s, i);
        if (allocated)
            add_saturated(&s->allocated[found->first[i]], bytes);
        if (input && walk->inputs)
            add_saturated(&before, bytes);
        if (allocated || (input && walk->inputs && found->released[i]))
            add_saturated(&s->freed[found->last[i]], bytes);
    }
    if (walk->inputs)
        add_saturated(&before, found->kept_bytes);
    return before;
}

static void walk_memory(struct memory_estimate *s, struct memory_walk *walk)
{
    uint64_t live = sum_events(s, walk);
    walk->peak = live;
    walk->peak_node = NODE_NONE;
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        if (__builtin_add_overflow(live, s->allocated[i], &live))
            live = UINT64_MAX;
        if (walk->live)
            walk->live[i] = live;
        if (live > walk->peak) {
            walk->peak = live;
            walk->peak_node = i;
        }
        live = s->freed[i] < live ? live - s->freed[i] : 0;
    }
}

/* Finds the peaks. Returns the node at the peak of what calls allocate. */
static uint32_t find_peaks(struct memory_estimate *s, uint64_t *live_bytes)
{
    struct memory_walk calls = { .block = 1, .live = live_bytes },
                       blocks = { .block = ALLOCATOR_BLOCK_BYTES },
                       total = { .block = 1, .inputs = true };
    walk_memory(s, &calls);
    walk_memory(s, &blocks);
    walk_memory(s, &total);
    s->row.peak_bytes = calls.peak;
    s->row.block_peak_bytes = blocks.peak;
    s->row.total_peak_bytes = total.peak;
    return calls.peak_node;
}

static int compare_memory_rows(const void *a, const void *b)
{
    const struct memory_node *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return str_cmp(x->name, y->name);
}

/* Returns the user line of a node, whose texts are "" if there is none. */
static struct location user_line(const struct graph *graph, uint32_t node)
{
    uint32_t at = node == NODE_NONE ? LOCATION_NONE : graph->nodes[node].location;
    return at == LOCATION_NONE ? (struct location){ .file = STR(""), .code = STR("") }
                               : *line_table_location(graph, at);
}

static void set_peak_node(struct memory_estimate *s, uint32_t node)
{
    struct location at = user_line(s->graph, node);
    s->row.peak_node = node == NODE_NONE ? STR("") : s->graph->nodes[node].name;
    s->row.peak_file = at.file;
    s->row.peak_line = at.line;
    s->row.peak_code = at.code;
}

static bool add_node_bytes(struct memory_estimator *e, const struct memory_estimate *s, uint32_t at)
{
    const struct node *node = &s->graph->nodes[at];
    uint64_t bytes = (uint64_t)s->storages.bytes[at];
    struct location at_line = user_line(s->graph, at);
    struct memory_node row = { .graph = (uint32_t)e->b->graph_memory.n,
                               .name = node->name,
                               .bytes = bytes,
                               .share = (double)bytes / (double)s->row.peak_bytes,
                               .file = at_line.file,
                               .code = at_line.code,
                               .line = at_line.line };
    struct buf *name = &e->storages.name;
    buf_clear(name);
    node_op_name(node, name);
    row.op = name->failed ? (struct str){ 0 } : arena_copy(&e->b->arena, buf_str(name));
    return row.op.p && vec_push(&e->b->memory_nodes, row);
}

static bool add_live(struct memory_estimator *e, const struct memory_estimate *s, uint32_t peak)
{
    size_t first = e->b->memory_nodes.n;
    for (uint32_t i = 0; i < s->graph->n_nodes && peak != NODE_NONE; i++)
        if (is_allocated(s, i) && s->storages.bytes[i] > 0 && s->storages.first[i] <= peak &&
            s->storages.last[i] >= peak && !add_node_bytes(e, s, i))
            return false;
    struct memory_node *rows = vec_from(&e->b->memory_nodes, first);
    if (e->b->memory_nodes.n > first)
        qsort(rows, e->b->memory_nodes.n - first, sizeof *rows, compare_memory_rows);
    if (e->b->memory_nodes.n > first + LIVE_NODES)
        e->b->memory_nodes.n = first + LIVE_NODES;
    return true;
}

/* ---- Saved for backward ---- */

static bool saved_line(struct memory_estimator *e, const struct memory_estimate *s, uint32_t owner,
                       int64_t bytes)
{
    const struct node *node = &s->graph->nodes[owner];
    uint32_t row;
    if (node->location == LOCATION_NONE)
        return true;
    const struct location *at = line_table_location(s->graph, node->location);
    if (at->file.n == 0)
        return true;
    if (!line_table_place(e->lines, at->file, at->line, at->function, at->code, &row))
        return false;
    if (row != LINE_NOBODY)
        add_saturated(&e->b->lines.v[row].cost.saved_bytes, bytes);
    return true;
}

static bool save_for_backward(struct memory_estimator *e, struct memory_estimate *s, uint32_t node,
                              bool *seen)
{
    uint32_t owner = s->storages.owner[node];
    if (owner == NODE_NONE || seen[owner])
        return true;
    seen[owner] = true;
    s->row.saved++;
    int64_t bytes = s->storages.bytes[owner];
    bool input = is_input(s, owner);
    add_saturated(input ? &s->row.saved_input_bytes : &s->row.saved_bytes, bytes);
    return input || saved_line(e, s, owner, bytes);
}

static bool find_saved_by(struct memory_estimator *e, struct memory_estimate *s,
                          const struct graph *backward, bool *seen)
{
    struct intern names = INTERN_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < backward->n_nodes; i++)
        if (backward->nodes[i].op == NODE_PLACEHOLDER)
            ok = intern(&names, backward->nodes[i].name) != INTERN_NONE;
    const struct node *output = &s->graph->nodes[s->graph->n_nodes - 1];
    for (uint32_t i = 0; ok && output->op == NODE_OUTPUT && i < output->n_args; i++) {
        const struct arg *arg = &s->graph->args[output->first_arg + i];
        if (arg->kind == ARG_NODE && arg->u.node < s->graph->n_nodes &&
            intern_find(&names, s->graph->nodes[arg->u.node].name) != INTERN_NONE)
            ok = save_for_backward(e, s, arg->u.node, seen);
    }
    intern_release(&names);
    return ok;
}

/* Returns the graph of that kind that belongs to another one of the same attempt, or NULL if there
 * is none that can be read. Sets *ok to false when memory ran out. */
static const struct graph *other_graph(const struct memory_estimator *e, const struct graph_ref *of,
                                       enum graph_kind kind, bool *ok)
{
    const struct graph_list *graphs = e->in->graphs;
    struct err unreadable = { 0 };
    for (uint32_t i = 0; i < graphs->n; i++) {
        const struct graph_ref *ref = &graphs->refs[i];
        if (!ref->is_event || ref->kind != kind || ref->attempt != of->attempt ||
            ref->index != of->index)
            continue;
        const struct graph *graph = trace_graph(e->in->trace, i, &unreadable);
        *ok = graph || unreadable.kind != ERR_ENV;
        return graph;
    }
    return NULL;
}

static bool find_saved(struct memory_estimator *e, struct memory_estimate *s,
                       const struct graph_ref *ref)
{
    bool ok = true;
    const struct graph *backward =
        ref->kind == GRAPH_FORWARD ? other_graph(e, ref, GRAPH_BACKWARD, &ok) : NULL;
    if (!backward)
        return ok;
    bool *seen = calloc((size_t)s->graph->n_nodes + 1, sizeof *seen);
    ok = seen && find_saved_by(e, s, backward, seen);
    free(seen);
    return ok;
}

/* ---- The steps ---- */

static bool find_storages(struct memory_estimator *e, const struct graph_ref *ref,
                          struct memory_estimate *s)
{
    bool ok = true;
    struct graph_storages saved = { 0 };
    const struct graph *forward =
        ref->kind == GRAPH_BACKWARD ? other_graph(e, ref, GRAPH_FORWARD, &ok) : NULL;
    ok = ok &&
         (!forward || graph_storages_find(&e->storages, forward, ref->attempt, NULL, &saved)) &&
         graph_storages_find(&e->storages, s->graph, ref->attempt, forward ? &saved : NULL,
                             &s->storages);
    graph_storages_release(&saved);
    return ok;
}

static bool add_graph_memory(struct memory_estimator *e, struct memory_estimate *s,
                             const struct graph_ref *ref)
{
    uint64_t *live_bytes = arena_array(&e->b->arena, uint64_t, s->graph->n_nodes);
    if (!live_bytes)
        return false;
    sum_ends(s);
    uint32_t peak = find_peaks(s, live_bytes);
    set_peak_node(s, peak);
    s->row.graph = (uint32_t)(ref - e->in->graphs->refs);
    s->row.live_bytes = live_bytes;
    s->row.n_nodes = s->graph->n_nodes;
    s->row.recording = e->in->recording_of[e->in->trace->records[ref->record].recording];
    s->row.compile = build_compile(e->in, ref->attempt);
    s->row.attempt = ref->attempt;
    s->row.level = ref->kind;
    s->row.unknown = s->storages.unknown;
    return find_saved(e, s, ref) && add_live(e, s, peak) && vec_push(&e->b->graph_memory, s->row);
}

static bool estimate_graph(struct memory_estimator *e, const struct graph *graph,
                           const struct graph_ref *ref)
{
    size_t n = (size_t)graph->n_nodes + 1;
    struct memory_estimate s = { .graph = graph,
                                 .allocated = calloc(n, sizeof *s.allocated),
                                 .freed = calloc(n, sizeof *s.freed) };
    bool ok = s.allocated && s.freed && find_storages(e, ref, &s) && add_graph_memory(e, &s, ref);
    graph_storages_release(&s.storages);
    free(s.allocated);
    free(s.freed);
    return ok;
}

static bool estimate_input_memory(struct memory_estimator *e)
{
    storage_finder_start(&e->storages, e->in);
    for (uint32_t i = 0; i < e->in->graphs->n; i++) {
        const struct graph_ref *ref = &e->in->graphs->refs[i];
        struct err unreadable = { 0 };
        bool level = ref->kind == GRAPH_FORWARD || ref->kind == GRAPH_BACKWARD ||
                     ref->kind == GRAPH_INFERENCE || ref->kind == GRAPH_EXPORTED;
        if (!level || (ref->kind != GRAPH_EXPORTED && !ref->is_event) ||
            !build_kept(e->in, ref->attempt) || !build_takes(e->b, e->in, ref->record))
            continue;
        const struct graph *graph = trace_graph(e->in->trace, i, &unreadable);
        if (!graph && unreadable.kind == ERR_ENV)
            return err_set(e->err, ERR_ENV, "%s", unreadable.text);
        if (graph && graph->n_nodes > 0 && !estimate_graph(e, graph, ref))
            return false;
    }
    return true;
}

bool lines_memory(struct profile_build *b, struct line_table *lines, struct err *err)
{
    struct memory_estimator e = { .b = b, .lines = lines, .err = err };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces && !b->profile.options.no_graphs; i++) {
        e.in = &b->inputs[i];
        ok = estimate_input_memory(&e);
    }
    b->profile.graph_memory = b->graph_memory.v;
    b->profile.n_graph_memory = (uint32_t)b->graph_memory.n;
    b->profile.memory_nodes = b->memory_nodes.v;
    b->profile.n_memory_nodes = (uint32_t)b->memory_nodes.n;
    storage_finder_release(&e.storages);
    return ok || err_nomem(err);
}
