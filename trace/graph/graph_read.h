/* Reading the text of print_readable(): what graph_{lex,args,statement,def,comment,parse}.c share.
 * Private to them.
 *
 * The text ends with a NUL, and every reader stops at the end of its line, so none needs to look
 * where the text ends. A reader returns false where the text is not what it expects, and leaves the
 * cursor anywhere; its caller goes back and reads something else, in the end an opaque node. Memory
 * failure is the builder's (graph_build.h) and no reader's concern. */
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
    uint32_t location;  /* of the statements that follow */
    uint32_t nesting;   /* of arguments */
    size_t n_arguments; /* read of this line so far */
    size_t effort;      /* bytes of this line that lex_opaque() may still read */
    uint32_t n_leaves;  /* inputs of an exported graph, which its output statement repeats */
    bool prologue;      /* nothing but inputs so far */
    bool returned;
    struct str boxed; /* iterator over the inputs, in graphs that take them as one list */
};

/* ---- lines and words: graph_lex.c ---- */

/* Moves to the next line; false at the end of the text. */
bool lex_next_line(struct graph_reader *in);
/* The cursor to the first byte of its line that is not a space. */
void lex_skip_indent(struct graph_reader *in);
/* Over `literal`, if that is what comes. */
bool lex_take(struct graph_reader *in, struct str literal);
/* A Python identifier; empty when there is none. */
struct str lex_name(struct graph_reader *in);
/* Over a string of Python's, at whose opening quote the cursor is. *ret is its value, which is in
 * the text or kept by the builder. */
bool lex_string(struct graph_reader *in, struct str *ret);
/* Over an integer, a float or an imaginary number, sign included. */
bool lex_number(struct graph_reader *in, struct arg *ret);
/* Over anything with matching brackets and quotes, up to a comma, a colon or a closing bracket.
 * What it may read of a line is bounded, and nothing once a match was missing, since that is
 * missing around it as well: brackets in brackets would be read again and again. */
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

/* The end of the line, or a comment up to it. */
bool lex_at_end(struct graph_reader *in);

/* ---- arguments: graph_args.c ---- */

/* Reads one value and pushes it on the builder's stack. */
bool read_value(struct graph_reader *in);
/* The same for an element of something: a comma, a colon, a closing bracket or the line's end has
 * to follow, and what is no value of the grammar is an ARG_OPAQUE up to there. */
bool read_item(struct graph_reader *in);
/* Elements up to the bracket `close`, and over it. *comma (may be NULL): whether one stood before
 * it. */
bool read_items(struct graph_reader *in, char close, bool *comma);
/* Arguments of a call up to its closing parenthesis, and over it; keyword ones have a key. */
bool read_call_arguments(struct graph_reader *in);

/* ---- statements: graph_statement.c ---- */

/* ': "f32[2][1]cpu"' or ' : torch.Tensor' (up to " = ", or to what ends a parameter). *ret is
 * untouched when there is none; false when it does not end. */
bool read_annotation(struct graph_reader *in, bool parameter, uint32_t *ret);
/* A line of a function's body, not a return. */
bool read_statement(struct graph_reader *in);

/* ---- definitions and returns: graph_def.c; both may move to later lines ---- */

/* Reads a definition from "def" on. */
bool read_def(struct graph_reader *in);
/* Reads a return statement from "return" on. */
bool read_return(struct graph_reader *in);

/* ---- comments: graph_comment.c ---- */

/* A user line, from the text behind '#'; false when it is some other comment. A comment that says
 * that there is none yields an empty location. */
bool location_parse(struct str comment, struct location *ret);

#endif
