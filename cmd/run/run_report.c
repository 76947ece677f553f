/* Prints the results of graphs as text and JSON. */
#include "cmd/run/run_session.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/replay/replay_report.h"
#include "profile/report/replay/timing_report.h"

static struct location node_location(const struct graph *graph, node_id node)
{
    uint32_t at = node < graph->n_nodes ? graph->nodes[node].location : LOCATION_NONE;
    return at != LOCATION_NONE && location_has_place(&graph->locations[at])
               ? graph->locations[at]
               : (struct location){ 0 };
}

void run_print_node(const struct graph *graph, node_id id, node_id origin, struct buf *out)
{
    const struct node *node = &graph->nodes[id], *from = &graph->nodes[origin];
    struct location l = node_location(graph, origin);
    buf_put(out, node->name);
    if (node_is_call(from))
        buf_printf(out, " (%.*s)", STR_ARG(from->target));
    if (l.file.n || l.line) {
        buf_puts(out, " at ");
        format_place(out, l.file, l.line);
    }
    if (l.code.n) {
        buf_puts(out, " `");
        format_text(out, l.code, 120);
        buf_putc(out, '`');
    }
}

/* ---- Text ---- */

static void print_odd_places(const struct difference *d, struct buf *out)
{
    buf_printf(out, "; %llu NaN, %llu infinite on one side only:", (unsigned long long)d->nans,
               (unsigned long long)d->infs);
    for (uint32_t i = 0; i < d->n_odd; i++)
        buf_printf(out, "%s %llu (%s, %s)", i ? "," : "", (unsigned long long)d->odd[i].at,
                   d->odd[i].nan ? "NaN" : "inf", d->odd[i].in_got ? "here" : "expected");
    if (d->nans + d->infs > d->n_odd)
        buf_puts(out, " ...");
}

static void print_difference(const struct compared *one, struct buf *out)
{
    const struct difference *d = &one->difference;
    const struct tolerance *t = &one->tolerance;
    if (one->match == MATCH_MISSING) {
        buf_puts(out, "not in the reference");
        return;
    }
    if (!d->comparable) {
        buf_puts(out, "another dtype or shape");
        if (!d->has_shapes)
            return;
        buf_puts(out, ": ");
        array_shape_print(&d->got_shape, out);
        buf_puts(out, ", expected ");
        array_shape_print(&d->expected_shape, out);
        return;
    }
    if (!d->bad) {
        buf_printf(out, "%llu elements agree; max absolute %.3g, %llu ULPs",
                   (unsigned long long)d->elements, d->max_absolute,
                   (unsigned long long)d->max_ulps);
    } else {
        buf_printf(out,
                   "%llu of %llu elements differ; first %llu: expected %.9g, got %.9g; max "
                   "absolute %.3g, relative %.3g, %llu ULPs",
                   (unsigned long long)d->bad, (unsigned long long)d->elements,
                   (unsigned long long)d->first_bad, d->expected, d->got, d->max_absolute,
                   d->max_relative, (unsigned long long)d->max_ulps);
        buf_printf(out, "; tolerance %.3g + %.3g |x|", t->absolute, t->relative);
    }
    if (one->terms > 1)
        buf_printf(out, "%s%llu terms", d->bad ? " of " : "; ", (unsigned long long)one->terms);
    if (d->both_nan)
        buf_printf(out, "; %llu NaN on both sides", (unsigned long long)d->both_nan);
    if (d->n_odd)
        print_odd_places(d, out);
    if (one->sampled)
        buf_puts(out, "; of samples");
    if (one->match == MATCH_RANDOM || one->match == MATCH_UNWRITTEN || one->match == MATCH_TIED)
        buf_printf(out, "; not comparable: %s",
                   one->match == MATCH_RANDOM      ? "behind other random numbers"
                   : one->match == MATCH_UNWRITTEN ? "memory that nothing has written"
                                                   : "places of equal elements");
}

static void print_counts(const struct comparison *c, struct buf *out)
{
    const struct {
        enum match match;
        const char *text;
    } rows[] = {
        { MATCH_EQUAL, "equal" },
        { MATCH_CLOSE, "within the tolerance" },
        { MATCH_DIFFERS, "differ" },
        { MATCH_FOLLOWS, "differ because of these" },
        { MATCH_RANDOM, "not comparable (random)" },
        { MATCH_UNWRITTEN, "not comparable (never written)" },
        { MATCH_TIED, "not comparable (ties)" },
        { MATCH_MISSING, "not in the reference" },
    };
    bool any = false;
    buf_puts(out, "  nodes: ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (c->counts[rows[i].match]) {
            buf_printf(out, "%s%llu %s", any ? ", " : "",
                       (unsigned long long)c->counts[rows[i].match], rows[i].text);
            any = true;
        }
    buf_puts(out, any ? "" : "none");
    if (c->voids)
        buf_printf(out, "; %llu of them are nothing but NaN", (unsigned long long)c->voids);
    buf_putc(out, '\n');
}

static void print_nodes(const struct graph_run *g, struct buf *out)
{
    const struct comparison *c = &g->comparison;
    bool first = true;
    print_counts(c, out);
    for (size_t i = 0; i < c->nodes.n; i++) {
        const struct compared *one = &c->nodes.v[i];
        if (one->match != MATCH_DIFFERS)
            continue;
        bool call = node_is_call(&g->graph->nodes[one->node]);
        buf_puts(out, !call ? "  other inputs: " : first ? "  first bad node: " : "  also: ");
        run_print_node(g->graph, one->node, one->origin, out);
        buf_printf(out, "%s: ",
                   !call              ? ""
                   : one->same_inputs ? ", whose inputs are equal"
                                      : ", whose inputs agree");
        print_difference(one, out);
        buf_putc(out, '\n');
        first &= !call;
    }
}

void graph_run_print_sources(const struct graph_run *g, struct buf *out)
{
    if (!g->n_sources)
        return;
    buf_printf(out, "  %u of %u inputs are values of ", g->n_passed, g->n_inputs);
    for (uint32_t i = 0; i < g->n_sources; i++)
        buf_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(g->sources[i]));
    buf_putc(out, '\n');
}

void graph_run_print_name(const struct graph_run *g)
{
    struct session *s = g->session;
    if (s->job)
        buf_printf(&s->text, "rank %u, ", s->rank);
    buf_put(&s->text, buf_str(&g->name));
}

void graph_run_print(const struct graph_run *g)
{
    struct session *s = g->session;
    struct buf *text = &s->text;
    graph_run_print_name(g);
    buf_printf(text, ": %u operator calls, peak %zu bytes\n", g->calls, g->peak);
    graph_run_print_sources(g, text);
    for (size_t i = 0; i < g->comparison.outputs.n; i++) {
        const struct compared *one = &g->comparison.outputs.v[i];
        if (one->match == MATCH_MISSING && s->args->nodes)
            continue;
        buf_printf(text, "  %.*s: ", STR_ARG(one->name));
        print_difference(one, text);
        buf_putc(text, '\n');
    }
    if (g->compares && s->args->nodes)
        print_nodes(g, text);
    if (g->holders.bytes) {
        struct report_options how = session_report_options(s);
        peak_text(g->graph, &g->holders, &how, text);
    }
}

/* ---- The headline ---- */

static uint64_t count_outcomes(const struct run_totals *t)
{
    uint64_t n = 0;
    for (int i = 0; i < RUN_OUTCOMES; i++)
        n += t->outcomes[i];
    return n;
}

/* "all agree", "ran", "3 agree, 1 differs (0/0_0:aot_forward_graph)" */
static void print_outcomes(const struct session *s, struct buf *out)
{
    const struct run_totals *t = &s->totals;
    const char *fine = s->pair.tested_kind->shapes_only ? "counted" : "ran";
    const struct {
        const char *one, *several;
    } words[] = { { s->args->compare ? "agrees" : fine, s->args->compare ? "agree" : fine },
                  { "differs", "differ" },
                  { "refused", "refused" },
                  { "failed", "failed" } };
    uint64_t n = count_outcomes(t);
    const char *lead = "";
    for (int i = 0; i < RUN_OUTCOMES; i++) {
        uint64_t count = t->outcomes[i];
        if (!count)
            continue;
        buf_puts(out, lead);
        if (count == n && n > 1 && !session_stopped(s))
            buf_puts(out, "all ");
        else if (n > 1)
            buf_printf(out, "%llu ", (unsigned long long)count);
        buf_puts(out, count == 1 ? words[i].one : words[i].several);
        if (i == RUN_DIFFERS && t->graphs > 1)
            buf_printf(out, " (%s%.*s)", count > 1 ? "first " : "",
                       STR_ARG(buf_str(&t->first_graph)));
        if (i == RUN_REFUSED && t->refusal.n && s->grid.n == 1)
            buf_printf(out, "%s: %.*s", count > 1 ? ", the first" : "",
                       STR_ARG(buf_str(&t->refusal)));
        lead = ", ";
    }
    if (n == 0)
        buf_puts(out, "none ran");
}

void run_print_headline(const struct session *s, struct buf *out)
{
    const struct run_totals *t = &s->totals;
    char text[HUMAN_SIZE];
    format_plural(out, t->graphs, "graph");
    if (s->grid.n > 1)
        buf_printf(out, " at %zu sizes", s->grid.n);
    session_print_backends(s, out);
    buf_puts(out, ": ");
    print_outcomes(s, out);
    if (session_stopped(s))
        buf_puts(out, ", then interrupted");
    if (t->peak)
        buf_printf(out, "; peak memory %s", human_bytes(text, t->peak));
    if (t->wall_us > 0) {
        buf_puts(out, "; ");
        format_us(out, t->wall_us);
        buf_puts(out, t->graphs > 1 || s->grid.n > 1 ? " in all" : "");
    }
    failure_list_print(s->failures, out);
    buf_putc(out, '\n');
}

/* ---- JSON ---- */

void run_json_node(struct json_writer *w, const struct graph *graph, node_id node, node_id origin)
{
    struct location l = node_location(graph, origin);
    if (node >= graph->n_nodes || origin >= graph->n_nodes)
        return;
    json_put_str(w, "node", graph->nodes[node].name);
    json_put_str(w, "op", graph->nodes[origin].target);
    json_put_str(w, "file", l.file);
    json_put_u64(w, "line", l.line);
    json_put_str(w, "code", l.code);
}

static void json_places(struct json_writer *w, const struct difference *d)
{
    json_open_array(w, "places");
    for (uint32_t i = 0; i < d->n_odd; i++) {
        json_open_object(w, NULL);
        json_put_u64(w, "index", d->odd[i].at);
        json_put_cstr(w, "value", d->odd[i].nan ? "nan" : "inf");
        json_put_cstr(w, "side", d->odd[i].in_got ? "got" : "expected");
        json_close(w);
    }
    json_close(w);
}

static void json_difference(struct json_writer *w, const struct compared *one)
{
    const struct difference *d = &one->difference;
    json_put_u64(w, "elements", d->elements);
    json_put_u64(w, "bad", d->bad);
    if (d->bad) {
        json_put_u64(w, "first_bad", d->first_bad);
        json_put_double(w, "expected", d->expected);
        json_put_double(w, "got", d->got);
    }
    json_put_double(w, "max_absolute", d->max_absolute);
    json_put_double(w, "max_relative", d->max_relative);
    json_put_u64(w, "max_ulps", d->max_ulps);
    json_put_u64(w, "nans", d->nans);
    json_put_u64(w, "infs", d->infs);
    json_put_u64(w, "both_nan", d->both_nan);
    json_places(w, d);
    json_put_double(w, "tolerance_absolute", one->tolerance.absolute);
    json_put_double(w, "tolerance_relative", one->tolerance.relative);
    json_put_u64(w, "terms", one->terms);
    json_put_bool(w, "sampled", one->sampled);
}

static void json_compared(struct json_writer *w, const struct graph_run *g,
                          const struct compared *one)
{
    json_open_object(w, NULL);
    if (one->output != UINT32_MAX)
        json_put_str(w, "name", one->name);
    run_json_node(w, g->graph, one->node, one->origin);
    json_put_cstr(w, "dtype", dtype_python_name(one->dtype));
    json_put_cstr(w, "match", match_name(one->match));
    json_put_bool(w, "comparable", one->difference.comparable);
    if (one->difference.comparable)
        json_difference(w, one);
    if (one->output == UINT32_MAX)
        json_put_bool(w, "same_inputs", one->same_inputs);
    json_close(w);
}

static void json_node_counts(struct json_writer *w, const struct graph_run *g)
{
    const struct comparison *c = &g->comparison;
    json_open_object(w, "nodes");
    for (int match = 0; match < MATCHES; match++)
        json_put_u64(w, match_name((enum match)match), c->counts[match]);
    json_put_u64(w, "voids", c->voids);
    json_open_array(w, "list");
    for (size_t i = 0; i < c->nodes.n; i++)
        json_compared(w, g, &c->nodes.v[i]);
    json_close(w);
    json_close(w);
}

void run_json_name(struct session *s, uint32_t ref, const struct buf *name)
{
    const struct graph_ref *graph = &s->list->refs[ref];
    if (s->job)
        json_put_u64(&s->writer, "rank", s->rank);
    json_put_str(&s->writer, "graph", buf_str(name));
    replay_attempt_json(&s->writer, s->trace, graph);
    json_put_str(&s->writer, "kind", graph->name);
    json_put_u64(&s->writer, "index", graph->index);
}

void graph_run_json_head(const struct graph_run *g)
{
    struct json_writer *w = &g->session->writer;
    run_json_name(g->session, g->ref, &g->name);
    json_put_u64(w, "calls", g->calls);
    json_put_u64(w, "peak_bytes", g->peak);
    json_put_cstr(w, "error", err_is_set(&g->err) ? g->err.text : NULL);
}

void graph_run_json_sources(const struct graph_run *g, struct json_writer *w)
{
    if (!g->n_sources)
        return;
    json_put_u64(w, "passed_inputs", g->n_passed);
    json_open_array(w, "sources");
    for (uint32_t i = 0; i < g->n_sources; i++)
        json_put_str(w, NULL, g->sources[i]);
    json_close(w);
}

void graph_run_json(const struct graph_run *g)
{
    struct json_writer *w = &g->session->writer;
    json_open_object(w, NULL);
    graph_run_json_head(g);
    sizes_json(g->symbols, g->n_symbols, w);
    graph_run_json_sources(g, w);
    if (g->holders.bytes)
        peak_json(g->graph, &g->holders, w);
    if (g->compares) {
        json_put_bool(w, "differs", g->comparison.differs);
        json_open_array(w, "outputs");
        for (size_t i = 0; i < g->comparison.outputs.n; i++)
            json_compared(w, g, &g->comparison.outputs.v[i]);
        json_close(w);
        json_node_counts(w, g);
    }
    json_close(w);
}
