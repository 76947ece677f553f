/* Writes calls as cases (replay/cases/op_case.h).
 *
 *     struct case_writer cw = case_writer_of(ops, &out);
 *     case_put_call(&cw, STR("aten.add.Tensor"), STR("2.13"), &arguments);
 *     json_open_object(&cw.json, "out"); case_put_meta(&cw, &meta); json_close(&cw.json);
 *     case_put_environment(&cw);
 *     case_writer_release(&cw);
 *
 * With `sizes`, symbols are replaced by numbers, so that the case is one of concrete tensors. */
#ifndef SYMTAPE_REPLAY_CASES_CASE_WRITE_H
#define SYMTAPE_REPLAY_CASES_CASE_WRITE_H

#include "replay/ops/dispatch/ops.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/text/json_write.h"
#include "trace/base/vec.h"

enum { CASE_GUARDS_WRITTEN = 64 };

/* What case_put_environment() wrote, by the symbols of the case. It holds while the environment
 * does not change. */
struct case_environments {
    struct intern symbols; /* the bytes of their ids */
    vec_of(struct str)
    texts; /* by number of the symbols */
    struct arena arena;
};
void case_environments_release(struct case_environments *environments);

struct case_writer {
    struct json_writer json; /* its object stays open after case_put_call() */
    struct ops *ops;
    const struct sym_pair *sizes; /* by symbol: its number; NULL: expressions are written */
    uint32_t n_sizes;
    struct case_environments *environments; /* of cases that were written before, or NULL */
    bool symbolic; /* set when an expression was written that is no number */
    bool negative; /* set when a size or stride that was written is negative */
    vec_of(uint32_t)
    storages; /* in the order of their first use */
    vec_of(sym_id)
    symbols;                   /* those of the expressions that were written */
    size_t n_argument_symbols; /* the first of them: those of the arguments */
};

static inline struct case_writer case_writer_of(struct ops *ops, struct buf *out)
{
    return (struct case_writer){ .json = json_writer_of(out), .ops = ops };
}
void case_writer_release(struct case_writer *cw);

/* Opens the object and writes the call; `torch` may be "". Failure to allocate fails the buffer. */
void case_put_call(struct case_writer *cw, struct str op, struct str torch,
                   const struct arguments *arguments);
/* Writes the members of a tensor into the object that is open: a device of DEVICE_NONE and strides
 * of NULL are left out, and so are the offset and the storage. */
void case_put_meta(struct case_writer *cw, const struct tensor_meta *meta);
/* Writes a number as case_put_call() writes those of arguments. */
void case_put_number(struct case_writer *cw, const char *key, struct value number);
/* Writes the hints and ranges of the symbols that were written, and the guards and deferred asserts
 * on those of the arguments. */
void case_put_environment(struct case_writer *cw);

#endif
