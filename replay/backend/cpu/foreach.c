#include "replay/backend/cpu/kernel.h"

void run_foreach(struct kernel *k)
{
    const struct value *self = &k->call->args[0];
    uint32_t n = self->kind == VALUE_LIST || self->kind == VALUE_TUPLE ? self->n : 0;
    k->foreach = true;
    for (k->item = 0; k->item < n && !k->failed; k->item++)
        k->row->run(k);
    k->foreach = false;
}
