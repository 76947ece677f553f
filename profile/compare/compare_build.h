/* Private to comparisons: one in the making. */
#ifndef SYMTAPE_PROFILE_COMPARE_COMPARE_BUILD_H
#define SYMTAPE_PROFILE_COMPARE_COMPARE_BUILD_H

#include "profile/compare/compare.h"

struct compare_build {
    struct compare compare; /* first: what the caller sees and frees */
    struct align *align;
    const struct outline *a, *b; /* of the runs that stand for the sides */
    struct arena arena;
    struct intern keys; /* of rows */
    vec_of(struct change_row)
    rows;
    vec_of(uint32_t)
    last_attempt; /* by row: pair of attempts that it was last seen in */
    vec_of(struct compare_line)
    user_lines;
    vec_of(struct compare_measure)
    measures;
    vec_of(struct compare_time)
    phases, lines;
    vec_of(struct str)
    notes;
    struct intern renamed; /* base names of files of after that are others before */
    vec_of(struct str)
    renamed_before; /* what those are there */
    struct buf text, key;
};

/* Steps; each false when memory ran out. */
bool compare_parts(struct compare_build *b);      /* compiles, attempts, and all that is in them */
bool compare_graphs(struct compare_build *b);     /* nodes, shapes of graphs, operators */
bool compare_user_lines(struct compare_build *b); /* needs the rows */
bool compare_numbers(struct compare_build *b, struct err *err); /* measures, phases, lines */
bool compare_notes(struct compare_build *b);

/* One occurrence of a difference. `row` is complete but for strings that go to the arena: texts of
 * outlines may stay where they are. `attempt` numbers the pair that it is in. */
bool compare_add(struct compare_build *b, const struct change_row *row, uint32_t attempt);
bool compare_note(struct compare_build *b, bool undecided, const char *fmt, ...) ERR_PRINTF(3, 4);

/* Fills b->renamed. */
bool compare_files(struct compare_build *b);
/* Base name of a file, after's as it is before. */
struct str compare_file(const struct compare_build *b, struct str file);

struct change_place compare_place(const struct outline *outline, uint32_t line);
/* "0/0", "0/0_1" where the compile has several, "@rank1:0/0" where there are several recordings; a
 * copy. .p is NULL when memory ran out. */
struct str compare_compile_name(struct compare_build *b, const struct outline *outline,
                                uint32_t compile);
struct str compare_attempt_name(struct compare_build *b, const struct outline *outline,
                                uint32_t attempt);
struct str compare_keep(struct compare_build *b, const struct buf *text);

#endif
