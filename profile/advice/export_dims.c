#include "profile/advice/export_dims.h"

#include "replay/attempt/replay_state.h"
#include "replay/shape/env/env.h"
#include "trace/base/arena.h"
#include "trace/base/vec.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"

enum { MOST_INPUTS = 4096, MOST_DIMS = 64 };

/* A tensor of which a size is a symbol. Its other sizes are no symbols, and of no interest. */
struct declared {
    struct str source;
    uint32_t n_dims;
    sym_id sizes[MOST_DIMS];
    struct dim_constraint constraints[MOST_DIMS];
};

struct export
{
    struct shape_env *env;
    const struct dim_remedy *of;  /* which size, and where */
    const struct dim_remedy *dim; /* the same, or NULL: as declared */
    struct arena arena;
    vec_of(struct declared *)
    tensors;
    vec_of(struct env_input)
    inputs;
    vec_of(struct env_dim)
    dims;
    struct str name;        /* of the Dim of the size; "" if it has none */
    struct str root_symbol; /* of the size that dim->root names; "" */
    struct env_dim derived_dim;
    struct env_derived derived;   /* of derived_dim; root is "" if there is none */
    struct env_equality equality; /* of two sizes with one Dim; "" if there is none */
    bool failed;                  /* memory ran out */
};

static struct str kept_text(struct export *e, struct buf *text)
{
    struct str ret = text->failed ? (struct str){ 0 } : arena_copy(&e->arena, buf_str(text));
    e->failed |= !ret.p;
    buf_release(text);
    return ret;
}

static sym_id bound(struct sym_pool *pool, int64_t value)
{
    return value == INT64_MAX ? SYM_ID_INT_OO : sym_integer(pool, value);
}

static sym_id hint_of(struct sym_pool *pool, struct str text)
{
    int64_t value;
    return str_to_i64(text, &value) ? sym_integer(pool, value) : SYM_NONE;
}

static bool is_changed(const struct export *e, const struct symbol *s)
{
    return e->dim && str_eq(s->source, e->dim->source);
}

/* Returns a name for the Dim of a size: "d_s40_", with a word before it. */
static struct str dim_name(struct export *e, const char *before, struct str symbol)
{
    struct buf name = BUF_INIT;
    buf_printf(&name, "%sd_%.*s_", before, STR_ARG(symbol));
    return kept_text(e, &name);
}

/* Derives the Dim of the changed size from another one. Returns PyTorch's name of it, "4*d + 1". */
static struct str derive(struct export *e, const struct symbol *s, struct str root,
                         struct str root_source)
{
    const struct dim_remedy *dim = e->dim;
    struct buf name = BUF_INIT;
    buf_printf(&name, "%lld*%.*s", (long long)dim->multiple, STR_ARG(root));
    if (dim->remainder)
        buf_printf(&name, " + %lld", (long long)dim->remainder);
    e->derived_dim = (struct env_dim){ kept_text(e, &name), root,       dim->multiple,
                                       dim->remainder,      dim->lower, dim->upper };
    e->derived = (struct env_derived){ s->source, root_source, &e->derived_dim };
    e->failed |= !vec_push(&e->dims, e->derived_dim);
    return e->derived_dim.name;
}

/* Derives it from a Dim that no size has, as constraints_check() of replay/attempt does. */
static struct str derive_alone(struct export *e, const struct symbol *s)
{
    const struct dim_remedy *dim = e->dim;
    struct str root = dim_name(e, "_", s->name);
    int64_t hint = 0;
    str_to_i64(s->value, &hint);
    struct symbol_request request = {
        .value = sym_integer(env_pool(e->env), (hint - dim->remainder) / dim->multiple),
        .source = root,
        .dynamic = DIM_DYNAMIC,
        .positive = true,
    };
    const struct env_dim own = { root, STR(""), 1, 0, dim->lower, dim->upper };
    e->failed |= !vec_push(&e->dims, own);
    struct str ret = derive(e, s, root, root);
    env_create_symbol(e->env, &request);
    return ret;
}

/* Gives the changed size the Dim of another one, or a multiple of it. */
static struct str share(struct export *e, const struct symbol *s, struct str root_symbol)
{
    struct str root = dim_name(e, "", root_symbol);
    if (e->dim->multiple > 1)
        return derive(e, s, root, e->dim->root);
    e->equality = (struct env_equality){ s->source, e->dim->root };
    return root;
}

/* Gives a size its Dim, and returns its name. */
static struct str make_dim(struct export *e, const struct symbol *s)
{
    struct sym_pool *pool = env_pool(e->env);
    struct env_dim dim = { .root = STR(""), .mul = 1, .max = INT64_MAX };
    struct sym_range range = replay_state_range(pool, s->name, s->range);
    bool changed = is_changed(e, s);
    dim.name = dim_name(e, "", s->name);
    if (str_eq(s->source, e->of->source))
        e->name = dim.name;
    if (changed && e->root_symbol.n)
        return share(e, s, e->root_symbol);
    if (changed && e->dim->multiple > 1)
        return derive_alone(e, s);
    sym_to_i64(pool, range.lower, &dim.min);
    sym_to_i64(pool, range.upper, &dim.max);
    dim.min = changed ? e->dim->lower : dim.min;
    dim.max = changed ? e->dim->upper : dim.max;
    e->failed |= !vec_push(&e->dims, dim);
    return dim.name;
}

static struct sym_range range_of(struct export *e, const struct symbol *s)
{
    struct sym_pool *pool = env_pool(e->env);
    bool own = is_changed(e, s) && !e->dim->removed && e->dim->multiple == 1 && !e->dim->root.n;
    return own ? sym_range(pool, bound(pool, e->dim->lower), bound(pool, e->dim->upper))
               : replay_state_range(pool, s->name, s->range);
}

/* Returns the tensor of a source, a new one if there is none; NULL if there are too many. */
static struct declared *find_tensor(struct export *e, struct str source)
{
    for (size_t i = 0; i < e->tensors.n; i++)
        if (str_eq(e->tensors.v[i]->source, source))
            return e->tensors.v[i];
    if (e->tensors.n == MOST_INPUTS)
        return NULL;
    struct declared *ret = arena_new(&e->arena, struct declared);
    if (!ret || !vec_push(&e->tensors, ret)) {
        e->failed = true;
        return NULL;
    }
    *ret = (struct declared){ .source = source };
    for (uint32_t i = 0; i < MOST_DIMS; i++)
        ret->sizes[i] = SYM_ID_ONE;
    return ret;
}

static void add_size(struct export *e, const struct symbol *s)
{
    static const struct str SIZE = { ".size()[", 8 };
    struct sym_pool *pool = env_pool(e->env);
    size_t at = str_find(s->source, SIZE);
    struct str number = str_from(s->source, at + SIZE.n);
    uint64_t dim;
    if (!str_to_u64(str_first(number, str_digits(number)), &dim) || dim >= MOST_DIMS)
        return;
    struct declared *tensor = find_tensor(e, str_first(s->source, at));
    struct sym_range range = range_of(e, s);
    sym_id size = env_adopt_symbol(e->env, s->name, hint_of(pool, s->value), range, s->source);
    if (!tensor || size == SYM_NONE)
        return;
    tensor->n_dims = dim >= tensor->n_dims ? (uint32_t)dim + 1 : tensor->n_dims;
    tensor->sizes[dim] = size;
    if (is_changed(e, s) && e->dim->removed)
        return;
    tensor->constraints[dim] = (struct dim_constraint){ .kind = CONSTRAINT_STRICT_MIN_MAX,
                                                        .range = range,
                                                        .name = make_dim(e, s) };
}

static void add_guard(struct export *e, const struct guard *g)
{
    struct sym_pool *pool = env_pool(e->env);
    struct err ignored = { 0 };
    bool holds;
    sym_id condition = sym_parse(pool, g->expr, NULL, NULL);
    if (sym_ok(pool, &ignored) && condition != SYM_NONE && g->kind == GUARD_EVAL)
        env_guard_bool(e->env, condition, &holds);
    env_raised(e->env);
}

/* The record may be one past the last. */
static uint32_t recording_of(const struct trace *trace, const struct dim_remedy *of)
{
    return of->record < trace->n_records ? trace->records[of->record].recording
                                         : trace->n_recordings - 1;
}

static void begin(struct export *e, struct trace *trace, const struct symbol_table *symbols,
                  const struct guard_list *guards)
{
    const struct dim_remedy *of = e->of;
    uint32_t in = recording_of(trace, of);
    for (uint32_t i = 0; e->dim && of->root.n && i < symbols->n_symbols; i++)
        if (str_eq(symbols->symbols[i].source, of->root) && symbols->symbols[i].record < of->record)
            e->root_symbol = symbols->symbols[i].name;
    for (uint32_t i = 0; i < symbols->n_symbols; i++) {
        const struct symbol *s = &symbols->symbols[i];
        if (s->attempt == of->attempt && s->record < of->record && s->recording == in &&
            !s->unbacked && s->source.n)
            add_size(e, s);
    }
    for (uint32_t i = 0; i < guards->n; i++)
        if (guards->guards[i].attempt == of->attempt && guards->guards[i].record < of->record)
            add_guard(e, &guards->guards[i]);
}

/* Prints the violations. */
static void check(struct export *e, struct buf *out)
{
    for (size_t i = 0; i < e->tensors.n && !e->failed; i++) {
        const struct declared *tensor = e->tensors.v[i];
        const struct env_input input = { .source = tensor->source,
                                         .ndim = tensor->n_dims,
                                         .size = tensor->sizes,
                                         .offset = SYM_ID_ZERO,
                                         .constraints = tensor->constraints };
        e->failed |= !vec_push(&e->inputs, input);
    }
    const struct env_produce what = { .inputs = e->inputs.v,
                                      .n_inputs = (uint32_t)e->inputs.n,
                                      .equalities = &e->equality,
                                      .n_equalities = e->equality.a.n > 0,
                                      .has_equalities = true,
                                      .derived = &e->derived,
                                      .n_derived = e->derived.root.n > 0,
                                      .dims = e->dims.v,
                                      .n_dims = (uint32_t)e->dims.n };
    if (!e->failed && !env_short_of_memory(e->env) && !env_check_dims(e->env, &what, out)) {
        struct env_raised raised = env_raised(e->env);
        buf_put(out, raised.text);
    }
}

/* Sets *ret to whether the constraints of the size are violated. */
static bool is_violated(struct trace *trace, const struct dim_remedy *of,
                        const struct dim_remedy *dim, bool *ret, struct err *err)
{
    const struct symbol_table *symbols = trace_symbols(trace, err);
    const struct guard_list *guards = symbols ? trace_guards(trace, err) : NULL;
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    struct export e = { .of = of, .dim = dim };
    struct buf text = BUF_INIT;
    settings.exporting = true;
    int torch = torch_release(trace->recordings[recording_of(trace, of)].torch_version);
    settings.torch = torch ? torch : settings.torch;
    if (!guards || !(e.env = shape_env_new(&settings, err)))
        return false;
    begin(&e, trace, symbols, guards);
    check(&e, &text);
    *ret = str_contains(buf_str(&text), of->source) ||
           (e.name.n && str_contains(buf_str(&text), e.name));
    bool ok = (!e.failed && !text.failed && !env_short_of_memory(e.env)) || err_nomem(err);
    buf_release(&text);
    vec_release(&e.tensors);
    vec_release(&e.dims);
    arena_release(&e.arena);
    vec_release(&e.inputs);
    shape_env_free(e.env);
    return ok;
}

bool export_dims_check(struct trace *trace, const struct dim_remedy *dim, enum dims_verdict *ret,
                       struct err *err)
{
    bool before, after;
    if (!is_violated(trace, dim, NULL, &before, err) || !is_violated(trace, dim, dim, &after, err))
        return false;
    *ret = !before ? DIMS_NOT_VIOLATED : after ? DIMS_VIOLATED : DIMS_SATISFIED;
    return true;
}
