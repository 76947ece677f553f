/* Costs by module. Dynamo names its inputs by their sources: "L['self']._modules['layer1']
 * ._parameters['weight']" is L_self_modules_layer1_parameters_weight_
 * (torch/_dynamo/output_graph.py, SubgraphTracer.create_graph_input). The inputs of AOTAutograd's
 * graphs name them by number or target: PlainAOTInput(idx=7),
 * ParamAOTInput(target='layer1.weight'). */
#include "profile/model/group_rows.h"

struct module_grouper {
    struct profile_build *b;
    struct group_rows *rows;
    const struct build_input *in;
    struct intern modules; /* names */
    vec_of(uint32_t)
    inputs;              /* inputs of the attempt's Dynamo graph in order: module or NONE */
    uint32_t inputs_of;  /* that attempt */
    struct intern saved; /* names of the attempt's AOT inputs, which backward graphs share */
    vec_of(uint32_t)
    saved_module;
    struct buf name;
};

#define NO_MODULE UINT32_MAX
#define NO_MEMORY (UINT32_MAX - 1)

/* ---- Names ---- */

static uint32_t module_id(struct module_grouper *m)
{
    uint32_t id = m->name.failed ? INTERN_NONE : intern(&m->modules, buf_str(&m->name));
    return id == INTERN_NONE ? NO_MEMORY : id;
}

/* Reads the text before the first of these words and removes both from `text`; returns false at the
 * end. */
static bool take_path_part(struct str *text, struct str *part)
{
    static const char *const WORDS[] = { "_modules_", "_parameters_", "_buffers_" };
    size_t at = text->n, length = 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t found = str_find(*text, str_of(WORDS[i]));
        if (found < at) {
            at = found;
            length = strlen(WORDS[i]);
        }
    }
    *part = str_first(*text, at);
    *text = str_from(*text, at + length);
    return length > 0;
}

/* Returns the module of a source: "a.0" for L_self_modules_a_modules_0_parameters_weight_;
 * NO_MODULE if it names none. */
static uint32_t module_of_source(struct module_grouper *m, struct str name)
{
    struct str part;
    buf_clear(&m->name);
    if (!take_path_part(&name, &part))
        return NO_MODULE;
    if (!str_is(part, "L_self") && !str_is(part, "L_fn") && str_starts(part, STR("L_")))
        buf_put(&m->name, str_from(part, 2));
    while (take_path_part(&name, &part)) {
        if (m->name.n)
            buf_putc(&m->name, '.');
        buf_put(&m->name, part);
    }
    return module_id(m);
}

/* Returns the module of a parameter's path: "layer1.0" for layer1.0.weight. */
static uint32_t module_of_path(struct module_grouper *m, struct str path)
{
    while (path.n && path.p[path.n - 1] != '.')
        path.n--;
    path.n -= path.n > 0;
    buf_clear(&m->name);
    buf_put(&m->name, path);
    return module_id(m);
}

/* Returns the text between `from` and `to` in a descriptor, or "" if they are not there. */
static struct str text_between(struct str text, const char *from, const char *to)
{
    size_t at = str_find(text, str_of(from));
    if (at == text.n)
        return STR("");
    text = str_from(text, at + strlen(from));
    return str_first(text, str_find(text, str_of(to)));
}

/* ---- Inputs ---- */

static bool read_dynamo(struct module_grouper *m, const struct graph *graph, uint32_t attempt)
{
    m->inputs.n = 0;
    m->inputs_of = attempt;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op != NODE_PLACEHOLDER)
            continue;
        uint32_t module = module_of_source(m, graph->nodes[i].name);
        if (module == NO_MEMORY || !vec_push(&m->inputs, module))
            return false;
    }
    return true;
}

/* Returns the module of an input; `number` is the ordinal of the input. */
static uint32_t module_of_input(struct module_grouper *m, const struct graph_ref *ref,
                                const struct node *node, uint64_t number)
{
    struct str target = text_between(node->descriptor, "target='", "'");
    struct str index = text_between(node->descriptor, "PlainAOTInput(idx=", ")");
    uint32_t known = intern_find(&m->saved, node->name);
    if (ref->kind == GRAPH_DYNAMO)
        return module_of_source(m, node->name);
    if (ref->kind == GRAPH_BACKWARD)
        return known == INTERN_NONE ? NO_MODULE : m->saved_module.v[known];
    if (target.n)
        return module_of_path(m, target);
    if (node->descriptor.n && !str_to_u64(index, &number))
        return NO_MODULE;
    return m->inputs_of == ref->attempt && number < m->inputs.n ? m->inputs.v[number] : NO_MODULE;
}

/* Stores the module of a forward graph's input: an input of the same name in the backward graph has
 * the same module. */
static bool remember_input_module(struct module_grouper *m, const struct graph_ref *ref,
                                  const struct node *node, uint32_t module)
{
    if (ref->kind != GRAPH_FORWARD)
        return true;
    uint32_t id = intern(&m->saved, node->name);
    if (id == INTERN_NONE)
        return false;
    if (id == m->saved_module.n)
        return vec_push(&m->saved_module, module);
    m->saved_module.v[id] = module;
    return true;
}

/* ---- Calls ---- */

static uint32_t module_of_arg(const struct graph *graph, const uint32_t *modules,
                              const struct arg *arg, uint32_t at, unsigned depth)
{
    uint32_t found = NO_MODULE;
    if (arg->kind == ARG_NODE && arg->u.node < at && !node_is_call(&graph->nodes[arg->u.node]))
        return modules[arg->u.node];
    if (arg->kind != ARG_LIST && arg->kind != ARG_TUPLE)
        return NO_MODULE;
    for (uint32_t i = 0; depth < 8 && found == NO_MODULE && i < arg->u.items.n; i++)
        found = module_of_arg(graph, modules, &graph->args[arg->u.items.first + i], at, depth + 1);
    return found;
}

static uint32_t module_of_call(struct module_grouper *m, const struct graph *graph,
                               const uint32_t *modules, uint32_t at)
{
    const struct node *node = &graph->nodes[at];
    uint32_t found = NO_MODULE;
    if (node->op == NODE_CALL_MODULE) {
        buf_clear(&m->name);
        buf_put(&m->name, node->target);
        return module_id(m);
    }
    for (uint32_t i = 0; found == NO_MODULE && i < node->n_args; i++)
        found = module_of_arg(graph, modules, &graph->args[node->first_arg + i], at, 0);
    return found;
}

/* Finds by node the module that the node itself names, or NO_MODULE. */
static bool find_modules(struct module_grouper *m, const struct graph *graph,
                         const struct graph_ref *ref, uint32_t *modules)
{
    uint64_t inputs = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        modules[i] = NO_MODULE;
        if (node->op == NODE_PLACEHOLDER) {
            modules[i] = module_of_input(m, ref, node, inputs++);
            if (modules[i] != NO_MEMORY && !remember_input_module(m, ref, node, modules[i]))
                return false;
        } else if (node->op == NODE_GET_ATTR) {
            modules[i] = module_of_path(m, node->target);
        } else if (node->op == NODE_ALIAS && node->n_args) {
            modules[i] = module_of_arg(graph, modules, &graph->args[node->first_arg], i, 0);
        } else if (node_is_call(node)) {
            modules[i] = module_of_call(m, graph, modules, i);
        }
        if (modules[i] == NO_MEMORY)
            return false;
    }
    return true;
}

/* Returns the innermost module that contains both. */
static uint32_t common_module(struct module_grouper *m, uint32_t a, uint32_t b)
{
    if (a == NO_MODULE || b == NO_MODULE)
        return a == NO_MODULE ? b : a;
    struct str x = intern_text(&m->modules, a), y = intern_text(&m->modules, b);
    size_t same = 0;
    for (size_t i = 0; i <= x.n && i <= y.n; i++) {
        bool ends = (i == x.n || x.p[i] == '.') && (i == y.n || y.p[i] == '.');
        same = ends ? i : same;
        if (i == x.n || i == y.n || x.p[i] != y.p[i])
            break;
    }
    buf_clear(&m->name);
    buf_put(&m->name, str_first(x, same));
    return module_id(m);
}

/* Gives calls that name no module the common module of the calls before and after them. */
static bool fill_gaps(struct module_grouper *m, const struct graph *graph, uint32_t *modules)
{
    uint32_t before = NO_MODULE, start = 0;
    for (uint32_t i = 0; i <= graph->n_nodes; i++) {
        bool is_call = i < graph->n_nodes && node_is_call(&graph->nodes[i]);
        if (i < graph->n_nodes && (!is_call || modules[i] == NO_MODULE))
            continue;
        uint32_t after = i < graph->n_nodes ? modules[i] : NO_MODULE;
        uint32_t between_them = common_module(m, before, after);
        if (between_them == NO_MEMORY)
            return false;
        for (uint32_t k = start; k < i; k++)
            if (node_is_call(&graph->nodes[k]) && modules[k] == NO_MODULE)
                modules[k] = between_them;
        before = after;
        start = i + 1;
    }
    return true;
}

/* ---- Counting ---- */

enum counted { COUNT_DYNAMO, COUNT_ATEN, COUNT_GUARD };

static void count_one(struct profile_group *row, enum counted what, bool own)
{
    switch (what) {
    case COUNT_DYNAMO:
        row->dynamo_calls += own;
        row->total_dynamo_calls++;
        break;
    case COUNT_ATEN:
        row->aten_calls += own;
        row->total_aten_calls++;
        break;
    case COUNT_GUARD:
        row->guards += own;
        row->total_guards++;
        break;
    }
}

/* Counts for the module, and in the totals of all modules that contain it. */
static bool count_in_module(struct module_grouper *m, uint32_t module, enum counted what)
{
    struct str path = intern_text(&m->modules, module);
    for (bool own = true;; own = false) {
        struct profile_group *row = group_row(m->rows, path);
        if (row && !row->name.n && path.n)
            row->name = arena_copy(&m->b->arena, path);
        if (!row || !row->name.p)
            return false;
        count_one(row, what, own);
        if (path.n == 0)
            return true;
        while (path.n && path.p[path.n - 1] != '.')
            path.n--;
        path.n -= path.n > 0;
    }
}

static bool count_module_guards(struct module_grouper *m, const struct graph *graph, uint32_t ref,
                                const uint32_t *modules)
{
    struct intern names = INTERN_INIT;
    const struct replay *replay = m->in->replay;
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++) {
        char number[16];
        int n = snprintf(number, sizeof number, "\n%u",
                         i); /* a duplicate name keeps its first number */
        uint32_t id = intern(&names, graph->nodes[i].name);
        ok = id != INTERN_NONE &&
             (id == i || intern(&names, (struct str){ number, (size_t)n }) != INTERN_NONE);
    }
    for (size_t i = 0; ok && replay && i < replay->n_guards; i++) {
        const struct replay_guard *guard = &replay->guards[i];
        uint32_t node = guard->ref == ref ? intern_find(&names, guard->node) : INTERN_NONE;
        if (node < graph->n_nodes && node_is_call(&graph->nodes[node]) &&
            modules[node] != NO_MODULE)
            ok = count_in_module(m, modules[node], COUNT_GUARD);
    }
    intern_release(&names);
    return ok;
}

static bool count_graph_modules(struct module_grouper *m, const struct graph *graph, uint32_t index)
{
    const struct graph_ref *ref = &m->in->graphs->refs[index];
    uint32_t *modules = calloc((size_t)graph->n_nodes + 1, sizeof *modules);
    enum counted what = ref->kind == GRAPH_DYNAMO ? COUNT_DYNAMO : COUNT_ATEN;
    bool ok = modules && find_modules(m, graph, ref, modules) && fill_gaps(m, graph, modules);
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++)
        if (node_is_call(&graph->nodes[i]) && modules[i] != NO_MODULE)
            ok = count_in_module(m, modules[i], what);
    ok = ok && count_module_guards(m, graph, index, modules);
    if (ok && ref->kind == GRAPH_DYNAMO)
        ok = read_dynamo(m, graph, ref->attempt);
    free(modules);
    return ok;
}

static bool is_counted(const struct module_grouper *m, const struct graph_ref *ref)
{
    bool level = ref->kind == GRAPH_DYNAMO || ref->kind == GRAPH_FORWARD ||
                 ref->kind == GRAPH_BACKWARD || ref->kind == GRAPH_INFERENCE;
    return level && ref->is_event && build_kept(m->in, ref->attempt) &&
           build_takes(m->b, m->in, ref->record);
}

static bool count_input_modules(struct module_grouper *m)
{
    for (uint32_t i = 0; i < m->in->graphs->n; i++) {
        struct err unreadable = { 0 };
        if (!is_counted(m, &m->in->graphs->refs[i]))
            continue;
        const struct graph *graph = trace_graph(m->in->trace, i, &unreadable);
        if (graph ? !count_graph_modules(m, graph, i) : unreadable.kind == ERR_ENV)
            return false;
    }
    return true;
}

bool groups_by_module(struct profile_build *b, struct group_rows *rows)
{
    struct module_grouper m = { .b = b, .rows = rows, .inputs_of = TRACE_NONE };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces && !b->profile.options.no_graphs; i++) {
        m.in = &b->inputs[i];
        m.inputs_of = TRACE_NONE;
        ok = count_input_modules(&m);
    }
    intern_release(&m.modules);
    intern_release(&m.saved);
    vec_release(&m.inputs);
    vec_release(&m.saved_module);
    buf_release(&m.name);
    return ok;
}
