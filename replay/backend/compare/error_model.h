/* A model of rounding errors. It computes a tolerance for each node from its dtype, from the number
 * of terms that its operator sums, and from the errors of its arguments.
 *
 *     struct error_model model;
 *     error_model_init(&model, run->program->n_steps, &err);
 *     error_model_moments(&model, id, &expected);        where its values are known
 *     error_model_step(&model, run, step);               in the program's order
 *     struct tolerance t = error_model_tolerance(&model, id, dtype);
 *
 * The error of an element x is at most A + R * |x|. With u the unit roundoff of the result's dtype,
 * v that of the dtype it is accumulated in (float64 for float64, float32 for all else) and n the
 * terms that one element sums (replay/backend/compare/error_rules.def), a node's own part is
 *
 *     R = 2 u + 4 sqrt(n) v      A = 4 n v rms(terms)
 *
 * which is 4 times the expected error of n independent roundings of partial sums (Higham and Mary,
 * "A new approach to probabilistic rounding error analysis", 2019): the partial sums are between
 * the result and sqrt(n) rms(terms). The size of the terms is that of the reference's arguments:
 * their rms, or a quarter of the greatest if few are large. The rule of an operator (CARRY)
 * propagates the errors of its arguments, and adds them as squares; inputs have no errors. The
 * tolerance is at least that of torch.testing.assert_close() for the dtype, whose absolute part is
 * reduced for small values. If TF32 inputs are allowed (their unit roundoff t is 2^-11), matmuls
 * and convolutions of f32 add R = 4 t and A = 4 sqrt(2 n) t rms(a) rms(b). Integers and bool are
 * exact. Results of views have their arguments' errors. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_ERROR_MODEL_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_ERROR_MODEL_H

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/run.h"

struct value_error {
    double relative, absolute; /* R and A */
    double rms, most;          /* of the expected values, without infinities */
    double scale;              /* the rms, or a quarter of the greatest value if few are large */
    uint64_t terms;            /* the number that the operator sums for an element; 1: none */
    bool known;                /* rms and most are set */
};

struct error_model {
    struct value_error *nodes;
    uint32_t n;
    double factor; /* multiplies all tolerances; 1 */
    bool tf32;     /* matmuls and convolutions of f32 may use TF32 inputs */
};

bool error_model_init(struct error_model *model, uint32_t n_nodes, struct err *err);
void error_model_release(struct error_model *model);
void error_model_moments(struct error_model *model, node_id node, const struct array *values);
void error_model_step(struct error_model *model, const struct run *run, const struct step *step);
/* Sets the observed maximum error of a node. The model then propagates 4 times this error, since
 * slopes may be above 1, instead of the node's tolerance. */
void error_model_observed(struct error_model *model, node_id node, double most);
struct tolerance error_model_tolerance(const struct error_model *model, node_id node,
                                       enum dtype dtype);

/* Returns the step that computes a value: of a getitem, the call whose result it indexes. */
const struct step *step_origin(const struct program *program, const struct step *step);

#endif
