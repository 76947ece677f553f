/* What the compiler's caches did, as recorded: artifacts fx_graph_cache_*, aotautograd_cache_*,
 * dynamo_cache_*, precompile_cache_*, and instant chromium events of the same names
 * (torch/_inductor/codecache.py, torch/_functorch/_aot_autograd/autograd_cache.py,
 * torch/_dynamo/pgo.py).
 *
 * An artifact and an instant event report the same look-up and are listed once: an instant event
 * is omitted when an artifact of the same attempt, cache and state matches it. */
#ifndef SYMTAPE_TRACE_EVENTS_CACHES_H
#define SYMTAPE_TRACE_EVENTS_CACHES_H

#include "trace/events/chromium.h"
#include "trace/open.h"

enum cache_kind {
    CACHE_FX_GRAPH,    /* Inductor's cache of compiled FX graphs */
    CACHE_AOTAUTOGRAD, /* AOTAutograd's cache, which wraps the above */
    CACHE_DYNAMO,      /* code state (profile-guided), and Dynamo's guarded code */
    CACHE_PRECOMPILE,
    CACHE_TRITON, /* autotuning results of one kernel (triton_kernel_info) */
    CACHE_OTHER,  /* another "..._cache_..." artifact, see `name` */
    CACHE_KINDS
};

enum cache_state {
    CACHE_HIT,
    CACHE_MISS,
    CACHE_BYPASS,   /* not looked up, for a reason */
    CACHE_DISABLED, /* switched off */
    CACHE_UNKNOWN,  /* another state, see `name` ("hash", "put") */
    CACHE_STATES
};

struct cache_event {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    enum cache_kind kind;
    enum cache_state state;
    struct str name;   /* as recorded: "aotautograd_cache_bypass"; for CACHE_TRITON the kernel's */
    struct str key;    /* "" when not recorded */
    struct str reason; /* of a bypass; "" */
    struct str detail; /* cache_status_detailed: "full_miss"; exception type of a bypass; "" */
    int64_t
        taken_ns; /* time that the compile took (miss) or that was saved (hit); -1: not recorded */
};

struct cache_list {
    const struct cache_event *events; /* in the order of their records */
    uint32_t n;
    uint32_t counts[CACHE_KINDS][CACHE_STATES];
};

/* Reads the events of caches. `events` may be NULL (they are read then). The caller frees the
 * list; strings live as long as the list. */
struct cache_list *caches_read(struct trace *trace, const struct chromium_list *events,
                               struct err *err);
void caches_free(struct cache_list *list); /* NULL is allowed */

const char *cache_kind_name(enum cache_kind kind);    /* "FX graph", "AOTAutograd", "Dynamo", ... */
const char *cache_state_name(enum cache_state state); /* "hit", "miss", "bypass", ... */

#endif
