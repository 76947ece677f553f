#include "cmd/shards/shard.h"

#include "trace/base/hash.h"

enum { MOST_PARTS = 1000000 };

bool shard_parse(struct shard *ret, const char *text, struct err *err)
{
    struct str whole = str_of(text ? text : "");
    struct str k = str_first(whole, str_find_char(whole, '/'));
    *ret = (struct shard){ 0 };
    if (!text)
        return true;
    if (!str_to_u64(k, &ret->k) || !str_to_u64(str_from(whole, k.n + 1), &ret->n) || ret->k < 1 ||
        ret->k > ret->n || ret->n > MOST_PARTS)
        return err_set(err, ERR_USAGE, "--shard %s: not K/N with 1 <= K <= N, such as 3/8", text);
    return true;
}

bool shard_has(const struct shard *shard, struct str path)
{
    return shard->n == 0 || hash_str(path) % shard->n == shard->k - 1;
}
