/* Where a text changes its style: kept beside the text and not in it, since what stands in a text
 * may come from a file, and a file must not be able to color anything. Who writes a text marks it;
 * only cmd/cli/out.c knows what a terminal is sent for a style. */
#ifndef SYMTAPE_PROFILE_REPORT_STYLE_H
#define SYMTAPE_PROFILE_REPORT_STYLE_H

#include "trace/base/buf.h"
#include "trace/base/vec.h"

enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };

struct style_mark {
    const struct buf *text;
    size_t at; /* bytes of the text in front of it */
    enum style style;
};

struct styles {
    vec_of(struct style_mark)
    marks; /* in the order of the text */
};

/* What is appended to `text` from now on has this style. Nothing without styles (NULL): the text
 * has none. Failure is the text's. */
static inline void style_mark(struct styles *styles, struct buf *text, enum style style)
{
    if (styles && !vec_push(&styles->marks, (struct style_mark){ text, text->n, style }))
        text->failed = true;
}

#endif
