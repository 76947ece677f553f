/* Declarations that the files of trace/log/redact share. Private to the room. */
#ifndef SYMTAPE_TRACE_LOG_REDACT_REDACT_PARTS_H
#define SYMTAPE_TRACE_LOG_REDACT_REDACT_PARTS_H

#include "trace/log/redact/redact.h"

/* A text on its way to its rewritten form: what is not replaced is copied in runs, and nothing is
 * copied before the first replacement, since most texts have none. */
struct edit {
    struct str in;
    size_t from; /* what comes before is in `out` */
    struct buf *out;
    bool changed;
};

static inline struct edit edit_of(struct str in, struct buf *out)
{
    return (struct edit){ .in = in, .out = out };
}

/* Copies up to `at`; the caller then appends what takes the place of in[at .. next). */
static inline struct buf *edit_replace(struct edit *edit, size_t at, size_t next)
{
    buf_put(edit->out, str_first(str_from(edit->in, edit->from), at - edit->from));
    edit->from = next;
    edit->changed = true;
    return edit->out;
}

static inline void edit_finish(struct edit *edit)
{
    buf_put(edit->out, str_from(edit->in, edit->from));
}

static inline struct str str_between(struct str s, size_t from, size_t to)
{
    return str_first(str_from(s, from), to - from);
}

static inline bool is_any(struct str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, list[i]))
            return true;
    return false;
}
#define IS_ANY(s, list) is_any((s), (list), sizeof(list) / sizeof *(list))

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a character can be part of a Python identifier; ASCII only. */
static inline bool is_word_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* The character, NUL past the end. */
static inline char char_at(struct str s, size_t at)
{
    return at < s.n ? s.p[at] : '\0';
}

/* --- redact_names.c --- */

/* Returns the replacement of a name, and learns the name if it is new. Empty when memory ran
 * out. */
struct str redact_user(struct redact *redact, struct str name);
struct str redact_host(struct redact *redact, struct str name);
/* Is it a word of redact_words.def? */
bool redact_is_common(const struct redact *redact, struct str word);
/* The learnt name that begins at in[at], where a word begins: its end, and what it becomes; 0 if
 * there is none. */
size_t redact_find_name(const struct redact *redact, struct str in, size_t at, struct str *ret);
/* Appends `in` with whole words that are names replaced. */
void redact_words(const struct redact *redact, struct str in, struct buf *out);

/* user1, host12: what takes the place of a name. */
bool redact_is_replacement(struct str s);
/* The host of an address; unlike redact_host, its first part is not learnt as its short name. */
struct str redact_address(struct redact *redact, struct str name);

/* --- redact_values.c --- */

/* Learns the value of a variable, an option or a password as a secret, which is replaced wherever
 * it occurs from then on, unless it is too short or too common. `name` may be "". */
void redact_value(struct redact *redact, struct str name, struct str value);
/* The same for a name that was learnt, within words: ann_model, but not joanne. */
void redact_name_within_words(struct redact *redact, struct str name, struct str replacement);
/* Rewrites what was taken; false, and nothing in `out`, if `in` holds none of it. */
bool redact_find_values(struct redact *redact, struct str in, struct buf *out);

/* --- redact_path.c --- */

/* Rewrites the absolute path that begins at in[at]: where it ends, or 0 if it is no path that
 * needs it. */
size_t redact_path(struct redact *redact, struct edit *edit, size_t at);

/* Appends the hash of a folder of which `folder` is the end; false when none was met. */
bool redact_cut_folder(const struct redact *redact, struct str folder, struct buf *out);

/* --- redact_variables.c --- */

/* Rewrites the value that code sets an environment variable or a host to, if the word in[at .. end)
 * can be part of such code. Returns the offset where that code ends, or 0 if it is no such code. */
size_t redact_variables(struct redact *redact, struct edit *edit, size_t at, size_t end);
/* Takes names and the value from NAME=VALUE of an environment. */
void redact_learn_variable(struct redact *redact, struct str name, struct str value);
/* Learns `value`, which lies in edit->in, and replaces it. */
void redact_replace_value(struct redact *redact, struct edit *edit, struct str name,
                          struct str value);
/* A Python string literal on one line: where it ends, or 0; its inside, not decoded. */
size_t redact_literal(struct str in, size_t at, struct str *inside);
/* `c` with white space on both sides: where to go on, or 0. */
size_t redact_mark(struct str in, size_t at, char c);

/* --- redact_shapes.c --- */

/* Whether a name indicates a secret: db_password, API_KEY. */
bool redact_is_secret_name(struct str name);
/* Rewrites a secret that is known by its own shape or by the word in[at .. end) in front of it:
 * addresses, tokens, passwords. Where it ends, or 0. */
size_t redact_shapes(struct redact *redact, struct edit *edit, size_t at, size_t end);

/* --- redact_code.c --- */

/* The comment that begins at in[at], a '#', if it is one in a line of the user's code that is
 * quoted in a graph, a guard or a traceback: where it ends, else 0. */
size_t redact_comment(struct str in, size_t at);
/* "# cut/path/x.py:3 in f", which ends a guard's line, at in[at], the '#': rewrites the path if it
 * is one whose folder was met. Where it ends, or 0. */
size_t redact_place(struct redact *redact, struct edit *edit, size_t at);
/* A line of code without its comment. */
struct str redact_code(struct str line);

/* --- redact_json.c --- */

/* Rewrites text that is an array or an object; false if it is not. Nothing is in `out` unless
 * *changed. `depth`: how many strings it is inside of. */
bool redact_json(struct redact *redact, size_t depth, struct str in, struct buf *out,
                 bool *changed);

/* --- redact_scan.c --- */

/* Rewrites text that is not JSON into `out`; false, and nothing in `out`, if it stays as it is. */
bool redact_scan(struct redact *redact, struct str in, struct buf *out);
/* As redact_text(), without looking for known values. */
bool redact_rules(struct redact *redact, struct str in, struct buf *out);

#endif
