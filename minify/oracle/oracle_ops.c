#include "minify/oracle/oracle_ops.h"

#include <stdlib.h>

#include "minify/candidate/candidate_data.h"

struct ops_oracle {
    struct oracle oracle;
    struct str what;
    struct arena arena;
};

struct chain {
    const struct graph *graph;
    const bool *before; /* by node: it matches the previous part, or depends on a node that does */
    bool *now;
    bool reached;
};

static void mark_reachable(void *user, node_id id)
{
    struct chain *c = user;
    c->reached |= c->before[id];
}

/* Marks the nodes that match a part and depend on nodes in `before` (for the first part, all that
 * match). */
static bool extend_chain(const struct graph *graph, struct str part, bool first, bool *before,
                         bool *now)
{
    struct chain c = { .graph = graph, .before = before };
    bool any = false;
    /* Extends the marks of `before` to all nodes that depend on a marked one. */
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        c.reached = false;
        node_references(graph, node, mark_reachable, &c);
        now[id] = node_is_call(node) && str_find(node->target, part) < node->target.n &&
                  (first || c.reached);
        before[id] |= c.reached;
        any |= now[id];
    }
    return any;
}

static struct str take_operator(struct str *text, const char *separator)
{
    size_t at = str_find(*text, str_of(separator));
    struct str ret = str_trim(str_first(*text, at));
    *text = str_from(*text, at < text->n ? at + strlen(separator) : text->n);
    return ret;
}

static bool chain_holds(const struct graph *graph, struct str chain, bool *before, bool *now)
{
    bool holds = true;
    for (bool first = true; chain.n && holds; first = false) {
        holds = extend_chain(graph, take_operator(&chain, "->"), first, before, now);
        memcpy(before, now, graph->n_nodes * sizeof *before);
    }
    return holds;
}

static void ask_ops(struct oracle *oracle, const struct candidate *candidate,
                    const struct oracle_question *asking, struct answer *answer)
{
    const struct ops_oracle *o = (const struct ops_oracle *)oracle;
    const struct graph *graph = candidate->graph;
    bool *marks = calloc(2 * (size_t)graph->n_nodes + 1, sizeof *marks);
    struct str rest = o->what;
    bool holds = marks != NULL;
    (void)asking;
    *answer = (struct answer){ .verdict = VERDICT_BROKEN };
    answer->signature = (struct signature){ STR("operators"), STR(""), STR(""), STR("") };
    answer->text = answer->node = STR("");
    while (rest.n && holds) {
        memset(marks, 0, 2 * (size_t)graph->n_nodes * sizeof *marks);
        holds = chain_holds(graph, take_operator(&rest, ","), marks, marks + graph->n_nodes);
    }
    if (marks)
        answer->verdict = holds ? VERDICT_INTERESTING : VERDICT_BORING;
    else
        err_nomem(&answer->err);
    free(marks);
}

static void free_ops(struct oracle *oracle)
{
    struct ops_oracle *o = (struct ops_oracle *)oracle;
    arena_release(&o->arena);
    free(o);
}

static bool check_operator_name(struct str what, struct err *err)
{
    struct str rest = what;
    bool good = str_trim(what).n > 0;
    while (rest.n && good) {
        struct str chain = take_operator(&rest, ",");
        good = chain.n > 0;
        while (chain.n && good)
            good = take_operator(&chain, "->").n > 0;
    }
    return good || err_set(err, ERR_USAGE, "--has-ops: \"%.*s\" has an empty part", STR_ARG(what));
}

struct oracle *oracle_ops(struct str what, struct err *err)
{
    struct ops_oracle *o = check_operator_name(what, err) ? calloc(1, sizeof *o) : NULL;
    struct buf id = BUF_INIT;
    if (!o) {
        err_nomem(err);
        return NULL;
    }
    o->oracle = (struct oracle){
        .ask = ask_ops, .free = free_ops, .deterministic = true, .cheap = true, .name = STR("ops")
    };
    buf_printf(&id, "ops 1 %.*s", STR_ARG(what));
    o->what = arena_copy(&o->arena, what);
    o->oracle.id = arena_copy(&o->arena, buf_str(&id));
    bool ok = !id.failed && o->what.p && o->oracle.id.p;
    buf_release(&id);
    if (ok)
        return &o->oracle;
    free_ops(&o->oracle);
    err_nomem(err);
    return NULL;
}
