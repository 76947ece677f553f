/* The prefix of a log line, as TorchLogsFormatter.format writes it (torch/_logging/_internal.py):
 *
 *     V1120 07:34:58.618000 673 torch/_dynamo/utils.py:2126] {...
 *
 * level, month and day, local time, process id, file and line that logged, then the text. There is
 * no year and no zone. */
#ifndef SYMTAPE_TRACE_TAPE_GLOG_H
#define SYMTAPE_TRACE_TAPE_GLOG_H

#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

struct glog {
    char level;         /* one of VDIWEC */
    uint16_t month_day; /* 1120 */
    uint64_t time_us;   /* since midnight */
    uint64_t pid;
    struct str path; /* may have spaces, but no ':' */
    uint32_t path_line;
};

/* Parses the prefix at the start of `line` and returns its length, through "] "; 0 when there is
 * none. */
size_t glog_parse(struct str line, struct glog *ret);
/* Prints the prefix. It equals the one that was read unless that had leading zeros or other
 * irregularities. */
void glog_print(const struct glog *glog, struct buf *out);
/* Returns the offset in `line`, at `from` or later, at which a prefix starts; line.n when there
 * is none. */
size_t glog_find(struct str line, size_t from);

#endif
