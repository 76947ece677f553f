/* A trace that is being added to a job. Private to job*.c. */
#ifndef SYMTAPE_PROFILE_RANKS_JOB_BUILD_H
#define SYMTAPE_PROFILE_RANKS_JOB_BUILD_H

#include "profile/ranks/job.h"
#include "trace/base/buf.h"
#include "trace/events/chromium.h"

/* A fact before facts are sorted by compile. */
struct loose_fact {
    uint32_t compile, number; /* in job->compiles; the order in which facts were found */
    struct fact fact;
};

struct job_build {
    struct job *job;
    struct trace *trace;
    struct chromium_list *chromium;
    uint32_t *compile_of; /* by attempt of the trace: in job->compiles; JOB_NONE */
    uint32_t *last_of;    /* by attempt: the last attempt of its compile */
    vec_of(struct loose_fact)
    loose;
    struct buf text;
    struct err *err;
};

/* Each reads one sort of records and returns false with b->err set on failure. */
bool job_read_events(struct job_build *b);
bool job_read_graphs(struct job_build *b);
bool job_read_times(struct job_build *b);

/* Returns the id of a text; INTERN_NONE when memory ran out. */
uint32_t job_keep(struct job_build *b, struct str text);
/* Returns the id of what b->text holds. */
uint32_t job_keep_text(struct job_build *b);
/* Finds or adds a place; a line without a file is JOB_NONE. Returns false when memory ran out. */
bool job_keep_place(struct job_build *b, struct str file, struct str function, uint32_t line,
                    uint32_t *ret);
/* Adds a fact to the compile of an attempt, if it is the compile's last one. Texts of INTERN_NONE
 * are failures to allocate. Returns false with b->err set when memory ran out. */
bool job_put_fact(struct job_build *b, uint32_t attempt, const struct fact *fact);

/* Returns whether an attempt is the last of its compile. */
static inline bool job_is_last(const struct job_build *b, uint32_t attempt)
{
    return attempt != TRACE_NONE && b->last_of[attempt] == attempt;
}

#endif
