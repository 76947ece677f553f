/* Groups costs by user stack: the user's frames, from the program's main file to the line. */
#include "profile/model/group_rows.h"
#include "trace/events/user_line.h"

enum { MAX_FRAMES = 1000 };

struct stack_grouper {
    struct profile_build *b;
    struct group_rows *rows;
    const struct build_input *in;
    vec_of(struct group_frame)
    frames; /* of the current stack, outermost first */
    struct buf key;
};

/* Finds the row of the current frames; *ret is NULL if there are none. */
static bool find_stack_row(struct stack_grouper *s, struct profile_group **ret)
{
    *ret = NULL;
    if (s->frames.n == 0)
        return true;
    buf_clear(&s->key);
    for (size_t i = 0; i < s->frames.n; i++) {
        buf_counted(&s->key, s->frames.v[i].file);
        buf_le32(&s->key, s->frames.v[i].line);
    }
    struct profile_group *row = s->key.failed ? NULL : group_row(s->rows, buf_str(&s->key));
    if (row && !row->frames) {
        struct group_frame *frames = arena_array(&s->b->arena, struct group_frame, s->frames.n);
        if (!frames)
            return false;
        memcpy(frames, s->frames.v, s->frames.n * sizeof *frames);
        row->frames = frames;
        row->n_frames = (uint32_t)s->frames.n;
    }
    *ret = row;
    return row;
}

static bool stack_matches_filter(const struct stack_grouper *s)
{
    struct str asked = s->b->profile.options.file;
    for (size_t i = 0; asked.n && i < s->frames.n; i++)
        if (str_find(s->frames.v[i].file, asked) < s->frames.v[i].file.n)
            return true;
    return asked.n == 0;
}

static bool push_frame(struct stack_grouper *s, struct str file, struct str function, uint32_t line)
{
    return torch_is_own_file(file) || s->frames.n >= MAX_FRAMES ||
           vec_push(&s->frames, (struct group_frame){ file, function, line });
}

static void reverse_frames(struct stack_grouper *s)
{
    for (size_t i = 0, k = s->frames.n; i + 1 < k; i++) {
        struct group_frame frame = s->frames.v[i];
        s->frames.v[i] = s->frames.v[--k];
        s->frames.v[k] = frame;
    }
}

/* ---- Records ---- */

static bool recorded_row(struct stack_grouper *s, uint32_t record, stack_id stack,
                         struct profile_group **ret)
{
    uint32_t recording = s->in->trace->records[record].recording;
    *ret = NULL;
    s->frames.n = 0;
    if (!build_takes(s->b, s->in, record))
        return true;
    for (; stack != 0; stack = stack_parent(s->in->trace, stack)) {
        struct frame frame = stack_frame(s->in->trace, recording, stack);
        if (!push_frame(s, frame.file, frame.function, frame.line))
            return false;
    }
    reverse_frames(s);
    return !stack_matches_filter(s) || find_stack_row(s, ret);
}

static bool add_stack_record(struct stack_grouper *s, uint32_t record, stack_id stack, bool guard)
{
    struct profile_group *row;
    if (!recorded_row(s, record, stack, &row))
        return false;
    if (row)
        row->guards += guard;
    return true;
}

static bool add_records(struct stack_grouper *s)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->in->guards->n; i++) {
        const struct guard *guard = &s->in->guards->guards[i];
        ok = add_stack_record(s, guard->record, guard->user_stack, guard->kind == GUARD_EVAL);
    }
    for (uint32_t i = 0; ok && i < s->in->symbols->n_symbols; i++)
        ok = add_stack_record(s, s->in->symbols->symbols[i].record,
                              s->in->symbols->symbols[i].user_stack, false);
    for (uint32_t i = 0; ok && i < s->in->symbols->n_specializations; i++) {
        const struct specialization *special = &s->in->symbols->specializations[i];
        ok = add_stack_record(s, special->record, special->user_stack, false);
    }
    return ok;
}

/* ---- Dispatches ---- */

static bool add_stack_dispatch(struct stack_grouper *s, const struct deep_dispatch *d)
{
    struct profile_group *row = NULL;
    s->frames.n = 0;
    if (d->stack >= s->in->deep->n_stacks || !build_takes(s->b, s->in, d->record))
        return true;
    const struct deep_stack *stack = &s->in->deep->stacks[d->stack];
    for (uint32_t i = 0; i < stack->n_frames; i++)
        if (!push_frame(s, stack->frames[i].file, stack->frames[i].function, stack->frames[i].line))
            return false;
    if (stack_matches_filter(s) && !find_stack_row(s, &row))
        return false;
    if (row) {
        row->real_dispatches += d->mode == DEEP_FAKE_TENSOR_MODE ? d->count : 0;
        build_add_ns(&row->self_ns, d->self_ns > INT64_MAX ? INT64_MAX : (int64_t)d->self_ns);
    }
    return true;
}

bool groups_by_stack(struct profile_build *b, struct group_rows *rows)
{
    struct stack_grouper s = { .b = b, .rows = rows };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++) {
        s.in = &b->inputs[i];
        ok = add_records(&s);
        for (uint32_t k = 0; ok && k < s.in->deep->n_dispatches; k++)
            ok = add_stack_dispatch(&s, &s.in->deep->dispatches[k]);
    }
    vec_release(&s.frames);
    buf_release(&s.key);
    return ok;
}
