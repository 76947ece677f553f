/* Matmuls of scaled floats of eight bits, and with packed weights. */
#include "replay/backend/call/float8.h"
#include "replay/backend/call/packed_weights.h"
#include "replay/backend/cpu/linalg/matmul.h"

/* ---- Scaled floats ---- */

/* The scales of a matrix: [1, 1], one for each row or column, or for blocks of 128 elements. */
struct scales {
    struct dense x;
    int64_t columns;             /* of x */
    int64_t per_row, per_column; /* elements of the matrix for one of x */
};

static int64_t per_scale(int64_t n, int64_t scales)
{
    return scales <= 1 ? (n > 0 ? n : 1) : scales == n ? 1 : 128;
}

/* Loads the scales of a matrix of [rows, columns]; _scaled_mm_v2 has them in a list. */
static struct scales load_scales(struct kernel *k, const char *name, int64_t rows, int64_t columns)
{
    struct kernel_value given = value_arg(k, name);
    struct scales ret = { 0 };
    if (value_has_items(given) && given.n == 1)
        given = given.u.items[0];
    bool ok = given.kind == KERNEL_TENSOR && given.u.tensor.meta &&
              given.u.tensor.meta->dtype == DTYPE_F32;
    if (!ok) {
        kernel_fail(k, "%s: only scales of float32 are supported", name);
        return ret;
    }
    ret.x = load_as(k, given.u.tensor, DENSE_REAL);
    const bool one = ret.x.n == 1;
    if (!one && ret.x.ndim != 2) {
        kernel_fail(k, "%s: scales have two dimensions", name);
        return ret;
    }
    ret.columns = one ? 1 : ret.x.size[1];
    ret.per_row = per_scale(rows, one ? 1 : ret.x.size[0]);
    ret.per_column = per_scale(columns, ret.columns);
    const int64_t last_row = rows > 0 ? (rows - 1) / ret.per_row : 0;
    const int64_t last_column = columns > 0 ? (columns - 1) / ret.per_column : 0;
    if (last_column >= ret.columns || last_row * ret.columns + last_column >= ret.x.n)
        kernel_fail(k, "%s: there are too few scales", name);
    return ret;
}

static void apply_scales(const struct kernel *k, struct dense x, const struct scales *s)
{
    for (int64_t i = 0; !k->failed && i < x.size[0]; i++)
        for (int64_t j = 0; j < x.size[1]; j++)
            x.u.r[i * x.size[1] + j] *= s->x.u.r[i / s->per_row * s->columns + j / s->per_column];
}

/* A result of eight bits saturates (cuBLAS and oneDNN). scale_result is not used, as in
 * PyTorch on CUDA (aten/src/ATen/native/cuda/ScaledBlas.cpp, _scaled_gemm()); on a CPU, oneDNN
 * divides results of eight bits by it. */
static void finish_small(struct kernel *k, struct dense c, enum dtype dtype)
{
    const double most = float8_max(dtype);
    for (int64_t i = 0; most != 0 && !k->failed && i < c.n; i++) {
        double x = c.u.r[i];
        c.u.r[i] = x > most ? most : x < -most ? -most : x;
    }
}

static void add_bias(struct kernel *k, struct dense c)
{
    struct dense bias = load_optional(k, "bias");
    if (bias.n > 1 && bias.n != c.size[1])
        kernel_fail(k, "the bias has %lld elements, and the result %lld columns", (long long)bias.n,
                    (long long)c.size[1]);
    for (int64_t i = 0; bias.n && !k->failed && i < c.n; i++)
        c.u.r[i] += bias.u.r[bias.n == 1 ? 0 : i % c.size[1]];
}

void kernel_scaled_multiply(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), y = tensor_arg(k, "mat2"), to = result(k, 0);
    if (!x.meta || !y.meta || !to.meta)
        return;
    struct dense a = load_as(k, x, DENSE_REAL), b = load_as(k, y, DENSE_REAL);
    if (k->failed)
        return;
    struct scales scale_a = load_scales(k, "scale_a", a.size[0], a.size[1]);
    struct scales scale_b = load_scales(k, "scale_b", b.size[0], b.size[1]);
    apply_scales(k, a, &scale_a);
    apply_scales(k, b, &scale_b);
    struct dense c = like_result(k, 0, DENSE_REAL);
    if (!k->failed && a.size[1] != b.size[0])
        kernel_fail(k, "self has %lld columns, and mat2 %lld rows", (long long)a.size[1],
                    (long long)b.size[0]);
    if (!k->failed)
        multiply_batches(k, a.u.r, b.u.r, c.u.r, 1, a.size[0], b.size[1], a.size[1]);
    add_bias(k, c);
    finish_small(k, c, to.meta->dtype);
    store_tensor(k, to, c);
}

/* ---- Packed weights ---- */

/* x [m, in] times mat2 [out, in], a scale for each of `out`. */
void kernel_weight_int8pack_mm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense w = load_as(k, tensor_arg(k, "mat2"), DENSE_REAL);
    struct dense scales = load_as(k, tensor_arg(k, "scales"), DENSE_REAL);
    struct dense c = like_result(k, 0, DENSE_REAL);
    struct dense b = k->failed ? w : dense_permute(k, w, (uint32_t[]){ 1, 0 });
    if (k->failed)
        return;
    multiply_batches(k, x.u.r, b.u.r, c.u.r, 1, x.size[0], w.size[0], x.size[1]);
    for (int64_t i = 0; i < c.n; i++)
        c.u.r[i] *= scales.u.r[i % w.size[0]];
    store_tensor(k, result(k, 0), c);
}

/* Weights are rounded to the dtype of self, as the tensor cores get them. */
void kernel_weight_int4pack_mm(struct kernel *k)
{
    struct int4_weight w;
    if (!int4_weight_of_call(k, &w))
        return;
    struct kernel_tensor self = tensor_arg(k, "self");
    struct dense x = load_as(k, self, DENSE_REAL);
    struct dense packed = load_as(k, tensor_arg(k, "mat2"), DENSE_INT);
    struct dense scales = load_as(k, tensor_arg(k, "qScaleAndZeros"), DENSE_REAL);
    struct dense b = dense_new(k, DENSE_REAL, (int64_t[]){ w.k, w.n }, 2);
    struct dense c = like_result(k, 0, DENSE_REAL);
    for (int64_t i = 0; !k->failed && i < b.n; i++) {
        const int64_t row = i / w.n, n = i % w.n;
        const struct int4_place at = int4_place(&w, n, row);
        const double value = (double)((uint32_t)packed.u.i[at.word] >> at.shift & 15) - 8;
        const double *scale = scales.u.r + (row / w.group * w.n + n) * 2;
        b.u.r[i] = round_real(self.meta->dtype, value * scale[0] + scale[1]);
    }
    if (!k->failed)
        multiply_batches(k, x.u.r, b.u.r, c.u.r, 1, x.size[0], w.n, w.k);
    store_tensor(k, result(k, 0), c);
}

/* self [n, k / 2] of bytes: of two values the first one is in the upper bits. */
void kernel_convert_weight_to_int4pack(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    struct int4_weight w;
    if (!int4_weight_of(k, to, &w))
        return;
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_INT);
    struct dense packed = like_result(k, 0, DENSE_INT);
    if (!k->failed && (x.size[0] != w.n || x.size[1] * 2 != w.k))
        kernel_fail(k, "its sizes are multiples of 8 and of 8 * innerKTiles");
    for (int64_t i = 0; !k->failed && i < w.n * w.k; i++) {
        const struct int4_place at = int4_place(&w, i / w.k, i % w.k);
        const uint32_t byte = (uint32_t)x.u.i[i / 2], value = i % 2 ? byte & 15 : byte >> 4 & 15;
        const uint32_t word = (uint32_t)packed.u.i[at.word] | value << at.shift;
        packed.u.i[at.word] = (int32_t)word;
    }
    store_tensor(k, to, packed);
}
