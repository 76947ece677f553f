/* Prints text of a file on a page of Markdown: an issue, a comment, a job's summary.
 *
 * Nothing in such a text becomes markup: it opens no HTML, link, image, list, table or fence,
 * mentions nobody (@name), refers to no issue (#1) and becomes no address that can be clicked.
 * Control and hidden characters are printed as trace/base/text/printable.h does. The dialect is
 * GitHub's, which looks for mentions, references and addresses in rendered text, where a
 * backslash has no effect; code is not searched, so a text that has one is written as code. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_MARKDOWN_H
#define SYMTAPE_TRACE_BASE_TEXT_MARKDOWN_H

#include "trace/base/buf.h"

/* Prints a text within a line, or within a table's cell. */
void markdown_text(struct buf *out, struct str text);

/* Prints a text as code; nothing for an empty text. In a cell a bar must be escaped even in
 * code; elsewhere the backslash would be printed. */
void markdown_code(struct buf *out, struct str text);
void markdown_cell_code(struct buf *out, struct str text);

/* Prints lines of code in a fence longer than any run of backquotes in them, and an empty line.
 * `language` is ours. The text is written byte for byte: call printable_put() first for what is
 * not a program. */
void markdown_block(struct buf *out, const char *language, struct str text);

/* Prints a title of at most `most` characters: one line without markup, for readers that render
 * Markdown and for those that do not. It is unchanged if it has only words and punctuation,
 * otherwise code. */
void markdown_title(struct buf *out, struct str text, size_t most);

#endif
