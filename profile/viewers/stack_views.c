#include "profile/viewers/viewers.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/model/build.h"
#include "profile/model/format.h"
#include "trace/base/text/printable.h"
#include "trace/kernels/kernels.h"

static const struct view_info {
    const char *name, *title;
    enum view_unit unit;
} infos[STACK_VIEWS] = {
#define STACK_VIEW(id, name, title, unit) { name, title, VIEW_##unit },
#include "profile/viewers/stack_views.def"
#undef STACK_VIEW
};

const char *stack_view_name(enum stack_view_id id)
{
    return infos[id].name;
}

const char *stack_view_title(const struct profile *profile, enum stack_view_id id)
{
    if (id == VIEW_LINES && profile->lines.basis == LINES_MEASURED)
        return "user lines, by measured time";
    return infos[id].title;
}

enum view_unit stack_view_unit(enum stack_view_id id)
{
    return infos[id].unit;
}

/* ---- Frames and nodes ---- */

/* A tree that is being built. After the first failure, nothing is added. */
struct view_builder {
    struct stack_views *views;
    const struct profile *profile;
    enum stack_view_id id;
    struct buf key, text;
    bool failed;
};

static struct str clean_text(struct view_builder *b, struct str text)
{
    buf_clear(&b->text);
    printable_line(&b->text, text);
    struct str copy = arena_copy(&b->views->arena, buf_str(&b->text));
    b->failed |= b->text.failed || !copy.p;
    return b->failed ? STR("") : copy;
}

static uint32_t frame_of(struct view_builder *b, struct str name, struct str file, uint32_t line)
{
    struct stack_views *views = b->views;
    buf_clear(&b->key);
    buf_counted(&b->key, name);
    buf_counted(&b->key, file);
    buf_le32(&b->key, line);
    uint32_t id = b->key.failed ? INTERN_NONE : intern(&views->frame_keys, buf_str(&b->key));
    b->failed |= id == INTERN_NONE;
    if (b->failed || id < views->frames.n)
        return id;
    struct view_frame frame = { .name = clean_text(b, name.n > 0 ? name : STR("(unnamed)")),
                                .file = clean_text(b, file),
                                .line = line };
    b->failed |= !vec_push(&views->frames, frame);
    return id;
}

/* Returns the node of a frame below `parent`. */
static uint32_t node_at(struct view_builder *b, uint32_t parent, struct str name, struct str file,
                        uint32_t line)
{
    struct stack_views *views = b->views;
    uint32_t frame = b->failed ? 0 : frame_of(b, name, file, line);
    if (b->failed)
        return VIEW_NONE;
    uint32_t id = intern(&views->node_keys, BUILD_KEY((uint32_t)b->id, parent, frame));
    b->failed |=
        id == INTERN_NONE ||
        (id == views->nodes.n && !vec_push(&views->nodes, (struct view_node){ frame, parent, 0 }));
    return b->failed ? VIEW_NONE : id;
}

static uint32_t node_named(struct view_builder *b, uint32_t parent, struct str name)
{
    return node_at(b, parent, name, STR(""), 0);
}

static void add_weight(struct view_builder *b, uint32_t node, uint64_t weight)
{
    if (b->failed || node == VIEW_NONE || weight == 0)
        return;
    build_add_ns(&b->views->nodes.v[node].weight, weight > INT64_MAX ? INT64_MAX : (int64_t)weight);
}

static void add_ns(struct view_builder *b, uint32_t node, int64_t ns)
{
    add_weight(b, node, ns > 0 ? (uint64_t)ns : 0);
}

/* A user line as three frames: file, function, line with its code. */
static uint32_t line_node(struct view_builder *b, uint32_t parent, struct str file, uint32_t line,
                          struct str function, struct str code)
{
    struct buf text = BUF_INIT;
    format_place(&text, file, 0);
    uint32_t node = node_at(b, parent, buf_str(&text), file, 0);
    if (function.n > 0)
        node = node_at(b, node, function, file, 0);
    buf_clear(&text);
    buf_printf(&text, "%u: ", (unsigned)line);
    buf_put(&text, code);
    node = node_at(b, node, buf_str(&text), file, line);
    b->failed |= text.failed;
    buf_release(&text);
    return node;
}

/* ---- Views ---- */

static void view_phases(struct view_builder *b)
{
    const struct profile_phases *phases = &b->profile->phases;
    uint32_t *nodes = calloc((size_t)phases->n_nodes + 1, sizeof *nodes);
    b->failed |= !nodes;
    for (uint32_t i = 0; !b->failed && i < phases->n_nodes; i++) {
        const struct phase_node *phase = &phases->nodes[i];
        uint32_t parent = phase->parent == PROFILE_NONE ? VIEW_NONE : nodes[phase->parent];
        nodes[i] = node_named(b, parent, profile_name(b->profile, phase->name));
        add_ns(b, nodes[i], phase->exclusive_ns);
    }
    free(nodes);
}

static void view_lines(struct view_builder *b)
{
    for (uint32_t i = 0; i < b->profile->lines.n_lines; i++) {
        const struct profile_line *line = &b->profile->lines.lines[i];
        struct str file = profile_name(b->profile, line->file);
        if (line->ns > 0)
            add_ns(b, line_node(b, VIEW_NONE, file, line->line, line->function, line->code),
                   line->ns);
    }
}

static void view_stacks(struct view_builder *b)
{
    const struct profile_groups *groups = &b->profile->groups[PROFILE_STACK];
    for (uint32_t i = 0; i < groups->n_rows; i++) {
        const struct profile_group *row = &groups->rows[i];
        uint64_t weight = b->id == VIEW_STACK_GUARDS
                              ? row->guards
                              : (uint64_t)(row->self_ns > 0 ? row->self_ns : 0);
        uint32_t node = VIEW_NONE;
        for (uint32_t k = 0; weight > 0 && k < row->n_frames; k++)
            node =
                node_at(b, node, row->frames[k].function, row->frames[k].file, row->frames[k].line);
        add_weight(b, node, weight);
    }
}

/* The path of a module, "(model);layer1;0;conv1" for layer1.0.conv1. */
static void view_modules(struct view_builder *b)
{
    const struct profile_groups *groups = &b->profile->groups[PROFILE_MODULE];
    for (uint32_t i = 0; i < groups->n_rows; i++) {
        const struct profile_group *row = &groups->rows[i];
        uint32_t node = row->aten_calls > 0 ? node_named(b, VIEW_NONE, STR("(model)")) : VIEW_NONE;
        for (struct str path = row->name; row->aten_calls > 0 && path.n > 0;) {
            size_t dot = str_find_char(path, '.');
            node = node_named(b, node, str_first(path, dot));
            path = str_from(path, dot + 1);
        }
        add_weight(b, node, row->aten_calls);
    }
}

static void view_operators(struct view_builder *b)
{
    const struct profile_operators *operators = &b->profile->operators;
    for (uint32_t i = 0; i < operators->n_rows; i++) {
        const struct profile_operator_row *row = &operators->rows[i];
        uint32_t level = node_named(b, VIEW_NONE, str_of(graph_kind_name(row->level)));
        add_weight(b, node_named(b, level, profile_name(b->profile, row->op)), row->calls);
    }
}

/* An operator below its namespace, "aten;aten.mm.default". */
static uint32_t operator_node(struct view_builder *b, struct str op)
{
    uint32_t above = node_named(b, VIEW_NONE, str_first(op, str_find_char(op, '.')));
    return node_named(b, above, op);
}

static void view_dispatches(struct view_builder *b)
{
    const struct profile_costs *costs = &b->profile->costs;
    for (uint32_t i = 0; i < costs->n_operators; i++) {
        const struct operator_cost *cost = &costs->operators[i];
        struct str op = profile_name(b->profile, cost->op);
        if (b->id == VIEW_DISPATCHES && cost->self_ns > 0)
            add_ns(b, operator_node(b, op), cost->self_ns);
        if (b->id == VIEW_REPLAYED && cost->dispatches > 0)
            add_weight(b, operator_node(b, op), cost->dispatches);
    }
}

static void view_guards(struct view_builder *b)
{
    const struct profile_guards *guards = &b->profile->guards;
    for (uint32_t i = 0; i < guards->n_rows; i++) {
        const struct guard_row *row = &guards->rows[i];
        if (row->kind != GUARD_EVAL)
            continue;
        uint32_t node = node_named(b, VIEW_NONE, str_of(guard_class_name(row->asked_by)));
        if (row->file != PROFILE_NONE)
            node = line_node(b, node, profile_name(b->profile, row->file), row->line, STR(""),
                             row->code);
        add_weight(b, node_named(b, node, row->expr), row->count);
    }
}

/* ---- Kernels ---- */

/* A program of Inductor: its compile, then "backward" or "forward". */
static uint32_t inductor_node(struct view_builder *b, const struct build_input *in,
                              const struct kernel_graph *graph)
{
    uint32_t compile = build_compile(in, graph->attempt);
    struct str id = compile == PROFILE_NONE ? STR("") : b->profile->compiles[compile].id;
    uint32_t node = node_named(b, VIEW_NONE, id);
    return node_named(b, node, graph->backward ? STR("backward") : STR("forward"));
}

static void add_kernel(struct view_builder *b, uint32_t program, const struct kernel_list *list,
                       const struct kernel *kernel)
{
    if (b->id == VIEW_KERNELS) {
        if (kernel_ns(kernel) > 0)
            add_ns(b, node_named(b, program, kernel->name), kernel_ns(kernel));
        return;
    }
    uint32_t node = kernel->n_nodes > 0 ? node_named(b, program, kernel->name) : VIEW_NONE;
    for (uint32_t i = 0; i < kernel->n_nodes; i++) {
        const struct kernel_node *is = &list->nodes[kernel->nodes[i]];
        const struct kernel_line *at = is->line == TRACE_NONE ? NULL : &list->lines[is->line];
        uint32_t line = at ? line_node(b, node, at->file, at->line, at->function, at->code) : node;
        add_weight(b, line, 1);
    }
}

static bool add_kernels(struct view_builder *b, const struct build_input *in, struct err *err)
{
    const struct profile_build *build = (const struct profile_build *)b->profile;
    struct kernel_list *list = kernels_read(in->trace, in->events, err);
    for (uint32_t i = 0; list && i < list->n_graphs; i++) {
        const struct kernel_graph *graph = &list->graphs[i];
        if (!build_takes(build, in, graph->record))
            continue;
        uint32_t program = graph->n > 0 ? inductor_node(b, in, graph) : VIEW_NONE;
        for (uint32_t k = graph->first; k < graph->first + graph->n; k++)
            add_kernel(b, program, list, &list->kernels[k]);
    }
    bool ok = list != NULL;
    kernels_free(list);
    return ok;
}

static bool view_kernels(struct view_builder *b, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile->n_traces; i++)
        ok = add_kernels(b, &profile_inputs(b->profile)[i], err);
    return ok;
}

/* ---- All ---- */

static void drop_empty(struct stack_views *views, struct stack_view *view)
{
    for (uint32_t i = 0; i < view->n; i++)
        build_add_ns(&view->total, views->nodes.v[view->first + i].weight);
    view->n = view->total > 0 ? view->n : 0;
}

static bool build_view(struct view_builder *b, struct err *err)
{
    static void (*const builders[STACK_VIEWS])(struct view_builder *) = {
        [VIEW_PHASES] = view_phases,         [VIEW_LINES] = view_lines,
        [VIEW_STACKS] = view_stacks,         [VIEW_STACK_GUARDS] = view_stacks,
        [VIEW_MODULES] = view_modules,       [VIEW_OPERATORS] = view_operators,
        [VIEW_DISPATCHES] = view_dispatches, [VIEW_REPLAYED] = view_dispatches,
        [VIEW_GUARDS] = view_guards,
    };
    struct stack_view *view = &b->views->views[b->id];
    bool ok = true;
    view->first = (uint32_t)b->views->nodes.n;
    if (builders[b->id])
        builders[b->id](b);
    else
        ok = view_kernels(b, err);
    view->n = (uint32_t)b->views->nodes.n - view->first;
    drop_empty(b->views, view);
    return ok && (!b->failed || err_nomem(err));
}

struct stack_views *stack_views_build(const struct profile *profile, const bool *asked,
                                      struct err *err)
{
    struct view_builder b = { .profile = profile, .views = calloc(1, sizeof *b.views) };
    bool ok = b.views || err_nomem(err);
    for (b.id = 0; ok && b.id < STACK_VIEWS; b.id++)
        ok = !asked[b.id] || build_view(&b, err);
    buf_release(&b.key);
    buf_release(&b.text);
    if (ok)
        return b.views;
    stack_views_free(b.views);
    return NULL;
}

void stack_views_free(struct stack_views *views)
{
    if (!views)
        return;
    vec_release(&views->nodes);
    vec_release(&views->frames);
    intern_release(&views->frame_keys);
    intern_release(&views->node_keys);
    arena_release(&views->arena);
    free(views);
}

bool stack_views_path(const struct stack_views *views, uint32_t node, struct view_path *ret)
{
    ret->frames.n = 0;
    for (; node != VIEW_NONE; node = views->nodes.v[node].parent)
        if (!vec_push(&ret->frames, views->nodes.v[node].frame))
            return false;
    return true;
}

struct stack_views *viewer_views(const struct profile *profile, enum stack_view_id view,
                                 struct err *err)
{
    bool asked[STACK_VIEWS];
    for (enum stack_view_id id = 0; id < STACK_VIEWS; id++)
        asked[id] = view == STACK_VIEWS || view == id;
    return stack_views_build(profile, asked, err);
}
