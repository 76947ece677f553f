/* Stacks of an open trace: which file a frame's number stands for, its texts decoded. */
#include "trace/tables.h"

stack_id stack_parent(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    return stack < table->nodes.n ? table->nodes.v[stack].parent : 0;
}

uint32_t stack_depth(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    return stack < table->nodes.n ? table->nodes.v[stack].depth : 0;
}

uint32_t stack_frame_id(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    return stack < table->nodes.n ? table->nodes.v[stack].frame : 0;
}

uint32_t trace_n_stacks(const struct trace *trace)
{
    return (uint32_t)trace->tables->tape->stacks.nodes.n;
}

uint32_t trace_n_frames(const struct trace *trace)
{
    return (uint32_t)trace->tables->tape->stacks.frames.n;
}

static struct str decoded(const struct trace *trace, uint32_t string)
{
    struct str raw = tape_string(trace->tables->tape, string);
    if (raw.n == 0 || !memchr(raw.p, '\\', raw.n))
        return raw;
    struct buf text = BUF_INIT;
    json_unescape(raw, &text);
    struct str copy = arena_copy(&trace->tables->arena, buf_str(&text));
    buf_release(&text);
    return copy.p ? copy : raw;
}

static const struct frame_text *texts_of(const struct trace *trace, uint32_t frame)
{
    struct frame_text *text = &trace->tables->frames[frame];
    if (!text->known) {
        const struct stack_frame_row *row = &trace->tables->tape->stacks.frames.v[frame];
        text->function = decoded(trace, row->name);
        text->code = row->loc == LOC_NULL || row->loc == LOC_ABSENT ? STR("") : decoded(trace, row->loc);
        text->known = true;
    }
    return text;
}

struct frame stack_frame(const struct trace *trace, uint32_t recording, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    struct frame frame = { 0, STR(""), STR(""), STR("") };
    if (stack == 0 || stack >= table->nodes.n || recording >= trace->n_recordings ||
        table->nodes.v[stack].frame >= table->frames.n)
        return frame;
    const struct stack_frame_row *row = &table->frames.v[table->nodes.v[stack].frame];
    const struct file_table *files = &trace->tables->files[recording];
    const struct frame_text *text = texts_of(trace, table->nodes.v[stack].frame);
    frame.line = row->line;
    frame.function = text->function;
    frame.code = text->code;
    if (row->file >= 0 && (size_t)row->file < files->n && files->paths[row->file].p)
        frame.file = files->paths[row->file];
    return frame;
}

/* {"str": ["/abs/file.py", 7]}: number 7 is this file (torch/_logging/structured.py, intern_string).
 * Numbers are dense, so one far beyond the number of such records is a lie. */
static bool add_file(struct trace *trace, struct file_table *table, struct json *doc, size_t limit,
                     struct err *err)
{
    json_id name = json_first(doc, JSON_ROOT);
    uint64_t id;
    if (!json_u64(doc, json_next(doc, name), &id) || id >= limit)
        return true;
    struct str path = json_decoded(doc, name, &trace->tables->arena);
    if (!path.p)
        return err_nomem(err);
    if (!table->paths[id].p)
        table->paths[id] = path;
    table->n = table->n > id ? table->n : id + 1;
    return true;
}

static bool read_files(struct trace *trace, uint32_t recording, struct json *doc, struct err *err)
{
    const struct recording *r = &trace->recordings[recording];
    struct file_table *table = &trace->tables->files[recording];
    struct err ignored = { 0 };
    size_t limit = 0;
    for (uint32_t i = 0; i < r->n_records; i++)
        limit += trace->records[r->first_record + i].event == EVENT_STR;
    limit += 1000; /* some may be lost to damage */
    table->paths = arena_array(&trace->tables->arena, struct str, limit);
    if (!table->paths)
        return err_nomem(err);
    for (uint32_t i = 0; i < r->n_records; i++)
        if (trace->records[r->first_record + i].event == EVENT_STR &&
            record_json(trace, r->first_record + i, doc, &ignored) &&
            !add_file(trace, table, doc, limit, err))
            return false;
    return true;
}

bool trace_find_files(struct trace *trace, struct err *err)
{
    struct trace_tables *tables = trace->tables;
    struct json doc = { 0 };
    tables->files = arena_array(&tables->arena, struct file_table, trace->n_recordings + 1);
    tables->frames = arena_array(&tables->arena, struct frame_text, tables->tape->stacks.frames.n + 1);
    bool ok = (tables->files && tables->frames) || err_nomem(err);
    for (uint32_t i = 0; i < trace->n_recordings && ok; i++)
        ok = read_files(trace, i, &doc, err);
    json_release(&doc);
    return ok;
}
