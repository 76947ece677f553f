#include "profile/calls/warm/start_graphs.h"

#include "profile/calls/cache/key_components.h"

struct start_reader {
    struct start *ret;
    struct start_texts *texts;
    struct cache_list *caches;
    struct chromium_list *events;
    struct metrics_list *metrics;
    const struct metrics **metrics_of; /* by attempt: that of the compile's last attempt, or NULL */
    uint32_t *asked; /* by attempt: the graph that Inductor works on, TRACE_NONE */
    int64_t *began;  /* by attempt: when it began */
    uint32_t *n_of;  /* by attempt: graphs that AOTAutograd's answers were given to */
    vec_of(uint32_t)
    ordinals; /* by series: how many graphs were met */
    struct json doc;
    struct buf text, settings;
    struct err *err;
};

/* ---- Compiles ---- */

static bool is_here(const struct start_reader *in, uint32_t attempt)
{
    return attempt != TRACE_NONE &&
           (in->ret->recording == TRACE_NONE ||
            in->ret->trace->attempts[attempt].recording == in->ret->recording);
}

static void add_compile_time(struct start_reader *in, const struct metrics *m)
{
    int64_t ns = m->values[m->backward ? METRIC_DURATION : METRIC_ENTIRE_FRAME_COMPILE];
    if (ns == METRIC_ABSENT)
        ns = m->values[METRIC_DURATION];
    if (ns > 0 && ns <= INT64_MAX - in->ret->compile_ns)
        in->ret->compile_ns += ns;
    in->ret->n_compiles += !m->backward;
}

static void add_remote(uint64_t *sum, int64_t count)
{
    if (count > 0)
        *sum += (uint64_t)count;
}

/* An attempt that was restarted has no metrics: those of the compile's last attempt name its
 * function. */
static void read_metrics(struct start_reader *in)
{
    const struct trace *trace = in->ret->trace;
    for (uint32_t i = 0; i < in->metrics->n; i++) {
        const struct metrics *m = &in->metrics->metrics[i];
        if (!is_here(in, m->attempt) || m->runtime)
            continue;
        add_compile_time(in, m);
        add_remote(&in->ret->remote_hits, m->values[METRIC_CACHE_FX_REMOTE_HITS]);
        add_remote(&in->ret->remote_hits, m->values[METRIC_CACHE_AOT_REMOTE_HITS]);
        add_remote(&in->ret->remote_misses, m->values[METRIC_CACHE_FX_REMOTE_MISSES]);
        add_remote(&in->ret->remote_misses, m->values[METRIC_CACHE_AOT_REMOTE_MISSES]);
        if (!m->backward)
            in->metrics_of[m->attempt] = m;
    }
    for (uint32_t i = trace->n_attempts; i-- > 0;) {
        uint32_t next = trace->attempts[i].next;
        if (!in->metrics_of[i] && next != TRACE_NONE && next > i)
            in->metrics_of[i] = in->metrics_of[next];
    }
}

/* ---- Look-ups ---- */

/* Appends a component as ids: the list of an earlier key with the same bytes is used again. */
static bool put_setting(struct start_reader *in, struct key_part part)
{
    buf_le32(&in->settings, part.name);
    buf_le32(&in->settings, part.hash);
    return !in->settings.failed;
}

static bool push_part(struct start_texts *texts, struct key_part part)
{
    return texts->parts.n < UINT32_MAX && vec_push(&texts->parts, part);
}

/* Sets the list of settings that was put together; adds it, if it is new. */
static bool find_settings(struct start_reader *in, struct start_graph *graph)
{
    struct start_texts *texts = in->texts;
    graph->settings = intern(&texts->lists, buf_str(&in->settings));
    if (graph->settings == INTERN_NONE || graph->settings < texts->settings.n)
        return graph->settings != INTERN_NONE;
    struct bytes bytes = bytes_of(intern_text(&texts->lists, graph->settings));
    struct part_list list = { .first = (uint32_t)texts->parts.n };
    for (; bytes_left(&bytes); list.n++) {
        uint32_t name = bytes_le32(&bytes);
        if (!push_part(texts, (struct key_part){ name, bytes_le32(&bytes) }))
            return false;
    }
    return vec_push(&texts->settings, list);
}

static bool add_parts(struct start_reader *in, struct start_graph *graph, json_id components)
{
    struct key_component part;
    graph->parts.first = (uint32_t)in->texts->parts.n;
    buf_clear(&in->settings);
    for (json_id c = json_first(&in->doc, components); c != JSON_NONE; c = json_next(&in->doc, c)) {
        if (!key_component_read(&in->doc, c, &in->text, &part))
            continue;
        struct key_part ids = { intern(&in->texts->all, part.name),
                                intern(&in->texts->all, part.hash) };
        bool of_graph = key_component_is_of_graph(part.name);
        if (ids.name == INTERN_NONE || ids.hash == INTERN_NONE ||
            !(of_graph ? push_part(in->texts, ids) : put_setting(in, ids)))
            return false;
        graph->parts.n += of_graph;
    }
    return !in->text.failed && find_settings(in, graph);
}

/* Returns a text that lives as long as start_texts; .p is NULL when memory ran out. */
static struct str keep(struct start_reader *in, struct str text)
{
    uint32_t id = intern(&in->texts->all, text);
    return id == INTERN_NONE ? (struct str){ 0 } : intern_text(&in->texts->all, id);
}

static bool read_key(struct start_reader *in, struct start_graph *graph)
{
    struct str payload;
    struct err why = { 0 };
    struct trace *trace = in->ret->trace;
    buf_clear(&in->settings);
    if (!find_settings(in, graph)) /* none */
        return err_nomem(in->err);
    if (trace->records[graph->record].payload == TRACE_NONE)
        return true;
    if (!trace_payload(trace, graph->record, &payload, in->err))
        return !err_is_set(in->err);
    if (!json_parse(&in->doc, payload, &why))
        return why.kind == ERR_INPUT || (*in->err = why, false);
    buf_clear(&in->text);
    json_decode(&in->doc, json_get(&in->doc, JSON_ROOT, STR("cache_status_guard_expr")), &in->text);
    graph->guard = keep(in, buf_str(&in->text));
    json_id components = json_get(&in->doc, JSON_ROOT, STR("components"));
    graph->backward = key_is_of_backward(&in->doc, components, &in->text);
    return (graph->guard.p && add_parts(in, graph, components)) || err_nomem(in->err);
}

static bool add_graph(struct start_reader *in, const struct cache_event *event)
{
    const struct metrics *m = in->metrics_of[event->attempt];
    struct start_graph graph = {
        .record = event->record,
        .attempt = event->attempt,
        .compile = in->ret->trace->attempts[event->attempt].compile,
        .function = keep(in, m ? m->function : STR("")),
        .file = keep(in, m ? m->file : STR("")),
        .line = m ? m->line : 0,
        .state = event->state,
        .key = intern(&in->texts->all, event->key),
        .detail = keep(in, event->detail),
        .reason = keep(in, event->reason),
        .aot_detail = STR(""),
        .guard = STR(""),
        .ns = event->taken_ns,
    };
    if (!graph.function.p || !graph.file.p || graph.key == INTERN_NONE || !graph.detail.p ||
        !graph.reason.p)
        return err_nomem(in->err);
    in->asked[event->attempt] = (uint32_t)in->ret->graphs.n;
    return read_key(in, &graph) && (vec_push(&in->ret->graphs, graph) || err_nomem(in->err));
}

static bool take_look_up(struct start_reader *in, const struct cache_event *event)
{
    uint32_t recording = in->ret->trace->records[event->record].recording;
    if (in->ret->recording != TRACE_NONE && in->ret->recording != recording)
        return true;
    bool read = str_starts(event->name, STR("get_")), wrote = str_starts(event->name, STR("put_"));
    bool sizes = event->kind == CACHE_DYNAMO && (read || wrote);
    in->ret->read_sizes |= sizes && read;
    in->ret->wrote_sizes |= sizes && wrote;
    in->ret->counts[event->kind][event->state] += !sizes;
    int64_t *saved = &in->ret->saved_ns[event->kind];
    if (event->state == CACHE_HIT && event->taken_ns > 0 && event->taken_ns <= INT64_MAX - *saved)
        *saved += event->taken_ns;
    return event->kind != CACHE_FX_GRAPH || event->state == CACHE_UNKNOWN ||
           event->attempt == TRACE_NONE || add_graph(in, event);
}

/* Inductor's phase around a look-up that misses: how long it took, and of which direction the graph
 * is, which only a key would tell otherwise. */
static void take_phase(struct start_reader *in, const struct chromium_event *event)
{
    if (!is_here(in, event->attempt) || !str_is(event->name, "inductor_compile"))
        return;
    uint32_t *asked = &in->asked[event->attempt];
    if (event->phase == 'B') {
        in->began[event->attempt] = event->timed ? event->time_ns : INT64_MIN;
        *asked = TRACE_NONE;
    } else if (event->phase == 'E' && *asked != TRACE_NONE) {
        struct start_graph *graph = &in->ret->graphs.v[*asked];
        int64_t began = in->began[event->attempt], ns;
        graph->backward |= event->backward;
        if (graph->ns < 0 && event->timed && began != INT64_MIN &&
            !__builtin_sub_overflow(event->time_ns, began, &ns) && ns >= 0)
            graph->ns = ns;
        *asked = TRACE_NONE;
    }
}

static bool read_look_ups(struct start_reader *in)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < in->caches->n; i++) {
        const struct cache_event *event = &in->caches->events[i];
        for (; next < in->events->n && in->events->events[next].record < event->record; next++)
            take_phase(in, &in->events->events[next]);
        if (!take_look_up(in, event))
            return false;
    }
    for (; next < in->events->n; next++)
        take_phase(in, &in->events->events[next]);
    return true;
}

/* ---- AOTAutograd's answers ---- */

/* Gives graphs what AOTAutograd's cache answered. An attempt has one answer for all its graphs, or,
 * where DDP cuts the model, one for each forward in their order. */
static bool add_aot_answers(struct start_reader *in)
{
    uint32_t n_attempts = in->ret->trace->n_attempts;
    uint32_t *first = calloc((size_t)n_attempts + 1, sizeof *first);
    vec_of(const struct cache_event *)
    answers = { 0 };
    bool ok = first != NULL;
    for (uint32_t i = 0; ok && i < in->caches->n; i++) {
        const struct cache_event *event = &in->caches->events[i];
        if (event->kind == CACHE_AOTAUTOGRAD && event->state != CACHE_UNKNOWN &&
            is_here(in, event->attempt))
            first[event->attempt + 1]++;
    }
    for (uint32_t i = 0; ok && i < n_attempts; i++)
        first[i + 1] += first[i];
    ok = ok && vec_reserve(&answers, first[n_attempts]);
    for (uint32_t i = 0; ok && i < in->caches->n; i++) {
        const struct cache_event *event = &in->caches->events[i];
        if (event->kind == CACHE_AOTAUTOGRAD && event->state != CACHE_UNKNOWN &&
            is_here(in, event->attempt))
            answers.v[first[event->attempt] + in->n_of[event->attempt]++] = event;
    }
    memset(in->n_of, 0, ((size_t)n_attempts + 1) * sizeof *in->n_of);
    for (size_t i = 0; ok && i < in->ret->graphs.n; i++) {
        struct start_graph *graph = &in->ret->graphs.v[i];
        uint32_t from = first[graph->attempt], n = first[graph->attempt + 1] - from;
        uint32_t at = n == 1 ? 0 : graph->backward ? n : in->n_of[graph->attempt]++;
        if (at >= n)
            continue;
        const struct cache_event *answer = answers.v[from + at];
        graph->has_aot = true;
        graph->aot = answer->state;
        if (!graph->reason.n && answer->reason.n)
            graph->reason = keep(in, answer->reason);
        graph->aot_detail = keep(in, answer->detail);
        graph->aot_key = intern(&in->texts->all, answer->key);
        ok = graph->reason.p && graph->aot_detail.p && graph->aot_key != INTERN_NONE;
    }
    free(first);
    vec_release(&answers);
    return ok || err_nomem(in->err);
}

/* ---- Series ---- */

/* Numbers the graphs of each code object and direction. The line and the folder of a function may
 * change between two starts. */
static bool number_graphs(struct start_reader *in)
{
    for (size_t i = 0; i < in->ret->graphs.n; i++) {
        struct start_graph *graph = &in->ret->graphs.v[i];
        struct str frame = str_first(graph->compile, str_find_char(graph->compile, '/'));
        buf_clear(&in->text);
        buf_putc(&in->text, graph->backward ? 'b' : 'f');
        buf_counted(&in->text, graph->function);
        buf_put(&in->text, graph->function.n ? str_basename(graph->file) : frame);
        graph->series =
            in->text.failed ? INTERN_NONE : intern(&in->texts->series, buf_str(&in->text));
        if (graph->series == INTERN_NONE)
            return err_nomem(in->err);
        while (in->ordinals.n <= graph->series)
            if (!vec_push(&in->ordinals, 0))
                return err_nomem(in->err);
        graph->ordinal = in->ordinals.v[graph->series]++;
    }
    return true;
}

static bool make_tables(struct start_reader *in)
{
    size_t n = (size_t)in->ret->trace->n_attempts + 1;
    in->metrics_of = calloc(n, sizeof *in->metrics_of);
    in->asked = malloc(n * sizeof *in->asked);
    in->began = calloc(n, sizeof *in->began);
    in->n_of = calloc(n, sizeof *in->n_of);
    if (!in->metrics_of || !in->asked || !in->began || !in->n_of)
        return err_nomem(in->err);
    memset(in->asked, 0xff, n * sizeof *in->asked); /* TRACE_NONE */
    return true;
}

bool start_read(struct start *start, struct start_texts *texts, struct trace *trace,
                uint32_t recording, struct err *err)
{
    struct start_reader in = { .ret = start, .texts = texts, .err = err };
    start->trace = trace;
    start->recording = recording;
    in.events = chromium_read(trace, err);
    in.caches = in.events ? caches_read(trace, in.events, err) : NULL;
    in.metrics = in.caches ? metrics_read(trace, err) : NULL;
    bool ok = in.metrics && make_tables(&in);
    if (ok)
        read_metrics(&in);
    ok = ok && read_look_ups(&in) && add_aot_answers(&in) && number_graphs(&in);
    metrics_free(in.metrics);
    caches_free(in.caches);
    chromium_free(in.events);
    free(in.metrics_of);
    free(in.asked);
    free(in.began);
    free(in.n_of);
    vec_release(&in.ordinals);
    json_release(&in.doc);
    buf_release(&in.text);
    buf_release(&in.settings);
    return ok;
}

void start_release(struct start *start)
{
    vec_release(&start->graphs);
}

void start_texts_release(struct start_texts *texts)
{
    intern_release(&texts->all);
    intern_release(&texts->series);
    intern_release(&texts->lists);
    vec_release(&texts->parts);
    vec_release(&texts->settings);
}
