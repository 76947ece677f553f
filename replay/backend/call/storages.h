/* The memory behind the numbers of storages (struct kernel_tensor in
 * replay/backend/call/kernel_value.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_STORAGES_H
#define SYMTAPE_REPLAY_BACKEND_CALL_STORAGES_H

#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/vec.h"

struct backend;

/* Of one device. */
struct memory {
    void *p; /* where the backend has it: an address of the host or the device */
    size_t bytes;
    bool borrowed; /* weights of a file: never written, never released */
    bool written;  /* by exec_write() or a call whose schema says that it writes its argument */
};

/* Memory that was taken, or given back: bytes below 0. */
struct storage_event {
    uint32_t number, node;
    int64_t bytes;
};

struct storages {
    struct backend *backend;
    vec_of(struct memory)
    by_number;          /* bytes 0 and p NULL: none yet */
    size_t bytes, peak; /* allocated now, and at most */
    uint32_t node;      /* that memory is taken for */
    bool noting;        /* events, in their order */
    vec_of(struct storage_event)
    events;
};

void storages_release(struct storages *s);

/* NULL: the number has no memory. */
static inline struct memory *storage_at(struct storages *s, uint32_t number)
{
    return number < s->by_number.n && s->by_number.v[number].p ? &s->by_number.v[number] : NULL;
}

/* Memory for that storage, if it has none or too little (resize_ keeps what there was). */
bool storage_need(struct storages *s, uint32_t number, size_t bytes, struct err *err);
/* The file's memory stands for the storage. */
bool storage_borrow(struct storages *s, uint32_t number, void *p, size_t bytes, struct err *err);
void storage_free(struct storages *s, uint32_t number);
/* The memory leaves the storage, for the caller to keep, or becomes a storage's that has none. */
struct memory storage_take(struct storages *s, uint32_t number);
bool storage_put(struct storages *s, uint32_t number, struct memory memory, struct err *err);

#endif
