/* Writes guard trees: text for people, and JSON, "symtape.guards/1"; and the comparison of those of
 * two recordings. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARDS_REPORT_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARDS_REPORT_H

#include "profile/calls/tree/guards_compare.h"
#include "profile/report/report.h"

#define SCHEMA_GUARDS         "symtape.guards/1"
#define SCHEMA_GUARDS_COMPARE "symtape.guards.compare/1"

struct guards_shown {
    struct str function; /* only functions of this name; "": all */
    bool tree;           /* the merged trees, too */
};

/* Writes what tells entries apart, what guards cost and which can go, then the lists. */
void guards_text(const struct guard_trees *trees, const struct guards_shown *shown,
                 const struct report_options *options, struct buf *out);
/* Writes the filter, if there is one: Python, whose lines must not be folded. */
void guards_paste_text(const struct guard_trees *trees, const struct report_options *options,
                       struct buf *out);
void guards_json(const struct guard_trees *trees, const struct guards_shown *shown,
                 struct buf *out);

/* Write which guards two recordings have in other entries. */
void guards_compare_text(const struct guards_comparison *comparison,
                         const struct report_options *options, struct buf *out);
void guards_compare_json(const struct guards_comparison *comparison, struct buf *out);

#endif
