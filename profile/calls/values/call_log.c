#include "profile/calls/values/call_log.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/text/json.h"

enum { MOST_DIMS = 64 };

struct call_reader {
    struct call_log *log;
    struct json doc;
    struct buf pending; /* a line whose end was not read yet */
    uint64_t line;      /* number of lines that were read */
    struct buf spelled;
    struct intern objects; /* the numbers of the objects that were seen */
    vec_of(bool)
    inference; /* by object: whether it was first seen in inference mode */
    struct err *err;
};

bool py_equal(const struct py_value *a, const struct py_value *b)
{
    if (a->kind != b->kind || !str_eq(a->type, b->type))
        return false;
    switch (a->kind) {
    case PY_BOOL:
    case PY_INT: return a->integer == b->integer;
    case PY_FLOAT: return a->real == b->real;
    case PY_STR: return str_eq(a->text, b->text);
    case PY_TENSOR:
    case PY_OBJECT: return a->object == b->object && str_eq(a->text, b->text);
    default: return a->n == b->n;
    }
}

void source_spelling(struct str source, struct buf *out)
{
    for (size_t i = 0; i < source.n; i++) {
        bool plain = source.p[i] == '"' && str_find_char(source, '\'') == source.n;
        buf_putc(out, plain ? '\'' : source.p[i]);
    }
}

static struct str text_of(struct call_reader *in, json_id id)
{
    buf_clear(&in->spelled);
    json_decode(&in->doc, id, &in->spelled);
    uint32_t text =
        in->spelled.failed ? INTERN_NONE : intern(&in->log->texts, buf_str(&in->spelled));
    if (text == INTERN_NONE) {
        err_nomem(in->err);
        return STR("");
    }
    return intern_text(&in->log->texts, text);
}

static bool read_numbers(struct call_reader *in, json_id list, int64_t *ret, uint32_t n)
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

/* Numbers an object, named by the number that the calls give it or by "module 3". An object that is
 * first seen in a call in inference mode was made in that mode. */
static bool number_object(struct call_reader *in, struct str name, bool inference, uint32_t *ret)
{
    uint32_t before = (uint32_t)in->objects.texts.n;
    *ret = intern(&in->objects, name);
    return *ret != INTERN_NONE && (*ret < before || vec_push(&in->inference, inference));
}

static int64_t number_or(const struct json *doc, json_id object, struct str key, int64_t otherwise)
{
    int64_t ret;
    return json_i64(doc, json_get(doc, object, key), &ret) ? ret : otherwise;
}

static bool is_contiguous(const struct tensor_value *tensor)
{
    int64_t expected = 1;
    for (uint32_t i = tensor->n_dims; i-- > 0;) {
        if (tensor->sizes[i] != 1 && tensor->strides[i] != expected)
            return false;
        if (__builtin_mul_overflow(expected, tensor->sizes[i], &expected))
            return false;
    }
    return true;
}

static bool read_tensor(struct call_reader *in, json_id item, struct py_value *ret)
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
    tensor->inference = ret->object != OBJECT_NONE && in->inference.v[ret->object];
    read_marks(doc, json_get(doc, item, STR("marks")), tensor);
    ret->kind = PY_TENSOR;
    ret->tensor = tensor;
    ret->type = text_of(in, json_get(doc, item, STR("class")));
    if (!ret->type.n)
        ret->type = STR("Tensor");
    if (!read_numbers(in, sizes, numbers, (uint32_t)n) ||
        !read_numbers(in, strides, numbers + n, (uint32_t)n))
        return false;
    tensor->plain = number_or(doc, item, STR("offset"), 0) == 0 && is_contiguous(tensor);
    return true;
}

static bool read_keys(struct call_reader *in, json_id keys, struct py_value *ret)
{
    size_t n = json_count(&in->doc, keys);
    struct str *list = arena_array(&in->log->arena, struct str, n + 1);
    if (!list || n > UINT32_MAX)
        return err_nomem(in->err);
    json_id item = json_first(&in->doc, keys);
    for (size_t i = 0; i < n; i++, item = json_next(&in->doc, item))
        list[i] = text_of(in, item);
    ret->kind = PY_DICT;
    ret->keys = list;
    ret->n = (uint32_t)n;
    return true;
}

static bool read_length(struct call_reader *in, json_id item, struct py_value *ret)
{
    uint64_t n;
    if (!json_u64(&in->doc, item, &n) || n > UINT32_MAX)
        return err_set(in->err, ERR_INPUT, "\"len\" is not a length");
    ret->kind = PY_LIST;
    ret->n = (uint32_t)n;
    return true;
}

/* Reads "value" by what JSON says that it is; the class of an object stands there as a string. */
static void read_plain(struct call_reader *in, json_id item, struct py_value *ret)
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
        ret->kind = str_is(ret->type, "str") ? PY_STR : PY_OBJECT;
        ret->text = text_of(in, item);
        break;
    default: ret->kind = PY_OBJECT;
    }
}

static bool read_value(struct call_reader *in, json_id item, const struct call_mode *mode,
                       struct call_value *ret)
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
    if (json_kind_of(doc, object) == JSON_NUMBER &&
        !number_object(in, json_text(doc, object), mode->inference, &ret->value.object))
        return err_nomem(in->err);
    if (json_get(doc, item, STR("size")) != JSON_NONE)
        return read_tensor(in, item, &ret->value);
    ret->value.type = text_of(in, json_get(doc, item, STR("type")));
    json_id keys = json_get(doc, item, STR("keys")), length = json_get(doc, item, STR("len"));
    if (keys != JSON_NONE)
        return read_keys(in, keys, &ret->value);
    if (length != JSON_NONE)
        return read_length(in, length, &ret->value);
    read_plain(in, json_get(doc, item, STR("value")), &ret->value);
    return true;
}

static bool is_true(const struct json *doc, json_id object, struct str key)
{
    return json_kind_of(doc, json_get(doc, object, key)) == JSON_TRUE;
}

static void read_mode(struct call_reader *in, json_id mode, struct call_mode *ret)
{
    const struct json *doc = &in->doc;
    json_id autocast = json_get(doc, mode, STR("autocast"));
    *ret = (struct call_mode){ .known = json_kind_of(doc, mode) == JSON_OBJECT };
    ret->grad = is_true(doc, mode, STR("grad"));
    ret->inference = is_true(doc, mode, STR("inference"));
    ret->deterministic = is_true(doc, mode, STR("deterministic"));
    ret->default_dtype = text_of(in, json_get(doc, mode, STR("default_dtype")));
    ret->autocast_device = text_of(in, json_get(doc, autocast, STR("device")));
    ret->autocast_dtype = text_of(in, json_get(doc, autocast, STR("dtype")));
}

/* Adds what the call says of the module: L['self'], and whether it trains. */
static bool add_module(struct call_reader *in, json_id row, struct call_value *values,
                       struct program_call *call)
{
    json_id training = json_get(&in->doc, row, STR("training"));
    if (call->module >= 0) {
        struct call_value *self = &values[call->n_values++];
        char name[32];
        int n = snprintf(name, sizeof name, "module %lld", (long long)call->module);
        self->source = intern(&in->log->sources, STR("L['self']"));
        self->value = (struct py_value){ .kind = PY_OBJECT };
        if (self->source == INTERN_NONE ||
            !number_object(in, (struct str){ name, (size_t)n }, false, &self->value.object))
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

static bool read_values(struct call_reader *in, json_id row, struct program_call *call)
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
            if (!read_value(in, v, &call->mode, &values[call->n_values++]))
                return false;
    }
    call->values = values;
    return true;
}

/* Reads what the row of a call and that of a frame have in common, and adds it. */
static bool add_call(struct call_reader *in, json_id row, struct program_call *call)
{
    call->code = text_of(in, json_get(&in->doc, row, STR("code")));
    call->module = number_or(&in->doc, row, STR("module"), -1);
    call->region = number_or(&in->doc, row, STR("region"), -1);
    call->backward_of = number_or(&in->doc, row, STR("backward_of"), -1);
    return read_values(in, row, call) && (vec_push(&in->log->calls, *call) || err_nomem(in->err));
}

/* "/home/user/train.py:17:forward": "forward". */
static struct str function_of(struct str code)
{
    size_t colon = code.n;
    while (colon && code.p[colon - 1] != ':')
        colon--;
    return str_from(code, colon);
}

static bool read_frames(struct call_reader *in, const struct program_call *call)
{
    json_id frames = json_get(&in->doc, JSON_ROOT, STR("frames"));
    for (json_id f = json_first(&in->doc, frames); f != JSON_NONE; f = json_next(&in->doc, f)) {
        struct program_call frame = { .number = call->number, .inside = true, .mode = call->mode };
        frame.function = function_of(text_of(in, json_get(&in->doc, f, STR("code"))));
        if (!frame.function.n)
            return err_set(in->err, ERR_INPUT, "a frame has no \"code\"");
        if (!add_call(in, f, &frame))
            return false;
    }
    return true;
}

static bool read_call(struct call_reader *in, struct str line)
{
    struct program_call call = { 0 };
    if (!json_parse(&in->doc, line, in->err))
        return false;
    if (!json_u64(&in->doc, json_get(&in->doc, JSON_ROOT, STR("call")), &call.number))
        return json_kind_of(&in->doc, JSON_ROOT) == JSON_OBJECT ||
               err_set(in->err, ERR_INPUT, "not an object");
    call.function = text_of(in, json_get(&in->doc, JSON_ROOT, STR("function")));
    read_mode(in, json_get(&in->doc, JSON_ROOT, STR("mode")), &call.mode);
    if (!call.function.n)
        return err_set(in->err, ERR_INPUT, "a call has no \"function\"");
    return add_call(in, JSON_ROOT, &call) && read_frames(in, &call);
}

static bool read_line(struct call_reader *in, struct str line)
{
    in->line++;
    line = str_trim(line);
    bool ok = !line.n || (read_call(in, line) && !err_is_set(in->err));
    return ok || err_at(in->err, "line %llu", (unsigned long long)in->line);
}

struct call_reader *call_reader_new(struct call_log *log)
{
    struct call_reader *in = calloc(1, sizeof *in);
    if (in)
        in->log = log;
    return in;
}

bool call_reader_take(struct call_reader *in, struct str piece, struct err *err)
{
    in->err = err;
    while (piece.n) {
        size_t end = str_find_char(piece, '\n');
        struct str part = str_first(piece, end);
        bool ends = end<piece.n, joined = in->pending.n> 0;
        piece = str_from(piece, end + 1);
        if (joined || !ends)
            buf_put(&in->pending, part);
        if (in->pending.failed)
            return err_nomem(err);
        if (!ends)
            break;
        if (!read_line(in, joined ? buf_str(&in->pending) : part))
            return false;
        buf_clear(&in->pending);
    }
    return true;
}

bool call_reader_end(struct call_reader *in, struct err *err)
{
    in->err = err;
    return !in->pending.n || read_line(in, buf_str(&in->pending));
}

void call_reader_free(struct call_reader *in)
{
    if (!in)
        return;
    json_release(&in->doc);
    buf_release(&in->pending);
    buf_release(&in->spelled);
    intern_release(&in->objects);
    vec_release(&in->inference);
    free(in);
}

bool call_log_read(struct call_log *log, struct str text, struct err *err)
{
    struct call_reader *in = call_reader_new(log);
    bool ok = in ? call_reader_take(in, text, err) && call_reader_end(in, err) : err_nomem(err);
    call_reader_free(in);
    return ok;
}

void call_log_release(struct call_log *log)
{
    vec_release(&log->calls);
    intern_release(&log->sources);
    intern_release(&log->texts);
    arena_release(&log->arena);
}
