/* Why each part of a minimal candidate is there: what the oracle says when it alone is taken away. */
#ifndef SYMTAPE_MINIFY_WHY_H
#define SYMTAPE_MINIFY_WHY_H

#include "minify/edit.h"
#include "minify/oracle.h"
#include "trace/base/vec.h"

struct why {
    struct edit edit;
    struct str element; /* "view = l_x_.view(-1, 64)", "symbol s27", "guard Ne(s27, 16)" */
    struct str taken;   /* what was done with it: "replaced by an input", "made the number 3" */
    enum verdict verdict;
    struct str result;  /* "it does not fail any more", "it fails otherwise: ..." */
};

struct why_list {
    vec_of(struct why)
    list;
    uint64_t calls; /* of the oracle */
    /* The smallest neighbour that does not fail (VERDICT_BORING), for a comparison; NULL: none. */
    struct candidate *good;
    struct arena arena;
};

/* timeout: seconds a question. Elements that no edit takes away are not listed. False: err; what was
 * found until then is in the list. */
bool why_find(const struct candidate *best, struct oracle *oracle, double timeout,
              const atomic_bool *cancel, struct why_list *ret, struct err *err);
void why_release(struct why_list *list);

#endif
