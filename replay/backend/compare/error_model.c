#include "replay/backend/compare/error_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/values/elements.h"

#define TF32_ROUNDOFF 0x1p-11

enum length {
    LENGTH_ONE,
    LENGTH_RATIO,
    LENGTH_LAST,
    LENGTH_FILTER,
    LENGTH_GRADIENT,
    LENGTH_ENTRIES,
    LENGTH_SHARE
};
enum carry {
    CARRY_SAME,
    CARRY_MOVE,
    CARRY_ADD,
    CARRY_SUM,
    CARRY_MEAN,
    CARRY_PRODUCT,
    CARRY_EXPONENT,
    CARRY_POWER,
    CARRY_NORM,
    CARRY_NORMED,
    CARRY_FILTERED,
    CARRY_ATTENTION,
    CARRY_ATTENTION_BACK
};

struct rule {
    const char *base;
    enum length length;
    uint32_t argument;
    enum carry carry;
};

static const struct rule rules[] = {
#define ERRORS(base, length, argument, carry) { #base, LENGTH_##length, argument, CARRY_##carry },
#include "replay/backend/compare/error_rules.def"
#undef ERRORS
};
static const struct rule otherwise = { "", LENGTH_RATIO, 0, CARRY_SAME };
static const struct rule moves = { "", LENGTH_ONE, 0, CARRY_MOVE };

bool error_model_init(struct error_model *model, uint32_t n_nodes, struct err *err)
{
    *model = (struct error_model){ .n = n_nodes, .factor = 1 };
    model->nodes = calloc((size_t)n_nodes + 1, sizeof *model->nodes);
    return model->nodes || err_nomem(err);
}

void error_model_release(struct error_model *model)
{
    free(model->nodes);
    *model = (struct error_model){ 0 };
}

void error_model_moments(struct error_model *model, node_id node, const struct array *values)
{
    size_t size = dtype_size(values->dtype);
    uint64_t n = size ? values->bytes / size : 0, finite = 0;
    double squares = 0, most = 0;
    if (node >= model->n || dense_kind_of(values->dtype) == DENSE_INT)
        return;
    for (uint64_t i = 0; i < n; i++) {
        double x = cabs(load_complex(values->dtype, values->p, (int64_t)i));
        if (!isfinite(x))
            continue;
        finite++;
        squares += x * x;
        most = fmax(most, x);
    }
    struct value_error *e = &model->nodes[node];
    e->rms = finite ? sqrt(squares / (double)finite) : 0;
    if (!isfinite(e->rms))
        e->rms = most;
    e->most = most;
    e->scale = fmax(e->rms, most / 4);
    e->known = true;
}

/* ---- What an operator does ---- */

const struct step *step_origin(const struct program *program, const struct step *step)
{
    for (unsigned depth = 0; step->kind == STEP_GETITEM && step->n_patches && depth < 8; depth++) {
        node_id from = program->patches[step->first_patch].from;
        if (from >= program->n_steps)
            break;
        step = &program->steps[from];
    }
    return step;
}

static double tensor_elements(const struct sym_pool *pool, struct tensor x)
{
    double n = 1;
    int64_t size;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        n *= sym_to_i64(pool, x.meta->size[i], &size) ? (double)size : 1;
    return n;
}

struct extent {
    const struct sym_pool *pool;
    double least, most;
    uint32_t storage;
    bool shares; /* one of the tensors has that storage */
};

static void look_at_value(struct extent *e, const struct value *v, unsigned depth)
{
    if (v->kind == VALUE_TENSOR && v->u.tensor.meta) {
        double n = tensor_elements(e->pool, v->u.tensor);
        e->most = fmax(e->most, n);
        e->least = n > 0 ? fmin(e->least, n) : e->least;
        e->shares |= v->u.tensor.storage == e->storage;
    }
    for (uint32_t i = 0; value_is_sequence(*v) && depth < 4 && i < v->n; i++)
        look_at_value(e, &v->u.items[i], depth + 1);
}

static struct extent extent_of(const struct run *run, const struct value *values, uint32_t n,
                               uint32_t storage)
{
    struct extent e = { ops_pool(run->ops), INFINITY, 0, storage, false };
    for (uint32_t i = 0; i < n; i++)
        look_at_value(&e, &values[i], 0);
    return e;
}

static uint32_t storage_of(const struct value *v)
{
    while (value_is_sequence(*v) && v->n)
        v = &v->u.items[0];
    return v->kind == VALUE_TENSOR ? v->u.tensor.storage : STORAGE_FRESH;
}

/* Returns the row for the step's operator; "add_" and _foreach_add use that of add. A result on an
 * argument's storage that the call does not write is a view. */
static const struct rule *rule_of(const struct run *run, const struct step *step)
{
    if (step->kind == STEP_ALIAS)
        return &moves;
    if (!step->op)
        return &otherwise;
    struct str base = op_schema(step->op)->base;
    bool in_place = base.n > 1 && base.p[base.n - 1] == '_' && base.p[0] != '_';
    base.n -= in_place;
    if (str_starts(base, STR("_foreach_")))
        base = str_from(base, sizeof "_foreach_" - 1);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (str_is(base, rules[i].base))
            return &rules[i];
    struct extent args =
        extent_of(run, step->args, step->n_args, storage_of(&run->program->current[step->node]));
    return args.shares && !in_place ? &moves : &otherwise;
}

static double for_each_of(const struct sym_pool *pool, struct tensor x, uint32_t dim)
{
    int64_t size;
    bool there = x.meta && dim < x.meta->ndim && sym_to_i64(pool, x.meta->size[dim], &size);
    return there && size > 0 ? tensor_elements(pool, x) / (double)size : 1;
}

/* Returns the terms of a gradient of convolution_backward(grad_output, input, weight, ...); its
 * sizes determine which gradient it is. */
static double gradient_terms(const struct sym_pool *pool, const struct step *call,
                             const struct value *result)
{
    if (call->n_args < 3 || result->kind != VALUE_TENSOR)
        return 1;
    for (uint32_t i = 0; i < 3; i++)
        if (call->args[i].kind != VALUE_TENSOR)
            return 1;
    const struct tensor_meta *meta = result->u.tensor.meta, *input = call->args[1].u.tensor.meta;
    bool of_input = meta->ndim == input->ndim;
    for (uint32_t i = 0; of_input && i < meta->ndim; i++)
        of_input = meta->size[i] == input->size[i];
    return for_each_of(pool, call->args[of_input ? 2 : 0].u.tensor, 1);
}

/* Returns how many entries of an index may refer to one place: the elements of the largest argument
 * for each element of the result, times its longest dimension. */
static double entries(const struct sym_pool *pool, const struct extent *args,
                      const struct value *result)
{
    int64_t size, most = 1;
    if (result->kind != VALUE_TENSOR)
        return 1;
    const struct tensor_meta *meta = result->u.tensor.meta;
    for (uint32_t i = 0; i < meta->ndim; i++)
        most = sym_to_i64(pool, meta->size[i], &size) && size > most ? size : most;
    return args->most / fmax(tensor_elements(pool, result->u.tensor), 1) * (double)most;
}

/* Returns the number of terms that an element sums; `result` is the call's result, or one of
 * several. */
static uint64_t terms_of(const struct run *run, const struct step *step, const struct value *result,
                         const struct rule *rule)
{
    const struct sym_pool *pool = ops_pool(run->ops);
    struct tensor x = { 0 };
    int64_t size = 1;
    double n = 1;
    if (rule->argument < step->n_args && step->args[rule->argument].kind == VALUE_TENSOR)
        x = step->args[rule->argument].u.tensor;
    if (rule->length == LENGTH_RATIO) {
        struct extent args = extent_of(run, step->args, step->n_args, STORAGE_FRESH);
        struct extent whole = extent_of(run, &run->program->current[step->node], 1, STORAGE_FRESH);
        n = args.most / whole.least;
    } else if (rule->length == LENGTH_LAST && x.meta && x.meta->ndim) {
        n = sym_to_i64(pool, x.meta->size[x.meta->ndim - 1], &size) ? (double)size : 1;
    } else if (rule->length == LENGTH_FILTER) {
        n = for_each_of(pool, x, 0);
    } else if (rule->length == LENGTH_GRADIENT) {
        n = gradient_terms(pool, step, result);
    } else if (rule->length == LENGTH_ENTRIES) {
        struct extent args = extent_of(run, step->args, step->n_args, STORAGE_FRESH);
        n = entries(pool, &args, result);
    } else if (rule->length == LENGTH_SHARE && result->kind == VALUE_TENSOR) {
        struct extent args = extent_of(run, step->args, step->n_args, STORAGE_FRESH);
        n = args.most / fmax(tensor_elements(pool, result->u.tensor), 1);
    }
    return n > 1 && n < 1e15 ? (uint64_t)ceil(n) : 1;
}

/* ---- Carrying errors on ---- */

/* The errors of a step's arguments, combined: squares are summed, or the maximum is taken. */
struct brought {
    double relative, absolute, ratio, sum_ratio2, exponent;
    double moved;           /* the absolute error without the relative part */
    double first, second;   /* the two greatest scales */
    double most;            /* the greatest element */
    double gradient, input; /* of the first argument: scale, error */
    double row;             /* the size of the first argument's last dimension */
    bool known;             /* all arguments have moments */
};

static struct brought brought_by(const struct error_model *model, const struct run *run,
                                 const struct step *step)
{
    struct brought b = { .known = true };
    for (uint32_t i = 0; i < step->n_patches; i++) {
        node_id from = run->program->patches[step->first_patch + i].from;
        if (from >= model->n)
            continue;
        const struct value_error *e = &model->nodes[from];
        double scaled = e->known && e->rms > 0 ? e->absolute / e->rms : 0;
        b.relative = fmax(b.relative, e->relative);
        b.absolute = fmax(b.absolute, hypot(e->absolute, e->relative * e->rms));
        b.moved = fmax(b.moved, e->absolute);
        b.ratio = fmax(b.ratio, scaled);
        b.sum_ratio2 += scaled * scaled + e->relative * e->relative;
        b.most = fmax(b.most, e->most);
        b.exponent = fmax(b.exponent, hypot(e->absolute, e->relative * e->most));
        b.second = fmax(b.second, fmin(b.first, e->scale));
        b.first = fmax(b.first, e->scale);
    }
    return b;
}

static double roundoff_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_C128: return 0x1p-53;
    case DTYPE_F32:
    case DTYPE_C64: return 0x1p-24;
    case DTYPE_F16:
    case DTYPE_C32: return 0x1p-11;
    case DTYPE_BF16: return 0x1p-8;
    default: return dense_kind_of(dtype) == DENSE_INT ? 0 : 0x1p-3;
    }
}

static void carry_on(struct value_error *e, const struct brought *b, enum carry carry, double u,
                     double v)
{
    double n = (double)e->terms, own = 2 * u + 4 * sqrt(n) * v;
    switch (carry) {
    case CARRY_MOVE:
        e->relative = hypot(u, b->relative);
        e->absolute = b->moved;
        break;
    case CARRY_ADD:
        e->relative = hypot(own, b->relative);
        e->absolute = hypot(b->absolute, (2 * u + 4 * v) * b->first);
        break;
    case CARRY_SUM:
        e->relative = own;
        e->absolute = hypot(sqrt(n) * b->absolute, 4 * n * v * b->first);
        break;
    case CARRY_NORM: /* a result smaller than the gradient is a sum of its elements, times factors
                        near 1 */
        e->relative = own;
        e->absolute = e->terms > 1 ? b->gradient * hypot(sqrt(n * b->sum_ratio2), 4 * n * v)
                                   : e->scale * hypot(sqrt(b->sum_ratio2), 4 * sqrt(b->row) * v);
        break;
    case CARRY_NORMED:
        e->relative = hypot(own, b->relative);
        e->absolute = e->terms > 1 ? hypot(b->input, 4 * v * b->gradient)
                                   : e->scale * hypot(b->ratio, 4 * sqrt(b->row) * v);
        break;
    case CARRY_POWER:
        e->relative = hypot(own, hypot(b->exponent, b->relative));
        e->absolute = e->known ? e->scale * b->ratio : 0;
        break;
    case CARRY_MEAN:
        e->relative = hypot(own, b->relative);
        e->absolute = hypot(b->absolute, 4 * v * b->first);
        break;
    case CARRY_PRODUCT:
        e->relative = own;
        e->absolute = b->first * b->second * hypot(sqrt(n * b->sum_ratio2), 4 * n * v);
        break;
    case CARRY_FILTERED: /* Winograd multiplies sums of elements and sums their products: 4 times */
        e->relative = own;
        e->absolute = b->first * b->second * hypot(sqrt(n * b->sum_ratio2), 4 * 4 * n * v);
        break;
    case CARRY_EXPONENT: /* exp() is 0 unless its argument is within 104; the argument is rounded */
        e->relative = hypot(own + u * fmin(2 * b->most, 104), hypot(b->exponent, b->relative));
        e->absolute =
            b->exponent < 1 ? 0 : e->most; /* each element of a softmax may be the greatest one */
        break;
    default:
        e->relative = hypot(own, b->relative);
        e->absolute = e->known ? e->rms * b->ratio : 0;
        break;
    }
}

/* ---- Attention ---- */

static double moved_by(const struct value_error *x)
{
    return hypot(x->absolute, x->relative * x->scale);
}

/* Returns the relative error of the weights, which sum to 1: that of the scores, which are dot
 * products over `depth` divided by its root. Kernels store weights in the values' dtype. */
static double error_of_weights(const struct value_error *q, const struct value_error *k,
                               double depth, double u, double v)
{
    double own = 4 * sqrt(depth) * v * q->scale * k->scale;
    double brought = hypot(moved_by(q) * k->scale, moved_by(k) * q->scale);
    return 2 * u + hypot(own, brought);
}

/* Propagates errors through attention. Forward: query, key, value; the second result is the
 * logarithm of the sum of scores. Backward: the gradient stands before them. */
static void propagate_attention(struct value_error *e, const struct value_error *args[4],
                                enum carry carry, uint32_t result, double depth, double u, double v)
{
    bool back = carry == CARRY_ATTENTION_BACK;
    double n = (double)e->terms, own = 2 * u + 4 * sqrt(n) * v;
    double weights = error_of_weights(args[back], args[back + 1], depth, u, v);
    e->relative = hypot(own, fmin(weights, 1));
    if (result > 0 && !back)
        e->absolute = weights;
    else if (!back)
        e->absolute = weights < 1
                          ? hypot(moved_by(args[2]), weights * args[2]->scale)
                          : 2 * args[2]->most; /* another key may have the greatest weight */
    else
        e->absolute = 4 * e->scale * (own + fmin(weights, 1) + moved_by(args[0]) / args[0]->scale);
}

static const struct value_error *error_of_argument(const struct error_model *model,
                                                   const struct run *run, const struct step *step,
                                                   uint32_t i)
{
    static const struct value_error none = { .scale = 1 };
    for (uint32_t p = 0; p < step->n_patches; p++) {
        const struct patch *patch = &run->program->patches[step->first_patch + p];
        if (i < step->n_args && patch->at == &step->args[i] && patch->from < model->n)
            return model->nodes[patch->from].scale > 0 ? &model->nodes[patch->from] : &none;
    }
    return &none;
}

static double last_size(const struct run *run, const struct step *step, uint32_t i)
{
    const struct value *x = i < step->n_args ? &step->args[i] : NULL;
    int64_t size;
    if (!x || x->kind != VALUE_TENSOR || !x->u.tensor.meta->ndim ||
        !sym_to_i64(ops_pool(run->ops), x->u.tensor.meta->size[x->u.tensor.meta->ndim - 1], &size))
        return 1;
    return (double)size;
}

static void attention_errors(struct error_model *model, const struct run *run,
                             const struct step *step, const struct step *origin, enum carry carry,
                             double u)
{
    const struct value_error *args[4];
    int64_t result = 0;
    for (uint32_t i = 0; i < 4; i++)
        args[i] = error_of_argument(model, run, origin, i);
    if (step != origin && step->n_args > 1 &&
        !sym_to_i64(ops_pool(run->ops), step->args[1].u.sym, &result))
        result = 0;
    propagate_attention(&model->nodes[step->node], args, carry, (uint32_t)result,
                        last_size(run, origin, 1), u, fmin(u, 0x1p-24));
}

/* ---- A step ---- */

static enum dtype dtype_of_value(const struct value *v)
{
    for (unsigned depth = 0; value_is_sequence(*v) && v->n && depth < 4; depth++)
        v = &v->u.items[0];
    return v->kind == VALUE_TENSOR ? v->u.tensor.meta->dtype : DTYPE_NONE;
}

void error_model_step(struct error_model *model, const struct run *run, const struct step *step)
{
    const struct step *origin = step_origin(run->program, step);
    struct value_error *e = step->node < model->n ? &model->nodes[step->node] : NULL;
    enum dtype dtype = dtype_of_value(&run->program->current[step->node]);
    if (!e)
        return;
    e->relative = e->absolute = 0;
    e->terms = 1;
    if (origin->kind == STEP_INPUT || origin->kind == STEP_ATTRIBUTE || dtype == DTYPE_NONE ||
        dense_kind_of(dtype) == DENSE_INT)
        return;
    const struct rule *rule = rule_of(run, origin);
    struct brought b = brought_by(model, run, origin);
    double u = roundoff_of(dtype);
    e->terms = terms_of(run, origin, &run->program->current[step->node], rule);
    bool rounds = model->tf32 && (rule->carry == CARRY_PRODUCT || rule->carry == CARRY_FILTERED) &&
                  dtype == DTYPE_F32;
    if (rounds)
        b.sum_ratio2 += 2 * 16 * TF32_ROUNDOFF * TF32_ROUNDOFF; /* like errors of the arguments */
    b.gradient = error_of_argument(model, run, origin, 0)->scale;
    b.input = moved_by(error_of_argument(model, run, origin, 0));
    b.row = last_size(run, origin, 0);
    if (rule->carry == CARRY_ATTENTION || rule->carry == CARRY_ATTENTION_BACK)
        attention_errors(model, run, step, origin, rule->carry, u);
    else
        carry_on(e, &b, rule->carry, u, fmin(u, 0x1p-24));
    if (rounds)
        e->relative = hypot(e->relative, 4 * TF32_ROUNDOFF);
    if (!(e->relative < 1))
        e->relative = 1;
    if (!isfinite(e->absolute))
        e->absolute = e->most;
}

void error_model_observed(struct error_model *model, node_id node, double most)
{
    if (node >= model->n)
        return;
    model->nodes[node].relative = 0;
    model->nodes[node].absolute = 4 * most;
}

struct tolerance error_model_tolerance(const struct error_model *model, node_id node,
                                       enum dtype dtype)
{
    struct tolerance t = tolerance_of(dtype);
    if (node >= model->n || dense_kind_of(dtype) == DENSE_INT)
        return t;
    const struct value_error *e = &model->nodes[node];
    if (e->known && e->rms < 1)
        t.absolute *= e->rms;
    t.relative = model->factor * fmax(t.relative, e->relative);
    t.absolute = model->factor * fmax(t.absolute, e->absolute);
    return t;
}
