/* A kind of record, described once by a table of fields, from which its object in JSON and its rows
 * in text and Markdown are made.
 *
 *     static const struct field CALLS[] = {
 *         { "op", MEMBER(struct call, op), TEXT(2, "operator", TEXT, 0) },
 *         { "calls", MEMBER(struct call, calls), TEXT(1, "calls", COUNT, 0) },
 *         { "ns", MEMBER(struct call, ns) },                      no place in text: only in JSON
 *         { NULL, .cell = put_share, TEXT(3, "share", RATIO, 1) }, no key: only in text
 *     };
 *     static const struct fields FIELDS = FIELDS_OF(CALLS);
 *     fields_json_rows(&w, "calls", &FIELDS, context, ROWS(calls, n_calls));
 *
 * The order of the table is the order of the JSON; a field's place in text is a number of its own,
 * since a reader looks for other things first. A record may have several tables in text (one in a
 * report, one in Markdown): a field has a place, title and unit in each. The kind of a value
 * determines how JSON writes it, the unit how text prints it.
 *
 * `context` is what a getter needs beside the record: the profile, or the view. These structs own
 * nothing, and failures are those of the buffer. */
#ifndef SYMTAPE_PROFILE_REPORT_FIELDS_H
#define SYMTAPE_PROFILE_REPORT_FIELDS_H

#include <stddef.h>

#include "profile/report/table.h"
#include "trace/base/text/json_write.h"

/* ---- Values ---- */

enum datum_kind {
    DATUM_ABSENT, /* no member at all; nothing in text */
    DATUM_NULL,   /* not known: null; nothing in text */
    DATUM_STRING,
    DATUM_UNSIGNED,
    DATUM_SIGNED,
    DATUM_NUMBER,
    DATUM_BOOL,
    DATUM_PLACE, /* {"file", "line", "code"}, null without a file; "models/hrnet.py:790" */
};

struct datum {
    enum datum_kind kind;
    union {
        struct str string;
        uint64_t count;
        int64_t integer;
        double number;
        bool is;
        struct {
            struct str file, text;
            const char *text_key; /* NULL: "code" */
            uint32_t line;
        } place;
    } as;
};

static inline struct datum datum_null(void)
{
    return (struct datum){ .kind = DATUM_NULL };
}

static inline struct datum datum_absent(void)
{
    return (struct datum){ .kind = DATUM_ABSENT };
}

static inline struct datum datum_string(struct str string)
{
    return (struct datum){ .kind = DATUM_STRING, .as.string = string };
}

/* Returns a name as a value; NULL is null. */
static inline struct datum datum_name(const char *name)
{
    return name ? datum_string(str_of(name)) : datum_null();
}

static inline struct datum datum_count(uint64_t count)
{
    return (struct datum){ .kind = DATUM_UNSIGNED, .as.count = count };
}

static inline struct datum datum_integer(int64_t integer)
{
    return (struct datum){ .kind = DATUM_SIGNED, .as.integer = integer };
}

static inline struct datum datum_number(double number)
{
    return (struct datum){ .kind = DATUM_NUMBER, .as.number = number };
}

static inline struct datum datum_bool(bool is)
{
    return (struct datum){ .kind = DATUM_BOOL, .as.is = is };
}

static inline struct datum datum_place(struct str file, uint32_t line, struct str code)
{
    return (struct datum){ .kind = DATUM_PLACE, .as.place = { file, code, NULL, line } };
}

/* ---- Fields ---- */

/* How text prints a value. A value that is absent or null, and an empty string, is "-". */
enum unit {
    UNIT_WORD,   /* short texts and names; a bool is "yes" or "no" */
    UNIT_TEXT,   /* may be cut */
    UNIT_LIST,   /* several texts, which may be cut; an empty list is blank, not "-" */
    UNIT_PATH,   /* may be cut, and keeps its end; places */
    UNIT_MARKUP, /* words of symtape, which Markdown may mark up */
    UNIT_COUNT,  /* "1,234"; 0 is "-" */
    UNIT_NUMBER, /* "1,234"; 0 is "0" */
    UNIT_DIGITS, /* "1234" */
    UNIT_NS,     /* "3.41 s"; "-" when it is negative */
    UNIT_SPENT,  /* the same; "-" for 0, too */
    UNIT_BYTES,  /* "1.25 MB"; 0 is "-" */
    UNIT_GROWTH, /* "+1.25 MB"; 0 is "-" */
    UNIT_RATIO,  /* "2.26"; 0 is "-" */

    /* Numbers that were measured: one that is absent is blank. */
    UNIT_US,           /* "3.41 ms" */
    UNIT_SHARE,        /* of 1: "34 %" */
    UNIT_BYTES_PER_US, /* "1.25 GB/s" */
    UNIT_FLOPS_PER_US, /* "1.25 TFLOP/s" */
};

enum {
    FIELD_TABLES = 5,  /* tables of text that a record may have */
    TEXT_COLUMNS = 16, /* columns of one such table */
    FIELD_DEPTH = 3    /* groups within groups */
};

struct fields {
    const struct field *v;
    size_t n;
};

struct field {
    const char
        *key; /* in JSON, or NULL if only in text; a group with NULL has no object of its own */
    size_t offset; /* of the member that the functions are given */
    struct datum (*get)(const void *context, const void *at);
    /* Used instead of get() for more than one value: cell() appends printable text, nothing for
     * "-"; json() writes any number of members. */
    void (*cell)(const void *context, const void *at, struct buf *out);
    void (*json)(const void *context, const void *at, struct json_writer *w, const char *key);
    /* A group: the fields of another record, or of a part of this one. reach() returns it, or NULL
     * if there is none (null in JSON, "-" in text); without reach() it is at `offset`. With json(),
     * the group is used for text only: for a list, the columns of its first record. With cell(), it
     * is used for JSON only: text has one column for the whole group. */
    const struct fields *group;
    const void *(*reach)(const void *context, const void *at);
    struct field_place {
        unsigned char at; /* from 1; 0: not in this table */
        unsigned char spare;
        enum unit unit;
        const char *title;
    } in_text[FIELD_TABLES];
};

#define FIELDS_OF(array)                         \
    {                                            \
        (array), sizeof(array) / sizeof *(array) \
    }

/* Initializers of a field: a member read by its type; a member whose address a function is given;
 * the record itself, given to a function. */
#define MEMBER(record, member) \
    .offset = offsetof(record, member),             \
    .get = _Generic(((record *)NULL)->member,       \
        bool: get_bool,                             \
        double: get_double,                         \
        struct str: get_str,                        \
        const char *: get_name,                     \
        int64_t: get_i64,                           \
        uint64_t: get_u64,                          \
        uint32_t: get_u32)
#define GET(function, record, member)  .offset = offsetof(record, member), .get = (function)
#define CELL(function, record, member) .offset = offsetof(record, member), .cell = (function)
#define JSON(function, record, member) .offset = offsetof(record, member), .json = (function)

/* Initializer of a group: the fields of a member that is a struct, or a pointer to one. */
#define PART(fields, record, member) .group = &(fields), .offset = offsetof(record, member)
#define BEHIND(fields, record, member) \
    .group = &(fields), .offset = offsetof(record, member), .reach = reach_pointer

/* Initializer of a field's place in the first table of text, or in any table. */
#define IN_TABLE(table, at, title, unit, spare) \
    .in_text[table] = { (at), (spare), UNIT_##unit, (title) }
#define TEXT(at, title, unit, spare) IN_TABLE(0, at, title, unit, spare)

/* Define a function for a table of fields by an expression with `row`, the record or member, and
 * `in`, the context: a getter, the record of a group, and whether a record is shown.
 *
 *     GETTER(get_slow, struct call, datum_bool(row->ns > 1000000))
 *     GETTER_IN(get_name, struct profile, uint32_t, datum_string(in->names[*row])) */
#define FIELD_FUNCTION(result, name, context_type, row_type, expr) \
    static result name(const void *context, const void *at)        \
    {                                                              \
        const context_type *in = context;                          \
        const row_type *row = at;                                  \
        (void)in;                                                  \
        (void)row;                                                 \
        return expr;                                               \
    }
#define GETTER(name, row, expr)        FIELD_FUNCTION(struct datum, name, void, row, expr)
#define GETTER_IN(name, in, row, expr) FIELD_FUNCTION(struct datum, name, in, row, expr)
#define REACH(name, row, expr)         FIELD_FUNCTION(const void *, name, void, row, expr)
#define REACH_IN(name, in, row, expr)  FIELD_FUNCTION(const void *, name, in, row, expr)
#define WANTED_IN(name, in, row, expr) FIELD_FUNCTION(bool, name, in, row, expr)
#define WANTED(name, row, expr)        FIELD_FUNCTION(bool, name, void, row, expr)

struct datum get_bool(const void *context, const void *at);
struct datum get_double(const void *context, const void *at);
struct datum get_str(const void *context, const void *at);
struct datum get_name(const void *context, const void *at);
struct datum get_i64(const void *context, const void *at);
struct datum get_u64(const void *context, const void *at);
struct datum get_u32(const void *context, const void *at);
/* Reads a time or count; negative means "not known" and becomes null. */
struct datum get_known_i64(const void *context, const void *at);
const void *reach_pointer(const void *context, const void *at);

/* ---- Rows ---- */

/* Records in an array. */
struct rows {
    const void *first;
    size_t size; /* of one record */
    uint32_t n;
    const uint32_t *order; /* NULL, or `n` indices into the array */
    /* NULL, or returns whether to show a record. */
    bool (*wanted)(const void *context, const void *item);
};
#define ROWS(array, n_) ((struct rows){ .first = (array), .size = sizeof *(array), .n = (n_) })

/* ---- JSON ---- */

/* Writes one member; in an array the key is NULL. */
void json_put_datum(struct json_writer *w, const char *key, const struct datum *value);
/* Writes the members of one record, whose object is open. */
void fields_json(const struct fields *fields, const void *context, const void *item,
                 struct json_writer *w);
/* Writes an array of objects, of at most `limit` rows (0: all). */
void fields_json_rows(struct json_writer *w, const char *key, const struct fields *fields,
                      const void *context, const struct rows *rows, uint32_t limit);

/* ---- Text and Markdown ---- */

/* A table that is being filled. It borrows the columns, so it must not be moved. */
struct text_table {
    struct column columns[TEXT_COLUMNS];
    struct {
        const struct field *field;
        const struct field_place *place;
        const struct field
            *groups[FIELD_DEPTH]; /* the groups around the field, the outermost first */
        unsigned depth;
    } from[TEXT_COLUMNS];
    struct table table;
};

/* Sets up a table; table_release() releases it. */
void text_table_init(struct text_table *t, const struct fields *fields, unsigned table);
/* Leaves only the columns at these places, in this order; a 0 ends the list. */
void text_table_arrange(struct text_table *t, const unsigned char *places);
/* Adds the cells of one record. */
void text_table_row(struct text_table *t, const void *context, const void *item);
/* Adds at most `limit` rows (0: all) and returns how many rows there are. */
uint32_t text_table_rows(struct text_table *t, const void *context, const struct rows *rows,
                         uint32_t limit);

#endif
