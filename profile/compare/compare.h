/* Two sides of a comparison, each one run or several of one program: what is new, gone or changed,
 * by how much, and at which user line.
 *
 *     struct compare_side before = { STR("before"), &a, 1 }, after = { STR("after"), &b, 1 };
 *     struct compare *c = compare_build(&before, &after, &options, &err);
 *     diff_text(c, &how, &out);                                         see profile/compare/diff.h
 *     compare_free(c);
 *
 * What exists is compared run by run: the run of each side that is most like its medians stands for
 * it, and trace/align/align.h tells which part of one is which of the other. What is counted and
 * timed is compared as medians with their spread. A time is judged only when there are several runs
 * on both sides: a difference that is no larger than the spread of either is noise.
 *
 * Symbols, guards, specializations and nodes are compared within attempts that have a partner. Of a
 * compile or an attempt that one side has alone the incidents are told (why it was recompiled, why
 * it was thrown away), and how much was in it; not each of its guards and nodes. */
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

/* A user line of one side; all empty where there is none. */
struct change_place {
    struct str file, function, code;
    uint32_t line;
};

/* One difference, as often as it occurs. */
struct change_row {
    enum change_kind kind;
    enum change change;
    struct str level;    /* who asked for a guard; "forward" of a node; mode of a dispatch; "" */
    struct str what;     /* as the side that has it recorded it, after's where both do */
    struct str was, now; /* of CHANGE_CHANGED: what it was before, and is after; else "" */
    struct str more;     /* for reading: what went with it; "" */
    struct str compile;  /* the first one that it occurs in: "0/0", "0/0_1"; of after unless gone */
    uint32_t n_compiles; /* attempts that it occurs in */
    uint64_t before, after;      /* how often; of CHANGE_CHANGED equal, but for what is counted */
    int64_t before_ns, after_ns; /* -1: not told */
    struct change_place place, old_place; /* after's (before's if gone); before's if changed */
};

/* How a number of one side stands to the other's. */
enum compare_verdict {
    COMPARE_SAME,
    COMPARE_CHANGED,
    COMPARE_NOISE,   /* a time or memory, within the spread */
    COMPARE_UNJUDGED /* a time or memory, and one run on a side */
};
const char *compare_verdict_name(enum compare_verdict verdict);

struct compare_measure {
    enum measure measure;
    bool varies; /* a time, or memory: not the same in two runs of one program */
    struct measure_summary before, after;
    enum compare_verdict verdict;
};

/* How much of what differs is one user line's. */
struct compare_line {
    struct change_place place;
    struct compare_line_count {
        uint64_t fresh, gone, changed;
    } guards, nodes, symbols, incidents; /* nodes of all levels; specializations are symbols */
};

/* Medians over the runs of a side; calls of the run that stands for it. */
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
    bool skip[CHANGE_KINDS]; /* kinds that are neither told nor decide */
};

struct compare {
    struct compare_side before, after;
    uint32_t before_run, after_run; /* which run stands for the side */
    const struct align *align;
    struct compare_options options;
    /* By kind, then new, changed, gone; those that occur most first. */
    const struct change_row *rows;
    uint32_t n_rows;
    uint32_t first_of[CHANGE_KINDS + 1]; /* rows of a kind: first_of[kind] to first_of[kind + 1] */
    const struct compare_line *user_lines; /* those with incidents first, then by all of it */
    uint32_t n_user_lines;
    const struct compare_measure *measures; /* those that either side has */
    uint32_t n_measures;
    const struct compare_time *phases, *lines; /* whose time changed most first */
    uint32_t n_phases, n_lines;
    const struct str *notes; /* what cannot be compared, and what to know about the rest */
    uint32_t n_notes;
    bool undecided; /* a side is not whole, or there is nothing to compare: see notes */
    bool differs;
};

/* Borrows the sides' runs and labels; each has at least one run. NULL with err set when memory ran
 * out. */
struct compare *compare_build(const struct compare_side *before, const struct compare_side *after,
                              const struct compare_options *options, struct err *err);
void compare_free(struct compare *compare); /* NULL is fine */

#endif
