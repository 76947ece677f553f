/* Rows of shapeenv/NAME.jsonl into calls that are ready to run. */
#include <stdlib.h>

#include "tests/conformance/conform_env.h"

static const char *const call_names[] = {
#define CALL(id, name) name,
    CONFORM_CALLS(CALL)
#undef CALL
};

struct conform_env *conform_env_at(struct run *run, int64_t number)
{
    if (number < 0 || number >= 100000)
        return NULL;
    while ((int64_t)run->envs.n <= number)
        if (!vec_push(&run->envs, (struct conform_env){ .env = NULL }))
            return NULL;
    return &run->envs.v[number];
}

static bool flag(const struct json *doc, json_id id, bool otherwise)
{
    if (id == JSON_NONE)
        return otherwise;
    return json_kind_of(doc, id) == JSON_TRUE;
}

bool conform_settings(struct run *run, const struct json *doc)
{
    int64_t number = 0;
    json_i64(doc, json_get(doc, JSON_ROOT, STR("env")), &number);
    struct conform_env *env = conform_env_at(run, number);
    if (!env)
        return false;
#define SETTING(name, otherwise) \
    .name = flag(doc, json_get(doc, JSON_ROOT, STR(#name)), (otherwise))
    struct env_settings settings = { SETTING(allow_scalar_outputs, true),
                                     SETTING(allow_dynamic_output_shape_ops, true),
                                     SETTING(assume_static_by_default, false),
                                     SETTING(specialize_zero_one, true),
                                     SETTING(duck_shape, true),
                                     SETTING(prefer_deferred_runtime_asserts_over_guards, false),
                                     SETTING(trace_asserts, false),
                                     SETTING(backed_size_oblivious, false),
                                     SETTING(exporting, false) };
#undef SETTING
    settings.torch = torch_release(json_str(doc, json_get(doc, JSON_ROOT, STR("torch"))));
    if (!settings.torch)
        settings.torch = TORCH_RELEASE_DEFAULT;
    struct err err = { 0 };
    shape_env_free(env->env);
    env->env = shape_env_new(&settings, &err);
    return env->env != NULL;
}

/* --- Expressions --- */

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
}

static size_t number_token(struct str text, size_t at)
{
    size_t end = at;
    while (end < text.n &&
           (is_token_char(text.p[end]) || ((text.p[end] == '-' || text.p[end] == '+') && end > at &&
                                           (text.p[end - 1] == 'e' || text.p[end - 1] == 'E'))))
        end++;
    return end;
}

static double to_double(struct str text)
{
    char copy[64] = { 0 };
    memcpy(copy, text.p, text.n < 63 ? text.n : 63);
    return strtod(copy, NULL);
}

/* str() shows 15 digits of a float; `floats` maps what it shows to the whole number. */
static void put_floats(const struct json *doc, json_id floats, struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n;) {
        char c = text.p[i];
        if (!is_token_char(c)) {
            buf_putc(out, c);
            i++;
            continue;
        }
        size_t end = c >= '0' && c <= '9' ? number_token(text, i) : i + 1;
        while (!(c >= '0' && c <= '9') && end < text.n && is_token_char(text.p[end]))
            end++;
        struct str token = { text.p + i, end - i };
        bool is_float = c >= '0' && c <= '9' && memchr(token.p, '.', token.n);
        for (json_id key = is_float ? json_first(doc, floats) : JSON_NONE; key != JSON_NONE;) {
            json_id value = json_next(doc, key);
            if (to_double(json_text(doc, key)) == to_double(token)) {
                token = json_text(doc, value);
                break;
            }
            key = json_next(doc, value);
        }
        /* "1e-05" is no number of sympy's texts. */
        bool whole = is_float && !memchr(token.p, '.', token.n);
        size_t e = str_find_char(token, 'e');
        buf_put(out, str_first(token, whole ? e : token.n));
        if (whole) {
            buf_puts(out, ".0");
            buf_put(out, str_from(token, e));
        }
        i = end;
    }
}

/* Inductor's indices (sympy_index_symbol) beside ShapeEnv's own names. */
static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    sym_id known = sym_symbol_find(pool, name);
    if (known != SYM_NONE || str_starts(name, STR("s")) || str_starts(name, STR("u")) ||
        str_starts(name, STR("z")))
        return sym_by_name(user, pool, name);
    bool positive = str_starts(name, STR("ps"));
    return sym_symbol(pool, name,
                      SYM_IS_INTEGER | (positive ? SYM_IS_POSITIVE : SYM_IS_NONNEGATIVE));
}

static sym_id parse_text(struct conform_env *env, struct str text)
{
    struct sym_pool *pool = env_pool(env->env);
    sym_id e = sym_parse(pool, text, resolve, NULL);
    struct err err = { 0 };
    return sym_ok(pool, &err) ? e : SYM_NONE;
}

static sym_id expression(struct run *run, struct conform_env *env, const struct json *doc,
                         json_id id, json_id floats)
{
    struct buf key = BUF_INIT;
    json_decode(doc, id, &key);
    size_t n = key.n;
    if (floats != JSON_NONE) {
        buf_putc(&key, '\1');
        buf_put(&key, json_text(doc, floats));
    }
    uint32_t number = key.failed ? INTERN_NONE : intern(&env->texts, buf_str(&key));
    sym_id e = SYM_NONE;
    if (number < env->exprs.n) {
        e = env->exprs.v[number];
    } else if (number != INTERN_NONE) {
        struct buf text = BUF_INIT;
        if (run->names_pending)
            conform_run_batch(run);
        put_floats(doc, floats, str_first(buf_str(&key), n), &text);
        e = text.failed ? SYM_NONE : parse_text(env, buf_str(&text));
        buf_release(&text);
        while (e != SYM_NONE && env->exprs.n <= number)
            if (!vec_push(&env->exprs, e))
                e = SYM_NONE;
    }
    buf_release(&key);
    return e;
}

sym_id conform_value(struct run *run, struct conform_env *env, const struct json *doc, json_id id,
                     json_id floats)
{
    struct sym_pool *pool = env_pool(env->env);
    if (id == JSON_NONE)
        return SYM_NONE;
    switch (json_kind_of(doc, id)) {
    case JSON_TRUE: return SYM_ID_TRUE;
    case JSON_FALSE: return SYM_ID_FALSE;
    case JSON_STRING: return expression(run, env, doc, id, floats);
    case JSON_NUMBER: break;
    default: return SYM_NONE;
    }
    struct str text = json_text(doc, id);
    double real;
    if (text.n && (text.p[0] == '-' || (text.p[0] >= '0' && text.p[0] <= '9')) &&
        !memchr(text.p, '.', text.n) && !memchr(text.p, 'e', text.n) &&
        !memchr(text.p, 'I', text.n))
        return sym_integer_text(pool, text);
    return json_double(doc, id, &real) ? sym_float(pool, real) : SYM_NONE;
}

/* "VR[2, int_oo]" */
struct sym_range conform_range(struct run *run, struct conform_env *env, struct str text)
{
    (void)run;
    size_t comma = str_find(text, STR(", "));
    if (!str_starts(text, STR("VR[")) || comma >= text.n || text.p[text.n - 1] != ']')
        return SYM_RANGE_FAILED;
    struct str lower = { text.p + 3, comma - 3 };
    struct str upper = { text.p + comma + 2, text.n - comma - 3 };
    struct sym_range range = { parse_text(env, lower), parse_text(env, upper) };
    return range.lower == SYM_NONE || range.upper == SYM_NONE ? SYM_RANGE_FAILED : range;
}

/* "StrictMinMaxConstraint(warn_only=False, vr=VR[2, 10])" */
static bool constraint(struct run *run, struct conform_env *env, struct str text,
                       struct dim_constraint *ret)
{
    *ret = (struct dim_constraint){ .kind = CONSTRAINT_NONE };
    if (!text.n)
        return true;
    ret->warn_only = str_find(text, STR("warn_only=True")) < text.n;
    if (str_starts(text, STR("RelaxedUnspecConstraint"))) {
        ret->kind = CONSTRAINT_RELAXED_UNSPEC;
        return true;
    }
    size_t at = str_find(text, STR("VR["));
    if (!str_starts(text, STR("StrictMinMaxConstraint")) || at >= text.n)
        return false;
    struct str range = str_from(text, at);
    range = str_first(range, str_find_char(range, ']') + 1);
    ret->kind = CONSTRAINT_STRICT_MIN_MAX;
    ret->range = conform_range(run, env, range);
    return sym_range_ok(ret->range);
}

static uint8_t dynamic(struct str text)
{
    static const struct {
        const char *name;
        uint8_t dynamic;
    } names[] = { { "DimDynamic.DYNAMIC", DIM_DYNAMIC },
                  { "DimDynamic.DUCK", DIM_DUCK },
                  { "DimDynamic.STATIC", DIM_STATIC },
                  { "DimDynamic.UNBACKED", DIM_UNBACKED },
                  { "DimDynamic.INFER_STRIDE", DIM_INFER_STRIDE } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(text, names[i].name))
            return names[i].dynamic;
    return DIM_DUCK;
}

/* --- Rows --- */

struct reading {
    struct run *run;
    struct conform_env *env;
    const struct json *doc;
    json_id floats;
};

static json_id field(const struct reading *in, const char *name)
{
    return json_get(in->doc, JSON_ROOT, str_of(name));
}

static sym_id value(const struct reading *in, const char *name)
{
    return conform_value(in->run, in->env, in->doc, field(in, name), in->floats);
}

static struct str string(const struct reading *in, const char *name)
{
    json_id id = field(in, name);
    return json_kind_of(in->doc, id) == JSON_STRING ? json_decoded(in->doc, id, &in->run->arena)
                                                    : (struct str){ "", 0 };
}

static bool read_creation(const struct reading *in, struct op *op, struct row *row)
{
    op->a = value(in, "val");
    row->source = string(in, "source");
    json_id dim = field(in, "dynamic_dim");
    row->dynamic = dim == JSON_NONE ? DIM_DUCK : dynamic(json_text(in->doc, dim));
    row->no_zero_one = op->call == CALL_CREATE_UNSPECIFIED ||
                       flag(in->doc, field(in, "do_not_specialize_zero_one"), false);
    /* Sizes are so made under backed_size_oblivious. */
    row->size_like = op->call == CALL_CREATE && row->no_zero_one;
    row->positive = op->call == CALL_CREATE && flag(in->doc, field(in, "positive"), true);
    return (op->a != SYM_NONE || row->dynamic == DIM_UNBACKED) &&
           constraint(in->run, in->env, string(in, "constraint_dim"), &row->constraint);
}

/* "x0, VR[0, 4]" somewhere in a text, or ["x0", "VR[0, 4]"], or {"x0": "VR[0, 4]"}. */
static bool put_range(const struct reading *in, struct env_symbol_range *to, struct str name,
                      struct str range)
{
    to->symbol = parse_text(in->env, name);
    to->range = conform_range(in->run, in->env, range);
    return to->symbol != SYM_NONE && sym_range_ok(to->range);
}

static bool read_ranges(const struct reading *in, json_id id, struct env_assumptions *to)
{
    const struct json *doc = in->doc;
    bool pairs = json_kind_of(doc, id) == JSON_OBJECT;
    if (!pairs && json_kind_of(doc, id) != JSON_ARRAY)
        return json_kind_of(doc, id) == JSON_NULL;
    size_t n = json_count(doc, id);
    struct env_symbol_range *ranges = arena_array(&in->run->arena, struct env_symbol_range, n + 1);
    if (!ranges)
        return false;
    json_id at = json_first(doc, id);
    for (size_t i = 0; i < n; i++) {
        json_id name = pairs ? at : json_first(doc, at), range = json_next(doc, name);
        if (!put_range(in, &ranges[i], json_text(doc, name), json_text(doc, range)))
            return false;
        at = json_next(doc, pairs ? range : at);
    }
    to->ranges = ranges;
    to->n_ranges = (uint32_t)n;
    return true;
}

static bool read_assumptions(const struct reading *in, struct op *op, struct row *row)
{
    const struct json *doc = in->doc;
    json_id axioms = field(in, "axioms"), ranges = field(in, "var_to_range");
    size_t n = json_kind_of(doc, axioms) == JSON_ARRAY ? json_count(doc, axioms) : 0;
    op->no_axioms = json_kind_of(doc, axioms) == JSON_ARRAY && n == 0;
    row->has_assumptions = n > 0 || (ranges != JSON_NONE && json_kind_of(doc, ranges) != JSON_NULL);
    if (!row->has_assumptions)
        return true;
    sym_id *list = arena_array(&in->run->arena, sym_id, n + 1);
    if (!list)
        return false;
    size_t i = 0;
    for (json_id a = json_first(doc, axioms); n && a != JSON_NONE; a = json_next(doc, a)) {
        list[i] = conform_value(in->run, in->env, doc, a, in->floats);
        if (list[i++] == SYM_NONE)
            return false;
    }
    if (json_kind_of(doc, axioms) == JSON_ARRAY)
        row->assumptions = (struct env_assumptions){ .axioms = list, .n_axioms = (uint32_t)n };
    return read_ranges(in, ranges, &row->assumptions);
}

static bool read_arguments(const struct reading *in, struct op *op, struct row *row)
{
    const struct json *doc = in->doc;
    switch ((enum call)op->call) {
    case CALL_EVALUATE:
        op->a = value(in, "orig_expr");
        op->b = value(in, "hint");
        op->c = value(in, "fallback_value");
        return op->a != SYM_NONE;
    case CALL_STATIC: {
        op->a = value(in, "expr");
        op->unbacked_only = flag(doc, field(in, "unbacked_only"), false);
        op->compute_hint = flag(doc, field(in, "compute_hint"), false);
        return op->a != SYM_NONE && read_assumptions(in, op, row);
    }
    case CALL_DEFER:
        op->a = value(in, "orig_expr");
        row->source = string(in, "msg");
        return op->a != SYM_NONE;
    case CALL_SET_REPLACEMENT:
        op->a = value(in, "a");
        op->b = value(in, "tgt");
        return op->a != SYM_NONE && op->b != SYM_NONE;
    case CALL_UPDATE_RANGE:
        op->a = value(in, "symbol");
        row->constraint.range = conform_range(in->run, in->env, string(in, "vr"));
        op->b = row->constraint.range.lower;
        op->c = row->constraint.range.upper;
        return op->a != SYM_NONE && sym_range_ok(row->constraint.range);
    case CALL_RANGE_FOR_SIZE:
        op->a = value(in, "a");
        op->b = value(in, "min");
        op->c = value(in, "max");
        return op->a != SYM_NONE;
    case CALL_CONSTRAIN_RANGE:
        op->a = value(in, "a");
        op->b = value(in, "min");
        op->c = value(in, "max");
        return op->a != SYM_NONE;
    case CALL_SYMBOL_RANGE:
        op->a = value(in, "s");
        op->b = value(in, "compiler_min");
        op->c = value(in, "compiler_max");
        return op->a != SYM_NONE;
    case CALL_RENAME:
    case CALL_ELIMINATE:
        op->a = value(in, "orig_s");
        op->b = value(in, "new_s");
        return op->a != SYM_NONE && op->b != SYM_NONE;
    case CALL_CREATE:
    case CALL_CREATE_UNSPECIFIED: return read_creation(in, op, row);
    default: return true;
    }
}

/* False: a row that is not run (deeper ones, calls that nobody knows). */
bool conform_read_row(struct run *run, const struct json *doc, struct op *op, struct row *row,
                      bool *is_final)
{
    struct reading in = { .run = run, .doc = doc };
    struct str name = json_text(doc, field(&in, "call"));
    int64_t number = 0, depth = 0, ns = 0;
    json_i64(doc, field(&in, "env"), &number);
    in.env = conform_env_at(run, number);
    *is_final = str_is(name, "final");
    *op = (struct op){ .env = (uint32_t)number,
                       .a = SYM_NONE,
                       .b = SYM_NONE,
                       .c = SYM_NONE,
                       .result = SYM_NONE,
                       .call = CALLS };
    if (!in.env || !in.env->env || *is_final)
        return false;
    json_i64(doc, field(&in, "depth"), &depth);
    json_i64(doc, field(&in, "ns"), &ns);
    /* mark_unbacked's bounds and shape ids are no arguments of create_symbol: its context holds
     * them, and only the asserts inside it tell. */
    if (depth != 0 &&
        !(depth == 1 && run->in_unbacked && str_is(name, "guard_or_defer_runtime_assert")))
        return false;
    for (unsigned i = 0; i < CALLS; i++)
        if (str_is(name, call_names[i]))
            op->call = (uint8_t)i;
    in.floats = field(&in, "floats");
    row->expected = SYM_NONE;
    row->recorded_ns = (uint64_t)ns;
    op->suppressed = flag(doc, field(&in, "suppressed"), false);
    op->size_oblivious = flag(doc, field(&in, "size_oblivious"), false);
    json_id out = field(&in, "out");
    if (json_kind_of(doc, out) == JSON_STRING)
        row->text = json_decoded(doc, out, &run->arena);
    else if (op->call != CALL_PRODUCE)
        row->expected = conform_value(run, in.env, doc, out, in.floats);
    if (field(&in, "raised") != JSON_NONE)
        row->recorded_raise = arena_copy(&run->arena, json_text(doc, field(&in, "raised")));
    if (op->call == CALLS || !read_arguments(&in, op, row))
        op->call = CALLS;
    if (depth == 0)
        run->in_unbacked = op->call == CALL_CREATE && row->dynamic == DIM_UNBACKED;
    return true;
}

/* --- Inputs --- */

static struct conform_input *input_of(struct conform_env *env, struct str source)
{
    for (size_t i = env->inputs.n; i > 0; i--)
        if (str_eq(env->inputs.v[i - 1].source, source))
            return &env->inputs.v[i - 1];
    struct conform_input new = { .source = source, .offset = SYM_NONE };
    for (unsigned i = 0; i < 16; i++) {
        new.value[i] = new.stride_value[i] = INT64_MIN;
        new.size[i] = new.stride[i] = SYM_NONE;
    }
    return vec_push(&env->inputs, new) ? &env->inputs.v[env->inputs.n - 1] : NULL;
}

/* What produce_guards will be asked about: a tensor whose sizes these are, or a number. */
void conform_track_input(struct conform_env *env, const struct op *op, const struct row *row)
{
    size_t size = str_find(row->source, STR(".size()[")),
           stride = str_find(row->source, STR(".stride()[")),
           offset = str_find(row->source, STR(".storage_offset()"));
    size_t base = size < stride ? size : stride;
    base = base < offset ? base : offset;
    struct conform_input *input = input_of(env, str_first(row->source, base));
    if (!input)
        return;
    uint64_t dim = 0;
    int64_t value = INT64_MIN;
    sym_to_i64(env_pool(env->env), op->a, &value);
    input->is_tensor |= base < row->source.n;
    if (base < row->source.n && base != offset) {
        struct str number = str_from(row->source, base + (base == size ? 8 : 10));
        number = str_first(number, str_find_char(number, ']'));
        if (!str_to_u64(number, &dim) || dim >= 16)
            return;
        input->ndim = dim + 1 > input->ndim ? (uint32_t)dim + 1 : input->ndim;
    }
    if (base < row->source.n && base == size) {
        if (input->size[dim] == SYM_NONE) {
            input->size[dim] = op->result;
            input->value[dim] = value;
            input->constraint[dim] = row->constraint;
        }
    } else if (base < row->source.n && base == stride) {
        input->stride[dim] = op->result;
        input->stride_value[dim] = value;
    } else if (input->offset == SYM_NONE) {
        input->offset = op->result;
    }
}
