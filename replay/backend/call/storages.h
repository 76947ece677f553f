/* The memory behind the numbers of storages (struct kernel_tensor in
 * replay/backend/call/kernel_value.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_STORAGES_H
#define SYMTAPE_REPLAY_BACKEND_CALL_STORAGES_H

#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/vec.h"

struct backend;

enum { MEMORY_KNOWN = 16 };

/* Memory of one device. */
struct memory {
    void *p; /* an address of the host or the device */
    size_t bytes;
    /* The first bytes, as the host wrote them; they are valid until `written` is set. Numbers that
     * are inputs can be read from here, without waiting for a device. */
    unsigned char known[MEMORY_KNOWN];
    size_t n_known;
    bool borrowed; /* weights of a file: never written, never freed */
    bool written;  /* by exec_write(), or by a call whose schema says that it writes its argument */
    bool unfilled; /* made by empty() or the like; has no values until `written` is set */
};

/* Memory was allocated, or freed: then bytes is below 0. */
struct storage_event {
    uint32_t number, node;
    int64_t bytes;
};

struct storages {
    struct backend *backend;
    vec_of(struct memory)
    by_number;          /* bytes 0 and p NULL: no memory yet */
    size_t bytes, peak; /* allocated now, and the maximum */
    uint32_t node;      /* the node that allocations belong to */
    bool noting;        /* events are recorded, in their order */
    vec_of(struct storage_event)
    events;
};

void storages_release(struct storages *s);

/* Returns NULL if the number has no memory. */
static inline struct memory *storage_at(struct storages *s, uint32_t number)
{
    return number < s->by_number.n && s->by_number.v[number].p ? &s->by_number.v[number] : NULL;
}

/* Allocates memory for that storage if it has none or too little (resize_ keeps its contents). */
bool storage_need(struct storages *s, uint32_t number, size_t bytes, struct err *err);
/* Uses the file's memory as that of the storage. */
bool storage_borrow(struct storages *s, uint32_t number, void *p, size_t bytes, struct err *err);
void storage_free(struct storages *s, uint32_t number);
/* storage_take() removes the memory from the storage and returns it; storage_put() gives it to a
 * storage that has none. */
struct memory storage_take(struct storages *s, uint32_t number);
bool storage_put(struct storages *s, uint32_t number, struct memory memory, struct err *err);
/* Gives the memory of one storage to another one, which has none. */
bool storage_move(struct storages *s, uint32_t from, uint32_t to, struct err *err);

#endif
