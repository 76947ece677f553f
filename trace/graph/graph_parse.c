/* Reads the lines of print_readable() (torch/fx/graph_module.py, _print_readable): classes by
 * their indentation, and in each a def, statements and comments. */
#include "trace/graph/graph_read.h"
#include "trace/graph/python_name.h"

/* Far more than PyTorch compiles; a text of a gigabyte may have more, but memory does not
 * suffice for them. */
enum { MAX_NODES = 1 << 24, MAX_ARGS = 1 << 26 };

struct open_class {
    struct graph_builder b;
    size_t indent;
};

struct graph_parser {
    struct graph_reader in;
    struct tree_builder tree;
    vec_of(struct open_class)
    open;               /* the innermost last */
    struct graph *root; /* set once it is closed */
    struct err *err;
};

/* Returns whether a text is a class name: "GraphModule", "<lambda>",
 * "demo.Model.<locals>.inner". */
static bool is_class_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!(is_word_char(c) || c == '<' || c == '>' || c == '.' || c < 0))
            return false;
    }
    return name.n > 0;
}

static bool is_class_line(struct str line, struct str *name)
{
    static const char *const base = "(torch.nn.Module):";
    line = str_trim(line);
    if (!str_starts(line, STR("class ")) || !str_ends(line, str_of(base)))
        return false;
    *name = str_trim(str_from(str_first(line, line.n - strlen(base)), 6));
    return is_class_name(*name);
}

/* Skips blank lines, comments and the title of an exported program. */
static bool next_interesting(struct str *rest, struct str *line)
{
    while (rest->n) {
        size_t n = str_find_char(*rest, '\n');
        *line = str_trim(str_first(*rest, n));
        *rest = str_from(*rest, n + 1);
        if (line->n && line->p[0] != '#' && !str_is(*line, "ExportedProgram:"))
            return true;
    }
    return false;
}

bool graph_looks_like(struct str text)
{
    enum { ENOUGH = 1 << 20 }; /* a comment before the graph may be long */
    struct str rest = str_first(text, ENOUGH), line, name;
    return next_interesting(&rest, &line) && is_class_line(line, &name);
}

/* ---- classes ---- */

static bool close_class(struct graph_parser *p)
{
    struct open_class *class_ = &p->open.v[p->open.n - 1];
    struct graph *graph = graph_builder_finish(&class_->b, p->err);
    p->open.n--;
    if (graph && p->open.n)
        build_child(&p->open.v[p->open.n - 1].b, graph);
    else if (graph)
        p->root = graph;
    return graph;
}

/* Opens a class, which belongs to the nearest preceding one that is indented less. */
static bool open_class(struct graph_parser *p, struct str name, size_t indent)
{
    while (p->open.n > 1 &&
           (p->open.v[p->open.n - 1].indent >= indent || p->open.n > GRAPH_MAX_DEPTH))
        if (!close_class(p))
            return false;
    struct open_class class_ = { .indent = indent };
    if (!vec_reserve(&p->open, 1))
        return err_nomem(p->err);
    if (!graph_builder_init(&class_.b, &p->tree, name, p->err))
        return false;
    p->open.v[p->open.n++] = class_;
    struct graph_reader *in = &p->in;
    in->b = &p->open.v[p->open.n - 1].b;
    in->location = LOCATION_NONE;
    in->n_leaves = 0;
    in->prologue = true;
    in->returned = false;
    in->boxed = STR("");
    return true;
}

/* ---- lines ---- */

/* Adds a statement that could not be parsed, with its text, and its name for nodes that refer to
 * it. */
static void add_opaque(struct graph_reader *in, const char *from, size_t n_nodes)
{
    struct graph_builder *b = in->b;
    struct node node = { .op = NODE_OPAQUE,
                         .meta = META_NONE,
                         .location = in->location,
                         .descriptor = STR(""),
                         .line = in->line };
    in->p = from;
    b->stack.n = 0;
    node.name = lex_name(in);
    if (!read_annotation(in, false, &node.meta) || !lex_take(in, STR(" = ")) ||
        !python_is_name(node.name))
        node.name = STR("");
    node.target = (struct str){ from, (size_t)(in->eol - from) };
    in->prologue = false;
    if (b->nodes.n == n_nodes || b->failed) {
        build_node(b, node, 0);
        return;
    }
    struct node *half_read = &b->nodes.v[b->nodes.n - 1];
    half_read->op = NODE_OPAQUE;
    half_read->target = node.target;
    half_read->form = FORM_PLAIN;
    half_read->n_args = half_read->n_deleted = 0;
}

static void parse_comment(struct graph_reader *in)
{
    struct location location;
    struct str comment = lex_rest(in);
    while (comment.n && (comment.p[0] == '#' || comment.p[0] == ' ' ||
                         (comment.p[0] >= '\t' && comment.p[0] <= '\r')))
        comment = str_from(comment, 1); /* only at its start: the code at the end may be "" */
    if (!location_parse(comment, &location))
        return;
    bool known = location_has_place(&location) || location.annotation.n;
    in->location = known ? build_location(in->b, location) : LOCATION_NONE;
}

/* Skips the block of metadata that FX_GRAPH_SHOW_META=1 prints between nodes. */
static void skip_block(struct graph_reader *in)
{
    while (lex_next_line(in)) {
        lex_skip_indent(in);
        if (str_is(lex_rest(in), "\"\"\""))
            return;
    }
}

/* Parses a line of a function's body. A def or return over several lines that fails to parse is
 * opaque up to the line that fails. */
static void parse_body_line(struct graph_reader *in)
{
    const char *from = in->p;
    size_t n_nodes = in->b->nodes.n;
    struct str rest = lex_rest(in);
    bool good;
    if (str_starts(rest, STR("return ")))
        good = read_return(in);
    else if (str_starts(rest, STR("def ")) && n_nodes == 0)
        good = read_def(in);
    else
        good = read_statement(in);
    if (!good)
        add_opaque(in, from, n_nodes);
    in->b->stack.n = 0;
}

static bool parse_line(struct graph_parser *p, bool *more)
{
    struct graph_reader *in = &p->in;
    const char *start = in->p;
    struct str name;
    lex_skip_indent(in);
    size_t indent = (size_t)(in->p - start);
    if (in->p == in->eol)
        return true;
    if (*in->p == 'c' && is_class_line(lex_rest(in), &name))
        return open_class(p, name, indent);
    if (p->open.n == 0)
        return true;
    if (*in->p == '#')
        parse_comment(in);
    else if (*in->p == '"' && str_is(lex_rest(in), "\"\"\""))
        skip_block(in);
    else if (*in->p == 'G' && str_starts(lex_rest(in), STR("Graph signature:")) &&
             indent <= p->open.v[0].indent)
        *more = false; /* the tail of an exported program */
    else
        parse_body_line(in);
    return true;
}

static bool check_graph_size(struct graph_parser *p)
{
    const struct graph_builder *b = p->open.n ? &p->open.v[p->open.n - 1].b : NULL;
    if (!b || (b->nodes.n <= MAX_NODES && b->args.n <= MAX_ARGS))
        return true;
    return err_set(p->err, ERR_INPUT, "line %u: more than %d nodes or %d arguments in a graph",
                   (unsigned)p->in.line, MAX_NODES, MAX_ARGS);
}

static bool parse_graph(struct graph_parser *p, struct str text)
{
    if (!tree_builder_init(&p->tree, p->err))
        return false;
    struct str copy = arena_copy(&p->tree.pool->arena, text);
    if (!copy.p)
        return err_nomem(p->err);
    p->in.next = copy.p;
    p->in.end = copy.p + copy.n;
    bool good = true, more = true;
    while (good && more && lex_next_line(&p->in))
        good = parse_line(p, &more) && check_graph_size(p);
    while (good && p->open.n)
        good = close_class(p);
    return good && (p->root || err_set(p->err, ERR_INPUT, "not a graph: it contains no class"));
}

struct graph *graph_parse(struct str text, struct err *err)
{
    struct graph_parser p = { .err = err };
    if (!graph_looks_like(text)) {
        err_set(err, ERR_INPUT, "not a graph: no \"class NAME(torch.nn.Module):\" at its start");
        return NULL;
    }
    parse_graph(&p, text);
    while (p.open.n)
        graph_builder_abandon(&p.open.v[--p.open.n].b);
    vec_release(&p.open);
    tree_builder_finish(&p.tree, p.root);
    return p.root;
}
