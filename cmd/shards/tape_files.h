/* The tapes, logs and archives that operands name, for commands that take each by itself.
 *
 *     struct tape_files files = { 0 };
 *     bool ok = tape_files_add(&files, "nightly/", err);
 *     tape_files_sort(&files);
 *     for (size_t i = 0; i < files.paths.n; i++) ...
 *     tape_files_release(&files);
 *
 * A folder becomes the files in it, at any depth, that are named as tapes (.tape), logs (.log) and
 * archives (.pt2), compressed ones (.zst, .gz) too; hidden files and folders are passed over. */
#ifndef SYMTAPE_CMD_SHARDS_TAPE_FILES_H
#define SYMTAPE_CMD_SHARDS_TAPE_FILES_H

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

struct source_meter;

struct tape_file {
    const char *path;
    bool found; /* in a folder: nobody said that it is a tape */
};

struct tape_files {
    vec_of(struct tape_file)
    paths;
    uint64_t bytes; /* of all paths */
    struct arena arena;
};

/* Adds an operand, or what is in it. A folder without such files adds none. */
bool tape_files_add(struct tape_files *files, const char *operand, struct err *err);
/* Returns in *ret whether a file is what its name says: one that was found in a folder may be a log
 * of another program. It is looked into. */
bool tape_file_is_recording(const struct tape_file *file, struct source_meter *meter, bool *ret,
                            struct err *err);
/* Puts them in the order of their paths, each once. */
void tape_files_sort(struct tape_files *files);
void tape_files_release(struct tape_files *files);

#endif
