/* Prints graphs as Python functions, with one line for each call. */
#include "minify/repro/repro_inside.h"
#include "trace/graph/graph_operator.h"

struct call_writer {
    struct repro *r;
    const struct repro_graph *g;
    struct buf *out;
};

static void put_call_arg(const struct call_writer *w, const struct arg *arg);

static const struct arg *list_element(const struct call_writer *w, const struct arg *arg,
                                      uint32_t i)
{
    return &w->g->graph->args[arg->u.items.first + i];
}

static void put_keyword_arg(const struct call_writer *w, const struct arg *arg)
{
    if (arg->key.n) {
        if (!python_is_name(arg->key))
            repro_refuse(w->r, "has a keyword argument whose name is not an identifier: %.*s",
                         STR_ARG(str_first(arg->key, 60)));
        else
            repro_put_name(w->r, w->out, arg->key);
        buf_putc(w->out, '=');
    }
    put_call_arg(w, arg);
}

enum { KEYS_MAX = 256 }; /* of one call; no schema has as many */

/* Checks that no keyword occurs twice and no positional argument follows one, as Python
 * requires. */
static void check_keys(const struct call_writer *w, uint32_t first, uint32_t n)
{
    const struct arg *args = &w->g->graph->args[first];
    uint32_t keyed = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool bad = keyed && !args[i].key.n;
        keyed += args[i].key.n > 0;
        bad = bad || keyed > KEYS_MAX;
        for (uint32_t k = i + 1 - keyed; k < i && keyed && !bad; k++)
            bad = str_eq(args[i].key, args[k].key);
        if (bad) {
            repro_refuse(w->r, "has keyword arguments that are not valid in Python");
            return;
        }
    }
}

static void put_call_args(const struct call_writer *w, uint32_t first, uint32_t n)
{
    check_keys(w, first, n);
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(w->out, i ? ", " : "");
        put_keyword_arg(w, &w->g->graph->args[first + i]);
    }
}

static void put_call_items(const struct call_writer *w, const struct arg *arg, const char *before,
                           const char *after)
{
    buf_puts(w->out, before);
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        buf_puts(w->out, i ? ", " : "");
        put_call_arg(w, list_element(w, arg, i));
    }
    buf_puts(w->out, after);
}

static void put_dict_arg(const struct call_writer *w, const struct arg *arg)
{
    buf_putc(w->out, '{');
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        buf_puts(w->out, i == 0 ? "" : i % 2 ? ": " : ", ");
        put_call_arg(w, list_element(w, arg, i));
    }
    buf_putc(w->out, '}');
    if (arg->u.items.n % 2)
        repro_refuse(w->r, "has a dict with a key without a value");
}

/* Prints the call of a class as a tuple: a graph contains the class's repr (namedtuples, model
 * outputs). */
static void put_called(const struct call_writer *w, const struct arg *arg)
{
    if (str_is(arg->text, "torch.Size") || str_is(arg->text, "range")) {
        put_call_items(w, arg, str_is(arg->text, "range") ? "range(" : "torch.Size(", ")");
        return;
    }
    buf_putc(w->out, '(');
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        put_call_arg(w, list_element(w, arg, i));
        buf_puts(w->out, i + 1 < arg->u.items.n ? ", " : arg->u.items.n == 1 ? "," : "");
    }
    buf_putc(w->out, ')');
}

static void put_python_literal(const struct call_writer *w, struct str text)
{
    if (!python_put_number(w->out, text))
        repro_refuse(w->r, "has a number that cannot be read: %.*s", STR_ARG(str_first(text, 60)));
}

/* Prints an operator, a function or a constant that is passed as an argument. */
static void put_target(const struct call_writer *w, struct str target)
{
    enum program_target kind = program_target(target, w->r->what->setup.allow);
    struct buf why = BUF_INIT;
    bool function =
        kind == PROGRAM_OPERATOR || (kind == PROGRAM_FUNCTION && str_starts(target, STR("torch.")));
    if ((!function && !program_has_value(target)) || !python_put_dotted(w->out, target)) {
        program_explain(target, w->r->what->setup.allow, &why);
        repro_refuse(w->r, "%.*s", STR_ARG(buf_str(&why)));
    }
    w->r->failed |= why.failed;
    buf_release(&why);
}

static void put_constant(const struct call_writer *w, struct str text)
{
    if (!program_has_value(text) || !python_put_dotted(w->out, text))
        repro_refuse(w->r, "has a constant that PyTorch does not have: %.*s",
                     STR_ARG(str_first(text, 60)));
}

struct str repro_device(const struct repro *r, struct str device)
{
    if (r->what->cpu && device.n && !str_is(device, "meta"))
        return STR("cpu");
    return str_ends(device, STR(":0")) ? str_first(device, device.n - 2) : device;
}

static void put_node_name(const struct call_writer *w, node_id node)
{
    struct str name = w->g->names[node];
    if (name.n && w->g->quiet[node])
        put_python_literal(w, name);
    else if (name.n)
        repro_put_name(w->r, w->out, name);
    else {
        repro_cannot(w->r, "nothing computes %.*s", STR_ARG(w->g->graph->nodes[node].name));
        buf_puts(w->out, "None");
    }
}

static void put_subgraph(const struct call_writer *w, struct str name)
{
    const struct graph *child = graph_child(w->g->graph, name);
    if (child)
        repro_put_name(w->r, w->out, repro_graph_of(w->r, child)->function);
    else {
        repro_cannot(w->r, "the subgraph %.*s is missing", STR_ARG(name));
        buf_puts(w->out, "None");
    }
}

/* Prints a device. If one function runs on two devices, its own is a global name
 * (repro_check.c). */
static void put_call_device(const struct call_writer *w, struct str device)
{
    if (w->r->what->route == REPRO_CUDA && !str_is(device, "meta"))
        buf_puts(w->out, "device");
    else
        python_put_string(w->out, repro_device(w->r, device));
}

/* Prints a string; Dynamo prints a device as the user wrote it. */
static void put_string_arg(const struct call_writer *w, struct str text)
{
    if (str_is(text, "cuda") || str_starts(text, STR("cuda:")))
        put_call_device(w, text);
    else
        python_put_string(w->out, text);
}

static void put_call_arg(const struct call_writer *w, const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_NONE: buf_puts(w->out, "None"); break;
    case ARG_NODE: put_node_name(w, arg->u.node); break;
    case ARG_BOOL: buf_puts(w->out, arg->u.integer ? "True" : "False"); break;
    case ARG_STRING: put_string_arg(w, arg->text); break;
    case ARG_DEVICE: put_call_device(w, arg->text); break;
    case ARG_LIST: put_call_items(w, arg, "[", "]"); break;
    case ARG_TUPLE: put_call_items(w, arg, "(", arg->u.items.n == 1 ? ",)" : ")"); break;
    case ARG_DICT: put_dict_arg(w, arg); break;
    case ARG_SLICE: put_call_items(w, arg, "slice(", ")"); break;
    case ARG_ELLIPSIS: buf_puts(w->out, "..."); break;
    case ARG_CALL: put_called(w, arg); break;
    case ARG_GRAPH: put_subgraph(w, arg->text); break;
    case ARG_OPAQUE:
        repro_cannot(w->r, "an argument cannot be read: %.*s", STR_ARG(str_first(arg->text, 60)));
        buf_puts(w->out, "None");
        break;
    case ARG_INT:
    case ARG_FLOAT:
    case ARG_COMPLEX: put_python_literal(w, arg->text); break;
    case ARG_DTYPE:
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT: put_constant(w, arg->text); break;
    case ARG_TARGET: put_target(w, arg->text); break;
    }
}

/* Prints an object before a '.' or a '[': in brackets unless it is a variable. */
static void put_object(const struct call_writer *w, const struct arg *arg)
{
    bool variable = arg->kind == ARG_NODE && !w->g->quiet[arg->u.node];
    buf_puts(w->out, variable ? "" : "(");
    put_call_arg(w, arg);
    buf_puts(w->out, variable ? "" : ")");
}

/* ---- Subscripts ---- */

static void put_slice_bound(const struct call_writer *w, const struct arg *arg)
{
    if (arg->kind != ARG_NONE)
        put_call_arg(w, arg);
}

static void put_slice(const struct call_writer *w, const struct arg *arg)
{
    put_slice_bound(w, list_element(w, arg, 0));
    buf_putc(w->out, ':');
    put_slice_bound(w, list_element(w, arg, 1));
    if (list_element(w, arg, 2)->kind != ARG_NONE) {
        buf_putc(w->out, ':');
        put_call_arg(w, list_element(w, arg, 2));
    }
}

static void put_index_arg(const struct call_writer *w, const struct arg *arg)
{
    if (arg->kind == ARG_SLICE && arg->u.items.n == 3)
        put_slice(w, arg);
    else
        put_call_arg(w, arg);
}

static void put_subscript(const struct call_writer *w, const struct arg *of,
                          const struct arg *index)
{
    put_object(w, of);
    buf_putc(w->out, '[');
    if (index->kind == ARG_TUPLE && index->u.items.n > 0) {
        for (uint32_t i = 0; i < index->u.items.n; i++) {
            buf_puts(w->out, i ? ", " : "");
            put_index_arg(w, list_element(w, index, i));
        }
        buf_puts(w->out, index->u.items.n == 1 ? "," : "");
    } else {
        put_index_arg(w, index);
    }
    buf_putc(w->out, ']');
}

/* ---- Calls ---- */

/* Returns whether an argument is a subgraph, by its get_attr or by its name. */
static bool is_subgraph_function(const struct call_writer *w, const struct arg *arg)
{
    const struct graph *graph = w->g->graph;
    if (arg->kind == ARG_NODE)
        return graph->nodes[arg->u.node].op == NODE_GET_ATTR &&
               graph_child(graph, graph->nodes[arg->u.node].target);
    return arg->kind == ARG_GRAPH && graph_child(graph, arg->text);
}

static const struct {
    const char *target, *text;
} forms[] = {
#define FORM(target, text) { target, text },
#include "minify/repro/repro_forms.def"
#undef FORM
};

static const char *target_form(struct str target)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_is(target, forms[i].target))
            return forms[i].text;
    return NULL;
}

static const struct arg *node_arg(const struct call_writer *w, const struct node *node, uint32_t i)
{
    return &w->g->graph->args[node->first_arg + i];
}

/* Prints an argument of a form; {0}(...) calls it, so it must be a function of the program. */
static void put_of_form(const struct call_writer *w, const struct arg *arg, char next)
{
    if (next == '(' && !is_subgraph_function(w, arg))
        repro_refuse(w->r, "calls something that is not a graph");
    else if (next == '.')
        put_object(w, arg);
    else
        put_call_arg(w, arg);
}

static void put_form(const struct call_writer *w, const struct node *node, const char *form)
{
    for (; *form; form++) {
        if (*form != '{') {
            buf_putc(w->out, *form);
            continue;
        }
        bool rest = form[1] == '*';
        uint32_t i = (uint32_t)(form[rest ? 2 : 1] - '0');
        if (rest && i < node->n_args)
            put_call_args(w, node->first_arg + i, node->n_args - i);
        else if (!rest && i < node->n_args)
            put_of_form(w, node_arg(w, node, i), form[3]);
        else if (!rest)
            repro_refuse(w->r, "has a call that lacks an argument");
        form += rest ? 3 : 2;
    }
}

static const struct arg *keyword(const struct call_writer *w, const struct node *node,
                                 struct str key)
{
    for (uint32_t i = 0; i < node->n_args; i++)
        if (str_eq(node_arg(w, node, i)->key, key) && node_arg(w, node, i)->kind != ARG_NONE)
            return node_arg(w, node, i);
    return NULL;
}

/* Prints sym_constrain_range(u0, min=2, max=9), and the one for sizes, as checks: "2 <= u0 <=
 * 9". */
static bool put_range(const struct call_writer *w, const struct node *node)
{
    bool size = str_is(node->target, "torch.ops.aten.sym_constrain_range_for_size.default") ||
                str_is(node->target, "torch.sym_constrain_range_for_size");
    const struct arg *min = keyword(w, node, STR("min")), *max = keyword(w, node, STR("max"));
    if ((!size && !str_is(node->target, "torch.ops.aten.sym_constrain_range.default")) ||
        node->n_args < 1)
        return false;
    buf_puts(w->out, "torch._check(");
    put_call_arg(w, node_arg(w, node, 0));
    buf_puts(w->out, " >= ");
    if (min)
        put_call_arg(w, min);
    else
        buf_puts(w->out, "0");
    if (max) {
        buf_puts(w->out, "), torch._check(");
        put_call_arg(w, node_arg(w, node, 0));
        buf_puts(w->out, " <= ");
        put_call_arg(w, max);
    }
    buf_putc(w->out, ')');
    return true;
}

/* Checks that the attribute of getattr(x, "shape") is in the table. */
static void check_getattr(const struct call_writer *w, const struct node *node)
{
    const struct arg *name = node->n_args > 1 ? node_arg(w, node, 1) : NULL;
    if (!name || name->kind != ARG_STRING || !program_has_attribute(name->text))
        repro_refuse(w->r, "reads something that is not an attribute of a tensor");
}

static void put_plain(const struct call_writer *w, const struct node *node)
{
    struct buf why = BUF_INIT;
    struct str target = node->target;
    enum program_target kind = program_target(target, w->r->what->setup.allow);
    bool builtin = str_starts(target, STR("builtins."));
    /* FX calls a function of math by a global of its own. */
    bool math = str_starts(target, STR("math_"));
    if (kind != PROGRAM_OPERATOR && kind != PROGRAM_FUNCTION) {
        program_explain(target, w->r->what->setup.allow, &why);
        repro_refuse(w->r, "%.*s", STR_ARG(buf_str(&why)));
        w->r->failed |= why.failed;
        buf_release(&why);
        return;
    }
    target = builtin ? str_from(target, 9) : str_from(target, math ? 5 : 0);
    if (str_starts(target, STR("_operator.")))
        target = str_from(target, 1);
    if (math)
        buf_puts(w->out, "math.");
    if (!python_put_dotted(w->out, target))
        repro_refuse(w->r, "calls %.*s, whose name is not valid in Python", STR_ARG(node->target));
    if (str_is(target, "getattr"))
        check_getattr(w, node);
    buf_putc(w->out, '(');
    put_call_args(w, node->first_arg, node->n_args);
    buf_putc(w->out, ')');
}

static void put_infix_call(const struct call_writer *w, const struct node *node)
{
    const struct graph_operator *op = graph_operator_by_target(node->target);
    if (!op || !str_eq(node->n_args == 2 ? op->infix : op->prefix, node->target)) {
        put_plain(w, node);
        return;
    }
    if (node->n_args == 2) {
        put_call_arg(w, node_arg(w, node, 0));
        buf_putc(w->out, ' ');
    }
    buf_puts(w->out, op->sign.p);
    buf_puts(w->out, node->n_args == 2 ? " " : "");
    put_call_arg(w, node_arg(w, node, node->n_args - 1));
}

static void put_function_call(const struct call_writer *w, const struct node *node)
{
    const char *form = target_form(node->target);
    if (node->form == FORM_INFIX && node->n_args >= 1 && node->n_args <= 2) {
        put_infix_call(w, node);
    } else if (node->form == FORM_GETITEM && node->n_args == 2) {
        put_subscript(w, node_arg(w, node, 0), node_arg(w, node, 1));
    } else if (str_is(node->target, "operator.getitem") && node->n_args == 2) {
        put_subscript(w, node_arg(w, node, 0), node_arg(w, node, 1));
    } else if (node->form == FORM_ATTRIBUTE && node->n_args == 2) {
        put_object(w, node_arg(w, node, 0));
        buf_putc(w->out, '.');
        if (program_has_attribute(node_arg(w, node, 1)->text))
            repro_put_name(w->r, w->out, node_arg(w, node, 1)->text);
        else
            check_getattr(w, node);
    } else if (form) {
        put_form(w, node, form);
    } else if (!put_range(w, node)) {
        put_plain(w, node);
    }
}

static void put_method(const struct call_writer *w, const struct node *node)
{
    if (!node->n_args) {
        repro_refuse(w->r, "calls a method of nothing");
        return;
    }
    put_object(w, node_arg(w, node, 0));
    buf_putc(w->out, '.');
    if (program_has_method(node->target))
        repro_put_name(w->r, w->out, node->target);
    else
        repro_refuse(w->r, "calls the method %.*s, which replay does not know",
                     STR_ARG(str_first(node->target, 60)));
    buf_putc(w->out, '(');
    put_call_args(w, node->first_arg + 1, node->n_args - 1);
    buf_putc(w->out, ')');
}

/* Returns whether an assignment's target is a variable, or an item of one. */
static bool is_variable(const struct call_writer *w, const struct arg *arg)
{
    return arg->kind == ARG_NODE && w->g->names[arg->u.node].n && !w->g->quiet[arg->u.node] &&
           !is_subgraph_function(w, arg);
}

/* Prints "a[b] = c" or "a += b". */
static void put_mutating_statement(const struct call_writer *w, const struct node *node)
{
    if (!node->n_args || !is_variable(w, node_arg(w, node, 0))) {
        repro_refuse(w->r, "assigns to something that is not a variable");
        return;
    }
    if (node->form == FORM_SETITEM && node->n_args == 3) {
        put_subscript(w, node_arg(w, node, 0), node_arg(w, node, 1));
        buf_puts(w->out, " = ");
        put_call_arg(w, node_arg(w, node, 2));
        return;
    }
    const struct graph_operator *op = graph_operator_by_target(node->target);
    if (!op || node->n_args != 2 || !str_eq(op->inplace, node->target)) {
        put_plain(w, node);
        return;
    }
    put_call_arg(w, node_arg(w, node, 0));
    buf_putc(w->out, ' ');
    buf_puts(w->out, op->sign.p);
    buf_puts(w->out, "= ");
    put_call_arg(w, node_arg(w, node, 1));
}

static bool is_unspelled(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                         uint32_t *symbol)
{
    return repro_bare_symbol(r, pool, expr, symbol) && !r->candidate->symbols[*symbol].backed &&
           !r->spelled[*symbol].n;
}

/* Names unbacked symbols after the calls that create them, so that guards can refer to them. */
static void learn_symbols(struct call_writer *w, const struct node *node, struct str name)
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
        repro_put_name(r, &text, name);
        buf_printf(&text, ".shape[%u]", (unsigned)d);
        r->spelled[symbol] = arena_copy(&r->arena, buf_str(&text));
        r->failed |= text.failed || !r->spelled[symbol].p;
        buf_release(&text);
    }
}

static void put_call_line(struct call_writer *w, node_id id)
{
    const struct node *node = &w->g->graph->nodes[id];
    struct buf line = BUF_INIT;
    struct call_writer to = { w->r, w->g, &line };
    if (node->form == FORM_SETITEM || node->form == FORM_INPLACE) {
        put_mutating_statement(&to, node);
    } else {
        if (w->g->used[id]) {
            repro_put_name(w->r, &line, w->g->names[id]);
            buf_puts(&line, " = ");
        }
        if (node->op == NODE_CALL_METHOD)
            put_method(&to, node);
        else
            put_function_call(&to, node);
    }
    w->r->failed |= line.failed;
    /* A string may contain a comma. */
    if (str_find_char(buf_str(&line), '"') == line.n) {
        repro_put_line(w->r, buf_str(&line), 4);
    } else {
        buf_puts(w->out, "    ");
        buf_put(w->out, buf_str(&line));
        buf_putc(w->out, '\n');
    }
    buf_release(&line);
}

/* Prints a variable that has no value; repro_cannot() has the reason. */
static void put_nothing(struct call_writer *w, node_id id)
{
    if (!w->g->used[id] || !w->g->names[id].n)
        return;
    buf_puts(w->out, "    ");
    repro_put_name(w->r, w->out, w->g->names[id]);
    buf_puts(w->out, " = None\n");
}

/* Prints the input of a number, whose symbol has a variable already. */
static void put_number_input(struct call_writer *w, node_id id)
{
    const struct node *node = &w->g->graph->nodes[id];
    const struct meta *meta = repro_meta(w->g->graph, node->meta);
    uint32_t symbol;
    if (!w->g->used[id] || (meta && meta->kind == META_TENSOR))
        return;
    if (!meta || meta->kind != META_SYM) {
        put_nothing(w, id);
        return;
    }
    if (repro_bare_symbol(w->r, &w->g->graph->pool->exprs, meta->sizes[0], &symbol)) {
        if (!w->r->spelled[symbol].n) {
            repro_cannot(w->r, "nothing computes the number %.*s", STR_ARG(node->name));
            put_nothing(w, id);
        }
        return;
    }
    struct buf text = BUF_INIT;
    if (!repro_put_expr(w->r, &w->g->graph->pool->exprs, meta->sizes[0], &text)) {
        repro_cannot(w->r, "nothing computes the number %.*s", STR_ARG(node->name));
        buf_clear(&text);
    }
    buf_puts(w->out, "    ");
    repro_put_name(w->r, w->out, w->g->names[id]);
    buf_puts(w->out, " = ");
    buf_put(w->out, text.n ? repro_bare(buf_str(&text)) : STR("None"));
    buf_putc(w->out, '\n');
    w->r->failed |= text.failed;
    buf_release(&text);
}

static void put_python_statement(struct call_writer *w, node_id id)
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
        repro_cannot(w->r, "it calls the module %.*s", STR_ARG(node->target));
        put_nothing(w, id);
        break;
    case NODE_GET_ATTR: /* those of f are inputs if they are tensors */
        if (graph_child(w->g->graph, node->target))
            break;
        if (w->g == &w->r->graphs.v[w->r->graphs.n - 1]) {
            const struct meta *meta = repro_meta(w->g->graph, node->meta);
            if (!meta || meta->kind != META_TENSOR)
                put_nothing(w, id);
        } else if (w->g->used[id]) {
            repro_cannot(w->r, "it reads the attribute %.*s of a subgraph", STR_ARG(node->target));
            put_nothing(w, id);
        }
        break;
    case NODE_OPAQUE:
        repro_cannot(w->r, "it has a statement that cannot be read: %.*s",
                     STR_ARG(str_first(node->target, 60)));
        break;
    case NODE_PLACEHOLDER:
    case NODE_ALIAS:
    case NODE_OUTPUT: break;
    }
}

static void put_return_statement(struct call_writer *w, const struct node *node)
{
    struct buf line = BUF_INIT;
    struct call_writer to = { w->r, w->g, &line };
    bool tuple = w->g->graph->returns_tuple || node->n_args > 1;
    buf_puts(&line, tuple ? "return (" : "return ");
    put_call_args(&to, node->first_arg, node->n_args);
    buf_puts(&line, !tuple ? "" : node->n_args == 1 ? ",)" : ")");
    w->r->failed |= line.failed;
    repro_put_line(w->r, buf_str(&line), 4);
    buf_release(&line);
}

static void put_function_signature(struct repro *r, const struct repro_graph *g, bool root)
{
    struct buf line = BUF_INIT;
    uint32_t n = 0;
    buf_puts(&line, "def ");
    repro_put_name(r, &line, g->function);
    buf_putc(&line, '(');
    for (size_t i = 0; root && i < r->inputs.n; i++) {
        buf_puts(&line, i ? ", " : "");
        repro_put_name(r, &line, r->inputs.v[i].name);
    }
    for (uint32_t i = 0; !root && i < g->graph->n_nodes; i++)
        if (g->graph->nodes[i].op == NODE_PLACEHOLDER) {
            buf_puts(&line, n++ ? ", " : "");
            repro_put_name(r, &line, g->names[i]);
        }
    buf_puts(&line, "):");
    r->failed |= line.failed;
    repro_put_line(r, buf_str(&line), 0);
    buf_release(&line);
}

/* Dynamo backs the item of an input (TensorVariable.method_item), but not that of a copy. */
static void put_copies_for_items(struct call_writer *w)
{
    const struct graph *graph = w->g->graph;
    const struct expr_pool *pool = &graph->pool->exprs;
    uint32_t symbol;
    for (uint32_t i = 0; i < graph->n_nodes && w->r->what->route == REPRO_COMPILE; i++) {
        const struct node *node = &graph->nodes[i];
        const struct meta *meta = repro_meta(graph, node->meta);
        const struct arg *of = node->n_args ? &graph->args[node->first_arg] : NULL;
        if (!repro_reads_item(node) || w->g->quiet[i] || of->kind != ARG_NODE ||
            graph->nodes[of->u.node].op != NODE_PLACEHOLDER || !meta || meta->kind != META_SYM ||
            !repro_bare_symbol(w->r, pool, meta->sizes[0], &symbol) ||
            w->r->candidate->symbols[symbol].backed)
            continue;
        buf_puts(w->out, "    ");
        repro_put_name(w->r, w->out, w->g->names[of->u.node]);
        buf_puts(w->out, " = ");
        repro_put_name(w->r, w->out, w->g->names[of->u.node]);
        buf_puts(w->out, ".clone()\n");
    }
}

static bool is_region(const struct repro *r, const struct repro_graph *g)
{
    for (size_t k = 0; k < r->graphs.n; k++)
        for (uint32_t i = 0; i < r->graphs.v[k].graph->n_nodes; i++) {
            const struct node *node = &r->graphs.v[k].graph->nodes[i];
            const struct arg *of =
                node->n_args ? &r->graphs.v[k].graph->args[node->first_arg] : NULL;
            if (of && of->kind == ARG_NODE &&
                str_eq(r->graphs.v[k].names[of->u.node], g->function) &&
                str_is(node->target, "torch.ops.higher_order.invoke_subgraph"))
                return true;
        }
    return false;
}

void repro_put_function(struct repro *r, const struct repro_graph *g, bool root)
{
    struct call_writer w = { r, g, r->out };
    bool returned = false;
    if (!root && is_region(r, g))
        buf_puts(r->out, "@torch.compiler.nested_compile_region\n");
    put_function_signature(r, g, root);
    if (root) {
        repro_put_sizes(r);
        for (uint32_t i = 0; i < g->graph->n_nodes; i++)
            if (g->graph->nodes[i].op == NODE_PLACEHOLDER)
                put_number_input(&w, i);
        put_copies_for_items(&w);
        repro_put_guards(r, 0);
    }
    for (uint32_t i = 0; i < g->graph->n_nodes; i++) {
        if (root && i)
            repro_put_guards(r, i);
        if (g->graph->nodes[i].op == NODE_OUTPUT) {
            if (root)
                repro_put_guards(r, g->graph->n_nodes);
            put_return_statement(&w, &g->graph->nodes[i]);
            returned = true;
        } else {
            put_python_statement(&w, i);
        }
    }
    if (!returned)
        buf_puts(r->out, "    return ()\n");
}
