/* Why a size or number of an attempt is a symbol or a constant. */
#include "profile/why/why_build.h"
#include "trace/events/incidents/incident_text.h"

struct reason_step {
    struct why_build *b;
    const struct why_attempt *a;
    const struct why_name *name;
    struct why_size *size;
    const struct input_tensor *tensor; /* or NULL */
    uint32_t dim;
};

static void set_reason(struct why_size *size, enum why_state state, enum why_reason reason)
{
    size->state = state;
    size->reason = reason;
}

/* ---- What made it dynamic ---- */

/* Returns whether one of the comma-separated patterns is the source itself; patterns that need a
 * regular expression are not evaluated. */
static bool names_source(struct str patterns, struct str source)
{
    while (patterns.n) {
        size_t comma = str_find_char(patterns, ',');
        struct str pattern = str_trim(str_first(patterns, comma));
        if (pattern.n && (str_eq(pattern, source) || str_is(pattern, ".*")))
            return true;
        patterns = str_from(patterns, comma + 1);
    }
    return false;
}

static bool is_static_by_default(const struct reason_step *s)
{
    enum config_flag flag = s->a->config.assume_static_by_default;
    s->size->inferred |= flag == CONFIG_UNKNOWN;
    return flag == CONFIG_UNKNOWN ? s->a->inputs.static_by_default : flag == CONFIG_ON;
}

/* Returns "0/0: n == 2" of a recompile's reason, which goes on with the user's line. */
static struct str first_reason(const struct metrics *m)
{
    struct str text = m ? text_summary(m->recompile_reason) : STR("");
    return str_trim(str_first(text, str_find(text, STR("  # "))));
}

static bool set_evidence(struct reason_step *s, const struct why_earlier *earlier, struct err *err)
{
    struct why_build *b = s->b;
    struct str before = why_compile(b, earlier->before), after = why_compile(b, earlier->after);
    struct str why = first_reason(why_metrics(b, earlier->after));
    const char *then = why.n ? "; recompiled since the guard of " : "";
    const char *end = why.n ? " failed" : "";
    if (before.p && after.p)
        s->size->evidence = why_printf(
            b, "it was %.*s in %.*s and %.*s in %.*s%s%.*s%s", STR_ARG(earlier->first),
            STR_ARG(before), STR_ARG(earlier->next), STR_ARG(after), then, STR_ARG(why), end);
    return s->size->evidence.p || err_nomem(err);
}

/* Without a mark and with sizes that are static by default, an earlier compile has another value.
 */
static bool explain_automatic(struct reason_step *s, struct err *err)
{
    struct why_earlier earlier;
    if (!why_earlier_values(s->b, s->a->attempt, s->name, &earlier, err))
        return false;
    s->size->reason = earlier.changed ? WHY_AUTOMATIC : WHY_PROFILE;
    s->size->inferred |= !earlier.changed;
    return !earlier.changed || set_evidence(s, &earlier, err);
}

static enum why_reason marked_reason(const struct reason_step *s)
{
    static const struct {
        const char *mark;
        enum why_reason reason;
    } MARKS[] = {
        { "_dynamo_strict_unbacked_indices", WHY_STRICT_UNBACKED },
        { "_dynamo_unbacked_indices", WHY_MARK_UNBACKED },
        { "_dynamo_dynamic_indices", WHY_MARK_DYNAMIC },
        { "_dynamo_weak_dynamic_indices", WHY_MAYBE_MARK_DYNAMIC },
    };
    if (!s->tensor)
        return WHY_UNKNOWN;
    if (s->tensor->marked[s->dim])
        return WHY_MARK_DYNAMIC;
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        if (why_tree_marks(s->a->tree, s->tensor->source, MARKS[i].mark, s->dim))
            return MARKS[i].reason;
    return WHY_UNKNOWN;
}

/* Says why a symbol with a source was made. */
static bool explain_symbol(struct reason_step *s, struct err *err)
{
    struct str source = s->tensor ? s->tensor->source : s->size->source;
    s->size->state = WHY_IS_SYMBOL;
    s->size->reason = s->name->part <= WHY_SIZE ? marked_reason(s) : WHY_NOT_AN_INPUT;
    if (s->size->reason != WHY_UNKNOWN)
        return true;
    if (s->a->exported)
        s->size->reason = WHY_EXPORT;
    else if (str_ends(s->size->source, STR(".item()")))
        s->size->reason = WHY_READ;
    else if (names_source(s->a->config.dynamic_sources, source))
        s->size->reason = WHY_DYNAMIC_SOURCES;
    else if (!is_static_by_default(s))
        s->size->reason = WHY_DYNAMIC_TRUE;
    else
        return explain_automatic(s, err);
    return true;
}

/* ---- What kept it a constant ---- */

/* Sets the symbol of another size that this one uses. */
static bool share(struct reason_step *s, struct str owner, bool inferred, struct err *err)
{
    const struct symbol *found = NULL;
    for (uint32_t i = 0; i < s->b->symbols->n_symbols && !found; i++) {
        const struct symbol *symbol = &s->b->symbols->symbols[i];
        if (symbol->attempt == s->a->attempt && str_eq(symbol->source, owner))
            found = symbol;
    }
    if (!found)
        return true;
    set_reason(s->size, WHY_IS_SHARED, WHY_DUCK);
    s->size->inferred = inferred;
    s->size->symbol = found->name;
    s->size->range = found->range;
    s->size->evidence =
        why_printf(s->b, "%.*s was %.*s, too", STR_ARG(owner), STR_ARG(s->size->value));
    return s->size->evidence.p || err_nomem(err);
}

/* Returns the source of the symbol that sizes of a value share, or "". */
static struct str duck_owner(const struct why_attempt *a, int64_t value)
{
    for (size_t i = 0; i < a->inputs.list.n; i++) {
        const struct input *input = &a->inputs.list.v[i];
        if (input->kind != INPUT_TENSOR || !input->tensor.concrete)
            continue;
        const struct input_tensor *t = &input->tensor;
        for (uint32_t d = 0; d < t->ndim; d++)
            if (t->duck[d] && t->size[d] == value && t->size_symbol[d].name.n)
                return t->size_symbol[d].source;
    }
    return STR("");
}

static bool share_by_value(struct reason_step *s, struct err *err)
{
    struct str owner = duck_owner(s->a, s->tensor->size[s->dim]);
    return !owner.n || share(s, owner, true, err);
}

/* The tree of guards says which size an input's size has to be equal to. */
static bool share_by_tree(struct reason_step *s, bool *shared, struct err *err)
{
    struct tree_guard guard;
    struct str owner;
    *shared = why_tree_equals(s->a->tree, "LAMBDA_GUARD", s->size->source, &guard, &owner) &&
              why_is_duck_guard(&guard);
    if (!*shared)
        return true;
    if (!share(s, owner, false, err))
        return false;
    *shared = s->size->state == WHY_IS_SHARED;
    return true;
}

static enum why_reason constant_reason(struct reason_step *s, const struct why_earlier *earlier)
{
    int64_t value = s->tensor->size[s->dim];
    bool zero_one = value == 0 || value == 1;
    if (why_tree_marks(s->a->tree, s->tensor->source, "_dynamo_static_indices", s->dim))
        return WHY_MARK_STATIC;
    if (!is_static_by_default(s))
        return zero_one ? WHY_ZERO_ONE : s->tensor->attribute ? WHY_MODULE_TENSOR : WHY_UNKNOWN;
    if (s->a->config.automatic_dynamic_shapes == CONFIG_OFF)
        return WHY_DYNAMIC_FALSE;
    return zero_one && earlier->changed ? WHY_ZERO_ONE : WHY_STATIC_BY_DEFAULT;
}

/* A size without a symbol of its own. */
static bool explain_constant(struct reason_step *s, struct err *err)
{
    struct why_earlier earlier;
    bool shared;
    set_reason(s->size, WHY_IS_CONSTANT, WHY_PARAMETER);
    if (s->tensor->of_module) {
        if (str_contains(s->tensor->source, STR("._buffers[")))
            s->size->reason = WHY_BUFFER;
        return true;
    }
    if (!share_by_tree(s, &shared, err) || shared)
        return shared;
    if (!why_earlier_values(s->b, s->a->attempt, s->name, &earlier, err))
        return false;
    s->size->reason = constant_reason(s, &earlier);
    bool may_share = !s->a->tree.n && !is_static_by_default(s) && s->size->reason == WHY_UNKNOWN;
    return !may_share || share_by_value(s, err);
}

/* ---- Unbacked sizes of inputs ---- */

/* mark_unbacked() makes symbols without a source, in the order of the dimensions, after the tensor
 * was described and before the next one is. */
static const struct symbol *unbacked_of(const struct reason_step *s, uint32_t record)
{
    uint32_t skip = 0;
    for (uint32_t d = 0; d < s->dim; d++)
        skip += why_tree_marks(s->a->tree, s->tensor->source, "_dynamo_unbacked_indices", d);
    for (uint32_t i = 0; i < s->b->symbols->n_symbols; i++) {
        const struct symbol *symbol = &s->b->symbols->symbols[i];
        if (symbol->attempt == s->a->attempt && symbol->record > record && symbol->unbacked &&
            skip-- == 0)
            return symbol;
    }
    return NULL;
}

/* ---- Sizes of tensors ---- */

static void set_symbol(struct why_build *b, const struct symbol *symbol, struct why_size *ret)
{
    ret->record = symbol->record;
    ret->symbol = symbol->name;
    ret->range = symbol->range;
    ret->value = symbol->value;
    ret->line = why_user_line(b, symbol->record, symbol->user_stack);
}

static const struct symbol *symbol_of_source(const struct why_build *b, uint32_t attempt,
                                             struct str source)
{
    for (uint32_t i = 0; i < b->symbols->n_symbols; i++)
        if (b->symbols->symbols[i].attempt == attempt &&
            str_eq(b->symbols->symbols[i].source, source))
            return &b->symbols->symbols[i];
    return NULL;
}

static bool size_of_tensor(struct reason_step *s, const struct why_description *d, struct err *err)
{
    struct why_build *b = s->b;
    s->size->source = why_printf(b, "%.*s.size()[%u]", STR_ARG(d->source), (unsigned)s->dim);
    s->size->value = why_printf(b, "%lld", (long long)d->size[s->dim]);
    s->size->record = d->record;
    if (!s->size->source.p || !s->size->value.p)
        return err_nomem(err);
    s->tensor = why_find_tensor(s->a, d->source);
    const struct symbol *symbol = symbol_of_source(b, s->a->attempt, s->size->source);
    if (symbol)
        set_symbol(b, symbol, s->size);
    if (symbol || !s->tensor || !s->tensor->concrete || s->dim >= s->tensor->ndim)
        return symbol ? explain_symbol(s, err) : true;
    if (!why_tree_marks(s->a->tree, d->source, "_dynamo_unbacked_indices", s->dim))
        return explain_constant(s, err);
    symbol = unbacked_of(s, d->record);
    if (symbol)
        set_symbol(b, symbol, s->size);
    s->size->value = why_printf(b, "%lld", (long long)d->size[s->dim]);
    set_reason(s->size, symbol ? WHY_IS_SYMBOL : WHY_IS_CONSTANT, WHY_MARK_UNBACKED);
    return s->size->value.p || err_nomem(err);
}

/* ---- Numbers, and symbols of anything else ---- */

/* Returns why an integer or a float is a constant, from where it comes. */
static enum why_reason number_reason(const struct reason_step *s, struct str comment)
{
    const struct compile_config *config = &s->a->config;
    struct str value = s->size->value, source = s->size->source;
    bool sign = str_starts(value, STR("-"));
    bool integer = value.n > sign && str_digits(str_from(value, sign)) + sign == value.n;
    if (str_is(str_from(value, sign), "inf") || str_is(value, "nan"))
        return WHY_NOT_FINITE;
    if (value.n == sign || !is_digit(value.p[sign]))
        return WHY_NOT_A_NUMBER;
    if (!integer && config->specialize_float == CONFIG_ON)
        return WHY_SPECIALIZE_FLOAT;
    if (integer && config->specialize_int == CONFIG_ON)
        return WHY_SPECIALIZE_INT;
    if (str_contains(comment, STR("integer attributes of the nn.Module")))
        return WHY_MODULE_INT;
    if (integer && str_starts(source, STR("G[")))
        return WHY_GLOBAL_INT;
    if (integer && (str_contains(source, STR(".__defaults__[")) ||
                    str_contains(source, STR(".__kwdefaults__["))))
        return WHY_DEFAULT_INT;
    return config->automatic_dynamic_shapes == CONFIG_OFF ? WHY_DYNAMIC_FALSE
                                                          : WHY_STATIC_BY_DEFAULT;
}

static bool number_constant(struct reason_step *s, bool *found, struct err *err)
{
    struct tree_guard guard;
    struct str value;
    struct why_earlier earlier;
    *found = why_tree_number(s->b, s->a->tree, s->name->plain, &s->size->source, &guard, &value);
    if (!*found)
        return true;
    struct tree_place place = guard_tree_place(guard.comment);
    s->size->value = value;
    s->size->line = (struct why_line){ place.file, place.function, place.code, place.line };
    set_reason(s->size, WHY_IS_CONSTANT, number_reason(s, guard.comment));
    if (s->size->reason != WHY_STATIC_BY_DEFAULT)
        return true;
    if (!why_earlier_values(s->b, s->a->attempt, s->name, &earlier, err))
        return false;
    if (earlier.changed)
        s->size->reason = WHY_UNKNOWN;
    return true;
}

/* Returns the size of an input for which mark_unbacked() made the symbol, if any. */
static bool size_of_mark(struct why_build *b, const struct why_attempt *a, struct str symbol,
                         struct why_size *ret, bool *found, struct err *err)
{
    static const struct str MARK = { "_dynamo_unbacked_indices', set()).issubset(", 43 };
    for (size_t i = 0; i < a->inputs.list.n && str_contains(a->tree, MARK); i++) {
        const struct input *input = &a->inputs.list.v[i];
        const struct input_tensor *t = &input->tensor;
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < t->ndim; d++) {
            if (t->of_module || !why_tree_marks(a->tree, t->source, "_dynamo_unbacked_indices", d))
                continue;
            struct str plain = why_name_plain(t->source, &b->arena);
            struct why_name name = { .plain = plain, .base = plain, .part = WHY_SIZE, .dim = d };
            if (!plain.p)
                return err_nomem(err);
            if (!why_size_of(b, a, &name, ret, found, err))
                return false;
            if (*found && str_eq(ret->symbol, symbol))
                return true;
        }
    }
    *found = false;
    return true;
}

/* Returns the frame of PyTorch that made an unbacked symbol: the rule of an operator, as a rule. */
static struct frame maker_of(const struct why_build *b, const struct symbol *symbol)
{
    static const char *const SKIPPED[] = { "symbolic_shapes.py", "recording.py", "_internal.py",
                                           "sym_node.py" };
    uint32_t recording = b->trace->records[symbol->record].recording;
    struct frame frame = { 0 };
    for (stack_id at = symbol->stack; at; at = stack_parent(b->trace, at)) {
        frame = stack_frame(b->trace, recording, at);
        if (!STR_IS_ANY(str_basename(frame.file), SKIPPED))
            return frame;
    }
    return (struct frame){ 0 };
}

static bool set_maker(struct why_build *b, const struct symbol *symbol, struct why_size *ret,
                      struct err *err)
{
    struct frame frame = maker_of(b, symbol);
    if (!frame.file.n)
        return true;
    struct str file = str_basename(frame.file);
    ret->evidence = why_printf(b, "made in %.*s() of %.*s:%u", STR_ARG(frame.function),
                               STR_ARG(file), (unsigned)frame.line);
    return ret->evidence.p || err_nomem(err);
}

bool why_size_of_symbol(struct why_build *b, const struct why_attempt *a, struct str name,
                        struct why_size *ret, bool *found, struct err *err)
{
    const struct symbol *symbol = why_find_symbol(b, a->attempt, name);
    *found = symbol != NULL;
    if (!symbol)
        return true;
    if (symbol->source.n) {
        struct str plain = why_name_plain(symbol->source, &b->arena);
        struct why_name split = why_name_split(plain);
        return plain.p ? why_size_of(b, a, &split, ret, found, err) : err_nomem(err);
    }
    if (!size_of_mark(b, a, name, ret, found, err) || *found)
        return *found;
    *found = true;
    *ret = (struct why_size){ .attempt = a->attempt, .state = WHY_IS_SYMBOL, .reason = WHY_DATA };
    set_symbol(b, symbol, ret);
    return set_maker(b, symbol, ret, err);
}

static bool explain_number(struct reason_step *s, bool *found, struct err *err)
{
    for (uint32_t i = 0; i < s->b->symbols->n_symbols; i++) {
        const struct symbol *symbol = &s->b->symbols->symbols[i];
        if (symbol->attempt != s->a->attempt || !symbol->source.n)
            continue;
        struct str plain = why_name_plain(symbol->source, &s->b->arena);
        if (!plain.p)
            return err_nomem(err);
        if (!str_eq(plain, s->name->plain))
            continue;
        s->size->source = symbol->source;
        set_symbol(s->b, symbol, s->size);
        *found = true;
        return explain_symbol(s, err);
    }
    return number_constant(s, found, err);
}

/* ---- Strides and offsets ---- */

/* A stride without a symbol is a number, or follows from sizes: then the tree says what it has to
 * be equal to. */
static bool layout_of_tensor(struct reason_step *s, const struct why_description *d, bool *found,
                             struct err *err)
{
    struct why_build *b = s->b;
    struct tree_guard guard;
    struct str expr;
    if (!explain_number(s, found, err) || *found)
        return *found;
    bool stride = s->name->part == WHY_STRIDE;
    s->size->source = stride
                          ? why_printf(b, "%.*s.stride()[%u]", STR_ARG(d->source), (unsigned)s->dim)
                          : why_printf(b, "%.*s.storage_offset()", STR_ARG(d->source));
    s->size->value = why_printf(b, "%lld", (long long)(stride ? d->stride[s->dim] : d->offset));
    s->size->record = d->record;
    *found = true;
    if (!s->size->source.p || !s->size->value.p)
        return err_nomem(err);
    bool zero_one = str_is(s->size->value, "0") || str_is(s->size->value, "1");
    set_reason(s->size, WHY_IS_CONSTANT,
               is_static_by_default(s) ? WHY_STATIC_BY_DEFAULT
               : zero_one              ? WHY_ZERO_ONE
                                       : WHY_UNKNOWN);
    if (why_tree_equals(s->a->tree, "LAMBDA_GUARD", s->size->source, &guard, &expr) ||
        why_tree_equal_to(s->a->tree, s->size->source, &expr)) {
        set_reason(s->size, WHY_IS_DERIVED, WHY_NOT_AN_INPUT);
        s->size->now = expr;
    }
    return true;
}

bool why_size_of(struct why_build *b, const struct why_attempt *a, const struct why_name *name,
                 struct why_size *ret, bool *found, struct err *err)
{
    struct reason_step s = { .b = b, .a = a, .name = name, .size = ret };
    struct why_description d = { .record = TRACE_NONE };
    *found = false;
    *ret = (struct why_size){
        .attempt = a->attempt, .record = TRACE_NONE, .state = WHY_IS_CONSTANT, .reason = WHY_UNKNOWN
    };
    if (name->part != WHY_WHOLE && a->attempt != TRACE_NONE &&
        !why_describe(b, a->attempt, name->base, &d, err))
        return false;
    int64_t dim = name->dim < 0 ? name->dim + d.ndim : name->dim;
    if (d.record == TRACE_NONE)
        return explain_number(&s, found, err);
    *found = name->part == WHY_OFFSET || (dim >= 0 && dim < d.ndim);
    s.dim = (uint32_t)dim;
    if (name->part != WHY_SIZE)
        return !*found || layout_of_tensor(&s, &d, found, err);
    return !*found || size_of_tensor(&s, &d, err);
}
