/* JSON report: costs. Where nothing was recorded deeply, or nothing replayed, those fields are
 * null, or their lists empty. */
#include "profile/report/report_json.h"

static void put_count(struct json_report *r, const char *key, bool known, uint64_t count)
{
    if (known)
        json_put_u64(&r->w, key, count);
    else
        json_put_null(&r->w, key);
}

static void put_depths(struct json_report *r, const char *key, const uint64_t *by_depth)
{
    int n = PROFILE_DEPTHS;
    while (n > 0 && by_depth[n - 1] == 0)
        n--;
    json_open_array(&r->w, key);
    for (int i = 0; i < n; i++)
        json_put_u64(&r->w, NULL, by_depth[i]);
    json_close(&r->w);
}

static void put_real(struct json_report *r, const struct operator_cost *c)
{
    json_open_object(&r->w, "real");
    json_put_u64(&r->w, "fake_mode", c->by_mode[DEEP_FAKE_TENSOR_MODE]);
    json_put_u64(&r->w, "fake_tensor", c->by_mode[DEEP_FAKE_TENSOR]);
    json_put_u64(&r->w, "proxy", c->by_mode[DEEP_PROXY_MODE]);
    put_depths(r, "by_depth", c->by_depth);
    json_put_u64(&r->w, "cache_hits", c->hits);
    json_put_u64(&r->w, "cache_misses", c->misses);
    json_put_u64(&r->w, "cache_bypasses", c->bypasses);
    json_put_u64(&r->w, "fast", c->fast);
    json_put_u64(&r->w, "slow", c->slow);
    json_put_u64(&r->w, "raised", c->raised);
    json_put_i64(&r->w, "ns", c->ns);
    json_put_i64(&r->w, "self_ns", c->self_ns);
    json_close(&r->w);
}

static void put_replayed(struct json_report *r, const struct operator_cost *c)
{
    json_open_object(&r->w, "replayed");
    json_put_u64(&r->w, "calls", c->calls);
    json_put_u64(&r->w, "dispatches", c->dispatches);
    put_depths(r, "by_depth", c->replayed_by_depth);
    json_put_u64(&r->w, "guards", c->guards);
    json_put_u64(&r->w, "exprs", c->exprs);
    json_put_u64(&r->w, "evaluations", c->evaluations);
    json_put_u64(&r->w, "symbolic_tensors", c->symbolic_tensors);
    json_close(&r->w);
}

static void put_operators(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_put_bool(&r->w, "deep", costs->deep);
    json_put_bool(&r->w, "replayed", costs->replayed);
    json_open_array(&r->w, "operator_costs");
    for (uint32_t i = 0; i < report_shown(r->options, costs->n_operators); i++) {
        const struct operator_cost *c = &costs->operators[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "op", profile_name(r->p, c->op));
        json_put_u64(&r->w, "deepest", operator_cost_depth(c));
        if (costs->deep)
            put_real(r, c);
        else
            json_put_null(&r->w, "real");
        if (costs->replayed)
            put_replayed(r, c);
        else
            json_put_null(&r->w, "replayed");
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_counters(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_open_array(&r->w, "counters");
    for (uint32_t i = 0; i < costs->n_counters; i++) {
        const struct cost_counter *c = &costs->counters[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "label", c->label);
        put_count(r, "pytorch", c->is_real, c->pytorch);
        put_count(r, "recorded", c->is_real, c->recorded);
        put_count(r, "estimated", costs->replayed, c->replayed);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_spots(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_open_array(&r->w, "costs");
    for (uint32_t i = 0; i < report_shown(r->options, costs->n_spots); i++) {
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "cost", costs->spots[i].cost);
        json_put_str(&r->w, "caller", costs->spots[i].caller);
        json_put_u64(&r->w, "calls", costs->spots[i].count);
        json_put_i64(&r->w, "ns", costs->spots[i].ns);
        json_put_i64(&r->w, "self_ns", costs->spots[i].self_ns);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_place(struct json_report *r, const char *key, struct str file, uint32_t line,
                      const char *text_key, struct str text)
{
    if (file.n == 0) {
        json_put_null(&r->w, key);
        return;
    }
    json_open_object(&r->w, key);
    json_put_str(&r->w, "file", file);
    json_put_u64(&r->w, "line", line);
    json_put_str(&r->w, text_key, text);
    json_close(&r->w);
}

static void put_uses(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_open_array(&r->w, "size_uses");
    for (uint32_t i = 0; i < report_shown(r->options, costs->n_uses); i++) {
        const struct size_use *use = &costs->uses[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "use", use->use);
        json_put_bool(&r->w, "question", use->question);
        json_put_str(&r->w, "expr", use->expr);
        if (use->source.n)
            json_put_str(&r->w, "source", use->source);
        else
            json_put_null(&r->w, "source");
        put_place(r, "asker", use->asker_file, use->asker_line, "function", use->asker_function);
        put_place(r, "line", use->file, use->line, "code", use->code);
        json_put_u64(&r->w, "count", use->count);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_memory(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_open_array(&r->w, "memory");
    for (uint32_t i = 0; i < report_shown(r->options, costs->n_memory); i++) {
        const struct phase_memory *row = &costs->memory[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "phase", row->phase);
        json_put_u64(&r->w, "calls", row->calls);
        json_put_i64(&r->w, "host_growth", row->host_growth);
        json_put_u64(&r->w, "host_peak", row->host_peak);
        if (row->has_device)
            json_put_i64(&r->w, "device_growth", row->device_growth);
        else
            json_put_null(&r->w, "device_growth");
        put_count(r, "device_peak", row->has_device, row->device_peak);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_memory_nodes(struct json_report *r, uint32_t graph)
{
    json_open_array(&r->w, "live");
    for (uint32_t i = 0; i < r->p->n_memory_nodes; i++) {
        const struct memory_node *node = &r->p->memory_nodes[i];
        if (node->graph != graph)
            continue;
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "node", node->name);
        json_put_str(&r->w, "op", node->op);
        json_put_u64(&r->w, "bytes", node->bytes);
        put_place(r, "line", node->file, node->line, "code", node->code);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_graph_memory(struct json_report *r)
{
    json_open_array(&r->w, "graph_memory");
    for (uint32_t i = 0; i < r->p->n_graph_memory; i++) {
        const struct graph_memory *m = &r->p->graph_memory[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "recording", r->p->recordings[m->recording].name);
        if (m->compile == PROFILE_NONE)
            json_put_null(&r->w, "compile");
        else
            json_put_str(&r->w, "compile", r->p->compiles[m->compile].id);
        json_put_cstr(&r->w, "level", graph_kind_name(m->level));
        json_put_u64(&r->w, "input_bytes", m->input_bytes);
        json_put_u64(&r->w, "peak_bytes", m->peak_bytes);
        json_put_str(&r->w, "peak_node", m->peak_node);
        json_put_u64(&r->w, "output_bytes", m->output_bytes);
        json_put_u64(&r->w, "saved_bytes", m->saved_bytes);
        json_put_u64(&r->w, "saved_input_bytes", m->saved_input_bytes);
        json_put_u64(&r->w, "saved", m->saved);
        json_put_u64(&r->w, "unknown", m->unknown);
        put_memory_nodes(r, i);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_processes(struct json_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    json_open_array(&r->w, "deep_processes");
    for (uint32_t i = 0; i < costs->n_processes; i++) {
        const struct deep_process *p = costs->processes[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "level", p->level);
        json_put_str(&r->w, "torch", p->torch);
        json_put_u64(&r->w, "events", p->events);
        json_put_u64(&r->w, "lost", p->lost);
        json_put_u64(&r->w, "overhead_ns", p->overhead_ns);
        json_put_u64(&r->w, "wrapped", p->wrapped);
        json_put_u64(&r->w, "not_wrapped", p->not_wrapped);
        json_put_bool(&r->w, "ended", p->ended);
        json_close(&r->w);
    }
    json_close(&r->w);
}

void json_costs(struct json_report *r)
{
    put_operators(r);
    put_counters(r);
    put_spots(r);
    put_uses(r);
    put_memory(r);
    put_graph_memory(r);
    put_processes(r);
}

void json_put_line_cost(struct json_report *r, const struct line_cost *cost)
{
    const struct profile_costs *costs = &r->p->costs;
    put_count(r, "real_dispatches", costs->deep, cost->real_dispatches);
    put_count(r, "real_allocations", costs->deep, cost->real_allocations);
    put_count(r, "self_ns", costs->deep, (uint64_t)cost->self_ns);
    put_count(r, "dispatches", costs->replayed, cost->dispatches);
    put_count(r, "exprs", costs->replayed, cost->exprs);
    put_count(r, "symbolic_tensors", costs->replayed, cost->symbolic_tensors);
    json_put_u64(&r->w, "saved_bytes", cost->saved_bytes);
}
