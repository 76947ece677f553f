#include "replay/attempt/constraints.h"

#include <stdlib.h>

#include "trace/base/hash.h"

struct constraint_checker {
    struct replay_state *state;
    const struct inputs *inputs;
    vec_of(struct env_input)
    list;
    vec_of(struct env_dim)
    dims;
    vec_of(struct env_equality)
    pairs;
    vec_of(struct env_derived)
    derived;
    bool any, failed; /* any: there is a constraint */
};

static bool push_input(struct constraint_checker *c, const struct replay_input *state_input,
                       const struct input *input)
{
    struct env_input new = { .source = input->tensor.source,
                             .ndim = state_input->meta.ndim,
                             .size = state_input->meta.size,
                             .stride = state_input->meta.stride,
                             .offset = state_input->meta.offset,
                             .constraints = state_input->constraints };
    for (uint32_t d = 0; state_input->constraints && d < state_input->meta.ndim; d++)
        c->any |= state_input->constraints[d].kind != CONSTRAINT_NONE;
    return vec_push(&c->list, new);
}

static struct str size_source(struct constraint_checker *c, struct str tensor, uint32_t dim)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s.size()[%u]", STR_ARG(tensor), dim);
    struct str ret = arena_copy(&c->state->arena, buf_str(&text));
    c->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret;
}

static bool has_dim(const struct constraint_checker *c, struct str name)
{
    for (size_t i = 0; i < c->dims.n; i++)
        if (str_eq(c->dims.v[i].name, name))
            return true;
    return false;
}

static void add_dim(struct constraint_checker *c, struct env_dim dim)
{
    if (!has_dim(c, dim.name))
        c->failed |= !vec_push(&c->dims, dim);
}

/* Returns the source of the first size that was marked with the Dim, or its name if there is
 * none. */
static struct str first_source(struct constraint_checker *c, struct str name)
{
    for (size_t i = 0; i < c->inputs->list.n; i++) {
        const struct input *input = &c->inputs->list.v[i];
        for (uint32_t d = 0; input->kind == INPUT_TENSOR && d < input->tensor.ndim; d++)
            if (input->tensor.change[d].kind == DIM_NAMED &&
                str_eq(input->tensor.change[d].dim.name, name))
                return size_source(c, input->tensor.source, d);
    }
    return name;
}

/* Adds an EqualityConstraint as _process_equalities of torch/export/dynamic_shapes.py does. */
static void add_equality(struct constraint_checker *c, const struct input_tensor *t, uint32_t d)
{
    const struct env_dim *dim = &t->change[d].dim;
    struct str source = size_source(c, t->source, d);
    struct str root = first_source(c, dim->root.n ? dim->root : dim->name);
    if (dim->root.n)
        c->failed |= !vec_push(&c->derived, (struct env_derived){ source, root, dim });
    else if (!str_eq(root, source))
        c->failed |= !vec_push(&c->pairs, (struct env_equality){ source, root });
}

/* Creates the symbol of a root that no size has, with a hint that is consistent with the first
 * size. */
static void make_root(struct constraint_checker *c, const struct input_tensor *t, uint32_t d)
{
    const struct env_dim *dim = &t->change[d].dim;
    struct env_dim root = { dim->root, STR(""), 1, 0, dim->min, dim->max };
    if (!dim->root.n || has_dim(c, dim->root))
        return;
    add_dim(c, root);
    if (!str_eq(first_source(c, dim->root), dim->root))
        return;
    struct sym_pool *pool = env_pool(c->state->env);
    struct symbol_request request = { .value =
                                          sym_integer(pool, (t->size[d] - dim->add) / dim->mul),
                                      .source = dim->root,
                                      .dynamic = DIM_DYNAMIC,
                                      .positive = true };
    env_create_symbol(c->state->env, &request);
}

static void gather_constraints(struct constraint_checker *c)
{
    for (size_t i = 0; i < c->inputs->list.n && !c->failed; i++) {
        const struct input *input = &c->inputs->list.v[i];
        const struct replay_input *state_input = &c->state->inputs[i];
        if (input->kind != INPUT_TENSOR || !state_input->is_tensor || !state_input->meta.size)
            continue;
        c->failed |= !push_input(c, state_input, input);
        for (uint32_t d = 0; d < input->tensor.ndim && !c->failed; d++)
            if (input->tensor.change[d].kind == DIM_NAMED) {
                add_dim(c, input->tensor.change[d].dim);
                add_equality(c, &input->tensor, d);
            }
    }
    for (size_t i = 0; i < c->inputs->list.n && !c->failed; i++) {
        const struct input_tensor *t = &c->inputs->list.v[i].tensor;
        for (uint32_t d = 0; c->inputs->list.v[i].kind == INPUT_TENSOR && d < t->ndim; d++)
            if (t->change[d].kind == DIM_NAMED)
                make_root(c, t, d);
    }
}

/* --- The user's stack --- */

struct guard_stacks {
    const struct constraint_places *places;
    struct hash_index by_node; /* of the log's first recorded guard of each node */
};

static uint32_t node_hash(uint32_t graph, uint32_t node)
{
    return (uint32_t)hash_mix(graph, node);
}

static const struct guard_entry *find_guard(const struct guard_stacks *stacks, uint32_t graph,
                                            uint32_t node)
{
    const struct guard_entry *entries = stacks->places->log->entries.v;
    uint32_t hash = node_hash(graph, node), row;
    for (size_t at = hash_index_start(&stacks->by_node, hash);
         hash_index_next(&stacks->by_node, hash, &at, &row);)
        if (entries[row].graph == graph && entries[row].node == node)
            return &entries[row];
    return NULL;
}

static bool index_guards(struct guard_stacks *stacks)
{
    const struct guard_log *log = stacks->places->log;
    if (!hash_index_reserve(&stacks->by_node, log->n_recorded))
        return false;
    for (uint32_t i = 0; i < log->n_recorded; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        if (entry->has_node && !find_guard(stacks, entry->graph, entry->node))
            hash_index_add(&stacks->by_node, node_hash(entry->graph, entry->node), i);
    }
    return true;
}

static stack_id guard_stack(const struct guard_stacks *stacks, struct env_origin origin)
{
    const struct guard_entry *entry =
        origin.user_stack ? NULL : find_guard(stacks, origin.graph, origin.node);
    return entry ? entry->guard->user_stack : origin.user_stack;
}

/* Prints a stack as format_list() of traceback does, outermost frame first. */
static void print_stack(const struct constraint_places *places, stack_id stack, struct buf *out)
{
    enum { DEEPEST = 256 };
    stack_id stacks[DEEPEST];
    uint32_t n = 0;
    for (; stack && n < DEEPEST; stack = stack_parent(places->trace, stack))
        stacks[n++] = stack;
    while (n-- > 0) {
        struct frame frame = stack_frame(places->trace, places->recording, stacks[n]);
        buf_printf(out, "  File \"%.*s\", line %u, in %.*s\n", STR_ARG(frame.file), frame.line,
                   STR_ARG(frame.function));
        if (frame.code.n)
            buf_printf(out, "    %.*s\n", STR_ARG(frame.code));
    }
}

static void locate(void *user, struct env_origin origin, enum env_locate what, struct buf *out)
{
    const struct guard_stacks *stacks = user;
    if (what == ENV_LOCATE_STACK && stacks->places->trace && !stacks->places->exported)
        print_stack(stacks->places, guard_stack(stacks, origin), out);
}

static void ignore_guard_text(void *user, struct str text, uint32_t guard)
{
    (void)user;
    (void)text;
    (void)guard;
}

static void check_all_constraints(struct constraint_checker *c, struct buf *ret)
{
    struct shape_env *env = c->state->env;
    const struct env_produce what = { .inputs = c->list.v,
                                      .n_inputs = (uint32_t)c->list.n,
                                      .equalities = c->pairs.v,
                                      .n_equalities = (uint32_t)c->pairs.n,
                                      .has_equalities = c->dims.n > 0,
                                      .derived = c->derived.v,
                                      .n_derived = (uint32_t)c->derived.n,
                                      .dims = c->dims.v,
                                      .n_dims = (uint32_t)c->dims.n,
                                      .guard_static = c->dims.n > 0 };
    bool held = c->dims.n ? env_check_dims(env, &what, ret)
                          : env_produce_guards(env, &what, ignore_guard_text, NULL);
    struct env_raised raised = env_raised(env);
    c->failed |= !held && raised.kind == ENV_RAISED_MEMORY;
    if (!held && raised.kind == ENV_RAISED_CONSTRAINT)
        buf_put(ret, raised.text);
}

bool constraints_check(struct replay_state *state, const struct inputs *inputs,
                       struct constraint_places places, struct buf *ret)
{
    struct constraint_checker c = { .state = state, .inputs = inputs };
    if (state->refused.n) { /* a size violated its constraint, so no further check is possible */
        buf_put(ret, state->refused);
        return !ret->failed;
    }
    struct guard_stacks stacks = { .places = &places };
    gather_constraints(&c);
    c.failed |= c.any && !index_guards(&stacks);
    env_set_locator(state->env, locate, &stacks);
    if (c.any && !c.failed)
        check_all_constraints(&c, ret);
    env_set_locator(state->env, NULL, NULL);
    hash_index_release(&stacks.by_node);
    vec_release(&c.list);
    vec_release(&c.dims);
    vec_release(&c.pairs);
    vec_release(&c.derived);
    return !c.failed && !ret->failed;
}
