/* Arguments and results of calls: tensors without data, symbolic numbers, lists of them.
 *
 * A tensor is its meta, which is interned (equal metas are one pointer, for as long as the
 * operators' context lives), and the number of its storage: equal numbers share memory. Values
 * are small and passed by value; the arrays to which they point belong to the context's arena. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_VALUE_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_VALUE_H

#include "replay/shape/expr/sym.h"
#include "trace/graph/graph.h"

enum device_type {
    DEVICE_NONE, /* not known */
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_META,
    DEVICE_OTHER /* mps, xpu ...: only its index is stored */
};

struct device {
    enum device_type type;
    int32_t index; /* -1 for none, as in "cpu" */
};

enum layout { LAYOUT_STRIDED, LAYOUT_SPARSE, LAYOUT_JAGGED, LAYOUT_OTHER };

enum memory_format {
    FORMAT_CONTIGUOUS,
    FORMAT_PRESERVE,
    FORMAT_CHANNELS_LAST,
    FORMAT_CHANNELS_LAST_3D
};

struct tensor_meta {
    enum dtype dtype;
    enum layout layout;
    struct device device;
    uint32_t id; /* dense, from 0, in the order of first use */
    uint32_t ndim;
    const sym_id *size, *stride; /* ndim elements each; integers or expressions */
    sym_id offset;               /* storage_offset() */
    bool requires_grad, conj, neg;
};

/* Storages are numbered from 0 by the context; a rule's new tensor has STORAGE_FRESH until the
 * dispatcher numbers it. */
#define STORAGE_FRESH UINT32_MAX

struct tensor {
    const struct tensor_meta *meta; /* NULL for None, where Tensor? is allowed */
    uint32_t storage;
    /* data has no elements but an int64_t, the result that the operator's rule would compute from
     * the elements (how many are not zero, how many differ, their sum, the greatest). */
    bool counted;
    /* empty() made it in a channels last format, so that C++ knows its format without asking
     * (TensorImpl::empty_tensor_restride_symint of c10/core/TensorImpl.cpp). No other tensor of its
     * meta has this: PyTorch's cache makes the results of a hit by their strides. */
    bool channels_last;
    bool contiguous;  /* the same with contiguous strides */
    bool cached_view; /* PyTorch's cache made it (layout/cached_views.h) */
    /* Of a tensor that vmap batches, its number, from 1, in ops.batched (context.h); 0: of others.
     */
    uint16_t batch;
    /* The elements in contiguous order, little endian, if they are known and an operator reads them
     * (a size in a tensor, a mask), or NULL. They are never part of the meta. */
    const unsigned char *data;
};

enum value_kind {
    VALUE_NONE, /* Python's None, and an optional argument that was not passed */
    VALUE_TENSOR,
    VALUE_INT,   /* sym: a number, or an expression of a SymInt */
    VALUE_FLOAT, /* sym: SYM_FLOAT, or an expression of a SymFloat */
    VALUE_BOOL,  /* sym: a boolean, or a condition of a SymBool */
    VALUE_COMPLEX,
    VALUE_STRING,
    VALUE_DTYPE,
    VALUE_LAYOUT,
    VALUE_MEMORY_FORMAT,
    VALUE_DEVICE,
    VALUE_LIST,
    VALUE_TUPLE, /* also torch.Size */
    VALUE_DICT,  /* items are key, value, key, value ... */
    VALUE_SLICE, /* three items */
    VALUE_ELLIPSIS,
    VALUE_FUNCTION, /* a target as an argument: text */
    VALUE_GRAPH,    /* a subgraph; text is its name among the children */
    VALUE_OPAQUE    /* anything else; text is its repr */
};

struct value {
    enum value_kind kind;
    uint32_t n; /* number of items */
    union {
        struct tensor tensor;
        sym_id sym;
        struct {
            double re, im;
        } complex;
        struct str text;
        enum dtype dtype;
        enum layout layout;
        enum memory_format memory_format;
        struct device device;
        const struct value *items;
    } u;
};

static inline struct value value_none(void)
{
    return (struct value){ .kind = VALUE_NONE };
}
static inline struct value value_tensor(struct tensor tensor)
{
    return tensor.meta ? (struct value){ .kind = VALUE_TENSOR, .u.tensor = tensor } : value_none();
}
static inline struct value value_sym(enum value_kind kind, sym_id sym)
{
    return (struct value){ .kind = kind, .u.sym = sym };
}
static inline struct value value_int(sym_id sym)
{
    return value_sym(VALUE_INT, sym);
}
static inline struct value value_items(enum value_kind kind, const struct value *items, uint32_t n)
{
    return (struct value){ .kind = kind, .n = n, .u.items = items };
}
static inline bool value_is_tensor(struct value value)
{
    return value.kind == VALUE_TENSOR;
}
static inline bool value_is_number(struct value value) /* int, float or bool, symbolic or not */
{
    return value.kind == VALUE_INT || value.kind == VALUE_FLOAT || value.kind == VALUE_BOOL;
}

/* Prints "f32[s77, 64][64, 1]cuda:0" as print_readable() does, "Sym(s77)", "(f32[2][1]cpu, 3)". */
void value_print(struct sym_pool *pool, struct value value, struct buf *out);
void device_print(struct device device, struct buf *out); /* "cuda:0" */
bool device_parse(struct str text, struct device *ret);   /* false: the text names no device */

static inline bool device_equal(struct device a, struct device b)
{
    return a.type == b.type && a.index == b.index;
}

static inline bool value_is_sequence(struct value value)
{
    return value.kind == VALUE_LIST || value.kind == VALUE_TUPLE;
}

#endif
