#include "cmd/cli/text_file.h"

enum { PIECE = 1 << 16 };

static bool read_source_text(struct source *in, struct buf *text, struct err *err)
{
    size_t n = 1;
    while (n > 0) {
        if (!buf_reserve(text, PIECE))
            return err_nomem(err);
        if (!source_read(in, text->p + text->n, PIECE, &n, err))
            return false;
        text->n += n;
        if (text->n > TEXT_FILE_MAX)
            return err_set(err, ERR_INPUT, "%s: the file is longer than %d bytes", in->path,
                           TEXT_FILE_MAX);
    }
    return true;
}

bool text_file_read(const char *path, struct source_meter *meter, struct buf *text, struct err *err)
{
    struct source *in = source_open(path, err);
    if (in)
        source_set_meter(in, meter);
    bool ok = in && read_source_text(in, text, err);
    source_close(in);
    return ok;
}
