/* Reads a graph's signature and its return statement, in all the layouts that torch/fx/graph.py
 * writes (gen_fn_def and generate_output of CodeGen and its subclasses). */
#include "trace/graph/graph_read.h"
#include "trace/graph/python_name.h"

/* Skips spaces, comments and line ends. It sets *comment (may be NULL) to the first comment that
 * it skips. */
static bool skip_to_token(struct graph_reader *in, struct str *comment)
{
    for (;;) {
        lex_skip_indent(in);
        if (in->p < in->eol && *in->p != '#')
            return true;
        if (in->p < in->eol && comment && comment->n == 0)
            *comment = str_trim(str_from(lex_rest(in), 1));
        if (!lex_next_line(in))
            return false;
    }
}

/* ---- def ---- */

/* Reads a: "f32[2]" = DEFAULT, and also "*args" and "**kwargs". */
static bool read_parameter(struct graph_reader *in)
{
    struct node node = { .op = NODE_PLACEHOLDER,
                         .meta = META_NONE,
                         .location = LOCATION_NONE,
                         .descriptor = STR(""),
                         .line = in->line };
    const char *from = in->p;
    size_t mark = build_mark(in->b);
    while (lex_char(in, '*'))
        continue;
    node.name = lex_name(in);
    node.target = (struct str){ from, (size_t)(in->p - from) };
    if (!python_is_name(node.name) || !read_annotation(in, true, &node.meta) ||
        (lex_take(in, STR(" = ")) && !read_item(in)))
        return false;
    build_node(in->b, node, mark);
    return true;
}

/* Skips "self", which is no input if it is the first parameter and has no annotation. */
static bool take_self(struct graph_reader *in)
{
    const char *from = in->p;
    if (str_is(lex_name(in), "self") && (*in->p == ',' || *in->p == ')' || in->p == in->eol))
        return true;
    in->p = from;
    return false;
}

/* Reads parameters up to the closing parenthesis, and skips that. */
static bool read_parameters(struct graph_reader *in)
{
    struct graph_builder *b = in->b;
    bool first = true;
    while (skip_to_token(in, NULL)) {
        if (lex_char(in, ')'))
            return true;
        struct str descriptor = STR("");
        size_t n = b->nodes.n;
        if (!(first && take_self(in)) && !read_parameter(in))
            return false;
        first = false;
        bool comma = lex_char(in, ',');
        if (!skip_to_token(in, &descriptor) || (!comma && *in->p != ')'))
            return false;
        if (b->nodes.n > n)
            b->nodes.v[n].descriptor = descriptor;
    }
    return false;
}

bool read_def(struct graph_reader *in)
{
    if (!lex_take(in, STR("def ")) || lex_name(in).n == 0 || !lex_char(in, '(') ||
        !read_parameters(in))
        return false;
    if (lex_take(in, STR(" -> ")))
        in->p = in->eol - (in->eol[-1] == ':');
    return lex_char(in, ':') && lex_at_end(in);
}

/* ---- return ---- */

/* Reads one output a line, with its descriptor, up to and including the line with the closing
 * bracket. */
static bool read_expanded_outputs(struct graph_reader *in)
{
    bool described = false;
    while (lex_next_line(in)) {
        lex_skip_indent(in);
        if (lex_char(in, ')') || lex_char(in, ']')) {
            in->b->descriptors.n = described ? in->b->descriptors.n : 0;
            return true;
        }
        if (in->p == in->eol)
            continue;
        if (!read_item(in) || !lex_char(in, ','))
            return false;
        lex_skip_indent(in);
        bool comment = lex_char(in, '#');
        described = described || comment;
        build_output_descriptor(in->b, comment ? str_trim(lex_rest(in)) : STR(""));
    }
    return false;
}

/* Reads (a, b), [a, b] or a; the first two may extend over several lines. */
static bool read_outputs(struct graph_reader *in, bool *tuple)
{
    struct graph_builder *b = in->b;
    lex_skip_indent(in);
    const char *from = in->p;
    size_t mark = build_mark(b), n_args = b->args.n;
    bool round = lex_char(in, '('), square = !round && lex_char(in, '['), comma;
    *tuple = true;
    if ((round || square) && in->p == in->eol)
        return read_expanded_outputs(in);
    if ((round || square) && read_items(in, round ? ')' : ']', &comma)) {
        *tuple = square || comma || b->stack.n != mark + 1;
        return true;
    }
    in->p = from;
    b->stack.n = mark;
    b->args.n = n_args;
    *tuple = false;
    struct str text;
    if (read_arg_value(in) && (lex_at_end(in) || *in->p == ','))
        return true;
    in->p = from;
    b->stack.n = mark;
    b->args.n = n_args;
    if (!lex_opaque(in, &text))
        return false;
    build_push(b, (struct arg){ .kind = ARG_OPAQUE, .text = text });
    return true;
}

/* Reads self._out_shuffle_graph(inputs..., outputs...) of an exported program. */
static bool read_shuffled_outputs(struct graph_reader *in)
{
    struct graph_builder *b = in->b;
    size_t mark = build_mark(b);
    if (!read_items(in, ')', NULL))
        return false;
    size_t n = b->stack.n - mark, skip = in->n_leaves < n ? in->n_leaves : n;
    if (skip)
        memmove(b->stack.v + mark, b->stack.v + mark + skip, (n - skip) * sizeof *b->stack.v);
    b->stack.n -= skip;
    return true;
}

/* Reads the value of a return statement, after "return ". */
static bool read_returned(struct graph_reader *in, bool *tuple)
{
    bool unflatten = lex_take(in, STR("pytree.tree_unflatten("));
    bool shuffled = unflatten && lex_take(in, STR("self._out_shuffle_graph("));
    *tuple = true;
    return (shuffled ? read_shuffled_outputs(in) : read_outputs(in, tuple)) &&
           (!unflatten || lex_take(in, STR(", self._out_spec)"))) && lex_at_end(in);
}

bool read_return(struct graph_reader *in)
{
    struct node node = { .op = NODE_OUTPUT,
                         .name = STR("output"),
                         .target = STR("output"),
                         .descriptor = STR(""),
                         .meta = META_NONE,
                         .location = LOCATION_NONE,
                         .line = in->line };
    size_t mark = build_mark(in->b);
    bool tuple;
    if (in->returned || !lex_take(in, STR("return ")))
        return false;
    if (!read_returned(in, &tuple)) {
        in->b->descriptors.n = 0;
        return false;
    }
    in->b->graph->returns_tuple = tuple;
    in->returned = true;
    build_node(in->b, node, mark);
    return true;
}
