#include <math.h>
#include <stdio.h>

#include "replay/cases/op_case.h"

bool op_case_differs(struct op_case *call, const char *format, ...)
{
    if (call->why.n)
        buf_puts(&call->why, "; ");
    va_list args;
    va_start(args, format);
    buf_vprintf(&call->why, format, args);
    va_end(args);
    return false;
}

/* --- Values --- */

static bool same_expr(struct op_case *call, sym_id a, sym_id b)
{
    return a == b || (a != SYM_NONE && b != SYM_NONE &&
                      env_replace(call->env, a) == env_replace(call->env, b));
}

static bool has_unbacked(struct op_case *call, sym_id e)
{
    return e != SYM_NONE && !sym_is_number(call->pool, e) && env_has_unbacked(call->env, e);
}

static bool compare_ids(struct op_case *call, json_id list, const sym_id *ids, uint32_t n,
                        const char *what, const char *of)
{
    uint32_t i = 0;
    bool same = json_count(call->doc, list) == n;
    for (json_id at = json_first(call->doc, list); at != JSON_NONE && same;
         at = json_next(call->doc, at), i++) {
        sym_id expected = op_case_expr(call, at);
        same = same_expr(call, expected, ids[i]);
        /* The size depends on data that the row does not give. */
        if (!same && !call->symbolic && call->lacks_data && has_unbacked(call, ids[i])) {
            call->skip = true;
            return true;
        }
    }
    if (same)
        return true;
    struct buf got = BUF_INIT;
    for (i = 0; i < n; i++) {
        buf_puts(&got, i ? ", " : "");
        sym_print(call->pool, env_replace(call->env, ids[i]), &got);
    }
    op_case_differs(call, "%s: %s %.*s, got [%.*s]", what, of, STR_ARG(json_text(call->doc, list)),
                    STR_ARG(buf_str(&got)));
    buf_release(&got);
    return false;
}

/* Equal numbers alias; what is no argument's storage must not be ours either. */
static bool compare_storage(struct op_case *call, json_id at, struct tensor x, const char *what)
{
    uint64_t storage;
    if (!json_u64(call->doc, json_get(call->doc, at, STR("storage")), &storage) ||
        storage >= CASE_MAX_STORAGES)
        return true;
    if (call->storage_known[storage])
        return call->storages[storage] == x.storage ||
               op_case_differs(call, "%s: storage %u is not that of number %u", what, x.storage,
                               (unsigned)storage);
    for (uint32_t i = 0; i < CASE_MAX_STORAGES; i++)
        if (call->storage_known[i] && call->storages[i] == x.storage)
            return op_case_differs(call, "%s: aliases number %u and should be new", what, i);
    call->storages[storage] = x.storage;
    call->storage_known[storage] = 2;
    return true;
}

static bool compare_tensor(struct op_case *call, json_id at, struct value got, const char *what)
{
    if (got.kind != VALUE_TENSOR)
        return op_case_differs(call, "%s: a tensor expected", what);
    const struct tensor_meta *meta = got.u.tensor.meta;
    struct device device = { DEVICE_NONE, -1 };
    enum dtype dtype = op_case_dtype(call, json_get(call->doc, at, STR("t")));
    bool conj = json_get(call->doc, at, STR("conj")) != JSON_NONE, ok = true;
    json_id offset = json_get(call->doc, at, STR("offset"));
    json_id layout = json_get(call->doc, at, STR("layout"));
    bool has_device =
        device_parse(json_str(call->doc, json_get(call->doc, at, STR("device"))), &device);
    if (dtype != meta->dtype)
        ok = op_case_differs(call, "%s: dtype %s, got %s", what, dtype_short_name(dtype),
                             dtype_short_name(meta->dtype));
    if (has_device && !device_equal(device, meta->device))
        ok = op_case_differs(call, "%s: another device", what);
    if (conj != meta->conj)
        ok = op_case_differs(call, "%s: conj", what);
    if ((layout != JSON_NONE) != (meta->layout != LAYOUT_STRIDED))
        return op_case_differs(call, "%s: layout", what);
    ok &= compare_ids(call, json_get(call->doc, at, STR("size")), meta->size, meta->ndim, what,
                      "size");
    if (layout != JSON_NONE)
        return ok;
    json_id stride = json_get(call->doc, at, STR("stride"));
    if (stride != JSON_NONE)
        ok &=
            compare_ids(call, stride, meta->stride, meta->stride ? meta->ndim : 0, what, "stride");
    if (offset != JSON_NONE && !same_expr(call, op_case_expr(call, offset), meta->offset))
        ok = op_case_differs(call, "%s: offset %.*s", what, STR_ARG(json_text(call->doc, offset)));
    return compare_storage(call, at, got.u.tensor, what) && ok;
}

static bool compare_list(struct op_case *call, json_id at, struct value got, const char *what)
{
    if (got.kind != VALUE_LIST && got.kind != VALUE_TUPLE)
        return op_case_differs(call, "%s: a list expected", what);
    if (json_count(call->doc, at) != got.n)
        return op_case_differs(call, "%s: %zu items, got %u", what, json_count(call->doc, at),
                               got.n);
    uint32_t i = 0;
    bool ok = true;
    for (json_id k = json_first(call->doc, at); k != JSON_NONE; k = json_next(call->doc, k), i++) {
        char name[80];
        snprintf(name, sizeof name, "%.60s[%u]", what, i);
        ok &= op_case_compare_value(call, k, got.u.items[i], name);
    }
    return ok;
}

/* {"items": {"0": ..., "2": ...}}: the items of a tuple that were recorded. */
static bool compare_items(struct op_case *call, json_id items, struct value got, const char *what)
{
    bool ok = true;
    for (json_id at = json_first(call->doc, items); at != JSON_NONE;
         at = json_next(call->doc, at)) {
        uint64_t i = 0;
        char name[80];
        bool known = str_to_u64(json_str(call->doc, at), &i) &&
                     (got.kind == VALUE_LIST || got.kind == VALUE_TUPLE) && i < got.n;
        snprintf(name, sizeof name, "%.60s[%llu]", what, (unsigned long long)i);
        at = json_next(call->doc, at);
        ok &= known ? op_case_compare_value(call, at, got.u.items[i], name)
                    : op_case_differs(call, "%s: no such item", name);
    }
    return ok;
}

static bool compare_number(struct op_case *call, json_id at, struct value expected,
                           struct value got, const char *what)
{
    struct buf text = BUF_INIT;
    value_print(call->pool, got, &text);
    bool ok = got.kind == expected.kind && same_expr(call, expected.u.sym, got.u.sym);
    if (!ok && value_is_number(got) && has_unbacked(call, got.u.sym) &&
        sym_is_number(call->pool, expected.u.sym))
        call->skip = ok = call->lacks_data;
    if (!ok && got.kind == VALUE_FLOAT && expected.kind == VALUE_FLOAT) {
        double a = sym_to_double(call->pool, got.u.sym);
        double b = sym_to_double(call->pool, expected.u.sym);
        ok = a == b || (isnan(a) && isnan(b) && sym_is_number(call->pool, got.u.sym));
    }
    if (!ok)
        op_case_differs(call, "%s: %.*s, got %.*s", what, STR_ARG(json_text(call->doc, at)),
                        STR_ARG(buf_str(&text)));
    buf_release(&text);
    return ok;
}

bool op_case_compare_value(struct op_case *call, json_id at, struct value got, const char *what)
{
    struct value expected;
    if (json_kind_of(call->doc, at) == JSON_ARRAY)
        return compare_list(call, at, got, what);
    if (json_get(call->doc, at, STR("t")) != JSON_NONE)
        return compare_tensor(call, at, got, what);
    if (json_get(call->doc, at, STR("items")) != JSON_NONE)
        return compare_items(call, json_get(call->doc, at, STR("items")), got, what);
    if (!op_case_read_value(call, at, &expected))
        return op_case_differs(call, "%s: cannot be read", what);
    if (value_is_number(expected))
        return compare_number(call, at, expected, got, what);
    if (expected.kind == VALUE_NONE && got.kind != VALUE_NONE)
        return op_case_differs(call, "%s: None expected", what);
    return true;
}

/* --- Another answer to the same call --- */

static bool same_ids(struct op_case *call, const sym_id *a, const sym_id *b, uint32_t n)
{
    bool same = !a == !b;
    for (uint32_t i = 0; i < n && a && b && same; i++)
        same = same_expr(call, a[i], b[i]);
    return same;
}

static bool same_tensor(struct op_case *call, struct tensor a, struct tensor b, uint32_t fresh_from)
{
    const struct tensor_meta *x = a.meta, *y = b.meta;
    bool fresh = a.storage >= fresh_from && b.storage >= fresh_from && a.storage != b.storage;
    return (fresh || a.storage == b.storage) &&
           (x == y || (x->dtype == y->dtype && x->ndim == y->ndim && x->layout == y->layout &&
                       x->conj == y->conj && device_equal(x->device, y->device) &&
                       same_ids(call, x->size, y->size, x->ndim) &&
                       same_ids(call, x->stride, y->stride, x->ndim) &&
                       same_expr(call, x->offset, y->offset)));
}

bool op_case_same_answer(struct op_case *call, struct value a, struct value b, uint32_t fresh_from)
{
    if (a.kind != b.kind || a.n != b.n)
        return false;
    if (a.kind == VALUE_TENSOR)
        return same_tensor(call, a.u.tensor, b.u.tensor, fresh_from);
    if (value_is_number(a))
        return same_expr(call, a.u.sym, b.u.sym);
    for (uint32_t i = 0; i < a.n; i++)
        if (!op_case_same_answer(call, a.u.items[i], b.u.items[i], fresh_from))
            return false;
    return true;
}

/* --- The environment --- */

struct guard_set {
    sym_id *plain, *replaced; /* canonical as added, and with what was learnt put in */
    uint32_t n;
};

static bool add_guard(struct op_case *call, struct guard_set *set, sym_id guard)
{
    set->plain[set->n] = guard == SYM_NONE ? SYM_NONE : sym_canonical(call->pool, guard);
    sym_id known = guard == SYM_NONE ? SYM_NONE : env_replace(call->env, guard);
    set->replaced[set->n] =
        known == SYM_NONE || known <= SYM_ID_TRUE ? known : sym_canonical(call->pool, known);
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

static bool make_set(struct op_case *call, struct guard_set *set, size_t n)
{
    set->plain = arena_array(&call->arena, sym_id, n + 1);
    set->replaced = arena_array(&call->arena, sym_id, n + 1);
    return set->plain && set->replaced;
}

/* Whether a guard that was given is added again depends on the ways in which it had been asked,
 * since ShapeEnv.evaluate_expr remembers answers by them; a row does not tell these. */
static bool was_given(struct op_case *call, uint32_t n_given, sym_id guard)
{
    for (uint32_t i = 0; i < n_given; i++)
        if (sym_canonical(call->pool, env_guard_at(call->env, i)->expr) == guard)
            return true;
    return false;
}

static bool compare_guards(struct op_case *call, uint32_t before)
{
    json_id list = json_get(call->doc, JSON_ROOT, STR("guards"));
    struct guard_set expected = { 0 }, got = { 0 };
    uint32_t n = env_n_guards(call->env), i = 0;
    bool ok =
        make_set(call, &expected, json_count(call->doc, list)) && make_set(call, &got, n - before);
    for (json_id at = json_first(call->doc, list); at != JSON_NONE && ok;
         at = json_next(call->doc, at))
        if (!add_guard(call, &expected, op_case_expr(call, at)))
            op_case_differs(call, "guard %.*s cannot be read", STR_ARG(json_text(call->doc, at)));
    for (uint32_t k = before; k < n && ok; k++)
        add_guard(call, &got, env_guard_at(call->env, k)->expr);
    for (json_id at = json_first(call->doc, list); at != JSON_NONE;
         at = json_next(call->doc, at), i++)
        if (!holds(&got, expected.plain[i], expected.replaced[i]) &&
            !was_given(call, before, expected.plain[i]))
            ok = op_case_differs(call, "guard missing: %.*s", STR_ARG(json_text(call->doc, at)));
    for (uint32_t k = 0; k < got.n; k++) {
        if (holds(&expected, got.plain[k], got.replaced[k]) ||
            was_given(call, before, got.plain[k]))
            continue;
        struct buf text = BUF_INIT;
        sym_print(call->pool, env_guard_at(call->env, before + k)->expr, &text);
        ok = op_case_differs(call, "guard too many: %.*s", STR_ARG(buf_str(&text)));
        buf_release(&text);
    }
    return ok;
}

static bool range_is(struct op_case *call, sym_id symbol, struct str text, struct buf *got)
{
    struct sym_range range;
    buf_clear(got);
    if (env_range(call->env, symbol, &range))
        sym_range_print(call->pool, range, got);
    return str_eq(buf_str(got), text);
}

/* Reading a replacement may sharpen a range (ShapeEnv._find); whether the recorder happened to read
 * it is not told. */
static bool compare_range(struct op_case *call, struct str name, struct str text, sym_id symbol)
{
    struct buf got = BUF_INIT;
    bool ok = range_is(call, symbol, text, &got) ||
              (env_replace(call->env, symbol) != SYM_NONE && range_is(call, symbol, text, &got));
    if (!ok)
        op_case_differs(call, "range of %.*s: %.*s, got %.*s", STR_ARG(name), STR_ARG(text),
                        STR_ARG(buf_str(&got)));
    buf_release(&got);
    return ok;
}

static bool compare_replaced(struct op_case *call, struct str name, sym_id symbol, json_id recorded)
{
    sym_id now = env_replace(call->env, symbol);
    sym_id expected = recorded == JSON_NONE ? symbol : op_case_expr(call, recorded);
    if (now == expected || env_replace(call->env, expected) == now)
        return true;
    struct buf got = BUF_INIT;
    sym_print(call->pool, now, &got);
    op_case_differs(call, "%.*s is replaced by %.*s, got %.*s", STR_ARG(name),
                    STR_ARG(json_text(call->doc, recorded)), STR_ARG(buf_str(&got)));
    buf_release(&got);
    return false;
}

bool op_case_compare_environment(struct op_case *call, uint32_t guards_before)
{
    json_id ranges = json_get(call->doc, JSON_ROOT, STR("ranges"));
    json_id replaced = json_get(call->doc, JSON_ROOT, STR("replaced"));
    bool ok = compare_guards(call, guards_before);
    for (json_id at = json_first(call->doc, ranges); at != JSON_NONE;) {
        json_id key = at, range = json_next(call->doc, at);
        struct str name = json_str(call->doc, key);
        sym_id symbol = op_case_expr_text(call, name);
        at = json_next(call->doc, range);
        ok &= compare_range(call, name, json_str(call->doc, range), symbol);
        ok &= compare_replaced(call, name, symbol, json_get(call->doc, replaced, name));
    }
    return ok;
}
