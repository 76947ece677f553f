#include "profile/diagnosis/finder.h"

#include "trace/events/user_line.h"

enum { MOST_FINDINGS = 10000, MOST_LISTED = 50 /* evidence or remedies of a finding */ };

const struct build_input *find_input(const struct finder *d, uint32_t recording)
{
    return &profile_inputs(d->p)[d->p->recordings[recording].input];
}

const struct setting_list *find_settings(struct finder *d, uint32_t trace)
{
    if (!d->settings && !(d->settings = calloc((size_t)d->p->n_traces + 1, sizeof(void *))))
        err_nomem(&d->err);
    if (err_is_set(&d->err))
        return NULL;
    if (!d->settings[trace])
        d->settings[trace] = settings_read(d->p->traces[trace], &d->err);
    return d->settings[trace];
}

bool find_has_setting(struct finder *d, uint32_t recording, const char *module, const char *name,
                      const char *value)
{
    const struct profile_recording *r = &d->p->recordings[recording];
    const struct setting_list *list = find_settings(d, r->input);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct setting *s = &list->settings[i];
        if (d->p->traces[r->input]->records[s->record].recording == r->recording &&
            str_is(s->name, name) && str_is(s->value, value) && str_is(s->module, module))
            return true;
    }
    return false;
}

static struct finding_build *find_new(struct finder *d)
{
    struct finding_build *f =
        d->n < MOST_FINDINGS ? arena_new(&d->arena, struct finding_build) : NULL;
    if (!f ||
        (d->n == d->cap && !vec_grow((void **)&d->items, &d->cap, d->n, 1, sizeof *d->items))) {
        if (d->n < MOST_FINDINGS)
            err_nomem(&d->err);
        return NULL;
    }
    d->items[d->n++] = f;
    return f;
}

/* Returns the place of a finding in items by its kind and key; d->n for a new one. */
static size_t find_index(struct finder *d, enum finding_kind kind, struct str key)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%d ", (int)kind);
    if (key.n > 0)
        buf_put(&text, key);
    else
        buf_printf(&text, "#%zu", d->n);
    uint32_t id = text.failed ? PROFILE_NONE : intern(&d->keys, buf_str(&text));
    buf_release(&text);
    if (id == PROFILE_NONE)
        err_nomem(&d->err);
    return id;
}

struct finding_build *find_add(struct finder *d, enum finding_kind kind,
                               const struct profile_where *where, struct str key)
{
    if (err_is_set(&d->err) || d->n >= MOST_FINDINGS)
        return NULL;
    size_t at = find_index(d, kind, key);
    if (err_is_set(&d->err))
        return NULL;
    if (at < d->n) {
        d->items[at]->finding.count++;
        return d->items[at];
    }
    struct finding_build *f = find_new(d);
    if (f)
        f->weight_ns = -1;
    if (f)
        f->finding = (struct finding){
            .kind = kind,
            .count = 1,
            .ns = -1,
            .recording = where ? where->recording : PROFILE_NONE,
            .compile = where ? where->compile : PROFILE_NONE,
        };
    return f;
}

bool find_is_new(const struct finding_build *f)
{
    return f && f->finding.count == 1;
}

static struct str find_text(struct finder *d, const char *fmt, va_list args)
{
    struct buf text = BUF_INIT;
    buf_vprintf(&text, fmt, args);
    struct str ret = { 0 };
    if (!text.failed)
        ret = arena_copy(&d->arena, buf_str(&text));
    if (!ret.p)
        err_nomem(&d->err);
    buf_release(&text);
    return ret;
}

struct str find_copy(struct finder *d, struct str text)
{
    struct str ret = arena_copy(&d->arena, text);
    if (!ret.p)
        err_nomem(&d->err);
    return ret;
}

void find_cause(struct finder *d, struct finding_build *f, const char *fmt, ...)
{
    va_list args;
    if (!f)
        return;
    va_start(args, fmt);
    f->finding.cause = find_text(d, fmt, args);
    va_end(args);
}

void find_source(struct finder *d, struct finding_build *f, struct str source)
{
    if (!f)
        return;
    f->finding.source = find_copy(d, source);
}

void find_message(struct finder *d, struct finding_build *f, struct str type, struct str reason)
{
    struct buf text = BUF_INIT;
    if (!f)
        return;
    buf_printf(&text, "%.*s%s%.*s", STR_ARG(type), type.n > 0 ? ": " : "", STR_ARG(reason));
    f->finding.message = text.failed ? (struct str){ 0 } : arena_copy(&d->arena, buf_str(&text));
    if (!f->finding.message.p)
        err_nomem(&d->err);
    buf_release(&text);
}

void find_evidence(struct finder *d, struct finding_build *f, const char *fmt, ...)
{
    va_list args;
    if (!f || f->evidence.n >= MOST_LISTED)
        return;
    va_start(args, fmt);
    if (!vec_push(&f->evidence, find_text(d, fmt, args)))
        err_nomem(&d->err);
    va_end(args);
}

void find_remedy(struct finder *d, struct finding_build *f, enum remedy_kind kind, const char *fmt,
                 ...)
{
    va_list args;
    if (!f || f->remedies.n >= MOST_LISTED)
        return;
    va_start(args, fmt);
    struct remedy remedy = { .kind = kind, .text = find_text(d, fmt, args) };
    va_end(args);
    for (size_t i = 0; i < f->remedies.n; i++)
        if (str_eq(f->remedies.v[i].text, remedy.text))
            return;
    if (!vec_push(&f->remedies, remedy))
        err_nomem(&d->err);
}

void find_effect(struct finding_build *f, enum remedy_effect effect)
{
    if (f && f->remedies.n > 0)
        f->remedies.v[f->remedies.n - 1].effect = effect;
}

void find_fact(struct finding_build *f, struct str fact, bool negates)
{
    if (!f || !f->remedies.n)
        return;
    f->remedies.v[f->remedies.n - 1].fact = fact;
    f->remedies.v[f->remedies.n - 1].negates = negates;
}

void find_dim(struct finder *d, struct finding_build *f, const struct dim_remedy *dim)
{
    struct dim_remedy *kept = f && f->remedies.n ? arena_new(&d->arena, struct dim_remedy) : NULL;
    if (!f || !f->remedies.n)
        return;
    if (!kept) {
        err_nomem(&d->err);
        return;
    }
    *kept = *dim;
    kept->source = find_copy(d, dim->source);
    kept->root = find_copy(d, dim->root);
    f->remedies.v[f->remedies.n - 1].dim = kept;
}

void find_place(struct finding_build *f, struct str file, uint32_t line, struct str code)
{
    if (!f)
        return;
    f->finding.file = file;
    f->finding.line = line;
    f->finding.code = code;
}

void find_line(const struct finder *d, struct finding_build *f, uint32_t recording, stack_id stack)
{
    const struct trace *trace = find_input(d, recording)->trace;
    uint32_t in = d->p->recordings[recording].recording;
    stack_id user = user_line(trace, in, stack);
    if (!f || user == 0)
        return;
    struct frame frame = stack_frame(trace, in, user);
    find_place(f, frame.file, frame.line, frame.code);
}

bool find_call_frame(const struct finder *d, uint32_t recording, uint32_t attempt,
                     struct frame *ret)
{
    struct trace *trace = find_input(d, recording)->trace;
    const struct attempt *a = attempt == TRACE_NONE ? NULL : &trace->attempts[attempt];
    struct json doc = { 0 };
    *ret = (struct frame){ 0 };
    for (uint32_t i = 0; a && ret->file.n == 0 && i < a->n_records; i++) {
        struct err unreadable = { 0 };
        if (trace->records[a->records[i]].event != EVENT_DYNAMO_START ||
            !record_json(trace, a->records[i], &doc, &unreadable))
            continue;
        stack_id stack = record_stack(trace, &doc, STR("stack"));
        *ret = stack_frame(trace, a->recording, user_program_line(trace, a->recording, stack));
    }
    json_release(&doc);
    return ret->file.n > 0;
}

bool find_may_be_export(const struct trace *trace, uint32_t attempt)
{
    enum { FIRST = 16 }; /* records; recompile_reasons may precede it */
    if (attempt == TRACE_NONE)
        return true;
    const struct attempt *a = &trace->attempts[attempt];
    for (uint32_t i = 0; i < a->n_records && i < FIRST; i++)
        if (trace->records[a->records[i]].event == EVENT_DYNAMO_START)
            return false;
    return true;
}

void find_cost(struct finding_build *f, int64_t ns, enum basis basis)
{
    if (!f || ns < 0)
        return;
    if (f->finding.ns < 0)
        f->finding.ns = 0;
    build_add_ns(&f->finding.ns, ns);
    if (basis == BASIS_ESTIMATED)
        f->finding.basis = basis;
}

void find_absorb(struct finder *d, struct finding_build *f, enum finding_kind kind)
{
    for (size_t i = 0; f && f->finding.file.n > 0 && i < d->n; i++) {
        struct finding_build *part = d->items[i];
        if (part == f || part->absorbed || part->finding.kind != kind ||
            part->finding.line != f->finding.line || !str_eq(part->finding.file, f->finding.file))
            continue;
        part->absorbed = f->absorbs = true;
        for (size_t k = 0; k < part->remedies.n; k++)
            find_remedy(d, f, part->remedies.v[k].kind, "%.*s", STR_ARG(part->remedies.v[k].text));
        find_cost(f, part->finding.ns, part->finding.basis);
    }
}

void find_weight(struct finding_build *f, int64_t ns)
{
    if (f)
        f->weight_ns = ns;
}

void find_weight_if_alone(const struct finder *d, struct finding_build *f)
{
    const struct profile *p = d->p;
    if (p->n_failures == 0 && p->n_recompiles == 0 && p->n_restarts == 0 && p->n_breaks == 0)
        find_weight(f, p->compile_ns);
}
