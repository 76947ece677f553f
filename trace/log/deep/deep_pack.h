/* Turns the side file of a deep recording into records of TORCH_TRACE's form, appended to `out` as
 * the text of a log: symtape-deep(5), RECORDS. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_PACK_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_PACK_H

#include "trace/log/deep/deep_file.h"

/* False when memory ran out. */
bool deep_pack(struct deep_file *file, struct buf *out, struct err *err);

/* Base name of the log that the process wrote, as its recorder knew it; "" when it did not. In the
 * arena. */
struct str deep_log_name(const struct deep_file *file, struct arena *arena);

#endif
