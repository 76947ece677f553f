/* A growing array of any type.
 *
 *     vec_of(struct node) nodes = { 0 };
 *     if (!vec_push(&nodes, (struct node){ .op = op }))
 *         return err_nomem(err);
 *     for (size_t i = 0; i < nodes.n; i++) use(&nodes.v[i]);
 *     vec_release(&nodes);
 *
 * Elements move when it grows: keep indices, not pointers. A failed push leaves it as it was. */
#ifndef SYMTAPE_TRACE_BASE_VEC_H
#define SYMTAPE_TRACE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define vec_of(type) \
    struct {         \
        type *v;     \
        size_t n;    \
        size_t cap;  \
    }

/* Reserves memory for `extra` more elements; false when memory ran out. */
#define vec_reserve(vec, extra)                  \
    ((vec)->cap - (vec)->n >= (size_t)(extra) || \
     vec_grow((void **)&(vec)->v, &(vec)->cap, (vec)->n, (extra), sizeof *(vec)->v))

#define vec_push(vec, ...) (vec_reserve(vec, 1) && ((vec)->v[(vec)->n++] = (__VA_ARGS__), true))

/* Returns the elements from `at` on. It is NULL while there is no array, because NULL + 0 is
 * undefined in C. */
#define vec_from(vec, at) ((vec)->v ? (vec)->v + (at) : NULL)

#define vec_release(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

bool vec_grow(void **v, size_t *cap, size_t n, size_t extra, size_t size);

#endif
