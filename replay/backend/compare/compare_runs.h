/* A graph that is run on a backend, and compared with a run of the same graph on another backend or
 * with values that an earlier run saved.
 *
 *     struct backend_pair pair = { .tested_kind = backend_find(STR("cuda")),
 *                                  .reference_kind = backend_find(STR("cpu")) };
 *     struct compared_run run = { .pair = &pair, .graph = graph, .options = { .seed = 1 },
 *                                 .compare = &(struct comparison_options){ .nodes = true } };
 *     struct comparison comparison;
 *     if (backend_pair_open(&pair, &err) && compare_runs(&run, &comparison, &err))
 *         if (comparison.differs) ...
 *     comparison_release(&comparison);
 *     backend_pair_close(&pair);
 *
 * The reference runs first and leaves its values in the comparison (comparison.h); both runs have
 * the same inputs, sizes and seed. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_RUNS_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_RUNS_H

#include "replay/backend/compare/comparison.h"

struct backend_pair {
    /* Set by the caller: */
    const struct backend_kind *tested_kind, *reference_kind; /* the latter NULL: no reference */
    bool tf32; /* the tested backend may use TF32 inputs (struct backend); the reference never */
    unsigned threads; /* of both (struct backend) */
    /* Open backends; NULL: not open. They are one if they are of one kind and without TF32 inputs:
     * a device that is lost is lost for both. */
    struct backend *tested, *reference;
};

/* Opens those that are not open. ERR_USAGE: a backend of a pair computes no values, or the tested
 * one has no TF32 inputs; ERR_ENV. */
bool backend_pair_open(struct backend_pair *pair, struct err *err);
/* They can be opened again. */
void backend_pair_close(struct backend_pair *pair);

struct compared_run {
    const struct backend_pair *pair;
    const struct graph *graph;
    /* Of each run; `backend`, `node` and `node_user` are set here, and only the tested run calls
     * `violated`. */
    struct run_options options;
    /* NULL: nothing is compared, only the tested backend runs. A pair without a reference is
     * compared with `file`. Its `looks` is set here. */
    const struct comparison_options *compare;
    const char *prefix; /* of outputs' names: "out." of "out.0"; NULL: outputs are not compared */
    bool notes_memory;  /* the tested run notes which nodes hold memory (measure/peak.h) */
    /* Observers of the tested run; each may be NULL. A node's value may be changed, and is compared
     * afterwards; `output` gets the user's outputs that are tensors; `finished` can read all that
     * the run leaves. */
    bool (*node)(void *user, struct run *run, const struct step *step, const struct value *value,
                 struct err *err);
    bool (*output)(void *user, struct str name, const struct array *values, struct err *err);
    bool (*finished)(void *user, struct run *run, struct err *err);
    void *user;
    bool unsupported; /* result: the tested run stopped at an operator that nothing computes */
};

/* comparison: initialized here, and released by the caller in any case; nothing is in it without
 * `compare`. False: a run failed. */
bool compare_runs(struct compared_run *run, struct comparison *comparison, struct err *err);

#endif
