/* The names that a Python program written by symtape may call and read: PyTorch's operators, the
 * Python functions and methods that replay has rules for, and a few names of the code around a
 * graph. The tables are minify/program/program_names.def and replay's; program_tables() passes them
 * to the check in Python (minify/program/program_check.py), so that the writer and the check use
 * the same rows.
 *
 * A target of a graph comes from a file, so not every dotted name below torch. or builtins. is
 * allowed. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_NAMES_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_NAMES_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/intern.h"

enum program_target {
    PROGRAM_OPERATOR, /* torch.ops.NS.NAME[.OVERLOAD] */
    PROGRAM_FUNCTION, /* written unchanged, except for builtins. and math_ */
    PROGRAM_FOREIGN,  /* an operator of a namespace that is neither PyTorch's nor allowed */
    PROGRAM_REFUSED   /* anything else */
};

/* Classifies a target. `allow` lists namespaces that the user named, "torchvision,mylib", or is
 * "". */
enum program_target program_target(struct str target, struct str allow);
/* Appends the reason why a target is not written: "calls torch.os.system, which is ...". */
void program_explain(struct str target, struct str allow, struct buf *out);

bool program_has_method(struct str name);    /* of a tensor or a number: "sum", "__add__" */
bool program_has_attribute(struct str name); /* "shape" */
/* Returns whether a graph may use this constant or class as an argument: "torch.float32",
 * "torch.strided", "int". */
bool program_has_value(struct str name);
/* Adds the names that a program uses itself, including keywords, which no variable of a graph may
 * have. Returns false when memory ran out. */
bool program_reserve(struct intern *taken);

/* Checks a list of namespaces; returns false with ERR_USAGE. */
bool program_check_allow(struct str allow, struct err *err);

/* Appends the tables as a JSON object. */
void program_tables(struct str allow, struct buf *out);

#endif
