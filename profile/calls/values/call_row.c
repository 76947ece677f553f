#include "profile/calls/values/call_row.h"

#include <math.h>

enum { MOST_DIMS = 64 };

void source_spelling(struct str source, struct buf *out)
{
    bool single = str_find_char(source, '\'') < source.n;
    for (size_t i = 0; i < source.n; i++)
        buf_putc(out, source.p[i] == '"' && !single ? '\'' : source.p[i]);
}

static struct str spelled_text(struct row_reader *in)
{
    uint32_t text =
        in->spelled.failed ? INTERN_NONE : intern(&in->log->texts, buf_str(&in->spelled));
    if (text == INTERN_NONE) {
        err_nomem(in->err);
        return STR("");
    }
    return intern_text(&in->log->texts, text);
}

static struct str text_of(struct row_reader *in, json_id id)
{
    buf_clear(&in->spelled);
    json_decode(&in->doc, id, &in->spelled);
    return spelled_text(in);
}

/* The key of a dict, or a member of a set. */
static struct str key_of(struct row_reader *in, json_id id)
{
    if (json_kind_of(&in->doc, id) != JSON_NUMBER)
        return text_of(in, id);
    buf_clear(&in->spelled);
    buf_put(&in->spelled, json_text(&in->doc, id));
    return spelled_text(in);
}

static bool read_numbers(struct row_reader *in, json_id list, int64_t *ret, uint32_t n)
{
    json_id item = json_first(&in->doc, list);
    for (uint32_t i = 0; i < n; i++, item = json_next(&in->doc, item))
        if (!json_i64(&in->doc, item, &ret[i]))
            return err_set(in->err, ERR_INPUT, "sizes and strides are lists of integers");
    return true;
}

static uint64_t read_mark(const struct json *doc, json_id list)
{
    uint64_t ret = 0;
    for (json_id item = json_first(doc, list); item != JSON_NONE; item = json_next(doc, item)) {
        uint64_t dim;
        if (json_u64(doc, item, &dim) && dim < MOST_DIMS)
            ret |= 1ull << dim;
    }
    return ret;
}

static void read_marks(const struct json *doc, json_id marks, struct tensor_value *ret)
{
    static const char *const names[] = {
#define MARK(id, name, attribute) name,
        TENSOR_MARKS(MARK)
#undef MARK
    };
    for (int i = 0; i < TENSOR_MARK_COUNT; i++)
        ret->marks[i] = read_mark(doc, json_get(doc, marks, str_of(names[i])));
}

static bool is_true(const struct json *doc, json_id object, struct str key)
{
    return json_kind_of(doc, json_get(doc, object, key)) == JSON_TRUE;
}

static int64_t number_or(const struct json *doc, json_id object, struct str key, int64_t otherwise)
{
    int64_t ret;
    return json_i64(doc, json_get(doc, object, key), &ret) ? ret : otherwise;
}

static bool read_tensor(struct row_reader *in, json_id item, struct py_value *ret)
{
    const struct json *doc = &in->doc;
    struct arena *arena = &in->log->arena;
    json_id sizes = json_get(doc, item, STR("size")), strides = json_get(doc, item, STR("stride"));
    size_t n = json_count(doc, sizes);
    if (n > MOST_DIMS || json_count(doc, strides) != n)
        return err_set(in->err, ERR_INPUT, "a tensor needs as many strides as sizes, at most %d",
                       MOST_DIMS);
    struct tensor_value *tensor = arena_new(arena, struct tensor_value);
    int64_t *numbers = arena_array(arena, int64_t, 2 * n + 1);
    if (!tensor || !numbers)
        return err_nomem(in->err);
    tensor->n_dims = (uint32_t)n;
    tensor->sizes = numbers;
    tensor->strides = numbers + n;
    tensor->dtype = text_of(in, json_get(doc, item, STR("dtype")));
    tensor->device = text_of(in, json_get(doc, item, STR("device")));
    tensor->requires_grad =
        json_kind_of(doc, json_get(doc, item, STR("requires_grad"))) == JSON_TRUE;
    json_id inference = json_get(doc, item, STR("inference"));
    in->states_inference |= inference != JSON_NONE;
    tensor->made_in_inference = json_kind_of(doc, inference) == JSON_TRUE;
    read_marks(doc, json_get(doc, item, STR("marks")), tensor);
    ret->kind = PY_TENSOR;
    ret->tensor = tensor;
    ret->type = text_of(in, json_get(doc, item, STR("class")));
    if (!ret->type.n)
        ret->type = STR("Tensor");
    if (!read_numbers(in, sizes, numbers, (uint32_t)n) ||
        !read_numbers(in, strides, numbers + n, (uint32_t)n))
        return false;
    tensor->offset = number_or(doc, item, STR("offset"), -1);
    tensor->plain = tensor->offset <= 0 && tensor_is_contiguous(tensor);
    return true;
}

static bool read_keys(struct row_reader *in, json_id keys, struct py_value *ret)
{
    size_t n = json_count(&in->doc, keys);
    struct str *list = arena_array(&in->log->arena, struct str, n + 1);
    if (!list || n > UINT32_MAX)
        return err_nomem(in->err);
    json_id item = json_first(&in->doc, keys);
    for (size_t i = 0; i < n; i++, item = json_next(&in->doc, item))
        list[i] = key_of(in, item);
    ret->kind = PY_DICT;
    ret->keys = list;
    ret->n = (uint32_t)n;
    return true;
}

static bool read_length(struct row_reader *in, json_id item, struct py_value *ret)
{
    uint64_t n;
    if (!json_u64(&in->doc, item, &n) || n > UINT32_MAX)
        return err_set(in->err, ERR_INPUT, "\"len\" is not a length");
    ret->kind = PY_LIST;
    ret->n = (uint32_t)n;
    return true;
}

/* Reads a float that JSON has no number for, as Python prints it. */
static bool read_special_float(struct str text, struct py_value *ret)
{
    static const struct {
        const char *text;
        double value;
    } specials[] = { { "-0.0", -0.0 }, { "inf", INFINITY }, { "-inf", -INFINITY }, { "nan", NAN } };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (str_is(text, specials[i].text)) {
            ret->kind = PY_FLOAT;
            ret->real = specials[i].value;
            return true;
        }
    return false;
}

/* Reads "value" by what JSON says that it is; the class of an object stands there as a string. */
static void read_plain(struct row_reader *in, json_id item, struct py_value *ret)
{
    const struct json *doc = &in->doc;
    if (item == JSON_NONE && !str_is(ret->type, "NoneType")) {
        ret->kind = str_is(ret->type, "missing") ? PY_MISSING : PY_OBJECT;
        return;
    }
    switch (json_kind_of(doc, item)) {
    case JSON_NULL: ret->kind = PY_NONE; break;
    case JSON_TRUE:
    case JSON_FALSE:
        ret->kind = PY_BOOL;
        ret->integer = json_kind_of(doc, item) == JSON_TRUE;
        break;
    case JSON_NUMBER:
        ret->kind = PY_FLOAT;
        json_double(doc, item, &ret->real);
        if (!str_is(ret->type, "float") && json_i64(doc, item, &ret->integer))
            ret->kind = PY_INT;
        break;
    case JSON_STRING:
        if (str_is(ret->type, "float") && read_special_float(text_of(in, item), ret))
            break;
        ret->kind = str_is(ret->type, "str") ? PY_STR : PY_OBJECT;
        ret->text = text_of(in, item);
        break;
    default: ret->kind = PY_OBJECT;
    }
}

/* Reads the number of an object in its line; see call_line.h. */
static bool read_object(struct row_reader *in, json_id id, uint32_t *ret)
{
    uint64_t number;
    if (!json_u64(&in->doc, id, &number) || number >= in->n_objects)
        return err_set(in->err, ERR_INPUT, "\"obj\" is not a whole number of at most 18 digits");
    *ret = (uint32_t)number;
    return true;
}

static bool read_value(struct row_reader *in, json_id item, struct call_value *ret)
{
    const struct json *doc = &in->doc;
    json_id object = json_get(doc, item, STR("obj"));
    struct str source = text_of(in, json_get(doc, item, STR("source")));
    if (!source.n)
        return err_set(in->err, ERR_INPUT, "a value has no \"source\"");
    buf_clear(&in->spelled);
    source_spelling(source, &in->spelled);
    *ret = (struct call_value){ .source = in->spelled.failed
                                              ? INTERN_NONE
                                              : intern(&in->log->sources, buf_str(&in->spelled)) };
    if (ret->source == INTERN_NONE)
        return err_nomem(in->err);
    ret->value.object = OBJECT_NONE;
    if (json_kind_of(doc, object) == JSON_NUMBER && !read_object(in, object, &ret->value.object))
        return false;
    if (json_get(doc, item, STR("size")) != JSON_NONE)
        return read_tensor(in, item, &ret->value);
    ret->value.type = text_of(in, json_get(doc, item, STR("type")));
    json_id keys = json_get(doc, item, STR("keys")), length = json_get(doc, item, STR("len"));
    if (keys != JSON_NONE)
        return read_keys(in, keys, &ret->value);
    if (length != JSON_NONE)
        return read_length(in, length, &ret->value);
    read_plain(in, json_get(doc, item, STR("value")), &ret->value);
    ret->value.nn_module = is_true(doc, item, STR("nn_module"));
    return true;
}

static void read_settings(struct row_reader *in, json_id settings, struct str *ret)
{
    static const char *const names[] = {
#define SETTING(name, place) #name,
#include "profile/calls/values/mode_settings.def"
#undef SETTING
    };
    for (int i = 0; i < MODE_SETTING_COUNT; i++)
        ret[i] = text_of(in, json_get(&in->doc, settings, str_of(names[i])));
}

static void read_mode(struct row_reader *in, json_id mode, struct call_mode *ret)
{
    const struct json *doc = &in->doc;
    json_id autocast = json_get(doc, mode, STR("autocast"));
    *ret = (struct call_mode){ .known = json_kind_of(doc, mode) == JSON_OBJECT };
    ret->grad = is_true(doc, mode, STR("grad"));
    ret->inference = is_true(doc, mode, STR("inference"));
    ret->deterministic = is_true(doc, mode, STR("deterministic"));
    ret->default_dtype = text_of(in, json_get(doc, mode, STR("default_dtype")));
    ret->function_modes = text_of(in, json_get(doc, mode, STR("function_modes")));
    ret->autocast_device = text_of(in, json_get(doc, autocast, STR("device")));
    ret->autocast_dtype = text_of(in, json_get(doc, autocast, STR("dtype")));
    if (json_kind_of(doc, json_get(doc, mode, STR("settings"))) == JSON_OBJECT)
        read_settings(in, json_get(doc, mode, STR("settings")), ret->settings);
}

/* Adds what the call says of the module: L['self'], and whether it trains. */
static bool add_module(struct row_reader *in, json_id row, struct call_value *values,
                       struct program_call *call)
{
    json_id training = json_get(&in->doc, row, STR("training"));
    if (call->module >= 0) {
        struct call_value *self = &values[call->n_values++];
        self->source = intern(&in->log->sources, STR("L['self']"));
        self->value = (struct py_value){ .kind = PY_OBJECT, .nn_module = true };
        self->value.object = in->n_objects + (uint32_t)in->modules.n;
        if (self->source == INTERN_NONE || !vec_push(&in->modules, (uint64_t)call->module))
            return err_nomem(in->err);
    }
    if (json_kind_of(&in->doc, training) != JSON_NULL) {
        struct call_value *flag = &values[call->n_values++];
        flag->source = intern(&in->log->sources, STR("L['self'].training"));
        flag->value = (struct py_value){ .kind = PY_BOOL,
                                         .type = STR("bool"),
                                         .integer = json_kind_of(&in->doc, training) == JSON_TRUE,
                                         .object = OBJECT_NONE };
        if (flag->source == INTERN_NONE)
            return err_nomem(in->err);
    }
    return true;
}

static bool read_values(struct row_reader *in, json_id row, struct program_call *call)
{
    static const struct str LISTS[] = { { "args", 4 }, { "state", 5 } };
    const struct json *doc = &in->doc;
    size_t n = 2;
    for (int i = 0; i < 2; i++)
        n += json_count(doc, json_get(doc, row, LISTS[i]));
    struct call_value *values = arena_array(&in->log->arena, struct call_value, n);
    if (!values || n > UINT32_MAX)
        return err_nomem(in->err);
    if (!add_module(in, row, values, call))
        return false;
    for (int i = 0; i < 2; i++) {
        json_id list = json_get(doc, row, LISTS[i]);
        for (json_id v = json_first(doc, list); v != JSON_NONE; v = json_next(doc, v))
            if (!read_value(in, v, &values[call->n_values++]))
                return false;
    }
    call->values = values;
    return true;
}

static enum call_stance read_stance(struct row_reader *in)
{
    static const struct {
        const char *name;
        enum call_stance stance;
    } stances[] = { { "force_eager", STANCE_FORCE_EAGER },
                    { "eager_on_recompile", STANCE_EAGER_ON_RECOMPILE },
                    { "fail_on_recompile", STANCE_FAIL_ON_RECOMPILE },
                    { "eager_then_compile", STANCE_EAGER_THEN_COMPILE } };
    struct str name = text_of(in, json_get(&in->doc, JSON_ROOT, STR("stance")));
    for (size_t i = 0; i < sizeof stances / sizeof *stances; i++)
        if (str_is(name, stances[i].name))
            return stances[i].stance;
    return STANCE_DEFAULT;
}

static uint64_t count_or_zero(const struct json *doc, struct str key)
{
    uint64_t ret;
    return json_u64(doc, json_get(doc, JSON_ROOT, key), &ret) ? ret : 0;
}

/* Reads what the row of a call and that of a frame have in common, and adds it. */
static bool add_call(struct row_reader *in, json_id row, struct program_call *call)
{
    call->code = text_of(in, json_get(&in->doc, row, STR("code")));
    call->frame_id = number_or(&in->doc, row, STR("frame_id"), -1);
    call->module = number_or(&in->doc, row, STR("module"), -1);
    call->region = number_or(&in->doc, row, STR("region"), -1);
    call->backward_of = number_or(&in->doc, row, STR("backward_of"), -1);
    call->look = number_or(&in->doc, row, STR("look"), -1);
    call->parent = number_or(&in->doc, row, STR("parent"), -1);
    call->form = in->log->n_forms++;
    return read_values(in, row, call) && (vec_push(&in->calls, *call) || err_nomem(in->err));
}

/* "/home/user/train.py:17:forward": "forward". */
static struct str function_of(struct str code)
{
    size_t colon = code.n;
    while (colon && code.p[colon - 1] != ':')
        colon--;
    return str_from(code, colon);
}

static bool read_frames(struct row_reader *in, const struct program_call *call)
{
    json_id frames = json_get(&in->doc, JSON_ROOT, STR("frames"));
    for (json_id f = json_first(&in->doc, frames); f != JSON_NONE; f = json_next(&in->doc, f)) {
        struct program_call frame = { .number = call->number, .inside = true, .mode = call->mode };
        frame.backend = call->backend;
        frame.stance = call->stance;
        frame.resets = call->resets;
        frame.generation = call->generation;
        frame.function = function_of(text_of(in, json_get(&in->doc, f, STR("code"))));
        if (!frame.function.n)
            return err_set(in->err, ERR_INPUT, "a frame has no \"code\"");
        if (!add_call(in, f, &frame))
            return false;
    }
    return true;
}

bool call_row_read(struct row_reader *in, struct str line, uint32_t n_objects, struct err *err)
{
    struct program_call call = { 0 };
    in->err = err;
    in->n_objects = n_objects;
    in->calls.n = in->modules.n = 0;
    if (!json_parse(&in->doc, line, in->err))
        return false;
    if (!json_u64(&in->doc, json_get(&in->doc, JSON_ROOT, STR("call")), &call.number))
        return json_kind_of(&in->doc, JSON_ROOT) == JSON_OBJECT ||
               err_set(in->err, ERR_INPUT, "not an object");
    call.function = text_of(in, json_get(&in->doc, JSON_ROOT, STR("function")));
    call.backend = text_of(in, json_get(&in->doc, JSON_ROOT, STR("backend")));
    call.stance = read_stance(in);
    call.resets = count_or_zero(&in->doc, STR("resets"));
    call.generation = count_or_zero(&in->doc, STR("generation"));
    read_mode(in, json_get(&in->doc, JSON_ROOT, STR("mode")), &call.mode);
    if (!call.function.n)
        return err_set(in->err, ERR_INPUT, "a call has no \"function\"");
    return add_call(in, JSON_ROOT, &call) && read_frames(in, &call) && !err_is_set(err);
}

void row_reader_release(struct row_reader *in)
{
    json_release(&in->doc);
    buf_release(&in->spelled);
    vec_release(&in->calls);
    vec_release(&in->modules);
}
