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

/* Returns the length of the UTF-8 sequence at the start of `text`, which is not empty, and its
 * code; also for a lone surrogate, since Python writes them. 0: it is not UTF-8. */
size_t utf8_sequence(struct str text, uint32_t *code);

/* Returns whether a character is printed unchanged. */
bool printable_code(uint32_t code);

/* Returns the number of bytes at the start of `text` that are printed unchanged. */
size_t printable_run(struct str text);

/* Returns the length of the character or invalid byte at the start of `text`, which is not
 * empty, and its escape; "" when it is printed unchanged. */
size_t printable_next(struct str text, char escape[PRINTABLE_ESCAPE]);

/* Appends a text with such escapes; its lines stay. */
void printable_put(struct buf *out, struct str text);
/* Appends it as one line: white space at the ends is omitted, elsewhere a run of it becomes a
 * space. */
void printable_line(struct buf *out, struct str text);
/* Returns the length of the run of white space at the start that becomes a blank in a line: spaces,
 * tabs and ends of lines. */
size_t printable_space(struct str text);

/* A text that arrives in pieces, which may end within a character: complete characters are
 * appended, and the rest, at most three bytes, is kept. An empty piece is the end. */
struct printable_rest {
    char bytes[4];
    size_t n;
};
void printable_piece(struct printable_rest *rest, struct buf *out, struct str piece);

#endif
