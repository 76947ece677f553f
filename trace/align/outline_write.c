#include <stdlib.h>

#include "trace/align/outline_json.h"
#include "trace/events/guards.h"

struct outline_writer {
    const struct outline *o;
    struct json_writer *w;
    uint32_t *number; /* by text: its number in the file */
};

static void put_none(struct json_writer *w, uint32_t value)
{
    if (value == OUTLINE_NONE)
        json_put_i64(w, NULL, -1);
    else
        json_put_u64(w, NULL, value);
}

static void put_text_number(const struct outline_writer *x, uint32_t text)
{
    json_put_u64(x->w, NULL, x->number[text]);
}

static void mark_text_used(uint32_t *number, uint32_t text)
{
    number[text] = 1;
}

/* Numbers the texts. Names of nodes are not written, nor texts that nothing else uses. */
static void number_written_texts(struct outline_writer *x)
{
    const struct outline *o = x->o;
    mark_text_used(x->number, 0);
    for (size_t i = 0; i < o->lines.n; i++) {
        mark_text_used(x->number, o->lines.v[i].file);
        mark_text_used(x->number, o->lines.v[i].function);
        mark_text_used(x->number, o->lines.v[i].code);
    }
    for (size_t i = 0; i < o->recordings.n; i++) {
        mark_text_used(x->number, o->recordings.v[i].name);
        mark_text_used(x->number, o->recordings.v[i].torch_version);
    }
    for (size_t i = 0; i < o->compiles.n; i++) {
        mark_text_used(x->number, o->compiles.v[i].id);
        mark_text_used(x->number, o->compiles.v[i].function);
    }
    for (size_t i = 0; i < o->events.n; i++) {
        mark_text_used(x->number, o->events.v[i].text);
        mark_text_used(x->number, o->events.v[i].shown);
        mark_text_used(x->number, o->events.v[i].detail);
    }
    for (size_t i = 0; i < o->graphs.n; i++) {
        mark_text_used(x->number, o->graphs.v[i].name);
        mark_text_used(x->number, o->graphs.v[i].path);
    }
    for (size_t i = 0; i < o->forms.n; i++) {
        mark_text_used(x->number, o->forms.v[i].op);
        mark_text_used(x->number, o->forms.v[i].args);
        mark_text_used(x->number, o->forms.v[i].meta);
        mark_text_used(x->number, o->forms.v[i].shown);
    }
    uint32_t next = 0;
    for (size_t i = 0; i < o->texts.texts.n; i++)
        x->number[i] = x->number[i] ? next++ : 0;
}

static void write_texts(const struct outline_writer *x)
{
    json_open_array(x->w, "texts");
    for (uint32_t i = 0; i < x->o->texts.texts.n; i++)
        if (i == 0 || x->number[i] != 0)
            json_put_str(x->w, NULL, outline_text(x->o, i));
    json_close(x->w);
    json_open_array(x->w, "lines");
    for (size_t i = 0; i < x->o->lines.n; i++) {
        const struct outline_line *l = &x->o->lines.v[i];
        json_open_array(x->w, NULL);
        put_text_number(x, l->file);
        put_text_number(x, l->function);
        put_text_number(x, l->code);
        json_put_u64(x->w, NULL, l->line);
        json_close(x->w);
    }
    json_close(x->w);
}

static void write_parts(const struct outline_writer *x)
{
    const struct outline *o = x->o;
    json_open_array(x->w, "recordings");
    for (size_t i = 0; i < o->recordings.n; i++) {
        const struct outline_recording *r = &o->recordings.v[i];
        json_open_array(x->w, NULL);
        put_text_number(x, r->name);
        put_text_number(x, r->torch_version);
        json_put_i64(x->w, NULL, r->rank);
        json_put_u64(x->w, NULL, r->is_pt2);
        json_put_u64(x->w, NULL, r->n_compiles);
        json_close(x->w);
    }
    json_close(x->w);
    json_open_array(x->w, "compiles");
    for (size_t i = 0; i < o->compiles.n; i++) {
        const struct outline_compile *c = &o->compiles.v[i];
        json_open_array(x->w, NULL);
        put_text_number(x, c->id);
        put_text_number(x, c->function);
        put_none(x->w, c->line);
        json_put_i64(x->w, NULL, c->ns);
        json_put_u64(x->w, NULL, c->n_attempts);
        json_close(x->w);
    }
    json_close(x->w);
    json_open_array(x->w, "attempts");
    for (size_t i = 0; i < o->attempts.n; i++) {
        const struct outline_attempt *a = &o->attempts.v[i];
        json_open_array(x->w, NULL);
        json_put_u64(x->w, NULL, a->number);
        json_put_cstr(x->w, NULL, attempt_status_name((enum attempt_status)a->status));
        json_put_u64(x->w, NULL, a->n_events);
        json_put_u64(x->w, NULL, a->n_graphs);
        json_close(x->w);
    }
    json_close(x->w);
}

static void write_events(const struct outline_writer *x)
{
    json_open_array(x->w, "events");
    for (size_t i = 0; i < x->o->events.n; i++) {
        const struct outline_event *e = &x->o->events.v[i];
        json_open_array(x->w, NULL);
        json_put_cstr(x->w, NULL, outline_event_kind_name((enum outline_event_kind)e->kind));
        json_put_cstr(x->w, NULL, guard_class_name((enum guard_class)e->asked_by));
        put_text_number(x, e->text);
        put_text_number(x, e->shown);
        put_text_number(x, e->detail);
        put_none(x->w, e->line);
        json_put_i64(x->w, NULL, e->ns);
        json_put_u64(x->w, NULL, e->count);
        json_close(x->w);
    }
    json_close(x->w);
}

static void write_graphs(const struct outline_writer *x)
{
    const struct outline *o = x->o;
    json_open_array(x->w, "graphs");
    for (size_t i = 0; i < o->graphs.n; i++) {
        const struct outline_graph *g = &o->graphs.v[i];
        json_open_array(x->w, NULL);
        json_put_cstr(x->w, NULL, graph_kind_name((enum graph_kind)g->kind));
        put_text_number(x, g->name);
        put_text_number(x, g->path);
        json_put_u64(x->w, NULL, g->index);
        json_put_u64(x->w, NULL, g->n_nodes);
        json_put_u64(x->w, NULL, g->n_inputs);
        json_put_u64(x->w, NULL, g->n_calls);
        json_put_u64(x->w, NULL, g->n_outputs);
        json_close(x->w);
    }
    json_close(x->w);
    json_open_array(x->w, "forms");
    for (size_t i = 0; i < o->forms.n; i++) {
        const struct outline_form *f = &o->forms.v[i];
        json_open_array(x->w, NULL);
        put_text_number(x, f->op);
        put_text_number(x, f->args);
        put_text_number(x, f->meta);
        put_text_number(x, f->shown);
        put_none(x->w, f->line);
        json_put_u64(x->w, NULL, f->is_call);
        json_close(x->w);
    }
    json_close(x->w);
}

/* Writes one list: for each node its form, the number of results that it uses, and those. */
static void write_nodes(const struct outline_writer *x)
{
    const struct outline *o = x->o;
    json_open_array(x->w, "nodes");
    for (size_t i = 0; i < o->nodes.n; i++) {
        const struct outline_node *n = &o->nodes.v[i];
        json_put_u64(x->w, NULL, n->form);
        json_put_u64(x->w, NULL, n->n_refs);
        for (uint32_t r = 0; r < n->n_refs; r++)
            json_put_u64(x->w, NULL, o->refs.v[n->first_ref + r]);
    }
    json_close(x->w);
}

void outline_write(const struct outline *outline, struct json_writer *w, const char *key)
{
    struct outline_writer x = { outline, w, calloc(outline->texts.texts.n + 1, sizeof *x.number) };
    if (!x.number) {
        w->out->failed = true;
        return;
    }
    number_written_texts(&x);
    json_open_object(w, key);
    write_texts(&x);
    write_parts(&x);
    write_events(&x);
    write_graphs(&x);
    write_nodes(&x);
    json_put_u64(w, "unreadable", outline->n_unreadable);
    json_close(w);
    free(x.number);
}
