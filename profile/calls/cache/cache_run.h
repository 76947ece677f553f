/* Dynamo's caches over a sequence of calls: which compiled entry answers each call, which guard
 * turns it away, and which compile follows.
 *
 * The rules are those of lookup() and create_cache_entry() in torch/csrc/dynamo/extra_state.cpp and
 * of torch/_dynamo/cache_size.py (2.13): the entries of a code object are checked newest first, the
 * one that answers moves to the front, a new one goes to the front. Those of another backend do not
 * answer. A compile is refused when
 * recompile_limit entries have the same ID_MATCH objects, or accumulated_recompile_limit entries
 * are there; from then on the code object is run-only: entries go on answering, all else runs
 * eagerly. isolate_recompiles gives each compiled function a list of its own (a region).
 *
 * The guards are those that the tape has for each compile. A function is the code object that its
 * calls name, or that code object of the tape whose compile comes next. Frames inside a call
 * (functions called after a graph break, resume functions) are looked up where the list has their
 * locals.
 *
 * The guards of an entry hold for the call that it was compiled for. Where those of the next
 * compile do not, a later one of the code object is taken whose guards do (the calls came in
 * another order). Where the tape has none, an entry is assumed: the guards of another entry with
 * other sizes, as automatic dynamic shapes would make them. If the call differs in more, what
 * follows is unknown. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CACHE_RUN_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CACHE_RUN_H

#include "profile/calls/cache/artifact_lookups.h"
#include "profile/calls/guards/entry_guards.h"
#include "trace/open.h"

enum lookup_outcome {
    LOOKUP_HIT,      /* an entry answered */
    LOOKUP_COMPILED, /* none did, and the compile that followed made one */
    LOOKUP_NO_ENTRY, /* the compile failed, or its frame is skipped from then on */
    LOOKUP_EAGER,    /* nothing is compiled: `why` says why */
    LOOKUP_UNKNOWN,  /* a compile that the tape does not have, so its guards are not known */
};
const char *lookup_outcome_name(enum lookup_outcome outcome); /* "hit", "no entry" ... */

/* What a check of an entry found; calls on which it found the same share it. */
struct entry_check_row {
    uint32_t entry; /* in cache_run.entries */
    enum guards_verdict verdict;
    struct str reason; /* as PyTorch logs it; "" when the guards pass */
    struct str source; /* what the guard is about; "" */
    uint32_t manager;  /* in which the guards failed; MANAGER_NONE */
};

struct lookup_row {
    uint32_t call; /* in the log */
    uint32_t code; /* in cache_run.codes; CALL_NONE when the tape has no compile of the function */
    enum lookup_outcome outcome;
    uint32_t answered;              /* entry; CALL_NONE */
    struct str compile;             /* "0/3": what was compiled or refused; "" */
    const char *why;                /* of LOOKUP_EAGER and LOOKUP_UNKNOWN; NULL */
    const char *limit;              /* the limit that refused a compile: "recompile_limit"; NULL */
    uint32_t n_entries;             /* of the code object, when the limit was reached */
    uint32_t first_check, n_checks; /* see lookup_check() */
    double seconds;                 /* of the compile; 0 */
};

/* An entry that a compile made. */
struct cache_entry {
    uint32_t code, ordinal; /* it is number `ordinal` of the code object, from 0 */
    struct str compile;
    int64_t region;     /* -1: of no region */
    struct str backend; /* "" if the calls do not tell it */
    uint32_t hits;
    double seconds;          /* that its compile took; 0 if it is not recorded */
    struct str assumed_from; /* the compile whose guards it has, with other sizes, since the tape
                                does not have its own; "" */
    struct str tree;
    struct entry_guards guards;
    bool lazy_backward, backward_ran; /* see struct backward_row */
    double backward_seconds;
};

/* Whether an entry has the backend of a call, or one of them is not known. An entry of another
 * backend does not answer, whatever its guards say; PyTorch does not evaluate them, but to word a
 * reason (get_guard_fail_reason_helper() in torch/_dynamo/guards.py). */
bool cache_entry_has_backend(const struct cache_entry *entry, const struct program_call *call);

/* The backward of a call. AOTAutograd compiles it together with the forward if sizes are symbols,
 * and else when it runs for the first time (_aot_stage2b_bw_compile() in
 * torch/_functorch/_aot_autograd/graph_compile.py); neither has guards of its own. */
struct backward_row {
    uint32_t call;               /* in the log */
    enum lookup_outcome outcome; /* LOOKUP_HIT: it was compiled before. LOOKUP_UNKNOWN: it is not
                                    known which entry answered the forward, or several did */
    uint32_t entry;              /* in cache_run.entries; CALL_NONE */
    uint32_t look;               /* that the entry answered, in cache_run.lookups; CALL_NONE */
    double seconds;              /* of the compile; 0 */
};

struct cache_code {
    struct str name; /* "/home/user/train.py:17:forward" */
    struct str file, function;
    uint32_t line;
    vec_of(uint32_t)
    order; /* entries in check order, of all regions */
};

/* A function whose calls were taken for those of a code object that has another name, and nothing
 * that PyTorch logged shows that they are. */
struct guessed_calls {
    struct str function;
    uint32_t code; /* in cache_run.codes */
};

struct cache_limits {
    uint64_t recompile, accumulated;
};

/* Counts of look-ups by their outcome. */
struct lookup_totals {
    uint32_t lookups, hits, compiles, eager, unknown;
    uint32_t assumed; /* compiles that the tape does not have, with assumed guards */
    double compile_seconds;
};

struct cache_run {
    struct arena arena;
    vec_of(struct cache_code)
    codes;
    vec_of(struct cache_entry)
    entries;
    vec_of(struct lookup_row)
    lookups;
    vec_of(struct backward_row)
    backwards; /* in the order of the calls */
    vec_of(struct entry_check_row)
    found; /* each once */
    struct hash_index found_index;
    struct intern texts; /* of found */
    vec_of(uint32_t)
    checks; /* in found: the checks of look-ups, in check order; look-ups may share them */
    struct artifact_lookups artifacts;
    struct cache_limits limits;         /* in force */
    struct lookup_totals calls, inside; /* of called functions, and of frames inside the calls */
    struct lookup_totals backward;
    uint32_t
        n_contradictions;   /* compiles for which the tape logged other reasons than were found */
    struct intern unlisted; /* sources of values that, as PyTorch logged, turned calls away, and
                               that those calls do not list */
    vec_of(struct guessed_calls)
    guessed;
    uint32_t n_unused;    /* compiles of the called functions that no call asked for */
    double saved_seconds; /* the sum over all hits of what the compile of the entry took */
};

struct cache_options {
    struct cache_limits limits; /* 0: as recorded, or PyTorch's default */
    bool what_if;               /* the calls are not those of the recording */
    bool all_checks;            /* also check the entries behind the one that answered */
    bool no_memo;               /* evaluate all guards at each look-up; the answers are the same */
};

/* Replays the calls of `log` over the compiles of a recording. The result is freed with
 * cache_run_release(), before the trace and the log. Returns false with err set when memory ran out
 * or the tape could not be read. */
bool cache_run_make(struct cache_run *run, struct trace *trace, uint32_t recording,
                    struct call_log *log, const struct cache_options *options, struct err *err);
void cache_run_release(struct cache_run *run);

/* Returns check number i of a look-up. */
static inline const struct entry_check_row *lookup_check(const struct cache_run *run,
                                                         const struct lookup_row *row, uint32_t i)
{
    return &run->found.v[run->checks.v[row->first_check + i]];
}

#endif
