/* Decompositions into other pointwise operators, read from a table of small programs. */
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/ops/dispatch/context.h"

enum cast { CAST_NONE, CAST_CONVERT, CAST_BINARY, CAST_WRAP, CAST_BINARY_WRAP, CAST_TO };

static const struct program {
    enum cast cast;
    const char *text;
} programs[] = {
#define PROGRAM(id, cast, text) { CAST_##cast, text },
#include "replay/ops/rules/pointwise/pointwise_programs.def"
#undef PROGRAM
};

/* Words that are no operator of the same name with one overload. */
enum word {
    WORD_OP, /* the operator `op` of `arity` operands */
    WORD_COMPARISON,
    WORD_SUB,
    WORD_WHERE,
    WORD_SWAP,
    WORD_TRUTH,
    WORD_FALSEHOOD,
    WORD_TYPE_AS,
    WORD_CLAMP,
    WORD_CONJ,
    WORD_ISFINITE,
    WORD_TRUNC,
    WORD_NEG_NUMBER,
    WORD_NONE
};

static const struct word_row {
    const char *name;
    enum word word;
    uint32_t arity;
    const char *op;
} words[] = {
    { "abs", WORD_OP, 1, "aten.abs.default" },
    { "add", WORD_OP, 2, "aten.add.Tensor" },
    { "bitwise_and", WORD_OP, 2, "aten.bitwise_and.Tensor" },
    { "bitwise_or", WORD_OP, 2, "aten.bitwise_or.Tensor" },
    { "bitwise_xor", WORD_OP, 2, "aten.bitwise_xor.Tensor" },
    { "clamp", WORD_CLAMP, 3, "aten.clamp.default" },
    { "conj_physical", WORD_CONJ, 1, "aten._conj_physical.default" },
    { "div", WORD_OP, 2, "aten.div.Tensor" },
    { "eq", WORD_COMPARISON, 2, "aten.eq." },
    { "erf", WORD_OP, 1, "aten.erf.default" },
    { "erfc", WORD_OP, 1, "aten.erfc.default" },
    { "exp", WORD_OP, 1, "aten.exp.default" },
    { "exp2", WORD_OP, 1, "aten.exp2.default" },
    { "expm1", WORD_OP, 1, "aten.expm1.default" },
    { "falsehood", WORD_FALSEHOOD, 1, "aten.bitwise_not.default" },
    { "floor", WORD_OP, 1, "aten.floor.default" },
    { "fmod", WORD_OP, 2, "aten.fmod.Tensor" },
    { "fsub", WORD_OP, 2, "aten.sub.Tensor" },
    { "gcd", WORD_OP, 2, "aten.gcd.default" },
    { "ge", WORD_COMPARISON, 2, "aten.ge." },
    { "gt", WORD_COMPARISON, 2, "aten.gt." },
    { "isfinite", WORD_ISFINITE, 1, "" },
    { "isinf", WORD_OP, 1, "aten.isinf.default" },
    { "isnan", WORD_OP, 1, "aten.isnan.default" },
    { "le", WORD_COMPARISON, 2, "aten.le." },
    { "log", WORD_OP, 1, "aten.log.default" },
    { "log1p", WORD_OP, 1, "aten.log1p.default" },
    { "logical_and", WORD_OP, 2, "aten.logical_and.default" },
    { "logical_not", WORD_OP, 1, "aten.logical_not.default" },
    { "logical_or", WORD_OP, 2, "aten.logical_or.default" },
    { "lt", WORD_COMPARISON, 2, "aten.lt." },
    { "mul", WORD_OP, 2, "aten.mul.Tensor" },
    { "ne", WORD_COMPARISON, 2, "aten.ne." },
    { "neg", WORD_OP, 1, "aten.neg.default" },
    { "neg_number", WORD_NEG_NUMBER, 1, "" },
    { "none", WORD_NONE, 0, "" },
    { "pow", WORD_OP, 2, "aten.pow.Tensor_Scalar" },
    { "prims.div", WORD_OP, 2, "prims.div.default" },
    { "prims.mul", WORD_OP, 2, "prims.mul.default" },
    { "prims.ne", WORD_OP, 2, "prims.ne.default" },
    { "prims.round", WORD_OP, 1, "prims.round.default" },
    { "reciprocal", WORD_OP, 1, "aten.reciprocal.default" },
    { "sigmoid", WORD_OP, 1, "aten.sigmoid.default" },
    { "sign", WORD_OP, 1, "aten.sign.default" },
    { "signbit", WORD_OP, 1, "aten.signbit.default" },
    { "sin", WORD_OP, 1, "aten.sin.default" },
    { "softplus", WORD_OP, 1, "aten.softplus.default" },
    { "special_erfcx", WORD_OP, 1, "aten.special_erfcx.default" },
    { "sub", WORD_SUB, 2, "aten.sub.Tensor" },
    { "swap", WORD_SWAP, 2, "" },
    { "tanh", WORD_OP, 1, "aten.tanh.default" },
    { "trunc", WORD_OP, 1, "aten.trunc.default" },
    { "trunc_if_float", WORD_TRUNC, 1, "aten.trunc.default" },
    { "truth", WORD_TRUTH, 1, "aten.ne.Scalar" },
    { "type_as", WORD_TYPE_AS, 2, "aten._to_copy.default" },
    { "where", WORD_WHERE, 3, "aten.where.self" },
};

enum { STACK_MAX = 16, KEPT_MAX = 10 };

struct machine {
    struct call *c;
    const struct value *args;
    struct value stack[STACK_MAX], kept[KEPT_MAX];
    uint32_t n;
};

static bool is_tensor(struct value x)
{
    return x.kind == VALUE_TENSOR;
}

static struct value literal(struct call *c, struct str word)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", STR_ARG(word));
    if (strpbrk(text, ".en"))
        return value_sym(VALUE_FLOAT, sym_float(c->pool, strtod(text, NULL)));
    return value_int(num(c, strtoll(text, NULL, 10)));
}

static struct value converted(struct call *c, struct value x, enum dtype dtype)
{
    if (c->failed || !is_tensor(x))
        return x;
    count_to(c, x.u.tensor);
    if (x.u.tensor.meta->dtype == dtype)
        return x;
    struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    return call_op_keywords(c, "aten._to_copy.default", &x, 1, &keyword, 1);
}

static struct value compare(struct call *c, const char *op, const struct value *x)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s", op, is_tensor(x[1]) ? "Tensor" : "Scalar");
    return call_op(c, name, x, 2);
}

static struct value select_values(struct call *c, const struct value *x)
{
    static const char *const names[] = { "aten.where.Scalar", "aten.where.ScalarSelf",
                                         "aten.where.ScalarOther", "aten.where.self" };
    return call_op(c, names[2 * is_tensor(x[1]) + is_tensor(x[2])], x, 3);
}

/* Of a number too: 1 - x is aten.rsub. */
static struct value subtract(struct call *c, const struct value *x)
{
    struct value swapped[] = { x[1], x[0] };
    return is_tensor(x[0]) ? call_op(c, "aten.sub.Tensor", x, 2)
                           : call_op(c, "aten.rsub.Scalar", swapped, 2);
}

/* Whether it is zero: `value` 0 asks for eq, 1 for ne; bools are that already. */
static struct value truth(struct call *c, struct value x, bool value)
{
    if (!is_tensor(x))
        return x;
    struct value args[] = { x, value_int(num(c, 0)) };
    if (x.u.tensor.meta->dtype != DTYPE_B8)
        return call_op(c, value ? "aten.ne.Scalar" : "aten.eq.Scalar", args, 2);
    return value ? x : call_op(c, "aten.bitwise_not.default", &x, 1);
}

static struct value run_word(struct machine *m, const struct word_row *row, const struct value *x)
{
    struct call *c = m->c;
    enum dtype dtype = row->arity && is_tensor(x[0]) ? x[0].u.tensor.meta->dtype : DTYPE_NONE;
    switch (row->word) {
    case WORD_COMPARISON: return compare(c, row->op, x);
    case WORD_SUB: return subtract(c, x);
    case WORD_WHERE: return select_values(c, x);
    case WORD_TRUTH: return truth(c, x[0], true);
    case WORD_FALSEHOOD: return truth(c, x[0], false);
    case WORD_TYPE_AS: return converted(c, x[0], x[1].u.tensor.meta->dtype);
    case WORD_CONJ: return dtype_is_complex(dtype) ? call_op(c, row->op, x, 1) : x[0];
    case WORD_TRUNC: return dtype_is_integer(dtype) ? x[0] : call_op(c, row->op, x, 1);
    case WORD_ISFINITE: return call_op(c, "aten.isfinite.default", x, 1);
    case WORD_NEG_NUMBER: return value_sym(x[0].kind, sym_neg(c->pool, x[0].u.sym));
    case WORD_NONE: return value_none();
    default: return call_op(c, row->op, x, row->arity);
    }
}

static const struct word_row *find_word(struct str word)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_is(word, words[i].name))
            return &words[i];
    return NULL;
}

static bool push(struct machine *m, struct value x)
{
    if (m->n == STACK_MAX)
        return unsupported(m->c, "a program's stack is full");
    m->stack[m->n++] = x;
    return !m->c->failed;
}

static bool run_operator(struct machine *m, struct str word)
{
    const struct word_row *row = find_word(word);
    if (!row || m->n < row->arity)
        return unsupported(m->c, "a program's word: %.*s", STR_ARG(word));
    m->n -= row->arity;
    struct value *x = &m->stack[m->n];
    if (row->word != WORD_SWAP)
        return push(m, run_word(m, row, x));
    struct value first = x[0];
    x[0] = x[1];
    x[1] = first;
    m->n += 2;
    return true;
}

static bool step(struct machine *m, struct str word)
{
    char first = word.p[0], second = word.n > 1 ? word.p[1] : ' ';
    uint32_t index = (uint32_t)(second - '0');
    if (first == 'a' && word.n == 2 && index < m->c->n_args)
        return push(m, m->args[index]);
    if (first == '@' && index < KEPT_MAX)
        return push(m, m->kept[index]);
    if (first == '!' && index < KEPT_MAX && m->n) {
        m->kept[index] = m->stack[--m->n];
        return true;
    }
    bool number = (first >= '0' && first <= '9') || first == '-' || str_is(word, "nan");
    return number ? push(m, literal(m->c, word)) : run_operator(m, word);
}

static struct value run(struct call *c, const char *text, const struct value *args)
{
    struct machine *m = scratch(c, sizeof *m);
    if (!m)
        return value_none();
    *m = (struct machine){ .c = c, .args = args };
    struct str rest = str_of(text);
    while (rest.n && !c->failed) {
        size_t end = str_find_char(rest, ' ');
        if (end && !step(m, str_first(rest, end)))
            break;
        rest = str_from(rest, end + 1);
    }
    return c->failed || !m->n ? value_none() : m->stack[m->n - 1];
}

/* The arguments converted; which ones take part is what the row tells, or all tensors. */
static struct value *cast_args(struct call *c, enum cast cast, enum dtype *result)
{
    uint32_t n = pointwise_operands(c), kept = 0;
    struct value *args = values(c, c->n_args + 1), *part = values(c, c->n_args + 1);
    enum dtype compute;
    if (!args || !part)
        return NULL;
    memcpy(args, c->args, c->n_args * sizeof(*args));
    bool only_tensors = cast == CAST_TO;
    uint32_t end = only_tensors ? c->n_args : n;
    for (uint32_t i = 0; i < end; i++)
        if (!c->op->schema.args[i].keyword_only && (!only_tensors || is_tensor(args[i])))
            part[kept++] = args[i];
    elementwise_dtypes(c, part, kept, pointwise_kind(c), &compute, result);
    for (uint32_t i = 0; i < end && cast != CAST_NONE; i++)
        args[i] =
            only_tensors ? converted(c, args[i], compute) : maybe_convert(c, args[i], compute);
    return args;
}

/* Numbers among two operands as scalar_tensor(number, dtype=..., device=...) of the other. */
static void wrap_numbers(struct call *c, struct value *args)
{
    for (uint32_t i = 0; i < 2 && !c->failed; i++) {
        if (is_tensor(args[i]) || !is_tensor(args[1 - i]))
            continue;
        const struct tensor_meta *like = args[1 - i].u.tensor.meta;
        struct keyword keywords[] = {
            { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = like->dtype } },
            { STR("device"), { .kind = VALUE_DEVICE, .u.device = like->device } },
        };
        args[i] = call_op_keywords(c, "aten.scalar_tensor.default", &args[i], 1, keywords, 2);
    }
}

static bool prepare(struct call *c, enum cast cast, struct value *args)
{
    if (!args || c->failed)
        return false;
    if ((cast == CAST_BINARY || cast == CAST_BINARY_WRAP) && !maybe_broadcast(c, args, 2))
        return false;
    if (cast == CAST_WRAP || cast == CAST_BINARY_WRAP)
        wrap_numbers(c, args);
    return !c->failed;
}

struct value run_program(struct call *c, enum program_id id)
{
    const struct program *program = &programs[id];
    enum dtype result = DTYPE_NONE;
    c->in_kernel = !c->symbolic && program->cast != CAST_TO;
    struct value *args = cast_args(c, program->cast, &result);
    struct value ret = prepare(c, program->cast, args) ? run(c, program->text, args) : value_none();
    if (c->failed || !is_tensor(ret) || program->cast == CAST_NONE)
        return ret;
    return program->cast == CAST_TO ? converted(c, ret, result) : maybe_convert(c, ret, result);
}

/* Without symbols: TensorIterator over the operands, or over all tensors that are no out=. */
struct tensor plain_program(struct call *c)
{
    uint32_t n = pointwise_operands(c), kept = 0;
    struct value *part = values(c, c->n_args + 1);
    for (uint32_t i = 0; part && i < c->n_args; i++)
        if (n ? i < n : is_tensor(c->args[i]) && !c->op->schema.args[i].keyword_only)
            part[kept++] = c->args[i];
    /* The kernel's iterator has the gradient last. */
    for (uint32_t i = 1; part && (c->param & POINTWISE_GRAD_LAST) && i < kept; i++) {
        struct value swap = part[i];
        part[i] = part[i - 1];
        part[i - 1] = swap;
    }
    if (!part || !check_refusals(c))
        return (struct tensor){ 0 };
    return iterator_promoted(c, part, kept, c->param & POINTWISE_FIRST ? 1 : kept,
                             pointwise_kind(c));
}

bool rule_pointwise_program(struct call *c)
{
    if (eager(c))
        return ret_tensor(c, plain_program(c));
    return ret_pointwise(c, run_program(c, (enum program_id)(c->param >> POINTWISE_PROGRAM_SHIFT)));
}
