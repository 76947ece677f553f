/* A candidate without what tells whose it is: names of values, modules, files and functions, source
 * lines, strings. Operators and sizes stay. */
#include "minify/candidate_data.h"
#include "minify/candidate_source.h"

struct hiding {
    struct arena arena;
    struct intern files, functions, children, paths, strings;
    bool failed;
};

/* "f0.py": the first of its kind is 0. */
static struct str alias(struct hiding *h, struct intern *table, struct str text, const char *before,
                        const char *after)
{
    struct buf out = BUF_INIT;
    uint32_t id = text.n ? intern(table, text) : 0;
    if (text.n)
        buf_printf(&out, "%s%u%s", before, (unsigned)id, after);
    struct str ret = arena_copy(&h->arena, buf_str(&out));
    h->failed |= out.failed || !ret.p || id == INTERN_NONE;
    buf_release(&out);
    return ret.p ? ret : STR("");
}

static struct str numbered(struct hiding *h, const char *before, uint32_t number)
{
    struct buf out = BUF_INIT;
    buf_printf(&out, "%s%u", before, (unsigned)number);
    struct str ret = arena_copy(&h->arena, buf_str(&out));
    h->failed |= out.failed || !ret.p;
    buf_release(&out);
    return ret.p ? ret : STR("");
}

/* Words that operators know: "mean", "floor", "linear" stay what they are. */
static bool is_keyword(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((text.p[i] < 'a' || text.p[i] > 'z') && text.p[i] != '_')
            return false;
    return text.n <= 24;
}

static void hide_args(struct hiding *h, const struct graph *graph, struct arg *args)
{
    for (uint32_t i = 0; i < graph->n_args; i++) {
        args[i] = graph->args[i];
        if (args[i].kind == ARG_STRING && !is_keyword(args[i].text))
            args[i].text = alias(h, &h->strings, args[i].text, "string", "");
        else if (args[i].kind == ARG_GRAPH)
            args[i].text = alias(h, &h->children, args[i].text, "graph", "");
        else if (args[i].kind == ARG_OPAQUE)
            args[i].text = STR("None");
    }
}

static bool names_child(const struct graph *graph, struct str target)
{
    for (uint32_t i = 0; i < graph->n_children; i++)
        if (str_eq(graph->children[i]->name, target))
            return true;
    return false;
}

static void hide_nodes(struct hiding *h, const struct graph *graph, struct node *nodes)
{
    for (node_id id = 0; id < graph->n_nodes; id++) {
        struct node *node = &nodes[id];
        *node = graph->nodes[id];
        if (node->op != NODE_OUTPUT)
            node->name = numbered(h, "x", id);
        if (node->op == NODE_PLACEHOLDER)
            node->target = node->name;
        else if (node->op == NODE_GET_ATTR)
            node->target = names_child(graph, node->target)
                               ? alias(h, &h->children, node->target, "graph", "")
                               : alias(h, &h->paths, node->target, "attribute", "");
        else if (node->op == NODE_CALL_MODULE)
            node->target = alias(h, &h->paths, node->target, "module", "");
        else if (node->op == NODE_OPAQUE)
            node->target = node->name;
    }
}

static void hide_locations(struct hiding *h, const struct graph *graph, struct location *locations)
{
    for (uint32_t i = 0; i < graph->n_locations; i++) {
        struct location *at = &locations[i];
        *at = graph->locations[i];
        at->file = alias(h, &h->files, at->file, "f", ".py");
        at->function = alias(h, &h->functions, at->function, "function", "");
        at->code = STR("...");
        at->annotation = STR("");
    }
}

static struct graph *hide_graph(struct hiding *h, const struct graph *graph, bool root)
{
    struct arena *arena = &h->arena;
    struct graph *ret = arena_new(arena, struct graph);
    struct node *nodes = arena_array(arena, struct node, (size_t)graph->n_nodes + 1);
    struct arg *args = arena_array(arena, struct arg, (size_t)graph->n_args + 1);
    struct location *locations =
        arena_array(arena, struct location, (size_t)graph->n_locations + 1);
    struct graph **children = arena_array(arena, struct graph *, (size_t)graph->n_children + 1);
    if (!ret || !nodes || !args || !locations || !children) {
        h->failed = true;
        return NULL;
    }
    *ret = *graph;
    ret->name = root ? STR("GraphModule") : alias(h, &h->children, graph->name, "graph", "");
    ret->nodes = nodes;
    ret->args = args;
    ret->locations = locations;
    ret->children = children;
    hide_nodes(h, graph, nodes);
    hide_args(h, graph, args);
    hide_locations(h, graph, locations);
    for (uint32_t i = 0; i < graph->n_children && !h->failed; i++)
        children[i] = hide_graph(h, graph->children[i], false);
    return h->failed ? NULL : ret;
}

struct candidate *candidate_anonymize(const struct candidate *candidate, struct err *err)
{
    struct hiding h = { .arena = ARENA_INIT };
    struct candidate *ret = NULL;
    struct cand_symbol *symbols =
        arena_array(&h.arena, struct cand_symbol, (size_t)candidate->n_symbols + 1);
    struct graph *graph = hide_graph(&h, candidate->graph, true);
    if (!symbols || !graph) {
        err_nomem(err);
    } else {
        for (uint32_t i = 0; i < candidate->n_symbols; i++) {
            symbols[i] = candidate->symbols[i];
            symbols[i].source = STR("");
        }
        struct cand_source source = { .like = candidate,
                                      .graph = graph,
                                      .storages = data_of(candidate)->storages,
                                      .symbols = symbols,
                                      .n_symbols = candidate->n_symbols,
                                      .facts = candidate->facts,
                                      .n_facts = candidate->n_facts };
        ret = candidate_make(&source, NULL, err);
    }
    intern_release(&h.files);
    intern_release(&h.functions);
    intern_release(&h.children);
    intern_release(&h.paths);
    intern_release(&h.strings);
    arena_release(&h.arena);
    return ret;
}
