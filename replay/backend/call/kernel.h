/* The functions that kernels of all backends use: they return a call's arguments by their names and
 * its results, and run other operators.
 *
 * A kernel serves all forms of an operator: functional, in place and out=. The metas of its results
 * say where the values are written. Arguments have the names of the schema. Failure is sticky:
 * functions called after it return nothing. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CALL_KERNEL_H

#include "replay/backend/call/backend.h"
#include "replay/backend/values/elements.h"
#include "trace/base/arena.h"

struct kernel_row;

struct kernel {
    const struct backend_call *call;
    const struct kernel_row *row;
    struct arena arena; /* until the call ends */
    bool foreach;       /* arguments and results that are lists stand for their item `item` */
    uint32_t item;
    bool failed;
    struct err *err;
};

typedef void kernel_fn(struct kernel *k);

/* A row of a backend's table: it serves every overload of one base name. */
struct kernel_row {
    const char *base; /* "add"; in-place forms (add_) and out= forms are its, too */
    kernel_fn *run;
    int param; /* distinguishes the operator from others with the same function */
};
/* The rows, hashed by their bases; of rows with equal bases the first counts. */
enum { KERNEL_SLOTS = 4096, KERNEL_MOST_ROWS = KERNEL_SLOTS / 2 };
struct kernel_table {
    const struct kernel_row *rows;
    uint16_t slots[KERNEL_SLOTS]; /* the row's number plus 1 */
};
void kernel_table_make(struct kernel_table *table, const struct kernel_row *rows, size_t n);
/* Returns the row for "aten::add_" and similar names: add_ uses the row of add unless it has its
 * own, and _foreach_add uses that of add. NULL: there is none. */
const struct kernel_row *kernel_row_find(const struct kernel_table *table, struct str base);

/* Fails the call with ERR_USAGE and the text. Failure is sticky. */
void kernel_fail(struct kernel *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the number of items of a _foreach_ call: those of its first list, which `self` need not
 * be
 * (_foreach_pow.ScalarAndTensor). */
uint32_t foreach_items(const struct backend_call *call);
/* Runs _foreach_add(xs, ys) and similar operators with the row of add, item by item. */
void run_foreach(struct kernel *k);

/* --- Arguments --- */

struct kernel_value value_arg(const struct kernel *k,
                              const char *name);                     /* KERNEL_NONE: not given */
bool has_arg(const struct kernel *k, const char *name);              /* given, and not None */
struct kernel_tensor tensor_arg(struct kernel *k, const char *name); /* .meta NULL: None */
int64_t int_arg(const struct kernel *k, const char *name, int64_t otherwise);
/* Return the value of an int, float or bool, or the real part of a complex number. */
int64_t number_as_int(struct kernel_value v, int64_t otherwise);
double number_as_real(struct kernel_value v, double otherwise);
double real_arg(const struct kernel *k, const char *name, double otherwise);
cdouble complex_arg(const struct kernel *k, const char *name, cdouble otherwise);
bool bool_arg(const struct kernel *k, const char *name, bool otherwise);
struct str text_arg(const struct kernel *k, const char *name);
uint32_t ints_arg(const struct kernel *k, const char *name, int64_t *ret, uint32_t max);
/* Reads a list with one int for each of `dims` dimensions, or one for all of them; an empty list
 * stands for `otherwise`. */
void ints_per_dim(const struct kernel *k, const char *name, uint32_t dims, int64_t *ret,
                  int64_t otherwise);
uint32_t reals_arg(const struct kernel *k, const char *name, double *ret, uint32_t max);
uint32_t list_arg(const struct kernel *k, const char *name, const struct kernel_value **items);
/* Returns the dimension in [0, ndim); ndim 0 counts as 1. */
uint32_t wrapped_dim(int64_t dim, uint32_t ndim);
/* Sets a bool per dimension: true for those that `name` lists (int or int[]), or for all of them if
 * the list is empty. */
void dims_arg(const struct kernel *k, const char *name, uint32_t ndim, bool *reduced);

/* Returns result i, or item i of a result that is a tuple or list. */
struct kernel_tensor result(const struct kernel *k, uint32_t i);
uint32_t n_results(const struct kernel *k);
uint32_t tensor_sizes(struct kernel_tensor x, int64_t *size); /* returns its ndim */
/* Returns whether x is on the storage of an argument that the call does not write. Then it is a
 * view, and there is nothing to compute. */
bool is_view(const struct kernel *k, struct kernel_tensor x);

/* Returns whether something is left to compute: a result that is no view of an argument. */
bool kernel_computes(const struct kernel *k);
void *workspace(struct kernel *k, int64_t n, size_t size); /* zeroed; NULL: out of memory */

/* --- Other operators --- */

/* Runs the operator; its results are kept until the graph is done. KERNEL_NONE: failed. */
struct kernel_value run_op(struct kernel *k, const char *name, const struct kernel_value *args,
                           uint32_t n);
struct kernel_tensor run_tensor(struct kernel *k, const char *name, const struct kernel_value *args,
                                uint32_t n);
/* Runs the operator with the call's own arguments, in the schema's order, without the first
 * `skip`. */
struct kernel_value run_same_args(struct kernel *k, const char *name, uint32_t skip);
/* Runs the operator with `to` as its result, whose memory exists. The rule is not evaluated. */
void run_into(struct kernel *k, const char *name, const struct kernel_value *args, uint32_t n,
              struct kernel_value to);

/* --- Views --- */

bool tensor_strides(struct kernel_tensor x, int64_t *stride); /* in elements */
/* Returns a view of x's storage from x's offset on, with other sizes and strides. .meta NULL:
 * failed. */
struct kernel_tensor strided_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                  const int64_t *stride, uint32_t ndim);
/* Returns n elements of dimension `dim` from `start` on. If n is 0 it drops the dimension, as x[..,
 * start, ..] does. */
struct kernel_tensor narrowed(struct kernel *k, struct kernel_tensor x, uint32_t dim, int64_t start,
                              int64_t n);
/* Returns x's elements in order under other sizes, without a copy; .meta NULL: a copy is needed. */
struct kernel_tensor reshaped_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                   uint32_t ndim);
/* Does the same, with a copy where one is needed. */
struct kernel_tensor reshaped(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                              uint32_t ndim);

/* Copies the elements of `from`, in order, to those of `to`; both have the same number. */
void copy_elements(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to);
void copy_results(struct kernel *k,
                  struct kernel_value from); /* copies into the call's own results */
void zero_elements(struct kernel *k, struct kernel_tensor x);
struct kernel_value value_of_ints(struct kernel *k, const int64_t *x, uint32_t n); /* a list */

/* Operators that all backends implement with others (replay/backend/call/composite.def). */
#define BACKEND_COMPOSITE(base, run, param) kernel_fn composite_##run;
#include "replay/backend/call/composite.def"
#undef BACKEND_COMPOSITE

#endif
