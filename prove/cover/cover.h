/* Whether every point of a range satisfies what a compile relies on.
 *
 * A range gives values to some of the symbols; the other symbols keep their recorded values.
 * Conditions that contain none of the former are not asked for, nor are those that contain unbacked
 * symbols, since the sizes do not decide them. */
#ifndef SYMTAPE_PROVE_COVER_COVER_H
#define SYMTAPE_PROVE_COVER_COVER_H

#include "prove/conditions/conditions.h"
#include "prove/decide/decide.h"

/* The values min, min + step ... up to max. */
struct cover_piece {
    int64_t min, max, step;
};
struct cover_symbol {
    sym_id symbol;
    const struct cover_piece *pieces; /* the values of all of them */
    size_t n_pieces;
};
struct cover_range {
    const struct cover_symbol *symbols;
    size_t n_symbols;
    sym_id assume;               /* a condition that the points satisfy, or SYM_ID_TRUE */
    struct decide_limits limits; /* of each question */
};

struct cover_row {
    const struct condition *condition;
    struct decide_answer answer; /* `values` are those of the range's symbols */
};

struct cover {
    enum decide_verdict verdict; /* of all of them; refuted if one is */
    bool empty;                  /* no point of the range satisfies `assume` */
    vec_of(struct cover_row)
    rows;                          /* in the order of the conditions */
    size_t n[3];                   /* rows by verdict */
    size_t n_by_z3;                /* rows that no other method decided */
    size_t n_unrelated;            /* conditions that were not asked for */
    size_t n_data_dependent;       /* conditions that contain unbacked symbols: nor were they */
    const struct cover_row *first; /* the one with the smallest counterexample, or NULL */
    bool first_is_smallest;        /* no sizes of the range that violate a condition come before */
    struct arena arena;
};

/* Fails when memory ran out; cover_release() is required then, too. The result refers to the
 * conditions. */
bool cover_make(struct cover *ret, struct conditions *conditions, const struct cover_range *range,
                struct err *err);
void cover_release(struct cover *cover);

#endif
