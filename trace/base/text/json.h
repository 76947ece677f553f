/* Reading JSON as Python writes it.
 *
 * json_parse() checks a text and lays it out as a flat array of nodes that point into it: nothing
 * is copied or converted until asked for, and the text of every number survives. It accepts what
 * Python's json.dumps emits and other readers refuse: NaN, Infinity, -Infinity, integers of any
 * length, lone surrogates (\ud800), and bytes that are not UTF-8. It refuses everything else that
 * RFC 8259 does. Nesting is bounded (JSON_MAX_DEPTH) and nothing recurses.
 *
 *     struct json doc = { 0 };
 *     if (!json_parse(&doc, text, err))               "offset 17: expected ',' or '}'"
 *         return false;
 *     json_id args = json_get(&doc, JSON_ROOT, STR("args"));
 *     for (json_id a = json_first(&doc, args); a != JSON_NONE; a = json_next(&doc, a)) ...
 *
 * Why not a library: Debian's C readers reject NaN or lone surrogates (jansson), or lose the text
 * of numbers and run at 283 MB/s (json-c), below the 500 MB/s that import promises; tests hold this
 * one to json-c, and tests/bench compares their speed.
 *
 * Texts on a tape may hold references: byte JSON_REF_MARK and decimal digits stand where a value
 * would; they are read as JSON_REF nodes. No valid JSON holds that byte. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_JSON_H
#define SYMTAPE_TRACE_BASE_TEXT_JSON_H

#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/base/vec.h"

enum { JSON_MAX_DEPTH = 1000, JSON_REF_MARK = 1 };

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER, /* NaN and the infinities included */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT, /* its children are key, value, key, value ... */
    JSON_REF,
};

typedef uint32_t json_id;
#define JSON_ROOT ((json_id)0)
#define JSON_NONE UINT32_MAX

struct json_node {
    uint8_t kind;
    bool escaped;  /* a string with at least one backslash */
    uint32_t off;  /* in doc->text; strings without their quotes */
    uint32_t len;  /* of the value's text */
    json_id after; /* the first node that is not inside this one */
};

struct json {
    struct str text; /* borrowed */
    vec_of(struct json_node)
    nodes;
};

/* Parses `text` (at most 4 GiB) and uses doc's memory again. `text` must outlive doc's use. */
bool json_parse(struct json *doc, struct str text, struct err *err);
void json_release(struct json *doc);

/* These functions return JSON_NONE, "" or false for JSON_NONE and for a node of another kind. */
enum json_kind json_kind_of(const struct json *doc, json_id id); /* JSON_NULL for JSON_NONE */
json_id json_first(const struct json *doc, json_id id);          /* first child */
json_id json_next(const struct json *doc, json_id id);           /* next child of its parent */
/* Returns the value of the first such key. Keys are compared without decoding. */
json_id json_get(const struct json *doc, json_id object, struct str key);
/* Counts what json_first() and json_next() visit: the elements of an array, or the keys and the
 * values of an object, two for each member. An array of this length has a place for each. */
size_t json_count(const struct json *doc, json_id id);
size_t json_members(const struct json *doc, json_id object); /* 0 of anything else */

struct str json_text(const struct json *doc,
                     json_id id); /* as written; strings unquoted, undecoded */
struct str json_str(const struct json *doc, json_id id); /* a string without escapes, else "" */
bool json_is(const struct json *doc, json_id id, const char *string);
bool json_i64(const struct json *doc, json_id id, int64_t *ret); /* an integer that fits */
bool json_u64(const struct json *doc, json_id id, uint64_t *ret);
bool json_double(const struct json *doc, json_id id, double *ret); /* any number */
bool json_ref(const struct json *doc, json_id id, uint32_t *ret);
/* Appends a string decoded to UTF-8 (lone surrogates as three bytes each, WTF-8). */
void json_decode(const struct json *doc, json_id id, struct buf *out);
/* As json_str, decoding into the arena when needed; .p is NULL when memory ran out. */
struct arena;
struct str json_decoded(const struct json *doc, json_id id, struct arena *arena);

/* Decodes a JSON string's inside (between the quotes). The backslash of an invalid escape is
 * dropped. */
void json_unescape(struct str inside, struct buf *out);

#endif
