/* Errors as values.
 *
 * A call that can fail takes `struct err *` last, returns false (or NULL) on failure and does
 * not change the error on success, so calls chain with && and the caller prints once. The first
 * error wins: err_set() on an error that is already set changes nothing. The layer that knows a
 * place (file, line, offset, graph, node) prepends it with err_at(), once. Only the cmd room
 * prints errors and turns their kind into an exit code. */
#ifndef SYMTAPE_TRACE_BASE_ERR_H
#define SYMTAPE_TRACE_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum err_kind {
    ERR_NONE,
    ERR_USAGE,       /* the command line names what does not exist or makes no sense: exit 2 */
    ERR_INPUT,       /* a file is damaged or is not what it claims to be:     exit 3 */
    ERR_ENV,         /* I/O, memory, a missing library or device:             exit 4 */
    ERR_INTERRUPTED, /* the user stopped it; the best result so far was kept: exit 130 */
};

struct err {
    enum err_kind kind;
    char text[1000]; /* complete, one line, without a final full stop; no allocation, so that it
                        works when memory ran out */
    bool no_memory;  /* an allocation failed: set by err_nomem() */
};

#if defined(__GNUC__)
#define ERR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ERR_PRINTF(fmt, args)
#endif

/* Each returns false, for use as `return err_set(...)`. */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) ERR_PRINTF(3, 4);
bool err_setv(struct err *err, enum err_kind kind, const char *fmt, va_list args) ERR_PRINTF(3, 0);
bool err_errno(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3); /* adds strerror(errno) */
bool err_nomem(struct err *err);
bool err_copy(struct err *err, const struct err *from); /* which is set */

/* Prepends a place to a set error's text: err_at(err, "%s:%zu", file, line). An empty place adds
 * nothing. */
bool err_at(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3);

static inline bool err_is_set(const struct err *err)
{
    return err->kind != ERR_NONE;
}

/* Makes it no error, without writing all of its text. */
static inline void err_clear(struct err *err)
{
    err->kind = ERR_NONE;
    err->text[0] = 0;
    err->no_memory = false;
}

#endif
