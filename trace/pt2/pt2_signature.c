/* Reads GraphSignature, RangeConstraint, ModuleCallEntry and the head of an ExportedProgram
 * (torch/_export/serde/schema.py). */
#include "trace/pt2/pt2_program.h"

/* One row for each kind: its key in the union and the member that names what is bound, by enum. */
static const struct {
    const char *key, *target;
} INPUTS[] = {
    [INPUT_USER] = { "user_input", NULL },
    [INPUT_PARAMETER] = { "parameter", "parameter_name" },
    [INPUT_BUFFER] = { "buffer", "buffer_name" },
    [INPUT_TENSOR_CONSTANT] = { "tensor_constant", "tensor_constant_name" },
    [INPUT_CUSTOM_OBJ] = { "custom_obj", "custom_obj_name" },
    [INPUT_TOKEN] = { "token", NULL },
    [INPUT_CONSTANT] = { "constant_input", NULL },
    [INPUT_OTHER] = { "other", NULL },
}, OUTPUTS[] = {
    [OUTPUT_USER] = { "user_output", NULL },
    [OUTPUT_LOSS] = { "loss_output", NULL },
    [OUTPUT_BUFFER_MUTATION] = { "buffer_mutation", "buffer_name" },
    [OUTPUT_PARAMETER_MUTATION] = { "parameter_mutation", "parameter_name" },
    [OUTPUT_USER_INPUT_MUTATION] = { "user_input_mutation", "user_input_name" },
    [OUTPUT_GRADIENT_TO_PARAMETER] = { "gradient_to_parameter", "parameter_name" },
    [OUTPUT_GRADIENT_TO_USER_INPUT] = { "gradient_to_user_input", "user_input_name" },
    [OUTPUT_TOKEN] = { "token", NULL },
    [OUTPUT_OTHER] = { "other", NULL },
};

const char *input_kind_name(enum input_kind kind)
{
    return INPUTS[kind <= INPUT_OTHER ? kind : INPUT_OTHER].key;
}

const char *output_kind_name(enum output_kind kind)
{
    return OUTPUTS[kind <= OUTPUT_OTHER ? kind : OUTPUT_OTHER].key;
}

/* Returns the name under "arg", of a TensorArgument or of an Argument; "" for constants. */
static struct str bound_name(struct program_reader *program, json_id spec)
{
    const struct json *doc = program->doc;
    struct str kind;
    json_id arg = json_get(doc, spec, STR("arg"));
    json_id name = json_get(doc, arg, STR("name"));
    if (json_kind_of(doc, name) != JSON_STRING) {
        json_id value = program_union(doc, arg, &kind);
        name = json_get(doc, value, STR("name"));
        if (name == JSON_NONE)
            name = json_get(doc, value, STR("as_name"));
    }
    return program_name(program->root, name);
}

static struct str bound_target(struct program_reader *program, json_id spec, const char *key)
{
    return key ? program_keep(program, json_get(program->doc, spec, str_of(key))) : STR("");
}

static struct input_spec read_input_spec(struct program_reader *program, json_id spec)
{
    const struct json *doc = program->doc;
    struct str key;
    json_id inner = program_union(doc, spec, &key);
    enum input_kind kind = INPUT_USER;
    while (kind < INPUT_OTHER && !str_is(key, INPUTS[kind].key))
        kind++;
    struct input_spec ret = {
        .kind = kind,
        .name = bound_name(program, inner),
        .target = bound_target(program, inner, INPUTS[kind].target),
        .source = STR(""),
        .value = { .kind = ARG_NONE, .key = STR(""), .text = STR("") },
    };
    if (kind ==
        INPUT_BUFFER) /* before 2.3 there was no such field, and every buffer was persistent */
        ret.persistent = json_kind_of(doc, json_get(doc, inner, STR("persistent"))) != JSON_FALSE;
    if (kind == INPUT_CONSTANT) {
        ret.name = program_name(program->root, json_get(doc, inner, STR("name")));
        ret.value = program_constant(program, json_get(doc, inner, STR("value")));
    }
    return ret;
}

static struct output_spec read_output_spec(struct program_reader *program, json_id spec)
{
    struct str key;
    json_id inner = program_union(program->doc, spec, &key);
    enum output_kind kind = OUTPUT_USER;
    while (kind < OUTPUT_OTHER && !str_is(key, OUTPUTS[kind].key))
        kind++;
    return (struct output_spec){
        .kind = kind,
        .name = bound_name(program, inner),
        .target = bound_target(program, inner, OUTPUTS[kind].target),
        .path = STR(""),
    };
}

static struct range_constraint read_range_constraint(struct program_reader *program, json_id name)
{
    const struct json *doc = program->doc;
    json_id bounds = json_next(doc, name);
    struct range_constraint ret = { .symbol = program_keep_name(program, name) };
    if (program->failed)
        program_refused_at(program, "range_constraints", STR(""));
    ret.has_min = json_i64(doc, json_get(doc, bounds, STR("min_val")), &ret.min);
    ret.has_max = json_i64(doc, json_get(doc, bounds, STR("max_val")), &ret.max);
    return ret;
}

static struct str *read_strings(struct program_reader *program, json_id list, uint32_t *n)
{
    const struct json *doc = program->doc;
    size_t count = json_kind_of(doc, list) == JSON_ARRAY ? json_count(doc, list) : 0;
    struct str *ret = arena_array(&program->tree.pool->arena, struct str, count);
    program->failed |= !ret;
    *n = 0;
    if (!ret || count == 0)
        return ret;
    for (json_id s = json_first(doc, list); s != JSON_NONE; s = json_next(doc, s))
        ret[(*n)++] = program_keep(program, s);
    return ret;
}

static struct module_call read_module(struct program_reader *program, json_id entry)
{
    const struct json *doc = program->doc;
    json_id signature = json_get(doc, entry, STR("signature"));
    struct module_call ret = {
        .fqn = program_keep(program, json_get(doc, entry, STR("fqn"))),
        .in_spec = program_keep(program, json_get(doc, signature, STR("in_spec"))),
        .out_spec = program_keep(program, json_get(doc, signature, STR("out_spec"))),
    };
    ret.arg_names =
        read_strings(program, json_get(doc, signature, STR("forward_arg_names")), &ret.n_arg_names);
    return ret;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Fills an array in the pool from the elements of a list, or from the keys of an object. */
#define READ_ALL(function, type, read_one, container)                                       \
    static struct type *function(struct program_reader *program, json_id list, uint32_t *n) \
    {                                                                                       \
        const struct json *doc = program->doc;                                              \
        size_t count = json_kind_of(doc, list) == (container) ? json_count(doc, list) : 0;  \
        struct type *ret = arena_array(&program->tree.pool->arena, struct type, count);     \
        program->failed |= !ret;                                                            \
        json_id at = count && ret ? json_first(doc, list) : JSON_NONE;                      \
        for (*n = 0; at != JSON_NONE; at = json_next(doc, at)) {                            \
            ret[(*n)++] = read_one(program, at);                                            \
            if ((container) == JSON_OBJECT)                                                 \
                at = json_next(doc, at);                                                    \
        }                                                                                   \
        return ret;                                                                         \
    }

READ_ALL(read_input_specs, input_spec, read_input_spec, JSON_ARRAY)
READ_ALL(read_output_specs, output_spec, read_output_spec, JSON_ARRAY)
READ_ALL(read_ranges, range_constraint, read_range_constraint, JSON_OBJECT)
READ_ALL(read_modules, module_call, read_module, JSON_ARRAY)

static struct str join_strings(struct program_reader *program, json_id list)
{
    const struct json *doc = program->doc;
    struct buf *out = &program->scratch;
    buf_clear(out);
    json_id first = json_first(doc, list);
    for (json_id s = first; s != JSON_NONE; s = json_next(doc, s)) {
        if (s != first)
            buf_putc(out, ',');
        json_decode(doc, s, out);
    }
    return program_copy(program, buf_str(out));
}

static void copy_program_symbols(struct program_reader *program, struct graph_signature *signature)
{
    struct program_symbol *symbols =
        arena_array(&program->tree.pool->arena, struct program_symbol, program->symbols.n);
    if (!symbols) {
        program->failed = true;
        return;
    }
    for (size_t i = 0; i < program->symbols.n; i++)
        symbols[i] = program->symbols.v[i];
    signature->symbols = symbols;
    signature->n_symbols = (uint32_t)program->symbols.n;
}

bool program_read_signature(struct program_reader *program, struct graph_signature *signature)
{
    const struct json *doc = program->doc;
    json_id module = json_get(doc, JSON_ROOT, STR("graph_module"));
    json_id specs = json_get(doc, module, STR("signature"));
    json_id version = json_get(doc, JSON_ROOT, STR("schema_version"));
    json_id opset = json_get(doc, JSON_ROOT, STR("opset_version"));
    struct graph_signature *s = signature;
    struct input_spec *inputs =
        read_input_specs(program, json_get(doc, specs, STR("input_specs")), &s->n_inputs);
    s->inputs = inputs;
    struct output_spec *outputs =
        read_output_specs(program, json_get(doc, specs, STR("output_specs")), &s->n_outputs);
    s->outputs = outputs;
    s->ranges =
        read_ranges(program, json_get(doc, JSON_ROOT, STR("range_constraints")), &s->n_ranges);
    s->modules =
        read_modules(program, json_get(doc, module, STR("module_call_graph")), &s->n_modules);
    if (!program->failed)
        program_name_sources(program, s, inputs);
    if (!program->failed)
        program_name_outputs(program, s, outputs);
    s->guards = read_strings(program, json_get(doc, JSON_ROOT, STR("guards_code")), &s->n_guards);
    json_i64(doc, json_get(doc, version, STR("major")), &s->schema_major);
    json_i64(doc, json_get(doc, version, STR("minor")), &s->schema_minor);
    json_i64(doc, json_get(doc, opset, STR("aten")), &s->opset);
    s->torch_version = program_keep(program, json_get(doc, JSON_ROOT, STR("torch_version")));
    s->verifiers = join_strings(program, json_get(doc, JSON_ROOT, STR("verifiers")));
    copy_program_symbols(program, s);
    return !program->failed || err_nomem(program->err);
}
