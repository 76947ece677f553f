#include "replay/ops/rules/view/views.h"

#include <string.h>

struct tensor geometry_view(struct call *c, struct tensor x, const struct geometry *g)
{
    return new_view(c, x, g->size, g->stride, g->n, g->offset);
}

void geometry_pass(struct call *c, struct tensor x, const struct geometry *g)
{
    if (!c->symbolic || c->failed || g->n < 4 || behaves(c->env, BEHAVIOR_METADATA_SKIPS_SYMBOLIC))
        return;
    struct tensor_meta meta = *x.meta;
    meta.ndim = g->n;
    meta.size = g->size;
    meta.stride = g->stride;
    suggest_format(c, (struct tensor){ .meta = &meta });
}

sym_id geometry_numel(struct call *c, const struct geometry *g)
{
    return product(c, g->size, g->n);
}

void geometry_remove(struct geometry *g, uint32_t dim)
{
    if (dim >= g->n)
        return;
    g->n--;
    memmove(g->size + dim, g->size + dim + 1, (g->n - dim) * sizeof(sym_id));
    memmove(g->stride + dim, g->stride + dim + 1, (g->n - dim) * sizeof(sym_id));
}

bool geometry_insert(struct call *c, struct geometry *g, uint32_t dim, sym_id size, sym_id stride)
{
    if (!check_ndim(c, (uint64_t)g->n + 1) || dim > g->n)
        return false;
    memmove(g->size + dim + 1, g->size + dim, (g->n - dim) * sizeof(sym_id));
    memmove(g->stride + dim + 1, g->stride + dim, (g->n - dim) * sizeof(sym_id));
    g->size[dim] = size;
    g->stride[dim] = stride;
    g->n++;
    return true;
}

bool is_put_off(struct call *c, sym_id condition)
{
    return condition == SYM_NONE || env_has_unbacked(c->env, condition) ||
           env_settings(c->env)->prefer_deferred_runtime_asserts_over_guards;
}

bool check_ndim(struct call *c, uint64_t n)
{
    if (n <= TENSOR_MAX_DIM)
        return true;
    return unsupported(c, "a tensor of more than %d dimensions", (int)TENSOR_MAX_DIM);
}

/* --- Messages --- */

static const char *wrapped(struct call *c, const char *before, const char *text, const char *after)
{
    if (!text)
        return "";
    size_t n_before = strlen(before), n = strlen(text), n_after = strlen(after);
    char *ret = scratch(c, n_before + n + n_after + 1);
    if (!ret)
        return "";
    memcpy(ret, before, n_before);
    memcpy(ret + n_before, text, n);
    memcpy(ret + n_before + n, after, n_after + 1);
    return ret;
}

const char *py_size_text(struct call *c, const sym_id *sizes, uint32_t n)
{
    return wrapped(c, "torch.Size(", sizes_text(c, sizes, n), ")");
}

const char *py_tuple_text(struct call *c, const sym_id *sizes, uint32_t n)
{
    const char *text = sizes_text(c, sizes, n);
    size_t length = text ? strlen(text) : 0;
    if (length < 2)
        return "()";
    char *inner = scratch(c, length - 1);
    if (!inner)
        return "()";
    memcpy(inner, text + 1, length - 2);
    inner[length - 2] = '\0';
    return wrapped(c, "(", inner, n == 1 ? ",)" : ")");
}

/* --- Values --- */

struct value sizes_value(struct call *c, const sym_id *sizes, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = value_int(sizes[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

struct value int_value(struct call *c, int64_t item)
{
    return value_int(num(c, item));
}

struct value ints_value(struct call *c, const int64_t *list, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = int_value(c, list[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

struct value tensors_value(struct call *c, const struct tensor *x, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = value_tensor(x[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

/* --- Nested calls --- */

struct tensor call_view(struct call *c, struct tensor x, const sym_id *size, uint32_t n)
{
    struct value args[] = { value_tensor(x), sizes_value(c, size, n) };
    return call_tensor(c, "aten.view.default", args, 2);
}

struct tensor call_reshape(struct call *c, struct tensor x, const sym_id *size, uint32_t n)
{
    struct value args[] = { value_tensor(x), sizes_value(c, size, n) };
    return call_tensor(c, "aten.reshape.default", args, 2);
}

struct tensor call_expand(struct call *c, struct tensor x, const sym_id *size, uint32_t n)
{
    struct value args[] = { value_tensor(x), sizes_value(c, size, n) };
    return call_tensor(c, "aten.expand.default", args, 2);
}

struct tensor call_permute(struct call *c, struct tensor x, const int64_t *dims, uint32_t n)
{
    struct value args[] = { value_tensor(x), ints_value(c, dims, n) };
    return call_tensor(c, "aten.permute.default", args, 2);
}

struct tensor call_transpose(struct call *c, struct tensor x, int64_t a, int64_t b)
{
    struct value args[] = { value_tensor(x), int_value(c, a), int_value(c, b) };
    return call_tensor(c, "aten.transpose.int", args, 3);
}

struct tensor call_unsqueeze(struct call *c, struct tensor x, int64_t dim)
{
    struct value args[] = { value_tensor(x), int_value(c, dim) };
    return call_tensor(c, "aten.unsqueeze.default", args, 2);
}

struct tensor call_squeeze(struct call *c, struct tensor x, int64_t dim)
{
    struct value args[] = { value_tensor(x), int_value(c, dim) };
    return call_tensor(c, "aten.squeeze.dim", args, 2);
}

struct tensor call_narrow(struct call *c, struct tensor x, int64_t dim, sym_id start, sym_id length)
{
    struct value args[] = { value_tensor(x), int_value(c, dim), value_int(start),
                            value_int(length) };
    return call_tensor(c, "aten.narrow.default", args, 4);
}

struct tensor call_clone(struct call *c, struct tensor x)
{
    struct value args[] = { value_tensor(x) };
    return call_tensor(c, "aten.clone.default", args, 1);
}

struct tensor call_clone_format(struct call *c, struct tensor x, enum memory_format format)
{
    struct value args[] = { value_tensor(x) };
    struct keyword keywords[] = { { STR("memory_format"), format_value(format) } };
    struct value ret = call_op_keywords(c, "aten.clone.default", args, 1, keywords, 1);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ 0 };
}

struct tensor call_contiguous(struct call *c, struct tensor x)
{
    struct value args[] = { value_tensor(x) };
    return call_tensor(c, "aten.contiguous.default", args, 1);
}

struct tensor call_arange(struct call *c, sym_id end, enum dtype dtype, struct device device)
{
    struct value args[] = { value_int(end) };
    struct keyword keywords[] = { { STR("dtype"), dtype_value(dtype) },
                                  { STR("device"), device_value(device) } };
    struct value ret = call_op_keywords(c, "aten.arange.default", args, 1, keywords, 2);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ 0 };
}

struct tensor call_cat(struct call *c, const struct tensor *x, uint32_t n, int64_t dim)
{
    struct value args[] = { tensors_value(c, x, n), int_value(c, dim) };
    return call_tensor(c, "aten.cat.default", args, 2);
}

struct tensor call_alias(struct call *c, struct tensor x)
{
    struct value args[] = { value_tensor(x) };
    return call_tensor(c, "aten.alias.default", args, 1);
}
