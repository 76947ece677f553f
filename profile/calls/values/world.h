/* What the sources of guards stand for during one call: L['x'] is a tensor of size [4, 8].
 *
 * A source that no list of the call names has the value that its parts allow to tell: L['d']['a']
 * is missing if the dict has no such key, list(dict.keys(L['d']))[0] is the first key. All others
 * are PY_UNKNOWN, which means that they are as they were when an entry was compiled. */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_WORLD_H
#define SYMTAPE_PROFILE_CALLS_VALUES_WORLD_H

#include "profile/calls/values/call_log.h"

/* What an entry that answered says of a module's attributes, which do not change unless a call says
 * so: a module of which L['self'].n is 3 fails L['self'].n == 4. */
struct module_fact {
    int64_t module;
    uint32_t source;
    struct py_value value;
};

/* How a source is reached from its parent, the source without its last part. */
enum path_step {
    PATH_ROOT,    /* a name of its own: L['x'], G['RATE'] */
    PATH_KEY,     /* P['a'] */
    PATH_INDEX,   /* P[3] */
    PATH_ATTR,    /* P.a */
    PATH_NTH_KEY, /* list(dict.keys(P))[3] */
    PATH_GETITEM, /* dict.__getitem__(P, Q), where Q is a source */
};

struct source_path {
    enum path_step step;
    uint32_t parent; /* a source; INTERN_NONE for PATH_ROOT */
    struct str name; /* of PATH_KEY and PATH_ATTR */
    uint64_t index;  /* of PATH_INDEX and PATH_NTH_KEY */
    uint32_t key;    /* of PATH_GETITEM: Q */
    bool training;   /* of PATH_ATTR: the name is "training" */
    bool has_facts;  /* some module has a fact of this source */
};

struct world {
    struct intern *sources; /* borrowed */
    vec_of(struct source_path)
    paths; /* by source */
    vec_of(struct py_value)
    values; /* by source; those of another call count as not given */
    vec_of(uint32_t)
    given; /* by source: the `now` of the call that gives the value */
    vec_of(uint32_t)
    known;             /* by source: the `now` at which the value was derived from its parts */
    uint32_t n_listed; /* the first sources, of which each call says when they change */
    uint32_t now;
    uint32_t self, training; /* the sources L['self'] and L['self'].training */
    int64_t module;          /* of the present call; -1: none */
    vec_of(struct module_fact)
    facts;
    struct hash_index fact_index;
};

/* Gives a source its number. A source may have 32 parts at most; what is deeper is a root. Returns
 * INTERN_NONE when memory ran out. */
uint32_t world_source(struct world *world, struct str source);
/* Makes the values of a call the present ones. Returns false when memory ran out. */
bool world_enter(struct world *world, const struct program_call *call);
/* Returns the value of a source that world_source() numbered. It lives until the next
 * world_enter(). */
const struct py_value *world_derive_value(struct world *world, uint32_t source);
static inline const struct py_value *world_value(struct world *world, uint32_t source)
{
    return world->known.v[source] == world->now ? &world->values.v[source]
                                                : world_derive_value(world, source);
}
/* Returns whether a source is an attribute of the module that is called, or a part of one. */
bool world_of_module(const struct world *world, uint32_t source);
/* Remembers the value of an attribute of the present call's module, if it is not known. Returns
 * false when memory ran out. */
bool world_learn(struct world *world, uint32_t source, const struct py_value *value);
void world_forget(struct world *world);
void world_release(struct world *world);

#endif
