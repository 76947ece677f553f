#include "trace/log/import.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/file/output.h"
#include "trace/log/deep/deep_file.h"
#include "trace/log/importing.h"
#include "trace/log/source_list.h"

bool importing_stopped(const struct importer *in)
{
    return in->options->stop && *in->options->stop;
}

bool importing_damage(struct importer *in, uint64_t line, uint64_t offset, const char *what,
                      struct err *err)
{
    struct import_result *result = in->result;
    const struct str source = in->recording.source;
    if (in->options->strict && !importing_stopped(in))
        return err_set(err, ERR_INPUT, "%.*s:%llu: offset %llu: %s", STR_ARG(source),
                       (unsigned long long)line, (unsigned long long)offset, what);
    result->damaged++;
    if (result->n_damage == IMPORT_DAMAGE_KEPT)
        return true;
    struct import_damage *place = &result->damage[result->n_damage];
    place->source = strndup(source.p, source.n);
    if (!place->source)
        return err_nomem(err);
    place->line = line;
    place->offset = offset;
    snprintf(place->what, sizeof place->what, "%s", what);
    result->n_damage++;
    return true;
}

void import_result_release(struct import_result *result)
{
    for (size_t i = 0; i < result->n_damage; i++)
        free(result->damage[i].source);
    result->n_damage = 0;
}

/* Returns the name without the characters that end a name in a selector. */
static struct str clean_name(struct importer *in, struct str wanted, unsigned n)
{
    struct buf *out = &in->scratch;
    buf_clear(out);
    for (size_t i = 0; i < wanted.n; i++)
        buf_putc(out, wanted.p[i] == ':' || wanted.p[i] == '@' ? '_' : wanted.p[i]);
    if (wanted.n == 0)
        buf_puts(out, "log");
    if (n > 1)
        buf_printf(out, "#%u", n);
    return arena_copy(&in->arena, buf_str(out));
}

bool importing_begin(struct importer *in, uint32_t kind, const char *source, struct err *err)
{
    struct str copy = arena_copy(&in->arena, str_of(source));
    in->recording = (struct tape_recording){ .kind = kind, .name = copy, .source = copy };
    in->rank = -1;
    in->spaces.pids.n = in->pids.n = 0;
    in->lines = 0;
    in->unterminated = false;
    if (!copy.p)
        return err_nomem(err);
    if (in->options->redact) {
        buf_clear(&in->scratch);
        redact_text(&in->redact, copy, &in->scratch);
        in->recording.source = arena_copy(&in->arena, buf_str(&in->scratch));
        if (in->scratch.failed || !in->recording.source.p)
            return err_nomem(err);
    }
    in->recording.name = str_basename(in->recording.source);
    in->result->recordings++;
    return tape_add_recording(in->tape, &in->recording, err);
}

bool importing_end(struct importer *in, struct str wanted, struct err *err)
{
    struct str name = clean_name(in, wanted, 1);
    for (unsigned n = 2; name.p && intern_find(&in->names, name) != INTERN_NONE; n++)
        name = clean_name(in, wanted, n);
    if (!name.p || in->scratch.failed || intern(&in->names, name) == INTERN_NONE)
        return err_nomem(err);
    in->recording.name = name;
    in->result->log_bytes += in->recording.bytes;
    in->result->input_bytes += in->recording.input_bytes;
    return tape_update_recording(in->tape, &in->recording, err);
}

static bool import_source(struct importer *in, struct source *source, struct err *err)
{
    switch (source->kind) {
    case SOURCE_ZIP: return import_pt2(in, source, err);
    case SOURCE_TAPE: return import_tape(in, source, err);
    default: return import_log(in, source, err);
    }
}

/* Adds all side files, before the logs that they belong to are read. */
static bool add_sides(struct importer *in, const struct source_list *list, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < list->paths.n; i++)
        if (deep_file_is(list->paths.v[i]))
            ok = import_side_add(in, list->paths.v[i], err);
    return ok;
}

static bool import_path(struct importer *in, const char *path, struct err *err)
{
    if (deep_file_is(path))
        return true;
    struct source *source = source_open_until(path, in->options->stop, err);
    if (source)
        source_set_meter(source, in->options->meter);
    bool ok = source && import_source(in, source, err);
    source_close(source);
    return ok;
}

/* The inputs of an import: paths, or one source that is open already. */
struct import_inputs {
    const char *const *paths;
    size_t n;
    struct source *open;
};

static bool import_all(struct importer *in, const struct import_inputs *inputs, struct err *err)
{
    struct source_list list = { .meter = in->options->meter };
    bool ok = true;
    for (size_t i = 0; i < inputs->n && ok; i++)
        ok = source_list_add(&list, inputs->paths[i], err);
    for (size_t i = 0; ok && in->options->redact && i < list.paths.n; i++)
        ok = deep_file_is(list.paths.v[i]) ? import_learn_side(in, list.paths.v[i], err)
                                           : import_learn(in, list.paths.v[i], err);
    ok = ok && add_sides(in, &list, err);
    for (size_t i = 0; ok && i < list.paths.n && !importing_stopped(in); i++)
        ok = import_path(in, list.paths.v[i], err);
    ok = ok && import_sides_left(in, err);
    if (ok && inputs->open)
        ok = import_source(in, inputs->open, err);
    in->result->interrupted = importing_stopped(in);
    const char *first = inputs->open ? inputs->open->path : list.paths.n ? list.paths.v[0] : "";
    if (ok && in->result->records == 0 && !in->result->interrupted)
        ok = err_set(err, ERR_INPUT,
                     "%s: it contains no record of TORCH_TRACE%s; symtape record makes recordings",
                     first, list.paths.n > 1 ? ", and the other inputs do not either" : "");
    source_list_release(&list);
    return ok;
}

static bool prepare_import(struct importer *in, struct tape_sink sink, struct err *err)
{
    if (!md5_init(&in->md5, err))
        return false;
    if (in->options->redact) {
        in->redacting = redact_init(&in->redact, err);
        const struct redact_known *known = in->options->known;
        if (!in->redacting || (known && !redact_add_known(&in->redact, known, err)))
            return false;
    }
    in->tape = tape_create(sink, err);
    return in->tape != NULL;
}

static void release_importing(struct importer *in)
{
    tape_free(in->tape);
    if (in->redacting)
        redact_release(&in->redact);
    md5_release(&in->md5);
    envelope_release(&in->envelope);
    intern_release(&in->names);
    arena_release(&in->arena);
    vec_release(&in->spaces.pids);
    vec_release(&in->pids);
    vec_release(&in->sides);
    buf_release(&in->payload);
    buf_release(&in->header);
    buf_release(&in->context);
    buf_release(&in->scratch);
}

static bool import_to(const struct import_inputs *inputs, const struct import_options *options,
                      struct tape_sink sink, struct import_result *ret, struct err *err)
{
    static const struct import_options defaults = { 0 };
    struct importer in = { .options = options ? options : &defaults, .result = ret };
    *ret = (struct import_result){ 0 };
    bool ok =
        prepare_import(&in, sink, err) && import_all(&in, inputs, err) && tape_finish(in.tape, err);
    if (in.tape)
        ret->tape_bytes = tape_written(in.tape);
    release_importing(&in);
    return ok;
}

static bool write_to_output(void *user, struct str bytes, struct err *err)
{
    return output_write(user, bytes, err);
}

bool import_paths(const char *const *paths, size_t n, const char *output,
                  const struct import_options *options, struct import_result *ret, struct err *err)
{
    *ret = (struct import_result){ 0 };
    bool overwrite = options && options->overwrite;
    struct output *out = output_open(output, overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    if (!out)
        return false;
    struct import_inputs inputs = { .paths = paths, .n = n };
    bool ok = import_to(&inputs, options, (struct tape_sink){ write_to_output, out }, ret, err);
    if (ok && ret->interrupted &&
        ret->log_bytes == 0) /* an empty tape would replace an existing one */
        ok = err_set(err, ERR_INTERRUPTED, "interrupted before anything was read");
    if (ok)
        return output_commit(out, err);
    output_abort(out);
    return false;
}

static bool write_to_buf(void *user, struct str bytes, struct err *err)
{
    struct buf *out = user;
    buf_put(out, bytes);
    return !out->failed || err_nomem(err);
}

bool import_to_memory(const char *path, struct source *open, const struct import_options *options,
                      struct buf *tape, struct import_result *ret, struct err *err)
{
    struct import_inputs inputs = { .paths = &path, .n = !open, .open = open };
    return import_to(&inputs, options, (struct tape_sink){ write_to_buf, tape }, ret, err);
}
