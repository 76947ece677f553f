#include "profile/model/group_rows.h"

const char *profile_by_name(enum profile_by by)
{
    static const char *const NAMES[] = { "op", "line", "stack", "module" };
    return NAMES[by];
}

struct profile_group *group_row(struct group_rows *rows, struct str key)
{
    uint32_t row = intern(&rows->keys, key);
    if (row == INTERN_NONE ||
        (row == rows->rows.n && !vec_push(&rows->rows, (struct profile_group){ .name = STR("") })))
        return NULL;
    return &rows->rows.v[row];
}

/* ---- Operators and lines, which are counted already ---- */

static bool is_aten(enum graph_kind level)
{
    return level == GRAPH_FORWARD || level == GRAPH_BACKWARD || level == GRAPH_INFERENCE ||
           level == GRAPH_EXPORTED;
}

static struct profile_group *op_row(struct profile_build *b, struct group_rows *rows, uint32_t op)
{
    struct str name = build_text(b, op);
    struct profile_group *row = group_row(rows, name);
    if (row)
        row->name = name;
    return row;
}

static bool groups_by_op(struct profile_build *b, struct group_rows *rows)
{
    for (size_t i = 0; i < b->operators.n; i++) {
        const struct profile_operator_row *op = &b->operators.v[i];
        if (op->level != GRAPH_DYNAMO && !is_aten(op->level))
            continue;
        struct profile_group *row = op_row(b, rows, op->op);
        if (!row)
            return false;
        *(op->level == GRAPH_DYNAMO ? &row->dynamo_calls : &row->aten_calls) += op->kept;
    }
    for (size_t i = 0; i < b->costs.n; i++) {
        const struct operator_cost *cost = &b->costs.v[i];
        struct profile_group *row = op_row(b, rows, cost->op);
        if (!row)
            return false;
        row->guards = cost->guards;
        row->real_dispatches = cost->by_mode[DEEP_FAKE_TENSOR_MODE];
        row->dispatches = cost->dispatches;
        row->exprs = cost->exprs;
        row->symbolic_tensors = cost->symbolic_tensors;
        row->self_ns = cost->self_ns;
    }
    return true;
}

static bool groups_by_line(struct profile_build *b, struct group_rows *rows)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        const struct profile_line *line = &b->lines.v[i];
        struct group_frame *frame = arena_new(&b->arena, struct group_frame);
        if (!frame)
            return false;
        *frame = (struct group_frame){ build_text(b, line->file), line->function, line->line };
        struct profile_group row = { .name = STR(""),
                                     .frames = frame,
                                     .n_frames = 1,
                                     .code = line->code,
                                     .guards = line->guards,
                                     .real_dispatches = line->cost.real_dispatches,
                                     .dispatches = line->cost.dispatches,
                                     .exprs = line->cost.exprs,
                                     .symbolic_tensors = line->cost.symbolic_tensors,
                                     .saved_bytes = line->cost.saved_bytes,
                                     .self_ns = line->cost.self_ns,
                                     .estimated_ns = line->estimated_ns };
        for (int k = 0; k < GRAPH_KINDS; k++)
            if (k == GRAPH_DYNAMO || is_aten((enum graph_kind)k))
                *(k == GRAPH_DYNAMO ? &row.dynamo_calls : &row.aten_calls) += line->kept_nodes[k];
        if (!vec_push(&rows->rows, row))
            return false;
    }
    return true;
}

/* ---- Order ---- */

enum { KEYS = 6 };

struct sort_group {
    struct profile_group group;
    uint64_t keys[KEYS]; /* sorted in descending order */
    size_t index;
};

static int compare_group_keys(const void *a, const void *b)
{
    const struct sort_group *x = a, *y = b;
    for (int i = 0; i < KEYS; i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] > y->keys[i] ? -1 : 1;
    int order = str_cmp(x->group.name, y->group.name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_group_names(const void *a, const void *b)
{
    const struct sort_group *x = a, *y = b;
    int order = str_cmp(x->group.name, y->group.name);
    for (uint32_t i = 0; order == 0 && i < x->group.n_frames && i < y->group.n_frames; i++) {
        const struct group_frame *f = &x->group.frames[i], *g = &y->group.frames[i];
        order = str_cmp(f->file, g->file);
        order = order ? order : (f->line > g->line) - (f->line < g->line);
    }
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static uint64_t group_sort_key(const struct profile_group *g, enum profile_sort sort)
{
    switch (sort) {
    case PROFILE_BY_CALLS: return g->total_aten_calls ? g->total_aten_calls : g->aten_calls;
    case PROFILE_BY_GUARDS: return g->total_guards ? g->total_guards : g->guards;
    case PROFILE_BY_DISPATCHES: return g->real_dispatches ? g->real_dispatches : g->dispatches;
    case PROFILE_BY_EXPRS: return g->exprs;
    default: return (uint64_t)g->self_ns;
    }
}

static void set_group_keys(struct sort_group *row, enum profile_sort sort)
{
    const struct profile_group *g = &row->group;
    const uint64_t keys[KEYS] = { group_sort_key(g, sort),
                                  (uint64_t)g->self_ns,
                                  (uint64_t)g->estimated_ns,
                                  group_sort_key(g, PROFILE_BY_DISPATCHES),
                                  group_sort_key(g, PROFILE_BY_CALLS),
                                  g->guards };
    memcpy(row->keys, keys, sizeof keys);
}

static bool sort_groups(struct profile_build *b, enum profile_by by, const struct group_rows *from)
{
    size_t n = from->rows.n;
    struct sort_group *rows = calloc(n + 1, sizeof *rows);
    struct profile_group *kept = arena_array(&b->arena, struct profile_group, n + 1);
    for (size_t i = 0; rows && i < n; i++) {
        rows[i].group = from->rows.v[i];
        rows[i].index = i;
        set_group_keys(&rows[i], b->profile.options.sort);
    }
    if (rows)
        qsort(rows, n, sizeof *rows,
              b->profile.options.sort == PROFILE_BY_NAME ? compare_group_names
                                                         : compare_group_keys);
    for (size_t i = 0; rows && kept && i < n; i++)
        kept[i] = rows[i].group;
    free(rows);
    b->profile.groups[by] = (struct profile_groups){ true, kept, (uint32_t)n };
    return rows && kept;
}

bool build_groups(struct profile_build *b, struct err *err)
{
    static bool (*const STEPS[PROFILE_BYS])(struct profile_build *, struct group_rows *) = {
        [PROFILE_OP] = groups_by_op,
        [PROFILE_LINE] = groups_by_line,
        [PROFILE_STACK] = groups_by_stack,
        [PROFILE_MODULE] = groups_by_module,
    };
    bool ok = true;
    for (int by = 0; ok && by < PROFILE_BYS; by++) {
        struct group_rows rows = { 0 };
        if (!b->profile.options.by[by])
            continue;
        ok = STEPS[by](b, &rows) && sort_groups(b, (enum profile_by)by, &rows);
        vec_release(&rows.rows);
        intern_release(&rows.keys);
    }
    return ok || err_nomem(err);
}
