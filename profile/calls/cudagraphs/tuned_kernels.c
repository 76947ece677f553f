#include "profile/calls/cudagraphs/tuned_kernels.h"

static void put_key(struct tuned_kernels *tuned, struct str compile, bool backward,
                    struct str kernel)
{
    buf_clear(&tuned->key);
    buf_put(&tuned->key, compile);
    buf_puts(&tuned->key, backward ? " backward " : " forward ");
    buf_put(&tuned->key, kernel);
}

bool tuned_kernels_add(struct tuned_kernels *tuned, const struct chromium_event *event)
{
    if ((event->phase != 'B' && event->phase != 'X') || !event->detail.n ||
        !str_is(event->name, "CachingAutotuner.benchmark_all_configs"))
        return true;
    put_key(tuned, event->compile, event->backward, event->detail);
    uint32_t id = tuned->key.failed ? INTERN_NONE : intern(&tuned->keys, buf_str(&tuned->key));
    if (id == INTERN_NONE || (id == tuned->left.n && !vec_push(&tuned->left, 0)))
        return false;
    tuned->left.v[id]++;
    return true;
}

/* "system_info[device]: {'name': 'NVIDIA H200'}", a part of the key of Inductor's cache
 * (CacheBase.get_system() in torch/_inductor/codecache.py). */
static void find_device(struct tuned_kernels *tuned, struct str text)
{
    static const struct {
        struct str name;
        uint64_t mib;
    } DEVICES[] = {
#define L2(device, megabytes) { { device, sizeof(device) - 1 }, megabytes },
#include "profile/calls/cudagraphs/l2_cache.def"
#undef L2
    };
    static const struct str NAME = { "system_info[device]: {'name': '", 31 };
    struct str name = str_from(text, str_find(text, NAME) + NAME.n);
    for (size_t i = 0; i < sizeof DEVICES / sizeof *DEVICES && !tuned->flush_bytes; i++)
        if (str_starts(name, DEVICES[i].name))
            tuned->flush_bytes = DEVICES[i].mib << 20;
}

bool tuned_kernels_read_device(struct tuned_kernels *tuned, struct trace *trace, uint32_t attempt,
                               struct err *err)
{
    const struct attempt *a = &trace->attempts[attempt];
    for (uint32_t i = 0; i < a->n_records && tuned->keys.texts.n && !tuned->flush_bytes; i++) {
        const struct record *record = &trace->records[a->records[i]];
        struct str text;
        if (record->event != EVENT_ARTIFACT || record->payload == TRACE_NONE ||
            !str_contains(record->meta, STR("_cache_")))
            continue;
        if (!trace_payload(trace, a->records[i], &text, err))
            return false;
        find_device(tuned, text);
    }
    return true;
}

bool tuned_kernels_take(struct tuned_kernels *tuned, struct str compile, bool backward,
                        uint32_t graph, struct str kernel, bool *ret)
{
    *ret = false;
    put_key(tuned, compile, backward, kernel);
    uint32_t id = tuned->key.failed ? INTERN_NONE : intern_find(&tuned->keys, buf_str(&tuned->key));
    if (id == INTERN_NONE)
        return !tuned->key.failed;
    size_t before = tuned->launched.texts.n;
    buf_varint(&tuned->key, graph);
    if (tuned->key.failed || intern(&tuned->launched, buf_str(&tuned->key)) == INTERN_NONE)
        return false;
    *ret = tuned->launched.texts.n > before && tuned->left.v[id];
    tuned->left.v[id] -= *ret;
    return true;
}

void tuned_kernels_release(struct tuned_kernels *tuned)
{
    intern_release(&tuned->keys);
    vec_release(&tuned->left);
    intern_release(&tuned->launched);
    buf_release(&tuned->key);
}
