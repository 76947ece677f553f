/* Cases: single calls of operators as lines of JSON, each with the result that PyTorch recorded.
 *
 *     struct case_checker *checker = case_checker_new(rules, &err);
 *     if (json_parse(&doc, line, &err) && case_check(checker, &doc, &verdict, &err)) ...
 *     case_checker_free(checker);
 *
 * A line is an object: "op" ("aten.add.Tensor"), "args", "kwargs", and "out" or "error" [type,
 * message]. A tensor is {"t": "float32", "device", "size", "stride", "offset", "storage"}: equal
 * numbers of storages share memory. "v" has its values in base64, "layout" stands instead of
 * strides if it is not strided, "conj" if it is conjugated. Other values are numbers, booleans,
 * strings, null, arrays, and objects with one member: {"float": "0.5"}, {"complex": [re, im]},
 * {"dtype"}, {"device"}, {"memory_format"}, {"layout"}, {"symint": "s0 + 1"}, {"symfloat"},
 * {"symbool"}, and {"other": text} for what no case can have. "after" has the arguments after an
 * in-place call.
 *
 * With "hints", sizes may be expressions: "hints" and "ranges" describe the symbols, "given" the
 * guards and "asserts" the deferred asserts that held before the call. Without it the call is that
 * of an eager kernel. With "guards" the guards that the call adds are compared, too, and
 * "replaced". In "out" what is missing of a tensor was not recorded: its device, strides, offset or
 * storage. A tuple of which some items were recorded is {"items": {"0": ..., "2": ...}}. "torch" is
 * the version that recorded the call; with "exported": true it was a torch.export.
 *
 * Lines may come from anywhere: a line that makes no sense is a failed case that says so. */
#ifndef SYMTAPE_REPLAY_CASES_OP_CASE_H
#define SYMTAPE_REPLAY_CASES_OP_CASE_H

#include "replay/ops/dispatch/ops.h"
#include "trace/base/text/json.h"

enum case_verdict {
    CASE_PASSED,
    CASE_FAILED,
    CASE_SKIPPED, /* what the result depends on is not in the case */
    CASE_MISSING, /* no rule, or a form of the operator that its rule does not support */
    CASE_VERDICTS
};

enum {
    CASE_MAX_ARGS = 64,
    CASE_MAX_DIM = 256,
    CASE_MAX_STORAGES = 4096,
    CASE_MAX_SYMBOLS = 256,
    CASE_MAX_GUARDS = 4096,
    CASE_MAX_DEPTH = 16 /* of lists in lists */
};

struct case_symbol {
    struct str name;
    sym_id symbol;
};

/* A case while it is read and compared. It is used for case after case. */
struct op_case {
    const struct json *doc;
    struct ops *ops;
    struct shape_env *env;
    struct sym_pool *pool;
    struct arena arena;
    struct value args[CASE_MAX_ARGS];
    struct keyword keywords[CASE_MAX_ARGS];
    uint32_t n_args, n_keywords;
    /* The case's numbers of storages beside ours. */
    uint32_t storages[CASE_MAX_STORAGES];
    uint8_t storage_known[CASE_MAX_STORAGES]; /* 1 an argument's, 2 a result's */
    struct case_symbol symbols[CASE_MAX_SYMBOLS];
    uint32_t n_symbols, n_adopted; /* those that were there before the call */
    uint32_t depth;                /* of lists in lists */
    /* PyTorch refuses tensors of more dimensions than TENSOR_MAX_DIM, and rules do not expect them;
     * with `any_rank` up to CASE_MAX_DIM are passed, to see how they are refused. */
    bool any_rank;
    bool symbolic, skip, lacks_data;
    bool exporting; /* the call is made as while torch.export traces */
    bool results;   /* the arguments are taken to be results of views */
    struct buf why; /* what differs */
};

/* Reading (case_read.c): false when the case makes no sense; call->skip when it cannot be
 * judged. */
bool op_case_read_value(struct op_case *call, json_id at, struct value *ret);
bool op_case_adopt_symbols(struct op_case *call);
enum dtype op_case_dtype(struct op_case *call, json_id at);
sym_id op_case_expr(struct op_case *call, json_id at); /* SYM_NONE: it makes no sense */
sym_id op_case_expr_text(struct op_case *call, struct str text);
/* args and kwargs. */
bool op_case_read_args(struct op_case *call);
/* Removes everything of the case before. */
void op_case_clear(struct op_case *call);
void op_case_release(struct op_case *call);

/* Comparing (case_compare.c): false when something differs; call->why describes it. */
bool op_case_compare_value(struct op_case *call, json_id expected, struct value got,
                           const char *what);
/* Equal but for storages from fresh_from on, which are the calls' own. */
bool op_case_same_answer(struct op_case *call, struct value a, struct value b, uint32_t fresh_from);
bool op_case_compare_environment(struct op_case *call, uint32_t guards_before);
bool op_case_differs(struct op_case *call, const char *format, ...) ERR_PRINTF(2, 3);

/* Checking by the operator's rule (case_check.c). */
struct custom_rules; /* replay/ops/decomp/custom.h */
struct case_checker {
    struct ops *ops;
    struct shape_env *concrete; /* of cases without symbols */
    int torch;                  /* the release that all cases are checked as; 0: each its own */
    int concrete_torch;         /* the release of `concrete` */
    struct op_case call;
};
/* rules may be NULL; they are borrowed. Returns NULL when memory ran out. */
struct case_checker *case_checker_new(const struct custom_rules *rules, struct err *err);
void case_checker_free(struct case_checker *checker); /* accepts NULL */
/* Checks a case; checker->call.why says what differs. False: memory ran out. */
bool case_check(struct case_checker *checker, const struct json *doc, enum case_verdict *ret,
                struct err *err);
/* Reads a case and its arguments without a call, in its own environment, which is checker->call.env
 * until the next case. False: it makes no sense; checker->call.why says why. */
bool case_open(struct case_checker *checker, const struct json *doc, struct err *err);

#endif
