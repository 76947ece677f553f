/* Appends the side files of deep recordings to the records of their process's log. */
#include <sys/stat.h>

#include "trace/log/deep/deep_pack.h"
#include "trace/log/importing.h"
#include "trace/open.h"

bool import_side_add(struct importer *in, const char *path, struct err *err)
{
    struct deep_file file;
    struct err why = { 0 };
    struct import_side side = { .path = path, .log = STR("") };
    struct source_meter *meter = in->options->meter;
    struct stat info;
    if (meter && stat(path, &info) == 0)
        meter->stored(meter, (uint64_t)info.st_size);
    if (deep_file_open(&file, path, &why)) {
        side.pid = file.header.pid;
        side.log = deep_log_name(&file, &in->arena);
    }
    deep_file_release(&file);
    if (err_is_set(&why) && why.kind != ERR_INPUT)
        return *err = why, false;
    return vec_push(&in->sides, side) || err_nomem(err);
}

/* Returns whether a side file belongs to the log: by the log's name that the recorder saw, or by
 * the process where the log was renamed since or the recorder never saw its name. */
static bool belongs_to_log(const struct importer *in, const struct import_side *side)
{
    if (side->used)
        return false;
    struct str log = str_basename(in->recording.source);
    if (side->log.n && str_starts(log, side->log))
        return true;
    if (side->log.n && str_starts(log, STR("dedicated_log_torch_trace")))
        return false;
    for (size_t i = 0; i < in->pids.n; i++)
        if (in->pids.v[i] == side->pid)
            return true;
    return false;
}

/* Reports damage under the side file's own name. */
static bool report_side_damage(struct importer *in, const char *path, const char *what,
                               struct err *err)
{
    struct str log = in->recording.source;
    in->recording.source = str_of(path);
    bool ok = importing_damage(in, 0, 0, what, err);
    in->recording.source = log;
    return ok;
}

static bool append_side(struct importer *in, struct import_side *side, struct err *err)
{
    struct deep_file file;
    struct buf text = BUF_INIT;
    struct err why = { 0 };
    side->used = true;
    bool ok = deep_file_open(&file, side->path, &why) && deep_pack(&file, &text, &why);
    if (!ok && why.kind == ERR_INPUT)
        ok = report_side_damage(in, side->path,
                                "cannot be read as the side file of a deep recording", err);
    else if (!ok)
        *err = why;
    else
        ok = import_text(in, buf_str(&text), err) &&
             (file.passed_over == 0 ||
              report_side_damage(in, side->path, "events that could not be read", err));
    in->recording.input_bytes += file.data.n;
    deep_file_release(&file);
    buf_release(&text);
    return ok;
}

static bool read_packed_text(void *user, void *buffer, size_t size, size_t *ret_n, struct err *err)
{
    struct str *text = user;
    (void)err;
    *ret_n = text->n < size ? text->n : size;
    memcpy(buffer, text->p ? text->p : "", *ret_n);
    *text = str_from(*text, *ret_n);
    return true;
}

bool import_learn_side(struct importer *in, const char *path, struct err *err)
{
    struct deep_file file;
    struct buf text = BUF_INIT;
    struct err why = { 0 };
    bool ok = deep_file_open(&file, path, &why) && deep_pack(&file, &text, &why);
    deep_file_release(&file);
    struct str rest = buf_str(&text);
    struct source *source = ok ? source_of_reader(path, read_packed_text, &rest, err) : NULL;
    if (ok)
        ok = source && import_learn_log(in, source, err);
    else if (!(ok = why.kind == ERR_INPUT)) /* reported when this file is imported */
        *err = why;
    source_close(source);
    buf_release(&text);
    return ok;
}

bool import_sides_of_log(struct importer *in, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->sides.n; i++)
        if (belongs_to_log(in, &in->sides.v[i]))
            ok = append_side(in, &in->sides.v[i], err);
    return ok;
}

bool import_sides_left(struct importer *in, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < in->sides.n && !importing_stopped(in); i++) {
        struct import_side *side = &in->sides.v[i];
        if (side->used)
            continue;
        ok = importing_begin(in, RECORDING_LOG, side->path, err);
        in->recording.complete = true;
        ok = ok && append_side(in, side, err) &&
             importing_end(in, str_basename(str_of(side->path)), err);
    }
    return ok;
}
