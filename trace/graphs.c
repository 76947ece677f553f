#include "trace/graphs.h"

#include "trace/pt2/pt2.h"
#include "trace/tables.h"

const char *graph_kind_name(enum graph_kind kind)
{
    static const char *const names[GRAPH_KINDS] = { "dynamo",      "joint",     "forward",
                                                    "backward",    "inference", "pre_grad",
                                                    "post_grad",   "exported",  "partial_dynamo",
                                                    "partial_aot", "other" };
    return kind < GRAPH_KINDS ? names[kind] : "";
}

static const struct {
    struct str name;
    enum graph_kind kind;
    bool is_event;
} graph_names[] = {
#define GRAPH_NAME(name, kind, is_event) { { name, sizeof name - 1 }, GRAPH_##kind, is_event },
#include "trace/graph_names.def"
#undef GRAPH_NAME
};

struct graph_lister {
    struct trace *trace;
    struct json doc;
    struct intern counted; /* "attempt name", a count for each */
    vec_of(uint32_t)
    counts;
    vec_of(struct graph_ref)
    refs;
};

/* Returns whether a payload is a graph: on import, payloads that can be read as graphs were put
 * into a lane of their own. */
static bool has_graph(const struct trace *trace, const struct record *record)
{
    const struct tape *tape = trace->tables->tape;
    if (record->event == EVENT_PT2_MEMBER)
        return record->payload != TRACE_NONE;
    return record->payload < tape->payloads.n &&
           tape->payloads.v[record->payload].lane == TAPE_LANE_GRAPHS;
}

/* Finds the name of an artifact or member in the metadata. */
static bool find_artifact_name(struct graph_lister *l, uint32_t record, struct str *ret,
                               struct err *err)
{
    enum event event = l->trace->records[record].event;
    bool readable;
    *ret = trace_string(l->trace, l->trace->records[record].name);
    if (event != EVENT_ARTIFACT && event != EVENT_GRAPH_DUMP && event != EVENT_PT2_MEMBER)
        return true;
    if (!record_try_json(l->trace, record, &l->doc, &readable, err))
        return false;
    if (readable)
        *ret = json_decoded(&l->doc, json_get(&l->doc, JSON_ROOT, STR("name")),
                            &l->trace->tables->arena);
    return ret->p || err_nomem(err);
}

static bool count_graph_name(struct graph_lister *l, struct graph_ref *ref, struct err *err)
{
    struct buf key = BUF_INIT;
    buf_le32(&key, ref->attempt);
    buf_put(&key, ref->name);
    uint32_t id = key.failed ? INTERN_NONE : intern(&l->counted, buf_str(&key));
    buf_release(&key);
    if (id == INTERN_NONE || (id == l->counts.n && !vec_push(&l->counts, 0)))
        return err_nomem(err);
    ref->index = l->counts.v[id]++;
    return true;
}

static bool is_program_member(struct str member)
{
    return str_ends(member, STR(".json")) && (str_find(member, STR("/models/")) < member.n ||
                                              str_is(member, "serialized_exported_program.json"));
}

static bool add_graph_ref(struct graph_lister *l, uint32_t record, struct err *err)
{
    const struct record *r = &l->trace->records[record];
    struct graph_ref ref = { .record = record, .attempt = r->attempt, .kind = GRAPH_ANY };
    if (!find_artifact_name(l, record, &ref.name, err))
        return false;
    if (r->event == EVENT_PT2_MEMBER) {
        if (!is_program_member(ref.name))
            return true;
        ref.kind = GRAPH_EXPORTED;
    }
    for (size_t i = 0; i < sizeof graph_names / sizeof *graph_names; i++)
        if (str_eq(graph_names[i].name, ref.name)) {
            ref.kind = graph_names[i].kind;
            ref.is_event = graph_names[i].is_event && r->event != EVENT_ARTIFACT;
        }
    return count_graph_name(l, &ref, err) && (vec_push(&l->refs, ref) || err_nomem(err));
}

static bool keep_graph(struct graph_lister *l, struct graph_list *list, struct err *err)
{
    struct trace_tables *tables = l->trace->tables;
    struct graph_ref *refs = arena_array(&tables->arena, struct graph_ref, l->refs.n + 1);
    struct graph **parsed = arena_array(&tables->arena, struct graph *, l->refs.n + 1);
    if (!refs || !parsed)
        return err_nomem(err);
    if (l->refs.n)
        memcpy(refs, l->refs.v, l->refs.n * sizeof *refs);
    *list = (struct graph_list){ refs, (uint32_t)l->refs.n };
    tables->parsed = parsed;
    tables->graphs = list;
    return true;
}

const struct graph_list *trace_graphs(struct trace *trace, struct err *err)
{
    struct trace_tables *tables = trace->tables;
    struct graph_lister l = { .trace = trace };
    if (tables->graphs)
        return tables->graphs;
    struct graph_list *list = arena_new(&tables->arena, struct graph_list);
    bool ok = list || err_nomem(err);
    for (uint32_t i = 0; i < trace->n_records && ok; i++)
        if (trace->records[i].event != EVENT_RAW && has_graph(trace, &trace->records[i]))
            ok = add_graph_ref(&l, i, err);
    ok = ok && keep_graph(&l, list, err);
    json_release(&l.doc);
    intern_release(&l.counted);
    vec_release(&l.counts);
    vec_release(&l.refs);
    return ok ? list : NULL;
}

static struct graph *parse_graph_ref(struct trace *trace, const struct graph_ref *ref,
                                     struct err *err)
{
    const struct record *record = &trace->records[ref->record];
    struct graph *graph = NULL;
    struct str text;
    if (trace_payload(trace, ref->record, &text, err))
        graph = record->event == EVENT_PT2_MEMBER ? pt2_program_parse(text, err)
                                                  : graph_parse(text, err);
    if (!graph)
        err_at(err, "%.*s:%llu: graph %.*s", STR_ARG(trace->recordings[record->recording].source),
               (unsigned long long)record->line, STR_ARG(ref->name));
    return graph;
}

const struct graph *trace_graph(struct trace *trace, uint32_t ref, struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    if (!list)
        return NULL;
    struct graph **parsed = &trace->tables->parsed[ref];
    if (!*parsed)
        *parsed = parse_graph_ref(trace, &list->refs[ref], err);
    return *parsed;
}

bool trace_visit_graph(struct trace *trace, uint32_t ref,
                       bool (*visit)(void *user, const struct graph *graph), void *user,
                       struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    struct graph *graph = list ? parse_graph_ref(trace, &list->refs[ref], err) : NULL;
    bool ok = graph && visit(user, graph);
    graph_free(graph);
    return ok;
}
