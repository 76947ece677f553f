/* torchvision's operators on boxes: regions aligned to a grid (roi_align), and the choice of boxes
 * (nms). */
#include <math.h>

#include "replay/backend/cpu/kernel.h"
#include "replay/ops/rules/conv/nms.h"

/* Bilinear interpolation between four pixels. */
struct between {
    int64_t at[4];
    double share[4];
};

static bool between_of(double y, double x, int64_t h, int64_t w, struct between *b)
{
    if (y < -1 || y > (double)h || x < -1 || x > (double)w)
        return false;
    y = fmax(y, 0);
    x = fmax(x, 0);
    int64_t top = (int64_t)y, left = (int64_t)x, bottom = top + 1, right = left + 1;
    if (top >= h - 1) {
        top = bottom = h - 1;
        y = (double)top;
    }
    if (left >= w - 1) {
        left = right = w - 1;
        x = (double)left;
    }
    double dy = y - (double)top, dx = x - (double)left;
    *b = (struct between){ { top * w + left, top * w + right, bottom * w + left,
                             bottom * w + right },
                           { (1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx } };
    return true;
}

struct region {
    int64_t image, grid[2];
    double start[2], bin[2]; /* y, x */
};

static struct region region_of(const struct kernel *k, const double *roi, const int64_t *pooled)
{
    double scale = real_arg(k, "spatial_scale", 1), size[2];
    bool aligned = bool_arg(k, "aligned", false);
    int64_t ratio = int_arg(k, "sampling_ratio", -1);
    struct region r = { .image = (int64_t)roi[0] };
    for (int d = 0; d < 2; d++) { /* a row is image, x1, y1, x2, y2 */
        double offset = aligned ? 0.5 : 0;
        r.start[d] = roi[2 - d] * scale - offset;
        size[d] = roi[4 - d] * scale - offset - r.start[d];
        size[d] = aligned ? size[d] : fmax(size[d], 1);
        r.bin[d] = size[d] / (double)pooled[d];
        r.grid[d] = ratio > 0 ? ratio : (int64_t)ceil(size[d] / (double)pooled[d]);
    }
    return r;
}

/* Computes the mean of one bin of one plane, or, with back, adds its gradient to the pixels. */
static double visit_bin(const struct region *r, int64_t y, int64_t x, double *plane, int64_t h,
                        int64_t w, bool back, double gradient)
{
    double sum = 0, n = (double)(r->grid[0] * r->grid[1] > 1 ? r->grid[0] * r->grid[1] : 1);
    for (int64_t iy = 0; iy < r->grid[0]; iy++)
        for (int64_t ix = 0; ix < r->grid[1]; ix++) {
            struct between b;
            double py = (double)y + ((double)iy + 0.5) / (double)r->grid[0];
            double px = (double)x + ((double)ix + 0.5) / (double)r->grid[1];
            if (!between_of(r->start[0] + py * r->bin[0], r->start[1] + px * r->bin[1], h, w, &b))
                continue;
            for (int i = 0; i < 4; i++) {
                if (back)
                    plane[b.at[i]] += gradient * b.share[i] / n;
                else
                    sum += b.share[i] * plane[b.at[i]];
            }
        }
    return sum / n;
}

/* roi_align; _roi_align_backward (PARAM 1). */
void kernel_roi_align(struct kernel *k)
{
    bool back = k->row->param == 1;
    struct dense given = load_as(k, tensor_arg(k, back ? "grad" : "input"), DENSE_REAL);
    struct dense rois = load_as(k, tensor_arg(k, "rois"), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    const struct dense *images = back ? &out : &given, *bins = back ? &given : &out;
    if (images->ndim != 4 || bins->ndim != 4 || rois.ndim != 2 || rois.size[1] != 5)
        kernel_fail(k, "regions of %u dimensions", rois.ndim);
    if (k->failed)
        return;
    int64_t c = images->size[1], h = images->size[2], w = images->size[3];
    for (int64_t i = 0; i < bins->n; i++) {
        int64_t px = i % bins->size[3], py = i / bins->size[3] % bins->size[2];
        int64_t plane = i / bins->size[3] / bins->size[2], roi = plane / c;
        struct region r = region_of(k, rois.u.r + 5 * roi, bins->size + 2);
        if (r.image < 0 || r.image >= images->size[0] || !h || !w) {
            kernel_fail(k, "a region of image %lld", (long long)r.image);
            return;
        }
        double *at = images->u.r + (r.image * c + plane % c) * h * w;
        double mean = visit_bin(&r, py, px, at, h, w, back, back ? given.u.r[i] : 0);
        if (!back)
            out.u.r[i] = mean;
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_nms(struct kernel *k)
{
    struct dense boxes = load_as(k, tensor_arg(k, "dets"), DENSE_REAL);
    struct dense scores = load_as(k, tensor_arg(k, "scores"), DENSE_REAL);
    int64_t *order = workspace(k, 2 * scores.n, sizeof *order),
            *kept = workspace(k, scores.n, sizeof *kept);
    if (k->failed || boxes.n != 4 * scores.n)
        return;
    int64_t n =
        nms_keep(boxes.u.r, scores.u.r, scores.n, real_arg(k, "iou_threshold", 0.5), order, kept);
    struct dense out = dense_new(k, DENSE_INT, &n, 1);
    for (int64_t i = 0; i < n && !k->failed; i++)
        out.u.i[i] = kept[i];
    store_tensor(k, result(k, 0), out);
}

/* ---- roi_pool: the greatest value of each bin of whole pixels, and its index ---- */

static int64_t clamped_coordinate(double x, int64_t most)
{
    return x < 0 ? 0 : x > (double)most ? most : (int64_t)x;
}

/* Computes the start and end of a bin in one dimension. */
static void bin_bounds(int64_t start, double size, int64_t bin, int64_t in, int64_t *from,
                       int64_t *to)
{
    *from = clamped_coordinate(floor((double)bin * size) + (double)start, in);
    *to = clamped_coordinate(ceil((double)(bin + 1) * size) + (double)start, in);
}

void kernel_roi_pool(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense rois = load_as(k, tensor_arg(k, "rois"), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim),
                 at = dense_new(k, DENSE_INT, size, ndim);
    double scale = real_arg(k, "spatial_scale", 1);
    if (k->failed || x.ndim != 4 || ndim != 4 || rois.ndim != 2 || rois.size[1] != 5)
        return;
    int64_t h = x.size[2], w = x.size[3];
    for (int64_t i = 0; i < out.n; i++) {
        int64_t plane = i / size[3] / size[2], from[2], to[2], place[2];
        const double *roi = rois.u.r + 5 * (plane / size[1]);
        int64_t image = (int64_t)roi[0], first = (image * x.size[1] + plane % size[1]) * h * w;
        place[0] = i / size[3] % size[2];
        place[1] = i % size[3];
        if (image < 0 || image >= x.size[0]) {
            kernel_fail(k, "a region of image %lld", (long long)image);
            return;
        }
        for (int d = 0; d < 2; d++) { /* y, x; a row is image, x1, y1, x2, y2 */
            int64_t start = (int64_t)round(roi[2 - d] * scale);
            int64_t end = (int64_t)round(roi[4 - d] * scale), n = end - start + 1;
            bin_bounds(start, (double)(n > 1 ? n : 1) / (double)size[2 + d], place[d], d ? w : h,
                       &from[d], &to[d]);
        }
        bool empty = to[0] <= from[0] || to[1] <= from[1];
        out.u.r[i] = empty ? 0 : -INFINITY;
        at.u.i[i] = -1;
        for (int64_t y = from[0]; y < to[0]; y++)
            for (int64_t c = from[1]; c < to[1]; c++)
                if (x.u.r[first + y * w + c] > out.u.r[i]) {
                    out.u.r[i] = x.u.r[first + y * w + c];
                    at.u.i[i] = y * w + c;
                }
    }
    store_tensor(k, result(k, 0), out);
    store_tensor(k, result(k, 1), at);
}

void kernel_roi_pool_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad"), DENSE_REAL);
    struct dense rois = load_as(k, tensor_arg(k, "rois"), DENSE_REAL);
    struct dense at = load_as(k, tensor_arg(k, "argmax"), DENSE_INT);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    if (k->failed || ndim != 4 || g.ndim != 4 || rois.ndim != 2 || at.n != g.n)
        return;
    for (int64_t i = 0; i < g.n; i++) {
        int64_t plane = i / g.size[3] / g.size[2],
                image = (int64_t)rois.u.r[5 * (plane / g.size[1])];
        int64_t to = (image * size[1] + plane % g.size[1]) * size[2] * size[3] + at.u.i[i];
        if (at.u.i[i] >= 0 && to >= 0 && to < out.n)
            out.u.r[to] += g.u.r[i];
    }
    store_tensor(k, result(k, 0), out);
}
