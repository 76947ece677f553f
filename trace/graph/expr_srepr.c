/* Parses sympy's srepr(), a Python expression that builds the expression, one call a node
 * (sympy, printing/repr.py; torch/_export/serde/serialize.py writes it as expr_str). */
#include "trace/graph/expr.h"

#include "trace/graph/expr_build.h"

/* What a class becomes in the tree: an operator over its arguments, folded from the left, or a
 * leaf. */
struct class_row {
    struct str name, text;
    enum {
        CLASS_FOLD,
        CLASS_UNARY,
        CLASS_SYMBOL /* a constant */
    } becomes;
};

#define ROW(name, text, becomes)                                      \
    {                                                                 \
        { name, sizeof name - 1 }, { text, sizeof text - 1 }, becomes \
    }

static const struct class_row classes[] = {
    ROW("Add", "+", CLASS_FOLD),
    ROW("Mul", "*", CLASS_FOLD),
    ROW("Pow", "**", CLASS_FOLD),
    ROW("Equality", "==", CLASS_FOLD),
    ROW("Eq", "==", CLASS_FOLD),
    ROW("Unequality", "!=", CLASS_FOLD),
    ROW("Ne", "!=", CLASS_FOLD),
    ROW("StrictLessThan", "<", CLASS_FOLD),
    ROW("LessThan", "<=", CLASS_FOLD),
    ROW("StrictGreaterThan", ">", CLASS_FOLD),
    ROW("GreaterThan", ">=", CLASS_FOLD),
    ROW("And", "&", CLASS_FOLD),
    ROW("Or", "|", CLASS_FOLD),
    ROW("Xor", "^", CLASS_FOLD),
    ROW("Not", "~", CLASS_UNARY),
    ROW("Infinity", "oo", CLASS_SYMBOL),
    ROW("NegativeInfinity", "-oo", CLASS_SYMBOL),
    ROW("ComplexInfinity", "zoo", CLASS_SYMBOL),
    ROW("NaN", "nan", CLASS_SYMBOL),
    ROW("IntInfinity", "int_oo", CLASS_SYMBOL),
    ROW("NegativeIntInfinity", "-int_oo", CLASS_SYMBOL),
};

static struct expr_term read_srepr_value(struct expr_reader *in);

/* Reads arguments up to the closing parenthesis and pushes them on in->open; keyword arguments
 * (assumptions of a Symbol, precision of a Float) are read and dropped. */
static bool read_srepr_arguments(struct expr_reader *in)
{
    for (;;) {
        expr_skip_space(in);
        if (in->p < in->end && *in->p == ')') {
            in->p++;
            return true;
        }
        const char *from = in->p;
        struct str key = expr_name(in);
        bool keyword = key.n && in->p < in->end && *in->p == '=';
        in->p = keyword ? in->p + 1 : from;
        struct expr_term value = read_srepr_value(in);
        if (value.id == EXPR_NONE)
            return false;
        if (!keyword && !vec_push(&in->open, value))
            return err_nomem(in->err);
        expr_skip_space(in);
        if (in->p < in->end && *in->p == ',')
            in->p++;
        else if (in->p == in->end || *in->p != ')')
            return expr_fail(in, "expected ',' or ')'").id != EXPR_NONE;
    }
}

/* Returns whether a text is a number as mpmath prints it: digits, a point, an exponent; or an
 * infinity. */
static bool is_decimal(struct str text)
{
    static const char *const words[] = { "inf", "+inf", "-inf", "nan" };
    size_t digits = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(text, words[i]))
            return true;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        digits += c >= '0' && c <= '9';
        if (!(c >= '0' && c <= '9') && (c == '\0' || !strchr("+-.e", c)))
            return false;
    }
    return digits > 0;
}

/* Makes the leaf for Symbol('s77'), Integer(-1) or Float('0.5'), whose class says what its one
 * argument is. */
static struct expr_term unwrap(struct expr_reader *in, struct str class_, size_t mark)
{
    struct expr_term only = in->open.n == mark + 1 ? in->open.v[mark] : TERM_NONE;
    in->open.n = mark;
    if (only.id == EXPR_NONE)
        return expr_fail(in, "expected one argument");
    struct expr *expr = &in->pool->exprs.v[only.id];
    if (str_is(class_, "Integer"))
        return expr->kind == EXPR_INT ? only : expr_fail(in, "expected an integer");
    bool quoted = expr->kind == EXPR_STRING, is_float = str_is(class_, "Float");
    if (!quoted && !(is_float && expr->kind <= EXPR_FLOAT))
        return expr_fail(in, "expected a string");
    if (quoted)
        expr->text = (struct str){ expr->text.p + 1, expr->text.n - 2 };
    if (is_float && !is_decimal(expr->text))
        return expr_fail(in, "expected a number");
    expr->kind = is_float ? EXPR_FLOAT : EXPR_SYMBOL;
    expr->fits = false;
    return only;
}

static struct expr_term fold_operands(struct expr_reader *in, const struct class_row *row,
                                      size_t mark)
{
    size_t n = in->open.n - mark;
    struct expr_term left = n ? in->open.v[mark] : TERM_NONE;
    for (size_t i = 1; i < n && left.id != EXPR_NONE; i++)
        left = expr_op2(in, row->text, left, in->open.v[mark + i]);
    in->open.n = mark;
    return n ? left : expr_fail(in, "expected arguments");
}

static struct expr_term convert_class(struct expr_reader *in, struct str name, size_t mark)
{
    size_t n = in->open.n - mark;
    if (str_is(name, "Symbol") || str_is(name, "Integer") || str_is(name, "Float") ||
        str_is(name, "Dummy"))
        return unwrap(in, name, mark);
    if (str_is(name, "Rational") && n == 2)
        return fold_operands(in, &(struct class_row)ROW("", "/", CLASS_FOLD), mark);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const struct class_row *row = &classes[i];
        if (!str_eq(row->name, name))
            continue;
        if (row->becomes == CLASS_FOLD)
            return fold_operands(in, row, mark);
        if (row->becomes == CLASS_SYMBOL && n == 0)
            return expr_leaf(in, (struct expr){ .kind = EXPR_SYMBOL, .text = row->text });
        if (row->becomes == CLASS_UNARY && n == 1)
            return expr_op1(in, row->text, in->open.v[--in->open.n]);
        return expr_fail(in, "wrong number of arguments");
    }
    return expr_group(in, name.n ? EXPR_CALL : EXPR_TUPLE, name, mark);
}

static struct expr_term read_name(struct expr_reader *in)
{
    struct str name = expr_name(in);
    if (in->p < in->end && *in->p == '(') {
        size_t mark = in->open.n;
        in->p++;
        return read_srepr_arguments(in) ? convert_class(in, name, mark) : TERM_NONE;
    }
    bool is_true = str_is(name, "true") || str_is(name, "True");
    if (is_true || str_is(name, "false") || str_is(name, "False"))
        return expr_leaf(in, (struct expr){ .kind = EXPR_BOOL, .text = name, .value = is_true });
    return name.n ? expr_leaf(in, (struct expr){ .kind = EXPR_SYMBOL, .text = name })
                  : expr_fail(in, "expected a class name");
}

static struct expr_term read_inner(struct expr_reader *in)
{
    char c = in->p < in->end ? *in->p : '\0';
    char next = in->end - in->p > 1 ? in->p[1] : '\0';
    if (c == '\'' || c == '"') {
        struct str text = expr_quoted(in);
        return text.n ? expr_leaf(in, (struct expr){ .kind = EXPR_STRING, .text = text })
                      : expr_fail(in, "unterminated string");
    }
    const char *from = in->p;
    if (c == '-' && next >= '0' && next <= '9') {
        in->p++;
        return expr_number(in, from);
    }
    return c >= '0' && c <= '9' ? expr_number(in, from) : read_name(in);
}

static struct expr_term read_srepr_value(struct expr_reader *in)
{
    if (in->nesting >= EXPR_MAX_DEPTH)
        return expr_fail(in, "nested too deeply");
    in->nesting++;
    struct expr_term term = read_inner(in);
    in->nesting--;
    return term;
}

expr_id expr_parse_srepr(struct expr_pool *pool, struct str text, struct err *err)
{
    struct expr_reader in = { pool, text.p, text.p, text.p + text.n, err, 0, { 0 } };
    size_t exprs = pool->exprs.n, children = pool->children.n;
    expr_skip_space(&in);
    struct expr_term term = read_srepr_value(&in);
    vec_release(&in.open);
    expr_skip_space(&in);
    if (term.id != EXPR_NONE && in.p != in.end)
        term = expr_fail(&in, "expected the end");
    if (term.id == EXPR_NONE) {
        pool->exprs.n = exprs;
        pool->children.n = children;
    }
    return term.id;
}
