/* Writers for other programs' viewers. Each appends to a buffer, and returns false with err set
 * when it failed; a buffer that could not grow is checked by the caller.
 *
 *   folded      collapsed stacks, "root;child;leaf 1234", as flamegraph.pl, speedscope and Perfetto
 *               read them: times are microseconds. Of one view, or of the profile's groups (--by)
 *   speedscope  speedscope's own JSON: a sampled profile for each view
 *   pprof       a gzipped profile.proto: a sample type for each view. Not text
 *   chrome      phases as complete ("X") events, guards as instants, counters as tracks, and the
 *               views as threads of a process of their own, for Perfetto, speedscope and HTA
 *   timeline    the same without the views
 *
 * Views are those of stack_views.h. */
#ifndef SYMTAPE_PROFILE_VIEWERS_VIEWERS_H
#define SYMTAPE_PROFILE_VIEWERS_VIEWERS_H

#include "profile/viewers/stack_views.h"
#include "trace/base/buf.h"

/* `view`: the only one to write, or STACK_VIEWS: all; of folded stacks the phases, or the groups
 * that the profile has. */
bool viewer_folded(const struct profile *profile, enum stack_view_id view, struct buf *out,
                   struct err *err);
bool viewer_speedscope(const struct profile *profile, enum stack_view_id view, struct buf *out,
                       struct err *err);
bool viewer_pprof(const struct profile *profile, enum stack_view_id view, struct buf *out,
                  struct err *err);
bool viewer_chrome(const struct profile *profile, enum stack_view_id view, struct buf *out,
                   struct err *err);
bool viewer_timeline(const struct profile *profile, struct buf *out, struct err *err);

/* Builds one view, or all if `view` is STACK_VIEWS. For the writers. */
struct stack_views *viewer_views(const struct profile *profile, enum stack_view_id view,
                                 struct err *err);

#endif
