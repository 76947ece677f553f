#include "replay/backend/call/packed_weights.h"

bool int4_weight_of(struct kernel *k, struct kernel_tensor packed, struct int4_weight *ret)
{
    int64_t size[TENSOR_MAX_DIM];
    *ret = (struct int4_weight){ 0 };
    if (k->failed || !packed.meta)
        return false;
    bool ok = tensor_sizes(packed, size) == 4 && size[2] == 32 &&
              (size[3] == 1 || size[3] == 2 || size[3] == 4) && size[0] <= INT32_MAX &&
              size[1] <= INT32_MAX;
    if (!ok) {
        kernel_fail(k,
                    "weights of four bits are [n / 8, k / (16 * tiles), 32, tiles / 2], and tiles "
                    "are 2, 4 or 8");
        return false;
    }
    ret->n = size[0] * 8;
    ret->tiles = size[3] * 2;
    ret->k = size[1] * ret->tiles * 16;
    return true;
}

bool int4_weight_of_call(struct kernel *k, struct int4_weight *ret)
{
    struct kernel_tensor x = tensor_arg(k, "self"), scales = tensor_arg(k, "qScaleAndZeros");
    int64_t size[TENSOR_MAX_DIM], each[TENSOR_MAX_DIM];
    const int64_t group = int_arg(k, "qGroupSize", 0);
    if (!int4_weight_of(k, tensor_arg(k, "mat2"), ret) || !x.meta || !scales.meta)
        return false;
    ret->group = group;
    if (tensor_sizes(x, size) == 2 && size[1] == ret->k && group > 0 && ret->k % group == 0 &&
        tensor_sizes(scales, each) == 3 && each[0] == ret->k / group && each[1] == ret->n &&
        each[2] == 2)
        return true;
    kernel_fail(k,
                "with weights of %lld by %lld, self is [m, %lld], and qScaleAndZeros is [%lld / "
                "group, %lld, 2]; the group is %lld",
                (long long)ret->n, (long long)ret->k, (long long)ret->k, (long long)ret->k,
                (long long)ret->n, (long long)group);
    return false;
}
