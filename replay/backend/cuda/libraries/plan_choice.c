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

/* Less work takes a few microseconds, whatever the plan. */
#define ENOUGH ((uint64_t)1 << 20)

static const char *plans_wanted(void)
{
    const char *how = getenv("SYMTAPE_CUDA_PLANS");
    return how ? how : "";
}

bool plan_choice_allowed(void)
{
    return strcmp(plans_wanted(), "first") != 0;
}

bool plan_choice_matters(uint64_t flops)
{
    return plan_choice_allowed() && (strcmp(plans_wanted(), "all") == 0 || flops >= ENOUGH);
}

int64_t plan_size_range(int64_t size)
{
    int64_t range = 0;
    while (size > 1) {
        size /= 2;
        range++;
    }
    return range;
}

void plan_recipes_release(struct plan_recipes *recipes)
{
    key_table_release(&recipes->keys);
    vec_release(&recipes->recipes);
}

/* ---- Stored choices ---- */

/* The key of the problem, or of its class of that number from 1. */
static struct cubin_key choice_key(struct cuda *cuda, const struct plan_problem *problem,
                                   uint32_t class)
{
    char text[256];
    snprintf(text, sizeof text, "plan 4 %d %s %zu %s %d", class > 0,
             library_name(problem->library->id), library_version(problem->library),
             cuda->device_name, cuda->driver_version);
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, text, strlen(text));
    XXH3_128bits_update(&state, class ? problem->classes[class - 1] : problem->key, problem->bytes);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct cubin_key){ hash.high64, hash.low64 };
}

static int version_of(const struct plan_problem *problem)
{
    return (int)library_version(problem->library);
}

static bool read_recipe(const struct plan_problem *problem, struct cubin_key key,
                        struct plan_recipe *ret)
{
    struct buf text = BUF_INIT;
    char folder[1100];
    bool ok = cubin_cache_folder(folder, sizeof folder) &&
              cubin_cache_read(folder, key, version_of(problem), 0, &text) &&
              buf_str(&text).n == sizeof ret->bytes + 1;
    if (ok) {
        memcpy(ret->bytes, buf_str(&text).p, sizeof ret->bytes);
        ret->provisional = buf_str(&text).p[sizeof ret->bytes] != 0;
    }
    buf_release(&text);
    return ok;
}

static void write_recipe(const struct plan_problem *problem, struct cubin_key key,
                         const struct plan_recipe *recipe)
{
    char folder[1100], text[sizeof recipe->bytes + 1];
    memcpy(text, recipe->bytes, sizeof recipe->bytes);
    text[sizeof recipe->bytes] = (char)recipe->provisional;
    if (cubin_cache_folder(folder, sizeof folder))
        cubin_cache_write(folder, key, version_of(problem), 0, (struct str){ text, sizeof text });
}

static struct plan_recipe *known_recipe(struct plan_recipes *r, struct cubin_key key)
{
    r->keys.key_bytes = sizeof key;
    uint32_t found = key_table_find(&r->keys, &key);
    return found == KEY_NONE ? NULL : &r->recipes.v[found];
}

/* Without memory it is not known the next time. */
static void note_recipe(struct plan_recipes *r, struct cubin_key key,
                        const struct plan_recipe *recipe)
{
    struct plan_recipe *known = known_recipe(r, key);
    if (known)
        *known = *recipe;
    else if (vec_reserve(&r->recipes, 1) && key_table_add(&r->keys, &key))
        r->recipes.v[r->recipes.n++] = *recipe;
}

/* Finds the recipe of a class that this process used. */
static bool recall_used(struct cuda *cuda, const struct plan_problem *problem,
                        struct plan_recipe *ret)
{
    bool found = false;
    for (uint32_t i = 0; i < problem->n_classes; i++) {
        const struct plan_recipe *known =
            known_recipe(problem->recipes, choice_key(cuda, problem, i + 1));
        if (!known || (found && !known->measured))
            continue;
        *ret = *known;
        ret->measured = known->measured && i < problem->n_own;
        found = true;
        if (known->measured)
            break;
    }
    return found;
}

/* Finds the recipe that another process stored; all of them were measured. */
static bool recall_stored(struct cuda *cuda, const struct plan_problem *problem, uint32_t n_classes,
                          struct plan_recipe *ret)
{
    ret->measured = true;
    if (read_recipe(problem, choice_key(cuda, problem, 0), ret))
        return true;
    for (uint32_t i = 0; i < n_classes; i++) {
        struct cubin_key key = choice_key(cuda, problem, i + 1);
        if (!read_recipe(problem, key, ret))
            continue;
        note_recipe(problem->recipes, key, ret);
        ret->measured = i < problem->n_own;
        return true;
    }
    return false;
}

bool plan_choice_recall(struct cuda *cuda, const struct plan_problem *problem,
                        struct plan_recipe *ret)
{
    const bool all = strcmp(plans_wanted(), "all") == 0;
    *ret = (struct plan_recipe){ .measured = false };
    if (!plan_choice_allowed())
        return false;
    const bool used = !all && recall_used(cuda, problem, ret);
    if ((used && ret->measured) || !problem->timed)
        return used;
    struct plan_recipe stored;
    if (!recall_stored(cuda, problem,
                       all    ? 0
                       : used ? problem->n_own
                              : problem->n_classes,
                       &stored))
        return used;
    *ret = stored;
    return true;
}

void plan_choice_save(struct cuda *cuda, const struct plan_problem *problem,
                      const struct plan_recipe *recipe, const struct plan_recipe *class_recipe)
{
    if (recipe->measured)
        write_recipe(problem, choice_key(cuda, problem, 0), recipe);
    for (uint32_t i = 0; i < problem->n_own; i++) {
        struct cubin_key key = choice_key(cuda, problem, i + 1);
        const struct plan_recipe *known = known_recipe(problem->recipes, key);
        if (known && ((known->measured && !problem->replaces) || !class_recipe->measured))
            continue;
        note_recipe(problem->recipes, key, class_recipe);
        if (class_recipe->measured)
            write_recipe(problem, key, class_recipe);
    }
}

/* ---- Measurements ---- */

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

static float time_plan(struct cuda *cuda, const struct plan_trial *trial, uint32_t i,
                       cu_event start, cu_event end)
{
    if (!cuda_batch_end(cuda, NULL))
        return INFINITY;
    float ms = time_once(cuda, trial, i, start, end); /* includes loading and compiling */
    bool runs = isfinite(ms);
    ms = INFINITY;
    for (int t = 1; runs && t < TIMES; t++)
        ms = fminf(ms, time_once(cuda, trial, i, start, end));
    return ms;
}

bool plan_choice_time(struct cuda *cuda, const struct plan_trial *trial, float *ret)
{
    const struct driver *d = &cuda->driver;
    struct err ignored = { 0 };
    cu_event start = NULL, end = NULL;
    double from = clock_us();
    bool measured = trial->n > 1 && cuda_may_wait(cuda, "plans of a library are timed", &ignored) &&
                    cuda_flush(cuda, &ignored) && d->event_create(&start, 0) == CU_OK &&
                    d->event_create(&end, 0) == CU_OK;
    if (measured) {
        for (uint32_t i = 0; i < trial->n; i++)
            ret[i] = time_plan(cuda, trial, i, start, end);
        cuda->base.log.tried += trial->n;
        cuda->base.log.try_ns += (uint64_t)((clock_us() - from) * 1e3);
    }
    if (start)
        d->event_destroy(start);
    if (end)
        d->event_destroy(end);
    return measured;
}

uint32_t plan_choice_fastest(const float *ms, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        if (isfinite(ms[i]) && (!isfinite(ms[best]) || (double)ms[i] < FASTER * (double)ms[best]))
            best = i;
    return best;
}
