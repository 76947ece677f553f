/* A schema's text, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", in
 * parts (torch/csrc/jit/frontend/function_schema_parser.cpp). Texts point into the schema. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_SCHEMA_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_SCHEMA_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/arena.h"

enum schema_type {
    SCHEMA_TENSOR,
    SCHEMA_SCALAR,
    SCHEMA_INT,
    SCHEMA_SYMINT,
    SCHEMA_FLOAT,
    SCHEMA_BOOL,
    SCHEMA_COMPLEX,
    SCHEMA_STRING,
    SCHEMA_DTYPE,
    SCHEMA_LAYOUT,
    SCHEMA_DEVICE,
    SCHEMA_MEMORY_FORMAT,
    SCHEMA_ANY /* Generator, Storage, Any, classes ...: not converted */
};

/* An argument or a result. */
struct schema_slot {
    struct str name; /* "" for a result without a name */
    enum schema_type type;
    struct str type_text; /* "Tensor", "Generator" */
    bool list;            /* Type[] */
    uint16_t length;      /* N of Type[N], or 0 */
    bool optional;        /* Type? */
    bool optional_items;  /* Type?[] */
    bool keyword_only;
    bool has_default;
    bool written; /* Tensor(a!) */
    char alias;   /* 'a', or 0 */
    struct value default_value;
};

enum { SCHEMA_MAX_SLOTS = 64 };

struct schema {
    struct str text, space, base, overload; /* "aten", "add", "Tensor"; "" for the default one */
    uint32_t n_args, n_positional, n_results;
    bool any_arity; /* it has "..." */
    const struct schema_slot *args, *results;
};

/* Derives the schema of a form that writes its result (FORMS in replay/ops/all_ops.def): "_",
 * ".out" or ".NAME(a,b)" of a functional schema; "" gives the functional schema. False: memory ran
 * out. */
bool schema_derive(struct str functional, struct str form, struct arena *arena, struct str *ret);
/* Returns whether a result of that form is memory of an argument: "-> Tensor(a)", or a written one.
 */
bool schema_returns_alias(struct str functional, struct str form);
/* Parses only the name, without allocating. */
bool schema_parse_name(struct str text, struct schema *ret);
/* Slots and default values are allocated in the arena, numbers of default values in the pool. */
bool schema_parse(struct str text, struct arena *arena, struct sym_pool *pool, struct schema *ret,
                  struct err *err);

#endif
