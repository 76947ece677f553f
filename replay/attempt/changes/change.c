#include "replay/attempt/changes/change.h"

#include <stdio.h>

const char *policy_name(enum policy policy)
{
    static const char *const names[] = {
#define POLICY(id, name) name,
#include "replay/attempt/changes/policies.def"
#undef POLICY
    };
    return policy < POLICIES ? names[policy] : "";
}

bool policy_by_name(struct str name, enum policy *ret)
{
    for (int i = 0; i < POLICIES; i++)
        if (str_is(name, policy_name((enum policy)i))) {
            *ret = (enum policy)i;
            return true;
        }
    return false;
}

/* ---- Reading marks and sets ---- */

static bool parse_range(struct str text, struct dim_change *ret)
{
    size_t dots = str_find(text, STR(".."));
    struct str upper = str_from(text, dots + 2);
    ret->kind = DIM_RANGE;
    ret->max = INT64_MAX;
    return dots < text.n && str_to_i64(str_first(text, dots), &ret->min) &&
           (upper.n == 0 || str_to_i64(upper, &ret->max)) && ret->min <= ret->max;
}

static bool parse_change(struct str text, struct dim_change *ret)
{
    *ret = (struct dim_change){ .kind = str_is(text, "dynamic")    ? DIM_FORCED_DYNAMIC
                                        : str_is(text, "static")   ? DIM_FORCED_STATIC
                                        : str_is(text, "unbacked") ? DIM_FORCED_UNBACKED
                                                                   : DIM_AS_RECORDED };
    return ret->kind != DIM_AS_RECORDED || parse_range(text, ret);
}

static bool is_dim_name(struct str name)
{
    bool ok = name.n && name.n < DIM_NAME_MAX / 2 && !is_digit(name.p[0]);
    for (size_t i = 0; i < name.n; i++)
        ok = ok && is_word_char(name.p[i]);
    return ok;
}

/* Parses "2*Dim(dx)+1" and names it as _DerivedDim does, "2*dx + 1". */
static bool parse_dim(struct str text, struct input_mark *mark)
{
    struct dim_change *ret = &mark->change;
    const int64_t most = 1 << 20;
    size_t open = str_find(text, STR("Dim(")), close = str_find_char(text, ')');
    if (open == text.n || close == text.n || close < open + 4)
        return false;
    struct str inside = { text.p + open + 4, close - open - 4 };
    struct str before = str_first(text, open), after = str_from(text, close + 1);
    struct str name = str_trim(str_first(inside, str_find_char(inside, ',')));
    struct str range = str_trim(str_from(inside, name.n + 1));
    struct dim_change bounds = { .min = 0, .max = INT64_MAX };
    int64_t mul = 1, add = 0;
    if (!is_dim_name(name) || (range.n && !parse_range(range, &bounds)) ||
        (before.n &&
         (!str_ends(before, STR("*")) || !str_to_i64(str_first(before, before.n - 1), &mul))) ||
        (after.n && !str_to_i64(str_from(after, after.p[0] == '+'), &add)) || mul < 1 ||
        mul > most || add > most || add < -most || bounds.min < 0)
        return false;
    *ret = (struct dim_change){
        .kind = DIM_NAMED,
        .dim = { .name = name, .mul = mul, .add = add, .min = bounds.min, .max = bounds.max }
    };
    if (mul == 1 && add == 0)
        return true;
    int n = mul > 1 ? snprintf(mark->name, sizeof mark->name, "%lld*", (long long)mul) : 0;
    n += snprintf(mark->name + n, sizeof mark->name - (size_t)n, "%.*s", STR_ARG(name));
    if (add)
        snprintf(mark->name + n, sizeof mark->name - (size_t)n, " %c %lld", add < 0 ? '-' : '+',
                 (long long)(add < 0 ? -add : add));
    ret->dim.root = name;
    ret->dim.name = str_of(mark->name);
    return true;
}

bool input_mark_parse(struct input_mark *mark, char *text, struct err *err)
{
    struct str whole = str_of(text);
    for (char *p = text; *p; p++)
        *p = *p == '"' ? '\'' : *p;
    size_t equals = whole.n, colon = whole.n;
    for (size_t i = 0; i < whole.n; i++)
        equals = whole.p[i] == '=' ? i : equals; /* the last one, as a source may contain others */
    for (size_t i = 0; i < equals && equals < whole.n; i++)
        colon = whole.p[i] == ':' ? i : colon;
    struct str dim = { whole.p + colon + 1, equals > colon ? equals - colon - 1 : 0 };
    uint64_t number;
    if (colon == whole.n || colon == 0 || !str_to_u64(dim, &number) || number >= TENSOR_MAX_DIM ||
        !(parse_change(str_from(whole, equals + 1), &mark->change) ||
          parse_dim(str_from(whole, equals + 1), mark)))
        return err_set(
            err, ERR_USAGE,
            "%s: a dynamic shape is SOURCE:DIM=dynamic|static|unbacked|MIN..MAX|Dim(NAME)", text);
    mark->source = str_first(whole, colon);
    mark->dim = (uint32_t)number;
    return true;
}

/* Returns whether the text is a number: an integer, or a float for a symbol that is one. */
static bool is_number_text(struct str text)
{
    char copy[64], *end = copy;
    int64_t whole;
    if (str_to_i64(text, &whole))
        return true;
    if (text.n >= sizeof copy || str_find_char(text, '.') == text.n)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    strtod(copy, &end);
    return *end == '\0';
}

bool input_set_parse(struct input_set *set, struct str text, struct err *err)
{
    size_t equals = str_find_char(text, '=');
    set->symbol = str_trim(str_first(text, equals));
    set->value = str_trim(str_from(text, equals + 1));
    if (set->symbol.n == 0 || set->value.n == 0 || !is_number_text(set->value))
        return err_set(err, ERR_USAGE, "%.*s: a hint has the form SYMBOL=NUMBER", STR_ARG(text));
    return true;
}

/* ---- Policies ---- */

struct policy_run {
    struct trace *trace;
    uint32_t attempt;
    const struct guard_list *guards;
    struct inputs *inputs;
    struct intern names; /* partial: symbols in guards of Python code; auto: "source dim value" */
    bool failed;
};

static void force(struct input_tensor *t, uint32_t dim)
{
    t->change[dim].kind = DIM_FORCED_STATIC;
}

static void make_static(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n; i++) {
        struct input *input = &inputs->list.v[i];
        input->fixed = true;
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < input->tensor.ndim; d++)
            force(&input->tensor, d);
    }
}

static void keep_batch(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n; i++) {
        struct input *input = &inputs->list.v[i];
        input->fixed = true;
        for (uint32_t d = 1; input->kind == INPUT_TENSOR && d < input->tensor.ndim; d++)
            force(&input->tensor, d);
    }
}

static void intern_symbol(void *user, struct str symbol)
{
    struct policy_run *p = user;
    p->failed |= intern(&p->names, symbol) == INTERN_NONE;
}

static bool noted(const struct policy_run *p, struct str name)
{
    return name.n && intern_find(&p->names, name) != INTERN_NONE;
}

static void keep_unused(struct policy_run *p)
{
    for (uint32_t i = 0; i < p->guards->n; i++) {
        const struct guard *g = &p->guards->guards[i];
        if (g->attempt == p->attempt && g->kind == GUARD_EVAL &&
            (g->asked_by == GUARD_BY_USER || g->asked_by == GUARD_BY_DYNAMO ||
             g->asked_by == GUARD_BY_TORCH_FUNCTION))
            guard_symbols(g->expr, intern_symbol, p);
    }
    for (size_t i = 0; i < p->inputs->list.n; i++) {
        struct input *input = &p->inputs->list.v[i];
        input->fixed = input->kind == INPUT_SYMBOL && noted(p, input->symbol.name);
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < input->tensor.ndim; d++)
            if (noted(p, input->tensor.size_symbol[d].name))
                force(&input->tensor, d);
    }
}

static void print_dim_key(struct buf *out, const struct input_tensor *t, uint32_t d, bool value)
{
    buf_clear(out);
    buf_printf(out, "%.*s %u", STR_ARG(t->source), d);
    if (value)
        buf_printf(out, " %lld", (long long)t->size[d]);
}

/* Returns whether a is an earlier compile of the frame of b: "3/0" comes before "3/1". */
static bool is_earlier_compile(const struct trace *trace, uint32_t a, uint32_t b)
{
    const struct attempt *x = &trace->attempts[a], *y = &trace->attempts[b];
    struct str fx = str_first(x->compile, str_find_char(x->compile, '/'));
    struct str fy = str_first(y->compile, str_find_char(y->compile, '/'));
    return x->recording == y->recording && str_eq(fx, fy) && !str_eq(x->compile, y->compile) &&
           a < b;
}

static bool note_earlier(struct policy_run *p, struct buf *key, struct err *err)
{
    for (uint32_t a = 0; a < p->attempt; a++) {
        struct inputs earlier = { 0 };
        if (!is_earlier_compile(p->trace, a, p->attempt))
            continue;
        bool ok = inputs_read(p->trace, a, &earlier, err);
        for (size_t i = 0; i < earlier.list.n && ok; i++) {
            const struct input_tensor *t = &earlier.list.v[i].tensor;
            for (uint32_t d = 0; earlier.list.v[i].kind == INPUT_TENSOR && d < t->ndim; d++) {
                print_dim_key(key, t, d, false);
                intern_symbol(p, buf_str(key));
                print_dim_key(key, t, d, true);
                intern_symbol(p, buf_str(key));
            }
        }
        inputs_release(&earlier);
        if (!ok)
            return false;
    }
    return true;
}

/* auto: only the sizes that had another value in an earlier compile are symbols. */
static bool keep_changed(struct policy_run *p, struct err *err)
{
    struct buf key = BUF_INIT;
    bool ok = note_earlier(p, &key, err);
    for (size_t i = 0; i < p->inputs->list.n && ok; i++) {
        struct input *input = &p->inputs->list.v[i];
        struct input_tensor *t = &input->tensor;
        input->fixed = true;
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < t->ndim; d++) {
            print_dim_key(&key, t, d, false);
            bool known = noted(p, buf_str(&key));
            print_dim_key(&key, t, d, true);
            if (!known || noted(p, buf_str(&key)))
                force(t, d);
            else if (!t->size_symbol[d].name.n && t->concrete && !t->of_module)
                t->change[d].kind = DIM_MADE_DYNAMIC;
        }
    }
    p->failed |= key.failed;
    buf_release(&key);
    return ok;
}

/* Makes symbols of the first sizes, or of all, that were recorded as numbers because sizes are
 * static by default. */
static void make_symbols(struct inputs *inputs, bool first_only)
{
    for (size_t i = 0; i < inputs->list.n && inputs->static_by_default; i++) {
        struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete || t->of_module || t->attribute)
            continue;
        for (uint32_t d = 0; d < t->ndim && !(first_only && d); d++)
            if (!t->marked[d])
                t->change[d].kind = DIM_MADE_DUCK;
    }
}

static bool apply_policy(struct policy_run *p, enum policy policy, struct err *err)
{
    switch (policy) {
    case POLICY_STATIC: make_static(p->inputs); return true;
    case POLICY_BATCH:
        keep_batch(p->inputs);
        make_symbols(p->inputs, true);
        return true;
    case POLICY_PARTIAL: keep_unused(p); return true;
    case POLICY_AUTO: return keep_changed(p, err);
    case POLICY_ALL:
        make_symbols(p->inputs, false);
        p->inputs->static_by_default = false;
        return true;
    default: return true;
    }
}

static void apply_mark(struct inputs *inputs, const struct input_mark *mark, size_t *found)
{
    for (size_t i = 0; i < inputs->list.n; i++) {
        struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind == INPUT_TENSOR && str_eq(t->source, mark->source) &&
            mark->dim < t->ndim) {
            t->change[mark->dim] = mark->change;
            ++*found;
        }
    }
}

/* A Dim's range may be written at any of its uses; all uses get the intersection. */
static void copy_range(const struct input_changes *changes, struct env_dim *dim)
{
    struct str root = dim->root.n ? dim->root : dim->name;
    for (size_t i = 0; i < changes->n_marks; i++) {
        const struct env_dim *other = &changes->marks[i].change.dim;
        if (changes->marks[i].change.kind != DIM_NAMED ||
            !str_eq(other->root.n ? other->root : other->name, root))
            continue;
        dim->min = other->min > dim->min ? other->min : dim->min;
        dim->max = other->max < dim->max ? other->max : dim->max;
    }
}

/* Returns whether a size is a Dim: torch.export traces the program then. */
static bool has_dims(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n; i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        for (uint32_t d = 0; inputs->list.v[i].kind == INPUT_TENSOR && d < t->ndim; d++)
            if (t->change[d].kind == DIM_NAMED)
                return true;
    }
    return false;
}

/* The sizes that dynamic_shapes does not name, and numbers, are constants of an export (fakify of
 * torch/_export/non_strict_utils.py). The base of a view has a symbol for each size, because no
 * view_base_context is given for it (meta_tensor of torch/_subclasses/meta_utils.py). */
static void make_rest_static(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n; i++) {
        struct input *input = &inputs->list.v[i];
        struct input_tensor *t = &input->tensor;
        input->fixed = true;
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < t->ndim; d++)
            if (t->change[d].kind == DIM_AS_RECORDED)
                t->change[d].kind =
                    str_ends(t->source, STR("._base")) ? DIM_MADE_DUCK : DIM_FORCED_STATIC;
    }
}

static bool belongs_to(const struct input *input, struct str source)
{
    struct str of = input->kind == INPUT_TENSOR ? input->tensor.source : STR("");
    if (str_ends(of, STR("._base")))
        of.n -= STR("._base").n;
    return str_eq(of, source);
}

/* torch.export makes inputs in the order of the signature, which is that of dynamic_shapes. Dynamo
 * made them in the order in which the program uses them. */
static void order_by_marks(struct inputs *inputs, const struct input_changes *changes)
{
    struct input *list = inputs->list.v;
    size_t n = 0;
    for (size_t m = 0; m < changes->n_marks; m++)
        for (size_t i = n; i < inputs->list.n; i++) {
            struct input input = list[i];
            if (!belongs_to(&input, changes->marks[m].source))
                continue;
            memmove(&list[n + 1], &list[n], (i - n) * sizeof *list);
            list[n++] = input;
        }
}

bool inputs_change(struct trace *trace, uint32_t attempt, const struct guard_list *guards,
                   const struct input_changes *changes, struct inputs *inputs, size_t *found,
                   struct err *err)
{
    struct policy_run p = {
        .trace = trace, .attempt = attempt, .guards = guards, .inputs = inputs
    };
    inputs->changed = changes_dims(changes);
    bool ok = apply_policy(&p, changes->policy, err);
    for (size_t i = 0; i < changes->n_marks; i++) {
        struct input_mark mark = changes->marks[i];
        if (mark.change.kind == DIM_NAMED)
            copy_range(changes, &mark.change.dim);
        apply_mark(inputs, &mark, found);
    }
    inputs->exported = has_dims(inputs);
    if (inputs->exported) {
        make_rest_static(inputs);
        order_by_marks(inputs, changes);
    }
    intern_release(&p.names);
    return p.failed ? err_nomem(err) : ok;
}
