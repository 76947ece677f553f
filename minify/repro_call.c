/* Graphs as Python functions, a line a call. */
#include "minify/repro_inside.h"
#include "trace/base/json_write.h"
#include "trace/graph/graph_operator.h"

struct writer {
    struct repro *r;
    const struct repro_graph *g;
    struct buf *out;
};

static void put_arg(const struct writer *w, const struct arg *arg);

static const struct arg *item(const struct writer *w, const struct arg *arg, uint32_t i)
{
    return &w->g->graph->args[arg->u.items.first + i];
}

static void put_keyed(const struct writer *w, const struct arg *arg)
{
    if (arg->key.n) {
        buf_put(w->out, arg->key);
        buf_putc(w->out, '=');
    }
    put_arg(w, arg);
}

static void put_args(const struct writer *w, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(w->out, i ? ", " : "");
        put_keyed(w, &w->g->graph->args[first + i]);
    }
}

static void put_items(const struct writer *w, const struct arg *arg, const char *before,
                      const char *after)
{
    buf_puts(w->out, before);
    put_args(w, arg->u.items.first, arg->u.items.n);
    buf_puts(w->out, after);
}

static void put_tuple(const struct writer *w, const struct arg *arg)
{
    put_items(w, arg, "(", arg->u.items.n == 1 ? ",)" : ")");
}

static void put_dict(const struct writer *w, const struct arg *arg)
{
    buf_putc(w->out, '{');
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        buf_puts(w->out, i == 0 ? "" : i % 2 ? ": " : ", ");
        put_arg(w, item(w, arg, i));
    }
    buf_putc(w->out, '}');
}

/* A class's repr stands for what a graph passes on, which is a tuple: namedtuples, model outputs. */
static void put_called(const struct writer *w, const struct arg *arg)
{
    if (str_is(arg->text, "torch.Size") || str_is(arg->text, "range")) {
        buf_put(w->out, arg->text);
        put_items(w, arg, "(", ")");
        return;
    }
    buf_putc(w->out, '(');
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        put_arg(w, item(w, arg, i));
        buf_puts(w->out, i + 1 < arg->u.items.n ? ", " : arg->u.items.n == 1 ? "," : "");
    }
    buf_putc(w->out, ')');
}

static void put_float(const struct writer *w, struct str text)
{
    bool plain = str_find(text, STR("inf")) == text.n && str_find(text, STR("nan")) == text.n;
    buf_printf(w->out, plain ? "%.*s" : "float(\"%.*s\")", STR_ARG(text));
}

struct str repro_device(const struct repro *r, struct str device)
{
    if (r->what->cpu && device.n && !str_is(device, "meta"))
        return STR("cpu");
    return str_ends(device, STR(":0")) ? str_first(device, device.n - 2) : device;
}

static void put_node(const struct writer *w, node_id node)
{
    struct str name = w->g->names[node];
    if (name.n)
        buf_put(w->out, name);
    else
        repro_cannot(w->r, "nothing gives %.*s", STR_ARG(w->g->graph->nodes[node].name));
}

static void put_subgraph(const struct writer *w, struct str name)
{
    const struct graph *child = repro_child(w->g->graph, name);
    if (child)
        buf_put(w->out, repro_graph_of(w->r, child)->function);
    else
        repro_cannot(w->r, "the subgraph %.*s is missing", STR_ARG(name));
}

/* Where one function runs on two devices, its own is a global name (repro_check.c). */
static void put_device(const struct writer *w, struct str device)
{
    if (w->r->what->route == REPRO_CUDA && !str_is(device, "meta"))
        buf_puts(w->out, "device");
    else
        json_quote(w->out, repro_device(w->r, device));
}

/* Dynamo prints devices as what the user wrote. */
static void put_string(const struct writer *w, struct str text)
{
    if (str_is(text, "cuda") || str_starts(text, STR("cuda:")))
        put_device(w, text);
    else
        json_quote(w->out, text);
}

static void put_arg(const struct writer *w, const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_NONE: buf_puts(w->out, "None"); break;
    case ARG_NODE: put_node(w, arg->u.node); break;
    case ARG_BOOL: buf_puts(w->out, arg->u.integer ? "True" : "False"); break;
    case ARG_STRING: put_string(w, arg->text); break;
    case ARG_DEVICE: put_device(w, arg->text); break;
    case ARG_FLOAT: put_float(w, arg->text); break;
    case ARG_LIST: put_items(w, arg, "[", "]"); break;
    case ARG_TUPLE: put_tuple(w, arg); break;
    case ARG_DICT: put_dict(w, arg); break;
    case ARG_SLICE: put_items(w, arg, "slice(", ")"); break;
    case ARG_ELLIPSIS: buf_puts(w->out, "..."); break;
    case ARG_CALL: put_called(w, arg); break;
    case ARG_GRAPH: put_subgraph(w, arg->text); break;
    case ARG_OPAQUE:
        repro_cannot(w->r, "an argument cannot be read: %.*s", STR_ARG(str_first(arg->text, 60)));
        buf_puts(w->out, "None");
        break;
    case ARG_INT:
    case ARG_COMPLEX:
    case ARG_DTYPE:
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT:
    case ARG_TARGET: buf_put(w->out, arg->text); break;
    }
}

/* ---- Subscripts ---- */

static void put_bound(const struct writer *w, const struct arg *arg)
{
    if (arg->kind != ARG_NONE)
        put_arg(w, arg);
}

static void put_slice(const struct writer *w, const struct arg *arg)
{
    put_bound(w, item(w, arg, 0));
    buf_putc(w->out, ':');
    put_bound(w, item(w, arg, 1));
    if (item(w, arg, 2)->kind != ARG_NONE) {
        buf_putc(w->out, ':');
        put_arg(w, item(w, arg, 2));
    }
}

static void put_index(const struct writer *w, const struct arg *arg)
{
    if (arg->kind == ARG_SLICE && arg->u.items.n == 3)
        put_slice(w, arg);
    else
        put_arg(w, arg);
}

static void put_subscript(const struct writer *w, const struct arg *of, const struct arg *index)
{
    put_arg(w, of);
    buf_putc(w->out, '[');
    if (index->kind == ARG_TUPLE && index->u.items.n > 0) {
        for (uint32_t i = 0; i < index->u.items.n; i++) {
            buf_puts(w->out, i ? ", " : "");
            put_index(w, item(w, index, i));
        }
        buf_puts(w->out, index->u.items.n == 1 ? "," : "");
    } else {
        put_index(w, index);
    }
    buf_putc(w->out, ']');
}

/* ---- Calls ---- */

static const struct {
    const char *target, *text;
} forms[] = {
#define FORM(target, text) { target, text },
#include "minify/repro_forms.def"
#undef FORM
};

static const char *form_of(struct str target)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_is(target, forms[i].target))
            return forms[i].text;
    return NULL;
}

static const struct arg *arg_of(const struct writer *w, const struct node *node, uint32_t i)
{
    return &w->g->graph->args[node->first_arg + i];
}

static void put_form(const struct writer *w, const struct node *node, const char *form)
{
    for (; *form; form++) {
        if (*form != '{') {
            buf_putc(w->out, *form);
            continue;
        }
        bool rest = form[1] == '*';
        uint32_t i = (uint32_t)(form[rest ? 2 : 1] - '0');
        if (rest && i < node->n_args)
            put_args(w, node->first_arg + i, node->n_args - i);
        else if (!rest && i < node->n_args)
            put_arg(w, arg_of(w, node, i));
        else if (!rest)
            repro_cannot(w->r, "%.*s lacks an argument", STR_ARG(node->name));
        form += rest ? 3 : 2;
    }
}

static const struct arg *keyword(const struct writer *w, const struct node *node, struct str key)
{
    for (uint32_t i = 0; i < node->n_args; i++)
        if (str_eq(arg_of(w, node, i)->key, key) && arg_of(w, node, i)->kind != ARG_NONE)
            return arg_of(w, node, i);
    return NULL;
}

/* sym_constrain_range(u0, min=2, max=9), and the one for sizes: "2 <= u0 <= 9" as checks. */
static bool put_range(const struct writer *w, const struct node *node)
{
    bool size = str_is(node->target, "torch.ops.aten.sym_constrain_range_for_size.default") ||
                str_is(node->target, "torch.sym_constrain_range_for_size");
    const struct arg *min = keyword(w, node, STR("min")), *max = keyword(w, node, STR("max"));
    if ((!size && !str_is(node->target, "torch.ops.aten.sym_constrain_range.default")) ||
        node->n_args < 1)
        return false;
    buf_puts(w->out, "torch._check(");
    put_arg(w, arg_of(w, node, 0));
    buf_puts(w->out, " >= ");
    if (min)
        put_arg(w, min);
    else
        buf_puts(w->out, "0");
    if (max) {
        buf_puts(w->out, "), torch._check(");
        put_arg(w, arg_of(w, node, 0));
        buf_puts(w->out, " <= ");
        put_arg(w, max);
    }
    buf_putc(w->out, ')');
    return true;
}

static void put_plain(const struct writer *w, const struct node *node)
{
    bool builtin = str_starts(node->target, STR("builtins."));
    /* FX calls a function of math by a global of its own. */
    bool math = str_starts(node->target, STR("math_"));
    if (math)
        buf_puts(w->out, "math.");
    buf_put(w->out, builtin ? str_from(node->target, 9) : str_from(node->target, math ? 5 : 0));
    buf_putc(w->out, '(');
    put_args(w, node->first_arg, node->n_args);
    buf_putc(w->out, ')');
}

static void put_infix(const struct writer *w, const struct node *node)
{
    const struct graph_operator *op = graph_operator_by_target(node->target);
    if (!op) {
        put_plain(w, node);
        return;
    }
    if (node->n_args == 2) {
        put_arg(w, arg_of(w, node, 0));
        buf_putc(w->out, ' ');
    }
    buf_put(w->out, op->sign);
    buf_puts(w->out, node->n_args == 2 ? " " : "");
    put_arg(w, arg_of(w, node, node->n_args - 1));
}

static void put_function_call(const struct writer *w, const struct node *node)
{
    const char *form = form_of(node->target);
    if (node->form == FORM_INFIX && node->n_args >= 1 && node->n_args <= 2) {
        put_infix(w, node);
    } else if (node->form == FORM_GETITEM && node->n_args == 2) {
        put_subscript(w, arg_of(w, node, 0), arg_of(w, node, 1));
    } else if (str_is(node->target, "operator.getitem") && node->n_args == 2) {
        put_subscript(w, arg_of(w, node, 0), arg_of(w, node, 1));
    } else if (node->form == FORM_ATTRIBUTE && node->n_args == 2) {
        put_arg(w, arg_of(w, node, 0));
        buf_putc(w->out, '.');
        buf_put(w->out, arg_of(w, node, 1)->text);
    } else if (form) {
        put_form(w, node, form);
    } else if (!put_range(w, node)) {
        put_plain(w, node);
    }
}

static void put_method(const struct writer *w, const struct node *node)
{
    bool literal = node->n_args && arg_of(w, node, 0)->kind != ARG_NODE;
    if (!node->n_args) {
        repro_cannot(w->r, "the method %.*s of nothing", STR_ARG(node->target));
        return;
    }
    buf_puts(w->out, literal ? "(" : "");
    put_arg(w, arg_of(w, node, 0));
    buf_puts(w->out, literal ? ")." : ".");
    buf_put(w->out, node->target);
    buf_putc(w->out, '(');
    put_args(w, node->first_arg + 1, node->n_args - 1);
    buf_putc(w->out, ')');
}

/* a[b] = c, a += b */
static void put_mutation(const struct writer *w, const struct node *node)
{
    if (node->form == FORM_SETITEM && node->n_args == 3) {
        put_subscript(w, arg_of(w, node, 0), arg_of(w, node, 1));
        buf_puts(w->out, " = ");
        put_arg(w, arg_of(w, node, 2));
        return;
    }
    const struct graph_operator *op = graph_operator_by_target(node->target);
    if (!op || node->n_args != 2) {
        put_plain(w, node);
        return;
    }
    put_arg(w, arg_of(w, node, 0));
    buf_putc(w->out, ' ');
    buf_put(w->out, op->sign);
    buf_puts(w->out, "= ");
    put_arg(w, arg_of(w, node, 1));
}

static bool is_unspelled(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                         uint32_t *symbol)
{
    return repro_bare_symbol(r, pool, expr, symbol) && !r->candidate->symbols[*symbol].backed &&
           !r->spelled[*symbol].n;
}

/* Unbacked symbols are called after what made them, so that facts can speak of them. */
static void learn_symbols(struct writer *w, const struct node *node, struct str name)
{
    struct repro *r = w->r;
    const struct meta *meta = repro_meta(w->g->graph, node->meta);
    const struct expr_pool *pool = &w->g->graph->pool->exprs;
    uint32_t symbol;
    if (!meta || meta->kind == META_OTHER || w->g != &r->graphs.v[r->graphs.n - 1])
        return;
    if (meta->kind == META_SYM) {
        if (is_unspelled(r, pool, meta->sizes[0], &symbol))
            r->spelled[symbol] = name;
        return;
    }
    for (uint32_t d = 0; d < meta->n_sizes; d++) {
        if (!is_unspelled(r, pool, meta->sizes[d], &symbol))
            continue;
        struct buf text = BUF_INIT;
        buf_printf(&text, "%.*s.shape[%u]", STR_ARG(name), (unsigned)d);
        r->spelled[symbol] = arena_copy(&r->arena, buf_str(&text));
        r->failed |= text.failed || !r->spelled[symbol].p;
        buf_release(&text);
    }
}

static void put_call_line(struct writer *w, node_id id)
{
    const struct node *node = &w->g->graph->nodes[id];
    struct buf line = BUF_INIT;
    struct writer to = { w->r, w->g, &line };
    if (node->form == FORM_SETITEM || node->form == FORM_INPLACE) {
        put_mutation(&to, node);
    } else {
        if (w->g->used[id]) {
            buf_put(&line, w->g->names[id]);
            buf_puts(&line, " = ");
        }
        if (node->op == NODE_CALL_METHOD)
            put_method(&to, node);
        else
            put_function_call(&to, node);
    }
    w->r->failed |= line.failed;
    /* A string may hold a comma. */
    if (str_find_char(buf_str(&line), '"') == line.n) {
        repro_put_line(w->r, buf_str(&line), 4);
    } else {
        buf_puts(w->out, "    ");
        buf_put(w->out, buf_str(&line));
        buf_putc(w->out, '\n');
    }
    buf_release(&line);
}

/* A number that f was given: its symbol's variable is there already. */
static void put_number_input(struct writer *w, node_id id)
{
    const struct node *node = &w->g->graph->nodes[id];
    const struct meta *meta = repro_meta(w->g->graph, node->meta);
    uint32_t symbol;
    if (!w->g->used[id] || !meta || meta->kind != META_SYM ||
        repro_bare_symbol(w->r, &w->g->graph->pool->exprs, meta->sizes[0], &symbol))
        return;
    struct buf text = BUF_INIT;
    if (!repro_put_expr(w->r, &w->g->graph->pool->exprs, meta->sizes[0], &text))
        repro_cannot(w->r, "nothing gives the number %.*s", STR_ARG(node->name));
    buf_printf(w->out, "    %.*s = %.*s\n", STR_ARG(w->g->names[id]),
               STR_ARG(repro_bare(buf_str(&text))));
    w->r->failed |= text.failed;
    buf_release(&text);
}

static void put_statement(struct writer *w, node_id id)
{
    const struct node *node = &w->g->graph->nodes[id];
    if (w->g->quiet[id])
        return;
    switch (node->op) {
    case NODE_CALL_FUNCTION:
    case NODE_CALL_METHOD:
        put_call_line(w, id);
        learn_symbols(w, node, w->g->names[id]);
        break;
    case NODE_CALL_MODULE:
        repro_cannot(w->r, "a call of the module %.*s", STR_ARG(node->target));
        break;
    case NODE_GET_ATTR: /* f's are inputs */
        if (w->g != &w->r->graphs.v[w->r->graphs.n - 1] && w->g->used[id] &&
            !repro_child(w->g->graph, node->target))
            repro_cannot(w->r, "the attribute %.*s of a subgraph", STR_ARG(node->target));
        break;
    case NODE_OPAQUE:
        repro_cannot(w->r, "a statement cannot be read: %.*s",
                     STR_ARG(str_first(node->target, 60)));
        break;
    case NODE_PLACEHOLDER:
    case NODE_ALIAS:
    case NODE_OUTPUT: break;
    }
}

static void put_return(struct writer *w, const struct node *node)
{
    struct buf line = BUF_INIT;
    struct writer to = { w->r, w->g, &line };
    bool tuple = w->g->graph->returns_tuple;
    buf_puts(&line, tuple ? "return (" : "return ");
    put_args(&to, node->first_arg, node->n_args);
    buf_puts(&line, !tuple ? "" : node->n_args == 1 ? ",)" : ")");
    w->r->failed |= line.failed;
    repro_put_line(w->r, buf_str(&line), 4);
    buf_release(&line);
}

static void put_signature(struct repro *r, const struct repro_graph *g, bool root)
{
    struct buf line = BUF_INIT;
    uint32_t n = 0;
    buf_printf(&line, "def %.*s(", STR_ARG(g->function));
    for (size_t i = 0; root && i < r->inputs.n; i++)
        buf_printf(&line, "%s%.*s", i ? ", " : "", STR_ARG(r->inputs.v[i].name));
    for (uint32_t i = 0; !root && i < g->graph->n_nodes; i++)
        if (g->graph->nodes[i].op == NODE_PLACEHOLDER)
            buf_printf(&line, "%s%.*s", n++ ? ", " : "", STR_ARG(g->names[i]));
    buf_puts(&line, "):");
    r->failed |= line.failed;
    repro_put_line(r, buf_str(&line), 0);
    buf_release(&line);
}

static bool is_region(const struct repro *r, const struct repro_graph *g)
{
    for (size_t k = 0; k < r->graphs.n; k++)
        for (uint32_t i = 0; i < r->graphs.v[k].graph->n_nodes; i++) {
            const struct node *node = &r->graphs.v[k].graph->nodes[i];
            const struct arg *of = node->n_args ? &r->graphs.v[k].graph->args[node->first_arg] : NULL;
            if (of && of->kind == ARG_NODE && str_eq(r->graphs.v[k].names[of->u.node], g->function) &&
                str_is(node->target, "torch.ops.higher_order.invoke_subgraph"))
                return true;
        }
    return false;
}

void repro_put_function(struct repro *r, const struct repro_graph *g, bool root)
{
    struct writer w = { r, g, r->out };
    bool returned = false;
    if (!root && is_region(r, g))
        buf_puts(r->out, "@torch.compiler.nested_compile_region\n");
    put_signature(r, g, root);
    if (root) {
        repro_put_sizes(r);
        for (uint32_t i = 0; i < g->graph->n_nodes; i++)
            if (g->graph->nodes[i].op == NODE_PLACEHOLDER)
                put_number_input(&w, i);
        repro_put_facts(r, 0);
    }
    for (uint32_t i = 0; i < g->graph->n_nodes; i++) {
        if (root && i)
            repro_put_facts(r, i);
        if (g->graph->nodes[i].op == NODE_OUTPUT) {
            if (root)
                repro_put_facts(r, g->graph->n_nodes);
            put_return(&w, &g->graph->nodes[i]);
            returned = true;
        } else {
            put_statement(&w, i);
        }
    }
    if (!returned)
        buf_puts(r->out, "    return ()\n");
}
