#include <math.h>
#include <stdio.h>

#include "profile/calls/guards/condition.h"
#include "profile/calls/values/python_scan.h"

enum { MOST_MEMBERS = 256 }; /* of a set that is compared with another one */

static const struct py_value UNKNOWN = { .kind = PY_UNKNOWN, .object = OBJECT_NONE };

static const struct py_value NONE = { .kind = PY_NONE, .object = OBJECT_NONE };

static const struct py_value *truth(bool value)
{
    static const struct py_value TRUTHS[] = {
        { .kind = PY_BOOL, .type = { "bool", 4 }, .integer = 0, .object = OBJECT_NONE },
        { .kind = PY_BOOL, .type = { "bool", 4 }, .integer = 1, .object = OBJECT_NONE },
    };
    return &TRUTHS[value];
}

static const struct py_value *keep(struct py_value value, struct py_value *own)
{
    *own = value;
    return own;
}

static struct py_value integer(int64_t value)
{
    return (struct py_value){
        .kind = PY_INT, .type = STR("int"), .integer = value, .object = OBJECT_NONE
    };
}

static struct py_value real(double value)
{
    return (struct py_value){
        .kind = PY_FLOAT, .type = STR("float"), .real = value, .object = OBJECT_NONE
    };
}

bool py_is_true(const struct py_value *value)
{
    switch (value->kind) {
    case PY_NONE: return false;
    case PY_BOOL:
    case PY_INT: return value->integer != 0;
    case PY_FLOAT: return value->real != 0;
    case PY_STR: return value->text.n != 0;
    case PY_LIST:
    case PY_DICT: return value->n != 0;
    default: return true;
    }
}

static bool is_integer(const struct py_value *value)
{
    return value->kind == PY_INT || value->kind == PY_BOOL;
}

static bool is_number(const struct py_value *value)
{
    return is_integer(value) || value->kind == PY_FLOAT;
}

static double as_real(const struct py_value *value)
{
    return value->kind == PY_FLOAT ? value->real : (double)value->integer;
}

static struct py_value dimension(const struct py_value *tensor, bool stride, uint64_t index)
{
    if (tensor->kind == PY_UNKNOWN)
        return UNKNOWN;
    if (tensor->kind != PY_TENSOR || index >= tensor->tensor->n_dims)
        return (struct py_value){ .kind = PY_MISSING, .object = OBJECT_NONE };
    return integer(stride ? tensor->tensor->strides[index] : tensor->tensor->sizes[index]);
}

static struct py_value storage_offset(const struct py_value *tensor)
{
    if (tensor->kind == PY_UNKNOWN || (tensor->kind == PY_TENSOR && tensor->tensor->offset < 0))
        return UNKNOWN;
    if (tensor->kind != PY_TENSOR)
        return (struct py_value){ .kind = PY_MISSING, .object = OBJECT_NONE };
    return integer(tensor->tensor->offset);
}

int tensor_mark_of(struct str attribute)
{
    static const char *const names[] = {
#define MARK(id, name, attribute) attribute,
        TENSOR_MARKS(MARK)
#undef MARK
    };
    for (int i = 0; i < TENSOR_MARK_COUNT; i++)
        if (str_is(attribute, names[i]))
            return i;
    return -1;
}

static const struct py_value *has_attribute(const struct py_value *value,
                                            const struct condition *node)
{
    if (value->kind == PY_TENSOR && node->mark >= 0)
        return truth(value->tensor->marks[node->mark] != 0);
    /* What else mark_unbacked() leaves is not recorded with a call. */
    if (value->kind == PY_TENSOR && str_starts(node->text, STR("_dynamo_")))
        return truth(false);
    return &UNKNOWN;
}

static const struct py_value *marks_within(const struct py_value *value,
                                           const struct condition *node)
{
    if (value->kind != PY_TENSOR || node->mark < 0)
        return &UNKNOWN;
    return truth(!(value->tensor->marks[node->mark] & ~node->index));
}

static struct py_value length_of(const struct py_value *value)
{
    if (value->kind == PY_LIST || value->kind == PY_DICT)
        return integer(value->n);
    return value->kind == PY_STR ? integer((int64_t)value->text.n) : UNKNOWN;
}

static bool is_set(const struct py_value *value)
{
    return value->kind == PY_DICT && py_is_set_type(value->type);
}

static const struct py_value *contains(const struct py_value *dict, const struct py_value *key)
{
    char number[24];
    if (is_set(dict) && key->kind == PY_INT) { /* members of a set are texts */
        snprintf(number, sizeof number, "%lld", (long long)key->integer);
        const struct py_value text = { .kind = PY_STR, .text = str_of(number) };
        return contains(dict, &text);
    }
    if (dict->kind != PY_DICT || key->kind != PY_STR)
        return &UNKNOWN;
    for (uint32_t i = 0; i < dict->n; i++)
        if (str_eq(dict->keys[i], key->text))
            return truth(true);
    return truth(false);
}

static struct py_value floor_divide(int64_t a, int64_t b, bool rest)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return UNKNOWN;
    int64_t q = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return integer(rest ? (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b) : q);
}

static struct py_value power(int64_t a, int64_t n)
{
    int64_t ret = 1;
    if (n < 0 || n > 63)
        return UNKNOWN;
    for (; n; n--)
        if (__builtin_mul_overflow(ret, a, &ret))
            return UNKNOWN;
    return integer(ret);
}

static struct py_value integer_arithmetic(enum condition_op op, int64_t a, int64_t b)
{
    int64_t ret;
    switch (op) {
    case COND_ADD: return __builtin_add_overflow(a, b, &ret) ? UNKNOWN : integer(ret);
    case COND_SUBTRACT: return __builtin_sub_overflow(a, b, &ret) ? UNKNOWN : integer(ret);
    case COND_MULTIPLY: return __builtin_mul_overflow(a, b, &ret) ? UNKNOWN : integer(ret);
    case COND_FLOOR_DIVIDE: return floor_divide(a, b, false);
    case COND_MODULO: return floor_divide(a, b, true);
    case COND_DIVIDE: return b ? real((double)a / (double)b) : UNKNOWN;
    case COND_POWER: return power(a, b);
    case COND_MIN: return integer(a < b ? a : b);
    case COND_MAX: return integer(a > b ? a : b);
    default: return UNKNOWN;
    }
}

static struct py_value real_arithmetic(enum condition_op op, double a, double b)
{
    switch (op) {
    case COND_ADD: return real(a + b);
    case COND_SUBTRACT: return real(a - b);
    case COND_MULTIPLY: return real(a * b);
    case COND_FLOOR_DIVIDE: return b != 0 ? real(floor(a / b)) : UNKNOWN;
    case COND_DIVIDE: return b != 0 ? real(a / b) : UNKNOWN;
    case COND_POWER: return real(pow(a, b));
    case COND_MIN: return real(a < b ? a : b);
    case COND_MAX: return real(a > b ? a : b);
    default: return UNKNOWN;
    }
}

static struct py_value arithmetic(enum condition_op op, const struct py_value *a,
                                  const struct py_value *b)
{
    if (!is_number(a) || !is_number(b))
        return UNKNOWN;
    if (is_integer(a) && is_integer(b))
        return integer_arithmetic(op, a->integer, b->integer);
    return real_arithmetic(op, as_real(a), as_real(b));
}

static const struct py_value *ordered(enum condition_op op, const struct py_value *a,
                                      const struct py_value *b)
{
    int order;
    if (!is_number(a) || !is_number(b))
        return &UNKNOWN;
    if (is_integer(a) && is_integer(b)) {
        order = a->integer < b->integer ? -1 : a->integer > b->integer;
    } else {
        double x = as_real(a), y = as_real(b);
        if (isnan(x) || isnan(y))
            return truth(false);
        order = x < y ? -1 : x > y;
    }
    return truth(op == COND_LESS         ? order < 0
                 : op == COND_LESS_EQUAL ? order <= 0
                 : op == COND_GREATER    ? order > 0
                                         : order >= 0);
}

/* Splits what a call or a constant of a guard tells of a device or dtype: "cuda:0" is number 0 of
 * "cuda". A constant has the number, plus 1, in `integer`. */
static struct str split_device(const struct py_value *value, int64_t *index)
{
    size_t colon = str_find_char(value->text, ':');
    *index = value->integer - 1;
    if (colon < value->text.n && !str_to_i64(str_from(value->text, colon + 1), index))
        colon = value->text.n;
    return str_first(value->text, colon);
}

static bool equal_constants(const struct py_value *a, const struct py_value *b)
{
    int64_t x, y;
    struct str text = split_device(a, &x);
    return str_eq(text, split_device(b, &y)) && x == y;
}

/* Compares a set with what stands between the braces of a constant: "1, 'a'". */
static const struct py_value *equal_set(const struct py_value *set, struct str members)
{
    struct python_scan scan = { members };
    struct py_value key = { .kind = PY_STR, .object = OBJECT_NONE };
    size_t from = 0, n = 0;
    if (set->n > MOST_MEMBERS)
        return &UNKNOWN;
    for (bool more = true; more && from < members.n; n++) {
        while ((more = python_scan_next(&scan)) && (scan.depth || scan.c != ','))
            ;
        size_t end = more ? scan.at : members.n;
        key.text = str_trim(str_from(str_first(members, end), from));
        from = end + 1;
        bool quoted = key.text.n >= 2 && (key.text.p[0] == '\'' || key.text.p[0] == '"');
        if (quoted)
            key.text = str_from(str_first(key.text, key.text.n - 1), 1);
        else if (!key.text.n || !(is_digit(key.text.p[0]) || key.text.p[0] == '-'))
            return &UNKNOWN;
        if (n == set->n || !contains(set, &key)->integer)
            return truth(false);
    }
    return truth(n == set->n);
}

static const struct py_value *equal(const struct py_value *a, const struct py_value *b)
{
    if (is_set(a) && b->kind == PY_OBJECT && py_is_set_type(b->type))
        return equal_set(a, b->text);
    if (a->kind == PY_OBJECT && b->kind == PY_OBJECT && a->object == OBJECT_NONE &&
        b->object == OBJECT_NONE && !py_is_set_type(a->type) &&
        (!a->type.n || !b->type.n || str_eq(a->type, b->type)))
        return truth(equal_constants(a, b));
    if (is_number(a) && is_number(b)) {
        if (is_integer(a) && is_integer(b))
            return truth(a->integer == b->integer);
        return truth(as_real(a) == as_real(b));
    }
    if (a->kind == PY_STR && b->kind == PY_STR)
        return truth(str_eq(a->text, b->text));
    bool plain = (is_number(a) || a->kind == PY_STR || a->kind == PY_NONE) &&
                 (is_number(b) || b->kind == PY_STR || b->kind == PY_NONE);
    if (plain)
        return truth(a->kind == b->kind);
    /* A list or an object is no number, no text and not None. */
    bool mixed = a->kind != b->kind && (b->kind == PY_NONE || is_number(b) || b->kind == PY_STR);
    return mixed ? truth(false) : &UNKNOWN;
}

static const struct py_value *identical(const struct py_value *a, const struct py_value *b)
{
    if (a->kind == PY_NONE || b->kind == PY_NONE || a->kind == PY_BOOL || b->kind == PY_BOOL)
        return truth(a->kind == b->kind && a->integer == b->integer);
    if (a->object != OBJECT_NONE && b->object != OBJECT_NONE)
        return truth(a->object == b->object);
    return &UNKNOWN;
}

static const struct py_value *negated(const struct py_value *value)
{
    return value->kind == PY_BOOL ? truth(!value->integer) : value;
}

static const struct py_value *compare(enum condition_op op, const struct py_value *a,
                                      const struct py_value *b)
{
    switch (op) {
    case COND_EQUAL: return equal(a, b);
    case COND_UNEQUAL: return negated(equal(a, b));
    case COND_IS: return identical(a, b);
    case COND_IS_NOT: return negated(identical(a, b));
    default: return ordered(op, a, b);
    }
}

static bool is_settled(const struct py_value *value)
{
    return value->kind != PY_UNKNOWN && value->kind != PY_MISSING;
}

/* Evaluates what reads a source. */
static const struct py_value *source_value(const struct condition *node, struct world *world,
                                           const struct py_value *key, struct py_value *own,
                                           uint32_t *missing)
{
    const struct py_value *value = world_value(world, node->source), *ret = value;
    if (value->kind == PY_UNKNOWN)
        return &UNKNOWN;
    if (value->kind != PY_MISSING)
        switch (node->op) {
        case COND_SIZE: ret = keep(dimension(value, false, node->index), own); break;
        case COND_OFFSET: ret = keep(storage_offset(value), own); break;
        case COND_STRIDE: ret = keep(dimension(value, true, node->index), own); break;
        case COND_LENGTH: ret = keep(length_of(value), own); break;
        case COND_HASATTR:
            /* getattr(x, name, None), which is compared with None */
            ret = node->index == 1 ? &NONE : has_attribute(value, node);
            break;
        case COND_TYPE:
            ret = value->type.n ? truth(str_eq(value->type, node->text)) : &UNKNOWN;
            break;
        case COND_MARKED: ret = marks_within(value, node); break;
        case COND_CONTAINS: ret = contains(value, key); break;
        default: break;
        }
    if (ret->kind == PY_MISSING)
        *missing = node->source;
    return ret;
}

/* The value that a node has is that of a constant or of a source, or is kept in *own. */
static const struct py_value *evaluate(const struct condition_pool *pool, struct world *world,
                                       condition_id id, struct py_value *own, uint32_t *missing);

/* As evaluate(), fast for what most operands are. */
static inline const struct py_value *operand(const struct condition_pool *pool, struct world *world,
                                             condition_id id, struct py_value *own,
                                             uint32_t *missing)
{
    const struct condition *node = &pool->nodes.v[id];
    if (node->op == COND_CONSTANT)
        return &node->value;
    if (node->op != COND_SOURCE)
        return evaluate(pool, world, id, own, missing);
    const struct py_value *value = world_value(world, node->source);
    if (value->kind == PY_MISSING)
        *missing = node->source;
    return value;
}

static const struct py_value *connective(const struct condition_pool *pool, struct world *world,
                                         const struct condition *node, struct py_value *own,
                                         uint32_t *missing)
{
    const struct py_value *first = evaluate(pool, world, node->first, own, missing);
    if (!is_settled(first))
        return first;
    if (node->op == COND_NOT)
        return truth(!py_is_true(first));
    /* Python's and and or return one of their operands. */
    if (py_is_true(first) == (node->op == COND_OR))
        return first;
    return evaluate(pool, world, node->second, own, missing);
}

static const struct py_value *choice(const struct condition_pool *pool, struct world *world,
                                     const struct condition *node, struct py_value *own,
                                     uint32_t *missing)
{
    const struct py_value *which = evaluate(pool, world, node->third, own, missing);
    if (!is_settled(which))
        return which;
    return evaluate(pool, world, py_is_true(which) ? node->first : node->second, own, missing);
}

static const struct py_value *operation(const struct condition_pool *pool, struct world *world,
                                        const struct condition *node, struct py_value *own,
                                        uint32_t *missing)
{
    struct py_value left, right;
    const struct py_value *first = &UNKNOWN, *second;
    if (node->first != CONDITION_NONE)
        first = operand(pool, world, node->first, &left, missing);
    if (node->source != INTERN_NONE)
        return source_value(node, world, first, own, missing);
    if (!is_settled(first))
        return keep(*first, own);
    if (node->op == COND_NEGATIVE)
        return keep(arithmetic(COND_SUBTRACT, &(struct py_value){ .kind = PY_INT }, first), own);
    if (node->op == COND_IS_NAN)
        return is_number(first) ? truth(isnan(as_real(first))) : &UNKNOWN;
    second = operand(pool, world, node->second, &right, missing);
    if (!is_settled(second))
        return keep(*second, own);
    return node->op >= COND_EQUAL && node->op <= COND_IS_NOT
               ? compare(node->op, first, second)
               : keep(arithmetic(node->op, first, second), own);
}

static const struct py_value *evaluate(const struct condition_pool *pool, struct world *world,
                                       condition_id id, struct py_value *own, uint32_t *missing)
{
    const struct condition *node = &pool->nodes.v[id];
    switch (node->op) {
    case COND_CONSTANT: return &node->value;
    case COND_NOT:
    case COND_AND:
    case COND_OR: return connective(pool, world, node, own, missing);
    case COND_CHOICE: return choice(pool, world, node, own, missing);
    default: return operation(pool, world, node, own, missing);
    }
}

struct py_value condition_value(const struct condition_pool *pool, struct world *world,
                                condition_id id, uint32_t *missing)
{
    struct py_value own;
    return *evaluate(pool, world, id, &own, missing);
}

enum condition_verdict condition_check(const struct condition_pool *pool, struct world *world,
                                       condition_id id, uint32_t *missing)
{
    struct py_value own;
    const struct py_value *value = evaluate(pool, world, id, &own, missing);
    return value->kind == PY_UNKNOWN   ? CONDITION_UNKNOWN
           : value->kind == PY_MISSING ? CONDITION_MISSING
           : py_is_true(value)         ? CONDITION_HOLDS
                                       : CONDITION_FAILS;
}
