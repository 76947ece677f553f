/* Findings: injected faults, and settings that are not the default and cause something. */
#include "profile/diagnosis/finder.h"

enum condition {
    CONDITION_FAULT,
    CONDITION_SLOW,
    CONDITION_SERIAL,
    CONDITION_AUTOTUNE,
    CONDITION_SIZES,
    CONDITION_INTS,
    CONDITION_MODULES,
    CONDITION_LIMIT,
    CONDITION_LIMIT_HIT,
    CONDITION_RECOMPILE,
    CONDITION_HIDDEN,
};

static const struct known_setting {
    const char *module, *name, *default_value;
    enum condition condition;
    const char *effect;
} SETTINGS[] = {
#define SETTING(module, name, default_value, condition, effect) \
    { module, name, default_value, CONDITION_##condition, effect },
#include "profile/diagnosis/settings/settings.def"
#undef SETTING
};

/* A setting that is not the default, and what was found about it. */
struct changed_setting {
    const struct known_setting *known;
    const struct setting *setting;
    uint32_t recording;  /* index into profile->recordings */
    uint64_t n;          /* what its condition counts: recompiles, failures; 0: it does not hold */
    const char *counted; /* "recompiles", to be printed with n; NULL: nothing is counted */
    const struct profile_failure *failure; /* that it caused; NULL */
    int64_t ns;                            /* measured time that it cost; -1: not known */
    int64_t weight_ns; /* time of what it causes, which other findings count; -1: not known */
};

/* ---- Reading the table ---- */

static bool name_matches(struct str name, const char *pattern)
{
    struct str p = str_of(pattern);
    if (p.n > 0 && p.p[0] == '*')
        return str_ends(name, str_from(p, 1));
    if (p.n > 0 && p.p[p.n - 1] == '*')
        return str_starts(name, str_first(p, p.n - 1));
    return str_eq(name, p);
}

static const struct known_setting *find_known(const struct setting *setting)
{
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        if (name_matches(setting->name, SETTINGS[i].name) &&
            name_matches(setting->module, SETTINGS[i].module))
            return &SETTINGS[i];
    return NULL;
}

static bool is_default(const struct known_setting *known, struct str value)
{
    static const char *const OFF[] = { "False", "None", "0", "''", "\"\"" };
    return known->default_value[0] ? str_is(value, known->default_value)
                                   : str_is_one_of(value, OFF, sizeof OFF / sizeof *OFF);
}

/* ---- Conditions ---- */

/* Counts the recompiles of the recording whose newest reason has this text. */
static void check_recompiles(const struct finder *d, struct changed_setting *c, struct str text)
{
    for (uint32_t i = 0; i < d->p->n_recompiles; i++) {
        const struct recompile *r = d->p->recompiles[i].is;
        bool found = text.n == 0 || (r->n_reasons > 0 && str_contains(r->reasons[0].guard, text));
        if (!found || d->p->recompiles[i].where.recording != c->recording)
            continue;
        if (c->n++ == 0)
            c->weight_ns = 0;
        if (r->ns > 0)
            build_add_ns(&c->weight_ns, r->ns);
    }
}

/* Messages of torch/_dynamo/convert_frame.py: "Dynamo recompile limit exceeded" (2.9 on),
 * "torch._dynamo hit config.recompile_limit (8)", "cache_size_limit reached". */
static bool names_limit(struct str text)
{
    static const char *const WORDS[] = { "recompile_limit", "recompile limit", "cache_size_limit" };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (str_contains(text, str_of(WORDS[i])))
            return true;
    return false;
}

static uint64_t count_limits(const struct finder *d, uint32_t recording)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < d->p->n_failures; i++)
        n += d->p->failures[i].where.recording == recording &&
             names_limit(d->p->failures[i].is->reason);
    for (uint32_t i = 0; n == 0 && i < d->p->n_breaks; i++)
        n +=
            d->p->breaks[i].where.recording == recording && names_limit(d->p->breaks[i].is->reason);
    return n;
}

static uint64_t count_failures(const struct finder *d, uint32_t recording)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < d->p->n_failures; i++)
        n += d->p->failures[i].where.recording == recording && !d->p->failures[i].is->is_break;
    return n;
}

static int64_t kernel_compile_ns(const struct finder *d, uint32_t recording)
{
    const struct build_input *in = find_input(d, recording);
    int64_t sum = 0;
    for (uint32_t i = 0; i < in->metrics->n; i++) {
        const struct metrics *m = &in->metrics->metrics[i];
        uint32_t from = in->recording_of[in->trace->records[m->record].recording];
        if (from == recording && m->values[METRIC_TRITON_COMPILE] > 0)
            build_add_ns(&sum, m->values[METRIC_TRITON_COMPILE]);
    }
    return sum;
}

/* Returns the failure of a backend, which an injected fault caused as far as the tape tells. */
static const struct profile_failure *backend_failure(const struct finder *d, uint32_t recording)
{
    static const char *const WORDS[] = { "Inductor", "BackendCompilerFailed", "LoweringException",
                                         "CompileError", "CompilationError" };
    for (uint32_t i = 0; i < d->p->n_failures; i++) {
        const struct profile_failure *f = &d->p->failures[i];
        for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
            if (f->where.recording == recording && !f->is->is_break &&
                (str_contains(f->is->type, str_of(WORDS[k])) ||
                 str_contains(f->is->summary, str_of(WORDS[k]))))
                return f;
    }
    return NULL;
}

static void check_autotune(const struct finder *d, struct changed_setting *c)
{
    int64_t ns = d->p->autotuning_ns; /* of all recordings */
    c->n = ns > 0 && ns >= d->p->compile_ns / 100;
    if (c->n && d->p->n_recordings == 1)
        c->ns = ns;
}

static void check_serial(const struct finder *d, struct changed_setting *c)
{
    int64_t all = d->p->recordings[c->recording].compile_ns;
    c->n =
        str_is(c->setting->value, "1") && all > 0 && kernel_compile_ns(d, c->recording) >= all / 10;
}

static void check_limit(const struct finder *d, struct changed_setting *c)
{
    int64_t value = 0, normal = 0;
    bool lower = str_to_i64(c->setting->value, &value) &&
                 str_to_i64(str_of(c->known->default_value), &normal) && value < normal;
    c->n = lower ? count_limits(d, c->recording) : 0;
    c->counted = "limits reached";
}

static void check_condition(const struct finder *d, struct changed_setting *c)
{
    uint32_t r = c->recording;
    c->counted = "recompiles";
    switch (c->known->condition) {
    case CONDITION_FAULT: c->failure = backend_failure(d, r); /* fall through */
    case CONDITION_SLOW:
        c->n = 1;
        c->counted = NULL;
        break;
    case CONDITION_SERIAL:
        check_serial(d, c);
        c->counted = NULL;
        break;
    case CONDITION_AUTOTUNE:
        check_autotune(d, c);
        c->counted = NULL;
        break;
    case CONDITION_SIZES: check_recompiles(d, c, STR("size mismatch")); break;
    case CONDITION_INTS: check_recompiles(d, c, STR(" == ")); break;
    case CONDITION_MODULES: check_recompiles(d, c, STR("___check_obj_id")); break;
    case CONDITION_LIMIT: check_limit(d, c); break;
    case CONDITION_LIMIT_HIT:
        c->n = count_limits(d, r);
        c->counted = "limits reached";
        break;
    case CONDITION_RECOMPILE: check_recompiles(d, c, STR("")); break;
    case CONDITION_HIDDEN:
        c->n = count_failures(d, r);
        c->counted = "failed compiles";
        break;
    }
}

/* ---- Findings ---- */

static void write_setting(struct finder *d, struct finding_build *f,
                          const struct changed_setting *c)
{
    const struct known_setting *known = c->known;
    const struct setting *s = c->setting;
    const char *normal = known->default_value[0] ? known->default_value : "off";
    find_cause(d, f, "%.*s.%.*s is %.*s (the default is %s): %s", STR_ARG(s->module),
               STR_ARG(s->name), STR_ARG(s->value), normal, known->effect);
    if (c->counted)
        find_evidence(d, f, "%s: %llu", c->counted, (unsigned long long)c->n);
    if (known->default_value[0] && known->condition != CONDITION_SERIAL)
        find_remedy(d, f, REMEDY_CHANGE_SETTING, "%.*s.%.*s = %s, or leave it unset",
                    STR_ARG(s->module), STR_ARG(s->name), normal);
    else
        find_remedy(d, f, REMEDY_CHANGE_SETTING, "leave %.*s.%.*s unset", STR_ARG(s->module),
                    STR_ARG(s->name));
}

static void add_changed(struct finder *d, const struct changed_setting *c)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s.%.*s", STR_ARG(c->setting->module), STR_ARG(c->setting->name));
    const struct profile_where where = { c->recording, PROFILE_NONE, TRACE_NONE };
    bool fault = c->known->condition == CONDITION_FAULT;
    size_t before = d->n;
    struct finding_build *f =
        key.failed
            ? NULL
            : find_add(d, fault ? FINDING_FAULT : FINDING_CONFIGURATION, &where, buf_str(&key));
    if (key.failed)
        err_nomem(&d->err);
    buf_release(&key);
    if (!f)
        return;
    f->finding.count = 1; /* of all ranks, one setting */
    if (d->n == before)
        return;
    write_setting(d, f, c);
    find_cost(f, c->ns, BASIS_MEASURED);
    /* One that causes recompiles stands behind a finding that has the same recompiles, and before
     * several that share them. */
    if (c->known->condition == CONDITION_SLOW)
        find_weight_if_alone(d, f);
    else
        find_weight(f, c->weight_ns > 0 ? c->weight_ns - 1 : c->weight_ns);
    if (!c->failure)
        return;
    f->finding.ended_program = true;
    f->finding.compile = c->failure->where.compile;
    find_evidence(d, f, "%.*s: %.*s", STR_ARG(c->failure->is->type),
                  STR_ARG(str_first(c->failure->is->summary, 200)));
    find_place(f, c->failure->is->file, c->failure->is->line, c->failure->is->code);
}

static void find_changed(struct finder *d, uint32_t trace, const struct setting *setting)
{
    const struct build_input *in = &profile_inputs(d->p)[trace];
    const struct known_setting *known = find_known(setting);
    struct changed_setting c = {
        .known = known,
        .setting = setting,
        .recording = in->recording_of[in->trace->records[setting->record].recording],
        .ns = -1,
        .weight_ns = -1,
    };
    if (!known || c.recording == PROFILE_NONE || is_default(known, setting->value))
        return;
    check_condition(d, &c);
    if (c.n > 0)
        add_changed(d, &c);
}

void find_faults_and_settings(struct finder *d)
{
    for (uint32_t trace = 0; trace < d->p->n_traces; trace++) {
        const struct setting_list *list = find_settings(d, trace);
        for (uint32_t i = 0; list && i < list->n; i++)
            find_changed(d, trace, &list->settings[i]);
    }
}
