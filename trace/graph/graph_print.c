/* Prints the text in one layout: that of print_readable() with strides and devices. Signatures
 * and returns are expanded where there are descriptors; inputs and outputs that the text packed
 * into a pytree or a list are printed one by one. */
#include "trace/base/buf.h"
#include "trace/base/text/python_string.h"
#include "trace/graph/graph.h"
#include "trace/graph/graph_operator.h"

enum { INDENT = 4 };

struct graph_printer {
    const struct graph *graph;
    struct buf *out;
    unsigned indent; /* of the class */
};

static bool is_identifier_byte(char c)
{
    return is_word_char(c) || c < 0;
}

static bool is_python_identifier(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_identifier_byte(text.p[i]))
            return false;
    return text.n && !is_digit(text.p[0]);
}

static void put_indent(const struct graph_printer *p, unsigned more)
{
    for (unsigned i = 0; i < p->indent + more; i++)
        buf_putc(p->out, ' ');
}

static struct str printed_name(const struct graph_printer *p, node_id node)
{
    return p->graph->nodes[node].name;
}

/* ---- values ---- */

static void print_device(struct buf *out, struct str device)
{
    size_t colon = str_find_char(device, ':');
    buf_puts(out, "device(type=");
    python_put_repr(out, str_first(device, colon));
    if (colon < device.n) {
        buf_puts(out, ", index=");
        buf_put(out, str_from(device, colon + 1));
    }
    buf_putc(out, ')');
}

static void print_arg(const struct graph_printer *p, const struct arg *arg);

static void print_keyed(const struct graph_printer *p, const struct arg *arg, const char *equals)
{
    if (arg->key.n) {
        buf_put(p->out, arg->key);
        buf_puts(p->out, equals);
    }
    print_arg(p, arg);
}

static void print_args(const struct graph_printer *p, uint32_t first, uint32_t n,
                       const char *equals)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(p->out, i ? ", " : "");
        print_keyed(p, &p->graph->args[first + i], equals);
    }
}

static void print_arg_items(const struct graph_printer *p, const struct arg *arg,
                            const char *before, const char *after)
{
    buf_puts(p->out, before);
    print_args(p, arg->u.items.first, arg->u.items.n, "=");
    buf_puts(p->out, after);
}

static void print_dict(const struct graph_printer *p, const struct arg *arg)
{
    buf_putc(p->out, '{');
    for (uint32_t i = 0; i < arg->u.items.n; i++) {
        buf_puts(p->out, i == 0 ? "" : i % 2 ? ": " : ", ");
        print_arg(p, &p->graph->args[arg->u.items.first + i]);
    }
    buf_putc(p->out, '}');
}

static void print_arg(const struct graph_printer *p, const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_NONE: buf_puts(p->out, "None"); break;
    case ARG_NODE: buf_put(p->out, printed_name(p, arg->u.node)); break;
    case ARG_BOOL: buf_puts(p->out, arg->u.integer ? "True" : "False"); break;
    case ARG_STRING: python_put_repr(p->out, arg->text); break;
    case ARG_DEVICE: print_device(p->out, arg->text); break;
    case ARG_LIST: print_arg_items(p, arg, "[", "]"); break;
    case ARG_TUPLE: print_arg_items(p, arg, "(", arg->u.items.n == 1 ? ",)" : ")"); break;
    case ARG_DICT: print_dict(p, arg); break;
    case ARG_SLICE: print_arg_items(p, arg, "slice(", ")"); break;
    case ARG_ELLIPSIS: buf_puts(p->out, "Ellipsis"); break;
    case ARG_CALL:
        buf_put(p->out, arg->text);
        print_arg_items(p, arg, "(", ")");
        break;
    case ARG_INT:
    case ARG_FLOAT:
    case ARG_COMPLEX:
    case ARG_DTYPE:
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT:
    case ARG_TARGET:
    case ARG_GRAPH:
    case ARG_OPAQUE: buf_put(p->out, arg->text); break;
    }
}

void graph_print_args(const struct graph *graph, const struct node *node, struct buf *out)
{
    const struct graph_printer p = { .graph = graph, .out = out };
    print_args(&p, node->first_arg, node->n_args, " = ");
}

/* ---- nodes ---- */

/* Returns whether a text is a Python type: int, typing.List[torch.Tensor]. */
static bool is_python_type(struct str text)
{
    size_t brackets = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ']' && brackets == 0)
            return false;
        brackets += (c == '[') - (c == ']');
        bool comma = c == ',' && brackets > 0;
        if (!comma && c != '[' && c != ']' && c != '.' && c != '|' && !is_identifier_byte(c))
            return false;
    }
    return brackets == 0;
}

static void print_annotation(const struct graph_printer *p, uint32_t index)
{
    if (index == META_NONE)
        return;
    const struct meta *meta = &p->graph->pool->metas[index];
    bool type = meta->kind == META_OTHER &&
                (is_python_type(meta->text) || str_find_char(meta->text, '"') < meta->text.n);
    buf_puts(p->out, type ? " : " : ": \"");
    buf_put(p->out, meta->text);
    buf_puts(p->out, type ? "" : "\"");
}

static struct str next_path_part(struct str *path)
{
    size_t dot = str_find_char(*path, '.');
    struct str part = str_first(*path, dot);
    *path = str_from(*path, dot + 1);
    return part;
}

/* Prints the path "layers.0.weight" below self as getattr(self.layers, "0").weight. */
static void print_attribute_path(struct buf *out, struct str path)
{
    for (struct str rest = path; rest.n;)
        buf_puts(out, is_python_identifier(next_path_part(&rest)) ? "" : "getattr(");
    buf_puts(out, "self");
    while (path.n) {
        struct str part = next_path_part(&path);
        if (is_python_identifier(part)) {
            buf_putc(out, '.');
            buf_put(out, part);
        } else {
            buf_puts(out, ", ");
            python_put_quoted(out, part, '"');
            buf_putc(out, ')');
        }
    }
}

static void print_node_call(const struct graph_printer *p, const struct node *node, uint32_t skip)
{
    buf_putc(p->out, '(');
    print_args(p, node->first_arg + skip, node->n_args - skip, " = ");
    buf_putc(p->out, ')');
}

static const struct arg *printed_arg(const struct graph_printer *p, const struct node *node,
                                     uint32_t i)
{
    return &p->graph->args[node->first_arg + i];
}

static void print_operator(const struct graph_printer *p, const struct node *node)
{
    const struct graph_operator *op = graph_operator_by_target(node->target);
    if (node->n_args == 2) {
        print_arg(p, printed_arg(p, node, 0));
        buf_putc(p->out, ' ');
    }
    buf_put(p->out, op ? op->sign : STR("?"));
    buf_puts(p->out, node->n_args == 2 ? " " : "");
    print_arg(p, printed_arg(p, node, node->n_args - 1));
}

static void put_getitem(const struct graph_printer *p, const struct node *node)
{
    print_arg(p, printed_arg(p, node, 0));
    buf_putc(p->out, '[');
    print_arg(p, printed_arg(p, node, 1));
    buf_putc(p->out, ']');
}

static void print_function(const struct graph_printer *p, const struct node *node)
{
    switch (node->form) {
    case FORM_INFIX: print_operator(p, node); break;
    case FORM_GETITEM: put_getitem(p, node); break;
    case FORM_ATTRIBUTE:
        print_arg(p, printed_arg(p, node, 0));
        buf_putc(p->out, '.');
        buf_put(p->out, printed_arg(p, node, 1)->text);
        break;
    case FORM_PLAIN:
    case FORM_SETITEM:
    case FORM_INPLACE:
        buf_put(p->out, node->target);
        print_node_call(p, node, 0);
        break;
    }
}

static void put_rhs(const struct graph_printer *p, const struct node *node)
{
    switch (node->op) {
    case NODE_CALL_FUNCTION: print_function(p, node); break;
    case NODE_CALL_METHOD:
        print_arg(p, printed_arg(p, node, 0));
        buf_putc(p->out, '.');
        buf_put(p->out, node->target);
        print_node_call(p, node, 1);
        break;
    case NODE_CALL_MODULE:
        print_attribute_path(p->out, node->target);
        print_node_call(p, node, 0);
        break;
    case NODE_GET_ATTR: print_attribute_path(p->out, node->target); break;
    case NODE_ALIAS: print_arg(p, printed_arg(p, node, 0)); break;
    case NODE_PLACEHOLDER:
    case NODE_OUTPUT:
    case NODE_OPAQUE: break;
    }
}

/* Prints a[b] = c; name = a and a += b; name = a. */
static void print_mutation(const struct graph_printer *p, const struct node *node)
{
    if (node->form == FORM_SETITEM) {
        put_getitem(p, node);
        buf_puts(p->out, " = ");
        print_arg(p, printed_arg(p, node, 2));
    } else {
        const struct graph_operator *op = graph_operator_by_target(node->target);
        print_arg(p, printed_arg(p, node, 0));
        buf_putc(p->out, ' ');
        buf_put(p->out, op ? op->sign : STR("?"));
        buf_puts(p->out, "= ");
        print_arg(p, printed_arg(p, node, 1));
    }
    buf_puts(p->out, ";  ");
    buf_put(p->out, node->name);
    print_annotation(p, node->meta);
    buf_puts(p->out, " = ");
    print_arg(p, printed_arg(p, node, 0));
}

static void put_deletions(const struct graph_printer *p, const struct node *node)
{
    if (node->n_deleted == 0)
        return;
    buf_puts(p->out, ";  ");
    for (uint32_t i = 0; i < node->n_deleted; i++) {
        buf_put(p->out, printed_name(p, p->graph->deleted[node->first_deleted + i]));
        buf_puts(p->out, " = ");
    }
    buf_puts(p->out, "None");
}

static void print_statement(const struct graph_printer *p, const struct node *node)
{
    put_indent(p, 2 * INDENT);
    if (node->op == NODE_OPAQUE) {
        buf_put(p->out, node->target);
    } else if (node->form == FORM_SETITEM || node->form == FORM_INPLACE) {
        print_mutation(p, node);
    } else {
        buf_put(p->out, node->name);
        print_annotation(p, node->meta);
        buf_puts(p->out, " = ");
        put_rhs(p, node);
    }
    if (node->op != NODE_OPAQUE)
        put_deletions(p, node);
    buf_putc(p->out, '\n');
}

static void put_location(const struct graph_printer *p, uint32_t index, bool first)
{
    buf_puts(p->out, first ? "" : "\n");
    put_indent(p, 2 * INDENT);
    buf_puts(p->out, "# ");
    const struct location *at = index == LOCATION_NONE ? NULL : &p->graph->locations[index];
    if (at && at->annotation.n) {
        buf_put(p->out, at->annotation);
        buf_putc(p->out, ' ');
    }
    if (!at || !location_has_place(at)) {
        buf_puts(p->out, "No stacktrace found for following nodes\n");
        return;
    }
    buf_puts(p->out, "File: ");
    buf_put(p->out, at->file);
    buf_printf(p->out, ":%u in ", (unsigned)at->line);
    buf_put(p->out, at->function);
    buf_puts(p->out, ", code: ");
    buf_put(p->out, at->code);
    buf_putc(p->out, '\n');
}

/* ---- graphs ---- */

static void put_parameter(const struct graph_printer *p, const struct node *node)
{
    buf_put(p->out, node->target);
    print_annotation(p, node->meta);
    if (node->n_args) {
        buf_puts(p->out, " = ");
        print_arg(p, printed_arg(p, node, 0));
    }
}

static bool has_descriptors(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].descriptor.n)
            return true;
    return false;
}

static void put_descriptor(struct buf *out, struct str descriptor)
{
    if (descriptor.n) {
        buf_puts(out, "  # ");
        buf_put(out, descriptor);
    }
    buf_putc(out, '\n');
}

static void print_signature(const struct graph_printer *p)
{
    bool expanded = has_descriptors(p->graph);
    put_indent(p, INDENT);
    buf_puts(p->out, "def forward(");
    if (expanded) {
        buf_putc(p->out, '\n');
        put_indent(p, 2 * INDENT);
    }
    buf_puts(p->out, expanded ? "self,\n" : "self");
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
        const struct node *node = &p->graph->nodes[i];
        if (node->op != NODE_PLACEHOLDER)
            continue;
        if (expanded)
            put_indent(p, 2 * INDENT);
        buf_puts(p->out, expanded ? "" : ", ");
        put_parameter(p, node);
        if (expanded) {
            buf_putc(p->out, ',');
            put_descriptor(p->out, node->descriptor);
        }
    }
    if (expanded)
        put_indent(p, INDENT);
    buf_puts(p->out, "):\n");
}

static void print_return(const struct graph_printer *p, const struct node *node)
{
    const struct str *descriptors = p->graph->output_descriptors;
    put_indent(p, 2 * INDENT);
    buf_puts(p->out, p->graph->returns_tuple ? "return (" : "return ");
    if (descriptors && p->graph->returns_tuple) {
        buf_putc(p->out, '\n');
        for (uint32_t i = 0; i < node->n_args; i++) {
            put_indent(p, 3 * INDENT);
            print_arg(p, printed_arg(p, node, i));
            buf_putc(p->out, ',');
            put_descriptor(p->out, descriptors[i]);
        }
        put_indent(p, 2 * INDENT);
    } else {
        print_args(p, node->first_arg, node->n_args, "=");
        buf_puts(p->out, p->graph->returns_tuple && node->n_args == 1 ? "," : "");
    }
    buf_puts(p->out, p->graph->returns_tuple ? ")\n" : "\n");
}

static void print_body(const struct graph_printer *p)
{
    uint32_t location = LOCATION_NONE;
    bool first = true;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
        const struct node *node = &p->graph->nodes[i];
        if (node->op == NODE_PLACEHOLDER)
            continue;
        if (node->op == NODE_OUTPUT) {
            print_return(p, node);
        } else {
            if (node->op != NODE_ALIAS && node->location != location) {
                put_location(p, node->location, first);
                location = node->location;
            }
            print_statement(p, node);
        }
        first = false;
    }
}

static void print_graph(const struct graph *graph, unsigned indent, struct buf *out)
{
    struct graph_printer p = { graph, out, indent };
    put_indent(&p, 0);
    buf_puts(out, "class ");
    buf_put(out, graph->name);
    buf_puts(out, "(torch.nn.Module):\n");
    print_signature(&p);
    print_body(&p);
    for (uint32_t i = 0; i < graph->n_children; i++) {
        buf_putc(out, '\n');
        print_graph(graph->children[i], indent + INDENT, out);
    }
}

void graph_print(const struct graph *graph, struct buf *out)
{
    print_graph(graph, 0, out);
}
