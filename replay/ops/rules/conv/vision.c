/* torchvision's operators (torchvision/_meta_registrations.py). */
#include "replay/ops/layout/layout.h"
#include "replay/ops/rules/conv/nms.h"
#include "replay/ops/rules/index/data_dependent.h"

static bool check_rois_dtype(struct call *c, struct tensor a, struct tensor b, const char *name)
{
    return require(c, a.meta->dtype == b.meta->dtype, "RuntimeError",
                   "Expected tensor for %s to have the same type as tensor for rois; but type %s "
                   "does not equal %s",
                   name, dtype_python_name(a.meta->dtype), dtype_python_name(b.meta->dtype));
}

/* The arguments are input, rois, spatial_scale, pooled_height, pooled_width. param is 0 if the
 * result is returned alone, 1 if the positions of the maximum are returned, too, and 2 if the
 * channels are divided among the positions of the pooled region. */
bool rule_roi_pooling(struct call *c)
{
    struct tensor input = arg_tensor(c, 0), rois = arg_tensor(c, 1);
    if (!require(c, rois.meta->ndim == 2 && input.meta->ndim == 4, "RuntimeError",
                 "rois must have shape as Tensor[K, 5]"))
        return false;
    check(c, eq_int(c, rois.meta->size[1], 5), "RuntimeError",
          "rois must have shape as Tensor[K, 5]");
    if (!check_rois_dtype(c, input, rois, "input"))
        return false;
    sym_id height = arg_sym(c, 3), width = arg_sym(c, 4), channels = input.meta->size[1];
    if (c->param == 2) {
        sym_id places = mul(c, height, width);
        check(c, eq_int(c, mod(c, channels, places), 0), "RuntimeError",
              "input channels must be a multiple of pooling height * pooling width");
        channels = floordiv(c, channels, places);
    }
    sym_id size[] = { rois.meta->size[0], channels, height, width };
    struct tensor out[] = {
        new_tensor(c, input.meta->dtype, input.meta->device, size, 4),
        new_tensor(c, DTYPE_I32, input.meta->device, size, 4),
    };
    return c->param ? ret_tensors(c, out, 2) : ret_tensor(c, out[0]);
}

/* The arguments are grad, rois, ..., and from argument `param` on batch_size, channels, height,
 * width. */
bool rule_roi_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    if (!check_rois_dtype(c, grad, arg_tensor(c, 1), "grad"))
        return false;
    sym_id size[4];
    for (uint32_t i = 0; i < 4; i++)
        size[i] = arg_sym(c, (uint32_t)c->param + i);
    return ret_tensor(c, new_tensor(c, grad.meta->dtype, grad.meta->device, size, 4));
}

/* Loads n elements as doubles. Returns false if they are not float32 or float64. */
static bool load_doubles(struct tensor x, int64_t n, double *to)
{
    enum dtype dtype = x.meta->dtype;
    for (int64_t i = 0; i < n && (dtype == DTYPE_F32 || dtype == DTYPE_F64); i++)
        to[i] =
            dtype == DTYPE_F32 ? (double)((const float *)x.data)[i] : ((const double *)x.data)[i];
    return dtype == DTYPE_F32 || dtype == DTYPE_F64;
}

/* Computes how many boxes are kept. Returns false if the values are not known. */
static bool count_kept(struct call *c, struct tensor boxes, struct tensor scores, int64_t *ret)
{
    int64_t n;
    if (!values_known(c, boxes) || !values_known(c, scores) ||
        !sym_to_i64(c->pool, scores.meta->size[0], &n) || n < 0 || n > INT64_MAX / 128)
        return false;
    double *values = scratch(c, (size_t)(5 * n + 1) * sizeof *values);
    int64_t *places = scratch(c, (size_t)(3 * n + 1) * sizeof *places);
    if (!values || !places || !load_doubles(boxes, 4 * n, values) ||
        !load_doubles(scores, n, values + 4 * n))
        return false;
    *ret = nms_keep(values, values + 4 * n, n, arg_double(c, 2), places, places + 2 * n);
    return true;
}

bool rule_nms(struct call *c)
{
    int64_t kept;
    struct tensor boxes = arg_tensor(c, 0), scores = arg_tensor(c, 1);
    if (!require(c, boxes.meta->ndim == 2, "RuntimeError", "boxes should be a 2d tensor, got %uD",
                 boxes.meta->ndim))
        return false;
    check(c, eq_int(c, boxes.meta->size[1], 4), "RuntimeError",
          "boxes should have 4 elements in dimension 1, got %s", sym_text(c, boxes.meta->size[1]));
    if (!require(c, scores.meta->ndim == 1, "RuntimeError", "scores should be a 1d tensor, got %u",
                 scores.meta->ndim))
        return false;
    check(c, eq(c, boxes.meta->size[0], scores.meta->size[0]), "RuntimeError",
          "boxes and scores should have same number of elements in dimension 0, got %s and %s",
          sym_text(c, boxes.meta->size[0]), sym_text(c, scores.meta->size[0]));
    sym_id n = count_kept(c, boxes, scores, &kept) ? num(c, kept)
                                                   : new_unbacked_size(c, SYM_ID_ZERO, SYM_NONE);
    return ret_tensor(c, new_tensor(c, DTYPE_I64, boxes.meta->device, &n, 1));
}

/* The arguments are input, weight, offset, mask, bias, ... */
bool rule_deform_conv(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weight = arg_tensor(c, 1), offset = arg_tensor(c, 2);
    if (!require(c, x.meta->ndim == 4 && weight.meta->ndim == 4 && offset.meta->ndim == 4,
                 "RuntimeError", "deform_conv2d expects tensors of 4 dimensions"))
        return false;
    sym_id size[] = { x.meta->size[0], weight.meta->size[0], offset.meta->size[2],
                      offset.meta->size[3] };
    return ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, size, 4));
}

/* The arguments are grad, input, weight, offset, mask, bias, ... A gradient of each is returned. */
bool rule_deform_conv_backward(struct call *c)
{
    struct tensor out[5];
    for (uint32_t i = 0; i < 5; i++) {
        struct tensor x = arg_tensor(c, i + 1);
        out[i] = new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim);
    }
    return ret_tensors(c, out, 5);
}
