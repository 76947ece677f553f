/* PyTorch's error texts for arguments that do not fit a schema
 * (aten/src/ATen/core/function_schema_inl.h, torch/csrc/jit/python/pybind_utils.h), without what
 * pybind11 adds about its casts. */
#include "replay/ops/dispatch/bind.h"

static const struct str error = { "RuntimeError", 12 };

/* Prints as "aten::add". */
#define NAME_ARG(op) STR_ARG((op)->schema.space), STR_ARG((op)->schema.base)

enum op_outcome bind_too_many(struct ops *ops, const struct op *op, uint32_t n, uint32_t n_keywords)
{
    const struct schema *s = &op->schema;
    if (n + n_keywords > s->n_args)
        return ops_refuse(ops, error,
                          "%.*s::%.*s() expected at most %u argument(s) but received %u "
                          "argument(s). Declaration: %.*s",
                          NAME_ARG(op), s->n_args, n + n_keywords, STR_ARG(s->text));
    return ops_refuse(ops, error,
                      "%.*s::%.*s() takes %u positional argument(s) but %u was/were given.  "
                      "Declaration: %.*s",
                      NAME_ARG(op), s->n_positional, n, STR_ARG(s->text));
}

enum op_outcome bind_missing(struct ops *ops, const struct op *op, struct str name)
{
    return ops_refuse(ops, error,
                      "%.*s::%.*s() is missing value for argument '%.*s'. Declaration: %.*s",
                      NAME_ARG(op), STR_ARG(name), STR_ARG(op->schema.text));
}

enum op_outcome bind_unknown_keyword(struct ops *ops, const struct op *op, struct str name)
{
    return ops_refuse(ops, error,
                      "Unknown keyword argument '%.*s' for operator '%.*s::%.*s'. Schema: %.*s",
                      STR_ARG(name), NAME_ARG(op), STR_ARG(op->schema.text));
}

enum op_outcome bind_given_twice(struct ops *ops, const struct op *op, struct str name)
{
    return ops_refuse(ops, error,
                      "Argument '%.*s' specified both as positional and keyword argument. "
                      "Schema: %.*s",
                      STR_ARG(name), STR_ARG(op->schema.text));
}

static const char *value_kind_name(struct value value)
{
    static const char *const names[] = {
        [VALUE_NONE] = "NoneType",     [VALUE_TENSOR] = "Tensor",
        [VALUE_INT] = "int",           [VALUE_FLOAT] = "float",
        [VALUE_BOOL] = "bool",         [VALUE_COMPLEX] = "complex",
        [VALUE_STRING] = "str",        [VALUE_DTYPE] = "dtype",
        [VALUE_LAYOUT] = "layout",     [VALUE_MEMORY_FORMAT] = "memory_format",
        [VALUE_DEVICE] = "device",     [VALUE_LIST] = "list",
        [VALUE_TUPLE] = "tuple",       [VALUE_DICT] = "dict",
        [VALUE_SLICE] = "slice",       [VALUE_ELLIPSIS] = "ellipsis",
        [VALUE_FUNCTION] = "function", [VALUE_GRAPH] = "GraphModule",
        [VALUE_OPAQUE] = "object",
    };
    return (size_t)value.kind < sizeof names / sizeof names[0] ? names[value.kind] : "object";
}

/* Prints the type as JIT does: "Optional[List[int]]"; an enum is int, and Scalar is number. */
static void print_type(const struct schema_slot *slot, struct buf *out)
{
    static const char *const ints[] = { "SymInt", "ScalarType", "Layout", "MemoryFormat" };
    struct str name = slot->type == SCHEMA_SCALAR ? STR("number") : slot->type_text;
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        if (str_is(name, ints[i]))
            name = STR("int");
    buf_puts(out, slot->optional ? "Optional[" : "");
    buf_puts(out, slot->list ? "List[" : "");
    buf_puts(out, slot->optional_items ? "Optional[" : "");
    buf_put(out, name);
    buf_puts(out, slot->optional_items ? "]" : "");
    buf_puts(out, slot->list ? "]" : "");
    buf_puts(out, slot->optional ? "]" : "");
}

enum op_outcome bind_bad_value(struct ops *ops, const struct op *op, const struct schema_slot *slot,
                               struct value value)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s::%.*s() Expected a value of type '", NAME_ARG(op));
    print_type(slot, &text);
    buf_printf(&text, "' for argument '%.*s' but instead found type '%s'.\nPosition: %u\nValue: ",
               STR_ARG(slot->name), value_kind_name(value), (unsigned)(slot - op->schema.args));
    value_print(ops->pool, value, &text);
    buf_printf(&text, "\nDeclaration: %.*s", STR_ARG(op->schema.text));
    enum op_outcome outcome =
        text.failed ? ops_no_memory(ops) : ops_refuse(ops, error, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
    return outcome;
}
