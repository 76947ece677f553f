/* The exceptions that ended compiles, as notes: a recording that has one is not read without a word
 * about it, whatever else the command finds. */
#ifndef SYMTAPE_CMD_CLI_RECORDED_FAILURES_H
#define SYMTAPE_CMD_CLI_RECORDED_FAILURES_H

#include "cmd/cli/out.h"
#include "trace/open.h"
#include "trace/selector.h"

/* Notes "0/0 failed in PyTorch: TorchRuntimeError: ..., train.py:50" for the first of the selected
 * compiles that failed. Graph breaks after which the frame ran eagerly are left out. A tape without
 * an unsuccessful attempt is not read. Returns false with err set when memory ran out or the tape
 * could not be read. */
bool note_recorded_failures(struct trace *trace, const struct selector *selector, struct out *out,
                            struct err *err);

#endif
