#include "replay/backend/cuda/libraries/plan_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cubin_cache.h"
#include "trace/base/hash.h"

/* runs of each plan, of which the best of the later ones counts; a difference of less than 3 % is
 * ignored */
enum { TIMES = 4 };
#define FASTER 0.97

#define ENOUGH ((uint64_t)1 << 26)

bool plan_choice_matters(uint64_t flops)
{
    const char *how = getenv("SYMTAPE_CUDA_PLANS");
    return how && strcmp(how, "first") == 0 ? false
           : how && strcmp(how, "all") == 0 ? true
                                            : flops >= ENOUGH;
}

static struct cubin_key choice_key(struct cuda *cuda, const struct plan_problem *problem)
{
    char text[256];
    snprintf(text, sizeof text, "plan 1 %s %zu %s %d", library_name(problem->library->id),
             library_version(problem->library), cuda->device_name, cuda->driver_version);
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, text, strlen(text));
    XXH3_128bits_update(&state, problem->key, problem->bytes);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct cubin_key){ hash.high64, hash.low64 };
}

static int version_of(const struct plan_problem *problem)
{
    return (int)library_version(problem->library);
}

uint64_t plan_choice_recall(struct cuda *cuda, const struct plan_problem *problem)
{
    struct buf text = BUF_INIT;
    char folder[1100];
    uint64_t id = 0;
    if (cubin_cache_folder(folder, sizeof folder) &&
        cubin_cache_read(folder, choice_key(cuda, problem), version_of(problem), 0, &text)) {
        struct bytes in = bytes_of(buf_str(&text));
        id = bytes_le64(&in);
        if (in.failed)
            id = 0;
    }
    buf_release(&text);
    return id;
}

static void save_plan_choice(struct cuda *cuda, const struct plan_problem *problem, uint64_t id)
{
    struct buf text = BUF_INIT;
    char folder[1100];
    buf_le64(&text, id);
    if (!text.failed && cubin_cache_folder(folder, sizeof folder))
        cubin_cache_write(folder, choice_key(cuda, problem), version_of(problem), 0,
                          buf_str(&text));
    buf_release(&text);
}

/* Returns the time in ms; INFINITY: the plan does not run. */
static float time_once(struct cuda *cuda, const struct plan_trial *trial, uint32_t i,
                       cu_event start, cu_event end)
{
    const struct driver *d = &cuda->driver;
    float ms = INFINITY;
    if (d->event_record(start, cuda->stream) != CU_OK || !trial->run(trial->user, i) ||
        d->event_record(end, cuda->stream) != CU_OK || d->stream_wait(cuda->stream) != CU_OK ||
        d->event_between(&ms, start, end) != CU_OK)
        return INFINITY;
    return ms;
}

static uint32_t fastest(struct cuda *cuda, const struct plan_trial *trial, cu_event start,
                        cu_event end)
{
    uint32_t best = 0;
    float best_ms = INFINITY;
    for (uint32_t i = 0; i < trial->n; i++) {
        float ms = time_once(cuda, trial, i, start, end); /* includes loading and compiling */
        bool runs = isfinite(ms);
        ms = INFINITY;
        for (int t = 1; runs && t < TIMES; t++)
            ms = fminf(ms, time_once(cuda, trial, i, start, end));
        if (isfinite(ms) && (!isfinite(best_ms) || (double)ms < FASTER * (double)best_ms)) {
            best = i;
            best_ms = ms;
        }
    }
    return best;
}

uint32_t plan_choice_make(struct cuda *cuda, const struct plan_problem *problem,
                          const struct plan_trial *trial)
{
    const struct driver *d = &cuda->driver;
    struct err ignored = { 0 };
    cu_event start = NULL, end = NULL;
    double from = clock_us();
    uint32_t best = 0;
    if (trial->n > 1 && cuda_may_wait(cuda, "plans of a library are timed", &ignored) &&
        cuda_flush(cuda, &ignored) && d->event_create(&start, 0) == CU_OK &&
        d->event_create(&end, 0) == CU_OK) {
        best = fastest(cuda, trial, start, end);
        cuda->base.log.tried += trial->n;
        cuda->base.log.try_ns += (uint64_t)((clock_us() - from) * 1e3);
        save_plan_choice(cuda, problem, trial->ids[best]);
    }
    if (start)
        d->event_destroy(start);
    if (end)
        d->event_destroy(end);
    return best;
}
