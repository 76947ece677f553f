/* What a program states to have the marks that symtape proposes: alternatives, each with what the
 * calls cost under it, since not every way can name every input. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_PASTE_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_PASTE_H

#include "profile/calls/dynamic/propose.h"

enum paste_kind {
    PASTE_MARK,    /* calls of mark_dynamic(), before functions are called: tensors only */
    PASTE_SOURCES, /* dynamic_sources: numbers, too, and all functions that have such an input */
    PASTE_SPEC,    /* shapes_spec= of torch.compile(), for one function */
    PASTE_DYNAMIC, /* dynamic=True of torch.compile(), for all functions */
};
const char *paste_kind_name(enum paste_kind kind);

/* A Python statement, and where it may be broken: between its items. */
enum statement_form {
    STATEMENT_CALL,   /* items lie between brackets: f(x, 0) */
    STATEMENT_NAMES,  /* brackets are added where it is broken: from m import a, b */
    STATEMENT_STRING, /* items are parts of one string */
};
struct paste_line {
    uint32_t code; /* in calls_table.codes; NO_ENTRY: of all */
    enum statement_form form;
    struct str head, tail;
    uint32_t first_item, n_items; /* in paste.items */
};

struct paste_way {
    enum paste_kind kind;
    uint32_t code;                /* of PASTE_SPEC: in calls_table.codes; else NO_ENTRY */
    bool has_numbers;             /* it names numbers */
    struct policy_counts counts;  /* of the calls of all functions */
    uint32_t first_line, n_lines; /* in paste.lines */
};

struct paste {
    struct arena arena;
    vec_of(struct paste_way)
    ways;
    vec_of(struct paste_line)
    lines;
    vec_of(struct str)
    items;
};

struct dynamic_run;

/* Finds the ways, and runs the calls under each. Unless the marks were given, a way is left out
 * that costs no less than no marks do, and PASTE_DYNAMIC where it costs no less than marks. Returns
 * false when memory ran out. */
bool paste_make(struct dynamic_run *run, struct paste *ret);
void paste_release(struct paste *paste);

/* Returns the way that costs least, or NULL. */
const struct paste_way *paste_best(const struct paste *paste);
/* Appends a statement: on one line, if `width` (0: any) has room for it, or broken as Python is. */
void paste_line_put(const struct paste *paste, const struct paste_line *line, size_t indent,
                    size_t width, struct buf *out);

#endif
