/* What the ranks of one job did, in the form in which they are compared.
 *
 *     struct job *job = job_new(&err);
 *     job_add(job, trace, &err);            once for each trace, which may be closed afterwards
 *     ...
 *     job_free(job);
 *
 * A rank is a recording. Of each of its compiles the job keeps *facts*: its collectives, inputs,
 * symbols, graph breaks, answers of caches, values in guards, and times. All texts are in one
 * table, so that ranks that did the same share them, and a rank takes tens of bytes a fact. Facts
 * are those of the last attempt; names of symbols and nodes, addresses and process ids are in none
 * of them. */
#ifndef SYMTAPE_PROFILE_RANKS_JOB_H
#define SYMTAPE_PROFILE_RANKS_JOB_H

#include "trace/base/intern.h"
#include "trace/open.h"

#define JOB_NONE UINT32_MAX
#define JOB_TIME INT64_MIN /* a time that is not recorded */

/* The kinds of facts; in parentheses what `what`, `detail` and `extra` are. */
enum fact_kind {
    FACT_COLLECTIVE, /* of an AOTAutograd graph (operator, constant arguments, dtype) */
    FACT_EARLY,      /* the same of a graph of Dynamo, in which DTensor's are missing */
    FACT_INPUT,      /* of Dynamo's graph (name, sizes, dtype) */
    FACT_CALLS,      /* Dynamo's graph (a digest of its operators) */
    FACT_SYMBOL,     /* (source) */
    FACT_CONSTANT,   /* a symbol that became one (source, value) */
    FACT_VALUE,      /* of a guard (what is compared, value) */
    FACT_BREAK,      /* (reason) */
    FACT_FAILURE,    /* (exception, message) */
    FACT_RECOMPILE,  /* (guard that failed) */
    FACT_CACHE,      /* a look-up (cache, answer, key) */
    FACT_PHASE,      /* (name); ns: its time without that of phases within it */
    FACT_KINDS
};

/* `what`, `detail`, `extra`, `sizes`, `group` are texts; text 0 is "". */
struct fact {
    uint32_t kind; /* enum fact_kind */
    uint32_t what, detail, extra;
    uint32_t sizes;    /* of a collective's inputs at the first call: "[8, 32]"; "?": not known */
    uint32_t group;    /* of a collective: the process group's name */
    uint32_t place;    /* the user line, in job->places; JOB_NONE */
    uint32_t backward; /* of a collective: it is in a backward graph */
    int64_t ns;
};

struct job_place {
    uint32_t file, function; /* texts */
    uint32_t line;
};

struct job_compile {
    uint32_t rank, id, function; /* rank: in job->ranks; texts */
    uint32_t place;              /* of the function */
    uint32_t call;               /* place of the program that called it; JOB_NONE */
    uint32_t status;             /* enum attempt_status of the last attempt */
    uint32_t again;              /* how many compiles of this function the rank had before it */
    bool recompile;              /* of a frame that had been compiled */
    bool waiting;                /* in a compiler collective, which has not ended */
    bool aot;                    /* has a graph of AOTAutograd, or FACT_COLLECTIVE */
    int64_t begin_ns, end_ns;    /* JOB_TIME */
    int64_t waited_ns;           /* in compiler collectives, for other ranks */
    uint32_t first_fact, n_facts;
    uint32_t step; /* set by steps_make(): compiles of several ranks with one number are the same */
};

struct job_rank {
    uint32_t name, source; /* texts: "rank0"; the tape or log */
    int64_t number;        /* -1: the recording has none */
    uint32_t first_compile, n_compiles;
};

struct job {
    struct intern texts;
    vec_of(struct job_rank)
    ranks;
    vec_of(struct job_compile)
    compiles;
    vec_of(struct fact)
    facts;
    vec_of(struct job_place)
    places;
    struct intern place_keys;
    /* Set by steps_make(). */
    uint32_t n_steps;
    vec_of(uint32_t)
    step_order; /* steps, by when ranks came to them */
    vec_of(uint32_t)
    by_step; /* compiles by step, then by rank */
    vec_of(uint32_t)
    first_of_step; /* in by_step; of n_steps, too */
};

/* Returns an empty job, or NULL with err set when memory ran out. */
struct job *job_new(struct err *err);
void job_free(struct job *job); /* NULL is allowed */
/* Adds the logs of a trace as ranks. Returns false with err set when memory ran out or the tape
 * could not be read. */
bool job_add(struct job *job, struct trace *trace, struct err *err);
/* Puts the ranks into the order of their numbers, and names those apart that have one name. Returns
 * false with err set when memory ran out. */
bool job_finish(struct job *job, struct err *err);

static inline struct str job_text(const struct job *job, uint32_t text)
{
    return job->texts.texts.v[text];
}

static inline struct str job_rank_name(const struct job *job, uint32_t rank)
{
    return job_text(job, job->ranks.v[rank].name);
}

/* The facts of a compile are by kind; symbols, constants and values are by `what` then, the others
 * in the order of their records. */

/* Returns the next fact of a kind in a compile, the first one for *at 0, and moves *at behind it;
 * NULL behind the last. */
const struct fact *job_next_fact(const struct job *job, const struct job_compile *c,
                                 enum fact_kind kind, uint32_t *at);
/* Returns the first collective of a compile, of AOTAutograd's graphs or else of Dynamo's; NULL if
 * there is none. */
const struct fact *job_first_collective(const struct job *job, uint32_t compile);
/* Returns the line that called a compile's function, or that of the function; JOB_NONE if neither
 * is recorded, and for JOB_NONE. */
uint32_t job_call_place(const struct job *job, uint32_t compile);
/* Returns the first symbol, constant or value of this `what`; NULL if there is none. */
const struct fact *job_find_fact(const struct job *job, const struct job_compile *c,
                                 enum fact_kind kind, uint32_t what);

#endif
