/* Names what the user passes as guards do, "L['x']", "L['pair']['rows']", "L['batch'].ids", and
 * what is returned by its place in the value of forward(), "output[0]".
 *
 * Exporting flattens the arguments of forward() in the order of a pytree
 * (torch/utils/_pytree.py, treespec_dumps): [1, {"type", "context", "children_spec"}], where
 * leaves have no type. The pytree of the root's module call is a tuple of the positional
 * arguments, named by forward_arg_names, and a dictionary of the others; its leaves are the
 * user's inputs in order. Where the tree has no name (for a class of the user's, say), or
 * another number of leaves, an input is named by its placeholder, and an output has no name. */
#include "trace/pt2/pt2_program.h"

enum { TREE_DEEPEST = 50 };

struct source_namer {
    struct program_reader *program;
    struct input_spec *inputs; /* NULL: the outputs are named */
    struct output_spec *outputs;
    uint32_t n, next; /* the input or output that the next leaf may be */
    bool mismatched;  /* the tree does not have the leaves that are required */
    const struct json *spec;
    struct buf path;  /* of the current subtree */
    struct buf words; /* the same as the names of placeholders have it: "batch_ids" */
    bool field;       /* the current subtree is a field of a named tuple, whose name is not known */
};

/* The names of a node's children, as far as they have names. */
struct steps {
    enum { STEPS_NUMBERED, STEPS_FIELDS, STEPS_ATTRIBUTES, STEPS_KEYS, STEPS_UNKNOWN } kind;
    uint32_t index;
    struct json keys;
    json_id key;
    struct buf text; /* of keys */
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

/* The spec of a named tuple has no names of its fields, but a placeholder's name ends in that of
 * its leaf (placeholder_naming_pass of torch/_export/utils.py). An output's field has its number.
 */
static void name_field(struct source_namer *n)
{
    struct str words = buf_str(&n->words);
    struct str name = n->inputs ? n->inputs[n->next].name : STR("");
    size_t bracket = n->path.n;
    while (bracket && n->path.p[bracket - 1] != '[')
        bracket--;
    if (!bracket || name.n <= words.n + 1 || !str_starts(name, words) || name.p[words.n] != '_')
        return;
    n->path.n = bracket - 1;
    buf_putc(&n->path, '.');
    buf_put(&n->path, str_from(name, words.n + 1));
}

static void name_leaf(struct source_namer *n, bool known)
{
    skip_others(n);
    if (n->next == n->n) {
        n->mismatched = true;
        return;
    }
    if (n->field && known)
        name_field(n);
    struct str path = known ? program_copy(n->program, buf_str(&n->path)) : STR("");
    if (n->inputs)
        n->inputs[n->next++].source = path;
    else
        n->outputs[n->next++].path = path;
}

/* Reads the keys of a dictionary, which are in its context: a JSON list, as a JSON string. Of a
 * dataclass it is the list of its fields, and that of those that are None
 * (register_dataclass_as_pytree_node of torch/_export/utils.py). */
static void read_keys(struct source_namer *n, json_id tree, bool dictionary, struct steps *steps)
{
    struct err err = { 0 };
    json_decode(n->spec, json_get(n->spec, tree, STR("context")), &steps->text);
    if (!steps->text.failed && json_parse(&steps->keys, buf_str(&steps->text), &err)) {
        json_id first = json_first(&steps->keys, JSON_ROOT);
        json_id second = json_next(&steps->keys, first);
        if (dictionary) {
            steps->kind = STEPS_KEYS;
            steps->key = first;
        } else if (json_kind_of(&steps->keys, first) == JSON_ARRAY &&
                   json_kind_of(&steps->keys, second) == JSON_ARRAY &&
                   json_count(&steps->keys, JSON_ROOT) == 2 &&
                   json_count(&steps->keys, first) ==
                       json_count(n->spec, json_get(n->spec, tree, STR("children_spec")))) {
            steps->kind = STEPS_ATTRIBUTES;
            steps->key = json_first(&steps->keys, first);
        }
    }
    n->program->failed |= steps->text.failed || err.kind == ERR_ENV;
}

static void open_steps(struct source_namer *n, json_id tree, struct steps *steps)
{
    json_id type = json_get(n->spec, tree, STR("type"));
    *steps = (struct steps){ .kind = STEPS_UNKNOWN, .key = JSON_NONE };
    if (json_is(n->spec, type, "builtins.tuple") || json_is(n->spec, type, "builtins.list"))
        steps->kind = STEPS_NUMBERED;
    else if (json_is(n->spec, type, "collections.namedtuple"))
        steps->kind = STEPS_FIELDS;
    else
        read_keys(n, tree,
                  json_is(n->spec, type, "builtins.dict") ||
                      json_is(n->spec, type, "collections.OrderedDict"),
                  steps);
}

/* Appends a key to the words of a placeholder's name, in which capitals are small. */
static void put_words(struct buf *words, struct str key)
{
    buf_putc(words, '_');
    for (size_t i = 0; i < key.n; i++)
        buf_putc(words,
                 key.p[i] >= 'A' && key.p[i] <= 'Z' ? (char)(key.p[i] - 'A' + 'a') : key.p[i]);
}

/* Appends the next child's subscript or attribute; false when it has no name. */
static bool take_step(struct source_namer *n, struct steps *steps)
{
    json_id key = steps->key;
    struct buf *path = &n->path;
    size_t from = path->n + 1;
    n->field = steps->kind == STEPS_FIELDS;
    if (steps->kind == STEPS_UNKNOWN)
        return false;
    if (steps->kind == STEPS_NUMBERED || steps->kind == STEPS_FIELDS) {
        buf_printf(path, "[%u]", (unsigned)steps->index++);
        if (!n->field && !path->failed)
            put_words(&n->words, str_first(str_from(buf_str(path), from), path->n - from - 1));
        return true;
    }
    steps->key = json_next(&steps->keys, key);
    bool is_text = json_kind_of(&steps->keys, key) == JSON_STRING;
    bool is_number = json_kind_of(&steps->keys, key) == JSON_NUMBER;
    bool quoted = steps->kind == STEPS_KEYS && !is_number;
    buf_puts(path, steps->kind == STEPS_ATTRIBUTES ? "." : quoted ? "['" : "[");
    from = path->n;
    if (is_number)
        buf_put(path, json_text(&steps->keys, key));
    else
        json_decode(&steps->keys, key, path);
    if (!path->failed)
        put_words(&n->words, str_from(buf_str(path), from));
    buf_puts(path, steps->kind == STEPS_ATTRIBUTES ? "" : quoted ? "']" : "]");
    return is_text || (is_number && steps->kind == STEPS_KEYS);
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
    n->field = false;
    open_steps(n, tree, &steps);
    for (json_id c = first_child(n, tree); c != JSON_NONE && !n->mismatched;
         c = json_next(n->spec, c)) {
        size_t mark = n->path.n, words = n->words.n;
        bool named = take_step(n, &steps);
        name_tree(n, c, known && named, depth + 1);
        n->path.n = mark;
        n->words.n = words;
    }
    json_release(&steps.keys);
    buf_release(&steps.text);
}

static void name_positional(struct source_namer *n, json_id tuple, const struct module_call *root)
{
    uint32_t i = 0;
    for (json_id c = first_child(n, tuple); c != JSON_NONE && !n->mismatched;
         c = json_next(n->spec, c), i++) {
        size_t mark = n->path.n;
        buf_clear(&n->words);
        n->field = false;
        if (i < root->n_arg_names) {
            buf_printf(&n->path, "['%.*s']", STR_ARG(root->arg_names[i]));
            buf_put(&n->words, root->arg_names[i]);
        }
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

static void name_by_tree(struct source_namer *n, const struct module_call *root)
{
    struct json spec = { 0 };
    struct err err = { 0 };
    if (json_parse(&spec, n->inputs ? root->in_spec : root->out_spec, &err)) {
        n->spec = &spec;
        if (n->inputs)
            name_arguments(n, root);
        else
            name_results(n);
        skip_others(n);
        n->mismatched |= n->next < n->n;
    }
    n->mismatched |= err_is_set(&err);
    n->program->failed |= n->path.failed || n->words.failed || err.kind == ERR_ENV;
    json_release(&spec);
    buf_release(&n->path);
    buf_release(&n->words);
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
