/* What is expected of each model, as PyTorch keeps it in benchmarks/dynamo/ci_expected_accuracy: a
 * CSV file for a configuration, CONFIG_SUITE_MODE.csv, with the columns name, accuracy (or status)
 * and graph_breaks.
 *
 *     struct expectations file = { 0 };
 *     expectations_read(dash, path, text, &file, &err);
 *     verdicts_make(dash, &file, 1, &options, &verdicts, &err);
 *     expectations_update(&file, dash, &verdicts, &out);       the text, with the least changes
 *
 * A file is about the configurations of the last point that agree with its name in every part that
 * both have. Verdicts are those of PyTorch's check_accuracy.py and check_graph_breaks.py. */
#ifndef SYMTAPE_PROFILE_DASH_EXPECTATIONS_H
#define SYMTAPE_PROFILE_DASH_EXPECTATIONS_H

#include "profile/dash/dash.h"
#include "trace/base/buf.h"

enum dash_verdict {
    VERDICT_PASS,     /* as expected, and it passes */
    VERDICT_XFAIL,    /* as expected, and it fails */
    VERDICT_FAIL,     /* another status than expected, or more graph breaks */
    VERDICT_IMPROVED, /* it passes, or has fewer graph breaks than expected */
    VERDICT_FLAKY,    /* repeats differ, or it is listed as flaky and is not as expected */
    VERDICT_MISSING,  /* there is no expectation, or no result */
    VERDICTS
};
const char *dash_verdict_name(enum dash_verdict verdict); /* "PASS" ... */
/* Returns whether it makes the command fail. */
bool dash_verdict_fails(enum dash_verdict verdict);

/* A row of a file. Texts point into the file's text. */
struct expectation {
    size_t begin, end;             /* of the record */
    struct str status_cell;        /* as written, with quotes */
    struct str breaks_cell;        /* "" if there is none */
    uint32_t name, status, breaks; /* breaks: UINT32_MAX if not known */
};

struct expectations {
    struct str path;
    struct buf text;
    struct dash_config config;
    size_t header_end;
    uint32_t columns, name_column, status_column, breaks_column; /* breaks: UINT32_MAX for none */
    vec_of(struct expectation)
    rows;
    struct hash_index index; /* of rows, by name */
    bool used;               /* it is about a configuration with results */
};

/* Reads a file; takes over `text`. Returns false with err set: ERR_INPUT with the line, or out of
 * memory. expectations_release() is required in both cases. */
bool expectations_read(struct dash *dash, struct str path, struct buf *text,
                       struct expectations *ret, struct err *err);
void expectations_release(struct expectations *file);
/* Returns the row of a model; NULL if there is none. */
const struct expectation *expectations_find(const struct expectations *file, uint32_t name);

struct verdict_row {
    uint32_t config, name;
    uint32_t file; /* the file that is about it; UINT32_MAX: none */
    enum dash_verdict verdict;
    const char *why;                         /* for a reader; "" for PASS and XFAIL */
    uint32_t expected, actual;               /* statuses; INTERN_NONE */
    uint32_t expected_breaks, actual_breaks; /* UINT32_MAX: not known */
    bool not_run;                            /* the file has it and the results do not */
};

struct verdict_options {
    bool partial;            /* models of a file that were not run are all right */
    const struct str *flaky; /* names of models that are known to be flaky */
    size_t n_flaky;
};

struct verdicts {
    vec_of(struct verdict_row)
    rows; /* by configuration, then by name; those that were not run come last */
    uint32_t n[VERDICTS];
    bool fails;
};

/* Judges the last point of a finished dashboard; sets `used` of each file. Returns false with err
 * set: ERR_USAGE if two files are about one configuration, or out of memory. */
bool verdicts_make(const struct dash *dash, struct expectations *files, size_t n_files,
                   const struct verdict_options *options, struct verdicts *ret, struct err *err);
void verdicts_release(struct verdicts *verdicts);

/* Appends the text of file number `at`, in which what differs is as it is now: cells are replaced,
 * rows of models that were not run go, new ones are put in by name. All other bytes stay. What is
 * flaky stays too. Returns false with err set when memory ran out. */
bool expectations_update(const struct expectations *file, uint32_t at, const struct dash *dash,
                         const struct verdicts *verdicts, struct buf *out, struct err *err);

#endif
