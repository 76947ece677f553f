#include "profile/report/replay/timing_report.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/replay/replay_fields.h"

enum { CODE_COLUMNS = 60 };

/* ---- Fields. The context is the struct timing ---- */

static const struct location *node_place(const struct timing *t, uint32_t node)
{
    static const struct location none;
    uint32_t at = node < t->graph->n_nodes ? t->graph->nodes[node].location : LOCATION_NONE;
    return at == LOCATION_NONE ? &none : &t->graph->locations[at];
}

static struct str operator_text(const struct node *node)
{
    return str_starts(node->target, STR("torch.ops.")) ? str_from(node->target, 10) : node->target;
}

/* A rate a microsecond; nothing if either is unknown. */
static struct datum rate(uint64_t amount, double us)
{
    return amount && us > 0 ? datum_number((double)amount / us) : datum_absent();
}

static double share_of_launches(const struct timing *t, double us)
{
    return t->sum_us > 0 ? us / t->sum_us : 0;
}

GETTER_IN(get_node, struct timing, uint32_t, datum_string(in->graph->nodes[*row].name))
GETTER_IN(get_node_us, struct timing, uint32_t, datum_number(in->nodes[*row].us))
GETTER_IN(get_operator, struct timing, uint32_t,
          datum_string(operator_text(&in->graph->nodes[*row])))
GETTER_IN(get_line, struct timing, uint32_t,
          datum_place(node_place(in, *row)->file, node_place(in, *row)->line, STR("")))
GETTER(get_one, uint32_t, datum_count(1))

static void cell_operator(const void *context, const void *at, struct buf *out)
{
    const struct timing *t = context;
    const struct node *node = &t->graph->nodes[*(const uint32_t *)at];
    format_text(out, node->op == NODE_PLACEHOLDER ? STR("input") : operator_text(node), 0);
}

static void cell_code(const void *context, const void *at, struct buf *out)
{
    const struct location *place = node_place(context, *(const uint32_t *)at);
    if (location_has_place(place))
        format_text(out, place->code, CODE_COLUMNS);
    else
        buf_putc(out, '-');
}

static void json_node_stack(const void *context, const void *at, struct json_writer *w,
                            const char *key)
{
    const struct graph *graph = ((const struct timing *)context)->graph;
    replay_stack_json(w, key, graph, graph->nodes[*(const uint32_t *)at].location);
}

static const struct field NODE[] = {
    { "node", .get = get_node },
    { "us", .get = get_node_us },
    { "stack", .json = json_node_stack },
    { "count", .get = get_one },
};
static const struct fields NODE_FIELDS = FIELDS_OF(NODE);

static void json_group_nodes(const void *context, const void *at, struct json_writer *w,
                             const char *key)
{
    const struct timed_group *g = at;
    const struct rows nodes = ROWS(g->nodes, g->n_nodes);
    fields_json_rows(w, key, &NODE_FIELDS, context, &nodes, 0);
}

static void json_counters(const void *context, const void *at, struct json_writer *w,
                          const char *key)
{
    (void)key;
    fields_json(&replay_stats_fields, context, at, w);
}

GETTER_IN(get_share, struct timing, double,
          timing_explains(in) ? datum_number(share_of_launches(in, *row)) : datum_absent())
GETTER_IN(get_share_of_launches, struct timing, double, datum_number(share_of_launches(in, *row)))
GETTER(get_isolated, struct timed_group,
       row->isolated ? datum_number(row->isolated_us) : datum_absent())
GETTER(get_ceiling, double, *row > 0 ? datum_number(*row) : datum_absent())
GETTER(get_bytes_rate, struct timed_group, rate(row->bytes, row->us))
GETTER(get_flops_rate, struct timed_group, rate(row->flops, row->us))

enum { SHARE_PLACE = 2 };

static const struct field GROUP[] = {
    { "op", MEMBER(struct timed_group, name), TEXT(11, "operator", TEXT, 0) },
    { "fused", MEMBER(struct timed_group, fused) },
    { NULL, JSON(json_counters, struct timed_group, stats) },
    { "ran", MEMBER(struct timed_group, calls), TEXT(5, "calls", COUNT, 1) },
    { "launches", MEMBER(struct timed_group, launches), TEXT(4, "launches", COUNT, 0) },
    { "on_host", MEMBER(struct timed_group, on_host), TEXT(10, "on host", COUNT, 0) },
    { "us", MEMBER(struct timed_group, us), TEXT(1, "time", US, 0) },
    { "share", GET(get_share, struct timed_group, us) },
    { "share_of_launches", GET(get_share_of_launches, struct timed_group, us),
      TEXT(SHARE_PLACE, "share", SHARE, 0) },
    { "isolated_us", .get = get_isolated, TEXT(3, "alone", US, 0) },
    { "bytes", MEMBER(struct timed_group, bytes), TEXT(6, "bytes", BYTES, 2) },
    { NULL, .get = get_bytes_rate, TEXT(7, "rate", BYTES_PER_US, 0) },
    { "flops", MEMBER(struct timed_group, flops) },
    { NULL, .get = get_flops_rate, TEXT(8, "FLOPs", FLOPS_PER_US, 0) },
    { "ceiling", GET(get_ceiling, struct timed_group, ceiling), TEXT(9, "ceiling", SHARE, 0) },
    { "stacks", .json = json_group_nodes },
    { NULL, GET(get_line, struct timed_group, most), TEXT(12, "user line", PATH, 0) },
    { NULL, CELL(cell_code, struct timed_group, most), TEXT(13, "code", LIST, 3) },
};
static const struct fields GROUP_FIELDS = FIELDS_OF(GROUP);

GETTER_IN(get_share_of_peak, struct timing, uint64_t,
          datum_number((double)*row / (double)in->peak.bytes))

static const struct field HOLDER[] = {
    { "node", GET(get_node, struct peak_holder, node), TEXT(3, "node", WORD, 0) },
    { "op", GET(get_operator, struct peak_holder, node), .cell = cell_operator,
      TEXT(4, "operator", TEXT, 0) },
    { "bytes", MEMBER(struct peak_holder, bytes), TEXT(1, "bytes", BYTES, 0) },
    { NULL, GET(get_share_of_peak, struct peak_holder, bytes), TEXT(2, "share", SHARE, 1) },
    { "stack", JSON(json_node_stack, struct peak_holder, node) },
    { NULL, GET(get_line, struct peak_holder, node), TEXT(5, "user line", PATH, 0) },
    { NULL, CELL(cell_code, struct peak_holder, node), TEXT(6, "code", LIST, 3) },
};
static const struct fields HOLDER_FIELDS = FIELDS_OF(HOLDER);

/* ---- Text ---- */

static void put_run_sizes(const struct timing *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_sizes; i++)
        buf_printf(out, "%s%.*s = %lld", i ? ", " : " at ", STR_ARG(t->sizes[i].symbol),
                   (long long)t->sizes[i].value);
    buf_putc(out, '\n');
}

/* "3 libraries opened in 95.0 ms" */
static void put_once(struct buf *out, const char **between, uint64_t n, const char *what,
                     uint64_t ns)
{
    if (n == 0)
        return;
    buf_printf(out, "%s%llu %s in ", *between, (unsigned long long)n, what);
    format_ns(out, (int64_t)ns);
    *between = ", ";
}

static void put_first(const struct timing *t, struct buf *out)
{
    const struct backend_log *once = &t->once;
    const char *between = "  done once, in the first run: ";
    put_once(out, &between, once->opened, "libraries opened", once->open_ns);
    put_once(out, &between, once->compiled, "kernels compiled", once->compile_ns);
    put_once(out, &between, once->loaded, "kernels loaded", once->load_ns);
    put_once(out, &between, once->planned, "library calls planned", once->plan_ns);
    if (once->recalled)
        buf_printf(out, " (%llu as chosen before)", (unsigned long long)once->recalled);
    put_once(out, &between, once->tried, "plans of libraries made or timed after it", once->try_ns);
    if (between[0] == ',')
        buf_putc(out, '\n');
    if (t->compiled_later)
        buf_printf(out, "  %llu kernels compiled in later runs\n",
                   (unsigned long long)t->compiled_later);
}

static void put_pool(const struct backend_pool *pool, struct buf *out)
{
    char peak[HUMAN_SIZE], taken[HUMAN_SIZE], returned[HUMAN_SIZE], kept[HUMAN_SIZE];
    if (pool->budget)
        buf_printf(out, "  memory pool: peak %s; %s taken, %s given back, %s kept%s\n",
                   human_bytes(peak, pool->peak), human_bytes(taken, pool->taken),
                   human_bytes(returned, pool->returned), human_bytes(kept, pool->kept),
                   pool->peak > pool->budget ? "; the budget was exceeded" : "");
}

static void json_pool(const struct backend_pool *pool, struct json_writer *w)
{
    if (!pool->budget)
        return;
    json_open_object(w, "pool");
    json_put_u64(w, "budget_bytes", pool->budget);
    json_put_u64(w, "peak_bytes", pool->peak);
    json_put_u64(w, "taken_bytes", pool->taken);
    json_put_u64(w, "returned_bytes", pool->returned);
    json_put_u64(w, "kept_bytes", pool->kept);
    json_close(w);
}

/* What the rest of the wall time is, where launches do not make it up. */
static void put_rest(const struct timing *t, struct buf *out)
{
    buf_puts(out, ", which does not explain it within 10 %: shares are of the launches' time\n");
    if (t->sum_us > t->wall_us || t->captured) {
        buf_puts(out, "  they were timed in runs with a log, which took ");
        format_us(out, t->logged_us);
        buf_putc(out, '\n');
        return;
    }
    if (!t->queues) {
        buf_puts(out, "  the rest is the replay's own: sizes, memory\n");
        return;
    }
    buf_puts(out, "  the host made the calls in ");
    format_us(out, t->host_us);
    buf_puts(out, timing_host_bound(t) ? ": the device waits for it" : "");
    buf_puts(out, "; with the log the device is idle between launches for ");
    format_us(out, t->idle_us);
    buf_putc(out, '\n');
}

/* How runs without the log were launched, on a backend that can launch a run as one. */
static void put_capture(const struct timing *t, struct buf *out)
{
    if (t->captured) {
        buf_puts(out, "  each run was launched as ");
        if (t->captured_collectives) {
            format_plural(out, t->captured_pieces, "CUDA graph");
            buf_puts(out, " and ");
            format_plural(out, t->captured_collectives, "collective");
        } else
            buf_puts(out, "one CUDA graph");
        buf_puts(out, ", which the second one captured in ");
        format_us(out, t->captured_us);
        buf_puts(out, t->captured_updates ? ", updating that of another size" : "");
        buf_puts(out, t->captured_differs
                          ? "; its outputs differ from those of the run call by call\n"
                          : "\n");
    } else if (err_is_set(&t->not_captured)) {
        buf_puts(out, "  runs cannot be launched as one CUDA graph: ");
        format_text(out, str_of(t->not_captured.text), 0);
        buf_putc(out, '\n');
    }
}

/* Appends "nonzero at model.py:12 `i = m.nonzero()`". */
static void put_node_place(const struct timing *t, uint32_t node, struct buf *out)
{
    const struct location *place = node_place(t, node);
    buf_put(out, t->graph->nodes[node].name);
    if (!location_has_place(place))
        return;
    buf_printf(out, " at %.*s:%u `", STR_ARG(place->file), place->line);
    format_text(out, place->code, CODE_COLUMNS);
    buf_putc(out, '`');
}

/* Sizes that the device knew before the host, and what was allocated for them. */
static void put_device_sizes(const struct timing *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->n_device_sizes; i++) {
        const struct device_size *s = &t->device_sizes[i];
        char most[HUMAN_SIZE], used[HUMAN_SIZE];
        buf_puts(out, "  size on the device: ");
        put_node_place(t, s->node, out);
        buf_printf(out, ": %lld of at most %lld; %s of %s for its tensors were used\n",
                   (long long)s->value, (long long)s->most,
                   human_bytes(used, s->bytes * (uint64_t)s->value),
                   human_bytes(most, s->bytes * (uint64_t)s->most));
    }
    for (uint32_t i = 0; i < t->n_host_needs; i++) {
        const struct host_need *need = &t->host_needs[i];
        buf_puts(out, "  the host read sizes before ");
        put_node_place(t, need->node, out);
        buf_printf(out, ": %.*s takes them from the host (%s)\n", STR_ARG(need->op), need->why);
    }
    if (t->n_device_sizes)
        buf_printf(out, "  the host read sizes %u time%s in a run\n", t->size_reads,
                   t->size_reads == 1 ? "" : "s");
}

static void put_wall(const struct timing *t, struct buf *out)
{
    buf_puts(out, "  wall time ");
    format_us(out, t->wall_us);
    buf_printf(out, " without the log, the median of %u runs; the first of this size took ",
               t->runs);
    format_us(out, t->first_us);
    buf_putc(out, '\n');
    put_capture(t, out);
    put_device_sizes(t, out);
    buf_puts(out, "  launches take ");
    format_us(out, t->sum_us);
    if (timing_explains(t))
        buf_printf(out, ", %.0f %% of it\n", 100 * t->sum_us / t->wall_us);
    else
        put_rest(t, out);
    put_first(t, out);
    put_pool(&t->pool, out);
}

static void put_ceilings(const struct timing *t, struct buf *out)
{
    const struct ceilings *c = &t->ceilings;
    char text[HUMAN_SIZE];
    if (c->bytes_per_us == 0)
        return;
    buf_printf(out, "  ceilings as measured here: %s of %s ", c->by, human_bytes(text, c->copied));
    format_rate(out, c->bytes_per_us, "B/s");
    for (uint32_t i = 0; i < c->n_products; i++) {
        buf_printf(out, ", aten.mm of %u by %u %s ", c->products[i].n, c->products[i].n,
                   dtype_short_name(c->products[i].dtype));
        format_rate(out, c->products[i].flops_per_us, "FLOP/s");
    }
    buf_putc(out, '\n');
}

void peak_text(const struct graph *graph, const struct peak *peak, const struct report_options *how,
               struct buf *out)
{
    const struct timing t = { .graph = graph, .peak = *peak };
    const struct rows holders = ROWS(peak->holders, peak->n_holders);
    struct str at = peak->node < graph->n_nodes ? graph->nodes[peak->node].name : STR("");
    struct text_table table;
    char text[HUMAN_SIZE];
    buf_printf(out, "  memory at its peak %s, when %.*s is run; held by\n",
               human_bytes(text, peak->bytes), STR_ARG(at));
    text_table_init(&table, &HOLDER_FIELDS, 0);
    text_table_rows(&table, &t, &holders, how->limit);
    report_table(&table.table, how, 2, holders.n, out);
}

void timing_text(const struct timing *t, const char *backend, const struct report_options *how,
                 struct buf *out)
{
    const struct rows groups = ROWS(t->groups, (uint32_t)t->n_groups);
    struct text_table table;
    buf_printf(out, ": %u operator calls, %u launches on %s", t->calls, t->launches, backend);
    put_run_sizes(t, out);
    put_wall(t, out);
    put_ceilings(t, out);
    text_table_init(&table, &GROUP_FIELDS, 0);
    if (!timing_explains(t))
        table.columns[SHARE_PLACE - 1].header = "of launches";
    text_table_rows(&table, t, &groups, how->limit);
    report_table(&table.table, how, 2, groups.n, out);
    if (t->peak.bytes)
        peak_text(t->graph, &t->peak, how, out);
}

/* ---- JSON ---- */

void peak_json(const struct graph *graph, const struct peak *peak, struct json_writer *w)
{
    const struct timing t = { .graph = graph, .peak = *peak };
    const struct rows holders = ROWS(peak->holders, peak->n_holders);
    json_open_object(w, "peak");
    json_put_u64(w, "bytes", peak->bytes);
    if (peak->node < graph->n_nodes)
        json_put_str(w, "node", graph->nodes[peak->node].name);
    fields_json_rows(w, "holders", &HOLDER_FIELDS, &t, &holders, 0);
    json_close(w);
}

static void write_ceilings(const struct ceilings *c, struct json_writer *w)
{
    json_open_object(w, "ceilings");
    json_put_double(w, "copy_bytes_per_s", c->bytes_per_us * 1e6);
    json_put_u64(w, "copied_bytes", c->copied);
    json_put_cstr(w, "copied_by", c->by);
    json_open_object(w, "product_flops_per_s");
    for (uint32_t i = 0; i < c->n_products; i++)
        json_put_double(w, dtype_short_name(c->products[i].dtype),
                        c->products[i].flops_per_us * 1e6);
    json_close(w);
    json_close(w);
}

void sizes_json(const struct run_size *sizes, size_t n, struct json_writer *w)
{
    json_open_object(w, "sizes");
    for (size_t i = 0; i < n; i++) {
        json_put_key(w, sizes[i].symbol);
        json_put_i64(w, NULL, sizes[i].value);
    }
    json_close(w);
}

static void device_sizes_json(const struct timing *t, struct json_writer *w)
{
    if (!t->n_device_sizes)
        return;
    json_open_object(w, "device_sizes");
    json_put_u64(w, "reads", t->size_reads);
    json_open_array(w, "sizes");
    for (uint32_t i = 0; i < t->n_device_sizes; i++) {
        const struct device_size *s = &t->device_sizes[i];
        json_open_object(w, NULL);
        json_put_str(w, "node", t->graph->nodes[s->node].name);
        json_put_i64(w, "value", s->value);
        json_put_i64(w, "most", s->most);
        json_put_u64(w, "allocated_bytes", s->bytes * (uint64_t)s->most);
        json_put_u64(w, "used_bytes", s->bytes * (uint64_t)s->value);
        json_close(w);
    }
    json_close(w);
    json_open_array(w, "host_needs");
    for (uint32_t i = 0; i < t->n_host_needs; i++) {
        const struct host_need *need = &t->host_needs[i];
        json_open_object(w, NULL);
        json_put_str(w, "node", t->graph->nodes[need->node].name);
        json_put_str(w, "operator", need->op);
        json_put_str(w, "why", str_of(need->why));
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

void timing_json(const struct timing *t, struct json_writer *w)
{
    const struct rows groups = ROWS(t->groups, (uint32_t)t->n_groups);
    sizes_json(t->sizes, t->n_sizes, w);
    json_put_u64(w, "runs", t->runs);
    json_put_u64(w, "launches", t->launches);
    json_put_double(w, "first_us", t->first_us);
    json_put_double(w, "first_host_us", t->first_host_us);
    json_put_double(w, "wall_us", t->wall_us);
    json_put_double(w, "logged_us", t->logged_us);
    json_put_bool(w, "captured", t->captured);
    if (t->captured)
        json_put_double(w, "captured_us", t->captured_us);
    if (t->captured)
        json_put_u64(w, "captured_pieces", t->captured_pieces);
    if (t->captured)
        json_put_u64(w, "captured_collectives", t->captured_collectives);
    if (t->captured)
        json_put_bool(w, "captured_updates", t->captured_updates);
    if (t->captured)
        json_put_bool(w, "captured_differs", t->captured_differs);
    if (err_is_set(&t->not_captured))
        json_put_str(w, "not_captured", str_of(t->not_captured.text));
    device_sizes_json(t, w);
    json_put_double(w, "sum_us", t->sum_us);
    json_put_bool(w, "explained", timing_explains(t));
    json_put_double(w, "host_us", t->host_us);
    if (t->queues)
        json_put_double(w, "idle_us", t->idle_us);
    json_put_bool(w, "host_bound", timing_host_bound(t));
    json_put_u64(w, "compiled", t->once.compiled);
    json_put_u64(w, "compile_ns", t->once.compile_ns);
    json_put_u64(w, "opened", t->once.opened);
    json_put_u64(w, "open_ns", t->once.open_ns);
    json_put_u64(w, "loaded", t->once.loaded);
    json_put_u64(w, "load_ns", t->once.load_ns);
    json_put_u64(w, "planned", t->once.planned);
    json_put_u64(w, "plan_ns", t->once.plan_ns);
    json_put_u64(w, "compiled_later", t->compiled_later);
    json_put_u64(w, "plans_recalled", t->once.recalled);
    json_put_u64(w, "plans_tried", t->once.tried);
    json_put_u64(w, "plans_ns", t->once.try_ns);
    json_pool(&t->pool, w);
    write_ceilings(&t->ceilings, w);
    peak_json(t->graph, &t->peak, w);
    fields_json_rows(w, "operators", &GROUP_FIELDS, t, &groups, 0);
}
