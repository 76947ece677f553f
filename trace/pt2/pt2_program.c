/* Reads the nodes of an ExportedProgram, Graph and Node of torch/_export/serde/schema.py, as
 * GraphModuleDeserializer of torch/_export/serde/serialize.py does. */
#include "trace/pt2/pt2_program.h"

#include <stdio.h>

#include "trace/graph/graph_operator.h"
#include "trace/graph/python_name.h"
#include "trace/graph/traceback.h"
#include "trace/pt2/pt2.h"

static const struct node_origin NO_ORIGIN = { .storage_offset = EXPR_NONE };

/* ---- texts --------------------------------------------------------------------------------- */

struct str program_copy(struct program_reader *program, struct str text)
{
    struct str copy = arena_copy(&program->tree.pool->arena, text);
    if (copy.p)
        return copy;
    program->failed = true;
    return STR("");
}

struct str program_keep(struct program_reader *program, json_id string)
{
    const struct json *doc = program->doc;
    if (json_kind_of(doc, string) != JSON_STRING)
        return STR("");
    uint32_t id = intern(&program->texts, json_text(doc, string));
    if (id < program->decoded.n)
        return program->decoded.v[id];
    struct str copy = doc->nodes.v[string].escaped
                          ? json_decoded(doc, string, &program->tree.pool->arena)
                          : program_copy(program, json_text(doc, string));
    if (id != INTERN_NONE && copy.p && vec_push(&program->decoded, copy))
        return copy;
    program->failed = true;
    return STR("");
}

json_id program_union(const struct json *doc, json_id object, struct str *key)
{
    *key = STR("");
    if (json_members(doc, object) != 1)
        return JSON_NONE;
    json_id name = json_first(doc, object);
    *key = json_text(doc, name);
    return json_next(doc, name);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Returns the name in an Argument that is one result; JSON_NONE for lists and constants. */
static json_id result_name(const struct json *doc, json_id argument)
{
    struct str kind;
    json_id value = program_union(doc, argument, &kind);
    if (str_is(kind, "as_tensor") || str_is(kind, "as_custom_obj"))
        return json_get(doc, value, STR("name"));
    if (str_starts(kind, STR("as_sym_")))
        return json_get(doc, value, STR("as_name"));
    return JSON_NONE;
}

node_id program_find(struct program_graph *g, json_id name)
{
    if (json_kind_of(g->program->doc, name) != JSON_STRING)
        return NODE_NONE;
    return build_find(&g->builder, program_name(g, name));
}

static bool is_used_name(const struct program_graph *g, struct str name)
{
    return build_find(&g->builder, name) != NODE_NONE ||
           intern_find(&g->value_names, name) != INTERN_NONE ||
           intern_find(&g->invented, name) != INTERN_NONE;
}

/* Returns `base`, or base_1, base_2 ...: the first that is no name of a node or value. */
static struct str invent_name(struct program_graph *g, struct str base)
{
    struct buf *out = &g->program->scratch;
    buf_clear(out);
    if (base.n == 0 || is_digit(base.p[0]))
        buf_putc(out, '_');
    for (size_t i = 0; i < base.n && i < 100; i++) {
        buf_putc(out, is_word_char(base.p[i]) ? base.p[i] : '_');
    }
    size_t n = out->n;
    while (!out->failed && (is_used_name(g, buf_str(out)) || !python_is_name(buf_str(out)))) {
        out->n = n;
        buf_printf(out, "_%u", ++g->n_invented);
    }
    if (intern(&g->invented, buf_str(out)) == INTERN_NONE)
        g->program->failed = true;
    return program_copy(g->program, buf_str(out));
}

struct str program_name(struct program_graph *g, json_id string)
{
    struct str text = program_keep(g->program, string);
    if (text.n == 0 || python_is_name(text))
        return text;
    uint32_t id = intern(&g->odd_names, text);
    if (id < g->new_names.n)
        return g->new_names.v[id];
    struct str name = invent_name(g, text);
    if (id == INTERN_NONE || !vec_push(&g->new_names, name))
        g->program->failed = true;
    g->program->n_renamed++;
    return name;
}

/* Names a call as FX does: "torch.ops.aten.split.Tensor" becomes "split", "math.trunc" becomes
 * "trunc". */
static struct str name_of_target(struct str target)
{
    if (str_starts(target, STR("torch.ops."))) {
        struct str op = str_from(target, 10);
        op = str_from(op, str_find_char(op, '.') + 1);
        return str_first(op, str_find_char(op, '.'));
    }
    size_t from = target.n;
    while (from > 0 && target.p[from - 1] != '.' && target.p[from - 1] != ':')
        from--;
    return str_from(target, from);
}

/* ---- locations and origins ----------------------------------------------------------------- */

static uint32_t read_location(struct program_graph *g, json_id stack_trace)
{
    struct program_reader *program = g->program;
    if (json_kind_of(program->doc, stack_trace) != JSON_STRING)
        return LOCATION_NONE;
    uint32_t id = intern(&g->stacks, json_text(program->doc, stack_trace));
    if (id < g->stack_locations.n)
        return g->stack_locations.v[id];
    struct str text = program_keep(program, stack_trace);
    struct traceback_frame frame;
    uint32_t location = LOCATION_NONE;
    while (traceback_next(&text, &frame))
        location = build_location(&g->builder, (struct location){ .file = frame.file,
                                                                  .function = frame.function,
                                                                  .code = frame.code,
                                                                  .annotation = STR(""),
                                                                  .line = frame.line,
                                                                  .caller = location });
    if (id == INTERN_NONE || !vec_push(&g->stack_locations, location))
        program->failed = true;
    return location;
}

static struct node_origin read_origin(struct program_graph *g, json_id metadata)
{
    struct program_reader *program = g->program;
    const struct json *doc = program->doc;
    struct node_origin origin = NO_ORIGIN;
    origin.module_stack = program_keep(program, json_get(doc, metadata, STR("nn_module_stack")));
    origin.torch_fn = program_keep(program, json_get(doc, metadata, STR("torch_fn")));
    origin.custom = program_keep(program, json_get(doc, metadata, STR("custom")));
    return origin;
}

/* Appends a node and its origin. */
static node_id add_program_node(struct program_graph *g, struct node node, size_t mark,
                                struct node_origin origin)
{
    node.descriptor = STR("");
    node_id id = build_node(&g->builder, node, mark);
    if (id == NODE_NONE || !vec_push(&g->origins, origin))
        g->program->failed = true;
    return id;
}

/* ---- results ------------------------------------------------------------------------------- */

static node_id add_getitem(struct program_graph *g, node_id call, uint32_t index, struct str name,
                           uint32_t meta, struct node_origin origin)
{
    size_t mark = build_mark(&g->builder);
    char digits[12];
    int n = snprintf(digits, sizeof digits, "%u", index);
    struct str text = program_copy(g->program, (struct str){ digits, (size_t)n });
    build_push(&g->builder, (struct arg){ .kind = ARG_NODE, .u.node = call });
    build_push(&g->builder, (struct arg){ .kind = ARG_INT, .text = text, .u.integer = index });
    return add_program_node(g,
                            (struct node){ .op = NODE_CALL_FUNCTION,
                                           .form = FORM_GETITEM,
                                           .name = name,
                                           .target = STR("operator.getitem"),
                                           .meta = meta,
                                           .location = g->location },
                            mark, origin);
}

static void add_named_getitem(struct program_graph *g, node_id call, uint32_t index, json_id name,
                              struct node_origin origin)
{
    uint32_t meta = program_meta(g, name, &origin);
    add_getitem(g, call, index, program_name(g, name), meta, origin);
}

/* Adds getitem nodes for the tensors of an as_tensors or the names of an as_sym_ints. */
static void add_list_getitems(struct program_graph *g, node_id call, json_id list,
                              struct node_origin origin)
{
    const struct json *doc = g->program->doc;
    uint32_t index = 0;
    for (json_id v = json_first(doc, list); v != JSON_NONE; v = json_next(doc, v), index++) {
        json_id name = json_get(doc, v, STR("name"));
        if (name == JSON_NONE)
            name = json_get(doc, v, STR("as_name"));
        if (json_kind_of(doc, name) == JSON_STRING)
            add_named_getitem(g, call, index, name, origin);
    }
}

static void add_getitems(struct program_graph *g, node_id call, json_id outputs,
                         struct node_origin origin)
{
    const struct json *doc = g->program->doc;
    struct str kind;
    if (json_count(doc, outputs) == 1) {
        json_id only = program_union(doc, json_first(doc, outputs), &kind);
        if (json_kind_of(doc, only) == JSON_ARRAY) {
            add_list_getitems(g, call, only, origin);
            return;
        }
    }
    uint32_t index = 0;
    for (json_id o = json_first(doc, outputs); o != JSON_NONE; o = json_next(doc, o), index++) {
        json_id name = result_name(doc, o), value = program_union(doc, o, &kind);
        if (json_kind_of(doc, name) == JSON_STRING) {
            add_named_getitem(g, call, index, name, origin);
        } else if (json_kind_of(doc, value) == JSON_ARRAY) {
            struct str list = invent_name(g, STR("getitem"));
            add_list_getitems(g, add_getitem(g, call, index, list, META_NONE, origin), value,
                              origin);
        }
    }
}

/* Returns the name of the one result that the node itself is; JSON_NONE where it is a tuple, a
 * list or nothing. A higher-order operator says whether it returns a tuple of one. */
static json_id single_result(const struct json *doc, json_id node, struct str target)
{
    json_id outputs = json_get(doc, node, STR("outputs"));
    json_id single = json_get(doc, node, STR("is_hop_single_tensor_return"));
    if (json_count(doc, outputs) != 1)
        return JSON_NONE;
    if (str_starts(target, STR("torch.ops.higher_order.")) && single != JSON_NONE &&
        json_kind_of(doc, single) == JSON_FALSE)
        return JSON_NONE;
    json_id name = result_name(doc, json_first(doc, outputs));
    return json_kind_of(doc, name) == JSON_STRING ? name : JSON_NONE;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Turns "_operator.add" into operator.add, and into "a + b" where text would be printed so. */
static void normalize_operator(struct program_reader *program, struct node *node, uint32_t operands)
{
    if (!str_starts(node->target, STR("_operator.")))
        return;
    node->target = program_copy(program, str_from(node->target, 1));
    const struct graph_operator *operator= graph_operator_by_target(node->target);
    if (operator&&((operands == 2 && str_eq(node->target, operator->infix)) ||
                   (operands == 1 && str_eq(node->target, operator->prefix))))
        node->form = FORM_INFIX;
}

/* Returns NamedArgument.kind; where it is missing, see pt2.h. */
static bool is_keyword_input(const struct json *doc, json_id input, bool is_first, bool is_operator)
{
    enum { POSITIONAL = 1, KEYWORD = 2 };
    int64_t kind = 0;
    json_i64(doc, json_get(doc, input, STR("kind")), &kind);
    if (kind == POSITIONAL || json_text(doc, json_get(doc, input, STR("name"))).n == 0)
        return false;
    return kind == KEYWORD || (is_operator && !is_first);
}

/* Pushes the inputs, keyword arguments last. Returns how many were pushed. */
static uint32_t push_inputs(struct program_graph *g, json_id inputs, struct str target)
{
    const struct json *doc = g->program->doc;
    bool is_operator = str_starts(target, STR("torch.ops."));
    json_id first = json_first(doc, inputs);
    uint32_t n = 0;
    for (int keywords = 0; keywords < 2; keywords++)
        for (json_id i = first; i != JSON_NONE; i = json_next(doc, i)) {
            if (is_keyword_input(doc, i, i == first, is_operator) != (keywords != 0))
                continue;
            json_id name = json_get(doc, i, STR("name"));
            struct str key = keywords ? program_keep_word(g->program, name) : STR("");
            if (!g->program->failed) {
                program_push_argument(g, json_get(doc, i, STR("arg")), key);
                if (g->program->failed)
                    program_refused_at(g->program, "argument", json_text(doc, name));
            }
            n++;
        }
    return n;
}

/* Returns the target after checking that it is a dotted name. */
static struct str read_target(struct program_reader *program, json_id target)
{
    struct str text = program_keep(program, target);
    if (program_want_string(program, target) && target_form_of(text) == TARGET_NEITHER) {
        program_refuse(program, "not the name of an operator or function");
        program_refused_at(program, "target", text);
    }
    return text;
}

static void read_node(struct program_graph *g, json_id json)
{
    struct program_reader *program = g->program;
    const struct json *doc = program->doc;
    json_id metadata = json_get(doc, json, STR("metadata"));
    struct node node = { .op = NODE_CALL_FUNCTION,
                         .target = read_target(program, json_get(doc, json, STR("target"))) };
    if (program->failed)
        return;
    struct node_origin origin = read_origin(g, metadata), of_result = origin;
    node.location = g->location = read_location(g, json_get(doc, metadata, STR("stack_trace")));
    size_t mark = build_mark(&g->builder);
    uint32_t n = push_inputs(g, json_get(doc, json, STR("inputs")), node.target);
    if (program->failed)
        return;
    json_id result = single_result(doc, json, node.target);
    node.meta = program_meta(g, result, &of_result);
    node.name = program_name(g, result != JSON_NONE ? result : json_get(doc, json, STR("name")));
    if (node.name.n == 0)
        node.name = invent_name(g, name_of_target(node.target));
    normalize_operator(program, &node, n);
    node_id call = add_program_node(g, node, mark, of_result);
    if (result == JSON_NONE)
        add_getitems(g, call, json_get(doc, json, STR("outputs")), origin);
}

/* ---- graphs -------------------------------------------------------------------------------- */

/* Returns the name in an InputSpec of an input that is a constant; JSON_NONE for others. */
static json_id constant_name(const struct json *doc, json_id spec)
{
    struct str kind;
    json_id value = program_union(doc, spec, &kind);
    return str_is(kind, "constant_input") ? json_get(doc, value, STR("name")) : JSON_NONE;
}

static void read_graph_inputs(struct program_graph *g, json_id graph, json_id specs)
{
    const struct json *doc = g->program->doc;
    json_id input = json_first(doc, json_get(doc, graph, STR("inputs")));
    json_id spec = json_first(doc, specs);
    for (uint32_t i = 0; input != JSON_NONE; i++, input = json_next(doc, input)) {
        struct node_origin origin = NO_ORIGIN;
        json_id name = result_name(doc, input);
        if (name == JSON_NONE)
            name = constant_name(doc, spec);
        struct node node = { .op = NODE_PLACEHOLDER,
                             .name = program_name(g, name),
                             .meta = program_meta(g, name, &origin),
                             .location = LOCATION_NONE };
        if (node.name.n == 0) {
            char arg[16];
            snprintf(arg, sizeof arg, "arg%u", i);
            node.name = invent_name(g, str_of(arg));
        }
        node.target = node.name;
        add_program_node(g, node, build_mark(&g->builder), origin);
        spec = json_next(doc, spec);
    }
}

static void read_graph_output(struct program_graph *g, json_id graph)
{
    const struct json *doc = g->program->doc;
    size_t mark = build_mark(&g->builder);
    json_id outputs = json_get(doc, graph, STR("outputs"));
    json_id single = json_get(doc, graph, STR("is_single_tensor_return"));
    for (json_id o = json_first(doc, outputs); o != JSON_NONE; o = json_next(doc, o))
        program_push_argument(g, o, STR(""));
    g->builder.graph->returns_tuple = json_kind_of(doc, single) != JSON_TRUE;
    add_program_node(g,
                     (struct node){ .op = NODE_OUTPUT,
                                    .name = STR("output"),
                                    .target = STR("output"),
                                    .meta = META_NONE,
                                    .location = LOCATION_NONE },
                     mark, NO_ORIGIN);
}

/* Makes the part of a signature that nested graphs have as well. */
static struct graph_signature *make_signature(struct program_graph *g)
{
    struct program_reader *program = g->program;
    struct arena *arena = &program->tree.pool->arena;
    struct graph_signature *signature = arena_new(arena, struct graph_signature);
    struct node_origin *origins = arena_array(arena, struct node_origin, g->origins.n);
    if (!signature || !origins) {
        err_nomem(program->err);
        return NULL;
    }
    memcpy(origins, g->origins.v, g->origins.n * sizeof *origins);
    signature->origins = origins;
    signature->opset = -1;
    signature->torch_version = signature->verifiers = STR("");
    signature->n_renamed = program->n_renamed;
    g->builder.graph->signature = signature;
    return signature;
}

/* Returns a node's name for an error: its result's, its own, or else its target. */
static struct str name_of_node(const struct program_graph *g, json_id node)
{
    const struct json *doc = g->program->doc;
    json_id result = single_result(doc, node, STR(""));
    struct str name =
        json_text(doc, result != JSON_NONE ? result : json_get(doc, node, STR("name")));
    return name.n ? name : json_text(doc, json_get(doc, node, STR("target")));
}

static bool fill_graph(struct program_graph *g, json_id graph, json_id specs, bool is_root)
{
    struct program_reader *program = g->program;
    const struct json *doc = program->doc;
    if (is_root)
        program->root = g;
    if (!program_read_values(g, graph))
        return false;
    read_graph_inputs(g, graph, specs);
    json_id nodes = json_get(doc, graph, STR("nodes"));
    for (json_id n = json_first(doc, nodes); n != JSON_NONE && !program->failed;
         n = json_next(doc, n)) {
        read_node(g, n);
        if (program->failed)
            program_refused_at(program, "node", name_of_node(g, n));
    }
    if (!program->failed) {
        read_graph_output(g, graph);
        if (program->failed)
            program_refused_at(program, "outputs", STR(""));
    }
    if (program->failed || program->scratch.failed)
        return err_nomem(program->err);
    struct graph_signature *signature = make_signature(g);
    return signature && (!is_root || program_read_signature(program, signature));
}

static void release_graph(struct program_graph *g)
{
    intern_release(&g->value_names);
    vec_release(&g->values);
    intern_release(&g->stacks);
    vec_release(&g->stack_locations);
    vec_release(&g->origins);
    intern_release(&g->child_names);
    vec_release(&g->nested);
    intern_release(&g->invented);
    intern_release(&g->odd_names);
    vec_release(&g->new_names);
}

/* Reads a graph. Returns NULL with the program's error set on failure. */
static struct graph *read_program_graph(struct program_reader *program, json_id json, json_id specs,
                                        struct str name, bool is_root)
{
    struct program_graph g = { .program = program, .location = LOCATION_NONE };
    struct graph *graph = NULL;
    if (!graph_builder_init(&g.builder, &program->tree, name, program->err))
        return NULL;
    if (fill_graph(&g, json, specs, is_root))
        graph = graph_builder_finish(&g.builder, program->err);
    else
        graph_builder_abandon(&g.builder);
    release_graph(&g);
    return graph;
}

/* Returns the child of that name and JSON, if it was read already. */
static node_id find_nested(const struct program_graph *g, struct str name, json_id body)
{
    const struct json *doc = g->program->doc;
    uint32_t id = intern_find(&g->child_names, name);
    if (id >= g->nested.n || !str_eq(json_text(doc, g->nested.v[id].body), json_text(doc, body)))
        return NODE_NONE;
    return g->nested.v[id].node;
}

node_id program_nested(struct program_graph *g, json_id argument)
{
    struct program_reader *program = g->program;
    json_id body = json_get(program->doc, argument, STR("graph"));
    if (!program_want_object(program, body))
        return NODE_NONE;
    struct str name = program_keep(program, json_get(program->doc, argument, STR("name")));
    node_id known = find_nested(g, name, body);
    if (known != NODE_NONE)
        return known;
    if (!python_is_name(name) || is_used_name(g, name))
        name = invent_name(g, name.n ? name : STR("graph"));
    struct graph *child = read_program_graph(program, body, JSON_NONE, name, false);
    if (!child) {
        program->failed = true;
        return NODE_NONE;
    }
    build_child(&g->builder, child);
    node_id node = add_program_node(g,
                                    (struct node){ .op = NODE_GET_ATTR,
                                                   .name = name,
                                                   .target = name,
                                                   .meta = META_NONE,
                                                   .location = g->location },
                                    build_mark(&g->builder), NO_ORIGIN);
    struct nested nested = { body, node };
    if (intern(&g->child_names, name) != g->nested.n || !vec_push(&g->nested, nested))
        program->failed = true;
    return node;
}

/* ---- the program --------------------------------------------------------------------------- */

static bool check_version(const struct json *doc, struct err *err)
{
    json_id version = json_get(doc, JSON_ROOT, STR("schema_version"));
    json_id module = json_get(doc, JSON_ROOT, STR("graph_module"));
    int64_t major = 0;
    if (json_kind_of(doc, json_get(doc, module, STR("graph"))) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "not an exported program: it has no graph_module.graph");
    json_i64(doc, json_get(doc, version, STR("major")), &major);
    if (major != 8 && major != 0)
        return err_set(err, ERR_INPUT,
                       "the exported program has schema version %lld, and only "
                       "version 8 is supported",
                       (long long)major);
    return true;
}

static struct graph *read_exported_program(struct program_reader *program)
{
    const struct json *doc = program->doc;
    json_id module = json_get(doc, JSON_ROOT, STR("graph_module"));
    json_id signature = json_get(doc, module, STR("signature"));
    return read_program_graph(program, json_get(doc, module, STR("graph")),
                              json_get(doc, signature, STR("input_specs")), STR("GraphModule"),
                              true);
}

static void release_program(struct program_reader *program)
{
    intern_release(&program->texts);
    vec_release(&program->decoded);
    intern_release(&program->exprs);
    vec_release(&program->printed);
    intern_release(&program->symbol_names);
    vec_release(&program->symbols);
    buf_release(&program->scratch);
}

struct graph *pt2_program_parse(struct str model_json, struct err *err)
{
    struct json doc = { 0 };
    struct program_reader program = { .doc = &doc, .err = err };
    struct graph *graph = NULL;
    if (json_parse(&doc, model_json, err) && check_version(&doc, err) &&
        tree_builder_init(&program.tree, err)) {
        graph = read_exported_program(&program);
        tree_builder_finish(&program.tree, graph);
    }
    release_program(&program);
    json_release(&doc);
    return graph;
}
