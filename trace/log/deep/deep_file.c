#include "trace/log/deep/deep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/text/json_write.h"
#include "trace/graph/traceback.h"

enum { DEEPEST_STACK = 256, LONGEST_NAME = 4096 };

#define FILE_LIMIT        ((uint64_t)4 << 30)
#define STACK_TEXTS_LIMIT ((size_t)256 << 20)

static const char *fields_of(enum deep_event_type type)
{
    switch (type) {
#define DEEP_EVENT(name, number, fields) \
    case DEEP_##name:                    \
        return fields;
#include "trace/log/deep/deep_format.def"
#undef DEEP_EVENT
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * Bytes. */

static bool read_side_file(int fd, uint64_t size, struct buf *out, const char *path,
                           struct err *err)
{
    if (!buf_reserve(out, size))
        return err_nomem(err);
    while (out->n < size) {
        ssize_t n = read(fd, out->p + out->n, size - out->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "%s", path);
        if (n == 0)
            break;
        out->n += (size_t)n;
    }
    return true;
}

/* Returns whether a file begins like a side file. A pipe is not opened, because its writer would
 * notice that the reader closes it. */
bool deep_file_is(const char *path)
{
    char magic[8] = "";
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, magic, sizeof magic) : -1;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof magic && memcmp(magic, DEEP_MAGIC, sizeof magic) == 0;
}

static bool start_reading(struct deep_file *file, const char *path, struct err *err);

bool deep_file_open(struct deep_file *file, const char *path, struct err *err)
{
    struct stat info;
    *file = (struct deep_file){ 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "%s", path);
    bool ok = fstat(fd, &info) == 0 || err_errno(err, "%s", path);
    if (ok && (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > FILE_LIMIT))
        ok = err_set(err, ERR_INPUT, "%s: not a side file of a deep recording", path);
    ok = ok && read_side_file(fd, (uint64_t)info.st_size, &file->data, path, err);
    close(fd);
    return ok && start_reading(file, path, err);
}

bool deep_file_read(struct deep_file *file, struct str bytes, struct err *err)
{
    *file = (struct deep_file){ 0 };
    buf_put(&file->data, bytes);
    return file->data.failed ? err_nomem(err) : start_reading(file, "side file", err);
}

void deep_file_release(struct deep_file *file)
{
    buf_release(&file->data);
    buf_release(&file->scratch);
    intern_release(&file->stack_texts);
    intern_release(&file->compiles);
    vec_release(&file->latest);
    vec_release(&file->strings);
    vec_release(&file->codes);
    vec_release(&file->frames);
    vec_release(&file->stacks);
    vec_release(&file->contexts);
    vec_release(&file->values);
}

/* ------------------------------------------------------------------------------------------------
 * Events. */

static bool read_fields(struct bytes *in, const char *fields, struct deep_event *event)
{
    for (int i = 0; fields[i]; i++)
        if (fields[i] == '4')
            event->numbers[i] = bytes_le32(in);
        else if (fields[i] == '8')
            event->numbers[i] = bytes_le64(in);
        else
            event->texts[i] = bytes_take(in, bytes_le32(in));
    return !in->failed;
}

void deep_file_rewind(struct deep_file *file)
{
    file->next = sizeof(struct deep_header);
}

bool deep_file_next(struct deep_file *file, struct deep_event *event)
{
    while (file->data.n - file->next >= DEEP_EVENT_HEADER) {
        struct bytes in = bytes_of(str_from(buf_str(&file->data), file->next));
        uint32_t size = bytes_le32(&in), head = bytes_le32(&in);
        if (size < DEEP_EVENT_HEADER || size > file->data.n - file->next)
            return false;
        *event = (struct deep_event){ .type = head & 0xFFFF, .at = file->next };
        const char *fields = fields_of(event->type);
        in.end = in.p + (size - DEEP_EVENT_HEADER);
        size_t step = ((size_t)size + DEEP_ALIGN - 1) & ~(size_t)(DEEP_ALIGN - 1);
        file->next += step < file->data.n - file->next ? step : file->data.n - file->next;
        if (fields && read_fields(&in, fields, event))
            return true;
        file->passed_over++;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * Things that have an id. Ids are ascending, and others are ignored. */

#define ADD(list, event, ...)                                              \
    ((event)->numbers[0] != (file)->list.n ? ((file)->passed_over++, true) \
                                           : vec_push(&(file)->list, __VA_ARGS__))

struct str deep_string(const struct deep_file *file, uint64_t id)
{
    return id < file->strings.n ? file->strings.v[id] : STR("");
}

const struct deep_value *deep_value(const struct deep_file *file, uint64_t id)
{
    return &file->values.v[id < file->values.n ? id : 0];
}

const struct deep_context *deep_context(const struct deep_file *file, uint64_t id)
{
    return &file->contexts.v[id < file->contexts.n ? id : 0];
}

const struct deep_file_frame *deep_frame(const struct deep_file *file, uint64_t id)
{
    return &file->frames.v[id < file->frames.n ? id : 0];
}

/* Returns the line of the last pair at or before the offset; 0 when there is none. */
static uint32_t line_of_offset(struct str lines, uint64_t offset)
{
    struct bytes in = bytes_of(lines);
    uint32_t line = 0;
    while (bytes_left(&in) >= 8) {
        uint32_t start = bytes_le32(&in), number = bytes_le32(&in);
        if (start > offset)
            break;
        line = number;
    }
    return line;
}

static struct str source_line(const struct deep_code *code, uint32_t line)
{
    struct str rest = code->source, text = STR("");
    if (line < code->first_line)
        return text;
    for (uint32_t i = code->first_line; i <= line; i++)
        if (!text_next_line(&rest, &text))
            return STR("");
    return str_trim(text);
}

static struct deep_file_frame frame_that_ran(const struct deep_file *file,
                                             const struct deep_event *e)
{
    struct deep_file_frame frame = { .file = STR(""), .function = STR(""), .code = STR("") };
    if (e->numbers[2] >= file->codes.n)
        return frame;
    const struct deep_code *code = &file->codes.v[e->numbers[2]];
    frame.file = code->file;
    frame.function = code->function;
    frame.line = line_of_offset(code->lines, e->numbers[3]);
    frame.code = source_line(code, frame.line);
    return frame;
}

static struct deep_file_frame frame_that_was_traced(const struct deep_file *file,
                                                    const struct deep_event *e)
{
    return (struct deep_file_frame){ .file = deep_string(file, e->numbers[2]),
                                     .line = (uint32_t)e->numbers[3],
                                     .function = deep_string(file, e->numbers[4]),
                                     .code = deep_string(file, e->numbers[5]) };
}

static bool add_code(struct deep_file *file, const struct deep_event *e)
{
    struct deep_code code = { .file = deep_string(file, e->numbers[1]),
                              .function = deep_string(file, e->numbers[2]),
                              .lines = e->texts[3],
                              .first_line = (uint32_t)e->numbers[4],
                              .source = e->texts[5] };
    return ADD(codes, e, code);
}

static bool add_file_stack(struct deep_file *file, const struct deep_event *e)
{
    struct deep_file_stack stack = { .number = UINT32_MAX };
    if (e->type == DEEP_STACK_TEXT) {
        stack.text = e->texts[1];
    } else {
        /* A caller is recorded before its callees, so stacks have no cycles. */
        stack.parent = e->numbers[1] < file->stacks.n ? (uint32_t)e->numbers[1] : 0;
        stack.frame = (uint32_t)e->numbers[2];
    }
    return ADD(stacks, e, stack);
}

/* Adds a context. The attempts of one compile are recorded in order; one that does not follow the
 * latest begins another compile of that id. */
static bool add_context(struct deep_file *file, const struct deep_event *e)
{
    struct deep_context context = { (int64_t)e->numbers[1],
                                    (int64_t)e->numbers[2],
                                    (int64_t)e->numbers[3],
                                    (int64_t)e->numbers[4],
                                    e->numbers[5],
                                    0,
                                    false };
    size_t known = file->compiles.texts.n;
    uint32_t id = intern(&file->compiles,
                         (struct str){ (const char *)&e->numbers[1], 3 * sizeof e->numbers[1] });
    if (id == INTERN_NONE || (id == known && !vec_push(&file->latest, 0)))
        return false;
    struct deep_context *latest = &file->contexts.v[file->latest.v[id]];
    if (file->latest.v[id]) {
        latest->followed = latest->attempt < context.attempt;
        context.earlier = latest->earlier + !latest->followed;
    }
    file->latest.v[id] = (uint32_t)file->contexts.n;
    return ADD(contexts, e, context);
}

static bool take_event(struct deep_file *file, const struct deep_event *e)
{
    switch (e->type) {
    case DEEP_STRING: return ADD(strings, e, str_first(e->texts[1], LONGEST_NAME));
    case DEEP_CODE: return add_code(file, e);
    case DEEP_FRAME:
        return ADD(frames, e,
                   e->numbers[1] ? frame_that_was_traced(file, e) : frame_that_ran(file, e));
    case DEEP_STACK:
    case DEEP_STACK_TEXT: return add_file_stack(file, e);
    case DEEP_CONTEXT: return add_context(file, e);
    case DEEP_VALUE: return ADD(values, e, (struct deep_value){ e->texts[1], e->texts[2] });
    case DEEP_PROCESS: file->process = e->texts[0]; return true;
    case DEEP_END: file->ended = true; return true;
    default: return true;
    }
}

static bool add_nothings(struct deep_file *file)
{
    struct str none = STR("");
    return vec_push(&file->strings, none) &&
           vec_push(&file->codes, (struct deep_code){ none, none, none, none, 0 }) &&
           vec_push(&file->frames, (struct deep_file_frame){ none, none, none, 0 }) &&
           vec_push(&file->stacks, (struct deep_file_stack){ .number = UINT32_MAX }) &&
           vec_push(&file->contexts, (struct deep_context){ -1, -1, -1, -1, 0, 0, false }) &&
           vec_push(&file->values, (struct deep_value){ STR("null"), none });
}

static bool start_reading(struct deep_file *file, const char *path, struct err *err)
{
    struct deep_event event;
    file->process = STR("");
    if (file->data.n < sizeof file->header)
        return err_set(err, ERR_INPUT, "%s: not a side file of a deep recording", path);
    memcpy(&file->header, file->data.p, sizeof file->header);
    if (memcmp(file->header.magic, DEEP_MAGIC, sizeof file->header.magic) != 0 ||
        file->header.byte_order != DEEP_BYTE_ORDER)
        return err_set(err, ERR_INPUT, "%s: not a side file of a deep recording", path);
    if (file->header.version != DEEP_VERSION)
        return err_set(err, ERR_INPUT,
                       "%s: a deep recording of version %u; this program reads "
                       "version %d",
                       path, file->header.version, DEEP_VERSION);
    bool ok = add_nothings(file);
    for (deep_file_rewind(file); ok && deep_file_next(file, &event); file->events++)
        ok = take_event(file, &event);
    deep_file_rewind(file);
    return ok || err_nomem(err);
}

/* ------------------------------------------------------------------------------------------------
 * Stacks. */

static void put_frame_json(struct json_writer *w, const struct deep_file_frame *frame)
{
    json_open_array(w, NULL);
    json_put_str(w, NULL, frame->file);
    json_put_u64(w, NULL, frame->line);
    json_put_str(w, NULL, frame->function);
    json_put_str(w, NULL, frame->code);
    json_close(w);
}

static void put_traceback(struct json_writer *w, struct str text)
{
    struct traceback_frame f;
    while (traceback_next(&text, &f))
        put_frame_json(w,
                       &(struct deep_file_frame){ f.file, f.function, str_trim(f.code), f.line });
}

static void put_stack_json(const struct deep_file *file, struct json_writer *w, uint64_t id)
{
    uint32_t frames[DEEPEST_STACK];
    size_t n = 0;
    const struct deep_file_stack *stacks = file->stacks.v;
    for (; id && !stacks[id].text.p && n < DEEPEST_STACK; id = stacks[id].parent)
        frames[n++] = stacks[id].frame;
    if (id && stacks[id].text.p)
        put_traceback(w, stacks[id].text);
    while (n > 0)
        put_frame_json(w, deep_frame(file, frames[--n]));
}

uint32_t deep_stack_number(struct deep_file *file, uint64_t id)
{
    if (id == 0 || id >= file->stacks.n)
        return UINT32_MAX;
    if (file->stacks.v[id].number != UINT32_MAX ||
        file->stack_texts.arena.bytes > STACK_TEXTS_LIMIT)
        return file->stacks.v[id].number;
    buf_clear(&file->scratch);
    struct json_writer w = json_writer_of(&file->scratch);
    json_open_array(&w, NULL);
    put_stack_json(file, &w, id);
    json_close(&w);
    uint32_t number =
        file->scratch.failed ? INTERN_NONE : intern(&file->stack_texts, buf_str(&file->scratch));
    file->scratch.failed |= number == INTERN_NONE;
    return file->stacks.v[id].number = number;
}
