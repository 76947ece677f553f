/* Replaces names of values, modules, files and functions, source lines and strings of a candidate.
 * Operators and sizes stay. All later output is made from the result. */
#include "minify/candidate/candidate_data.h"
#include "minify/candidate/candidate_source.h"

struct anonymizer {
    struct arena arena;
    struct intern files, functions, children, paths, strings, keys, targets, types;
    struct cand_aliases *aliases; /* NULL: not needed */
    bool failed;
};

static void note_alias(struct anonymizer *h, struct str name, struct str alias)
{
    struct cand_aliases *aliases = h->aliases;
    if (!aliases || name.n == 0)
        return;
    struct cand_alias entry = { arena_copy(&aliases->arena, name),
                                arena_copy(&aliases->arena, alias) };
    if (!entry.name.p || !entry.alias.p || !vec_push(&aliases->list, entry))
        h->failed = true;
}

/* Returns a name such as "f0.py"; the first of its kind has the number 0. */
static struct str alias_of(struct anonymizer *h, struct intern *table, struct str text,
                           const char *before, const char *after)
{
    struct buf out = BUF_INIT;
    size_t known = table->texts.n;
    uint32_t id = text.n ? intern(table, text) : 0;
    if (text.n)
        buf_printf(&out, "%s%u%s", before, (unsigned)id, after);
    struct str ret = arena_copy(&h->arena, buf_str(&out));
    h->failed |= out.failed || !ret.p || id == INTERN_NONE;
    buf_release(&out);
    if (ret.p && table->texts.n > known) {
        note_alias(h, text, ret);
        note_alias(h, str_basename(text), ret);
    }
    return ret.p ? ret : STR("");
}

static struct str numbered_name(struct anonymizer *h, const char *before, uint32_t number)
{
    struct buf out = BUF_INIT;
    buf_printf(&out, "%s%u", before, (unsigned)number);
    struct str ret = arena_copy(&h->arena, buf_str(&out));
    h->failed |= out.failed || !ret.p;
    buf_release(&out);
    return ret.p ? ret : STR("");
}

/* Returns whether a text is a word that operators take as an argument, as "mean", "floor" and
 * "linear", which are not replaced. */
static bool is_operator_keyword(struct str text)
{
    static const char *const words[] = {
#define WORD(text) text,
#include "minify/candidate/keywords.def"
#undef WORD
    };
    return STR_IS_ANY(text, words);
}

/* Replaces the letters of an einsum equation "bhqk,bhkd->bhqd" in their order. */
static struct str rename_equation(struct anonymizer *h, struct str text)
{
    struct intern letters = INTERN_INIT;
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < text.n; i++) {
        struct str one = str_first(str_from(text, i), 1);
        bool letter = (one.p[0] >= 'a' && one.p[0] <= 'z') || (one.p[0] >= 'A' && one.p[0] <= 'Z');
        uint32_t id = letter ? intern(&letters, one) : 0;
        h->failed |= id == INTERN_NONE;
        buf_putc(&out, !letter   ? one.p[0]
                       : id < 26 ? (char)('a' + id)
                                 : (char)('A' + id % 52 - 26));
    }
    struct str ret = arena_copy(&h->arena, buf_str(&out));
    h->failed |= out.failed || !ret.p;
    intern_release(&letters);
    buf_release(&out);
    return ret.p ? ret : STR("");
}

static bool is_equation(struct str text)
{
    bool mark = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        mark |= c == ',' || c == '>';
        if (!letter && !strchr(" ,.->", c))
            return false;
    }
    return mark;
}

/* Returns whether a function belongs to Python or PyTorch, by its module. */
static bool is_known_target(struct str target)
{
    static const char *const modules[] = { "torch.",    "operator.", "_operator.", "math.",
                                           "builtins.", "torch_",    "aten.",      "prims." };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (str_starts(target, str_of(modules[i])))
            return true;
    static const char *const builtins[] = {
        "abs",     "all",     "any",   "bool",       "complex",  "dict",  "divmod",  "float",
        "getattr", "hasattr", "int",   "isinstance", "iter",     "len",   "list",    "max",
        "min",     "next",    "pow",   "range",      "reversed", "round", "setattr", "slice",
        "str",     "sum",     "tuple", "type",       "zip",
    };
    return STR_IS_ANY(target, builtins);
}

/* Replaces keyword names, which are those of an operator's parameters unless the call is of a
 * module of the user. */
static void hide_keys(struct anonymizer *h, const struct node *node, struct arg *args)
{
    if (node->op != NODE_CALL_MODULE &&
        (node->op != NODE_CALL_FUNCTION || is_known_target(node->target)))
        return;
    for (uint32_t i = 0; i < node->n_args; i++) {
        struct arg *arg = &args[node->first_arg + i];
        if (arg->key.n)
            arg->key = alias_of(h, &h->keys, arg->key, "key", "");
    }
}

static void hide_arg(struct anonymizer *h, struct arg *arg)
{
    switch (arg->kind) {
    case ARG_STRING:
        if (is_equation(arg->text))
            arg->text = rename_equation(h, arg->text);
        else if (!is_operator_keyword(arg->text))
            arg->text = alias_of(h, &h->strings, arg->text, "string", "");
        break;
    case ARG_GRAPH: arg->text = alias_of(h, &h->children, arg->text, "graph", ""); break;
    case ARG_TARGET:
        if (!is_known_target(arg->text))
            arg->text = alias_of(h, &h->targets, arg->text, "function", "");
        break;
    case ARG_CALL: /* the call of a namedtuple or a dataclass */
        if (!str_starts(arg->text, STR("torch")))
            arg->text = alias_of(h, &h->types, arg->text, "Type", "");
        break;
    case ARG_OPAQUE:
        note_alias(h, arg->text, STR("None"));
        arg->text = STR("None");
        break;
    default: break;
    }
}

static void hide_args(struct anonymizer *h, const struct graph *graph, struct arg *args)
{
    for (uint32_t i = 0; i < graph->n_args; i++) {
        args[i] = graph->args[i];
        hide_arg(h, &args[i]);
    }
    for (node_id id = 0; id < graph->n_nodes; id++)
        hide_keys(h, &graph->nodes[id], args);
}

static void hide_nodes(struct anonymizer *h, const struct graph *graph, struct node *nodes)
{
    for (node_id id = 0; id < graph->n_nodes; id++) {
        struct node *node = &nodes[id];
        *node = graph->nodes[id];
        if (node->op != NODE_OUTPUT) {
            node->name = numbered_name(h, "x", id);
            note_alias(h, graph->nodes[id].name, node->name);
        }
        if (node->op == NODE_CALL_FUNCTION && !is_known_target(node->target))
            node->target = alias_of(h, &h->targets, node->target, "function", "");
        if (node->op == NODE_PLACEHOLDER)
            node->target = node->name;
        else if (node->op == NODE_GET_ATTR)
            node->target = graph_child(graph, node->target)
                               ? alias_of(h, &h->children, node->target, "graph", "")
                               : alias_of(h, &h->paths, node->target, "attribute", "");
        else if (node->op == NODE_CALL_MODULE)
            node->target = alias_of(h, &h->paths, node->target, "module", "");
        else if (node->op == NODE_OPAQUE)
            node->target = node->name;
        node->descriptor = STR(""); /* ParamAOTInput(target='layer.weight') */
        const struct meta *meta = node_meta(graph, node);
        if (meta && meta->kind == META_OTHER)
            node->meta = META_NONE;
    }
}

static void hide_locations(struct anonymizer *h, const struct graph *graph,
                           struct location *locations)
{
    for (uint32_t i = 0; i < graph->n_locations; i++) {
        struct location *at = &locations[i];
        *at = graph->locations[i];
        at->file = alias_of(h, &h->files, at->file, "f", ".py");
        at->function = alias_of(h, &h->functions, at->function, "function", "");
        at->code = STR("...");
        at->annotation = STR("");
    }
}

static struct graph *hide_graph(struct anonymizer *h, const struct graph *graph, bool root)
{
    struct arena *arena = &h->arena;
    struct graph *ret = arena_new(arena, struct graph);
    struct node *nodes = arena_array(arena, struct node, (size_t)graph->n_nodes + 1);
    struct arg *args = arena_array(arena, struct arg, (size_t)graph->n_args + 1);
    struct location *locations =
        arena_array(arena, struct location, (size_t)graph->n_locations + 1);
    struct graph **children = arena_array(arena, struct graph *, (size_t)graph->n_children + 1);
    if (!ret || !nodes || !args || !locations || !children) {
        h->failed = true;
        return NULL;
    }
    *ret = *graph;
    ret->name = root ? STR("GraphModule") : alias_of(h, &h->children, graph->name, "graph", "");
    ret->nodes = nodes;
    ret->args = args;
    ret->locations = locations;
    ret->children = children;
    ret->output_descriptors = NULL;
    hide_nodes(h, graph, nodes);
    hide_args(h, graph, args);
    hide_locations(h, graph, locations);
    for (uint32_t i = 0; i < graph->n_children && !h->failed; i++)
        children[i] = hide_graph(h, graph->children[i], false);
    return h->failed ? NULL : ret;
}

struct candidate *candidate_anonymize(const struct candidate *candidate,
                                      struct cand_aliases *aliases, struct err *err)
{
    struct anonymizer h = { .arena = ARENA_INIT, .aliases = aliases };
    struct candidate *ret = NULL;
    struct cand_symbol *symbols =
        arena_array(&h.arena, struct cand_symbol, (size_t)candidate->n_symbols + 1);
    struct graph *graph = hide_graph(&h, candidate->graph, true);
    if (!symbols || !graph) {
        err_nomem(err);
    } else {
        for (uint32_t i = 0; i < candidate->n_symbols; i++) {
            symbols[i] = candidate->symbols[i];
            symbols[i].source = STR("");
        }
        struct cand_source source = { .like = candidate,
                                      .graph = graph,
                                      .storages = data_of(candidate)->storages,
                                      .gradients = data_of(candidate)->gradients,
                                      .symbols = symbols,
                                      .n_symbols = candidate->n_symbols,
                                      .guards = candidate->guards,
                                      .n_guards = candidate->n_guards };
        ret = candidate_make(&source, NULL, err);
    }
    intern_release(&h.files);
    intern_release(&h.functions);
    intern_release(&h.children);
    intern_release(&h.paths);
    intern_release(&h.strings);
    intern_release(&h.keys);
    intern_release(&h.targets);
    intern_release(&h.types);
    arena_release(&h.arena);
    return ret;
}

/* Returns the longest known name that begins at text[at] as a whole word. */
static const struct cand_alias *alias_at(const struct cand_aliases *aliases, struct str text,
                                         size_t at)
{
    const struct cand_alias *ret = NULL;
    for (size_t i = 0; i < aliases->list.n; i++) {
        const struct cand_alias *one = &aliases->list.v[i];
        struct str rest = str_from(text, at + one->name.n);
        bool begins = at == 0 || !is_word_char(text.p[at - 1]) || !is_word_char(text.p[at]);
        bool ends =
            rest.n == 0 || !is_word_char(rest.p[0]) || !is_word_char(one->name.p[one->name.n - 1]);
        if (begins && ends && (!ret || one->name.n > ret->name.n) &&
            str_starts(str_from(text, at), one->name))
            ret = one;
    }
    return ret;
}

void cand_aliases_apply(const struct cand_aliases *aliases, struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n;) {
        const struct cand_alias *found = alias_at(aliases, text, i);
        if (found)
            buf_put(out, found->alias);
        else
            buf_putc(out, text.p[i]);
        i += found ? found->name.n : 1;
    }
}

void cand_aliases_release(struct cand_aliases *aliases)
{
    vec_release(&aliases->list);
    arena_release(&aliases->arena);
}
