/* TENSOR_MATCH: TensorCheck::check() and check_verbose() in torch/csrc/dynamo/guards.cpp. */
#include "profile/calls/guards/check_leaf.h"
#include "trace/graph/dtype.h"

struct tensor_reason {
    struct buf *out; /* NULL: only the verdict is asked for */
    struct str name; /* of the tensor */
    struct leaf_failure *why;
};

static void put_name(const struct tensor_reason *r)
{
    buf_puts(r->out, "tensor '");
    put_without_scope(r->name, r->out);
    buf_puts(r->out, "' ");
}

static const char *scalar_type(struct str dtype)
{
    static const struct {
        const char *dtype, *name;
    } rows[] = {
        { "torch.float32", "Float" },
        { "torch.float64", "Double" },
        { "torch.float16", "Half" },
        { "torch.bfloat16", "BFloat16" },
        { "torch.int64", "Long" },
        { "torch.int32", "Int" },
        { "torch.int16", "Short" },
        { "torch.int8", "Char" },
        { "torch.uint8", "Byte" },
        { "torch.bool", "Bool" },
        { "torch.complex64", "ComplexFloat" },
        { "torch.complex128", "ComplexDouble" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(dtype, rows[i].dtype))
            return rows[i].name;
    return "Undefined";
}

/* Removes from the keys of an ordinary tensor those that inference mode takes away: Autograd for
 * every tensor in that mode and for one that was made in it, and ADInplaceOrView for one that was
 * made in that mode while it lasts; outside of it, every tensor has that key. */
static void actual_keys(struct str expected, const struct py_value *value,
                        const struct call_mode *mode, struct buf *out)
{
    bool inference = mode->known && mode->inference;
    bool autograd = false, inplace = false;
    while (expected.n) {
        size_t comma = str_find_char(expected, ',');
        struct str key = str_trim(str_first(expected, comma));
        expected = str_from(expected, comma + 1);
        bool is_autograd = str_starts(key, STR("Autograd"));
        bool is_inplace = str_is(key, "ADInplaceOrView");
        autograd |= is_autograd;
        inplace |= is_inplace;
        if ((is_autograd && (inference || value->inference)) ||
            (is_inplace && inference && value->inference))
            continue;
        buf_printf(out, "%s%.*s", out->n ? ", " : "", STR_ARG(key));
    }
    bool cpu = str_starts(value->tensor->device, STR("cpu"));
    if (!inplace && !(inference && value->inference))
        buf_puts(out, ", ADInplaceOrView");
    if (!autograd && !inference && !value->inference)
        buf_puts(out, cpu ? ", AutogradCPU" : ", AutogradCUDA");
}

static bool same_keys(const struct tensor_reason *r, const struct tensor_check *check,
                      const struct py_value *value, const struct call_mode *mode)
{
    struct buf keys = BUF_INIT;
    if (check->ordinary_keys && !value->inference && !(mode->known && mode->inference))
        return true;
    actual_keys(check->keys, value, mode, &keys);
    r->why->no_memory |= keys.failed;
    bool same = keys.failed || !check->keys.n || str_eq(buf_str(&keys), check->keys);
    if (!same && r->out) {
        put_name(r);
        buf_printf(r->out,
                   "dispatch key set mismatch. expected DispatchKeySet(%.*s), actual "
                   "DispatchKeySet(%.*s)",
                   STR_ARG(check->keys), STR_ARG(buf_str(&keys)));
    }
    buf_release(&keys);
    return same;
}

/* `first` is the number of the first of them among the sizes and strides of the guard. */
static bool same_dims(const struct tensor_reason *r, const int64_t *expected, uint32_t first,
                      uint32_t n, const int64_t *actual)
{
    expected += first;
    for (uint32_t i = 0; i < n; i++) {
        if (expected[i] == ANY_SIZE || expected[i] == actual[i] ||
            (expected[i] == SYMBOL_SIZE && actual[i] >= 2))
            continue;
        r->why->dim = (struct dim_mismatch){ first + i, actual[i] };
        if (r->out && expected[i] == SYMBOL_SIZE) {
            buf_puts(r->out, "2 <= ");
            put_without_scope(r->name, r->out);
            buf_printf(r->out, ".size()[%u]", i);
            return false;
        }
        if (r->out) {
            put_name(r);
            buf_puts(r->out, first ? "stride" : "size");
            buf_puts(r->out, " mismatch at index ");
            buf_u64(r->out, i);
            buf_puts(r->out, ". expected ");
            buf_i64(r->out, expected[i]);
            buf_puts(r->out, ", actual ");
            buf_i64(r->out, actual[i]);
        }
        return false;
    }
    return true;
}

/* "cuda:1" is device 1; "cpu" has no number, and 0 is that of "cuda". */
static bool same_device(const struct tensor_check *check, const struct tensor_value *tensor)
{
    struct str index = str_from(tensor->device, str_find_char(tensor->device, ':') + 1);
    if (str_is(check->device, "None") || !check->device.n || !tensor->device.n)
        return true;
    return index.n ? str_eq(index, check->device) : str_is(check->device, "0");
}

static bool same_class(const struct tensor_reason *r, const struct tensor_check *check,
                       const struct py_value *value)
{
    struct str type = value->type.n ? value->type : STR("NoneType");
    if (value->kind == PY_TENSOR && str_eq(type, check->type))
        return true;
    if (r->out) {
        const char *module = str_is(type, "Parameter") ? "torch.nn.parameter."
                             : str_is(type, "Tensor")  ? "torch."
                                                       : "";
        buf_puts(r->out, "expected type of '");
        put_without_scope(r->name, r->out);
        buf_printf(r->out, "' to be a tensor type, ' but found <class '%s%.*s'>", module,
                   STR_ARG(type));
    }
    return false;
}

static bool same_dtype(const struct tensor_reason *r, const struct tensor_check *check,
                       const struct tensor_value *tensor)
{
    if (!check->dtype.n || str_eq(check->dtype, tensor->dtype))
        return true;
    if (r->out) {
        put_name(r);
        buf_printf(r->out, "dtype mismatch. expected %s, actual %s", scalar_type(check->dtype),
                   scalar_type(tensor->dtype));
    }
    return false;
}

static bool same_properties(const struct tensor_reason *r, const struct tensor_check *check,
                            const struct tensor_value *tensor)
{
    bool device = same_device(check, tensor);
    bool gradient = check->requires_grad == tensor->requires_grad;
    if (device && gradient && check->n_sizes == tensor->n_dims)
        return true;
    if (!r->out)
        return false;
    put_name(r);
    if (!device)
        buf_puts(r->out, "device index mismatch");
    else if (!gradient)
        buf_printf(r->out, "requires_grad mismatch. expected requires_grad=%d",
                   check->requires_grad);
    else
        buf_printf(r->out, "rank mismatch. expected %u, actual %u", check->n_sizes, tensor->n_dims);
    return false;
}

bool check_tensor(const struct entry_guards *guards, const struct guard_leaf *leaf,
                  const struct py_value *value, const struct call_mode *mode,
                  struct leaf_failure *why)
{
    const struct tensor_check *check = &guards->tensors.v[leaf->tensor];
    const struct tensor_value *tensor = value->tensor;
    const struct tensor_reason r = { why->reason, check->name, why };
    if (!same_class(&r, check, value) || !same_keys(&r, check, value, mode) ||
        !same_dtype(&r, check, tensor) || !same_properties(&r, check, tensor))
        return false;
    const int64_t *dims = vec_from(&guards->dims, check->first);
    uint32_t n_strides = check->n_strides < tensor->n_dims ? check->n_strides : tensor->n_dims;
    return (!check->n_sizes || same_dims(&r, dims, 0, check->n_sizes, tensor->sizes)) &&
           (!n_strides || same_dims(&r, dims, check->n_sizes, n_strides, tensor->strides));
}
