/* Questions as SMT-LIB2 text: rows are definitions of integers and conditions.
 *
 * SMT-LIB's div and mod leave a remainder that is not negative; Python's round the quotient down.
 * They are equal for positive divisors, and for negative ones after both signs are changed. What is
 * not known of a row is a constant without a definition: no answer "unsat" is wrong for that, and
 * values are checked by evaluate.c. */
#include "prove/decide/smtlib.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"

enum { MOST_POWER = 16 };

struct writer {
    struct decider *d;
    const struct formula *f;
    struct buf *out;
    bool *needed;           /* by row */
    const struct span *box; /* by d->symbols, or NULL */
    bool narrow;
};

static bool is_integer_row(const struct formula *f, uint32_t number)
{
    return f->rows.v[number].integer && !row_is_condition(f->rows.v[number].kind);
}

/* Returns whether arguments are integers, or conditions where these are required. */
static bool has_arguments(const struct formula *f, const struct row *row, bool conditions)
{
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t arg = row_arg(f, row, i);
        if (conditions ? !row_is_condition(f->rows.v[arg].kind) : !is_integer_row(f, arg))
            return false;
    }
    return row->n > 0;
}

/* Returns whether a definition of the row is written. */
static bool is_defined(const struct formula *f, const struct row *row)
{
    switch (row->kind) {
    case SYM_INTEGER:
    case SYM_TRUE:
    case SYM_FALSE: return true;
    case SYM_AND:
    case SYM_OR:
    case SYM_NOT: return has_arguments(f, row, true);
    case SYM_POW:
        return !row->opaque && has_arguments(f, row, false) &&
               f->rows.v[row_arg(f, row, 1)].integer_value <= MOST_POWER;
    case SYM_EQ:
    case SYM_NE:
    case SYM_LT:
    case SYM_LE:
    case SYM_FLOORDIV:
    case SYM_MOD: return !row->opaque && row->n == 2 && has_arguments(f, row, false);
    case SYM_MAX:
    case SYM_MIN:
    case SYM_ADD:
    case SYM_MUL: return !row->opaque && has_arguments(f, row, false);
    default: return false;
    }
}

static void put_integer(struct buf *out, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    buf_printf(out, value < 0 ? "(- %" PRIu64 ")" : "%" PRIu64, size);
}

static void put_all(struct writer *w, const struct row *row, const char *operation)
{
    if (row->n == 1) {
        buf_printf(w->out, "r%" PRIu32, row_arg(w->f, row, 0));
        return;
    }
    buf_printf(w->out, "(%s", operation);
    for (uint32_t i = 0; i < row->n; i++)
        buf_printf(w->out, " r%" PRIu32, row_arg(w->f, row, i));
    buf_puts(w->out, ")");
}

static void put_binary(struct writer *w, const struct row *row, const char *format)
{
    uint32_t a = row_arg(w->f, row, 0), b = row_arg(w->f, row, 1);
    for (const char *p = format; *p; p++)
        if (*p == 'A' || *p == 'B')
            buf_printf(w->out, "r%" PRIu32, *p == 'A' ? a : b);
        else
            buf_putc(w->out, *p);
}

static void put_division(struct writer *w, const struct row *row)
{
    struct span divisor = w->f->rows.v[row_arg(w->f, row, 1)].span;
    bool positive = w->narrow && divisor.lower > 0;
    if (w->f->rows.v[row_arg(w->f, row, 1)].kind == SYM_INTEGER)
        positive = divisor.lower > 0;
    if (row->kind == SYM_FLOORDIV)
        put_binary(w, row, positive ? "(div A B)" : "(ite (> B 0) (div A B) (div (- A) (- B)))");
    else
        put_binary(w, row,
                   positive ? "(mod A B)" : "(ite (> B 0) (mod A B) (- (mod (- A) (- B))))");
}

static void put_power(struct writer *w, const struct row *row)
{
    int64_t exponent = w->f->rows.v[row_arg(w->f, row, 1)].integer_value;
    buf_puts(w->out, "(* 1");
    for (int64_t i = 0; i < exponent; i++)
        buf_printf(w->out, " r%" PRIu32, row_arg(w->f, row, 0));
    buf_puts(w->out, ")");
}

/* Compares the arguments one by one: m0 is the first one, m1 that of the first two, ... */
static void put_extreme(struct writer *w, const struct row *row)
{
    buf_printf(w->out, "(let ((m0 r%" PRIu32 "))", row_arg(w->f, row, 0));
    for (uint32_t i = 1; i < row->n; i++) {
        uint32_t arg = row_arg(w->f, row, i);
        buf_printf(w->out, " (let ((m%" PRIu32 " (ite (%s m%" PRIu32 " r%" PRIu32 ") m%" PRIu32, i,
                   row->kind == SYM_MIN ? "<" : ">", i - 1, arg, i - 1);
        buf_printf(w->out, " r%" PRIu32 ")))", arg);
    }
    buf_printf(w->out, " m%" PRIu32, row->n - 1);
    for (uint32_t i = 0; i < row->n; i++)
        buf_puts(w->out, ")");
}

static void put_definition(struct writer *w, const struct row *row)
{
    switch (row->kind) {
    case SYM_INTEGER: put_integer(w->out, row->integer_value); break;
    case SYM_TRUE: buf_puts(w->out, "true"); break;
    case SYM_FALSE: buf_puts(w->out, "false"); break;
    case SYM_AND: put_all(w, row, "and"); break;
    case SYM_OR: put_all(w, row, "or"); break;
    case SYM_NOT: buf_printf(w->out, "(not r%" PRIu32 ")", row_arg(w->f, row, 0)); break;
    case SYM_EQ: put_binary(w, row, "(= A B)"); break;
    case SYM_NE: put_binary(w, row, "(not (= A B))"); break;
    case SYM_LT: put_binary(w, row, "(< A B)"); break;
    case SYM_LE: put_binary(w, row, "(<= A B)"); break;
    case SYM_MAX:
    case SYM_MIN: put_extreme(w, row); break;
    case SYM_ADD: put_all(w, row, "+"); break;
    case SYM_MUL: put_all(w, row, "*"); break;
    case SYM_POW: put_power(w, row); break;
    default: put_division(w, row); break;
    }
}

static void put_span(struct writer *w, uint32_t number, struct span span)
{
    if (span.lower != DECIDE_NO_LOWER) {
        buf_printf(w->out, "(assert (<= ");
        put_integer(w->out, span.lower);
        buf_printf(w->out, " r%" PRIu32 "))\n", number);
    }
    if (span.upper != DECIDE_NO_UPPER) {
        buf_printf(w->out, "(assert (<= r%" PRIu32 " ", number);
        put_integer(w->out, span.upper);
        buf_printf(w->out, "))\n");
    }
}

static void put_row(struct writer *w, uint32_t number)
{
    const struct row *row = &w->f->rows.v[number];
    const char *sort = row_is_condition(row->kind) ? "Bool" : "Int";
    if (is_defined(w->f, row)) {
        buf_printf(w->out, "(define-fun r%" PRIu32 " () %s ", number, sort);
        put_definition(w, row);
        buf_puts(w->out, ")\n");
        return;
    }
    buf_printf(w->out, "(declare-const r%" PRIu32 " %s)\n", number, sort);
    if (w->narrow && is_integer_row(w->f, number))
        put_span(w, number, row->span);
}

/* A fact that divides by 0 is not true. And and Or may stop before they come to a division. */
static void put_divisors(struct writer *w, uint32_t fact)
{
    const struct row *row = &w->f->rows.v[fact];
    if (!is_relational(row->kind) || !is_defined(w->f, row))
        return;
    for (uint32_t i = 0; i < row->n; i++) {
        const struct row *side = &w->f->rows.v[row_arg(w->f, row, i)];
        if ((side->kind == SYM_FLOORDIV || side->kind == SYM_MOD) && is_defined(w->f, side) &&
            w->f->rows.v[row_arg(w->f, side, 1)].kind != SYM_INTEGER)
            buf_printf(w->out, "(assert (not (= r%" PRIu32 " 0)))\n", row_arg(w->f, side, 1));
    }
}

/* Arguments stand before the rows that have them. */
static void mark_needed(struct writer *w, uint32_t row)
{
    const struct decider *d = w->d;
    w->needed[row] = w->needed[d->goal] = true;
    for (size_t i = 0; i < d->relevant.n; i++)
        w->needed[d->facts.v[d->relevant.v[i]].row] = true;
    for (size_t i = 0; i < d->symbols.n; i++)
        w->needed[w->f->symbols.v[d->symbols.v[i]].row] = true;
    for (size_t i = w->f->rows.n; i-- > 0;)
        for (uint32_t j = 0; w->needed[i] && j < w->f->rows.v[i].n; j++)
            w->needed[row_arg(w->f, &w->f->rows.v[i], j)] = true;
}

static void put_given_ranges(struct writer *w)
{
    const struct decider *d = w->d;
    for (size_t i = 0; i < d->symbols.n; i++) {
        const struct formula_symbol *symbol = &w->f->symbols.v[d->symbols.v[i]];
        unsigned facts = facts_at(d->pool, symbol->symbol);
        if (is_integer_row(w->f, symbol->row) && known_nonnegative(facts))
            put_span(w, symbol->row, (struct span){ known_positive(facts), DECIDE_NO_UPPER });
    }
    for (size_t i = 0; i < d->ranges.n; i++)
        if (w->needed[d->ranges.v[i].row] && is_integer_row(w->f, d->ranges.v[i].row))
            put_span(w, d->ranges.v[i].row, d->ranges.v[i].span);
}

static void put_question(struct writer *w, uint32_t row)
{
    const struct decider *d = w->d;
    mark_needed(w, row);
    for (size_t i = 0; i < w->f->rows.n; i++)
        if (w->needed[i])
            put_row(w, (uint32_t)i);
    if (!w->narrow)
        put_given_ranges(w);
    for (size_t i = 0; i < d->symbols.n && w->box; i++)
        put_span(w, w->f->symbols.v[d->symbols.v[i]].row, w->box[i]);
    for (size_t i = 0; i < d->relevant.n; i++) {
        uint32_t fact = d->facts.v[d->relevant.v[i]].row;
        if (row_is_condition(w->f->rows.v[fact].kind))
            buf_printf(w->out, "(assert r%" PRIu32 ")\n", fact);
        put_divisors(w, fact);
    }
    if (row_is_condition(w->f->rows.v[row].kind))
        buf_printf(w->out, "(assert (not r%" PRIu32 "))\n", row);
    else
        buf_printf(w->out, "(assert (= r%" PRIu32 " 0))\n", row);
    buf_puts(w->out, "(check-sat)\n");
}

bool smtlib_knows(const struct decider *d, uint32_t row)
{
    return is_defined(&d->formula, &d->formula.rows.v[row]) ||
           d->formula.rows.v[row].kind == SYM_SYMBOL;
}

bool smtlib_write(struct decider *d, uint32_t row, bool narrow, const struct span *box,
                  struct buf *question, struct buf *values)
{
    struct writer w = { d, &d->formula, question, NULL, box, narrow };
    w.needed = calloc(d->formula.rows.n + 1, sizeof *w.needed);
    if (!w.needed)
        return false;
    put_question(&w, row);
    free(w.needed);
    buf_puts(values, "(get-value (");
    for (size_t i = 0; i < d->symbols.n; i++)
        buf_printf(values, "%sr%" PRIu32, i ? " " : "", d->formula.symbols.v[d->symbols.v[i]].row);
    buf_puts(values, "))\n");
    return !question->failed && !values->failed;
}

/* --- Answers --- */

static void skip_spaces(struct str *text)
{
    while (text->n && is_space(*text->p))
        *text = str_from(*text, 1);
}

static bool take(struct str *text, const char *what)
{
    skip_spaces(text);
    if (!str_starts(*text, str_of(what)))
        return false;
    *text = str_from(*text, strlen(what));
    return true;
}

/* Reads "r12", which nothing but a space follows. */
static bool take_row(struct str *text, uint32_t number)
{
    char name[16];
    snprintf(name, sizeof name, "r%" PRIu32, number);
    return take(text, name) && text->n && is_space(*text->p);
}

/* Reads "7" or "(- 7)". */
static bool take_integer(struct str *text, int64_t *ret)
{
    bool negative = take(text, "(");
    if (negative && (!take(text, "-") || !text->n || !is_space(*text->p)))
        return false;
    skip_spaces(text);
    size_t n = str_digits(*text);
    if (n == 0 || !str_to_i64(str_first(*text, n), ret))
        return false;
    *text = str_from(*text, n);
    *ret = negative ? -*ret : *ret;
    return !negative || take(text, ")");
}

enum smtlib_answer smtlib_read(const struct decider *d, struct str text, int64_t *values)
{
    bool unsat = take(&text, "unsat");
    if (unsat || !take(&text, "sat") || !take(&text, "("))
        return unsat && !str_trim(text).n ? SMTLIB_UNSAT : SMTLIB_UNKNOWN;
    for (size_t i = 0; i < d->symbols.n; i++)
        if (!take(&text, "(") || !take_row(&text, d->formula.symbols.v[d->symbols.v[i]].row) ||
            !take_integer(&text, &values[i]) || !take(&text, ")"))
            return SMTLIB_UNKNOWN;
    return take(&text, ")") && !str_trim(text).n ? SMTLIB_SAT : SMTLIB_UNKNOWN;
}
