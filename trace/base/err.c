#include "trace/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Removes an incomplete UTF-8 sequence at the end of a truncated message. */
static void trim_partial_utf8(char *text, size_t cap, int wanted)
{
    if (wanted < 0 || (size_t)wanted < cap)
        return;
    size_t n = cap - 1;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xC0) == 0x80)
        n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xC0)
        n--;
    text[n] = '\0';
}

bool err_setv(struct err *err, enum err_kind kind, const char *fmt, va_list args)
{
    if (err_is_set(err))
        return false;
    err->kind = kind;
    int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    trim_partial_utf8(err->text, sizeof err->text, n);
    return false;
}

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_setv(err, kind, fmt, args);
    va_end(args);
    return false;
}

bool err_errno(struct err *err, const char *fmt, ...)
{
    if (err_is_set(err))
        return false;
    int code = errno;
    va_list args;
    va_start(args, fmt);
    err_setv(err, ERR_ENV, fmt, args);
    va_end(args);
    size_t n = strlen(err->text);
    snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(code));
    return false;
}

bool err_nomem(struct err *err)
{
    if (!err_is_set(err))
        err->no_memory = true;
    return err_set(err, ERR_ENV, "out of memory");
}

bool err_copy(struct err *err, const struct err *from)
{
    if (!err_is_set(err))
        *err = *from;
    return false;
}

bool err_at(struct err *err, const char *fmt, ...)
{
    struct err outer = { .kind = ERR_NONE };
    va_list args;
    va_start(args, fmt);
    err_setv(&outer, err->kind, fmt, args);
    va_end(args);
    size_t n = strlen(outer.text);
    if (n == 0) /* the text of the place could not be made, as when memory runs out */
        return false;
    int m = snprintf(outer.text + n, sizeof outer.text - n, ": %s", err->text);
    trim_partial_utf8(outer.text + n, sizeof outer.text - n, m);
    memcpy(err->text, outer.text, sizeof err->text);
    return false;
}
