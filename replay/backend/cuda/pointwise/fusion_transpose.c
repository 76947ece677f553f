/* Copies whose adjacent elements are read along one dimension and written along another. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/device/copy.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/pointwise/fusion_group.h"

enum { LEAST_SIDE = 16 }; /* of a matrix; lines of smaller ones are read whole in either order */

/* Returns whether the group copies the bits of one stream. */
static bool is_copy(const struct fusion_group *g)
{
    const struct point_node *node = &g->nodes[0];
    return g->n_nodes == 1 && g->n_streams == 2 && node->x[0].kind == POINT_STREAM &&
           !node->x[0].conj && !node->x[0].neg && strcmp(point_node_text(node), "x") == 0 &&
           g->streams[0].view.dtype == g->streams[1].view.dtype &&
           cuda_bits_type((uint32_t)dtype_size(node->dtype)) != NULL;
}

/* Returns the dimension along which adjacent elements are read; if it is the last one, no transpose
 * is needed. */
static uint32_t read_along(const struct fusion_group *g, const struct point_view *from)
{
    uint32_t last = g->ndim - 1;
    for (uint32_t d = 0; d < last; d++)
        if (from->stride[d] == 1 && from->stride[last] > 1 && g->size[d] >= LEAST_SIDE &&
            g->size[last] >= LEAST_SIDE)
            return d;
    return last;
}

static bool transpose_args_of(const struct fusion_group *g, struct copy_turned_args *a)
{
    uint32_t read = g->nodes[0].x[0].i, last = g->ndim - 1;
    const struct point_view *from = &g->streams[read].view, *to = &g->streams[!read].view;
    uint32_t along = read_along(g, from);
    *a = (struct copy_turned_args){ .to = to->address, .from = from->address, .matrices = 1 };
    if (along == last || to->stride[last] != 1 || g->ndim - 2 > COPY_MAX_DIM)
        return false;
    a->rows = g->size[along];
    a->columns = g->size[last];
    a->to_row = to->stride[along];
    a->from_column = from->stride[last];
    for (uint32_t d = 0; d < last; d++) {
        if (d == along)
            continue;
        a->matrices *= a->size[a->ndim] = g->size[d];
        a->to_stride[a->ndim] = to->stride[d];
        a->from_stride[a->ndim++] = from->stride[d];
    }
    return true;
}

bool fusion_transposes(const struct fusion_group *g)
{
    struct copy_turned_args a;
    return is_copy(g) && g->ndim > 1 && transpose_args_of(g, &a);
}

bool fusion_launch_transposed(struct points *points, const struct fusion_group *g, bool wide,
                              struct cuda_work work, struct err *err)
{
    struct copy_turned_args a;
    char defines[96];
    if (!transpose_args_of(g, &a))
        return true;
    snprintf(defines, sizeof defines, "#define TURNED\n#define T %s\n#define INDEX %s\n",
             cuda_bits_type((uint32_t)dtype_size(g->nodes[0].dtype)), wide ? "i64" : "i32");
    struct cuda_function *f = cuda_compile_file(points->cuda, "copy", "copy_turned", defines, err);
    int64_t tiles = a.matrices * ((a.rows - 1) / COPY_TILE + 1) * ((a.columns - 1) / COPY_TILE + 1);
    int64_t most = (int64_t)points->cuda->multiprocessors * 16;
    struct cuda_grid grid = { (uint32_t)(tiles < most ? tiles : most), 1, 1, 256, 0 };
    return f && cuda_launch_work(points->cuda, f, grid, &a, work, err);
}
