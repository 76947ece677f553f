/* Writes what divergences_find() found: a text for people, and JSON, "symtape.ranks/1". */
#ifndef SYMTAPE_PROFILE_RANKS_DIVERGENCE_REPORT_H
#define SYMTAPE_PROFILE_RANKS_DIVERGENCE_REPORT_H

#include "profile/ranks/divergence.h"
#include "profile/report/report.h"

#define SCHEMA_RANKS "symtape.ranks/1"

/* Writes the verdict in its first lines, then who waits for whom, the other divergences, and phases
 * in which a rank is slower. */
void divergences_text(const struct divergences *found, const struct job *job,
                      const struct report_options *options, struct buf *out);
void divergences_json(const struct divergences *found, const struct job *job, struct buf *out);

/* Appends one sentence without its ranks: "calls all_reduce in 0/0 with [7], the others with [8]".
 */
void divergence_sentence(const struct job *job, const struct divergence *d, struct buf *out);

/* Ranks that wait in the same place, or that are elsewhere: of found->waits those of the same group
 * number. */
struct wait_groups {
    uint32_t *group; /* by number in found->waits */
    uint32_t n;
};
/* Returns false when memory ran out. */
bool wait_groups_make(struct wait_groups *ret, const struct divergences *found,
                      const struct job *job);
void wait_groups_release(struct wait_groups *groups);
/* Returns whether a state is one in which a rank waits for others. */
bool wait_is_for_others(enum wait_state state);

#endif
