/* Convolutions of the fake libcudnn, computed plainly, in double. */
#include <math.h>

#include "tests/cuda/fake_cudnn.h"

enum { PLACES = 3 };

void check_convolution(const struct object *x)
{
    int64_t n = integer(x, CONVOLUTION_DIMS, 0);
    expect(x, CONVOLUTION_COMPUTE, CUDNN_DATA_TYPES, 1);
    expect(x, CONVOLUTION_MODE, CUDNN_CONVOLUTION_MODES, 1);
    expect(x, CONVOLUTION_PADDING_BEFORE, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_PADDING_BEHIND, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_STRIDES, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_DILATIONS, CUDNN_INT64S, n);
    CHECK(integer(x, CONVOLUTION_MODE, 0) == CUDNN_CORRELATE, "mode");
}

int first_of(const struct object *x)
{
    return x->kind == CUDNN_FORWARD         ? FORWARD_ALPHA
           : x->kind == CUDNN_BACKWARD_DATA ? BACKWARD_DATA_ALPHA
                                            : BACKWARD_FILTER_ALPHA;
}

/* The sizes fit together; groups are what the channels say. */
void check_conv_operation(const struct object *x)
{
    int first = first_of(x);
    const struct object *conv = object(x, first + 2, CUDNN_CONVOLUTION_OF);
    const struct object *w = object(x, first + 3, CUDNN_TENSOR);
    const struct object *in = object(x, first + 4, CUDNN_TENSOR);
    const struct object *out = object(x, first + 5, CUDNN_TENSOR);
    int64_t places = integer(conv, CONVOLUTION_DIMS, 0);
    int64_t type = integer(in, TENSOR_TYPE, 0);
    expect(x, first, type == CUDNN_F64 ? CUDNN_DOUBLES : CUDNN_FLOATS, 1);
    expect(x, first + 1, type == CUDNN_F64 ? CUDNN_DOUBLES : CUDNN_FLOATS, 1);
    CHECK(find(x, first)->u.d[0] == 1 && find(x, first + 1)->u.d[0] == 0, "alpha and beta");
    CHECK(integer(w, TENSOR_TYPE, 0) == type && integer(out, TENSOR_TYPE, 0) == type, "types");
    CHECK(find(w, TENSOR_SIZES)->n == places + 2 && find(in, TENSOR_SIZES)->n == places + 2 &&
              find(out, TENSOR_SIZES)->n == places + 2,
          "dimensions");
    CHECK(integer(in, TENSOR_SIZES, 0) == integer(out, TENSOR_SIZES, 0), "batches");
    CHECK(integer(in, TENSOR_SIZES, 1) % integer(w, TENSOR_SIZES, 1) == 0 &&
              integer(out, TENSOR_SIZES, 1) == integer(w, TENSOR_SIZES, 0),
          "channels");
    for (int d = 0; d < places; d++) {
        int64_t reach =
            integer(conv, CONVOLUTION_DILATIONS, d) * (integer(w, TENSOR_SIZES, 2 + d) - 1) + 1;
        int64_t room = integer(in, TENSOR_SIZES, 2 + d) +
                       2 * integer(conv, CONVOLUTION_PADDING_BEFORE, d) - reach;
        CHECK(integer(out, TENSOR_SIZES, 2 + d) == room / integer(conv, CONVOLUTION_STRIDES, d) + 1,
              "place %d", d);
    }
}

/* A plan outlives its operation's descriptors: it keeps copies of them. */
struct kept {
    struct object conv, tensor[3];
    int kind;
};

void *keep_conv(const struct object *operation)
{
    int first = first_of(operation);
    struct kept *kept = calloc(1, sizeof *kept);
    CHECK(kept, "no memory");
    kept->conv = *object(operation, first + 2, CUDNN_CONVOLUTION_OF);
    for (int i = 0; i < 3; i++)
        kept->tensor[i] = *object(operation, first + 3 + i, CUDNN_TENSOR);
    kept->kind = operation->kind;
    return kept;
}

/* ---- Execution ---- */

struct sides {
    const struct kept *k;
    void *p[3]; /* weight, input, output */
    int64_t places;
    bool tf32;
};

static int64_t size_of(const struct sides *s, int i, int d)
{
    return d < s->places + 2 ? integer(&s->k->tensor[i], TENSOR_SIZES, d) : 1;
}

static enum dtype dtype_of(const struct sides *s)
{
    return dtype_of_type(integer(&s->k->tensor[0], TENSOR_TYPE, 0));
}

static double factor(const struct sides *s, int i, int64_t at)
{
    int exponent;
    double x = load_real(dtype_of(s), s->p[i], at);
    if (!s->tf32 || x == 0 || !isfinite(x))
        return x;
    double part = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(part, 11)), exponent - 11);
}

static int64_t offset(const struct sides *s, int i, int64_t a, int64_t b, const int64_t *at)
{
    const struct object *x = &s->k->tensor[i];
    int64_t ret = a * integer(x, TENSOR_STRIDES, 0) + b * integer(x, TENSOR_STRIDES, 1);
    for (int d = 0; d < s->places; d++)
        ret += at[d] * integer(x, TENSOR_STRIDES, 2 + d);
    return ret;
}

static int64_t volume(const struct sides *s, int i)
{
    int64_t n = 1;
    for (int d = 0; d < PLACES; d++)
        n *= size_of(s, i, 2 + d);
    return n;
}

static void split(const struct sides *s, int i, int64_t index, int64_t *at)
{
    for (int d = PLACES; d-- > 0; index /= size_of(s, i, 2 + d))
        at[d] = index % size_of(s, i, 2 + d);
}

/* Adds a pair's product to the element of the result: sums in double beside the tensor. */
static void pair(const struct sides *s, int to, const int64_t *at, double *sum)
{
    int a = to == 0 ? 1 : 0, b = to == 2 ? 1 : 2;
    sum[at[to]] += factor(s, a, at[a]) * factor(s, b, at[b]);
}

static void walk(const struct sides *s, int to, double *sum)
{
    int64_t out_channels = size_of(s, 0, 0), in_group = size_of(s, 0, 1);
    int64_t groups = size_of(s, 1, 1) / in_group, out_group = out_channels / groups;
    int64_t n_out = volume(s, 2), window = volume(s, 0), o[PLACES], w[PLACES], i[PLACES];
    for (int64_t e = 0; e < size_of(s, 2, 0) * out_channels * n_out; e++) {
        int64_t batch = e / n_out / out_channels, oc = e / n_out % out_channels;
        split(s, 2, e % n_out, o);
        for (int64_t t = 0; t < in_group * window; t++) {
            int64_t ic = t / window, inside = 1;
            split(s, 0, t % window, w);
            for (int d = 0; d < s->places; d++) {
                i[d] = o[d] * integer(&s->k->conv, CONVOLUTION_STRIDES, d) -
                       integer(&s->k->conv, CONVOLUTION_PADDING_BEFORE, d) +
                       w[d] * integer(&s->k->conv, CONVOLUTION_DILATIONS, d);
                inside &= i[d] >= 0 && i[d] < size_of(s, 1, 2 + d);
            }
            const int64_t at[] = { offset(s, 0, oc, ic, w),
                                   offset(s, 1, batch, oc / out_group * in_group + ic, i),
                                   offset(s, 2, batch, oc, o) };
            if (inside)
                pair(s, to, at, sum);
        }
    }
}

void run_conv(const void *kept, const struct object *pack, bool tf32)
{
    struct sides s = { .k = kept };
    s.places = integer(&s.k->conv, CONVOLUTION_DIMS, 0);
    s.tf32 = tf32 && dtype_of(&s) == DTYPE_F32;
    for (int i = 0; i < 3; i++) {
        int64_t alignment = integer(&s.k->tensor[i], TENSOR_ALIGNMENT, 0);
        s.p[i] = pointer_of(pack, integer(&s.k->tensor[i], TENSOR_ID, 0));
        CHECK(s.p[i], "no pointer of tensor %d", i);
        CHECK((uintptr_t)s.p[i] % (uintptr_t)alignment == 0, "alignment of tensor %d", i);
    }
    int to = s.k->kind == CUDNN_FORWARD ? 2 : s.k->kind == CUDNN_BACKWARD_DATA ? 1 : 0;
    int64_t n = size_of(&s, to, 0) * size_of(&s, to, 1) * volume(&s, to);
    double *sum = calloc((size_t)n, sizeof *sum);
    CHECK(sum, "no memory");
    walk(&s, to, sum);
    for (int64_t i = 0; i < n; i++)
        store_real(dtype_of(&s), s.p[to], i, sum[i]);
    free(sum);
}
