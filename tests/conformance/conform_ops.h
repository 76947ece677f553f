/* Rows of ../shared/ops (replay/cases/op_case.h has the format): options, files and counts of the
 * programs that check operators by them. */
#ifndef SYMTAPE_TESTS_CONFORMANCE_CONFORM_OPS_H
#define SYMTAPE_TESTS_CONFORMANCE_CONFORM_OPS_H

#include "replay/cases/op_case.h"
#include "trace/base/intern.h"

/* The options of both programs (conform_rows.c): [-v | -vv] [--table] [--op NAME] [--expect
 * PERCENT]
 * [--torch VERSION] [--backend NAME] [--every N] [--fail-allocations]. */
struct row_options {
    bool verbose, all, table, fail_allocations;
    const char *op;      /* NULL: every one */
    const char *backend; /* NULL: cpu */
    unsigned long every; /* of the rows; 0: all */
    double expect;
    int torch; /* 213: the rows are of torch 2.13; 0: of that of the recordings */
};
/* The number of the first FILE; 0: misspelt. */
int row_options_read(int argc, char **argv, struct row_options *o);
/* Is a row of that verdict to be shown, where `before` of its operator failed already? */
bool row_is_shown(const struct row_options *o, enum case_verdict verdict, uint32_t before);

/* Files of rows, and what came of them (conform_rows.c). */
struct tally_row {
    uint32_t n[CASE_VERDICTS];
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

#endif
