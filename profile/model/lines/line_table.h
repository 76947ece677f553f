/* Private to the profile room: the table of user lines. */
#ifndef SYMTAPE_PROFILE_MODEL_LINES_LINE_TABLE_H
#define SYMTAPE_PROFILE_MODEL_LINES_LINE_TABLE_H

#include "profile/model/build.h"

/* A row for each line of a file. PyTorch's own files have a table of their own. */
struct line_table {
    struct profile_build *b;
    struct intern keys, library_keys; /* (file, line) -> row in b->lines, b->library_lines */
    /* By user stack of the current input and recording: row + 1, 0 if not looked up yet,
     * LINE_NOBODY if there is none. Each process numbers its files, so another recording starts
     * anew. */
    uint32_t *of_stack, *library_of_stack;
    uint32_t recording;
    vec_of(stack_id)
    looked_up;
};
#define LINE_NOBODY UINT32_MAX

/* Finds the row of a node's user line: by the same rule if the graph has whole stacks (.pt2), else
 * the place that its comment names, and counts the node there. `location` is an index, not
 * LOCATION_NONE; *ret is LINE_NOBODY if there is no place, or its file was not selected. Returns
 * false when memory ran out. */
bool line_table_node(struct line_table *table, const struct graph *graph, uint32_t location,
                     enum graph_kind level, bool kept, uint32_t *ret);

/* Finds the row of a place in b->lines, or LINE_NOBODY if its file was not selected. */
bool line_table_place(struct line_table *table, struct str file, uint32_t line, struct str function,
                      struct str code, uint32_t *ret);
/* Returns the user line of a node, as line_table_node() finds it. */
const struct location *line_table_location(const struct graph *graph, uint32_t location);

/* Finds the rows of a recorded user stack, once for each stack: the user's line (LINE_NOBODY: none,
 * or not selected) and PyTorch's (LINE_NOBODY: the innermost frame is the user's). `recording` is
 * the trace's. Returns false when memory ran out. */
bool line_table_stack(struct line_table *table, const struct build_input *input, uint32_t recording,
                      stack_id stack, uint32_t *line, uint32_t *library_line);

/* Prepares for the stacks of another input. Returns false when memory ran out. */
bool line_table_start(struct line_table *table, const struct build_input *input);
void line_table_release(struct line_table *table);

/* The steps of build_lines(), each in its file. */
bool operators_count(struct profile_build *b, struct line_table *lines, struct err *err);
bool lines_memory(struct profile_build *b, struct line_table *lines, struct err *err);
bool line_costs(struct profile_build *b, struct line_table *lines, struct err *err);
bool line_times_estimate(struct profile_build *b, struct line_table *lines, struct err *err);

#endif
