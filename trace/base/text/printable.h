/* Text that may hold anything, made harmless to read.
 *
 * A log, a graph, an error of PyTorch's, the name of a file: each may come from a stranger, and
 * hold sequences that drive a terminal, characters that turn the direction of text or are not seen
 * at all, and bytes that are no text. Whatever people read goes through here; what other programs
 * read byte for byte does not. Such characters are written as Python would write them in a string:
 *
 *     \x1b         control characters of ASCII except tab and line feed; bytes that are not UTF-8
 *     \u009b       other control, direction and invisible characters (printable.def); lone
 * surrogates \U000e0041   the same above U+FFFF
 *
 * Text without any of them, other scripts and emoji included, stays as it is. printable_run() and
 * printable_put() let tabs and line feeds through, printable_code() and printable_next() do not. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_PRINTABLE_H
#define SYMTAPE_TRACE_BASE_TEXT_PRINTABLE_H

#include "trace/base/buf.h"

enum { PRINTABLE_ESCAPE = 12 };

/* Length of the UTF-8 sequence at the start of `text`, which is not empty, and its code; of a lone
 * surrogate, too, since Python writes them. 0: it is none. */
size_t utf8_sequence(struct str text, uint32_t *code);

/* Whether a character is shown as it is. */
bool printable_code(uint32_t code);

/* Bytes at the start of `text` that can be shown as they are. */
size_t printable_run(struct str text);

/* What stands at the start of `text`, which is not empty: how many bytes that is, and its escape;
 * "" when it can be shown as it is. */
size_t printable_next(struct str text, char escape[PRINTABLE_ESCAPE]);

/* Appends a text with such escapes; its lines stay. */
void printable_put(struct buf *out, struct str text);
/* The same as one line: white space at the ends is left out, elsewhere a run of it becomes a blank.
 */
void printable_line(struct buf *out, struct str text);

/* A text that comes in pieces, which may end within a character: appends what can be told so far
 * and keeps the rest, which is at most three bytes. An empty piece is the end. */
struct printable_rest {
    char bytes[4];
    size_t n;
};
void printable_piece(struct printable_rest *rest, struct buf *out, struct str piece);

#endif
