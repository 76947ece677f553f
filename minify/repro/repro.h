/* Writes repro.py: a candidate as a short program for a bug report.
 *
 *     struct repro_what what = { .check = REPRO_RAISES, .message = error };
 *     struct repro_notes notes = { 0 };
 *     if (repro_print(candidate, &what, &notes, &text) && notes.cannot[0])
 *         warn(notes.cannot);
 *
 * The program needs PyTorch and nothing else. It makes the inputs (exact sizes, strides, dtypes and
 * devices), marks the dimensions that were symbols, contains the graph as a function f() that takes
 * its sizes from the inputs' shapes, compiles it, checks, and exits 1: the bug is there, 0: it is
 * not, 125: this PyTorch or machine cannot run it. So `git bisect run python repro.py` works. Its
 * global names f and inputs are what a warm worker (minify/process/torch_worker.h) asks about.
 *
 * A candidate comes from a file that may be hostile. Its texts are written by
 * minify/program/python_text.h, and minify/program/program_names.h checks the called names; a
 * program with anything else is not written. */
#ifndef SYMTAPE_MINIFY_REPRO_REPRO_H
#define SYMTAPE_MINIFY_REPRO_REPRO_H

#include "minify/candidate/candidate.h"
#include "minify/program/program_setup.h"

/* ROUTE(id, "name"): how the function is compiled or run */
#define REPRO_ROUTES(ROUTE)                                                              \
    ROUTE(COMPILE, "compile")         /* torch.compile(f, backend=...)(*inputs) */       \
    ROUTE(MAKE_FX, "make_fx")         /* make_fx(f, tracing_mode="symbolic")(*inputs) */ \
    ROUTE(EXPORT, "export")           /* torch.export.export() */                        \
    ROUTE(DECOMPOSE, "decompose")     /* and run_decompositions() */                     \
    ROUTE(CONSTRAINTS, "constraints") /* sizes that become numbers are an error */       \
    ROUTE(CUDA, "cuda") /* runs f(*inputs) on the GPU; for REPRO_WRONG, also on the CPU */

enum repro_route {
#define ROUTE(id, name) REPRO_##id,
    REPRO_ROUTES(ROUTE)
#undef ROUTE
};

enum repro_check {
    REPRO_NOTHING,     /* f and inputs only: nothing is compiled */
    REPRO_RAISES,      /* an exception of this type and message; with neither, any */
    REPRO_WRONG,       /* a result that differs from that of eager mode */
    REPRO_GUARD,       /* the guard `expr` is added */
    REPRO_SPECIALIZES, /* a symbol becomes a number */
    REPRO_GUARDS,      /* at least `at_least` guards are added */
    REPRO_SECONDS,     /* compiling takes at least `seconds` of processor time */
    REPRO_RUNS         /* success: exit 0, or 1 with any exception */
};

/*  VALUES(id, "name", "what is appended to an input of random normal values", "in words")
 * Values that inputs of floats have. Integers are 0 and 1 in any case, since they may be indices;
 * complex inputs are random for NEGATIVE and NAN. */
#define REPRO_VALUES(VALUES)                                                \
    VALUES(NORMAL, "normal", "", "random")                                  \
    VALUES(LARGE, "large", ".mul_(1000)", "random and 1000 times as large") \
    VALUES(NEGATIVE, "negative", ".abs_().neg_()", "random and negative")   \
    VALUES(ZERO, "zero", ".zero_()", "0")                                   \
    VALUES(NAN, "nan", ".sqrt_()", "square roots of random numbers, half of them NaN")
#define REPRO_VALUES_WORDS "normal|large|negative|zero|nan"

enum repro_values {
#define VALUES(id, name, suffix, words) REPRO_VALUES_##id,
    REPRO_VALUES(VALUES)
#undef VALUES
        REPRO_VALUES_KINDS
};

struct repro_what {
    enum repro_route route;
    enum repro_check check;
    struct str backend;   /* for REPRO_COMPILE; "": "aot_eager" */
    struct str exception; /* its type's name: "ValueError"; "" */
    struct str message;   /* the original text; compared without numbers and symbols */
    struct str expr;      /* of REPRO_GUARD: sympy's str() over the candidate's symbols; of
                             REPRO_SPECIALIZES: the symbol */
    uint64_t at_least;
    double seconds;
    enum repro_values values;   /* of inputs */
    bool eager_fails;           /* f itself raises, so it is not run first */
    bool named_dims;            /* of REPRO_CONSTRAINTS: sizes without a range have names, too */
    bool cpu;                   /* everything runs on the CPU, whatever was recorded */
    struct program_setup setup; /* what programs need besides PyTorch */
    /* No exit codes: the error is raised, by assert_close() for a wrong result. Checks of guards
     * are the same. */
    bool plain;
    struct str title; /* the first line; "": made from the other members */
};

struct repro_notes {
    char cannot[200]; /* why PyTorch alone cannot run it: "call of the module conv1"; "" */
    bool refused;     /* refused for safety, with the reason in `cannot`: the program prints it and
                         exits with 125 */
    uint32_t
        renamed; /* variables whose recorded names a program cannot have, so that they got others */
    char first_renamed[80]; /* the first of them in the program: "x0"; "" */
    uint32_t lines;         /* not empty, no comment */
};

/* Appends the program. Returns false when memory ran out. */
bool repro_print(const struct candidate *candidate, const struct repro_what *what,
                 struct repro_notes *notes, struct buf *out);

#endif
