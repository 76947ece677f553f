/* Writes logs back from a tape, byte for byte as they were imported. */
#ifndef SYMTAPE_TRACE_LOG_EXPORT_H
#define SYMTAPE_TRACE_LOG_EXPORT_H

#include "trace/open.h"

struct export_sink {
    bool (*write)(void *user, struct str bytes, struct err *err);
    void *user;
};

/* Writes the log of one recording. It fails with ERR_USAGE when the recording is no log (a
 * .pt2), and with ERR_INPUT when the part of the tape that has the log is damaged: everything
 * readable is written, and the error names the first line that is missing. */
bool export_log(struct trace *trace, uint32_t recording, struct export_sink sink, struct err *err);

/* The same log, read piece by piece; source_of_reader() takes this reader. */
struct export_reader;
struct export_reader *export_open(struct trace *trace, uint32_t recording, struct err *err);
bool export_read(void *reader, void *buffer, size_t size, size_t *ret_n, struct err *err);
/* Returns the error with which export_log() would have failed, or NULL when nothing is missing. */
const struct err *export_damage(const struct export_reader *reader);
void export_close(struct export_reader *reader); /* NULL is allowed */

#endif
