/* Private to comparisons: a comparison that is being built, and the steps that build it. */
#ifndef SYMTAPE_PROFILE_COMPARE_COMPARE_BUILD_H
#define SYMTAPE_PROFILE_COMPARE_COMPARE_BUILD_H

#include "profile/compare/compare.h"

struct compare_build {
    struct compare compare; /* first, since the caller frees it through this */
    struct align *align;
    const struct outline *a, *b; /* of the representative runs */
    struct arena arena;
    struct intern keys; /* of rows */
    vec_of(struct change_row)
    rows;
    vec_of(uint32_t)
    last_attempt; /* by row: the last pair of attempts with it */
    vec_of(struct compare_line)
    user_lines;
    vec_of(struct compare_measure)
    measures;
    vec_of(struct compare_time)
    phases, lines;
    vec_of(struct str)
    notes;
    struct intern
        renamed; /* base names of files in the second side that have other names in the first */
    vec_of(struct str)
    renamed_before; /* their names in the first side */
    struct buf text, key;
};

/* The steps. Each returns false when memory ran out. */
bool compare_parts(struct compare_build *b);      /* compiles, attempts and their events */
bool compare_graphs(struct compare_build *b);     /* nodes, shapes of graphs, operators */
bool compare_user_lines(struct compare_build *b); /* needs the rows */
bool compare_numbers(struct compare_build *b, struct err *err); /* measures, phases, lines */
bool compare_notes(struct compare_build *b);

/* Adds one occurrence of a difference. `row` is complete; its strings are copied into the arena
 * unless they are texts of outlines. `attempt` is the number of the pair of attempts. */
bool compare_add(struct compare_build *b, const struct change_row *row, uint32_t attempt);
bool compare_note(struct compare_build *b, bool undecided, const char *fmt, ...) ERR_PRINTF(3, 4);

/* Finds files that were renamed, and fills b->renamed. */
bool compare_files(struct compare_build *b);
/* Returns the base name of a file; for a renamed file its name in the first side. */
struct str compare_file(const struct compare_build *b, struct str file);

struct change_place compare_place(const struct outline *outline, uint32_t line);
/* Returns a copy of a compile's name: "0/0", "0/0_1" if the compile has several attempts,
 * "@rank1:0/0" if there are several recordings. .p is NULL when memory ran out. */
struct str compare_compile_name(struct compare_build *b, const struct outline *outline,
                                uint32_t compile);
struct str compare_attempt_name(struct compare_build *b, const struct outline *outline,
                                uint32_t attempt);
struct str compare_keep(struct compare_build *b, const struct buf *text);

#endif
