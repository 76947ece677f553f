/* Files that a command's words name, for a job that another machine runs. */
#ifndef SYMTAPE_MINIFY_REMOTE_COMMAND_FILES_H
#define SYMTAPE_MINIFY_REMOTE_COMMAND_FILES_H

#include "minify/process/command_line.h"
#include "minify/remote/job.h"
#include "trace/base/buf.h"

/* By word: the file that is sent along, or nothing. */
struct command_file {
    struct buf bytes;
    char name[64]; /* in a job's folder; "" : the word is a text */
    bool program;
};
struct command_files {
    vec_of(struct command_file)
    list;
};

/* Reads the files that words name, except those of the system (below /usr, /bin, /lib and so on),
 * which other machines have. Returns false with ERR_USAGE for one of more than 64 MiB, or with
 * ERR_ENV. */
bool command_files_read(struct command_files *files, const struct command_line *command,
                        struct err *err);
/* Appends the bytes of a file that is sent to workers, with the same errors. */
bool command_file_bytes(const char *path, struct buf *ret, struct err *err);
/* Adds the words and the files to a job. With no files read, all words are texts. */
void command_files_add(const struct command_files *files, const struct command_line *command,
                       struct job *job);
void command_files_release(struct command_files *files);

#endif
