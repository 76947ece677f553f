/* What the user says that programs need besides PyTorch: the options --allow, --import, --env and
 * --config. A program has them as statements at its beginning:
 *
 *     import os
 *     os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"           --env
 *     try:
 *         import torch
 *         import torch._inductor.config
 *         import mylib                                            --import
 *     except ImportError:
 *         sys.exit(125)
 *     torch._inductor.config.max_autotune = True                  --config
 *
 * They come from the command line and never from a file that is read. The check of programs
 * (minify/program/program_check.py) knows these statements and accepts no others of their kinds. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_SETUP_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_SETUP_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/intern.h"

/* The texts as the user gave them; each is a list with commas, or "". */
struct program_setup {
    struct str allow;   /* namespaces of operators: "torchvision,mylib" */
    struct str imports; /* modules, and files that end in .py: "mylib,tools/patch.py" */
    struct str env;     /* "K=V,K2=V2": only a comma that NAME= follows separates */
    struct str config;  /* "inductor.max_autotune=True": the same */
    struct str backend; /* "module:name", or a name of PyTorch's, for which programs need nothing */
};

/* Checks all texts; returns false with ERR_USAGE, which names the option. */
bool program_setup_check(const struct program_setup *setup, struct err *err);

/* Splits "module:name"; returns false if the text is no such name. */
bool program_backend_parts(struct str backend, struct str *module, struct str *name);
/* Appends a backend as an argument of torch.compile: "inductor" in quotes, or module.name. */
void program_put_backend(struct str backend, struct buf *out);

/* Append statements, each a line after `indent` blanks. */
void program_put_env(const struct program_setup *setup, struct buf *out);
void program_put_setup_imports(const struct program_setup *setup, unsigned indent, struct buf *out);
void program_put_config(const struct program_setup *setup, struct buf *out);

/* Removes the first file (not module) from a list of imports, and returns its path; "" at the
 * end. */
struct str program_next_import_file(struct str *imports);

/* Adds the names that these statements bind. Returns false when memory ran out. */
bool program_setup_reserve(const struct program_setup *setup, struct intern *taken);

/* Appends the statements and names as a JSON object, for the check and for who runs programs. */
void program_setup_json(const struct program_setup *setup, struct buf *out);

#endif
