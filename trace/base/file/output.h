/* Writing a file so that nothing half-written stays.
 *
 *     struct output *out = output_open("bert.tape", OUTPUT_REPLACE, err);
 *     if (!out)
 *         return false;
 *     if (!write_everything(out, err)) {       calls output_write(out, bytes, err)
 *         output_abort(out);                   the file is as it was before
 *         return false;
 *     }
 *     return output_commit(out, err);
 *
 * Bytes go to NAME.tmp-PID beside the target and reach its name by rename(), after fsync(): a
 * reader sees the old file or the whole new one. A process that is killed leaves the temporary,
 * never the name. A target behind a symbolic link is replaced, not the link; its permissions are
 * kept.
 *
 * The temporary is locked (flock) as long as it is written. The next output of this NAME removes
 * the temporaries of NAME that nobody holds locked, if they are regular files of ours with no other
 * name; what lies beside other outputs stays. The folder is held by its descriptor
 * (trace/base/file/folder.h).
 *
 * Two targets are written straight, since they cannot be renamed over: "-", which is standard
 * output, and an existing name that is not a regular file (/dev/null, a pipe). Standard output that
 * is a terminal is shown printable text (trace/base/text/printable.h); every other target gets the
 * bytes.
 *
 * Failures are ERR_ENV with the path and the system's reason ("bert.tape: No space left on
 * device"), and stick: after the first, nothing is written and output_commit fails with the same
 * text.
 *
 * Signals. None of this is for signal handlers: a handler sets a flag, the writing code sees it and
 * calls output_abort. Writes that a signal interrupts are taken up again. A reader of standard
 * output that went away raises SIGPIPE, or is an error if that is ignored. */
#ifndef SYMTAPE_TRACE_BASE_FILE_OUTPUT_H
#define SYMTAPE_TRACE_BASE_FILE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

enum output_mode {
    OUTPUT_NEW,     /* the target must not exist: ERR_USAGE otherwise, also at commit */
    OUTPUT_REPLACE, /* an existing file is replaced */
    OUTPUT_UNSYNCED /* the same, without fsync(): the caller syncs many files at once */
};

struct output;

/* Opens an output. Returns NULL on failure; nothing was created then. */
struct output *output_open(const char *path, enum output_mode mode, struct err *err);

/* Opens an output in an open folder: `name` is replaced, whatever it is, also a symbolic link;
 * only its owner can read the new file. The descriptor stays the caller's. Errors have the name. */
struct output *output_open_in(int folder, const char *name, struct err *err);

bool output_write(struct output *output, struct str bytes, struct err *err);
/* Returns the number of bytes written so far, which is the offset of the next one. */
uint64_t output_offset(const struct output *output);
/* Passes buffered bytes to the system. */
bool output_flush(struct output *output, struct err *err);

/* Flushes, syncs and renames the file. On failure the temporary is removed. The output is freed
 * in both cases. */
bool output_commit(struct output *output, struct err *err);
/* Commits several outputs: all get their names, or, if one cannot, all names lead to what they led
 * to before. A file system that cannot swap two names (renameat2()) keeps those that were replaced
 * until then. All outputs are freed. */
bool output_commit_all(struct output *const *outputs, size_t n, struct err *err);
/* Removes what was written and frees the output; NULL is allowed. Bytes that were written
 * directly to a device or to standard output cannot be taken back; buffered ones are dropped. */
void output_abort(struct output *output);

#endif
