/* Values that a program passes to a compiled function, as far as guards read them. */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_PY_VALUE_H
#define SYMTAPE_PROFILE_CALLS_VALUES_PY_VALUE_H

#include "trace/base/str.h"

enum py_kind {
    PY_UNKNOWN, /* nothing is said about it, so it is as it was when an entry was compiled */
    PY_MISSING, /* there is no such value: a key that a dict lacks, an attribute of None */
    PY_NONE,
    PY_BOOL,   /* integer is 0 or 1 */
    PY_INT,    /* integer */
    PY_FLOAT,  /* real */
    PY_STR,    /* text */
    PY_LIST,   /* a list or tuple, n elements */
    PY_DICT,   /* n keys */
    PY_TENSOR, /* tensor */
    PY_OBJECT, /* a function, a module, anything else */
};

/* What mark_dynamic() and its relatives left on a tensor, and the attribute that holds it. */
#define TENSOR_MARKS(MARK)                                                      \
    MARK(DYNAMIC, "dynamic", "_dynamo_dynamic_indices")                         \
    MARK(WEAK, "weak_dynamic", "_dynamo_weak_dynamic_indices")                  \
    MARK(UNBACKED, "unbacked", "_dynamo_unbacked_indices")                      \
    MARK(STRICT_UNBACKED, "strict_unbacked", "_dynamo_strict_unbacked_indices") \
    MARK(STATIC, "static", "_dynamo_static_indices")
enum tensor_mark {
#define MARK(id, name, attribute) TENSOR_MARK_##id,
    TENSOR_MARKS(MARK)
#undef MARK
        TENSOR_MARK_COUNT
};

struct tensor_value {
    struct str dtype, device; /* "torch.float32", "cpu" */
    uint32_t n_dims;
    const int64_t *sizes, *strides; /* n_dims of each */
    int64_t offset;                 /* in its storage; -1 if it is not told */
    bool requires_grad;
    bool made_in_inference; /* in inference mode, as the list states it */
    bool plain;             /* contiguous and at the start of its storage, so hardly a view */
    uint64_t marks[TENSOR_MARK_COUNT]; /* bit d: dimension d is marked */
};

/* Tensor.is_contiguous(): a dimension of size 1 has any stride, and so has an empty tensor. */
bool tensor_is_contiguous(const struct tensor_value *tensor);

#define OBJECT_NONE UINT32_MAX

struct py_value {
    enum py_kind kind;
    struct str type; /* the name of its class, "int" or "Linear"; "" if it is not told */
    struct str text;
    int64_t integer;
    double real;
    uint32_t object; /* its identity: equal numbers mean the same object; or OBJECT_NONE */
    bool inference;  /* the object was made in inference mode */
    bool nn_module;  /* the object is a torch.nn.Module; false if it is not told */
    uint32_t n;
    const struct str *keys;
    const struct tensor_value *tensor;
};

/* Returns whether a type is "set" or "frozenset". A set among the values of a call is a PY_DICT,
 * and one that a guard has as a constant a PY_OBJECT, whose text is what stands between the braces.
 */
bool py_is_set_type(struct str type);

/* Returns whether both are equal in Python, the identity of tensors and objects included. */
bool py_equal(const struct py_value *a, const struct py_value *b);

#endif
