/* A walk over Python code that passes over its strings and counts its brackets.
 *
 *     struct python_scan scan = { code };
 *     while (python_scan_next(&scan))
 *         if (scan.depth == 0 && scan.c == ',') ...
 */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_PYTHON_SCAN_H
#define SYMTAPE_PROFILE_CALLS_VALUES_PYTHON_SCAN_H

#include "trace/base/str.h"

struct python_scan {
    struct str text;
    size_t next;    /* where the walk goes on */
    size_t at;      /* of the character that was read last */
    char c;         /* that character, outside of strings */
    unsigned depth; /* number of brackets that are open behind it */
    bool closes;    /* it closes a bracket */
    bool unended;   /* the text ended inside a string */
};

static inline bool python_is_bracket(char c, bool opening)
{
    return opening ? c == '(' || c == '[' || c == '{' : c == ')' || c == ']' || c == '}';
}

/* Moves past a string that begins at `next`. */
static inline void python_scan_string(struct python_scan *scan)
{
    char quote = scan->text.p[scan->next++];
    while (scan->next < scan->text.n && scan->text.p[scan->next] != quote)
        scan->next += scan->text.p[scan->next] == '\\' ? 2 : 1;
    scan->unended = scan->next >= scan->text.n;
    scan->next++;
}

/* Reads the next character; false at the end. A bracket that closes nothing leaves the depth at 0.
 */
static inline bool python_scan_next(struct python_scan *scan)
{
    while (scan->next < scan->text.n &&
           (scan->text.p[scan->next] == '\'' || scan->text.p[scan->next] == '"'))
        python_scan_string(scan);
    if (scan->next >= scan->text.n)
        return false;
    scan->at = scan->next++;
    scan->c = scan->text.p[scan->at];
    scan->depth += python_is_bracket(scan->c, true);
    scan->closes = python_is_bracket(scan->c, false) && scan->depth;
    scan->depth -= scan->closes;
    return true;
}

#endif
