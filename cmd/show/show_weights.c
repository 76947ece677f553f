#include <inttypes.h>

#include "cmd/show/show.h"
#include "trace/recorded_pt2.h"

/* --weights: what the configs of .pt2 archives say of their tensors, and where those lie. */

struct weight_item {
    uint32_t record;    /* of the program that has it */
    struct str program; /* name of that member; "" when the archive lacks it */
    const struct pt2_weight *weight;
};

struct weight_items {
    struct recorded_pt2 *archives;
    uint32_t n_archives;
    vec_of(struct weight_item)
    items;
};

static const struct weight_item *item_at(const void *items, uint32_t i)
{
    return &((const struct weight_items *)items)->items.v[i];
}

static void release(void *items)
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

/* An archive that does not say what it holds is told, and left out. */
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

static bool load(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
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
        release(all);
        return false;
    }
    *ret = all;
    *ret_n = (uint32_t)all->items.n;
    return true;
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    return (struct show_place){ .record = item_at(items, i)->record, .attempt = TRACE_NONE };
}

static const char *kind_of(const struct pt2_weight *w)
{
    if (w->fqn.n == 0)
        return w->is_constant ? "pickled_constants" : "pickled_weights";
    if (w->is_constant)
        return w->use_pickle && !w->has_meta ? "custom_obj" : "constant";
    return w->is_param ? "parameter" : "buffer";
}

static void dims_cell(const int64_t *dims, uint32_t n, struct table *table)
{
    buf_putc(&table->text, '[');
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&table->text, "%s%" PRId64, i ? ", " : "", dims[i]);
    buf_putc(&table->text, ']');
    table_cell(table);
}

static void meta_cells(const struct pt2_weight *w, struct table *table)
{
    if (!w->has_meta) {
        for (int i = 0; i < 4; i++)
            table_text(table, STR(""));
        return;
    }
    table_text(table, str_of(dtype_short_name(w->dtype)));
    dims_cell(w->sizes, w->n_sizes, table);
    dims_cell(w->strides, w->n_sizes, table);
    table_printf(table, "%" PRId64, w->storage_offset);
}

static void row(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct weight_item *item = item_at(items, i);
    const struct pt2_weight *w = item->weight;
    show_cell_program(show, item->record, item->program, table);
    table_text(table, w->fqn);
    table_text(table, str_of(kind_of(w)));
    meta_cells(w, table);
    table_text(table, w->path);
    if (w->member) {
        table_u64(table, w->offset);
        table_u64(table, w->bytes);
    } else {
        table_text(table, STR(""));
        table_text(table, STR(""));
    }
    table_text(table, w->readable ? STR("yes") : STR("no"));
}

static void dims_json(struct json_writer *w, const char *key, const int64_t *dims, uint32_t n)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_put_i64(w, NULL, dims[i]);
    json_close(w);
}

static void meta_json(const struct pt2_weight *weight, struct json_writer *w)
{
    json_put_cstr(w, "dtype", dtype_python_name(weight->dtype));
    dims_json(w, "sizes", weight->sizes, weight->n_sizes);
    dims_json(w, "strides", weight->strides, weight->n_sizes);
    json_put_i64(w, "storage_offset", weight->storage_offset);
    json_put_str(w, "device", weight->device);
    json_put_bool(w, "requires_grad", weight->requires_grad);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    const struct pt2_weight *weight = item_at(items, i)->weight;
    struct json_writer *w = &show->w;
    json_put_str(w, "program", item_at(items, i)->program);
    json_put_str(w, "fqn", weight->fqn);
    json_put_cstr(w, "kind", kind_of(weight));
    if (weight->has_meta)
        meta_json(weight, w);
    json_put_str(w, "member", weight->path);
    if (weight->member) {
        json_put_u64(w, "offset", weight->offset);
        json_put_u64(w, "bytes", weight->bytes);
    } else {
        json_put_null(w, "offset");
        json_put_null(w, "bytes");
    }
    json_put_bool(w, "pickled", weight->use_pickle);
    json_put_bool(w, "readable", weight->readable);
}

static const struct column columns[] = {
    { "program", COLUMN_PATH, 3 },    { "name", COLUMN_WIDE },     { "kind", COLUMN_LEFT },
    { "dtype", COLUMN_LEFT },         { "sizes", COLUMN_LEFT },    { "strides", COLUMN_LEFT, 2 },
    { "starts at", COLUMN_RIGHT, 1 }, { "member", COLUMN_PATH },   { "offset", COLUMN_RIGHT },
    { "bytes", COLUMN_RIGHT },        { "readable", COLUMN_LEFT },
};

const struct show_view show_weights = {
    .key = "weights",
    .none = "no weights",
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .load = load,
    .release = release,
    .place = place,
    .row = row,
    .json = json,
};
