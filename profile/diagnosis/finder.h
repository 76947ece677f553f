/* Private to the diagnosis: a diagnosis that is being built, and its finders.
 *
 * A finder looks for one family of causes and adds findings; FINDERS in diagnosis.c lists them all.
 * It gets its data from the profile (profile->restarts, ...) and from what was read from each trace
 * (find_input(): metrics, guards, symbols, incidents, caches).
 *
 *     struct finding *f = find_add(d, FINDING_RECOMPILE, where, key);
 *     find_cause(d, f, "%.*s was %s", ...);
 *     find_line(d, f, recording, stack);
 *     find_cost(f, recompile->ns, BASIS_MEASURED);
 *     find_evidence(d, f, "guard of %.*s: %.*s", ...);
 *     find_remedy(d, f, REMEDY_MARK_DYNAMIC, "torch._dynamo.mark_dynamic(x, %u)", dim);
 *
 * Failed allocations are kept in the build, and diagnosis_build() returns them: a finder checks
 * nothing but a NULL of find_add(). */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FINDER_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FINDER_H

#include "profile/diagnosis/diagnosis.h"
#include "profile/model/build.h"
#include "trace/events/settings.h"

struct finding_build {
    struct finding finding; /* its lists are those below, set at the end */
    int64_t weight_ns;      /* find_weight(); -1: that of its kind */
    bool absorbs, absorbed; /* find_absorb(): has a part, is a part of another finding */
    vec_of(struct str)
    evidence;
    vec_of(struct remedy)
    remedies;
};

struct finder {
    struct diagnosis diagnosis; /* first, since the caller frees it through this */
    const struct profile *p;
    struct arena arena;
    struct intern keys;           /* the key of each finding, at its index */
    struct finding_build **items; /* in the order in which they were added */
    size_t n, cap;
    struct finding *findings;       /* the same, sorted, for the caller */
    struct setting_list **settings; /* by trace; NULL: not read yet */
    struct err err;                 /* set by the first failure */
};

/* Returns what was read from the trace of a recording (an index into profile->recordings). */
const struct build_input *find_input(const struct finder *d, uint32_t recording);

/* Returns the settings of PyTorch that a trace (an index into profile->traces) recorded, or NULL
 * when they could not be read. */
const struct setting_list *find_settings(struct finder *d, uint32_t trace);
/* Returns whether a recording (an index into profile->recordings) ever had a setting with this
 * value: find_has_setting(d, 0, "torch._inductor.config", "fx_graph_cache", "False"). */
bool find_has_setting(struct finder *d, uint32_t recording, const char *module, const char *name,
                      const char *value);

/* Returns the finding of this kind with this key, which is made, or counted once more: causes that
 * are one entry have the same key ("eps of LayerNorm"). An empty key makes a finding of its own.
 * NULL when memory ran out or there are more findings than can be shown (10,000). The pointer is
 * valid until diagnosis_free(). */
struct finding_build *find_add(struct finder *d, enum finding_kind kind,
                               const struct profile_where *where, struct str key);
/* Returns whether it was made by the last find_add(), and not only counted: its texts are to be
 * written. */
bool find_is_new(const struct finding_build *f);

/* Each writes a text of the finding, formatted as by printf; a NULL finding is ignored, as is a
 * remedy that the finding has. */
void find_cause(struct finder *d, struct finding_build *f, const char *fmt, ...) ERR_PRINTF(3, 4);
void find_source(struct finder *d, struct finding_build *f, struct str source);
/* Sets the whole message of an exception. */
void find_message(struct finder *d, struct finding_build *f, struct str type, struct str reason);
void find_evidence(struct finder *d, struct finding_build *f, const char *fmt, ...)
    ERR_PRINTF(3, 4);
void find_remedy(struct finder *d, struct finding_build *f, enum remedy_kind kind, const char *fmt,
                 ...) ERR_PRINTF(4, 5);
/* Sets what the last remedy of find_remedy() does to calls. */
void find_effect(struct finding_build *f, enum remedy_effect effect);
/* Sets what the last remedy states; the text has to live as long as the finding. */
void find_fact(struct finding_build *f, struct str fact, bool negates);
/* Sets what the last remedy makes of a Dim, which is copied. */
void find_dim(struct finder *d, struct finding_build *f, const struct dim_remedy *dim);
/* Copies a text for as long as findings live. "", with d->err set, when memory ran out. */
struct str find_copy(struct finder *d, struct str text);
/* Sets the user's line: a place; or the user line of a recorded stack, with its code. */
void find_place(struct finding_build *f, struct str file, uint32_t line, struct str code);
void find_line(const struct finder *d, struct finding_build *f, uint32_t recording, stack_id stack);
/* Finds the user's line that called the compiled function, or module, of an attempt (TRACE_NONE is
 * allowed), from its dynamo_start record (_compile() in torch/_dynamo/convert_frame.py). */
bool find_call_frame(const struct finder *d, uint32_t recording, uint32_t attempt,
                     struct frame *ret);
/* Returns whether an attempt may be torch.export without Dynamo: from torch 2.15 on its records
 * have the name of a compile, but no dynamo_start; before, they belong to none (TRACE_NONE). */
bool find_may_be_export(const struct trace *trace, uint32_t attempt);
/* Adds to the cost; the basis is estimated if any part is. */
void find_cost(struct finding_build *f, int64_t ns, enum basis basis);

/* Places a finding whose time is not known, or is counted in other findings (the recompiles that a
 * setting causes), as if it cost this. */
void find_weight(struct finding_build *f, int64_t ns);
/* Places a finding first if the tape has no failure, recompile, restart or graph break: without
 * them, a cache or a setting is the cause, and slow parts are only where the time went. */
void find_weight_if_alone(const struct finder *d, struct finding_build *f);

/* Makes the findings of a kind at f's line a part of it, because both have one cause: f gets their
 * costs and remedies, and they are no entries of their own. */
void find_absorb(struct finder *d, struct finding_build *f, enum finding_kind kind);

/* The finders, each a file. */
void find_failures(struct finder *d);
void find_export_constraints(struct finder *d);
void find_asserts(struct finder *d);
void find_recompiles(struct finder *d);
void find_restarts(struct finder *d);
void find_unfinished(struct finder *d);
void find_breaks(struct finder *d);
void find_faults_and_settings(struct finder *d);
void find_eager(struct finder *d);
void find_caches(struct finder *d);
void find_cuda_graphs(struct finder *d);
void find_ranks(struct finder *d);
void find_costs(struct finder *d); /* after the others, whose costs it reads */

#endif
