/* Text of a file on a page of Markdown: an issue, a comment, a job's summary.
 *
 * Nothing in such a text is markup: it opens no HTML, link, image, list, table or fence, mentions
 * nobody (@name), refers to no issue (#1) and becomes no address that can be clicked. Controls and
 * hidden characters are shown as trace/base/text/printable.h has them. GitHub's dialect is meant,
 * which looks for mentions, references and addresses where a backslash no longer shows; code is
 * left alone, so a text that has one is written as code. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_MARKDOWN_H
#define SYMTAPE_TRACE_BASE_TEXT_MARKDOWN_H

#include "trace/base/buf.h"

/* A text within a line, or within a table's cell. */
void markdown_text(struct buf *out, struct str text);

/* The same as code. In a cell a bar ends it even there, unless it is escaped; elsewhere the
 * backslash would be seen. Nothing for an empty text. */
void markdown_code(struct buf *out, struct str text);
void markdown_cell_code(struct buf *out, struct str text);

/* Lines of code, in a fence longer than any run of backquotes in them, and an empty line.
 * `language` is ours. The text is written byte for byte: use printable_put() first for what is not
 * a program. */
void markdown_block(struct buf *out, const char *language, struct str text);

/* A title of at most `most` characters: one line in which nothing is markup, where Markdown is read
 * and where it is not. As it is when it holds plain words only, else as code. */
void markdown_title(struct buf *out, struct str text, size_t most);

#endif
