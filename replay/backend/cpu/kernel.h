/* What the CPU's kernels are written with.
 *
 *     void kernel_tril(struct kernel *k)
 *     {
 *         struct dense x = load(k, tensor_arg(k, "self"));
 *         ...
 *         store(k, result(k, 0), x);
 *     }
 *
 * A kernel serves all forms of an operator: functional, in place, out=, whose results' metas say
 * where values go. Arguments are named as the schema names them. Failure is sticky: what is loaded
 * after it has no elements. Arrays live until the call ends.
 *
 * Values are computed in float64 (int64, complex128) in one defined order, and rounded when stored:
 * bit-stable whatever the number of threads. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H

#include "replay/backend/backend.h"
#include "replay/backend/cpu/dense.h"

struct kernel {
    const struct backend_call *call;
    const struct kernel_row *row;
    struct arena arena;
    bool foreach; /* lists among the arguments and results stand for their item `item` */
    uint32_t item;
    bool failed;
    struct err *err;
};

typedef void kernel_fn(struct kernel *k);

/* A row of kernels.def: every overload of one base name. */
struct kernel_row {
    const char *base; /* "add"; in-place forms (add_) and out= forms are its, too */
    kernel_fn *run;
    int param;        /* what tells it from its family */
};
/* By "aten::add_" and the like; NULL: there is none. */
const struct kernel_row *kernel_find(const struct schema *schema);

/* --- Arguments --- */

struct value value_arg(const struct kernel *k, const char *name); /* VALUE_NONE: not given */
bool has_arg(const struct kernel *k, const char *name);           /* given, and not None */
struct tensor tensor_arg(struct kernel *k, const char *name);     /* .meta NULL: None */
int64_t int_arg(const struct kernel *k, const char *name, int64_t otherwise);
double real_arg(const struct kernel *k, const char *name, double otherwise);
cdouble complex_arg(const struct kernel *k, const char *name, cdouble otherwise);
bool bool_arg(const struct kernel *k, const char *name, bool otherwise);
struct str text_arg(const struct kernel *k, const char *name);
uint32_t ints_arg(const struct kernel *k, const char *name, int64_t *ret, uint32_t max);
uint32_t reals_arg(const struct kernel *k, const char *name, double *ret, uint32_t max);
uint32_t list_arg(const struct kernel *k, const char *name, const struct value **items);
/* In [0, ndim); ndim 0 counts as 1. */
uint32_t wrapped_dim(int64_t dim, uint32_t ndim);
/* A bool per dimension: those that `name` lists (int or int[]); all of them where it lists none. */
void dims_arg(const struct kernel *k, const char *name, uint32_t ndim, bool *reduced);

/* Result i: of a tuple or list its item. */
struct tensor result(const struct kernel *k, uint32_t i);
uint32_t n_results(const struct kernel *k);
uint32_t tensor_sizes(const struct kernel *k, struct tensor x, int64_t *size); /* its ndim */
/* Is it on the storage of an argument that the call does not write? Then it is a view: done. */
bool is_view(const struct kernel *k, struct tensor x);

/* --- Arrays --- */

void *room(struct kernel *k, int64_t n, size_t size); /* zeroed; NULL: failed */
struct dense dense_new(struct kernel *k, enum dense_kind kind, const int64_t *size, uint32_t ndim);
/* Of its own kind, or another. */
struct dense load(struct kernel *k, struct tensor x);
struct dense load_as(struct kernel *k, struct tensor x, enum dense_kind kind);
/* A tensor, or a number as a tensor of no dimensions. */
struct dense load_value(struct kernel *k, struct value value, enum dense_kind kind);
/* Expanded to those sizes, which it broadcasts to. */
struct dense dense_broadcast(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim);
/* With dimensions in another order. */
struct dense dense_permute(struct kernel *k, struct dense x, const uint32_t *order);
/* The same elements under other sizes. */
struct dense dense_reshape(struct dense x, const int64_t *size, uint32_t ndim);
struct dense dense_convert(struct kernel *k, struct dense x, enum dense_kind kind);
/* x has the tensor's number of elements. */
void store(struct kernel *k, struct tensor to, struct dense x);

/* The widest kind among the tensors and numbers of the call. */
enum dense_kind kind_of_value(const struct kernel *k, struct value value);

/* Before, at and behind a dimension: x is [outer, n, inner]. */
struct around {
    int64_t outer, n, inner;
};
struct around around_dim(const struct dense *x, uint32_t dim);

/* --- Other operators --- */

/* Runs it; its results stay until the graph is done. VALUE_NONE: failed. */
struct value run_op(struct kernel *k, const char *name, const struct value *args, uint32_t n);
struct tensor run_tensor(struct kernel *k, const char *name, const struct value *args, uint32_t n);
/* The call's own arguments, in the schema's order, behind the first `skip`. */
struct value run_same_args(struct kernel *k, const char *name, uint32_t skip);
/* Elements of `from`, in order, become those of `to`. */
void copy_elements(struct kernel *k, struct tensor from, struct tensor to);
void copy_results(struct kernel *k, struct value from); /* into the call's own */

/* --- Random numbers: PyTorch's distributions, not its values --- */

struct random {
    uint64_t state;
};
struct random random_of(const struct kernel *k);
uint64_t random_bits(struct random *r);
double random_uniform(struct random *r); /* [0, 1) */
double random_normal(struct random *r);

/* ERR_USAGE with the text; sticky. */
void kernel_fail(struct kernel *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* _foreach_add(xs, ys): the row of add, item by item (foreach.c). */
void run_foreach(struct kernel *k);

/* All kernels. */
kernel_fn kernel_point; /* of the rows of pointwise.def */
#define KERNEL(base, run, param) kernel_fn kernel_##run;
#include "replay/backend/cpu/kernels.def"
#undef KERNEL

#endif
