#include "cmd/show/show.h"
#include "trace/graphs.h"
#include "trace/pt2/signature.h"

/* --signature: the inputs, outputs, range constraints and guards of the programs in .pt2 archives,
 * as four lists. */

struct signature_item {
    const struct graph_ref *ref;
    const struct graph *program;
    uint32_t i; /* index in its list */
};

struct signature_items {
    vec_of(struct signature_item)
    items;
};

static const struct signature_item *signature_item_at(const void *items, uint32_t i)
{
    return &((const struct signature_items *)items)->items.v[i];
}

static void release_signature(void *items)
{
    if (items)
        vec_release(&((struct signature_items *)items)->items);
    free(items);
}

typedef uint32_t count_fn(const struct graph_signature *signature);

static bool add_program_items(struct signature_items *all, const struct graph_ref *ref,
                              const struct graph *program, count_fn *count, struct err *err)
{
    for (uint32_t i = 0; i < count(program->signature); i++)
        if (!vec_push(&all->items, (struct signature_item){ ref, program, i }))
            return err_nomem(err);
    return true;
}

/* Reads a program. A damaged one is omitted, and one of the lists notes it. */
static bool read_shown_program(struct show *show, uint32_t ref, bool tell, const struct graph **ret,
                               struct err *err)
{
    struct err why = { 0 };
    *ret = trace_graph(show->trace, ref, &why);
    if (!*ret && why.kind == ERR_ENV)
        return *err = why, false;
    if (!*ret && tell)
        out_error(show->out, &why);
    return true;
}

/* Loads the items that `count` counts, for every program in view. */
static bool load_signature(struct show *show, count_fn *count, bool tell, void **ret,
                           uint32_t *ret_n, struct err *err)
{
    const struct graph_list *graphs = trace_graphs(show->trace, err);
    struct signature_items *all = calloc(1, sizeof *all);
    bool ok = graphs && (all || err_nomem(err));
    for (uint32_t i = 0; ok && i < graphs->n; i++) {
        const struct graph_ref *ref = &graphs->refs[i];
        const struct graph *program;
        if (show->trace->records[ref->record].event != EVENT_PT2_MEMBER ||
            !show_in_view(show, ref->record, ref->attempt))
            continue;
        ok = read_shown_program(show, i, tell, &program, err) &&
             (!program || add_program_items(all, ref, program, count, err));
    }
    if (!ok) {
        release_signature(all);
        return false;
    }
    *ret = all;
    *ret_n = (uint32_t)all->items.n;
    return true;
}

static struct show_place place_signature(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    return (struct show_place){ .record = signature_item_at(items, i)->ref->record,
                                .attempt = TRACE_NONE };
}

static const void *signature_item_row(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return signature_item_at(items, i);
}

static const struct field PROGRAM[] = {
    { "program", MEMBER(struct graph_ref, name) },
    { NULL, CELL(show_cell_program, struct graph_ref, name), TEXT(1, "program", PATH, 1) },
};
static const struct fields PROGRAM_FIELDS = FIELDS_OF(PROGRAM);

/* The first field of each list: the program to which an item belongs. */
#define ITS_PROGRAM                                              \
    {                                                            \
        NULL, BEHIND(PROGRAM_FIELDS, struct signature_item, ref) \
    }

static const struct meta *node_meta_of(const struct graph *graph, node_id node)
{
    uint32_t meta = node < graph->n_nodes ? graph->nodes[node].meta : META_NONE;
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

static struct str recorded_meta_text(const struct meta *meta)
{
    return meta ? meta->text : STR("");
}

/* ---- inputs -------------------------------------------------------------------------------- */

static uint32_t count_input_specs(const struct graph_signature *signature)
{
    return signature->n_inputs;
}

static bool load_inputs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_signature(show, count_input_specs, true, ret, ret_n, err);
}

/* Returns a constant as Python prints it; a string without quotes. */
static struct str constant_text(const struct arg *value)
{
    if (value->kind == ARG_NONE)
        return STR("None");
    if (value->kind == ARG_BOOL)
        return value->u.integer ? STR("True") : STR("False");
    return value->text;
}

static const struct input_spec *input_spec_of(const struct signature_item *item)
{
    return &item->program->signature->inputs[item->i];
}

REACH(reach_input, void, input_spec_of(row))
GETTER(get_input_kind, struct input_spec, datum_name(input_kind_name(row->kind)))

static void cell_input_kind(const void *context, const void *at, struct buf *out)
{
    const struct input_spec *input = at;
    bool passing = input->kind == INPUT_BUFFER && !input->persistent;
    (void)context;
    buf_printf(out, "%s%s", input_kind_name(input->kind), passing ? " (not persistent)" : "");
}

GETTER(get_bound_to, struct input_spec, datum_string(row->target.n ? row->target : row->source))

static const struct field INPUT[] = {
    { "kind", .get = get_input_kind },
    { NULL, .cell = cell_input_kind, TEXT(2, "kind", WORD, 0) },
    { "name", MEMBER(struct input_spec, name), TEXT(3, "input", TEXT, 0) },
    { "target", MEMBER(struct input_spec, target) },
    { "source", MEMBER(struct input_spec, source) },
    { NULL, .get = get_bound_to, TEXT(4, "bound to", TEXT, 0) },
};
static const struct fields INPUT_FIELDS = FIELDS_OF(INPUT);

GETTER(get_input_meta, struct signature_item,
       datum_string(recorded_meta_text(node_meta_of(row->program, row->i))))

/* Returns the value of a constant, which has no target. */
static struct datum get_input_value(const void *context, const void *at)
{
    const struct input_spec *input = input_spec_of(at);
    return input->kind == INPUT_CONSTANT ? datum_string(constant_text(&input->value))
                                         : get_input_meta(context, at);
}

static struct datum get_persistent(const void *context, const void *at)
{
    const struct input_spec *input = input_spec_of(at);
    (void)context;
    return input->kind == INPUT_BUFFER ? datum_bool(input->persistent) : datum_absent();
}

static struct datum get_constant(const void *context, const void *at)
{
    const struct input_spec *input = input_spec_of(at);
    const struct arg *value = &input->value;
    (void)context;
    if (input->kind != INPUT_CONSTANT)
        return datum_absent();
    switch (value->kind) {
    case ARG_NONE: return datum_null();
    case ARG_BOOL: return datum_bool(value->u.integer != 0);
    case ARG_INT: return datum_integer(value->u.integer);
    case ARG_FLOAT: return datum_number(value->u.number);
    default: return datum_string(value->text);
    }
}

static const struct field INPUT_ITEM[] = {
    ITS_PROGRAM,
    { NULL, .group = &INPUT_FIELDS, .reach = reach_input },
    { "meta", .get = get_input_meta },
    { NULL, .get = get_input_value, TEXT(5, "meta", TEXT, 0) },
    { "persistent", .get = get_persistent },
    { "value", .get = get_constant },
};
static const struct fields INPUT_ITEM_FIELDS = FIELDS_OF(INPUT_ITEM);

const struct show_view show_inputs = {
    .key = "inputs",
    .none = "no inputs of an exported program",
    .fields = &INPUT_ITEM_FIELDS,
    .load = load_inputs,
    .release = release_signature,
    .place = place_signature,
    .item = signature_item_row,
};

/* ---- outputs ------------------------------------------------------------------------------- */

static uint32_t count_outputs(const struct graph_signature *signature)
{
    return signature->n_outputs;
}

static bool load_outputs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_signature(show, count_outputs, false, ret, ret_n, err);
}

/* Returns the meta of the i-th argument of the output node, which is the last node. */
static const struct meta *output_meta(const struct graph *graph, uint32_t i)
{
    const struct node *output = graph->n_nodes ? &graph->nodes[graph->n_nodes - 1] : NULL;
    if (!output || output->op != NODE_OUTPUT || i >= output->n_args)
        return NULL;
    const struct arg *arg = &graph->args[output->first_arg + i];
    return arg->kind == ARG_NODE ? node_meta_of(graph, arg->u.node) : NULL;
}

REACH(reach_output, struct signature_item, &row->program->signature->outputs[row->i])
GETTER(get_output_kind, struct output_spec, datum_name(output_kind_name(row->kind)))

GETTER(get_returned_as, struct output_spec, datum_string(row->target.n ? row->target : row->path))

static const struct field OUTPUT[] = {
    { "kind", .get = get_output_kind, TEXT(2, "kind", WORD, 0) },
    { "name", MEMBER(struct output_spec, name), TEXT(3, "output", TEXT, 0) },
    { "target", MEMBER(struct output_spec, target) },
    { "path", MEMBER(struct output_spec, path) },
    { NULL, .get = get_returned_as, TEXT(4, "goes to", TEXT, 0) },
};
static const struct fields OUTPUT_FIELDS = FIELDS_OF(OUTPUT);

GETTER(get_output_meta, struct signature_item,
       datum_string(recorded_meta_text(output_meta(row->program, row->i))))

static const struct field OUTPUT_ITEM[] = {
    ITS_PROGRAM,
    { NULL, .group = &OUTPUT_FIELDS, .reach = reach_output },
    { "meta", .get = get_output_meta, TEXT(5, "meta", TEXT, 0) },
};
static const struct fields OUTPUT_ITEM_FIELDS = FIELDS_OF(OUTPUT_ITEM);

const struct show_view show_outputs = {
    .key = "outputs",
    .none = "no outputs of an exported program",
    .fields = &OUTPUT_ITEM_FIELDS,
    .load = load_outputs,
    .release = release_signature,
    .place = place_signature,
    .item = signature_item_row,
};

/* ---- range constraints --------------------------------------------------------------------- */

static uint32_t count_ranges(const struct graph_signature *signature)
{
    return signature->n_ranges;
}

static bool load_ranges(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_signature(show, count_ranges, false, ret, ret_n, err);
}

REACH(reach_range, struct signature_item, &row->program->signature->ranges[row->i])
GETTER(get_min, struct range_constraint, row->has_min ? datum_integer(row->min) : datum_null())
GETTER(get_max, struct range_constraint, row->has_max ? datum_integer(row->max) : datum_null())

static const struct field RANGE[] = {
    { "symbol", MEMBER(struct range_constraint, symbol), TEXT(2, "symbol", WORD, 0) },
    { "min", .get = get_min, TEXT(3, "min", DIGITS, 0) },
    { "max", .get = get_max, TEXT(4, "max", DIGITS, 0) },
};
static const struct fields RANGE_FIELDS = FIELDS_OF(RANGE);

static const struct field RANGE_ITEM[] = {
    ITS_PROGRAM,
    { NULL, .group = &RANGE_FIELDS, .reach = reach_range },
};
static const struct fields RANGE_ITEM_FIELDS = FIELDS_OF(RANGE_ITEM);

const struct show_view show_ranges = {
    .key = "range_constraints",
    .none = "no range constraints",
    .fields = &RANGE_ITEM_FIELDS,
    .load = load_ranges,
    .release = release_signature,
    .place = place_signature,
    .item = signature_item_row,
};

/* ---- guards -------------------------------------------------------------------------------- */

static uint32_t count_guards_code(const struct graph_signature *signature)
{
    return signature->n_guards;
}

static bool load_guards(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_signature(show, count_guards_code, false, ret, ret_n, err);
}

GETTER(get_guard, struct signature_item, datum_string(row->program->signature->guards[row->i]))

static const struct field GUARD_ITEM[] = {
    ITS_PROGRAM,
    { "expr", .get = get_guard, TEXT(2, "guard", TEXT, 0) },
};
static const struct fields GUARD_ITEM_FIELDS = FIELDS_OF(GUARD_ITEM);

const struct show_view show_guards_code = {
    .key = "guards_code",
    .none = "no guards in an exported program",
    .fields = &GUARD_ITEM_FIELDS,
    .load = load_guards,
    .release = release_signature,
    .place = place_signature,
    .item = signature_item_row,
};
