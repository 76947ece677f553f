/* What the guards of entries usually take. PyTorch measures each entry once, when it is compiled,
 * and that measurement can have a garbage collection or another process in it. */
#ifndef SYMTAPE_PROFILE_CALLS_GUARDS_USUAL_LATENCY_H
#define SYMTAPE_PROFILE_CALLS_GUARDS_USUAL_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

struct guard_latency {
    double time;   /* in any unit; 0 or less: it is not known */
    double guards; /* of the entry */
};

/* Takes, for each entry whose time is more than 8 times what as many guards take by the median of
 * all entries, that time. Fewer than 3 entries are left as they are. Returns false when memory ran
 * out. */
bool usual_latencies(struct guard_latency *entries, size_t n);

#endif
