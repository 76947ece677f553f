/* x[index] and x[index] = value (torch/csrc/autograd/python_variable_indexing.cpp,
 * aten/src/ATen/TensorIndexing.h). */
#include "replay/ops/python/python_internal.h"

struct index_builder {
    struct call *c;
    struct tensor self, result;
    uint32_t specified;    /* number of dimensions that the index names */
    int64_t dim;           /* the next dimension of the result */
    struct value *tensors; /* by dimension, for index.Tensor: None or a tensor */
    uint32_t n_tensors, room;
    bool advanced;
};

static struct tensor failed_tensor(void)
{
    return (struct tensor){ 0 };
}

static struct tensor call_with(struct call *c, const char *name, struct tensor x, struct value a)
{
    return value_as_tensor(c, py_op(c, name, (struct value[]){ value_tensor(x), a }, 2));
}

static struct value integer(struct call *c, int64_t value)
{
    return value_int(sym_integer(c->pool, value));
}

/* applySelect. */
static struct tensor apply_select(struct call *c, struct tensor x, int64_t dim, struct value index,
                                  uint32_t real_dim)
{
    if (c->failed)
        return failed_tensor();
    if (is_int(c, index.u.sym, 0) && dim == 0 && x.meta->ndim == 0) {
        refuse(c, "IndexError",
               "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
               "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
        return failed_tensor();
    }
    if (dim < 0 || dim >= (int64_t)x.meta->ndim) {
        refuse(c, "IndexError", "too many indices for tensor of dimension %u", x.meta->ndim);
        return failed_tensor();
    }
    sym_id size = x.meta->size[dim];
    sym_id above = gt(c, size, sub(c, num(c, -1), index.u.sym));
    sym_id below = gt(c, size, index.u.sym);
    if (c->failed)
        return failed_tensor();
    check(c, sym_and(c->pool, above, below), "IndexError",
          "index %s is out of bounds for dimension %u with size %s", sym_text(c, index.u.sym),
          real_dim, sym_text(c, size));
    if (c->failed)
        return failed_tensor();
    return value_as_tensor(c,
                           py_op(c, "aten.select.int",
                                 (struct value[]){ value_tensor(x), integer(c, dim), index }, 3));
}

/* Converts a bound of a slice: None, an int, or a tensor of one. */
static struct value bound_of(struct call *c, struct value value, int64_t otherwise)
{
    if (value.kind == VALUE_NONE)
        return integer(c, otherwise);
    if (value.kind == VALUE_TENSOR)
        value = py_op(c, "aten.item", &value, 1);
    if (value.kind == VALUE_BOOL)
        value = value_int(guard_bool(c, value.u.sym) ? SYM_ID_ONE : SYM_ID_ZERO);
    if (value.kind != VALUE_INT)
        refuse(c, "TypeError",
               "slice indices must be integers or None or have an __index__ method");
    return value;
}

/* applySlice; a slice known to take everything returns x itself, unless `always`. */
static struct tensor apply_slice(struct call *c, struct tensor x, int64_t dim, struct value slice,
                                 bool always)
{
    struct value step = bound_of(c, slice.u.items[2], 1);
    if (c->failed)
        return failed_tensor();
    check(c, ne(c, step.u.sym, SYM_ID_ZERO), "ValueError", "slice step cannot be zero");
    bool open = slice.u.items[0].kind == VALUE_NONE || slice.u.items[1].kind == VALUE_NONE;
    bool down = open && guard_bool(c, lt(c, step.u.sym, SYM_ID_ZERO)); /* __PySlice_Unpack */
    struct value start = bound_of(c, slice.u.items[0], down ? INT64_MAX : 0);
    struct value stop = bound_of(c, slice.u.items[1], down ? INT64_MIN : INT64_MAX);
    if (c->failed)
        return failed_tensor();
    check(c, gt(c, step.u.sym, SYM_ID_ZERO), "ValueError", "step must be greater than zero");
    if (dim >= 0 && dim < (int64_t)x.meta->ndim && !always && !c->failed) {
        bool whole = known_true(c, eq(c, start.u.sym, SYM_ID_ZERO)) &&
                     known_true(c, le(c, x.meta->size[dim], stop.u.sym)) &&
                     guard_bool(c, eq(c, step.u.sym, SYM_ID_ONE));
        if (whole)
            return x;
    }
    struct value args[] = { value_tensor(x), integer(c, dim), start, stop, step };
    return value_as_tensor(c, py_op(c, "aten.slice.Tensor", args, 5));
}

static struct tensor insert_dim(struct call *c, struct tensor x, int64_t dim)
{
    return call_with(c, "aten.unsqueeze", x, integer(c, dim));
}

/* outIndices.resize(n). */
static bool pad_tensors(struct index_builder *in, uint32_t n)
{
    if (n > in->room)
        return refuse(in->c, "IndexError", "too many indices for tensor of dimension %u",
                      in->self.meta->ndim);
    while (in->n_tensors < n)
        in->tensors[in->n_tensors++] = value_none();
    return true;
}

/* recordTensorIndex. */
static void record_tensor(struct index_builder *in, struct tensor tensor)
{
    if (!pad_tensors(in, (uint32_t)in->dim + 1))
        return;
    in->tensors[in->dim++] = value_tensor(tensor);
    in->advanced = true;
}

/* boolToIndexingTensor: adds one index 0, or none. */
static void record_bool(struct index_builder *in, bool value)
{
    struct call *c = in->c;
    sym_id size = value ? SYM_ID_ONE : SYM_ID_ZERO;
    struct value list = value_int(size);
    struct keyword keywords[] = {
        { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = DTYPE_I64 } },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = in->self.meta->device } },
    };
    struct value sizes = value_items(VALUE_LIST, &list, 1);
    in->result = insert_dim(c, in->result, in->dim);
    record_tensor(
        in, value_as_tensor(c, py_op_keywords(c, value ? "aten.zeros" : "aten.empty.memory_format",
                                              &sizes, 1, keywords, 2)));
}

static bool is_mask_dtype(enum dtype dtype)
{
    return dtype == DTYPE_B8 || dtype == DTYPE_U8;
}

static void index_by_tensor(struct index_builder *in, struct tensor index, uint32_t real_dim)
{
    struct call *c = in->c;
    enum dtype dtype = index.meta->dtype;
    bool integral = dtype == DTYPE_B8 || dtype_is_integer(dtype);
    if (index.meta->ndim || !integral || index.batch) { /* a batched one has no single value */
        record_tensor(in, index);
        return;
    }
    struct value tensor = value_tensor(index), item = py_op(c, "aten.item", &tensor, 1);
    if (is_mask_dtype(dtype))
        record_bool(in, py_truth(c, item));
    else if (!c->failed)
        in->result = apply_select(c, in->result, in->dim,
                                  value_int(num(c, guard_int(c, item.u.sym))), real_dim);
}

/* sequenceToVariable: torch.tensor(list) on the device of x. */
static struct tensor tensor_of_list(struct index_builder *in, struct value list)
{
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n = 0;
    enum dtype dtype = DTYPE_I64;
    for (struct value at = list; n < TENSOR_MAX_DIM && value_is_sequence(at); at = at.u.items[0]) {
        sizes[n++] = num(in->c, at.n);
        if (!at.n)
            break;
        if (at.u.items[0].kind == VALUE_BOOL)
            dtype = DTYPE_B8;
    }
    if (in->c->ops->nested_observer)
        return python_data(in->c, list, dtype, in->self.meta->device);
    return new_tensor(in->c, dtype, in->self.meta->device, sizes, n);
}

/* handleDimInMultiDimIndexing. */
static void index_one(struct index_builder *in, struct value index, uint32_t real_dim)
{
    struct call *c = in->c;
    switch (index.kind) {
    case VALUE_INT: /* PyNumber_Index: a SymInt becomes an int */
        index = value_int(num(c, guard_int(c, index.u.sym)));
        in->result = apply_select(c, in->result, in->dim, index, real_dim);
        break;
    case VALUE_SLICE:
        in->result = apply_slice(c, in->result, in->dim, index, false);
        in->dim++;
        break;
    case VALUE_ELLIPSIS: in->dim += (int64_t)in->self.meta->ndim - in->specified; break;
    case VALUE_NONE:
        in->result = insert_dim(c, in->result, in->dim);
        in->dim++;
        break;
    case VALUE_BOOL: record_bool(in, guard_bool(c, index.u.sym)); break;
    case VALUE_TENSOR: index_by_tensor(in, index.u.tensor, real_dim); break;
    case VALUE_LIST:
    case VALUE_TUPLE: index_by_tensor(in, tensor_of_list(in, index), real_dim); break;
    default:
        refuse(c, "IndexError",
               "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
               "are valid indices");
    }
    if (!c->failed && in->n_tensors && in->n_tensors < (uint32_t)in->dim)
        pad_tensors(in, (uint32_t)in->dim);
}

static uint32_t count_specified(const struct value *items, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (items[i].kind == VALUE_TENSOR)
            count +=
                is_mask_dtype(items[i].u.tensor.meta->dtype) ? items[i].u.tensor.meta->ndim : 1;
        else if (items[i].kind != VALUE_NONE && items[i].kind != VALUE_ELLIPSIS &&
                 items[i].kind != VALUE_BOOL)
            count++;
    }
    return count;
}

/* treatSequenceAsTuple. */
static bool like_tuple(struct value index)
{
    if (index.kind == VALUE_TUPLE)
        return true;
    if (index.kind != VALUE_LIST || index.n >= 32)
        return false;
    for (uint32_t i = 0; i < index.n; i++) {
        enum value_kind kind = index.u.items[i].kind;
        if (kind == VALUE_TENSOR || kind == VALUE_LIST || kind == VALUE_TUPLE ||
            kind == VALUE_SLICE || kind == VALUE_ELLIPSIS || kind == VALUE_NONE)
            return true;
    }
    return false;
}

/* applySlicing: puts what is left for index.Tensor into in->tensors. */
static bool apply_slicing(struct index_builder *in, const struct value *items, uint32_t n)
{
    struct call *c = in->c;
    in->result = in->self;
    in->specified = count_specified(items, n);
    in->room = in->self.meta->ndim + n + 1;
    in->tensors = ops_values(c->ops, in->room);
    if (!in->tensors)
        return python_no_memory(c);
    if (in->specified > in->self.meta->ndim)
        return refuse(c, "IndexError", "too many indices for tensor of dimension %u",
                      in->self.meta->ndim);
    for (uint32_t i = 0; i < n && !c->failed; i++)
        index_one(in, items[i], i);
    return !c->failed;
}

static bool is_simple_index(struct value index)
{
    return index.kind == VALUE_NONE || index.kind == VALUE_ELLIPSIS || index.kind == VALUE_SLICE;
}

static struct tensor apply_simple_index(struct call *c, struct tensor x, struct value index)
{
    if (index.kind == VALUE_NONE)
        return insert_dim(c, x, 0);
    if (index.kind == VALUE_SLICE)
        return apply_slice(c, x, 0, index, true);
    struct value self = value_tensor(x);
    return value_as_tensor(c, py_op(c, "aten.alias", &self, 1));
}

/* Returns whether an index consists of tensors and numbers: what TransformGetItemToIndex
 * (torch/_dynamo/_trace_wrapped_higher_order_op.py) passes to index(). */
static bool is_tensor_index(const struct value *items, uint32_t n)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any |= items[i].kind == VALUE_TENSOR;
        if (items[i].kind != VALUE_TENSOR && items[i].kind != VALUE_INT)
            return false;
    }
    return any;
}

/* mod_index of the same file: torch.ops.aten.index(x, indices), with a tensor for each number. */
static struct value index_by_scalars(struct call *c, struct tensor x, const struct value *items,
                                     uint32_t n)
{
    struct value *indices = ops_values(c->ops, n);
    if (!indices)
        return python_no_memory(c), value_none();
    for (uint32_t i = 0; i < n; i++)
        indices[i] = items[i].kind == VALUE_TENSOR
                         ? items[i]
                         : value_tensor(new_tensor(c, DTYPE_I64, x.meta->device, NULL, 0));
    struct value args[] = { value_tensor(x), value_items(VALUE_LIST, indices, n) };
    return py_op(c, "aten.index.Tensor", args, 2);
}

struct value python_getitem(struct call *c, struct tensor x, struct value index)
{
    count_devices(c, 2); /* THPVariable_getitem of torch/csrc/autograd */
    if (is_simple_index(index))
        return value_tensor(apply_simple_index(c, x, index));
    struct index_builder in = { .c = c, .self = x };
    bool tuple = like_tuple(index);
    const struct value *items = tuple ? index.u.items : &index;
    uint32_t n = tuple ? index.n : 1;
    if (c->ops->scalar_tensors_index && is_tensor_index(items, n))
        return index_by_scalars(c, x, items, n);
    if (!apply_slicing(&in, items, n))
        return value_none();
    if (in.advanced)
        return py_op(c, "aten.index.Tensor",
                     (struct value[]){ value_tensor(in.result),
                                       value_items(VALUE_LIST, in.tensors, in.n_tensors) },
                     2);
    struct value self = value_tensor(in.result);
    if (in.result.meta == x.meta && in.result.storage == x.storage && !in.dim)
        return py_op(c, "aten.alias", &self, 1);
    return self;
}

/* slicePrefix1sSize: counts the leading ones of the sizes. */
static uint32_t leading_ones(struct call *c, struct tensor x)
{
    uint32_t n = 0;
    while (n < x.meta->ndim && guard_or_false(c, eq_int(c, x.meta->size[n], 1)))
        n++;
    return n;
}

static struct tensor without_leading_ones(struct call *c, struct tensor x)
{
    uint32_t skip = leading_ones(c, x);
    if (c->failed)
        return x;
    struct value sizes = python_sizes(c, x.meta->size + skip, x.meta->ndim - skip);
    return call_with(c, "aten.view", x, sizes);
}

/* copy_to. */
static bool copy_to(struct call *c, struct tensor dst, struct tensor src)
{
    if (c->failed)
        return false;
    bool same = dst.meta->ndim == src.meta->ndim;
    for (uint32_t i = 0; same && i < dst.meta->ndim; i++)
        same = guard_or_false(c, eq(c, dst.meta->size[i], src.meta->size[i]));
    struct value args[] = { value_tensor(dst), value_tensor(src) };
    if (same || (src.meta->ndim == 0 && src.meta->device.type == DEVICE_CPU)) {
        py_op(c, same ? "aten.copy_" : "aten.fill_.Tensor", args, 2);
        return !c->failed;
    }
    src = without_leading_ones(c, src);
    if (c->failed)
        return false;
    args[1] = value_tensor(
        call_with(c, "aten.expand", src, python_sizes(c, dst.meta->size, dst.meta->ndim)));
    py_op(c, "aten.copy_", args, 2);
    return !c->failed;
}

/* valueToTensor: turns a number into a 0-dim tensor of x's dtype and device. */
static struct tensor value_tensor_for(struct call *c, struct tensor x, struct value value)
{
    if (value.kind == VALUE_TENSOR)
        return value.u.tensor;
    if (!value_is_number(value) && value.kind != VALUE_COMPLEX) {
        refuse(c, "TypeError", "can't assign that to a tensor");
        return failed_tensor();
    }
    if (!ops_has_nested_observer(c->ops))
        return new_tensor(c, x.meta->dtype, x.meta->device, NULL, 0);
    struct value none = value_items(VALUE_LIST, NULL, 0); /* an observer computes it */
    struct tensor ret = call_with(c, "aten.new_empty", x, none);
    call_with(c, "aten.fill_.Scalar", ret, value);
    return ret;
}

bool python_setitem(struct call *c, struct tensor x, struct value index, struct value value)
{
    struct tensor src = value_tensor_for(c, x, value);
    if (c->failed)
        return false;
    if (index.kind == VALUE_BOOL && !guard_bool(c, index.u.sym))
        return !c->failed;
    if (index.kind == VALUE_ELLIPSIS)
        return copy_to(c, x, src);
    if (index.kind == VALUE_NONE || index.kind == VALUE_BOOL)
        return copy_to(c, insert_dim(c, x, 0), src);
    if (index.kind == VALUE_SLICE)
        return copy_to(c, apply_slice(c, x, 0, index, false), src);
    struct index_builder in = { .c = c, .self = x };
    bool tuple = like_tuple(index);
    if (!apply_slicing(&in, tuple ? index.u.items : &index, tuple ? index.n : 1))
        return false;
    if (!in.advanced)
        return copy_to(c, in.result, src);
    if (leading_ones(c, src))
        src = without_leading_ones(c, src);
    struct value args[] = { value_tensor(in.result),
                            value_items(VALUE_LIST, in.tensors, in.n_tensors), value_tensor(src) };
    py_op(c, "aten.index_put_", args, 3);
    return !c->failed;
}
