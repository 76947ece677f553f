/* Reads statements of a function's body (emit_node and delete_unused_values of
 * CodeGen._gen_python_code in torch/fx/graph.py). */
#include "trace/base/buf.h"
#include "trace/graph/graph_operator.h"
#include "trace/graph/graph_read.h"
#include "trace/graph/python_name.h"

static struct str rhs_text_since(const struct graph_reader *in, const char *from)
{
    return (struct str){ from, (size_t)(in->p - from) };
}

/* ---- annotations ---- */

/* Reads a Python type, up to " = " or to the end of a parameter. */
static struct str read_type(struct graph_reader *in, bool parameter)
{
    const char *from = in->p;
    size_t brackets = 0;
    for (; in->p < in->eol; in->p++) {
        char c = *in->p;
        if (brackets == 0 &&
            (str_starts(lex_rest(in), STR(" = ")) || (parameter && (c == ',' || c == ')'))))
            break;
        brackets += c == '(' || c == '[';
        brackets -= brackets && (c == ')' || c == ']');
    }
    return str_trim(rhs_text_since(in, from));
}

static bool at_quoted_annotation(const struct graph_reader *in)
{
    return in->p[0] == ':' && in->p[1] == ' ' && in->p[2] == '"';
}

bool read_annotation(struct graph_reader *in, bool parameter, uint32_t *ret)
{
    if (at_quoted_annotation(in)) {
        const char *from = in->p + 3;
        const char *quote = memchr(from, '"', (size_t)(in->eol - from));
        if (!quote)
            return false;
        *ret = build_meta(in->b, (struct str){ from, (size_t)(quote - from) });
        in->p = quote + 1;
        return true;
    }
    const char *from = in->p;
    if (lex_take(in, STR(" : ")) || lex_take(in, STR(": "))) {
        struct str type = read_type(in, parameter);
        if (type.n == 0)
            return false;
        *ret = build_meta(in->b, type);
        return true;
    }
    in->p = from;
    return true;
}

/* ---- right-hand sides ---- */

/* Returns whether a right-hand side may end here. */
static bool at_rhs_end(const struct graph_reader *in)
{
    return *in->p == ';' || in->p == in->eol || (in->p[0] == ' ' && in->p[1] == ' ');
}

static bool read_prefix_operator(struct graph_reader *in, struct node *node)
{
    const struct graph_operator *op = graph_operator_by_sign(str_first(lex_rest(in), 1));
    if (!op || op->prefix.n == 0)
        return false;
    in->p++;
    node->op = NODE_CALL_FUNCTION;
    node->form = FORM_INFIX;
    node->target = op->prefix;
    return read_arg_value(in) && at_rhs_end(in);
}

/* Reads the operator, from the space before it, and the right operand. */
static bool read_infix(struct graph_reader *in, struct node *node)
{
    struct str rest = str_from(lex_rest(in), 1);
    struct str sign = str_first(rest, str_find_char(str_first(rest, 3), ' '));
    const struct graph_operator *op = graph_operator_by_sign(sign);
    if (!op || op->infix.n == 0 || in->p[sign.n + 1] != ' ')
        return false;
    in->p += sign.n + 2;
    node->op = NODE_CALL_FUNCTION;
    node->form = FORM_INFIX;
    node->target = op->infix;
    return read_arg_value(in) && at_rhs_end(in);
}

/* Reads a subscript from the opening through the closing bracket. */
static bool read_subscript(struct graph_reader *in)
{
    in->p++;
    return read_item(in) && lex_char(in, ']');
}

/* Reads a value and an operation on it: a + b, a[b], or another name for it. */
static bool read_operation(struct graph_reader *in, struct node *node)
{
    size_t mark = build_mark(in->b);
    if (!read_arg_value(in) || in->b->failed)
        return false;
    if (*in->p == '[') {
        node->op = NODE_CALL_FUNCTION;
        node->form = FORM_GETITEM;
        node->target = STR("operator.getitem");
        return read_subscript(in) && at_rhs_end(in);
    }
    if (at_rhs_end(in)) {
        node->op = NODE_ALIAS;
        return in->b->stack.v[mark].kind == ARG_NODE;
    }
    return *in->p == ' ' && read_infix(in, node);
}

static bool finish_call(struct graph_reader *in, struct node *node, enum node_op op,
                        struct str target)
{
    node->op = op;
    node->target = target;
    return read_call_arguments(in) && at_rhs_end(in);
}

/* Reads x.sum(), x.shape, self.conv1(x), self.weight, torch.ops.aten.mm.default(x, y) after
 * `head`, at the dot. */
static bool read_dotted(struct graph_reader *in, struct str head, struct node *node)
{
    const char *tail = in->p + 1;
    while (*in->p == '.') {
        in->p++;
        if (lex_name(in).n == 0)
            return false;
    }
    struct str path = rhs_text_since(in, tail);
    bool call = lex_char(in, '(');
    if (str_is(head, "self")) {
        if (call)
            return finish_call(in, node, NODE_CALL_MODULE, path);
        node->op = NODE_GET_ATTR;
        node->target = path;
        return at_rhs_end(in);
    }
    node_id base = str_is(head, "torch") ? NODE_NONE : build_find(in->b, head);
    if (base == NODE_NONE)
        return call && finish_call(in, node, NODE_CALL_FUNCTION,
                                   (struct str){ head.p, (size_t)(path.p + path.n - head.p) });
    build_push(in->b, (struct arg){ .kind = ARG_NODE, .u.node = base });
    if (call)
        return finish_call(in, node, NODE_CALL_METHOD, path);
    build_push(in->b, (struct arg){ .kind = ARG_STRING, .text = path });
    node->op = NODE_CALL_FUNCTION;
    node->form = FORM_ATTRIBUTE;
    node->target = STR("getattr");
    return at_rhs_end(in);
}

static bool put_path_part(struct buf *path, struct str part)
{
    if (part.n == 0 || memchr(part.p, '.', part.n))
        return false;
    buf_puts(path, path->n ? "." : "");
    buf_put(path, part);
    return true;
}

/* Reads getattr(self.layers, "0").weight, a path with parts that are no identifiers
 * (_format_target), from "getattr(" on; the path's parts are appended to `path`. */
static bool read_getattr_path(struct graph_reader *in, struct buf *path, unsigned depth)
{
    if (lex_take(in, STR("getattr("))) {
        struct str part;
        if (depth == GRAPH_MAX_DEPTH || !read_getattr_path(in, path, depth + 1) ||
            !lex_take(in, STR(", ")) || *in->p != '"' || !lex_string(in, &part) ||
            !lex_char(in, ')') || !put_path_part(path, part))
            return false;
    } else if (!str_is(lex_name(in), "self")) {
        return false;
    }
    while (lex_char(in, '.'))
        if (!put_path_part(path, lex_name(in)))
            return false;
    return true;
}

static bool read_getattr(struct graph_reader *in, struct node *node)
{
    struct buf path = BUF_INIT;
    bool good = read_getattr_path(in, &path, 0);
    if (good && !path.failed)
        node->target = build_keep(in->b, buf_str(&path));
    in->b->failed = in->b->failed || path.failed;
    buf_release(&path);
    if (!good)
        return false;
    if (lex_char(in, '('))
        return finish_call(in, node, NODE_CALL_MODULE, node->target);
    node->op = NODE_GET_ATTR;
    return at_rhs_end(in);
}

/* Moves back to `from` and drops the arguments that were read since. */
static void rewind_to(struct graph_reader *in, const char *from, size_t mark, size_t n_args)
{
    in->p = from;
    in->b->stack.n = mark;
    in->b->args.n = n_args;
}

/* Reads a right-hand side: sets the node's operation and pushes its arguments. */
static bool read_rhs(struct graph_reader *in, struct node *node)
{
    const char *from = in->p;
    size_t mark = build_mark(in->b), n_args = in->b->args.n;
    struct str head = lex_name(in);
    bool dotted = head.n && *in->p == '.', call = head.n && *in->p == '(';
    if (dotted && read_dotted(in, head, node))
        return true;
    if (call && str_is(head, "getattr")) {
        in->p = from;
        if (read_getattr(in, node))
            return true;
        rewind_to(in, head.p + head.n, mark, n_args);
    }
    if (call && lex_char(in, '(') && finish_call(in, node, NODE_CALL_FUNCTION, head))
        return true;
    rewind_to(in, from, mark, n_args);
    node->form = FORM_PLAIN;
    node->target = STR("");
    if (read_operation(in, node))
        return true;
    rewind_to(in, from, mark, n_args);
    return read_prefix_operator(in, node);
}

/* ---- what follows a node ---- */

/* Reads an optional ";  a = b = None", and the end of the line. */
static bool read_deletions(struct graph_reader *in)
{
    if (*in->p == ';') {
        in->p++;
        lex_skip_indent(in);
        for (;;) {
            struct str name = lex_name(in);
            if (name.n == 0)
                return false;
            if (str_is(name, "None"))
                break;
            if (!lex_take(in, STR(" = ")))
                return false;
            node_id node = build_find(in->b, name);
            if (node != NODE_NONE)
                build_delete(in->b, node);
        }
    }
    return lex_at_end(in);
}

static bool add_statement_node(struct graph_reader *in, struct node node, size_t mark)
{
    if (!python_is_name(node.name))
        return false;
    in->prologue = in->prologue && node.op == NODE_PLACEHOLDER;
    build_node(in->b, node, mark);
    return read_deletions(in);
}

/* ---- inputs that are bound in the body ---- */

static bool add_body_input(struct graph_reader *in, struct node input, struct str name)
{
    if (!python_is_name(name))
        return false;
    input.op = NODE_PLACEHOLDER;
    input.name = input.target = name;
    input.location = LOCATION_NONE;
    build_node(in->b, input, build_mark(in->b));
    return true;
}

/* Reads args_iter = iter(args_list) and x = next(args_iter), of graphs that take their inputs as
 * one list (_BoxedCodeGen), after " = ". */
static bool read_boxed(struct graph_reader *in, struct node node)
{
    struct graph_builder *b = in->b;
    const char *from = in->p;
    bool iter = lex_take(in, STR("iter(")), taken = iter || lex_take(in, STR("next("));
    lex_skip_indent(in);
    struct str what = taken ? lex_name(in) : STR("");
    lex_skip_indent(in);
    if (lex_char(in, ','))
        lex_skip_indent(in);
    bool good = what.n && lex_char(in, ')') && lex_at_end(in);
    if (good && iter && b->nodes.n == 1 && str_eq(b->nodes.v[0].name, what)) {
        in->boxed = node.name;
        build_drop_first(b, 1);
        return true;
    }
    if (good && !iter && in->boxed.n && str_eq(what, in->boxed))
        return add_body_input(in, node, node.name);
    in->p = from;
    return false;
}

/* Returns whether a name is followed by a comma. An input that has a descriptor and no annotation
 * is printed with the two spaces before its comment (gen_var_bindings of _PyTreeCodeGen in
 * torch/fx/graph.py). */
static bool at_unpacked_comma(const struct graph_reader *in)
{
    struct str rest = str_trim(lex_rest(in));
    return rest.n && rest.p[0] == ',';
}

/* Reads the inputs that are unpacked from a pytree (_PyTreeCodeGen, _ExportCodeGen), "a, b  , =
 * ...", after the first name. The function's parameters were containers; the inputs' annotations
 * may stand on earlier lines of their own. */
static bool read_unpacking(struct graph_reader *in, struct node node)
{
    static const char *const sources[] = { "fx_pytree.tree_flatten_spec(", "pytree.tree_leaves(",
                                           "self._in_shuffle_graph(" };
    struct str rest = lex_rest(in), source = str_from(rest, str_find(rest, STR(" = ")) + 3);
    uint32_t n_before = (uint32_t)in->b->nodes.n, n = 0;
    bool known = false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        known = known || str_starts(source, str_of(sources[i]));
    for (struct str name = node.name; known && name.n && !in->b->failed; name = lex_name(in), n++) {
        node_id old = build_find(in->b, name);
        known = add_body_input(in, old == NODE_NONE ? node : in->b->nodes.v[old], name);
        lex_skip_indent(in);
        if (lex_char(in, ','))
            lex_skip_indent(in);
    }
    if (known)
        build_drop_first(in->b, n_before);
    if (str_starts(source, STR("pytree.tree_leaves(")))
        in->n_leaves = n;
    return known;
}

/* Reads 'x: "f32[2]"', 'x: "f32[2]"; y: "f32[2]"; ' and 'x: "f32[2]" # PlainAOTInput(idx=0)',
 * after the first annotation. */
static bool read_annotated_inputs(struct graph_reader *in, struct node input)
{
    for (;;) {
        if (!add_body_input(in, input, input.name))
            return false;
        if (lex_char(in, ';'))
            lex_skip_indent(in);
        if (lex_at_end(in))
            break;
        input.name = lex_name(in);
        if (input.name.n == 0 || !at_quoted_annotation(in) ||
            !read_annotation(in, false, &input.meta))
            return false;
    }
    if (*in->p == '#' && !in->b->failed)
        in->b->nodes.v[in->b->nodes.n - 1].descriptor = str_trim(str_from(lex_rest(in), 1));
    return true;
}

/* ---- statements ---- */

/* Reads a[b] = c; setitem = a; ... from the bracket on. */
static bool read_setitem(struct graph_reader *in, struct str base, struct node *node)
{
    node_id id = build_find(in->b, base);
    if (id == NODE_NONE)
        return false;
    build_push(in->b, (struct arg){ .kind = ARG_NODE, .u.node = id });
    node->form = FORM_SETITEM;
    node->target = STR("operator.setitem");
    return read_subscript(in) && lex_take(in, STR(" = ")) && read_arg_value(in);
}

/* Reads a += b; c = a; ... after `a`. */
static bool read_augmented(struct graph_reader *in, struct str base, struct node *node)
{
    struct str rest = str_from(lex_rest(in), 1);
    struct str sign = str_first(rest, str_find_char(str_first(rest, 4), '='));
    const struct graph_operator *op = graph_operator_by_sign(sign);
    node_id id = build_find(in->b, base);
    if (*in->p != ' ' || !op || op->inplace.n == 0 || id == NODE_NONE || sign.n == rest.n)
        return false;
    in->p += 1 + sign.n;
    if (!lex_take(in, STR("= ")))
        return false;
    build_push(in->b, (struct arg){ .kind = ARG_NODE, .u.node = id });
    node->form = FORM_INPLACE;
    node->target = op->inplace;
    return read_arg_value(in);
}

/* Reads a statement that changes `base` and then gives it a new name. */
static bool read_mutation(struct graph_reader *in, struct str base, struct node node)
{
    size_t mark = build_mark(in->b);
    node.op = NODE_CALL_FUNCTION;
    bool good = *in->p == '[' ? read_setitem(in, base, &node) : read_augmented(in, base, &node);
    if (!good || !lex_char(in, ';'))
        return false;
    lex_skip_indent(in);
    node.name = lex_name(in);
    if (node.name.n == 0 || !read_annotation(in, false, &node.meta) || !lex_take(in, STR(" = ")) ||
        !str_eq(lex_name(in), base))
        return false;
    return add_statement_node(in, node, mark);
}

/* Reads a statement that makes no node: pass, wrap("fn"), args_list.clear(). */
static bool read_bare(struct graph_reader *in, struct str name)
{
    if (str_is(name, "pass"))
        return lex_at_end(in);
    if (!in->prologue || in->b->nodes.n || in->boxed.n)
        return in->boxed.n && lex_take(in, STR(".clear()")) && lex_at_end(in);
    return lex_char(in, '(') && read_call_arguments(in) && lex_at_end(in);
}

bool read_statement(struct graph_reader *in)
{
    size_t mark = build_mark(in->b);
    struct node node = { .meta = META_NONE,
                         .location = in->location,
                         .descriptor = STR(""),
                         .target = STR(""),
                         .line = in->line };
    node.name = lex_name(in);
    if (node.name.n == 0 || in->returned)
        return false;
    if (in->prologue && at_unpacked_comma(in))
        return read_unpacking(in, node);
    if (*in->p == '(' || *in->p == '.' || in->p == in->eol)
        return read_bare(in, node.name);
    bool quoted = at_quoted_annotation(in);
    if (!read_annotation(in, false, &node.meta))
        return false;
    if (!lex_take(in, STR(" = "))) {
        if (quoted)
            return in->prologue && read_annotated_inputs(in, node);
        return read_mutation(in, node.name, node);
    }
    if (in->prologue && read_boxed(in, node))
        return true;
    if (!read_rhs(in, &node))
        return false;
    if (node.op == NODE_ALIAS)
        node.location = LOCATION_NONE;
    return add_statement_node(in, node, mark);
}
