#include "replay/attempt/float_constants.h"

#include "trace/base/intern.h"

#define NO_FLOAT UINT32_MAX

enum { MAX_LIST_DEPTH = 8 };

/* The floats by value and place: the line, if the graph has calls of that line, else the function.
 * Those of one key form a list in the order of their creation. */
struct float_index {
    struct float_constants *constants;
    const struct replay_state *state;
    struct intern lines, keys;
    vec_of(uint32_t)
    head;           /* by key */
    uint32_t *next; /* by input, as found */
    bool *found;
    struct buf text;
    struct arena arena;
};

static struct str line_text(struct float_index *index, struct str file, uint32_t line)
{
    buf_clear(&index->text);
    buf_printf(&index->text, "%u\n%.*s", line, STR_ARG(file));
    return buf_str(&index->text);
}

static struct str key_of(struct float_index *index, struct str file, uint32_t line,
                         struct str function, sym_id value)
{
    buf_clear(&index->text);
    buf_printf(&index->text, "%u\n%u\n%.*s\n%.*s", value, line, STR_ARG(function), STR_ARG(file));
    return buf_str(&index->text);
}

/* Puts a float before those that are in the list already. */
static bool add_float(struct float_index *index, uint32_t input, const struct frame *frame,
                      sym_id value)
{
    struct str line = line_text(index, frame->file, frame->line);
    bool by_line = intern_find(&index->lines, line) != INTERN_NONE;
    uint32_t key =
        intern(&index->keys, by_line ? key_of(index, frame->file, frame->line, STR(""), value)
                                     : key_of(index, frame->file, 0, frame->function, value));
    if (key == INTERN_NONE || index->text.failed ||
        (key == index->head.n && !vec_push(&index->head, NO_FLOAT)))
        return false;
    index->next[input] = index->head.v[key];
    index->head.v[key] = input;
    return true;
}

/* Returns the frame that a graph prints for calls made there: the innermost one outside of
 * torch/nn/modules (create_proxy of torch/_dynamo/output_graph.py). */
static struct frame printed_frame(const struct trace *trace, uint32_t recording, stack_id stack)
{
    struct frame frame = stack_frame(trace, recording, stack);
    while (stack && str_contains(frame.file, STR("torch/nn/modules"))) {
        stack = stack_parent(trace, stack);
        frame = stack_frame(trace, recording, stack);
    }
    return frame;
}

/* Returns whether an input is the symbol of a float that is none of the graph's inputs. */
static bool was_specialized(const struct replay_state *state, const struct inputs *inputs,
                            const struct intern *placeholders, size_t i)
{
    struct sym_range ignored;
    const struct replay_input *input = &state->inputs[i];
    return inputs->list.v[i].is_float && input->number != SYM_NONE &&
           env_range(state->env, input->number, &ignored) &&
           intern_find(placeholders, input->name) == INTERN_NONE;
}

static bool add_placeholders(struct intern *names, const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind == STEP_INPUT &&
            intern(names, p->graph->nodes[p->steps[i].node].name) == INTERN_NONE)
            return false;
    return true;
}

static bool add_lines(struct float_index *index, const struct program *p)
{
    for (uint32_t i = 0; i < p->graph->n_locations; i++) {
        const struct location *at = &p->graph->locations[i];
        if (intern(&index->lines, line_text(index, at->file, at->line)) == INTERN_NONE)
            return false;
    }
    for (uint32_t i = 0; i < p->n_children; i++)
        if (!add_lines(index, p->children[i]))
            return false;
    return true;
}

static bool add_floats(struct float_index *index, const struct attempt_load *load,
                       const struct replay_state *state, const struct intern *placeholders)
{
    const struct inputs *inputs = &load->inputs;
    uint32_t recording = load->trace->attempts[load->attempt].recording;
    for (size_t i = inputs->list.n; i-- > 0;) {
        if (!was_specialized(state, inputs, placeholders, i))
            continue;
        const struct frame frame =
            printed_frame(load->trace, recording, inputs->list.v[i].symbol.user_stack);
        sym_id value = env_hint(state->env, state->inputs[i].number);
        if (value != SYM_NONE && !add_float(index, (uint32_t)i, &frame, value))
            return false;
    }
    return true;
}

static uint32_t take_float(struct float_index *index, uint32_t key)
{
    while (index->head.v[key] != NO_FLOAT && index->found[index->head.v[key]])
        index->head.v[key] = index->next[index->head.v[key]];
    return index->head.v[key];
}

/* Returns the input that a constant of a call at this location is, or NO_FLOAT. */
static uint32_t find_float(struct float_index *index, const struct location *at, sym_id value)
{
    uint32_t key = intern_find(&index->keys, key_of(index, at->file, at->line, STR(""), value));
    uint32_t found = key == INTERN_NONE ? NO_FLOAT : take_float(index, key);
    if (found != NO_FLOAT)
        return found;
    key = intern_find(&index->keys, key_of(index, at->file, 0, at->function, value));
    return key == INTERN_NONE ? NO_FLOAT : take_float(index, key);
}

static bool symbolize(struct float_index *index, const struct location *location,
                      struct value *argument, unsigned depth)
{
    if (argument->kind == VALUE_LIST || argument->kind == VALUE_TUPLE) {
        /* Lists of literals belong to the program. */
        struct value *items = (struct value *)argument->u.items;
        for (uint32_t i = 0; i < argument->n && depth < MAX_LIST_DEPTH; i++)
            if (!symbolize(index, location, &items[i], depth + 1))
                return false;
        return true;
    }
    if (argument->kind != VALUE_FLOAT)
        return true;
    uint32_t input = find_float(index, location, argument->u.sym);
    struct float_constant constant = { argument, argument->u.sym };
    if (input == NO_FLOAT)
        return !index->text.failed;
    index->found[input] = true;
    argument->u.sym = index->state->inputs[input].number;
    return vec_push(&index->constants->list, constant);
}

static bool symbolize_program(struct float_index *index, struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        uint32_t at = p->graph->nodes[step->node].location;
        if (!step_is_call(step) || at == LOCATION_NONE)
            continue;
        const struct location *location = &p->graph->locations[at];
        for (uint32_t k = 0; k < step->n_args; k++)
            if (!symbolize(index, location, &step->args[k], 0))
                return false;
        for (uint32_t k = 0; k < step->n_keywords; k++)
            if (!symbolize(index, location, &step->keywords[k].value, 0))
                return false;
    }
    for (uint32_t i = 0; i < p->n_children; i++)
        if (!symbolize_program(index, p->children[i]))
            return false;
    return true;
}

static bool keep_found(const struct float_index *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (index->found[i] &&
            !vec_push(&index->constants->symbols, index->state->inputs[i].number))
            return false;
    return true;
}

bool float_constants_symbolize(struct float_constants *constants, const struct attempt_load *load,
                               const struct replay_state *state, struct program *program)
{
    struct float_index index = { .constants = constants, .state = state };
    struct intern placeholders = INTERN_INIT;
    size_t n = load->inputs.list.n;
    if (load->attempt == TRACE_NONE)
        return true;
    index.found = arena_array(&index.arena, bool, n + 1);
    index.next = arena_array(&index.arena, uint32_t, n + 1);
    bool ok = index.found && index.next && add_placeholders(&placeholders, program) &&
              add_lines(&index, program) && add_floats(&index, load, state, &placeholders) &&
              (index.keys.texts.n == 0 || symbolize_program(&index, program)) &&
              keep_found(&index, n);
    intern_release(&placeholders);
    intern_release(&index.lines);
    intern_release(&index.keys);
    vec_release(&index.head);
    buf_release(&index.text);
    arena_release(&index.arena);
    return ok;
}

void float_constants_restore(struct float_constants *constants, struct shape_env *env)
{
    const struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    env_set_origin(env, none);
    for (size_t i = 0; i < constants->symbols.n; i++)
        if (env_evaluate(env, constants->symbols.v[i], SYM_NONE, false, SYM_NONE) == SYM_NONE)
            env_raised(env);
    for (size_t i = 0; i < constants->list.n; i++)
        constants->list.v[i].argument->u.sym = constants->list.v[i].printed;
    constants->list.n = constants->symbols.n = 0;
}

void float_constants_release(struct float_constants *constants)
{
    vec_release(&constants->list);
    vec_release(&constants->symbols);
}
