/* Names what the user passes as guards do, "L['x']", "L['pair']['rows']", "L['batch'].ids", and
 * what is returned by its place in the value of forward(), "output[0]".
 *
 * Exporting flattens the arguments of forward() in the order of a pytree
 * (torch/utils/_pytree.py, treespec_dumps): [1, {"type", "context", "children_spec"}], where
 * leaves have no type. The pytree of the root's module call is a tuple of the positional
 * arguments, named by forward_arg_names, and a dictionary of the others; its leaves are the
 * user's inputs in order. Where the tree has no name (for a class of the user's, say), or
 * another number of leaves, an input is named by its placeholder, and an output has no name. */
#include "trace/base/text/python_string.h"
#include "trace/pt2/pt2_program.h"

enum { TREE_DEEPEST = 50 };

struct source_namer {
    struct program_reader *program;
    struct input_spec *inputs; /* NULL: the outputs are named */
    struct output_spec *outputs;
    uint32_t n, next; /* the input or output that the next leaf may be */
    bool mismatched;  /* the tree does not have the leaves that are required */
    const struct json *spec;
    struct buf path; /* of the current subtree */
    struct intern named_tuples;
    vec_of(json_id)
    fields; /* by named tuple: the list of their names, in the program's document */
};

/* The names of a node's children, as far as they have names. */
struct steps {
    enum { STEPS_UNKNOWN, STEPS_NUMBERED, STEPS_ATTRIBUTES, STEPS_KEYS } kind;
    uint32_t index;
    const struct json *doc; /* of the next key */
    json_id key;
    struct json context; /* where the keys stand in a context that is a text of JSON */
    struct buf text;     /* of that */
};

static bool is_passed(const struct input_spec *input)
{
    return input->kind == INPUT_USER || input->kind == INPUT_CONSTANT;
}

static bool is_leaf(const struct source_namer *n, uint32_t i)
{
    return n->inputs ? is_passed(&n->inputs[i])
                     : n->outputs[i].kind == OUTPUT_USER || n->outputs[i].kind == OUTPUT_LOSS;
}

static void skip_others(struct source_namer *n)
{
    while (n->next < n->n && !is_leaf(n, n->next))
        n->next++;
}

static void name_leaf(struct source_namer *n, bool known)
{
    skip_others(n);
    if (n->next == n->n) {
        n->mismatched = true;
        return;
    }
    struct str path = known ? program_copy(n->program, buf_str(&n->path)) : STR("");
    if (n->inputs)
        n->inputs[n->next++].source = path;
    else
        n->outputs[n->next++].path = path;
}

/* Makes the children be called by the elements of a list, if there are as many. */
static void take_keys(const struct source_namer *n, json_id tree, const struct json *doc,
                      json_id list, struct steps *steps)
{
    json_id children = json_get(n->spec, tree, STR("children_spec"));
    bool fits = json_kind_of(doc, list) == JSON_ARRAY &&
                json_count(doc, list) == json_count(n->spec, children);
    if (!fits)
        steps->kind = STEPS_UNKNOWN;
    steps->doc = doc;
    steps->key = fits ? json_first(doc, list) : JSON_NONE;
}

/* Parses the context, a JSON value as a JSON string; false when it is none. */
static bool read_context(struct source_namer *n, json_id tree, struct steps *steps)
{
    struct err err = { 0 };
    json_decode(n->spec, json_get(n->spec, tree, STR("context")), &steps->text);
    bool ok = !steps->text.failed && json_parse(&steps->context, buf_str(&steps->text), &err);
    n->program->failed |= steps->text.failed || err.kind == ERR_ENV;
    return ok;
}

/* dict and OrderedDict: their keys. */
static void open_dictionary(struct source_namer *n, json_id tree, struct steps *steps)
{
    if (read_context(n, tree, steps))
        take_keys(n, tree, &steps->context, JSON_ROOT, steps);
    else
        steps->kind = STEPS_UNKNOWN;
}

/* The keys of a defaultdict stand beside its factory (_defaultdict_serialize of
 * torch/utils/_pytree.py). */
static void open_defaultdict(struct source_namer *n, json_id tree, struct steps *steps)
{
    json_id context = json_get(n->spec, tree, STR("context"));
    take_keys(n, tree, n->spec, json_get(n->spec, context, STR("dict_context")), steps);
}

/* The context of a named tuple is its class; the program lists the fields of these
 * (store_namedtuple_fields of torch/_export/serde/serialize.py). Without them, a subscript is as
 * good. */
static void open_named_tuple(struct source_namer *n, json_id tree, struct steps *steps)
{
    json_decode(n->spec, json_get(n->spec, tree, STR("context")), &steps->text);
    n->program->failed |= steps->text.failed;
    uint32_t type = intern_find(&n->named_tuples, buf_str(&steps->text));
    if (type < n->fields.n)
        take_keys(n, tree, n->program->doc, n->fields.v[type], steps);
    if (steps->key == JSON_NONE)
        steps->kind = STEPS_NUMBERED;
}

/* A class that torch.export.register_dataclass has registered: the context is the list of its
 * fields, and that of those that are None (register_dataclass_as_pytree_node of
 * torch/_export/utils.py). Of another class, a list with a key for each child is that of a
 * dictionary with a class of its own, as ModelOutput of transformers and BaseOutput of diffusers
 * are (_dict_flatten of torch/utils/_pytree.py). */
static void open_class(struct source_namer *n, json_id tree, struct steps *steps)
{
    if (!read_context(n, tree, steps) || json_kind_of(&steps->context, JSON_ROOT) != JSON_ARRAY) {
        steps->kind = STEPS_UNKNOWN;
        return;
    }
    const struct json *context = &steps->context;
    json_id first = json_first(context, JSON_ROOT), second = json_next(context, first);
    bool is_dataclass = json_count(context, JSON_ROOT) == 2 &&
                        json_kind_of(context, first) == JSON_ARRAY &&
                        json_kind_of(context, second) == JSON_ARRAY;
    steps->kind = is_dataclass ? STEPS_ATTRIBUTES : STEPS_KEYS;
    take_keys(n, tree, context, is_dataclass ? first : JSON_ROOT, steps);
}

static void open_steps(struct source_namer *n, json_id tree, struct steps *steps)
{
    static const struct {
        const char *type;
        int kind;
        void (*open)(struct source_namer *n, json_id tree, struct steps *steps);
    } TYPES[] = {
        { "builtins.tuple", STEPS_NUMBERED, NULL },
        { "builtins.list", STEPS_NUMBERED, NULL },
        { "collections.deque", STEPS_NUMBERED, NULL },
        { "collections.namedtuple", STEPS_ATTRIBUTES, open_named_tuple },
        { "builtins.dict", STEPS_KEYS, open_dictionary },
        { "collections.OrderedDict", STEPS_KEYS, open_dictionary },
        { "collections.defaultdict", STEPS_KEYS, open_defaultdict },
    };
    json_id type = json_get(n->spec, tree, STR("type"));
    *steps = (struct steps){ .key = JSON_NONE };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (json_is(n->spec, type, TYPES[i].type)) {
            steps->kind = TYPES[i].kind;
            if (TYPES[i].open)
                TYPES[i].open(n, tree, steps);
            return;
        }
    open_class(n, tree, steps);
}

/* Appends a key as Python's repr() prints it; false when it is no string, number, bool or None. */
static bool put_key(struct source_namer *n, const struct steps *steps)
{
    struct buf text = BUF_INIT;
    enum json_kind kind = json_kind_of(steps->doc, steps->key);
    switch (kind) {
    case JSON_STRING:
        json_decode(steps->doc, steps->key, &text);
        python_put_repr(&n->path, buf_str(&text));
        n->program->failed |= text.failed;
        break;
    case JSON_NUMBER: buf_put(&n->path, json_text(steps->doc, steps->key)); break;
    case JSON_NULL: buf_puts(&n->path, "None"); break;
    case JSON_TRUE: buf_puts(&n->path, "True"); break;
    case JSON_FALSE: buf_puts(&n->path, "False"); break;
    case JSON_ARRAY:
    case JSON_OBJECT:
    case JSON_REF: break;
    }
    buf_release(&text);
    return kind != JSON_ARRAY && kind != JSON_OBJECT && kind != JSON_REF;
}

/* Appends the next child's subscript or attribute; false when it has no name. */
static bool take_step(struct source_namer *n, struct steps *steps)
{
    bool named = steps->kind != STEPS_UNKNOWN;
    switch (steps->kind) {
    case STEPS_UNKNOWN: return false;
    case STEPS_NUMBERED: buf_printf(&n->path, "[%u]", (unsigned)steps->index++); return true;
    case STEPS_ATTRIBUTES:
        named = json_kind_of(steps->doc, steps->key) == JSON_STRING;
        buf_putc(&n->path, '.');
        json_decode(steps->doc, steps->key, &n->path);
        break;
    case STEPS_KEYS:
        buf_putc(&n->path, '[');
        named = put_key(n, steps);
        buf_putc(&n->path, ']');
        break;
    }
    steps->key = json_next(steps->doc, steps->key);
    return named;
}

static json_id first_child(const struct source_namer *n, json_id tree)
{
    return json_first(n->spec, json_get(n->spec, tree, STR("children_spec")));
}

/* Names the leaves of a tree. The recursion is as deep as the tree, whose depth is limited here. */
static void name_tree(struct source_namer *n, json_id tree, bool known, unsigned depth)
{
    struct steps steps;
    if (json_kind_of(n->spec, json_get(n->spec, tree, STR("type"))) == JSON_NULL) {
        name_leaf(n, known);
        return;
    }
    if (depth == TREE_DEEPEST) {
        n->mismatched = true;
        return;
    }
    open_steps(n, tree, &steps);
    for (json_id c = first_child(n, tree); c != JSON_NONE && !n->mismatched;
         c = json_next(n->spec, c)) {
        size_t mark = n->path.n;
        bool named = take_step(n, &steps);
        name_tree(n, c, known && named, depth + 1);
        n->path.n = mark;
    }
    json_release(&steps.context);
    buf_release(&steps.text);
}

static void name_positional(struct source_namer *n, json_id tuple, const struct module_call *root)
{
    uint32_t i = 0;
    for (json_id c = first_child(n, tuple); c != JSON_NONE && !n->mismatched;
         c = json_next(n->spec, c), i++) {
        size_t mark = n->path.n;
        if (i < root->n_arg_names)
            buf_printf(&n->path, "['%.*s']", STR_ARG(root->arg_names[i]));
        name_tree(n, c, i < root->n_arg_names, 1);
        n->path.n = mark;
    }
}

static void name_arguments(struct source_namer *n, const struct module_call *root)
{
    json_id tree = json_next(n->spec, json_first(n->spec, JSON_ROOT));
    json_id tuple = first_child(n, tree), keywords = json_next(n->spec, tuple);
    n->mismatched = tuple == JSON_NONE || keywords == JSON_NONE;
    buf_puts(&n->path, "L");
    if (!n->mismatched)
        name_positional(n, tuple, root);
    if (!n->mismatched)
        name_tree(n, keywords, true, 1);
}

static void name_results(struct source_namer *n)
{
    json_id tree = json_next(n->spec, json_first(n->spec, JSON_ROOT));
    n->mismatched = tree == JSON_NONE;
    buf_puts(&n->path, "output");
    if (!n->mismatched)
        name_tree(n, tree, true, 1);
}

/* Collects the fields of the named tuples in the program's pytrees. */
static bool read_named_tuples(struct source_namer *n)
{
    const struct json *doc = n->program->doc;
    json_id module = json_get(doc, JSON_ROOT, STR("graph_module"));
    json_id types = json_get(doc, module, STR("treespec_namedtuple_fields"));
    bool ok = true;
    if (json_kind_of(doc, types) != JSON_OBJECT)
        return true;
    for (json_id type = json_first(doc, types); type != JSON_NONE && ok;) {
        json_id value = json_next(doc, type);
        json_id fields = json_get(doc, value, STR("field_names"));
        buf_clear(&n->path);
        json_decode(doc, type, &n->path);
        uint32_t id = n->path.failed ? INTERN_NONE : intern(&n->named_tuples, buf_str(&n->path));
        ok = id != INTERN_NONE && (id < n->fields.n || vec_push(&n->fields, fields));
        type = json_next(doc, value);
    }
    buf_clear(&n->path);
    return ok;
}

static void name_by_tree(struct source_namer *n, const struct module_call *root)
{
    struct json spec = { 0 };
    struct err err = { 0 };
    if (!read_named_tuples(n))
        n->program->failed = true;
    else if (json_parse(&spec, n->inputs ? root->in_spec : root->out_spec, &err)) {
        n->spec = &spec;
        if (n->inputs)
            name_arguments(n, root);
        else
            name_results(n);
        skip_others(n);
        n->mismatched |= n->next < n->n;
    }
    n->mismatched |= err_is_set(&err);
    n->program->failed |= n->path.failed || err.kind == ERR_ENV;
    json_release(&spec);
    buf_release(&n->path);
    intern_release(&n->named_tuples);
    vec_release(&n->fields);
}

static const struct module_call *find_root(const struct graph_signature *signature)
{
    for (uint32_t i = 0; i < signature->n_modules; i++)
        if (signature->modules[i].fqn.n == 0)
            return &signature->modules[i];
    return NULL;
}

static void name_by_placeholder(struct program_reader *program, struct input_spec *input)
{
    buf_clear(&program->scratch);
    buf_printf(&program->scratch, "L['%.*s']", STR_ARG(input->name));
    input->source = program_copy(program, buf_str(&program->scratch));
}

void program_name_sources(struct program_reader *program, const struct graph_signature *signature,
                          struct input_spec *inputs)
{
    const struct module_call *root = find_root(signature);
    struct source_namer n = {
        .program = program, .inputs = inputs, .n = signature->n_inputs, .mismatched = true
    };
    if (root && inputs)
        name_by_tree(&n, root);
    for (uint32_t i = 0; i < n.n; i++)
        if (is_passed(&inputs[i]) && (n.mismatched || inputs[i].source.n == 0))
            name_by_placeholder(program, &inputs[i]);
}

void program_name_outputs(struct program_reader *program, const struct graph_signature *signature,
                          struct output_spec *outputs)
{
    const struct module_call *root = find_root(signature);
    struct source_namer n = {
        .program = program, .outputs = outputs, .n = signature->n_outputs, .mismatched = true
    };
    if (root && outputs)
        name_by_tree(&n, root);
    for (uint32_t i = 0; i < n.n && n.mismatched; i++)
        outputs[i].path = STR("");
}
