#include "trace/pt2/pt2.h"

#include <stdint.h>

#include "trace/base/text/json.h"
#include "trace/graph/python_name.h"

static const struct str LEGACY_PROGRAM = { "serialized_exported_program.json", 32 };

/* An archive that is being opened. */
struct pt2_loader {
    struct pt2 *pt2;
    const struct pt2_reader *reader;
    struct err *err;
    vec_of(struct pt2_weight)
    weights;            /* of the current model */
    struct buf name;    /* name of a member */
    struct buf scratch; /* bytes of a member */
    struct json doc;
};

/* ---- members ------------------------------------------------------------------------------- */

/* Returns the member ROOT BEFORE MIDDLE AFTER, whose name stays in in->name until the next call.
 * It returns NULL with the error set when memory ran out. */
static const struct zip_member *find_member(struct pt2_loader *in, const char *before,
                                            struct str middle, const char *after)
{
    buf_clear(&in->name);
    buf_put(&in->name, in->pt2->root);
    buf_puts(&in->name, before);
    buf_put(&in->name, middle);
    buf_puts(&in->name, after);
    if (!in->name.failed)
        return zip_find(&in->pt2->zip, buf_str(&in->name));
    err_nomem(in->err);
    return NULL;
}

static struct str copy(struct pt2_loader *in, struct str text)
{
    struct str ret = arena_copy(&in->pt2->arena, text);
    if (!ret.p)
        err_nomem(in->err);
    return ret;
}

static bool read_archive_member(struct pt2_loader *in, const struct zip_member *member,
                                struct str *ret)
{
    return in->reader->read(in->reader->user, member, &in->scratch, ret, in->err);
}

/* Reads a short text member without white space at its ends; "" when absent. Returns false when
 * it is damaged. */
static bool read_word(struct pt2_loader *in, const char *name, struct str *ret)
{
    const struct zip_member *member = find_member(in, name, STR(""), "");
    struct str text = STR("");
    if (member && !read_archive_member(in, member, &text))
        return false;
    *ret = copy(in, str_trim(str_first(text, 100)));
    return ret->p != NULL;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* Returns the dimensions of a TensorMeta's list; NULL unless all are integers. *n must be 0
 * before. */
static const int64_t *read_weight_dims(struct pt2_loader *in, json_id list, uint32_t *n)
{
    if (json_kind_of(&in->doc, list) != JSON_ARRAY)
        return NULL;
    int64_t *dims = arena_array(&in->pt2->arena, int64_t, json_count(&in->doc, list));
    if (!dims) {
        err_nomem(in->err);
        return NULL;
    }
    for (json_id d = json_first(&in->doc, list); d != JSON_NONE; d = json_next(&in->doc, d))
        if (!json_i64(&in->doc, json_get(&in->doc, d, STR("as_int")), &dims[(*n)++]))
            return NULL;
    return dims;
}

static struct str read_device(struct pt2_loader *in, json_id device)
{
    json_id index = json_get(&in->doc, device, STR("index"));
    buf_clear(&in->name);
    json_decode(&in->doc, json_get(&in->doc, device, STR("type")), &in->name);
    if (json_kind_of(&in->doc, index) == JSON_NUMBER) {
        buf_putc(&in->name, ':');
        buf_put(&in->name, json_text(&in->doc, index));
    }
    return copy(in, buf_str(&in->name));
}

static bool read_tensor_meta(struct pt2_loader *in, json_id meta, struct pt2_weight *w)
{
    const struct json *doc = &in->doc;
    int64_t dtype = 0;
    uint32_t n_strides = 0;
    json_id offset = json_get(doc, json_get(doc, meta, STR("storage_offset")), STR("as_int"));
    if (json_kind_of(doc, meta) != JSON_OBJECT)
        return true; /* custom objects have none */
    json_i64(doc, json_get(doc, meta, STR("dtype")), &dtype);
    w->dtype = dtype_by_scalar_type(dtype);
    w->requires_grad = json_kind_of(doc, json_get(doc, meta, STR("requires_grad"))) == JSON_TRUE;
    w->device = read_device(in, json_get(doc, meta, STR("device")));
    w->sizes = read_weight_dims(in, json_get(doc, meta, STR("sizes")), &w->n_sizes);
    w->strides = read_weight_dims(in, json_get(doc, meta, STR("strides")), &n_strides);
    if (w->device.n && !device_is_spelled(w->device))
        return err_set(in->err, ERR_INPUT, "tensor %.*s: PyTorch has no such device",
                       STR_ARG(w->fqn));
    w->has_meta = w->sizes && w->strides && n_strides == w->n_sizes && w->dtype != DTYPE_NONE &&
                  json_i64(doc, offset, &w->storage_offset);
    return !err_is_set(in->err);
}

/* Returns whether the storage has every element. No step may overflow, because all values are
 * the file's. */
static bool has_every_element(const struct pt2_weight *w)
{
    uint64_t last, step;
    if (w->storage_offset < 0)
        return false;
    last = (uint64_t)w->storage_offset;
    for (uint32_t i = 0; i < w->n_sizes; i++) {
        if (w->sizes[i] < 0 || w->strides[i] < 0)
            return false;
        if (w->sizes[i] == 0)
            return true;
    }
    for (uint32_t i = 0; i < w->n_sizes; i++)
        if (__builtin_mul_overflow((uint64_t)w->sizes[i] - 1, (uint64_t)w->strides[i], &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    return last < w->bytes / dtype_size(w->dtype);
}

static void place_weight_data(struct pt2_weight *w)
{
    if (!w->member)
        return;
    w->offset = w->member->data;
    w->bytes = w->member->size;
    w->readable =
        w->has_meta && !w->use_pickle && w->member->method == ZIP_STORED && has_every_element(w);
}

static bool add_weight(struct pt2_loader *in, struct pt2_weight weight)
{
    place_weight_data(&weight);
    return vec_push(&in->weights, weight) || err_nomem(in->err);
}

/* Adds a state dict that is one pickle, as torch.save writes it. */
static bool add_pickle(struct pt2_loader *in, const struct zip_member *member, bool is_constant)
{
    return !member || add_weight(in, (struct pt2_weight){ .fqn = STR(""),
                                                          .path = member->name,
                                                          .member = member,
                                                          .device = STR(""),
                                                          .is_constant = is_constant,
                                                          .use_pickle = true });
}

/* Reads a PayloadMeta; `key` is its fully qualified name. */
static bool read_weight_payload(struct pt2_loader *in, json_id key, const char *folder,
                                bool is_constant)
{
    const struct json *doc = &in->doc;
    json_id meta = json_next(doc, key);
    struct pt2_weight w = { .device = STR(""), .is_constant = is_constant };
    struct str path = json_decoded(doc, json_get(doc, meta, STR("path_name")), &in->pt2->arena);
    struct str fqn = json_decoded(doc, key, &in->pt2->arena);
    if (!path.p || !fqn.p)
        return err_nomem(in->err);
    w.fqn = copy(in, fqn);
    w.member = find_member(in, folder, path, "");
    w.path = copy(in, buf_str(&in->name));
    w.is_param = json_kind_of(doc, json_get(doc, meta, STR("is_param"))) == JSON_TRUE;
    w.use_pickle = json_kind_of(doc, json_get(doc, meta, STR("use_pickle"))) == JSON_TRUE;
    return w.fqn.p && w.path.p &&
           read_tensor_meta(in, json_get(doc, meta, STR("tensor_meta")), &w) && add_weight(in, w);
}

/* Reads a PayloadConfig. */
static bool read_config(struct pt2_loader *in, const struct zip_member *member, const char *folder,
                        bool is_constant)
{
    struct str text;
    if (!read_archive_member(in, member, &text))
        return false;
    if (!json_parse(&in->doc, text, in->err))
        return zip_err_at(member, in->err);
    json_id config = json_get(&in->doc, JSON_ROOT, STR("config"));
    if (json_kind_of(&in->doc, config) != JSON_OBJECT) {
        err_set(in->err, ERR_INPUT, "not a payload config: it has no \"config\"");
        return zip_err_at(member, in->err);
    }
    for (json_id key = json_first(&in->doc, config); key != JSON_NONE;) {
        if (!read_weight_payload(in, key, folder, is_constant))
            return false;
        key = json_next(&in->doc, json_next(&in->doc, key));
    }
    return true;
}

/* Reads the weights of a model: torch 2.8 and later write the first name, nativert's archives
 * have the second, and a pre-release of 2.8 wrote one pickle. */
static bool read_payloads(struct pt2_loader *in, struct str model, const char *folder,
                          const char *config, const char *param_config, bool is_constant)
{
    const struct zip_member *member = find_member(in, folder, model, config);
    if (!member)
        member = find_member(in, folder, model, param_config);
    if (member)
        return read_config(in, member, folder, is_constant);
    return add_pickle(in, find_member(in, folder, model, ".pt"), is_constant);
}

/* ---- models -------------------------------------------------------------------------------- */

/* Moves the weights that were collected to the model. */
static bool finish_model(struct pt2_loader *in, struct pt2_model *model)
{
    struct pt2_weight *weights = arena_array(&in->pt2->arena, struct pt2_weight, in->weights.n);
    if (!weights)
        return err_nomem(in->err);
    for (size_t i = 0; i < in->weights.n; i++)
        weights[i] = in->weights.v[i];
    model->weights = weights;
    model->n_weights = (uint32_t)in->weights.n;
    in->weights.n = 0;
    return true;
}

static bool read_model(struct pt2_loader *in, const struct zip_member *program, struct str name,
                       struct pt2_model *model)
{
    *model = (struct pt2_model){ .name = name, .program = program };
    if (!read_payloads(in, name, "data/weights/", "_weights_config.json",
                       "_model_param_config.json", false) ||
        !read_payloads(in, name, "data/constants/", "_constants_config.json",
                       "_model_constants_config.json", true))
        return false;
    model->sample_inputs = find_member(in, "data/sample_inputs/", name, ".pt");
    return finish_model(in, model);
}

/* Returns NAME of ROOT models/NAME.json; "" for other members. */
static struct str model_name(const struct pt2 *pt2, const struct zip_member *member)
{
    static const struct str FOLDER = { "models/", 7 }, ENDING = { ".json", 5 };
    struct str name = member->name;
    if (!str_starts(name, pt2->root))
        return STR("");
    name = str_from(name, pt2->root.n);
    if (!str_starts(name, FOLDER) || !str_ends(name, ENDING) || name.n <= FOLDER.n + ENDING.n)
        return STR("");
    return (struct str){ name.p + FOLDER.n, name.n - FOLDER.n - ENDING.n };
}

static bool read_models(struct pt2_loader *in)
{
    struct pt2 *pt2 = in->pt2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < pt2->zip.n_members; i++)
        n += model_name(pt2, &pt2->zip.members[i]).n > 0;
    struct pt2_model *models = arena_array(&pt2->arena, struct pt2_model, n);
    if (!models)
        return err_nomem(in->err);
    for (uint32_t i = 0; i < pt2->zip.n_members; i++) {
        struct str name = model_name(pt2, &pt2->zip.members[i]);
        if (name.n > 0 && !read_model(in, &pt2->zip.members[i], name, &models[pt2->n_models++]))
            return false;
    }
    pt2->models = models;
    return true;
}

static bool read_archive(struct pt2_loader *in)
{
    struct str format;
    if (!read_word(in, "archive_format", &format) ||
        !read_word(in, "archive_version", &in->pt2->version) ||
        !read_word(in, "byteorder", &in->pt2->byte_order))
        return false;
    if (!str_is(format, "pt2"))
        return err_set(in->err, ERR_INPUT, "member archive_format does not contain \"pt2\"");
    return read_models(in);
}

static bool read_legacy(struct pt2_loader *in)
{
    struct pt2 *pt2 = in->pt2;
    struct pt2_model *model = arena_new(&pt2->arena, struct pt2_model);
    if (!model)
        return err_nomem(in->err);
    pt2->container = PT2_LEGACY;
    *model = (struct pt2_model){ .name = STR("model"),
                                 .program = find_member(in, "", LEGACY_PROGRAM, "") };
    static const char *const ENDINGS[] = { ".pt", ".json" };
    for (size_t i = 0; i < 2; i++)
        if (!add_pickle(in, find_member(in, "serialized_state_dict", STR(""), ENDINGS[i]), false) ||
            !add_pickle(in, find_member(in, "serialized_constants", STR(""), ENDINGS[i]), true))
            return false;
    model->sample_inputs = find_member(in, "serialized_example_inputs", STR(""), ".pt");
    pt2->models = model;
    pt2->n_models = 1;
    return read_word(in, "version", &pt2->version) && finish_model(in, model);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Returns "bert/" for the first member's "bert/data/weights/weight_0"; "" when it is in no
 * folder. */
static struct str root_of(const struct zip *zip)
{
    if (zip->n_members == 0)
        return STR("");
    struct str name = zip->members[0].name;
    size_t slash = str_find_char(name, '/');
    return slash < name.n ? str_first(name, slash + 1) : STR("");
}

static bool has_format(const struct zip *zip)
{
    static const struct str FORMAT = { "archive_format", 14 };
    struct str root = root_of(zip);
    for (uint32_t i = 0; i < zip->n_members; i++) {
        struct str name = zip->members[i].name;
        if (str_starts(name, root) && str_eq(str_from(name, root.n), FORMAT))
            return true;
    }
    return false;
}

bool pt2_is_one(const struct zip *zip)
{
    return zip_find(zip, LEGACY_PROGRAM) || has_format(zip);
}

static bool read_container(struct pt2_loader *in)
{
    struct pt2 *pt2 = in->pt2;
    pt2->root = pt2->version = pt2->byte_order = STR("");
    if (zip_find(&pt2->zip, LEGACY_PROGRAM))
        return read_legacy(in);
    if (!has_format(&pt2->zip))
        return err_set(in->err, ERR_INPUT,
                       "a ZIP archive, but not a .pt2: it has neither archive_format nor "
                       "serialized_exported_program.json");
    pt2->root = root_of(&pt2->zip);
    return read_archive(in);
}

/* Reads the container, whose members are already listed; on failure the pt2 is closed. */
static bool read_archive_container(struct pt2 *pt2, const struct pt2_reader *reader,
                                   struct err *err)
{
    struct pt2_loader in = { .pt2 = pt2, .reader = reader, .err = err };
    bool ok = read_container(&in) && !err_is_set(err); /* find() may have run out of memory */
    vec_release(&in.weights);
    buf_release(&in.name);
    buf_release(&in.scratch);
    json_release(&in.doc);
    if (!ok)
        pt2_close(pt2);
    return ok;
}

static bool read_from_zip(void *user, const struct zip_member *member, struct buf *scratch,
                          struct str *ret, struct err *err)
{
    return zip_read(user, member, scratch, ret, err);
}

bool pt2_open(struct pt2 *pt2, struct str bytes, const struct zip_limits *limits, struct err *err)
{
    const struct pt2_reader reader = { read_from_zip, &pt2->zip };
    *pt2 = (struct pt2){ 0 };
    return zip_open(&pt2->zip, bytes, limits, err) && read_archive_container(pt2, &reader, err);
}

bool pt2_open_file(struct pt2 *pt2, const struct file *file, const struct zip_limits *limits,
                   struct err *err)
{
    const struct pt2_reader reader = { read_from_zip, &pt2->zip };
    *pt2 = (struct pt2){ 0 };
    return zip_open_file(&pt2->zip, file, limits, err) && read_archive_container(pt2, &reader, err);
}

bool pt2_open_members(struct pt2 *pt2, const struct zip_member *members, uint32_t n,
                      const struct pt2_reader *reader, struct err *err)
{
    *pt2 = (struct pt2){ 0 };
    return zip_of_members(&pt2->zip, members, n, err) && read_archive_container(pt2, reader, err);
}

void pt2_close(struct pt2 *pt2)
{
    zip_close(&pt2->zip);
    arena_release(&pt2->arena);
    *pt2 = (struct pt2){ 0 };
}
