#include "profile/calls/cudagraphs/memory_plan.h"

#include "profile/calls/cudagraphs/kernel_arguments.h"

/* What the functions of a program share. */
struct program_names {
    struct kernel_arguments kernels;
    struct intern returned; /* variables that partitions return; others take them by these names */
    vec_of(uint32_t)
    slots; /* by returned: in memory_plans.slots */
};

/* One function while it is read. */
struct plan_reader {
    struct memory_plans *plans;
    struct memory_plan *plan;
    struct program_names *program;
    struct intern names;
    vec_of(uint32_t)
    slot_of; /* by name: a slot of the plan, or SLOT_NONE */
    vec_of(uint32_t)
    references; /* by slot */
    vec_of(bool)
    allocated; /* by slot */
};

/* Removes the name at the start of a text; "" if there is none. */
static struct str take_name(struct str *text)
{
    struct str ret = name_at(*text);
    *text = str_from(*text, ret.n);
    return ret;
}

/* Returns the number of a variable; INTERN_NONE when memory ran out. */
static uint32_t variable(struct plan_reader *in, struct str name)
{
    uint32_t id = intern(&in->names, name);
    while (id != INTERN_NONE && in->slot_of.n <= id)
        if (!vec_push(&in->slot_of, SLOT_NONE))
            return INTERN_NONE;
    return id;
}

/* Returns whether what follows is not read; the plan is then not known. */
static bool is_full(struct plan_reader *in)
{
    bool full = in->names.texts.n >= PLAN_VARIABLES;
    in->plan->unknown |= full;
    return full;
}

/* ---- Slots ---- */

static bool add_event(struct plan_reader *in, uint32_t slot, bool frees)
{
    in->allocated.v[slot] = !frees;
    in->plan->n_events++;
    return vec_push(&in->plans->events, (struct plan_event){ slot, frees });
}

static bool drop(struct plan_reader *in, uint32_t slot)
{
    if (slot == SLOT_NONE || !in->references.v[slot] || --in->references.v[slot])
        return true;
    bool frees = in->allocated.v[slot] || in->plans->slots.v[in->plan->first_slot + slot].input;
    return !frees || add_event(in, slot, true);
}

/* Makes a variable name a slot. */
static bool bind(struct plan_reader *in, struct str name, uint32_t slot)
{
    uint32_t id = variable(in, name);
    if (id == INTERN_NONE)
        return false;
    uint32_t before = in->slot_of.v[id];
    in->slot_of.v[id] = slot;
    if (slot != SLOT_NONE)
        in->references.v[slot]++;
    return drop(in, before);
}

static bool new_slot(struct plan_reader *in, struct str name, bool input)
{
    struct plan_slot slot = { .name = arena_copy(&in->plans->arena, name),
                              .input = input,
                              .sizes = EXPR_NONE,
                              .strides = EXPR_NONE };
    uint32_t id = in->plan->n_slots;
    if (!slot.name.p || !vec_push(&in->plans->slots, slot) || !vec_push(&in->references, 0) ||
        !vec_push(&in->allocated, false))
        return false;
    in->plan->n_slots++;
    return bind(in, name, id);
}

static uint32_t slot_of(const struct plan_reader *in, struct str name)
{
    uint32_t id = intern_find(&in->names, name);
    return id == INTERN_NONE ? SLOT_NONE : in->slot_of.v[id];
}

/* ---- Sizes ---- */

/* Removes "(s33, 64)" and what separates it from the next argument. */
static bool take_tuple(struct plan_reader *in, struct str *text, expr_id *ret)
{
    struct err unreadable = { 0 };
    size_t depth = 0, n = 0;
    while (n < text->n) {
        char c = text->p[n++];
        depth += c == '(';
        if (c == ')' && --depth == 0)
            break;
        if (!depth)
            return *ret = EXPR_NONE, true;
    }
    struct str tuple = arena_copy(&in->plans->arena, str_first(*text, n));
    if (!tuple.p)
        return false;
    *ret = expr_parse(&in->plans->exprs, tuple, &unreadable);
    *text = str_from(*text, n);
    while (text->n && (text->p[0] == ',' || text->p[0] == ' '))
        *text = str_from(*text, 1);
    return *ret != EXPR_NONE || unreadable.kind != ERR_ENV;
}

static bool set_sizes(struct plan_reader *in, uint32_t slot, struct str *text)
{
    expr_id sizes, strides;
    if (!take_tuple(in, text, &sizes) || !take_tuple(in, text, &strides))
        return false;
    in->plans->slots.v[in->plan->first_slot + slot].sizes = sizes;
    in->plans->slots.v[in->plan->first_slot + slot].strides = strides;
    return true;
}

/* ---- Statements ---- */

/* Gives the argument that was read last the sizes of what another partition returned. */
static void set_returned_sizes(struct plan_reader *in, struct str name)
{
    uint32_t id = intern_find(&in->program->returned, name);
    if (id == INTERN_NONE)
        return;
    const struct plan_slot from = in->plans->slots.v[in->program->slots.v[id]];
    struct plan_slot *slot = &in->plans->slots.v[in->plans->slots.n - 1];
    slot->sizes = from.sizes;
    slot->strides = from.strides;
    slot->element_bytes = from.element_bytes;
}

/* "a, b = args": the arguments. */
static bool read_arguments(struct plan_reader *in, struct str line)
{
    while (line.n && !is_full(in)) {
        struct str name = take_name(&line);
        if (!name.n)
            return true;
        if (!new_slot(in, name, true))
            return false;
        set_returned_sizes(in, name);
        while (line.n && (line.p[0] == ',' || line.p[0] == ' '))
            line = str_from(line, 1);
    }
    return true;
}

static bool read_del(struct plan_reader *in, struct str names)
{
    while (names.n) {
        struct str name = take_name(&names);
        if (!name.n)
            return true;
        if (intern_find(&in->names, name) != INTERN_NONE && !bind(in, name, SLOT_NONE))
            return false;
        while (names.n && (names.p[0] == ',' || names.p[0] == ' '))
            names = str_from(names, 1);
    }
    return true;
}

/* "buf0 = empty_strided_cuda((s33, 64), (64, 1), torch.float32)" */
static bool read_empty(struct plan_reader *in, struct str name, struct str arguments)
{
    if (!new_slot(in, name, false))
        return false;
    uint32_t slot = in->plan->n_slots - 1;
    if (!set_sizes(in, slot, &arguments))
        return false;
    struct str dtype = str_first(arguments, str_find_char(arguments, ')'));
    unsigned bytes = dtype_size(dtype_by_python_name(str_trim(dtype)));
    in->plans->slots.v[in->plan->first_slot + slot].element_bytes = bytes;
    in->plan->unknown |= !bytes;
    return add_event(in, slot, false);
}

/* Returns the bytes of an element of the first tensor that a text names; 4 if it names none. */
static unsigned element_of(const struct plan_reader *in, struct str text)
{
    while (text.n) {
        struct str name = take_name(&text);
        uint32_t slot = name.n ? slot_of(in, name) : SLOT_NONE;
        unsigned bytes =
            slot == SLOT_NONE ? 0 : in->plans->slots.v[in->plan->first_slot + slot].element_bytes;
        if (bytes)
            return bytes;
        if (!name.n)
            text = str_from(text, 1);
    }
    return 4;
}

/* A result that a library allocates; assert_size_stride() says how large it is. */
static bool read_result(struct plan_reader *in, struct str name, struct str call)
{
    unsigned bytes = element_of(in, call);
    if (!new_slot(in, name, false))
        return false;
    in->plans->slots.v[in->plans->slots.n - 1].element_bytes = bytes;
    return true;
}

/* "(buf5, (s33, 8), (8, 1), ...)" */
static bool read_assert(struct plan_reader *in, struct str arguments)
{
    struct str name = take_name(&arguments);
    uint32_t slot = slot_of(in, name);
    if (slot == SLOT_NONE || in->plans->slots.v[in->plan->first_slot + slot].sizes != EXPR_NONE)
        return true;
    while (arguments.n && (arguments.p[0] == ',' || arguments.p[0] == ' '))
        arguments = str_from(arguments, 1);
    if (!set_sizes(in, slot, &arguments))
        return false;
    return in->plans->slots.v[in->plan->first_slot + slot].input || in->allocated.v[slot] ||
           add_event(in, slot, false);
}

static bool read_assignment(struct plan_reader *in, struct str name, struct str value)
{
    static const struct str EMPTY = { "empty_strided_cuda(", 19 };
    static const struct str VIEW = { "reinterpret_tensor(", 19 };
    struct str rest = value, other;
    if (str_starts(value, EMPTY))
        return read_empty(in, name, str_from(value, EMPTY.n));
    rest = str_starts(value, VIEW) ? str_from(value, VIEW.n) : value;
    other = take_name(&rest);
    bool same = str_starts(value, VIEW) || !rest.n || rest.p[0] == ';';
    if (same && slot_of(in, other) != SLOT_NONE)
        return bind(in, name, slot_of(in, other));
    bool result = str_starts(value, STR("extern_kernels.")) ||
                  str_starts(value, STR("torch.ops.")) ||
                  (rest.n && rest.p[0] == '[' && str_starts(name, STR("buf")));
    return !result || read_result(in, name, value);
}

/* Returns the length of the first of several arguments: parentheses can hold more commas. */
static size_t first_argument(struct str values)
{
    size_t depth = 0, n = 0;
    while (n < values.n && (depth || (values.p[n] != ',' && values.p[n] != ')'))) {
        depth += values.p[n] == '(';
        depth -= values.p[n] == ')' && depth;
        n++;
    }
    return n;
}

static bool add_returned(struct plan_reader *in, struct str value, uint32_t slot)
{
    struct str name = take_name(&value);
    if (slot == SLOT_NONE || value.n || is_full(in))
        return true;
    uint32_t id = intern(&in->program->returned, name);
    if (id == INTERN_NONE || (id == in->program->slots.n && !vec_push(&in->program->slots, 0)))
        return false;
    in->program->slots.v[id] = in->plan->first_slot + slot;
    return true;
}

/* Returns the slot of "buf7" or "reinterpret_tensor(buf7, (4, ), (1, ), 0)". */
static uint32_t slot_of_argument(const struct plan_reader *in, struct str value)
{
    static const struct str VIEW = { "reinterpret_tensor(", 19 };
    value = str_trim(value);
    value = str_starts(value, VIEW) ? str_from(value, VIEW.n) : value;
    return slot_of(in, take_name(&value));
}

static bool read_return(struct plan_reader *in, struct str values)
{
    in->plan->first_output = (uint32_t)in->plans->outputs.n;
    values = str_trim(values);
    if (str_starts(values, STR("(")))
        values = str_from(values, 1);
    while (values.n) {
        size_t n = first_argument(values);
        struct str one = str_trim(str_first(values, n));
        uint32_t slot = slot_of_argument(in, one);
        if (name_at(one).n &&
            (!vec_push(&in->plans->outputs, slot) || !add_returned(in, one, slot)))
            return false;
        values = str_from(values, n + 1);
    }
    in->plan->n_outputs = (uint32_t)in->plans->outputs.n - in->plan->first_output;
    return true;
}

static bool add_written(struct plan_reader *in, const struct written_arguments *row,
                        uint32_t position, struct str value, struct plan_launch *launch)
{
    for (uint32_t i = 0; i < row->n; i++) {
        const struct written_argument *written = &in->program->kernels.written.v[row->first + i];
        if (written->position != position)
            continue;
        struct plan_written ret = { slot_of_argument(in, value), written->element_bytes };
        if (ret.slot == SLOT_NONE)
            return true;
        launch->n_written++;
        return vec_push(&in->plans->written, ret);
    }
    return true;
}

/* "triton_poi_fused_0.run(buf5, s33, stream=stream0)" */
static bool read_launch(struct plan_reader *in, struct str kernel, struct str values)
{
    struct plan_launch launch = { .kernel = arena_copy(&in->plans->arena, kernel),
                                  .event = in->plan->n_events,
                                  .first_written = (uint32_t)in->plans->written.n };
    struct written_arguments row = kernel_arguments_find(&in->program->kernels, kernel);
    launch.always = row.always;
    if (!launch.kernel.p)
        return false;
    for (uint32_t i = 0; row.n && values.n; i++) {
        size_t n = first_argument(values);
        if (!add_written(in, &row, i, str_first(values, n), &launch))
            return false;
        values = str_from(values, n + 1);
    }
    in->plan->n_launches++;
    return vec_push(&in->plans->launches, launch);
}

/* Reads the part of a line before or behind ";". */
static bool read_statement(struct plan_reader *in, struct str line)
{
    static const struct str ARGS = { " = args", 7 }, ASSERT = { "assert_size_stride(", 19 };
    static const struct str RUN = { ".run(", 5 };
    line = str_trim(line);
    if (is_full(in))
        return true;
    if (str_ends(line, ARGS))
        return read_arguments(in, str_first(line, line.n - ARGS.n));
    if (str_starts(line, STR("del ")))
        return read_del(in, str_from(line, 4));
    if (str_starts(line, ASSERT))
        return read_assert(in, str_from(line, ASSERT.n));
    if (str_starts(line, STR("extern_kernels.")) && in->plan->matmul == SLOT_NONE)
        in->plan->matmul = in->plan->n_events;
    struct str rest = line, name = take_name(&rest);
    if (name.n && str_starts(rest, RUN))
        return read_launch(in, name, str_from(rest, RUN.n));
    return !name.n || !str_starts(rest, STR(" = ")) || read_assignment(in, name, str_from(rest, 3));
}

static struct str take_line(struct str *text)
{
    size_t n = str_find_char(*text, '\n');
    struct str ret = str_first(*text, n);
    *text = str_from(*text, n + 1);
    return ret;
}

static size_t indent_of(struct str line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

/* Reads the body of a function, whose lines are indented more than `indent`. */
static bool read_body(struct plan_reader *in, struct str *text, size_t indent)
{
    while (text->n) {
        struct str before = *text, line = take_line(text);
        if (!str_trim(line).n)
            continue;
        if (indent_of(line) <= indent)
            return *text = before, true;
        line = str_trim(line);
        if (str_starts(line, STR("return ")))
            return read_return(in, str_from(line, 7));
        size_t end = str_find_char(line, ';');
        if (!read_statement(in, str_first(line, end)) ||
            (end < line.n && !read_statement(in, str_from(line, end + 1))))
            return false;
    }
    return true;
}

static bool read_function(struct memory_plans *plans, struct program_names *program,
                          struct str *text, size_t indent)
{
    struct memory_plan plan = { .first_slot = (uint32_t)plans->slots.n,
                                .first_event = (uint32_t)plans->events.n,
                                .first_launch = (uint32_t)plans->launches.n,
                                .matmul = SLOT_NONE };
    struct plan_reader in = { .plans = plans, .plan = &plan, .program = program };
    bool ok = read_body(&in, text, indent);
    intern_release(&in.names);
    vec_release(&in.slot_of);
    vec_release(&in.references);
    vec_release(&in.allocated);
    return ok && vec_push(&plans->plans, plan);
}

static bool read_functions(struct memory_plans *plans, struct program_names *program,
                           struct str text, struct str starts)
{
    while (text.n) {
        struct str line = take_line(&text);
        if (str_starts(str_trim(line), starts) &&
            !read_function(plans, program, &text, indent_of(line)))
            return false;
    }
    return true;
}

bool memory_plans_read(struct memory_plans *plans, struct str program)
{
    bool partitions = str_contains(program, STR("\ndef partition_0("));
    struct program_names names = { 0 };
    bool ok = kernel_arguments_read(&names.kernels, program) &&
              read_functions(plans, &names, program,
                             partitions ? STR("def partition_") : STR("def call("));
    kernel_arguments_release(&names.kernels);
    intern_release(&names.returned);
    vec_release(&names.slots);
    return ok;
}

void memory_plans_release(struct memory_plans *plans)
{
    arena_release(&plans->arena);
    expr_pool_release(&plans->exprs);
    vec_release(&plans->slots);
    vec_release(&plans->events);
    vec_release(&plans->launches);
    vec_release(&plans->written);
    vec_release(&plans->outputs);
    vec_release(&plans->plans);
}
