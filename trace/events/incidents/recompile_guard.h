/* The guards that a recompile's reasons quote, by kind, and the values that they name.
 *
 * A reason is text: "tensor 'x' size mismatch at index 1. expected 24, actual 30". The sources in
 * it are without "L[...]" (strip_local_scope in torch/_dynamo/guards.py); source_local() puts it
 * back. recompile_forms.def lists the forms of torch 2.7 to 2.13. */
#ifndef SYMTAPE_TRACE_EVENTS_INCIDENTS_RECOMPILE_GUARD_H
#define SYMTAPE_TRACE_EVENTS_INCIDENTS_RECOMPILE_GUARD_H

#include "trace/base/buf.h"
#include "trace/base/str.h"

enum recompile_kind {
    RECOMPILE_SIZE,          /* a size of a tensor that was compiled as a constant */
    RECOMPILE_STRIDE,        /* a stride */
    RECOMPILE_RANK,          /* the number of dimensions */
    RECOMPILE_DTYPE,         /* the dtype */
    RECOMPILE_DEVICE,        /* the device's index */
    RECOMPILE_REQUIRES_GRAD, /* requires_grad */
    RECOMPILE_DISPATCH_KEYS, /* device, inference mode, a tensor's subclass */
    RECOMPILE_TENSOR_TYPE,   /* not a tensor, or one of another class */
    RECOMPILE_GLOBAL_STATE,  /* grad mode, autocast, default dtype ... */
    RECOMPILE_ALIASING,      /* which inputs are the same object */
    RECOMPILE_BACKEND,       /* another backend of torch.compile */
    RECOMPILE_MARKING,       /* mark_dynamic() and its kin after the first compile */
    RECOMPILE_TYPE,          /* the type of a Python object */
    RECOMPILE_CODE,          /* another function: its code differs */
    RECOMPILE_OBJECT,        /* another object */
    RECOMPILE_NONE,          /* was None */
    RECOMPILE_NOT_NONE,      /* was not None */
    RECOMPILE_LENGTH,        /* the length of a container */
    RECOMPILE_KEYS,          /* the keys of a dict */
    RECOMPILE_FLOAT,         /* a float that was traced as a symbol and then specialized */
    RECOMPILE_FLAG,          /* module.training */
    RECOMPILE_NOT_ONE,       /* a dynamic size is 0 or 1 */
    RECOMPILE_EQUAL_SIZES,   /* two sizes that were equal */
    RECOMPILE_BRANCH,        /* another condition */
    RECOMPILE_VALUE,         /* the value of an int, float, bool or str */
    RECOMPILE_EXPRESSION,    /* anything else */
    RECOMPILE_KINDS
};

struct recompile_guard {
    enum recompile_kind kind;
    struct str text;             /* the guard as it was given */
    struct str source, other;    /* "x", "self._modules['drop']"; "" when it has none */
    struct str index;            /* of the dimension; "" */
    struct str expected, actual; /* "" when not named */
};

/* Parses a guard's text: one line without its comment. All parts point into it. */
struct recompile_guard recompile_guard_parse(struct str text);

/* Appends a source with its scope: "L['x'].size()" for "x.size()". Globals ("G['N']") and names of
 * Dynamo ("___stack0") stay as they are. */
void source_local(struct buf *out, struct str source);
/* Appends a source as a user would write it: "self.drop" for "self._modules['drop']" or for
 * "L['self']._modules['drop']", "N" for "G['N']". */
void source_spoken(struct buf *out, struct str source);
/* Returns the closure that captures a source: "s.hook" for "s.hook.__closure__[0].cell_contents";
 * "" for other sources. */
struct str source_closure(struct str source);
/* Appends a source for a sentence: as source_spoken(), but "['n'] of a variable that s.hook
 * captures" for "s.hook.__closure__[0].cell_contents['n']", since no user writes that. */
void source_described(struct buf *out, struct str source);

#endif
