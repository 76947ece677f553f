#include "replay/backend/compare/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/compare/ties.h"
#include "replay/backend/values/samples.h"

enum mark { MARK_BAD = 1, MARK_RANDOM = 2, MARK_UNWRITTEN = 4, MARK_ROUNDED = 8, MARK_TIED = 16 };
/* KEPT_EXPECTED: the reference keeps the values; KEPT_BOTH: they are compared as well. */
enum kept { KEPT_EXPECTED = 1, KEPT_BOTH = 2 };

const char *match_name(enum match match)
{
    static const char *const names[] = { "equal",  "close",     "differs", "follows",
                                         "random", "unwritten", "tied",    "missing" };
    return match < MATCHES ? names[match] : "";
}

bool comparison_init(struct comparison *c, uint32_t n_nodes,
                     const struct comparison_options *options, struct err *err)
{
    *c = (struct comparison){ .options = *options, .first_differs = UINT64_MAX };
    if (!error_model_init(&c->errors, n_nodes, err))
        return false;
    if (options->factor > 0)
        c->errors.factor = options->factor;
    c->errors.tf32 = options->tf32;
    c->marks = calloc((size_t)n_nodes + 1, 1);
    c->kept = calloc((size_t)n_nodes + 1, 1);
    if (!options->file)
        c->values = value_file_new(NULL, err);
    return (options->file || c->values) && ((c->marks && c->kept) || err_nomem(err));
}

void comparison_release(struct comparison *c)
{
    value_file_free(c->values);
    error_model_release(&c->errors);
    free(c->marks);
    free(c->kept);
    vec_release(&c->nodes);
    vec_release(&c->outputs);
    arena_release(&c->arena);
    arena_release(&c->scratch);
    *c = (struct comparison){ 0 };
}

/* ---- What kinds of calls there are ---- */

static bool base_is_among(const struct step *step, const char *const *names, size_t n)
{
    for (size_t i = 0; step->op && i < n; i++)
        if (str_is(op_schema(step->op)->base, names[i]))
            return true;
    return false;
}

bool step_is_random(const struct step *step)
{
    static const char *const names[] = {
        "rand",
        "randn",
        "randint",
        "randperm",
        "rand_like",
        "randn_like",
        "randint_like",
        "bernoulli",
        "bernoulli_",
        "normal",
        "normal_",
        "uniform",
        "uniform_",
        "exponential",
        "exponential_",
        "cauchy",
        "cauchy_",
        "geometric",
        "geometric_",
        "log_normal",
        "log_normal_",
        "random",
        "random_",
        "poisson",
        "binomial",
        "multinomial",
        "dropout",
        "dropout_",
        "native_dropout",
        "feature_dropout",
        "alpha_dropout",
        "_fused_dropout",
        "feature_alpha_dropout",
        "rrelu_with_noise",
        "rrelu_with_noise_functional",
        "inductor_random",
        "inductor_randint",
        "inductor_seed",
        "inductor_seeds",
        "philox_rand",
        "normal_functional",
        "_standard_gamma",
        "_sample_dirichlet",
    };
    return base_is_among(step, names, sizeof names / sizeof *names);
}

bool step_is_unwritten(const struct step *step)
{
    return step->op && exec_leaves_unfilled(op_schema(step->op)->base);
}

/* ---- The reference ---- */

static bool read_node_value(struct comparison *c, struct run *run, const struct value *value,
                            struct array *ret, struct err *err)
{
    arena_reset(&c->scratch);
    return run_array(run, value->u.tensor, &c->scratch, ret, err);
}

/* Finds the nodes without which outputs cannot be judged: random numbers, memory that nothing has
 * written, places, and the elements that these are places of. */
static void find_kept(struct comparison *c, const struct run *run)
{
    for (uint32_t i = 0; i < run->program->n_steps && i < c->errors.n && !c->has_kept; i++) {
        const struct step *step = &run->program->steps[i],
                          *origin = step_origin(run->program, step);
        node_id source = tie_source(run, step);
        if (step_is_random(origin) || step_is_unwritten(origin) || source != NODE_NONE)
            c->kept[i] |= KEPT_BOTH;
        if (source < c->errors.n)
            c->kept[source] |= KEPT_EXPECTED;
    }
    c->has_kept = true;
}

static bool measure_value(struct comparison *c, struct run *run, const struct step *step,
                          const struct value *value, struct array *ret, struct err *err)
{
    if (!read_node_value(c, run, value, ret, err))
        return false;
    error_model_moments(&c->errors, step->node, ret);
    return true;
}

bool comparison_look(void *user, struct run *run, const struct step *step,
                     const struct value *value, struct err *err)
{
    struct array values;
    return value->kind != VALUE_TENSOR || measure_value(user, run, step, value, &values, err);
}

bool comparison_expect(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    struct comparison *c = user;
    struct array values;
    if (value->kind != VALUE_TENSOR)
        return true;
    find_kept(c, run);
    if (!measure_value(c, run, step, value, &values, err))
        return false;
    if (!c->options.nodes && !c->kept[step->node])
        return true;
    return value_file_add(c->values, run->graph->nodes[step->node].name, &values, err);
}

bool comparison_expect_output(struct comparison *c, struct str name, const struct array *values,
                              struct err *err)
{
    return value_file_add(c->values, name, values, err);
}

static bool find_part(const struct comparison *c, struct str name, const char *part,
                      struct array *ret)
{
    char text[600];
    if (part) {
        snprintf(text, sizeof text, "%.*s#%s", STR_ARG(name), part);
        name = str_of(text);
    }
    return c->options.file ? safetensors_find(c->options.file, name, ret)
                           : value_file_find(c->values, name, ret);
}

/* ---- Holding one against the other ---- */

/* The values that the reference has for a name. */
struct expected_values {
    struct array values; /* p NULL: none */
    int64_t step;        /* between its elements; 1: it has all of them; 0: its shape differs */
    uint64_t hash;
};

static struct expected_values find_expected(const struct comparison *c, struct str name,
                                            const struct array *got)
{
    struct expected_values ret = { .step = 1 };
    struct array layout, hash;
    if (find_part(c, name, NULL, &ret.values))
        return ret;
    if (!find_part(c, name, "samples", &ret.values) || !find_part(c, name, "layout", &layout) ||
        !find_part(c, name, "hash", &hash) || hash.bytes != sizeof ret.hash) {
        ret.values.p = NULL;
        return ret;
    }
    ret.step = samples_layout_step(&layout, got);
    memcpy(&ret.hash, hash.p, sizeof ret.hash);
    return ret;
}

static bool compare_expected(struct comparison *c, const struct expected_values *expected,
                             const struct array *got, struct compared *to, struct err *err)
{
    struct array part = *got;
    to->sampled = expected->step != 1;
    to->tolerance = error_model_tolerance(&c->errors, to->node, got->dtype);
    to->terms = to->node < c->errors.n ? c->errors.nodes[to->node].terms : 1;
    if (expected->step == 0)
        return true; /* not comparable */
    if (expected->values.dtype == got->dtype && expected->step > 1 &&
        !samples_take(got, expected->step, &c->scratch, &part, err))
        return false;
    to->difference = compare_arrays(&expected->values, &part, to->tolerance);
    if (to->sampled && difference_is_none(&to->difference) && samples_hash(got) != expected->hash)
        to->difference.max_absolute = 0x1p-1074; /* elements between the samples differ */
    return true;
}

static unsigned char marks_of_inputs(const struct comparison *c, const struct run *run,
                                     const struct step *origin)
{
    unsigned char marks = 0;
    for (uint32_t i = 0; i < origin->n_patches; i++) {
        node_id from = run->program->patches[origin->first_patch + i].from;
        if (from < c->errors.n)
            marks |= c->marks[from];
    }
    return marks;
}

static enum match match_of(const struct compared *one, unsigned char inputs,
                           const struct step *origin)
{
    if (difference_is_none(&one->difference))
        return MATCH_EQUAL;
    if (one->difference.comparable && !one->difference.bad)
        return MATCH_CLOSE;
    if (inputs & MARK_RANDOM || (origin && step_is_random(origin)))
        return MATCH_RANDOM;
    if (inputs & MARK_UNWRITTEN || (origin && step_is_unwritten(origin)))
        return MATCH_UNWRITTEN;
    if (inputs & MARK_BAD)
        return MATCH_FOLLOWS;
    return inputs & MARK_TIED ? MATCH_TIED : MATCH_DIFFERS;
}

static unsigned char marks_for(enum match match, unsigned char inputs)
{
    switch (match) {
    case MATCH_EQUAL: return 0;
    case MATCH_CLOSE: return MARK_ROUNDED;
    case MATCH_RANDOM: return inputs | MARK_RANDOM;
    case MATCH_UNWRITTEN: return inputs | MARK_UNWRITTEN;
    case MATCH_TIED: return inputs | MARK_TIED;
    case MATCH_DIFFERS:
    case MATCH_FOLLOWS: return inputs | MARK_BAD;
    default: return inputs;
    }
}

/* Returns whether the node has other places of elements that are equal. They are equal in each bit
 * if the elements are the same on both sides. */
static bool is_tied(const struct comparison *c, const struct run *run, const struct step *step,
                    const struct expected_values *expected, const struct array *got)
{
    static const struct tolerance none = { 0, 0 };
    node_id source = tie_source(run, step);
    struct array elements;
    if (source >= c->errors.n || expected->step != 1 || c->marks[source] & MARK_BAD ||
        !find_part(c, run->graph->nodes[source].name, NULL, &elements))
        return false;
    bool exact = c->options.nodes && !(c->marks[source] & MARK_ROUNDED);
    struct tolerance t = exact ? none : error_model_tolerance(&c->errors, source, elements.dtype);
    return tie_holds(run, step, &elements, t, &expected->values, got);
}

static bool store_compared(struct comparison *c, const struct compared *one, struct err *err)
{
    bool bad = one->match == MATCH_DIFFERS || one->match == MATCH_FOLLOWS;
    uint64_t n = c->counts[one->match]++;
    c->differs |= bad;
    c->voids += difference_is_void(&one->difference);
    if (one->match == MATCH_EQUAL || one->match == MATCH_CLOSE || one->match == MATCH_MISSING ||
        (c->options.limit && n >= c->options.limit))
        return true;
    if (one->match == MATCH_DIFFERS && c->first_differs == UINT64_MAX)
        c->first_differs = c->nodes.n;
    return vec_push(&c->nodes, *one) || err_nomem(err);
}

bool comparison_check(void *user, struct run *run, const struct step *step,
                      const struct value *value, struct err *err)
{
    struct comparison *c = user;
    const struct step *origin = step_origin(run->program, step);
    unsigned char inputs = marks_of_inputs(c, run, origin);
    struct compared one = { .node = step->node,
                            .origin = origin->node,
                            .output = UINT32_MAX,
                            .name = run->graph->nodes[step->node].name,
                            .same_inputs = !(inputs & MARK_ROUNDED) };
    struct expected_values expected;
    struct array got;
    find_kept(c, run);
    bool looks =
        value->kind == VALUE_TENSOR && (c->options.nodes || c->kept[step->node] & KEPT_BOTH);
    c->marks[step->node] = inputs;
    if (!looks) {
        if (c->options.looks && !comparison_look(c, run, step, value, err))
            return false;
        error_model_step(&c->errors, run, step);
        return true;
    }
    if (!read_node_value(c, run, value, &got, err))
        return false;
    one.dtype = got.dtype;
    expected = find_expected(c, one.name, &got);
    error_model_moments(&c->errors, step->node, expected.values.p ? &expected.values : &got);
    error_model_step(&c->errors, run, step);
    if (expected.values.p && !compare_expected(c, &expected, &got, &one, err))
        return false;
    one.match = expected.values.p ? match_of(&one, inputs, origin) : MATCH_MISSING;
    if (one.match == MATCH_DIFFERS && is_tied(c, run, step, &expected, &got))
        one.match = MATCH_TIED;
    if ((one.match == MATCH_EQUAL || one.match == MATCH_CLOSE) && !one.sampled)
        error_model_observed(&c->errors, step->node, one.difference.max_absolute);
    if (!expected.values.p && (step_is_random(origin) || step_is_unwritten(origin)))
        c->marks[step->node] |= step_is_random(origin) ? MARK_RANDOM : MARK_UNWRITTEN;
    else
        c->marks[step->node] = marks_for(one.match, inputs);
    return store_compared(c, &one, err);
}

/* Returns the node that output i is. */
static node_id output_node(const struct run *run, uint32_t i)
{
    const struct program *p = run->program;
    for (uint32_t s = p->n_steps; s-- > 0;) {
        const struct step *step = &p->steps[s];
        if (step->kind != STEP_OUTPUT)
            continue;
        for (uint32_t k = 0; k < step->n_patches; k++)
            if (p->patches[step->first_patch + k].at == &step->args[i])
                return p->patches[step->first_patch + k].from;
    }
    return NODE_NONE;
}

bool comparison_check_output(struct comparison *c, const struct run *run, uint32_t i,
                             struct str name, const struct array *values, struct err *err)
{
    node_id node = output_node(run, i);
    struct compared one = {
        .node = node, .origin = node, .output = i, .dtype = values->dtype, .same_inputs = true
    };
    unsigned char inputs = one.node < c->errors.n ? c->marks[one.node] : 0;
    struct expected_values expected = find_expected(c, name, values);
    bool there = expected.values.p != NULL;
    if (node < run->program->n_steps)
        one.origin = step_origin(run->program, &run->program->steps[node])->node;
    one.name = arena_copy(&c->arena, name);
    if (!one.name.p)
        return err_nomem(err);
    if (there && !compare_expected(c, &expected, values, &one, err))
        return false;
    one.match = there ? match_of(&one, inputs, NULL) : MATCH_MISSING;
    c->differs |=
        one.match == MATCH_DIFFERS || one.match == MATCH_FOLLOWS || (!there && !c->options.nodes);
    return vec_push(&c->outputs, one) || err_nomem(err);
}

const struct compared *comparison_first(const struct comparison *c)
{
    return c->first_differs < c->nodes.n ? &c->nodes.v[c->first_differs] : NULL;
}
