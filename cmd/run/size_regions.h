/* Sizes with the same outcome, as boxes: "s77 in 17..31". */
#ifndef SYMTAPE_CMD_RUN_SIZE_REGIONS_H
#define SYMTAPE_CMD_RUN_SIZE_REGIONS_H

#include "cmd/cli/size_grid.h"
#include "trace/base/buf.h"
#include "trace/base/vec.h"

/* All points of the grid between two of its points, inclusive, which have the same class. */
struct size_region {
    uint32_t outcome; /* the class */
    size_t first;     /* the lowest of its points, by its number in the grid */
    size_t last, n;   /* the highest; how many */
};
struct size_regions {
    vec_of(struct size_region)
    list; /* in the order of their first points */
};

/* Finds the regions. `outcomes` holds the class of each point. Each point is in one region. A
 * region is extended from its first point as far as possible, along the last symbol first. */
bool size_regions_find(const struct size_grid *grid, const uint32_t *outcomes,
                       struct size_regions *ret, struct err *err);
void size_regions_release(struct size_regions *regions);
/* Prints "s0=3, s77 in 17..31". Symbols with all their sizes are left out; "all sizes" if none
 * remains. */
void size_region_print(const struct size_grid *grid, const struct size_region *region,
                       struct buf *out);

#endif
