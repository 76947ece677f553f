/* Reads argument reprs (CodeGen._gen_python_code._get_repr in torch/fx/graph.py). */
#include "trace/base/buf.h"
#include "trace/graph/graph_read.h"
#include "trace/graph/python_name.h"

/* The most arguments of one statement, nested ones included; a graph that PyTorch made has a few
 * thousand. */
enum { MAX_ARGUMENTS = 1 << 20 };

static struct str arg_text_since(const struct graph_reader *in, const char *from)
{
    return (struct str){ from, (size_t)(in->p - from) };
}

static bool push_text(struct graph_reader *in, enum arg_kind kind, struct str text)
{
    build_push(in->b, (struct arg){ .kind = kind, .text = text });
    return true;
}

/* ---- torch.float32, torch.strided, torch.ops.aten.add.Tensor ---- */

static const char *const layouts[] = {
    "torch.strided",    "torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc",
    "torch.sparse_bsr", "torch.sparse_bsc", "torch.jagged",     "torch._mkldnn",
};

static const char *const memory_formats[] = {
    "torch.contiguous_format",
    "torch.preserve_format",
    "torch.channels_last",
    "torch.channels_last_3d",
};

static bool push_target(struct graph_reader *in, struct str text)
{
    if (!str_starts(text, STR("torch.")) || str_starts(text, STR("torch.ops.")))
        return push_text(in, ARG_TARGET, text);
    enum dtype dtype = dtype_by_python_name(text);
    if (dtype != DTYPE_NONE) {
        build_push(in->b, (struct arg){ .kind = ARG_DTYPE, .text = text, .u.integer = dtype });
        return true;
    }
    if (STR_IS_ANY(text, layouts))
        return push_text(in, ARG_LAYOUT, text);
    if (STR_IS_ANY(text, memory_formats))
        return push_text(in, ARG_MEMORY_FORMAT, text);
    return push_text(in, ARG_TARGET, text);
}

/* ---- reprs that look like calls ---- */

/* Turns device(type='cuda', index=0) into "cuda:0"; returns false when the arguments differ, or
 * describe no device. */
static bool device_spelling(struct graph_builder *b, size_t mark, struct str *ret)
{
    size_t n = b->stack.n - mark;
    const struct arg *args = n ? &b->stack.v[mark] : NULL;
    if (n < 1 || n > 2 || args[0].kind != ARG_STRING || !str_is(args[0].key, "type") ||
        str_find_char(args[0].text, ':') < args[0].text.n)
        return false;
    *ret = args[0].text;
    if (n == 1)
        return device_is_spelled(*ret);
    if (args[1].kind != ARG_INT || !str_is(args[1].key, "index"))
        return false;
    struct buf text = BUF_INIT;
    buf_put(&text, args[0].text);
    buf_putc(&text, ':');
    buf_put(&text, args[1].text);
    b->failed = b->failed || text.failed;
    *ret = build_keep(b, buf_str(&text));
    buf_release(&text);
    return b->failed || device_is_spelled(*ret);
}

static bool no_keys(const struct graph_builder *b, size_t mark)
{
    for (size_t i = mark; i < b->stack.n; i++)
        if (b->stack.v[i].key.n)
            return false;
    return true;
}

/* Reads a call's repr after its opening parenthesis. */
static bool read_call_repr(struct graph_reader *in, struct str name)
{
    struct graph_builder *b = in->b;
    size_t mark = build_mark(b);
    struct str device;
    if (!read_call_arguments(in))
        return false;
    if (str_is(name, "device") && device_spelling(b, mark, &device)) {
        b->stack.n = mark;
        return push_text(in, ARG_DEVICE, device);
    }
    bool slice = str_is(name, "slice") && b->stack.n == mark + 3 && no_keys(b, mark);
    build_wrap(b, (struct arg){ .kind = slice ? ARG_SLICE : ARG_CALL, .text = name }, mark);
    return true;
}

/* ---- names ---- */

/* Pushes a name that stands alone: a node, a constant of Python, or something global. */
static bool push_bare_name(struct graph_reader *in, struct str name)
{
    node_id node = build_find(in->b, name);
    if (node != NODE_NONE) {
        build_push(in->b, (struct arg){ .kind = ARG_NODE, .u.node = node });
        return true;
    }
    struct arg arg = { .kind = ARG_TARGET, .text = name };
    if (str_is(name, "None")) {
        arg.kind = ARG_NONE;
    } else if (str_is(name, "True") || str_is(name, "False")) {
        arg.kind = ARG_BOOL;
        arg.u.integer = name.n == 4;
    } else if (str_is(name, "Ellipsis")) {
        arg.kind = ARG_ELLIPSIS;
    } else if (str_is(name, "inf") || str_is(name, "nan")) {
        arg.kind = ARG_FLOAT;
        arg.u.number = strtod(name.p, NULL);
    }
    build_push(in->b, arg);
    return true;
}

/* Reads the rest of a value that begins with `name`. */
static bool read_named_value(struct graph_reader *in, struct str name)
{
    while (*in->p == '.') {
        in->p++;
        if (lex_name(in).n == 0)
            return false;
        name = arg_text_since(in, name.p);
    }
    if (lex_char(in, '('))
        return read_call_repr(in, name);
    if (*in->p == '\'' || *in->p == '"')
        return false; /* bytes: b'...' */
    return memchr(name.p, '.', name.n) ? push_target(in, name) : push_bare_name(in, name);
}

/* ---- containers ---- */

/* Reads a complex number's repr, (1+2j). Its imaginary part is read as another one, without its
 * sign. */
static bool read_complex(struct graph_reader *in)
{
    const char *from = in->p++;
    struct arg part = { 0 };
    bool complex_ = lex_number(in, &part) && part.kind != ARG_COMPLEX;
    bool minus = complex_ && *in->p == '-';
    complex_ = complex_ && (minus || *in->p == '+');
    in->p += complex_ && !minus;
    complex_ = complex_ && lex_number(in, &part) && part.kind == ARG_COMPLEX && lex_char(in, ')');
    if (complex_)
        return push_text(in, ARG_COMPLEX, arg_text_since(in, from));
    in->p = from;
    return false;
}

static bool read_sequence(struct graph_reader *in, enum arg_kind kind, char close)
{
    size_t mark = build_mark(in->b);
    bool comma;
    in->p++;
    if (!read_items(in, close, &comma))
        return false;
    if (kind == ARG_TUPLE && build_mark(in->b) == mark + 1 && !comma)
        return false;
    build_wrap(in->b, (struct arg){ .kind = kind }, mark);
    return true;
}

static bool read_dict(struct graph_reader *in)
{
    size_t mark = build_mark(in->b);
    in->p++;
    while (!lex_char(in, '}')) {
        if (!read_item(in) || !lex_take(in, STR(": ")) || !read_item(in))
            return false;
        if (!lex_char(in, ',') && *in->p != '}')
            return false;
    }
    build_wrap(in->b, (struct arg){ .kind = ARG_DICT }, mark);
    return true;
}

static bool read_simple(struct graph_reader *in)
{
    struct arg arg = { 0 };
    if (*in->p == '\'' || *in->p == '"') {
        arg.kind = ARG_STRING;
        if (!lex_string(in, &arg.text))
            return false;
    } else if (!lex_number(in, &arg)) {
        return false;
    }
    build_push(in->b, arg);
    return true;
}

bool read_arg_value(struct graph_reader *in)
{
    if (in->n_arguments++ >= MAX_ARGUMENTS)
        return false;
    struct str name = lex_name(in);
    if (name.n)
        return read_named_value(in, name);
    bool good = in->nesting < GRAPH_MAX_DEPTH;
    in->nesting++;
    switch (*in->p) {
    case '[': good = good && read_sequence(in, ARG_LIST, ']'); break;
    case '(': good = good && (read_complex(in) || read_sequence(in, ARG_TUPLE, ')')); break;
    case '{': good = good && read_dict(in); break;
    default: good = read_simple(in); break;
    }
    in->nesting--;
    return good;
}

static bool at_delimiter(const struct graph_reader *in)
{
    return *in->p == ',' || *in->p == ')' || *in->p == ']' || *in->p == '}' ||
           (*in->p == ':' && in->p[1] == ' ') || in->p == in->eol;
}

bool read_item(struct graph_reader *in)
{
    struct graph_builder *b = in->b;
    lex_skip_indent(in);
    const char *from = in->p;
    size_t mark = build_mark(b), args = b->args.n;
    struct str text;
    if (read_arg_value(in)) {
        lex_skip_indent(in);
        if (at_delimiter(in))
            return true;
    }
    if (in->n_arguments >= MAX_ARGUMENTS)
        return false;
    in->p = from;
    b->stack.n = mark;
    b->args.n = args;
    return lex_opaque(in, &text) && push_text(in, ARG_OPAQUE, text);
}

bool read_items(struct graph_reader *in, char close, bool *comma)
{
    bool after_comma = false;
    while (!lex_char(in, close)) {
        if (!read_item(in))
            return false;
        after_comma = lex_char(in, ',');
        if (!after_comma && *in->p != close)
            return false;
        lex_skip_indent(in);
    }
    if (comma)
        *comma = after_comma;
    return true;
}

/* Reads a value, with "dim = " of a call's keyword arguments or "index=" of a repr before it. */
static bool read_argument(struct graph_reader *in)
{
    lex_skip_indent(in);
    const char *from = in->p;
    struct str name = lex_name(in);
    if (name.n && (*in->p == ',' || *in->p == ')'))
        return in->n_arguments++ < MAX_ARGUMENTS && push_bare_name(in, name);
    bool spaced = name.n && in->p[0] == ' ' && in->p[1] == '=' && in->p[2] == ' ';
    bool key = spaced || (name.n && in->p[0] == '=' && in->p[1] != '=');
    in->p = !key ? from : in->p + (spaced ? 3 : 1);
    if ((key && !python_is_word(name)) || !read_item(in))
        return false;
    if (key && !in->b->failed)
        in->b->stack.v[in->b->stack.n - 1].key = name;
    return true;
}

bool read_call_arguments(struct graph_reader *in)
{
    bool good = in->nesting < GRAPH_MAX_DEPTH;
    in->nesting++;
    while (good && !lex_char(in, ')')) {
        good = read_argument(in) && (lex_char(in, ',') || *in->p == ')');
    }
    in->nesting--;
    return good;
}
