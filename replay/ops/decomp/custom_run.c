/* Runs the rules of custom operators with Python's semantics, through Python's calls. */
#include "replay/ops/decomp/custom_tree.h"
#include "replay/ops/python/python_internal.h"

#include <math.h>

struct rule_run {
    struct call *c;
    const struct custom_rules *rules;
    struct value names[CUSTOM_MAX_NAMES];
    bool returned;
    uint32_t turns; /* iterations of loops so far */
};

enum { MAX_TURNS = 1 << 20 };

static struct value eval(struct rule_run *r, uint32_t i);

static const struct tree *tree_at(const struct rule_run *r, uint32_t i)
{
    return &r->rules->trees.v[i];
}

static uint32_t item_at(const struct rule_run *r, const struct tree *tree, uint32_t i)
{
    return r->rules->items.v[tree->first + i];
}

/* Returns the values of the items from `from` on, or NULL if memory runs out. */
static struct value *eval_items(struct rule_run *r, const struct tree *tree, uint32_t from,
                                bool named, uint32_t *n)
{
    struct value *values = ops_values(r->c->ops, tree->n);
    *n = 0;
    if (!values) {
        python_no_memory(r->c);
        return NULL;
    }
    for (uint32_t i = from; i < tree->n && !r->c->failed; i++) {
        uint32_t item = item_at(r, tree, i);
        if ((tree_at(r, item)->keyword.n > 0) == named)
            values[(*n)++] = eval(r, item);
    }
    return r->c->failed ? NULL : values;
}

/* Returns the keyword arguments, in the same order. */
static struct keyword *eval_keywords(struct rule_run *r, const struct tree *tree, uint32_t from,
                                     uint32_t *n)
{
    struct value *values = eval_items(r, tree, from, true, n);
    struct keyword *keywords =
        values ? arena_array(ops_arena(r->c->ops), struct keyword, (size_t)*n + 1) : NULL;
    uint32_t at = 0;
    if (values && !keywords)
        python_no_memory(r->c);
    for (uint32_t i = from; keywords && i < tree->n && at < *n; i++) {
        struct str keyword = tree_at(r, item_at(r, tree, i))->keyword;
        if (keyword.n) {
            keywords[at] = (struct keyword){ keyword, values[at] };
            at++;
        }
    }
    return keywords;
}

static struct value eval_constant(struct rule_run *r, struct str name)
{
    static const struct {
        const char *name;
        enum memory_format format;
    } formats[] = {
        { "torch.contiguous_format", FORMAT_CONTIGUOUS },
        { "torch.preserve_format", FORMAT_PRESERVE },
        { "torch.channels_last", FORMAT_CHANNELS_LAST },
        { "torch.channels_last_3d", FORMAT_CHANNELS_LAST_3D },
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_is(name, formats[i].name))
            return (struct value){ .kind = VALUE_MEMORY_FORMAT,
                                   .u.memory_format = formats[i].format };
    if (str_is(name, "torch.inf") || str_is(name, "torch.nan"))
        return py_float(r->c, str_is(name, "torch.inf") ? (double)INFINITY : (double)NAN);
    if (str_is(name, "torch.strided"))
        return (struct value){ .kind = VALUE_LAYOUT, .u.layout = LAYOUT_STRIDED };
    enum dtype dtype = dtype_by_python_name(name);
    if (dtype == DTYPE_NONE)
        unsupported(r->c, "%.*s", STR_ARG(name));
    return (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype };
}

/* --- Calls --- */

/* unbacked(min=None, max=None) makes a size that depends on data (get_ctx().new_dynamic_size()). */
static struct value call_unbacked(struct rule_run *r, const struct value *args, uint32_t n)
{
    sym_id min = n > 0 && args[0].kind == VALUE_INT ? args[0].u.sym : SYM_ID_ZERO;
    sym_id max = n > 1 && args[1].kind == VALUE_INT ? args[1].u.sym : SYM_NONE;
    return value_int(new_unbacked_size(r->c, min, max));
}

/* check(condition, text="") fails if the condition is false. */
static struct value call_check(struct rule_run *r, const struct value *args, uint32_t n)
{
    struct str text = n > 1 && args[1].kind == VALUE_STRING ? args[1].u.text : STR("");
    if (!text.n)
        text = STR("Expected cond to be True, but got False.");
    if (n && args[0].kind == VALUE_BOOL)
        check(r->c, args[0].u.sym, "RuntimeError", "%.*s", STR_ARG(text));
    else
        require(r->c, n && py_truth(r->c, args[0]), "RuntimeError", "%.*s", STR_ARG(text));
    return value_none();
}

enum { MAX_RANGE = 1 << 16 };

/* range(stop) or range(start, stop) */
static struct value call_range(struct rule_run *r, const struct value *args, uint32_t n)
{
    int64_t bounds[2] = { 0, 0 };
    for (uint32_t i = 0; i < n && i < 2; i++)
        bounds[n == 1 ? 1 : i] = args[i].kind == VALUE_INT ? guard_int(r->c, args[i].u.sym) : 0;
    if (bounds[1] < bounds[0])
        bounds[1] = bounds[0];
    if (r->c->failed || (uint64_t)bounds[1] - (uint64_t)bounds[0] > MAX_RANGE) {
        unsupported(r->c, "range() of that many numbers");
        return value_none();
    }
    uint32_t count = (uint32_t)(bounds[1] - bounds[0]);
    struct value *items = ops_values(r->c->ops, count);
    if (!items && count)
        python_no_memory(r->c);
    for (uint32_t i = 0; items && i < count; i++)
        items[i] = py_int(r->c, bounds[0] + i);
    return value_items(VALUE_LIST, items, items ? count : 0);
}

/* maybe_convert(x, dtype) is _maybe_convert_to_dtype of torch/_prims_common. */
static struct value call_maybe_convert(struct rule_run *r, const struct value *args, uint32_t n)
{
    if (n != 2 || args[1].kind != VALUE_DTYPE || args[0].kind != VALUE_TENSOR ||
        args[0].u.tensor.meta->dtype == args[1].u.dtype)
        return n ? args[0] : value_none();
    return call_op(r->c, "prims.convert_element_type.default", args, 2);
}

/* computation_dtype(dtype) is get_computation_dtype of torch/_prims_common. */
static struct value call_computation_dtype(struct rule_run *r, const struct value *args, uint32_t n)
{
    if (n != 1 || args[0].kind != VALUE_DTYPE) {
        refuse(r->c, "TypeError", "expected a dtype");
        return value_none();
    }
    return (struct value){ .kind = VALUE_DTYPE, .u.dtype = computation_dtype(args[0].u.dtype) };
}

/* suggest_memory_format(x) is that of torch/_prims_common. */
static struct value call_suggest_format(struct rule_run *r, const struct value *args, uint32_t n)
{
    if (n != 1 || args[0].kind != VALUE_TENSOR) {
        refuse(r->c, "TypeError", "expected a tensor");
        return value_none();
    }
    return (struct value){ .kind = VALUE_MEMORY_FORMAT,
                           .u.memory_format = suggest_format(r->c, args[0].u.tensor) };
}

/* behaves(name): whether the release of PyTorch behaves so (../../shape/env/behaviors.def). */
static struct value call_behaves(struct rule_run *r, const struct value *args, uint32_t n)
{
    enum behavior behavior;
    if (n != 1 || args[0].kind != VALUE_STRING || !behavior_find(args[0].u.text, &behavior)) {
        unsupported(r->c, "behaves() of an unknown name");
        return value_none();
    }
    return py_bool(behaves(r->c->env, behavior));
}

/* statically_known_true(condition) adds no guard. */
static struct value call_known_true(struct rule_run *r, const struct value *args, uint32_t n)
{
    return py_bool(n == 1 && args[0].kind == VALUE_BOOL && known_true(r->c, args[0].u.sym));
}

/* has_symbolic_sizes_strides(x) is that of TensorImpl of c10/core/TensorImpl.h. */
static struct value call_has_symbolic(struct rule_run *r, const struct value *args, uint32_t n)
{
    if (n != 1 || args[0].kind != VALUE_TENSOR) {
        refuse(r->c, "TypeError", "expected a tensor");
        return value_none();
    }
    return py_bool(r->c->ops->metas.symbolic.v[args[0].u.tensor.meta->id]);
}

/* Returns the full name of a builtin of Python. Other names are full names already. */
static struct str full_name(struct str name)
{
    static const struct {
        const char *bare, *full;
    } names[] = {
        { "len", "builtins.len" },   { "sum", "torch.sym_sum" }, { "max", "torch.sym_max" },
        { "min", "torch.sym_min" },  { "int", "torch.sym_int" }, { "float", "torch.sym_float" },
        { "bool", "builtins.bool" }, { "abs", "operator.abs" },  { "prod", "math.prod" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].bare))
            return str_of(names[i].full);
    return name;
}

/* Functions that only this language has, or that it computes itself. */
static const struct {
    const char *name;
    struct value (*run)(struct rule_run *r, const struct value *args, uint32_t n);
} own_functions[] = {
    { "check", call_check },
    { "unbacked", call_unbacked },
    { "behaves", call_behaves },
    { "range", call_range },
    { "maybe_convert", call_maybe_convert },
    { "computation_dtype", call_computation_dtype },
    { "suggest_memory_format", call_suggest_format },
    { "statically_known_true", call_known_true },
    { "has_symbolic_sizes_strides", call_has_symbolic },
};

static struct value call_named(struct rule_run *r, const struct tree *tree)
{
    uint32_t n, n_keywords;
    struct value ret = value_none(), *args = eval_items(r, tree, 0, false, &n);
    struct keyword *keywords = args ? eval_keywords(r, tree, 0, &n_keywords) : NULL;
    if (!keywords)
        return ret;
    bool bare = str_find_char(tree->text, '.') == tree->text.n;
    for (size_t i = 0; bare && i < sizeof own_functions / sizeof *own_functions; i++)
        if (str_is(tree->text, own_functions[i].name))
            return own_functions[i].run(r, args, n);
    python_function(r->c, bare ? full_name(tree->text) : tree->text,
                    &(struct arguments){ args, n, keywords, n_keywords }, &ret);
    return ret;
}

static struct value call_method(struct rule_run *r, const struct tree *tree)
{
    uint32_t n, n_keywords;
    struct value ret = value_none(), *args = eval_items(r, tree, 0, false, &n);
    struct keyword *keywords = args ? eval_keywords(r, tree, 0, &n_keywords) : NULL;
    if (keywords && n)
        python_method(r->c, tree->text, &(struct arguments){ args, n, keywords, n_keywords }, &ret);
    return ret;
}

static struct value operate(struct rule_run *r, const struct tree *tree)
{
    uint32_t n;
    bool found = true;
    struct value ret = value_none(), *args = eval_items(r, tree, 0, false, &n);
    if (args && !python_operator(r->c, tree->text, args, n, &ret, &found) && !r->c->failed)
        refuse(r->c, "TypeError", "unsupported operand type(s) for %.*s", STR_ARG(tree->text));
    return ret;
}

/* --- Trees --- */

static struct value eval_pair(struct rule_run *r, const struct tree *tree)
{
    struct value left = eval(r, item_at(r, tree, 0));
    if (r->c->failed)
        return left;
    bool truth = py_truth(r->c, left);
    return truth == (tree->kind == TREE_OR) ? left : eval(r, item_at(r, tree, 1));
}

/* Evaluates [item for name in list]. */
static struct value eval_for(struct rule_run *r, const struct tree *tree)
{
    struct value list = eval(r, item_at(r, tree, 1));
    struct value *items = r->c->failed ? NULL : ops_values(r->c->ops, list.n);
    if (!items || !value_is_sequence(list)) {
        if (!r->c->failed)
            refuse(r->c, "TypeError", "object is not iterable");
        return value_none();
    }
    for (uint32_t i = 0; i < list.n && !r->c->failed; i++) {
        r->names[tree->integer] = list.u.items[i];
        items[i] = eval(r, item_at(r, tree, 0));
    }
    return value_items(VALUE_LIST, items, list.n);
}

/* Runs the statements of a block until one returns. The result is what that one returns, or
 * None. */
static struct value eval_block(struct rule_run *r, const struct tree *tree)
{
    struct value ret = value_none();
    for (uint32_t i = 0; i < tree->n && !r->returned && !r->c->failed; i++)
        ret = eval(r, item_at(r, tree, i));
    return r->returned ? ret : value_none();
}

static struct value eval_loop(struct rule_run *r, const struct tree *tree)
{
    struct value ret = value_none(), list = eval(r, item_at(r, tree, 0));
    if (!r->c->failed && !value_is_sequence(list))
        refuse(r->c, "TypeError", "object is not iterable");
    for (uint32_t i = 0; !r->c->failed && !r->returned && i < list.n; i++) {
        if (r->turns++ == MAX_TURNS)
            unsupported(r->c, "a rule with that many turns of a loop");
        r->names[tree->integer] = list.u.items[i];
        ret = eval(r, item_at(r, tree, 1));
    }
    return ret;
}

static struct value eval_kind(struct rule_run *r, const struct tree *tree)
{
    struct value ret = value_none();
    uint32_t n = 0;
    struct value *items;
    switch (tree->kind) {
    case TREE_NONE: return ret;
    case TREE_BOOL: return py_bool(tree->integer != 0);
    case TREE_INT: return py_int(r->c, tree->integer);
    case TREE_FLOAT: return py_float(r->c, tree->number);
    case TREE_STRING: return (struct value){ .kind = VALUE_STRING, .u.text = tree->text };
    case TREE_ELLIPSIS: return (struct value){ .kind = VALUE_ELLIPSIS };
    case TREE_LOCAL: return r->names[tree->integer];
    case TREE_CONSTANT: return eval_constant(r, tree->text);
    case TREE_LIST:
    case TREE_TUPLE:
    case TREE_SLICE:
        items = eval_items(r, tree, 0, false, &n);
        return value_items(tree->kind == TREE_LIST    ? VALUE_LIST
                           : tree->kind == TREE_TUPLE ? VALUE_TUPLE
                                                      : VALUE_SLICE,
                           items, items ? n : 0);
    case TREE_FOR: return eval_for(r, tree);
    case TREE_ATTRIBUTE:
        items = eval_items(r, tree, 0, false, &n);
        if (items)
            python_attribute(r->c, items[0], tree->text, &ret);
        return ret;
    case TREE_ITEM:
        items = eval_items(r, tree, 0, false, &n);
        if (items)
            python_item(r->c, items[0], items[1], &ret);
        return ret;
    case TREE_CALL: return call_named(r, tree);
    case TREE_METHOD: return call_method(r, tree);
    case TREE_OPERATOR: return operate(r, tree);
    case TREE_AND:
    case TREE_OR: return eval_pair(r, tree);
    case TREE_IF:
        ret = eval(r, item_at(r, tree, 0));
        return r->c->failed ? ret : eval(r, item_at(r, tree, py_truth(r->c, ret) ? 1 : 2));
    case TREE_BLOCK: return eval_block(r, tree);
    case TREE_LOOP: return eval_loop(r, tree);
    case TREE_ASSIGN: return r->names[tree->integer] = eval(r, item_at(r, tree, 0));
    case TREE_RETURN:
        r->returned = true;
        if (tree->n == 1)
            return eval(r, item_at(r, tree, 0));
        items = eval_items(r, tree, 0, false, &n);
        return n ? value_items(VALUE_TUPLE, items, n) : ret;
    }
    return ret;
}

static struct value eval(struct rule_run *r, uint32_t i)
{
    return r->c->failed ? value_none() : eval_kind(r, tree_at(r, i));
}

/* --- The rule of every custom operator: param is the number of its own --- */

static bool result_fits_slot(const struct schema_slot *slot, struct value value)
{
    if (slot->list)
        return value_is_sequence(value);
    if (value.kind == VALUE_NONE)
        return slot->optional;
    return slot->type != SCHEMA_TENSOR || value.kind == VALUE_TENSOR;
}

bool ret_custom(struct call *c, struct value value)
{
    const struct schema *schema = &c->op->schema;
    bool good = schema->n_results == 0 ? value.kind == VALUE_NONE
                : schema->n_results == 1
                    ? result_fits_slot(&schema->results[0], value)
                    : value.kind == VALUE_TUPLE && value.n == schema->n_results;
    for (uint32_t i = 0; good && schema->n_results > 1 && i < value.n; i++)
        good = result_fits_slot(&schema->results[i], value.u.items[i]);
    if (!good)
        return unsupported(c, "%.*s: the result of its rule does not match its schema",
                           STR_ARG(c->op->name));
    if (schema->n_results == 1 && schema->results[0].list)
        value.kind = VALUE_LIST;
    return ret_value(c, value);
}

bool rule_custom(struct call *c)
{
    struct value ret;
    return custom_eval(c, c->ops->catalog->rules, (uint32_t)c->param, c->args, &ret) &&
           ret_custom(c, ret);
}

bool custom_eval(struct call *c, const struct custom_rules *rules, uint32_t number,
                 const struct value *args, struct value *ret)
{
    const struct custom_rule *rule = &rules->rules.v[number];
    struct rule_run run = { .c = c, .rules = rules };
    *ret = value_none();
    for (uint32_t i = 0; i < rule->n_args && i < c->n_args; i++)
        run.names[i] = args[i];
    for (uint32_t i = 0; i < rule->n && !run.returned && !c->failed; i++) {
        *ret = eval(&run, rules->items.v[rule->first + i]);
        if (!run.returned)
            *ret = value_none();
    }
    return !c->failed;
}
