#include <inttypes.h>

#include "cmd/show/show.h"
#include "trace/graphs.h"
#include "trace/pt2/signature.h"

/* --signature: what the programs of .pt2 archives take, return and demand; four lists. */

struct signature_item {
    const struct graph_ref *ref;
    const struct graph *program;
    uint32_t i; /* in its list */
};

struct signature_items {
    vec_of(struct signature_item)
    items;
};

static const struct signature_item *item_at(const void *items, uint32_t i)
{
    return &((const struct signature_items *)items)->items.v[i];
}

static const struct graph_signature *signature_of(const void *items, uint32_t i)
{
    return item_at(items, i)->program->signature;
}

static void release(void *items)
{
    if (items)
        vec_release(&((struct signature_items *)items)->items);
    free(items);
}

typedef uint32_t count_fn(const struct graph_signature *signature);

static bool add_program(struct signature_items *all, const struct graph_ref *ref,
                        const struct graph *program, count_fn *count, struct err *err)
{
    for (uint32_t i = 0; i < count(program->signature); i++)
        if (!vec_push(&all->items, (struct signature_item){ ref, program, i }))
            return err_nomem(err);
    return true;
}

/* One that is broken is left out, and told by one of the lists. */
static bool read_program(struct show *show, uint32_t ref, bool tell, const struct graph **ret,
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

/* What is counted, of every program in view. */
static bool load_all(struct show *show, count_fn *count, bool tell, void **ret, uint32_t *ret_n,
                     struct err *err)
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
        ok = read_program(show, i, tell, &program, err) &&
             (!program || add_program(all, ref, program, count, err));
    }
    if (!ok) {
        release(all);
        return false;
    }
    *ret = all;
    *ret_n = (uint32_t)all->items.n;
    return true;
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    return (struct show_place){ .record = item_at(items, i)->ref->record, .attempt = TRACE_NONE };
}

static void cell_program(const struct show *show, const struct signature_item *item,
                         struct table *table)
{
    show_cell_program(show, item->ref->record, item->ref->name, table);
}

static const struct meta *meta_of(const struct graph *graph, node_id node)
{
    uint32_t meta = node < graph->n_nodes ? graph->nodes[node].meta : META_NONE;
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

static struct str meta_text(const struct meta *meta)
{
    return meta ? meta->text : STR("");
}

/* ---- inputs -------------------------------------------------------------------------------- */

static uint32_t count_inputs(const struct graph_signature *signature)
{
    return signature->n_inputs;
}

static bool load_inputs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_all(show, count_inputs, true, ret, ret_n, err);
}

/* Numbers and so on as Python prints them; a string as it is. */
static struct str constant_text(const struct arg *value)
{
    if (value->kind == ARG_NONE)
        return STR("None");
    if (value->kind == ARG_BOOL)
        return value->u.integer ? STR("True") : STR("False");
    return value->text;
}

static void row_input(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct signature_item *item = item_at(items, i);
    const struct input_spec *input = &signature_of(items, i)->inputs[item->i];
    bool passing = input->kind == INPUT_BUFFER && !input->persistent;
    cell_program(show, item_at(items, i), table);
    table_printf(table, "%s%s", input_kind_name(input->kind), passing ? " (not persistent)" : "");
    table_text(table, input->name);
    table_text(table, input->target.n ? input->target : input->source);
    if (input->kind == INPUT_CONSTANT)
        table_text(table, constant_text(&input->value));
    else
        table_text(table, meta_text(meta_of(item->program, item->i)));
}

static void constant_json(const struct arg *value, struct json_writer *w)
{
    switch (value->kind) {
    case ARG_NONE: json_put_null(w, "value"); return;
    case ARG_BOOL: json_put_bool(w, "value", value->u.integer != 0); return;
    case ARG_INT: json_put_i64(w, "value", value->u.integer); return;
    case ARG_FLOAT: json_put_double(w, "value", value->u.number); return;
    default: json_put_str(w, "value", value->text); return;
    }
}

static void json_input(struct show *show, const void *items, uint32_t i)
{
    const struct signature_item *item = item_at(items, i);
    const struct input_spec *input = &signature_of(items, i)->inputs[item->i];
    struct json_writer *w = &show->w;
    json_put_str(w, "program", item->ref->name);
    json_put_cstr(w, "kind", input_kind_name(input->kind));
    json_put_str(w, "name", input->name);
    json_put_str(w, "target", input->target);
    json_put_str(w, "source", input->source);
    json_put_str(w, "meta", meta_text(meta_of(item->program, item->i)));
    if (input->kind == INPUT_BUFFER)
        json_put_bool(w, "persistent", input->persistent);
    if (input->kind == INPUT_CONSTANT)
        constant_json(&input->value, w);
}

static const struct column input_columns[] = {
    { "program", COLUMN_PATH, 1 }, { "kind", COLUMN_LEFT }, { "input", COLUMN_WIDE },
    { "bound to", COLUMN_WIDE },   { "meta", COLUMN_WIDE },
};

const struct show_view show_inputs = {
    .key = "inputs",
    .none = "no inputs of an exported program",
    .columns = input_columns,
    .n_columns = sizeof input_columns / sizeof input_columns[0],
    .load = load_inputs,
    .release = release,
    .place = place,
    .row = row_input,
    .json = json_input,
};

/* ---- outputs ------------------------------------------------------------------------------- */

static uint32_t count_outputs(const struct graph_signature *signature)
{
    return signature->n_outputs;
}

static bool load_outputs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_all(show, count_outputs, false, ret, ret_n, err);
}

/* Of the i-th argument of the output node, which is last. */
static const struct meta *output_meta(const struct graph *graph, uint32_t i)
{
    const struct node *output = graph->n_nodes ? &graph->nodes[graph->n_nodes - 1] : NULL;
    if (!output || output->op != NODE_OUTPUT || i >= output->n_args)
        return NULL;
    const struct arg *arg = &graph->args[output->first_arg + i];
    return arg->kind == ARG_NODE ? meta_of(graph, arg->u.node) : NULL;
}

static void row_output(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct signature_item *item = item_at(items, i);
    const struct output_spec *output = &signature_of(items, i)->outputs[item->i];
    cell_program(show, item_at(items, i), table);
    table_text(table, str_of(output_kind_name(output->kind)));
    table_text(table, output->name);
    table_text(table, output->target);
    table_text(table, meta_text(output_meta(item->program, item->i)));
}

static void json_output(struct show *show, const void *items, uint32_t i)
{
    const struct signature_item *item = item_at(items, i);
    const struct output_spec *output = &signature_of(items, i)->outputs[item->i];
    struct json_writer *w = &show->w;
    json_put_str(w, "program", item->ref->name);
    json_put_cstr(w, "kind", output_kind_name(output->kind));
    json_put_str(w, "name", output->name);
    json_put_str(w, "target", output->target);
    json_put_str(w, "meta", meta_text(output_meta(item->program, item->i)));
}

static const struct column output_columns[] = {
    { "program", COLUMN_PATH, 1 }, { "kind", COLUMN_LEFT }, { "output", COLUMN_WIDE },
    { "written to", COLUMN_WIDE }, { "meta", COLUMN_WIDE },
};

const struct show_view show_outputs = {
    .key = "outputs",
    .none = "no outputs of an exported program",
    .columns = output_columns,
    .n_columns = sizeof output_columns / sizeof output_columns[0],
    .load = load_outputs,
    .release = release,
    .place = place,
    .row = row_output,
    .json = json_output,
};

/* ---- range constraints --------------------------------------------------------------------- */

static uint32_t count_ranges(const struct graph_signature *signature)
{
    return signature->n_ranges;
}

static bool load_ranges(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_all(show, count_ranges, false, ret, ret_n, err);
}

static void bound_cell(bool has, int64_t bound, struct table *table)
{
    if (has)
        table_printf(table, "%" PRId64, bound);
    else
        table_text(table, STR(""));
}

static void row_range(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct range_constraint *range = &signature_of(items, i)->ranges[item_at(items, i)->i];
    cell_program(show, item_at(items, i), table);
    table_text(table, range->symbol);
    bound_cell(range->has_min, range->min, table);
    bound_cell(range->has_max, range->max, table);
}

static void bound_json(struct json_writer *w, const char *key, bool has, int64_t bound)
{
    if (has)
        json_put_i64(w, key, bound);
    else
        json_put_null(w, key);
}

static void json_range(struct show *show, const void *items, uint32_t i)
{
    const struct range_constraint *range = &signature_of(items, i)->ranges[item_at(items, i)->i];
    json_put_str(&show->w, "program", item_at(items, i)->ref->name);
    json_put_str(&show->w, "symbol", range->symbol);
    bound_json(&show->w, "min", range->has_min, range->min);
    bound_json(&show->w, "max", range->has_max, range->max);
}

static const struct column range_columns[] = {
    { "program", COLUMN_PATH, 1 },
    { "symbol", COLUMN_LEFT },
    { "min", COLUMN_RIGHT },
    { "max", COLUMN_RIGHT },
};

const struct show_view show_ranges = {
    .key = "range_constraints",
    .none = "no range constraints",
    .columns = range_columns,
    .n_columns = sizeof range_columns / sizeof range_columns[0],
    .load = load_ranges,
    .release = release,
    .place = place,
    .row = row_range,
    .json = json_range,
};

/* ---- guards -------------------------------------------------------------------------------- */

static uint32_t count_guards(const struct graph_signature *signature)
{
    return signature->n_guards;
}

static bool load_guards(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    return load_all(show, count_guards, false, ret, ret_n, err);
}

static void row_guard(struct show *show, const void *items, uint32_t i, struct table *table)
{
    cell_program(show, item_at(items, i), table);
    table_text(table, signature_of(items, i)->guards[item_at(items, i)->i]);
}

static void json_guard(struct show *show, const void *items, uint32_t i)
{
    json_put_str(&show->w, "program", item_at(items, i)->ref->name);
    json_put_str(&show->w, "expr", signature_of(items, i)->guards[item_at(items, i)->i]);
}

static const struct column guard_columns[] = {
    { "program", COLUMN_PATH, 1 },
    { "guard", COLUMN_WIDE },
};

const struct show_view show_guards_code = {
    .key = "guards_code",
    .none = "no guards in an exported program",
    .columns = guard_columns,
    .n_columns = sizeof guard_columns / sizeof guard_columns[0],
    .load = load_guards,
    .release = release,
    .place = place,
    .row = row_guard,
    .json = json_guard,
};
