/* The code of a guard, as dynamo_cpp_guards_str prints it: a Python condition over sources.
 *
 *     2 <= L['x'].size()[0] <= 19      (L['x'].size()[0] % 2) == 0      L['y'] is None
 *     len(L['xs']) == 2                not ___dict_contains('k', L['d'])
 *     type(L['y']) is float and __math_isnan(L['y'])
 *     not math.isnan(L['self'].scale)  hasattr(L['x'], '_dynamo_dynamic_indices') == False
 *
 * A condition that this grammar does not have is no error: it cannot be decided. Sizes are Python
 * integers; what exceeds 64 bits cannot be decided either, nor a chain of relations inside an
 * operand that two relations of a chain share. */
#ifndef SYMTAPE_PROFILE_CALLS_GUARDS_CONDITION_H
#define SYMTAPE_PROFILE_CALLS_GUARDS_CONDITION_H

#include "profile/calls/values/world.h"

typedef uint32_t condition_id;
#define CONDITION_NONE UINT32_MAX

enum condition_op {
    COND_CONSTANT, /* value */
    COND_SOURCE,
    COND_SIZE, /* element `index` of source.size() */
    COND_STRIDE,
    COND_OFFSET,   /* source.storage_offset() */
    COND_LENGTH,   /* len(source) */
    COND_HASATTR,  /* hasattr(source, text) */
    COND_CONTAINS, /* ___dict_contains(first, source) */
    COND_TYPE,     /* type(source) is text */
    COND_MARKED,   /* getattr(source, text, set()).issubset({...}): bits of `index` */
    COND_NOT,
    COND_AND,
    COND_OR,
    COND_CHOICE, /* first if third else second */
    COND_NEGATIVE,
    COND_ADD,
    COND_SUBTRACT,
    COND_MULTIPLY,
    COND_FLOOR_DIVIDE,
    COND_DIVIDE,
    COND_MODULO,
    COND_POWER,
    COND_EQUAL,
    COND_UNEQUAL,
    COND_LESS,
    COND_LESS_EQUAL,
    COND_GREATER,
    COND_GREATER_EQUAL,
    COND_IS,
    COND_IS_NOT,
    COND_IS_NAN,
    COND_MIN,
    COND_MAX,
};

struct condition {
    enum condition_op op;
    condition_id first, second, third; /* come before this one */
    uint32_t source;                   /* INTERN_NONE where none is */
    uint64_t index;
    struct py_value value; /* of a constant; texts point into the guard's code */
    struct str text;
    int mark; /* of an attribute: what tensor_mark_of() says of it */
};

struct condition_pool {
    vec_of(struct condition)
    nodes;
};

/* Parses a condition, whose text must outlive the pool. *ret is CONDITION_NONE when it is not of
 * the grammar. Returns false when memory ran out. */
bool condition_parse(struct condition_pool *pool, struct world *world, struct str code,
                     condition_id *ret);
/* Evaluates it for the present call. PY_UNKNOWN: what is given does not decide it. PY_MISSING:
 * Python would have raised, and *missing is the source that does not exist. */
struct py_value condition_value(const struct condition_pool *pool, struct world *world,
                                condition_id id, uint32_t *missing);
/* As condition_value(), without a value that could be read. */
enum condition_verdict {
    CONDITION_HOLDS,
    CONDITION_FAILS,
    CONDITION_UNKNOWN,
    CONDITION_MISSING,
};
enum condition_verdict condition_check(const struct condition_pool *pool, struct world *world,
                                       condition_id id, uint32_t *missing);
/* Returns the mark (enum tensor_mark) that an attribute such as "_dynamo_static_indices" holds, or
 * -1. */
int tensor_mark_of(struct str attribute);
/* Returns Python's truth of a value; only for values that are known. */
bool py_is_true(const struct py_value *value);
void condition_pool_release(struct condition_pool *pool);

/* Returns how many bytes at the start of a text are a source ("L['x'].a[0]" of "L['x'].a[0] == 2");
 * a call of a method ends it. 0 when no source is there. */
size_t source_length(struct str text);
/* Appends the source that a name of a user stands for: reports print L['x'].size()[0] as
 * x.size()[0], so what begins with a name alone is a local. */
void put_named_source(struct str name, struct buf *out);

#endif
