/* Two sides of a comparison, each one run or several of one program: what is new, gone or changed,
 * by how much, and at which user line.
 *
 *     struct compare_side before = { STR("before"), &a, 1 }, after = { STR("after"), &b, 1 };
 *     struct compare *c = compare_build(&before, &after, &options, &err);
 *     diff_text(c, &how, &out);                                         see profile/compare/diff.h
 *     compare_free(c);
 *
 * Compiles, graphs and events are compared in one run of each side, the one whose counts are
 * closest to the medians; trace/align/align.h matches their parts. Counts and times are compared as
 * medians with their spread. A time is judged only when there are several runs on both sides: a
 * difference that is no larger than the spread of either is noise.
 *
 * Symbols, guards, specializations and nodes are compared within attempts that have a partner. For
 * a compile or an attempt that only one side has, its incidents are listed (why it was recompiled,
 * why it was thrown away) and the totals of its contents, not each guard and node. */
#ifndef SYMTAPE_PROFILE_COMPARE_COMPARE_H
#define SYMTAPE_PROFILE_COMPARE_COMPARE_H

#include "profile/compare/snapshot.h"
#include "trace/align/align.h"

enum change_kind {
#define CHANGE_KIND(id, name, title, decides) CHANGE_##id,
#include "profile/compare/changes.def"
#undef CHANGE_KIND
    CHANGE_KINDS
};

const char *change_kind_name(enum change_kind kind);
const char *change_kind_title(enum change_kind kind);
bool change_kind_find(struct str name, enum change_kind *ret);

enum change { CHANGE_NEW, CHANGE_GONE, CHANGE_CHANGED };
const char *change_name(enum change change); /* "new", "gone", "changed" */

/* A user line of one side; all members are empty where there is none. */
struct change_place {
    struct str file, function, code;
    uint32_t line;
};

/* One difference, with the number of its occurrences. */
struct change_row {
    enum change_kind kind;
    enum change change;
    struct str level; /* who evaluated a guard; "forward" for a node; the mode of a dispatch; "" */
    struct str what;  /* as recorded; of the second side if both have it */
    struct str was, now; /* for CHANGE_CHANGED the old and the new form; else "" */
    struct str more;     /* details for a reader; "" */
    struct str compile;  /* the first compile with it: "0/0", "0/0_1"; of the second side unless it
                            is gone */
    uint32_t n_compiles; /* attempts with it */
    uint64_t before, after;      /* occurrences; equal for CHANGE_CHANGED, except for counts */
    int64_t before_ns, after_ns; /* -1: not known */
    struct change_place place,
        old_place; /* of the second side (the first if gone); of the first if changed */
};

/* The result of comparing a number of both sides. */
enum compare_verdict {
    COMPARE_SAME,
    COMPARE_CHANGED,
    COMPARE_NOISE,   /* a time or memory, within the spread */
    COMPARE_UNJUDGED /* a time or memory, and one run on a side */
};
const char *compare_verdict_name(enum compare_verdict verdict);

struct compare_measure {
    enum measure measure;
    bool varies; /* a time, or memory: varies between runs of one program */
    struct measure_summary before, after;
    enum compare_verdict verdict;
};

/* The number of differences at one user line. */
struct compare_line {
    struct change_place place;
    struct compare_line_count {
        uint64_t fresh, gone, changed;
    } guards, nodes, symbols, incidents; /* nodes of all levels; specializations are symbols */
};

/* Medians over the runs of a side; calls are those of the representative run. */
struct compare_time {
    struct str name;           /* of a phase */
    struct change_place place; /* of a line */
    uint64_t before_calls, after_calls;
    struct measure_summary before, after; /* exclusive time in nanoseconds; estimated, of a line */
    enum compare_verdict verdict;
};

struct compare_side {
    struct str label;
    struct snapshot *const *runs;
    uint32_t n_runs;
};

struct compare_options {
    bool skip[CHANGE_KINDS]; /* kinds that are neither listed nor decide */
};

struct compare {
    struct compare_side before, after;
    uint32_t before_run, after_run; /* the representative run of each side */
    const struct align *align;
    struct compare_options options;
    /* Sorted by kind, then new, changed, gone; the most frequent first. */
    const struct change_row *rows;
    uint32_t n_rows;
    uint32_t first_of[CHANGE_KINDS +
                      1]; /* the rows of a kind are first_of[kind] to first_of[kind + 1] */
    const struct compare_line
        *user_lines; /* those with incidents first, then by their number of differences */
    uint32_t n_user_lines;
    const struct compare_measure *measures; /* those that either side has */
    uint32_t n_measures;
    const struct compare_time *phases, *lines; /* the greatest change of time first */
    uint32_t n_phases, n_lines;
    const struct str *notes; /* what cannot be compared, and remarks on the rest */
    uint32_t n_notes;
    bool undecided; /* a side is incomplete, or there is nothing to compare: see notes */
    bool differs;
};

/* Compares two sides, each of at least one run; borrows their runs and labels. Returns NULL with
 * err set when memory ran out. */
struct compare *compare_build(const struct compare_side *before, const struct compare_side *after,
                              const struct compare_options *options, struct err *err);
void compare_free(struct compare *compare); /* NULL is fine */

#endif
