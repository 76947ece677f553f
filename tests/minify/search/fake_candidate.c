#include "tests/minify/search/fake_candidate.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "trace/base/hash.h"

struct cand_data {
    atomic_uint refs;
    uint32_t n;
    int64_t value;
    uint32_t elements[];
};

static struct candidate *make(uint32_t n, int64_t value)
{
    struct candidate *candidate = calloc(1, sizeof *candidate);
    struct cand_data *data = calloc(1, sizeof *data + n * sizeof data->elements[0]);
    if (!candidate || !data) {
        free(candidate);
        free(data);
        return NULL;
    }
    candidate->data = data;
    atomic_init(&data->refs, 1);
    data->n = n;
    data->value = value;
    return candidate;
}

struct candidate *fake_new(uint32_t n, int64_t value)
{
    struct candidate *candidate = make(n, value);
    for (uint32_t i = 0; candidate && i < n; i++)
        candidate->data->elements[i] = i;
    return candidate;
}

uint32_t fake_n(const struct candidate *candidate)
{
    return candidate->data->n;
}

bool fake_has(const struct candidate *candidate, uint32_t element)
{
    for (uint32_t i = 0; i < candidate->data->n; i++)
        if (candidate->data->elements[i] == element)
            return true;
    return false;
}

int64_t fake_value(const struct candidate *candidate)
{
    return candidate->data->value;
}

void fake_print(const struct candidate *candidate, struct buf *out)
{
    for (uint32_t i = 0; i < candidate->data->n; i++)
        buf_printf(out, "%u ", (unsigned)candidate->data->elements[i]);
    buf_printf(out, "| %lld", (long long)candidate->data->value);
}

struct candidate *candidate_hold(struct candidate *candidate)
{
    if (candidate)
        atomic_fetch_add(&candidate->data->refs, 1);
    return candidate;
}

void candidate_free(struct candidate *candidate)
{
    if (!candidate || atomic_fetch_sub(&candidate->data->refs, 1) > 1)
        return;
    free(candidate->data);
    free(candidate);
}

static bool apply_one(const struct cand_data *whole, const struct edit *edit, bool *gone,
                      struct cand_data *data)
{
    switch (edit->kind) {
    case EDIT_REMOVE_NODE:
        if (edit->a >= whole->n || gone[edit->a])
            return false;
        return gone[edit->a] = true;
    case EDIT_KEEP_PREFIX:
        for (uint32_t i = edit->a; i < whole->n; i++)
            gone[i] = true;
        return edit->a <= whole->n;
    case EDIT_HINT: data->value = edit->value; return true;
    default: return false;
    }
}

struct candidate *candidate_apply(const struct candidate *whole, const struct edit *edits,
                                  uint32_t n_edits, struct err *why)
{
    struct candidate *candidate = make(whole->data->n, whole->data->value);
    bool *gone = calloc(whole->data->n + 1, sizeof *gone);
    bool good = candidate && gone;
    if (!good)
        err_nomem(why);
    for (uint32_t i = 0; good && i < n_edits; i++)
        if (!apply_one(whole->data, &edits[i], gone, candidate->data))
            good = err_set(why, ERR_USAGE, "not valid");
    if (good) {
        candidate->data->n = 0;
        for (uint32_t i = 0; i < whole->data->n; i++)
            if (!gone[i])
                candidate->data->elements[candidate->data->n++] = whole->data->elements[i];
    } else {
        candidate_free(candidate);
        candidate = NULL;
    }
    free(gone);
    return candidate;
}

struct cand_size candidate_size(const struct candidate *candidate)
{
    struct cand_size size = { 0 };
    size.part[SIZE_CALLS] = candidate->data->n;
    size.part[SIZE_HINT_BITS] = (uint64_t)candidate->data->value;
    return size;
}

int cand_size_compare(const struct cand_size *a, const struct cand_size *b)
{
    for (int i = 0; i < SIZE_PARTS; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

struct cand_hash candidate_hash(const struct candidate *candidate)
{
    const struct cand_data *data = candidate->data;
    uint64_t hash =
        hash_str((struct str){ (const char *)data->elements, data->n * sizeof data->elements[0] });
    return (struct cand_hash){ hash_mix(hash, (uint64_t)data->value), hash };
}

bool candidate_print_fx(const struct candidate *candidate, struct buf *out)
{
    fake_print(candidate, out);
    buf_putc(out, '\n');
    return !out->failed;
}

bool candidate_print_log(const struct candidate *candidate, struct buf *out)
{
    return candidate_print_fx(candidate, out);
}

void edit_print(const struct edit *edit, struct buf *out)
{
    buf_printf(out, "%d %u %u %lld", (int)edit->kind, (unsigned)edit->a, (unsigned)edit->b,
               (long long)edit->value);
}
