#include "trace/kernels/kernels.h"

#include "trace/base/hash.h"
#include "trace/base/text/decimal.h"
#include "trace/kernels/kernel_reading.h"
#include "trace/tables.h"

struct str kernel_text(struct kernel_reader *r, struct str text)
{
    uint32_t id = intern(&r->texts, text);
    return id == INTERN_NONE ? (struct str){ 0 } : intern_text(&r->texts, id);
}

/* ------------------------------------------------------------------------------------------------
 * The tables of the program that is being read */

uint32_t kernel_find(const struct kernel_reader *r, struct str name)
{
    uint32_t hash = (uint32_t)hash_str(name), row;
    for (size_t at = hash_index_start(&r->kernel_index, hash);
         hash_index_next(&r->kernel_index, hash, &at, &row);)
        if (str_eq(r->kernels.v[row].name, name))
            return row;
    return TRACE_NONE;
}

static uint32_t find_function(const struct kernel_reader *r, struct str function)
{
    uint32_t hash = (uint32_t)hash_str(function), row;
    for (size_t at = hash_index_start(&r->function_index, hash);
         hash_index_next(&r->function_index, hash, &at, &row);)
        if (str_eq(r->kernels.v[row].function, function))
            return row;
    return TRACE_NONE;
}

uint32_t kernel_find_node(struct kernel_reader *r, struct str name, bool in_dynamo_graph, bool add)
{
    uint32_t hash = (uint32_t)hash_mix(in_dynamo_graph, hash_str(name)), row;
    for (size_t at = hash_index_start(&r->node_index, hash);
         hash_index_next(&r->node_index, hash, &at, &row);)
        if (r->nodes.v[row].in_dynamo_graph == in_dynamo_graph &&
            str_eq(r->nodes.v[row].name, name))
            return row;
    struct kernel_node node = { .op = STR(""),
                                .in_dynamo_graph = in_dynamo_graph,
                                .line = TRACE_NONE };
    if (!add || !(node.name = kernel_text(r, name)).p || r->nodes.n >= TRACE_NONE ||
        !hash_index_reserve(&r->node_index, 1) || !vec_push(&r->nodes, node))
        return TRACE_NONE;
    row = (uint32_t)r->nodes.n - 1;
    hash_index_add(&r->node_index, hash, row);
    return row;
}

uint32_t kernel_add_line(struct kernel_reader *r, struct kernel_line line)
{
    uint64_t code = hash_mix(hash_str(line.function), hash_str(line.code));
    uint32_t hash = (uint32_t)hash_mix(hash_mix(line.line, hash_str(line.file)), code), row;
    for (size_t at = hash_index_start(&r->line_index, hash);
         hash_index_next(&r->line_index, hash, &at, &row);) {
        const struct kernel_line *old = &r->lines.v[row];
        if (old->line == line.line && str_eq(old->file, line.file) &&
            str_eq(old->function, line.function) && str_eq(old->code, line.code))
            return row;
    }
    line.file = kernel_text(r, line.file);
    line.function = kernel_text(r, line.function);
    line.code = kernel_text(r, line.code);
    if (!line.file.p || !line.function.p || !line.code.p || r->lines.n >= TRACE_NONE ||
        !hash_index_reserve(&r->line_index, 1) || !vec_push(&r->lines, line))
        return TRACE_NONE;
    row = (uint32_t)r->lines.n - 1;
    hash_index_add(&r->line_index, hash, row);
    return row;
}

static uint32_t claim_hash(uint32_t kernel, uint32_t node)
{
    return (uint32_t)hash_mix(kernel, node);
}

bool kernel_claim_node(struct kernel_reader *r, uint32_t kernel, uint32_t node,
                       enum kernel_origin origin)
{
    uint32_t hash = claim_hash(kernel, node), row;
    for (size_t at = hash_index_start(&r->claim_index, hash);
         hash_index_next(&r->claim_index, hash, &at, &row);) {
        struct kernel_claim *claim = &r->claims.v[row];
        if (claim->kernel != kernel || claim->thing != node)
            continue;
        claim->origin = origin < claim->origin ? origin : claim->origin;
        return true;
    }
    struct kernel *k = &r->kernels.v[kernel];
    k->origin = origin < k->origin ? origin : k->origin;
    if (r->claims.n >= TRACE_NONE || !hash_index_reserve(&r->claim_index, 1) ||
        !vec_push(&r->claims, (struct kernel_claim){ kernel, node, origin, 0 }))
        return false;
    hash_index_add(&r->claim_index, hash, (uint32_t)r->claims.n - 1);
    return true;
}

bool kernel_index_claims(struct kernel_reader *r)
{
    hash_index_clear(&r->claim_index);
    if (!hash_index_reserve(&r->claim_index, r->claims.n))
        return false;
    for (size_t i = 0; i < r->claims.n; i++)
        hash_index_add(&r->claim_index, claim_hash(r->claims.v[i].kernel, r->claims.v[i].thing),
                       (uint32_t)i);
    return true;
}

bool kernel_claim_line(struct kernel_reader *r, uint32_t kernel, uint32_t line)
{
    return vec_push(&r->line_claims, (struct kernel_claim){ kernel, line, KERNEL_PROVENANCE, 0 });
}

/* ------------------------------------------------------------------------------------------------
 * What a program's kernels claimed becomes their arrays */

static int by_kernel_and_thing(const void *a, const void *b)
{
    const struct kernel_claim *x = a, *y = b;
    return x->kernel != y->kernel ? (x->kernel > y->kernel) - (x->kernel < y->kernel)
           : x->group != y->group ? x->group - y->group
                                  : (x->thing > y->thing) - (x->thing < y->thing);
}

/* Makes the arrays of nodes, and claims the lines of the nodes. What comments say about a kernel
 * is dropped where provenance says more. */
static bool keep_nodes(struct kernel_reader *r)
{
    uint32_t *nodes = arena_array(&r->arena, uint32_t, r->claims.n + 1);
    if (!nodes)
        return false;
    for (size_t i = 0; i < r->claims.n; i++)
        r->claims.v[i].group = r->nodes.v[r->claims.v[i].thing].in_dynamo_graph;
    if (r->claims.n)
        qsort(r->claims.v, r->claims.n, sizeof *r->claims.v, by_kernel_and_thing);
    for (size_t i = 0; i < r->claims.n; i++) {
        const struct kernel_claim *claim = &r->claims.v[i];
        struct kernel *kernel = &r->kernels.v[claim->kernel];
        if (claim->origin != kernel->origin)
            continue;
        kernel->nodes = kernel->n_nodes ? kernel->nodes : nodes;
        kernel->n_nodes++;
        kernel->n_post_grad += !claim->group;
        *nodes++ = claim->thing;
        uint32_t line = r->nodes.v[claim->thing].line;
        if (line != TRACE_NONE &&
            !vec_push(&r->line_claims,
                      (struct kernel_claim){ claim->kernel, line, KERNEL_NAME, 0 }))
            return false;
    }
    return true;
}

static int by_node_count(const void *a, const void *b)
{
    const struct kernel_use *x = a, *y = b;
    return x->n_nodes != y->n_nodes ? (x->n_nodes < y->n_nodes) - (x->n_nodes > y->n_nodes)
                                    : (x->line > y->line) - (x->line < y->line);
}

/* Makes the arrays of lines. A line that a stack trace or a comment names counts no node. */
static bool keep_lines(struct kernel_reader *r)
{
    struct kernel_use *uses = arena_array(&r->arena, struct kernel_use, r->line_claims.n + 1);
    if (!uses)
        return false;
    if (r->line_claims.n)
        qsort(r->line_claims.v, r->line_claims.n, sizeof *r->line_claims.v, by_kernel_and_thing);
    for (size_t i = 0; i < r->line_claims.n; i++) {
        const struct kernel_claim *claim = &r->line_claims.v[i];
        struct kernel *kernel = &r->kernels.v[claim->kernel];
        if (i == 0 || claim[-1].kernel != claim->kernel || claim[-1].thing != claim->thing) {
            kernel->uses = kernel->n_uses ? kernel->uses : uses;
            kernel->n_uses++;
            *uses++ = (struct kernel_use){ claim->thing, 0 };
        }
        uses[-1].n_nodes += claim->origin == KERNEL_NAME;
    }
    for (size_t i = r->graphs.v[r->graphs.n - 1].first; i < r->kernels.n; i++)
        if (r->kernels.v[i].n_uses)
            qsort((struct kernel_use *)r->kernels.v[i].uses, r->kernels.v[i].n_uses,
                  sizeof *r->kernels.v[i].uses, by_node_count);
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Records */

/* {kernel: {"autotune_cache_state": "miss", "num_configs": 2, "compile_time_us": 73242}} */
bool kernels_read_triton_info(struct kernel_reader *r, struct str payload)
{
    struct err unreadable = { 0 };
    if (!json_parse(&r->doc, payload, &unreadable))
        return unreadable.kind != ERR_ENV;
    if (json_kind_of(&r->doc, JSON_ROOT) != JSON_OBJECT)
        return true;
    json_id value;
    for (json_id key = json_first(&r->doc, JSON_ROOT); key != JSON_NONE;
         key = json_next(&r->doc, value)) {
        value = json_next(&r->doc, key);
        uint32_t found = find_function(r, json_text(&r->doc, key));
        if (found == TRACE_NONE)
            continue;
        struct kernel *kernel = &r->kernels.v[found];
        json_id time = json_get(&r->doc, value, STR("compile_time_us"));
        uint64_t configs = 0;
        if (json_kind_of(&r->doc, time) == JSON_NUMBER)
            decimal_scaled(json_text(&r->doc, time), 3, &kernel->compile_ns);
        json_u64(&r->doc, json_get(&r->doc, value, STR("num_configs")), &configs);
        kernel->n_configs = configs < UINT32_MAX ? (uint32_t)configs : UINT32_MAX;
        struct str state = json_str(&r->doc, json_get(&r->doc, value, STR("autotune_cache_state")));
        if (!(kernel->tuning = kernel_text(r, state)).p)
            return false;
        kernel->n_configs = str_is(state, "only 1 config") ? 1 : kernel->n_configs;
    }
    return true;
}

/* Reads an artifact behind a program. */
static bool read_artifact(struct kernel_reader *r, uint32_t record, struct err *err)
{
    struct str payload;
    struct err unreadable = { 0 };
    bool readable;
    if (!record_try_json(r->trace, record, &r->doc, &readable, err))
        return false;
    struct str name =
        readable ? json_str(&r->doc, json_get(&r->doc, JSON_ROOT, STR("name"))) : STR("");
    bool info = str_is(name, "triton_kernel_info");
    if (!info && !str_starts(name, STR("inductor_provenance_")) &&
        !str_starts(name, STR("inductor_triton_kernel_")))
        return true;
    if (!trace_payload(r->trace, record, &payload, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    return (info ? kernels_read_triton_info(r, payload)
                 : kernels_read_provenance(r, name, payload)) ||
           err_nomem(err);
}

static size_t first_behind(const struct attempt *attempt, uint32_t record)
{
    size_t low = 0, high = attempt->n_records;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (attempt->records[middle] <= record)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Reads the artifacts of a program's attempt, up to the next program. */
static bool read_artifacts(struct kernel_reader *r, uint32_t record, struct err *err)
{
    uint32_t attempt = r->trace->records[record].attempt;
    if (attempt == TRACE_NONE)
        return true;
    const struct attempt *a = &r->trace->attempts[attempt];
    for (size_t i = first_behind(a, record); i < a->n_records; i++) {
        enum event event = r->trace->records[a->records[i]].event;
        if (event == EVENT_INDUCTOR_OUTPUT_CODE)
            break;
        if (event == EVENT_ARTIFACT && !read_artifact(r, a->records[i], err))
            return false;
    }
    return true;
}

static void begin_program(struct kernel_reader *r)
{
    hash_index_clear(&r->kernel_index);
    hash_index_clear(&r->function_index);
    hash_index_clear(&r->node_index);
    hash_index_clear(&r->claim_index);
    r->claims.n = r->line_claims.n = r->calls.n = r->handle_kernels.n = 0;
    intern_release(&r->handles);
    r->handles = INTERN_INIT;
}

/* The graphs that were logged last in each attempt. */
struct last_graphs {
    const struct graph_list *graphs;
    uint32_t next; /* the first graph behind the current record */
    struct last_of_attempt {
        uint32_t dynamo, post_grad;
    } * attempts;
};

static void pass_graphs(struct last_graphs *last, uint32_t record)
{
    for (; last->next < last->graphs->n && last->graphs->refs[last->next].record < record;
         last->next++) {
        const struct graph_ref *ref = &last->graphs->refs[last->next];
        if (ref->attempt == TRACE_NONE)
            continue;
        if (ref->kind == GRAPH_DYNAMO)
            last->attempts[ref->attempt].dynamo = last->next;
        else if (ref->kind == GRAPH_POST_GRAD)
            last->attempts[ref->attempt].post_grad = last->next;
    }
}

static bool read_program(struct kernel_reader *r, uint32_t record, struct last_graphs *last,
                         struct err *err)
{
    struct str text = STR("");
    struct err unreadable = { 0 };
    uint32_t attempt = r->trace->records[record].attempt;
    struct last_of_attempt graphs = { TRACE_NONE, TRACE_NONE };
    if (!trace_payload(r->trace, record, &text, &unreadable) && unreadable.kind == ERR_ENV)
        return err_set(err, ERR_ENV, "%s", unreadable.text);
    pass_graphs(last, record);
    if (attempt != TRACE_NONE)
        graphs = last->attempts[attempt];
    begin_program(r);
    struct kernel_graph graph = { .record = record,
                                  .attempt = attempt,
                                  .id = STR(""),
                                  .first = (uint32_t)r->kernels.n,
                                  .codegen_ns = -1,
                                  .load_ns = -1,
                                  .choices_ns = -1 };
    if (!vec_push(&r->graphs, graph) || !kernels_scan_program(r, text))
        return err_nomem(err);
    r->graphs.v[r->graphs.n - 1].n = (uint32_t)r->kernels.n - graph.first;
    if (r->kernels.n == graph.first)
        return true;
    if (!read_artifacts(r, record, err) ||
        !kernels_resolve_nodes(r, graphs.dynamo, graphs.post_grad, err))
        return false;
    return (keep_nodes(r) && keep_lines(r)) || err_nomem(err);
}

/* "... [__fusion] cannot fuse buf0 with buf1: reason" (WhyNoFuse of torch/_inductor/scheduler.py)
 */
static bool read_fusion_failures(struct kernel_reader *r, uint32_t record)
{
    static const struct str CANNOT = { "cannot fuse ", 12 }, WITH = { " with ", 6 },
                            WHY = { ": ", 2 };
    struct str bytes = r->trace->records[record].meta, line;
    for (size_t at; (at = str_find(bytes, CANNOT)) < bytes.n;) {
        bytes = str_from(bytes, at + CANNOT.n);
        line = str_first(bytes, str_find_char(bytes, '\n'));
        size_t with = str_find(line, WITH), why = str_find(line, WHY);
        if (why == line.n || with >= why)
            continue;
        struct fusion_failure failure = {
            .record = record,
            .first = kernel_text(r, str_first(line, with)),
            .second = kernel_text(r, str_from(str_first(line, why), with + WITH.n)),
            .reason = kernel_text(r, str_trim(str_from(line, why + WHY.n))),
        };
        if (!failure.first.p || !failure.second.p || !failure.reason.p ||
            !vec_push(&r->failures, failure))
            return false;
    }
    return true;
}

static bool read_records(struct kernel_reader *r, struct err *err)
{
    size_t n = (size_t)r->trace->n_attempts + 1;
    struct last_graphs last = { .graphs = trace_graphs(r->trace, err) };
    bool ok = last.graphs != NULL;
    if (ok && !(last.attempts = malloc(n * sizeof *last.attempts)))
        ok = err_nomem(err);
    for (size_t i = 0; ok && i < n; i++)
        last.attempts[i] = (struct last_of_attempt){ TRACE_NONE, TRACE_NONE };
    for (uint32_t i = 0; ok && i < r->trace->n_records; i++) {
        enum event event = r->trace->records[i].event;
        if (event == EVENT_INDUCTOR_OUTPUT_CODE)
            ok = read_program(r, i, &last, err);
        else if (event == EVENT_RAW)
            ok = read_fusion_failures(r, i) || err_nomem(err);
    }
    free(last.attempts);
    return ok;
}

/* ------------------------------------------------------------------------------------------------
 * The list */

int64_t kernel_ns(const struct kernel *kernel)
{
    int64_t compile = kernel->compile_ns > 0 ? kernel->compile_ns : 0;
    int64_t autotune = kernel->autotune_ns > 0 ? kernel->autotune_ns : 0;
    return autotune <= INT64_MAX - compile ? compile + autotune : INT64_MAX;
}

const struct kernel_line *kernel_main_line(const struct kernel_list *list,
                                           const struct kernel *kernel)
{
    return kernel->n_uses ? &list->lines[kernel->uses[0].line] : NULL;
}

struct timed_kernel {
    int64_t ns;
    uint32_t kernel;
};

static int by_time(const void *a, const void *b)
{
    const struct timed_kernel *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns)
                          : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static bool order_by_time(struct kernel_reader *r)
{
    size_t n = r->kernels.n;
    struct timed_kernel *order = malloc((n + 1) * sizeof *order);
    r->by_time = malloc((n + 1) * sizeof *r->by_time);
    bool ok = order && r->by_time;
    for (size_t i = 0; ok && i < n; i++)
        order[i] = (struct timed_kernel){ kernel_ns(&r->kernels.v[i]), (uint32_t)i };
    if (ok)
        qsort(order, n, sizeof *order, by_time);
    for (size_t i = 0; ok && i < n; i++)
        r->by_time[i] = order[i].kernel;
    free(order);
    return ok;
}

static void forget_program(struct kernel_reader *r)
{
    hash_index_release(&r->kernel_index);
    hash_index_release(&r->function_index);
    hash_index_release(&r->node_index);
    hash_index_release(&r->claim_index);
    hash_index_release(&r->line_index);
    vec_release(&r->claims);
    vec_release(&r->line_claims);
    vec_release(&r->calls);
    intern_release(&r->handles);
    vec_release(&r->handle_kernels);
    json_release(&r->doc);
}

static void publish(struct kernel_reader *r)
{
    r->list = (struct kernel_list){
        .graphs = r->graphs.v,
        .n_graphs = (uint32_t)r->graphs.n,
        .kernels = r->kernels.v,
        .n = (uint32_t)r->kernels.n,
        .nodes = r->nodes.v,
        .n_nodes = (uint32_t)r->nodes.n,
        .lines = r->lines.v,
        .n_lines = (uint32_t)r->lines.n,
        .by_time = r->by_time,
        .failures = r->failures.v,
        .n_failures = (uint32_t)r->failures.n,
    };
}

struct kernel_list *kernels_read(struct trace *trace, const struct chromium_list *events,
                                 struct err *err)
{
    struct chromium_list *own = events ? NULL : chromium_read(trace, err);
    if (!events && !own)
        return NULL;
    struct kernel_reader *r = calloc(1, sizeof *r);
    bool ok = r != NULL || err_nomem(err);
    if (ok) {
        r->trace = trace;
        ok =
            read_records(r, err) &&
            ((kernels_read_phases(r, events ? events : own) && order_by_time(r)) || err_nomem(err));
        forget_program(r);
        publish(r);
    }
    chromium_free(own);
    if (ok)
        return &r->list;
    if (r)
        kernels_free(&r->list);
    return NULL;
}

void kernels_free(struct kernel_list *list)
{
    struct kernel_reader *r = (struct kernel_reader *)list;
    if (!r)
        return;
    vec_release(&r->graphs);
    vec_release(&r->kernels);
    vec_release(&r->nodes);
    vec_release(&r->lines);
    vec_release(&r->failures);
    intern_release(&r->texts);
    arena_release(&r->arena);
    free(r->by_time);
    free(r);
}

const char *kernel_kind_name(enum kernel_kind kind)
{
    static const char *const NAMES[KERNEL_KINDS] = {
        [KERNEL_TRITON] = "Triton", [KERNEL_USER_TRITON] = "user Triton", [KERNEL_CPP] = "C++",
        [KERNEL_OTHER] = "other",   [KERNEL_EXTERN] = "extern",
    };
    return NAMES[kind];
}

const char *kernel_origin_name(enum kernel_origin origin)
{
    static const char *const NAMES[] = { "provenance", "comments", "name", "unknown" };
    return NAMES[origin];
}
