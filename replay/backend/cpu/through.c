/* Operators that are another one and a copy: view_copy and its like, reshape where it copies. */
#include <stdio.h>

#include "replay/backend/cpu/kernel.h"

/* aten.permute_copy.out is aten.permute, copied; so is narrow_copy. */
void kernel_view_copy(struct kernel *k)
{
    struct str base = k->call->schema->base, overload = k->call->schema->overload;
    char name[128];
    if (str_ends(overload, STR("_out")))
        overload = str_first(overload, overload.n - 4);
    if (overload.n == 0 || str_is(overload, "out"))
        overload = STR("default");
    snprintf(name, sizeof name, "aten.%.*s.%.*s", (int)str_find(base, STR("_copy")), base.p,
             STR_ARG(overload));
    copy_results(k, run_same_args(k, name, 0));
}

/* The elements in order under other sizes. */
void kernel_copy_in_order(struct kernel *k)
{
    copy_elements(k, tensor_arg(k, "self"), result(k, 0));
}

/* copy_(src): broadcast, and converted. copy(self, src) and lift_fresh are its like. */
void kernel_copy_from(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    store(k, to, dense_broadcast(k, load(k, tensor_arg(k, "src")), size, ndim));
}
