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
    hash_index_release(&c->other_index);
    intern_release(&c->conditions);
    arena_release(&c->arena);
}

static uint32_t node_hash(const struct node *node)
{
    return (uint32_t)(((uint64_t)(uintptr_t)node * 0x9e3779b97f4a7c15u) >> 32);
}

/* A node is of one graph, so that it alone is the key. */
const struct other_input *contradictions_find(const struct contradictions *c,
                                              const struct node *node)
{
    uint32_t hash = node_hash(node), row;
    for (size_t at = hash_index_start(&c->other_index, hash);
         hash_index_next(&c->other_index, hash, &at, &row);)
        if (c->others.v[row].node == node)
            return &c->others.v[row];
    return NULL;
}

bool contradictions_add_other(struct contradictions *c, struct other_input other)
{
    if (contradictions_find(c, other.node))
        return true;
    if (!hash_index_reserve(&c->other_index, 1) || !vec_push(&c->others, other))
        return false;
    hash_index_add(&c->other_index, node_hash(other.node), (uint32_t)c->others.n - 1);
    return true;
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
