/* Private to profile/viewers: the views of a profile in Chrome's trace format. The format has times
 * and no trees of sums, so that a view is a thread whose events nest as its frames do, each as long
 * as its weight. */
#ifndef SYMTAPE_PROFILE_VIEWERS_CHROME_SUMS_H
#define SYMTAPE_PROFILE_VIEWERS_CHROME_SUMS_H

#include "profile/viewers/stack_views.h"
#include "trace/base/text/json_write.h"

/* Writes the views that have nodes, as threads of the process `pid`, from time 0 on: weights that
 * are counts are a microsecond each. Returns false with err set when memory ran out. */
bool chrome_put_sums(const struct profile *profile, const struct stack_views *views, uint64_t pid,
                     uint64_t thread, struct json_writer *w, struct err *err);

/* Names a process (what "process_name") or one of its threads ("thread_name"). */
void chrome_put_name(struct json_writer *w, const char *what, uint64_t pid, uint64_t tid,
                     struct str name);

#endif
