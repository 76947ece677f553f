/* Reads arguments of a program: the union Argument of torch/_export/serde/schema.py, one row for
 * each kind. */
#include "trace/pt2/pt2_program.h"

#include <math.h>

#include "trace/graph/python_name.h"

struct argument_kind {
    const char *key;
    void (*push)(struct program_graph *g, json_id value, struct str key);
};

/* Returns JSON on one line, without white space outside of strings. */
static struct str on_one_line(struct program_reader *program, json_id value)
{
    struct str text = json_text(program->doc, value);
    struct buf *out = &program->scratch;
    bool quoted = false, escaped = false;
    buf_clear(out);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!quoted && (c == '\n' || c == '\r' || c == '\t'))
            continue;
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        buf_putc(out, c);
    }
    return program_copy(program, buf_str(out));
}

/* Pushes the JSON of a value that this reader does not know, and counts it. */
static void push_unknown(struct program_graph *g, json_id value, struct str key)
{
    struct str text = on_one_line(g->program, value);
    g->builder.graph->n_opaque++;
    build_push(&g->builder, (struct arg){ .kind = ARG_OPAQUE, .key = key, .text = text });
}

/* ---- constants ----------------------------------------------------------------------------- */

static struct arg integer_arg(struct program_reader *program, json_id value)
{
    struct str digits = json_text(program->doc, value);
    if (!program_want_integer(program, value))
        return (struct arg){ .kind = ARG_NONE };
    struct arg arg = { .kind = ARG_INT, .text = program_copy(program, digits) };
    if (!json_i64(program->doc, value, &arg.u.integer))
        arg.u.integer = digits.n > 0 && digits.p[0] == '-' ? INT64_MIN : INT64_MAX;
    return arg;
}

/* Reads a float; infinities and NaN are bare words or strings, by version. */
static struct arg float_arg(struct program_reader *program, json_id value)
{
    static const struct {
        const char *json, *python;
        double number;
    } WORDS[] = { { "Infinity", "inf", INFINITY },
                  { "-Infinity", "-inf", -INFINITY },
                  { "NaN", "nan", NAN } };
    struct str text = json_text(program->doc, value);
    if (!program_want_number(program, value))
        return (struct arg){ .kind = ARG_NONE };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (str_is(text, WORDS[i].json))
            return (struct arg){ .kind = ARG_FLOAT,
                                 .text = str_of(WORDS[i].python),
                                 .u.number = WORDS[i].number };
    struct arg arg = { .kind = ARG_FLOAT, .text = program_copy(program, text) };
    json_double(program->doc, value, &arg.u.number);
    return arg;
}

static struct arg bool_constant(struct program_reader *program, json_id value)
{
    program_want_bool(program, value);
    return (struct arg){ .kind = ARG_BOOL,
                         .u.integer = json_kind_of(program->doc, value) == JSON_TRUE };
}

static struct arg string_arg(struct program_reader *program, json_id value)
{
    program_want_string(program, value);
    return (struct arg){ .kind = ARG_STRING, .text = program_keep(program, value) };
}

struct arg program_constant(struct program_reader *program, json_id constant)
{
    struct str kind;
    json_id value = program_union(program->doc, constant, &kind);
    if (str_is(kind, "as_int"))
        return integer_arg(program, value);
    if (str_is(kind, "as_float"))
        return float_arg(program, value);
    if (str_is(kind, "as_bool"))
        return bool_constant(program, value);
    if (str_is(kind, "as_string"))
        return string_arg(program, value);
    return (struct arg){ .kind = ARG_NONE };
}

static void push_keyed(struct program_graph *g, struct arg arg, struct str key)
{
    arg.key = key;
    build_push(&g->builder, arg);
}

/* Pushes None, which is true, or () in old archives. */
static void push_none(struct program_graph *g, json_id value, struct str key)
{
    if (json_kind_of(g->program->doc, value) != JSON_ARRAY)
        program_want_bool(g->program, value);
    push_keyed(g, (struct arg){ .kind = ARG_NONE }, key);
}

static void push_int(struct program_graph *g, json_id value, struct str key)
{
    push_keyed(g, integer_arg(g->program, value), key);
}

static void push_float(struct program_graph *g, json_id value, struct str key)
{
    push_keyed(g, float_arg(g->program, value), key);
}

static void push_bool(struct program_graph *g, json_id value, struct str key)
{
    push_keyed(g, bool_constant(g->program, value), key);
}

static void push_string(struct program_graph *g, json_id value, struct str key)
{
    push_keyed(g, string_arg(g->program, value), key);
}

static void push_operator(struct program_graph *g, json_id value, struct str key)
{
    struct str target = program_keep(g->program, value);
    if (program_want_string(g->program, value) && target_form_of(target) == TARGET_NEITHER)
        program_refuse(g->program, "not the name of an operator or function");
    push_keyed(g, (struct arg){ .kind = ARG_TARGET, .text = target }, key);
}

/* Prints a part of a complex number as Python's repr() does: 1.0 is "1". */
static void put_complex_part(struct program_reader *program, json_id part, bool sign,
                             struct buf *out)
{
    struct str text = float_arg(program, part).text;
    if (sign && text.n > 0 && text.p[0] != '-')
        buf_putc(out, '+');
    if (str_ends(text, STR(".0")))
        text.n -= 2;
    buf_put(out, text);
}

static void push_complex(struct program_graph *g, json_id value, struct str key)
{
    const struct json *doc = g->program->doc;
    struct buf *out = &g->program->scratch;
    if (!program_want_object(g->program, value))
        return;
    buf_clear(out);
    buf_putc(out, '(');
    put_complex_part(g->program, json_get(doc, value, STR("real")), false, out);
    put_complex_part(g->program, json_get(doc, value, STR("imag")), true, out);
    buf_puts(out, "j)");
    push_keyed(g,
               (struct arg){ .kind = ARG_COMPLEX, .text = program_copy(g->program, buf_str(out)) },
               key);
}

/* ---- enumerations -------------------------------------------------------------------------- */

static void push_scalar_type(struct program_graph *g, json_id value, struct str key)
{
    int64_t number = 0;
    program_want_integer(g->program, value);
    json_i64(g->program->doc, value, &number);
    enum dtype dtype = dtype_by_scalar_type(number);
    if (dtype == DTYPE_NONE) {
        push_unknown(g, value, key);
        return;
    }
    push_keyed(g,
               (struct arg){ .kind = ARG_DTYPE,
                             .text = str_of(dtype_python_name(dtype)),
                             .u.integer = dtype },
               key);
}

static void push_enum(struct program_graph *g, json_id value, struct str key, enum arg_kind kind,
                      const char *const names[], size_t n)
{
    uint64_t number = 0;
    program_want_integer(g->program, value);
    json_u64(g->program->doc, value, &number);
    if (number >= n || !names[number])
        push_unknown(g, value, key);
    else
        push_keyed(g, (struct arg){ .kind = kind, .text = str_of(names[number]) }, key);
}

static void push_memory_format(struct program_graph *g, json_id value, struct str key)
{
    static const char *const NAMES[] = { NULL, "torch.contiguous_format", "torch.channels_last",
                                         "torch.channels_last_3d", "torch.preserve_format" };
    push_enum(g, value, key, ARG_MEMORY_FORMAT, NAMES, sizeof NAMES / sizeof *NAMES);
}

static void push_layout(struct program_graph *g, json_id value, struct str key)
{
    static const char *const NAMES[] = { NULL,
                                         "torch.sparse_coo",
                                         "torch.sparse_csr",
                                         "torch.sparse_csc",
                                         "torch.sparse_bsr",
                                         "torch.sparse_bsc",
                                         "torch._mkldnn",
                                         "torch.strided" };
    push_enum(g, value, key, ARG_LAYOUT, NAMES, sizeof NAMES / sizeof *NAMES);
}

static void push_device(struct program_graph *g, json_id value, struct str key)
{
    struct buf *out = &g->program->scratch;
    buf_clear(out);
    program_put_device(g->program, value, out);
    push_keyed(
        g, (struct arg){ .kind = ARG_DEVICE, .text = program_copy(g->program, buf_str(out)) }, key);
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* Pushes a result by name; a name that no node has is pushed and counted. */
static void push_result(struct program_graph *g, json_id name, struct str key)
{
    node_id node = program_find(g, name);
    if (program_want_string(g->program, name) && node == NODE_NONE) {
        g->builder.graph->n_opaque++;
        push_keyed(g, (struct arg){ .kind = ARG_OPAQUE, .text = program_name(g, name) }, key);
    } else {
        push_keyed(g, (struct arg){ .kind = ARG_NODE, .u.node = node }, key);
    }
}

static void push_tensor(struct program_graph *g, json_id value, struct str key)
{
    push_result(g, json_get(g->program->doc, value, STR("name")), key);
}

/* Pushes a SymIntArgument, SymFloatArgument, SymBoolArgument or OptionalTensorArgument. */
static void push_union(struct program_graph *g, json_id value, struct str key)
{
    struct str kind;
    json_id inner = program_union(g->program->doc, value, &kind);
    if (str_is(kind, "as_name"))
        push_result(g, inner, key);
    else
        program_push_argument(g, value, key);
}

static void push_custom_obj(struct program_graph *g, json_id value, struct str key)
{
    json_id name = json_get(g->program->doc, value, STR("name"));
    node_id node = program_find(g, name);
    if (node != NODE_NONE)
        push_keyed(g, (struct arg){ .kind = ARG_NODE, .u.node = node }, key);
    else
        push_keyed(
            g, (struct arg){ .kind = ARG_OPAQUE, .text = program_keep_dotted(g->program, name) },
            key);
}

static void push_graph(struct program_graph *g, json_id value, struct str key)
{
    push_keyed(g, (struct arg){ .kind = ARG_NODE, .u.node = program_nested(g, value) }, key);
}

/* ---- lists --------------------------------------------------------------------------------- */

typedef void push_fn(struct program_graph *g, json_id value, struct str key);

static void push_items(struct program_graph *g, json_id list, struct str key, enum arg_kind kind,
                       push_fn *push_item)
{
    const struct json *doc = g->program->doc;
    size_t mark = build_mark(&g->builder);
    program_want_list(g->program, list);
    for (json_id v = json_first(doc, list); v != JSON_NONE; v = json_next(doc, v))
        push_item(g, v, STR(""));
    build_wrap(&g->builder, (struct arg){ .kind = kind, .key = key }, mark);
}

#define LIST_OF(name, item)                                                  \
    static void name(struct program_graph *g, json_id value, struct str key) \
    {                                                                        \
        push_items(g, value, key, ARG_LIST, item);                           \
    }

LIST_OF(push_ints, push_int)
LIST_OF(push_floats, push_float)
LIST_OF(push_bools, push_bool)
LIST_OF(push_strings, push_string)
LIST_OF(push_tensors, push_tensor)
LIST_OF(push_unions, push_union)
LIST_OF(push_float_lists, push_floats)
LIST_OF(push_nested_tensors, push_tensors)

/* Pushes a tuple of integers; lists of them are the grids of Triton kernels. */
static void push_int_tuple(struct program_graph *g, json_id value, struct str key)
{
    push_items(g, value, key, ARG_TUPLE, push_int);
}

LIST_OF(push_int_lists, push_int_tuple)

static void push_dict(struct program_graph *g, json_id value, struct str key)
{
    const struct json *doc = g->program->doc;
    size_t mark = build_mark(&g->builder);
    bool is_key = true;
    program_want_object(g->program, value);
    for (json_id v = json_first(doc, value); v != JSON_NONE; v = json_next(doc, v)) {
        if (is_key)
            push_string(g, v, STR(""));
        else
            program_push_argument(g, v, STR(""));
        is_key = !is_key;
    }
    build_wrap(&g->builder, (struct arg){ .kind = ARG_DICT, .key = key }, mark);
}

void program_push_argument(struct program_graph *g, json_id argument, struct str key)
{
    static const struct argument_kind KINDS[] = {
        { "as_none", push_none },
        { "as_tensor", push_tensor },
        { "as_tensors", push_tensors },
        { "as_optional_tensor", push_union },
        { "as_optional_tensors", push_unions },
        { "as_nested_tensors", push_nested_tensors },
        { "as_int", push_int },
        { "as_ints", push_ints },
        { "as_int_lists", push_int_lists },
        { "as_float", push_float },
        { "as_floats", push_floats },
        { "as_float_lists", push_float_lists },
        { "as_bool", push_bool },
        { "as_bools", push_bools },
        { "as_string", push_string },
        { "as_strings", push_strings },
        { "as_complex", push_complex },
        { "as_sym_int", push_union },
        { "as_sym_ints", push_unions },
        { "as_sym_float", push_union },
        { "as_sym_floats", push_unions },
        { "as_sym_bool", push_union },
        { "as_sym_bools", push_unions },
        { "as_scalar_type", push_scalar_type },
        { "as_memory_format", push_memory_format },
        { "as_layout", push_layout },
        { "as_device", push_device },
        { "as_operator", push_operator },
        { "as_custom_obj", push_custom_obj },
        { "as_graph", push_graph },
        { "as_string_to_argument", push_dict },
    };
    struct str kind;
    json_id value = program_union(g->program->doc, argument, &kind);
    for (size_t i = 0; value != JSON_NONE && i < sizeof KINDS / sizeof *KINDS; i++)
        if (str_is(kind, KINDS[i].key)) {
            bool was_good = !g->program->failed;
            KINDS[i].push(g, value, key);
            if (was_good && g->program->failed)
                program_refused_at(g->program, KINDS[i].key, STR(""));
            return;
        }
    push_unknown(g, argument, key);
}
