/* Names what the user passes as guards do: "L['x']", "L['pair']['rows']".
 *
 * Exporting flattens the arguments of forward() in the order of a pytree
 * (torch/utils/_pytree.py, treespec_dumps): [1, {"type", "context", "children_spec"}], where
 * leaves have no type. The pytree of the root's module call is a tuple of the positional
 * arguments, named by forward_arg_names, and a dictionary of the others; its leaves are the
 * user's inputs in order. Where the tree has no name (for a class of the user's, say), or
 * another number of leaves, an input is named by its placeholder. */
#include "trace/pt2/pt2_program.h"

enum { TREE_DEEPEST = 50 };

struct source_namer {
    struct program_reader *program;
    struct input_spec *inputs;
    uint32_t n_inputs, next; /* the input that the next leaf may be */
    bool mismatched;         /* the tree does not have the leaves that the inputs require */
    const struct json *spec;
    struct buf path; /* of the current subtree */
};

/* The names of a node's children, as far as they have names. */
struct steps {
    enum { STEPS_NUMBERED, STEPS_KEYS, STEPS_UNKNOWN } kind;
    uint32_t index;
    struct json keys;
    json_id key;
    struct buf text; /* of keys */
};

static bool is_passed(const struct input_spec *input)
{
    return input->kind == INPUT_USER || input->kind == INPUT_CONSTANT;
}

static void skip_unpassed(struct source_namer *n)
{
    while (n->next < n->n_inputs && !is_passed(&n->inputs[n->next]))
        n->next++;
}

static void name_leaf(struct source_namer *n, bool known)
{
    skip_unpassed(n);
    if (n->next == n->n_inputs)
        n->mismatched = true;
    else if (known)
        n->inputs[n->next].source = program_copy(n->program, buf_str(&n->path));
    n->next += !n->mismatched;
}

/* Reads the keys of a dictionary, which are in its context: a JSON list, as a JSON string. */
static void read_keys(struct source_namer *n, json_id tree, struct steps *steps)
{
    struct err err = { 0 };
    json_decode(n->spec, json_get(n->spec, tree, STR("context")), &steps->text);
    if (!steps->text.failed && json_parse(&steps->keys, buf_str(&steps->text), &err)) {
        steps->kind = STEPS_KEYS;
        steps->key = json_first(&steps->keys, JSON_ROOT);
    }
    n->program->failed |= steps->text.failed || err.kind == ERR_ENV;
}

static void open_steps(struct source_namer *n, json_id tree, struct steps *steps)
{
    json_id type = json_get(n->spec, tree, STR("type"));
    *steps = (struct steps){ .kind = STEPS_UNKNOWN, .key = JSON_NONE };
    if (json_is(n->spec, type, "builtins.tuple") || json_is(n->spec, type, "builtins.list"))
        steps->kind = STEPS_NUMBERED;
    else if (json_is(n->spec, type, "builtins.dict") ||
             json_is(n->spec, type, "collections.OrderedDict"))
        read_keys(n, tree, steps);
}

/* Appends the next child's subscript; false when it has no name. */
static bool take_step(struct steps *steps, struct buf *path)
{
    json_id key = steps->key;
    if (steps->kind == STEPS_UNKNOWN)
        return false;
    if (steps->kind == STEPS_NUMBERED) {
        buf_printf(path, "[%u]", (unsigned)steps->index++);
        return true;
    }
    steps->key = json_next(&steps->keys, key);
    if (json_kind_of(&steps->keys, key) == JSON_NUMBER) {
        buf_printf(path, "[%.*s]", STR_ARG(json_text(&steps->keys, key)));
        return true;
    }
    buf_puts(path, "['");
    json_decode(&steps->keys, key, path);
    buf_puts(path, "']");
    return json_kind_of(&steps->keys, key) == JSON_STRING;
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
        bool named = take_step(&steps, &n->path);
        name_tree(n, c, known && named, depth + 1);
        n->path.n = mark;
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
    skip_unpassed(n);
    n->mismatched |= n->next < n->n_inputs;
}

static void name_by_tree(struct source_namer *n, const struct module_call *root)
{
    struct json spec = { 0 };
    struct err err = { 0 };
    if (json_parse(&spec, root->in_spec, &err)) {
        n->spec = &spec;
        name_arguments(n, root);
    }
    n->mismatched |= err_is_set(&err);
    n->program->failed |= n->path.failed || err.kind == ERR_ENV;
    json_release(&spec);
    buf_release(&n->path);
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
    struct source_namer n = {
        .program = program, .inputs = inputs, .n_inputs = signature->n_inputs, .mismatched = true
    };
    for (uint32_t i = 0; i < signature->n_modules && n.mismatched && n.next == 0; i++)
        if (signature->modules[i].fqn.n == 0)
            name_by_tree(&n, &signature->modules[i]);
    for (uint32_t i = 0; i < n.n_inputs; i++)
        if (is_passed(&inputs[i]) && (n.mismatched || inputs[i].source.n == 0))
            name_by_placeholder(program, &inputs[i]);
}
