/* Interning: equal strings get the same small id, dense from 0 in the order of their first use.
 *
 * The table owns its strings; a struct str from intern_text() lives as long as the table. Each
 * is NUL-terminated, so that .p is a C string if the text has no NUL. */
#ifndef SYMTAPE_TRACE_BASE_INTERN_H
#define SYMTAPE_TRACE_BASE_INTERN_H

#include <stdint.h>

#include "trace/base/arena.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

#define INTERN_NONE UINT32_MAX

struct intern {
    struct arena arena;
    vec_of(struct str)
    texts;
    struct hash_index index; /* of texts */
};

#define INTERN_INIT ((struct intern){ 0 })

/* Returns the id of a text, which is added if it is new; INTERN_NONE when memory ran out. */
uint32_t intern(struct intern *table, struct str text);
/* Returns the id of a text; INTERN_NONE when it is not in the table. */
uint32_t intern_find(const struct intern *table, struct str text);
void intern_release(struct intern *table);

static inline struct str intern_text(const struct intern *table, uint32_t id)
{
    return table->texts.v[id];
}

#endif
