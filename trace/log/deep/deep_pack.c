#include "trace/log/deep/deep_pack.h"

#include <time.h>

#include "trace/base/text/json.h"
#include "trace/log/deep/deep_packing.h"
#include "trace/log/import_piece.h"
#include "trace/tape/glog.h"

/* The text is about three times as long as the side file. */
enum { SMALLEST_LIMIT = 64 << 20, MOST_FROM_A_BYTE = 16 };

/* ------------------------------------------------------------------------------------------------
 * A record, as trace_structured() lays it out (torch/_logging/_internal.py). */

void packing_begin(struct deep_packer *pack)
{
    buf_clear(&pack->meta);
    buf_clear(&pack->rows);
    for (size_t i = 0; i < pack->shown.n; i++)
        pack->local.v[pack->shown.v[i]] = 0;
    pack->shown.n = 0;
}

static void put_prefix(const struct deep_packer *pack, uint64_t ns)
{
    const struct deep_header *header = &pack->file->header;
    uint64_t us = header->start_us + ns / 1000;
    time_t seconds = (time_t)(us / 1000000 + (uint64_t)header->east);
    struct tm tm = { .tm_mday = 1 };
    gmtime_r(&seconds, &tm);
    struct glog glog = {
        .level = 'V',
        .month_day = (uint16_t)((tm.tm_mon + 1) * 100 + tm.tm_mday),
        .time_us =
            (uint64_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * 1000000 + us % 1000000,
        .pid = header->pid,
        .path = STR("symtape/deep"),
        .path_line = 1,
    };
    glog_print(&glog, pack->out);
}

static void put_context(struct deep_packer *pack, const struct deep_context *c)
{
    if (c->autograd >= 0)
        buf_printf(pack->out, ", \"compiled_autograd_id\": %lld", (long long)c->autograd);
    if (c->frame >= 0)
        buf_printf(pack->out, ", \"frame_id\": %lld, \"frame_compile_id\": %lld",
                   (long long)c->frame, (long long)c->compile);
    if (c->frame >= 0 || c->autograd >= 0)
        buf_printf(pack->out, ", \"attempt\": %lld", (long long)c->attempt);
}

static void put_checksum(struct deep_packer *pack, struct str payload)
{
    unsigned char digest[MD5_BYTES];
    char hex[MD5_HEX];
    struct err err = { 0 };
    md5_update(&pack->md5, payload);
    if (!md5_final(&pack->md5, digest, &err)) {
        pack->failed = true;
        return;
    }
    md5_hex(digest, hex);
    buf_printf(pack->out, ", \"has_payload\": \"%.*s\"", MD5_HEX, hex);
}

/* Metadata of a record of a compile begin with the number of earlier compiles of its id. */
static void put_metadata(struct deep_packer *pack, const struct deep_context *c)
{
    struct str meta = pack->meta.n ? buf_str(&pack->meta) : STR("{}");
    if (c->frame < 0 && c->autograd < 0) {
        buf_put(pack->out, meta);
        return;
    }
    buf_printf(pack->out, "{\"earlier\": %u%s", c->earlier, str_is(meta, "{}") ? "" : ", ");
    buf_put(pack->out, str_from(meta, 1));
}

void packing_end(struct deep_packer *pack, const char *event, uint64_t context, uint64_t ns)
{
    struct str payload = buf_str(&pack->rows);
    if (payload.n && payload.p[payload.n - 1] == '\n')
        payload.n--;
    pack->failed |= pack->meta.failed || pack->rows.failed || pack->file->scratch.failed;
    if (pack->failed)
        return;
    put_prefix(pack, ns);
    buf_printf(pack->out, "{\"%s\": ", event);
    put_metadata(pack, deep_context(pack->file, context));
    put_context(pack, deep_context(pack->file, context));
    if (payload.n)
        put_checksum(pack, payload);
    buf_puts(pack->out, "}\n");
    if (payload.n) {
        import_put_tabs(payload, pack->out);
        buf_putc(pack->out, '\n');
    }
    pack->failed |= pack->out->failed;
}

/* ------------------------------------------------------------------------------------------------
 * Rows. */

struct json_writer packing_row(struct deep_packer *pack)
{
    struct json_writer row = json_writer_of(&pack->rows);
    json_open_object(&row, NULL);
    return row;
}

void packing_row_end(struct deep_packer *pack, struct json_writer *row)
{
    json_close(row);
    buf_putc(&pack->rows, '\n');
    packing_check(pack);
}

void packing_check(struct deep_packer *pack)
{
    if (pack->out->n + pack->rows.n > pack->limit)
        pack->too_long = pack->failed = true;
}

static bool add_local(struct deep_packer *pack, uint32_t number)
{
    while (pack->local.n <= number)
        if (!vec_push(&pack->local, 0))
            return false;
    if (pack->local.v[number])
        return true;
    if (!vec_push(&pack->shown, number))
        return false;
    pack->local.v[number] = (uint32_t)pack->shown.n;
    struct json_writer row = packing_row(pack);
    json_put_u64(&row, "stack", pack->shown.n - 1);
    json_put_raw(&row, "frames", intern_text(&pack->file->stack_texts, number));
    packing_row_end(pack, &row);
    return true;
}

int64_t packing_stack(struct deep_packer *pack, uint64_t stack)
{
    uint32_t number = deep_stack_number(pack->file, stack);
    if (number == UINT32_MAX)
        return -1;
    if (!add_local(pack, number)) {
        pack->failed = true;
        return -1;
    }
    return pack->local.v[number] - 1;
}

void packing_text(struct json_writer *row, const char *key, struct str text)
{
    if (text.n)
        json_put_str(row, key, text);
    else
        json_put_null(row, key);
}

void packing_frame(struct json_writer *row, const char *key, const struct deep_file_frame *frame)
{
    json_open_array(row, key);
    json_put_str(row, NULL, frame->file);
    json_put_u64(row, NULL, frame->line);
    json_put_str(row, NULL, frame->function);
    json_close(row);
}

/* ------------------------------------------------------------------------------------------------
 * The process, and totals. */

/* Returns a JSON object on one line, as the recorder writes them; "" for anything else. */
static struct str one_object(struct str text)
{
    struct json doc = { 0 };
    struct err err = { 0 };
    bool ok = str_find_char(text, '\n') == text.n && json_parse(&doc, text, &err) &&
              json_kind_of(&doc, JSON_ROOT) == JSON_OBJECT;
    json_release(&doc);
    return ok ? str_trim(text) : STR("");
}

/* Writes what the recorder reported of itself, and how the file ended. */
static void pack_process(struct deep_packer *pack)
{
    const struct deep_file *file = pack->file;
    const struct deep_header *header = &file->header;
    struct str told = one_object(file->process);
    packing_begin(pack);
    buf_printf(&pack->meta, "{\"version\": %u, \"pid\": %llu, ", header->version,
               (unsigned long long)header->pid);
    if (told.n > 2) {
        buf_put(&pack->meta, (struct str){ told.p + 1, told.n - 2 });
        buf_puts(&pack->meta, ", ");
    }
    buf_printf(&pack->meta, "\"events\": %llu, \"bytes\": %llu, \"lost\": %llu, ",
               (unsigned long long)file->events, (unsigned long long)file->next,
               (unsigned long long)header->lost);
    buf_printf(&pack->meta, "\"overhead_ns\": %llu, \"ended\": %s}",
               (unsigned long long)header->overhead_ns, file->ended ? "true" : "false");
    packing_end(pack, "symtape_deep", 0, 0);
}

static void pack_totals(struct deep_packer *pack)
{
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        if (e.type != DEEP_TOTALS)
            continue;
        packing_begin(pack);
        buf_put(&pack->meta, one_object(e.texts[1]));
        packing_end(pack, "symtape_totals", e.numbers[0],
                    deep_context(pack->file, e.numbers[0])->ns);
    }
}

bool deep_pack(struct deep_file *file, struct buf *out, struct err *err)
{
    struct deep_packer pack = { .file = file,
                                .out = out,
                                .limit = SMALLEST_LIMIT + MOST_FROM_A_BYTE * file->data.n };
    if (!md5_init(&pack.md5, err))
        return false;
    void (*const parts[])(struct deep_packer *) = { pack_graphs, pack_dispatches, pack_costs,
                                                    pack_uses,   pack_memory,     pack_envs,
                                                    pack_totals, pack_process };
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !pack.failed; i++)
        parts[i](&pack);
    md5_release(&pack.md5);
    buf_release(&pack.meta);
    buf_release(&pack.rows);
    vec_release(&pack.local);
    vec_release(&pack.shown);
    if (pack.too_long) /* the records until then are complete */
        return file->passed_over++, true;
    return !pack.failed || err_nomem(err);
}

struct str deep_log_name(const struct deep_file *file, struct arena *arena)
{
    struct json doc = { 0 };
    struct err err = { 0 };
    struct str name = STR("");
    if (json_parse(&doc, file->process, &err))
        name = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("log")), arena);
    struct str copy = name.n ? arena_copy(arena, name) : STR("");
    json_release(&doc);
    return copy.p ? copy : STR("");
}
