#include "profile/report/replay/replay_report.h"
#include "profile/report/replay/timing_report.h"

static struct str timed_operator(const struct node *node)
{
    return str_starts(node->target, STR("torch.ops.")) ? str_from(node->target, 10) : node->target;
}

void peak_json(const struct graph *graph, const struct peak *peak, struct json_writer *w)
{
    json_open_object(w, "peak");
    json_put_u64(w, "bytes", peak->bytes);
    if (peak->node < graph->n_nodes)
        json_put_str(w, "node", graph->nodes[peak->node].name);
    json_open_array(w, "holders");
    for (uint32_t i = 0; i < peak->n_holders; i++) {
        const struct node *node = &graph->nodes[peak->holders[i].node];
        json_open_object(w, NULL);
        json_put_str(w, "node", node->name);
        json_put_str(w, "op", timed_operator(node));
        json_put_u64(w, "bytes", peak->holders[i].bytes);
        replay_stack_json(w, "stack", graph, node->location);
        json_close(w);
    }
    json_close(w);
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

static void write_group(const struct timing *t, const struct timed_group *g, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "op", g->name);
    json_put_bool(w, "fused", g->fused);
    replay_counters_json(w, &g->stats);
    json_put_u64(w, "ran", g->calls);
    json_put_u64(w, "launches", g->launches);
    json_put_u64(w, "on_host", g->on_host);
    json_put_double(w, "us", g->us);
    if (timing_explains(t))
        json_put_double(w, "share", t->sum_us > 0 ? g->us / t->sum_us : 0);
    json_put_double(w, "share_of_launches", t->sum_us > 0 ? g->us / t->sum_us : 0);
    if (g->isolated)
        json_put_double(w, "isolated_us", g->isolated_us);
    json_put_u64(w, "bytes", g->bytes);
    json_put_u64(w, "flops", g->flops);
    if (g->ceiling > 0)
        json_put_double(w, "ceiling", g->ceiling);
    json_open_array(w, "stacks");
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct node *node = &t->graph->nodes[g->nodes[i]];
        json_open_object(w, NULL);
        json_put_str(w, "node", node->name);
        json_put_double(w, "us", t->nodes[g->nodes[i]].us);
        replay_stack_json(w, "stack", t->graph, node->location);
        json_put_u64(w, "count", 1);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

void timing_json(const struct timing *t, struct json_writer *w)
{
    json_open_object(w, "sizes");
    for (size_t i = 0; i < t->n_sizes; i++) {
        json_put_key(w, t->sizes[i].symbol);
        json_put_i64(w, NULL, t->sizes[i].value);
    }
    json_close(w);
    json_put_u64(w, "runs", t->runs);
    json_put_u64(w, "launches", t->launches);
    json_put_double(w, "first_us", t->first_us);
    json_put_double(w, "wall_us", t->wall_us);
    json_put_double(w, "logged_us", t->logged_us);
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
    json_put_u64(w, "plans_tried", t->once.tried);
    json_put_u64(w, "plans_ns", t->once.try_ns);
    write_ceilings(&t->ceilings, w);
    peak_json(t->graph, &t->peak, w);
    json_open_array(w, "operators");
    for (size_t i = 0; i < t->n_groups; i++)
        write_group(t, &t->groups[i], w);
    json_close(w);
}
