/* Collects the results of a walked program as data. */
#include "replay/attempt/attempt.h"
#include "replay/ops/model/stats.h"

static struct str copy_to_result(struct result_collector *c, struct str text)
{
    struct str ret = arena_copy(&c->result->arena, text);
    c->failed |= !ret.p;
    return ret;
}

static struct str copy_buffer(struct result_collector *c)
{
    c->failed |= c->text.failed;
    return copy_to_result(c, buf_str(&c->text));
}

/* Returns the operator of a call; for an item of a tuple, that of the call that returned the
 * tuple. */
static const char *producer(const struct program *p, const struct step *step)
{
    for (unsigned i = 0; i < PROGRAM_MAX_NESTING && step->kind == STEP_GETITEM; i++) {
        if (step->n_patches == 0 || p->patches[step->first_patch].from >= p->n_steps)
            break;
        const struct step *from = &p->steps[p->patches[step->first_patch].from];
        if (from->kind == STEP_INPUT)
            break;
        step = from;
    }
    return step->name;
}

static bool has_differed(const struct outcome_note *note)
{
    return note->outcome >= OUTCOME_MISMATCH;
}

/* Returns whether an argument differs, or a node of a subgraph that is one. */
static bool has_differing_argument(const struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++) {
        node_id from = p->patches[step->first_patch + i].from;
        if (from >= p->n_steps)
            continue;
        const struct program *child =
            p->steps[from].kind == STEP_SUBGRAPH ? program_child(p, p->steps[from].target) : NULL;
        if (has_differed(&p->notes[from]) || (child && child->differs))
            return true;
    }
    return false;
}

static void add_unsupported(struct result_collector *c, const char *op)
{
    struct attempt_result *r = c->result;
    for (size_t i = 0; i < r->unsupported.n; i++)
        if (str_is(r->unsupported.v[i].op, op)) {
            r->unsupported.v[i].calls++;
            return;
        }
    struct replay_unsupported row = { copy_to_result(c, str_of(op)), 1 };
    c->failed |= !vec_push(&r->unsupported, row);
}

static void collect_difference(struct result_collector *c, const struct program *p,
                               const struct step *step)
{
    const struct outcome_note *note = &p->notes[step->node];
    const struct node *node = &p->graph->nodes[step->node];
    struct replay_difference d = {
        .ref = c->graph->ref,
        .outcome = note->outcome,
        .derived = has_differing_argument(p, step),
        .graph = p->first_node ? p->graph->name : STR(""),
        .node = node->name,
        .op = copy_to_result(c, str_of(step->name)),
        .rule = copy_to_result(c, str_of(producer(p, step))),
        .recorded = step->expected->text,
        .location_graph = p->graph,
        .location = node->location,
    };
    buf_clear(&c->text);
    if (note->outcome == OUTCOME_MISMATCH)
        print_value_now(c->ops, program_got(p, step->node), &c->text);
    else
        buf_put(&c->text, program_why(p, step->node));
    d.replayed = copy_buffer(c);
    c->failed |= !vec_push(&c->result->differences, d);
}

/* Adds the FNV-1a hash of a call's result. */
static void add_digest(struct result_collector *c, const struct program *p, node_id node)
{
    const struct outcome_note *note = &p->notes[node];
    uint64_t hash = 14695981039346656037u;
    buf_clear(&c->text);
    if (note->outcome == OUTCOME_MATCH || note->outcome == OUTCOME_MISMATCH)
        print_value_now(c->ops, program_got(p, node), &c->text);
    buf_putc(&c->text, (char)('0' + note->outcome));
    c->failed |= c->text.failed;
    for (size_t i = 0; i < c->text.n; i++)
        hash = (hash ^ (unsigned char)c->text.p[i]) * 1099511628211u;
    struct replay_digest row = { .ref = c->graph->ref,
                                 .graph = p->first_node ? p->graph->name : STR(""),
                                 .node = p->graph->nodes[node].name,
                                 .hash = hash };
    c->failed |= !vec_push(&c->result->digests, row);
}

static void collect_call(struct result_collector *c, const struct program *p,
                         const struct step *step)
{
    const struct outcome_note *note = &p->notes[step->node];
    struct replay_counts *counts = &c->graph->counts;
    if (c->partial && note->outcome == OUTCOME_NONE)
        return;
    counts->calls++;
    counts->match += note->outcome == OUTCOME_MATCH;
    counts->mismatch += note->outcome == OUTCOME_MISMATCH;
    counts->refused += note->outcome == OUTCOME_REFUSED;
    counts->unsupported += note->outcome == OUTCOME_UNSUPPORTED || note->outcome == OUTCOME_NONE;
    counts->adopted += note->adopted;
    if (note->outcome == OUTCOME_UNSUPPORTED || note->outcome == OUTCOME_NONE)
        add_unsupported(c, producer(p, step));
    if (has_differed(note))
        collect_difference(c, p, step);
    if (c->digests)
        add_digest(c, p, step->node);
}

void collect_program(struct result_collector *c, const struct program *program)
{
    for (uint32_t i = 0; i < program->n_steps; i++)
        if (node_is_call(&program->graph->nodes[i]))
            collect_call(c, program, &program->steps[i]);
        else if (program->notes[i].outcome == OUTCOME_MISMATCH &&
                 !contradictions_find(&c->result->load->settled, &program->graph->nodes[i]))
            collect_difference(c, program, &program->steps[i]);
    for (uint32_t i = 0; i < program->n_children; i++)
        collect_program(c, program->children[i]);
}

static size_t count_operator_stacks(struct result_collector *c, uint32_t op)
{
    size_t n = 0;
    const struct op_stack_stats *row;
    for (size_t i = 0; (row = ops_stack_stats(c->ops, i)); i++)
        n += row->op == op;
    return n;
}

static void collect_stacks(struct result_collector *c, struct replay_operator *operator_,
                           uint32_t op, const struct graph *const *graphs,
                           const uint32_t *locations, uint32_t n)
{
    size_t n_rows = count_operator_stacks(c, op);
    struct replay_stack *stacks = arena_array(&c->result->arena, struct replay_stack, n_rows + 1);
    const struct op_stack_stats *row;
    c->failed |= !stacks;
    for (size_t i = 0; stacks && (row = ops_stack_stats(c->ops, i)); i++)
        if (row->op == op)
            stacks[operator_->n_stacks++] = (struct replay_stack){
                .location_graph = row->stack && row->stack <= n ? graphs[row->stack - 1] : NULL,
                .location =
                    row->stack && row->stack <= n ? locations[row->stack - 1] : LOCATION_NONE,
                .calls = row->calls,
                .dispatches = row->dispatches,
                .guards = row->guards,
                .exprs = row->exprs,
                .symbolic_tensors = row->symbolic_tensors,
                .ns = row->ns,
            };
    operator_->stacks = stacks;
}

static void add_costs(struct replay_costs *costs, const struct op_stats *stats)
{
    costs->dispatches += stats->dispatches;
    costs->hits += stats->hits;
    costs->misses += stats->misses;
    costs->exprs += stats->exprs;
    costs->evaluations += stats->evaluations;
    costs->symbolic_tensors += stats->symbolic_tensors;
    costs->fast_attempts += stats->fast[OP_COUNTER_ATTEMPT_FAST];
    costs->fast_answers +=
        stats->fast[OP_COUNTER_FAST_CONTIGUOUS] + stats->fast[OP_COUNTER_FAST_CHANNELS_LAST];
}

static bool add_trail(struct result_collector *c, bool replacement)
{
    struct replay_trail row = { c->result->load->attempt, replacement, copy_buffer(c) };
    return !c->failed && vec_push(&c->result->trails, row);
}

void collect_trails(struct result_collector *c, struct shape_env *env)
{
    for (uint32_t i = 0; i < env_n_guards(env) && !c->failed; i++) {
        buf_clear(&c->text);
        sym_print(env_pool(env), env_guard_at(env, i)->expr, &c->text);
        c->failed = !add_trail(c, false);
    }
    for (uint32_t i = 0; i < env_n_replacements(env) && !c->failed; i++) {
        const struct env_replacement *r = env_replacement_at(env, i);
        buf_clear(&c->text);
        sym_print(env_pool(env), r->symbol, &c->text);
        buf_puts(&c->text, " = ");
        sym_print(env_pool(env), r->to, &c->text);
        c->failed = !add_trail(c, true);
    }
}

void collect_operators(struct result_collector *c, const struct graph *const *stack_graph,
                       const uint32_t *stack_location, uint32_t n_stacks)
{
    for (size_t i = 0; i < ops_count(c->ops); i++) {
        const struct op *op = ops_looked_up(c->ops, i);
        const struct op_stats *stats = op ? ops_stats(c->ops, op) : NULL;
        if (!stats || (stats->calls == 0 && stats->dispatches == 0))
            continue;
        struct replay_operator row = {
            .op = copy_to_result(c, op_name(op)),
            .stats = *stats,
            .could_be_fast = c->could_be_fast ? c->could_be_fast[op_index(op)] : 0,
        };
        add_costs(&c->result->costs, stats);
        collect_stacks(c, &row, op_index(op), stack_graph, stack_location, n_stacks);
        c->failed |= !vec_push(&c->result->operators, row);
    }
}
