/* Logs written back from a tape, byte for byte as they were imported. */
#ifndef SYMTAPE_TRACE_EXPORT_H
#define SYMTAPE_TRACE_EXPORT_H

#include "trace/trace.h"

struct export_sink {
    bool (*write)(void *user, struct str bytes, struct err *err);
    void *user;
};

/* Writes the log of one recording. ERR_USAGE when it is no log (a .pt2). ERR_INPUT when the tape is
 * damaged where it holds the log: what can be written is written all the same, and the error names
 * the first line that is missing. */
bool export_log(struct trace *trace, uint32_t recording, struct export_sink sink, struct err *err);

#endif
