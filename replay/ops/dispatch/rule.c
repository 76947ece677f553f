/* Arguments, conditions, refusals and texts of rules. Results are in results.c. */
#include "replay/ops/dispatch/context.h"

#include <math.h>
#include <stdio.h>

/* --- Refusals --- */

bool refuse(struct call *c, const char *type, const char *format, ...)
{
    if (c->failed)
        return false;
    c->failed = true;
    char text[2000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct str cut = { text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1 };
    ops_refuse(c->ops, str_of(type), "%.*s", STR_ARG(cut));
    return false;
}

bool unsupported(struct call *c, const char *format, ...)
{
    if (c->failed)
        return false;
    c->failed = c->unsupported = true;
    char text[500];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ops_unsupported(c->ops, "%s", n < 0 ? "" : text);
    return false;
}

bool call_no_memory(struct call *c)
{
    if (!c->failed)
        ops_no_memory(c->ops);
    c->failed = true;
    return false;
}

bool call_raised(struct call *c)
{
    if (c->failed)
        return false;
    struct env_raised what = env_raised(c->env);
    if (what.kind == ENV_RAISED_MEMORY || what.kind == ENV_RAISED_NOTHING) {
        struct err err = { .kind = ERR_NONE };
        c->failed = true;
        if (!sym_ok(c->pool, &err) && err.kind == ERR_INPUT)
            ops_refuse(c->ops, STR("RuntimeError"), "%s", err.text);
        else if (ops_short_of_memory(c->ops))
            ops_no_memory(c->ops);
        else
            ops_refuse(c->ops, STR("RuntimeError"),
                       "the value of a number in the call is not known");
        return false;
    }
    c->failed = true;
    ops_refuse(c->ops, str_of(what.type), "%.*s", STR_ARG(what.text));
    return false;
}

bool check_begin(struct call *c, sym_id condition)
{
    bool holds = false;
    c->checked = condition;
    if (c->failed || condition == SYM_NONE || condition == SYM_ID_FALSE)
        return false;
    if (condition == SYM_ID_TRUE)
        return true;
    if (is_put_off(c, condition))
        return env_evaluate_static(c->env, condition) == SYM_ID_TRUE;
    bool answered = env_expect_true(c->env, condition, STR(""), &holds);
    c->checked = answered ? SYM_ID_FALSE : SYM_NONE;
    return answered && holds;
}

bool check_end(struct call *c, const char *type, const char *format, ...)
{
    sym_id condition = c->checked;
    bool holds = false;
    if (c->failed || condition == SYM_NONE)
        return c->failed ? false : call_raised(c);
    char text[2000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        text[0] = 0;
    if (condition != SYM_ID_FALSE && !env_expect_true(c->env, condition, str_of(text), &holds))
        return call_raised(c);
    return holds || refuse(c, type, "%s", text);
}

/* --- Arguments --- */

struct tensor arg_tensor(const struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    if (value.kind == VALUE_TENSOR)
        return value.u.tensor;
    bool number = value_is_number(value) || value.kind == VALUE_COMPLEX;
    if (!number || c->op->schema.args[i].type != SCHEMA_TENSOR)
        return (struct tensor){ .meta = NULL };
    return (struct tensor){ .meta = c->ops->wrapped[value.kind],
                            .storage = c->ops->next_storage++ };
}

sym_id arg_sym(const struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    return value_is_number(value) ? value.u.sym : SYM_NONE;
}

/* Converts a value to an integer; booleans count as 0 and 1. */
static int64_t guarded_integer(struct call *c, struct value value)
{
    int64_t n = 0;
    if (c->failed)
        return 0;
    if (value.kind == VALUE_BOOL)
        return guard_bool(c, value.u.sym);
    if (value.kind != VALUE_INT) {
        refuse(c, "TypeError", "an int is expected");
        return 0;
    }
    return sym_to_i64(c->pool, value.u.sym, &n) ? n : guard_int(c, value.u.sym);
}

int64_t arg_int(struct call *c, uint32_t i)
{
    return guarded_integer(c, arg(c, i));
}

int64_t arg_int_or(struct call *c, uint32_t i, int64_t otherwise)
{
    return arg_given(c, i) ? arg_int(c, i) : otherwise;
}

bool arg_bool(struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    if (c->failed || value.kind == VALUE_NONE)
        return false;
    if (value.kind == VALUE_INT)
        return guarded_integer(c, value) != 0;
    return value.kind == VALUE_BOOL && guard_bool(c, value.u.sym);
}

double arg_double(struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    if (!value_is_number(value))
        return (double)NAN;
    if (value.kind == VALUE_BOOL && value.u.sym <= SYM_ID_TRUE)
        return value.u.sym == SYM_ID_TRUE;
    return sym_to_double(c->pool, value.u.sym);
}

struct str arg_string(const struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    return value.kind == VALUE_STRING ? value.u.text : (struct str){ "", 0 };
}

enum dtype arg_dtype(const struct call *c, uint32_t i, enum dtype otherwise)
{
    struct value value = arg(c, i);
    return value.kind == VALUE_DTYPE ? value.u.dtype : otherwise;
}

struct device arg_device(const struct call *c, uint32_t i, struct device otherwise)
{
    struct value value = arg(c, i);
    return ops_pin_device(c->ops, value.kind == VALUE_DEVICE ? value.u.device : otherwise);
}

enum memory_format arg_format(const struct call *c, uint32_t i, enum memory_format otherwise)
{
    struct value value = arg(c, i);
    return value.kind == VALUE_MEMORY_FORMAT ? value.u.memory_format : otherwise;
}

/* The items of an empty list, instead of NULL, which memcpy() does not accept. */
static const struct value no_items[1];

/* Returns the items of a list; a single number counts as a list with one item. */
static uint32_t list_items(const struct call *c, uint32_t i, const struct value **items)
{
    *items = NULL;
    if (i >= c->n_args || c->failed)
        return 0;
    const struct value *value = &c->args[i];
    if (value->kind == VALUE_NONE)
        return 0;
    bool list = value->kind == VALUE_LIST || value->kind == VALUE_TUPLE;
    *items = !list ? value : value->n ? value->u.items : no_items;
    return list ? value->n : 1;
}

uint32_t arg_syms(struct call *c, uint32_t i, const sym_id **ret)
{
    const struct value *items;
    uint32_t n = list_items(c, i, &items);
    sym_id *ids = items ? scratch(c, n * sizeof *ids) : NULL;
    *ret = ids;
    for (uint32_t k = 0; k < n && ids; k++) {
        bool number = value_is_number(items[k]);
        ids[k] = number ? items[k].u.sym : SYM_NONE;
        if (items[k].kind == VALUE_BOOL && ids[k] <= SYM_ID_TRUE)
            ids[k] = num(c, ids[k] == SYM_ID_TRUE);
        if (!number)
            refuse(c, "TypeError", "a list of ints is expected");
    }
    return ids && !c->failed ? n : 0;
}

uint32_t arg_ints(struct call *c, uint32_t i, const int64_t **ret)
{
    const struct value *items;
    uint32_t n = list_items(c, i, &items);
    int64_t *ints = items ? scratch(c, n * sizeof *ints) : NULL;
    *ret = ints;
    for (uint32_t k = 0; k < n && ints; k++)
        ints[k] = guarded_integer(c, items[k]);
    return ints && !c->failed ? n : 0;
}

uint32_t arg_tensors(struct call *c, uint32_t i, const struct tensor **ret)
{
    const struct value *items;
    uint32_t n = list_items(c, i, &items);
    struct tensor *tensors = items ? scratch(c, n * sizeof *tensors) : NULL;
    *ret = tensors;
    for (uint32_t k = 0; k < n && tensors; k++)
        tensors[k] =
            items[k].kind == VALUE_TENSOR ? items[k].u.tensor : (struct tensor){ .meta = NULL };
    return tensors ? n : 0;
}

/* --- Conditions --- */

bool guard_bool(struct call *c, sym_id condition)
{
    bool yes = false;
    if (c->failed || condition <= SYM_ID_TRUE)
        return !c->failed && condition == SYM_ID_TRUE;
    if (condition == SYM_NONE || !env_guard_bool(c->env, condition, &yes))
        return call_raised(c);
    return yes;
}

static bool guard_or(struct call *c, sym_id condition, bool otherwise)
{
    bool yes = false;
    if (c->failed || condition <= SYM_ID_TRUE)
        return !c->failed && condition == SYM_ID_TRUE;
    if (condition == SYM_NONE || !env_guard_or(c->env, condition, otherwise, &yes))
        return call_raised(c);
    return yes;
}

bool guard_or_false(struct call *c, sym_id condition)
{
    return guard_or(c, condition, false);
}

bool guard_or_true(struct call *c, sym_id condition)
{
    return guard_or(c, condition, true);
}

bool known_true(struct call *c, sym_id condition)
{
    if (c->failed || condition <= SYM_ID_TRUE)
        return !c->failed && condition == SYM_ID_TRUE;
    if (condition == SYM_NONE)
        return call_raised(c);
    return env_statically_known(c->env, condition);
}

bool guard_size_oblivious(struct call *c, sym_id condition)
{
    if (c->failed || condition <= SYM_ID_TRUE)
        return !c->failed && condition == SYM_ID_TRUE;
    sym_id answer = condition == SYM_NONE
                        ? SYM_NONE
                        : env_evaluate(c->env, condition, SYM_NONE, true, SYM_NONE);
    return answer == SYM_NONE ? call_raised(c) : answer == SYM_ID_TRUE;
}

/* SymNode.guard_int() evaluates SymNode.expr, in which symbols are replaced. */
int64_t guard_int(struct call *c, sym_id value)
{
    int64_t n = 0;
    if (c->failed || sym_to_i64(c->pool, value, &n))
        return n;
    sym_id now = value == SYM_NONE ? SYM_NONE : env_replace(c->env, value);
    if (now == SYM_NONE || !env_guard_int(c->env, now, &n))
        call_raised(c);
    return c->failed ? 0 : n;
}

/* --- Texts --- */

/* Returns a terminated copy that lives as long as the call, or "" when out of memory. */
static const char *copy_scratch_text(struct call *c, struct buf *text)
{
    buf_putc(text, 0);
    char *copy = text->failed ? NULL : scratch(c, text->n);
    if (copy)
        memcpy(copy, text->p, text->n);
    else
        call_no_memory(c);
    buf_release(text);
    return copy ? copy : "";
}

const char *sizes_text(struct call *c, const sym_id *sizes, uint32_t n)
{
    struct buf text = BUF_INIT;
    buf_putc(&text, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(&text, ", ");
        sym_print(c->pool, env_replace(c->env, sizes[i]), &text);
    }
    buf_putc(&text, ']');
    return copy_scratch_text(c, &text);
}

const char *sym_text(struct call *c, sym_id e)
{
    struct buf text = BUF_INIT;
    sym_print(c->pool, env_replace(c->env, e), &text);
    return copy_scratch_text(c, &text);
}
