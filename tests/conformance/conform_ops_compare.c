#include <math.h>
#include <stdio.h>

#include "tests/conformance/conform_ops.h"

bool row_differs(struct row *row, const char *format, ...)
{
    if (row->why.n)
        buf_puts(&row->why, "; ");
    va_list args;
    va_start(args, format);
    buf_vprintf(&row->why, format, args);
    va_end(args);
    return false;
}

/* --- Values --- */

static bool same_expr(struct row *row, sym_id a, sym_id b)
{
    return a == b ||
           (a != SYM_NONE && b != SYM_NONE && env_replace(row->env, a) == env_replace(row->env, b));
}

static bool has_unbacked(struct row *row, sym_id e)
{
    return e != SYM_NONE && !sym_is_number(row->pool, e) && env_has_unbacked(row->env, e);
}

static bool compare_ids(struct row *row, json_id list, const sym_id *ids, uint32_t n,
                        const char *what, const char *of)
{
    uint32_t i = 0;
    bool same = json_count(row->doc, list) == n;
    for (json_id at = json_first(row->doc, list); at != JSON_NONE && same;
         at = json_next(row->doc, at), i++) {
        sym_id expected = row_expr(row, at);
        same = same_expr(row, expected, ids[i]);
        /* The size depends on data that the row does not give. */
        if (!same && !row->symbolic && row->lacks_data && has_unbacked(row, ids[i])) {
            row->skip = true;
            return true;
        }
    }
    if (same)
        return true;
    struct buf got = BUF_INIT;
    for (i = 0; i < n; i++) {
        buf_puts(&got, i ? ", " : "");
        sym_print(row->pool, env_replace(row->env, ids[i]), &got);
    }
    row_differs(row, "%s: %s %.*s, got [%.*s]", what, of, STR_ARG(json_text(row->doc, list)),
                STR_ARG(buf_str(&got)));
    buf_release(&got);
    return false;
}

/* Equal numbers alias; what is no argument's storage must not be ours either. */
static bool compare_storage(struct row *row, json_id at, struct tensor x, const char *what)
{
    uint64_t storage;
    if (!json_u64(row->doc, json_get(row->doc, at, STR("storage")), &storage) ||
        storage >= ROW_MAX_STORAGES)
        return true;
    if (row->storage_known[storage])
        return row->storages[storage] == x.storage ||
               row_differs(row, "%s: storage %u is not that of number %u", what, x.storage,
                           (unsigned)storage);
    for (uint32_t i = 0; i < ROW_MAX_STORAGES; i++)
        if (row->storage_known[i] && row->storages[i] == x.storage)
            return row_differs(row, "%s: aliases number %u and should be new", what, i);
    row->storages[storage] = x.storage;
    row->storage_known[storage] = 2;
    return true;
}

static bool compare_tensor(struct row *row, json_id at, struct value got, const char *what)
{
    if (got.kind != VALUE_TENSOR)
        return row_differs(row, "%s: a tensor expected", what);
    const struct tensor_meta *meta = got.u.tensor.meta;
    struct device device = { DEVICE_NONE, -1 };
    enum dtype dtype = row_dtype(row, json_get(row->doc, at, STR("t")));
    bool conj = json_get(row->doc, at, STR("conj")) != JSON_NONE, ok = true;
    json_id offset = json_get(row->doc, at, STR("offset"));
    json_id layout = json_get(row->doc, at, STR("layout"));
    device_parse(json_str(row->doc, json_get(row->doc, at, STR("device"))), &device);
    if (dtype != meta->dtype)
        ok = row_differs(row, "%s: dtype %s, got %s", what, dtype_short_name(dtype),
                         dtype_short_name(meta->dtype));
    if (!device_equal(device, meta->device))
        ok = row_differs(row, "%s: another device", what);
    if (conj != meta->conj)
        ok = row_differs(row, "%s: conj", what);
    if ((layout != JSON_NONE) != (meta->layout != LAYOUT_STRIDED))
        return row_differs(row, "%s: layout", what);
    ok &=
        compare_ids(row, json_get(row->doc, at, STR("size")), meta->size, meta->ndim, what, "size");
    if (layout != JSON_NONE)
        return ok;
    ok &= compare_ids(row, json_get(row->doc, at, STR("stride")), meta->stride,
                      meta->stride ? meta->ndim : 0, what, "stride");
    if (!same_expr(row, row_expr(row, offset), meta->offset))
        ok = row_differs(row, "%s: offset %.*s", what, STR_ARG(json_text(row->doc, offset)));
    return compare_storage(row, at, got.u.tensor, what) && ok;
}

static bool compare_list(struct row *row, json_id at, struct value got, const char *what)
{
    if (got.kind != VALUE_LIST && got.kind != VALUE_TUPLE)
        return row_differs(row, "%s: a list expected", what);
    if (json_count(row->doc, at) != got.n)
        return row_differs(row, "%s: %zu items, got %u", what, json_count(row->doc, at), got.n);
    uint32_t i = 0;
    bool ok = true;
    for (json_id k = json_first(row->doc, at); k != JSON_NONE; k = json_next(row->doc, k), i++) {
        char name[80];
        snprintf(name, sizeof name, "%.60s[%u]", what, i);
        ok &= row_compare_value(row, k, got.u.items[i], name);
    }
    return ok;
}

static bool compare_number(struct row *row, json_id at, struct value expected, struct value got,
                           const char *what)
{
    struct buf text = BUF_INIT;
    value_print(row->pool, got, &text);
    bool ok = got.kind == expected.kind && same_expr(row, expected.u.sym, got.u.sym);
    if (!ok && value_is_number(got) && has_unbacked(row, got.u.sym) && !row->symbolic)
        row->skip = ok = row->lacks_data;
    if (!ok && got.kind == VALUE_FLOAT && expected.kind == VALUE_FLOAT) {
        double a = sym_to_double(row->pool, got.u.sym);
        double b = sym_to_double(row->pool, expected.u.sym);
        ok = a == b || (isnan(a) && isnan(b) && sym_is_number(row->pool, got.u.sym));
    }
    if (!ok)
        row_differs(row, "%s: %.*s, got %.*s", what, STR_ARG(json_text(row->doc, at)),
                    STR_ARG(buf_str(&text)));
    buf_release(&text);
    return ok;
}

bool row_compare_value(struct row *row, json_id at, struct value got, const char *what)
{
    struct value expected;
    if (json_kind_of(row->doc, at) == JSON_ARRAY)
        return compare_list(row, at, got, what);
    if (json_get(row->doc, at, STR("t")) != JSON_NONE)
        return compare_tensor(row, at, got, what);
    if (!row_read_value(row, at, &expected))
        return row_differs(row, "%s: cannot be read", what);
    if (value_is_number(expected))
        return compare_number(row, at, expected, got, what);
    if (expected.kind == VALUE_NONE && got.kind != VALUE_NONE)
        return row_differs(row, "%s: None expected", what);
    return true;
}

/* --- Another answer to the same call --- */

static bool same_ids(struct row *row, const sym_id *a, const sym_id *b, uint32_t n)
{
    bool same = !a == !b;
    for (uint32_t i = 0; i < n && a && b && same; i++)
        same = same_expr(row, a[i], b[i]);
    return same;
}

static bool same_tensor(struct row *row, struct tensor a, struct tensor b, uint32_t fresh_from)
{
    const struct tensor_meta *x = a.meta, *y = b.meta;
    bool fresh = a.storage >= fresh_from && b.storage >= fresh_from && a.storage != b.storage;
    return (fresh || a.storage == b.storage) &&
           (x == y ||
            (x->dtype == y->dtype && x->ndim == y->ndim && x->layout == y->layout &&
             x->conj == y->conj && device_equal(x->device, y->device) &&
             same_ids(row, x->size, y->size, x->ndim) &&
             same_ids(row, x->stride, y->stride, x->ndim) && same_expr(row, x->offset, y->offset)));
}

bool row_same_answer(struct row *row, struct value a, struct value b, uint32_t fresh_from)
{
    if (a.kind != b.kind || a.n != b.n)
        return false;
    if (a.kind == VALUE_TENSOR)
        return same_tensor(row, a.u.tensor, b.u.tensor, fresh_from);
    if (value_is_number(a))
        return same_expr(row, a.u.sym, b.u.sym);
    for (uint32_t i = 0; i < a.n; i++)
        if (!row_same_answer(row, a.u.items[i], b.u.items[i], fresh_from))
            return false;
    return true;
}

/* --- The environment --- */

struct guard_set {
    sym_id *plain, *replaced; /* canonical as added, and with what was learnt put in */
    uint32_t n;
};

static bool add_guard(struct row *row, struct guard_set *set, sym_id guard)
{
    set->plain[set->n] = guard == SYM_NONE ? SYM_NONE : sym_canonical(row->pool, guard);
    sym_id known = guard == SYM_NONE ? SYM_NONE : env_replace(row->env, guard);
    set->replaced[set->n] =
        known == SYM_NONE || known <= SYM_ID_TRUE ? known : sym_canonical(row->pool, known);
    set->n++;
    return guard != SYM_NONE;
}

static bool holds(const struct guard_set *set, sym_id plain, sym_id replaced)
{
    if (replaced == SYM_ID_TRUE)
        return true; /* the replacements say it, and they are compared too */
    for (uint32_t i = 0; i < set->n; i++)
        if (set->plain[i] == plain || set->replaced[i] == replaced)
            return true;
    return false;
}

static bool make_set(struct row *row, struct guard_set *set, size_t n)
{
    set->plain = arena_array(&row->arena, sym_id, n + 1);
    set->replaced = arena_array(&row->arena, sym_id, n + 1);
    return set->plain && set->replaced;
}

/* Whether a guard that was given is added again depends on the ways in which it had been asked,
 * since ShapeEnv.evaluate_expr remembers answers by them; a row does not tell these. */
static bool was_given(struct row *row, uint32_t n_given, sym_id guard)
{
    for (uint32_t i = 0; i < n_given; i++)
        if (sym_canonical(row->pool, env_guard_at(row->env, i)->expr) == guard)
            return true;
    return false;
}

static bool compare_guards(struct row *row, uint32_t before)
{
    json_id list = json_get(row->doc, JSON_ROOT, STR("guards"));
    struct guard_set expected = { 0 }, got = { 0 };
    uint32_t n = env_n_guards(row->env), i = 0;
    bool ok =
        make_set(row, &expected, json_count(row->doc, list)) && make_set(row, &got, n - before);
    for (json_id at = json_first(row->doc, list); at != JSON_NONE && ok;
         at = json_next(row->doc, at))
        if (!add_guard(row, &expected, row_expr(row, at)))
            row_differs(row, "guard %.*s cannot be read", STR_ARG(json_text(row->doc, at)));
    for (uint32_t k = before; k < n && ok; k++)
        add_guard(row, &got, env_guard_at(row->env, k)->expr);
    for (json_id at = json_first(row->doc, list); at != JSON_NONE;
         at = json_next(row->doc, at), i++)
        if (!holds(&got, expected.plain[i], expected.replaced[i]) &&
            !was_given(row, before, expected.plain[i]))
            ok = row_differs(row, "guard missing: %.*s", STR_ARG(json_text(row->doc, at)));
    for (uint32_t k = 0; k < got.n; k++) {
        if (holds(&expected, got.plain[k], got.replaced[k]) || was_given(row, before, got.plain[k]))
            continue;
        struct buf text = BUF_INIT;
        sym_print(row->pool, env_guard_at(row->env, before + k)->expr, &text);
        ok = row_differs(row, "guard too many: %.*s", STR_ARG(buf_str(&text)));
        buf_release(&text);
    }
    return ok;
}

static bool range_is(struct row *row, sym_id symbol, struct str text, struct buf *got)
{
    struct sym_range range;
    buf_clear(got);
    if (env_range(row->env, symbol, &range))
        sym_range_print(row->pool, range, got);
    return str_eq(buf_str(got), text);
}

/* Reading a replacement may sharpen a range (ShapeEnv._find); whether the recorder happened to read
 * it is not told. */
static bool compare_range(struct row *row, struct str name, struct str text, sym_id symbol)
{
    struct buf got = BUF_INIT;
    bool ok = range_is(row, symbol, text, &got) ||
              (env_replace(row->env, symbol) != SYM_NONE && range_is(row, symbol, text, &got));
    if (!ok)
        row_differs(row, "range of %.*s: %.*s, got %.*s", STR_ARG(name), STR_ARG(text),
                    STR_ARG(buf_str(&got)));
    buf_release(&got);
    return ok;
}

static bool compare_replaced(struct row *row, struct str name, sym_id symbol, json_id recorded)
{
    sym_id now = env_replace(row->env, symbol);
    sym_id expected = recorded == JSON_NONE ? symbol : row_expr(row, recorded);
    if (now == expected || env_replace(row->env, expected) == now)
        return true;
    struct buf got = BUF_INIT;
    sym_print(row->pool, now, &got);
    row_differs(row, "%.*s is replaced by %.*s, got %.*s", STR_ARG(name),
                STR_ARG(json_text(row->doc, recorded)), STR_ARG(buf_str(&got)));
    buf_release(&got);
    return false;
}

bool row_compare_environment(struct row *row, uint32_t guards_before)
{
    json_id ranges = json_get(row->doc, JSON_ROOT, STR("ranges"));
    json_id replaced = json_get(row->doc, JSON_ROOT, STR("replaced"));
    bool ok = compare_guards(row, guards_before);
    for (json_id at = json_first(row->doc, ranges); at != JSON_NONE;) {
        json_id key = at, range = json_next(row->doc, at);
        struct str name = json_str(row->doc, key);
        sym_id symbol = row_expr_text(row, name);
        at = json_next(row->doc, range);
        ok &= compare_range(row, name, json_str(row->doc, range), symbol);
        ok &= compare_replaced(row, name, symbol, json_get(row->doc, replaced, name));
    }
    return ok;
}
