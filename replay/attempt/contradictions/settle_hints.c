/* Hints beside descriptions, specializations and guards. */
#include "replay/attempt/contradictions/evidence.h"

static bool symbol_value(const struct recorded_symbol *symbol, int64_t *ret)
{
    return symbol->name.n && str_to_i64(symbol->value, ret);
}

static struct str number_text(struct evidence *e, int64_t number)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)number);
    struct str ret = arena_copy(&e->found->arena, (struct str){ text, n > 0 ? (size_t)n : 0 });
    e->failed |= !ret.p;
    return ret;
}

/* Returns whether a stride of the tensor is the product of another size and stride with this one.
 */
static bool makes_a_stride(const struct input_tensor *t, uint32_t dim, int64_t size)
{
    int64_t product;
    if (__builtin_mul_overflow(size, t->stride[dim], &product))
        return false;
    for (uint32_t d = 0; d < t->ndim; d++)
        if (d != dim && t->stride[d] == product)
            return true;
    return false;
}

/* Returns whether the size of a symbol rather than that of the description is right: its storage
 * decides, else its strides; without either the description counts. */
static bool symbol_is_right(const struct input_tensor *t, uint32_t dim, int64_t value)
{
    int described = storage_fits(t, (int)dim, t->size[dim]);
    int symbol = storage_fits(t, (int)dim, value);
    if (described != symbol)
        return symbol == 1;
    return makes_a_stride(t, dim, value) && !makes_a_stride(t, dim, t->size[dim]);
}

static void add_hint(struct evidence *e, const struct recorded_symbol *symbol, uint32_t beside,
                     struct str expected)
{
    evidence_add(e, (struct contradiction){ .kind = CONTRADICTION_HINT,
                                            .record = symbol->record,
                                            .beside = beside,
                                            .ref = TRACE_NONE,
                                            .name = symbol->name,
                                            .recorded = symbol->value,
                                            .expected = expected });
}

/* Compares a size, stride or offset of a description with the hint of its symbol. */
static void settle_part(struct evidence *e, struct input_tensor *t, struct recorded_symbol *symbol,
                        int64_t *described, int dim)
{
    int64_t value;
    if (!symbol_value(symbol, &value) || value == *described)
        return;
    if (dim < 0 || !symbol_is_right(t, (uint32_t)dim, value)) {
        struct str expected = number_text(e, *described);
        add_hint(e, symbol, t->record, expected);
        symbol->value = expected;
        return;
    }
    evidence_add(e, (struct contradiction){ .kind = CONTRADICTION_DESCRIPTION,
                                            .record = t->record,
                                            .beside = symbol->record,
                                            .ref = TRACE_NONE,
                                            .name = symbol->source,
                                            .recorded = number_text(e, *described),
                                            .expected = symbol->value });
    *described = value;
}

/* ---- Ranges ---- */

/* The ranges that create_symbol() gives (torch/fx/experimental/symbolic_shapes.py): a size is 2 at
 * least, or 0 where 0 and 1 are not specialized; of a number nothing is known. Marks with a minimum
 * or a maximum narrow them, and so do the Dims of an export. */
static bool is_usual_range(struct str range, bool is_size)
{
    static const char *const sizes[] = { "[2, int_oo]", "[0, int_oo]", "[-int_oo, int_oo]" };
    static const char *const numbers[] = { "[-int_oo, int_oo]", "[-oo, oo]", "[0, 1]" };
    return range.n == 0 || str_is_one_of(range, is_size ? sizes : numbers, 3);
}

/* Returns whether the range of a symbol when it was created contains that of its guards. */
static bool contains_bounds(struct str range, const struct tree_fact *fact)
{
    size_t comma = str_find_char(range, ',');
    int64_t lower, upper;
    if (range.n < 5 || comma == range.n)
        return false;
    struct str low = str_trim(str_from(str_first(range, comma), 1));
    struct str high = str_trim(str_from(str_first(range, range.n - 1), comma + 1));
    return (!str_to_i64(low, &lower) || lower <= fact->lower) &&
           (!str_to_i64(high, &upper) || upper >= fact->upper);
}

/* A range that is not the usual one needs a reason: a mark, or a Dim. What is checked at each call
 * is never wider than it. */
static bool has_reason(struct evidence *e, const struct recorded_symbol *symbol, bool marked)
{
    const struct tree_fact *fact = evidence_tree_fact(e, symbol->source);
    bool may_be_other =
        marked || e->records->exported || str_starts(symbol->source, STR("L['flat_args']"));
    return may_be_other && (!fact || !fact->bounded || contains_bounds(symbol->range, fact));
}

static void settle_range(struct evidence *e, struct recorded_symbol *symbol, bool is_size,
                         bool marked)
{
    if (!symbol->name.n || is_usual_range(symbol->range, is_size) || has_reason(e, symbol, marked))
        return;
    struct str usual = is_size                              ? STR("[2, int_oo]")
                       : str_starts(symbol->name, STR("z")) ? STR("[-oo, oo]")
                                                            : STR("[-int_oo, int_oo]");
    evidence_add(e, (struct contradiction){ .kind = CONTRADICTION_RANGE,
                                            .record = symbol->record,
                                            .beside = TRACE_NONE,
                                            .ref = TRACE_NONE,
                                            .name = symbol->name,
                                            .recorded = symbol->range,
                                            .expected = usual });
    symbol->range = usual;
}

/* ---- Hints ---- */

static void settle_tensor(struct evidence *e, struct input_tensor *t)
{
    /* Tensors without symbols share constant ones without a name. */
    for (uint32_t d = 0; d < t->ndim; d++) {
        if (t->size_symbol[d].name.n)
            settle_part(e, t, (struct recorded_symbol *)&t->size_symbol[d], &t->size[d], (int)d);
        if (t->stride_symbol[d].name.n)
            settle_part(e, t, (struct recorded_symbol *)&t->stride_symbol[d], &t->stride[d], -1);
        if (t->size_symbol[d].name.n)
            settle_range(e, (struct recorded_symbol *)&t->size_symbol[d], true, t->marked[d]);
        evidence_set_hint(e, t->size_symbol[d].name, t->size_symbol[d].value);
        evidence_set_hint(e, t->stride_symbol[d].name, t->stride_symbol[d].value);
    }
    if (t->offset_symbol->name.n)
        settle_part(e, t, (struct recorded_symbol *)t->offset_symbol, &t->offset, -1);
    evidence_set_hint(e, t->offset_symbol->name, t->offset_symbol->value);
}

/* The numbers that guards and specializations have for symbols. */
struct equal_number {
    sym_id specialized, guarded; /* SYM_NONE: no record has one */
    uint32_t record;             /* the specialization's */
    bool several;                /* guards that differ */
};
struct equal_numbers {
    struct intern names;
    vec_of(struct equal_number)
    numbers;
};

/* After a failure, names may have no number. */
static struct equal_number *number_of(struct evidence *e, struct equal_numbers *all,
                                      struct str name)
{
    uint32_t id = e->failed ? INTERN_NONE : intern(&all->names, name);
    if (id == INTERN_NONE ||
        (id == all->numbers.n &&
         !vec_push(&all->numbers,
                   (struct equal_number){ SYM_NONE, SYM_NONE, TRACE_NONE, false }))) {
        e->failed = true;
        return NULL;
    }
    return &all->numbers.v[id];
}

static void gather_specializations(struct evidence *e, struct equal_numbers *all)
{
    const struct symbol_table *table = e->records->symbols;
    for (uint32_t i = 0; i < table->n_specializations; i++) {
        const struct specialization *s = &table->specializations[i];
        struct equal_number *n =
            s->attempt == e->records->attempt ? number_of(e, all, s->symbol) : NULL;
        if (!n || n->specialized != SYM_NONE)
            continue;
        n->specialized = evidence_value(e, s->value, STR(""), SYM_NONE);
        n->record = s->record;
    }
}

/* Reads "Eq(zf1, 0.1)". */
static bool read_equality(struct evidence *e, struct str text, struct str *name, sym_id *number)
{
    size_t comma = str_find_char(text, ',');
    if (!str_starts(text, STR("Eq(")) || !str_ends(text, STR(")")) || comma + 2 >= text.n)
        return false;
    *name = str_from(str_first(text, comma), 3);
    struct str rest = str_trim(str_from(str_first(text, text.n - 1), comma + 1));
    for (size_t i = 0; i < name->n; i++)
        if (!is_letter(name->p[i]) && !is_digit(name->p[i]))
            return false;
    if (!name->n || !is_letter(name->p[0]) || !rest.n || is_letter(rest.p[0]))
        return false;
    *number = evidence_value(e, rest, STR(""), SYM_NONE);
    return *number != SYM_NONE;
}

static void gather_equalities(struct evidence *e, struct equal_numbers *all)
{
    for (uint32_t i = 0; i < e->records->guards->n; i++) {
        const struct guard *guard = &e->records->guards->guards[i];
        struct str name;
        sym_id value;
        if (guard->attempt != e->records->attempt || !read_equality(e, guard->expr, &name, &value))
            continue;
        struct equal_number *n = number_of(e, all, name);
        if (!n)
            return;
        n->several |= n->guarded != SYM_NONE && n->guarded != value;
        n->guarded = value;
    }
}

/* The hint of a number that no description has: a guard and a specialization outvote it. */
static void settle_number(struct evidence *e, const struct equal_numbers *all,
                          struct recorded_symbol *symbol)
{
    uint32_t id = intern_find(&all->names, symbol->name);
    const struct equal_number *n = id == INTERN_NONE ? NULL : &all->numbers.v[id];
    if (n && n->specialized != SYM_NONE && n->guarded != SYM_NONE && !n->several &&
        sym_numbers_near(e->pool, n->specialized, n->guarded)) {
        sym_id hint = evidence_value(e, symbol->value, STR(""), SYM_NONE);
        if (hint != SYM_NONE && !sym_numbers_near(e->pool, hint, n->guarded)) {
            struct buf text = BUF_INIT;
            sym_print(e->pool, n->guarded, &text);
            struct str expected = arena_copy(&e->found->arena, buf_str(&text));
            e->failed |= text.failed || !expected.p;
            buf_release(&text);
            add_hint(e, symbol, n->record, expected);
            symbol->value = expected;
        }
    }
    evidence_set_hint(e, symbol->name, symbol->value);
}

/* A symbol is a number, or a part of a tensor that was not described. */
static void settle_symbol(struct evidence *e, const struct equal_numbers *all,
                          struct recorded_symbol *symbol)
{
    bool is_part = str_contains(symbol->source, STR(".size()[")) ||
                   str_contains(symbol->source, STR(".stride()[")) ||
                   str_ends(symbol->source, STR(".storage_offset()"));
    settle_number(e, all, symbol);
    if (!is_part)
        settle_range(e, symbol, false, false);
}

void settle_hints(struct evidence *e, struct inputs *inputs)
{
    struct equal_numbers all = { 0 };
    gather_specializations(e, &all);
    gather_equalities(e, &all);
    for (size_t i = 0; i < inputs->list.n && !e->failed; i++)
        if (inputs->list.v[i].kind == INPUT_TENSOR && inputs->list.v[i].tensor.concrete)
            settle_tensor(e, &inputs->list.v[i].tensor);
        else if (inputs->list.v[i].kind == INPUT_SYMBOL)
            settle_symbol(e, &all, &inputs->list.v[i].symbol);
    intern_release(&all.names);
    vec_release(&all.numbers);
}
