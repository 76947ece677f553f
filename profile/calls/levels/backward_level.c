#include "profile/calls/levels/levels_builder.h"
#include "trace/graphs.h"

struct backward_finder {
    struct levels_builder *b;
    struct intern compiles; /* those that have a graph of a backward */
};

/* Appends what the guards of a backward ask of its gradients. Returns whether one of them is not
 * contiguous. */
static bool put_gradients(const struct program_call *call, bool sizes, struct buf *key)
{
    bool strided = false;
    for (uint32_t i = 0; i < call->n_values; i++) {
        const struct py_value *value = &call->values[i].value;
        bool tensor = value->kind == PY_TENSOR;
        bool plain = !tensor || tensor_is_contiguous(value->tensor);
        strided |= !plain;
        buf_le32(key, call->values[i].source);
        buf_putc(key, (char)('0' + value->kind));
        buf_putc(key, plain ? 'c' : 's');
        for (uint32_t d = 0; tensor && sizes && d < value->tensor->n_dims; d++)
            buf_le64(key, (uint64_t)value->tensor->sizes[d]);
    }
    return strided;
}

/* Adds the compiles that have a graph of a backward: AOTAutograd makes it together with the
 * forward, and what compiles it later is the same compile. */
static bool read_graphs(struct backward_finder *f, uint32_t recording, struct err *err)
{
    const struct trace *trace = f->b->trace;
    const struct graph_list *graphs = trace_graphs(f->b->trace, err);
    if (!graphs)
        return false;
    for (uint32_t i = 0; i < graphs->n; i++) {
        const struct graph_ref *ref = &graphs->refs[i];
        const struct attempt *attempt =
            ref->attempt == TRACE_NONE ? NULL : &trace->attempts[ref->attempt];
        if (ref->kind == GRAPH_BACKWARD && attempt && attempt->recording == recording &&
            attempt->next == TRACE_NONE && intern(&f->compiles, attempt->compile) == INTERN_NONE)
            return err_nomem(err);
    }
    return true;
}

/* Counts what was recorded: backwards that were compiled with their forwards, used or not, and
 * those that were compiled when they first ran. */
static void count_recorded(struct backward_finder *f)
{
    const struct cache_run *run = &f->b->run->cache;
    struct level_counts *counts = &f->b->run->backward;
    for (size_t i = 0; i < run->entries.n; i++) {
        const struct cache_entry *entry = &run->entries.v[i];
        bool has = intern_find(&f->compiles, entry_compile(entry)) != INTERN_NONE;
        bool ran = entry->lazy_backward && entry->backward_ran;
        counts->recorded += entry->lazy_backward ? ran : has;
        counts->recorded_seconds += ran ? entry->backward_seconds : 0;
    }
}

static bool run_backward(struct backward_finder *f, const struct backward_row *row)
{
    struct levels_builder *b = f->b;
    const struct program_call *call = &b->log->calls.v[row->call];
    uint32_t forward = row->look, made;
    uint32_t id = forward == CALL_NONE ? CALL_NONE : b->artifact_of[forward];
    if (id == CALL_NONE)
        return true;
    const struct cache_entry *entry = &b->run->cache.entries.v[row->entry];
    struct level_artifact artifact = b->run->artifacts.v[id];
    /* A segment of several graphs has one backward, whose gradients are those of its last. */
    if (forward + 1 < b->run->levels.looks.n &&
        b->run->levels.looks.v[forward + 1].segment == b->run->levels.looks.v[forward].segment)
        return true;
    artifact.backward = true;
    artifact.call = row->call;
    artifact.answers = 0;
    artifact.seconds = entry->lazy_backward ? entry->backward_seconds : 0;
    buf_clear(&b->key);
    buf_putc(&b->key, 'b');
    buf_le32(&b->key, id);
    /* Entries of which one forward runs differ in the guards of their backwards. */
    bool shared = b->backward_guards.forward_of[row->entry] != CALL_NONE;
    buf_le32(&b->key, shared ? row->entry + 1 : 0);
    artifact.strided = put_gradients(call, entry->lazy_backward, &b->key);
    b->run->n_copied += artifact.strided;
    size_t n = b->run->artifacts.n;
    if (!levels_use_artifact(b, artifact, &b->run->backward, &made))
        return false;
    /* The time of the first one is part of the forward's if both were compiled together. */
    b->run->n_untimed += b->run->artifacts.n > n && artifact.seconds <= 0 && artifact.has_backward;
    b->run->artifacts.v[id].has_backward = true;
    return true;
}

bool levels_run_backwards(struct levels_builder *b, uint32_t recording, struct err *err)
{
    struct backward_finder f = { .b = b };
    const struct cache_run *run = &b->run->cache;
    struct level_counts *counts = &b->run->backward;
    bool ok = read_graphs(&f, recording, err);
    if (ok)
        count_recorded(&f);
    if (ok && !run->backwards.n) { /* the list may leave them out */
        counts->levels = counts->recorded;
        counts->seconds = counts->recorded_seconds;
    } else if (ok) {
        for (size_t i = 0; ok && i < run->backwards.n; i++)
            ok = run_backward(&f, &run->backwards.v[i]);
        ok = ok || err_nomem(err);
    }
    intern_release(&f.compiles);
    return ok;
}
