/* Declarations for reading the text of print_readable(), which
 * graph_{lex,args,statement,def,comment,parse}.c share.
 *
 * The text ends with a NUL, and every reader stops at the end of its line, so none needs to
 * check for the text's end. A reader returns false where the text is not what it expects, and
 * leaves the cursor anywhere; its caller moves the cursor back and tries another reader, the
 * last of which makes an opaque node. Failures of memory are stored in the builder
 * (graph_build.h). */
#ifndef SYMTAPE_TRACE_GRAPH_GRAPH_READ_H
#define SYMTAPE_TRACE_GRAPH_GRAPH_READ_H

#include "trace/graph/graph_build.h"

struct graph_reader {
    struct graph_builder *b;
    const char *p;      /* the cursor */
    const char *eol;    /* end of its line, carriage returns not included */
    const char *next;   /* start of the next line */
    const char *end;    /* of the text */
    uint32_t line;      /* number of the cursor's line, from 1 */
    uint32_t location;  /* location of the statements that follow */
    uint32_t nesting;   /* depth of the arguments */
    size_t n_arguments; /* number read of this line so far */
    size_t effort;      /* number of bytes of this line that lex_opaque() may still read */
    uint32_t
        n_leaves;  /* number of inputs of an exported graph, which its output statement repeats */
    bool prologue; /* only inputs so far */
    bool returned;
    struct str
        boxed; /* name of the iterator over the inputs, in graphs that take them as one list */
};

/* ---- lines and words: graph_lex.c ---- */

/* Moves to the next line; false at the end of the text. */
bool lex_next_line(struct graph_reader *in);
/* Moves to the first byte of the line that is not a space. */
void lex_skip_indent(struct graph_reader *in);
/* Skips `literal` and returns true if it is next. */
bool lex_take(struct graph_reader *in, struct str literal);
/* Reads a Python identifier; "" when there is none. */
struct str lex_name(struct graph_reader *in);
/* Reads a string of Python, whose opening quote is at the cursor. *ret is its value, which is in
 * the text or kept by the builder. */
bool lex_string(struct graph_reader *in, struct str *ret);
/* Reads an integer, a float or an imaginary number, sign included. */
bool lex_number(struct graph_reader *in, struct arg *ret);
/* Reads anything with matching brackets and quotes, up to a comma, a colon or a closing bracket.
 * The number of bytes that it reads of one line is bounded, and it reads none after a match was
 * missing, because that match is missing in the enclosing brackets as well, and nested brackets
 * would be read many times. */
bool lex_opaque(struct graph_reader *in, struct str *ret);

static inline bool lex_char(struct graph_reader *in, char c)
{
    if (*in->p != c)
        return false;
    in->p++;
    return true;
}

static inline struct str lex_rest(const struct graph_reader *in)
{
    return (struct str){ in->p, (size_t)(in->eol - in->p) };
}

/* Returns whether the cursor is at the end of the line, or at a comment that extends to it. */
bool lex_at_end(struct graph_reader *in);

/* ---- arguments: graph_args.c ---- */

/* Reads one value and pushes it on the builder's stack. */
bool read_arg_value(struct graph_reader *in);
/* Reads an element of a container: a comma, a colon, a closing bracket or the line's end must
 * follow, and a text up to there that is no value of the grammar becomes an ARG_OPAQUE. */
bool read_item(struct graph_reader *in);
/* Reads elements through the bracket `close`. *comma (may be NULL) is whether a comma precedes
 * it. */
bool read_items(struct graph_reader *in, char close, bool *comma);
/* Reads a call's arguments through its closing parenthesis; keyword arguments have a key. */
bool read_call_arguments(struct graph_reader *in);

/* ---- statements: graph_statement.c ---- */

/* Reads ': "f32[2][1]cpu"' or ' : torch.Tensor' (up to " = ", or to the end of a parameter).
 * *ret does not change when there is none; the function returns false when the annotation does
 * not end. */
bool read_annotation(struct graph_reader *in, bool parameter, uint32_t *ret);
/* Reads a line of a function's body that is not a return. */
bool read_statement(struct graph_reader *in);

/* ---- definitions and returns: graph_def.c; both may move to later lines ---- */

/* Reads a definition from its "def". */
bool read_def(struct graph_reader *in);
/* Reads a return statement from its "return". */
bool read_return(struct graph_reader *in);

/* ---- comments: graph_comment.c ---- */

/* Parses a user line from the text after '#'; returns false for other comments. A comment that
 * says that there is no stack trace gives an empty location. */
bool location_parse(struct str comment, struct location *ret);

#endif
