/* What a Python program that symtape writes may call and read: PyTorch's operators, the Python
 * functions and methods that replay knows, and the few names of what stands around a graph. The
 * tables are minify/program/program_names.def and replay's; program_tables() hands them to the
 * check in Python (minify/program/program_check.py), so that both walls stand on the same rows.
 *
 * A target of a graph is data of a file: a dotted name below torch. or builtins. is not enough. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_NAMES_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_NAMES_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/intern.h"

enum program_target {
    PROGRAM_OPERATOR, /* torch.ops.NS.NAME[.OVERLOAD] */
    PROGRAM_FUNCTION, /* written as it stands, but for builtins. and math_ */
    PROGRAM_FOREIGN,  /* an operator of a namespace that is neither PyTorch's nor allowed */
    PROGRAM_REFUSED   /* anything else */
};

/* allow: namespaces that the user named, "torchvision,mylib"; "". */
enum program_target program_target(struct str target, struct str allow);
/* Why it is not written: "calls torch.os.system, which is ...". Appended to out. */
void program_explain(struct str target, struct str allow, struct buf *out);

bool program_has_method(struct str name);    /* of a tensor or a number: "sum", "__add__" */
bool program_has_attribute(struct str name); /* "shape" */
/* Whether a graph may use this constant or class as an argument: "torch.float32", "torch.strided",
 * "int". */
bool program_has_value(struct str name);
/* The names that a program uses itself, keywords too: no variable of a graph has them. False: out
 * of memory. */
bool program_reserve(struct intern *taken);

/* Is the list of namespaces in order? False: ERR_USAGE. */
bool program_check_allow(struct str allow, struct err *err);

/* The tables as a JSON object. Appended to out. */
void program_tables(struct str allow, struct buf *out);

#endif
