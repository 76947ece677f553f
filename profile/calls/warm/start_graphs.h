/* The graphs that Inductor was asked for in one start of a program, and what the caches answered
 * for each: compile_fx_inner() in torch/_inductor/compile_fx.py looks a graph up once, or
 * AOTAutograd's cache answers for the forward and the backward together and logs a hit of each
 * (torch/_functorch/_aot_autograd/autograd_cache.py). */
#ifndef SYMTAPE_PROFILE_CALLS_WARM_START_GRAPHS_H
#define SYMTAPE_PROFILE_CALLS_WARM_START_GRAPHS_H

#include "trace/base/intern.h"
#include "trace/events/caches.h"
#include "trace/events/metrics.h"

/* One component of a key: its name and the hash of its value, in start_texts.all. */
struct key_part {
    uint32_t name, hash;
};

struct part_list {
    uint32_t first, n; /* in start_texts.parts */
};

struct start_graph {
    uint32_t record, attempt;
    struct str compile;        /* "0/1" */
    struct str function, file; /* the compiled code object; "" if it is not recorded */
    uint32_t line;
    bool backward;
    enum cache_state state;   /* what the cache of FX graphs answered */
    bool has_aot;             /* AOTAutograd's cache was asked for this graph */
    enum cache_state aot;     /* what it answered */
    struct str aot_detail;    /* as `detail` */
    uint32_t aot_key;         /* as `key`; that of the FX graph is another one */
    uint32_t key;             /* in start_texts.all: "" if it is not recorded */
    struct str detail;        /* "full_miss", "guard_miss"; "" */
    struct str reason;        /* of a bypass, or of that of AOTAutograd's cache; "" */
    struct str guard;         /* of a "guard_miss": one of the guard expressions; "" */
    int64_t ns;               /* that a hit saved; else that the compile took; -1 */
    struct part_list parts;   /* of the key: those of the graph alone */
    uint32_t settings;        /* and all others, in start_texts.settings */
    uint32_t series, ordinal; /* the graphs of one code object and direction, from 0 */
};

/* What both starts that are compared have: equal texts are stored once, and so are the settings of
 * keys, which most graphs share. */
struct start_texts {
    struct intern all;
    struct intern series; /* code objects with the direction of a graph */
    struct intern lists;  /* of settings, as bytes */
    vec_of(struct key_part)
    parts;
    vec_of(struct part_list)
    settings; /* by text of `lists` */
};

/* Returns the parts of a list, or of the settings of a graph. */
static inline const struct key_part *start_parts(const struct start_texts *texts,
                                                 struct part_list list)
{
    return vec_from(&texts->parts, list.first);
}
static inline bool start_has_key(const struct start_texts *texts, const struct start_graph *graph)
{
    return graph->parts.n + texts->settings.v[graph->settings].n != 0;
}

struct start {
    struct trace *trace;
    uint32_t recording;
    vec_of(struct start_graph)
    graphs; /* in the order of the recording */
    uint32_t counts[CACHE_KINDS][CACHE_STATES];
    int64_t saved_ns[CACHE_KINDS];       /* by hits; of AOTAutograd with what Inductor would take */
    uint64_t remote_hits, remote_misses; /* of caches that machines share */
    bool read_sizes, wrote_sizes; /* profiles of automatic dynamic shapes (torch/_dynamo/pgo.py) */
    uint32_t n_compiles;
    int64_t compile_ns; /* of all compiles, backwards that were compiled later included */
};

/* Reads the start that a recording has, or with TRACE_NONE all of the trace. `start` is empty
 * before, and is released in any case. Returns false with err set when memory ran out or the tape
 * could not be read. */
bool start_read(struct start *start, struct start_texts *texts, struct trace *trace,
                uint32_t recording, struct err *err);
void start_release(struct start *start);
void start_texts_release(struct start_texts *texts);

#endif
