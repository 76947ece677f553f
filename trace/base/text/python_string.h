/* Writes text of a file as a string literal of Python. JSON's literals are no substitute: above
 * U+FFFF they escape two units of UTF-16, which Python reads as two characters.
 *
 * Texts are UTF-8, with lone surrogates as three bytes each (WTF-8); bytes that are not UTF-8
 * become U+FFFD. A failed allocation is reported by the buffer. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_PYTHON_STRING_H
#define SYMTAPE_TRACE_BASE_TEXT_PYTHON_STRING_H

#include "trace/base/buf.h"

/* Appends a string literal with this value. Characters that are not printable (printable.h) are
 * escaped, those at which some reader ends a line among them (\r \x0b \x0c \x1c-\x1e \x85 U+2028
 * U+2029). */
void python_put_string(struct buf *out, struct str text);

/* Appends the first character of a text, which is not empty, escaped if it is not printable.
 * Returns the bytes of the text that it had. */
size_t python_put_character(struct buf *out, struct str text);

/* Appends a text in quotes of this kind; control characters, the quote and "\\" are escaped. */
void python_put_quoted(struct buf *out, struct str text, char quote);
/* The same as Python's repr() chooses the quotes: single ones unless those would need an escape
 * and double ones would not. */
void python_put_repr(struct buf *out, struct str text);

#endif
