/* Chooses the overload of aten::NAME for a Python call (torch/csrc/utils/python_arg_parser.cpp). */
#include "replay/ops/python/python_internal.h"

/* Functions that accept a number for a Tensor (should_allow_numbers_as_tensors). */
static const char *const numbers_as_tensors[] = {
    "_conj",    "_to_copy",  "add",      "add_",        "copy",         "copy_",
    "div",      "div_",      "divide",   "divide_",     "floor_divide", "floor_divide_",
    "mul",      "mul_",      "multiply", "multiply_",   "sub",          "sub_",
    "subtract", "subtract_", "to",       "true_divide", "true_divide_",
};

static bool takes_numbers(struct str base)
{
    return STR_IS_ANY(base, numbers_as_tensors);
}

/* Returns whether Python has a binding of the overload (SKIP_PYTHON_BINDINGS_SIGNATURES of
 * tools/autograd/gen_python_functions.py): a number goes to the overload of two tensors. */
static bool is_bound(struct str op)
{
    static const char *const skipped[] = {
        "aten.add.Scalar",  "aten.sub.Scalar",  "aten.mul.Scalar",  "aten.div.Scalar",
        "aten.add_.Scalar", "aten.sub_.Scalar", "aten.mul_.Scalar", "aten.div_.Scalar",
    };
    return !str_ends(op, STR(".Scalar")) || !STR_IS_ANY(op, skipped);
}

static bool accepts_item(const struct schema_slot *slot, struct value value, bool numbers)
{
    bool tensor = value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim == 0;
    switch (slot->type) {
    case SCHEMA_TENSOR:
        return value.kind == VALUE_TENSOR ||
               (numbers && (value_is_number(value) || value.kind == VALUE_COMPLEX));
    case SCHEMA_SCALAR: return value_is_number(value) || value.kind == VALUE_COMPLEX || tensor;
    case SCHEMA_INT:
    case SCHEMA_SYMINT:
        return value.kind == VALUE_INT || (tensor && (value.u.tensor.meta->dtype == DTYPE_I64 ||
                                                      value.u.tensor.meta->dtype == DTYPE_I32));
    /* A bool of Python is an int (THPUtils_checkDouble of torch/csrc/utils/python_numbers.h); a
     * SymBool is not. */
    case SCHEMA_FLOAT:
        return tensor ||
               (value_is_number(value) && (value.kind != VALUE_BOOL || value.u.sym <= SYM_ID_TRUE));
    case SCHEMA_BOOL: return value.kind == VALUE_BOOL;
    case SCHEMA_COMPLEX: return value_is_number(value) || value.kind == VALUE_COMPLEX;
    case SCHEMA_STRING: return value.kind == VALUE_STRING;
    case SCHEMA_DTYPE: return value.kind == VALUE_DTYPE;
    case SCHEMA_LAYOUT: return value.kind == VALUE_LAYOUT;
    case SCHEMA_MEMORY_FORMAT: return value.kind == VALUE_MEMORY_FORMAT;
    case SCHEMA_DEVICE:
        return value.kind == VALUE_DEVICE || value.kind == VALUE_STRING || value.kind == VALUE_INT;
    case SCHEMA_ANY: return value.kind == VALUE_OPAQUE || value.kind == VALUE_STRING;
    }
    return false;
}

/* FunctionParameter::check. */
static bool accepts_value(const struct schema_slot *slot, struct value value, bool numbers)
{
    if (value.kind == VALUE_NONE)
        return slot->optional || slot->type == SCHEMA_ANY;
    if (!slot->list)
        return accepts_item(slot, value, numbers);
    if (!value_is_sequence(value)) /* int[2] of one int; Tensor[] of one tensor never */
        return slot->length && slot->type != SCHEMA_TENSOR && accepts_item(slot, value, false);
    for (uint32_t i = 0; i < value.n; i++) {
        struct value item = value.u.items[i];
        if (item.kind == VALUE_NONE ? !slot->optional_items : !accepts_item(slot, item, false))
            return false;
    }
    return true;
}

/* Returns whether Python has that name for an argument (numpy_compatibility_arg_names). */
static bool is_name_of(const struct schema_slot *slot, struct str keyword)
{
    static const struct {
        const char *schema, *python;
    } aliases[] = {
        { "self", "input" }, { "dim", "axis" }, { "keepdim", "keepdims" }, { "self", "x" },
        { "self", "a" },     { "self", "x1" },  { "other", "x2" },         { "input", "x" },
    };
    if (str_eq(slot->name, keyword))
        return true;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_is(slot->name, aliases[i].schema) && str_is(keyword, aliases[i].python))
            return true;
    return false;
}

/* Returns whether positional arguments form the signature's only list, as in x.view(2, 3). */
static bool varargs(const struct schema *schema, bool method, const struct value *args, uint32_t n,
                    uint32_t *slot)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < schema->n_positional; i++) {
        if (method && str_is(schema->args[i].name, "self"))
            continue;
        first = i;
        break;
    }
    if (first == UINT32_MAX || !schema->args[first].list || schema->args[first].length ||
        (schema->args[first].type != SCHEMA_INT && schema->args[first].type != SCHEMA_SYMINT) ||
        schema->n_positional != first + 1)
        return false;
    uint32_t from = method ? 1 : 0;
    if (n <= from || value_is_sequence(args[from]) || args[from].kind == VALUE_NONE)
        return false;
    for (uint32_t i = from; i < n; i++)
        if (!accepts_item(&schema->args[first], args[i], false))
            return false;
    *slot = first;
    return true;
}

struct binding_attempt {
    const struct schema *schema;
    struct value *bound; /* SCHEMA_MAX_SLOTS items */
    uint64_t given;      /* a bit for each argument */
    bool numbers, method;
};

static bool bind_at(struct binding_attempt *a, uint32_t i, struct value value)
{
    if (i >= SCHEMA_MAX_SLOTS || a->given >> i & 1 ||
        !accepts_value(&a->schema->args[i], value, a->numbers))
        return false;
    a->given |= UINT64_C(1) << i;
    a->bound[i] = value;
    return true;
}

static bool give_positional(struct call *c, struct binding_attempt *a, const struct value *args,
                            uint32_t n)
{
    const struct schema *schema = a->schema;
    uint32_t from = 0, slot = 0;
    if (a->method) { /* the receiver is `self`, at whatever position */
        while (slot < schema->n_args && !str_is(schema->args[slot].name, "self"))
            slot++;
        if (slot == schema->n_args || !n || !bind_at(a, slot, args[0]))
            return false;
        from = 1;
    }
    if (varargs(schema, a->method, args, n, &slot)) {
        struct value *items = ops_values(c->ops, n - from);
        if (!items)
            return false;
        memcpy(items, args + from, (n - from) * sizeof *items);
        return bind_at(a, slot, value_items(VALUE_LIST, items, n - from));
    }
    slot = 0;
    for (uint32_t i = from; i < n; i++, slot++) {
        while (slot < schema->n_positional && a->given >> slot & 1)
            slot++;
        if (slot >= schema->n_positional || !bind_at(a, slot, args[i]))
            return false;
    }
    return true;
}

static bool bind_keyword(struct binding_attempt *a, const struct keyword *keyword)
{
    const struct schema *schema = a->schema;
    for (uint32_t i = 0; i < schema->n_args && i < SCHEMA_MAX_SLOTS; i++)
        if (is_name_of(&schema->args[i], keyword->name))
            return bind_at(a, i, keyword->value);
    return str_is(keyword->name, "requires_grad") ||
           (keyword->value.kind == VALUE_NONE && str_is(keyword->name, "out"));
}

static bool try_overload(struct call *c, struct binding_attempt *a,
                         const struct arguments *arguments)
{
    a->given = 0;
    if (a->schema->n_args > SCHEMA_MAX_SLOTS ||
        !give_positional(c, a, arguments->values, arguments->n))
        return false;
    for (uint32_t i = 0; i < arguments->n_keywords; i++)
        if (!bind_keyword(a, &arguments->keywords[i]))
            return false;
    for (uint32_t i = 0; i < a->schema->n_args; i++)
        if (!(a->given >> i & 1)) {
            if (!a->schema->args[i].has_default)
                return false;
            a->bound[i] = a->schema->args[i].default_value;
        }
    return true;
}

/* --- The order of the parser's signatures: sort_overloads of tools/autograd/
 *     gen_python_functions.py --- */

/* Returns whether a's type is smaller there than b's; lists are a further case. */
static bool is_smaller_type(const struct schema_slot *a, const struct schema_slot *b)
{
    bool int_a = a->type == SCHEMA_INT || a->type == SCHEMA_SYMINT;
    bool int_b = b->type == SCHEMA_INT || b->type == SCHEMA_SYMINT;
    if (!a->list && !b->list && b->type == SCHEMA_TENSOR)
        return (a->type == SCHEMA_SCALAR && a->optional == b->optional) || (int_a && !a->optional);
    if (a->list && int_a && !b->list && int_b)
        return true;
    if (a->list && a->type == SCHEMA_TENSOR && b->list && b->type != SCHEMA_TENSOR)
        return true;
    if (str_find(a->type_text, STR("Dimname")) < a->type_text.n &&
        str_find(b->type_text, STR("Dimname")) == b->type_text.n)
        return true;
    return false;
}

/* Returns whether a's signature is smaller than b's: as long, no argument larger, one smaller. */
static bool signature_smaller(const struct schema *a, const struct schema *b)
{
    bool one = false;
    if (a->n_positional != b->n_positional)
        return false;
    for (uint32_t i = 0; i < a->n_positional; i++) {
        if (is_smaller_type(&a->args[i], &b->args[i]))
            one = true;
        else if (is_smaller_type(&b->args[i], &a->args[i]))
            return false;
    }
    return one;
}

static int signature_text(const struct schema *a, const struct schema *b)
{
    for (uint32_t i = 0; i < a->n_args && i < b->n_args; i++) {
        int order = str_cmp(a->args[i].type_text, b->args[i].type_text);
        if (order)
            return order;
        order = str_cmp(a->args[i].name, b->args[i].name);
        if (order)
            return order;
    }
    return (int)a->n_args - (int)b->n_args;
}

/* Returns whether a comes before b: larger signatures first, then by their texts. */
static bool is_earlier_overload(const struct schema *a, const struct schema *b)
{
    if (signature_smaller(a, b))
        return false;
    if (signature_smaller(b, a))
        return true;
    return signature_text(a, b) < 0;
}

/* Converts a SymInt or SymFloat for a schema's int or float, which adds a guard
 * (PythonArgs::toInt64, toDouble) on SymNode.expr, in which symbols are replaced. */
static struct value unpacked(struct call *c, struct value value)
{
    bool number =
        value_is_number(value) && !sym_is_number(c->pool, value.u.sym) && value.u.sym > SYM_ID_TRUE;
    if (!number || c->failed)
        return value;
    sym_id e = env_replace(c->env, value.u.sym);
    sym_id constant = env_evaluate(c->env, e, SYM_NONE, false, SYM_NONE);
    if (constant == SYM_NONE)
        call_raised(c);
    return value_sym(value.kind, constant);
}

static bool unpack_list(struct call *c, struct value *list)
{
    struct value *items = ops_values(c->ops, list->n);
    if (!items)
        return python_no_memory(c);
    for (uint32_t j = 0; j < list->n; j++)
        items[j] = unpacked(c, list->u.items[j]);
    *list = value_items(list->kind, items, list->n);
    return !c->failed;
}

/* The generated bindings convert arguments within the call of the C++ function, from the last to
 * the first. */
bool python_unpack(struct call *c, const struct op *op, struct value *args, uint32_t n)
{
    for (uint32_t i = n < op->schema.n_args ? n : op->schema.n_args; i-- > 0;) {
        if (op->schema.args[i].type != SCHEMA_FLOAT && op->schema.args[i].type != SCHEMA_INT)
            continue;
        if (!value_is_sequence(args[i]))
            args[i] = unpacked(c, args[i]);
        else if (!unpack_list(c, &args[i]))
            return false;
    }
    return !c->failed;
}

/* Makes the call with the bound values: keyword-only arguments by name, if they were given. */
static bool call_bound(struct call *c, struct op *op, struct binding_attempt *a, struct value *ret)
{
    const struct schema *schema = a->schema;
    struct keyword keywords[SCHEMA_MAX_SLOTS];
    uint32_t n = 0, n_keywords = 0;
    if (!python_unpack(c, op, a->bound, schema->n_args) ||
        (!python_nests(c) && !python_autocast(c, op, a->bound, schema->n_args, &a->given)))
        return false;
    for (uint32_t i = 0; i < schema->n_args; i++) {
        if (!(a->given >> i & 1))
            continue;
        if (i < schema->n_positional)
            n = i + 1;
        else
            keywords[n_keywords++] = (struct keyword){ schema->args[i].name, a->bound[i] };
    }
    return python_dispatch(c, op, a->bound, n, keywords, n_keywords, ret);
}

bool python_overloads(struct call *c, struct str base, bool method,
                      const struct arguments *arguments, struct value *ret, bool *found)
{
    struct value bound[2][SCHEMA_MAX_SLOTS];
    struct binding_attempt best = { 0 };
    struct op *chosen = NULL;
    struct op *op = python_base(c, base);
    bool numbers = op && takes_numbers(base);
    *found = op != NULL;
    for (; op; op = op_table_next(&c->ops->table, op)) {
        if (!op_prepare(c->ops, op))
            return python_no_memory(c);
        struct binding_attempt attempt = {
            .schema = &op->schema,
            .bound = bound[chosen && best.bound == bound[0]],
            .numbers = numbers,
            .method = method,
        };
        if (!is_bound(op_name(op)) || !try_overload(c, &attempt, arguments) ||
            (chosen && !is_earlier_overload(&op->schema, best.schema)))
            continue;
        best = attempt;
        chosen = op;
    }
    return chosen && call_bound(c, chosen, &best, ret);
}
