#include "replay/attempt/contradictions/contradictions.h"

#include "replay/attempt/contradictions/evidence.h"

const char *contradiction_name(enum contradiction_kind kind)
{
    static const char *const names[] = {
#define KIND(id, name) name,
#include "replay/attempt/contradictions/contradictions.def"
#undef KIND
    };
    return names[kind];
}

void contradictions_release(struct contradictions *c)
{
    vec_release(&c->list);
    vec_release(&c->others);
    arena_release(&c->arena);
}

const struct other_input *contradictions_find(const struct contradictions *c,
                                              const struct graph *graph, const struct node *node)
{
    for (size_t i = 0; i < c->others.n; i++)
        if (c->others.v[i].graph == graph && c->others.v[i].node == node)
            return &c->others.v[i];
    return NULL;
}

/* Names storages that are too small for what is in them. */
static void settle_storages(struct evidence *e, const struct inputs *inputs)
{
    uint32_t last = TRACE_NONE;
    for (size_t i = 0; i < inputs->list.n && !e->failed; i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        int64_t bytes;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !storage_needs(t, -1, 0, &bytes) ||
            bytes <= t->storage_bytes || t->storage_record == last)
            continue;
        struct buf recorded = BUF_INIT, expected = BUF_INIT;
        buf_printf(&recorded, "%lld bytes", (long long)t->storage_bytes);
        buf_printf(&expected, "at least %lld bytes", (long long)bytes);
        evidence_add(e, (struct contradiction){ .kind = CONTRADICTION_STORAGE,
                                                .record = t->storage_record,
                                                .beside = t->record,
                                                .ref = TRACE_NONE,
                                                .name = t->source,
                                                .recorded = buf_str(&recorded),
                                                .expected = buf_str(&expected) });
        last = t->storage_record;
        e->failed |= recorded.failed || expected.failed;
        buf_release(&recorded);
        buf_release(&expected);
    }
}

bool contradictions_settle(struct contradictions *c, const struct attempt_records *records,
                           struct inputs *inputs, struct err *err)
{
    struct evidence e;
    if (!evidence_init(&e, records, c, err))
        return false;
    evidence_read_tree(&e);
    settle_hints(&e, inputs);
    if (!e.failed)
        settle_inputs(&e, inputs);
    settle_gradients(&e, inputs);
    settle_storages(&e, inputs);
    bool ok = !e.failed && !sym_short_of_memory(e.pool);
    evidence_release(&e);
    return ok || err_nomem(err);
}
