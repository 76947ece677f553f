/* Launches groups: removes nodes whose results are not needed, chooses how to iterate over the
 * sizes, and compiles the kernel for that at its first use. */
#include <string.h>

#include "replay/backend/cuda/pointwise/fusion_group.h"
#include "trace/base/hash.h"

/* ---- Nodes whose results are needed ---- */

static void mark_alive(const struct fusion_group *g, bool *node, bool *stream)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const struct point_node *n = &g->nodes[i];
        const struct point_stream *to = &g->streams[n->stream];
        stream[n->stream] = to->written && !to->dead;
        node[i] |= stream[n->stream];
        for (uint32_t j = 0; node[i] && j < POINT_MAX_TENSORS; j++) {
            if (n->x[j].kind == POINT_NODE)
                node[n->x[j].i] = true;
            else if (n->x[j].kind == POINT_STREAM)
                stream[n->x[j].i] = true;
        }
    }
}

/* Copies only the needed nodes and numbers them again, so that equal work has an equal text. */
static void compact(const struct fusion_group *g, struct fusion_group *to)
{
    bool node[POINT_NODES] = { false }, stream[POINT_STREAMS] = { false };
    uint8_t new_node[POINT_NODES] = { 0 }, new_stream[POINT_STREAMS] = { 0 };
    to->ndim = g->ndim; /* copies only the used elements of arrays, which are long */
    to->n = g->n;
    to->placed = false;
    to->live = g->live;
    to->n_streams = to->n_nodes = to->n_slots = 0;
    memcpy(to->size, g->size, g->ndim * sizeof *to->size);
    mark_alive(g, node, stream);
    for (uint32_t s = 0; s < g->n_streams; s++)
        if (stream[s]) {
            new_stream[s] = (uint8_t)to->n_streams;
            to->streams[to->n_streams++] = g->streams[s];
        }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (!node[i])
            continue;
        struct point_node n = g->nodes[i];
        for (uint32_t j = 0; j < POINT_MAX_TENSORS; j++) {
            if (n.x[j].kind == POINT_NODE)
                n.x[j].i = new_node[n.x[j].i];
            else if (n.x[j].kind == POINT_STREAM)
                n.x[j].i = new_stream[n.x[j].i];
        }
        point_copy_numbers(g, to, &n);
        to->placed |= (n.asks & POINT_ASKS_PLACE) != 0;
        new_node[i] = (uint8_t)to->n_nodes;
        bool seen = stream[n.stream];
        n.stream = seen ? new_stream[n.stream] : POINT_NO_STREAM;
        if (seen)
            to->streams[n.stream].writer = new_node[i];
        to->nodes[to->n_nodes++] = n;
    }
}

/* ---- The iteration over the space ---- */

static const struct point_view *first_written(const struct fusion_group *g)
{
    for (uint32_t s = 0; s < g->n_streams; s++)
        if (g->streams[s].written)
            return &g->streams[s].view;
    return &g->streams[0].view;
}

static void swap_dims(struct fusion_group *g, uint32_t a, uint32_t b)
{
    int64_t size = g->size[a];
    g->size[a] = g->size[b];
    g->size[b] = size;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        int64_t *stride = g->streams[s].view.stride, swapped = stride[a];
        stride[a] = stride[b];
        stride[b] = swapped;
    }
}

/* Sorts the dimensions by the strides of the written memory, unless a node uses positions, and
 * merges those that are contiguous in all streams. */
static void merge_dimensions(struct fusion_group *g)
{
    const int64_t *by = first_written(g)->stride;
    for (uint32_t i = 1; i < g->ndim && !g->placed; i++)
        for (uint32_t j = i; j > 0 && by[j - 1] < by[j]; j--)
            swap_dims(g, j - 1, j);
    uint32_t n = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        bool merges = n > 0;
        for (uint32_t s = 0; s < g->n_streams && merges; s++) {
            const int64_t *stride = g->streams[s].view.stride;
            merges = stride[n - 1] == stride[d] * g->size[d];
        }
        n += !merges;
        g->size[n - 1] = merges ? g->size[n - 1] * g->size[d] : g->size[d];
        for (uint32_t s = 0; s < g->n_streams; s++)
            g->streams[s].view.stride[n - 1] = g->streams[s].view.stride[d];
    }
    g->ndim = n;
    if (n == 0) { /* one element */
        g->ndim = 1;
        g->size[0] = 1;
        for (uint32_t s = 0; s < g->n_streams; s++)
            g->streams[s].view.stride[0] = g->streams[s].written;
    }
}

static int64_t element_bytes(const struct fusion_group *g, uint32_t s)
{
    return (int64_t)dtype_size(g->streams[s].view.dtype);
}

static int64_t inner_stride(const struct fusion_group *g, uint32_t s)
{
    return g->streams[s].view.stride[g->ndim - 1];
}

/* Returns whether chunks of `width` elements can be moved at once, 16 bytes or less at a time. */
static bool takes_width(const struct fusion_group *g, int64_t width)
{
    if (g->ndim > 1 && g->size[g->ndim - 1] % width != 0)
        return false;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_view *view = &g->streams[s].view;
        int64_t bytes = width * element_bytes(g, s) < 16 ? width * element_bytes(g, s) : 16;
        if (inner_stride(g, s) == 0 && !g->streams[s].written)
            continue;
        if (inner_stride(g, s) != 1 || view->address % (uint64_t)bytes != 0)
            return false;
        for (uint32_t d = 0; d + 1 < g->ndim; d++)
            if (view->stride[d] * element_bytes(g, s) % bytes != 0)
                return false;
    }
    return true;
}

/* Returns 16 bytes of the smallest elements, or fewer if those of the largest would fill the
 * registers: the width at sizes and addresses that are multiples of it. */
static int64_t greatest_width_of(const struct fusion_group *g)
{
    int64_t least = 16, sum = 0, width;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        int64_t size = element_bytes(g, s);
        sum += size;
        least = size > 1 && size < least ? size : least;
    }
    width = least == 16 ? 16 : 16 / least;
    while (width > 1 && width * sum > 256)
        width /= 2;
    return width;
}

static uint32_t width_of(const struct fusion_group *g)
{
    int64_t width = greatest_width_of(g);
    while (width > 1 && !takes_width(g, width))
        width /= 2;
    return (uint32_t)width;
}

static bool is_shared(const struct fusion_group *g, uint32_t s)
{
    for (uint32_t d = 0; d < g->ndim; d++)
        if (g->streams[s].view.stride[d] != 0)
            return false;
    return !g->streams[s].written;
}

static bool needs_wide_indices(const struct fusion_group *g)
{
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_view *view = &g->streams[s].view;
        if (view->high - view->low > INT32_MAX)
            return true;
    }
    return g->n > INT32_MAX;
}

/* Returns the chunks of a thread, so that at least 4 times 16 bytes are being read. */
static uint32_t unroll_of(const struct fusion_group *g, const struct point_plan *plan)
{
    uint64_t bytes = 0;
    uint32_t unroll = 4;
    for (uint32_t i = 0; i < g->n_nodes; i++) { /* complex functions need many registers */
        const struct point_node *node = &g->nodes[i];
        unroll = point_node_is_complex(node) && strchr(point_node_text(node), '(') ? 1 : unroll;
    }
    for (uint32_t s = 0; s < g->n_streams; s++)
        if (!g->streams[s].written && plan->classes[s] != 's')
            bytes += plan->width * (uint64_t)element_bytes(g, s);
    if (bytes == 0)
        return plan->flat ? 2 : 1;
    while (unroll > 1 && (unroll * bytes > 64 || plan->wide || (plan->far && g->placed)))
        unroll /= 2;
    return unroll;
}

/* Sets the width, and what depends on it. */
static void set_width(const struct fusion_group *g, struct point_plan *plan, uint32_t width)
{
    plan->width = width;
    for (uint32_t s = 0; s < g->n_streams; s++)
        plan->classes[s] = is_shared(g, s)                              ? 's'
                           : plan->flat                                 ? 'v'
                           : plan->width > 1 && inner_stride(g, s) == 0 ? 'b'
                           : plan->width > 1                            ? 'v'
                                                                        : 'g';
    plan->unroll = unroll_of(g, plan);
    plan->live = g->live.at && (plan->flat || g->live.times % plan->width == 0);
}

static void plan_iteration(const struct cuda *cuda, struct fusion_group *g, struct point_plan *plan)
{
    merge_dimensions(g);
    *plan = (struct point_plan){ .ndim = g->ndim,
                                 .flat = g->ndim == 1,
                                 .wide = cuda->wide || needs_wide_indices(g),
                                 .far = cuda->wide || g->n > INT32_MAX };
    for (uint32_t s = 0; s < g->n_streams; s++)
        plan->flat &= is_shared(g, s) || inner_stride(g, s) == 1;
    plan->wide &= !plan->flat; /* flat kernels have them anyway */
    set_width(g, plan, width_of(g));
}

/* ---- Kernels ---- */

/* Names a kernel in the log: "point_mul_add_relu". */
static void kernel_name(const struct fusion_group *g, char *ret, size_t n)
{
    struct buf name = BUF_INIT;
    buf_puts(&name, "point");
    for (uint32_t i = 0; i < g->n_nodes && name.n < n - 24; i++)
        buf_printf(&name, "_%.20s", point_rows[g->nodes[i].row].base);
    if (name.n >= n - 24 && g->n_nodes > 2)
        buf_printf(&name, "_and_more");
    size_t length = name.n < n - 1 ? name.n : n - 1;
    if (!name.failed)
        memcpy(ret, name.p, length);
    ret[name.failed ? 0 : length] = '\0';
    buf_release(&name);
}

static uint64_t kernel_key(const struct fusion_group *g, const struct point_plan *plan)
{
    unsigned char bytes[64 + POINT_NODES * 32 + POINT_STREAMS * 4];
    size_t n = 0;
#define PUT(x) bytes[n++] = (unsigned char)(x)
    PUT(plan->ndim), PUT(plan->flat), PUT(plan->wide), PUT(plan->far);
    PUT(plan->width), PUT(plan->unroll), PUT(plan->live);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct point_node *node = &g->nodes[i];
        PUT(node->row), PUT(node->row >> 8), PUT(node->type), PUT(node->dtype), PUT(node->stream);
        PUT(node->none), PUT(node->n_numbers), PUT(node->reals), PUT(node->integers);
        PUT(node->complexes), PUT(node->seed), PUT(node->rows), PUT(node->columns);
        for (uint32_t j = 0; j < POINT_MAX_TENSORS; j++)
            PUT(node->x[j].kind), PUT(node->x[j].i), PUT(node->x[j].conj * 2 + node->x[j].neg);
    }
    PUT(255);
    for (uint32_t s = 0; s < g->n_streams; s++)
        PUT(plan->classes[s]), PUT(g->streams[s].view.dtype), PUT(g->streams[s].written);
#undef PUT
    return hash_str((struct str){ (const char *)bytes, n });
}

/* Returns whether other sizes of the same group may need another width. */
static bool width_may_vary(const struct fusion_group *g, const struct point_plan *plan)
{
    bool ret = !plan->flat && greatest_width_of(g) > 1;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const int64_t stride = inner_stride(g, s);
        ret = ret && (stride == 1 || (stride == 0 && !g->streams[s].written));
    }
    return ret;
}

/* The kernels of the same group for other widths are compiled between runs. */
static void put_off_widths(struct points *points, const struct fusion_group *g,
                           const struct point_plan *plan, const char *name)
{
    const int64_t greatest = width_may_vary(g, plan) ? greatest_width_of(g) : 0;
    for (uint32_t width = 1; width <= greatest; width *= 2) {
        struct point_plan other = *plan;
        struct buf text = BUF_INIT;
        if (width == plan->width)
            continue;
        set_width(g, &other, width);
        point_write_text(&text, g, &other, name);
        if (!text.failed)
            cuda_put_off(points->cuda,
                         &(struct program_text){ .name = name, .text = buf_str(&text) });
        buf_release(&text);
    }
}

static struct cuda_function *group_function(struct points *points, const struct fusion_group *g,
                                            const struct point_plan *plan, struct err *err)
{
    struct point_compiled made = { .key = kernel_key(g, plan) };
    struct buf text = BUF_INIT;
    char name[96];
    for (size_t i = 0; i < points->compiled.n; i++)
        if (points->compiled.v[i].key == made.key)
            return points->compiled.v[i].f;
    kernel_name(g, name, sizeof name);
    point_write_text(&text, g, plan, name);
    if (!text.failed)
        made.f = cuda_compile_text(points->cuda, name, buf_str(&text), err);
    else
        err_nomem(err);
    buf_release(&text);
    if (made.f && made.f->f && !vec_push(&points->compiled, made))
        return err_nomem(err), NULL;
    if (made.f)
        put_off_widths(points, g, plan, name);
    return made.f;
}

/* ---- Arguments ---- */

enum { POINT_WORDS = 3 + POINT_STREAMS * (1 + POINT_DIM) + POINT_SLOTS + 3 * POINT_DIM };
_Static_assert(POINT_WORDS * 8 <= 4096, "a kernel's arguments are 4 KiB at most");

/* Divides n by size as (n * multiplier / 2^32 + n) >> shift (Granlund and Montgomery, 1994). */
static void divider_of(uint64_t size, uint64_t *multiplier, uint64_t *shift)
{
    *shift = 0;
    while (*shift < 32 && (uint64_t)1 << *shift < size)
        ++*shift;
    *multiplier = (((uint64_t)1 << 32) * (((uint64_t)1 << *shift) - size)) / size + 1;
}

static void write_arguments(const struct fusion_group *g, const struct point_plan *plan,
                            uint64_t *words)
{
    uint32_t n = 0, last = g->ndim - 1;
    words[n++] = (uint64_t)(plan->flat ? g->n : g->n / plan->width);
    for (uint32_t s = 0; s < g->n_streams; s++)
        words[n++] = g->streams[s].view.address;
    memcpy(words + n, g->slots, g->n_slots * sizeof *words);
    n += g->n_slots;
    for (uint32_t d = 0; d < g->ndim && !plan->flat; d++) {
        uint64_t size = (uint64_t)g->size[d] / (d == last ? plan->width : 1);
        words[n++] = size;
        if (!plan->wide) {
            divider_of(size, &words[n], &words[n + 1]);
            n += 2;
        }
    }
    for (uint32_t s = 0; s < g->n_streams && !plan->flat; s++)
        for (uint32_t d = 0; d < g->ndim && plan->classes[s] != 's'; d++)
            words[n++] = (uint64_t)(g->streams[s].view.stride[d] * (d == last ? plan->width : 1));
    if (plan->live) {
        words[n++] = g->live.at;
        words[n++] = (uint64_t)(g->live.times / (plan->flat ? 1 : plan->width));
    }
}

/* Returns the bytes read and written, each element once. */
static uint64_t group_bytes(const struct fusion_group *g)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        uint64_t n = (uint64_t)element_bytes(g, s);
        for (uint32_t d = 0; d < g->ndim; d++)
            n *= g->streams[s].view.stride[d] ? (uint64_t)g->size[d] : 1;
        bytes += n;
    }
    return bytes;
}

/* Returns the number of blocks, at most those that are resident at once by registers and
 * threads. */
static uint32_t blocks_of(const struct cuda *cuda, const struct cuda_function *f, int64_t work)
{
    int64_t by_registers = f->registers > 0 ? 65536 / (f->registers * 256) : 8;
    int64_t by_threads = cuda->threads_per_multiprocessor / 256;
    int64_t each = by_registers < by_threads ? by_registers : by_threads;
    int64_t most = (each > 0 ? each : 1) * cuda->multiprocessors;
    return (uint32_t)(work < most ? work : most);
}

bool fusion_launch(struct points *points, struct fusion_group *waiting, struct err *err)
{
    struct fusion_group g;
    struct point_plan plan;
    uint64_t words[POINT_WORDS];
    uint32_t nodes[POINT_NODES], n = 0;
    compact(waiting, &g);
    if (g.n_nodes == 0)
        return true;
    plan_iteration(points->cuda, &g, &plan);
    for (uint32_t i = 0; i < g.n_nodes; i++)
        if (n == 0 || nodes[n - 1] != g.nodes[i].graph_node)
            nodes[n++] = g.nodes[i].graph_node;
    struct cuda_work what = { nodes, n, group_bytes(&g), (uint64_t)g.n * g.n_nodes };
    if (!plan.flat && fusion_transposes(&g))
        return fusion_launch_transposed(points, &g, plan.wide, what, err);
    struct cuda_function *f = group_function(points, &g, &plan, err);
    if (!f)
        return err_at(err, "a kernel of pointwise operators up to this one");
    write_arguments(&g, &plan, words);
    int64_t chunks = g.n / plan.width;
    int64_t each = 256 * (int64_t)plan.unroll, work = (chunks + each - 1) / each;
    struct cuda_grid grid = { blocks_of(points->cuda, f, work > 0 ? work : 1), 1, 1, 256, 0 };
    return cuda_launch_work(points->cuda, f, grid, words, what, err);
}
