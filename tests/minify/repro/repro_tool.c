/* Prints the repro of a graph, for tests: repro_tool [--cpu] [--route R] [--check C] ... SELECTOR
 * and `repro_tool --list TAPE` its graphs, one a line with the number of its calls. --metas prints
 * what was recorded of its outputs instead, and the symbols with their hints, as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "minify/repro/repro.h"
#include "trace/base/text/json_write.h"

static const char *const route_names[] = {
#define ROUTE(id, name) [REPRO_##id] = name,
    REPRO_ROUTES(ROUTE)
#undef ROUTE
};
static const char *const check_names[] = { "nothing",     "raises", "wrong", "guard",
                                           "specializes", "guards", "runs" };
enum {
    ROUTES = sizeof route_names / sizeof *route_names,
    CHECKS = sizeof check_names / sizeof *check_names
};

static int find(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return (int)i;
    fprintf(stderr, "no such word: %s\n", name);
    exit(2);
}

static int list(const char *path)
{
    struct err err = { 0 };
    struct trace *trace = trace_open(path, NULL, &err);
    const struct graph_list *graphs = trace ? trace_graphs(trace, &err) : NULL;
    for (uint32_t i = 0; graphs && i < graphs->n; i++) {
        struct buf text = BUF_INIT;
        struct err why = { 0 };
        const struct graph *graph = trace_graph(trace, i, &why);
        if (!graph)
            continue;
        selector_print_graph(trace, graphs, i, &text);
        printf("%" PRIu32 " %s %d %.*s\n", graph_counts(graph).calls,
               graph_kind_name(graphs->refs[i].kind), graphs->refs[i].is_event,
               STR_ARG(buf_str(&text)));
        buf_release(&text);
    }
    trace_close(trace);
    if (!graphs)
        fprintf(stderr, "%s\n", err.text);
    return graphs ? 0 : 3;
}

static void put_metas(const struct candidate *candidate, struct buf *out)
{
    const struct graph *graph = candidate->graph;
    const struct node *output = &graph->nodes[graph->n_nodes - 1];
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_open_object(&w, "hints");
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        if (candidate->symbols[i].has_hint && !candidate->symbols[i].is_float) {
            json_put_key(&w, candidate->symbols[i].name);
            json_put_i64(&w, NULL, candidate->symbols[i].hint);
        }
    json_close(&w);
    json_open_array(&w, "outputs");
    for (uint32_t i = 0; output->op == NODE_OUTPUT && i < output->n_args; i++) {
        const struct arg *arg = &graph->args[output->first_arg + i];
        uint32_t meta = arg->kind == ARG_NODE ? graph->nodes[arg->u.node].meta : META_NONE;
        if (meta == META_NONE)
            json_put_null(&w, NULL);
        else
            json_put_str(&w, NULL, graph->pool->metas[meta].text);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}

static int print(struct trace *trace, const struct selector *selector,
                 const struct repro_what *what, bool metas)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct repro_notes notes;
    struct candidate_options options = { 0 };
    struct candidate *candidate = candidate_load(trace, selector, &options, &err);
    if (!candidate) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    bool ok = repro_print(candidate, what, &notes, &text);
    if (metas) {
        buf_clear(&text);
        put_metas(candidate, &text);
    }
    if (ok)
        fwrite(text.p, 1, text.n, stdout);
    if (notes.cannot[0])
        fprintf(stderr, "cannot: %s\n", notes.cannot);
    buf_release(&text);
    candidate_free(candidate);
    return !ok ? 4 : notes.cannot[0] ? 125 : 0;
}

int main(int argc, char **argv)
{
    struct repro_what what = { .check = REPRO_RUNS };
    struct selector selector;
    struct err err = { 0 };
    char path[4096];
    bool metas = false;
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (!strcmp(argv[i], "--list"))
            return list(argv[i + 1]);
        if (!strcmp(argv[i], "--cpu"))
            what.cpu = true, i--;
        else if (!strcmp(argv[i], "--metas"))
            metas = true, i--;
        else if (!strcmp(argv[i], "--route"))
            what.route = (enum repro_route)find(route_names, ROUTES, argv[i + 1]);
        else if (!strcmp(argv[i], "--check"))
            what.check = (enum repro_check)find(check_names, CHECKS, argv[i + 1]);
        else if (!strcmp(argv[i], "--message"))
            what.message = str_of(argv[i + 1]);
        else if (!strcmp(argv[i], "--expr"))
            what.expr = str_of(argv[i + 1]);
        else if (!strcmp(argv[i], "--backend"))
            what.backend = str_of(argv[i + 1]);
        else
            return 2;
    }
    if (i + 1 != argc || !selector_parse(&selector, str_of(argv[i]), &err)) {
        fprintf(stderr, "repro_tool: %s\n", err.kind ? err.text : "one selector, please");
        return 2;
    }
    snprintf(path, sizeof path, "%.*s", STR_ARG(selector.tape));
    struct trace *trace = trace_open(path, NULL, &err);
    if (!trace) {
        fprintf(stderr, "%s\n", err.text);
        return 3;
    }
    int ret = print(trace, &selector, &what, metas);
    trace_close(trace);
    return ret;
}
