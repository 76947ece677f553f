/* Section: memory of graphs' tensors, estimated from their metas. */
#include "profile/report/section.h"

/* ---- Nodes that are alive at a peak ---- */

GETTER(get_node_place, struct memory_node, datum_place(row->file, row->line, row->code))
GETTER(get_peak_place, struct graph_memory,
       datum_place(row->peak_file, row->peak_line, row->peak_code))

static const struct field NODE[] = {
    { "node", MEMBER(struct memory_node, name), TEXT(3, "node", WORD, 0) },
    { "op", MEMBER(struct memory_node, op), TEXT(4, "operator", TEXT, 1) },
    { "bytes", MEMBER(struct memory_node, bytes), TEXT(1, "bytes", BYTES, 0) },
    { "share", MEMBER(struct memory_node, share), TEXT(2, "share", SHARE, 0) },
    { "line", .get = get_node_place, TEXT(5, "line", PATH, 0) },
    { NULL, MEMBER(struct memory_node, code), TEXT(6, "code", TEXT, 0) },
};
static const struct fields NODE_FIELDS = FIELDS_OF(NODE);

/* Returns the rows of a graph's nodes, which are sorted by graph. */
static struct rows nodes_of(const struct profile *p, uint32_t graph)
{
    uint32_t first = 0, end;
    while (first < p->n_memory_nodes && p->memory_nodes[first].graph != graph)
        first++;
    for (end = first; end < p->n_memory_nodes && p->memory_nodes[end].graph == graph;)
        end++;
    return ROWS(p->memory_nodes + first, end - first);
}

/* ---- Graphs ---- */

static void json_live(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct profile *p = context;
    struct rows rows = nodes_of(p, (uint32_t)((const struct graph_memory *)at - p->graph_memory));
    fields_json_rows(w, key, &NODE_FIELDS, p, &rows, 0);
}

static void cell_graph_compile(const void *context, const void *at, struct buf *out)
{
    const struct graph_memory *m = at;
    cell_compile(context, m->recording, m->compile, out);
}

static const struct field GRAPH[] = {
    { "recording", GET(get_recording_name, struct graph_memory, recording) },
    { "compile", GET(get_compile_id, struct graph_memory, compile) },
    { NULL, .cell = cell_graph_compile, TEXT(9, "compile", WORD, 0) },
    { "level", GET(get_level, struct graph_memory, level), TEXT(10, "graph", WORD, 0) },
    { "input_bytes", MEMBER(struct graph_memory, input_bytes), TEXT(4, "inputs", BYTES, 0) },
    { "peak_bytes", MEMBER(struct graph_memory, peak_bytes), TEXT(1, "peak", BYTES, 0) },
    { "block_peak_bytes", MEMBER(struct graph_memory, block_peak_bytes),
      TEXT(2, "in blocks", BYTES, 4) },
    { "total_peak_bytes", MEMBER(struct graph_memory, total_peak_bytes),
      TEXT(3, "with inputs", BYTES, 0) },
    { "peak_node", MEMBER(struct graph_memory, peak_node), TEXT(11, "peak at", TEXT, 0) },
    { "peak_line", .get = get_peak_place, TEXT(12, "line", PATH, 0) },
    { "output_bytes", MEMBER(struct graph_memory, output_bytes), TEXT(5, "outputs", BYTES, 2) },
    { "saved_bytes", MEMBER(struct graph_memory, saved_bytes), TEXT(6, "saved", BYTES, 0) },
    { "saved_input_bytes", MEMBER(struct graph_memory, saved_input_bytes),
      TEXT(7, "saved inputs", BYTES, 3) },
    { "saved", MEMBER(struct graph_memory, saved) },
    { "unknown", MEMBER(struct graph_memory, unknown), TEXT(8, "unknown", COUNT, 1) },
    { "live", .json = json_live },
};
static const struct fields GRAPH_FIELDS = FIELDS_OF(GRAPH);

static int64_t peak(const struct profile *p, uint32_t i)
{
    uint64_t bytes = p->graph_memory[i].peak_bytes;
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static void text_graph_memory(struct report *r)
{
    struct rows rows = ROWS(r->p->graph_memory, r->p->n_graph_memory);
    uint32_t *order = text_order(r, rows.n, peak);
    if (order && rows.n > 0) {
        struct rows nodes = nodes_of(r->p, order[0]);
        nodes.n = report_shown(r->options, nodes.n);
        rows.order = order;
        text_rows(r, "Memory of graphs (estimated at the hints, as if each call ran by itself)",
                  &GRAPH_FIELDS, 0, &rows, r->options->limit);
        text_rows(r, "Alive at the highest of these peaks", &NODE_FIELDS, 0, &nodes, 0);
    }
    free(order);
}

const struct section section_graph_memory = {
    .key = "graph_memory",
    .fields = &GRAPH_FIELDS,
    PROFILE_ROWS(graph_memory, n_graph_memory),
    .text = text_graph_memory,
};
