/* What the user named, as a list of inputs: a folder becomes the recordings in it.
 *
 *     struct source_list list = { 0 };
 *     if (!source_list_add(&list, "runs/", err) || !source_list_add(&list, "-", err)) ...
 *     for (size_t i = 0; i < list.paths.n; i++) use(list.paths.v[i]);
 *     source_list_release(&list);
 *
 * In a folder, and in the folders directly in it (torchrun makes one a rank; hidden ones are not
 * entered), these regular files count, links to them included:
 *   dedicated_log_torch_trace*.log   what TORCH_TRACE writes: always, even if damaged or empty
 *   *.log                            if a header line of TORCH_TRACE is in its first 64 KiB, or if
 *                                    it cannot be read, so that whoever opens it says why
 *   *.pt2                            if it is a zip archive
 *   *.deep                           if it is the side file of a deep recording
 * and the logs compressed too: .log.zst, .log.gz. Each file once, in the order of strverscmp, so
 * that rank_2 comes before rank_10. */
#ifndef SYMTAPE_TRACE_LOG_SOURCE_LIST_H
#define SYMTAPE_TRACE_LOG_SOURCE_LIST_H

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

struct source_meter;

struct source_list {
    struct source_meter *meter; /* NULL, or notified of the zstd windows of files */
    vec_of(const char *)
    paths;                /* owned by the list */
    size_t n_passed_over; /* number of *.log files that are no TORCH_TRACE logs */
    struct arena arena;
};

/* Adds what `input` names: itself, unopened, or the recordings in it if it is a folder. It fails
 * with ERR_INPUT for a folder without recordings and with ERR_ENV for an unreadable one; the
 * text names the folder. */
bool source_list_add(struct source_list *list, const char *input, struct err *err);
/* Returns in *ret whether a file counts, if it is in a folder. */
bool source_list_takes(const char *path, struct source_meter *meter, bool *ret, struct err *err);
void source_list_release(struct source_list *list);

#endif
