/* Calls by the name that a graph prints: resolving the name, and the frame in which a body runs. */
#include "replay/ops/python/python_internal.h"

#include <stdio.h>

static const struct python_row rows[] = {
#define PYTHON(name, signature, rule, base) { name, signature, python_##rule, base },
#include "replay/ops/python/python.def"
#undef PYTHON
};

enum { N_ROWS = sizeof rows / sizeof *rows };

size_t python_count(void)
{
    return N_ROWS;
}

const struct python_row *python_at(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

/* The rows are sorted by name, which a test checks. */
const struct python_row *python_find(struct str name)
{
    size_t low = 0, high = N_ROWS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(str_of(rows[middle].name), name);
        if (order == 0)
            return &rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- Resolving names --- */

/* Prefixes of names with the same meaning: `from` is replaced by `to`. */
static const struct {
    const char *from, *to;
} prefixes[] = {
#define PREFIX(from, to) { from, to },
#include "replay/ops/python/python_prefixes.def"
#undef PREFIX
};

enum { MAX_NAME = 160 };

/* Returns the name of a wrapped function without the number that makes it unique: each is an object
 * of its own (add_global of CodeGen in torch/fx/graph.py). */
static struct str without_number(struct str name)
{
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    return n && n < name.n && name.p[n - 1] == '_' ? str_first(name, n - 1) : name;
}

/* Returns the canonical name, in `space` if it differs. */
static struct str canonical_name(struct str name, char space[MAX_NAME])
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str from = str_of(prefixes[i].from), to = str_of(prefixes[i].to);
        if (!str_starts(name, from))
            continue;
        struct str rest = str_from(name, from.n);
        if (str_is(to, "numpy."))
            rest = without_number(rest);
        if (to.n + rest.n >= MAX_NAME)
            return name;
        memcpy(space, to.p, to.n);
        memcpy(space + to.n, rest.p, rest.n);
        return (struct str){ space, to.n + rest.n };
    }
    if (str_find_char(name, '.') < name.n || name.n + 9 >= MAX_NAME)
        return name;
    memcpy(space, "builtins.", 9); /* round, abs and max have no prefix */
    memcpy(space + 9, name.p, name.n);
    return (struct str){ space, name.n + 9 };
}

static struct str after_last_dot(struct str name)
{
    size_t i = name.n;
    while (i && name.p[i - 1] != '.')
        i--;
    return str_from(name, i);
}

/* Returns linalg_norm for torch.linalg.norm, and gelu for torch._C._nn.gelu. */
static struct str base_of_name(struct str name, char space[MAX_NAME])
{
    static const char *const families[] = { "linalg", "special", "fft" };
    struct str last = after_last_dot(name);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char prefix[32];
        int n = snprintf(prefix, sizeof prefix, "torch.%s.", families[i]);
        if (!str_starts(name, (struct str){ prefix, (size_t)n }))
            continue;
        n = snprintf(space, MAX_NAME, "%s_%.*s", families[i], STR_ARG(last));
        return n < MAX_NAME ? (struct str){ space, (size_t)n } : last;
    }
    return last;
}

struct op *python_base(struct call *c, struct str base)
{
    char name[MAX_NAME];
    int n = snprintf(name, sizeof name, "aten.%.*s", STR_ARG(base));
    return n < MAX_NAME ? op_table_base(&c->ops->table, (struct str){ name, (size_t)n }) : NULL;
}

/* --- Frames --- */

bool python_result(struct call *c, enum op_outcome outcome)
{
    c->failed = c->failed || outcome != OP_DONE;
    c->unsupported = c->unsupported || outcome == OP_UNSUPPORTED;
    return !c->failed;
}

bool python_no_memory(struct call *c)
{
    ops_no_memory(c->ops);
    c->failed = true;
    return false;
}

static struct call frame(struct ops *ops)
{
    return (struct call){ .ops = ops, .env = ops->env, .pool = ops->pool };
}

/* Numbers the new storages that a body made. */
static void number_body_storages(struct ops *ops, struct value *value, unsigned depth)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.storage == STORAGE_FRESH)
        value->u.tensor.storage = ops->next_storage++;
    if (!value_is_sequence(*value) && value->kind != VALUE_DICT)
        return;
    struct value *items = (struct value *)value->u.items;
    for (uint32_t i = 0; i < value->n && depth < 8; i++)
        number_body_storages(ops, &items[i], depth + 1);
}

static enum op_outcome leave(struct call *c, bool done, struct str name, struct value *ret)
{
    struct ops *ops = c->ops;
    if (!done && !c->failed && ops->outcome == OP_DONE)
        return ops_unsupported(ops, "%.*s", STR_ARG(name));
    if (c->failed || !done)
        return ops->outcome == OP_DONE ? ops_no_memory(ops) : ops->outcome;
    number_body_storages(ops, ret, 0);
    return OP_DONE;
}

static bool run_python_row(struct call *c, const struct python_row *row,
                           const struct arguments *arguments, struct value *ret)
{
    struct call body = frame(c->ops);
    body.op = c->op;
    body.symbolic = c->symbolic;
    body.in_kernel = c->in_kernel;
    body.nests = c->nests;
    body.param = (int32_t)(row - rows);
    body.args = python_bind(&body, row->signature, arguments, &body.n_args);
    bool done = body.args && row->rule(&body);
    *ret = body.ret;
    c->failed = c->failed || body.failed || !body.args;
    return done && !body.failed;
}

/* --- Calls that bodies make --- */

bool python_decomposes(const struct call *c)
{
    return c->op && !c->op->composite;
}

bool python_nests(const struct call *c)
{
    return c->nests || python_decomposes(c);
}

bool python_dispatch(struct call *c, struct op *op, const struct value *args, uint32_t n,
                     const struct keyword *keywords, uint32_t n_keywords, struct value *ret)
{
    if (!python_nests(c))
        return python_result(
            c, ops_call_op(c->ops, op, &(struct arguments){ args, n, keywords, n_keywords }, ret));
    *ret = call_row(c, op, args, n, keywords, n_keywords);
    return !c->failed;
}

static struct value call_overload(struct call *c, struct op *op, const struct value *args,
                                  uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct value ret = value_none(), copy[OPS_MAX_ARGS];
    if (!op_prepare(c->ops, op) || n > OPS_MAX_ARGS) {
        python_no_memory(c);
        return ret;
    }
    if (n)
        memcpy(copy, args, n * sizeof *copy);
    if (!python_unpack(c, op, copy, n))
        return ret;
    if (python_nests(c))
        return call_row(c, op, copy, n, keywords, n_keywords);
    if (python_autocast(c, op, copy, n, NULL))
        python_result(c, ops_dispatch(c->ops, op,
                                      &(struct arguments){ copy, n, keywords, n_keywords }, &ret));
    return ret;
}

struct value py_op_keywords(struct call *c, const char *name, const struct value *args, uint32_t n,
                            const struct keyword *keywords, uint32_t n_keywords)
{
    struct op *op = c->failed ? NULL : op_table_find(&c->ops->table, str_of(name));
    if (!op && !c->failed)
        unsupported(c, "%s", name);
    return op ? call_overload(c, op, args, n, keywords, n_keywords) : value_none();
}

struct value py_op(struct call *c, const char *name, const struct value *args, uint32_t n)
{
    return py_op_keywords(c, name, args, n, NULL, 0);
}

struct value py_call_keywords(struct call *c, const char *base, const struct value *args,
                              uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct value ret = value_none();
    bool found;
    if (c->failed ||
        python_overloads(c, str_of(base), false,
                         &(struct arguments){ args, n, keywords, n_keywords }, &ret, &found))
        return ret;
    if (!c->failed && !found)
        unsupported(c, "aten.%s", base);
    else if (!c->failed)
        refuse(c, "TypeError", "%s() received an invalid combination of arguments", base);
    return value_none();
}

struct value py_call(struct call *c, const char *base, const struct value *args, uint32_t n)
{
    return py_call_keywords(c, base, args, n, NULL, 0);
}

struct tensor value_as_tensor(struct call *c, struct value value)
{
    if (value.kind == VALUE_TENSOR)
        return value.u.tensor;
    if (!c->failed)
        refuse(c, "TypeError", "expected a Tensor");
    return (struct tensor){ 0 };
}

bool py_truth(struct call *c, struct value value)
{
    switch (value.kind) {
    case VALUE_NONE: return false;
    case VALUE_BOOL: return guard_bool(c, value.u.sym);
    case VALUE_INT: return guard_bool(c, ne(c, value.u.sym, SYM_ID_ZERO));
    case VALUE_FLOAT: return guard_bool(c, ne(c, value.u.sym, sym_float(c->pool, 0)));
    case VALUE_STRING: return value.u.text.n > 0;
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT: return value.n > 0;
    case VALUE_TENSOR: {
        struct value item = py_op(c, "aten.item", &value, 1);
        return !c->failed && item.kind != VALUE_TENSOR && py_truth(c, item);
    }
    default: return true;
    }
}

struct value py_int(struct call *c, int64_t value)
{
    return value_int(sym_integer(c->pool, value));
}

struct value py_float(struct call *c, double value)
{
    return value_sym(VALUE_FLOAT, sym_float(c->pool, value));
}

struct value py_list(struct call *c, const struct value *items, uint32_t n)
{
    struct value *copy = ops_values(c->ops, n);
    if (!copy)
        python_no_memory(c);
    else if (n)
        memcpy(copy, items, n * sizeof *copy);
    return value_items(VALUE_LIST, copy, copy ? n : 0);
}

bool py_is(struct value value, const char *text)
{
    return value.kind == VALUE_STRING && str_is(value.u.text, text);
}

bool ret_call(struct call *c, struct value value)
{
    c->ret = value;
    return !c->failed;
}

struct value python_sizes(struct call *c, const sym_id *sizes, uint32_t n)
{
    struct value *items = ops_values(c->ops, n);
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (uint32_t i = 0; i < n; i++)
        items[i] = value_int(sizes[i]);
    return value_items(VALUE_TUPLE, items, n);
}

/* --- Calls from outside --- */

/* Calls aten::BASE by Python's rules; refuses when no overload fits. */
static bool call_overloads(struct call *c, struct str base, bool method,
                           const struct arguments *arguments, struct value *ret, bool *found)
{
    if (python_overloads(c, base, method, arguments, ret, found))
        return true;
    if (*found && !c->failed)
        refuse(c, "TypeError", "%.*s() received an invalid combination of arguments",
               STR_ARG(base));
    return false;
}

static bool all_numbers(const struct value *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!value_is_number(args[i]))
            return false;
    return n > 0;
}

/* Calls torch.sym_max, math.floor, builtins.round ... on numbers. */
static bool number_function(struct call *c, struct str name, const struct value *args, uint32_t n,
                            struct value *ret, bool *found)
{
    *found = false;
    if (!str_starts(name, STR("torch.sym_")) && !str_starts(name, STR("math.")) &&
        !str_starts(name, STR("builtins.")))
        return false;
    if (all_numbers(args, n))
        *ret = python_number(c, after_last_dot(name), args, n, found);
    return *found && !c->failed;
}

/* Finds an operator by its whole name, "aten.cat.default", or "prims.div" if it is the only one. */
static struct op *qualified(const struct call *c, struct str name)
{
    size_t space = str_find_char(name, '.');
    bool overload = str_find_char(str_from(name, space + 1), '.') < name.n - space - 1;
    struct op *op = str_starts(name, STR("torch.")) || (str_starts(name, STR("aten.")) && !overload)
                        ? NULL
                        : op_table_find(&c->ops->table, name);
    return op;
}

bool python_function(struct call *c, struct str target, const struct arguments *arguments,
                     struct value *ret)
{
    char space[MAX_NAME], base_room[MAX_NAME];
    struct str name = canonical_name(target, space);
    const struct python_row *row = python_find(name);
    bool found = false;
    if (row)
        return run_python_row(c, row, arguments, ret);
    if (str_starts(name, STR("numpy."))) /* its dtypes are not those of the operator */
        return unsupported(c, "%.*s", STR_ARG(name));
    if (number_function(c, name, arguments->values, arguments->n, ret, &found) || found)
        return !c->failed;
    if (str_starts(name, STR("operator.")) || str_starts(name, STR("builtins."))) {
        bool done =
            python_operator(c, after_last_dot(name), arguments->values, arguments->n, ret, &found);
        if (found || c->failed)
            return done;
    }
    struct op *op = qualified(c, name);
    if (op) {
        *ret = call_overload(c, op, arguments->values, arguments->n, arguments->keywords,
                             arguments->n_keywords);
        return !c->failed;
    }
    bool method = str_starts(name, STR("Tensor."));
    return call_overloads(c, base_of_name(name, base_room), method, arguments, ret, &found);
}

/* Calls torch.ops.NS.NAME without its overload, where there are several. */
static enum op_outcome call_packet(struct ops *ops, struct str name,
                                   const struct arguments *arguments, struct value *ret)
{
    struct call c = frame(ops);
    bool found;
    if (!str_starts(name, STR("aten.")))
        return ops_unsupported(ops, "%.*s", STR_ARG(name));
    bool done = call_overloads(&c, str_from(name, 5), false, arguments, ret, &found);
    return leave(&c, done, name, ret);
}

bool ops_autocasts(const struct ops *ops)
{
    return ops->autocast.enabled;
}

/* Makes a call of an operator under torch.autocast, which the dispatcher casts, not Python. */
static enum op_outcome dispatch_autocast(struct call *c, struct op *op,
                                         const struct arguments *arguments, struct value *ret)
{
    struct value copy[OPS_MAX_ARGS];
    if (!op_prepare(c->ops, op) || arguments->n > OPS_MAX_ARGS)
        return ops_no_memory(c->ops);
    if (arguments->n)
        memcpy(copy, arguments->values, arguments->n * sizeof *copy);
    if (!python_autocast(c, op, copy, arguments->n, NULL))
        return c->ops->outcome == OP_DONE ? ops_no_memory(c->ops) : c->ops->outcome;
    return ops_dispatch(
        c->ops, op,
        &(struct arguments){ copy, arguments->n, arguments->keywords, arguments->n_keywords }, ret);
}

enum op_outcome ops_call_function(struct ops *ops, struct str target,
                                  const struct arguments *arguments, struct value *ret)
{
    *ret = value_none();
    ops->written.n = 0;
    ops->outcome = OP_DONE;
    struct str name = target;
    if (str_starts(name, STR("torch.ops.")))
        name = str_from(name, 10);
    bool packet = name.n != target.n && ops_is_packet(ops, name);
    struct op *op = packet ? NULL : op_table_find(&ops->table, name);
    if (op && !ops->autocast.enabled)
        return ops_dispatch(ops, op, arguments, ret);
    struct call c = frame(ops);
    if (op)
        return dispatch_autocast(&c, op, arguments, ret);
    if (name.n != target.n && !python_find(name))
        return call_packet(ops, name, arguments, ret);
    bool done = python_function(&c, name, arguments, ret);
    return leave(&c, done, target, ret);
}

/* Splits "__radd__" into "add", reflected. False: Python's operators have no such method. */
static bool split_dunder(struct str method, struct str *name, bool *reflected)
{
    if (method.n < 5 || !str_starts(method, STR("__")) || !str_ends(method, STR("__")))
        return false;
    *name = str_first(str_from(method, 2), method.n - 4);
    *reflected = name->p[0] == 'r' && !str_is(*name, "rshift") && !str_is(*name, "round");
    if (*reflected)
        *name = str_from(*name, 1);
    return true;
}

bool python_method(struct call *c, struct str method, const struct arguments *arguments,
                   struct value *ret)
{
    char space[MAX_NAME];
    struct str name;
    bool reflected, found = false;
    int length = snprintf(space, sizeof space, "Tensor.%.*s", STR_ARG(method));
    const struct python_row *row =
        length < MAX_NAME ? python_find((struct str){ space, (size_t)length }) : NULL;
    if (row)
        return run_python_row(c, row, arguments, ret);
    if (split_dunder(method, &name, &reflected)) {
        struct value swapped[2] = { arguments->values[arguments->n > 1], arguments->values[0] };
        bool done =
            python_operator(c, name, reflected && arguments->n == 2 ? swapped : arguments->values,
                            arguments->n, ret, &found);
        if (found || c->failed)
            return done;
    }
    if (all_numbers(arguments->values, arguments->n)) {
        *ret = python_number(c, method, arguments->values, arguments->n, &found);
        if (found)
            return !c->failed;
    }
    return call_overloads(c, method, true, arguments, ret, &found);
}

enum op_outcome ops_call_method(struct ops *ops, struct str method,
                                const struct arguments *arguments, struct value *ret)
{
    *ret = value_none();
    ops->written.n = 0;
    ops->outcome = OP_DONE;
    struct call c = frame(ops);
    if (!arguments->n)
        return ops_refuse(ops, STR("TypeError"), "a method without its object");
    bool done = python_method(&c, method, arguments, ret);
    return leave(&c, done, method, ret);
}
