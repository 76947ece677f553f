/* How far two right results may be apart: a tolerance for each node, from its dtype, from how many
 * terms its operator sums, and from where its arguments come.
 *
 *     struct error_model model;
 *     error_model_init(&model, run->program->n_steps, &err);
 *     error_model_moments(&model, id, &expected);        where its values are known
 *     error_model_step(&model, run, step);               in the program's order
 *     struct tolerance t = error_model_tolerance(&model, id, dtype);
 *
 * An element x may be off by A + R * |x|. With u the unit roundoff of the result's dtype, v that of
 * the dtype it is accumulated in (float64 for float64, float32 for all else) and n the terms that
 * one element sums (replay/backend/compare/error_rules.def), a node's own part is
 *
 *     R = 2 u + 4 sqrt(n) v      A = 4 n v rms(terms)
 *
 * which is what n roundings of partial sums come to when they are independent, four times over
 * (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019): the partial
 * sums are between the result and sqrt(n) rms(terms). The terms' size is that of the arguments, as
 * the reference has them: their rms, or a quarter of the greatest where few are large. Errors of
 * arguments are carried on by their operator's rule (CARRY) and added as squares; inputs have none.
 * What comes out is never less than torch.testing.assert_close() asks for the dtype, whose absolute
 * part is scaled down where the values are small. Where factors of f32 may be rounded to TF32 (its
 * unit roundoff t is 2^-11), products of matrices and convolutions add R = 4 t and A = 4 sqrt(2 n)
 * t rms(a) rms(b). Integers and bool are exact. Results of views have their arguments' errors. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_ERROR_MODEL_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_ERROR_MODEL_H

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/run.h"

struct value_error {
    double relative, absolute; /* R and A so far */
    double rms, most;          /* of the values that are expected, infinities left out */
    double scale;              /* the rms, or a quarter of the greatest where few are large */
    uint64_t terms;            /* that its operator sums for an element; 1: none */
    bool known;                /* rms and most */
};

struct error_model {
    struct value_error *nodes;
    uint32_t n;
    double factor; /* on all tolerances; 1 */
    bool tf32;     /* factors of products of f32 may be rounded to it */
};

bool error_model_init(struct error_model *model, uint32_t n_nodes, struct err *err);
void error_model_release(struct error_model *model);
void error_model_moments(struct error_model *model, node_id node, const struct array *values);
void error_model_step(struct error_model *model, const struct run *run, const struct step *step);
/* Its values were looked at, and are off by so much at most: four times that is what goes on from
 * here, for slopes above 1, instead of what they might have been off by. */
void error_model_observed(struct error_model *model, node_id node, double most);
struct tolerance error_model_tolerance(const struct error_model *model, node_id node,
                                       enum dtype dtype);

/* The step that computes it: of a getitem the call whose result it takes apart. */
const struct step *step_origin(const struct program *program, const struct step *step);

#endif
