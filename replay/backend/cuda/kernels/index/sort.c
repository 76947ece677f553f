/* sort, topk, argsort, kthvalue, median, mode, searchsorted. Rows up to the size of a tile are
 * sorted by one launch, several short ones in a block. Longer rows are sorted in tiles: if only a
 * few elements are requested, the first elements of all tiles are sorted in turn; otherwise sorted
 * runs are merged. */
#include "replay/backend/cuda/device/index/sort.h"
#include "replay/backend/cuda/kernels/index/sort_keys.h"
#include "replay/backend/cuda/kernels/reduce/reduce.h"
#include "replay/backend/cuda/kernels/strided.h"

struct row_sort {
    struct spans spans;
    struct sort_args a;
    struct defines text;
    int64_t n, keep;
    size_t key_bytes;
};

static void launch_sort(struct kernel *k, const struct row_sort *s, const char *name,
                        const struct sort_args *a, uint32_t blocks)
{
    struct cuda_grid grid = { blocks, 1, 1, SORT_THREADS, 0 };
    cuda_launch(k, cuda_function(k, "sort", name, s->text.text), grid, a, sizeof *a);
}

/* Sorts n elements of each row, in tiles. */
static void launch_tiles(struct kernel *k, const struct row_sort *s, struct sort_args *a, int64_t n)
{
    a->n = n;
    a->tiles = (n + SORT_TILE - 1) / SORT_TILE;
    for (a->segment = 1; a->segment < n && a->segment < SORT_TILE;)
        a->segment *= 2;
    launch_sort(k, s, "sort_tiles", a,
                cuda_blocks(k, a->rows.n * a->tiles, SORT_TILE / a->segment));
}

static void allocate_runs(struct kernel *k, const struct row_sort *s, struct sort_args *a,
                          int64_t n)
{
    a->to_keys = cuda_workspace(k, (size_t)(a->rows.n * n) * s->key_bytes);
    a->to_ids = cuda_workspace(k, (size_t)(a->rows.n * n) * 4);
    a->to_n = n;
}

static void take_runs(struct sort_args *a)
{
    a->keys = a->to_keys;
    a->ids = a->to_ids;
    a->to_keys = a->to_ids = 0;
}

/* Computes the first `keep` elements, which are a small part of a tile. */
static void sort_few(struct kernel *k, struct row_sort *s)
{
    struct sort_args a = s->a;
    int64_t n = s->n;
    a.keep = s->keep;
    while (n > SORT_TILE && !k->failed) {
        int64_t tiles = (n + SORT_TILE - 1) / SORT_TILE, last = n - (tiles - 1) * SORT_TILE;
        int64_t next = (tiles - 1) * a.keep + (last < a.keep ? last : a.keep);
        allocate_runs(k, s, &a, next);
        launch_tiles(k, s, &a, n);
        take_runs(&a);
        n = next;
    }
    launch_tiles(k, s, &a, n);
}

static void sort_all(struct kernel *k, struct row_sort *s)
{
    struct sort_args a = s->a;
    uint32_t blocks = cuda_blocks(k, a.rows.n * s->n, SORT_THREADS);
    uint64_t keys = 0, ids = 0;
    a.keep = SORT_TILE;
    allocate_runs(k, s, &a, s->n);
    launch_tiles(k, s, &a, s->n);
    take_runs(&a);
    for (a.width = SORT_TILE; a.width < s->n && !k->failed; a.width *= 2) {
        if (!keys)
            allocate_runs(k, s, &a, s->n);
        a.to_keys = keys ? keys : a.to_keys;
        a.to_ids = keys ? ids : a.to_ids;
        launch_sort(k, s, "sort_merge", &a, blocks);
        keys = a.keys;
        ids = a.ids;
        take_runs(&a);
    }
    a.keep = s->keep;
    launch_sort(k, s, "sort_give", &a, cuda_blocks(k, a.rows.n * a.keep, SORT_THREADS));
}

static void define_sort(struct row_sort *s, enum dtype dtype, bool wide)
{
    s->key_bytes = dtype_size(dtype) == 8 ? 8 : 4;
    define(&s->text, "#define T %s\n#define KEY %s\n#define INDEX %s\n", cuda_type(dtype),
           s->key_bytes == 8 ? "u64" : "u32", wide ? "u64" : "u32");
}

static void sort_all_rows(struct kernel *k, struct row_sort *s)
{
    if (s->n <= SORT_TILE || s->keep <= SORT_TILE / 2)
        sort_few(k, s);
    else
        sort_all(k, s);
}

bool cuda_sorts(enum dtype dtype)
{
    return cuda_sum_type(dtype) && dtype != DTYPE_U64;
}

void cuda_sort_places(struct kernel *k, uint64_t from, enum dtype dtype, int64_t n, uint64_t places)
{
    struct row_sort s = { .n = n, .keep = n };
    s.a = (struct sort_args){
        .rows = { .n = 1 }, .from = from, .places = places, .step = { 1, 1, 1 }
    };
    define_sort(&s, dtype, false);
    sort_all_rows(k, &s);
}

/* sort, topk (PARAM 1), argsort (2). */
void cuda_sort(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self");
    bool topk = k->row->param == 1, places_only = k->row->param == 2;
    struct dims d = dims_of(self);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), d.ndim);
    struct row_sort s = { 0 };
    if (d.ndim)
        d.reduced[dim] = true;
    struct span_operand x[3] = { operand_broadcast(k, self, &d) };
    if (!places_only)
        x[1] = operand_broadcast(k, result(k, 0), &d);
    x[2] = operand_broadcast(k, result(k, !places_only), &d);
    if (!sum_type_of(k, self) || !spans_of(k, &d, x, 3, true, &s.spans))
        return;
    s.n = s.spans.cols.n;
    s.keep = topk ? int_arg(k, "k", 0) : s.n;
    if (s.keep <= 0 || s.n == 0 || s.spans.rows.n == 0)
        return;
    if (s.n > INT32_MAX || (x[1].at && x[1].dtype != x[0].dtype) || x[2].dtype != DTYPE_I64) {
        cuda_decline(k);
        return;
    }
    s.a = (struct sort_args){
        .rows = s.spans.rows, .from = x[0].at, .values = x[1].at, .places = x[2].at
    };
    for (uint32_t i = 0; i < 3; i++)
        s.a.step[i] = d.ndim ? x[i].stride[dim] : 0;
    struct cuda_live live = { 0 };
    if (self.meta->extent.is && self.meta->extent.dim == dim)
        live = cuda_live_of(k, self, 1);
    s.a.live = (struct live_count){ live.at, live.times };
    s.a.descending = topk ? bool_arg(k, "largest", true) : bool_arg(k, "descending", false);
    define_sort(&s, x[0].dtype, s.spans.wide);
    sort_all_rows(k, &s);
}

/* Allocates the index of each row's element, contiguously. */
static struct span_operand places_workspace(struct kernel *k, const struct dims *d)
{
    struct span_operand ret = { .dtype = DTYPE_I64, .type = "i64" };
    int64_t step = 1;
    for (uint32_t i = 0; i < d->ndim; i++)
        step *= d->reduced[i] ? d->size[i] : 1;
    for (uint32_t i = d->ndim; i-- > 0;) {
        ret.stride[i] = d->reduced[i] ? 1 : step;
        step *= d->reduced[i] ? 1 : d->size[i];
    }
    ret.at = cuda_workspace(k, (size_t)step * sizeof(int64_t));
    return ret;
}

/* kthvalue, median (PARAM 1), nanmedian (2), mode (3): sorts rows and picks one element of each, or
 * one of all elements without `dim`. */
void cuda_sorted_pick(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self");
    int what = k->row->param;
    int64_t n = 1, size[TENSOR_MAX_DIM];
    if (!self.meta || !sum_type_of(k, self) || !is_stored_real(self))
        return;
    uint32_t ndim = tensor_sizes(self, size);
    for (uint32_t i = 0; i < ndim; i++)
        n *= size[i];
    if (!has_arg(k, "dim") && (what == PICK_MEDIAN || what == PICK_NANMEDIAN))
        self = reshaped(k, self, &n, 1);
    struct dims d = dims_of(self);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), d.ndim);
    struct row_sort s = { 0 };
    if (d.ndim)
        d.reduced[dim] = true;
    struct span_operand x[5] = { operand_broadcast(k, self, &d),
                                 { 0 },
                                 places_workspace(k, &d),
                                 operand_kept(k, result(k, 0), &d) };
    if (n_results(k) > 1) /* without dim the index is not returned */
        x[4] = operand_kept(k, result(k, 1), &d);
    if (!spans_of(k, &d, x, 5, true, &s.spans) || s.spans.rows.n == 0)
        return;
    s.n = s.keep = s.spans.cols.n;
    if (s.n == 0 || s.n > INT32_MAX || x[3].dtype != x[0].dtype) {
        cuda_decline(k);
        return;
    }
    s.a = (struct sort_args){ .rows = s.spans.rows,
                              .from = x[0].at,
                              .places = x[2].at,
                              .step = { d.ndim ? x[0].stride[dim] : 0, 0, 1 } };
    define_sort(&s, x[0].dtype, s.spans.wide);
    sort_all_rows(k, &s);
    struct pick_args a = { .sorted = s.a,
                           .values = x[3].at,
                           .places = x[4].at,
                           .kth = int_arg(k, "k", 1) - 1,
                           .what = (uint32_t)what };
    a.sorted.n = s.n;
    struct cuda_grid grid = { cuda_blocks(k, s.spans.rows.n, SORT_THREADS), 1, 1, SORT_THREADS, 0 };
    cuda_launch(k, cuda_function(k, "sort", "sort_pick", s.text.text), grid, &a, sizeof a);
}

/* searchsorted and bucketize (PARAM 1): the index at which a value would be inserted. */
void cuda_searchsorted(struct kernel *k)
{
    struct kernel_tensor edges = tensor_arg(k, k->row->param ? "boundaries" : "sorted_sequence"),
                         x = { 0 };
    struct kernel_tensor sorter = tensor_arg(k, "sorter"), to = result(k, 0);
    struct kernel_value value = value_arg(k, "self");
    struct dims d = dims_of(to), of_edges = dims_of(edges);
    struct defines text = { 0 };
    struct spans s;
    if (value.kind == KERNEL_TENSOR)
        x = value.u.tensor;
    for (uint32_t i = 0; i < d.ndim; i++)
        d.reduced[i] = true;
    struct span_operand o[2] = { operand_broadcast(k, x, &d), operand_broadcast(k, to, &d) };
    struct span_operand e = operand_broadcast(k, edges, &of_edges),
                        by = operand_broadcast(k, sorter, &of_edges);
    if (!spans_of(k, &d, o, 2, true, &s) || s.cols.n == 0)
        return;
    int64_t n = of_edges.ndim ? of_edges.size[of_edges.ndim - 1] : 0, rows = 1;
    for (uint32_t i = 0; i + 1 < of_edges.ndim; i++)
        rows *= of_edges.size[i];
    struct search_args a = { .span = s.cols, .x = o[0].at, .to = o[1].at, .n = n };
    a.edges = e.at ? cuda_contiguous(k, edges) : 0;
    a.sorter = by.at ? cuda_contiguous(k, sorter) : 0;
    a.per_row = rows > 1 ? s.cols.n / rows : s.cols.n;
    a.value = x.meta ? 0 : number_as_real(value, 0);
    a.right = bool_arg(k, "right", false) || str_is(text_arg(k, "side"), "right");
    bool wide = s.wide || rows * n > INT32_MAX;
    define(&text,
           "#define SEARCH\n#define T %s\n#define E %s\n#define S %s\n#define O %s\n#define INDEX "
           "%s\n",
           o[0].at ? o[0].type : "f32", e.at ? e.type : "f32", by.at ? by.type : "i64", o[1].type,
           wide ? "u64" : "u32");
    struct cuda_grid grid = { cuda_blocks(k, s.cols.n, SORT_THREADS), 1, 1, SORT_THREADS, 0 };
    cuda_launch(k, cuda_function(k, "sort", "search", text.text), grid, &a, sizeof a);
}
