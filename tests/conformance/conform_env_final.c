/* The state at the end of a recording, and the guards that it produces, beside ours. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/conform_env.h"

struct compare {
    struct run *run;
    struct conform_env *env;
    const struct json *doc;
    complain *fn;
    void *user;
    unsigned differences;
    struct buf text;
};

static void differs(struct compare *c, const char *what, struct str recorded, struct str ours)
{
    c->differences++;
    c->fn(c->user, what, recorded, ours);
}

static void compare_text(struct compare *c, const char *what, struct str key, struct str recorded,
                         struct str ours)
{
    if (str_eq(recorded, ours))
        return;
    char where[200];
    snprintf(where, sizeof where, "%s of %.*s", what, STR_ARG(key));
    differs(c, where, recorded, ours);
}

static struct str print(struct compare *c, sym_id e)
{
    buf_clear(&c->text);
    sym_print(env_pool(c->env->env), e, &c->text);
    return buf_str(&c->text);
}

/* A list of texts in the same order; sorted first where it was a set. */
struct texts {
    vec_of(struct str)
    v;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void add_text(struct compare *c, struct texts *to, struct str text)
{
    struct str copy = arena_copy(&c->run->arena, text);
    if (copy.p)
        (void)vec_push(&to->v, copy);
}

static void compare_lists(struct compare *c, const char *what, json_id recorded, struct texts *ours,
                          bool sorted)
{
    struct texts theirs = { 0 };
    for (json_id i = json_first(c->doc, recorded); i != JSON_NONE; i = json_next(c->doc, i))
        add_text(c, &theirs, json_decoded(c->doc, i, &c->run->arena));
    if (sorted && theirs.v.n)
        qsort(theirs.v.v, theirs.v.n, sizeof *theirs.v.v, by_text);
    if (sorted && ours->v.n)
        qsort(ours->v.v, ours->v.n, sizeof *ours->v.v, by_text);
    for (size_t i = 0; i < theirs.v.n || i < ours->v.n; i++) {
        struct str a = i < theirs.v.n ? theirs.v.v[i] : STR("(none)");
        struct str b = i < ours->v.n ? ours->v.v[i] : STR("(none)");
        if (!str_eq(a, b)) {
            differs(c, what, a, b);
            break;
        }
    }
    vec_release(&theirs.v);
}

static sym_id symbol_named(struct compare *c, struct str name)
{
    struct shape_env *env = c->env->env;
    for (uint32_t i = env_n_symbols(env); i > 0; i--)
        if (str_eq(sym_name(env_pool(env), env_symbol_at(env, i - 1)), name))
            return env_symbol_at(env, i - 1);
    return SYM_NONE;
}

static void compare_ranges(struct compare *c, json_id ranges)
{
    struct shape_env *env = c->env->env;
    size_t n = 0;
    for (json_id key = json_first(c->doc, ranges); key != JSON_NONE;) {
        json_id value = json_next(c->doc, key);
        struct sym_range range;
        sym_id symbol = symbol_named(c, json_text(c->doc, key));
        buf_clear(&c->text);
        if (symbol != SYM_NONE && env_range(env, symbol, &range))
            sym_range_print(env_pool(env), range, &c->text);
        compare_text(c, "range", json_text(c->doc, key), json_text(c->doc, value),
                     buf_str(&c->text));
        key = json_next(c->doc, value);
        n++;
    }
    size_t ours = 0;
    struct sym_range range;
    for (uint32_t i = 0; i < env_n_symbols(env); i++)
        ours += env_range(env, env_symbol_at(env, i), &range);
    if (ours != n)
        differs(c, "number of ranges", STR(""), STR(""));
}

static void compare_hints(struct compare *c, json_id hints)
{
    struct shape_env *env = c->env->env;
    for (json_id key = json_first(c->doc, hints); key != JSON_NONE;) {
        json_id value = json_next(c->doc, key);
        sym_id symbol = symbol_named(c, json_text(c->doc, key));
        sym_id hint = symbol == SYM_NONE ? SYM_NONE : env_hint(env, symbol);
        compare_text(c, "hint", json_text(c->doc, key), json_text(c->doc, value),
                     hint == SYM_NONE ? STR("") : print(c, hint));
        key = json_next(c->doc, value);
    }
}

static void compare_replacements(struct compare *c, json_id replacements)
{
    struct shape_env *env = c->env->env;
    size_t n = 0;
    for (json_id key = json_first(c->doc, replacements); key != JSON_NONE; n++) {
        json_id value = json_next(c->doc, key);
        sym_id symbol = symbol_named(c, json_text(c->doc, key)), to = SYM_NONE;
        for (uint32_t i = 0; i < env_n_replacements(env); i++)
            if (env_replacement_at(env, i)->symbol == symbol)
                to = env_replacement_at(env, i)->to;
        compare_text(c, "replacement", json_text(c->doc, key),
                     json_decoded(c->doc, value, &c->run->arena),
                     to == SYM_NONE ? STR("") : print(c, to));
        key = json_next(c->doc, value);
    }
    if (n != env_n_replacements(env)) {
        uint32_t last = env_n_replacements(env);
        differs(c, "number of replacements", STR(""),
                last ? print(c, env_replacement_at(env, last - 1)->symbol) : STR(""));
    }
}

static void compare_asserts(struct compare *c, json_id asserts)
{
    struct shape_env *env = c->env->env;
    size_t n = 0;
    for (json_id key = json_first(c->doc, asserts); key != JSON_NONE;) {
        json_id value = json_next(c->doc, key);
        struct str name = json_text(c->doc, key);
        struct texts ours = { 0 };
        for (uint32_t i = 0; i < env_n_asserts(env); i++) {
            const struct env_assert *a = env_assert_at(env, i);
            struct str own =
                a->newest == SYM_NONE ? STR("None") : sym_name(env_pool(env), a->newest);
            if (str_eq(own, name)) {
                add_text(c, &ours, print(c, a->expr));
                n++;
            }
        }
        compare_lists(c, "asserts", value, &ours, false);
        vec_release(&ours.v);
        key = json_next(c->doc, value);
    }
    if (n != env_n_asserts(env))
        differs(c, "number of asserts", STR(""), STR(""));
}

unsigned conform_final(struct run *run, struct conform_env *env, const struct json *doc,
                       complain *fn, void *user)
{
    struct compare c = { run, env, doc, fn, user, 0, BUF_INIT };
    compare_ranges(&c, json_get(doc, JSON_ROOT, STR("ranges")));
    compare_replacements(&c, json_get(doc, JSON_ROOT, STR("replacements")));
    struct texts guards = { 0 }, divisible = { 0 };
    for (uint32_t i = 0; i < env_n_guards(env->env); i++)
        add_text(&c, &guards, print(&c, env_guard_at(env->env, i)->expr));
    compare_lists(&c, "guards", json_get(doc, JSON_ROOT, STR("guards")), &guards, false);
    for (uint32_t i = 0; i < env_n_divisible(env->env); i++)
        add_text(&c, &divisible, print(&c, env_divisible_at(env->env, i)));
    compare_lists(&c, "divisible", json_get(doc, JSON_ROOT, STR("divisible")), &divisible, true);
    compare_asserts(&c, json_get(doc, JSON_ROOT, STR("asserts")));
    compare_hints(&c, json_get(doc, JSON_ROOT, STR("hints")));
    vec_release(&guards.v);
    vec_release(&divisible.v);
    buf_release(&c.text);
    return c.differences;
}

/* --- produce_guards --- */

/* Strides are recorded only where they became symbols of their own. The others follow from the
 * layout, of which the recording shows which dimensions are guarded on. */

static bool next_permutation(uint32_t *order, uint32_t n)
{
    uint32_t i = n;
    while (i > 1 && order[i - 2] >= order[i - 1])
        i--;
    if (i <= 1)
        return false;
    uint32_t j = n;
    while (order[j - 1] <= order[i - 2])
        j--;
    uint32_t swap = order[i - 2];
    order[i - 2] = order[j - 1];
    order[j - 1] = swap;
    for (uint32_t a = i - 1, b = n - 1; a < b; a++, b--) {
        swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    return true;
}

/* order: dimensions from the outermost in memory; strides as they then are. */
static void dense_strides(const struct conform_input *input, const uint32_t *order, int64_t *stride)
{
    int64_t next = 1;
    for (uint32_t i = input->ndim; i > 0; i--) {
        uint32_t dim = order[i - 1];
        if (input->stride_value[dim] != INT64_MIN)
            next = input->stride_value[dim];
        stride[dim] = next;
        int64_t size = input->value[dim] > 1 ? input->value[dim] : 1;
        if (__builtin_mul_overflow(next, size, &next))
            next = 0;
    }
}

static void symbolic_strides(struct conform_env *env, const struct conform_input *input,
                             const int64_t *value, sym_id *stride)
{
    struct sym_pool *pool = env_pool(env->env);
    int64_t candidate[16];
    sym_id expr[16];
    bool done[16] = { false };
    for (uint32_t n = 0; n < input->ndim; n++) {
        uint32_t i = UINT32_MAX;
        for (uint32_t j = input->ndim; j > 0; j--)
            if (!done[j - 1] && (i == UINT32_MAX || value[j - 1] < value[i]))
                i = j - 1;
        done[i] = true;
        bool contiguous = i + 1 < input->ndim && value[i] == input->value[i + 1] * value[i + 1];
        stride[i] = input->stride[i];
        for (uint32_t j = n; stride[i] == SYM_NONE && j > 0; j--)
            if (candidate[j - 1] == value[i])
                stride[i] = expr[j - 1];
        if (stride[i] == SYM_NONE || ((value[i] == 0 || value[i] == 1) && !contiguous))
            stride[i] = sym_integer(pool, value[i]);
        candidate[n] = input->value[i] * value[i];
        expr[n] = sym_mul(pool, input->size[i], stride[i]);
    }
}

static bool is_guarded(struct compare *c, json_id recorded, struct str source, uint32_t dim)
{
    buf_clear(&c->text);
    buf_printf(&c->text, "%.*s.stride()[%u] == ", STR_ARG(source), dim);
    struct str wanted = buf_str(&c->text);
    for (json_id i = json_first(c->doc, recorded); i != JSON_NONE; i = json_next(c->doc, i))
        if (str_starts(json_text(c->doc, i), wanted))
            return true;
    return false;
}

/* Of the layouts that fit, the one after `skip` others; false: there are no more. */
static bool find_strides(struct compare *c, json_id recorded, struct conform_input *input,
                         unsigned skip, sym_id *stride)
{
    struct sym_pool *pool = env_pool(c->env->env);
    uint32_t order[16];
    int64_t value[16];
    bool guarded[16];
    for (uint32_t i = 0; i < input->ndim; i++) {
        order[i] = i;
        guarded[i] = is_guarded(c, recorded, input->source, i);
        if (input->value[i] == INT64_MIN || input->size[i] == SYM_NONE)
            input->size[i] = sym_integer(pool, input->value[i] = 1);
    }
    unsigned tries = 0;
    do {
        dense_strides(input, order, value);
        symbolic_strides(c->env, input, value, stride);
        bool fits = true;
        for (uint32_t i = 0; i < input->ndim; i++) {
            bool number = sym_is_number(pool, env_replace(c->env->env, stride[i]));
            fits &= number ? !guarded[i] : guarded[i] || stride[i] == input->stride[i];
        }
        if (fits && skip-- == 0)
            return true;
    } while (++tries < 5040 && next_permutation(order, input->ndim));
    for (uint32_t i = 0; i < input->ndim; i++)
        order[i] = i;
    dense_strides(input, order, value);
    symbolic_strides(c->env, input, value, stride);
    return false;
}

struct produced {
    struct compare *c;
    struct texts texts;
};

static void take(void *user, struct str text, uint32_t guard)
{
    (void)guard;
    struct produced *p = user;
    add_text(p->c, &p->texts, text);
}

/* Without the place, which depends on stacks that rows do not hold. */
static struct str comparable(struct str text)
{
    size_t at = str_find(text, STR("  # "));
    struct str comment = str_from(text, at);
    if (str_starts(comment, STR("  # duck sizing")) || str_starts(comment, STR("  # (unknown ")) ||
        str_starts(comment, STR("  # implicit guard")))
        if (!str_is(comment, "  # (unknown)"))
            return text;
    return str_first(text, at);
}

/* The first recorded guard that ours differs from; false: none. */
static bool first_difference(struct compare *c, json_id recorded, const struct env_produce *what,
                             struct str *theirs, struct str *own)
{
    struct produced ours = { .c = c };
    uint64_t start = conform_now();
    bool ok = env_produce_guards(c->env->env, what, take, &ours), same = true;
    c->run->totals->produce_ns += conform_now() - start;
    if (!ok) {
        struct env_raised raised = env_raised(c->env->env);
        add_text(c, &ours.texts, raised.text);
    }
    json_id r = json_first(c->doc, recorded);
    for (size_t i = 0; same && (r != JSON_NONE || i < ours.texts.v.n); i++) {
        *theirs = STR("(none)");
        *own = i < ours.texts.v.n ? ours.texts.v.v[i] : *theirs;
        if (r != JSON_NONE) {
            *theirs = json_decoded(c->doc, r, &c->run->arena);
            r = json_next(c->doc, r);
        }
        if (what->language == GUARDS_VERBOSE_PYTHON) {
            *theirs = comparable(*theirs);
            *own = comparable(*own);
        }
        same = str_eq(*theirs, *own);
    }
    vec_release(&ours.texts.v);
    return !same || !ok;
}

/* "ConstraintViolationError: Constraints violated ..." */
static void compare_raised(struct compare *c, json_id recorded, const struct env_produce *what)
{
    struct produced ours = { .c = c };
    bool ok = env_produce_guards(c->env->env, what, take, &ours);
    struct env_raised raised = env_raised(c->env->env);
    buf_clear(&c->text);
    if (!ok)
        buf_printf(&c->text, "%s: %.*s", raised.type, STR_ARG(raised.text));
    struct str theirs = json_decoded(c->doc, recorded, &c->run->arena);
    if (!str_eq(theirs, buf_str(&c->text)))
        differs(c, "produced guards raise", theirs, buf_str(&c->text));
    vec_release(&ours.texts.v);
}

static struct conform_input *tensor_of_float(struct conform_env *env, struct conform_input *input)
{
    struct str inside = input->source;
    for (size_t i = 0; i < env->inputs.n; i++) {
        struct str s = env->inputs.v[i].source;
        if (str_starts(s, STR("___as_tensor(")) && s.n == inside.n + 14 &&
            memcmp(s.p + 13, inside.p, inside.n) == 0)
            return &env->inputs.v[i];
    }
    return NULL;
}

static struct str item_of(struct run *run, struct str tensor)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s.item()", STR_ARG(tensor));
    struct str copy = arena_copy(&run->arena, buf_str(&text));
    buf_release(&text);
    return copy;
}

struct inputs {
    vec_of(struct env_input)
    v;
};

static bool gather_inputs(struct compare *c, json_id python, struct inputs *to)
{
    to->v.n = 0;
    for (size_t i = 0; i < c->env->inputs.n; i++) {
        struct conform_input *input = &c->env->inputs.v[i];
        struct env_input new = { .source = input->source,
                                 .ndim = input->ndim,
                                 .offset = input->offset,
                                 .constraints = input->constraint };
        if (input->is_tensor) {
            sym_id *stride = arena_array(&c->run->arena, sym_id, 16);
            if (!stride)
                return false;
            find_strides(c, python, input, input->skip, stride);
            new.size = input->size;
            new.stride = stride;
            if (new.offset == SYM_NONE)
                new.offset = SYM_ID_ZERO;
        } else {
            struct conform_input *tensor = tensor_of_float(c->env, input);
            struct env_input item = new;
            if (tensor) {
                item.source = item_of(c->run, tensor->source);
                if (!vec_push(&to->v, item))
                    return false;
            }
        }
        if (!vec_push(&to->v, new))
            return false;
    }
    return true;
}

/* A guard on a stride that ours differs from: the input may be laid out in another way. */
static bool try_next_layout(struct compare *c, json_id python, struct str theirs)
{
    size_t at = str_find(theirs, STR(".stride()["));
    for (size_t i = 0; at < theirs.n && i < c->env->inputs.n; i++) {
        struct conform_input *input = &c->env->inputs.v[i];
        sym_id stride[16];
        if (!str_eq(input->source, str_first(theirs, at)))
            continue;
        input->skip++;
        return find_strides(c, python, input, input->skip, stride);
    }
    return false;
}

unsigned conform_produce(struct run *run, struct conform_env *env, const struct json *doc,
                         json_id out, complain *fn, void *user)
{
    struct compare c = { run, env, doc, fn, user, 0, BUF_INIT };
    json_id python = json_first(doc, out), verbose = json_next(doc, python);
    json_id raised = json_get(doc, JSON_ROOT, STR("raised"));
    struct inputs inputs = { 0 };
    struct str theirs = STR(""), ours = theirs;
    bool differ = false;
    unsigned tries = 0;
    struct env_produce what = { .language = GUARDS_PYTHON };
    do {
        run->totals->produce_ns = 0;
        differ = !gather_inputs(&c, python, &inputs);
        what.inputs = inputs.v.v;
        what.n_inputs = (uint32_t)inputs.v.n;
        if (raised != JSON_NONE)
            compare_raised(&c, raised, &what);
        else
            differ = first_difference(&c, python, &what, &theirs, &ours);
    } while (differ && ++tries < 64 && try_next_layout(&c, python, theirs));
    if (differ)
        differs(&c, "produced guards", theirs, ours);
    what.language = GUARDS_VERBOSE_PYTHON;
    if (verbose != JSON_NONE && first_difference(&c, verbose, &what, &theirs, &ours))
        differs(&c, "verbose guards", theirs, ours);
    vec_release(&inputs.v);
    buf_release(&c.text);
    return c.differences;
}
