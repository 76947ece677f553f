/* Reads --sizes and options like it: "s0=1..64,s1=8,16,31", and files of sizes. */
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

/* A number (min and max are equal), or a range. */
struct size_item {
    int64_t min, max, step; /* step: at least 1 */
    bool factor;            /* of step: each size is the one before times it */
};
/* Reads NUMBER, MIN..MAX, MIN..MAX:STEP or MIN..MAX:xFACTOR; fails with ERR_USAGE for another text
 * and for an empty range. */
bool size_item_read(struct str text, struct size_item *ret, struct err *err);
/* Returns the size after x in a range; false if there is none. */
bool size_item_next(const struct size_item *item, int64_t x, int64_t *ret);

/* Reads sizes. `set` gives each symbol values: numbers, ranges MIN..MAX, MIN..MAX:STEP and
 * MIN..MAX:xFACTOR; all combinations of them are points, and "" is one point without symbols.
 * `file` is text whose lines assign one number to each symbol; each line is a point, # begins a
 * comment, and "" is no file. If both are given, each line is combined with all points of `set`.
 * Fails with ERR_USAGE if `set` cannot be read, has an empty range or has more than GRID_POINTS
 * points, and with ERR_INPUT if the file cannot be read. Texts are copied. */
bool size_grid_read(struct size_grid *grid, struct str set, struct str file, struct err *err);
/* Reads the text and the file of the option, which errors name. `meter`: see text_file_read(). */
bool size_grid_read_option(struct size_grid *grid, const char *option,
                           const struct opt_sizes *sizes, struct source_meter *meter,
                           struct err *err);
void size_grid_release(struct size_grid *grid);

static inline const int64_t *size_grid_row(const struct size_grid *grid, size_t i)
{
    return grid->values + i * grid->n_symbols;
}

#endif
