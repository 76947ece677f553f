/* The ranks of a job, which run graphs together in one process, a thread each, and meet in
 * collectives.
 *
 *     struct rank_job *job = rank_job_new(n, &err);
 *     rank_job_join(job, STR("1"), 0, &err) ...        who is in which process group
 *     ... in the thread of rank i: ...
 *     struct rank *rank = rank_begin(job, i);
 *     backend->rank = rank;                            the backend's collectives call rank_meet()
 *     ... run graphs ...
 *     rank_end(rank, &why);
 *     ... when all threads are joined: ...
 *     if (rank_job_divergence(job)->kind) ...
 *     rank_job_free(job);
 *
 * The ranks take turns: between rank_begin() and rank_end() one of them computes at a time, and the
 * turn passes when a rank waits for others, waits for its device or ends. So ranks may share what
 * is not made for several threads, results do not depend on how threads are scheduled, and nothing
 * depends on time: when every rank that has not ended waits, none will ever come, and the job has
 * diverged. Devices compute meanwhile, since a backend that queues its calls returns before they
 * are done.
 *
 * A collective is matched by its process group and its order there, as
 * torch.distributed matches it. The last rank to come computes it for all of them. */
#ifndef SYMTAPE_REPLAY_BACKEND_RANKS_RANKS_H
#define SYMTAPE_REPLAY_BACKEND_RANKS_RANKS_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/graph/dtype.h"

enum { RANKS_MAX = 64 };

struct rank_job;

struct collective;
/* Computes a collective of n ranks, which are in the order of the group. False: err is set, and the
 * call fails on every rank. */
typedef bool collective_fn(struct collective *const *all, uint32_t n, struct err *err);

/* What a rank brings to a collective. Ranks of a group must agree on everything but `data`. */
struct collective {
    struct str op;      /* "all_reduce" */
    struct str group;   /* the name of the process group */
    struct str reduce;  /* "sum"; "": it does not reduce */
    int64_t group_size; /* an argument of the call; 0: it has none */
    int64_t root;       /* of a broadcast, in the group; -1 */
    enum dtype dtype;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM]; /* of the input */
    bool uneven;                  /* sizes may differ between ranks */
    bool prepares;          /* it precedes a collective with the same arguments, and is not one */
    uint32_t node;          /* of the graph that is run, for messages */
    collective_fn *perform; /* set by rank_meet() */
    void *data;             /* what `perform` reads and writes of this rank */
};

/* A message between two ranks. `elements` is memory that the call does not keep. */
struct rank_message {
    struct str op; /* "isend" */
    struct str group;
    int64_t peer, tag; /* peer: in the group */
    enum dtype dtype;
    void *elements; /* n of `each` bytes */
    size_t n, each;
    uint32_t node;
};

struct rank {
    struct rank_job *job;
    uint32_t number;
    /* Set by the code that runs graphs: appends which graph and which line a node belongs to. */
    void (*describe)(void *user, uint32_t node, struct buf *out);
    void *user;
};

/* The first thing that the ranks did not agree on. */
struct rank_divergence {
    const char *kind; /* "order", "missing", "size", "dtype" as in symtape-ranks(1); NULL: none */
    uint32_t rank;    /* one that does otherwise */
    uint64_t ordinal; /* the number of the collective in its group, from 1; 0: a message */
    struct str group;
    struct str text; /* what each rank did, one line for each */
};

/* n: 1 to RANKS_MAX. NULL: out of memory. */
struct rank_job *rank_job_new(uint32_t n, struct err *err);
void rank_job_free(struct rank_job *job); /* NULL is fine */
uint32_t rank_job_size(const struct rank_job *job);
/* Makes a rank a member of a process group. All ranks are in the group "0", which
 * init_process_group() makes, and in each group that no rank was made a member of. */
bool rank_job_join(struct rank_job *job, struct str group, uint32_t rank, struct err *err);
const struct rank_divergence *rank_job_divergence(const struct rank_job *job);

/* Waits for the first turn of this rank. */
struct rank *rank_begin(struct rank_job *job, uint32_t number);
/* Passes the turn on for good. `why` is the error that ended the rank, or not set. */
void rank_end(struct rank *rank, const struct err *why);

/* Lets the other ranks compute that can, until each waits, ends or calls this as well; a rank that
 * is about to wait for its device does so. rank NULL: does nothing. */
void rank_yield(struct rank *rank);

/* Begins what is counted once, a graph; runs it from its beginning again: the numbers of its
 * collectives are the same in each run of it. rank NULL: does nothing. */
void rank_begin_graph(struct rank *rank);
void rank_repeat(struct rank *rank);

/* Waits for the other ranks of the group, and returns when the collective is computed. False with
 * err set: ERR_USAGE, the ranks diverged, which every later call of any rank returns too; what
 * `perform` set. */
bool rank_meet(struct rank *rank, struct collective *call, collective_fn *perform, struct err *err);
/* Returns the number of this rank in a group, and how many there are. False: it is no member. */
bool rank_in_group(struct rank *rank, struct str group, uint32_t *number, uint32_t *n,
                   struct err *err);
/* Sends a copy, without waiting; waits for the next message of that peer and tag. False as above,
 * or if the group has no such peer. */
bool rank_send(struct rank *rank, const struct rank_message *message, struct err *err);
bool rank_receive(struct rank *rank, const struct rank_message *message, struct err *err);

#endif
