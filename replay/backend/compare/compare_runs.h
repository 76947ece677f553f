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
 * The reference runs first, and its values are saved in the comparison (comparison.h); both runs
 * have the same inputs, sizes and seed. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_RUNS_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_RUNS_H

#include "replay/backend/compare/comparison.h"

struct backend_pair {
    /* Set by the caller: */
    const struct backend_kind *tested_kind,
        *reference_kind; /* reference_kind NULL: there is no reference */
    bool tf32; /* the tested backend may use TF32 inputs (struct backend); the reference never does
                */
    unsigned threads;   /* of both (struct backend) */
    const char *worker; /* of both (struct backend) */
    bool prepares;      /* of both (struct backend_setup) */
    uint32_t device;    /* of both, on backends that have several */
    /* Open backends; NULL: not open. Both are the same backend if they are of one kind and use no
     * TF32 inputs. Then a lost device ends both. */
    struct backend *tested, *reference;
};

/* Opens the backends that are not open. ERR_USAGE: a backend of a pair computes no values, or the
 * tested one has no TF32 inputs; ERR_ENV. */
bool backend_pair_open(struct backend_pair *pair, struct err *err);
/* Closes both; they can be opened again. */
void backend_pair_close(struct backend_pair *pair);

struct compared_run {
    const struct backend_pair *pair;
    const struct graph *graph;
    /* The options of both runs; `backend`, `node` and `node_user` are set here, and only the tested
     * run calls `violated`. */
    struct run_options options;
    /* NULL: only the tested backend runs. A pair without a reference is compared with `file`.
     * compare_runs() sets `looks`. */
    const struct comparison_options *compare;
    const char *prefix; /* of outputs' names: "out." of "out.0"; NULL: outputs are not compared */
    bool notes_memory;  /* records which nodes hold memory in the tested run (measure/peak.h) */
    /* Observers of the tested run; each may be NULL. `node` may change a value before it is
     * compared; `output` gets the user's outputs that are tensors; `finished` can read all results
     * of the run. */
    bool (*node)(void *user, struct run *run, const struct step *step, const struct value *value,
                 struct err *err);
    bool (*output)(void *user, struct str name, const struct array *values, struct err *err);
    bool (*finished)(void *user, struct run *run, struct err *err);
    void *user;
    bool unsupported; /* result: the tested run stopped at an operator without a kernel */
};

/* Runs the graph. It initializes the comparison, which the caller releases in any case; without
 * `compare` it is empty. False: a run failed. */
bool compare_runs(struct compared_run *run, struct comparison *comparison, struct err *err);

#endif
