/* The components of a cache key, as an artifact of a look-up lists them: "[hash] name: value"
 * (FxGraphHashDetails.debug_lines() in torch/_inductor/codecache.py). */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_KEY_COMPONENTS_H
#define SYMTAPE_PROFILE_CALLS_CACHE_KEY_COMPONENTS_H

#include "trace/base/text/json.h"

struct key_component {
    struct str hash;        /* of the value */
    struct str name, value; /* "inductor_config[debug]", "False" */
};

/* Reads one element of the array of components; `text` holds the component until the next call,
 * and becomes `failed` when memory ran out. Returns false if the element has another form. */
bool key_component_read(const struct json *doc, json_id element, struct buf *text,
                        struct key_component *ret);
/* Returns whether a component belongs to the graph alone (its code, its inputs); others are
 * settings and machines, which explain more than one graph. */
bool key_component_is_of_graph(struct str name);
/* Returns whether the components are those of the graph of a backward. */
bool key_is_of_backward(const struct json *doc, json_id components, struct buf *text);

#endif
