/* The styles of a text. They are stored beside the text and not in it, since parts of the text may
 * come from a file, and a file must not be able to set colors. The writer of a text marks its
 * styles; cmd/cli/out.c translates them to escape sequences of a terminal. */
#ifndef SYMTAPE_PROFILE_REPORT_STYLE_H
#define SYMTAPE_PROFILE_REPORT_STYLE_H

#include "trace/base/buf.h"
#include "trace/base/vec.h"

enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };

struct style_mark {
    const struct buf *text;
    size_t at; /* the offset in the text */
    enum style style;
};

struct styles {
    vec_of(struct style_mark)
    marks; /* in the order of the text */
};

/* Sets the style of the text that is appended from now on; does nothing if `styles` is NULL.
 * Failure is reported by the text's buffer. */
static inline void style_mark(struct styles *styles, struct buf *text, enum style style)
{
    if (styles && !vec_push(&styles->marks, (struct style_mark){ text, text->n, style }))
        text->failed = true;
}

#endif
