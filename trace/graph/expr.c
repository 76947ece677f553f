/* Parses the grammar that sympy's str() and the "fast" print share. */
#include "trace/graph/expr.h"

#include "trace/graph/expr_build.h"

struct binary_operator {
    struct str text; /* in the source */
    struct str op;   /* in the tree */
    enum expr_precedence precedence;
};

#define ROW(text, op, precedence)                                    \
    {                                                                \
        { text, sizeof text - 1 }, { op, sizeof op - 1 }, precedence \
    }

/* A longer operator precedes those that are its prefixes. */
static const struct binary_operator binary[] = {
    ROW("**", "**", PRECEDENCE_POWER),   ROW("*", "*", PRECEDENCE_PRODUCT),
    ROW("+", "+", PRECEDENCE_SUM),       ROW("-", "-", PRECEDENCE_SUM),
    ROW("//", "//", PRECEDENCE_PRODUCT), ROW("/", "/", PRECEDENCE_PRODUCT),
    ROW("%", "%", PRECEDENCE_PRODUCT),   ROW("==", "==", PRECEDENCE_COMPARE),
    ROW("!=", "!=", PRECEDENCE_COMPARE), ROW("<<", "<<", PRECEDENCE_SHIFT),
    ROW("<=", "<=", PRECEDENCE_COMPARE), ROW("<", "<", PRECEDENCE_COMPARE),
    ROW(">>", ">>", PRECEDENCE_SHIFT),   ROW(">=", ">=", PRECEDENCE_COMPARE),
    ROW(">", ">", PRECEDENCE_COMPARE),   ROW("&", "&", PRECEDENCE_BIT_AND),
    ROW("|", "|", PRECEDENCE_BIT_OR),    ROW("^", "^", PRECEDENCE_BIT_XOR),
    ROW("and ", "&", PRECEDENCE_AND),    ROW("or ", "|", PRECEDENCE_OR),
};

enum expr_precedence expr_op_precedence(struct str op, bool unary)
{
    if (unary)
        return PRECEDENCE_UNARY;
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (str_eq(binary[i].text, op))
            return binary[i].precedence;
    return PRECEDENCE_ATOM;
}

static const struct binary_operator *binary_at(struct expr_reader *in)
{
    struct str rest = { in->p, (size_t)(in->end - in->p) };
    if (rest.n == 0 || *rest.p == ')' || *rest.p == ',') /* as after most operands */
        return NULL;
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (str_starts(rest, binary[i].text))
            return &binary[i];
    return NULL;
}

static struct expr_term read_expr_tree(struct expr_reader *in, enum expr_precedence loosest);

/* Reads arguments or items up to `close` and pushes them on in->open. */
static bool read_expr_items(struct expr_reader *in, char close, bool *trailing_comma)
{
    *trailing_comma = false;
    for (;;) {
        expr_skip_space(in);
        if (in->p < in->end && *in->p == close) {
            in->p++;
            return true;
        }
        struct expr_term item = read_expr_tree(in, PRECEDENCE_OR);
        if (item.id == EXPR_NONE)
            return false;
        if (!vec_push(&in->open, item))
            return err_nomem(in->err);
        expr_skip_space(in);
        *trailing_comma = in->p < in->end && *in->p == ',';
        if (*trailing_comma)
            in->p++;
        else if (in->p == in->end || *in->p != close)
            return expr_fail(in, "expected ',' or a closing bracket").id != EXPR_NONE;
    }
}

/* Reads a parenthesised expression, or a tuple or list. */
static struct expr_term read_bracket(struct expr_reader *in, char close)
{
    size_t mark = in->open.n;
    bool trailing_comma;
    in->p++;
    if (!read_expr_items(in, close, &trailing_comma))
        return TERM_NONE;
    if (close == ')' && in->open.n == mark + 1 && !trailing_comma)
        return in->open.v[--in->open.n];
    return expr_group(in, EXPR_TUPLE, STR(""), mark);
}

static struct expr_term read_call_expr(struct expr_reader *in, struct str name)
{
    size_t mark = in->open.n;
    bool trailing_comma;
    in->p++;
    return read_expr_items(in, ')', &trailing_comma) ? expr_group(in, EXPR_CALL, name, mark)
                                                     : TERM_NONE;
}

static bool is_operator_word(struct str name)
{
    return str_is(name, "and") || str_is(name, "or") || str_is(name, "not") || str_is(name, "if") ||
           str_is(name, "else");
}

static struct expr_term read_name_or_call(struct expr_reader *in)
{
    struct str name = expr_name(in);
    if (name.n == 0 || is_operator_word(name))
        return expr_fail(in, "expected an operand");
    if (in->p < in->end && *in->p == '(')
        return read_call_expr(in, name);
    bool is_true = str_is(name, "True") || str_is(name, "true");
    if (is_true || str_is(name, "False") || str_is(name, "false"))
        return expr_leaf(in, (struct expr){ .kind = EXPR_BOOL, .text = name, .value = is_true });
    return expr_leaf(in, (struct expr){ .kind = EXPR_SYMBOL, .text = name });
}

static struct expr_term read_atom(struct expr_reader *in)
{
    if (in->p == in->end)
        return expr_fail(in, "expected an operand");
    char c = *in->p;
    if (c == '(')
        return read_bracket(in, ')');
    if (c == '[')
        return read_bracket(in, ']');
    if (c == '\'' || c == '"') {
        struct str text = expr_quoted(in);
        return text.n ? expr_leaf(in, (struct expr){ .kind = EXPR_STRING, .text = text })
                      : expr_fail(in, "unterminated string");
    }
    bool fraction = c == '.' && in->end - in->p > 1 && in->p[1] >= '0' && in->p[1] <= '9';
    if ((c >= '0' && c <= '9') || fraction)
        return expr_number(in, in->p);
    return read_name_or_call(in);
}

/* Reads "-2" and "-oo" as leaves, unless a power follows: -2**x is -(2**x). */
static bool read_negative_leaf(struct expr_reader *in, const char *minus, struct expr_term *ret)
{
    const char *from = in->p;
    bool digit = in->p < in->end && *in->p >= '0' && *in->p <= '9';
    struct str name = expr_name(in);
    bool call = in->p < in->end && *in->p == '(';
    if (!digit && (!expr_is_infinity(name) || call)) {
        in->p = from;
        return false;
    }
    struct expr symbol = { .kind = EXPR_SYMBOL, .text = { minus, (size_t)(in->p - minus) } };
    *ret = digit ? expr_number(in, minus) : expr_leaf(in, symbol);
    const char *after = in->p;
    expr_skip_space(in);
    bool power = in->end - in->p >= 2 && in->p[0] == '*' && in->p[1] == '*';
    in->p = power && ret->id != EXPR_NONE ? from : after;
    return !power;
}

static bool at_word(const struct expr_reader *in, struct str word)
{
    return str_starts((struct str){ in->p, (size_t)(in->end - in->p) }, word);
}

static struct expr_term read_operand(struct expr_reader *in)
{
    struct expr_term leaf;
    expr_skip_space(in);
    const char *from = in->p;
    if (in->p == in->end)
        return expr_fail(in, "expected an operand");
    if (*in->p == '-') {
        in->p++;
        if (read_negative_leaf(in, from, &leaf))
            return leaf;
        return expr_op1(in, STR("neg"), read_expr_tree(in, PRECEDENCE_UNARY));
    }
    if (*in->p == '+') {
        in->p++;
        return read_expr_tree(in, PRECEDENCE_UNARY);
    }
    if (*in->p == '~') {
        in->p++;
        return expr_op1(in, STR("~"), read_expr_tree(in, PRECEDENCE_UNARY));
    }
    if (at_word(in, STR("not ")) || at_word(in, STR("not("))) {
        in->p += 3;
        return expr_op1(in, STR("~"), read_expr_tree(in, PRECEDENCE_NOT));
    }
    return read_atom(in);
}

/* Reads operands that are joined by operators whose precedence is at least `loosest`. */
static struct expr_term read_operator_chain(struct expr_reader *in, enum expr_precedence loosest)
{
    struct expr_term left = read_operand(in);
    bool compared = false;
    while (left.id != EXPR_NONE) {
        const char *before = in->p;
        expr_skip_space(in);
        const struct binary_operator *row = binary_at(in);
        if (!row || row->precedence < loosest) {
            in->p = before;
            break;
        }
        if (compared && row->precedence == PRECEDENCE_COMPARE)
            return expr_fail(in, "chained comparisons are not supported");
        compared = row->precedence == PRECEDENCE_COMPARE;
        in->p += row->text.n;
        /* The right side of a power may be signed (x**-2), and powers are right-associative. */
        bool power = row->precedence == PRECEDENCE_POWER;
        struct expr_term right = read_expr_tree(in, power ? PRECEDENCE_UNARY : row->precedence + 1);
        left = right.id == EXPR_NONE ? right : expr_op2(in, row->op, left, right);
    }
    return left;
}

/* Reads an expression. A printed tree nests deeper than the tree by one pair of parentheses a
 * node, and the limit allows for that. */
static struct expr_term read_expr_tree(struct expr_reader *in, enum expr_precedence loosest)
{
    enum { MAX_NESTING = 2 * EXPR_MAX_DEPTH + 1 };
    if (in->nesting >= MAX_NESTING)
        return expr_fail(in, "nested too deeply");
    in->nesting++;
    struct expr_term term = read_operator_chain(in, loosest);
    in->nesting--;
    return term;
}

expr_id expr_parse_start(struct expr_pool *pool, struct str text, size_t *used, struct err *err)
{
    struct expr_reader in = { pool, text.p, text.p, text.p + text.n, err, 0, { 0 } };
    size_t exprs = pool->exprs.n, children = pool->children.n;
    struct expr_term term = read_expr_tree(&in, PRECEDENCE_OR);
    vec_release(&in.open);
    if (term.id == EXPR_NONE) {
        pool->exprs.n = exprs;
        pool->children.n = children;
        return EXPR_NONE;
    }
    expr_skip_space(&in);
    *used = (size_t)(in.p - text.p);
    return term.id;
}

expr_id expr_parse(struct expr_pool *pool, struct str text, struct err *err)
{
    size_t used;
    expr_id id = expr_parse_start(pool, text, &used, err);
    if (id == EXPR_NONE || used == text.n)
        return id;
    err_set(err, ERR_INPUT, "offset %zu: expected an operator or the end", used);
    return EXPR_NONE;
}
