/* Writes text of a file into a Python program. No other function does: the writers of repros
 * (repro*.c) print their own literals with buf_puts(), numbers with buf_printf(), and everything
 * from a tape, an archive or an error with one of these functions or python_put_string()
 * tests/program_text.sh checks this.
 *
 * Texts are UTF-8, with lone surrogates as three bytes each (WTF-8); bytes that are not UTF-8
 * become U+FFFD. A failed allocation is reported by the buffer. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PYTHON_TEXT_H
#define SYMTAPE_MINIFY_PROGRAM_PYTHON_TEXT_H

#include "trace/base/text/python_string.h"
#include "trace/graph/python_name.h"

/* Appends a regular expression as r"..." if that can contain the text, else as a string literal. */
void python_put_regex(struct buf *out, struct str regex);

/* Appends "# text" and a line feed. The same characters are escaped, so that the comment ends only
 * there, and a declaration of the source's encoding (PEP 263) is made ineffective. */
void python_put_comment(struct buf *out, struct str text);

/* Appends an int, a float ("1e-05", "inf", "-nan") or a complex ("(1+2j)") as Python and torch.fx
 * print them. Returns false and appends nothing if the text is no such number, or an int of more
 * digits than Python reads. */
bool python_put_number(struct buf *out, struct str text);

/* Appends a name or a simple expression of one: "x", "x.shape[0]". Returns false and appends
 * nothing if it is none, or a keyword. The caller decides which names are free (repro_name()). */
bool python_put_name(struct buf *out, struct str name);
/* Appends a dotted name, as of an operator or a function. */
bool python_put_dotted(struct buf *out, struct str name);

#endif
