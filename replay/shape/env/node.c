/* The results of Python's operators (torch/fx/experimental/sym_node.py, torch/__init__.py). */
#include "replay/shape/env/node.h"

#include "replay/shape/env/env_inside.h"
#include "trace/base/number.h"

struct method {
    const char *name;
    uint8_t arity;
};

static const struct method methods[] = {
#define NODE_METHOD(id, name, arity) [NODE_METHOD_##id] = { name, arity },
#include "replay/shape/env/node_methods.def"
#undef NODE_METHOD
};

bool node_method_by_name(struct str name, enum node_method *ret)
{
    for (unsigned i = 0; i < NODE_METHODS; i++)
        if (str_is(name, methods[i].name)) {
            *ret = (enum node_method)i;
            return true;
        }
    return false;
}

enum number_type number_type_of(struct shape_env *env, sym_id e)
{
    if (e == SYM_NONE)
        return NUMBER_INT;
    enum sym_kind kind = kind_at(env->pool, e);
    if (kind == SYM_FALSE || kind == SYM_TRUE || (kind >= SYM_EQ && kind <= SYM_NOT))
        return NUMBER_BOOL;
    if (kind == SYM_SYMBOL) {
        enum symbol_kind symbol = env_symbol_kind(sym_name(env->pool, e));
        return symbol == SYMBOL_FLOAT || symbol == SYMBOL_UNBACKED_FLOAT ? NUMBER_FLOAT
                                                                         : NUMBER_INT;
    }
    if (kind == SYM_FLOAT || kind == SYM_OO || kind == SYM_NEG_OO || kind == SYM_NAN)
        return NUMBER_FLOAT;
    return facts_at(env->pool, e) & FACT_NOT_INTEGER || !(facts_at(env->pool, e) & FACT_INTEGER)
               ? NUMBER_FLOAT
               : NUMBER_INT;
}

static sym_id not_supported(struct shape_env *env, enum node_method method)
{
    env_raise(env, ENV_RAISED_OTHER, "TypeError", "unsupported operand type(s) for %s",
              methods[method].name);
    return SYM_NONE;
}

/* --- Two small integers --- */

/* Returns false when the result needs more: on overflow, division by zero, or another method. */
static bool fold_integers(struct sym_pool *pool, enum node_method method, int64_t a, int64_t b,
                          sym_id *ret)
{
    int64_t value = 0;
    switch (method) {
    case NODE_METHOD_ADD:
        if (__builtin_add_overflow(a, b, &value))
            return false;
        break;
    case NODE_METHOD_SUB:
        if (__builtin_sub_overflow(a, b, &value))
            return false;
        break;
    case NODE_METHOD_MUL:
        if (__builtin_mul_overflow(a, b, &value))
            return false;
        break;
    case NODE_METHOD_INT_FLOORDIV:
    case NODE_METHOD_FLOORDIV:
        if (b == 0 || b == -1)
            return false;
        value = floor_div(a, b);
        break;
    case NODE_METHOD_MOD:
        if (b == 0 || b == -1)
            return false;
        value = a - floor_div(a, b) * b;
        break;
    case NODE_METHOD_MIN: value = a < b ? a : b; break;
    case NODE_METHOD_MAX: value = a > b ? a : b; break;
    case NODE_METHOD_EQ: *ret = sym_boolean(a == b); return true;
    case NODE_METHOD_NE: *ret = sym_boolean(a != b); return true;
    case NODE_METHOD_LT: *ret = sym_boolean(a < b); return true;
    case NODE_METHOD_LE: *ret = sym_boolean(a <= b); return true;
    case NODE_METHOD_GT: *ret = sym_boolean(a > b); return true;
    case NODE_METHOD_GE: *ret = sym_boolean(a >= b); return true;
    default: return false;
    }
    *ret = sym_integer(pool, value);
    return true;
}

/* --- Each method on expressions --- */

static bool is_lone_unbacked(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) == SYM_SYMBOL &&
           env_symbol_kind(sym_name(pool, e)) == SYMBOL_UNBACKED_INT;
}

static bool is_constant_number(const struct sym_pool *pool, sym_id e)
{
    return e > SYM_ID_TRUE && (facts_at(pool, e) & FACT_CONSTANT);
}

/* Builds a comparison; that of a lone unbacked symbol with a number stays unevaluated. */
static sym_id build_comparison(struct shape_env *env, enum sym_kind kind, sym_id a, sym_id b)
{
    struct sym_pool *pool = env->pool;
    const sym_id args[] = { a, b };
    if ((is_lone_unbacked(pool, a) && is_constant_number(pool, b)) ||
        (is_lone_unbacked(pool, b) && is_constant_number(pool, a)))
        return sym_unevaluated(pool, kind, args, 2);
    return sym_binary(pool, kind, a, b);
}

static bool is_nonnegative(struct shape_env *env, sym_id e)
{
    if (known_nonnegative(facts_at(env->pool, e)))
        return true;
    struct sym_range range = env_bound(env, e);
    return sym_range_ok(range) && sym_range_kind_of(env->pool, range) != SYM_RANGE_BOOL &&
           sym_number_compare(env->pool, range.lower, SYM_ID_ZERO) >= 0;
}

static sym_id build_modulo(struct shape_env *env, sym_id a, sym_id b)
{
    bool plain = is_nonnegative(env, a) && is_nonnegative(env, b);
    return sym_binary(env->pool, plain ? SYM_MOD : SYM_PYTHON_MOD, a, b);
}

static sym_id shift(struct shape_env *env, bool left, sym_id a, sym_id b)
{
    struct sym_pool *pool = env->pool;
    if (known_negative(facts_at(pool, b)))
        return env_raise(env, ENV_RAISED_OTHER, "ValueError", "negative shift count"), SYM_NONE;
    sym_id power = sym_pow(pool, SYM_ID_TWO, b);
    return left ? sym_mul(pool, a, power) : sym_floordiv(pool, a, power);
}

static sym_id float_of_node(struct shape_env *env, sym_id e, enum number_type type)
{
    return type == NUMBER_FLOAT ? e : sym_unary(env->pool, SYM_TO_FLOAT, e);
}

/* int(symbool), which adds a guard. */
static sym_id int_of_condition(struct shape_env *env, sym_id e)
{
    bool yes;
    if (!env_guard_bool(env, e, &yes))
        return SYM_NONE;
    return yes ? SYM_ID_ONE : SYM_ID_ZERO;
}

/* SymNode.floor: a quotient under it is expected to be exact, which is guarded on. */
static sym_id simplify_floor_div(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    const struct expr_info *k = env_known(env, e);
    if (!k || !(k->holds & HOLDS_FLOORDIV))
        return k ? env_simplify_way(env, e, ENV_SIMPLIFY_BARE) : SYM_NONE;
    struct list found;
    list_init(&found, pool);
    bool ok = env_parts(env, e, SYM_FLOORDIV, &found);
    for (uint32_t i = found.n; ok && i > 0; i--) {
        sym_id part = found.v[i - 1];
        sym_id mod = sym_mod(pool, arg_at(pool, part, 0), arg_at(pool, part, 1));
        ok = env_evaluate(env, sym_eq(pool, mod, SYM_ID_ZERO), SYM_NONE, false, SYM_NONE) !=
             SYM_NONE;
    }
    list_release(&found);
    return ok ? env_simplify_way(env, e, ENV_SIMPLIFY_BARE) : SYM_NONE;
}

static sym_id build_power(struct shape_env *env, sym_id a, sym_id b, enum number_type *type)
{
    struct sym_pool *pool = env->pool;
    bool yes;
    if (type[0] == NUMBER_FLOAT || type[1] == NUMBER_FLOAT) {
        a = float_of_node(env, a, type[0]);
        b = float_of_node(env, b, type[1]);
        if (a == SYM_NONE || b == SYM_NONE ||
            !env_expect_true(env, build_comparison(env, SYM_GE, a, sym_float(pool, 0.0)), STR(""),
                             &yes))
            return SYM_NONE;
        if (!yes)
            return env_raise(env, ENV_RAISED_OTHER, "RuntimeError",
                             "Expected cond to be True, but got False. (Could this error message "
                             "be improved? If so, please report an enhancement request to "
                             "PyTorch.)"),
                   SYM_NONE;
        return sym_binary(pool, SYM_FLOAT_POW, a, b);
    }
    if (!env_guard_bool(env, build_comparison(env, SYM_GE, b, SYM_ID_ZERO), &yes))
        return SYM_NONE;
    if (yes)
        return sym_binary(pool, SYM_POW_BY_NATURAL, a, b);
    type[0] = NUMBER_FLOAT;
    return sym_binary(pool, SYM_FLOAT_POW, float_of_node(env, a, NUMBER_INT),
                      float_of_node(env, b, NUMBER_INT));
}

static sym_id build_conditional(struct sym_pool *pool, sym_id condition, sym_id yes, sym_id no)
{
    if (condition == SYM_ID_TRUE || condition == SYM_ID_FALSE)
        return condition == SYM_ID_TRUE ? yes : no;
    const sym_id pieces[] = { sym_binary(pool, SYM_EXPR_COND_PAIR, yes, condition),
                              sym_binary(pool, SYM_EXPR_COND_PAIR, no, SYM_ID_TRUE) };
    return sym_make(pool, SYM_PIECEWISE, pieces, 2);
}

static sym_id build_binary(struct shape_env *env, enum node_method method, sym_id a, sym_id b)
{
    struct sym_pool *pool = env->pool;
    switch (method) {
    case NODE_METHOD_ADD: return sym_add(pool, a, b);
    case NODE_METHOD_SUB: return sym_sub(pool, a, b);
    case NODE_METHOD_MUL: return sym_mul(pool, a, b);
    case NODE_METHOD_MOD: return build_modulo(env, a, b);
    case NODE_METHOD_FLOAT_POW: return sym_binary(pool, SYM_FLOAT_POW, a, b);
    case NODE_METHOD_POW_BY_NATURAL: return sym_binary(pool, SYM_POW_BY_NATURAL, a, b);
    case NODE_METHOD_INT_TRUEDIV: return sym_binary(pool, SYM_INT_TRUE_DIV, a, b);
    case NODE_METHOD_FLOAT_TRUEDIV: return sym_binary(pool, SYM_FLOAT_TRUE_DIV, a, b);
    case NODE_METHOD_INT_FLOORDIV: return sym_floordiv(pool, a, b);
    case NODE_METHOD_LSHIFT: return shift(env, true, a, b);
    case NODE_METHOD_RSHIFT: return shift(env, false, a, b);
    case NODE_METHOD_BITWISE_AND: return sym_binary(pool, SYM_BITWISE_AND, a, b);
    case NODE_METHOD_BITWISE_OR: return sym_binary(pool, SYM_BITWISE_OR, a, b);
    case NODE_METHOD_BITWISE_XOR: return sym_binary(pool, SYM_BITWISE_XOR, a, b);
    case NODE_METHOD_AND: return sym_and(pool, a, b);
    case NODE_METHOD_OR: return sym_or(pool, a, b);
    case NODE_METHOD_EQ: return build_comparison(env, SYM_EQ, a, b);
    case NODE_METHOD_NE: return build_comparison(env, SYM_NE, a, b);
    case NODE_METHOD_LT: return build_comparison(env, SYM_LT, a, b);
    case NODE_METHOD_LE: return build_comparison(env, SYM_LE, a, b);
    case NODE_METHOD_GT: return build_comparison(env, SYM_GT, a, b);
    case NODE_METHOD_GE: return build_comparison(env, SYM_GE, a, b);
    case NODE_METHOD_MIN: return sym_min(pool, a, b);
    case NODE_METHOD_MAX: return sym_max(pool, a, b);
    default: return not_supported(env, method);
    }
}

/* Returns OpaqueUnaryFn_* of a float. */
static sym_id build_math(struct shape_env *env, enum node_method method, sym_id a,
                         enum number_type type)
{
    static const struct {
        enum node_method method;
        enum sym_kind kind;
    } functions[] = {
        { NODE_METHOD_SQRT, SYM_SQRT }, { NODE_METHOD_COS, SYM_COS },
        { NODE_METHOD_COSH, SYM_COSH }, { NODE_METHOD_SIN, SYM_SIN },
        { NODE_METHOD_SINH, SYM_SINH }, { NODE_METHOD_TAN, SYM_TAN },
        { NODE_METHOD_TANH, SYM_TANH }, { NODE_METHOD_ASIN, SYM_ASIN },
        { NODE_METHOD_ACOS, SYM_ACOS }, { NODE_METHOD_ATAN, SYM_ATAN },
        { NODE_METHOD_EXP, SYM_EXP },   { NODE_METHOD_LOG, SYM_LOG },
        { NODE_METHOD_LOG2, SYM_LOG2 }, { NODE_METHOD_ASINH, SYM_ASINH },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].method == method)
            return sym_unary(env->pool, functions[i].kind, float_of_node(env, a, type));
    return not_supported(env, method);
}

static sym_id is_whole_number(struct shape_env *env, sym_id a)
{
    struct sym_pool *pool = env->pool;
    if (facts_at(pool, a) & FACT_INTEGER)
        return SYM_ID_TRUE;
    if (!is_number(pool, a))
        return not_supported(env, NODE_METHOD_IS_INTEGER);
    return sym_boolean(sym_number_compare(pool, number_floor(pool, a), a) == 0);
}

static sym_id build_unary(struct shape_env *env, enum node_method method, sym_id a,
                          enum number_type type)
{
    struct sym_pool *pool = env->pool;
    bool whole = type == NUMBER_INT;
    switch (method) {
    case NODE_METHOD_NOT: return sym_not(pool, a);
    case NODE_METHOD_NEG: return sym_neg(pool, a);
    case NODE_METHOD_POS: return a;
    case NODE_METHOD_ABS: return sym_unary(pool, SYM_ABS, a);
    case NODE_METHOD_FLOOR: return sym_unary(pool, SYM_FLOOR_TO_INT, simplify_floor_div(env, a));
    case NODE_METHOD_CEIL: return whole ? a : sym_unary(pool, SYM_CEIL_TO_INT, a);
    case NODE_METHOD_TRUNC:
    case NODE_METHOD_SYM_INT: return whole ? a : sym_unary(pool, SYM_TRUNC_TO_INT, a);
    case NODE_METHOD_SYM_FLOAT: return float_of_node(env, a, type);
    case NODE_METHOD_IS_INTEGER: return is_whole_number(env, a);
    default: return build_math(env, method, a, type);
    }
}

/* --- Types --- */

static bool is_listed_method(enum node_method method, const enum node_method *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == method)
            return true;
    return false;
}
#define IS_AMONG(method, ...)                                       \
    is_listed_method((method), (enum node_method[]){ __VA_ARGS__ }, \
                     sizeof((enum node_method[]){ __VA_ARGS__ }) / sizeof(enum node_method))

static bool is_comparison(enum node_method method)
{
    return method >= NODE_METHOD_EQ && method <= NODE_METHOD_GE;
}

/* Returns whether promote2 applies: one float operand makes the other a float. */
static bool promotes(enum node_method method)
{
    return is_comparison(method) ||
           IS_AMONG(method, NODE_METHOD_ADD, NODE_METHOD_SUB, NODE_METHOD_MUL, NODE_METHOD_MOD,
                    NODE_METHOD_FLOAT_POW, NODE_METHOD_FLOAT_TRUEDIV, NODE_METHOD_INT_FLOORDIV,
                    NODE_METHOD_MIN, NODE_METHOD_MAX);
}

static enum number_type method_result_type(enum node_method method, const enum number_type *types,
                                           uint32_t n)
{
    if (is_comparison(method) ||
        IS_AMONG(method, NODE_METHOD_AND, NODE_METHOD_OR, NODE_METHOD_NOT, NODE_METHOD_IS_INTEGER))
        return NUMBER_BOOL;
    if (IS_AMONG(method, NODE_METHOD_INT_TRUEDIV, NODE_METHOD_FLOAT_TRUEDIV, NODE_METHOD_SYM_FLOAT,
                 NODE_METHOD_FLOAT_POW) ||
        (method >= NODE_METHOD_SQRT))
        return NUMBER_FLOAT;
    if (IS_AMONG(method, NODE_METHOD_CEIL, NODE_METHOD_FLOOR, NODE_METHOD_TRUNC,
                 NODE_METHOD_SYM_INT, NODE_METHOD_POW_BY_NATURAL))
        return NUMBER_INT;
    for (uint32_t i = 0; i < n; i++)
        if (types[i] == NUMBER_FLOAT)
            return NUMBER_FLOAT;
    return types[0] == NUMBER_BOOL && method < NODE_METHOD_AND ? NUMBER_INT : types[0];
}

static sym_id typed_binary(struct shape_env *env, enum node_method method, sym_id a, sym_id b,
                           enum number_type *types)
{
    bool any_float = types[0] == NUMBER_FLOAT || types[1] == NUMBER_FLOAT;
    if (IS_AMONG(method, NODE_METHOD_ADD, NODE_METHOD_SUB, NODE_METHOD_MUL)) {
        for (unsigned i = 0; i < 2; i++)
            if (types[i] == NUMBER_BOOL) {
                *(i ? &b : &a) = int_of_condition(env, i ? b : a);
                types[i] = NUMBER_INT;
            }
        if (a == SYM_NONE || b == SYM_NONE)
            return SYM_NONE;
    }
    if (promotes(method) && any_float) {
        a = float_of_node(env, a, types[0]);
        b = float_of_node(env, b, types[1]);
        if (a == SYM_NONE || b == SYM_NONE)
            return SYM_NONE;
    }
    return build_binary(env, method, a, b);
}

/* Python's /, // and **, which choose the operation by the operands' types. */
static sym_id chosen_binary(struct shape_env *env, enum node_method method, sym_id a, sym_id b,
                            enum number_type *types, enum number_type *type)
{
    bool any_float = types[0] == NUMBER_FLOAT || types[1] == NUMBER_FLOAT;
    if (method == NODE_METHOD_POW) {
        sym_id result = build_power(env, a, b, types);
        *type = types[0] == NUMBER_FLOAT || types[1] == NUMBER_FLOAT ? NUMBER_FLOAT : NUMBER_INT;
        return result;
    }
    if (method == NODE_METHOD_TRUEDIV) {
        *type = NUMBER_FLOAT;
        return typed_binary(env, any_float ? NODE_METHOD_FLOAT_TRUEDIV : NODE_METHOD_INT_TRUEDIV, a,
                            b, types);
    }
    *type = any_float ? NUMBER_FLOAT : NUMBER_INT;
    if (!any_float)
        return typed_binary(env, NODE_METHOD_INT_FLOORDIV, a, b, types);
    sym_id ratio = typed_binary(env, NODE_METHOD_FLOAT_TRUEDIV, a, b, types);
    if (ratio == SYM_NONE)
        return SYM_NONE;
    return float_of_node(env, build_unary(env, NODE_METHOD_FLOOR, ratio, NUMBER_FLOAT), NUMBER_INT);
}

static sym_id round_number(struct shape_env *env, sym_id a, sym_id digits, enum number_type *type)
{
    if (*type == NUMBER_INT)
        return a;
    if (digits != SYM_NONE)
        return sym_binary(env->pool, SYM_ROUND_DECIMAL, a, digits);
    *type = NUMBER_INT;
    return sym_unary(env->pool, SYM_ROUND_TO_INT, a);
}

sym_id node_method(struct shape_env *env, enum node_method method, const sym_id *args,
                   const enum number_type *types, uint32_t n, enum number_type *type)
{
    sym_id a[3] = { SYM_NONE, SYM_NONE, SYM_NONE };
    enum number_type t[3] = { NUMBER_INT, NUMBER_INT, NUMBER_INT };
    if ((unsigned)method >= NODE_METHODS || n > methods[method].arity || n == 0 ||
        (n < methods[method].arity && method != NODE_METHOD_ROUND))
        return not_supported(env, method < NODE_METHODS ? method : NODE_METHOD_ADD);
    for (uint32_t i = 0; i < n; i++) {
        a[i] = args[i] == SYM_NONE ? SYM_NONE : env_replace(env, args[i]);
        t[i] = types ? types[i] : number_type_of(env, a[i]);
        if (a[i] == SYM_NONE && !(method == NODE_METHOD_ROUND && i == 1))
            return env_ok(env), SYM_NONE;
    }
    enum number_type result = method_result_type(method, t, n);
    sym_id e;
    if (method == NODE_METHOD_ROUND)
        e = round_number(env, a[0], a[1], &result);
    else if (method == NODE_METHOD_ITE) {
        e = build_conditional(env->pool, a[0], a[1], a[2]);
        result = t[1];
    } else if (IS_AMONG(method, NODE_METHOD_POW, NODE_METHOD_TRUEDIV, NODE_METHOD_FLOORDIV))
        e = chosen_binary(env, method, a[0], a[1], t, &result);
    else if (n == 2)
        e = typed_binary(env, method, a[0], a[1], t);
    else
        e = build_unary(env, method, a[0], t[0]);
    if (type)
        *type = result;
    return env_ok(env) ? e : SYM_NONE;
}

/* Returns whether the method's result for two integers is the operation itself. */
static bool is_simple_binary(enum node_method method)
{
    return !IS_AMONG(method, NODE_METHOD_POW, NODE_METHOD_TRUEDIV, NODE_METHOD_FLOORDIV) &&
           methods[method].arity == 2 && method != NODE_METHOD_ROUND;
}

static struct node_result *node_result_of(struct shape_env *env, enum node_method method, sym_id a,
                                          sym_id b)
{
    uint32_t h = (a * 0x9E3779B1u ^ b) * 0x85EBCA77u + method * 0xC2B2AE3Du;
    return &env->node_results[h >> (32 - ENV_NODE_RESULT_BITS)];
}

static sym_id compute_int(struct shape_env *env, enum node_method method, sym_id a, sym_id b)
{
    static const enum number_type ints[] = { NUMBER_INT, NUMBER_INT };
    int64_t x, y;
    sym_id result;
    if (sym_to_i64(env->pool, a, &x) && sym_to_i64(env->pool, b, &y) &&
        fold_integers(env->pool, method, x, y, &result))
        return result;
    if (method == NODE_METHOD_FLOORDIV)
        method = NODE_METHOD_INT_FLOORDIV;
    if (!is_simple_binary(method))
        return node_method(env, method, (const sym_id[]){ a, b }, ints, 2, NULL);
    a = env_replace(env, a);
    b = env_replace(env, b);
    result = a == SYM_NONE || b == SYM_NONE ? SYM_NONE : build_binary(env, method, a, b);
    return result != SYM_NONE ? result : (env_ok(env), SYM_NONE);
}

sym_id node_int(struct shape_env *env, enum node_method method, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE || (unsigned)method >= NODE_METHODS)
        return env_ok(env), SYM_NONE;
    struct node_result *known = node_result_of(env, method, a, b);
    if (known->version == env->version && known->a == a && known->b == b && known->method == method)
        return known->result;
    uint32_t version = env->version;
    sym_id result = compute_int(env, method, a, b);
    /* That of Mod depends on ranges, too, and powers may add guards. */
    if (result != SYM_NONE && version == env->version && method != NODE_METHOD_MOD &&
        method != NODE_METHOD_POW)
        *known = (struct node_result){ version, method, a, b, result };
    return result;
}
