/* Reads small text files that options name: rules, baselines. */
#ifndef SYMTAPE_CMD_CLI_TEXT_FILE_H
#define SYMTAPE_CMD_CLI_TEXT_FILE_H

#include "trace/base/buf.h"
#include "trace/log/source.h"

enum { TEXT_FILE_MAX = 1 << 24 };

/* Appends the content of a file ("-": standard input; compressed files are decompressed). It
 * fails with ERR_INPUT when the file is longer than TEXT_FILE_MAX. `meter` is notified of the
 * bytes that are read; it may be NULL. */
bool text_file_read(const char *path, struct source_meter *meter, struct buf *text,
                    struct err *err);

#endif
