#include "replay/backend/backend.h"

extern const struct backend_kind backend_cpu;

const struct backend_kind *const backend_kinds[] = { &backend_cpu, NULL };

const struct backend_kind *backend_find(struct str name)
{
    for (size_t i = 0; backend_kinds[i]; i++)
        if (str_is(name, backend_kinds[i]->name))
            return backend_kinds[i];
    return NULL;
}
