/* The parts of symtape opcheck. Only for this room. */
#ifndef SYMTAPE_CMD_OPCHECK_OPCHECK_H
#define SYMTAPE_CMD_OPCHECK_OPCHECK_H

#include "cmd/cmd.h"
#include "replay/cases/expected_failures.h"
#include "replay/cases/op_case.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

struct opcheck_args {
    const char *op, *rules, *cases, *generate, *xfail, *python, *import, *allow;
    struct opt_number limit, timeout;
    bool update, coverage, json, overwrite, strict;
};

/*  CHECK(id, name, needs PyTorch, what fails) */
#define CHECKS                                                                               \
    CHECK(RULE, "rule", false, "the rule and the recorded result differ")                    \
    CHECK(FAKE, "fake", true, "the fake kernel and the real kernel differ")                  \
    CHECK(RECORDED, "recorded", true, "the fake kernel and the recorded result differ")      \
    CHECK(SCHEMA, "schema", true, "the kernel does what the schema does not say")            \
    CHECK(SIZES, "sizes", true, "the fake kernel and the real kernel differ at other sizes") \
    CHECK(STRIDES, "strides", true, "the fake kernel and the real kernel differ for other strides")
enum opcheck_check {
#define CHECK(id, name, live, what) CHECK_##id,
    CHECKS
#undef CHECK
        CHECK_COUNT
};
struct check_row {
    const char *name;
    bool live;
    const char *what;
};
extern const struct check_row check_rows[CHECK_COUNT];

/* Of a check of an operator, from its cases. */
enum op_verdict {
    OP_NOT_CHECKED, /* no case could be checked */
    OP_PASS,
    OP_FAIL,
    OP_XFAIL, /* fails as expected */
    OP_XPASS, /* passes, and a failure is expected */
    OP_MISSING,
    OP_VERDICTS
};
const char *op_verdict_name(enum op_verdict verdict);

/* The first failed case of a check of an operator; texts belong to the run's arena. */
struct opcheck_failure {
    size_t place; /* of the case in the list of cases */
    struct str why, call, sizes, recorded, real, fake;
};

struct opcheck_operator {
    struct str name;
    bool recorded;           /* a tape has a call of it */
    uint64_t calls;          /* recorded ones */
    uint64_t cases, skipped; /* skipped: cases that no check could decide */
    uint64_t n[CHECK_COUNT][CASE_VERDICTS];
    enum op_verdict verdict[CHECK_COUNT];
    struct opcheck_failure failure[CHECK_COUNT]; /* where n[][CASE_FAILED] */
    struct str missing;                          /* why it was not checked, or "" */
    uint64_t dtypes, ranks;                      /* bits by enum dtype; by rank, 63: more */
};

/* A case, as a line of a case file. */
struct opcheck_case {
    struct str text;
    uint32_t op; /* index of its operator */
};

struct opcheck_run {
    struct cmd *cmd;
    const struct opcheck_args *args;
    struct custom_rules *rules;
    struct case_checker *checker;
    struct expected_failures expected;
    bool updated;        /* the file of expected failures was changed */
    uint64_t n_stale;    /* expected failures that this run did not check */
    struct intern names; /* of operators */
    vec_of(struct opcheck_operator)
    operators;           /* by id in names */
    struct intern texts; /* cases of tapes, without what tells one place from another */
    vec_of(struct opcheck_case)
    cases;
    uint64_t calls;
    struct str torch; /* the version of the live PyTorch, or "" */
    struct arena arena;
};

/* Returns whether --op selects an operator; true without --op. */
bool opcheck_selects(const struct opcheck_args *args, struct str op);
/* The operator's row; NULL: out of memory. */
struct opcheck_operator *opcheck_operator(struct opcheck_run *run, struct str name);
/* Copies a text into the run's arena; false with err set when memory ran out. */
bool opcheck_keep(struct opcheck_run *run, struct str text, struct str *ret, struct err *err);
/* Notes what became of a case in a check. `failure`: what differs, whose texts are copied. */
bool opcheck_note(struct opcheck_run *run, size_t place, enum opcheck_check check,
                  enum case_verdict verdict, const struct opcheck_failure *failure,
                  struct err *err);

/* opcheck_cases.c: cases from tapes and files. They print their errors and return exit codes. */
int opcheck_read_tape(struct opcheck_run *run, const char *operand);
int opcheck_read_cases(struct opcheck_run *run, const char *path);
int opcheck_write_cases(struct opcheck_run *run);

/* opcheck_live.c: the checks that need PyTorch. */
bool opcheck_run_live(struct opcheck_run *run, struct err *err);

/* opcheck_report.c */
void opcheck_text(const struct opcheck_run *run, struct buf *out);
void opcheck_json(const struct opcheck_run *run, struct buf *out);
/* Prints the call of the case that the checker holds: "mylib.blur.default(f32[4, 16][16, 1]cpu,
 * 3)". */
void opcheck_print_call(const struct op_case *call, struct buf *out);

#endif
