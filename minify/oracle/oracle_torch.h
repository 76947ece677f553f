/* The oracle that asks PyTorch, in a warm worker (minify/process/torch_worker.h).
 *
 *   compile      what the route does (torch.compile with the backend, make_fx, export, decompose)
 *                raises the same exception: type and normalised message
 *   run          f runs as it is, and raises so when compiled and called
 *   accuracy     f runs as it is, and gives something else when compiled: another dtype or size,
 *                NaN or Inf elsewhere, or values that differ by more than half of what the original
 *                was above the tolerance, or by 1000 times the tolerance, so that shrinking does
 *                not walk into rounding noise. The results of eager mode are in a file of TMPDIR
 *                when the compiled graph runs: the tensors of one of the two runs are in memory
 *   seconds      compiling takes at least half of the processor time that it takes for the
 *                original: that of a first call less that of a second one, which is compiled
 * already. A question ends after that half and what the second call of the original takes
 *
 * Each candidate is written as a repro (minify/repro/repro.h) that defines f and inputs. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_TORCH_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_TORCH_H

#include "minify/oracle/oracle.h"
#include "minify/remote/launcher.h"
#include "minify/repro/repro.h"

/*  QUESTION(id, "name", check of the repro, route) */
#define TORCH_QUESTIONS(QUESTION)                                         \
    QUESTION(COMPILE, "compile", REPRO_RAISES, REPRO_COMPILE)             \
    QUESTION(RUN, "run", REPRO_RAISES, REPRO_COMPILE)                     \
    QUESTION(ACCURACY, "accuracy", REPRO_WRONG, REPRO_COMPILE)            \
    QUESTION(MAKE_FX, "make_fx", REPRO_RAISES, REPRO_MAKE_FX)             \
    QUESTION(EXPORT, "export", REPRO_RAISES, REPRO_EXPORT)                \
    QUESTION(DECOMPOSE, "decompose", REPRO_RAISES, REPRO_DECOMPOSE)       \
    QUESTION(CONSTRAINTS, "constraints", REPRO_RAISES, REPRO_CONSTRAINTS) \
    QUESTION(SECONDS, "seconds", REPRO_SECONDS, REPRO_COMPILE)
#define TORCH_QUESTION_WORDS "compile|run|accuracy|make_fx|export|decompose|constraints|seconds"

enum torch_question {
#define QUESTION(id, name, check, route) TORCH_##id,
    TORCH_QUESTIONS(QUESTION)
#undef QUESTION
};

struct torch_options {
    enum torch_question question;
    struct str python;          /* of the worker; with a launcher, the workers have their own */
    struct str backend;         /* "": "inductor" of run and accuracy, "aot_eager" of the rest */
    struct program_setup setup; /* its texts outlive the oracle; `backend` is the one above */
    bool named_dims;            /* of CONSTRAINTS: struct repro_what */
    bool cpu;                   /* everything runs on the CPU, whatever was recorded */
    enum repro_values values;   /* of inputs */
    double timeout;             /* seconds for the first question; 0: 300, an hour of SECONDS */
    const atomic_bool *cancel;  /* ends the first question, which is UNRESOLVED then; NULL */
    struct launcher *launcher;  /* its workers ask, and not this machine; NULL */
};

/* PyTorch's answer for the whole candidate. Its texts live as long as the oracle. */
struct torch_first {
    enum verdict verdict; /* BORING: it does not fail; UNRESOLVED: undecided */
    struct signature signature;
    struct str error;   /* the message as PyTorch prints it; for wrong results, the difference */
    struct str eager;   /* the error of f in eager mode, or "" if f runs */
    struct str version; /* of PyTorch */
    bool no_device;     /* UNRESOLVED, since this machine lacks the graph's device: options.cpu */
    bool no_backend;    /* it failed, since PyTorch has no backend of that name; set alone */
    double seconds;     /* until the answer came */
    double compiled;    /* of SECONDS: those of the processor that compiling took; 0: UNRESOLVED */
    double called;      /* and those that a call of what is compiled took */
};

/* Starts the worker, or asks those of the launcher (minify/oracle/torch_remote.h), and asks about
 * `whole`; later answers are compared with that answer. Returns NULL with ERR_ENV if there is no
 * worker. A whole that does not fail gives an oracle, too: see first->verdict. */
struct oracle *oracle_torch(const struct torch_options *options, const struct candidate *whole,
                            struct torch_first *first, struct err *err);

/* Whether the question compiles and calls graphs: those with inputs that require gradients compute
 * them, too. */
bool oracle_torch_computes(const struct oracle *oracle);

/* Sets the values that inputs have from the next whole graph on. */
void oracle_torch_set_values(struct oracle *oracle, enum repro_values values);

/* Asks about another whole graph, with which later answers are compared. */
bool oracle_torch_again(struct oracle *oracle, const struct candidate *whole,
                        struct torch_first *first, struct err *err);

/* Compares options of PyTorch that a recording has with those of the worker. `recorded` is a JSON
 * object of the strings inductor_config and functorch_config, as metrics of compiles
 * have them. Sets *set to those that differ as --config takes them, *other to the names of those
 * whose values it cannot set, both in `arena`, and "" if there are none or PyTorch does not tell.
 */
bool oracle_torch_settings(struct oracle *oracle, struct str recorded, struct arena *arena,
                           struct str *set, struct str *other, struct err *err);

/* What of the compiler fails, as torch/_inductor/compiler_bisector.py finds it. Texts are in the
 * arena of the call. */
struct torch_bisected {
    bool found;           /* false: the failure was not there, or it cannot be bisected: `why` */
    struct str backend;   /* the first that fails: "eager" (Dynamo), "aot_eager", "inductor" */
    struct str subsystem; /* "lowerings", "post_grad_passes"; "": none of it alone */
    uint64_t number;      /* the application of it that fails, as PyTorch counts them, from 0 */
    struct str detail;    /* what is applied: "relu"; of a setting its name again; "" */
    struct str graph;     /* of AOTAutograd's graphs the one that it is applied to: "forward"; "" */
    struct str op;        /* of a lowering: "aten.relu.default"; "" */
    struct str kernel;    /* the kernel that computes the lowered node: "cpp_fused_relu_0"; "" */
    struct str nodes;     /* all that this kernel computes: "relu, sin" */
    bool fused;           /* the failure disappears if nothing is fused (max_fusion_size = 1) */
    struct str why;
};

/* Bisects Inductor on a candidate that fails, by compiling it 12 to 32 times. For the questions of
 * torch.compile with the backend inductor. Returns false with err set if the worker cannot be
 * started again. */
bool oracle_torch_bisect(struct oracle *oracle, const struct candidate *candidate, double timeout,
                         const atomic_bool *cancel, struct arena *arena, struct torch_bisected *ret,
                         struct err *err);
bool oracle_torch_can_bisect(const struct oracle *oracle);

/* Sets *ret to the seconds of processor time that compiling a candidate takes, or to a negative
 * number if it was not compiled, with the reason in *why, in `arena`. For the question SECONDS.
 * Returns false with err set if the worker cannot be started again. */
bool oracle_torch_time(struct oracle *oracle, const struct candidate *candidate, double timeout,
                       const atomic_bool *cancel, struct arena *arena, double *ret, struct str *why,
                       struct err *err);

/* Returns options for a repro with the same route, check, backend and error. */
struct repro_what oracle_torch_repro(const struct oracle *oracle);

#endif
