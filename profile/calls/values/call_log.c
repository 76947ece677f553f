#include "profile/calls/values/call_log.h"

#include <stdlib.h>

#include "profile/calls/values/call_line.h"
#include "profile/calls/values/call_row.h"

/* Lines that are kept, so that equal ones are read once; later ones that are new are not kept. */
enum { MOST_KEPT = 64 << 20 };

/* A line that is kept: its call, and the frames inside it. */
struct line_form {
    uint32_t first, n; /* in call_reader.templates */
    uint32_t first_module, n_modules;
};

/* A row of a tape whose line is kept. */
struct known_row {
    uint32_t form;     /* in call_reader.forms; INTERN_NONE: the row is not known */
    uint32_t first, n; /* names of its objects, in call_reader.names */
    bool has_backward_of, has_parent;
};

struct call_reader {
    struct call_log *log;
    struct row_reader row;
    struct call_line one;
    struct call_objects objects;
    struct intern lines; /* without what differs from call to call */
    vec_of(struct line_form)
    forms; /* by line */
    vec_of(struct program_call)
    templates;
    vec_of(uint64_t)
    modules;
    vec_of(struct known_row)
    rows; /* by recorded_call.row */
    vec_of(uint64_t)
    names;
    struct buf line_text; /* of a recorded call */
    struct buf pending;   /* a line whose end was not read yet */
    uint64_t line;        /* number of lines that were read */
};

/* The objects of the line that was read, then its modules. */
static bool line_objects(struct call_reader *in, const uint64_t *modules, size_t n_modules,
                         bool inference, uint32_t n_before, const struct call_object **ret)
{
    size_t n = in->one.objects.n;
    struct call_object *list = arena_array(&in->log->arena, struct call_object, n + n_modules);
    *ret = list;
    if (!list && n + n_modules)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = in->one.objects.v[i];
        if (id >= n_before)
            in->objects.inference.v[id] = inference && !in->row.states_inference;
        list[i] = (struct call_object){ id, in->objects.inference.v[id] };
    }
    for (size_t i = 0; i < n_modules; i++) {
        list[n + i].number = call_object(&in->objects, modules[i] | 1ull << 63);
        if (list[n + i].number == INTERN_NONE)
            return false;
    }
    return true;
}

/* Adds the calls of a line. `n_before`: number of objects that were known before it. */
static bool add_calls(struct call_reader *in, const struct program_call *calls, size_t n,
                      const uint64_t *modules, size_t n_modules, uint32_t n_before, struct err *err)
{
    const struct call_object *objects;
    if (!n)
        return true;
    if (!line_objects(in, modules, n_modules, calls[0].mode.inference, n_before, &objects))
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        struct program_call call = calls[i];
        if (in->one.has_number)
            call.number = in->one.number;
        if (in->one.has_backward_of && !call.inside)
            call.backward_of = (int64_t)in->one.backward_of;
        if (in->one.has_parent && !call.inside)
            call.parent = (int64_t)in->one.parent;
        call.objects = objects;
        call.n_objects = (uint32_t)(in->one.objects.n + n_modules);
        if (!vec_push(&in->log->calls, call))
            return err_nomem(err);
    }
    return true;
}

/* Keeps the calls of a line that was read, under the number that interning gave it. */
static bool keep(struct call_reader *in)
{
    struct line_form form = { (uint32_t)in->templates.n, (uint32_t)in->row.calls.n,
                              (uint32_t)in->modules.n, (uint32_t)in->row.modules.n };
    for (size_t i = 0; i < in->row.calls.n; i++)
        if (!vec_push(&in->templates, in->row.calls.v[i]))
            return false;
    for (size_t i = 0; i < in->row.modules.n; i++)
        if (!vec_push(&in->modules, in->row.modules.v[i]))
            return false;
    return vec_push(&in->forms, form);
}

/* Reads the calls of a line that is new. Where it is not JSON, the error has the place in the line
 * itself, whose numbers are longer. */
static bool read_new(struct call_reader *in, struct str line, uint32_t n_before, struct err *err)
{
    struct str text = buf_str(&in->one.text);
    if (!call_row_read(&in->row, text, (uint32_t)in->one.objects.n, err)) {
        struct err why = { .kind = ERR_NONE };
        if (err->kind == ERR_INPUT && !json_parse(&in->row.doc, line, &why))
            *err = why;
        return false;
    }
    if (in->lines.arena.bytes + text.n <= MOST_KEPT &&
        (intern(&in->lines, text) == INTERN_NONE || !keep(in)))
        return err_nomem(err);
    return add_calls(in, in->row.calls.v, in->row.calls.n, in->row.modules.v, in->row.modules.n,
                     n_before, err);
}

static bool add_calls_of(struct call_reader *in, uint32_t id, uint32_t n_before, struct err *err)
{
    const struct line_form *form = &in->forms.v[id];
    return add_calls(in, vec_from(&in->templates, form->first), form->n,
                     vec_from(&in->modules, form->first_module), form->n_modules, n_before, err);
}

static bool read_call(struct call_reader *in, struct str line, uint32_t n_before, struct err *err)
{
    if (!call_line_read(&in->one, line, &in->objects))
        return err_nomem(err);
    uint32_t id = intern_find(&in->lines, buf_str(&in->one.text));
    return id == INTERN_NONE ? read_new(in, line, n_before, err)
                             : add_calls_of(in, id, n_before, err);
}

static bool read_line(struct call_reader *in, struct str line, struct err *err)
{
    in->line++;
    line = str_trim(line);
    return !line.n || read_call(in, line, (uint32_t)in->objects.names.n, err) ||
           err_at(err, "line %llu", (unsigned long long)in->line);
}

struct call_reader *call_reader_new(struct call_log *log)
{
    struct call_reader *in = calloc(1, sizeof *in);
    if (in)
        in->log = in->row.log = log;
    return in;
}

bool call_reader_take(struct call_reader *in, struct str piece, struct err *err)
{
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
        if (!read_line(in, joined ? buf_str(&in->pending) : part, err))
            return false;
        buf_clear(&in->pending);
    }
    return true;
}

/* Remembers the row of a call whose line was read, if it is kept. */
static bool know_row(struct call_reader *in, const struct recorded_call *call)
{
    uint32_t form = intern_find(&in->lines, buf_str(&in->one.text));
    struct known_row row = { form, (uint32_t)in->names.n, (uint32_t)in->one.objects.n,
                             in->one.has_backward_of, in->one.has_parent };
    if (form == INTERN_NONE || call->first != call->to)
        return true;
    for (size_t i = 0; i < row.n; i++)
        if (!vec_push(&in->names, in->objects.names.v[in->one.objects.v[i]]))
            return false;
    while (in->rows.n <= call->row)
        if (!vec_push(&in->rows, (struct known_row){ .form = INTERN_NONE }))
            return false;
    in->rows.v[call->row] = row;
    return true;
}

/* Adds a call of a row that is known. *done is false if its line has another form. */
static bool add_known(struct call_reader *in, const struct recorded_call *call, uint32_t n_before,
                      bool *done, struct err *err)
{
    const struct known_row *row = &in->rows.v[call->row];
    *done = row->has_backward_of == (call->backward_of != RECORDED_NONE) &&
            row->has_parent == (call->parent != RECORDED_NONE);
    if (*done && !call_line_of_row(&in->one, call, vec_from(&in->names, row->first), row->n,
                                   &in->objects, done))
        return err_nomem(err);
    return !*done || add_calls_of(in, row->form, n_before, err);
}

static bool add_recorded(struct call_reader *in, const struct recorded_call *call, struct err *err)
{
    bool known = call->row < in->rows.n && in->rows.v[call->row].form != INTERN_NONE, done = false;
    uint32_t n_before = (uint32_t)in->objects.names.n;
    in->line++;
    if (known && !add_known(in, call, n_before, &done, err))
        return false;
    if (done)
        return true;
    buf_clear(&in->line_text);
    recorded_call_put(call, &in->line_text);
    if (in->line_text.failed)
        return err_nomem(err);
    if (!read_call(in, str_trim(buf_str(&in->line_text)), n_before, err))
        return err_at(err, "line %llu", (unsigned long long)in->line);
    return known || know_row(in, call) || err_nomem(err);
}

bool call_reader_recorded(struct call_reader *in, const struct recorded_call *call, struct err *err)
{
    size_t first = in->log->calls.n;
    if (!add_recorded(in, call, err))
        return false;
    for (size_t i = first; i < in->log->calls.n; i++)
        if (!in->log->calls.v[i].inside && call->seconds > 0)
            in->log->calls.v[i].seconds = call->seconds;
    return true;
}

bool call_reader_end(struct call_reader *in, struct err *err)
{
    bool ok = !in->pending.n || read_line(in, buf_str(&in->pending), err);
    in->log->n_listed = (uint32_t)in->log->sources.texts.n;
    return ok;
}

void call_reader_free(struct call_reader *in)
{
    if (!in)
        return;
    row_reader_release(&in->row);
    call_line_release(&in->one);
    call_objects_release(&in->objects);
    intern_release(&in->lines);
    vec_release(&in->forms);
    vec_release(&in->templates);
    vec_release(&in->modules);
    vec_release(&in->rows);
    vec_release(&in->names);
    buf_release(&in->line_text);
    buf_release(&in->pending);
    free(in);
}

bool call_log_read(struct call_log *log, struct str text, struct err *err)
{
    struct call_reader *in = call_reader_new(log);
    bool ok = in ? call_reader_take(in, text, err) && call_reader_end(in, err) : err_nomem(err);
    call_reader_free(in);
    return ok;
}

struct py_value program_call_value(const struct program_call *call, uint32_t i)
{
    struct py_value ret = call->values[i].value;
    ret.inference = ret.kind == PY_TENSOR && ret.tensor->made_in_inference;
    if (ret.object != OBJECT_NONE) {
        const struct call_object *object = &call->objects[ret.object];
        ret.inference |= object->inference;
        ret.object = object->number;
    }
    return ret;
}

void call_mode_put(const struct call_mode *mode, struct buf *out)
{
    buf_putc(out, (char)(mode->known | mode->grad << 1 | mode->inference << 2 |
                         mode->deterministic << 3));
    buf_counted(out, mode->autocast_device);
    buf_counted(out, mode->autocast_dtype);
    buf_counted(out, mode->default_dtype);
    buf_counted(out, mode->function_modes);
    for (int i = 0; i < MODE_SETTING_COUNT; i++)
        buf_counted(out, mode->settings[i]);
}

void call_log_release(struct call_log *log)
{
    vec_release(&log->calls);
    intern_release(&log->sources);
    intern_release(&log->texts);
    arena_release(&log->arena);
}
