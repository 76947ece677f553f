/* What the kernels of every backend are written with: a call's arguments by their names, its
 * results, and other operators.
 *
 * A kernel serves all forms of an operator: functional, in place, out=, whose results' metas say
 * where values go. Arguments are named as the schema names them. Failure is sticky: what is asked
 * for after it is nothing. */
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
    bool foreach;       /* lists among the arguments and results stand for their item `item` */
    uint32_t item;
    bool failed;
    struct err *err;
};

typedef void kernel_fn(struct kernel *k);

/* A row of a backend's table: every overload of one base name. */
struct kernel_row {
    const char *base; /* "add"; in-place forms (add_) and out= forms are its, too */
    kernel_fn *run;
    int param; /* what tells it from its family */
};
/* Rows by their bases; of equal ones the first counts. */
enum { KERNEL_SLOTS = 4096, KERNEL_MOST_ROWS = KERNEL_SLOTS / 2 };
struct kernel_table {
    const struct kernel_row *rows;
    uint16_t slots[KERNEL_SLOTS]; /* the row's number and 1 */
};
void kernel_table_make(struct kernel_table *table, const struct kernel_row *rows, size_t n);
/* The row of "aten::add_" and the like: add_ goes by add unless it has one of its own, _foreach_add
 * by add. NULL: there is none. */
const struct kernel_row *kernel_row_find(const struct kernel_table *table, struct str base);

/* ERR_USAGE with the text; sticky. */
void kernel_fail(struct kernel *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* _foreach_add(xs, ys): the row of add, item by item. */
void run_foreach(struct kernel *k);

/* --- Arguments --- */

struct kernel_value value_arg(const struct kernel *k,
                              const char *name);                     /* KERNEL_NONE: not given */
bool has_arg(const struct kernel *k, const char *name);              /* given, and not None */
struct kernel_tensor tensor_arg(struct kernel *k, const char *name); /* .meta NULL: None */
int64_t int_arg(const struct kernel *k, const char *name, int64_t otherwise);
/* Of a number or bool; a complex's real part. */
int64_t number_as_int(struct kernel_value v, int64_t otherwise);
double number_as_real(struct kernel_value v, double otherwise);
double real_arg(const struct kernel *k, const char *name, double otherwise);
cdouble complex_arg(const struct kernel *k, const char *name, cdouble otherwise);
bool bool_arg(const struct kernel *k, const char *name, bool otherwise);
struct str text_arg(const struct kernel *k, const char *name);
uint32_t ints_arg(const struct kernel *k, const char *name, int64_t *ret, uint32_t max);
uint32_t reals_arg(const struct kernel *k, const char *name, double *ret, uint32_t max);
uint32_t list_arg(const struct kernel *k, const char *name, const struct kernel_value **items);
/* In [0, ndim); ndim 0 counts as 1. */
uint32_t wrapped_dim(int64_t dim, uint32_t ndim);
/* A bool per dimension: those that `name` lists (int or int[]); all of them where it lists none. */
void dims_arg(const struct kernel *k, const char *name, uint32_t ndim, bool *reduced);

/* Result i: of a tuple or list its item. */
struct kernel_tensor result(const struct kernel *k, uint32_t i);
uint32_t n_results(const struct kernel *k);
uint32_t tensor_sizes(struct kernel_tensor x, int64_t *size); /* its ndim */
/* Is it on the storage of an argument that the call does not write? Then it is a view: done. */
bool is_view(const struct kernel *k, struct kernel_tensor x);

/* Is something left to compute: a result that is no view of an argument? */
bool kernel_computes(const struct kernel *k);
void *workspace(struct kernel *k, int64_t n, size_t size); /* zeroed; NULL: failed */

/* --- Other operators --- */

/* Runs it; its results stay until the graph is done. KERNEL_NONE: failed. */
struct kernel_value run_op(struct kernel *k, const char *name, const struct kernel_value *args,
                           uint32_t n);
struct kernel_tensor run_tensor(struct kernel *k, const char *name, const struct kernel_value *args,
                                uint32_t n);
/* The call's own arguments, in the schema's order, behind the first `skip`. */
struct kernel_value run_same_args(struct kernel *k, const char *name, uint32_t skip);
/* Into memory that is there: `to` stands for what it would give. No rule is asked. */
void run_into(struct kernel *k, const char *name, const struct kernel_value *args, uint32_t n,
              struct kernel_value to);

/* --- Views --- */

bool tensor_strides(struct kernel_tensor x, int64_t *stride); /* in elements */
/* x's storage from x's offset on, under other sizes and strides. .meta NULL: failed. */
struct kernel_tensor strided_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                  const int64_t *stride, uint32_t ndim);
/* n of dimension `dim` from `start` on; dropped where n is 0: x[.., start, ..]. */
struct kernel_tensor narrowed(struct kernel *k, struct kernel_tensor x, uint32_t dim, int64_t start,
                              int64_t n);
/* x's elements in order under other sizes, without a copy; .meta NULL: it takes one. */
struct kernel_tensor reshaped_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                   uint32_t ndim);
/* The same, by a copy where it takes one. */
struct kernel_tensor reshaped(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                              uint32_t ndim);

/* Elements of `from`, in order, become those of `to`; of as many. */
void copy_elements(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to);
void copy_results(struct kernel *k, struct kernel_value from); /* into the call's own */
void zero_elements(struct kernel *k, struct kernel_tensor x);
struct kernel_value value_of_ints(struct kernel *k, const int64_t *x, uint32_t n); /* a list */

/* Operators that are made of others on every backend (replay/backend/call/composite.def). */
#define COMPOSITE(base, run, param) kernel_fn composite_##run;
#include "replay/backend/call/composite.def"
#undef COMPOSITE

#endif
