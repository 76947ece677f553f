#include "minify/rewrite/rewrite_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/sizes.h"
#include "replay/backend/compare/comparison.h"
#include "replay/backend/run/run.h"
#include "trace/base/hash.h"

const char *rewrite_verdict_name(enum rewrite_verdict verdict)
{
    static const char *const names[REWRITE_VERDICTS] = { "unchecked", "equal", "differs" };
    return names[verdict];
}

enum mask_pattern { PATTERN_TRUE, PATTERN_FALSE, PATTERN_MIXED, PATTERNS };
static const char *const pattern_names[PATTERNS] = { "all true", "all false", "mixed" };

/* The values that the original graph started from and ended with, under one pattern. */
struct checked_run {
    const struct rewrite *rewrite;
    const struct graph *graph; /* the one that is run now */
    enum mask_pattern pattern;
    struct intern names;   /* of the original's nodes; their number is the node's */
    node_id *mask;         /* by node of the original: the first equal mask, or NODE_NONE */
    struct array *started; /* by node of the original: inputs and constants */
    node_id *inputs;       /* by number of an input: its node */
    uint32_t n_inputs;
    uint32_t n_outputs;
    bool random;        /* a call has random numbers, which depend on how many calls were made */
    struct arena arena; /* of one pattern */
};

/* ---- Masks ---- */

static bool write_mask(const struct checked_run *c, struct run *run, node_id mask, struct tensor x,
                       struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array values;
    bool ok = run_array(run, x, &arena, &values, err);
    char *bytes = ok ? arena_bytes(&arena, values.bytes + 1) : NULL;
    uint64_t seed = hash_mix(mask, 17 + c->rewrite->whole->seed);
    ok = ok && (bytes || err_nomem(err));
    for (size_t i = 0; ok && i < values.bytes; i++)
        bytes[i] = (char)(c->pattern == PATTERN_TRUE ||
                          (c->pattern == PATTERN_MIXED && (hash_mix(seed, i) >> 13 & 1)));
    ok = ok && exec_write(&run->exec, x, bytes, values.bytes, err);
    arena_release(&arena);
    return ok;
}

static bool is_start(const struct node *node)
{
    return node->op == NODE_PLACEHOLDER || node->op == NODE_GET_ATTR;
}

/* In the original: keeps inputs and constants, and writes the masks. */
static bool watch_original(void *user, struct run *run, const struct step *step,
                           const struct value *value, struct err *err)
{
    struct checked_run *c = user;
    const struct node *node = &c->graph->nodes[step->node];
    c->random |= step_is_random(step);
    if (value->kind != VALUE_TENSOR)
        return true;
    if (is_start(node) && !run_array(run, value->u.tensor, &c->arena, &c->started[step->node], err))
        return false;
    return c->mask[step->node] == NODE_NONE ||
           write_mask(c, run, c->mask[step->node], value->u.tensor, err);
}

/* In the rewritten graph: gives constants and masks the same values. */
static bool watch_rewritten(void *user, struct run *run, const struct step *step,
                            const struct value *value, struct err *err)
{
    struct checked_run *c = user;
    const struct node *node = &c->graph->nodes[step->node];
    uint32_t id = intern_find(&c->names, node->name);
    if (value->kind != VALUE_TENSOR || id == INTERN_NONE)
        return true;
    const struct array *start = &c->started[id];
    if (node->op == NODE_GET_ATTR && start->p &&
        !exec_write(&run->exec, value->u.tensor, start->p, start->bytes, err))
        return false;
    return c->mask[id] == NODE_NONE || write_mask(c, run, c->mask[id], value->u.tensor, err);
}

static bool give_started(void *user, uint32_t i, const struct node *node, struct array *ret,
                         struct err *err)
{
    const struct checked_run *c = user;
    (void)node, (void)err;
    if (i < c->n_inputs && c->started[c->inputs[i]].p)
        *ret = c->started[c->inputs[i]];
    return true;
}

/* ---- Comparing ---- */

static void report_difference(struct rewrite_check *ret, const struct checked_run *c,
                              const char *what, struct str name, const struct difference *d)
{
    ret->verdict = REWRITE_DIFFERS;
    snprintf(ret->text, sizeof ret->text,
             d->comparable ? "with masks %s, %s %.*s differs: %llu of %llu elements, the first is "
                             "%g instead of %g"
                           : "with masks %s, %s %.*s has another size or dtype",
             pattern_names[c->pattern], what, STR_ARG(str_first(name, 100)),
             (unsigned long long)d->bad, (unsigned long long)d->elements, d->got, d->expected);
}

/* Reductions add in another order than those of fewer rows. */
static struct tolerance widen(enum dtype dtype)
{
    enum { FACTOR = 4 };
    struct tolerance t = tolerance_of(dtype);
    return (struct tolerance){ FACTOR * t.relative, FACTOR * t.absolute };
}

static bool compare_one(struct rewrite_check *ret, const struct checked_run *c, const char *what,
                        struct str name, const struct array *expected, const struct array *got)
{
    if (!expected->p && !got->p)
        return true;
    if (!expected->p || !got->p) {
        ret->verdict = REWRITE_DIFFERS;
        snprintf(ret->text, sizeof ret->text,
                 "with masks %s, %s %.*s is a tensor in one graph only", pattern_names[c->pattern],
                 what, STR_ARG(str_first(name, 100)));
        return false;
    }
    struct difference d = compare_arrays(expected, got, widen(expected->dtype));
    ret->tensors++;
    if (d.comparable && !d.bad)
        return true;
    report_difference(ret, c, what, name, &d);
    return false;
}

/* ---- Runs ---- */

/* Values when a graph has run: of its inputs, and of its outputs; no `p`: it is no tensor. */
struct results {
    struct array *inputs, *outputs;
};

static bool make_results(struct checked_run *c, struct results *ret)
{
    ret->inputs = arena_array(&c->arena, struct array, c->n_inputs + 1u);
    ret->outputs = arena_array(&c->arena, struct array, c->n_outputs + 1u);
    return ret->inputs && ret->outputs;
}

/* Reads the values of a run in the end. */
static bool read_results(struct checked_run *c, struct run *run, struct results *ret,
                         struct err *err)
{
    uint32_t number = 0;
    for (node_id id = 0; id < c->graph->n_nodes; id++) {
        if (c->graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        struct value value = run_value(run, id);
        if (value.kind == VALUE_TENSOR && number < c->n_inputs &&
            !run_array(run, value.u.tensor, &c->arena, &ret->inputs[number], err))
            return false;
        number++;
    }
    for (uint32_t i = 0; i < run->n_outputs && i < c->n_outputs; i++)
        if (run->outputs[i].kind == VALUE_TENSOR &&
            !run_array(run, run->outputs[i].u.tensor, &c->arena, &ret->outputs[i], err))
            return false;
    return true;
}

static bool run_graph(struct checked_run *c, const struct candidate *candidate,
                      const struct run_options *options, struct results *ret, bool *unsupported,
                      struct err *err)
{
    c->graph = candidate->graph;
    struct run *run = run_new(candidate->graph, options, err);
    bool ok = run && run_execute(run, err);
    *unsupported = run && run->unsupported;
    ok = ok && read_results(c, run, ret, err);
    run_free(run);
    return ok;
}

static bool set_options(const struct candidate *whole, struct backend *backend, struct arena *arena,
                        struct run_options *ret)
{
    struct run_symbol *symbols = arena_array(arena, struct run_symbol, whole->n_symbols + 1u);
    *ret = (struct run_options){ .backend = backend,
                                 .symbols = symbols,
                                 .seed = whole->seed + 1,
                                 .torch = torch_release(whole->torch_version),
                                 .keep = true };
    for (uint32_t i = 0; symbols && i < whole->n_symbols; i++) {
        const struct cand_symbol *s = &whole->symbols[i];
        if (s->has_hint && !s->is_float)
            symbols[ret->n_symbols++] =
                (struct run_symbol){ .name = s->name, .hint = s->hint, .has_hint = true };
    }
    return symbols;
}

static bool run_original(struct checked_run *c, struct run_options *options, struct results *ret,
                         struct rewrite_check *check, struct err *err)
{
    struct err why = { 0 };
    bool unsupported;
    options->node = watch_original;
    options->node_user = c;
    if (!run_graph(c, c->rewrite->whole, options, ret, &unsupported, &why)) {
        if (why.kind == ERR_ENV)
            return err_copy(err, &why);
        if (!check->text[0])
            snprintf(check->text, sizeof check->text,
                     "the original does not run with masks %s: %.300s", pattern_names[c->pattern],
                     why.text);
        return false;
    }
    if (c->random)
        snprintf(check->text, sizeof check->text, "the graph has random numbers");
    return !c->random;
}

static bool run_rewritten(struct checked_run *c, struct run_options *options, struct results *ret,
                          struct rewrite_check *check, struct err *err)
{
    struct err why = { 0 };
    bool unsupported;
    options->node = watch_rewritten;
    options->input = give_started;
    options->user = c;
    if (run_graph(c, c->rewrite->result, options, ret, &unsupported, &why))
        return true;
    if (why.kind == ERR_ENV)
        return err_copy(err, &why);
    check->verdict = unsupported ? check->verdict : REWRITE_DIFFERS;
    snprintf(check->text, sizeof check->text,
             "the rewritten graph does not run with masks %s: %.300s", pattern_names[c->pattern],
             why.text);
    return false;
}

/* Compares until a value differs. */
static void compare_results(const struct checked_run *c, const struct results *expected,
                            const struct results *got, struct rewrite_check *ret)
{
    const struct node *nodes = c->rewrite->whole->graph->nodes;
    bool same = true;
    for (uint32_t i = 0; i < c->n_inputs && same; i++)
        same = compare_one(ret, c, "input", nodes[c->inputs[i]].name, &expected->inputs[i],
                           &got->inputs[i]);
    for (uint32_t i = 0; i < c->n_outputs && same; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", (unsigned)i);
        same =
            compare_one(ret, c, "output", str_of(number), &expected->outputs[i], &got->outputs[i]);
    }
}

static bool compare_pattern(struct checked_run *c, struct backend *backend,
                            struct rewrite_check *ret, struct err *err)
{
    const struct candidate *whole = c->rewrite->whole;
    struct run_options options;
    struct results expected, got;
    c->started = arena_array(&c->arena, struct array, whole->graph->n_nodes + 1u);
    if (!c->started || !make_results(c, &expected) || !make_results(c, &got) ||
        !set_options(whole, backend, &c->arena, &options))
        return err_nomem(err);
    if (run_original(c, &options, &expected, ret, err) &&
        run_rewritten(c, &options, &got, ret, err)) {
        ret->runs++;
        compare_results(c, &expected, &got, ret);
    }
    return !err_is_set(err);
}

/* ---- The whole ---- */

static bool init_checked(struct checked_run *c)
{
    const struct graph *graph = c->rewrite->whole->graph;
    c->mask = calloc((size_t)graph->n_nodes + 1, sizeof *c->mask);
    c->inputs = calloc((size_t)graph->n_nodes + 1, sizeof *c->inputs);
    if (!c->mask || !c->inputs)
        return false;
    for (node_id id = 0; id < graph->n_nodes; id++)
        c->mask[id] = NODE_NONE;
    for (uint32_t i = 0; i < c->rewrite->n_masks; i++)
        c->mask[c->rewrite->masks[i]] = c->rewrite->same[i];
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        uint32_t number = intern(&c->names, node->name);
        if (number == INTERN_NONE)
            return false;
        if (node->op == NODE_PLACEHOLDER)
            c->inputs[c->n_inputs++] = id;
        if (node->op == NODE_OUTPUT)
            c->n_outputs = node->n_args;
    }
    return true;
}

static const char *cannot_check(const struct checked_run *c)
{
    const struct graph *graph = c->rewrite->whole->graph;
    uint32_t n = 0;
    if (c->names.texts.n != graph->n_nodes)
        return "two nodes have one name";
    graph = c->rewrite->result->graph;
    for (node_id id = 0; id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_PLACEHOLDER;
    return n == c->n_inputs ? NULL : "the rewritten graph has other inputs";
}

static bool compare_patterns(struct checked_run *c, struct rewrite_check *ret, struct err *err)
{
    const char *cannot = cannot_check(c);
    if (cannot) {
        snprintf(ret->text, sizeof ret->text, "%s", cannot);
        return true;
    }
    struct backend *backend = backend_find(STR("cpu"))->open(err);
    bool ok = backend != NULL;
    for (int i = 0; ok && i < PATTERNS && ret->verdict != REWRITE_DIFFERS; i++) {
        c->pattern = (enum mask_pattern)i;
        ok = compare_pattern(c, backend, ret, err);
        arena_release(&c->arena);
        c->arena = ARENA_INIT;
    }
    if (backend)
        backend->kind->close(backend);
    if (ok && ret->tensors && ret->verdict == REWRITE_UNCHECKED)
        ret->verdict = REWRITE_EQUAL;
    else if (ok && ret->runs && !ret->text[0])
        snprintf(ret->text, sizeof ret->text, "it has no tensor among its inputs and outputs");
    return ok;
}

bool rewrite_check(const struct rewrite *rewrite, struct rewrite_check *ret, struct err *err)
{
    struct checked_run c = { .rewrite = rewrite };
    *ret = (struct rewrite_check){ .verdict = REWRITE_UNCHECKED };
    bool ok = !rewrite->result || init_checked(&c) || err_nomem(err);
    if (ok && rewrite->result)
        ok = compare_patterns(&c, ret, err);
    intern_release(&c.names);
    free(c.mask);
    free(c.inputs);
    arena_release(&c.arena);
    return ok;
}

/* ---- The cost ---- */

static bool add_elements(const struct candidate *candidate, const struct meta *meta, uint64_t *sum)
{
    int64_t n = 1, size;
    for (uint32_t d = 0; d < meta->n_sizes; d++) {
        if (!cand_eval(candidate, &candidate->graph->pool->exprs, meta->sizes[d], NULL, &size))
            continue; /* it depends on a mask: at most a size of another tensor */
        if (size < 0 || __builtin_mul_overflow(n, size, &n))
            return false;
    }
    return !__builtin_add_overflow(*sum, (uint64_t)n, sum);
}

static bool is_matmul_base(struct str base)
{
    static const char *const names[] = {
        "mm",     "matmul",      "linear",  "addmm",  "bmm",
        "conv2d", "convolution", "baddbmm", "einsum", "scaled_dot_product_attention"
    };
    return STR_IS_ANY(base, names);
}

/* Matmuls cost as many times their elements as a matrix has columns; they are rarely cheap. */
static bool add_cost(const struct candidate *candidate, uint64_t *sum)
{
    enum { MATMUL_FACTOR = 64 };
    for (node_id id = 0; id < candidate->graph->n_nodes; id++) {
        const struct node *node = &candidate->graph->nodes[id];
        const struct meta *meta = node_meta(candidate->graph, node);
        uint64_t one = 0;
        if (!meta || meta->kind != META_TENSOR)
            continue;
        if (!add_elements(candidate, meta, &one))
            return false;
        if (node_is_call(node) && is_matmul_base(target_base_name(node->target)) &&
            __builtin_mul_overflow(one, (uint64_t)MATMUL_FACTOR, &one))
            return false;
        if (__builtin_add_overflow(*sum, one, sum))
            return false;
    }
    return true;
}

uint64_t rewrite_check_cost(const struct rewrite *rewrite)
{
    uint64_t sum = 0;
    bool known =
        add_cost(rewrite->whole, &sum) && (!rewrite->result || add_cost(rewrite->result, &sum));
    return known ? sum : UINT64_MAX;
}
