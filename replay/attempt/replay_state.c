#include "replay/attempt/replay_state.h"
#include "replay/attempt/value_set.h"
#include "replay/ops/layers.h"

#define NESTED_INT_HINT ((int64_t)1 << 40)
/* Parses "[2, int_oo]"; returns the range that the name implies when the text is no range. */
struct sym_range replay_state_range(struct sym_pool *pool, struct str name, struct str text)
{
    struct err ignored = { 0 };
    struct sym_range otherwise = str_starts(name, STR("s"))
                                     ? (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }
                                 : str_starts(name, STR("u")) ? SYM_RANGE_UNKNOWN_INT
                                                              : SYM_RANGE_UNKNOWN;
    size_t comma = str_find_char(text, ',');
    if (text.n < 5 || comma == text.n)
        return otherwise;
    struct str lower = str_trim((struct str){ text.p + 1, comma - 1 });
    struct str upper = str_trim((struct str){ text.p + comma + 1, text.n - comma - 2 });
    struct sym_range ret =
        sym_range(pool, sym_parse(pool, lower, NULL, NULL), sym_parse(pool, upper, NULL, NULL));
    return sym_ok(pool, &ignored) && sym_range_ok(ret) ? ret : otherwise;
}

sym_id replay_state_number(struct sym_pool *pool, struct str text)
{
    struct err ignored = { 0 };
    sym_id ret = text.n ? sym_parse(pool, text, NULL, NULL) : SYM_NONE;
    sym_ok(pool, &ignored);
    return ret != SYM_NONE && sym_is_number(pool, ret) ? ret : SYM_NONE;
}

/* Returns whether the value is "j1": a ragged size, which compares greater than any number. */
static bool is_nested_int(struct str value)
{
    uint64_t ignored;
    return str_starts(value, STR("j")) && str_to_u64(str_from(value, 1), &ignored);
}

static sym_id adopt(struct replay_state *state, const struct recorded_symbol *symbol)
{
    struct sym_pool *pool = env_pool(state->env);
    sym_id hint = is_nested_int(symbol->value) ? sym_integer(pool, NESTED_INT_HINT)
                                               : replay_state_number(pool, symbol->value);
    return env_adopt_symbol(state->env, symbol->name, hint,
                            replay_state_range(pool, symbol->name, symbol->range), symbol->source);
}

static bool named(struct sym_pool *pool, sym_id e, struct str name)
{
    return e != SYM_NONE && sym_kind_of(pool, e) == SYM_SYMBOL && str_eq(sym_name(pool, e), name);
}

struct state_builder {
    struct replay_state *state;
    const struct inputs *inputs;
    struct value_set duck; /* sizes and strides that are symbols already */
    struct intern symbol_sources;
    vec_of(uint32_t)
    latest; /* by source: the latest input that is a symbol of it */
    bool failed;
};

static enum dim_dynamic dynamic_of(struct state_builder *s, const struct input_tensor *t,
                                   uint32_t d)
{
    bool zero_one = t->size[d] == 0 || t->size[d] == 1;
    switch (t->change[d].kind) {
    case DIM_FORCED_STATIC: return DIM_STATIC;
    case DIM_FORCED_UNBACKED: return DIM_UNBACKED;
    case DIM_MADE_DUCK: return DIM_DUCK;
    case DIM_MADE_DYNAMIC:
    case DIM_FORCED_DYNAMIC:
    case DIM_NAMED:
    case DIM_RANGE: return DIM_DYNAMIC;
    case DIM_AS_RECORDED: break;
    }
    if (t->unbacked[d])
        return DIM_UNBACKED;
    if (t->size_symbol[d].name.n)
        return s->inputs->static_by_default || !t->duck[d] ? DIM_DYNAMIC : DIM_DUCK;
    if (t->of_module || t->fixed[d] || s->inputs->static_by_default)
        return DIM_STATIC;
    return zero_one || value_set_find(&s->duck, t->size[d]) != UINT32_MAX ? DIM_DUCK : DIM_STATIC;
}

/* Returns the range of a Dim; that of a derived Dim follows from its root's. */
static struct sym_range range_of_dim(struct sym_pool *pool, const struct env_dim *dim)
{
    int64_t min = dim->min, max = dim->max;
    if (__builtin_mul_overflow(min, dim->mul, &min) || __builtin_add_overflow(min, dim->add, &min))
        min = 0;
    if (max == INT64_MAX || __builtin_mul_overflow(max, dim->mul, &max) ||
        __builtin_add_overflow(max, dim->add, &max))
        max = INT64_MAX;
    return (struct sym_range){ sym_integer(pool, min),
                               max == INT64_MAX ? SYM_ID_INT_OO : sym_integer(pool, max) };
}

static struct dim_constraint constraint_of(struct state_builder *s, const struct input_tensor *t,
                                           uint32_t d)
{
    struct sym_pool *pool = env_pool(s->state->env);
    const struct recorded_symbol *symbol = &t->size_symbol[d];
    struct dim_constraint ret = { .kind = CONSTRAINT_NONE };
    const struct dim_change *change = &t->change[d];
    if (change->kind == DIM_RANGE)
        return (struct dim_constraint){
            .kind = CONSTRAINT_STRICT_MIN_MAX,
            .range = { sym_integer(pool, change->min),
                       change->max == INT64_MAX ? SYM_ID_INT_OO : sym_integer(pool, change->max) }
        };
    if (change->kind == DIM_NAMED)
        return (struct dim_constraint){ .kind = CONSTRAINT_STRICT_MIN_MAX,
                                        .range = range_of_dim(pool, &change->dim),
                                        .name = change->dim.name };
    if (change->kind == DIM_FORCED_DYNAMIC)
        return (struct dim_constraint){ .kind = CONSTRAINT_RELAXED_UNSPEC };
    if (symbol->name.n == 0 || change->kind != DIM_AS_RECORDED)
        return ret;
    ret.range = replay_state_range(pool, symbol->name, symbol->range);
    if (ret.range.lower != SYM_ID_TWO || ret.range.upper != SYM_ID_INT_OO)
        ret.kind = CONSTRAINT_STRICT_MIN_MAX;
    else if (t->marked[d])
        ret.kind = CONSTRAINT_RELAXED_UNSPEC;
    return ret;
}

/* Returns whether the environment gave the tensor's symbols the recorded names. */
static bool has_recorded_names(struct state_builder *s, const struct input_tensor *t,
                               const struct replay_input *made)
{
    struct sym_pool *pool = env_pool(s->state->env);
    bool ok =
        t->offset_symbol->name.n == 0 || named(pool, made->meta.offset, t->offset_symbol->name);
    for (uint32_t d = 0; d < t->ndim && ok; d++)
        ok = (t->size_symbol[d].name.n == 0 ||
              named(pool, made->meta.size[d], t->size_symbol[d].name)) &&
             (t->stride_symbol[d].name.n == 0 ||
              named(pool, made->meta.stride[d], t->stride_symbol[d].name));
    return ok;
}

static sym_id adopt_or(struct replay_state *state, const struct recorded_symbol *symbol,
                       sym_id otherwise)
{
    return symbol->name.n ? adopt(state, symbol) : otherwise;
}

/* Builds a tensor from recorded symbols under their names; strides that are numbers become
 * products. */
static void adopt_tensor(struct state_builder *s, const struct input_tensor *t, sym_id *size,
                         sym_id *stride, sym_id *offset)
{
    struct sym_pool *pool = env_pool(s->state->env);
    for (uint32_t d = 0; d < t->ndim; d++)
        size[d] = adopt_or(s->state, &t->size_symbol[d], sym_integer(pool, t->size[d]));
    for (uint32_t d = t->ndim; d-- > 0;) {
        bool dense = d + 1 < t->ndim && t->stride[d] == t->size[d + 1] * t->stride[d + 1];
        stride[d] = adopt_or(s->state, &t->stride_symbol[d],
                             dense ? sym_mul(pool, size[d + 1], stride[d + 1])
                                   : sym_integer(pool, t->stride[d]));
    }
    *offset = adopt_or(s->state, t->offset_symbol, sym_integer(pool, t->offset));
}

static bool is_base_of(struct str source, struct str view)
{
    return str_ends(source, STR("._base")) && str_starts(source, view) &&
           source.n == view.n + STR("._base").n;
}

static bool add_alias(struct replay_state *state, const struct recorded_symbol *symbol, sym_id expr)
{
    if (symbol->name.n == 0 || named(env_pool(state->env), expr, symbol->name))
        return true;
    uint32_t id = intern(&state->alias_names, symbol->name);
    return id != INTERN_NONE && (id < state->aliases.n || vec_push(&state->aliases, expr));
}

static bool add_aliases(struct replay_state *state, const struct input_tensor *t,
                        const struct replay_input *made)
{
    bool ok = add_alias(state, t->offset_symbol, made->meta.offset);
    for (uint32_t d = 0; d < t->ndim && ok; d++)
        ok = add_alias(state, &t->size_symbol[d], made->meta.size[d]) &&
             add_alias(state, &t->stride_symbol[d], made->meta.stride[d]);
    return ok;
}

/* In an export, a view and its base have symbols of their own, and the program sees the view: a
 * recorded symbol that both shared means the size of the view. The base stands before it. */
static bool add_base_aliases(struct state_builder *s, size_t view)
{
    const struct input_tensor *t = &s->inputs->list.v[view].tensor;
    const struct input_tensor *base = view ? &s->inputs->list.v[view - 1].tensor : NULL;
    bool ok = true;
    if (!base || s->inputs->list.v[view].kind != INPUT_TENSOR ||
        s->inputs->list.v[view - 1].kind != INPUT_TENSOR || !is_base_of(base->source, t->source))
        return true;
    for (uint32_t b = 0; b < base->ndim; b++)
        for (uint32_t d = 0; d < t->ndim && ok; d++)
            if (base->size[b] == t->size[d] && !t->size_symbol[d].name.n)
                ok =
                    add_alias(s->state, &base->size_symbol[b], s->state->inputs[view].meta.size[d]);
    return ok;
}

static bool note_refusal(struct replay_state *state)
{
    struct env_raised raised = env_raised(state->env);
    if (raised.kind == ENV_RAISED_CONSTRAINT && !state->refused.n)
        state->refused = arena_copy(&state->arena, raised.text);
    return raised.kind != ENV_RAISED_CONSTRAINT || state->refused.p;
}

static bool replay_state_tensor(struct state_builder *s, const struct input_tensor *t,
                                struct replay_input *ret)
{
    struct arena *arena = &s->state->arena;
    enum dim_dynamic dynamic[TENSOR_MAX_DIM];
    struct dim_constraint *constraints =
        arena_array(arena, struct dim_constraint, (size_t)t->ndim + 1);
    sym_id *size = arena_array(arena, sym_id, (size_t)t->ndim + 1);
    sym_id *stride = arena_array(arena, sym_id, (size_t)t->ndim + 1);
    if (!size || !stride || !constraints)
        return false;
    for (uint32_t d = 0; d < t->ndim; d++) {
        dynamic[d] = dynamic_of(s, t, d);
        constraints[d] = constraint_of(s, t, d);
        if (t->size_symbol[d].name.n && value_set_add(&s->duck, t->size[d]) == UINT32_MAX)
            return false;
    }
    for (uint32_t d = 0; d < t->ndim; d++)
        if (t->stride_symbol[d].name.n && value_set_add(&s->duck, t->stride[d]) == UINT32_MAX)
            return false;
    struct tensor_request request = { .source = t->source,
                                      .ndim = t->ndim,
                                      .size = t->size,
                                      .stride = t->stride,
                                      .offset = t->offset,
                                      .dynamic = dynamic,
                                      .constraints = constraints };
    ret->is_tensor = true;
    ret->recorded_size = t->recorded_size;
    ret->requires_grad = t->requires_grad;
    ret->meta = (struct tensor_meta){ .dtype = t->dtype,
                                      .layout = t->layout,
                                      .device = t->device,
                                      .ndim = t->ndim,
                                      .size = size,
                                      .stride = stride,
                                      .requires_grad = t->requires_grad };
    bool made = env_create_tensor(s->state->env, &request, size, stride, &ret->meta.offset);
    ret->constraints = made ? constraints : NULL;
    if (!made && s->inputs->changed && !note_refusal(s->state))
        return false;
    if (made && (s->inputs->changed || s->inputs->rehinted))
        return add_aliases(s->state, t, ret);
    if (!made || !has_recorded_names(s, t, ret)) {
        env_raised(s->state->env);
        ret->constraints = NULL;
        adopt_tensor(s, t, size, stride, &ret->meta.offset);
    }
    return true;
}

static void replay_state_symbol(struct replay_state *state, const struct recorded_symbol *symbol,
                                struct replay_input *ret)
{
    struct sym_pool *pool = env_pool(state->env);
    sym_id value = replay_state_number(pool, symbol->value);
    /* Sizes of tensors that were not described come here, too; only a number has no bounds. */
    if (value != SYM_NONE && str_starts(symbol->range, STR("[-")))
        ret->number = env_create_unspecified_symbol(state->env, value, symbol->source, DIM_DYNAMIC);
    if (!named(pool, ret->number, symbol->name)) {
        env_raised(state->env);
        ret->number = adopt(state, symbol);
    }
}

static bool make_input(struct state_builder *s, const struct input *input, struct replay_input *ret)
{
    ret->number = SYM_NONE;
    if (input->kind == INPUT_TENSOR && !input->tensor.concrete)
        return true;
    ret->name = inputs_placeholder_name(input->kind == INPUT_TENSOR ? input->tensor.source
                                                                    : input->symbol.source,
                                        &s->state->arena);
    if (input->kind == INPUT_TENSOR)
        return ret->name.p && replay_state_tensor(s, &input->tensor, ret);
    if (input->fixed &&
        replay_state_number(env_pool(s->state->env), input->symbol.value) != SYM_NONE) {
        ret->number = replay_state_number(env_pool(s->state->env), input->symbol.value);
        return ret->name.p && add_alias(s->state, &input->symbol, ret->number);
    }
    replay_state_symbol(s->state, &input->symbol, ret);
    return ret->name.p;
}

/* Notes the source of an input, if it is a symbol. */
static bool note_symbol_source(struct state_builder *s, uint32_t i)
{
    if (s->inputs->list.v[i].kind != INPUT_SYMBOL)
        return true;
    uint32_t id = intern(&s->symbol_sources, s->inputs->list.v[i].symbol.source);
    if (id == INTERN_NONE || (id == s->latest.n && !vec_push(&s->latest, i)))
        return false;
    s->latest.v[id] = i;
    return true;
}

/* Returns the latest symbol so far whose source is `of` and `property`, or SYM_NONE. */
static sym_id find_part(struct state_builder *s, struct str of, const char *property)
{
    struct buf source = BUF_INIT;
    buf_put(&source, of);
    buf_puts(&source, property);
    uint32_t id = source.failed ? INTERN_NONE : intern_find(&s->symbol_sources, buf_str(&source));
    s->failed |= source.failed;
    buf_release(&source);
    return id == INTERN_NONE ? SYM_NONE : s->state->inputs[s->latest.v[id]].number;
}

/* A jagged tensor that is a view is rebuilt from its parts, whose sizes are compared with its own:
 * `sub.shape != outer_size` of empty_create_subclass (torch/_subclasses/meta_utils.py). `at` is the
 * symbol of its offsets' length. */
static void compare_jagged(struct state_builder *s, size_t at)
{
    const struct str end = STR("._offsets.size()[0]");
    struct shape_env *env = s->state->env;
    struct sym_pool *pool = env_pool(env);
    if (s->inputs->list.v[at].kind != INPUT_SYMBOL)
        return;
    struct str source = s->inputs->list.v[at].symbol.source;
    if (!str_ends(source, end))
        return;
    struct str of = str_first(source, source.n - end.n);
    sym_id made[] = { sym_sub(pool, s->state->inputs[at].number, SYM_ID_ONE),
                      find_part(s, of, "._values.size()[1]") };
    sym_id outer[] = { find_part(s, of, ".size()[0]"), find_part(s, of, ".size()[2]") };
    bool differs = false;
    for (int i = 0; i < 2 && !differs; i++)
        if (made[i] != SYM_NONE && outer[i] != SYM_NONE &&
            !env_guard_bool(env, sym_ne(pool, made[i], outer[i]), &differs))
            env_raised(env);
}

/* The gradient of an input becomes that of its fake tensor, which asks whether their sizes are
 * equal (THPVariable_set_grad of torch/csrc/autograd/python_variable.cpp, called by meta_tensor of
 * torch/_subclasses/meta_utils.py). `at` is the symbol of a size of the gradient. */
static void compare_gradient(struct state_builder *s, size_t at)
{
    const struct str middle = STR(".grad.size()[");
    struct replay_state *state = s->state;
    struct sym_pool *pool = env_pool(state->env);
    if (s->inputs->list.v[at].kind != INPUT_SYMBOL)
        return;
    struct str source = s->inputs->list.v[at].symbol.source, name;
    size_t n = str_find(source, middle);
    struct str digits = n < source.n ? str_from(source, n + middle.n) : STR("");
    uint64_t dim;
    bool same;
    if (!str_to_u64(str_first(digits, str_digits(digits)), &dim))
        return;
    name = inputs_placeholder_name(str_first(source, n), &state->arena);
    s->failed |= !name.p;
    uint32_t id = name.p ? intern_find(&state->names, name) : INTERN_NONE;
    uint32_t tensor = id == INTERN_NONE ? UINT32_MAX : state->named.v[id].tensor;
    if (tensor == UINT32_MAX || dim >= state->inputs[tensor].meta.ndim)
        return;
    sym_id size = state->inputs[tensor].meta.size[dim], number = state->inputs[at].number;
    if (size != SYM_NONE && number != SYM_NONE &&
        !env_guard_bool(state->env, sym_eq(pool, number, size), &same))
        env_raised(state->env);
}

/* Adds an input to the index of names, unless its name has one of its kind. */
static bool add_name(struct replay_state *state, uint32_t i)
{
    const struct replay_input *input = &state->inputs[i];
    const struct replay_name none = { UINT32_MAX, UINT32_MAX };
    if (!input->name.n)
        return true;
    uint32_t id = intern(&state->names, input->name);
    if (id == INTERN_NONE || (id == state->named.n && !vec_push(&state->named, none)))
        return false;
    uint32_t *first = input->is_tensor ? &state->named.v[id].tensor : &state->named.v[id].number;
    if (*first == UINT32_MAX)
        *first = i;
    return true;
}

/* Finds the symbol of L['x'].item(), which FakeTensorConverter.from_real_tensor of
 * torch/_subclasses/fake_tensor.py creates for a tensor of one int64 or float64 on the CPU. False:
 * out of memory. */
static bool find_item(const struct replay_state *state, struct replay_input *input)
{
    const struct tensor_meta *meta = &input->meta;
    if (!input->is_tensor || meta->ndim != 0 || meta->device.type != DEVICE_CPU ||
        (meta->dtype != DTYPE_I64 && meta->dtype != DTYPE_F64))
        return true;
    struct buf name = BUF_INIT;
    buf_printf(&name, "%.*sitem_", STR_ARG(input->name));
    uint32_t id = name.failed ? INTERN_NONE : intern_find(&state->names, buf_str(&name));
    uint32_t number = id == INTERN_NONE ? UINT32_MAX : state->named.v[id].number;
    input->item = number == UINT32_MAX ? NULL : &state->inputs[number];
    bool ok = !name.failed;
    buf_release(&name);
    return ok;
}

bool replay_state_open(struct replay_state *state, const struct inputs *inputs,
                       const struct env_settings *settings, struct err *err)
{
    struct state_builder s = { .state = state, .inputs = inputs };
    *state = (struct replay_state){ .n_inputs = inputs->list.n };
    state->env = shape_env_new(settings, err);
    if (!state->env)
        return false;
    state->inputs = arena_array(&state->arena, struct replay_input, state->n_inputs + 1);
    bool ok = state->inputs != NULL;
    for (size_t i = 0; i < state->n_inputs && ok; i++)
        ok = make_input(&s, &inputs->list.v[i], &state->inputs[i]) &&
             add_name(state, (uint32_t)i) && (!inputs->exported || add_base_aliases(&s, i));
    for (uint32_t i = 0; i < state->n_inputs && ok && !inputs->changed; i++) {
        compare_jagged(&s, i);
        compare_gradient(&s, i);
        ok = note_symbol_source(&s, i) && !s.failed;
    }
    for (size_t i = 0; i < state->n_inputs && ok; i++)
        ok = find_item(state, &state->inputs[i]);
    value_set_release(&s.duck);
    intern_release(&s.symbol_sources);
    vec_release(&s.latest);
    return ok || err_nomem(err);
}

bool replay_state_make_ops(struct replay_state *state, const struct op_catalog *catalog,
                           struct err *err)
{
    state->ops = catalog ? ops_new_from(state->env, catalog, err) : ops_new(state->env, err);
    return state->ops != NULL;
}

void replay_state_close(struct replay_state *state)
{
    ops_free(state->ops);
    shape_env_free(state->env);
    vec_release(&state->aliases);
    intern_release(&state->alias_names);
    vec_release(&state->named);
    intern_release(&state->names);
    arena_release(&state->arena);
    *state = (struct replay_state){ 0 };
}

bool replay_state_symbols(struct replay_state *state, const struct symbol *symbols, uint32_t n,
                          struct err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        struct recorded_symbol symbol = { symbols[i].name, symbols[i].value, symbols[i].range,
                                          symbols[i].source, symbols[i].record };
        if (adopt(state, &symbol) == SYM_NONE && env_raised(state->env).kind == ENV_RAISED_MEMORY)
            return err_nomem(err);
    }
    return true;
}

/* Returns whether a name is that of a size or a float, which only an input makes a symbol. */
static bool is_backed_name(struct str name)
{
    uint64_t number;
    return (str_starts(name, STR("s")) && str_to_u64(str_from(name, 1), &number)) ||
           (str_starts(name, STR("zf")) && str_to_u64(str_from(name, 2), &number));
}

/* Returns what a recorded name means here if it is another symbol's; else SYM_NONE. */
static sym_id find_alias(const struct replay_state *state, struct str name)
{
    uint32_t id = state->aliases.n ? intern_find(&state->alias_names, name) : INTERN_NONE;
    return id == INTERN_NONE ? SYM_NONE : state->aliases.v[id];
}

sym_id replay_state_find(void *user, struct sym_pool *pool, struct str name)
{
    struct replay_state *state = user;
    struct sym_range ignored;
    sym_id known = sym_symbol_find(pool, name);
    sym_id alias = find_alias(state, name);
    if (alias != SYM_NONE)
        return alias;
    if (known != SYM_NONE && env_range(state->env, known, &ignored))
        return known;
    return is_backed_name(name) ? SYM_NONE : sym_by_name(NULL, pool, name);
}

sym_id replay_state_resolve(void *user, struct sym_pool *pool, struct str name)
{
    sym_id found = replay_state_find(user, pool, name);
    if (found == SYM_NONE && is_backed_name(name))
        return adopt(user, &(struct recorded_symbol){ .name = name, .source = STR("") });
    return found;
}

/* Removes the number of a repeated name: "l_x_1" is the second input named "l_x_". */
static struct str without_number(struct str name)
{
    size_t n = name.n;
    while (n && is_digit(name.p[n - 1]))
        n--;
    return n && n < name.n && name.p[n - 1] == '_' ? str_first(name, n - 1) : name;
}

/* Returns the inputs of a name, or of the name without its number; NULL: there is none. */
static const struct replay_name *find_inputs(const struct replay_state *state, struct str name)
{
    uint32_t id = intern_find(&state->names, name);
    if (id == INTERN_NONE)
        id = intern_find(&state->names, without_number(name));
    return id == INTERN_NONE ? NULL : &state->named.v[id];
}

static const struct replay_input *input_at(const struct replay_state *state, uint32_t i)
{
    return i == UINT32_MAX ? NULL : &state->inputs[i];
}

static bool same_hint(struct replay_state *state, sym_id a, sym_id b)
{
    sym_id x = env_hint(state->env, a), y = env_hint(state->env, b);
    return a == b || x == y || x == SYM_NONE || y == SYM_NONE;
}

static bool agrees_with_meta(struct replay_state *state, const struct replay_input *input,
                             const struct expected *e)
{
    const struct tensor_meta *meta = &input->meta;
    if (!input->is_tensor)
        return input->number != SYM_NONE && e->kind != EXPECT_TENSOR &&
               (e->kind == EXPECT_NOTHING || same_hint(state, input->number, e->number));
    if (e->kind != EXPECT_TENSOR)
        return e->kind == EXPECT_NOTHING;
    if (meta->dtype != e->dtype || meta->ndim != e->ndim || e->layout != meta->layout)
        return false;
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (!same_hint(state, meta->size[d], e->size[d]) ||
            (e->stride && !same_hint(state, meta->stride[d], e->stride[d])))
            return false;
    return true;
}

static struct value make_number(struct replay_state *state, const struct replay_input *input)
{
    bool is_float = number_type_of(state->env, input->number) == NUMBER_FLOAT;
    return value_sym(is_float ? VALUE_FLOAT : VALUE_INT, input->number);
}

/* Makes the tensor of an input. If it wraps a float, its item() is the float's symbol
 * (wrap_symfloat of torch/_dynamo/variables/builder.py). */
static struct value make_tensor(struct replay_state *state, const struct replay_input *input,
                                const struct replay_input *number)
{
    struct tensor x = ops_new_tensor(state->ops, &input->meta);
    if (!x.meta || input->meta.ndim != 0)
        return value_tensor(x);
    if (number && number_type_of(state->env, number->number) != NUMBER_FLOAT)
        number = NULL;
    if (!number)
        number = input->item;
    if (number && number->number != SYM_NONE)
        ops_remember_item(state->ops, x, make_number(state, number));
    return value_tensor(x);
}

struct value replay_state_input(struct replay_state *state, const struct node *node)
{
    uint32_t id = intern_find(&state->names, node->name);
    if (id == INTERN_NONE)
        return value_none();
    const struct replay_input *tensor = input_at(state, state->named.v[id].tensor);
    const struct replay_input *number = input_at(state, state->named.v[id].number);
    if (tensor)
        return make_tensor(state, tensor, number);
    return number && number->number != SYM_NONE ? make_number(state, number) : value_none();
}

/* Returns the gradient of an input, L['x'].grad, which no record describes: its sizes are those of
 * the input (compare_gradient()). VALUE_NONE: the name is not that of a gradient, or its printed
 * meta is another. */
static struct value make_gradient(struct replay_state *state, struct str name,
                                  const struct expected *expected)
{
    const struct replay_name *of =
        str_ends(name, STR("_grad")) ? find_inputs(state, str_first(name, name.n - 4)) : NULL;
    const struct replay_input *tensor = of ? input_at(state, of->tensor) : NULL;
    if (!tensor || expected->kind != EXPECT_TENSOR || !agrees_with_meta(state, tensor, expected))
        return value_none();
    struct tensor_meta meta = tensor->meta;
    meta.requires_grad = false;
    return value_tensor(ops_new_tensor(state->ops, &meta));
}

struct value replay_state_placeholder(struct replay_state *state, const struct node *node,
                                      const struct expected *expected)
{
    struct sym_range ignored;
    const struct replay_name *found = find_inputs(state, node->name);
    const struct replay_input *tensor = found ? input_at(state, found->tensor) : NULL;
    const struct replay_input *number = found ? input_at(state, found->number) : NULL;
    const struct replay_input *input = tensor ? tensor : number;
    if (input && agrees_with_meta(state, input, expected))
        return input->is_tensor ? make_tensor(state, input, number) : make_number(state, input);
    struct value gradient = found ? value_none() : make_gradient(state, node->name, expected);
    if (gradient.kind != VALUE_NONE)
        return gradient;
    /* A symbol passed as an input keeps its name after it became a number: s27: "Sym(16)". */
    sym_id alias = find_alias(state, node->name);
    sym_id symbol = alias != SYM_NONE ? alias : sym_symbol_find(env_pool(state->env), node->name);
    if (expected->kind == EXPECT_NUMBER && symbol != SYM_NONE &&
        env_range(state->env, symbol, &ignored))
        return value_sym(
            number_type_of(state->env, symbol) == NUMBER_FLOAT ? VALUE_FLOAT : VALUE_INT, symbol);
    return expected_value(state->ops, expected);
}

/* Returns the name of the placeholder whose source would be that of the attribute, were it
 * stripped of "L['" or "G['" and of the last "]"; .p is NULL when memory ran out. */
static struct str stripped_source(struct replay_state *state, char scope, struct str attribute)
{
    size_t n = attribute.n + 3;
    char *text = arena_bytes(&state->arena, n + 1);
    if (!text)
        return (struct str){ NULL, 0 };
    (void)snprintf(text, n + 1, "%c_%.*s_", scope, STR_ARG(attribute));
    return inputs_placeholder_name((struct str){ text, n }, &state->arena);
}

/* Sets *ret to the name of the placeholder that would have the source of an attribute: that of
 * L['x'].p['q'] is "x___p__q", where "L['" and the last "]" were removed, and that of L['x'].p is
 * "L__x___p". Where an input of L and one of G fit, it is neither. False: out of memory. */
static bool name_of_attribute(struct replay_state *state, struct str attribute, struct str *ret)
{
    *ret = inputs_placeholder_name(attribute, &state->arena);
    struct str local = stripped_source(state, 'L', attribute);
    struct str global = stripped_source(state, 'G', attribute);
    if (!ret->p || !local.p || !global.p)
        return false;
    bool is_local = find_inputs(state, local), is_global = find_inputs(state, global);
    if (!find_inputs(state, *ret) && is_local != is_global)
        *ret = is_local ? local : global;
    return true;
}

bool replay_state_attribute(struct replay_state *state, struct str attribute,
                            const struct expected *expected, struct value *ret)
{
    struct node node = { 0 };
    if (!name_of_attribute(state, attribute, &node.name))
        return false;
    *ret = replay_state_placeholder(state, &node, expected);
    return true;
}

/* Returns whether a size that was set is printed as the number that it was when it was recorded. */
static bool is_specialized_size(struct replay_state *state, const struct replay_input *input,
                                const struct expected *e, uint32_t d)
{
    int64_t printed;
    return sym_to_i64(env_pool(state->env), e->size[d], &printed) &&
           printed == input->recorded_size[d] && !same_hint(state, input->meta.size[d], e->size[d]);
}

bool replay_state_set_input(struct replay_state *state, const struct node *node,
                            const struct expected *expected, struct value *ret)
{
    const struct replay_name *found = find_inputs(state, node->name);
    const struct replay_input *tensor = found ? input_at(state, found->tensor) : NULL;
    bool specialized = false;
    if (!tensor || !tensor->recorded_size || expected->kind != EXPECT_TENSOR ||
        tensor->meta.dtype != expected->dtype || tensor->meta.ndim != expected->ndim ||
        tensor->meta.layout != expected->layout)
        return false;
    for (uint32_t d = 0; d < tensor->meta.ndim; d++) {
        bool is_number = is_specialized_size(state, tensor, expected, d);
        specialized |= is_number;
        if (!is_number && !same_hint(state, tensor->meta.size[d], expected->size[d]))
            return false;
    }
    if (specialized)
        *ret = make_tensor(state, tensor, input_at(state, found->number));
    return specialized;
}

bool replay_state_agree(struct replay_state *state, const struct expected *a,
                        const struct expected *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->ndim != b->ndim || a->unreadable ||
        !a->stride != !b->stride ||
        (a->kind == EXPECT_NUMBER && !same_hint(state, a->number, b->number)))
        return false;
    for (uint32_t d = 0; a->kind == EXPECT_TENSOR && d < a->ndim; d++)
        if (!same_hint(state, a->size[d], b->size[d]) ||
            (a->stride && !same_hint(state, a->stride[d], b->stride[d])))
            return false;
    return true;
}

bool replay_state_requires_grad(const struct replay_state *state, struct str placeholder)
{
    const struct replay_name *found = find_inputs(state, placeholder);
    const struct replay_input *input = found ? input_at(state, found->tensor) : NULL;
    return input && input->requires_grad;
}
