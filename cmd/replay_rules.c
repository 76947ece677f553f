/* --rules FILE[,FILE...] */
#include "cmd/replay.h"

#include "trace/log/source.h"

enum { MAX_BYTES = 1 << 24 };

static bool read_all(struct source *in, struct buf *text, struct err *err)
{
    size_t n = 1;
    while (n > 0) {
        if (!buf_reserve(text, 1 << 16))
            return err_nomem(err);
        if (!source_read(in, text->p + text->n, 1 << 16, &n, err))
            return false;
        text->n += n;
        if (text->n > MAX_BYTES)
            return err_set(err, ERR_INPUT, "%s: more than %d bytes of rules", in->path, MAX_BYTES);
    }
    return true;
}

static bool read_one(struct custom_rules *rules, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    struct source *in = source_open(path, err);
    bool ok = in && read_all(in, &text, err) &&
              custom_rules_add(rules, buf_str(&text), str_of(path), err);
    source_close(in);
    buf_release(&text);
    return ok;
}

bool rules_read(struct custom_rules **rules, const char *files, struct err *err)
{
    struct str left = str_of(files);
    bool ok = true;
    if (!files)
        return true;
    *rules = custom_rules_new(err);
    while (*rules && ok && left.n) {
        size_t end = str_find_char(left, ',');
        struct buf path = BUF_INIT;
        buf_put(&path, str_first(left, end));
        buf_putc(&path, 0);
        ok = path.failed ? err_nomem(err) : read_one(*rules, path.p, err);
        buf_release(&path);
        left = str_from(left, end + 1);
    }
    return *rules && ok;
}
