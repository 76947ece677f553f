/* What the caches of compiled artifacts answered for the compiles of a recording: AOTAutograd's and
 * that of FX graphs (torch/_functorch/_aot_autograd/autograd_cache.py,
 * torch/_inductor/codecache.py).
 *
 * Both look a key up, a hash of components (the graph, each input, settings), and take the first
 * candidate whose guard expression holds for the hints. A key that was not found is explained by
 * the components that differ from the look-up of the compile before. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_ARTIFACT_LOOKUPS_H
#define SYMTAPE_PROFILE_CALLS_CACHE_ARTIFACT_LOOKUPS_H

#include "trace/events/caches.h"

struct artifact_lookup {
    struct str compile; /* "0/1" */
    enum cache_kind kind;
    enum cache_state state;
    bool backward;      /* of the graph of a backward */
    struct str key;     /* "" if it is not recorded */
    struct str detail;  /* "full_miss", "guard_miss"; the reason of a bypass; "" */
    struct str differs; /* "gm, example_inputs[0]": components that the look-up of the compile of
                           the code object before did not have; "" if none or not recorded */
    double seconds;     /* saved by a hit, taken after a miss; negative if it is not recorded */
};

struct artifact_lookups {
    struct arena arena;
    vec_of(struct artifact_lookup)
    rows; /* in the order of the recording */
};

/* Returns false with err set when memory ran out or the tape could not be read. */
bool artifact_lookups_read(struct artifact_lookups *ret, struct trace *trace, uint32_t recording,
                           struct err *err);
void artifact_lookups_release(struct artifact_lookups *lookups);

#endif
