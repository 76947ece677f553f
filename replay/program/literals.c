/* Converts arguments of a graph into values. */
#include <stdlib.h>

#include "replay/program/program.h"

static struct value text_value(enum value_kind kind, struct str text)
{
    return (struct value){ .kind = kind, .u.text = text };
}

static struct value items_value(struct ops *ops, const struct graph *graph, const struct arg *arg,
                                enum value_kind kind, struct arena *arena,
                                struct program_patches *patches, unsigned depth)
{
    uint32_t n = arg->u.items.n;
    struct value *items = arena_array(arena, struct value, n ? n : 1);
    if (!items || depth > PROGRAM_MAX_NESTING) {
        patches->failed = !items;
        return text_value(VALUE_OPAQUE, arg->text);
    }
    for (uint32_t i = 0; i < n; i++)
        items[i] = literal_value(ops, graph, &graph->args[arg->u.items.first + i], &items[i], arena,
                                 patches, depth + 1);
    return value_items(kind, items, n);
}

/* Converts an integer. One that is too large becomes its text, which no operator accepts. */
static struct value integer_literal(struct sym_pool *pool, const struct arg *arg,
                                    struct program_patches *patches)
{
    enum { FITS = 18 }; /* characters that are always a number of 64 bits */
    int64_t small;
    sym_id sym = arg->text.n <= FITS || str_to_i64(arg->text, &small)
                     ? sym_integer(pool, arg->u.integer)
                     : sym_integer_text(pool, arg->text);
    if (sym != SYM_NONE)
        return value_int(sym);
    struct err why = { .kind = ERR_NONE };
    sym_ok(pool, &why);
    patches->failed |= why.kind == ERR_ENV;
    return text_value(VALUE_OPAQUE, arg->text);
}

/* Converts "(1+2j)", "2j", "(-0-1.5j)"; the sign between the two parts is not that of an
 * exponent. */
static struct value complex_value(struct str text)
{
    struct value ret = { .kind = VALUE_COMPLEX };
    char copy[80];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n + 1 < sizeof copy; i++)
        if (text.p[i] != '(' && text.p[i] != ')' && text.p[i] != 'j')
            copy[n++] = text.p[i];
    copy[n] = '\0';
    size_t cut = 0;
    for (size_t i = 1; i < n; i++)
        if ((copy[i] == '+' || copy[i] == '-') && copy[i - 1] != 'e' && copy[i - 1] != 'E')
            cut = i;
    ret.u.complex.im = strtod(copy + cut, NULL);
    copy[cut] = '\0';
    ret.u.complex.re = strtod(copy, NULL);
    return ret;
}

static const struct {
    const char *name;
    enum layout layout;
} layouts[] = {
    { "torch.strided", LAYOUT_STRIDED },
    { "torch.sparse_coo", LAYOUT_SPARSE },
    { "torch.jagged", LAYOUT_JAGGED },
};

static const struct {
    const char *name;
    enum memory_format format;
} formats[] = {
    { "torch.contiguous_format", FORMAT_CONTIGUOUS },
    { "torch.preserve_format", FORMAT_PRESERVE },
    { "torch.channels_last", FORMAT_CHANNELS_LAST },
    { "torch.channels_last_3d", FORMAT_CHANNELS_LAST_3D },
};

static struct value named_value(const struct arg *arg)
{
    struct value ret = text_value(VALUE_OPAQUE, arg->text);
    if (arg->kind == ARG_LAYOUT) {
        ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = LAYOUT_OTHER };
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
            if (str_is(arg->text, layouts[i].name))
                ret.u.layout = layouts[i].layout;
    } else if (arg->kind == ARG_MEMORY_FORMAT) {
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            if (str_is(arg->text, formats[i].name))
                ret = (struct value){ .kind = VALUE_MEMORY_FORMAT,
                                      .u.memory_format = formats[i].format };
    } else {
        struct device device;
        if (device_parse(arg->text, &device))
            ret = (struct value){ .kind = VALUE_DEVICE, .u.device = device };
    }
    return ret;
}

/* Converts torch.Size([2, 3]) and named tuples into tuples. */
static struct value call_value(struct ops *ops, const struct graph *graph, const struct arg *arg,
                               struct arena *arena, struct program_patches *patches, unsigned depth)
{
    const struct arg *items = &graph->args[arg->u.items.first];
    if (str_is(arg->text, "torch.Size") && arg->u.items.n == 1 &&
        (items[0].kind == ARG_LIST || items[0].kind == ARG_TUPLE))
        return items_value(ops, graph, &items[0], VALUE_TUPLE, arena, patches, depth);
    if (arg->u.items.n && items[0].key.n)
        return items_value(ops, graph, arg, VALUE_TUPLE, arena, patches, depth);
    return text_value(VALUE_OPAQUE, arg->text);
}

struct value literal_value(struct ops *ops, const struct graph *graph, const struct arg *arg,
                           struct value *at, struct arena *arena, struct program_patches *patches,
                           unsigned depth)
{
    struct sym_pool *pool = ops_pool(ops);
    switch (arg->kind) {
    case ARG_NONE: return value_none();
    case ARG_NODE:
        if (!vec_push(&patches->list, (struct patch){ at, arg->u.node, NODE_NONE, NODE_NONE }))
            patches->failed = true;
        return value_none();
    case ARG_INT: return integer_literal(pool, arg, patches);
    case ARG_FLOAT: return value_sym(VALUE_FLOAT, sym_float(pool, arg->u.number));
    case ARG_BOOL: return value_sym(VALUE_BOOL, sym_boolean(arg->u.integer != 0));
    case ARG_STRING: return text_value(VALUE_STRING, arg->text);
    case ARG_COMPLEX: return complex_value(arg->text);
    case ARG_DTYPE:
        return (struct value){ .kind = VALUE_DTYPE, .u.dtype = (enum dtype)arg->u.integer };
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT:
    case ARG_DEVICE: return named_value(arg);
    case ARG_LIST: return items_value(ops, graph, arg, VALUE_LIST, arena, patches, depth);
    case ARG_TUPLE: return items_value(ops, graph, arg, VALUE_TUPLE, arena, patches, depth);
    case ARG_DICT: return items_value(ops, graph, arg, VALUE_DICT, arena, patches, depth);
    case ARG_SLICE: return items_value(ops, graph, arg, VALUE_SLICE, arena, patches, depth);
    case ARG_ELLIPSIS: return (struct value){ .kind = VALUE_ELLIPSIS };
    case ARG_TARGET: return text_value(VALUE_FUNCTION, arg->text);
    case ARG_CALL: return call_value(ops, graph, arg, arena, patches, depth);
    case ARG_GRAPH: return text_value(VALUE_GRAPH, arg->text);
    case ARG_OPAQUE: return text_value(VALUE_OPAQUE, arg->text);
    }
    return text_value(VALUE_OPAQUE, arg->text);
}
