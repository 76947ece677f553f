/* Rows of ../shared/ops (README.md there tells the format) held against the operators' rules. */
#ifndef SYMTAPE_TESTS_CONFORMANCE_CONFORM_OPS_H
#define SYMTAPE_TESTS_CONFORMANCE_CONFORM_OPS_H

#include "replay/ops/dispatch/ops.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/text/json.h"

enum verdict { ROW_PASSED, ROW_FAILED, ROW_SKIPPED, ROW_UNSUPPORTED, ROW_VERDICTS };

enum { ROW_MAX_DIM = 256, ROW_MAX_ARGS = 64, ROW_MAX_STORAGES = 4096, ROW_MAX_SYMBOLS = 256 };

struct row_symbol {
    struct str name;
    sym_id symbol;
};

/* One row being judged. The context is used for row after row. */
struct row {
    const struct json *doc;
    struct ops *ops;
    struct shape_env *env;
    struct sym_pool *pool;
    struct arena arena;
    struct value args[ROW_MAX_ARGS];
    struct keyword keywords[ROW_MAX_ARGS];
    uint32_t n_args, n_keywords;
    /* The row's numbers of storages beside ours. */
    uint32_t storages[ROW_MAX_STORAGES];
    uint8_t storage_known[ROW_MAX_STORAGES]; /* 1 an argument's, 2 a result's */
    struct row_symbol symbols[ROW_MAX_SYMBOLS];
    uint32_t n_symbols, n_adopted; /* those that were there before the call */
    bool symbolic, skip, lacks_data;
    bool results;   /* the arguments are taken to be results of views */
    struct buf why; /* what differs */
};

/* Reading (conform_ops_read.c): false when the row makes no sense; row->skip when it cannot be
 * judged. */
bool row_read_value(struct row *row, json_id at, struct value *ret);
bool row_adopt_symbols(struct row *row);
enum dtype row_dtype(struct row *row, json_id at);
sym_id row_expr(struct row *row, json_id at);
sym_id row_expr_text(struct row *row, struct str text);

/* args and kwargs. */
bool row_read_args(struct row *row);
/* Nothing is left of the row before. */
void row_clear(struct row *row);

/* What both programs are told (conform_rows.c): [-v | -vv] [--table] [--op NAME] [--expect PERCENT]
 * [--torch VERSION] [--backend NAME] [--every N]. */
struct row_options {
    bool verbose, all, table;
    const char *op;      /* NULL: every one */
    const char *backend; /* NULL: cpu */
    unsigned long every; /* of the rows; 0: all */
    double expect;
    int torch; /* 213: the rows are of torch 2.13; 0: of that of the recordings */
};
/* The number of the first FILE; 0: misspelt. */
int row_options_read(int argc, char **argv, struct row_options *o);
/* Is a row of that verdict to be shown, where `before` of its operator failed already? */
bool row_is_shown(const struct row_options *o, enum verdict verdict, uint32_t before);

/* Files of rows, and what came of them (conform_rows.c). */
struct tally_row {
    uint32_t n[ROW_VERDICTS];
};
struct tally {
    struct intern names; /* of operators */
    vec_of(struct tally_row)
    rows;
    struct tally_row totals;
};
/* The operator's row; NULL: out of memory. */
struct tally_row *tally_row(struct tally *tally, struct str op);
void tally_print_table(const struct tally *tally);
/* "N passed, M failed, K skipped"; the share of passed ones, in per cent. */
double tally_print_totals(const struct tally *tally);
void tally_release(struct tally *tally);

typedef bool row_judge(void *user, const char *path, size_t line, struct json *doc,
                       struct str text);
/* Each line of the files ("shared:ops/errors.jsonl.zst" lies in ../shared, or in $SYMTAPE_SHARED),
 * until judge says false. An exit code: 0, 4, or 77 where a file is absent. */
int rows_judge_files(char *const *paths, int n, row_judge *judge, void *user);

/* Comparing (conform_ops_compare.c): false when something differs; row->why tells. */
bool row_compare_value(struct row *row, json_id expected, struct value got, const char *what);
/* Equal but for storages from fresh_from on, which are the calls' own. */
bool row_same_answer(struct row *row, struct value a, struct value b, uint32_t fresh_from);
bool row_compare_environment(struct row *row, uint32_t guards_before);
bool row_differs(struct row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
