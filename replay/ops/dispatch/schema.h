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
    SCHEMA_ANY /* Generator, Storage, Any, classes ...: taken as they are */
};

/* An argument or a result. */
struct schema_slot {
    struct str name; /* "" of a result without one */
    enum schema_type type;
    struct str type_text; /* "Tensor", "Generator" */
    bool list;            /* Type[] */
    uint16_t length;      /* N of Type[N], 0 where there is none */
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
    bool any_arity; /* "..." */
    const struct schema_slot *args, *results;
};

/* The schema of a form that writes its result (FORMS in replay/ops/all_ops.def): "_", ".out" or
 * ".NAME(a,b)" of a functional schema, which is what "" gives. False: memory ran out. */
bool schema_derive(struct str functional, struct str form, struct arena *arena, struct str *ret);
/* Whether a result of that form is memory of an argument: "-> Tensor(a)", or one that is written.
 */
bool schema_returns_alias(struct str functional, struct str form);
/* Only the name, which needs no memory. */
bool schema_parse_name(struct str text, struct schema *ret);
/* Slots and default values go into the arena; numbers of default values into the pool. */
bool schema_parse(struct str text, struct arena *arena, struct sym_pool *pool, struct schema *ret,
                  struct err *err);

#endif
