/* What the files of `symtape minify` share. */
#ifndef SYMTAPE_CMD_MINIFY_MINIFY_H
#define SYMTAPE_CMD_MINIFY_MINIFY_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "minify/minify.h"
#include "minify/oracle/oracle_hidden.h"
#include "minify/oracle/oracle_torch.h"
#include "minify/repro/repro.h"
#include "minify/repro/repro_verify.h"
#include "minify/search/why.h"

struct minify_args {
    /* What fails. */
    const char *check, *expect, *guard, *specializes, *cost, *torch, *backend, *ops, *mismatch;
    bool cpu, tf32;
    bool invert;
    const char *crash_is;
    struct opt_number also_interesting;
    const char *inject, *set;
    /* What is written. */
    const char *output, *fx, *repro, *issue, *good, *allow;
    bool overwrite, anonymize, json;
    /* How the search goes. */
    struct opt_number jobs, repeat, max_calls;
    const char *timeout, *deadline, *journal, *passes;
    bool resume, force, list_passes;
};

/* One run of the command. */
struct minify_job {
    struct cmd *cmd;
    const struct minify_args *args;
    const char *tape; /* where the best goes; "-" is standard output */
    char *journal;    /* NULL: none */
    char *aside;      /* folder of candidates that fail otherwise */
    struct candidate *whole;
    struct oracle *oracle;
    struct repro_what repro;        /* what fails, for programs that show it */
    struct torch_first torch;       /* of --torch-oracle */
    struct repro_verified verified; /* of --repro */
    bool is_verified;
    struct cand_aliases aliases; /* of --anonymize: what took the place of names */
    struct redact_known known;   /* of --anonymize: what answers may not tell */
    char host[256];
    struct arena texts; /* hidden ones */
    struct str expect;  /* --expect, as the oracle and the files get it */
    struct why_list whys;
    bool has_whys, has_good;
    struct minify_options options;
    struct minify_result result;
    bool saved;            /* the tape is there */
    uint32_t asides;       /* written so far */
    uint64_t status_asked; /* SIGUSR1s answered */
    struct buf set_text;
    struct buf asked_at; /* of --guard: where the user's code asked for it, when it was recorded */
};

/* minify_input.c: the candidate that the operand names. False: err. */
bool minify_read_input(struct minify_job *job, struct err *err);

/* minify_oracle.c: the oracle that the options name. */
bool minify_make_oracle(struct minify_job *job, struct err *err);

/* minify_hide.c: --anonymize. The candidate loses its names before anything is asked about it, so
 * that no answer holds them; texts that come from elsewhere are redacted. Nothing without that
 * option. */
bool minify_hide_input(struct minify_job *job, struct err *err);
bool minify_hide_oracle(struct minify_job *job, struct err *err);
bool minify_hide_text(struct minify_job *job, struct str *text, struct err *err);

/* minify_options.c: numbers, durations, names of passes, places of files. */
bool minify_read_options(struct minify_job *job, struct err *err);
void minify_release_options(struct minify_job *job);
/* "90", "90s", "15m", "2h" */
bool minify_read_seconds(const char *option, const char *text, double *ret, struct err *err);

/* minify_files.c: what is written while it runs, and at its end. */
bool minify_save(void *job, const struct candidate *best, struct err *err);
void minify_aside(void *job, const struct candidate *candidate, const struct answer *answer);
bool minify_write_files(struct minify_job *job, struct err *err);
/* What goes away with each part that is left: asked where asking is cheap or a file wants it. */
bool minify_find_whys(struct minify_job *job, struct err *err);
/* candidate.py of --check. */
bool minify_print_py(void *job, const struct candidate *candidate, struct buf *out);

/* Names of a program that are not as recorded, told; also of export --python. */
void minify_note_renamed(struct out *out, const char *file, const struct repro_notes *notes);

/* minify_report.c */
void minify_show_progress(void *job, const struct minify_progress *progress);
int minify_report(struct minify_job *job); /* to the data, as text or JSON */
const char *minify_verdict(const struct minify_result *result);

#endif
