/* Declarations that the files of trace/log/redact share. */
#ifndef SYMTAPE_TRACE_LOG_REDACT_REDACT_PARTS_H
#define SYMTAPE_TRACE_LOG_REDACT_REDACT_PARTS_H

#include "trace/log/redact/redact.h"

/* A text that is being rewritten: bytes that are not replaced are copied in runs, and nothing is
 * copied before the first replacement, because most texts have none. */
struct text_edit {
    struct str in;
    size_t from; /* bytes before it are in `out` */
    struct buf *out;
    bool changed;
};

static inline struct text_edit edit_of(struct str in, struct buf *out)
{
    return (struct text_edit){ .in = in, .out = out };
}

/* Copies up to `at`; the caller then appends the replacement of in[at .. next). */
static inline struct buf *edit_replace(struct text_edit *edit, size_t at, size_t next)
{
    buf_put(edit->out, str_first(str_from(edit->in, edit->from), at - edit->from));
    edit->from = next;
    edit->changed = true;
    return edit->out;
}

static inline void edit_finish(struct text_edit *edit)
{
    buf_put(edit->out, str_from(edit->in, edit->from));
}

static inline struct str str_between(struct str s, size_t from, size_t to)
{
    return str_first(str_from(s, from), to - from);
}

/* Returns the character, or NUL past the end. */
static inline char char_at(struct str s, size_t at)
{
    return at < s.n ? s.p[at] : '\0';
}

/* --- redact_names.c --- */

/* Returns the replacement of a name, and learns the name if it is new. It is empty when memory
 * ran out. */
struct str redact_user(struct redact *redact, struct str name);
struct str redact_host(struct redact *redact, struct str name);
/* Returns whether a word is in redact_words.def. */
bool redact_is_common(const struct redact *redact, struct str word);
/* Finds a learnt name at in[at], where a word begins. It returns the name's end and sets *ret to
 * the replacement; 0 if there is none. */
size_t redact_find_name(const struct redact *redact, struct str in, size_t at, struct str *ret);
/* Appends `in` and replaces whole words that are names. */
void redact_words(const struct redact *redact, struct str in, struct buf *out);

/* Returns whether a text is a replacement of a name: user1, host12. */
bool redact_is_replacement(struct str s);
/* Returns the replacement of the host of an address; unlike in redact_host(), its first part is
 * not learnt as its short name. */
struct str redact_address(struct redact *redact, struct str name);

/* --- redact_values.c --- */

/* Learns the value of a variable, an option or a password as a secret, which is replaced wherever
 * it occurs from then on, unless it is too short or too common. `name` may be "". */
void redact_value(struct redact *redact, struct str name, struct str value);
/* Learns a learnt name within words as well: ann_model, but not joanne. */
void redact_name_within_words(struct redact *redact, struct str name, struct str replacement);
/* Replaces the known values in `in`; returns false, with nothing in `out`, if there are none. */
bool redact_find_values(struct redact *redact, struct str in, struct buf *out);

/* --- redact_path.c --- */

/* Rewrites the absolute path that begins at in[at]. It returns where the path ends, or 0 if
 * there is no path that needs it. */
size_t redact_path(struct redact *redact, struct text_edit *edit, size_t at);

/* Appends the hash of a known folder that ends in `folder`; returns false when there is none. */
bool redact_cut_folder(const struct redact *redact, struct str folder, struct buf *out);

/* --- redact_variables.c --- */

/* Rewrites the value that code sets an environment variable or a host to, if the word in[at .. end)
 * can be part of such code. Returns the offset where that code ends, or 0 if it is no such code. */
size_t redact_variables(struct redact *redact, struct text_edit *edit, size_t at, size_t end);
/* Learns names and the value from NAME=VALUE of an environment. */
void redact_learn_variable(struct redact *redact, struct str name, struct str value);
/* Learns `value`, which points into edit->in, and replaces it. */
void redact_replace_value(struct redact *redact, struct text_edit *edit, struct str name,
                          struct str value);
/* Reads a Python string literal on one line. It returns where the literal ends, or 0, and sets
 * *inside to the text between its quotes, not decoded. */
size_t redact_literal(struct str in, size_t at, struct str *inside);
/* Reads `c` with optional white space on both sides. It returns the offset after it, or 0. */
size_t redact_mark(struct str in, size_t at, char c);

/* --- redact_shapes.c --- */

/* Returns whether a name indicates a secret: db_password, API_KEY. */
bool redact_is_secret_name(struct str name);
/* Rewrites a secret that its own form or the word in[at .. end) before it shows: addresses,
 * tokens, passwords. It returns where the secret ends, or 0. */
size_t redact_shapes(struct redact *redact, struct text_edit *edit, size_t at, size_t end);

/* --- redact_code.c --- */

/* Returns where the comment ends that begins with the '#' at in[at], if it is one in a line of
 * the user's code that a graph, a guard or a traceback quotes; otherwise 0. */
size_t redact_comment(struct str in, size_t at);
/* Rewrites the path of "# cut/path/x.py:3 in f", which ends a guard's line, with its '#' at
 * in[at], if it is in a known folder. It returns where the text ends, or 0. */
size_t redact_place(struct redact *redact, struct text_edit *edit, size_t at);
/* Returns a line of code without its comment. */
struct str redact_code(struct str line);

/* --- redact_json.c --- */

/* Rewrites text that is an array or an object; returns false if it is neither. It writes to
 * `out` only if it sets *changed. `depth` is the number of strings that enclose the text. */
bool redact_json(struct redact *redact, size_t depth, struct str in, struct buf *out,
                 bool *changed);

/* --- redact_scan.c --- */

/* Rewrites text that is not JSON into `out`; returns false, with nothing in `out`, if the text
 * does not change. */
bool redact_scan(struct redact *redact, struct str in, struct buf *out);
/* Rewrites as redact_text() does, without searching for known values. */
bool redact_rules(struct redact *redact, struct str in, struct buf *out);

#endif
