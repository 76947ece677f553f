#include "cmd/cli/rules_arg.h"

#include "cmd/cli/text_file.h"

static bool read_one(struct custom_rules *rules, const char *path, struct source_meter *meter,
                     struct err *err)
{
    struct buf text = BUF_INIT;
    bool ok = text_file_read(path, meter, &text, err) &&
              custom_rules_add(rules, buf_str(&text), str_of(path), err);
    buf_release(&text);
    return ok;
}

bool rules_arg_read(struct custom_rules **rules, const char *files, struct source_meter *meter,
                    struct err *err)
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
        ok = path.failed ? err_nomem(err) : read_one(*rules, path.p, meter, err);
        buf_release(&path);
        left = str_from(left, end + 1);
    }
    return *rules && ok;
}
