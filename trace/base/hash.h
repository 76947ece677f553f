/* The only file that includes the hash, XXH3 (libxxhash, inlined). It is used for tables and to
 * distinguish contents inside one tape; it is no protection against an adversary. */
#ifndef SYMTAPE_TRACE_BASE_HASH_H
#define SYMTAPE_TRACE_BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/str.h"

static inline uint64_t hash_str(struct str text)
{
    return XXH3_64bits(text.p ? text.p : "", text.n);
}

/* Mixes pairs of small numbers that often grow together. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9E3779B97F4A7C15) + b;
    x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

#endif
