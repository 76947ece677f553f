#include "replay/backend/call/storages.h"

#include <string.h>

#include "replay/backend/call/backend.h"

void storages_release(struct storages *s)
{
    for (uint32_t i = 0; i < s->by_number.n; i++)
        storage_free(s, i);
    vec_release(&s->by_number);
    vec_release(&s->events);
}

static bool add_storage_event(struct storages *s, uint32_t number, int64_t bytes)
{
    struct storage_event event = { number, s->node, bytes };
    return !s->noting || vec_push(&s->events, event);
}

static bool storage_number(struct storages *s, uint32_t number, struct err *err)
{
    while (s->by_number.n <= number)
        if (!vec_push(&s->by_number, (struct memory){ 0 }))
            return err_nomem(err);
    return true;
}

/* Copies the contents of a storage that grows. */
static bool move_over(struct storages *s, struct memory *from, struct memory *to, struct err *err)
{
    const struct backend_kind *kind = s->backend->kind;
    char part[4096];
    if (kind->shapes_only)
        return true;
    for (size_t at = 0; from->p && at < from->bytes; at += sizeof part) {
        size_t n = from->bytes - at < sizeof part ? from->bytes - at : sizeof part;
        if (!kind->read(s->backend, from, at, part, n, err) ||
            !kind->write(s->backend, to, at, part, n, err))
            return false;
    }
    return true;
}

bool storage_need(struct storages *s, uint32_t number, size_t bytes, struct err *err)
{
    struct memory more = { 0 };
    if (!storage_number(s, number, err))
        return false;
    struct memory *m = &s->by_number.v[number];
    if (m->p && m->bytes >= bytes)
        return true;
    if (!s->backend->kind->allocate(s->backend, bytes, &more, err))
        return false;
    if (!move_over(s, m, &more, err)) {
        s->backend->kind->release(s->backend, &more);
        return false;
    }
    storage_free(s, number);
    *m = more;
    s->bytes += more.bytes;
    s->peak = s->bytes > s->peak ? s->bytes : s->peak;
    return add_storage_event(s, number, (int64_t)more.bytes) || err_nomem(err);
}

bool storage_borrow(struct storages *s, uint32_t number, void *p, size_t bytes, struct err *err)
{
    if (!storage_number(s, number, err))
        return false;
    storage_free(s, number);
    s->by_number.v[number] = (struct memory){ .p = p, .bytes = bytes, .borrowed = true };
    return true;
}

void storage_free(struct storages *s, uint32_t number)
{
    if (number >= s->by_number.n || !s->by_number.v[number].p)
        return;
    struct memory *m = &s->by_number.v[number];
    if (!m->borrowed) {
        s->bytes -= m->bytes;
        add_storage_event(s, number,
                          -(int64_t)m->bytes); /* if this event is lost, the peak looks larger */
        s->backend->kind->release(s->backend, m);
    }
    *m = (struct memory){ 0 };
}

struct memory storage_take(struct storages *s, uint32_t number)
{
    struct memory ret = s->by_number.v[number];
    s->bytes -= ret.borrowed ? 0 : ret.bytes;
    s->by_number.v[number] = (struct memory){ 0 };
    return ret;
}

bool storage_put(struct storages *s, uint32_t number, struct memory memory, struct err *err)
{
    if (!storage_number(s, number, err))
        return false;
    storage_free(s, number);
    s->by_number.v[number] = memory;
    s->bytes += memory.borrowed ? 0 : memory.bytes;
    s->peak = s->bytes > s->peak ? s->bytes : s->peak;
    return add_storage_event(s, number, (int64_t)memory.bytes) || err_nomem(err);
}

bool storage_move(struct storages *s, uint32_t from, uint32_t to, struct err *err)
{
    struct memory moved = storage_take(s, from);
    if (add_storage_event(s, from, -(int64_t)moved.bytes) && storage_put(s, to, moved, err))
        return true;
    if (!storage_at(s, to)) { /* it stays where it was */
        s->by_number.v[from] = moved;
        s->bytes += moved.bytes;
    }
    return err_is_set(err) ? false : err_nomem(err);
}
