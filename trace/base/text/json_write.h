/* Writing JSON: one straight list of calls, commas and escapes kept here.
 *
 *     struct json_writer w = json_writer_of(&out);
 *     json_open_object(&w, NULL);
 *     json_put_str(&w, "schema", STR("symtape.info/1"));
 *     json_open_array(&w, "compiles");
 *     json_put_u64(&w, NULL, 7);                      inside an array the key is NULL
 *     json_close(&w);
 *     json_close(&w);
 *
 * The output is UTF-8: bytes that are not become U+FFFD. Surrogates (WTF-8) and what cannot be
 * shown as it is (trace/base/text/printable.h) become \u escapes, so that a document drives no
 * terminal that it is shown on. Failure is the buffer's: check out.failed at the end. Nesting
 * deeper than 63 fails the buffer. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_JSON_WRITE_H
#define SYMTAPE_TRACE_BASE_TEXT_JSON_WRITE_H

#include "trace/base/buf.h"

struct json_writer {
    struct buf *out;
    uint64_t objects;  /* bit d: the container at depth d is an object */
    uint64_t nonempty; /* bit d: it has an element */
    unsigned depth;
};

static inline struct json_writer json_writer_of(struct buf *out)
{
    return (struct json_writer){ .out = out };
}

void json_open_object(struct json_writer *w, const char *key);
void json_open_array(struct json_writer *w, const char *key);
void json_close(struct json_writer *w); /* closes the innermost open container */

void json_put_str(struct json_writer *w, const char *key, struct str value);
/* An empty text writes null. */
void json_put_str_or_null(struct json_writer *w, const char *key, struct str value);
void json_put_cstr(struct json_writer *w, const char *key,
                   const char *value); /* NULL writes null */
void json_put_u64(struct json_writer *w, const char *key, uint64_t value);
void json_put_i64(struct json_writer *w, const char *key, int64_t value);
void json_put_double(struct json_writer *w, const char *key, double value); /* null unless finite */
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
/* Writes a key that is not a C string, for maps such as {"aten.add.Tensor": 3}; the value must
 * follow. */
void json_put_key(struct json_writer *w, struct str key);
/* Writes text that is JSON already. */
void json_put_raw(struct json_writer *w, const char *key, struct str value);

/* Writes a string with its quotes, escaped. */
void json_quote(struct buf *out, struct str value);
/* Writes the shortest decimal text that is read back as the same double. */
void json_number(struct buf *out, double value);

#endif
