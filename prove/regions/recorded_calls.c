/* The calls that made the program compile: in which regions their sizes are. */
#include "prove/conditions/constants.h"
#include "prove/regions/regions.h"
#include "replay/attempt/inputs.h"

enum { CALLS_MOST = 64 };

/* The inputs of a call, by source. */
struct call_inputs {
    struct inputs inputs;
    struct intern sources;
    vec_of(uint32_t)
    at; /* the input of each source */
    struct constants constants;
};

static void call_release(struct call_inputs *call)
{
    inputs_release(&call->inputs);
    intern_release(&call->sources);
    vec_release(&call->at);
    constants_release(&call->constants);
}

static bool call_read(struct call_inputs *call, struct trace *trace, uint32_t attempt,
                      struct err *err)
{
    if (!inputs_read(trace, attempt, &call->inputs, err))
        return false;
    for (size_t i = 0; i < call->inputs.list.n; i++) {
        const struct input *input = &call->inputs.list.v[i];
        struct str source =
            input->kind == INPUT_TENSOR ? input->tensor.source : input->symbol.source;
        uint32_t id = intern(&call->sources, source);
        if (id == INTERN_NONE || (id == call->at.n && !vec_push(&call->at, (uint32_t)i)))
            return err_nomem(err);
    }
    return constants_read(&call->constants, trace, attempt, err);
}

static const struct input *find_input(const struct call_inputs *call, struct str source)
{
    uint32_t id = intern_find(&call->sources, source);
    return id == INTERN_NONE ? NULL : &call->inputs.list.v[call->at.v[id]];
}

static bool input_value(const struct call_inputs *call, struct str source, int64_t *ret)
{
    const struct input *whole = find_input(call, source), *tensor = NULL;
    uint32_t constant = intern_find(&call->constants.sources, source), dim;
    struct str name;
    if (constant != INTERN_NONE) {
        *ret = call->constants.values.v[constant];
        return true;
    }
    if (whole && whole->kind == INPUT_SYMBOL)
        return str_to_i64(whole->symbol.value, ret);
    if (conditions_split_size(source, &name, &dim))
        tensor = find_input(call, name);
    if (!tensor || tensor->kind != INPUT_TENSOR || !tensor->tensor.concrete ||
        dim >= tensor->tensor.ndim)
        return false;
    *ret = tensor->tensor.size[dim];
    return true;
}

/* Finds the sizes of a call. Returns false if one of them is not known. */
static bool call_point(const struct conditions *conditions, const struct call_inputs *call,
                       struct decide_value *point, uint32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint)
            continue;
        point[*n].symbol = s->symbol;
        if (!s->source.n || !input_value(call, s->source, &point[*n].value))
            return false;
        ++*n;
    }
    return true;
}

static bool is_of_module(struct str source)
{
    return str_contains(source, STR("._modules[")) || str_contains(source, STR("._parameters[")) ||
           str_contains(source, STR("._buffers["));
}

/* Returns whether the sizes without a symbol of their own are those of the conditions: static ones
 * the same number, and those that share a symbol equal to it. */
static bool has_sizes(const struct conditions *conditions, const struct call_inputs *call)
{
    for (size_t i = 0; i < conditions->sizes.n; i++) {
        const struct condition_size *size = &conditions->sizes.v[i];
        const struct condition_symbol *symbol =
            size->symbol == SYM_NONE ? NULL : conditions_symbol(conditions, size->symbol);
        int64_t here, wanted = size->value;
        if (size->symbol != SYM_NONE &&
            (!symbol || (symbol->source.n && !input_value(call, symbol->source, &wanted))))
            return false;
        if (symbol && !symbol->source.n)
            continue;
        if (!input_value(call, size->source, &here)) {
            if (is_of_module(size->source))
                continue;
            return false;
        }
        if (here != wanted)
            return false;
    }
    for (size_t i = 0; i < conditions->ndim.n; i++) {
        const struct input *input =
            find_input(call, intern_text(&conditions->tensors, (uint32_t)i));
        if (input && input->kind == INPUT_TENSOR && input->tensor.ndim != conditions->ndim.v[i])
            return false;
    }
    return true;
}

static bool has_point(struct decider *decider, const struct region *region,
                      const struct decide_value *point, uint32_t n, bool *ret, struct err *err)
{
    *ret = true;
    for (size_t i = 0; i < region->n_facts && *ret; i++) {
        struct decide_result result;
        if (!decider_evaluate(decider, region->facts[i], point, n, &result))
            return err_nomem(err);
        *ret = result.kind == DECIDE_INTEGER && result.integer;
    }
    return true;
}

/* Finds the region of a point; NULL if it is in none that was found. */
static bool find_region(struct regions *regions, struct decider *decider,
                        const struct decide_value *point, uint32_t n, struct region **ret,
                        struct err *err)
{
    *ret = NULL;
    for (size_t i = 0; i < regions->list.n && !*ret; i++) {
        bool inside;
        if (!has_point(decider, &regions->list.v[i], point, n, &inside, err))
            return false;
        if (inside)
            *ret = &regions->list.v[i];
    }
    return true;
}

static bool add_call(struct regions *regions, struct decider *decider, uint32_t attempt,
                     const struct decide_value *point, uint32_t n, struct err *err)
{
    struct region *region;
    if (!find_region(regions, decider, point, n, &region, err))
        return false;
    if (!region)
        return true;
    if (!region->calls)
        region->calls = arena_array(&regions->arena, uint32_t, CALLS_MOST);
    if (!region->calls)
        return err_nomem(err);
    region->calls[region->n_calls++] = attempt;
    return true;
}

bool regions_add_points(struct regions *regions, const struct conditions *conditions,
                        const struct region_point *points, size_t n, struct err *err)
{
    struct decide_value *point =
        arena_array(&regions->arena, struct decide_value, conditions->symbols.n + 1);
    struct decider *decider = decider_new(conditions->pool, err);
    bool ok = decider && (point || err_nomem(err));
    for (size_t i = 0; ok && i < n; i++) {
        struct region *region;
        uint32_t n_values = 0;
        for (size_t s = 0; s < conditions->symbols.n; s++)
            if (conditions->symbols.v[s].has_hint)
                point[n_values++] =
                    (struct decide_value){ conditions->symbols.v[s].symbol, points[i].values[s] };
        ok = find_region(regions, decider, point, n_values, &region, err);
        if (ok && region)
            region->times += points[i].times;
    }
    decider_free(decider);
    return ok;
}

bool regions_add_calls(struct regions *regions, struct trace *trace, struct conditions *conditions,
                       struct err *err)
{
    if (conditions->attempt == TRACE_NONE)
        return true;
    struct str compile = trace->attempts[conditions->attempt].compile;
    struct decide_value *point =
        arena_array(&regions->arena, struct decide_value, conditions->symbols.n + 1);
    struct decider *decider = decider_new(conditions->pool, err);
    bool ok = decider && (point || err_nomem(err)) && conditions_read_sizes(conditions, trace, err);
    for (uint32_t i = 0, seen = 0; ok && i < trace->n_attempts && seen < CALLS_MOST; i++) {
        const struct attempt *attempt = &trace->attempts[i];
        struct call_inputs call = { 0 };
        uint32_t n;
        if (attempt->recording != conditions->recording || attempt->next != TRACE_NONE ||
            !compile_same_function(attempt->compile, compile))
            continue;
        seen++;
        ok = call_read(&call, trace, i, err);
        if (ok && call_point(conditions, &call, point, &n) && has_sizes(conditions, &call))
            ok = add_call(regions, decider, i, point, n, err);
        call_release(&call);
    }
    decider_free(decider);
    return ok;
}
