#include "profile/calls/cudagraphs/padding.h"

#include "profile/calls/cudagraphs/size_values.h"
#include "trace/base/buf.h"

enum padding {
#define PADDING(id, name, padded) PAD_##id,
#include "profile/calls/cudagraphs/padding.def"
#undef PADDING
    PADDINGS
};

static int64_t next_power(int64_t size)
{
    int64_t ret = 1;
    while (ret < size && ret <= INT64_MAX / 2)
        ret *= 2;
    return ret < size ? size : ret;
}

static int64_t next_multiple(int64_t size, int64_t of)
{
    int64_t rest = size % of;
    return rest > 0 && size <= INT64_MAX - of ? size + of - rest : size;
}

static int64_t pad(enum padding padding, int64_t size)
{
    switch (padding) {
#define PADDING(id, name, padded) \
    case PAD_##id:                \
        return padded;
#include "profile/calls/cudagraphs/padding.def"
#undef PADDING
    case PADDINGS: break;
    }
    return size;
}

static const char *padding_name(enum padding padding)
{
    static const char *const NAMES[PADDINGS] = {
#define PADDING(id, name, padded) name,
#include "profile/calls/cudagraphs/padding.def"
#undef PADDING
    };
    return NAMES[padding];
}

/* The sizes of all graphs under one padding. */
struct padder {
    struct cudagraph_run *run;
    enum padding padding;
    struct intern keys;
    vec_of(struct padding_row)
    rows; /* by graph */
    vec_of(int64_t)
    values; /* padded, of one size */
    struct buf key;
};

static void add_bytes(uint64_t *sum, uint64_t bytes, uint32_t times)
{
    uint64_t all;
    if (__builtin_mul_overflow(bytes, (uint64_t)times, &all) ||
        __builtin_add_overflow(*sum, all, sum))
        *sum = UINT64_MAX;
}

static bool add_size(struct padder *p, const struct graph_size *size)
{
    const struct wrapped_graph *graph = &p->run->wrapped.graphs.v[size->graph];
    struct padding_row *row = &p->rows.v[size->graph];
    const int64_t *values = vec_from(&p->run->values, size->first_value);
    p->values.n = 0;
    for (uint32_t i = 0; i < graph->n_symbols; i++)
        if (!vec_push(&p->values, pad(p->padding, values[i])))
            return false;
    struct size_values as_is = { &p->run->wrapped, graph, values };
    struct size_values padded = { &p->run->wrapped, graph, p->values.v };
    buf_clear(&p->key);
    buf_varint(&p->key, size->graph);
    size_values_key(&padded, &p->key);
    size_t known = p->keys.texts.n;
    uint32_t id = p->key.failed ? INTERN_NONE : intern(&p->keys, buf_str(&p->key));
    if (id == INTERN_NONE)
        return false;
    row->before++;
    row->sizes += id == known;
    add_bytes(&row->bytes, size_values_symbolic(&as_is), size->runs);
    add_bytes(&row->padded, size_values_symbolic(&padded), size->runs);
    return true;
}

static bool pad_all(struct padder *p)
{
    for (uint32_t i = 0; i < p->run->wrapped.graphs.n; i++)
        if (!vec_push(&p->rows,
                      (struct padding_row){ .graph = i, .policy = padding_name(p->padding) }))
            return false;
    for (size_t i = 0; i < p->run->sizes.n; i++)
        if (p->run->sizes.v[i].first_function != CALL_NONE && !add_size(p, &p->run->sizes.v[i]))
            return false;
    for (size_t i = 0; i < p->rows.n; i++)
        if (p->rows.v[i].sizes < p->rows.v[i].before && !vec_push(&p->run->paddings, p->rows.v[i]))
            return false;
    return true;
}

bool paddings_make(struct cudagraph_run *run)
{
    bool ok = true;
    for (enum padding i = 0; ok && i < PADDINGS; i++) {
        struct padder p = { .run = run, .padding = i };
        ok = pad_all(&p);
        intern_release(&p.keys);
        vec_release(&p.rows);
        vec_release(&p.values);
        buf_release(&p.key);
    }
    return ok;
}
