/* Names of sizes: sources as PyTorch writes them, and as users do. */
#ifndef SYMTAPE_PROFILE_WHY_WHY_NAME_H
#define SYMTAPE_PROFILE_WHY_WHY_NAME_H

#include "trace/base/arena.h"

/* Returns a source in a spelling that forgives: L['x'].size()[1], x.size(1) and x.shape[1] are
 * "x.size()[1]"; L['self']._modules['norm']._parameters['weight'] is "self.norm.weight". .p is NULL
 * when memory ran out. */
struct str why_name_plain(struct str source, struct arena *arena);

enum why_part { WHY_WHOLE, WHY_SIZE, WHY_STRIDE, WHY_OFFSET };

/* A source taken apart: "x.size()[1]" is size 1 of "x". */
struct why_name {
    struct str plain; /* the whole, in the plain spelling */
    struct str base;  /* the tensor, or the number */
    enum why_part part;
    int64_t dim; /* may be negative, as in Python */
};

struct why_name why_name_split(struct str plain);
/* Returns whether a text is a symbol's name: s27, u0, zf3, zuf1, j2. */
bool why_is_symbol_name(struct str text);

#endif
