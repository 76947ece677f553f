/* The comparison of two runs of one graph. The reference runs first and writes its values to a file
 * (replay/backend/values/value_file.h); instead, a file of an earlier run may be the reference.
 *
 *     struct comparison c;
 *     comparison_init(&c, n_nodes, &options, &err);
 *     reference.node = comparison_expect, reference.node_user = &c;     run it
 *     comparison_expect_output(&c, run, i, name, &array, &err) ...
 *     value_file_seal(c.values, &err);
 *     tested.node = comparison_check, tested.node_user = &c;            run it
 *     comparison_check_output(&c, run, i, name, &array, &err) ...
 *     if (c.differs) ...
 *     comparison_release(&c);
 *
 * A node whose values are beyond the tolerance (error_model.h) differs if its inputs agree, and
 * otherwise follows from the inputs that differ. Values that depend on random operators with other
 * values on each side, or on memory that nothing has written, cannot be compared; this is not a
 * failure; nor are other places of equal elements (ties.h). If each node is compared, a node that
 * agrees propagates the error that was observed instead of its tolerance, so that the tolerance of
 * each node depends on its own inputs only. A getitem is treated as the result of its call.
 *
 * The tolerance of outputs depends on the intermediate values. A file with outputs only lacks
 * these: then they are taken from the checked run itself (`looks`), or from an additional run
 * before it (comparison_look), since reading them in the checked run would prevent the fusion of
 * its operators. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARISON_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARISON_H

#include "replay/backend/compare/error_model.h"
#include "replay/backend/values/safetensors.h"
#include "replay/backend/values/value_file.h"

enum match {
    MATCH_EQUAL,     /* all elements are equal */
    MATCH_CLOSE,     /* within the tolerance */
    MATCH_DIFFERS,   /* beyond the tolerance; its inputs agree */
    MATCH_FOLLOWS,   /* beyond the tolerance, as is one of its inputs */
    MATCH_RANDOM,    /* not comparable: the random numbers differ */
    MATCH_UNWRITTEN, /* not comparable: memory that nothing has written */
    MATCH_TIED,      /* other places of equal elements (ties.h), or beyond such places */
    MATCH_MISSING,   /* the reference does not have it */
    MATCHES
};
const char *match_name(enum match match); /* "equal", ... */

struct compared {
    node_id node;
    node_id origin;  /* the call that computes it; of a getitem, the call whose result it indexes */
    uint32_t output; /* its number among the graph's outputs; UINT32_MAX: it is a node */
    struct str name; /* of the node, or of the output in the file */
    enum dtype dtype;
    enum match match;
    struct difference difference;
    struct tolerance tolerance;
    uint64_t terms;   /* the number of terms that one element sums */
    bool sampled;     /* the reference has only a part of its values */
    bool same_inputs; /* all elements of its inputs are equal */
};

struct comparison_options {
    const struct safetensors *file; /* the reference; NULL: the first run is */
    bool nodes;                     /* compares each node, not only outputs */
    bool looks;                     /* the checked run's values determine the sizes of terms */
    double factor;                  /* multiplies tolerances; 0 is 1 */
    bool tf32;                      /* struct error_model's */
    uint32_t limit;                 /* nodes that are stored for each kind of match; 0: all */
};

struct comparison {
    struct comparison_options options;
    struct value_file *values; /* of the first run */
    struct error_model errors;
    unsigned char *marks;     /* by node */
    unsigned char *kept;      /* by node: whether its values are needed beside those of outputs */
    bool has_kept;            /* it is set */
    uint64_t counts[MATCHES]; /* nodes */
    uint64_t voids;           /* nodes with nothing but NaN on both sides */
    vec_of(struct compared)
    nodes, outputs;         /* nodes: those that differ or are not comparable */
    uint64_t first_differs; /* in `nodes`; UINT64_MAX: none */
    bool differs;
    struct arena arena, scratch;
};

bool comparison_init(struct comparison *c, uint32_t n_nodes,
                     const struct comparison_options *options, struct err *err);
void comparison_release(struct comparison *c);

/* For run_options.node of the reference; `user` is the comparison. */
bool comparison_expect(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err);
/* For run_options.node of the checked run. Random inputs can lead to NaN everywhere, about which
 * all backends agree: `voids` counts such nodes, and each difference has `both_nan`. */
bool comparison_look(void *user, struct run *run, const struct step *step,
                     const struct value *value, struct err *err);
bool comparison_check(void *user, struct run *run, const struct step *step,
                      const struct value *value, struct err *err);
bool comparison_expect_output(struct comparison *c, struct str name, const struct array *values,
                              struct err *err);
bool comparison_check_output(struct comparison *c, const struct run *run, uint32_t i,
                             struct str name, const struct array *values, struct err *err);
/* Returns the first node that differs although its inputs agree; NULL: none. */
const struct compared *comparison_first(const struct comparison *c);

/* Return whether the call draws random numbers, and whether it leaves its result's memory
 * unwritten. */
bool step_is_random(const struct step *step);
bool step_is_unwritten(const struct step *step);

#endif
