#include "cmd/cli/fx_arg.h"

#include <sys/stat.h>

#include "cmd/cli/text_file.h"
#include "trace/graph/graph.h"
#include "trace/log/source.h"

static bool is_fx_text(const char *path, struct source_meter *meter, struct buf *text,
                       struct err *err)
{
    struct err failed = { 0 };
    struct stat st;
    struct source *source = source_open(path, &failed);
    bool may_be = source && (source->kind == SOURCE_OTHER);
    /* A file that cannot be read now may be FX text; what is no file may be a selector. */
    if (!source && failed.kind == ERR_ENV && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        *err = failed;
    source_close(source);
    if (!may_be)
        return false;
    return text_file_read(path, meter, text, err) && graph_looks_like(buf_str(text));
}

struct candidate *fx_arg_read(const char *path, const struct candidate_options *options,
                              struct source_meter *meter, struct err *err)
{
    struct buf text = BUF_INIT;
    struct candidate *candidate = NULL;
    if (is_fx_text(path, meter, &text, err)) {
        candidate = candidate_read_fx(buf_str(&text), options, err);
        if (!candidate)
            err_at(err, "%s", path);
    }
    buf_release(&text);
    return candidate;
}

bool fx_arg_is(const char *path, struct source_meter *meter)
{
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    bool ret = is_fx_text(path, meter, &text, &err);
    buf_release(&text);
    return ret;
}

bool fx_arg_error(const char *path, struct err *err)
{
    *err = (struct err){ 0 };
    return err_set(err, ERR_INPUT,
                   "%s: the text of a graph, not a recording; symtape minify, symtape bisect and "
                   "symtape rewrite take it, as in: symtape bisect --list %s",
                   path, path);
}
