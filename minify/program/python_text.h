/* Text that stands in a Python program. Nothing else of this room puts text of a file into one: the
 * writers of repros (repro*.c) print literals of their own with buf_puts(), numbers that C holds
 * with buf_printf(), and everything that comes from a tape, an archive or an error through one of
 * these. tests/program_text.sh holds them to it.
 *
 * Texts are UTF-8, with lone surrogates as three bytes each (WTF-8), and may hold anything: bytes
 * that are not UTF-8 become U+FFFD. Running out of memory fails the buffer, as everywhere. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PYTHON_TEXT_H
#define SYMTAPE_MINIFY_PROGRAM_PYTHON_TEXT_H

#include "trace/base/buf.h"
#include "trace/graph/python_name.h"

/* "text": a string literal whose value is the text. Control characters, those at which some reader
 * ends a line (\r \x0b \x0c \x1c-\x1e \x85 U+2028 U+2029), those that change the direction of what
 * is shown, and lone surrogates are escapes. */
void python_put_string(struct buf *out, struct str text);
/* A regular expression: r"..." where that holds the text as it is, else a string literal. */
void python_put_regex(struct buf *out, struct str regex);

/* "# text" and the end of the line, at which alone the comment ends: the same characters are
 * escaped, and a declaration of the source's encoding (PEP 263) is none any more. */
void python_put_comment(struct buf *out, struct str text);

/* An int, a float ("1e-05", "inf", "-nan") or a complex ("(1+2j)") as Python and torch.fx print
 * them. False, and nothing is put: the text is no such number, or an int of more digits than Python
 * reads. */
bool python_put_number(struct buf *out, struct str text);

/* A name, or what a name is followed by: "x", "x.shape[0]". False, and nothing is put: it is none,
 * or a keyword. Which names are free is the program's to know (repro_name()). */
bool python_put_name(struct buf *out, struct str name);
/* A name with dots in between, as of an operator or a function. */
bool python_put_dotted(struct buf *out, struct str name);

#endif
