/* --shard K/N: the K-th of N parts of a command's inputs, for N processes that know nothing of each
 * other.
 *
 * An input belongs to a part by the hash of its path as it was given, so that a process that is
 * started again, or that finds more files than the others did, has its own inputs and no others. */
#ifndef SYMTAPE_CMD_SHARDS_SHARD_H
#define SYMTAPE_CMD_SHARDS_SHARD_H

#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

#define OPT_SHARD(type, field)                                                                    \
    OPT_STRING(0, "shard", "K/N", type, field,                                                    \
               "only the K-th of N parts of the inputs, from 1/N to N/N; which part an input is " \
               "in depends on its path alone")

struct shard {
    uint64_t k, n; /* k from 1; n 0: all inputs */
};

/* Parses "3/8"; NULL is all inputs. */
bool shard_parse(struct shard *ret, const char *text, struct err *err);
bool shard_has(const struct shard *shard, struct str path);

#endif
