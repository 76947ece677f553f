/* For json_python.py: reads JSON texts, one in every NUL-terminated piece of standard input, and
 * answers a line for each: "-" when it is refused, else its values in order of writing, strings
 * decoded and in hexadecimal, numbers as they were spelt. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/text/json.h"

static void put_value(const struct json *doc, json_id id, struct buf *out)
{
    static const char letters[] = { 'n', 'f', 't', '#', '"', '[', '{', '@' };
    struct buf decoded = BUF_INIT;
    enum json_kind kind = json_kind_of(doc, id);
    buf_putc(out, letters[kind]);
    if (kind == JSON_NUMBER)
        buf_put(out, json_text(doc, id));
    json_decode(doc, id, &decoded);
    for (size_t i = 0; i < decoded.n; i++)
        buf_printf(out, "%02x", (unsigned char)decoded.p[i]);
    if (kind == JSON_ARRAY || kind == JSON_OBJECT)
        buf_u64(out, kind == JSON_OBJECT ? json_members(doc, id) : json_count(doc, id));
    buf_putc(out, ' ');
    buf_release(&decoded);
}

int main(void)
{
    char *text = NULL;
    size_t cap = 0;
    struct json doc = { 0 };
    for (ssize_t n; (n = getdelim(&text, &cap, '\0', stdin)) > 0;) {
        struct err err = { .kind = ERR_NONE };
        struct buf out = BUF_INIT;
        if (!json_parse(&doc, (struct str){ text, (size_t)n - 1 }, &err))
            buf_putc(&out, '-');
        else
            for (json_id id = 0; id < doc.nodes.n; id++)
                put_value(&doc, id, &out);
        printf("%.*s\n", STR_ARG(buf_str(&out)));
        buf_release(&out);
    }
    json_release(&doc);
    free(text);
    return 0;
}
