#include "replay/backend/run/inputs/run_inputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "replay/backend/run/inputs/input_sums.h"
#include "replay/backend/run/inputs/kept_inputs.h"
#include "replay/backend/run/inputs/random_values.h"
#include "replay/backend/run/run_symbols.h"
#include "replay/backend/values/elements.h"

/* ---- Recorded numbers ---- */

static bool is_item(const struct op *op)
{
    struct str base = op_schema(op)->base;
    return str_is(base, "_local_scalar_dense") || str_is(base, "item");
}

static const struct run_symbol *recorded_symbol(const struct run *run, const struct node *node)
{
    const struct graph_pool *pool = run->graph->pool;
    const struct meta *meta = node->meta == META_NONE ? NULL : &pool->metas[node->meta];
    const struct expr *e =
        meta && meta->kind == META_SYM ? expr_at(&pool->exprs, meta->sizes[0]) : NULL;
    for (size_t i = 0; e && e->kind == EXPR_SYMBOL && i < run->options.n_symbols; i++)
        if (str_eq(run->options.symbols[i].name, e->text))
            return &run->options.symbols[i];
    return NULL;
}

/* Returns the symbol that the graph reads from the input. Dynamo passes floats as tensors without
 * dimensions (torch/_dynamo/variables/builder.py, wrap_symfloat): such an input, an epsilon for
 * instance, gets its recorded value instead of a random number. */
static const struct run_symbol *symbol_read_from(const struct run *run, node_id input)
{
    const struct program *p = run->program;
    for (uint32_t i = input + 1; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        if (step->kind == STEP_OPERATOR && step->n_patches &&
            p->patches[step->first_patch].from == input && is_item(step->op))
            return recorded_symbol(run, &run->graph->nodes[step->node]);
    }
    return NULL;
}

/* Returns false if no number was recorded for the input. */
static bool recorded_number(const struct run *run, node_id input, double *ret)
{
    char digits[64];
    const struct run_symbol *symbol = symbol_read_from(run, input);
    const struct run_size *chosen = symbol ? run_size_of(run, symbol->name) : NULL;
    if (!symbol)
        return false;
    snprintf(digits, sizeof digits, "%.*s", STR_ARG(symbol->text));
    *ret = chosen           ? (double)chosen->value
           : symbol->text.n ? strtod(digits, NULL)
                            : (double)symbol->hint;
    return chosen || symbol->text.n || symbol->has_hint;
}

/* Returns whether the program that runs is that of the graph, and not of a subgraph, whose nodes
 * have numbers of their own. */
static bool is_outermost(const struct run *run)
{
    return run->interpreter.program == run->program;
}

/* Writes an input's values. During a capture, in which nothing is copied, they are stored instead,
 * and run_write_stored() writes them before each launch: calls of the run change them. */
static bool write_values(struct run *run, struct tensor x, node_id node, const void *p,
                         size_t bytes, struct err *err)
{
    if (!run->capturing || !is_outermost(run))
        return exec_write(&run->exec, x, p, bytes, err);
    if (!exec_write(&run->exec, x, NULL, 0, err))
        return false;
    struct run_kept *kept = &run->kept[node];
    kept->stored = malloc(bytes + 1);
    if (!kept->stored)
        return err_nomem(err);
    if (bytes)
        memcpy(kept->stored, p, bytes);
    kept->stored_bytes = bytes;
    kept->tensor = x;
    const struct memory *m = storage_at(&run->exec.storages, x.storage);
    kept->address = m ? m->p : NULL;
    return true;
}

static bool number_input(struct run *run, struct tensor x, node_id node, double number,
                         struct err *err)
{
    unsigned char p[16];
    if (dense_kind_of(x.meta->dtype) == DENSE_INT)
        store_int(x.meta->dtype, p, 0, (int64_t)number);
    else
        store_complex(x.meta->dtype, p, 0, number);
    return write_values(run, x, node, p, dtype_size(x.meta->dtype), err);
}

/* Returns the elements of the last dimension, or 1. */
static size_t last_size(const struct run *run, const struct tensor_meta *meta)
{
    int64_t size;
    bool known = meta->ndim && sym_to_i64(ops_pool(run->ops), meta->size[meta->ndim - 1], &size);
    return known && size > 0 ? (size_t)size : 1;
}

static uint64_t seed_of(const struct run *run, node_id node, uint32_t number)
{
    const struct run_options *o = &run->options;
    bool replicated =
        is_outermost(run) && o->replicated && o->replicated(o->user, &run->graph->nodes[node]);
    return random_mixed((replicated ? o->replicated_seed : o->seed) +
                        0x51ed270b * (uint64_t)(number + 1));
}

static bool random_input(struct run *run, struct tensor x, node_id node, uint32_t number,
                         struct err *err)
{
    size_t bytes, size = dtype_size(x.meta->dtype);
    if (run->options.backend->kind->shapes_only)
        return exec_write(&run->exec, x, NULL, 0, err);
    if (!exec_reach(&run->exec, x.meta, &bytes, err) ||
        !tensor_bytes(ops_pool(run->ops), x.meta, &bytes))
        return err_set(err, ERR_ENV, "it needs more than 2^63 bytes");
    unsigned char *p = malloc(bytes + 16);
    if (!p)
        return err_set(err, ERR_ENV, "cannot allocate %zu bytes of memory", bytes);
    size_t row = last_size(run, x.meta);
    random_fill(&(struct random_values){
        .dtype = x.meta->dtype,
        .p = p,
        .n = bytes / size,
        .row = row,
        .need = is_outermost(run) ? run->needs[node] : (struct input_need){ .number = -1 },
        .seed = seed_of(run, node, number),
        .threads = run->options.backend->threads,
    });
    if (x.meta->ndim && is_outermost(run))
        input_sums_apply(run, node, x.meta->dtype, p, bytes / size, row);
    bool ok = write_values(run, x, node, p, bytes, err);
    free(p);
    return ok;
}

/* ---- Memory that stays ---- */

void run_keep_inputs(struct run *run)
{
    struct storages *s = &run->exec.storages;
    run_drop_inputs(run);
    for (uint32_t i = 0; i < run->program->n_steps; i++) {
        struct run_kept *kept = &run->kept[i];
        struct memory *m = storage_at(s, kept->storage);
        if (kept->valid && m && !m->written)
            kept->memory = storage_take(s, kept->storage);
    }
    for (uint32_t i = 0; i < s->by_number.n; i++)
        storage_free(s, i);
    s->by_number.n = 0;
}

bool run_stored_stay(struct run *run)
{
    for (uint32_t i = 0; i < run->program->n_steps; i++) {
        const struct run_kept *kept = &run->kept[i];
        const struct memory *m = storage_at(&run->exec.storages, kept->storage);
        if (kept->stored && (m ? m->p : NULL) != kept->address)
            return false;
    }
    return true;
}

bool run_write_stored(struct run *run, struct err *err)
{
    for (uint32_t i = 0; i < run->program->n_steps; i++) {
        const struct run_kept *kept = &run->kept[i];
        if (kept->stored &&
            !exec_write(&run->exec, kept->tensor, kept->stored, kept->stored_bytes, err))
            return false;
    }
    return true;
}

void run_drop_stored(struct run *run)
{
    for (uint32_t i = 0; run->kept && i < run->program->n_steps; i++) {
        free(run->kept[i].stored);
        run->kept[i].stored = NULL;
    }
}

void run_drop_inputs(struct run *run)
{
    const struct backend_kind *kind = run->options.backend->kind;
    for (uint32_t i = 0; run->kept && i < run->program->n_steps; i++) {
        struct memory *m = &run->kept[i].memory;
        if (m->p && !m->borrowed)
            kind->release(run->options.backend, m);
        *m = (struct memory){ 0 };
    }
}

void run_give_inputs(struct run *run)
{
    struct kept_inputs *to = run->options.kept;
    if (!to || !run->kept || to->backend != run->options.backend)
        return;
    run_keep_inputs(run);
    for (uint32_t i = 0; i < run->program->n_steps; i++) {
        struct run_kept *kept = &run->kept[i];
        if (!kept->outlives || !kept->memory.p || kept->memory.borrowed)
            continue;
        kept_inputs_put(to, i, (struct kept_input){ kept->memory, run->needs[i], kept->seed });
        kept->memory = (struct memory){ 0 };
    }
}

/* Returns whether all sizes of the node are recorded as numbers. */
static bool has_fixed_sizes(const struct run *run, node_id node)
{
    const struct graph_pool *pool = run->graph->pool;
    const uint32_t number = run->graph->nodes[node].meta;
    if (number == META_NONE || pool->metas[number].kind != META_TENSOR)
        return false;
    const struct meta *meta = &pool->metas[number];
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        if (expr_at(&pool->exprs, meta->sizes[i])->kind != EXPR_INT ||
            (meta->strides && expr_at(&pool->exprs, meta->strides[i])->kind != EXPR_INT))
            return false;
    return true;
}

static bool has_sum(const struct run *run, node_id node)
{
    uint32_t i = 0;
    while (i < run->n_sums && run->sums[i].input != node)
        i++;
    return i < run->n_sums;
}

/* Takes a weight with its random values from the options' kept inputs. */
static bool take_kept_weight(struct run *run, struct tensor x, node_id node, uint32_t number)
{
    struct run_kept *kept = &run->kept[node];
    struct err ignored = { 0 };
    if (!run->options.kept || !run->needs || !is_outermost(run) || !has_fixed_sizes(run, node) ||
        has_sum(run, node))
        return false;
    kept->outlives = true;
    kept->seed = seed_of(run, node, number);
    struct memory memory = kept_inputs_take(run->options.kept, node, run->needs[node], kept->seed);
    if (!memory.p)
        return false;
    if (storage_put(&run->exec.storages, x.storage, memory, &ignored))
        return true;
    run->options.backend->kind->release(run->options.backend, &memory);
    return false;
}

/* Returns whether the tensor still has its values from the run before. */
static bool is_input_kept(struct run *run, const struct step *step, struct tensor x)
{
    struct run_kept *kept = &run->kept[step->node];
    struct err ignored = { 0 };
    if (!is_outermost(run))
        return false;
    kept->storage = x.storage;
    kept->valid = true;
    if (!kept->memory.p || !storage_put(&run->exec.storages, x.storage, kept->memory, &ignored))
        return false;
    kept->memory = (struct memory){ 0 };
    return true;
}

/* Records whether the values are set; a call that writes them later clears this. The memory of a
 * capture stays marked, since it does not stay for runs that make the calls. */
static bool record_filled(struct run *run, struct tensor x, bool ok)
{
    struct memory *m = storage_at(&run->exec.storages, x.storage);
    if (m)
        m->written = run->capturing || !ok;
    return ok;
}

/* ---- Inputs ---- */

/* Returns whether the tensor gets memory only, in a dry run. Numbers get their values, which the
 * host can read then (struct memory's `known`). */
static bool lacks_values(const struct run *run, struct tensor x)
{
    size_t bytes;
    return run->options.backend->dry_run != DRY_RUN_NONE &&
           !(tensor_bytes(ops_pool(run->ops), x.meta, &bytes) && bytes <= MEMORY_KNOWN);
}

static bool write_given_input(struct run *run, struct tensor x, node_id node,
                              const struct array *given, struct err *err)
{
    size_t bytes;
    if (run->options.backend->kind->shapes_only)
        return exec_write(&run->exec, x, NULL, 0, err);
    if (!tensor_bytes(ops_pool(run->ops), x.meta, &bytes) || given->dtype != x.meta->dtype ||
        bytes != given->bytes)
        return err_set(err, ERR_USAGE,
                       "the values given are %s of %zu bytes, and %s of %zu "
                       "bytes are expected",
                       dtype_short_name(given->dtype), given->bytes,
                       dtype_short_name(x.meta->dtype), bytes);
    return write_values(run, x, node, given->p, bytes, err);
}

bool run_input(struct run *run, const struct step *step, uint32_t number, struct value *ret,
               struct err *err)
{
    const struct node *node = &run->graph->nodes[step->node];
    struct array given = { 0 };
    *ret = expected_value(run->ops, step->expected);
    bool tensor = ret->kind == VALUE_TENSOR;
    if (!tensor && step->expected->kind == EXPECT_TENSOR)
        return err_nomem(err);
    if (tensor && is_input_kept(run, step, ret->u.tensor))
        return true;
    if (tensor && lacks_values(run, ret->u.tensor))
        return exec_write(&run->exec, ret->u.tensor, NULL, 0, err);
    if (run->options.input && !run->options.input(run->options.user, number, node, &given, err))
        return false;
    if (!tensor)
        return true;
    struct tensor x = ret->u.tensor;
    double recorded;
    bool is_number = !given.p && x.meta->ndim == 0 && recorded_number(run, step->node, &recorded);
    if (!given.p && !is_number && take_kept_weight(run, x, step->node, number))
        return true;
    return record_filled(run, x,
                         given.p     ? write_given_input(run, x, step->node, &given, err)
                         : is_number ? number_input(run, x, step->node, recorded, err)
                                     : random_input(run, x, step->node, number, err));
}

bool run_constant(struct run *run, const struct step *step, struct value *ret, struct err *err)
{
    *ret = expected_value(run->ops, step->expected);
    if (ret->kind != VALUE_TENSOR && step->expected->kind == EXPECT_TENSOR)
        return err_nomem(err);
    if (ret->kind != VALUE_TENSOR)
        return err_set(err, ERR_USAGE, "an attribute that is not a tensor");
    struct tensor x = ret->u.tensor;
    if (is_input_kept(run, step, x))
        return true;
    if (lacks_values(run, x))
        return exec_write(&run->exec, x, NULL, 0, err);
    if (take_kept_weight(run, x, step->node, step->node + 0x10000))
        return true;
    return record_filled(run, x, random_input(run, x, step->node, step->node + 0x10000, err));
}

bool run_find_needs(struct run *run, struct err *err)
{
    if (run->options.backend->kind->shapes_only)
        return true;
    run->needs = arena_array(&run->arena, struct input_need, (size_t)run->program->n_steps + 1);
    if (!run->needs || !input_needs_find(run->program, run->needs))
        return err_nomem(err);
    return input_sums_find(run, err);
}
