/* operator.NAME on tensors, numbers, tuples and lists. */
#include "replay/ops/python/python_internal.h"

enum reflection { SWAP, KEEP, RECIPROCAL };

struct operator_rule {
    const char *name, *base, *reflected;
    enum reflection how;
};

static const struct operator_rule rows[] = {
#define OPERATOR(name, base, reflected, how) { name, base, reflected, how },
#include "replay/ops/python/python_operators.def"
#undef OPERATOR
};

/* Returns "and" for "and_", which the operator module escapes because it is a keyword. */
static struct str plain_name(struct str name)
{
    return name.n > 1 && name.p[name.n - 1] == '_' ? str_first(name, name.n - 1) : name;
}

static const struct operator_rule *find_operator(struct str name)
{
    name = plain_name(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

/* x.__rtruediv__: self.reciprocal() * other (torch/_tensor.py). */
static struct value reciprocal(struct call *c, struct value other, struct value x)
{
    struct value one = py_call(c, "reciprocal", &x, 1);
    return py_call(c, "mul", (struct value[]){ one, other }, 2);
}

static struct value on_tensors(struct call *c, const struct operator_rule *row,
                               const struct value *args, uint32_t n)
{
    if (args[0].kind == VALUE_TENSOR || n == 1)
        return py_call(c, row->base, args, n);
    if (n != 2 || !row->reflected) {
        refuse(c, "TypeError", "%s: unsupported operands", row->name);
        return value_none();
    }
    if (row->how == RECIPROCAL)
        return reciprocal(c, args[0], args[1]);
    struct value swapped[] = { args[1], args[0] };
    return py_call(c, row->reflected, row->how == SWAP ? swapped : args, 2);
}

/* --- Tuples, lists, sizes --- */

static struct value concat_sequences(struct call *c, struct value a, struct value b)
{
    struct value *items = ops_values(c->ops, (size_t)a.n + b.n);
    if (!items && a.n + b.n) {
        python_no_memory(c);
        return value_none();
    }
    if (a.n)
        memcpy(items, a.u.items, a.n * sizeof *items);
    if (b.n)
        memcpy(items + a.n, b.u.items, b.n * sizeof *items);
    return value_items(a.kind, items, a.n + b.n);
}

enum { MAX_REPEATED = 1 << 16 };

static struct value repeat_sequence(struct call *c, struct value a, struct value times)
{
    int64_t n = guard_int(c, times.u.sym);
    n = n < 0 ? 0 : n;
    if (c->failed || (a.n && n > MAX_REPEATED / (int64_t)a.n)) {
        unsupported(c, "a sequence repeated that often");
        return value_none();
    }
    struct value ret = value_items(a.kind, NULL, 0);
    for (int64_t i = 0; i < n && a.n && !c->failed; i++)
        ret = concat_sequences(c, ret, a);
    return ret;
}

/* Compares any values but tensors; comparing numbers adds guards. */
static bool equal(struct call *c, struct value a, struct value b)
{
    if (value_is_number(a) && value_is_number(b)) {
        bool found;
        struct value yes = python_number(c, STR("eq"), (struct value[]){ a, b }, 2, &found);
        return py_truth(c, yes);
    }
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VALUE_NONE:
    case VALUE_ELLIPSIS: return true;
    case VALUE_STRING:
    case VALUE_FUNCTION:
    case VALUE_GRAPH:
    case VALUE_OPAQUE: return str_eq(a.u.text, b.u.text);
    case VALUE_DTYPE: return a.u.dtype == b.u.dtype;
    case VALUE_LAYOUT: return a.u.layout == b.u.layout;
    case VALUE_MEMORY_FORMAT: return a.u.memory_format == b.u.memory_format;
    case VALUE_DEVICE: return device_equal(a.u.device, b.u.device);
    case VALUE_COMPLEX: return a.u.complex.re == b.u.complex.re && a.u.complex.im == b.u.complex.im;
    case VALUE_TENSOR:
        return a.u.tensor.storage == b.u.tensor.storage && a.u.tensor.meta == b.u.tensor.meta;
    default: break;
    }
    bool same = a.n == b.n;
    for (uint32_t i = 0; same && i < a.n && !c->failed; i++)
        same = equal(c, a.u.items[i], b.u.items[i]);
    return same;
}

static struct value boolean(bool value)
{
    return value_sym(VALUE_BOOL, sym_boolean(value));
}

static bool contains_value(struct call *c, struct value list, struct value item)
{
    uint32_t step = list.kind == VALUE_DICT ? 2 : 1;
    for (uint32_t i = 0; i < list.n && !c->failed; i += step)
        if (equal(c, list.u.items[i], item))
            return true;
    return false;
}

/* Operations without tensors: comparisons of any values, sequences. False: it is none of these. */
static bool on_objects(struct call *c, struct str name, const struct value *args, uint32_t n,
                       struct value *ret)
{
    if (n == 1 && (str_is(name, "not_") || str_is(name, "truth")))
        *ret = boolean(py_truth(c, args[0]) == str_is(name, "truth"));
    else if (n == 1 && str_is(name, "index"))
        *ret = args[0];
    else if (n != 2)
        return false;
    else if (str_is(name, "is_") || str_is(name, "is_not"))
        *ret = boolean(equal(c, args[0], args[1]) == str_is(name, "is_"));
    else if (str_is(name, "contains") && (value_is_sequence(args[0]) || args[0].kind == VALUE_DICT))
        *ret = boolean(contains_value(c, args[0], args[1]));
    else if (args[0].kind == VALUE_TENSOR || args[1].kind == VALUE_TENSOR ||
             (value_is_number(args[0]) && value_is_number(args[1])))
        return false;
    else if (str_is(name, "eq") || str_is(name, "ne"))
        *ret = boolean(equal(c, args[0], args[1]) == str_is(name, "eq"));
    else if ((str_is(name, "add") || str_is(name, "iadd") || str_is(name, "concat")) &&
             value_is_sequence(args[0]) && value_is_sequence(args[1]))
        *ret = concat_sequences(c, args[0], args[1]);
    else if ((str_is(name, "mul") || str_is(name, "imul")) && value_is_sequence(args[0]) &&
             args[1].kind == VALUE_INT)
        *ret = repeat_sequence(c, args[0], args[1]);
    else if (str_is(name, "mul") && value_is_sequence(args[1]) && args[0].kind == VALUE_INT)
        *ret = repeat_sequence(c, args[1], args[0]);
    else
        return false;
    return true;
}

/* --- object[index] --- */

static bool sequence_item(struct call *c, struct value object, struct value index,
                          struct value *ret)
{
    int64_t i = index.kind == VALUE_INT ? guard_int(c, index.u.sym) : 0;
    if (c->failed || index.kind != VALUE_INT)
        return refuse(c, "TypeError", "indices must be integers or slices");
    i += i < 0 ? object.n : 0;
    if (i < 0 || i >= object.n)
        return refuse(c, "IndexError", "%s index out of range",
                      object.kind == VALUE_LIST ? "list" : "tuple");
    *ret = object.u.items[i];
    return true;
}

/* slice.indices() for one bound. */
static int64_t slice_bound(struct call *c, struct value bound, int64_t otherwise, int64_t n,
                           int64_t step)
{
    if (bound.kind != VALUE_INT)
        return otherwise;
    int64_t i = guard_int(c, bound.u.sym);
    if (i < 0)
        i += n;
    if (i < 0)
        return step < 0 ? -1 : 0;
    return i < n ? i : step < 0 ? n - 1 : n;
}

static bool sequence_slice(struct call *c, struct value object, struct value slice,
                           struct value *ret)
{
    int64_t n = object.n, step = 1;
    if (slice.u.items[2].kind == VALUE_INT)
        step = guard_int(c, slice.u.items[2].u.sym);
    if (!step)
        return refuse(c, "ValueError", "slice step cannot be zero");
    int64_t start = slice_bound(c, slice.u.items[0], step < 0 ? n - 1 : 0, n, step);
    int64_t stop = slice_bound(c, slice.u.items[1], step < 0 ? -1 : n, n, step);
    struct value *items = ops_values(c->ops, object.n);
    uint32_t count = 0;
    if (c->failed || (!items && object.n))
        return python_no_memory(c);
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        items[count++] = object.u.items[i];
        if (step > n || -step > n)
            break;
    }
    *ret = value_items(object.kind, items, count);
    return true;
}

static bool dict_item(struct call *c, struct value object, struct value key, struct value *ret)
{
    for (uint32_t i = 0; i + 1 < object.n; i += 2)
        if (equal(c, object.u.items[i], key)) {
            *ret = object.u.items[i + 1];
            return true;
        }
    return refuse(c, "KeyError", "no such key");
}

bool python_item(struct call *c, struct value object, struct value index, struct value *ret)
{
    if (object.kind == VALUE_TENSOR) {
        *ret = python_getitem(c, object.u.tensor, index);
        return !c->failed;
    }
    if (object.kind == VALUE_DICT)
        return dict_item(c, object, index, ret);
    if (!value_is_sequence(object))
        return refuse(c, "TypeError", "object is not subscriptable");
    return index.kind == VALUE_SLICE ? sequence_slice(c, object, index, ret)
                                     : sequence_item(c, object, index, ret);
}

/* Returns an in-place operator's name without the i, as it applies to values without tensors. */
static struct str without_i(struct str name)
{
    return name.n > 1 && name.p[0] == 'i' ? str_from(name, 1) : name;
}

bool python_operator(struct call *c, struct str name, const struct value *args, uint32_t n,
                     struct value *ret, bool *found)
{
    *found = true;
    if (str_is(name, "getitem") && n == 2)
        return python_item(c, args[0], args[1], ret);
    if (str_is(name, "setitem") && n == 3 && args[0].kind == VALUE_TENSOR) {
        *ret = value_none();
        return python_setitem(c, args[0].u.tensor, args[1], args[2]);
    }
    if (on_objects(c, name, args, n, ret))
        return !c->failed;
    const struct operator_rule *row = find_operator(name);
    bool tensors = false, numbers = true;
    for (uint32_t i = 0; i < n; i++) {
        tensors = tensors || args[i].kind == VALUE_TENSOR;
        numbers = numbers && value_is_number(args[i]);
    }
    if (tensors && row && n >= 1 && n <= 2) {
        *ret = on_tensors(c, row, args, n);
        return !c->failed;
    }
    if (numbers && n) {
        *ret = python_number(c, name, args, n, found);
        if (!*found)
            *ret = python_number(c, without_i(name), args, n, found);
        if (*found)
            return !c->failed;
    }
    *found = false;
    return false;
}
