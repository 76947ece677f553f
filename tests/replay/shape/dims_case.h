/* A case of tests/replay/shape/dims_cases.py: inputs whose sizes are Dims, and guards. */
#ifndef SYMTAPE_TESTS_REPLAY_SHAPE_DIMS_CASE_H
#define SYMTAPE_TESTS_REPLAY_SHAPE_DIMS_CASE_H

#include <stdio.h>
#include <stdlib.h>

#include "replay/shape/env/env.h"
#include "trace/base/arena.h"

enum { CASE_DIMS = 16, CASE_INPUTS = 4, CASE_SIZES = 4, CASE_GUARDS = 16 };

struct dims_case {
    struct arena arena;
    struct env_dim dims[CASE_DIMS];
    uint32_t n_dims;
    struct str source[CASE_INPUTS];
    int64_t size[CASE_INPUTS][CASE_SIZES];
    struct env_dim as[CASE_INPUTS][CASE_SIZES]; /* name "": a number */
    uint32_t ndim[CASE_INPUTS], n_inputs;
    struct str guards[CASE_GUARDS];
    uint32_t n_guards;
};

static inline struct str case_copy(struct dims_case *c, const char *text)
{
    return arena_copy(&c->arena, str_of(text));
}

static inline int64_t case_bound(const char *text)
{
    return text[0] == '-' ? INT64_MAX : strtoll(text, NULL, 10);
}

static inline void case_line(struct dims_case *c, const char *line)
{
    char a[256], b[64], name[256];
    long long i, j;
    int at = 0;
    if (sscanf(line, "dim %255s %lld %63s", a, &i, b) == 3) {
        c->dims[c->n_dims++] =
            (struct env_dim){ .name = case_copy(c, a), .mul = 1, .min = i, .max = case_bound(b) };
    } else if (sscanf(line, "derived %255s %lld %lld %255[^\n]", a, &i, &j, name) == 4) {
        c->dims[c->n_dims++] = (struct env_dim){
            .name = case_copy(c, name), .root = case_copy(c, a), .mul = i, .add = j
        };
    } else if (sscanf(line, "input %255s%n", a, &at) == 1) {
        uint32_t k = c->n_inputs++;
        c->source[k] = case_copy(c, a);
        for (int step; sscanf(line + at, "%lld%n", &i, &step) == 1; at += step)
            c->size[k][c->ndim[k]++] = i;
    } else if (sscanf(line, "size %lld %lld %63s %255[^\n]", &i, &j, b, name) == 4) {
        c->as[c->n_inputs - 1][i] =
            (struct env_dim){ .name = case_copy(c, name), .min = j, .max = case_bound(b) };
    } else if (sscanf(line, "guard %255[^\n]", name) == 1) {
        c->guards[c->n_guards++] = case_copy(c, name);
    }
}

/* False: no case is left. */
static inline bool dims_case_read(struct dims_case *c, FILE *in)
{
    char line[512];
    bool any = false;
    *c = (struct dims_case){ 0 };
    while (fgets(line, sizeof line, in)) {
        if (line[0] == 'e' && line[1] == 'n')
            break;
        any = true;
        case_line(c, line);
    }
    return any;
}

static inline const struct env_dim *case_dim(const struct dims_case *c, struct str name)
{
    for (uint32_t i = 0; i < c->n_dims; i++)
        if (str_eq(c->dims[i].name, name))
            return &c->dims[i];
    return NULL;
}

struct case_run {
    struct env_input inputs[CASE_INPUTS];
    struct dim_constraint constraints[CASE_INPUTS][CASE_SIZES];
    sym_id size[CASE_INPUTS][CASE_SIZES], stride[CASE_INPUTS][CASE_SIZES], offset;
    struct env_equality pairs[CASE_INPUTS * CASE_SIZES];
    struct env_derived derived[CASE_INPUTS * CASE_SIZES];
    struct env_produce what;
};

static inline struct str case_size_name(struct dims_case *c, uint32_t k, uint32_t d)
{
    char text[300];
    snprintf(text, sizeof text, "%.*s.size()[%u]", STR_ARG(c->source[k]), d);
    return case_copy(c, text);
}

/* The first size that is that root. */
static inline struct str case_first(struct dims_case *c, struct str root)
{
    for (uint32_t k = 0; k < c->n_inputs; k++)
        for (uint32_t d = 0; d < c->ndim[k]; d++)
            if (str_eq(c->as[k][d].name, root))
                return case_size_name(c, k, d);
    return root;
}

static inline void case_relate(struct dims_case *c, struct case_run *r, uint32_t k, uint32_t d)
{
    const struct env_dim *dim = case_dim(c, c->as[k][d].name);
    struct str source = case_size_name(c, k, d), root;
    if (!dim)
        return;
    root = case_first(c, dim->root.n ? dim->root : dim->name);
    if (dim->root.n)
        r->derived[r->what.n_derived++] = (struct env_derived){ source, root, dim };
    else if (!str_eq(root, source))
        r->pairs[r->what.n_equalities++] = (struct env_equality){ source, root };
}

static inline void case_input(struct dims_case *c, struct case_run *r, struct shape_env *env,
                              uint32_t k)
{
    enum dim_dynamic dynamic[CASE_SIZES];
    int64_t stride[CASE_SIZES], next = 1;
    for (uint32_t d = c->ndim[k]; d-- > 0;) {
        const struct env_dim *as = &c->as[k][d];
        stride[d] = next;
        next *= c->size[k][d];
        dynamic[d] = as->name.n ? DIM_DYNAMIC : DIM_STATIC;
        if (as->name.n)
            r->constraints[k][d] =
                (struct dim_constraint){ .kind = CONSTRAINT_STRICT_MIN_MAX,
                                         .name = as->name,
                                         .range = { sym_integer(env_pool(env), as->min),
                                                    as->max == INT64_MAX
                                                        ? SYM_ID_INT_OO
                                                        : sym_integer(env_pool(env), as->max) } };
    }
    struct tensor_request request = { .source = c->source[k],
                                      .ndim = c->ndim[k],
                                      .size = c->size[k],
                                      .stride = stride,
                                      .dynamic = dynamic,
                                      .constraints = r->constraints[k] };
    env_create_tensor(env, &request, r->size[k], r->stride[k], &r->offset);
    r->inputs[k] = (struct env_input){ .source = c->source[k],
                                       .ndim = c->ndim[k],
                                       .size = r->size[k],
                                       .stride = r->stride[k],
                                       .offset = r->offset,
                                       .constraints = r->constraints[k] };
    for (uint32_t d = 0; d < c->ndim[k]; d++)
        case_relate(c, r, k, d);
}

static inline void dims_case_answer(struct dims_case *c, struct buf *out)
{
    struct err err = { .kind = ERR_NONE };
    struct shape_env *env = shape_env_new(NULL, &err);
    struct case_run r = { .what = { .inputs = r.inputs,
                                    .n_inputs = c->n_inputs,
                                    .has_equalities = true,
                                    .equalities = r.pairs,
                                    .derived = r.derived,
                                    .dims = c->dims,
                                    .n_dims = c->n_dims,
                                    .guard_static = true } };
    bool ignored;
    for (uint32_t k = 0; env && k < c->n_inputs; k++)
        case_input(c, &r, env, k);
    for (uint32_t i = 0; env && i < c->n_guards; i++)
        if (!env_guard_bool(env, sym_parse(env_pool(env), c->guards[i], NULL, NULL), &ignored))
            buf_puts(out, "(guard raised)");
    if (!env || !env_check_dims(env, &r.what, out))
        buf_printf(out, "(raised %.*s)", STR_ARG(env_raised(env).text));
    shape_env_free(env);
}

static inline void dims_case_release(struct dims_case *c)
{
    arena_release(&c->arena);
}

#endif
