/* Creation of symbols: names, duck shaping, 0/1 specialisation, ranges (create_symbol and similar
 * functions of torch/fx/experimental/symbolic_shapes.py). */
#include <stdio.h>

#include "replay/shape/env/env_inside.h"
#include "trace/base/sha256.h"

/* --- Names: _generate_unique_id --- */

static bool take_id(struct shape_env *env, uint32_t id)
{
    while (env->unique_ids.n <= id / 64)
        if (!vec_push(&env->unique_ids, 0))
            return env_no_memory(env);
    env->unique_ids.v[id / 64] |= UINT64_C(1) << (id % 64);
    return true;
}

static uint64_t ids_of_word(const struct shape_env *env, uint32_t word)
{
    return word < env->unique_ids.n ? env->unique_ids.v[word] : 0;
}

/* Returns the first id from `id` on, which is below 128, that is not in use. Ids stay in use, so
 * that each full word above is passed over once. */
static uint32_t free_id(struct shape_env *env, uint32_t id)
{
    uint32_t word = id / 64;
    uint64_t below = (UINT64_C(1) << (id % 64)) - 1;
    if (word == 0 && (ids_of_word(env, 0) | below) == UINT64_MAX) {
        word = 1;
        below = 0;
    }
    if (word == 1 && (ids_of_word(env, 1) | below) == UINT64_MAX) {
        for (word = env->full_words + 2; ids_of_word(env, word) == UINT64_MAX; word++)
            env->full_words++;
        below = 0;
    }
    return word * 64 + (uint32_t)__builtin_ctzll(~(ids_of_word(env, word) | below));
}

static bool unique_id(struct shape_env *env, struct str source, uint32_t *ret)
{
    unsigned char digest[SHA256_BYTES];
    uint32_t id = 0;
    sha256(source, digest);
    for (unsigned i = 0; i < sizeof digest; i++)
        id = (id * 256 + digest[i]) % 100;
    *ret = free_id(env, id);
    return take_id(env, *ret);
}

static sym_id numbered_symbol(struct shape_env *env, const char *prefix, uint32_t id,
                              unsigned assumptions)
{
    char name[32];
    int n = snprintf(name, sizeof name, "%s%u", prefix, id);
    return sym_symbol(env->pool, (struct str){ name, (size_t)n }, assumptions);
}

/* --- Sources --- */

static uint32_t source_number(struct shape_env *env, struct str source)
{
    uint32_t number = intern(&env->source_names, source);
    if (number == INTERN_NONE)
        return env_no_memory(env), number;
    while (env->source_symbols.n <= number || env->source_answers.n <= number)
        if ((env->source_symbols.n <= number && !vec_push(&env->source_symbols, SYM_NONE)) ||
            (env->source_answers.n <= number && !vec_push(&env->source_answers, SYM_NONE)))
            return env_no_memory(env), INTERN_NONE;
    return number;
}

bool env_add_source(struct shape_env *env, sym_id symbol, uint32_t text, bool ephemeral)
{
    struct symbol_source source = { .text = text, .next = UINT32_MAX, .ephemeral = ephemeral };
    if (!vec_push(&env->sources, source))
        return env_no_memory(env);
    uint32_t at = (uint32_t)env->sources.n - 1, *link = &env_symbol(env, symbol)->first_source;
    if (*link == UINT32_MAX) {
        *link = at;
        return true;
    }
    struct symbol_source *first = &env->sources.v[*link], *last = first;
    while (last->next != UINT32_MAX)
        last = &env->sources.v[last->next];
    last->next = at;
    if (first->ephemeral && !ephemeral) { /* a source that guards can use comes first */
        env->sources.v[at].text = first->text;
        env->sources.v[at].ephemeral = true;
        first->text = text;
        first->ephemeral = false;
    }
    return true;
}

struct str env_source(const struct shape_env *env, sym_id e)
{
    if (e >= env->n_known || !env->known[e].symbol_plus_1)
        return STR("");
    const struct env_symbol *s = &env->symbols.v[env->known[e].symbol_plus_1 - 1];
    if (s->first_source == UINT32_MAX)
        return STR("");
    return intern_text(&env->source_names, env->sources.v[s->first_source].text);
}

/* --- Ranges of symbols --- */

static bool raise_not_in_range(struct shape_env *env, sym_id value, struct sym_range range)
{
    struct buf text = BUF_INIT;
    sym_print(env->pool, value, &text);
    buf_puts(&text, " not in ");
    sym_range_print(env->pool, range, &text);
    bool failed = text.failed;
    if (!failed)
        env_raise(env, ENV_RAISED_OTHER, "AssertionError", "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
    return failed ? env_no_memory(env) : false;
}

/* ShapeEnv._update_var_to_range. */
bool env_update_range(struct shape_env *env, sym_id e, struct sym_range range,
                      const struct source_location *lower, const struct source_location *upper,
                      bool is_constraint)
{
    struct sym_pool *pool = env->pool;
    uint32_t index = env_symbol_index(env, e);
    if (index == UINT32_MAX || !sym_range_ok(range))
        return env_ok(env);
    struct env_symbol *s = &env->symbols.v[index];
    struct source_location here = env_place(env);
    /* A size that is exactly 0 or 1 would contradict earlier size-oblivious evaluations. */
    if (s->size_like && sym_range_kind_of(pool, range) != SYM_RANGE_BOOL &&
        sym_number_compare(pool, range.upper, SYM_ID_TWO) < 0)
        range = sym_range(pool, range.lower, SYM_ID_TWO);
    struct sym_range old = s->range;
    if (sym_range_ok(old))
        range = sym_range_intersect(pool, old, range);
    if (!sym_range_ok(range))
        return env_ok(env);
    if (!sym_range_equal(old, range)) {
        if (range.lower != old.lower)
            s->lower = lower ? *lower : here;
        if (range.upper != old.upper)
            s->upper = upper ? *upper : here;
        s->range = range;
        env_touch(env, s);
        bool given = is_constraint || env->range_is_given;
        if (!env_add_event(env, given ? ENV_EVENT_GIVEN_RANGE : ENV_EVENT_RANGE, e, SYM_NONE))
            return false;
        s = &env->symbols.v[index];
    }
    if (s->hint != SYM_NONE && !is_constraint && !sym_range_contains(pool, range, s->hint))
        return env_ok(env) && raise_not_in_range(env, s->hint, range);
    return env_ok(env);
}

bool env_ranger(void *user, sym_id e, struct sym_range *ret)
{
    return env_range(user, e, ret);
}

bool env_oblivious_ranger(void *user, sym_id e, struct sym_range *ret)
{
    struct shape_env *env = user;
    const struct env_symbol *s = env_symbol(env, e);
    if (!s || !sym_range_ok(s->range))
        return false;
    *ret = s->size_like ? (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO } : s->range;
    return true;
}

struct sym_range env_bound(struct shape_env *env, sym_id e)
{
    return sym_bound(env->pool, e, env_ranger, env);
}

struct env_symbol *env_add_symbol(struct shape_env *env, sym_id e, sym_id hint,
                                  struct sym_range range)
{
    uint32_t index = e == SYM_NONE ? UINT32_MAX : env_symbol_index(env, e);
    if (index == UINT32_MAX || !env_known(env, e))
        return env_ok(env), NULL;
    struct env_symbol *s = &env->symbols.v[index];
    s->hint = hint;
    s->range = range;
    s->lower = s->upper = env_place(env);
    env_touch(env, s);
    return env_add_event(env, ENV_EVENT_SYMBOL, e, SYM_NONE) ? s : NULL;
}

/* --- Backed symbols --- */

static bool is_ephemeral(struct str source)
{
    return str_find(source, STR("<ephemeral")) < source.n;
}

/* Returns the key of val_to_var, in which 2.0 and 2 are equal. */
static sym_id duck_key(struct shape_env *env, sym_id value)
{
    if (kind_at(env->pool, value) == SYM_FLOAT) {
        double real = sym_to_double(env->pool, value);
        if (real > -0x1p62 && real < 0x1p62 && real == (double)(int64_t)real)
            return sym_integer(env->pool, (int64_t)real);
    }
    return value;
}

static bool check_in_range(struct shape_env *env, sym_id value, struct sym_range range)
{
    if (sym_range_contains(env->pool, range, value))
        return true;
    struct buf text = BUF_INIT;
    sym_print(env->pool, value, &text);
    buf_puts(&text, " not in range [");
    sym_print(env->pool, range.lower, &text);
    buf_puts(&text, ", ");
    sym_print(env->pool, range.upper, &text);
    buf_puts(&text, "]");
    bool failed = text.failed;
    if (!failed)
        env_raise(env, ENV_RAISED_CONSTRAINT, "ConstraintViolationError", "%.*s",
                  STR_ARG(buf_str(&text)));
    buf_release(&text);
    return failed ? env_no_memory(env) : false;
}

#define ZERO_ONE_REASON                                                                      \
    "user code shown is first use of this value--the guard itself is not due user code but " \
    "due to 0/1 specialization in the framework; to avoid specialization try "               \
    "torch._dynamo.decorators.mark_unbacked(tensor, dim)"

/* Returns whether the value is a nested int (SingletonInt), which is no number. */
static bool is_nested(const struct shape_env *env, sym_id value)
{
    return kind_at(env->pool, value) == SYM_SYMBOL;
}

static sym_id new_symbol(struct shape_env *env, const struct symbol_request *r, bool integer,
                         uint32_t source)
{
    uint32_t id = 0;
    if (!unique_id(env, r->source, &id))
        return SYM_NONE;
    unsigned positive = r->positive ? SYM_IS_POSITIVE : 0;
    sym_id e = numbered_symbol(env, integer ? "s" : "zf", id,
                               positive | (integer ? SYM_IS_INTEGER : SYM_IS_REAL));
    if (e == SYM_NONE)
        return env_ok(env), SYM_NONE;
    bool zero_one = env->settings.specialize_zero_one;
    struct sym_range range = { SYM_ID_MINUS_OO, SYM_ID_OO };
    if (integer && r->positive)
        range = (struct sym_range){ r->do_not_specialize_zero_one || !zero_one ? SYM_ID_ZERO
                                                                               : SYM_ID_TWO,
                                    SYM_ID_INT_OO };
    else if (integer)
        range = SYM_RANGE_UNKNOWN_INT;
    struct env_symbol *s =
        env_add_symbol(env, e, r->value, is_nested(env, r->value) ? SYM_RANGE_FAILED : range);
    if (!s)
        return SYM_NONE;
    s->size_like |= r->size_like;
    s->nested = is_nested(env, r->value);
    if (s->nested) {
        env->source_symbols.v[source] = e;
        return e;
    }
    if (integer && r->positive && zero_one)
        s->lower.reason = ZERO_ONE_REASON;
    env->source_symbols.v[source] = e;
    if (integer && r->constraint.kind == CONSTRAINT_STRICT_MIN_MAX &&
        !env_update_range(env, e, r->constraint.range, NULL, NULL, true))
        return SYM_NONE;
    if (integer && !check_in_range(env, r->value, env_symbol(env, e)->range))
        return SYM_NONE;
    return e;
}

/* A strict range of one value makes the size static. False: the input has another size. */
static bool check_static(struct shape_env *env, const struct symbol_request *r)
{
    sym_id value = r->constraint.range.lower;
    if (value == r->value)
        return true;
    struct buf text = BUF_INIT;
    buf_puts(&text, "Static shape constraint of ");
    sym_print(env->pool, value, &text);
    buf_puts(&text, " does not match input size of ");
    sym_print(env->pool, r->value, &text);
    buf_printf(&text, ", for %.*s", STR_ARG(r->source));
    bool failed = text.failed;
    if (!failed)
        env_raise(env, ENV_RAISED_CONSTRAINT, "ConstraintViolationError", "%.*s",
                  STR_ARG(buf_str(&text)));
    buf_release(&text);
    return failed ? env_no_memory(env) : false;
}

/* torch._check of a condition. False: raised, or known to be false. */
static bool assert_now(struct shape_env *env, sym_id condition)
{
    bool yes;
    if (!env_expect_true(env, condition, STR("torch._check"), &yes))
        return false;
    return yes || env_raise(env, ENV_RAISED_OTHER, "RuntimeError",
                            "Expected cond to be True, but "
                            "got False");
}

static bool share_shape_id(struct shape_env *env, sym_id e, struct str id)
{
    uint32_t number = intern(&env->shape_ids, id);
    if (number == INTERN_NONE)
        return env_no_memory(env);
    if (number < env->shape_id_symbols.n)
        return assert_now(env, sym_eq(env->pool, e, env->shape_id_symbols.v[number]));
    return vec_push(&env->shape_id_symbols, e) || env_no_memory(env);
}

static sym_id create_unbacked_input(struct shape_env *env, const struct symbol_request *r)
{
    struct sym_pool *pool = env->pool;
    sym_id e = env_create_unbacked_symint(env);
    if (e == SYM_NONE || !env_constrain_range_for_size(env, e, SYM_NONE, SYM_NONE) ||
        (r->min && !assert_now(env, sym_ge(pool, e, r->min))) ||
        (r->max && !assert_now(env, sym_le(pool, e, r->max))) ||
        (r->shape_id.n && !share_shape_id(env, e, r->shape_id)))
        return SYM_NONE;
    env_symbol(env, e)->input = true;
    return e;
}

static bool check_positive(struct shape_env *env, const struct symbol_request *r)
{
    if (!r->positive || is_nested(env, r->value) ||
        sym_number_compare(env->pool, r->value, SYM_ID_ZERO) >= 0)
        return true;
    int64_t value = 0;
    sym_to_i64(env->pool, r->value, &value);
    return env_raise(env, ENV_RAISED_OTHER, "AssertionError",
                     "positive set for negative value: %lld", (long long)value);
}

/* Returns a new symbol, the symbol of the same size, or a number. */
static sym_id create_backed(struct shape_env *env, const struct symbol_request *r, uint32_t source)
{
    bool duck = r->dynamic == DIM_DUCK && env->settings.duck_shape;
    sym_id key = duck_key(env, r->value);
    struct expr_info *k = env_known(env, key);
    if (!k)
        return SYM_NONE;
    sym_id e = duck && k->duck_plus_1 ? k->duck_plus_1 - 1 : SYM_NONE;
    if (e != SYM_NONE) {
        env->source_symbols.v[source] = e;
    } else {
        e = new_symbol(env, r, is_nested(env, r->value) || is_integer(env->pool, r->value), source);
        if (e == SYM_NONE)
            return SYM_NONE;
        if (duck)
            env->known[key].duck_plus_1 = e + 1;
    }
    return env_add_source(env, e, source, is_ephemeral(r->source)) ? e : SYM_NONE;
}

static bool is_zero_one(struct shape_env *env, const struct symbol_request *r, sym_id *ret)
{
    *ret = duck_key(env, r->value);
    return !r->do_not_specialize_zero_one && env->settings.specialize_zero_one &&
           (*ret == SYM_ID_ZERO || *ret == SYM_ID_ONE);
}

static sym_id create_symbol_for(struct shape_env *env, const struct symbol_request *request,
                                uint32_t source, bool *keep)
{
    struct symbol_request r = *request;
    *keep = true;
    if (r.dynamic == DIM_UNBACKED)
        return create_unbacked_input(env, &r);
    if (!check_positive(env, &r))
        return SYM_NONE;
    if (r.constraint.kind != CONSTRAINT_NONE)
        r.dynamic = DIM_DYNAMIC;
    if (r.dynamic == DIM_STATIC)
        return r.value;
    if (r.dynamic == DIM_INFER_STRIDE)
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError",
                         "unhandled dynamic_dim DimDynamic.INFER_STRIDE"),
               SYM_NONE;
    sym_id number;
    *keep = !is_zero_one(env, &r, &number);
    return *keep ? create_backed(env, &r, source) : number;
}

sym_id env_create_symbol(struct shape_env *env, const struct symbol_request *request)
{
    struct symbol_request r = *request;
    if (r.value == SYM_NONE || (!is_number(env->pool, r.value) && !is_nested(env, r.value)))
        return env_raise(env, ENV_RAISED_OTHER, "TypeError", "a symbol's value is a number"),
               SYM_NONE;
    if (r.constraint.kind == CONSTRAINT_STRICT_MIN_MAX &&
        r.constraint.range.lower == r.constraint.range.upper) {
        if (!check_static(env, &r))
            return SYM_NONE;
        r.dynamic = DIM_STATIC;
        r.constraint.kind = CONSTRAINT_NONE;
    }
    uint32_t source = source_number(env, r.source);
    if (source == INTERN_NONE)
        return SYM_NONE;
    if (r.stateful && r.source.n && env->source_answers.v[source] != SYM_NONE)
        return env->source_answers.v[source];
    bool keep;
    sym_id e = create_symbol_for(env, &r, source, &keep);
    if (r.stateful && keep)
        env->source_answers.v[source] = e;
    return e;
}

sym_id env_create_unspecified_symbol(struct shape_env *env, sym_id value, struct str source,
                                     enum dim_dynamic dynamic)
{
    return env_create_symbol(env, &(struct symbol_request){ .value = value,
                                                            .source = source,
                                                            .dynamic = dynamic,
                                                            .do_not_specialize_zero_one = true,
                                                            .stateful = true });
}

/* --- Unbacked symbols --- */

static sym_id create_unbacked(struct shape_env *env, const char *prefix, uint32_t *counter,
                              unsigned assumptions, struct sym_range range)
{
    sym_id e = numbered_symbol(env, prefix, (*counter)++, assumptions);
    return env_add_symbol(env, e, SYM_NONE, range) ? e : SYM_NONE;
}

sym_id env_create_unbacked_symint(struct shape_env *env)
{
    return create_unbacked(env, "u", &env->next_unbacked, SYM_IS_INTEGER, SYM_RANGE_UNKNOWN_INT);
}

sym_id env_create_unbacked_symfloat(struct shape_env *env)
{
    return create_unbacked(env, "zuf", &env->next_unbacked_float, 0, SYM_RANGE_UNKNOWN);
}

sym_id env_create_unbacked_symbool(struct shape_env *env)
{
    sym_id e = create_unbacked(env, "u", &env->next_unbacked, SYM_IS_INTEGER,
                               (struct sym_range){ SYM_ID_ZERO, SYM_ID_ONE });
    return e == SYM_NONE ? e : sym_eq(env->pool, e, SYM_ID_ONE);
}

/* --- Symbols of a log --- */

static bool number_of_name(struct str name, size_t prefix, uint32_t *ret)
{
    uint64_t number;
    if (!str_to_u64(str_from(name, prefix), &number) || number >= 1u << 24)
        return false;
    *ret = (uint32_t)number;
    return true;
}

static bool keep_name_taken(struct shape_env *env, enum symbol_kind kind, struct str name)
{
    uint32_t number;
    if (kind == SYMBOL_SIZE && number_of_name(name, 1, &number))
        return take_id(env, number);
    if (kind == SYMBOL_FLOAT && number_of_name(name, 2, &number))
        return take_id(env, number);
    if (kind == SYMBOL_UNBACKED_INT && number_of_name(name, 1, &number) &&
        number >= env->next_unbacked)
        env->next_unbacked = number + 1;
    if (kind == SYMBOL_UNBACKED_FLOAT && number_of_name(name, 3, &number) &&
        number >= env->next_unbacked_float)
        env->next_unbacked_float = number + 1;
    return true;
}

sym_id env_adopt_symbol(struct shape_env *env, struct str name, sym_id hint, struct sym_range range,
                        struct str source)
{
    struct sym_pool *pool = env->pool;
    enum symbol_kind kind = env_symbol_kind(name);
    bool positive = sym_range_ok(range) && sym_range_kind_of(pool, range) == SYM_RANGE_INT &&
                    sym_number_compare(pool, range.lower, SYM_ID_ZERO) >= 0;
    unsigned assumptions = kind == SYMBOL_SIZE ? SYM_IS_INTEGER | (positive ? SYM_IS_POSITIVE : 0)
                           : kind == SYMBOL_UNBACKED_INT ? SYM_IS_INTEGER
                           : kind == SYMBOL_FLOAT        ? SYM_IS_REAL
                                                         : 0;
    sym_id e = sym_symbol(pool, name, assumptions);
    if (!env_add_symbol(env, e, hint, range) || !keep_name_taken(env, kind, name))
        return SYM_NONE;
    if (!source.n)
        return e;
    uint32_t number = source_number(env, source);
    if (number == INTERN_NONE)
        return SYM_NONE;
    env->source_symbols.v[number] = e;
    return env_add_source(env, e, number, is_ephemeral(source)) ? e : SYM_NONE;
}
