/* Turns the side file of a deep recording into records of TORCH_TRACE's format, which are
 * appended to `out` as the text of a log: symtape-deep(5), RECORDS. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_PACK_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_PACK_H

#include "trace/log/deep/deep_file.h"

/* Writes the records. Returns false when memory ran out. */
bool deep_pack(struct deep_file *file, struct buf *out, struct err *err);

/* Returns the base name of the log that the process wrote, if its recorder knew it; otherwise
 * "". The text is in the arena. */
struct str deep_log_name(const struct deep_file *file, struct arena *arena);

#endif
