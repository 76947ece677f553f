/* Reads stacks of an open trace: the file of a frame's number, and its texts, decoded. */
#include "trace/tables.h"
#include "trace/tape/spaces.h"

stack_id stack_parent(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    if (stack >= table->nodes.n)
        return 0;
    uint32_t parent = table->nodes.v[stack].parent;
    return table->nodes.v[parent].frame >= STACK_ROOT ? 0 : parent;
}

uint32_t stack_depth(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    return stack < table->nodes.n ? table->nodes.v[stack].depth : 0;
}

uint32_t stack_frame_id(const struct trace *trace, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    uint32_t frame = stack && stack < table->nodes.n ? table->nodes.v[stack].frame : UINT32_MAX;
    return frame < table->frames.n ? frame : (uint32_t)table->frames.n;
}

uint32_t trace_n_stacks(const struct trace *trace)
{
    return (uint32_t)trace->tables->tape->stacks.nodes.n;
}

uint32_t trace_n_frames(const struct trace *trace)
{
    return (uint32_t)trace->tables->tape->stacks.frames.n;
}

/* Decodes a string of a frame, which has JSON escapes. */
static bool decode(struct trace *trace, uint32_t string, struct str *ret, struct err *err)
{
    *ret = tape_string(trace->tables->tape, string);
    if (ret->n == 0 || !memchr(ret->p, '\\', ret->n))
        return true;
    struct buf text = BUF_INIT;
    json_unescape(*ret, &text);
    *ret = text.failed ? (struct str){ 0 } : arena_copy(&trace->tables->arena, buf_str(&text));
    buf_release(&text);
    return ret->p || err_nomem(err);
}

/* Decodes the frames. LOC_ABSENT and LOC_NULL are no strings: they become "". */
static bool decode_frames(struct trace *trace, struct err *err)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    struct frame_text *texts =
        arena_array(&trace->tables->arena, struct frame_text, table->frames.n + 1);
    if (!texts)
        return err_nomem(err);
    trace->tables->frames = texts;
    for (size_t i = 0; i < table->frames.n; i++)
        if (!decode(trace, table->frames.v[i].name, &texts[i].function, err) ||
            !decode(trace, table->frames.v[i].loc, &texts[i].code, err))
            return false;
    return true;
}

/* Returns the path of a file. Those that a process inherited are in the first space. */
static struct str path_of(const struct file_table *files, uint16_t space, int32_t file)
{
    for (size_t s = space < files->n_spaces ? space : 0;; s = 0) {
        struct str path = { 0 };
        if (file >= 0 && (size_t)file < files->n_files && s < files->n_spaces)
            path = files->paths[s * files->n_files + (size_t)file];
        if (path.p || s == 0)
            return path.p ? path : STR("");
    }
}

struct frame stack_frame(const struct trace *trace, uint32_t recording, stack_id stack)
{
    const struct stack_table *table = &trace->tables->tape->stacks;
    struct frame frame = { 0, STR(""), STR(""), STR("") };
    if (stack == 0 || stack >= table->nodes.n || recording >= trace->n_recordings ||
        table->nodes.v[stack].frame >= table->frames.n)
        return frame;
    const struct stack_node *node = &table->nodes.v[stack];
    const struct stack_frame_row *row = &table->frames.v[node->frame];
    frame.line = row->line;
    frame.function = trace->tables->frames[node->frame].function;
    frame.code = trace->tables->frames[node->frame].code;
    frame.file = path_of(&trace->tables->files[recording], node->space, row->file);
    return frame;
}

/* Adds {"str": ["/abs/file.py", 7]}, which gives this file number 7
 * (torch/_logging/structured.py, intern_string). Numbers are dense, so one far above the number
 * of such records is invalid. */
static bool add_file_name(struct trace *trace, struct file_table *table, uint16_t space,
                          const struct json *doc, struct err *err)
{
    json_id name = json_first(doc, JSON_ROOT);
    uint64_t id;
    if (!json_u64(doc, json_next(doc, name), &id) || id >= table->n_files)
        return true;
    struct str path = json_decoded(doc, name, &trace->tables->arena);
    struct str *slot = &table->paths[space * table->n_files + id];
    if (!path.p)
        return err_nomem(err);
    if (!slot->p)
        *slot = path;
    return true;
}

/* Reserves memory for the files that there can be: as many as "str" records, and some whose
 * record is lost. */
static bool size_files(struct trace *trace, const struct recording *recording,
                       struct file_table *table, struct spaces *spaces, struct err *err)
{
    table->n_files = recording->n_records < 1000 ? recording->n_records : 1000;
    for (uint32_t i = 0; i < recording->n_records; i++) {
        const struct record *record = &trace->records[recording->first_record + i];
        if (record->event != EVENT_STR)
            continue;
        table->n_files++;
        if (!spaces_add(spaces, record->pid))
            return err_nomem(err);
    }
    table->n_spaces = spaces->pids.n;
    if (table->n_spaces > 1 && table->n_files > 100000)
        table->n_files = 100000;
    table->paths = arena_array(&trace->tables->arena, struct str, table->n_spaces * table->n_files);
    return table->paths || err_nomem(err);
}

static bool read_files(struct trace *trace, const struct recording *recording,
                       struct file_table *table, struct spaces *spaces, struct err *err)
{
    struct json doc = { 0 };
    bool ok = size_files(trace, recording, table, spaces, err);
    for (uint32_t i = 0; i < recording->n_records && ok; i++) {
        uint32_t record = recording->first_record + i;
        bool readable = false;
        if (trace->records[record].event == EVENT_STR)
            ok = record_try_json(trace, record, &doc, &readable, err);
        if (readable)
            ok = add_file_name(trace, table, spaces_of(spaces, trace->records[record].pid), &doc,
                               err);
    }
    json_release(&doc);
    return ok;
}

bool trace_find_files(struct trace *trace, struct err *err)
{
    struct trace_tables *tables = trace->tables;
    tables->files = arena_array(&tables->arena, struct file_table, trace->n_recordings + 1);
    bool ok = (tables->files || err_nomem(err)) && decode_frames(trace, err);
    for (uint32_t i = 0; i < trace->n_recordings && ok; i++) {
        struct spaces spaces = { 0 };
        ok = read_files(trace, &trace->recordings[i], &tables->files[i], &spaces, err);
        vec_release(&spaces.pids);
    }
    return ok;
}
