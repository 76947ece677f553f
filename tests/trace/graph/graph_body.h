/* Graphs for tests: a body of statements becomes a class with inputs x, y and s0. */
#ifndef SYMTAPE_TESTS_TRACE_GRAPH_GRAPH_BODY_H
#define SYMTAPE_TESTS_TRACE_GRAPH_GRAPH_BODY_H

#include "tests/harness.h"
#include "trace/graph/graph.h"

static inline struct graph *graph_of(const char *text)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(text), &err);
    assert_no_err(&err);
    assert_non_null(graph);
    return graph;
}

static inline struct graph *graph_of_body(const char *body)
{
    struct buf text = BUF_INIT;
    buf_puts(&text, "class GraphModule(torch.nn.Module):\n"
                    "    def forward(self, x: \"f32[s0, 4][4, 1]cpu\", y, s0: \"Sym(s0)\"):\n"
                    "        ");
    for (const char *p = body; *p; p++) {
        buf_putc(&text, *p);
        if (*p == '\n')
            buf_puts(&text, "        ");
    }
    buf_putc(&text, '\0');
    struct graph *graph = graph_of(text.p);
    buf_release(&text);
    return graph;
}

/* The node that the first statement of the body makes. */
static inline const struct node *first_statement(const struct graph *graph)
{
    assert_true(graph->n_nodes > 3);
    return &graph->nodes[3];
}

static inline const struct arg *arg_at(const struct graph *graph, const struct node *node,
                                       uint32_t i)
{
    assert_true(i < node->n_args);
    return &graph->args[node->first_arg + i];
}

static inline const struct arg *item_at(const struct graph *graph, const struct arg *arg,
                                        uint32_t i)
{
    assert_true(i < arg->u.items.n);
    return &graph->args[arg->u.items.first + i];
}

/* Prints, parses and compares. */
static inline void assert_survives_printing(const struct graph *graph)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    node_id node;
    graph_print(graph, &text);
    struct graph *again = graph_parse(buf_str(&text), &err);
    assert_no_err(&err);
    assert_true(graph_equal(graph, again, &node));
    graph_free(again);
    buf_release(&text);
}

#endif
