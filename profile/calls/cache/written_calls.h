/* Calls that a user writes down: "s27=4,8,8,6;L['n']=3" stands for four calls, in which the size
 * s27 has these values and L['n'] is 3.
 *
 * A name is a symbol of the recording, which stands for its source, a size (L['x'].size()[0],
 * L['x'].shape[0] or L['x'].size(0)), or another source. x stands for the local L['x']. Values are
 * integers, floats, True, False, None or strings in quotes; the last one of a list is repeated. A
 * tensor of which a size is given is otherwise what the guards of its first compile say of it.
 * Whatever else a call has is as it was. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_WRITTEN_CALLS_H
#define SYMTAPE_PROFILE_CALLS_CACHE_WRITTEN_CALLS_H

#include "trace/base/buf.h"
#include "trace/open.h"

enum { WRITTEN_INPUTS = 64, WRITTEN_CALLS = 1 << 20 };

/* Appends the calls as JSON lines (call_log.h). Returns false with err set: ERR_USAGE if the text
 * cannot be read, if the tape does not have what it names, or if the inputs are of different code
 * objects; or when memory ran out or the tape could not be read. */
bool written_calls_read(struct trace *trace, uint32_t recording, struct str text, struct buf *lines,
                        struct err *err);

#endif
