/* Writes graphs that a compile had begun when it raised or was killed, as print_readable prints
 * graphs (torch/fx/graph.py, CodeGen). */

#include "trace/events/user_line.h"
#include "trace/graph/traceback.h"
#include "trace/log/deep/deep_packing.h"

struct partial_node {
    struct str name, value,
        annotation; /* `value` is the right-hand side, or a placeholder's target */
    uint32_t stack;
    uint8_t role;
    bool erased, used;
};

struct partial {
    uint32_t context, kind, nesting, state;
    uint64_t ns;
    struct str error, sizes;
    vec_of(struct partial_node)
    parts; /* by number - 1 */
};

typedef vec_of(struct partial)
partials;

enum { LONGEST_NAME = 200 }; /* FX truncates longer names, too */

/* ------------------------------------------------------------------------------------------------
 * Gathering. */

static struct partial *graph_of(partials *graphs, uint64_t id)
{
    return id >= 1 && id <= graphs->n ? &graphs->v[id - 1] : NULL;
}

static struct partial_node *partial_node_of(partials *graphs, const struct deep_event *e)
{
    struct partial *graph = graph_of(graphs, e->numbers[0]);
    uint64_t number = e->numbers[1];
    return graph && number >= 1 && number <= graph->parts.n ? &graph->parts.v[number - 1] : NULL;
}

static bool begin_partial_graph(partials *graphs, const struct deep_event *e)
{
    struct partial graph = { .context = (uint32_t)e->numbers[1],
                             .kind = (uint32_t)e->numbers[2],
                             .nesting = (uint32_t)e->numbers[3],
                             .ns = e->numbers[4],
                             .error = STR(""),
                             .sizes = STR("") };
    return e->numbers[0] != graphs->n + 1 || vec_push(graphs, graph);
}

static bool add_partial_node(partials *graphs, const struct deep_event *e)
{
    struct partial *graph = graph_of(graphs, e->numbers[0]);
    struct partial_node part = { .name = e->texts[4],
                                 .value = e->texts[5],
                                 .annotation = STR(""),
                                 .stack = (uint32_t)e->numbers[2],
                                 .role = (uint8_t)e->numbers[3] };
    return !graph || e->numbers[1] != graph->parts.n + 1 || vec_push(&graph->parts, part);
}

static void change_part(partials *graphs, const struct deep_event *e)
{
    struct partial_node *part = partial_node_of(graphs, e);
    if (!part)
        return;
    switch (e->type) {
    case DEEP_META: part->annotation = e->texts[2]; break;
    case DEEP_RENAME: part->name = e->texts[2]; break;
    default: part->erased = true; /* DEEP_ERASE */
    }
}

static void set_state(partials *graphs, const struct deep_event *e)
{
    struct partial *graph = graph_of(graphs, e->numbers[0]);
    if (graph) {
        graph->state = (uint32_t)e->numbers[1];
        graph->error = e->texts[2];
    }
}

static void set_sizes(partials *graphs, const struct deep_event *e)
{
    struct partial *graph = graph_of(graphs, e->numbers[0]);
    if (graph)
        graph->sizes = e->texts[1];
}

static bool take_graph_event(partials *graphs, const struct deep_event *e)
{
    switch (e->type) {
    case DEEP_GRAPH: return begin_partial_graph(graphs, e);
    case DEEP_NODE: return add_partial_node(graphs, e);
    case DEEP_GRAPH_STATE: set_state(graphs, e); return true;
    case DEEP_GRAPH_SIZES: set_sizes(graphs, e); return true;
    case DEEP_META:
    case DEEP_RENAME:
    case DEEP_ERASE: change_part(graphs, e); return true;
    default: return true;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Nodes that are omitted: unused ones that PyTorch erased, and unused arithmetic on sizes, which
 * PyTorch removes as dead code when a graph is complete. The last node stays, because it may be the
 * one that failed. An erased node that others use stays: PyTorch gave these others another argument
 * before it erased the node (insert_deferred_runtime_asserts of
 * torch/fx/passes/runtime_assert.py), but recordings have the arguments that nodes were made with.
 */

static bool is_omitted(const struct partial_node *part)
{
    return part->erased && !part->used;
}

static bool is_size_arithmetic(const struct partial_node *part)
{
    return part->role == DEEP_NODE_STATEMENT &&
           (str_starts(part->annotation, STR("Sym(")) || str_ends(part->value, STR(".size()")));
}

/* Finds the next name of a node in a text, in which nodes are named by number between bytes 1
 * and 2. It sets *plain to the text before the name and *node to the node, which is NULL at the
 * end and for an invalid number. */
enum { NAME_BEGINS = 1, NAME_ENDS = 2 };

static bool next_node_name(const struct partial *graph, struct str *text, struct str *plain,
                           struct partial_node **node)
{
    size_t at = str_find_char(*text, NAME_BEGINS);
    struct str name = str_from(*text, at + 1);
    uint64_t number = 0;
    *plain = str_first(*text, at);
    *node = NULL;
    if (text->n == 0)
        return false;
    if (at < text->n && str_to_u64(str_first(name, str_find_char(name, NAME_ENDS)), &number) &&
        number >= 1 && number <= graph->parts.n)
        *node = &graph->parts.v[number - 1];
    *text = at < text->n ? str_from(name, str_find_char(name, NAME_ENDS) + 1) : STR("");
    return true;
}

static void mark_all(const struct partial *graph)
{
    struct str plain;
    struct partial_node *node;
    bool last = true;
    for (size_t i = graph->parts.n; i-- > 0;) {
        struct partial_node *part = &graph->parts.v[i];
        if (is_omitted(part))
            continue;
        part->used |= last || !is_size_arithmetic(part);
        last = false;
        for (struct str text = part->value;
             part->used && next_node_name(graph, &text, &plain, &node);)
            if (node)
                node->used = true;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Printing. */

static void put_node_value(struct buf *out, const struct partial *graph, struct str text)
{
    struct str plain;
    struct partial_node *node;
    while (next_node_name(graph, &text, &plain, &node)) {
        buf_put(out, plain);
        if (node)
            buf_put(out, str_first(node->name, LONGEST_NAME));
    }
}

static void put_node_annotation(struct buf *out, const struct partial_node *part)
{
    if (part->annotation.n)
        buf_printf(out, ": \"%.*s\"", STR_ARG(part->annotation));
}

/* Finds the innermost frame of the user's code, or else of all, which the comment names. */
static bool comment_frame(const struct deep_file *file, uint64_t stack, struct deep_file_frame *ret)
{
    const struct deep_file_stack *stacks = file->stacks.v;
    bool found = false;
    for (uint64_t id = stack; id && id < file->stacks.n && !stacks[id].text.p;
         id = stacks[id].parent) {
        const struct deep_file_frame *frame = deep_frame(file, stacks[id].frame);
        if (!found)
            *ret = *frame;
        found = true;
        if (!torch_is_own_file(frame->file)) {
            *ret = *frame;
            return true;
        }
    }
    return found;
}

static bool text_frame_of(const struct deep_file *file, uint64_t stack, struct deep_file_frame *ret)
{
    struct traceback_frame f;
    struct str text = stack && stack < file->stacks.n ? file->stacks.v[stack].text : STR("");
    bool found = false;
    while (text.n && traceback_next(&text, &f)) {
        found = true;
        *ret = (struct deep_file_frame){ f.file, f.function, str_trim(f.code), f.line };
    }
    return found;
}

static void put_comment(struct deep_packer *pack, uint64_t stack)
{
    struct deep_file_frame f;
    if (comment_frame(pack->file, stack, &f) || text_frame_of(pack->file, stack, &f))
        buf_printf(&pack->rows, "\n        # File: %.*s:%u in %.*s, code: %.*s\n", STR_ARG(f.file),
                   f.line, STR_ARG(f.function), STR_ARG(f.code));
}

static void put_inputs(struct deep_packer *pack, const struct partial *graph)
{
    buf_puts(&pack->rows, "    def forward(self");
    for (size_t i = 0; i < graph->parts.n; i++) {
        const struct partial_node *part = &graph->parts.v[i];
        if (part->role != DEEP_NODE_PLACEHOLDER || is_omitted(part))
            continue;
        buf_printf(&pack->rows, ", %.*s", STR_ARG(part->value));
        put_node_annotation(&pack->rows, part);
    }
    buf_puts(&pack->rows, "):\n");
    for (size_t i = 0; i < graph->parts.n; i++) {
        const struct partial_node *part = &graph->parts.v[i];
        if (part->role == DEEP_NODE_PLACEHOLDER && !is_omitted(part) &&
            !str_eq(part->name, part->value))
            buf_printf(&pack->rows, "        %.*s = %.*s\n", STR_ARG(part->name),
                       STR_ARG(part->value));
    }
}

/* Prints the graph and returns the number of its nodes. */
static uint64_t put_partial_graph(struct deep_packer *pack, const struct partial *graph)
{
    uint64_t n = 0, stack = 0;
    struct str result = STR("()");
    buf_printf(&pack->rows, "class %s(torch.nn.Module):\n",
               graph->kind == 0 ? "GraphModule" : "<lambda>");
    put_inputs(pack, graph);
    for (size_t i = 0; i < graph->parts.n && !pack->failed; i++) {
        const struct partial_node *part = &graph->parts.v[i];
        if (!part->used)
            continue;
        packing_check(pack);
        n++;
        if (part->role == DEEP_NODE_OUTPUT)
            result = part->value;
        if (part->role != DEEP_NODE_STATEMENT)
            continue;
        if (part->stack != stack)
            put_comment(pack, part->stack);
        stack = part->stack;
        buf_printf(&pack->rows, "        %.*s", STR_ARG(part->name));
        put_node_annotation(&pack->rows, part);
        buf_puts(&pack->rows, " = ");
        put_node_value(&pack->rows, graph, part->value);
        buf_putc(&pack->rows, '\n');
    }
    buf_puts(&pack->rows, "        return ");
    put_node_value(&pack->rows, graph, result);
    buf_putc(&pack->rows, '\n');
    return n;
}

/* Returns why the graph is partial; NULL when it is complete on the tape, or belongs to an
 * attempt that was restarted. */
static const char *why_partial(const struct deep_packer *pack, const struct partial *graph)
{
    const struct deep_file *file = pack->file;
    if (deep_context(file, graph->context)->followed || graph->parts.n == 0)
        return NULL;
    switch (graph->state) {
    case DEEP_GRAPH_RAISED: return "raised";
    case DEEP_GRAPH_OPEN: return file->ended ? (graph->context ? "raised" : NULL) : "killed";
    case DEEP_GRAPH_RETURNED:
        return graph->context && graph->nesting == 0 ? (file->ended ? "raised" : "killed") : NULL;
    default: return NULL;
    }
}

static void pack_graph(struct deep_packer *pack, struct partial *graph, const char *why)
{
    packing_begin(pack);
    mark_all(graph);
    uint64_t n = put_partial_graph(pack, graph);
    struct json_writer w = json_writer_of(&pack->meta);
    json_open_object(&w, NULL);
    json_put_u64(&w, "nodes", n);
    json_put_cstr(&w, "why", why);
    packing_text(&w, "error", graph->error);
    if (graph->sizes.n)
        packing_text(&w, "sizes", graph->sizes);
    json_close(&w);
    packing_end(pack,
                graph->kind == 0 ? "symtape_partial_dynamo_graph" : "symtape_partial_aot_graph",
                graph->context, graph->ns);
}

void pack_graphs(struct deep_packer *pack)
{
    partials graphs = { 0 };
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;)
        pack->failed |= !take_graph_event(&graphs, &e);
    for (size_t i = 0; i < graphs.n && !pack->failed; i++) {
        const char *why = why_partial(pack, &graphs.v[i]);
        if (why)
            pack_graph(pack, &graphs.v[i], why);
    }
    for (size_t i = 0; i < graphs.n; i++)
        vec_release(&graphs.v[i].parts);
    vec_release(&graphs);
}
