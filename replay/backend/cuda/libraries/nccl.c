#include "replay/backend/cuda/libraries/nccl.h"

#include <stdio.h>
#include <stdlib.h>

#include "replay/backend/cuda/libraries/nccl_abi.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/cuda/runtime/library.h"

/* The ranks of a process group, which all have this. It is used by the rank that has the turn. */
struct clique {
    uint32_t n, users;
    struct cuda *members[RANKS_MAX]; /* NULL: it closed its communicator */
    bool lost;                       /* a member's device was lost */
};

/* This rank's communicator of a process group. */
struct group_comm {
    struct str group; /* owned by the backend's names */
    void *comm;       /* NULL: it was aborted */
    struct clique *clique;
};

struct nccl {
    struct cuda_library library;
    struct nccl_table table;
    vec_of(struct group_comm)
    groups;
};

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct nccl_table, member), needed },
#include "replay/backend/cuda/libraries/nccl.def"
#undef SYMBOL
    { "ncclGetErrorString", offsetof(struct nccl_table, error_text), true },
};

/* ---- Opening ---- */

static void leave(struct clique *clique, const struct cuda *cuda)
{
    for (uint32_t i = 0; i < clique->n; i++)
        if (clique->members[i] == cuda)
            clique->members[i] = NULL;
    if (--clique->users == 0)
        free(clique);
}

/* Aborts communicators whose kernels may wait for ever. */
static void end_comm(const struct nccl *nccl, void *comm, bool aborts)
{
    if (comm && aborts && nccl->table.abort_comm)
        nccl->table.abort_comm(comm);
    else if (comm && !aborts)
        nccl->table.destroy(comm);
}

/* Ends the communicators, unless the context is lost: that would use it. */
static void close_nccl(struct cuda *cuda)
{
    const bool lost = err_is_set(&cuda->failures.lost);
    cuda->may_end = NULL;
    cuda->ended = (struct err){ 0 };
    struct nccl *nccl = cuda->library_state[LIBRARY_NCCL];
    cuda->library_state[LIBRARY_NCCL] = NULL;
    if (!nccl)
        return;
    for (size_t i = 0; i < nccl->groups.n; i++) {
        struct group_comm *g = &nccl->groups.v[i];
        g->clique->lost |= lost;
        if (!lost)
            end_comm(nccl, g->comm, g->clique->lost);
        leave(g->clique, cuda);
    }
    vec_release(&nccl->groups);
    free(nccl);
}

static struct nccl *nccl_open(struct err *err)
{
    struct nccl *nccl = calloc(1, sizeof *nccl);
    if (!nccl)
        return err_nomem(err), NULL;
    if (library_open(LIBRARY_NCCL, 0, &nccl->library, err) &&
        library_load(&nccl->library, symbols, sizeof symbols / sizeof *symbols, &nccl->table, err))
        return nccl;
    free(nccl);
    return NULL;
}

/* Returns the state, which is opened at first use; NULL: it cannot be opened. */
static struct nccl *nccl_state(struct cuda *cuda)
{
    struct err why = { 0 };
    if (!cuda->library_close[LIBRARY_NCCL]) {
        cuda->library_close[LIBRARY_NCCL] = close_nccl;
        cuda->library_state[LIBRARY_NCCL] = nccl_open(&why);
        cuda->base.log.opened += cuda->library_state[LIBRARY_NCCL] != NULL;
        if (err_is_set(&why))
            err_set(&cuda->base.without, ERR_ENV, "the host computes collectives: %.800s",
                    why.text);
    }
    return cuda->library_state[LIBRARY_NCCL];
}

static bool nccl_check(const struct nccl *nccl, int result, const char *what, struct err *err)
{
    return result == NCCL_OK ||
           err_set(err, ERR_ENV,
                   "NCCL: %s: %s ($NCCL_DEBUG=WARN says more; $SYMTAPE_CUDA_WITHOUT=nccl runs "
                   "without it)",
                   what, nccl->table.error_text(result));
}

/* ---- Lost devices ---- */

static bool is_lost(const struct cuda *member)
{
    const struct driver *d = &member->driver;
    if (err_is_set(&member->failures.lost))
        return true;
    d->context_use(member->context);
    int rc = d->stream_query(member->stream);
    return rc != CU_OK && rc != CU_NOT_READY && cuda_is_fatal(rc);
}

/* Returns whether the device of another member was lost. */
static bool clique_lost(struct clique *clique, const struct cuda *cuda)
{
    for (uint32_t i = 0; i < clique->n && !clique->lost; i++)
        if (clique->members[i] && clique->members[i] != cuda)
            clique->lost = is_lost(clique->members[i]);
    cuda->driver.context_use(cuda->context);
    return clique->lost;
}

/* The backend's `may_end`. */
static bool look_at_devices(struct cuda *cuda)
{
    struct nccl *nccl = cuda->library_state[LIBRARY_NCCL];
    bool lost = false;
    for (size_t i = 0; i < nccl->groups.n; i++)
        lost |= clique_lost(nccl->groups.v[i].clique, cuda);
    if (!lost)
        return true;
    for (size_t i = 0; i < nccl->groups.n; i++) {
        end_comm(nccl, nccl->groups.v[i].comm, true);
        nccl->groups.v[i].comm = NULL;
    }
    cuda->may_end = NULL;
    err_set(
        &cuda->ended, ERR_ENV,
        "NCCL: the device of another rank was lost, and the collectives that waited for it were "
        "aborted");
    return false;
}

/* ---- Communicators ---- */

/* What a rank brings to nccl_ready(). */
struct opening {
    struct cuda *cuda;
    struct nccl *nccl; /* NULL: it cannot be opened */
    void *comm;
    struct clique *clique;
};

static struct opening *opening_of(struct collective *const *all, uint32_t i)
{
    return all[i]->data;
}

/* Each rank needs NCCL and a device of its own. */
static bool can_be_used(struct collective *const *all, uint32_t n, int *devices)
{
    for (uint32_t i = 0; i < n; i++) {
        devices[i] = opening_of(all, i)->cuda->ordinal;
        for (uint32_t k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return false;
        if (!opening_of(all, i)->nccl)
            return false;
    }
    return true;
}

static bool open_group(struct collective *const *all, uint32_t n, struct err *err)
{
    int devices[RANKS_MAX] = { 0 };
    void *comms[RANKS_MAX] = { NULL };
    if (!can_be_used(all, n, devices))
        return true;
    const struct nccl *nccl = opening_of(all, 0)->nccl;
    struct clique *clique = calloc(1, sizeof *clique);
    if (!clique)
        return err_nomem(err);
    if (!nccl_check(nccl, nccl->table.init_all(comms, (int)n, devices), "ncclCommInitAll", err)) {
        free(clique);
        return false;
    }
    clique->n = clique->users = n;
    for (uint32_t i = 0; i < n; i++) {
        opening_of(all, i)->comm = comms[i];
        opening_of(all, i)->clique = clique;
        clique->members[i] = opening_of(all, i)->cuda;
    }
    return true;
}

static const struct group_comm *find_group(const struct nccl *nccl, struct str group)
{
    for (size_t i = 0; i < nccl->groups.n; i++)
        if (str_eq(nccl->groups.v[i].group, group))
            return &nccl->groups.v[i];
    return NULL;
}

/* A group without communicators is asked for again by each collective: this rank may have no
 * memory for the answer. */
bool nccl_ready(struct kernel *k, const struct collective *call, bool *usable)
{
    struct cuda *cuda = cuda_of(k);
    struct nccl *nccl = nccl_state(cuda);
    const struct group_comm *known = nccl ? find_group(nccl, call->group) : NULL;
    struct opening opening = { .cuda = cuda, .nccl = nccl };
    struct collective asked = *call;
    *usable = known != NULL;
    if (err_is_set(&cuda->ended)) {
        k->failed = true;
        return err_copy(k->err, &cuda->ended);
    }
    if (known || cuda->capture)
        return true;
    asked.prepares = true;
    asked.data = &opening;
    if (!cuda_usable(cuda, k->err) || !rank_meet(cuda->base.rank, &asked, open_group, k->err)) {
        k->failed = true;
        return false;
    }
    if (!opening.comm)
        return true;
    uint32_t name = intern(&cuda->names, call->group);
    if (name == INTERN_NONE ||
        !vec_push(&nccl->groups, (struct group_comm){ intern_text(&cuda->names, name), opening.comm,
                                                      opening.clique })) {
        nccl->table.destroy(opening.comm);
        leave(opening.clique, cuda);
        k->failed = true;
        return err_nomem(k->err);
    }
    cuda->may_end = cuda->driver.stream_query && nccl->table.abort_comm ? look_at_devices : NULL;
    *usable = true;
    return true;
}

/* ---- Collectives ---- */

static int nccl_type(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_B8:
    case DTYPE_U8: return NCCL_U8;
    case DTYPE_I8: return NCCL_I8;
    case DTYPE_I32: return NCCL_I32;
    case DTYPE_I64: return NCCL_I64;
    case DTYPE_F16: return NCCL_F16;
    case DTYPE_BF16: return NCCL_BF16;
    case DTYPE_F32: return NCCL_F32;
    case DTYPE_F64: return NCCL_F64;
    default: return -1;
    }
}

/* The sum of bools is their maximum (getNcclReduceOp() in torch/csrc/distributed/c10d/
 * ProcessGroupNCCL.cpp). */
static int nccl_op(enum reduce_op op, enum dtype dtype)
{
    switch (op) {
    case REDUCE_SUM: return dtype == DTYPE_B8 ? NCCL_MAX : NCCL_SUM;
    case REDUCE_AVG: return dtype == DTYPE_B8 ? -1 : NCCL_AVG;
    case REDUCE_PRODUCT: return NCCL_PRODUCT;
    case REDUCE_MIN: return NCCL_MIN;
    case REDUCE_MAX: return NCCL_MAX;
    default: return -1;
    }
}

bool nccl_supports(enum dtype dtype, bool reduces, enum reduce_op op)
{
    return nccl_type(dtype) >= 0 && (!reduces || nccl_op(op, dtype) >= 0);
}

/* What a rank brings to nccl_exchange(). */
struct queued {
    const struct nccl_problem *problem;
    const struct nccl *nccl;
    void *comm, *stream;
};

static void *at_address(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Queues what a rank of an all_to_all sends and receives. */
static int queue_splits(const struct queued *q, uint32_t n, enum dtype dtype)
{
    const struct nccl_table *t = &q->nccl->table;
    const struct nccl_problem *p = q->problem;
    const uint64_t each = dtype_size(dtype);
    int type = nccl_type(dtype), result = NCCL_OK;
    for (uint32_t r = 0; r < n && result == NCCL_OK; r++) {
        uint64_t from = p->from + (uint64_t)p->splits->sends_at[r] * each;
        uint64_t to = p->to + (uint64_t)p->splits->receives_at[r] * each;
        if (p->splits->sends[r])
            result = t->send(at_address(from), (size_t)p->splits->sends[r], type, (int)r, q->comm,
                             q->stream);
        if (result == NCCL_OK && p->splits->receives[r])
            result = t->receive(at_address(to), (size_t)p->splits->receives[r], type, (int)r,
                                q->comm, q->stream);
    }
    return result;
}

static int queue_one(const struct collective *c, uint32_t n)
{
    const struct queued *q = c->data;
    const struct nccl_table *t = &q->nccl->table;
    const struct nccl_problem *p = q->problem;
    const void *from = at_address(p->from);
    void *to = at_address(p->to);
    int type = nccl_type(c->dtype), op = nccl_op(p->op, c->dtype);
    switch (p->kind) {
    case COLLECTIVE_REDUCE:
        return t->all_reduce(from, to, (size_t)p->sent, type, op, q->comm, q->stream);
    case COLLECTIVE_SCATTER:
        return t->reduce_scatter(from, to, (size_t)p->received, type, op, q->comm, q->stream);
    case COLLECTIVE_GATHER:
        return t->all_gather(from, to, (size_t)p->sent, type, q->comm, q->stream);
    case COLLECTIVE_BROADCAST:
        return t->broadcast(from, to, (size_t)p->sent, type, (int)c->root, q->comm, q->stream);
    case COLLECTIVE_EXCHANGE: return queue_splits(q, n, c->dtype);
    default: return NCCL_OK;
    }
}

static bool splits_match(struct collective *const *all, uint32_t n, struct err *err)
{
    const struct collective_splits *splits[RANKS_MAX] = { 0 };
    for (uint32_t r = 0; r < n; r++)
        splits[r] = ((const struct queued *)all[r]->data)->problem->splits;
    return collective_splits_match(splits, n, err);
}

static bool queue_all(struct collective *const *all, uint32_t n, struct err *err)
{
    const struct queued *first = all[0]->data;
    const struct nccl_table *t = &first->nccl->table;
    if (first->problem->kind == COLLECTIVE_EXCHANGE && !splits_match(all, n, err))
        return false;
    int result = t->group_start();
    for (uint32_t r = 0; r < n && result == NCCL_OK; r++)
        result = queue_one(all[r], n);
    int ended = t->group_end();
    result = result == NCCL_OK ? ended : result;
    char what[64];
    snprintf(what, sizeof what, "%.*s", STR_ARG(all[0]->op));
    return nccl_check(first->nccl, result, what, err);
}

/* Meets the other ranks. */
static bool exchange(struct cuda *cuda, struct collective *call, const struct nccl_problem *problem,
                     struct err *err)
{
    const struct nccl *nccl = cuda->library_state[LIBRARY_NCCL];
    if (err_is_set(&cuda->ended))
        return err_copy(err, &cuda->ended);
    struct queued queued = { .problem = problem,
                             .nccl = nccl,
                             .comm = find_group(nccl, call->group)->comm,
                             .stream = cuda->stream };
    call->data = &queued;
    return rank_meet(cuda->base.rank, call, queue_all, err);
}

/* A collective that each launch of a captured run makes. */
struct repeated {
    struct collective call;
    struct nccl_problem problem;
    struct collective_splits splits;
};

static bool repeat(struct cuda *cuda, void *data, struct err *err)
{
    const struct repeated *r = data;
    struct collective call = r->call;
    return exchange(cuda, &call, &r->problem, err);
}

static bool keep_name(struct cuda *cuda, struct str *name)
{
    uint32_t id = intern(&cuda->names, *name);
    if (id != INTERN_NONE)
        *name = intern_text(&cuda->names, id);
    return id != INTERN_NONE;
}

static bool exchange_in_launches(struct cuda *cuda, const struct collective *call,
                                 const struct nccl_problem *problem, struct err *err)
{
    struct repeated *r = malloc(sizeof *r);
    if (!r)
        return err_nomem(err);
    *r = (struct repeated){ .call = *call, .problem = *problem, .splits = *problem->splits };
    r->problem.splits = &r->splits;
    if (keep_name(cuda, &r->call.op) && keep_name(cuda, &r->call.group) &&
        keep_name(cuda, &r->call.reduce))
        return cuda_capture_cut(cuda, repeat, r, err);
    free(r);
    return err_nomem(err);
}

bool nccl_exchange(struct kernel *k, struct collective *call, const struct nccl_problem *problem)
{
    struct cuda *cuda = cuda_of(k);
    void *stream;
    if (cuda->capture) {
        k->failed |= !k->failed && !exchange_in_launches(cuda, call, problem, k->err);
        return !k->failed;
    }
    cuda_library_begin(k, "nccl", &stream);
    if (!k->failed && !exchange(cuda, call, problem, k->err))
        k->failed = true;
    cuda_library_end(k);
    return !k->failed;
}
