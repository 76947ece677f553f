/* The files of a folder that dash reads, sorted by kind and then by path. */
#ifndef SYMTAPE_CMD_DASH_DASH_FILES_H
#define SYMTAPE_CMD_DASH_DASH_FILES_H

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

enum dash_file_kind {
    DASH_FILE_FACTS,   /* point.json */
    DASH_FILE_RESULTS, /* .csv, .jsonl, .ndjson, compressed too */
    DASH_FILE_TAPE,    /* .tape, .log, .pt2, compressed too */
    DASH_FILE_OTHER
};
enum dash_file_kind dash_file_kind(struct str path);

struct dash_file {
    const char *path;
    enum dash_file_kind kind;
};

struct dash_files {
    vec_of(struct dash_file)
    list;
    struct arena arena; /* of the paths */
};

/* Adds the files of a folder and of the folders in it, `depth` levels deep; hidden ones and links
 * to folders are not entered, and files of other kinds are left out. Returns false with err set:
 * ERR_ENV for a folder that cannot be read, or out of memory. */
bool dash_files_of_folder(const char *folder, unsigned depth, struct dash_files *files,
                          struct err *err);
bool dash_files_add(const char *path, enum dash_file_kind kind, struct dash_files *files,
                    struct err *err);
void dash_files_sort(struct dash_files *files);
void dash_files_release(struct dash_files *files);

#endif
