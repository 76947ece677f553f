/* Declarations that the files of `symtape collect` and `symtape merge` share. */
#ifndef SYMTAPE_CMD_COLLECT_COLLECT_H
#define SYMTAPE_CMD_COLLECT_COLLECT_H

#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/shards/shard.h"
#include "cmd/shards/tape_files.h"
#include "profile/corpus/corpus.h"
#include "trace/base/text/json_write.h"
#include "trace/open.h"

/* What one tape of the output comes from: a file, standard input, or a corpus. */
struct collect_input {
    struct corpus_tape tape;
    const char *path; /* of a file; NULL: another corpus has it */
    bool piped;       /* it is standard input */
    bool present;     /* the output has it already */
    bool skipped;     /* it could not be read, which was told */
    uint32_t corpus;  /* index into `corpora`, and the tape's number there */
    uint64_t number;
};

/* Few of many corpora are open at a time. */
enum { COLLECT_OPEN = 16 };

struct collect_corpus {
    const char *path;
    struct corpus_reader *reader; /* NULL: not open now */
    uint64_t used;                /* when it was used last: a count */
};

struct collect {
    struct cmd *cmd;
    const char *revision, *name; /* --revision, --name; NULL: none */
    bool strict;
    struct arena arena;
    struct stat before; /* the output when it was read; zeros if there was none */
    vec_of(struct collect_corpus)
    corpora; /* the first is the output, if there is one already */
    vec_of(struct collect_input)
    inputs;                  /* after collect_sort(): by key, each once */
    uint64_t n_used;         /* how often a corpus was used */
    struct tape_files files; /* owns the paths */
    struct buf piped;        /* the bytes of standard input */
    uint64_t kept;           /* bytes that the inputs' names take */
    uint64_t n_given;        /* files that were named or found, and tapes of corpora that were */
    uint64_t n_present;      /* tapes that the output had before */
    uint64_t n_added;        /* tapes that it has now and had not */
    uint64_t n_passed_over, n_failed;
    int code;                 /* the worst exit code of a file that could not be read */
    struct buf failures_json; /* {"name": ..., "error": ...} of each, for --json */
    struct json_writer failures;
};

void collect_init(struct collect *collect, struct cmd *cmd);
void collect_release(struct collect *collect);

/* Adds a corpus's tapes, or a file. A file that cannot be read is told and counted, and no
 * failure. */
bool collect_add_corpus(struct collect *collect, const char *path, struct err *err);
bool collect_add_file(struct collect *collect, const struct tape_file *file, struct err *err);
/* Opens a corpus, if it is not open, and closes the one that was not used for the longest time if
 * too many are. NULL on failure. */
struct corpus_reader *collect_reader(struct collect *collect, uint32_t corpus, struct err *err);
/* Adds the operands: corpora, folders and files, of which the shard has a part. */
bool collect_add_operands(struct collect *collect, const struct shard *shard, struct err *err);
/* Puts the inputs in the order of a corpus. Of equal ones the one that is present stays, or else
 * that of the smallest name. */
void collect_sort(struct collect *collect);

/* Tells why a file could not be read, and counts it. */
void collect_fail(struct collect *collect, struct collect_input *input, struct err *err);

/* Where the rows of a tape go. */
struct collect_target {
    struct table_sink *(*begin)(void *user, const struct corpus_tape *tape, struct err *err);
    void *user;
};

enum collect_result {
    COLLECT_ADDED,
    COLLECT_SKIPPED, /* the file cannot be read, which was told; nothing was begun */
    COLLECT_HALF,    /* the same, but rows of it were written, which must be taken back */
    COLLECT_STOPPED, /* the output cannot be written: err is set */
};

/* Passes the rows of an input to a target. */
enum collect_result collect_rows(struct collect *collect, struct collect_input *input,
                                 const struct collect_target *target, struct err *err);

/* Writes the corpus, and the folder of JSON lines. */
bool collect_write(struct collect *collect, const char *output, struct err *err);
bool collect_write_lines(struct collect *collect, const char *folder, struct err *err);

/* Joins the operands, which are corpora, into the output. Returns the exit code. */
int collect_corpora(struct cmd *cmd, const char *output);

/* Prints what was done. Returns the exit code. */
int collect_report(struct collect *collect, const char *output, bool json);

#endif
