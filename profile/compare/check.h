/* Checks measures against limits: relative limits compare with a baseline, absolute limits do not
 * need one.
 *
 *     struct check_rules rules = { 0 };
 *     check_rules_parse(&rules, STR("guards:+0,calls:+5%"), CHECK_BESIDE, &err);
 *     check_rules_parse(&rules, STR("ms_per_op:20"), CHECK_BUDGETS, &err);
 *     struct check *check = check_make(&rules, &now, &before, &err);
 *     check_text(check, &how, &out);
 *     check_free(check);
 *
 * A rule regresses, holds, or cannot be decided: its measure is absent on a side, or the recording
 * is incomplete (a compile without an end), so that a count may only look low enough. */
#ifndef SYMTAPE_PROFILE_COMPARE_CHECK_H
#define SYMTAPE_PROFILE_COMPARE_CHECK_H

#include "profile/compare/measures.h"
#include "profile/report/report.h"

/* ---- Rules ---- */

enum check_kind {
    CHECK_RISE,   /* NAME:+N   may grow by N */
    CHECK_FALL,   /* NAME:-N   may shrink by N */
    CHECK_CHANGE, /* NAME:N    may change by N, either way */
    CHECK_MAX     /* NAME:N in a list of budgets: may be N, whatever it was before */
};

struct check_rule {
    enum measure measure;
    enum check_kind kind;
    bool percent;    /* of the baseline's value */
    bool usual;      /* a default rule: left out where neither side has the measure */
    double limit;    /* 0 or more, in the measure's unit */
    struct str text; /* as written; borrowed */
};

struct check_rules {
    vec_of(struct check_rule)
    rules;
};

enum check_list { CHECK_BESIDE, CHECK_BUDGETS };

/* The rules that are used with a baseline when no limits are given: counts that should not grow. */
#define CHECK_USUAL                                                                         \
    "guards:+0,calls:+0,symbols:+0,specializations:+0,restarts:+0,recompiles:+0,breaks:+0," \
    "failures:+0,calls_exported:+0"
bool check_rules_usual(struct check_rules *rules, struct err *err);

/* Parses a list and appends its rules. ERR_USAGE names the rule that is misspelt, and lists the
 * measures if one is unknown. */
bool check_rules_parse(struct check_rules *rules, struct str list, enum check_list of,
                       struct err *err);
void check_rules_release(struct check_rules *rules);

/* ---- What is compared ---- */

/* One side: tapes of one program, or a baseline made of them. Strings are the owner's. */
struct check_side {
    struct measure_summary measures[MEASURES];
    const struct str *tapes; /* their names, without folders */
    uint32_t n_tapes;
    const struct str *torch; /* versions of their recordings, each once */
    uint32_t n_torch;
    size_t failed;    /* compiles that an exception ended, which reached the program */
    uint32_t unknown; /* measures of a baseline that this program does not know */
};

/* The measures of a side's traces. Times and counts are medians over them. */
struct check_input {
    struct trace *trace;
    struct str name;
    struct measures measures;
    size_t failed;
};
bool check_side_of(const struct check_input *inputs, size_t n, struct arena *arena,
                   struct check_side *ret, struct err *err);

/* Write and read a baseline, a small JSON file with one measure a line (symtape-check(1)). Reading
 * leaves out measures that this program does not have; ERR_INPUT means that the file is no
 * baseline, or one of a later version. */
void baseline_write(const struct check_side *side, struct buf *out);
bool baseline_read(struct str text, struct arena *arena, struct check_side *ret, struct err *err);

/* ---- The verdict ---- */

enum check_verdict { CHECK_HOLDS, CHECK_REGRESSED, CHECK_CANNOT_TELL };

struct check_row {
    struct check_rule rule;
    enum check_verdict verdict;
    bool compared;   /* both values are known; before is 0 for a budget without a baseline */
    double allowed;  /* the greatest (or least) value that passes; for CHECK_CHANGE the greatest */
    const char *why; /* the reason why it cannot be decided, or NULL */
};

struct check {
    const struct check_side *now, *before; /* before: NULL without a baseline */
    enum check_verdict verdict;            /* the worst of the rows */
    const struct check_row *rows;          /* as the rules were given */
    uint32_t n_rows;
    uint32_t regressed, cannot_tell; /* rows */
    /* Counts that changed and that no rule checks, in the order of the table. */
    const enum measure *changed;
    uint32_t n_changed;
    const struct str *notes; /* what cannot be compared, and remarks on the rest */
    uint32_t n_notes;
};

/* Borrows the sides. Returns NULL only when memory ran out. A relative rule without a baseline
 * cannot be decided. */
struct check *check_make(const struct check_rules *rules, const struct check_side *now,
                         const struct check_side *before, struct err *err);
void check_free(struct check *check); /* NULL is fine */

const char *check_verdict_name(enum check_verdict verdict); /* "holds", "regressed", ... */

/* ---- Written out: appended to `out`; look at out->failed at the end ---- */

void check_text(const struct check *check, const struct report_options *how, struct buf *out);
void check_json(const struct check *check, struct buf *out); /* "symtape.check/1" */
/* Appends "; 2 compiles failed in PyTorch", for the end of a headline; nothing if none did. */
void check_print_failed(const struct check *check, struct buf *out);
void check_markdown(const struct check *check, struct buf *out);
/* Lists all measures with their values, so that a reader can choose some; `side` may be NULL. */
void check_list_text(const struct check_side *side, const struct report_options *how,
                     struct buf *out);
void check_list_json(const struct check_side *side, struct buf *out);

/* Appends a difference for a reader: "+12", "-3.1 s". */
void check_format_change(enum measure measure, double change, struct buf *out);
/* Appends a rule as it was written: "guards:+0". */
void check_format_rule(const struct check_rule *rule, struct buf *out);

#endif
