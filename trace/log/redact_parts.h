/* Private to trace/redact*.c. */
#ifndef SYMTAPE_TRACE_REDACT_PARTS_H
#define SYMTAPE_TRACE_REDACT_PARTS_H

#include "trace/log/redact.h"

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

/* Of a Python identifier, ASCII only. */
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

/* What a name becomes; it is learnt when it is new. Empty when memory ran out. */
struct str redact_user(struct redact *redact, struct str name);
struct str redact_host(struct redact *redact, struct str name);
/* Is it a word of redact_words.def? */
bool redact_is_common(const struct redact *redact, struct str word);
/* The learnt name that begins at in[at], where a word begins: its end, and what it becomes; 0 if
 * there is none. */
size_t redact_find_name(const struct redact *redact, struct str in, size_t at, struct str *ret);
/* Appends `in` with whole words that are names replaced. */
void redact_words(const struct redact *redact, struct str in, struct buf *out);

/* --- redact_path.c --- */

/* Rewrites the absolute path that begins at in[at]: where it ends, or 0 if it is no path that
 * needs it. */
size_t redact_path(struct redact *redact, struct edit *edit, size_t at);

/* --- redact_variables.c --- */

/* Rewrites what an environment variable or a host is set to by the code whose word in[at .. end)
 * may say so: where it ends, or 0 if it is no such code. */
size_t redact_variables(struct redact *redact, struct edit *edit, size_t at, size_t end);
/* Takes names from NAME=VALUE of an environment. */
void redact_learn_variable(struct redact *redact, struct str name, struct str value);

/* --- redact_json.c --- */

/* Rewrites text that is an array or an object; false if it is not. Nothing is in `out` unless
 * *changed. `depth`: how many strings it is inside of. */
bool redact_json(struct redact *redact, size_t depth, struct str in, struct buf *out,
                 bool *changed);

/* --- redact_scan.c --- */

/* Rewrites text that is not JSON into `out`; false, and nothing in `out`, if it stays as it is. */
bool redact_scan(struct redact *redact, struct str in, struct buf *out);

#endif
