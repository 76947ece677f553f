/* Reads the side file of a deep recording (deep_format.h) and resolves what its events refer to.
 *
 *     struct deep_file file;
 *     if (deep_file_open(&file, path, err))
 *         while (deep_file_next(&file, &event)) switch (event.type) ...
 *     deep_file_release(&file);
 *
 * Hostile input: an event that lacks fields, or refers to an undefined id, is skipped and counted;
 * one whose size is wrong ends the file. Things that many events refer to are truncated to a length
 * that no real one has, so that a small file does not become a huge text. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_FILE_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_FILE_H

#include "trace/base/buf.h"
#include "trace/base/intern.h"
#include "trace/log/deep/deep_format.h"

enum { DEEP_MOST_FIELDS = 13 };

struct deep_event {
    enum deep_event_type type;
    uint64_t at;                        /* offset in the file */
    uint64_t numbers[DEEP_MOST_FIELDS]; /* by field; texts are in `texts` */
    struct str texts[DEEP_MOST_FIELDS];
};

struct deep_code {
    struct str file, function, lines, source; /* `lines` has pairs of u32 */
    uint32_t first_line;                      /* first line of `source` */
};

struct deep_file_frame {
    struct str file, function, code;
    uint32_t line;
};

struct deep_file_stack {
    uint32_t parent, frame; /* or: */
    struct str text;        /* a traceback; .p NULL */
    uint32_t
        number; /* number of its content, which equal stacks share; UINT32_MAX: not yet known */
};

struct deep_context {
    int64_t autograd, frame, compile, attempt;
    uint64_t ns;
    uint32_t earlier; /* compiles of that id: torch._dynamo.reset() begins ids anew */
    bool followed;    /* the same compile has a later attempt */
};

struct deep_value {
    struct str json, floats;
};

struct deep_file {
    struct buf data;
    struct deep_header header;
    size_t next;
    uint64_t events, passed_over;
    bool ended;
    struct str process; /* JSON; "" */
    /* The things that have an id, by id; the one with id 0 is empty. */
    vec_of(struct str)
    strings;
    vec_of(struct deep_code)
    codes;
    vec_of(struct deep_file_frame)
    frames;
    vec_of(struct deep_file_stack)
    stacks;
    vec_of(struct deep_context)
    contexts;
    vec_of(struct deep_value)
    values;
    struct intern stack_texts; /* JSON of stacks, by number */
    struct intern compiles;    /* ids of compiles */
    vec_of(uint32_t)
    latest; /* by compile: the context of its latest attempt */
    struct buf scratch;
};

/* Returns whether a file begins like a side file. */
bool deep_file_is(const char *path);
/* Opens and reads a side file. It fails with ERR_ENV when it cannot be read and with ERR_INPUT
 * when it is no side file. Release it in any case. */
bool deep_file_open(struct deep_file *file, const char *path, struct err *err);
/* Reads a side file from bytes, which are copied. */
bool deep_file_read(struct deep_file *file, struct str bytes, struct err *err);
void deep_file_release(struct deep_file *file);

/* Reads the next event, from the first one on, events that define ids included. Returns false at
 * the end. */
bool deep_file_next(struct deep_file *file, struct deep_event *event);
void deep_file_rewind(struct deep_file *file);

/* Returns the string with this id; "" for ids that were not defined. */
struct str deep_string(const struct deep_file *file, uint64_t id);
const struct deep_value *deep_value(const struct deep_file *file, uint64_t id);
const struct deep_context *deep_context(const struct deep_file *file, uint64_t id);
const struct deep_file_frame *deep_frame(const struct deep_file *file, uint64_t id);

/* Returns the number of a stack's content, UINT32_MAX for none (or when memory ran out:
 * file->scratch.failed). Its text, [[FILE, LINE, FUNCTION, CODE], ...], is
 * intern_text(&file->stack_texts, number). */
uint32_t deep_stack_number(struct deep_file *file, uint64_t id);

#endif
