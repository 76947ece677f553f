#include "profile/model/cost_model/cost_inside.h"

#include "profile/model/build.h"
#include "trace/base/number.h"
#include "trace/events/deep/env_calls.h"

enum inside_kind {
#define INSIDE_COST(id, name, cost)   INSIDE_##id,
#define INSIDE_EXPR(id, name, most)   INSIDE_##id,
#define INSIDE_CALL(id, name, method) INSIDE_##id,
#include "profile/model/cost_model/cost_inside.def"
#undef INSIDE_COST
#undef INSIDE_EXPR
#undef INSIDE_CALL
    INSIDE_KINDS
};

static const struct inside_row {
    const char *name;
    const char *cost, *method; /* NULL: does not count */
    uint32_t most_characters;
} INSIDE[INSIDE_KINDS] = {
#define INSIDE_COST(id, name, cost)   { name, cost, NULL, 0 },
#define INSIDE_EXPR(id, name, most)   { name, NULL, "evaluate_expr", most },
#define INSIDE_CALL(id, name, method) { name, NULL, method, UINT32_MAX },
#include "profile/model/cost_model/cost_inside.def"
#undef INSIDE_COST
#undef INSIDE_EXPR
#undef INSIDE_CALL
};

struct inside_build {
    struct profile_build *b;
    const struct build_input *in;
    struct cost_inside kinds[INSIDE_KINDS];
    vec_of(struct cost_instruction)
    instructions;
};

static void add_inside(struct cost_inside *to, uint64_t count, uint64_t ns)
{
    to->count += count;
    build_add_ns(&to->ns, i64_saturated(ns));
}

static void add_cost(struct inside_build *m, const struct deep_cost *cost)
{
    for (unsigned kind = 0; kind < INSIDE_KINDS; kind++) {
        const char *part = INSIDE[kind].cost;
        if (part && str_find(cost->cost, str_of(part)) < cost->cost.n) {
            add_inside(&m->kinds[kind], cost->count, cost->self_ns);
            return;
        }
    }
}

static bool add_costs(struct inside_build *m)
{
    for (uint32_t i = 0; i < m->in->deep->n_costs; i++) {
        const struct deep_cost *cost = &m->in->deep->costs[i];
        struct cost_instruction row = { .name = cost->cost,
                                        .count = cost->count,
                                        .ns = i64_saturated(cost->self_ns) };
        if (!build_takes(m->b, m->in, cost->record))
            continue;
        if (!deep_is_instruction(cost))
            add_cost(m, cost);
        else if (!vec_push(&m->instructions, row))
            return false;
    }
    return true;
}

static void add_env_call(void *user, const struct env_call *call)
{
    struct inside_build *m = user;
    unsigned kind = 0;
    while (!INSIDE[kind].method || call->characters > INSIDE[kind].most_characters ||
           (*INSIDE[kind].method && !str_is(call->method, INSIDE[kind].method)))
        kind++; /* the last row takes all calls */
    if (build_takes(m->b, m->in, call->record))
        add_inside(&m->kinds[kind], 1, call->ns);
}

static int by_inside_time(const void *a, const void *b)
{
    const struct cost_inside *x = a, *y = b;
    int order = build_descending(x->ns, y->ns);
    return order ? order : strcmp(x->name, y->name);
}

static bool list_inside(struct inside_build *m)
{
    struct cost_model *model = &m->b->profile.cost_model;
    struct cost_inside *rows = arena_array(&m->b->arena, struct cost_inside, INSIDE_KINDS);
    for (unsigned kind = 0; kind < INSIDE_KINDS && rows; kind++) {
        struct cost_inside row = m->kinds[kind];
        row.name = INSIDE[kind].name;
        row.share = model->wall_ns ? (double)row.ns / (double)model->wall_ns : 0;
        if (row.count)
            rows[model->n_inside++] = row;
    }
    if (rows)
        qsort(rows, model->n_inside, sizeof *rows, by_inside_time);
    model->inside = rows;
    return rows != NULL;
}

static int by_instruction(const void *a, const void *b)
{
    const struct cost_instruction *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static int by_instruction_time(const void *a, const void *b)
{
    const struct cost_instruction *x = a, *y = b;
    int order = build_descending(x->ns, y->ns);
    return order ? order : by_instruction(a, b);
}

/* Adds up the rows of each instruction: there is one for each compile and handler. */
static bool list_instructions(struct inside_build *m)
{
    struct cost_model *model = &m->b->profile.cost_model;
    struct cost_instruction *rows = arena_array(&m->b->arena, struct cost_instruction,
                                                m->instructions.n ? m->instructions.n : 1);
    uint32_t n = 0;
    bool ok = rows != NULL;
    if (m->instructions.n)
        qsort(m->instructions.v, m->instructions.n, sizeof *m->instructions.v, by_instruction);
    for (size_t i = 0; i < m->instructions.n && ok; i++) {
        const struct cost_instruction *row = &m->instructions.v[i];
        if (!n || !str_eq(rows[n - 1].name, row->name)) {
            rows[n] = (struct cost_instruction){ .name = arena_copy(&m->b->arena, row->name) };
            ok = rows[n++].name.p;
        }
        rows[n - 1].count += row->count;
        build_add_ns(&rows[n - 1].ns, row->ns);
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i].share = model->wall_ns ? (double)rows[i].ns / (double)model->wall_ns : 0;
    if (n)
        qsort(rows, n, sizeof *rows, by_instruction_time);
    model->instructions = rows;
    model->n_instructions = n;
    return ok;
}

bool find_inside(struct profile_build *b, struct err *err)
{
    struct inside_build m = { .b = b };
    bool ok = true;
    for (uint32_t i = 0; i < b->profile.n_traces && ok; i++) {
        m.in = &b->inputs[i];
        ok = add_costs(&m) ? env_calls_read(m.in->trace, add_env_call, &m, err) : err_nomem(err);
    }
    ok = ok && ((list_inside(&m) && list_instructions(&m)) || err_nomem(err));
    vec_release(&m.instructions);
    return ok;
}
