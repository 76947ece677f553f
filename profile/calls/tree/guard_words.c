#include "profile/calls/tree/guard_words.h"

#include "profile/model/format.h"

/* Appends "size=[None, 8]" of a check_tensor(...), after a blank. */
static void put_list(struct str code, struct str name, struct buf *out)
{
    struct str rest = str_from(code, str_find(code, name));
    size_t end = str_find_char(rest, ']');
    if (end == rest.n)
        return;
    buf_putc(out, ' ');
    buf_put(out, str_first(rest, end + 1));
}

/* "check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, device=None,
 * requires_grad=False, size=[None, 8], stride=[8, 1])": "L['x'] torch.float32 size=[None, 8]
 * stride=[8, 1]" */
static void put_tensor(struct str code, struct buf *out)
{
    struct str rest = str_from(code, str_find_char(code, '(') + 1);
    struct str dtype = str_from(code, str_find(code, STR("), torch.")) + 3);
    buf_put(out, str_first(rest, str_find(rest, STR(", "))));
    if (dtype.n) {
        buf_putc(out, ' ');
        buf_put(out, str_first(dtype, str_find_char(dtype, ',')));
    }
    put_list(code, STR("size=["), out);
    put_list(code, STR("stride=["), out);
    if (str_contains(code, STR("requires_grad=True")))
        buf_puts(out, " requires_grad");
}

void put_guard(const struct merged_leaf *leaf, struct buf *out)
{
    if (str_is(leaf->kind, "TENSOR_MATCH") && str_starts(leaf->code, STR("check_tensor(")))
        put_tensor(leaf->code, out);
    else
        put_without_ids(leaf->code, out);
}

enum { MOST_ENTRIES_SHOWN = 4 };

void put_guard_entries(const struct merged_tree *tree, const struct merged_leaf *leaf,
                       struct buf *out)
{
    uint32_t n = 0, last = TREE_NONE;
    if (merged_leaf_shared(tree, leaf)) {
        buf_puts(out, tree->entries.n > 1 ? "all" : "");
        if (tree->entries.n == 1)
            buf_put(out, tree->entries.v[0].compile);
        return;
    }
    for (uint32_t use = leaf->first_use; use != TREE_NONE && n <= MOST_ENTRIES_SHOWN;
         use = tree->uses.v[use].next) {
        if (tree->uses.v[use].entry == last)
            continue;
        last = tree->uses.v[use].entry;
        if (n++ == MOST_ENTRIES_SHOWN)
            break;
        buf_printf(out, "%s%.*s", n > 1 ? " " : "", STR_ARG(tree->entries.v[last].compile));
    }
    if (leaf->n_entries > MOST_ENTRIES_SHOWN)
        buf_printf(out, " and %u more", leaf->n_entries - MOST_ENTRIES_SHOWN);
}

void put_guard_cell(struct table *table, const struct merged_leaf *leaf)
{
    struct buf code = BUF_INIT;
    put_guard(leaf, &code);
    format_text(&table->text, buf_str(&code), 0);
    table->text.failed |= code.failed;
    buf_release(&code);
    table_cell(table);
}

void put_entries_json(struct json_writer *w, const char *key, const struct merged_tree *tree,
                      const struct merged_leaf *leaf)
{
    uint32_t last = TREE_NONE;
    json_open_array(w, key);
    for (uint32_t use = leaf->first_use; use != TREE_NONE; use = tree->uses.v[use].next) {
        if (tree->uses.v[use].entry == last)
            continue;
        last = tree->uses.v[use].entry;
        json_put_str(w, NULL, tree->entries.v[last].compile);
    }
    json_close(w);
}

void put_function_name(const struct guard_function *function, struct buf *out)
{
    format_place(out, function->file, function->line);
    buf_puts(out, " in ");
    format_text(out, function->function, 0);
}

/* ---- Kinds ---- */

static bool count_kind(struct guard_kinds *kinds, struct str name, bool accessor, uint32_t n_all)
{
    uint32_t id = intern(&kinds->names, name);
    if (id == INTERN_NONE)
        return false;
    if (id == kinds->rows.n &&
        !vec_push(&kinds->rows, (struct guard_kind_row){ .name = intern_text(&kinds->names, id),
                                                         .accessor = accessor }))
        return false;
    kinds->rows.v[id].n_merged++;
    kinds->rows.v[id].n_all += n_all;
    return true;
}

static int by_count(const void *a, const void *b)
{
    const struct guard_kind_row *x = a, *y = b;
    if (x->accessor != y->accessor)
        return x->accessor ? 1 : -1;
    if (x->n_merged != y->n_merged)
        return x->n_merged < y->n_merged ? 1 : -1;
    return str_cmp(x->name, y->name);
}

bool guard_kinds_count(struct guard_kinds *kinds, const struct guard_trees *trees,
                       struct str function)
{
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct merged_tree *tree = &trees->functions.v[i].tree;
        if (!guard_function_is(&trees->functions.v[i], function))
            continue;
        for (size_t k = 0; k < tree->leaves.n; k++)
            if (!count_kind(kinds, tree->leaves.v[k].kind, false, tree->leaves.v[k].n_entries))
                return false;
        for (size_t k = 0; k < tree->nodes.n; k++)
            if (tree->nodes.v[k].accessor.n &&
                !count_kind(kinds, tree->nodes.v[k].accessor, true, tree->nodes.v[k].n_entries))
                return false;
    }
    if (kinds->rows.n)
        qsort(kinds->rows.v, kinds->rows.n, sizeof *kinds->rows.v, by_count);
    return true;
}

void guard_kinds_release(struct guard_kinds *kinds)
{
    intern_release(&kinds->names);
    vec_release(&kinds->rows);
}

/* ---- Totals ---- */

static void add_cost(struct lookup_cost *sum, const struct lookup_cost *cost)
{
    sum->leaves += cost->leaves;
    sum->accessors += cost->accessors;
    sum->us += cost->us;
}

static void add_entries(struct guard_totals *sum, const struct merged_tree *tree)
{
    for (size_t i = 0; i < tree->entries.n; i++) {
        const struct merged_entry *entry = &tree->entries.v[i];
        sum->leaves += entry->n_leaves;
        sum->n_latencies += entry->latency_us >= 0;
    }
}

struct guard_totals guard_totals_of(const struct guard_trees *trees, struct str function)
{
    struct guard_totals sum = { 0 };
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct guard_function *f = &trees->functions.v[i];
        if (!guard_function_is(&trees->functions.v[i], function))
            continue;
        sum.functions++;
        sum.entries += (uint32_t)f->tree.entries.n;
        sum.recompiles += f->n_recompiles;
        sum.merged += (uint32_t)f->tree.leaves.n;
        sum.lookups += f->n_lookups;
        sum.checks += f->n_checks;
        for (size_t k = 0; k < f->tree.nodes.n; k++)
            sum.accessors += f->tree.nodes.v[k].source.n > 0;
        for (size_t k = 0; k < f->counts.n; k++) {
            uint32_t owner = f->tree.leaves.v[k].owner;
            sum.telling += f->counts.v[k].tells;
            sum.removed += owner != INTERN_NONE && trees->owner_rows.v[owner].removed;
        }
        add_entries(&sum, &f->tree);
        add_cost(&sum.cost, &f->cost);
        add_cost(&sum.filtered_cost, &f->filtered_cost);
    }
    return sum;
}

/* ---- What tells calls apart ---- */

static int by_times(const void *a, const void *b)
{
    const struct telling_guard *x = a, *y = b;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

bool telling_guards_find(struct telling_guards *ret, const struct guard_trees *trees,
                         struct str function)
{
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct guard_function *f = &trees->functions.v[i];
        if (!guard_function_is(&trees->functions.v[i], function))
            continue;
        for (uint32_t k = 0; k < f->counts.n; k++) {
            const struct leaf_use_counts *counts = &f->counts.v[k];
            uint32_t times = trees->has_calls ? counts->turned_away : counts->logged;
            if (counts->tells && !vec_push(&ret->rows, (struct telling_guard){ f, k, times }))
                return false;
        }
    }
    if (ret->rows.n)
        qsort(ret->rows.v, ret->rows.n, sizeof *ret->rows.v, by_times);
    return true;
}
