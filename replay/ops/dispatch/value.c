#include "replay/ops/dispatch/value.h"

#include <math.h>

/* Deep enough for every pytree; deeper values print as "...". */
enum { PRINT_MAX_DEPTH = 64 };

static const struct {
    const char *name;
    enum device_type type;
} device_names[] = { { "cpu", DEVICE_CPU }, { "cuda", DEVICE_CUDA }, { "meta", DEVICE_META } };

void device_print(struct device device, struct buf *out)
{
    const char *name = "other";
    for (size_t i = 0; i < sizeof device_names / sizeof device_names[0]; i++)
        if (device_names[i].type == device.type)
            name = device_names[i].name;
    buf_puts(out, device.type == DEVICE_NONE ? "" : name);
    if (device.index >= 0 && device.type != DEVICE_NONE) {
        buf_putc(out, ':');
        buf_i64(out, device.index);
    }
}

static bool is_lowercase_name(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!((text.p[i] >= 'a' && text.p[i] <= 'z') || text.p[i] == '_'))
            return false;
    return text.n > 0;
}

bool device_parse(struct str text, struct device *ret)
{
    size_t colon = str_find_char(text, ':');
    struct str name = str_first(text, colon);
    struct device device = { DEVICE_OTHER, -1 };
    uint64_t index;
    if (colon < text.n) {
        if (!str_to_u64(str_from(text, colon + 1), &index) || index > 127)
            return false;
        device.index = (int32_t)index;
    }
    for (size_t i = 0; i < sizeof device_names / sizeof device_names[0]; i++)
        if (str_is(name, device_names[i].name))
            device.type = device_names[i].type;
    if (!is_lowercase_name(name))
        return false;
    *ret = device;
    return true;
}

static void print_ids(struct sym_pool *pool, const sym_id *ids, uint32_t n, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(out, ", ");
        sym_print(pool, ids[i], out);
    }
    buf_putc(out, ']');
}

static void print_tensor(struct sym_pool *pool, const struct tensor_meta *meta, struct buf *out)
{
    if (!meta) {
        buf_puts(out, "None");
        return;
    }
    buf_puts(out, dtype_short_name(meta->dtype));
    print_ids(pool, meta->size, meta->ndim, out);
    if (meta->stride)
        print_ids(pool, meta->stride, meta->ndim, out);
    device_print(meta->device, out);
}

static void print_sym(struct sym_pool *pool, struct value value, struct buf *out)
{
    if (sym_is_number(pool, value.u.sym)) {
        sym_print(pool, value.u.sym, out);
    } else if (value.u.sym == SYM_ID_TRUE || value.u.sym == SYM_ID_FALSE) {
        buf_puts(out, value.u.sym == SYM_ID_TRUE ? "True" : "False");
    } else {
        buf_puts(out, "Sym(");
        sym_print(pool, value.u.sym, out);
        buf_putc(out, ')');
    }
}

static void print_depth(struct sym_pool *pool, struct value value, struct buf *out, unsigned depth);

static void print_value_items(struct sym_pool *pool, struct value value, struct buf *out,
                              unsigned depth)
{
    for (uint32_t i = 0; i < value.n; i++) {
        if (i)
            buf_puts(out, value.kind == VALUE_DICT && i % 2 ? ": " : ", ");
        print_depth(pool, value.u.items[i], out, depth + 1);
    }
}

static void print_group(struct sym_pool *pool, struct value value, struct buf *out, unsigned depth)
{
    const char *open = value.kind == VALUE_LIST    ? "["
                       : value.kind == VALUE_TUPLE ? "("
                       : value.kind == VALUE_DICT  ? "{"
                                                   : "slice(";
    const char *close = value.kind == VALUE_LIST ? "]" : value.kind == VALUE_DICT ? "}" : ")";
    buf_puts(out, open);
    print_value_items(pool, value, out, depth);
    if (value.kind == VALUE_TUPLE && value.n == 1)
        buf_putc(out, ',');
    buf_puts(out, close);
}

static const char *format_name(enum memory_format format)
{
    static const char *const names[] = { "torch.contiguous_format", "torch.preserve_format",
                                         "torch.channels_last", "torch.channels_last_3d" };
    return (size_t)format < sizeof names / sizeof names[0] ? names[format] : "?";
}

static const char *layout_name(enum layout layout)
{
    static const char *const names[] = { "torch.strided", "torch.sparse_coo", "torch.jagged",
                                         "torch.layout" };
    return (size_t)layout < sizeof names / sizeof names[0] ? names[layout] : "?";
}

static void print_depth(struct sym_pool *pool, struct value value, struct buf *out, unsigned depth)
{
    if (depth > PRINT_MAX_DEPTH) {
        buf_puts(out, "...");
        return;
    }
    switch (value.kind) {
    case VALUE_NONE: buf_puts(out, "None"); break;
    case VALUE_TENSOR: print_tensor(pool, value.u.tensor.meta, out); break;
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_BOOL: print_sym(pool, value, out); break;
    case VALUE_COMPLEX:
        buf_printf(out, "(%.17g%+.17gj)", value.u.complex.re, value.u.complex.im);
        break;
    case VALUE_STRING: buf_printf(out, "'%.*s'", STR_ARG(value.u.text)); break;
    case VALUE_DTYPE: buf_puts(out, dtype_python_name(value.u.dtype)); break;
    case VALUE_LAYOUT: buf_puts(out, layout_name(value.u.layout)); break;
    case VALUE_MEMORY_FORMAT: buf_puts(out, format_name(value.u.memory_format)); break;
    case VALUE_DEVICE:
        buf_puts(out, "device(");
        device_print(value.u.device, out);
        buf_putc(out, ')');
        break;
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_SLICE: print_group(pool, value, out, depth); break;
    case VALUE_ELLIPSIS: buf_puts(out, "..."); break;
    case VALUE_FUNCTION:
    case VALUE_GRAPH:
    case VALUE_OPAQUE: buf_put(out, value.u.text); break;
    }
}

void value_print(struct sym_pool *pool, struct value value, struct buf *out)
{
    print_depth(pool, value, out, 0);
}
