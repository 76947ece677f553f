#include "profile/calls/cache/check_memo.h"

/* The most cells that are kept: 64 MiB. */
enum { MOST_CELLS = 1 << 22 };

bool check_memo_watch(struct check_memo *memo, uint32_t object)
{
    while (memo->watched.n <= object)
        if (!vec_push(&memo->watched, false))
            return false;
    memo->watched.v[object] = true;
    return true;
}

static bool is_watched(const struct check_memo *memo, const struct call_object *object)
{
    return object->inference ||
           (object->number < memo->watched.n && memo->watched.v[object->number]);
}

static bool add_kind(struct check_memo *memo, uint32_t *ret)
{
    *ret = (uint32_t)memo->kinds.n;
    return vec_push(&memo->kinds, (struct call_kind){ .generation = CALL_NONE,
                                                      .first_check = CALL_NONE,
                                                      .unfit_check = CALL_NONE });
}

static bool kind_of_form(struct check_memo *memo, uint32_t form, uint32_t *ret)
{
    while (memo->of_form.n <= form)
        if (!vec_push(&memo->of_form, CALL_NONE))
            return false;
    *ret = memo->of_form.v[form];
    return *ret != CALL_NONE || (add_kind(memo, ret) && (memo->of_form.v[form] = *ret, true));
}

static bool kind_of_objects(struct check_memo *memo, const struct program_call *call, uint32_t *ret)
{
    buf_clear(&memo->key);
    buf_varint(&memo->key, call->form);
    for (uint32_t i = 0; i < call->n_objects; i++) {
        const struct call_object *object = &call->objects[i];
        bool compared = object->number < memo->watched.n && memo->watched.v[object->number];
        buf_varint(&memo->key, object->inference | (compared ? object->number + 1ull : 0) << 1);
    }
    uint32_t id = memo->key.failed ? INTERN_NONE : intern(&memo->with_objects, buf_str(&memo->key));
    if (id == INTERN_NONE)
        return false;
    if (id == memo->of_objects.n && !(add_kind(memo, ret) && vec_push(&memo->of_objects, *ret)))
        return false;
    *ret = memo->of_objects.v[id];
    return true;
}

bool check_memo_meet(struct check_memo *memo, const struct program_call *call, uint32_t *ret)
{
    uint32_t i = 0;
    while (i < call->n_objects && !is_watched(memo, &call->objects[i]))
        i++;
    if (!(i < call->n_objects ? kind_of_objects(memo, call, ret)
                              : kind_of_form(memo, call->form, ret)))
        return false;
    memo->kinds.v[*ret].met++;
    return true;
}

/* Gives a kind cells for n entries, and keeps what it had. Returns false when memory ran out. */
static bool add_cells(struct check_memo *memo, struct call_kind *kind, uint32_t n)
{
    bool had = kind->generation == memo->generation;
    uint32_t before = had ? kind->n_cells : 0, first = kind->first_cell;
    if (n > MOST_CELLS)
        return false;
    if (memo->cells.n + n > MOST_CELLS) {
        memo->cells.n = 0;
        memo->generation++;
        before = 0;
    }
    if (!vec_reserve(&memo->cells, n))
        return false;
    kind->first_cell = (uint32_t)memo->cells.n;
    kind->n_cells = n;
    kind->generation = memo->generation;
    for (uint32_t i = 0; i < n; i++)
        (void)vec_push(&memo->cells, i < before ? memo->cells.v[first + i]
                                                : (struct memo_cell){ .check = CALL_NONE });
    return true;
}

struct memo_cell *check_memo_cell(struct check_memo *memo, uint32_t kind, uint32_t ordinal,
                                  uint32_t n_entries)
{
    struct call_kind *k = &memo->kinds.v[kind];
    if (k->met < 2)
        return NULL;
    if ((k->generation != memo->generation || ordinal >= k->n_cells) &&
        !add_cells(memo, k, n_entries + n_entries / 2))
        return NULL;
    return &memo->cells.v[k->first_cell + ordinal];
}

void check_memo_release(struct check_memo *memo)
{
    vec_release(&memo->of_form);
    intern_release(&memo->with_objects);
    vec_release(&memo->of_objects);
    vec_release(&memo->kinds);
    vec_release(&memo->cells);
    vec_release(&memo->watched);
    buf_release(&memo->key);
}
