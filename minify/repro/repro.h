/* repro.py: a candidate as the short program that somebody would paste into a bug report.
 *
 *     struct repro_what what = { .check = REPRO_RAISES, .message = error, .backend =
 * STR("inductor") }; struct repro_notes notes = { 0 }; if (repro_print(candidate, &what, &notes,
 * &text)) write(text); if (notes.cannot.n) say(notes.cannot);
 *
 * The program needs PyTorch and nothing else. It makes the inputs (exact sizes, strides, dtypes and
 * devices), marks the dimensions that were symbols, holds the graph as a function f() that takes
 * its sizes from the inputs' shapes, compiles it, checks, and exits 1: the bug is there, 0: it is
 * not, 125: this PyTorch or machine cannot run it. So `git bisect run python repro.py` works. Its
 * global names f and inputs are what a warm worker (minify/process/torch_worker.h) asks about.
 *
 * A candidate comes from a file of anybody's. Its texts go through minify/program/python_text.h,
 * and what is called through minify/program/program_names.h; a program that would hold anything
 * else is not written. */
#ifndef SYMTAPE_MINIFY_REPRO_REPRO_H
#define SYMTAPE_MINIFY_REPRO_REPRO_H

#include "minify/candidate/candidate.h"

/*  ROUTE(id, "name"): what the function goes through */
#define REPRO_ROUTES(ROUTE)                                                          \
    ROUTE(COMPILE, "compile")     /* torch.compile(f, backend=...)(*inputs) */       \
    ROUTE(MAKE_FX, "make_fx")     /* make_fx(f, tracing_mode="symbolic")(*inputs) */ \
    ROUTE(EXPORT, "export")       /* torch.export.export() */                        \
    ROUTE(DECOMPOSE, "decompose") /* and run_decompositions() */                     \
    ROUTE(CUDA, "cuda")           /* runs f(*inputs) on the GPU; for REPRO_WRONG, also on the CPU */

enum repro_route {
#define ROUTE(id, name) REPRO_##id,
    REPRO_ROUTES(ROUTE)
#undef ROUTE
};

enum repro_check {
    REPRO_NOTHING,     /* f and inputs only: nothing is compiled */
    REPRO_RAISES,      /* an exception of this type and message; with neither, any */
    REPRO_WRONG,       /* another result than eager's */
    REPRO_GUARD,       /* the guard `expr` is added */
    REPRO_SPECIALIZES, /* a symbol becomes a number */
    REPRO_GUARDS,      /* at least `at_least` guards are added */
    REPRO_RUNS         /* all goes well: exit 0, or 1 with whatever was raised */
};

struct repro_what {
    enum repro_route route;
    enum repro_check check;
    struct str backend;   /* of REPRO_COMPILE; "": "aot_eager" */
    struct str exception; /* its type's name: "ValueError"; "" */
    struct str message;   /* as it stands; compared with numbers and symbols taken out */
    struct str expr;      /* of REPRO_GUARD: sympy's str() over the candidate's symbols; of
                             REPRO_SPECIALIZES: the symbol */
    uint64_t at_least;
    bool eager_fails; /* f itself raises: it is not asked to run first */
    bool cpu;         /* all on the CPU, whatever was recorded */
    struct str allow; /* namespaces of operators besides PyTorch's, "torchvision,mylib"; "" */
    struct str title; /* a line for its head; "": made from the rest */
};

struct repro_notes {
    char cannot[200]; /* why PyTorch alone cannot run it: "call of the module conv1"; "" */
    bool refused; /* the program was refused for safety, with the reason in `cannot`: it only prints
                   * the reason and exits with 125 */
    uint32_t
        renamed; /* variables whose recorded names a program cannot have, so that they got others */
    char first_renamed[80]; /* the first of them: what it is called in the program, "x0"; "" */
    uint32_t lines;         /* not empty, no comment */
};

/* Appended to out. False: out of memory. */
bool repro_print(const struct candidate *candidate, const struct repro_what *what,
                 struct repro_notes *notes, struct buf *out);

#endif
