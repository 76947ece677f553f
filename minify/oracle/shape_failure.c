#include "minify/oracle/shape_failure.h"

#include "minify/process/signature.h"

struct str failure_normalise(struct str text, struct arena *arena)
{
    struct buf out = BUF_INIT;
    signature_normalise(text, &out);
    struct str ret = arena_copy(arena, buf_str(&out));
    buf_release(&out);
    return ret.p ? ret : STR("");
}

static struct str take_into_arena(struct buf *text, struct arena *arena)
{
    struct str ret = arena_copy(arena, buf_str(text));
    buf_release(text);
    return ret.p ? ret : STR("");
}

void failure_place(const struct program *program, const struct node *node, struct arena *arena,
                   struct signature *ret)
{
    struct buf op = BUF_INIT, frame = BUF_INIT;
    const struct graph *graph = program->graph;
    node_op_name(node, &op);
    if (node->location != LOCATION_NONE && location_has_place(&graph->locations[node->location])) {
        const struct location *at = &graph->locations[node->location];
        struct str file = str_basename(at->file);
        buf_printf(&frame, "%.*s:%.*s", STR_ARG(file), STR_ARG(at->function));
    }
    ret->op = take_into_arena(&op, arena);
    ret->frame = take_into_arena(&frame, arena);
}

/* Returns the names of the members that differ, a text that stays the same when sizes shrink. */
static struct str differing_members(struct graph_replay *single, const struct expected *e,
                                    struct value got, struct arena *arena)
{
    struct buf text = BUF_INIT;
    const struct tensor_meta *meta = got.kind == VALUE_TENSOR ? got.u.tensor.meta : NULL;
    struct expected part = *e;
    if (e->kind != EXPECT_TENSOR || !meta) {
        buf_puts(&text, e->kind == EXPECT_NUMBER && value_is_number(got) ? "value" : "type");
        return take_into_arena(&text, arena);
    }
    if (e->dtype != meta->dtype)
        buf_puts(&text, "dtype ");
    if (e->ndim != meta->ndim)
        buf_puts(&text, "rank ");
    part.dtype = meta->dtype;
    if (e->ndim == meta->ndim) {
        part.device.type = DEVICE_NONE;
        part.stride = NULL;
        bool sizes = compare_value(single->ops, &part, got) == LIKE_OTHER;
        if (sizes)
            buf_puts(&text, "sizes ");
        part.stride = e->stride;
        if (!sizes && compare_value(single->ops, &part, got) == LIKE_OTHER)
            buf_puts(&text, "strides ");
    }
    if (text.n == 0)
        buf_puts(&text, "device ");
    return take_into_arena(&text, arena);
}

static void fill_mismatch(struct graph_replay *single, const struct expected *e, struct value got,
                          struct arena *arena, struct shape_failure *ret)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "mismatch: recorded %.*s, replayed ", STR_ARG(e->text));
    print_value_now(single->ops, got, &text);
    ret->text = take_into_arena(&text, arena);
    ret->signature.kind = STR("mismatch");
    ret->signature.message = differing_members(single, e, got, arena);
}

bool failure_of(struct graph_replay *single, const struct program *program, node_id id,
                struct arena *arena, struct shape_failure *ret)
{
    const struct outcome_note *note = &program->notes[id];
    const struct node *node = &program->graph->nodes[id];
    if (note->outcome != OUTCOME_REFUSED && note->outcome != OUTCOME_MISMATCH)
        return false;
    *ret = (struct shape_failure){ .node = node->name };
    failure_place(program, node, arena, &ret->signature);
    if (note->outcome == OUTCOME_MISMATCH) {
        fill_mismatch(single, program->steps[id].expected, program_got(program, id), arena, ret);
        return true;
    }
    ret->signature.kind = STR("refused");
    ret->text = arena_copy(arena, program_why(program, id));
    if (!ret->text.p)
        ret->text = STR("");
    ret->signature.message = failure_normalise(ret->text, arena);
    return true;
}
