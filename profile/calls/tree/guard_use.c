#include "profile/calls/tree/guard_use.h"

#include "profile/calls/tree/call_values.h"
#include "profile/calls/tree/guard_owner.h"
#include "profile/calls/tree/guards_filter.h"

/* A leaf of an entry that stands for all entries that have it. */
struct leaf_sample {
    uint32_t entry, leaf; /* of the run, and of the entry's guards; entry is TREE_NONE if unset */
};

/* Values of a call, and how far they were tried. */
struct tried_values {
    uint64_t hash;
    uint32_t n_live;
    size_t n_facts;
};

struct function_use {
    vec_of(struct leaf_sample)
    samples; /* by leaf of the merged tree */
    vec_of(uint32_t)
    live; /* the leaves that have a sample, in the order in which they got it */
    vec_of(struct tried_values)
    tried;
    struct hash_index tried_index;
    vec_of(uint32_t)
    entries; /* of the run */
};

struct entry_use {
    struct entry_guards guards; /* in the second pass, without those that are removed */
    uint32_t row;               /* in the merged tree; TREE_NONE: not read yet */
    uint32_t all;               /* its leaves and accessors */
    uint32_t n_leaves, n_accessors;
};

struct use_pass {
    struct guard_trees *trees;
    const struct cache_run *run;
    struct call_log *log;
    bool filtered; /* the second pass */
    struct world world;
    vec_of(uint32_t)
    functions; /* by code object of the run: in trees->functions, or TREE_NONE */
    vec_of(struct function_use)
    uses; /* by function */
    vec_of(struct entry_use)
    entries; /* by entry of the run */
    struct call_hasher hasher;
    struct buf key;
    struct err *err;
};

/* ---- Which guard failed ---- */

static void mark_owner(struct use_pass *p, struct str source)
{
    uint32_t owner = intern_find(&p->trees->owners, guard_owner(source));
    if (owner != INTERN_NONE)
        p->trees->owner_rows.v[owner].status = OWNER_TELLS;
}

/* A guard on two values, such as NO_TENSOR_ALIASING, needs the guards on both. */
static void mark_leaf(struct use_pass *p, struct guard_function *function, uint32_t leaf)
{
    const struct merged_leaf *row = &function->tree.leaves.v[leaf];
    struct str code = row->code;
    function->counts.v[leaf].tells = true;
    mark_owner(p, function->tree.nodes.v[row->node].source);
    for (struct str source = next_source(&code); source.n; source = next_source(&code))
        mark_owner(p, source);
}

/* Returns the leaf of the merged tree that a leaf of an entry is. */
static uint32_t merged_leaf_of(const struct use_pass *p, const struct guard_function *function,
                               uint32_t entry, uint32_t leaf)
{
    const struct merged_entry *row = &function->tree.entries.v[p->entries.v[entry].row];
    return function->tree.uses.v[row->first_use + leaf].leaf;
}

/* ---- Guards behind the first that fails ---- */

/* The first guard of NO_TENSOR_ALIASING lists the tensors of all of them. */
static void mark_aliasing(struct use_pass *p, struct guard_function *function, uint32_t entry)
{
    const struct entry_guards *guards = &p->entries.v[entry].guards;
    for (uint32_t i = 0; i < guards->leaves.n; i++)
        if (guards->leaves.v[i].how == LEAF_ALIASING)
            mark_leaf(p, function, merged_leaf_of(p, function, entry, i));
}

static bool try_relations(struct use_pass *p, struct guard_function *function, uint32_t entry,
                          const struct program_call *call)
{
    struct entry_guards *guards = &p->entries.v[entry].guards;
    if (guards->aliasing == TENSOR_NONE)
        return true;
    entry_guards_begin(guards);
    for (uint32_t i = guards->aliasing; i < guards->leaves.n; i++) {
        if (guards->leaves.v[i].how != LEAF_ALIASING)
            continue;
        struct guards_answer answer = entry_guards_check_leaf(guards, &p->world, &call->mode, i);
        if (answer.no_memory)
            return err_nomem(p->err);
        if (answer.verdict == GUARDS_FAIL) {
            mark_aliasing(p, function, entry);
            return true;
        }
    }
    return true;
}

/* A DictGuardManager checks the class of its dict, and how many keys there are, without a leaf. */
static void try_dicts(struct use_pass *p, uint32_t entry)
{
    const struct entry_guards *guards = &p->entries.v[entry].guards;
    for (size_t i = 0; i < guards->managers.n; i++) {
        const struct guard_manager *manager = &guards->managers.v[i];
        if (guard_manager_mismatch(manager, &p->world) != DICT_SAME)
            mark_owner(p, intern_text(&p->log->sources, manager->source));
    }
}

static bool try_leaves(struct use_pass *p, struct guard_function *function,
                       struct function_use *use, const struct program_call *call, uint32_t from)
{
    for (size_t i = from; i < use->live.n; i++) {
        uint32_t leaf = use->live.v[i];
        struct leaf_sample sample = use->samples.v[leaf];
        struct entry_guards *guards = &p->entries.v[sample.entry].guards;
        if (function->counts.v[leaf].tells || guards->leaves.v[sample.leaf].how == LEAF_ALIASING)
            continue;
        struct guards_answer answer =
            entry_guards_check_leaf(guards, &p->world, &call->mode, sample.leaf);
        if (answer.no_memory)
            return err_nomem(p->err);
        if (answer.verdict != GUARDS_PASS)
            mark_leaf(p, function, leaf);
    }
    for (size_t i = 0; i < use->entries.n; i++) {
        try_dicts(p, use->entries.v[i]);
        if (!try_relations(p, function, use->entries.v[i], call))
            return false;
    }
    return true;
}

/* Returns what is known of values with this hash; NULL when memory ran out. */
static struct tried_values *find_tried(struct function_use *use, uint64_t hash)
{
    uint32_t row, low = (uint32_t)hash;
    struct hash_index *index = &use->tried_index;
    for (size_t at = hash_index_start(index, low); hash_index_next(index, low, &at, &row);)
        if (use->tried.v[row].hash == hash)
            return &use->tried.v[row];
    if (!hash_index_reserve(index, 1) ||
        !vec_push(&use->tried, (struct tried_values){ .hash = hash }))
        return NULL;
    hash_index_add(index, low, (uint32_t)use->tried.n - 1);
    return &use->tried.v[use->tried.n - 1];
}

/* Evaluates the guards of all entries on a call, unless they were on such values before. */
static bool try_guards(struct use_pass *p, uint32_t function, const struct program_call *call)
{
    struct function_use *use = &p->uses.v[function];
    uint64_t hash;
    struct tried_values *tried =
        call_hasher_hash(&p->hasher, call, &hash) ? find_tried(use, hash) : NULL;
    if (!tried)
        return err_nomem(p->err);
    if (tried->n_facts != p->world.facts.n)
        tried->n_live = 0;
    if (tried->n_live == use->live.n)
        return true;
    uint32_t from = tried->n_live;
    tried->n_live = (uint32_t)use->live.n;
    tried->n_facts = p->world.facts.n;
    return try_leaves(p, &p->trees->functions.v[function], use, call, from);
}

/* ---- Entries ---- */

/* The object of an identity is known only if the call that compiled the entry lists it. */
static bool add_samples(struct use_pass *p, uint32_t function, uint32_t entry)
{
    struct function_use *use = &p->uses.v[function];
    const struct entry_guards *guards = &p->entries.v[entry].guards;
    for (uint32_t i = 0; i < guards->leaves.n; i++) {
        uint32_t leaf = merged_leaf_of(p, &p->trees->functions.v[function], entry, i);
        struct leaf_sample *sample = &use->samples.v[leaf];
        bool known =
            guards->leaves.v[i].how == LEAF_IDENTITY && guards->leaves.v[i].then.kind != PY_UNKNOWN;
        if (sample->entry != TREE_NONE && !known)
            continue;
        *sample = (struct leaf_sample){ entry, i };
        if (!vec_push(&use->live, leaf))
            return false;
    }
    return vec_push(&use->entries, entry) && call_hasher_note(&p->hasher, guards);
}

/* Returns whether the filter removes a leaf of an entry. */
static bool is_removed(const struct use_pass *p, const struct guard_function *function,
                       uint32_t leaf)
{
    uint32_t owner = function->tree.leaves.v[leaf].owner;
    return owner != INTERN_NONE && p->trees->owner_rows.v[owner].removed;
}

/* PyTorch adds NO_TENSOR_ALIASING only if there are two tensors with a TENSOR_MATCH. */
static void remove_single_alias(const struct entry_guards *guards, bool *removed)
{
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < guards->leaves.n; i++)
        if (guards->leaves.v[i].how == LEAF_ALIASING && !removed[i]) {
            n++;
            last = i;
        }
    if (n == 1)
        removed[last] = true;
}

static bool remove_guards(struct use_pass *p, const struct guard_function *function, uint32_t entry)
{
    struct entry_guards *guards = &p->entries.v[entry].guards;
    bool *removed = calloc(guards->leaves.n + 1, 1);
    bool *unguarded = calloc(guards->managers.n + 1, 1);
    bool ok = removed && unguarded;
    for (uint32_t i = 0; ok && i < guards->leaves.n; i++)
        removed[i] = is_removed(p, function, merged_leaf_of(p, function, entry, i));
    for (uint32_t i = 0; ok && i < guards->managers.n; i++) {
        uint32_t source = guards->managers.v[i].source;
        unguarded[i] =
            source != INTERN_NONE &&
            guards_filter_removes(p->trees, guard_owner(intern_text(&p->log->sources, source)));
    }
    if (ok)
        remove_single_alias(guards, removed);
    ok = ok && entry_guards_remove(guards, removed, unguarded);
    free(removed);
    free(unguarded);
    return ok || err_nomem(p->err);
}

static bool read_entry(struct use_pass *p, uint32_t function, uint32_t id,
                       const struct program_call *call)
{
    const struct cache_entry *made = &p->run->entries.v[id];
    struct entry_use *entry = &p->entries.v[id];
    struct guard_function *f = &p->trees->functions.v[function];
    uint64_t number = 0;
    str_to_u64(str_from(made->compile, str_find_char(made->compile, '/') + 1), &number);
    uint32_t row = merged_tree_entry(&f->tree, number);
    if (!entry_guards_read(&entry->guards, made->tree, &p->world, &call->mode, p->err))
        return false;
    if (row == TREE_NONE || made->assumed_from.n) /* the merged tree does not have its guards */
        return true;
    entry->row = row;
    entry->all = entry_guards_evaluated(&entry->guards) + entry_guards_accessors(&entry->guards);
    if (p->filtered && !remove_guards(p, f, id))
        return false;
    entry->n_leaves = entry_guards_evaluated(&entry->guards);
    entry->n_accessors = entry_guards_accessors(&entry->guards);
    return p->filtered || add_samples(p, function, id) || err_nomem(p->err);
}

static bool learn(struct use_pass *p, uint32_t entry)
{
    return entry_guards_learn(&p->run->entries.v[entry].guards, &p->world) || err_nomem(p->err);
}

/* ---- Look-ups ---- */

static void add_cost(struct guard_function *function, const struct entry_use *entry,
                     struct lookup_cost *cost, uint32_t leaves, uint32_t accessors)
{
    double us = function->tree.entries.v[entry->row].usual_us;
    cost->leaves += leaves;
    cost->accessors += accessors;
    if (us > 0 && entry->all)
        cost->us += us * (leaves + accessors) / entry->all;
}

/* An entry that passes as far as the calls tell, and did not answer: PyTorch logged which guard
 * failed, on a value that the call does not list. */
static void check_logged(struct use_pass *p, const struct guard_function *function,
                         const struct lookup_row *lookup, uint32_t entry)
{
    if (lookup->answered == entry || p->filtered)
        return;
    put_reason_key(lookup->compile, p->run->entries.v[entry].compile, &p->key);
    p->trees->n_unexplained += intern_find(&function->unexplained, buf_str(&p->key)) != INTERN_NONE;
}

static bool check(struct use_pass *p, struct guard_function *function,
                  const struct lookup_row *lookup, const struct entry_check_row *row,
                  const struct program_call *call)
{
    struct entry_use *entry = &p->entries.v[row->entry];
    struct lookup_cost *cost = p->filtered ? &function->filtered_cost : &function->cost;
    if (entry->row == TREE_NONE || !cache_entry_has_backend(&p->run->entries.v[row->entry], call))
        return true;
    function->n_checks += !p->filtered;
    p->trees->n_checks += !p->filtered;
    if (row->verdict != GUARDS_FAIL) {
        check_logged(p, function, lookup, row->entry);
        add_cost(function, entry, cost, entry->n_leaves, entry->n_accessors);
        return true;
    }
    struct guards_answer answer = entry_guards_check(&entry->guards, &p->world, &call->mode, true);
    if (answer.no_memory)
        return err_nomem(p->err);
    add_cost(function, entry, cost, answer.evaluated, answer.accessors);
    if (p->filtered) {
        p->trees->n_misanswered += answer.verdict != GUARDS_FAIL;
        return true;
    }
    if (answer.leaf != TENSOR_NONE) {
        uint32_t leaf = merged_leaf_of(p, function, row->entry, answer.leaf);
        function->counts.v[leaf].turned_away++;
        if (!function->counts.v[leaf].tells)
            mark_leaf(p, function, leaf);
    } else if (answer.source != INTERN_NONE) {
        mark_owner(p, intern_text(&p->log->sources, answer.source));
    }
    return true;
}

static bool look_up(struct use_pass *p, const struct lookup_row *row)
{
    const struct program_call *call = &p->log->calls.v[row->call];
    uint32_t function = row->code == CALL_NONE ? TREE_NONE : p->functions.v[row->code];
    if (function == TREE_NONE)
        return true;
    struct guard_function *f = &p->trees->functions.v[function];
    if (!world_enter(&p->world, call))
        return err_nomem(p->err);
    f->n_lookups += !p->filtered;
    p->trees->n_lookups += !p->filtered;
    for (uint32_t i = 0; i < row->n_checks; i++)
        if (!check(p, f, row, lookup_check(p->run, row, i), call))
            return false;
    if (!p->filtered && !try_guards(p, function, call))
        return false;
    if (row->outcome == LOOKUP_COMPILED && !read_entry(p, function, row->answered, call))
        return false;
    return row->answered == CALL_NONE || learn(p, row->answered);
}

/* ---- Passes ---- */

/* The code objects of a run are those of the tape, in the same order; functions are those of them
 * that have entries. */
static bool begin(struct use_pass *p)
{
    uint32_t next = 0;
    for (size_t i = 0; i < p->run->codes.n; i++) {
        bool same = next < p->trees->functions.n && p->trees->functions.v[next].code == (uint32_t)i;
        if (!vec_push(&p->functions, same ? next++ : TREE_NONE))
            return false;
    }
    for (size_t i = 0; i < p->trees->functions.n; i++) {
        if (!vec_push(&p->uses, (struct function_use){ 0 }))
            return false;
        struct function_use *use = &p->uses.v[i];
        for (size_t k = 0; k < p->trees->functions.v[i].tree.leaves.n; k++)
            if (!vec_push(&use->samples, (struct leaf_sample){ TREE_NONE, 0 }))
                return false;
    }
    for (size_t i = 0; i < p->run->entries.n; i++)
        if (!vec_push(&p->entries, (struct entry_use){ .row = TREE_NONE }))
            return false;
    return true;
}

static void release(struct use_pass *p)
{
    for (size_t i = 0; i < p->uses.n; i++) {
        vec_release(&p->uses.v[i].samples);
        vec_release(&p->uses.v[i].live);
        vec_release(&p->uses.v[i].tried);
        vec_release(&p->uses.v[i].entries);
        hash_index_release(&p->uses.v[i].tried_index);
    }
    for (size_t i = 0; i < p->entries.n; i++)
        entry_guards_release(&p->entries.v[i].guards);
    vec_release(&p->uses);
    vec_release(&p->entries);
    vec_release(&p->functions);
    call_hasher_release(&p->hasher);
    buf_release(&p->key);
    world_release(&p->world);
}

static bool run_pass(struct guard_trees *trees, const struct cache_run *run, struct call_log *log,
                     bool filtered, struct err *err)
{
    struct use_pass p = { .trees = trees,
                          .run = run,
                          .log = log,
                          .filtered = filtered,
                          .world = { .sources = &log->sources },
                          .err = err };
    bool ok = begin(&p) || err_nomem(err);
    /* What PyTorch logged counts, too: a value may change that no call lists. */
    for (size_t i = 0; ok && !filtered && i < trees->functions.n; i++)
        for (uint32_t k = 0; k < trees->functions.v[i].counts.n; k++)
            if (trees->functions.v[i].counts.v[k].tells)
                mark_leaf(&p, &trees->functions.v[i], k);
    for (size_t i = 0; ok && i < run->lookups.n; i++)
        ok = look_up(&p, &run->lookups.v[i]) && (!p.key.failed || err_nomem(err));
    release(&p);
    return ok;
}

bool guard_use_make(struct guard_trees *trees, const struct cache_run *run, struct call_log *log,
                    const struct guard_use_options *options, struct err *err)
{
    trees->has_calls = true;
    trees->n_unused = run->n_unused;
    trees->n_unknown = run->calls.unknown + run->inside.unknown;
    trees->n_assumed = run->calls.assumed + run->inside.assumed;
    trees->n_contradictions = run->n_contradictions;
    for (size_t i = 0; i < run->unlisted.texts.n; i++)
        if (intern(&trees->unlisted, run->unlisted.texts.v[i]) == INTERN_NONE)
            return err_nomem(err);
    for (size_t i = 0; i < run->guessed.n; i++) {
        struct guessed_function guessed = { arena_copy(&trees->arena, run->guessed.v[i].function),
                                            run->guessed.v[i].code };
        if (!guessed.function.p || !vec_push(&trees->guessed, guessed))
            return err_nomem(err);
    }
    return run_pass(trees, run, log, false, err) &&
           guards_filter_choose(trees, options->arguments, err) &&
           run_pass(trees, run, log, true, err);
}
