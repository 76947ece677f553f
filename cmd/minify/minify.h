/* Declarations that the files of `symtape minify` share. */
#ifndef SYMTAPE_CMD_MINIFY_MINIFY_H
#define SYMTAPE_CMD_MINIFY_MINIFY_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "minify/minify.h"
#include "minify/oracle/cost.h"
#include "minify/oracle/oracle_hidden.h"
#include "minify/oracle/oracle_torch.h"
#include "minify/process/torch_python.h"
#include "minify/remote/launcher.h"
#include "minify/repro/repro.h"
#include "minify/repro/repro_verify.h"
#include "minify/search/why.h"

#define MINIFY_TAPE "minified.tape" /* the default of -o */

struct minify_args {
    /* The options that say when a graph fails. */
    const char *check, *error, *guard, *specializes, *cost, *torch, *backend, *has_ops, *mismatch;
    const char *python, *import, *env, *config, *values;
    bool cpu, tf32;
    bool invert;
    const char *crash_is;
    struct opt_number also_interesting;
    const char *inject_fault;
    struct opt_sizes sizes;
    /* The files that are written. */
    const char *output, *fx, *repro, *issue, *good, *allow;
    bool overwrite, anonymize, json;
    /* The options of the search. */
    struct opt_number jobs, repeat, max_calls;
    const char *timeout, *deadline, *journal, *passes, *launcher;
    bool resume, overwrite_journal, list_passes;
};

/* The processor time that compiling takes in PyTorch. */
struct minify_compiled {
    bool known;
    double before, after; /* seconds, of the whole and of the smallest graph; negative: none */
    struct str why;       /* the smallest graph was not compiled */
};

/* One run of the command. */
struct minify_job {
    struct cmd *cmd;
    const struct minify_args *args; /* &chosen */
    struct minify_args chosen;      /* the options, and what minify_pick() chose */
    const char *operand;            /* what is reduced: the operand, or what was picked of it */
    bool program;                   /* the operands are the command of a program */
    int status;                     /* with which that program ended */
    double program_seconds;         /* that it took */
    struct str program_python;      /* which imported PyTorch in it; "" */
    struct torch_python python;     /* minify_choose_python() */
    bool has_noted_python;
    bool nothing_failed;    /* neither the program nor a compile of it */
    bool is_picked;         /* by minify_pick(), which set these: */
    bool traced;            /* tracing succeeded before the compile failed */
    struct str failed;      /* the failure on the tape */
    struct str failed_at;   /* "model.py:8: if n > 3:"; "" */
    bool outside;           /* of torch.export or aot_compile(): no backend is asked */
    struct str exception;   /* the type of the exception on the tape; "" */
    struct str failed_type; /* the same if the tape has no message with it; "" */
    const char *tape;       /* where the best goes; "-" is standard output */
    char *journal;          /* NULL: none */
    char *aside;            /* folder of candidates that fail differently */
    vec_of(const char *)
    graphs;                  /* among which the one that fails is searched: operands, in `texts` */
    const char *wrong_graph; /* minify_find_frame(): the one that makes the program fail; NULL */
    struct candidate *whole;
    bool gradients;     /* its inputs require gradients where they did */
    bool calls_backend; /* chosen.backend is that of the program's calls, by its name */
    bool all_right;     /* each of `graphs` was asked about, and none fails alone */
    bool has_settings;
    struct str settings; /* PyTorch's options in the recording, for oracle_torch_settings(); "" */
    struct oracle *oracle;
    struct oracle *torch_oracle;    /* of --torch-oracle, within `oracle`; NULL */
    struct oracle *timing;          /* of --cost with --torch-oracle seconds; NULL */
    struct launcher *launcher;      /* of --launcher; NULL */
    struct repro_what repro;        /* the failure, for programs that reproduce it */
    struct torch_first torch;       /* of --torch-oracle */
    struct torch_bisected bisected; /* texts in `texts` */
    bool has_bisected;
    struct minify_compiled compiled; /* of `timing` */
    struct repro_verified verified;  /* of --repro */
    bool is_verified;
    struct cand_aliases aliases; /* for --anonymize: the replacements of names */
    struct redact_known known;   /* for --anonymize: the secrets that answers must not contain */
    char host[256];
    struct arena texts; /* hidden ones */
    struct str error;   /* --error, as the oracle and the files get it */
    struct why_list whys;
    bool has_whys, has_good;
    struct minify_options options;
    struct minify_result result;
    bool saved;            /* the tape was written */
    uint32_t asides;       /* written so far */
    uint64_t status_asked; /* SIGUSR1s answered */
    struct buf asked_at;   /* for --guard: the line of the user's code that asked for it in the
                            * recording */
};

/* minify_record.c: whether the operands are the command of a program: several words, or one after
 * "--" that is no tape. */
bool minify_runs_program(const struct cmd *cmd);
/* Runs the program and packs what it compiled into job->operand. */
bool minify_record(struct minify_job *job, struct err *err);

/* minify_pick.c: if nothing says which graph of the tape is meant and what its failure is, picks
 * both, and names the files that are written. What is picked is noted. */
bool minify_pick(struct minify_job *job, struct err *err);
bool minify_names_oracle(const struct minify_args *args);
/* Notes what will be run, and with --torch-oracle by which Python, once. */
bool minify_note_oracle(struct minify_job *job, struct err *err);
bool minify_is_failure_of_tape(const struct minify_job *job, struct str message);
/* Names the files of --repro, --issue and --good beside the tape, unless they are named. */
bool minify_name_files(struct minify_job *job, struct err *err);
/* Names a file beside the tape, as minified.py is beside minified.tape, unless *ret is set. */
bool minify_name_beside(struct minify_job *job, const char *ending, const char **ret,
                        struct err *err);

/* Keeps a text, and releases the buffer. NULL: out of memory. */
const char *minify_keep(struct minify_job *job, struct buf *text);

/* minify_backend.c: chooses the backend that failed, unless one is named. */
struct failure;
bool minify_choose_backend(struct minify_job *job, const struct failure *failure, struct err *err);
/* Chooses that of the program's calls, if the recording has them. */
bool minify_take_backend(struct minify_job *job, struct trace *trace, struct err *err);

/* minify_graphs.c: lists the graphs of Dynamo that PyTorch is asked about if --torch-oracle is
 * given a tape or a compile; the operand becomes the first. */
bool minify_list_graphs(struct minify_job *job, struct err *err);
/* Asks about all of them with inputs of other values (repro_values), until one fails. */
bool minify_try_values(struct minify_job *job, struct err *err);
/* Makes the first of them the one that is asked about. */
bool minify_first_graph(struct minify_job *job, struct err *err);
/* Goes on until a graph fails, or to the last one. PyTorch was asked about the first. */
bool minify_find_graph(struct minify_job *job, struct err *err);

/* Asks PyTorch about the graph with gradients, if it was right without; its inputs require them
 * then, if they did in the recording. */
bool minify_ask_gradients(struct minify_job *job, struct err *err);
/* Makes its inputs require none again. */
bool minify_drop_gradients(struct minify_job *job, struct err *err);

/* minify_python.c: chooses the Python whose PyTorch is asked, and which verifies programs, unless
 * that is done. */
bool minify_choose_python(struct minify_job *job, struct err *err);
/* Appends "/usr/bin/python3 ($SYMTAPE_PYTHON, torch 2.13.0)", which is noted then. */
void minify_put_python(struct minify_job *job, struct buf *out);
/* Notes which Python runs the program of a file, unless it is noted already. */
void minify_note_python(struct minify_job *job, const char *file);
/* Notes that the failure was recorded with another PyTorch. */
void minify_note_release(const struct minify_job *job);

/* minify_settings.c: keeps the options of PyTorch that the recording has for a compile. */
bool minify_read_settings(struct minify_job *job, struct trace *trace,
                          const struct selector *selector, struct err *err);
/* Of a graph that does not fail: notes those that differ from PyTorch's here. Those of the
 * program that the user let run are added to --config, and *again is set: to be asked again. */
bool minify_find_settings(struct minify_job *job, bool *again, struct err *err);

/* minify_frames.c: if none of the graphs of a program is wrong alone, bisects which of them makes
 * the program fail, by running it again. */
bool minify_find_frame(struct minify_job *job, struct err *err);

/* minify_input.c: loads the candidate that the operand names. Returns false with err set on
 * failure. */
bool minify_read_input(struct minify_job *job, struct err *err);
/* Loads it in the place of the one that is there. */
bool minify_read_again(struct minify_job *job, struct err *err);

/* minify_oracle.c: checks the options that select an oracle, before a program is run for it; makes
 * that oracle. */
bool minify_check_oracle(const struct minify_job *job, struct err *err);
bool minify_make_oracle(struct minify_job *job, struct err *err);

/* minify_seconds.c: the estimated time of compiling a graph, by the cost model of profile/model. */
bool minify_estimate_ms(const struct candidate *candidate, struct cost_nodes nodes, uint64_t *ms,
                        struct err *err);
/* Sets the seconds of a table, in all and by operator; *release: that of PyTorch whose units the
 * estimate has. */
bool minify_estimate_table(const struct candidate *candidate, struct cost_table *table,
                           int *release, struct err *err);

/* minify_cost.c: whether the options ask only what the graph costs; prints that. */
bool minify_only_costs(const struct minify_args *args);
int minify_print_cost(struct minify_job *job);

/* minify_inductor.c: bisects the compiler on the smallest graph; appends "inductor, lowerings:
 * relu". */
bool minify_bisect_inductor(struct minify_job *job, struct err *err);
void minify_put_bisected(const struct minify_job *job, struct buf *out);

/* minify_compiled.c: --cost with --torch-oracle seconds: the cost decides what is accepted, and
 * PyTorch compiles the whole graph before the search, and the smallest after it. */
bool minify_times_result(const struct minify_args *args);
bool minify_time_whole(struct minify_job *job, struct err *err);
bool minify_time_smallest(struct minify_job *job, struct err *err);
void minify_put_compiled(const struct minify_job *job, struct buf *out);

/* minify_hide.c: --anonymize. The names of the candidate are replaced before the oracle is asked,
 * so that no answer contains them; texts from elsewhere are redacted. Does nothing without that
 * option. */
bool minify_hide_input(struct minify_job *job, struct err *err);
bool minify_hide_oracle(struct minify_job *job, struct err *err);
bool minify_hide_text(struct minify_job *job, struct str *text, struct err *err);

/* minify_options.c: reads numbers, durations, names of passes and names of files. */
bool minify_read_options(struct minify_job *job, struct err *err);
/* Checks that the files can be written: those that are named so far. */
bool minify_check_files(const struct minify_job *job, struct err *err);
void minify_release_options(struct minify_job *job);
/* "90", "90s", "15m", "2h" */
bool minify_read_seconds(const char *option, const char *text, double *ret, struct err *err);

/* minify_files.c: writes files during the search and at its end. */
bool minify_save(void *job, const struct candidate *best, struct err *err);
void minify_aside(void *job, const struct candidate *candidate, const struct answer *answer);
bool minify_write_files(struct minify_job *job, struct err *err);
/* Whether the whole graph was asked about before the search ended; else no file is written. */
bool minify_has_result(const struct minify_job *job);
/* Finds out why each remaining part is needed, if checks are cheap or a file needs the reasons. */
bool minify_find_whys(struct minify_job *job, struct err *err);
/* Writes the program ($SYMTAPE_PY) of --check. */
bool minify_print_py(void *job, const struct candidate *candidate, struct buf *out);

/* Notes the names in a program that are not the recorded ones; also used by export --python. */
void minify_note_renamed(struct out *out, const char *file, const struct repro_notes *notes);

/* minify_report.c */
void minify_show_progress(void *job, const struct minify_progress *progress);
int minify_report(struct minify_job *job); /* prints to the data stream, as text or JSON */
const char *minify_verdict(const struct minify_result *result);

#endif
