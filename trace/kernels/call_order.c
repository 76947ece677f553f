#include "trace/kernels/call_order.h"

/* Returns "mm" of "extern_kernels.mm" and "sort" of "torch.ops.aten.sort.stable". */
static struct str extern_operator(struct str name)
{
    static const struct str LIBRARY = { "extern_kernels.", 15 };
    return str_starts(name, LIBRARY) ? str_from(name, LIBRARY.n) : target_base_name(name);
}

static bool add_extern_call(struct call_order *order, struct str name, uint32_t ordinal)
{
    uint32_t id = intern(&order->operators, extern_operator(name)), call = (uint32_t)order->calls.n;
    if (id == INTERN_NONE || !vec_push(&order->calls, (struct extern_call){ ordinal, TRACE_NONE }))
        return false;
    if (id == order->last_calls.n)
        return vec_push(&order->first_calls, call) && vec_push(&order->last_calls, call);
    order->calls.v[order->last_calls.v[id]].next = call;
    order->last_calls.v[id] = call;
    return true;
}

bool call_order_init(struct call_order *order, const struct kernel_reader *r)
{
    order->first_kernel = r->graphs.v[r->graphs.n - 1].first;
    order->n_kernels = (uint32_t)r->kernels.n - order->first_kernel;
    order->starts = calloc((size_t)order->n_kernels + 2, sizeof *order->starts);
    order->ordinals = malloc((r->calls.n + 1) * sizeof *order->ordinals);
    if (!order->starts || !order->ordinals)
        return false;
    /* A counting sort by kernel; the second element on is where the next call of it goes. */
    for (size_t i = 0; i < r->calls.n; i++)
        order->starts[r->calls.v[i] - order->first_kernel + 2]++;
    for (uint32_t k = 1; k <= order->n_kernels; k++)
        order->starts[k + 1] += order->starts[k];
    for (uint32_t i = 0; i < r->calls.n; i++) {
        const struct kernel *kernel = &r->kernels.v[r->calls.v[i]];
        order->ordinals[order->starts[r->calls.v[i] - order->first_kernel + 1]++] = i + 1;
        if (kernel->kind == KERNEL_EXTERN && !add_extern_call(order, kernel->name, i + 1))
            return false;
    }
    return true;
}

void call_order_release(struct call_order *order)
{
    free(order->starts);
    free(order->ordinals);
    intern_release(&order->operators);
    vec_release(&order->calls);
    vec_release(&order->first_calls);
    vec_release(&order->last_calls);
}

/* The nodes that a node uses, in lists and tuples too, are its arguments. */
enum { ARGS_DEPTH = 4 };

struct span_pass {
    const struct graph *graph;
    struct node_span *spans;
    node_id user;
    bool backward; /* from users to what they use, or the other way */
};

static void pass_arg(struct span_pass *p, const struct arg *arg, int depth)
{
    if (arg->kind == ARG_NODE && arg->u.node < p->graph->n_nodes) {
        struct node_span *user = &p->spans[p->user], *used = &p->spans[arg->u.node];
        uint32_t after = used->call != TRACE_NONE ? used->call : used->after;
        uint32_t before = user->call != TRACE_NONE ? user->call : user->before;
        if (!p->backward && after > user->after)
            user->after = after;
        if (p->backward && before < used->before)
            used->before = before;
    } else if ((arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) && depth < ARGS_DEPTH) {
        for (uint32_t i = 0; i < arg->u.items.n; i++)
            pass_arg(p, &p->graph->args[arg->u.items.first + i], depth + 1);
    }
}

static void pass_node(struct span_pass *p, node_id id)
{
    const struct node *node = &p->graph->nodes[id];
    p->user = id;
    for (uint32_t i = 0; i < node->n_args; i++)
        pass_arg(p, &node_args(p->graph, node)[i], 0);
}

struct node_span *call_order_spans(const struct call_order *order, const struct graph *graph)
{
    struct span_pass p = { .graph = graph };
    p.spans = malloc(((size_t)graph->n_nodes + 1) * sizeof *p.spans);
    uint32_t *next = malloc((order->first_calls.n + 1) * sizeof *next);
    if (!p.spans || !next) {
        free(p.spans);
        free(next);
        return NULL;
    }
    if (order->first_calls.n)
        memcpy(next, order->first_calls.v, order->first_calls.n * sizeof *next);
    for (node_id i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        uint32_t id = node_is_call(node)
                          ? intern_find(&order->operators, target_base_name(node->target))
                          : INTERN_NONE;
        p.spans[i] = (struct node_span){ 0, UINT32_MAX, TRACE_NONE };
        if (id != INTERN_NONE && next[id] != TRACE_NONE) {
            p.spans[i].call = order->calls.v[next[id]].ordinal;
            next[id] = order->calls.v[next[id]].next;
        }
        pass_node(&p, i);
    }
    p.backward = true;
    for (node_id i = graph->n_nodes; i-- > 0;)
        pass_node(&p, i);
    free(next);
    return p.spans;
}

uint32_t call_order_first(const struct call_order *order, uint32_t kernel, struct node_span span)
{
    if (kernel < order->first_kernel || kernel - order->first_kernel >= order->n_kernels)
        return UINT32_MAX;
    uint32_t low = order->starts[kernel - order->first_kernel];
    uint32_t end = order->starts[kernel - order->first_kernel + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order->ordinals[middle] <= span.after)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && order->ordinals[low] < span.before ? order->ordinals[low] : UINT32_MAX;
}
