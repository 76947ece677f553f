/* A job: a command with the files that it needs, which runs in this process or in a worker
 * (minify/remote/launcher.h).
 *
 *     struct job job = { .number = 7, .timeout = 30, .cancel = &cancel };
 *     job_add_file(&job, STR("candidate.fx"), text, false);
 *     job_add_word(&job, JOB_TEXT, STR("./fails.sh"));
 *     job_add_word(&job, 0, STR(""));                        the path of the first file
 *     job_add_variable(&job, STR("SYMTAPE_FX"), 0, STR(""));
 *     if (job.failed) ...                                    no memory
 *     bool started = job_run(&job, &scratch, &end, &err);
 *     job_release(&job);
 *
 * The files are written to a folder of the job's own, which is removed afterwards with all that the
 * command left in it. Texts of a job are borrowed unless they are copied into its arena. */
#ifndef SYMTAPE_MINIFY_REMOTE_JOB_H
#define SYMTAPE_MINIFY_REMOTE_JOB_H

#include "minify/process/child.h"
#include "trace/base/arena.h"
#include "trace/base/file/scratch.h"
#include "trace/base/vec.h"

struct job_file {
    struct str name; /* of a file in the job's folder, without '/' */
    struct str bytes;
    bool program; /* may be executed */
};

/* The number of a file, whose path is the value, or one of these. */
#define JOB_TEXT UINT32_MAX
#define JOB_TMP  (UINT32_MAX - 1)
enum { JOB_FILES_MAX = 1000 };
struct job_value {
    uint32_t file; /* JOB_TMP: an empty folder in the job's folder */
    struct str text;
};
struct job_variable {
    struct str name;
    struct job_value value;
};

struct job {
    uint64_t number;
    uint32_t worker; /* which one runs it: 0 .. */
    double timeout;  /* seconds; 0: none */
    uint32_t input;  /* the file that is its standard input; JOB_TEXT: /dev/null */
    const atomic_bool *cancel;
    bool warm; /* a question to a warm PyTorch process: minify/remote/warm.h */
    vec_of(struct job_file)
    files;
    vec_of(struct job_value)
    words;
    vec_of(struct job_variable)
    variables; /* set in the environment that it inherits */
    struct arena arena;
    bool failed; /* memory ran out */
};

void job_add_file(struct job *job, struct str name, struct str bytes, bool program);
void job_add_word(struct job *job, uint32_t file, struct str text);
void job_add_variable(struct job *job, struct str name, uint32_t file, struct str text);
void job_release(struct job *job);

/* Runs a job in a folder below the scratch. Returns false if it did not start: see child_run(). */
bool job_run(const struct job *job, const struct scratch *scratch, struct child_end *end,
             struct err *err);

#endif
