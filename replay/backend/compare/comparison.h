/* Two runs of one graph side by side, one after the other: the reference first, which leaves what
 * is to be held against it in a file of values (replay/backend/values/value_file.h) or in one that
 * a run before wrote.
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
 * A node whose values are beyond the tolerance (error_model.h) is a first one where all that it was
 * computed from agrees, and follows from another where not. Behind random operators whose values
 * are not the same on both sides, and behind memory that nothing has written, nothing can be
 * compared; that is no failure. Where each node is compared, a node that agrees hands on the error
 * that it was seen to have, not the tolerance that it had, so that each is held to what its own
 * inputs allow. A getitem stands for what it takes of its call.
 *
 * How far apart two right outputs may be follows from the values on the way to them. A file that
 * has the outputs alone does not tell those: then they are the checked run's own (`looks`), or
 * those of a run before it (comparison_look), where to look would make the checked run another one,
 * whose operators are not fused. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARISON_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARISON_H

#include "replay/backend/compare/error_model.h"
#include "replay/backend/values/safetensors.h"
#include "replay/backend/values/value_file.h"

enum match {
    MATCH_EQUAL,     /* in each element */
    MATCH_CLOSE,     /* within the tolerance */
    MATCH_DIFFERS,   /* beyond it, and what it is made of agrees */
    MATCH_FOLLOWS,   /* beyond it, as is something that it is made of */
    MATCH_RANDOM,    /* not comparable: other random numbers */
    MATCH_UNWRITTEN, /* not comparable: memory that nothing has written */
    MATCH_MISSING,   /* the reference does not have it */
    MATCHES
};
const char *match_name(enum match match); /* "equal", ... */

struct compared {
    node_id node;
    node_id origin;  /* the call that computes it: of a getitem the one that it takes apart */
    uint32_t output; /* its number among the graph's outputs; UINT32_MAX: a node */
    struct str name; /* of the node, or of the output in the file */
    enum dtype dtype;
    enum match match;
    struct difference difference;
    struct tolerance tolerance;
    uint64_t terms;   /* that an element of it sums */
    bool sampled;     /* the reference has a part of it */
    bool same_inputs; /* what it is made of is the same in each element */
};

struct comparison_options {
    const struct safetensors *file; /* the reference; NULL: the run before */
    bool nodes;                     /* each node, not the outputs alone */
    bool looks;                     /* the checked run's nodes tell how large the terms are */
    double factor;                  /* on tolerances; 0 is 1 */
    bool tf32;                      /* struct error_model's */
    uint32_t limit;                 /* nodes that are kept of each kind of trouble; 0: all */
};

struct comparison {
    struct comparison_options options;
    struct value_file *values; /* of the run before */
    struct error_model errors;
    unsigned char *marks;     /* by node */
    uint64_t counts[MATCHES]; /* nodes */
    uint64_t voids;           /* of them, nothing but NaN on both sides */
    vec_of(struct compared)
    nodes, outputs;         /* nodes: differing and not comparable ones */
    uint64_t first_differs; /* in `nodes`; UINT64_MAX: none */
    bool differs;
    struct arena arena, scratch;
};

bool comparison_init(struct comparison *c, uint32_t n_nodes,
                     const struct comparison_options *options, struct err *err);
void comparison_release(struct comparison *c);

/* For run_options.node; `user` is the comparison. */
bool comparison_expect(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err);
/* What random inputs come to may be NaN throughout, which all backends agree about: `voids` counts
 * such nodes, and each difference has `both_nan`. */
bool comparison_look(void *user, struct run *run, const struct step *step,
                     const struct value *value, struct err *err);
bool comparison_check(void *user, struct run *run, const struct step *step,
                      const struct value *value, struct err *err);
bool comparison_expect_output(struct comparison *c, struct str name, const struct array *values,
                              struct err *err);
bool comparison_check_output(struct comparison *c, const struct run *run, uint32_t i,
                             struct str name, const struct array *values, struct err *err);
/* The first node that differs though what it is made of agrees; NULL: none. */
const struct compared *comparison_first(const struct comparison *c);

/* Does the call draw random numbers? Does it leave its result's memory as it was? */
bool step_is_random(const struct step *step);
bool step_is_unwritten(const struct step *step);

#endif
