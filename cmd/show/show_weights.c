#include <inttypes.h>

#include "cmd/show/show.h"
#include "trace/recorded_pt2.h"

/* --weights: the tensors that the configs of .pt2 archives list, and their offsets in the
 * archive. */

struct weight_item {
    uint32_t record;    /* record of its program */
    struct str program; /* name of the member; "" when the archive has no such member */
    const struct pt2_weight *weight;
};

struct weight_items {
    struct recorded_pt2 *archives;
    uint32_t n_archives;
    vec_of(struct weight_item)
    items;
};

static const struct weight_item *weight_item_at(const void *items, uint32_t i)
{
    return &((const struct weight_items *)items)->items.v[i];
}

static void release_weights(void *items)
{
    struct weight_items *all = items;
    for (uint32_t i = 0; all && i < all->n_archives; i++)
        recorded_pt2_close(&all->archives[i]);
    if (all) {
        vec_release(&all->items);
        free(all->archives);
    }
    free(all);
}

static bool add_models(struct weight_items *all, const struct recorded_pt2 *archive, uint32_t first,
                       struct err *err)
{
    for (uint32_t i = 0; i < archive->pt2.n_models; i++) {
        const struct pt2_model *model = &archive->pt2.models[i];
        struct weight_item item = { .record = first, .program = STR("") };
        if (model->program) {
            item.record = recorded_pt2_record(archive, model->program);
            item.program = model->program->name;
        }
        for (uint32_t k = 0; k < model->n_weights; k++) {
            item.weight = &model->weights[k];
            if (!vec_push(&all->items, item))
                return err_nomem(err);
        }
    }
    return true;
}

/* Adds an archive's tensors. An archive without a readable list of them is noted and omitted. */
static bool add_archive(struct show *show, struct weight_items *all, uint32_t recording,
                        struct err *err)
{
    struct err why = { 0 };
    struct recorded_pt2 *archive = &all->archives[all->n_archives];
    if (recorded_pt2_open(archive, show->trace, recording, &why)) {
        all->n_archives++;
        return add_models(all, archive, show->trace->recordings[recording].first_record, err);
    }
    if (why.kind == ERR_ENV)
        return *err = why, false;
    out_error(show->out, &why);
    return true;
}

static bool load_weights(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct trace *trace = show->trace;
    struct weight_items *all = calloc(1, sizeof *all);
    if (all)
        all->archives = calloc((size_t)trace->n_recordings + 1, sizeof *all->archives);
    bool ok = (all && all->archives) || err_nomem(err);
    for (uint32_t i = 0; ok && i < trace->n_recordings; i++)
        if (trace->recordings[i].kind == RECORDING_PT2 && trace->recordings[i].n_records > 0 &&
            selector_has_recording(trace, &show->selector, i))
            ok = add_archive(show, all, i, err);
    if (!ok) {
        release_weights(all);
        return false;
    }
    *ret = all;
    *ret_n = (uint32_t)all->items.n;
    return true;
}

static struct show_place place_weight(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    return (struct show_place){ .record = weight_item_at(items, i)->record, .attempt = TRACE_NONE };
}

static const char *weight_kind(const struct pt2_weight *w)
{
    if (w->fqn.n == 0)
        return w->is_constant ? "pickled_constants" : "pickled_weights";
    if (w->is_constant)
        return w->use_pickle && !w->has_meta ? "custom_obj" : "constant";
    return w->is_param ? "parameter" : "buffer";
}

/* ---- A tensor's meta, where the config has one ---- */

REACH(reach_meta, struct pt2_weight, row->has_meta ? row : NULL)
GETTER(get_dtype, enum dtype, datum_name(dtype_python_name(*row)))
GETTER(get_short_dtype, enum dtype, datum_name(dtype_short_name(*row)))

static void put_dims(const int64_t *dims, uint32_t n, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%" PRId64, i ? ", " : "", dims[i]);
    buf_putc(out, ']');
}

static void cell_sizes(const void *context, const void *at, struct buf *out)
{
    const struct pt2_weight *w = at;
    (void)context;
    put_dims(w->sizes, w->n_sizes, out);
}

static void cell_strides(const void *context, const void *at, struct buf *out)
{
    const struct pt2_weight *w = at;
    (void)context;
    put_dims(w->strides, w->n_sizes, out);
}

static void dims_json(struct json_writer *w, const char *key, const int64_t *dims, uint32_t n)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_put_i64(w, NULL, dims[i]);
    json_close(w);
}

static void json_sizes(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct pt2_weight *weight = at;
    (void)context;
    dims_json(w, key, weight->sizes, weight->n_sizes);
}

static void json_strides(const void *context, const void *at, struct json_writer *w,
                         const char *key)
{
    const struct pt2_weight *weight = at;
    (void)context;
    dims_json(w, key, weight->strides, weight->n_sizes);
}

static const struct field META[] = {
    { "dtype", GET(get_dtype, struct pt2_weight, dtype) },
    { NULL, GET(get_short_dtype, struct pt2_weight, dtype), TEXT(4, "dtype", WORD, 0) },
    { "sizes", .json = json_sizes, .cell = cell_sizes, TEXT(5, "sizes", WORD, 0) },
    { "strides", .json = json_strides, .cell = cell_strides, TEXT(6, "strides", WORD, 3) },
    { "storage_offset", MEMBER(struct pt2_weight, storage_offset),
      TEXT(7, "starts at", DIGITS, 2) },
    { "device", MEMBER(struct pt2_weight, device) },
    { "requires_grad", MEMBER(struct pt2_weight, requires_grad) },
};
static const struct fields META_FIELDS = FIELDS_OF(META);

/* ---- Its place in the archive ---- */

GETTER(get_kind, void, datum_name(weight_kind(row)))
GETTER(get_offset, struct pt2_weight, row->member ? datum_count(row->offset) : datum_null())
GETTER(get_bytes, struct pt2_weight, row->member ? datum_count(row->bytes) : datum_null())

static const struct field WEIGHT[] = {
    { "fqn", MEMBER(struct pt2_weight, fqn), TEXT(2, "name", TEXT, 0) },
    { "kind", .get = get_kind, TEXT(3, "kind", WORD, 1) },
    { NULL, .group = &META_FIELDS, .reach = reach_meta },
    { "member", MEMBER(struct pt2_weight, path), TEXT(8, "member", PATH, 0) },
    { "offset", .get = get_offset, TEXT(9, "offset", NUMBER, 0) },
    { "bytes", .get = get_bytes, TEXT(10, "bytes", NUMBER, 0) },
    { "pickled", MEMBER(struct pt2_weight, use_pickle) },
    { "readable", MEMBER(struct pt2_weight, readable), TEXT(11, "readable", WORD, 0) },
};
static const struct fields WEIGHT_FIELDS = FIELDS_OF(WEIGHT);

static const struct field ITEM[] = {
    { "program", MEMBER(struct weight_item, program) },
    { NULL, CELL(show_cell_program, struct weight_item, program), TEXT(1, "program", PATH, 3) },
    { NULL, BEHIND(WEIGHT_FIELDS, struct weight_item, weight) },
};
static const struct fields ITEM_FIELDS = FIELDS_OF(ITEM);

static const void *weight_item_row(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return weight_item_at(items, i);
}

const struct show_view show_weights = {
    .key = "weights",
    .none = "no weights",
    .fields = &ITEM_FIELDS,
    .load = load_weights,
    .release = release_weights,
    .place = place_weight,
    .item = weight_item_row,
};
