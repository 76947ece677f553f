#include "profile/viewers/chrome_sums.h"

#include <stdlib.h>

#include "profile/model/build.h"
#include "profile/viewers/chrome_records.h"

void chrome_put_name(struct json_writer *w, const char *what, uint64_t pid, uint64_t tid,
                     struct str name)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "name", what);
    json_put_cstr(w, "ph", "M");
    json_put_u64(w, "pid", pid);
    json_put_u64(w, "tid", tid);
    json_open_object(w, "args");
    json_put_str(w, "name", name);
    json_close(w);
    json_close(w);
}

/* Where the nodes of a view lie on its axis. */
struct view_layout {
    int64_t *totals; /* of a node and those below it */
    int64_t *starts;
    int64_t *next; /* by node: where the next one below it starts */
};

static void layout_release(struct view_layout *layout)
{
    free(layout->totals);
    free(layout->starts);
    free(layout->next);
}

static int64_t add_capped(int64_t a, int64_t b)
{
    build_add_ns(&a, b);
    return a;
}

/* Parents stand in front of what is below them. Returns false when memory ran out. */
static bool lay_out(struct view_layout *layout, const struct view_node *nodes, uint32_t first,
                    uint32_t n)
{
    int64_t root = 0;
    layout->totals = calloc((size_t)n + 1, sizeof *layout->totals);
    layout->starts = calloc((size_t)n + 1, sizeof *layout->starts);
    layout->next = calloc((size_t)n + 1, sizeof *layout->next);
    if (!layout->totals || !layout->starts || !layout->next)
        return false;
    for (uint32_t i = n; i > 0; i--) {
        const struct view_node *node = &nodes[first + i - 1];
        build_add_ns(&layout->totals[i - 1], node->weight);
        if (node->parent != VIEW_NONE)
            build_add_ns(&layout->totals[node->parent - first], layout->totals[i - 1]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = nodes[first + i].parent;
        int64_t *at = parent == VIEW_NONE ? &root : &layout->next[parent - first];
        layout->starts[i] = layout->next[i] = *at;
        *at = add_capped(*at, layout->totals[i]);
    }
    return true;
}

/* A count as microseconds, in nanoseconds. */
static int64_t length_of(enum view_unit unit, int64_t weight)
{
    int64_t ns;
    if (unit == VIEW_NANOSECONDS)
        return weight;
    return __builtin_mul_overflow(weight, INT64_C(1000), &ns) ? INT64_MAX : ns;
}

static void put_node(const struct view_frame *frame, enum view_unit unit, int64_t start,
                     int64_t total, uint64_t pid, uint64_t tid, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "name", frame->name);
    json_put_cstr(w, "cat", "sums");
    json_put_cstr(w, "ph", "X");
    chrome_put_us(w, "ts", length_of(unit, start));
    chrome_put_us(w, "dur", length_of(unit, total));
    json_put_u64(w, "pid", pid);
    json_put_u64(w, "tid", tid);
    json_open_object(w, "args");
    json_put_i64(w, unit == VIEW_NANOSECONDS ? "ns" : "count", total);
    if (frame->file.n > 0)
        json_put_str(w, "file", frame->file);
    if (frame->line > 0)
        json_put_u64(w, "line", frame->line);
    json_close(w);
    json_close(w);
}

static bool put_view(const struct stack_views *views, enum stack_view_id id, uint64_t pid,
                     uint64_t tid, struct json_writer *w)
{
    const struct stack_view *view = &views->views[id];
    const struct view_node *nodes = views->nodes.v;
    struct view_layout layout = { 0 };
    bool ok = lay_out(&layout, nodes, view->first, view->n);
    for (uint32_t i = 0; ok && i < view->n; i++)
        if (layout.totals[i] > 0)
            put_node(&views->frames.v[nodes[view->first + i].frame], stack_view_unit(id),
                     layout.starts[i], layout.totals[i], pid, tid, w);
    layout_release(&layout);
    return ok;
}

/* Names the thread after its view: "operators, by calls on each level (1 us each)". */
static void name_view(const struct profile *profile, enum stack_view_id id, uint64_t pid,
                      uint64_t tid, struct json_writer *w)
{
    struct buf name = BUF_INIT;
    buf_puts(&name, stack_view_title(profile, id));
    buf_puts(&name, stack_view_unit(id) == VIEW_COUNT ? " (1 us each)" : "");
    chrome_put_name(w, "thread_name", pid, tid, buf_str(&name));
    w->out->failed |= name.failed;
    buf_release(&name);
}

bool chrome_put_sums(const struct profile *profile, const struct stack_views *views, uint64_t pid,
                     uint64_t thread, struct json_writer *w, struct err *err)
{
    bool ok = true, named = false;
    for (enum stack_view_id id = 0; ok && id < STACK_VIEWS; id++) {
        if (views->views[id].n == 0)
            continue;
        if (!named)
            chrome_put_name(w, "process_name", pid, thread, STR("sums, each from 0"));
        named = true;
        name_view(profile, id, pid, thread + id, w);
        ok = put_view(views, id, pid, thread + id, w) || err_nomem(err);
    }
    return ok;
}
