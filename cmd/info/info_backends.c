/* Implements info --backends, which lists the backends that can run graphs on this machine, and
 * why others cannot. */
#include "cmd/cli/memory_limit.h"
#include "cmd/cmd.h"
#include "cmd/info/info.h"
#include "replay/backend/call/backend.h"
#include "trace/base/text/json_write.h"

static void put_backends_text(const struct backend_kind *kind, bool usable, struct str found,
                              struct buf *out)
{
    buf_printf(out, "%-5s %s%s\n", kind->name,
               usable ? "" : "not usable here: ", kind->description);
    while (found.n) {
        size_t n = str_find_char(found, '\n');
        buf_printf(out, "      %.*s\n", STR_ARG(str_first(found, n)));
        found = str_from(found, n + 1);
    }
}

static void put_backends_json(const struct backend_kind *kind, bool usable, struct str found,
                              struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "name", kind->name);
    json_put_cstr(w, "description", kind->description);
    json_put_bool(w, "usable", usable);
    json_open_array(w, "found");
    while (found.n) {
        size_t n = str_find_char(found, '\n');
        json_put_str(w, NULL, str_first(found, n));
        found = str_from(found, n + 1);
    }
    json_close(w);
    json_close(w);
}

int info_print_backends(struct out *out, bool json)
{
    memory_limit_end(out->limit); /* no file is read, and CUDA's libraries need unlimited memory */
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    if (json) {
        json_open_object(&w, NULL);
        json_put_cstr(&w, "schema", SCHEMA_INFO_BACKENDS);
        json_open_array(&w, "backends");
    }
    for (size_t i = 0; backend_kinds[i]; i++) {
        struct buf found = BUF_INIT;
        bool usable = backend_kinds[i]->probe(&found);
        if (json)
            put_backends_json(backend_kinds[i], usable, buf_str(&found), &w);
        else
            put_backends_text(backend_kinds[i], usable, buf_str(&found), &text);
        text.failed |= found.failed;
        buf_release(&found);
    }
    if (json) {
        json_close(&w);
        json_close(&w);
        buf_putc(&text, '\n');
    }
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}
