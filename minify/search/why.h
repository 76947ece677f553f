/* Finds out why each part of a minimal candidate is needed: the oracle's answer when only that part
 * is removed. */
#ifndef SYMTAPE_MINIFY_SEARCH_WHY_H
#define SYMTAPE_MINIFY_SEARCH_WHY_H

#include "minify/edit/edit.h"
#include "minify/oracle/oracle.h"
#include "trace/base/vec.h"

struct why {
    struct edit edit;
    struct str element; /* "view = l_x_.view(-1, 64)", "symbol s27", "guard Ne(s27, 16)" */
    struct str taken;   /* the edit: "replaced by an input", "made the number 3" */
    enum verdict verdict;
    struct str result; /* "it does not fail any more", "it fails differently: ..." */
};

struct why_list {
    vec_of(struct why)
    list;
    uint64_t calls; /* of the oracle */
    bool is_short;  /* a limit left parts out */
    /* The largest neighbour that does not fail (VERDICT_BORING), which is the nearest; NULL:
     * none. */
    struct candidate *good;
    size_t good_at; /* the row in `list` of the part that it does not have */
    struct arena arena;
};

/* Of a result that is far from small, the first parts of each kind (calls, symbols, guards,
 * outputs) are explained. */
#define WHYS_OF_A_KIND 64

/* How long a question may take, and when no further one is asked. */
struct why_limits {
    double timeout;            /* seconds for each question */
    double until;              /* by clock_seconds(); 0: no limit */
    uint64_t most;             /* questions; 0: no limit */
    const atomic_bool *cancel; /* NULL, or becomes true to end early */
};

/* Finds the reason for each part. Parts that no edit removes are not listed. Returns false with err
 * set; the list has the parts that were found until then. Returns true with a shorter list if it is
 * cancelled or a limit is reached. */
bool why_find(const struct candidate *best, struct oracle *oracle, const struct why_limits *limits,
              struct why_list *ret, struct err *err);
void why_release(struct why_list *list);

#endif
