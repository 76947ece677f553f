#include "replay/ops/layout/layout.h"

#include <string.h>

static const char *const scalar_names[DTYPE_COUNT] = {
    [DTYPE_NONE] = "Undefined",
    [DTYPE_F64] = "Double",
    [DTYPE_F32] = "Float",
    [DTYPE_F16] = "Half",
    [DTYPE_BF16] = "BFloat16",
    [DTYPE_F8E4M3FN] = "Float8_e4m3fn",
    [DTYPE_F8E5M2] = "Float8_e5m2",
    [DTYPE_F8E4M3FNUZ] = "Float8_e4m3fnuz",
    [DTYPE_F8E5M2FNUZ] = "Float8_e5m2fnuz",
    [DTYPE_F8E8M0FNU] = "Float8_e8m0fnu",
    [DTYPE_F4E2M1FNX2] = "Float4_e2m1fn_x2",
    [DTYPE_C32] = "ComplexHalf",
    [DTYPE_C64] = "ComplexFloat",
    [DTYPE_C128] = "ComplexDouble",
    [DTYPE_I8] = "Char",
    [DTYPE_I16] = "Short",
    [DTYPE_I32] = "Int",
    [DTYPE_I64] = "Long",
    [DTYPE_B8] = "Bool",
    [DTYPE_U8] = "Byte",
    [DTYPE_U16] = "UInt16",
    [DTYPE_U32] = "UInt32",
    [DTYPE_U64] = "UInt64",
    [DTYPE_B16] = "Bits16",
    [DTYPE_B16X1] = "Bits16",
    [DTYPE_B8X1] = "Bits8",
    [DTYPE_B4X2] = "Bits4x2",
    [DTYPE_B2X4] = "Bits2x4",
    [DTYPE_B1X8] = "Bits1x8",
};

const char *dtype_scalar_name(enum dtype dtype)
{
    return dtype < DTYPE_COUNT ? scalar_names[dtype] : scalar_names[DTYPE_NONE];
}

const char *dtype_cpp_name(enum dtype dtype)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_F64] = "double",
        [DTYPE_F32] = "float",
        [DTYPE_F16] = "c10::Half",
        [DTYPE_BF16] = "c10::BFloat16",
        [DTYPE_F8E4M3FN] = "c10::Float8_e4m3fn",
        [DTYPE_F8E5M2] = "c10::Float8_e5m2",
        [DTYPE_C32] = "c10::complex<c10::Half>",
        [DTYPE_C64] = "c10::complex<float>",
        [DTYPE_C128] = "c10::complex<double>",
        [DTYPE_I8] = "signed char",
        [DTYPE_I16] = "short int",
        [DTYPE_I32] = "int",
        [DTYPE_I64] = "long int",
        [DTYPE_B8] = "bool",
        [DTYPE_U8] = "unsigned char",
        [DTYPE_U16] = "short unsigned int",
        [DTYPE_U32] = "unsigned int",
        [DTYPE_U64] = "long unsigned int",
    };
    return dtype < DTYPE_COUNT && names[dtype] ? names[dtype] : dtype_scalar_name(dtype);
}

static bool is_float8_dtype(enum dtype dtype)
{
    return dtype >= DTYPE_F8E4M3FN && dtype <= DTYPE_F8E8M0FNU;
}

bool dtype_is_float(enum dtype dtype)
{
    return dtype >= DTYPE_F64 && dtype <= DTYPE_F4E2M1FNX2;
}

bool dtype_is_complex(enum dtype dtype)
{
    return dtype == DTYPE_C32 || dtype == DTYPE_C64 || dtype == DTYPE_C128;
}

static bool is_wide_unsigned(enum dtype dtype)
{
    return dtype == DTYPE_U16 || dtype == DTYPE_U32 || dtype == DTYPE_U64;
}

bool dtype_is_integer(enum dtype dtype)
{
    return (dtype >= DTYPE_I8 && dtype <= DTYPE_I64) || dtype == DTYPE_U8 ||
           is_wide_unsigned(dtype);
}

enum dtype dtype_real(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_C32: return DTYPE_F16;
    case DTYPE_C64: return DTYPE_F32;
    case DTYPE_C128: return DTYPE_F64;
    default: return dtype;
    }
}

enum dtype dtype_complex(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F16: return DTYPE_C32;
    case DTYPE_BF16:
    case DTYPE_F32: return DTYPE_C64;
    case DTYPE_F64: return DTYPE_C128;
    default: return dtype;
    }
}

/* Returns the wider of two of f16, bf16, f32, f64 (for complex dtypes, of their dtype_real). */
static enum dtype wider_float(enum dtype a, enum dtype b)
{
    if (a == b)
        return a;
    if (a == DTYPE_F64 || b == DTYPE_F64)
        return DTYPE_F64;
    return DTYPE_F32; /* for f16 with bf16, or either with f32 */
}

static bool is_plain_float(enum dtype dtype)
{
    return dtype >= DTYPE_F64 && dtype <= DTYPE_BF16;
}

static enum dtype promote_complex(enum dtype a, enum dtype b)
{
    if (is_wide_unsigned(a) || is_wide_unsigned(b))
        return DTYPE_NONE;
    if (!dtype_is_complex(a)) {
        enum dtype swap = a;
        a = b;
        b = swap;
    }
    if (!dtype_is_complex(b) && !is_plain_float(b))
        return a;
    return dtype_complex(wider_float(dtype_real(a), dtype_real(b)));
}

static enum dtype promote_integers(enum dtype a, enum dtype b)
{
    if (is_wide_unsigned(a) || is_wide_unsigned(b))
        return DTYPE_NONE;
    if (a == DTYPE_B8)
        return b;
    if (b == DTYPE_B8)
        return a;
    if (a == DTYPE_U8 || b == DTYPE_U8) {
        enum dtype sign = a == DTYPE_U8 ? b : a;
        return sign == DTYPE_I8 ? DTYPE_I16 : sign;
    }
    return a > b ? a : b;
}

enum dtype promote(enum dtype a, enum dtype b)
{
    if (a == b)
        return a;
    bool number_a =
        is_plain_float(a) || dtype_is_complex(a) || dtype_is_integer(a) || a == DTYPE_B8;
    bool number_b =
        is_plain_float(b) || dtype_is_complex(b) || dtype_is_integer(b) || b == DTYPE_B8;
    if (!number_a || !number_b)
        return DTYPE_NONE;
    if (dtype_is_complex(a) || dtype_is_complex(b))
        return promote_complex(a, b);
    if (is_plain_float(a) && is_plain_float(b))
        return wider_float(a, b);
    if (is_plain_float(a) || is_plain_float(b))
        return is_plain_float(a) ? a : b;
    return promote_integers(a, b);
}

enum dtype promote_or_refuse(struct call *c, enum dtype a, enum dtype b)
{
    enum dtype ret = promote(a, b);
    if (ret != DTYPE_NONE || a == DTYPE_NONE || b == DTYPE_NONE || c->failed)
        return ret;
    const char *name_a = dtype_scalar_name(a), *name_b = dtype_scalar_name(b);
    if (is_float8_dtype(a) || is_float8_dtype(b))
        refuse(c, "RuntimeError",
               "Promotion for Float8 Types is not supported, attempted to promote %s and %s",
               name_a, name_b);
    else if (is_wide_unsigned(a) || is_wide_unsigned(b))
        refuse(c, "RuntimeError",
               "Promotion for uint16, uint32, uint64 types is not supported, attempted to "
               "promote %s and %s",
               name_a, name_b);
    else
        refuse(c, "RuntimeError", "Promotion from %s and %s is unsupported.", name_a, name_b);
    return DTYPE_NONE;
}

/* --- elementwise_dtypes --- */

enum number_class { CLASS_BOOL, CLASS_INT, CLASS_FLOAT, CLASS_COMPLEX };

static enum number_class class_of_dtype(enum dtype dtype)
{
    if (dtype == DTYPE_B8)
        return CLASS_BOOL;
    if (dtype_is_float(dtype))
        return CLASS_FLOAT;
    return dtype_is_complex(dtype) ? CLASS_COMPLEX : CLASS_INT;
}

static enum number_class value_class(struct value value)
{
    switch (value.kind) {
    case VALUE_TENSOR: return class_of_dtype(value.u.tensor.meta->dtype);
    case VALUE_INT: return CLASS_INT;
    case VALUE_FLOAT: return CLASS_FLOAT;
    case VALUE_COMPLEX: return CLASS_COMPLEX;
    default: return CLASS_BOOL;
    }
}

/* Returns the rank in get_higher_dtype's order; 0 for dtypes that are not in it. */
static unsigned dtype_rank(enum dtype dtype)
{
    static const uint8_t ranks[DTYPE_COUNT] = {
        [DTYPE_B8] = 1,  [DTYPE_U8] = 2,   [DTYPE_I8] = 2,    [DTYPE_I16] = 3, [DTYPE_I32] = 4,
        [DTYPE_I64] = 5, [DTYPE_F16] = 6,  [DTYPE_BF16] = 6,  [DTYPE_F32] = 7, [DTYPE_F64] = 8,
        [DTYPE_C32] = 9, [DTYPE_C64] = 10, [DTYPE_C128] = 11,
    };
    return ranks[dtype];
}

static enum dtype higher(struct call *c, enum dtype a, enum dtype b)
{
    if (a == b || b == DTYPE_NONE)
        return a;
    if (a == DTYPE_NONE)
        return b;
    unsigned rank_a = dtype_rank(a), rank_b = dtype_rank(b);
    if (!rank_a && !rank_b) {
        refuse(c, "RuntimeError", "Unexpected termination!");
        return DTYPE_NONE;
    }
    /* PyTorch walks the order upwards: a dtype in it loses against one that is not. */
    if (!rank_a || !rank_b)
        return rank_a ? b : a;
    if (rank_a == rank_b)
        return rank_a == 2 ? DTYPE_I16 : DTYPE_F32;
    return rank_a < rank_b ? b : a;
}

/* Returns the highest dtype of the tensors in a class; those with dimensions precede those
 * without. */
static enum dtype highest_tensor(struct call *c, const struct value *values, uint32_t n,
                                 enum number_class class_)
{
    enum dtype zero_dim = DTYPE_NONE, with_dims = DTYPE_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].kind != VALUE_TENSOR)
            continue;
        const struct tensor_meta *meta = values[i].u.tensor.meta;
        enum dtype dtype = meta->dtype;
        enum number_class own = class_of_dtype(dtype);
        if (own != class_ && !(class_ == CLASS_COMPLEX && own == CLASS_FLOAT))
            continue;
        if (class_ == CLASS_COMPLEX)
            dtype = dtype_complex(dtype);
        enum dtype *which = meta->ndim ? &with_dims : &zero_dim;
        *which = higher(c, *which, dtype);
    }
    return with_dims != DTYPE_NONE ? with_dims : zero_dim;
}

static enum dtype default_of(enum number_class class_)
{
    static const enum dtype defaults[] = { DTYPE_B8, DTYPE_I64, DTYPE_F32, DTYPE_C64 };
    return defaults[class_];
}

enum dtype computation_dtype(enum dtype dtype)
{
    if (dtype == DTYPE_BF16 || dtype == DTYPE_F16)
        return DTYPE_F32;
    return dtype == DTYPE_C32 ? DTYPE_C64 : dtype;
}

void elementwise_dtypes(struct call *c, const struct value *values, uint32_t n,
                        enum promotion promotion, enum dtype *computation, enum dtype *result)
{
    enum number_class class_ = CLASS_BOOL;
    for (uint32_t i = 0; i < n; i++)
        if (value_class(values[i]) > class_)
            class_ = value_class(values[i]);
    enum dtype out = class_ == CLASS_BOOL ? DTYPE_B8 : highest_tensor(c, values, n, class_);
    if (out == DTYPE_NONE)
        out = default_of(class_);
    bool whole = class_ == CLASS_BOOL || class_ == CLASS_INT;
    if (promotion == PROMOTE_INT_TO_FLOAT && whole)
        out = DTYPE_F32;
    if (promotion == PROMOTE_BOOL_TO_LONG && out == DTYPE_B8)
        out = DTYPE_I64;
    enum dtype compute = promotion == PROMOTE_NONE ? out : computation_dtype(out);
    if (promotion == PROMOTE_COMPLEX_TO_FLOAT)
        out = dtype_real(out);
    if (promotion == PROMOTE_ALWAYS_BOOL)
        out = DTYPE_B8;
    if (computation)
        *computation = compute;
    if (result)
        *result = out;
}

/* --- Devices --- */

static const char *printed_device(struct call *c, struct device device)
{
    struct buf buf = BUF_INIT;
    device_print(device, &buf);
    struct str text = buf_str(&buf);
    char *ret = scratch(c, text.n + 1);
    if (ret) {
        if (text.n)
            memcpy(ret, text.p, text.n);
        ret[text.n] = '\0';
    }
    buf_release(&buf);
    return ret ? ret : "";
}

struct device common_device(struct call *c, const struct tensor *x, uint32_t n)
{
    struct device common = { DEVICE_NONE, -1 };
    bool zero_dim_cpu = false;
    struct str name = op_name(c->op);
    bool yields = !str_is(name, "aten.nextafter.default");
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (!x[i].meta)
            continue;
        const struct tensor_meta *meta = x[i].meta;
        bool own_zero_dim_cpu = meta->device.type == DEVICE_CPU && meta->ndim == 0;
        if (common.type == DEVICE_NONE ||
            (zero_dim_cpu && yields && !device_equal(meta->device, common))) {
            common = meta->device;
            zero_dim_cpu = own_zero_dim_cpu;
        } else if (device_equal(meta->device, common)) {
            zero_dim_cpu = zero_dim_cpu && own_zero_dim_cpu;
        } else if (!own_zero_dim_cpu || !yields) {
            refuse(c, "RuntimeError",
                   "Unhandled FakeTensor Device Propagation for %.*s, found two different devices "
                   "%s, %s",
                   STR_ARG(name), printed_device(c, common), printed_device(c, meta->device));
        }
    }
    return common;
}

enum dtype dtype_of_c10(int64_t number)
{
    static const enum dtype dtypes[] = {
        [0] = DTYPE_U8,          [1] = DTYPE_I8,          [2] = DTYPE_I16,
        [3] = DTYPE_I32,         [4] = DTYPE_I64,         [5] = DTYPE_F16,
        [6] = DTYPE_F32,         [7] = DTYPE_F64,         [8] = DTYPE_C32,
        [9] = DTYPE_C64,         [10] = DTYPE_C128,       [11] = DTYPE_B8,
        [15] = DTYPE_BF16,       [23] = DTYPE_F8E5M2,     [24] = DTYPE_F8E4M3FN,
        [25] = DTYPE_F8E5M2FNUZ, [26] = DTYPE_F8E4M3FNUZ, [27] = DTYPE_U16,
        [28] = DTYPE_U32,        [29] = DTYPE_U64,
    };
    bool known = number >= 0 && (size_t)number < sizeof(dtypes) / sizeof(dtypes[0]);
    return known ? dtypes[number] : DTYPE_NONE;
}
