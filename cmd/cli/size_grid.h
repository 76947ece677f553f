/* Sizes to be tried: "s0=1..64,s1=8,16,31", and files of them. */
#ifndef SYMTAPE_CMD_CLI_SIZE_GRID_H
#define SYMTAPE_CMD_CLI_SIZE_GRID_H

#include "cmd/cli/opt.h"
#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/log/source.h"

enum { GRID_SYMBOLS = 32, GRID_POINTS = 1 << 20 };
#define GRID_ANY INT64_MIN /* a symbol that a line of the file does not name */

/* A row of n_symbols values for each of n points. */
struct size_grid {
    struct str symbols[GRID_SYMBOLS];
    size_t n_symbols, n;
    int64_t *values;
    struct arena arena;
};

/* set: the product of each symbol's values: numbers, ranges MIN..MAX, MIN..MAX:STEP and
 * MIN..MAX:xFACTOR; "" is one point without symbols. file: assignments of one number each, a line
 * of them a point, # begins a comment; "" is no file; with both each line is taken with all of the
 * product. ERR_USAGE: what cannot be read, an empty range, more than GRID_POINTS (of `set`);
 * ERR_INPUT (of the file). Texts are copied. */
bool size_grid_read(struct size_grid *grid, struct str set, struct str file, struct err *err);
/* Reads the text and the file of the option. `meter`: see text_file_read(). */
bool size_grid_read_option(struct size_grid *grid, const struct opt_sizes *sizes,
                           struct source_meter *meter, struct err *err);
void size_grid_release(struct size_grid *grid);

static inline const int64_t *size_grid_row(const struct size_grid *grid, size_t i)
{
    return grid->values + i * grid->n_symbols;
}

#endif
