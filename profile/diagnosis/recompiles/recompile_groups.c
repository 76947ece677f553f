#include "profile/diagnosis/recompiles/recompile_groups.h"

#include "profile/diagnosis/failures/find_failures.h"
#include "profile/diagnosis/failures/size_solver.h"
#include "profile/diagnosis/recompiles/recompile_cause.h"

#include "trace/events/user_line.h"

enum { MOST_VALUES = 64, MOST_GROUPS = 1000, MOST_COMPILES = 16 };

/* ---- Groups ---- */

bool same_function(const struct profile_compile *a, const struct profile_compile *b)
{
    return a->recording == b->recording &&
           str_eq(str_first(a->id, str_find_char(a->id, '/')),
                  str_first(b->id, str_find_char(b->id, '/'))) &&
           str_eq(str_from(a->id, str_find_char(a->id, '.')),
                  str_from(b->id, str_find_char(b->id, '.')));
}

/* Recompiles that are being grouped, with what finds their parts at once. */
struct grouping {
    struct finder *d;
    struct recompile_groups *all;
    struct intern keys; /* of groups, in their order */
    struct recompile_index index;
    const struct failure **limits; /* of each compile: the last limit that it reached; NULL */
};

/* Appends the key of a group: its function, and what its guards ask for. Guards of one group agree
 * in recompile_same_subject(). */
static void put_group_key(struct buf *out, const struct profile_compile *compile,
                          const struct recompile_guard *guard)
{
    struct recompile_guard any = *guard;
    any.text = STR("");
    struct str id = compile ? compile->id : STR("");
    struct str after = str_from(id, str_find_char(id, '.'));
    struct str text = recompile_same_subject(guard, &any) ? STR("") : guard->text;
    id = str_first(id, str_find_char(id, '/'));
    buf_printf(out, "%u %zu %zu %zu %zu %d ", compile ? (unsigned)compile->recording : PROFILE_NONE,
               id.n, after.n, guard->source.n, guard->index.n, (int)guard->kind);
    const struct str parts[] = { id, after, guard->source, guard->index, text };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_put(out, parts[i]);
}

/* Returns the group of a guard, a new one if there is none; NULL when there are too many, or when
 * memory ran out. */
static struct recompile_group *find_group(struct grouping *g, const struct profile_compile *compile,
                                          const struct recompile_guard *guard)
{
    struct buf key = BUF_INIT;
    uint32_t id = INTERN_NONE;
    put_group_key(&key, compile, guard);
    bool full = g->all->groups.n == MOST_GROUPS, ok = !key.failed;
    if (ok)
        id = full ? intern_find(&g->keys, buf_str(&key)) : intern(&g->keys, buf_str(&key));
    ok = ok && (id != INTERN_NONE || full);
    if (ok && id == g->all->groups.n)
        ok = vec_push(&g->all->groups, (struct recompile_group){ .count = 0 });
    buf_release(&key);
    if (!ok)
        err_nomem(&g->d->err);
    return ok && id != INTERN_NONE ? &g->all->groups.v[id] : NULL;
}

static void add_value(struct finder *d, struct recompile_group *g, struct str value)
{
    for (size_t i = 0; i < g->values.n; i++)
        if (str_eq(g->values.v[i], value))
            return;
    if (value.n == 0)
        return;
    g->has_more_values = g->values.n == MOST_VALUES;
    if (!g->has_more_values && !vec_push(&g->values, value))
        err_nomem(&d->err);
}

struct str recompile_last_value(const struct recompile_group *group)
{
    return group->values.n ? group->values.v[group->values.n - 1] : STR("");
}

static void add_compile(const struct grouping *of, struct recompile_group *g, uint32_t compile)
{
    const struct profile_compile *c = &of->d->p->compiles[compile];
    if (c->status == ATTEMPT_OK) {
        g->newest = compile;
        g->ns = g->ns < 0 ? 0 : g->ns;
        build_add_ns(&g->ns, c->ns - c->restarted_ns);
    } else if (c->status == ATTEMPT_FAILED && of->limits[compile]) {
        g->failure = of->limits[compile];
        recompile_limit_reached(g->failure, &g->limit);
    }
}

static void add_recompile(struct grouping *of, uint32_t i)
{
    struct finder *d = of->d;
    const struct profile_recompile *r = &d->p->recompiles[i];
    const struct recompile_reason *reason = recompile_cause(&of->index, d->p, r, &d->err);
    if (!reason || err_is_set(&d->err))
        return;
    struct recompile_guard guard = recompile_guard_parse(reason->guard);
    const struct profile_compile *compile =
        r->where.compile == PROFILE_NONE ? NULL : &d->p->compiles[r->where.compile];
    struct recompile_group *g = find_group(of, compile, &guard);
    if (g && g->count == 0)
        *g = (struct recompile_group){
            .guard = guard,
            .text = reason->text,
            .first = i,
            .compile = r->where.compile,
            .newest = PROFILE_NONE,
            .ns = -1,
            .file = reason->file,
            .code = reason->code,
            .line = reason->line,
        };
    if (!g)
        return;
    g->last = i;
    g->count++;
    add_value(d, g, guard.expected);
    add_value(d, g, guard.actual);
    if (compile)
        add_compile(of, g, r->where.compile);
}

/* Notes the limits that compiles reached. */
static bool find_limits(struct grouping *g)
{
    const struct profile *p = g->d->p;
    g->limits = calloc((size_t)p->n_compiles + 1, sizeof *g->limits);
    for (uint32_t i = 0; g->limits && i < p->n_failures; i++) {
        const struct profile_failure *f = &p->failures[i];
        struct str limit;
        if (f->where.compile != PROFILE_NONE && recompile_limit_reached(f->is, &limit))
            g->limits[f->where.compile] = f->is;
    }
    return g->limits != NULL;
}

static void group_recompiles(struct finder *d, struct recompile_groups *all)
{
    struct grouping g = { .d = d, .all = all };
    if (!find_limits(&g) || !recompile_index_fill(&g.index, d->p))
        err_nomem(&d->err);
    for (uint32_t i = 0; i < d->p->n_recompiles && !err_is_set(&d->err); i++)
        add_recompile(&g, i);
    intern_release(&g.keys);
    recompile_index_release(&g.index);
    free(g.limits);
}

/* ---- What the compiles of a group were compiled for ---- */

static struct str local_source(struct finder *d, struct str source, const char *after)
{
    struct buf text = BUF_INIT;
    source_local(&text, source);
    buf_puts(&text, after);
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&d->arena, buf_str(&text));
    if (!ret.p)
        err_nomem(&d->err);
    buf_release(&text);
    return ret;
}

/* Sets the value that the newest compile was compiled for, which no reason names. */
static void add_newest_value(struct finder *d, struct recompile_group *g, struct trace *trace)
{
    static const struct {
        enum recompile_kind kind;
        const char *before, *after;
    } TEXTS[] = {
        { RECOMPILE_VALUE, "", " == " },
        { RECOMPILE_LENGTH, "len(", ") == " },
        { RECOMPILE_FLOAT, "", ").item() == " },
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct compile_guard found;
        if (TEXTS[i].kind != g->guard.kind || g->newest == PROFILE_NONE)
            continue;
        struct str source = local_source(d, g->guard.source, TEXTS[i].after);
        struct buf text = BUF_INIT;
        buf_printf(&text, "%s%.*s", TEXTS[i].before, STR_ARG(source));
        if (!text.failed && compile_guard_find(trace, d->p->compiles[g->newest].last_attempt,
                                               buf_str(&text), &d->arena, &found, &d->err))
            add_value(d, g, found.value);
        buf_release(&text);
    }
}

/* Finds the line where a tensor was read, for guards that name none. */
static void add_line_of_tensor(struct finder *d, struct recompile_group *g, struct trace *trace)
{
    const struct profile_where *where = &d->p->recompiles[g->first].where;
    struct compile_guard found;
    struct str source = local_source(d, g->guard.source, ",");
    struct buf text = BUF_INIT;
    buf_printf(&text, "check_tensor(%.*s", STR_ARG(source));
    if (g->file.n == 0 && g->guard.source.n > 0 && where->attempt != TRACE_NONE && !text.failed &&
        compile_guard_find(trace, where->attempt, buf_str(&text), &d->arena, &found, &d->err)) {
        g->file = found.file;
        g->line = found.line;
        g->code = found.code;
    }
    buf_release(&text);
}

/* Looks whether mark_unbacked() marked the size: Dynamo guards on the marks of a tensor
 * (DIMENSION_DYNAMIC_MARKING_GUARD of TENSOR_MATCH in torch/_dynamo/guards.py). */
static void add_unbacked(struct finder *d, struct recompile_group *g, struct trace *trace)
{
    uint32_t attempt = d->p->recompiles[g->first].where.attempt;
    struct compile_guard found;
    struct str source = local_source(d, g->guard.source, "");
    struct buf text = BUF_INIT;
    buf_printf(&text, "getattr(%.*s, '_dynamo_unbacked_indices', set()).issubset({",
               STR_ARG(source));
    if (g->guard.index.n > 0 && attempt != TRACE_NONE && !text.failed &&
        compile_guard_find(trace, attempt, buf_str(&text), &d->arena, &found, &d->err)) {
        struct str dims = str_first(found.value, str_find_char(found.value, '}'));
        while (dims.n && !g->unbacked) {
            size_t comma = str_find_char(dims, ',');
            g->unbacked = str_eq(str_trim(str_first(dims, comma)), g->guard.index);
            dims = str_from(dims, comma + 1);
        }
    }
    buf_release(&text);
}

/* Notes the torch._check() whose condition became the guard. */
static void add_check(struct recompile_group *g)
{
    bool of_size = g->guard.kind == RECOMPILE_NOT_ONE || g->guard.kind == RECOMPILE_BRANCH;
    struct str code = str_trim(g->code);
    if (of_size && str_starts(code, STR("torch._check(")) && str_ends(code, STR(")")))
        g->check = code;
}

/* Looks whether the guards of the newest compile, which has a symbol for the size, refuse a value
 * of an earlier one: then a mark alone does not save a compile. */
static void add_refusing_guard(struct finder *d, struct recompile_group *g,
                               const struct symbol *symbol, uint32_t recording)
{
    struct symbol_scope scope = { d, recording, symbol->attempt, symbol->record };
    for (size_t i = 0; i < g->values.n && !g->refusing; i++) {
        uint64_t value;
        struct size_solution solution;
        if (!str_to_u64(g->values.v[i], &value) || value < 2 || value > INT32_MAX)
            continue;
        struct size_range only = { (int64_t)value, (int64_t)value };
        if (!size_solve(d, &scope, symbol, UINT32_MAX, only, &solution))
            return;
        g->refusing = solution.guard;
        g->refused = (int64_t)value;
    }
}

/* Returns whether an attempt compiled the group's function: other functions have inputs of the same
 * name. */
static bool is_of_group(const struct finder *d, const struct recompile_group *g,
                        const struct build_input *in, uint32_t attempt)
{
    uint32_t compile = build_compile(in, attempt);
    return g->compile == PROFILE_NONE ||
           (compile != PROFILE_NONE &&
            same_function(&d->p->compiles[compile], &d->p->compiles[g->compile]));
}

/* Finds the symbol of a group's size in the newest compile, and the line that specialized it, in
 * any compile of the function: that is where the user's program needs a constant. */
static void add_symbol(struct finder *d, struct recompile_group *g, const struct build_input *in)
{
    struct buf text = BUF_INIT;
    source_local(&text, g->guard.source);
    if (g->guard.index.n > 0)
        buf_printf(&text, ".size()[%.*s]", STR_ARG(g->guard.index));
    uint32_t recording = d->p->recompiles[g->first].where.recording;
    uint32_t newest =
        g->newest == PROFILE_NONE ? TRACE_NONE : d->p->compiles[g->newest].last_attempt;
    const struct symbol *symbol = NULL; /* of the newest compile */
    for (uint32_t i = 0; !text.failed && i < in->symbols->n_symbols; i++) {
        const struct symbol *s = &in->symbols->symbols[i];
        if (!str_eq(s->source, buf_str(&text)) || !is_of_group(d, g, in, s->attempt))
            continue;
        bool in_newest = s->attempt != TRACE_NONE && s->attempt == newest;
        stack_id stack = s->user_stack;
        if (s->specialization != TRACE_NONE)
            stack = in->symbols->specializations[s->specialization].user_stack;
        if (in_newest && g->guard.kind == RECOMPILE_VALUE)
            add_value(d, g, s->value);
        if (in_newest && s->specialization == TRACE_NONE) {
            g->dynamic = true;
            symbol = s;
        }
        g->specialized = in_newest ? s->specialization != TRACE_NONE : g->specialized;
        stack_id line = user_program_line(in->trace, d->p->recordings[recording].recording, stack);
        if (line == 0 || (g->line > 0 && s->specialization == TRACE_NONE && g->file.n > 0))
            continue;
        struct frame frame = stack_frame(in->trace, d->p->recordings[recording].recording, line);
        g->file = frame.file;
        g->line = frame.line;
        g->code = frame.code;
    }
    if (symbol && g->guard.kind == RECOMPILE_SIZE)
        add_refusing_guard(d, g, symbol, recording);
    buf_release(&text);
}

/* Appends a mark for each size of an input that differs in another compile of the function. */
static void put_marks(const struct compile_input *input, const struct compile_inputs *others,
                      uint32_t n_others, struct buf *marks, struct buf *sources)
{
    bool any = false;
    for (uint32_t i = 0; i < input->n_sizes; i++) {
        bool differs = false;
        for (uint32_t k = 0; k < n_others && !differs; k++) {
            const struct compile_input *other = compile_input_find(&others[k], input->source);
            differs =
                other && other->n_sizes == input->n_sizes && other->sizes[i] != input->sizes[i];
        }
        if (!differs)
            continue;
        buf_puts(marks, marks->n ? "; torch._dynamo.mark_dynamic(" : "torch._dynamo.mark_dynamic(");
        source_spoken(marks, input->source);
        buf_printf(marks, ", %u)", i);
        any = true;
    }
    if (any) {
        buf_puts(sources, sources->n ? "," : "");
        buf_put(sources, input->source);
    }
}

/* Returns the inputs of the compiles of the group's function, the newest one first. */
static uint32_t read_inputs(struct finder *d, const struct recompile_group *g, struct trace *trace,
                            struct compile_inputs *ret)
{
    uint32_t n = 0;
    for (uint32_t i = d->p->n_compiles;
         g->compile != PROFILE_NONE && i-- > 0 && n < MOST_COMPILES;) {
        const struct profile_compile *c = &d->p->compiles[i];
        if (c->status == ATTEMPT_OK && same_function(c, &d->p->compiles[g->compile]) &&
            compile_inputs_read(trace, c->last_attempt, &d->arena, &ret[n], &d->err))
            n++;
    }
    return n;
}

static struct str kept_text(struct finder *d, struct buf *text)
{
    struct str ret = text->failed ? (struct str){ 0 } : arena_copy(&d->arena, buf_str(text));
    if (!ret.p)
        err_nomem(&d->err);
    buf_release(text);
    return ret;
}

/* Finds all sizes that differ between the compiles of the function. To mark some of them only would
 * make the others contradict the marks. */
static void add_marks(struct finder *d, struct recompile_group *g,
                      const struct compile_inputs *inputs, uint32_t n)
{
    struct buf marks = BUF_INIT, sources = BUF_INIT;
    for (uint32_t i = 0; i < inputs[0].n; i++)
        if (!str_contains(inputs[0].inputs[i].source, STR("_parameters")))
            put_marks(&inputs[0].inputs[i], inputs + 1, n - 1, &marks, &sources);
    g->marks = kept_text(d, &marks);
    g->sources = kept_text(d, &sources);
}

/* Lists tensors of a container that only one of two compiles has. */
static void put_missing(struct finder *d, const struct recompile_group *g,
                        const struct compile_inputs *a, const struct compile_inputs *b,
                        struct buf *out)
{
    enum { MOST = 200 /* bytes */ };
    struct str source = local_source(d, g->guard.source, "[");
    for (uint32_t i = 0; i < a->n && out->n < MOST; i++) {
        struct str input = a->inputs[i].source;
        if (!str_starts(input, source) || compile_input_find(b, input))
            continue;
        buf_puts(out, out->n ? ", " : "");
        buf_put(out, input);
    }
}

static void add_inputs(struct finder *d, struct recompile_group *g, struct trace *trace)
{
    struct compile_inputs inputs[MOST_COMPILES];
    bool keys = g->guard.kind == RECOMPILE_KEYS;
    uint32_t n = keys || g->guard.kind == RECOMPILE_SIZE ? read_inputs(d, g, trace, inputs) : 0;
    if (n < 2)
        return;
    if (!keys) {
        add_marks(d, g, inputs, n);
        return;
    }
    struct buf missing = BUF_INIT;
    put_missing(d, g, &inputs[0], &inputs[1], &missing);
    put_missing(d, g, &inputs[1], &inputs[0], &missing);
    g->inputs = kept_text(d, &missing);
}

/* Completes a file's name that PyTorch cut at the front, by those of compiled functions and of
 * lines. A line of PyTorch itself is no user line. */
static void complete_file(const struct finder *d, struct recompile_group *g)
{
    if (user_file_of(g->file) == USER_FILE_TORCH) {
        g->file = g->code = STR("");
        g->line = 0;
    }
    for (uint32_t i = 0; g->file.n > 0 && g->file.p[0] != '/' && i < d->p->n_compiles; i++)
        if (str_ends(d->p->compiles[i].file, g->file))
            g->file = d->p->compiles[i].file;
    for (uint32_t i = 0; g->file.n > 0 && g->file.p[0] != '/' && i < d->p->lines.n_lines; i++)
        if (str_ends(profile_name(d->p, d->p->lines.lines[i].file), g->file))
            g->file = profile_name(d->p, d->p->lines.lines[i].file);
    if (g->file.n > 0 || g->compile == PROFILE_NONE || g->module_call)
        return;
    g->file = d->p->compiles[g->compile].file;
    g->line = d->p->compiles[g->compile].line;
}

static void complete_group(struct finder *d, struct recompile_group *g)
{
    uint32_t recording = d->p->recompiles[g->first].where.recording;
    if (recording == PROFILE_NONE)
        return;
    const struct build_input *in = find_input(d, recording);
    g->module_call = g->compile != PROFILE_NONE &&
                     user_file_of(d->p->compiles[g->compile].file) == USER_FILE_TORCH;
    if (user_file_of(g->file) == USER_FILE_TORCH) {
        g->file = g->code = STR("");
        g->line = 0;
    }
    add_newest_value(d, g, in->trace);
    if (g->guard.source.n > 0 && g->guard.kind != RECOMPILE_BRANCH)
        add_symbol(d, g, in);
    add_line_of_tensor(d, g, in->trace);
    add_unbacked(d, g, in->trace);
    add_check(g);
    add_inputs(d, g, in->trace);
    complete_file(d, g);
    struct frame call;
    uint32_t attempt = d->p->recompiles[g->first].where.attempt;
    if (g->file.n == 0 && find_call_frame(d, recording, attempt, &call)) {
        g->file = call.file;
        g->line = call.line;
        g->code = call.code;
    }
}

bool recompile_groups_read(struct finder *d, struct recompile_groups *ret)
{
    group_recompiles(d, ret);
    for (size_t i = 0; i < ret->groups.n && !err_is_set(&d->err); i++)
        complete_group(d, &ret->groups.v[i]);
    return !err_is_set(&d->err);
}

void recompile_groups_release(struct recompile_groups *groups)
{
    for (size_t i = 0; i < groups->groups.n; i++)
        vec_release(&groups->groups.v[i].values);
    vec_release(&groups->groups);
}
