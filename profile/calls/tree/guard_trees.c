#include "profile/calls/tree/guard_trees.h"

#include "profile/calls/guards/entry_guards.h"
#include "profile/calls/guards/usual_latency.h"
#include "profile/calls/tree/guard_owner.h"

const char *owner_status_name(enum owner_status status)
{
    static const char *const names[] = { "removable", "tells apart", "tensor", "argument",
                                         "not seen" };
    return names[status];
}

/* ---- Functions ---- */

static bool add_function(struct guard_trees *trees, uint32_t id, bool several_processes,
                         struct err *err)
{
    const struct tape_code *code = &trees->tape.codes.v[id];
    struct buf name = BUF_INIT;
    struct guard_function function = { .code = id, .line = code->line };
    buf_printf(&name, "%.*s:%u:%.*s", STR_ARG(code->file), code->line, STR_ARG(code->function));
    function.name = name.failed ? STR("") : arena_copy(&trees->arena, buf_str(&name));
    buf_release(&name);
    /* The parts point into the name. */
    function.file = str_first(function.name, code->file.n);
    function.function = str_from(function.name, function.name.n - code->function.n);
    function.tree.several_processes = several_processes;
    if (!function.name.n || !vec_push(&trees->functions, function))
        return err_nomem(err);
    struct merged_tree *tree = &trees->functions.v[trees->functions.n - 1].tree;
    for (size_t i = 0; i < code->compiles.n; i++) {
        const struct tape_compile *compile = &code->compiles.v[i];
        if (compile->tree.n && !merged_tree_add(tree, compile->id, compile->number, compile->tree,
                                                &trees->owners, err))
            return false;
    }
    return true;
}

static bool has_entries(const struct tape_code *code)
{
    for (size_t i = 0; i < code->compiles.n; i++)
        if (code->compiles.v[i].tree.n)
            return true;
    return false;
}

/* ---- What PyTorch logged for recompiles ---- */

/* The leaves by entry and by the text that a reason begins with. */
struct reason_reader {
    struct guard_function *function;
    struct intern texts;
    vec_of(uint32_t)
    leaves; /* by text */
    struct buf key;
};

/* A reason begins with the name of a tensor, or with a guard's code without scopes of locals. */
static bool index_guard(struct reason_reader *r, const struct leaf_use *use)
{
    const struct merged_tree *tree = &r->function->tree;
    const struct merged_leaf *leaf = &tree->leaves.v[use->leaf];
    struct str source = tree->nodes.v[leaf->node].source;
    buf_clear(&r->key);
    buf_varint(&r->key, use->entry);
    if (str_is(leaf->kind, "TENSOR_MATCH") && source.n) {
        buf_puts(&r->key, "tensor '");
        put_without_scope(source, &r->key);
    } else {
        put_without_scope(leaf->code, &r->key);
    }
    uint32_t text = r->key.failed ? INTERN_NONE : intern(&r->texts, buf_str(&r->key));
    return text != INTERN_NONE && (text < r->leaves.n || vec_push(&r->leaves, use->leaf));
}

static struct str start_of(struct str reason)
{
    static const struct str TENSOR = { "tensor '", 8 };
    if (str_starts(reason, TENSOR))
        return str_first(reason, TENSOR.n + str_find(str_from(reason, TENSOR.n), STR("' ")));
    return str_trim(str_first(reason, str_find(reason, STR("  # "))));
}

void put_reason_key(struct str compile, struct str entry, struct buf *out)
{
    buf_clear(out);
    buf_counted(out, compile);
    buf_put(out, entry);
}

static bool mark_reason(struct reason_reader *r, struct str compile,
                        const struct recompile_reason *reason)
{
    uint64_t number;
    size_t slash = str_find_char(reason->compile, '/');
    uint32_t entry = str_to_u64(str_from(reason->compile, slash + 1), &number)
                         ? merged_tree_entry(&r->function->tree, number)
                         : TREE_NONE;
    buf_clear(&r->key);
    buf_varint(&r->key, entry);
    buf_put(&r->key, start_of(reason->guard));
    if (r->key.failed)
        return false;
    uint32_t text = entry == TREE_NONE ? INTERN_NONE : intern_find(&r->texts, buf_str(&r->key));
    if (text == INTERN_NONE) {
        put_reason_key(compile, reason->compile, &r->key);
        return !r->key.failed && intern(&r->function->unexplained, buf_str(&r->key)) != INTERN_NONE;
    }
    r->function->counts.v[r->leaves.v[text]].tells = true;
    r->function->counts.v[r->leaves.v[text]].logged++;
    return true;
}

static bool mark_reasons(struct guard_function *function, const struct tape_code *code)
{
    struct reason_reader r = { .function = function };
    bool ok = true;
    for (size_t i = 0; ok && i < function->tree.uses.n; i++)
        ok = index_guard(&r, &function->tree.uses.v[i]);
    for (size_t i = 0; ok && i < code->compiles.n; i++) {
        const struct recompile *why = code->compiles.v[i].why;
        for (uint32_t k = 0; ok && why && k < why->n_reasons; k++)
            ok = mark_reason(&r, code->compiles.v[i].id, &why->reasons[k]);
        function->n_recompiles += why && !code->compiles.v[i].refused;
    }
    intern_release(&r.texts);
    vec_release(&r.leaves);
    buf_release(&r.key);
    return ok;
}

/* ---- The whole ---- */

static bool read_functions(struct guard_trees *trees, bool several_processes, struct err *err)
{
    for (uint32_t i = 0; i < trees->tape.codes.n; i++) {
        const struct tape_code *code = &trees->tape.codes.v[i];
        if (!has_entries(code))
            continue;
        if (!add_function(trees, i, several_processes, err))
            return false;
        struct guard_function *function = &trees->functions.v[trees->functions.n - 1];
        for (size_t leaf = 0; leaf < function->tree.leaves.n; leaf++)
            if (!vec_push(&function->counts, (struct leaf_use_counts){ 0 }))
                return err_nomem(err);
        if (!mark_reasons(function, code))
            return err_nomem(err);
    }
    return true;
}

static bool count_owners(struct guard_trees *trees, struct err *err)
{
    for (size_t i = 0; i < trees->owners.texts.n; i++)
        if (!vec_push(&trees->owner_rows, (struct guard_owner_row){ 0 }))
            return err_nomem(err);
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct merged_tree *tree = &trees->functions.v[i].tree;
        for (size_t k = 0; k < tree->leaves.n; k++)
            if (tree->leaves.v[k].owner != INTERN_NONE)
                trees->owner_rows.v[tree->leaves.v[k].owner].n_leaves++;
    }
    return true;
}

static bool set_usual(struct guard_trees *trees, struct err *err)
{
    vec_of(struct guard_latency)
    all = { 0 };
    bool ok = true;
    size_t at = 0;
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct merged_tree *tree = &trees->functions.v[i].tree;
        for (size_t k = 0; ok && k < tree->entries.n; k++) {
            const struct merged_entry *entry = &tree->entries.v[k];
            ok = vec_push(&all, (struct guard_latency){ entry->latency_us, entry->n_leaves });
        }
    }
    ok = ok && usual_latencies(all.v, all.n);
    for (size_t i = 0; ok && i < trees->functions.n; i++) {
        struct merged_tree *tree = &trees->functions.v[i].tree;
        for (size_t k = 0; k < tree->entries.n; k++)
            tree->entries.v[k].usual_us = all.v[at++].time;
    }
    vec_release(&all);
    return ok || err_nomem(err);
}

bool guard_trees_read(struct guard_trees *trees, struct trace *trace, uint32_t recording,
                      bool several_processes, struct err *err)
{
    *trees = (struct guard_trees){ 0 };
    return tape_compiles_read(&trees->tape, trace, recording, err) &&
           read_functions(trees, several_processes, err) && count_owners(trees, err) &&
           set_usual(trees, err);
}

void guard_trees_release(struct guard_trees *trees)
{
    for (size_t i = 0; i < trees->functions.n; i++) {
        merged_tree_release(&trees->functions.v[i].tree);
        vec_release(&trees->functions.v[i].counts);
        intern_release(&trees->functions.v[i].unexplained);
    }
    vec_release(&trees->functions);
    vec_release(&trees->owner_rows);
    vec_release(&trees->removed);
    intern_release(&trees->removed_names);
    intern_release(&trees->unlisted);
    vec_release(&trees->guessed);
    intern_release(&trees->owners);
    tape_compiles_release(&trees->tape);
    arena_release(&trees->arena);
}

/* A name is the end of the whole name, from a ':' or '/' on, with or without the function. */
bool guard_function_is(const struct guard_function *function, struct str name)
{
    struct str full = function->name;
    if (!name.n)
        return true;
    struct str place = str_first(full, full.n - function->function.n - 1);
    for (int with_function = 0; with_function < 2; with_function++, place = full) {
        if (!str_ends(place, name))
            continue;
        size_t before = place.n - name.n;
        if (!before || place.p[before - 1] == '/' || place.p[before - 1] == ':')
            return true;
    }
    return false;
}
