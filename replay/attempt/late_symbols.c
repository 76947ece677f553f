#include "replay/attempt/late_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "replay/attempt/value_set.h"

/* A number that is an input of the graph. */
struct number_input {
    node_id node;
    uint32_t group;                       /* the number of what the graph prints for it */
    const struct recorded_symbol *symbol; /* NULL: none was recorded */
};

struct number_group {
    uint32_t n;
    node_id first; /* the input whose symbol was created first; NODE_NONE: none was */
    const struct recorded_symbol *symbol;
};

/* A guard at a line of calls, whose symbols are in `names`. */
struct line_guard {
    uint32_t line, first, n;
};

/* A symbol of a guard. */
struct line_symbol {
    uint32_t line; /* of calls */
    struct str name;
};

/* Calls before `after` ran before the symbols of a record were created, and of those after it. */
struct earlier_run {
    uint32_t record, after;
};

struct late_symbols {
    const struct attempt_load *load;
    struct program *program;
    struct value_set printed;
    vec_of(struct number_group)
    groups; /* by the number of what is printed */
    vec_of(struct number_input)
    inputs;
    struct intern names; /* of the inputs */
    node_id *input;      /* by node: the input that it is another name of, or the node itself */
    uint32_t *described; /* by node: the record in which an input tensor is described; 0: none is */
    /* By step: the last record that describes a tensor of a module which the call takes as the
     * first one; 0: it takes none so. */
    uint32_t *fresh;
    vec_of(struct earlier_run)
    runs;                /* in the order of records */
    struct intern lines; /* of calls */
    vec_of(uint32_t)
    first_call; /* by line */
    vec_of(struct line_symbol)
    guard_symbols;
    vec_of(struct line_guard)
    guards; /* in the order in which they were recorded */
    vec_of(struct str)
    guard_names;         /* their symbols */
    uint32_t guard_line; /* of the guard whose symbols are noted */
    uint64_t looks;      /* at arguments of calls that follow others (others_take()) */
    bool failed;         /* out of memory */
    struct buf text;
    struct arena arena;
};

static bool add_input(struct late_symbols *l, const struct step *step)
{
    struct str name = l->program->graph->nodes[step->node].name;
    uint32_t group = value_set_add(&l->printed, step->expected->number);
    uint32_t id = intern(&l->names, name);
    if (group == UINT32_MAX || id == INTERN_NONE ||
        (group == l->groups.n &&
         !vec_push(&l->groups, (struct number_group){ .first = NODE_NONE })))
        return false;
    if (id != l->inputs.n) /* another one has the name */
        return true;
    l->groups.v[group].n++;
    return vec_push(&l->inputs, (struct number_input){ step->node, group, NULL });
}

/* False: out of memory. *several is set if the graph prints two inputs alike. */
static bool read_inputs(struct late_symbols *l, bool *several)
{
    const struct program *p = l->program;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        if (step->kind == STEP_INPUT && step->expected->kind == EXPECT_NUMBER &&
            !step->expected->unreadable && !add_input(l, step))
            return false;
    }
    for (size_t i = 0; i < l->groups.n; i++)
        *several |= l->groups.v[i].n > 1;
    return true;
}

static void note_symbol(struct late_symbols *l, struct str name,
                        const struct recorded_symbol *symbol)
{
    uint32_t id = intern_find(&l->names, name);
    if (symbol->name.n == 0 || id == INTERN_NONE || l->inputs.v[id].symbol)
        return;
    struct number_input *input = &l->inputs.v[id];
    struct number_group *group = &l->groups.v[input->group];
    input->symbol = symbol;
    if (group->first == NODE_NONE || symbol->record < group->symbol->record) {
        group->first = input->node;
        group->symbol = symbol;
    }
}

static bool read_symbols(struct late_symbols *l)
{
    const struct inputs *inputs = &l->load->inputs;
    for (size_t i = 0; i < inputs->list.n; i++) {
        const struct input *input = &inputs->list.v[i];
        if (input->kind == INPUT_SYMBOL) {
            struct str name = inputs_placeholder_name(input->symbol.source, &l->arena);
            if (!name.p)
                return false;
            note_symbol(l, name, &input->symbol);
            note_symbol(l, input->symbol.name, &input->symbol);
            continue;
        }
        const struct input_tensor *t = &input->tensor;
        for (uint32_t d = 0; d < t->ndim && t->concrete; d++) {
            note_symbol(l, t->size_symbol[d].name, &t->size_symbol[d]);
            note_symbol(l, t->stride_symbol[d].name, &t->stride_symbol[d]);
        }
        if (t->concrete)
            note_symbol(l, t->offset_symbol->name, t->offset_symbol);
    }
    return true;
}

static struct str line_text(struct late_symbols *l, struct str file, uint32_t line)
{
    buf_clear(&l->text);
    buf_printf(&l->text, "%u\n%.*s", line, STR_ARG(file));
    return buf_str(&l->text);
}

static bool read_lines(struct late_symbols *l)
{
    const struct program *p = l->program;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        uint32_t at = p->graph->nodes[p->steps[i].node].location;
        if (!step_is_call(&p->steps[i]) || at == LOCATION_NONE)
            continue;
        const struct location *location = &p->graph->locations[at];
        uint32_t id = intern(&l->lines, line_text(l, location->file, location->line));
        if (id == INTERN_NONE || l->text.failed ||
            (id == l->first_call.n && !vec_push(&l->first_call, i)))
            return false;
    }
    return true;
}

static uint32_t line_of(struct late_symbols *l, struct str file, uint32_t line)
{
    uint32_t id = intern_find(&l->lines, line_text(l, file, line));
    return l->text.failed ? INTERN_NONE : id;
}

/* Returns the line of a call at which a guard was recorded; INTERN_NONE: there is none. */
static uint32_t guard_line(struct late_symbols *l, const struct guard *guard)
{
    const struct trace *trace = l->load->trace;
    if (guard->attempt != l->load->attempt || guard->kind == GUARD_SUPPRESSED || !guard->user_stack)
        return INTERN_NONE;
    struct frame frame =
        stack_frame(trace, trace->attempts[guard->attempt].recording, guard->user_stack);
    return line_of(l, frame.file, frame.line);
}

/* Returns the first call at the line where the symbol was created; 0: there is none. */
static uint32_t call_of_creation(struct late_symbols *l, const struct recorded_symbol *symbol)
{
    const struct trace *trace = l->load->trace;
    if (!symbol || !symbol->user_stack)
        return 0;
    struct frame frame =
        stack_frame(trace, trace->attempts[l->load->attempt].recording, symbol->user_stack);
    uint32_t id = line_of(l, frame.file, frame.line);
    return id == INTERN_NONE ? 0 : l->first_call.v[id];
}

/* Notes that the calls before `after` ran before the symbols of records from this one on were
 * created. */
static bool note_runs(struct late_symbols *l, uint32_t record, uint32_t after)
{
    return vec_push(&l->runs, (struct earlier_run){ record, after });
}

/* A guard is recorded while the call at its line runs, whose arguments were evaluated by then: that
 * call is one of the earlier ones. */
static bool read_guard_runs(struct late_symbols *l)
{
    const struct guard_list *guards = l->load->guards;
    for (uint32_t i = 0; guards && i < guards->n; i++) {
        uint32_t line = guard_line(l, &guards->guards[i]);
        if (line != INTERN_NONE &&
            !note_runs(l, guards->guards[i].record + 1, l->first_call.v[line] + 1))
            return false;
    }
    return true;
}

/* Returns the record of the tensor that a step takes and that was described last; 0: it takes none.
 */
static uint32_t last_described(const struct late_symbols *l, const struct step *step)
{
    uint32_t ret = 0;
    for (uint32_t k = 0; k < step->n_patches; k++) {
        node_id from = l->program->patches[step->first_patch + k].from;
        uint32_t record = from < step->node ? l->described[l->input[from]] : 0;
        ret = record > ret ? record : ret;
    }
    return ret;
}

/* Tensors of modules are described when the program first reads them (LazyVariableTracker.realize()
 * of torch/_dynamo/variables/lazy.py), which is mostly for the call that takes them first: the
 * calls before it ran by then. That call itself is none of them. The attribute is loaded
 * (_load_attr of torch/_dynamo/symbolic_convert.py) before the arguments of a method are evaluated,
 * which may create symbols. And a program may read an attribute of the tensor long before, its
 * dtype say: if tensors that are described later were taken until this call, it did, and calls
 * before this one may have run after the description. */
static bool read_tensor_runs(struct late_symbols *l)
{
    const struct program *p = l->program;
    uint32_t record = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        uint32_t described = step_is_call(&p->steps[i]) ? last_described(l, &p->steps[i]) : 0;
        record = described > record ? described : record;
        if (l->fresh[i] && l->fresh[i] == record && !note_runs(l, record, i))
            return false;
    }
    return true;
}

static int compare_runs(const void *a, const void *b)
{
    const struct earlier_run *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

/* Reads which calls ran when, as far as guards and tensors tell. */
static bool read_runs(struct late_symbols *l)
{
    if (!read_guard_runs(l) || !read_tensor_runs(l))
        return false;
    if (l->runs.n)
        qsort(l->runs.v, l->runs.n, sizeof *l->runs.v, compare_runs);
    for (size_t i = 1; i < l->runs.n; i++)
        if (l->runs.v[i].after < l->runs.v[i - 1].after)
            l->runs.v[i].after = l->runs.v[i - 1].after;
    return true;
}

/* Returns the call after the last one that ran before the symbol was created; 0: none is known. */
static uint32_t call_after_runs(const struct late_symbols *l, const struct recorded_symbol *symbol)
{
    size_t low = 0, high = symbol ? l->runs.n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->runs.v[middle].record <= symbol->record)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? l->runs.v[low - 1].after : 0;
}

/* Returns a call before which the symbol was not created yet; 0: none is known. */
static uint32_t created_before(struct late_symbols *l, const struct recorded_symbol *symbol)
{
    uint32_t line = call_of_creation(l, symbol), run = call_after_runs(l, symbol);
    return line > run ? line : run;
}

static void note_guard_symbol(void *user, struct str name)
{
    struct late_symbols *l = user;
    l->failed |= !vec_push(&l->guard_symbols, (struct line_symbol){ l->guard_line, name }) ||
                 !vec_push(&l->guard_names, name);
}

static int compare_line_symbols(const void *a, const void *b)
{
    const struct line_symbol *x = a, *y = b;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : str_cmp(x->name, y->name);
}

/* Lists the symbols of the guards of each line, sorted and without repetitions. n_guards: by line.
 */
static bool list_guard_symbols(struct late_symbols *l, uint32_t *n_guards)
{
    const struct guard_list *guards = l->load->guards;
    for (uint32_t i = 0; guards && i < guards->n && !l->failed; i++) {
        l->guard_line = guard_line(l, &guards->guards[i]);
        if (l->guard_line == INTERN_NONE)
            continue;
        n_guards[l->guard_line]++;
        uint32_t first = (uint32_t)l->guard_names.n;
        guard_symbols(guards->guards[i].expr, note_guard_symbol, l);
        struct line_guard guard = { l->guard_line, first, (uint32_t)l->guard_names.n - first };
        l->failed |= !vec_push(&l->guards, guard);
    }
    if (l->failed)
        return false;
    if (l->guard_symbols.n)
        qsort(l->guard_symbols.v, l->guard_symbols.n, sizeof *l->guard_symbols.v,
              compare_line_symbols);
    size_t n = 0;
    for (size_t i = 0; i < l->guard_symbols.n; i++)
        if (!n || compare_line_symbols(&l->guard_symbols.v[n - 1], &l->guard_symbols.v[i]) != 0)
            l->guard_symbols.v[n++] = l->guard_symbols.v[i];
    l->guard_symbols.n = n;
    return true;
}

/* Returns the line of a step's node, or INTERN_NONE. */
static uint32_t line_of_step(struct late_symbols *l, const struct step *step)
{
    const struct graph *graph = l->program->graph;
    uint32_t at = graph->nodes[step->node].location;
    return at == LOCATION_NONE ? INTERN_NONE
                               : line_of(l, graph->locations[at].file, graph->locations[at].line);
}

/* Returns the symbols of each guard, by line and then in the order of the record; *first is set to
 * the first guard of each line. NULL: out of memory. */
static const struct guard_symbols *sort_guards(struct late_symbols *l, const uint32_t *n_guards,
                                               uint32_t *first)
{
    struct arena *arena = &l->program->root->arena;
    const size_t n_lines = l->first_call.n;
    struct guard_symbols *ret = arena_array(arena, struct guard_symbols, l->guards.n + 1);
    struct str *names = arena_array(arena, struct str, l->guard_names.n + 1);
    uint32_t *next = arena_array(&l->arena, uint32_t, n_lines + 1);
    if (!ret || !names || !next)
        return NULL;
    if (l->guard_names.n)
        memcpy(names, l->guard_names.v, l->guard_names.n * sizeof *names);
    for (size_t line = 0, at = 0; line < n_lines; at += n_guards[line++])
        next[line] = first[line] = (uint32_t)at;
    for (size_t i = 0; i < l->guards.n; i++) {
        const struct line_guard *guard = &l->guards.v[i];
        ret[next[guard->line]++] = (struct guard_symbols){ guard->n, names + guard->first };
    }
    return ret;
}

/* Gives each call the symbols of the guards of its line. */
static bool read_guards(struct late_symbols *l)
{
    struct program *p = l->program;
    struct arena *arena = &p->root->arena;
    size_t n_lines = l->first_call.n, n_steps = (size_t)p->n_steps + 1;
    uint32_t *n_guards = arena_array(&l->arena, uint32_t, n_lines + 1);    /* by line */
    uint32_t *first = arena_array(&l->arena, uint32_t, n_lines + 2);       /* by line */
    uint32_t *first_guard = arena_array(&l->arena, uint32_t, n_lines + 1); /* by line */
    struct call_guards *ret = arena_array(arena, struct call_guards, n_steps);
    if (!n_guards || !first || !first_guard || !ret || !list_guard_symbols(l, n_guards))
        return false;
    const struct guard_symbols *guards = sort_guards(l, n_guards, first_guard);
    struct str *symbols = arena_array(arena, struct str, l->guard_symbols.n + 1);
    if (!guards || !symbols)
        return false;
    for (size_t i = 0, line = 0; line <= n_lines; line++) {
        first[line] = (uint32_t)i;
        for (; i < l->guard_symbols.n && l->guard_symbols.v[i].line == line; i++)
            symbols[i] = l->guard_symbols.v[i].name;
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        uint32_t line = line_of_step(l, &p->steps[i]);
        if (line != INTERN_NONE)
            ret[i] = (struct call_guards){ n_guards[line], &guards[first_guard[line]],
                                           first[line + 1] - first[line], &symbols[first[line]] };
    }
    p->renamed = ret;
    return !l->text.failed;
}

/* For an input, by its node: the one that calls before a step name instead. */
struct earlier_input {
    const struct number_input *number; /* NULL: none */
    uint32_t until;
};

/* Returns whether a call takes the tensor of which the symbol was a size. input: by node, the input
 * that it names. */
static bool takes_tensor_of(struct late_symbols *l, const struct step *step, const node_id *input,
                            const struct recorded_symbol *symbol)
{
    const struct program *p = l->program;
    struct str tensor = str_first(symbol->source, str_find(symbol->source, STR(".size()[")));
    struct str name = inputs_placeholder_name(tensor, &l->arena);
    bool ret = false;
    for (uint32_t k = 0; k < step->n_patches && name.p && tensor.n < symbol->source.n && !ret;
         k++) {
        node_id from = p->patches[step->first_patch + k].from;
        ret = from < step->node && str_eq(p->graph->nodes[input[from]].name, name);
    }
    return ret;
}

/* The first call at the line where the input's symbol was created may have read that from its own
 * tensor, and have named the other input. */
static bool may_name_earlier(struct late_symbols *l, const struct step *step, const node_id *input,
                             const struct earlier_input *earlier)
{
    const struct recorded_symbol *symbol = earlier->number->symbol;
    return symbol && takes_tensor_of(l, step, input, symbol) &&
           !takes_tensor_of(l, step, input, l->groups.v[earlier->number->group].symbol);
}

/* Returns the input that is the tensor of which the symbol was a size, or NODE_NONE. */
static node_id tensor_of(struct late_symbols *l, const struct recorded_symbol *symbol)
{
    const struct program *p = l->program;
    size_t n = symbol ? str_find(symbol->source, STR(".size()[")) : 0;
    if (!symbol || n >= symbol->source.n)
        return NODE_NONE;
    struct str name = inputs_placeholder_name(str_first(symbol->source, n), &l->arena);
    for (uint32_t i = 0; name.p && i < p->n_steps; i++)
        if (p->steps[i].kind == STEP_INPUT && str_eq(p->graph->nodes[p->steps[i].node].name, name))
            return p->steps[i].node;
    return NODE_NONE;
}

static bool takes_node(const struct program *p, const struct step *step, const node_id *input,
                       node_id node)
{
    for (uint32_t k = 0; k < step->n_patches; k++) {
        node_id from = p->patches[step->first_patch + k].from;
        if (from < step->node && input[from] == node)
            return true;
    }
    return false;
}

static bool is_printed_alike(const struct program *p, node_id a, node_id b)
{
    return a != b && p->steps[a].kind == STEP_INPUT &&
           p->steps[a].expected->kind == EXPECT_NUMBER &&
           p->steps[a].expected->number == p->steps[b].expected->number;
}

static bool takes_alike(const struct program *p, const struct step *step, const node_id *input,
                        node_id number)
{
    bool ret = false;
    for (uint32_t k = 0; k < step->n_patches && !ret; k++) {
        node_id from = p->patches[step->first_patch + k].from;
        ret = from < step->node &&
              (input[from] == number || is_printed_alike(p, input[from], number));
    }
    return ret;
}

/* Returns whether one of the next calls at a call's line takes an input that is printed alike, too:
 * then that one may have asked for the guards of the line. A graph that was made to take long is
 * looked at in part. */
static bool others_take(struct late_symbols *l, uint32_t at, const node_id *input, node_id number)
{
    enum { NEXT_STEPS = 64, MOST_LOOKS = 1 << 24 };
    const struct program *p = l->program;
    bool ret = false;
    for (uint32_t i = at + 1;
         i < p->n_steps && i <= at + NEXT_STEPS && !ret && l->looks < MOST_LOOKS; i++) {
        l->looks += 1 + p->steps[i].n_patches;
        ret = step_is_call(&p->steps[i]) && p->renamed[i].n &&
              p->renamed[i].guards == p->renamed[at].guards &&
              takes_alike(p, &p->steps[i], input, number);
    }
    return ret;
}

/* Returns the next argument of a call that is an input printed like a number, from patch k on, for
 * which no other input is noted; n_patches: there is none. */
static uint32_t next_alike(const struct program *p, const struct step *step, const node_id *input,
                           node_id number, uint32_t k)
{
    for (; k < step->n_patches; k++) {
        const struct patch *patch = &p->patches[step->first_patch + k];
        if (patch->other == NODE_NONE && patch->from < step->node &&
            is_printed_alike(p, input[patch->from], number))
            return k;
    }
    return k;
}

/* Notes for the calls that do not take an input's tensor that they may have taken the input in
 * place of another one of its group, if guards were recorded at their lines: before the first use
 * of the tensor only a call of a line that no other one follows soon. */
static void note_other(struct late_symbols *l, const struct number_input *number,
                       const node_id *input)
{
    struct program *p = l->program;
    const node_id tensor = tensor_of(l, number->symbol);
    bool used = tensor == NODE_NONE;
    for (uint32_t i = 0; number->symbol && i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        bool takes =
            step_is_call(step) && tensor != NODE_NONE && takes_node(p, step, input, tensor);
        used |= takes;
        if (takes || !step_is_call(step) || !p->renamed[step->node].n)
            continue;
        uint32_t k = next_alike(p, step, input, number->node, 0);
        if (k == step->n_patches || (!used && others_take(l, i, input, number->node)))
            continue;
        for (; k < step->n_patches; k = next_alike(p, step, input, number->node, k))
            p->patches[step->first_patch + k].other = number->node;
    }
}

/* Returns whether the guards of a call's line have one symbol and not the other. */
static bool has_only(const struct program *p, const struct step *step, struct str one,
                     struct str other)
{
    const struct call_guards *line = &p->renamed[step->node];
    bool ret = false, has_other = false;
    for (uint32_t i = 0; i < line->n_symbols; i++) {
        ret |= str_eq(line->symbols[i], one);
        has_other |= str_eq(line->symbols[i], other);
    }
    return ret && !has_other;
}

/* Returns the input of a group whose tensor a call used first, or NULL. used: by input, the first
 * call that takes its tensor; UINT32_MAX: none does. */
static const struct number_input *first_used(const struct late_symbols *l, const uint32_t *used,
                                             uint32_t group)
{
    const struct number_input *ret = NULL;
    for (size_t i = 0; i < l->inputs.n; i++)
        if (l->inputs.v[i].group == group && used[i] != UINT32_MAX &&
            (!ret || used[i] < used[ret - l->inputs.v]))
            ret = &l->inputs.v[i];
    return ret;
}

/* Makes the calls before the first use of an input's tensor take the input of its group whose
 * tensor was used already: the program had the size of that. */
static void take_used(struct late_symbols *l, const struct number_input *number,
                      const node_id *input, const uint32_t *used)
{
    struct program *p = l->program;
    const struct number_input *other = first_used(l, used, number->group);
    const uint32_t end = used[number - l->inputs.v];
    if (!other || other == number || end == UINT32_MAX)
        return;
    for (uint32_t i = used[other - l->inputs.v]; i < end; i++) {
        const struct step *step = &p->steps[i];
        if (!step_is_call(step) || has_only(p, step, number->symbol->name, other->symbol->name))
            continue;
        for (uint32_t k = 0; k < step->n_patches; k++) {
            struct patch *patch = &p->patches[step->first_patch + k];
            if (patch->from < i && input[patch->from] == number->node)
                patch->from = other->node;
        }
    }
}

/* False: out of memory. */
static bool take_used_inputs(struct late_symbols *l, const node_id *input)
{
    struct program *p = l->program;
    uint32_t *used = arena_array(&l->arena, uint32_t, l->inputs.n + 1); /* by input */
    for (size_t n = 0; used && n < l->inputs.n; n++) {
        const node_id tensor = l->groups.v[l->inputs.v[n].group].n >= 2
                                   ? tensor_of(l, l->inputs.v[n].symbol)
                                   : NODE_NONE;
        used[n] = UINT32_MAX;
        for (uint32_t i = 0; tensor != NODE_NONE && i < p->n_steps && used[n] == UINT32_MAX; i++)
            if (step_is_call(&p->steps[i]) && takes_node(p, &p->steps[i], input, tensor))
                used[n] = i;
    }
    for (size_t n = 0; used && n < l->inputs.n; n++)
        take_used(l, &l->inputs.v[n], input, used);
    return used;
}

/* Notes which inputs the nodes are. */
static bool read_aliases(struct late_symbols *l)
{
    const struct program *p = l->program;
    node_id *input = l->input = arena_array(&l->arena, node_id, (size_t)p->n_steps + 1);
    for (uint32_t i = 0; input && i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        input[i] = i;
        for (uint32_t k = 0; step->kind == STEP_ALIAS && k < step->n_patches; k++) {
            node_id from = p->patches[step->first_patch + k].from;
            input[i] = from < i ? input[from] : i;
        }
    }
    return input;
}

/* Notes the records of the tensors among the inputs. of_module: by node, as l->described. */
static bool read_descriptions(struct late_symbols *l, bool *of_module)
{
    const struct program *p = l->program;
    struct intern names = { 0 };
    vec_of(node_id)
    nodes = { 0 }; /* by name */
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->n_steps; i++) {
        if (p->steps[i].kind != STEP_INPUT)
            continue;
        uint32_t id = intern(&names, p->graph->nodes[p->steps[i].node].name);
        ok = id != INTERN_NONE && (id < nodes.n || vec_push(&nodes, p->steps[i].node));
    }
    const struct inputs *inputs = &l->load->inputs;
    for (size_t i = 0; ok && i < inputs->list.n; i++) {
        const struct input *given = &inputs->list.v[i];
        if (given->kind != INPUT_TENSOR)
            continue;
        struct str name = inputs_placeholder_name(given->tensor.source, &l->arena);
        uint32_t id = name.p ? intern_find(&names, name) : INTERN_NONE;
        ok = name.p;
        if (id == INTERN_NONE)
            continue;
        l->described[nodes.v[id]] = given->tensor.record;
        of_module[nodes.v[id]] = given->tensor.of_module;
    }
    intern_release(&names);
    vec_release(&nodes);
    return ok;
}

/* Finds the calls that take a tensor of a module as the first one. */
static bool read_tensors(struct late_symbols *l)
{
    const struct program *p = l->program;
    const size_t n = (size_t)p->n_steps + 1;
    bool *untaken = arena_array(&l->arena, bool, n); /* by node: of a module, and no call took it */
    l->described = arena_array(&l->arena, uint32_t, n);
    l->fresh = arena_array(&l->arena, uint32_t, n);
    if (!untaken || !l->described || !l->fresh || !read_descriptions(l, untaken))
        return false;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        for (uint32_t k = 0; step_is_call(step) && k < step->n_patches; k++) {
            node_id from = p->patches[step->first_patch + k].from;
            node_id input = from < i ? l->input[from] : from;
            if (from >= i || !untaken[input])
                continue;
            untaken[input] = false;
            if (l->described[input] > l->fresh[i])
                l->fresh[i] = l->described[input];
        }
    }
    return true;
}

static bool redirect(struct late_symbols *l)
{
    struct program *p = l->program;
    struct earlier_input *earlier =
        arena_array(&l->arena, struct earlier_input, (size_t)p->n_steps + 1);
    if (!earlier || !read_aliases(l) || !read_tensors(l) || !read_runs(l))
        return false;
    const node_id *input = l->input;
    for (uint32_t i = 0; i < p->n_steps; i++)
        earlier[i] = (struct earlier_input){ .number = NULL };
    for (size_t i = 0; i < l->inputs.n; i++) {
        const struct number_input *number = &l->inputs.v[i];
        const struct number_group *group = &l->groups.v[number->group];
        if (group->n >= 2 && group->first != NODE_NONE && group->first != number->node)
            earlier[number->node] =
                (struct earlier_input){ number, created_before(l, number->symbol) };
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        for (uint32_t k = 0; k < step->n_patches; k++) {
            struct patch *patch = &p->patches[step->first_patch + k];
            node_id from = patch->from < i ? input[patch->from] : i;
            if (!step_is_call(step) || !earlier[from].number || i > earlier[from].until)
                continue;
            node_id first = l->groups.v[earlier[from].number->group].first;
            if (i < earlier[from].until)
                patch->from = first;
            else if (i && may_name_earlier(l, step, input, &earlier[from]))
                patch->earlier = first;
        }
    }
    if (!take_used_inputs(l, input))
        return false;
    for (size_t i = 0; i < l->inputs.n; i++)
        if (l->groups.v[l->inputs.v[i].group].n >= 2)
            note_other(l, &l->inputs.v[i], input);
    return !l->text.failed;
}

bool late_symbols_redirect(const struct attempt_load *load, struct program *program)
{
    struct late_symbols l = { .load = load, .program = program };
    bool several = false;
    if (load->attempt == TRACE_NONE)
        return true;
    bool ok = read_inputs(&l, &several) && (!l.inputs.n || (read_lines(&l) && read_guards(&l)));
    if (ok && several)
        ok = read_symbols(&l) && redirect(&l);
    value_set_release(&l.printed);
    vec_release(&l.groups);
    vec_release(&l.inputs);
    intern_release(&l.names);
    intern_release(&l.lines);
    vec_release(&l.runs);
    vec_release(&l.first_call);
    vec_release(&l.guard_symbols);
    vec_release(&l.guards);
    vec_release(&l.guard_names);
    buf_release(&l.text);
    arena_release(&l.arena);
    return ok;
}
