/* What the parts of conform_env share: a recording's rows and the environments they are run in. */
#ifndef SYMTAPE_TESTS_CONFORMANCE_CONFORM_ENV_H
#define SYMTAPE_TESTS_CONFORMANCE_CONFORM_ENV_H

#include "replay/shape/env/env.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/text/json.h"
#include "trace/base/vec.h"

/* CALL(ID, NAME): methods of ShapeEnv that rows name. */
#define CONFORM_CALLS(CALL)                               \
    CALL(EVALUATE, "evaluate_expr")                       \
    CALL(STATIC, "_maybe_evaluate_static")                \
    CALL(DEFER, "guard_or_defer_runtime_assert")          \
    CALL(SET_REPLACEMENT, "_set_replacement")             \
    CALL(UPDATE_RANGE, "_update_var_to_range")            \
    CALL(RANGE_FOR_SIZE, "_constrain_range_for_size")     \
    CALL(SYMBOL_RANGE, "constrain_symbol_range")          \
    CALL(CONSTRAIN_RANGE, "_constrain_range")             \
    CALL(RENAME, "_rename_unbacked_to")                   \
    CALL(ELIMINATE, "_eliminate_unbacked")                \
    CALL(FREEZE, "freeze")                                \
    CALL(FREEZE_ASSERTS, "freeze_runtime_asserts")        \
    CALL(CREATE, "create_symbol")                         \
    CALL(CREATE_UNSPECIFIED, "create_unspecified_symbol") \
    CALL(CREATE_SYMINT, "create_unbacked_symint")         \
    CALL(CREATE_SYMFLOAT, "create_unbacked_symfloat")     \
    CALL(CREATE_SYMBOOL, "create_unbacked_symbool")       \
    CALL(PRODUCE, "produce_guards_verbose")

enum call {
#define CALL(id, name) CALL_##id,
    CONFORM_CALLS(CALL)
#undef CALL
        CALLS
};

/* An input as the create_symbol rows tell it. */
struct conform_input {
    struct str source;
    uint32_t ndim;
    sym_id size[16], stride[16];
    struct dim_constraint constraint[16];
    int64_t value[16], stride_value[16]; /* INT64_MIN: not told */
    sym_id offset;
    bool is_tensor;
    unsigned skip; /* layouts that did not fit */
};

struct conform_env {
    struct shape_env *env;
    struct intern texts; /* of expressions */
    vec_of(sym_id)
    exprs; /* by text */
    vec_of(struct conform_input)
    inputs;
    bool failed; /* its settings could not be read */
};

/* A call ready to run: everything read, nothing asked yet. Small: what is timed streams over it. */
struct op {
    uint8_t call;
    bool suppressed, size_oblivious, unbacked_only, compute_hint, no_axioms;
    bool ok;
    uint32_t env;
    sym_id a, b, c; /* a: the expression; b, c: hint and fallback, or bounds, or the target */
    sym_id result;
};

/* The rest of it. */
struct row {
    uint32_t line;
    bool positive, no_zero_one, size_like;
    uint8_t dynamic;
    sym_id expected;
    uint64_t recorded_ns, ns;
    struct str source, text, recorded_raise; /* text: expected as text; .p NULL for none */
    struct dim_constraint constraint;
    struct str raised_type, raised_text;
    bool raised;
    bool has_assumptions; /* axioms or ranges were given */
    struct env_assumptions assumptions;
};

struct options {
    bool verbose, table, time;
    bool
        live; /* rows of a PyTorch that just ran, which do not tell what produce_guards was given */
    unsigned max_shown;
};

struct totals {
    uint64_t passed[CALLS + 1], failed[CALLS + 1], skipped; /* CALLS: final rows */
    uint64_t guessed; /* produced guards that differ in a live run */
    uint64_t recorded_ns[CALLS], ns[CALLS];
    uint64_t produce_ns, engine_ns, total_recorded_ns;
    int64_t unlike; /* answers of the timed run that the first did not give */
    uint64_t final_parts_failed;
    unsigned shown;
};

struct run {
    const struct options *options;
    struct totals *totals;
    const char *path;
    struct arena arena;
    vec_of(struct conform_env)
    envs;
    vec_of(struct op)
    batch;
    vec_of(struct row)
    rows; /* of the batch */
    vec_of(struct op)
    all; /* with --time: every call again */
    vec_of(struct row)
    all_rows;
    bool in_unbacked;   /* the outermost call makes an unbacked input, whose bounds rows tell */
    bool names_pending; /* a creation waits in the batch: what is read next may name its symbol */
};
uint64_t conform_now(void); /* ns of this thread's time */
/* Runs what was read so far. */
void conform_run_batch(struct run *run);

void conform_run_op(struct shape_env *env, struct op *op, const struct row *row);

/* conform_env_time.c: runs run->all; how many answers were others than before, -1 on failure. */
int64_t conform_time(struct run *run);

/* conform_env_rows.c */
bool conform_read_row(struct run *run, const struct json *doc, struct op *op, struct row *row,
                      bool *is_final);
sym_id conform_value(struct run *run, struct conform_env *env, const struct json *doc, json_id id,
                     json_id floats);
struct sym_range conform_range(struct run *run, struct conform_env *env, struct str text);
bool conform_settings(struct run *run, const struct json *doc);
struct conform_env *conform_env_at(struct run *run, int64_t number);
void conform_track_input(struct conform_env *env, const struct op *op, const struct row *row);

/* conform_env_final.c: a complaint a difference. */
typedef void complain(void *user, const char *what, struct str recorded, struct str ours);
unsigned conform_final(struct run *run, struct conform_env *env, const struct json *doc,
                       complain *fn, void *user);
unsigned conform_produce(struct run *run, struct conform_env *env, const struct json *doc,
                         json_id out, complain *fn, void *user);

#endif
