#include "profile/calls/cache/written_calls.h"

#include "profile/calls/cache/code_choice.h"
#include "profile/calls/guards/entry_guards.h"
#include "profile/calls/values/python_scan.h"
#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"
#include "trace/events/symbols.h"

enum { MOST_SIZES = 64 };

struct written_input {
    struct str name, source; /* as written, and as guards spell it: that of the tensor of a size */
    uint32_t dim;            /* of a size; NO_DIM */
    uint32_t from_end;       /* of size(-1), 1, until the rank is known; or 0 */
    struct str values;       /* "4,8,8,6" */
    uint32_t n;
    struct str rest, last;             /* values that follow; the value of the present call */
    uint32_t code;                     /* of the tape, or CALL_NONE */
    const struct tensor_check *tensor; /* of a size */
    int64_t sizes[MOST_SIZES]; /* of the tensor; negative where it is dynamic without a hint */
    bool bare;                 /* the name is that of no symbol, and has no other parts */
};

struct written {
    struct trace *trace;
    uint32_t recording;
    struct arena arena;
    struct json number;
    struct tape_compiles tape;
    struct intern sources;
    struct world world;
    struct entry_guards guards[WRITTEN_INPUTS]; /* of the compile that has the tensor of an input */
    struct written_input inputs[WRITTEN_INPUTS];
    uint32_t n;
    struct err *err;
};

/* Removes the part of a text up to a separator that stands in no string or bracket. */
static struct str take_part(struct str *text, char separator)
{
    struct python_scan scan = { *text };
    struct str part = *text;
    while (python_scan_next(&scan))
        if (scan.depth == 0 && scan.c == separator) {
            *text = str_from(part, scan.at + 1);
            return str_trim(str_first(part, scan.at));
        }
    *text = STR("");
    return str_trim(part);
}

/* Memory that ran out is an error; a text that is no number is none. */
static bool read_number(struct written *w, struct str value, double *ret)
{
    struct err why = { 0 };
    bool ok = json_parse(&w->number, value, &why);
    if (!ok && why.kind == ERR_ENV)
        *w->err = why;
    return ok && json_kind_of(&w->number, JSON_ROOT) == JSON_NUMBER &&
           json_double(&w->number, JSON_ROOT, ret);
}

static bool is_value(struct written *w, struct str value)
{
    double real;
    char quote = value.n >= 2 ? value.p[0] : 0;
    if ((quote == '\'' || quote == '"') && value.p[value.n - 1] == quote)
        return str_find_char(str_from(value, 1), quote) == value.n - 2;
    return str_is(value, "True") || str_is(value, "False") || str_is(value, "None") ||
           read_number(w, value, &real);
}

static bool read_values(struct written *w, struct written_input *input)
{
    struct str rest = input->values;
    int64_t size;
    while (rest.n) {
        struct str value = take_part(&rest, ',');
        bool valid =
            is_value(w, value) && (input->dim == NO_DIM || (str_to_i64(value, &size) && size >= 0));
        if (err_is_set(w->err))
            return false;
        if (!valid)
            return err_set(w->err, ERR_USAGE, "%.*s: \"%.*s\" is no value of it",
                           STR_ARG(input->name), STR_ARG(value));
        if (++input->n > WRITTEN_CALLS)
            return err_set(w->err, ERR_USAGE, "%.*s: more than %d values", STR_ARG(input->name),
                           WRITTEN_CALLS);
    }
    input->rest = input->values;
    return true;
}

/* ---- Names ---- */

/* Returns the source of a symbol, the first that the recording has of this name; "" if none. */
static bool source_of_symbol(struct written *w, struct str name, struct str *ret)
{
    const struct symbol_table *table = trace_symbols(w->trace, w->err);
    *ret = STR("");
    if (!table)
        return false;
    for (uint32_t i = 0; i < table->n_symbols && !ret->n; i++)
        if (table->symbols[i].recording == w->recording && str_eq(table->symbols[i].name, name))
            *ret = table->symbols[i].source;
    return true;
}

/* Splits "L['x'].size()[0]", or the same with .shape[0] or .size(0), into the tensor and the
 * dimension, which may be counted from the end: .size(-1). */
static void split_size(struct written_input *input)
{
    static const struct {
        struct str before, after;
    } FORMS[] = {
        { { ".size()[", 8 }, { "]", 1 } },
        { { ".shape[", 7 }, { "]", 1 } },
        { { ".size(", 6 }, { ")", 1 } },
    };
    int64_t dim;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        size_t at = str_find(input->source, FORMS[i].before);
        struct str number = str_from(input->source, at + FORMS[i].before.n);
        if (at == input->source.n || !str_ends(number, FORMS[i].after) ||
            !str_to_i64(str_first(number, number.n - 1), &dim) || dim < -MOST_SIZES ||
            dim >= NO_DIM)
            continue;
        input->dim = dim < 0 ? 0 : (uint32_t)dim;
        input->from_end = dim < 0 ? (uint32_t)-dim : 0;
        input->source = str_first(input->source, at);
        return;
    }
}

static bool resolve_name(struct written *w, struct written_input *input)
{
    struct buf spelled = BUF_INIT;
    struct str source = STR("");
    input->bare = input->name.n > 0;
    for (size_t i = 0; i < input->name.n; i++)
        input->bare &= is_word_char(input->name.p[i]);
    if (input->bare && !source_of_symbol(w, input->name, &source))
        return false;
    input->bare &= !source.n;
    if (source.n)
        source_spelling(source, &spelled);
    else
        put_named_source(input->name, &spelled);
    input->source = spelled.failed ? (struct str){ 0 } : arena_copy(&w->arena, buf_str(&spelled));
    buf_release(&spelled);
    if (!input->source.p)
        return err_nomem(w->err);
    split_size(input);
    return true;
}

/* ---- What the tape says of an input ---- */

static const struct tensor_check *find_tensor(const struct entry_guards *guards, struct str source)
{
    for (size_t i = 0; i < guards->tensors.n; i++)
        if (str_eq(guards->tensors.v[i].name, source))
            return &guards->tensors.v[i];
    return NULL;
}

/* Sets the sizes of the tensor of an input: those that its guards have, or where one is dynamic
 * there the hint of its symbol, the first of the recording. */
static bool read_sizes(struct written *w, struct written_input *input,
                       const struct entry_guards *guards)
{
    const struct tensor_check *tensor = input->tensor;
    const struct symbol_table *table = trace_symbols(w->trace, w->err);
    if (!table)
        return false;
    if (tensor->n_sizes > MOST_SIZES)
        return err_set(w->err, ERR_INPUT, "%.*s has more than %d dimensions on the tape",
                       STR_ARG(input->source), MOST_SIZES);
    for (uint32_t d = 0; d < tensor->n_sizes; d++)
        input->sizes[d] = guards->dims.v[tensor->first + d];
    for (uint32_t i = 0; i < table->n_symbols; i++) {
        const struct symbol *symbol = &table->symbols[i];
        struct written_input size = { .source = symbol->source, .dim = NO_DIM };
        if (symbol->recording != w->recording || !str_starts(symbol->source, input->source))
            continue;
        split_size(&size);
        if (size.dim < tensor->n_sizes && str_eq(size.source, input->source) &&
            input->sizes[size.dim] == ANY_SIZE)
            (void)str_to_i64(symbol->value, &input->sizes[size.dim]);
    }
    return true;
}

/* Reads the guards of the first compile whose tree names the input. */
static bool find_input(struct written *w, uint32_t number)
{
    struct written_input *input = &w->inputs[number];
    static const struct call_mode NO_MODE;
    for (uint32_t c = 0; c < w->tape.codes.n; c++)
        for (size_t i = 0; i < w->tape.codes.v[c].compiles.n; i++) {
            struct str tree = w->tape.codes.v[c].compiles.v[i].tree;
            struct entry_guards *guards = &w->guards[number];
            if (!str_contains(tree, input->source))
                continue;
            input->code = c;
            if (input->dim == NO_DIM)
                return true;
            entry_guards_release(guards);
            *guards = (struct entry_guards){ 0 };
            if (!entry_guards_read(guards, tree, &w->world, &NO_MODE, w->err))
                return false;
            input->tensor = find_tensor(guards, input->source);
            uint32_t rank = input->tensor ? input->tensor->n_sizes : 0;
            if (input->dim >= rank || input->from_end > rank)
                continue;
            if (input->from_end)
                input->dim = rank - input->from_end;
            return read_sizes(w, input, guards);
        }
    if (input->bare)
        return err_set(w->err, ERR_USAGE, "the tape has no symbol %.*s, and no guard about %.*s",
                       STR_ARG(input->name), STR_ARG(input->source));
    return err_set(w->err, ERR_USAGE, "no guard on the tape is about %.*s", STR_ARG(input->name));
}

static bool read_inputs(struct written *w, struct str text)
{
    while (text.n) {
        struct str part = take_part(&text, ';');
        struct written_input input = { .dim = NO_DIM, .code = CALL_NONE };
        if (!part.n)
            continue;
        input.values = part;
        input.name = take_part(&input.values, '=');
        if (w->n == WRITTEN_INPUTS)
            return err_set(w->err, ERR_USAGE, "more than %d inputs", WRITTEN_INPUTS);
        if (!input.name.n)
            return err_set(w->err, ERR_USAGE, "%.*s: an input is NAME=VALUE,VALUE...",
                           STR_ARG(part));
        if (!input.values.n)
            return err_set(w->err, ERR_USAGE, "give values of %.*s: %.*s=4,8", STR_ARG(input.name),
                           STR_ARG(input.name));
        w->inputs[w->n] = input;
        if (!resolve_name(w, &w->inputs[w->n]) || !read_values(w, &w->inputs[w->n]) ||
            !find_input(w, w->n++))
            return false;
        if (w->inputs[w->n - 1].code != w->inputs[0].code)
            return err_set(w->err, ERR_USAGE, "%.*s and %.*s are inputs of different functions",
                           STR_ARG(w->inputs[0].name), STR_ARG(w->inputs[w->n - 1].name));
    }
    return w->n || err_set(w->err, ERR_USAGE, "no inputs are given");
}

/* ---- Calls ---- */

static void put_value(struct written *w, struct str value, struct json_writer *out)
{
    int64_t integer;
    double real = 0;
    json_put_cstr(out, "type",
                  value.p[0] == '\'' || value.p[0] == '"'           ? "str"
                  : str_is(value, "True") || str_is(value, "False") ? "bool"
                  : str_is(value, "None")                           ? "NoneType"
                  : str_to_i64(value, &integer)                     ? "int"
                                                                    : "float");
    if (value.p[0] == '\'' || value.p[0] == '"')
        json_put_str(out, "value", str_from(str_first(value, value.n - 1), 1));
    else if (str_is(value, "True") || str_is(value, "False"))
        json_put_bool(out, "value", str_is(value, "True"));
    else if (str_is(value, "None"))
        json_put_null(out, "value");
    else if (str_to_i64(value, &integer))
        json_put_i64(out, "value", integer);
    else if (read_number(w, value, &real))
        json_put_double(out, "value", real);
}

static bool put_tensor(struct written *w, const struct written_input *input,
                       struct json_writer *out)
{
    const struct tensor_check *tensor = input->tensor;
    bool cpu = str_contains(tensor->keys, STR("CPU"));
    int64_t sizes[MOST_SIZES], strides[MOST_SIZES], stride = 1;
    memcpy(sizes, input->sizes, sizeof sizes);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->inputs[i].dim < tensor->n_sizes && str_eq(w->inputs[i].source, input->source))
            (void)str_to_i64(w->inputs[i].last, &sizes[w->inputs[i].dim]);
    for (uint32_t d = 0; d < tensor->n_sizes; d++)
        if (sizes[d] < 0)
            return err_set(
                w->err, ERR_USAGE,
                "%.*s: size %u of %.*s is dynamic on the tape, so it is to be given, too",
                STR_ARG(input->name), d, STR_ARG(input->source));
    for (uint32_t d = tensor->n_sizes; d-- > 0;) { /* those of a contiguous tensor */
        strides[d] = stride;
        if (d && __builtin_mul_overflow(stride, sizes[d] > 1 ? sizes[d] : 1, &stride))
            return err_set(w->err, ERR_USAGE, "%.*s is too large", STR_ARG(input->source));
    }
    json_open_array(out, "size");
    for (uint32_t d = 0; d < tensor->n_sizes; d++)
        json_put_i64(out, NULL, sizes[d]);
    json_close(out);
    json_open_array(out, "stride");
    for (uint32_t d = 0; d < tensor->n_sizes; d++)
        json_put_i64(out, NULL, strides[d]);
    json_close(out);
    json_put_str(out, "dtype", tensor->dtype);
    json_put_cstr(out, "device", cpu ? "cpu" : "cuda");
    json_put_bool(out, "requires_grad", tensor->requires_grad);
    if (!str_is(tensor->type, "Tensor"))
        json_put_str(out, "class", tensor->type);
    return true;
}

static bool is_first_of_source(const struct written *w, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (str_eq(w->inputs[i].source, w->inputs[number].source))
            return false;
    return true;
}

static bool put_call(struct written *w, uint32_t number, struct buf *lines)
{
    const struct tape_code *code = &w->tape.codes.v[w->inputs[0].code];
    struct json_writer out = json_writer_of(lines);
    struct buf name = BUF_INIT;
    put_code_name(code, &name);
    json_open_object(&out, NULL);
    json_put_u64(&out, "call", number);
    json_put_str(&out, "function", code->function.n ? code->function : STR("function"));
    json_put_str(&out, "code", buf_str(&name));
    json_open_array(&out, "args");
    for (uint32_t i = 0; i < w->n; i++)
        if (w->inputs[i].rest.n)
            w->inputs[i].last = take_part(&w->inputs[i].rest, ',');
    bool ok = !name.failed || err_nomem(w->err);
    for (uint32_t i = 0; ok && i < w->n; i++) {
        if (!is_first_of_source(w, i))
            continue;
        json_open_object(&out, NULL);
        json_put_str(&out, "source", w->inputs[i].source);
        if (w->inputs[i].dim == NO_DIM)
            put_value(w, w->inputs[i].last, &out);
        else
            ok = put_tensor(w, &w->inputs[i], &out);
        json_close(&out);
    }
    json_close(&out);
    json_close(&out);
    buf_putc(lines, '\n');
    buf_release(&name);
    return ok && !err_is_set(w->err) && (!lines->failed || err_nomem(w->err));
}

bool written_calls_read(struct trace *trace, uint32_t recording, struct str text, struct buf *lines,
                        struct err *err)
{
    struct written *w = calloc(1, sizeof *w);
    if (!w)
        return err_nomem(err);
    w->trace = trace;
    w->recording = recording;
    w->world.sources = &w->sources;
    w->err = err;
    bool ok = tape_compiles_read(&w->tape, trace, recording, err) && read_inputs(w, text);
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++)
        n = w->inputs[i].n > n ? w->inputs[i].n : n;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = put_call(w, i, lines);
    for (uint32_t i = 0; i < WRITTEN_INPUTS; i++)
        entry_guards_release(&w->guards[i]);
    world_release(&w->world);
    intern_release(&w->sources);
    tape_compiles_release(&w->tape);
    json_release(&w->number);
    arena_release(&w->arena);
    free(w);
    return ok;
}
