/* Expressions as rows of a table. */
#include "prove/decide/formula.h"

#include "replay/shape/expr/sym_pool.h"

void formula_init(struct formula *f, struct sym_pool *pool)
{
    *f = (struct formula){ .pool = pool };
}

void formula_release(struct formula *f)
{
    vec_release(&f->rows);
    vec_release(&f->args);
    vec_release(&f->uses);
    vec_release(&f->symbols);
    vec_release(&f->row_of);
    *f = (struct formula){ 0 };
}

static bool fail(struct formula *f)
{
    f->failed = true;
    return false;
}

static bool remember(struct formula *f, sym_id e, uint32_t row)
{
    while (f->row_of.n <= e)
        if (!vec_push(&f->row_of, 0))
            return fail(f);
    f->row_of.v[e] = row + 1;
    return true;
}

/* Adds a row; the arguments are rows. */
static uint32_t add_row(struct formula *f, struct row row, const uint32_t *args, uint32_t n)
{
    if (f->failed || f->rows.n >= ROW_NONE - 1 || f->args.n >= UINT32_MAX - n)
        return fail(f), ROW_NONE;
    uint32_t number = (uint32_t)f->rows.n;
    row.first = (uint32_t)f->args.n;
    row.n = n;
    row.first_use = ROW_NONE;
    if (!vec_reserve(&f->rows, 1) || !vec_reserve(&f->args, n) || !vec_reserve(&f->uses, n))
        return fail(f), ROW_NONE;
    for (uint32_t i = 0; i < n; i++) {
        f->args.v[f->args.n++] = args[i];
        f->uses.v[f->uses.n] = (struct row_use){ number, f->rows.v[args[i]].first_use };
        f->rows.v[args[i]].first_use = (uint32_t)f->uses.n++;
    }
    f->rows.v[f->rows.n++] = row;
    return number;
}

static uint32_t integer_row(struct formula *f, int64_t value)
{
    struct row row = { .kind = SYM_INTEGER, .expr = SYM_NONE, .symbol = ROW_NONE, .integer = true };
    row.integer_value = value;
    row.span =
        value > -DECIDE_MOST && value < DECIDE_MOST ? (struct span){ value, value } : SPAN_ANY;
    return add_row(f, row, NULL, 0);
}

bool row_is_condition(enum sym_kind kind)
{
    return is_relational(kind) || kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT ||
           kind == SYM_TRUE || kind == SYM_FALSE;
}

static bool all_integers(const struct formula *f, const uint32_t *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!f->rows.v[args[i]].integer)
            return false;
    return true;
}

/* Returns whether intervals, linear arithmetic and the search know what the kind computes of
 * integers. */
static bool is_derived(enum sym_kind kind)
{
    switch (kind) {
    case SYM_ADD:
    case SYM_MUL:
    case SYM_MAX:
    case SYM_MIN:
    case SYM_FLOORDIV:
    case SYM_MOD:
    case SYM_POW:
    case SYM_EQ:
    case SYM_NE:
    case SYM_LT:
    case SYM_LE:
    case SYM_AND:
    case SYM_OR:
    case SYM_NOT: return true;
    default: return false;
    }
}

static uint32_t operation(struct formula *f, sym_id e, enum sym_kind kind, const uint32_t *args,
                          uint32_t n)
{
    struct row row = { .kind = kind, .expr = e, .symbol = ROW_NONE };
    bool condition = row_is_condition(kind), integers = all_integers(f, args, n);
    row.opaque = !is_derived(kind) || !integers ||
                 (kind == SYM_POW && (n != 2 || f->rows.v[args[1]].kind != SYM_INTEGER ||
                                      f->rows.v[args[1]].integer_value < 1));
    row.integer = condition || (integers && !row.opaque) ||
                  (e != SYM_NONE && sym_ask(f->pool, e, SYM_ASK_INTEGER) == SYM_YES);
    row.span = condition ? SPAN_BOOL : SPAN_ANY;
    return add_row(f, row, args, n);
}

static uint32_t binary(struct formula *f, sym_id e, enum sym_kind kind, uint32_t a, uint32_t b)
{
    return a == ROW_NONE || b == ROW_NONE ? ROW_NONE
                                          : operation(f, e, kind, (uint32_t[]){ a, b }, 2);
}

uint32_t formula_quotient(struct formula *f, uint32_t a, uint32_t b)
{
    for (uint32_t use = f->rows.v[a].first_use; use != ROW_NONE; use = f->uses.v[use].next) {
        const struct row *row = &f->rows.v[f->uses.v[use].row];
        if (row->kind == SYM_FLOORDIV && row_arg(f, row, 0) == a && row_arg(f, row, 1) == b)
            return f->uses.v[use].row;
    }
    return binary(f, SYM_NONE, SYM_FLOORDIV, a, b);
}

static uint32_t negated(struct formula *f, uint32_t a)
{
    uint32_t minus = integer_row(f, -1);
    return binary(f, SYM_NONE, SYM_MUL, minus, a);
}

static bool is_zero_or_more(const struct formula *f, sym_id e)
{
    return known_nonnegative(facts_at(f->pool, e));
}

/* int(a / b), math.floor(a / b), math.ceil(a / b) of integers. ROW_NONE: it is another number. */
static uint32_t rounded_quotient(struct formula *f, sym_id e, enum sym_kind kind)
{
    sym_id inner = arg_at(f->pool, e, 0);
    if (kind_at(f->pool, inner) != SYM_INT_TRUE_DIV)
        return ROW_NONE;
    sym_id left = arg_at(f->pool, inner, 0), right = arg_at(f->pool, inner, 1);
    uint32_t a = formula_row(f, left), b = formula_row(f, right);
    if (a == ROW_NONE || b == ROW_NONE || !f->rows.v[a].integer || !f->rows.v[b].integer)
        return ROW_NONE;
    if (kind == SYM_CEIL_TO_INT) {
        uint32_t minus = negated(f, a);
        uint32_t down = binary(f, SYM_NONE, SYM_FLOORDIV, minus, b);
        return down == ROW_NONE ? ROW_NONE : negated(f, down);
    }
    if (kind == SYM_FLOOR_TO_INT || (is_zero_or_more(f, left) && is_zero_or_more(f, right)))
        return binary(f, e, SYM_FLOORDIV, a, b);
    /* Truncation rounds up below 0 and down above it: Max(floor, 0) + Min(ceiling, 0). */
    uint32_t zero = integer_row(f, 0), minus = negated(f, a);
    uint32_t floor_row = binary(f, SYM_NONE, SYM_FLOORDIV, a, b);
    uint32_t opposite = binary(f, SYM_NONE, SYM_FLOORDIV, minus, b);
    if (zero == ROW_NONE || opposite == ROW_NONE || floor_row == ROW_NONE)
        return ROW_NONE;
    uint32_t ceil_row = negated(f, opposite);
    uint32_t up = binary(f, SYM_NONE, SYM_MAX, floor_row, zero);
    uint32_t down = binary(f, SYM_NONE, SYM_MIN, ceil_row, zero);
    return binary(f, e, SYM_ADD, up, down);
}

static uint32_t modular_indexing(struct formula *f, sym_id e)
{
    uint32_t base = formula_row(f, arg_at(f->pool, e, 0));
    uint32_t divisor = formula_row(f, arg_at(f->pool, e, 1));
    uint32_t modulus = formula_row(f, arg_at(f->pool, e, 2));
    uint32_t quotient = binary(f, SYM_NONE, SYM_FLOORDIV, base, divisor);
    return binary(f, e, SYM_MOD, quotient, modulus);
}

static uint32_t general(struct formula *f, sym_id e, enum sym_kind kind)
{
    uint32_t n = sym_n_args(f->pool, e), few[8], *args = n <= 8 ? few : malloc(n * sizeof *args);
    if (!args)
        return fail(f), ROW_NONE;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        args[i] = formula_row(f, arg_at(f->pool, e, i));
        ok = args[i] != ROW_NONE;
    }
    uint32_t row = ROW_NONE;
    if (ok && (kind == SYM_GT || kind == SYM_GE))
        row =
            operation(f, e, kind == SYM_GT ? SYM_LT : SYM_LE, (uint32_t[]){ args[1], args[0] }, 2);
    else if (ok)
        row = operation(f, e, kind, args, n);
    if (args != few)
        free(args);
    return row;
}

static uint32_t new_row(struct formula *f, sym_id e)
{
    enum sym_kind kind = kind_at(f->pool, e);
    struct row row = { .kind = kind, .expr = e, .symbol = ROW_NONE, .span = SPAN_ANY };
    int64_t value;
    uint32_t at;
    switch (kind) {
    case SYM_INTEGER: return sym_to_i64(f->pool, e, &value) ? integer_row(f, value) : ROW_NONE;
    case SYM_TRUE:
    case SYM_FALSE:
        row.integer = true;
        row.integer_value = kind == SYM_TRUE;
        row.span = (struct span){ row.integer_value, row.integer_value };
        return add_row(f, row, NULL, 0);
    case SYM_SYMBOL:
        row.integer = (facts_at(f->pool, e) & FACT_INTEGER) != 0;
        row.symbol = (uint32_t)f->symbols.n;
        if (known_positive(facts_at(f->pool, e)) && row.integer)
            row.span.lower = 1;
        else if (is_zero_or_more(f, e) && row.integer)
            row.span.lower = 0;
        at = add_row(f, row, NULL, 0);
        if (at != ROW_NONE && !vec_push(&f->symbols, (struct formula_symbol){ e, at }))
            return fail(f), ROW_NONE;
        return at;
    case SYM_FLOAT:
    case SYM_RATIONAL: row.real_value = sym_to_double(f->pool, e); break;
    case SYM_CLEANDIV:
    case SYM_FLOORDIV: return general(f, e, SYM_FLOORDIV);
    case SYM_PYTHON_MOD: return general(f, e, SYM_MOD);
    case SYM_POW_BY_NATURAL: return general(f, e, SYM_POW);
    case SYM_IDENTITY: return formula_row(f, arg_at(f->pool, e, 0));
    case SYM_MODULAR_INDEXING: return modular_indexing(f, e);
    case SYM_TRUNC_TO_INT:
    case SYM_FLOOR_TO_INT:
    case SYM_CEIL_TO_INT:
        at = rounded_quotient(f, e, kind);
        if (at != ROW_NONE || f->failed)
            return at;
        return general(f, e, kind);
    default:
        if (has_args(kind))
            return general(f, e, kind);
        break;
    }
    row.opaque = true;
    row.integer = is_integer(f->pool, e);
    return add_row(f, row, NULL, 0);
}

uint32_t formula_row(struct formula *f, sym_id e)
{
    if (f->failed || e == SYM_NONE)
        return fail(f), ROW_NONE;
    if (e < f->row_of.n && f->row_of.v[e])
        return f->row_of.v[e] - 1;
    uint32_t row = new_row(f, e);
    return row != ROW_NONE && remember(f, e, row) ? row : ROW_NONE;
}
