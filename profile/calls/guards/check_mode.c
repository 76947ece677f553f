/* GLOBAL_STATE: the modes of the process against those of a compile (struct GlobalStateGuard in
 * torch/csrc/dynamo/guards.cpp). */
#include "profile/calls/guards/check_leaf.h"

bool check_mode(const struct call_mode *then, const struct call_mode *now, struct buf *reason)
{
    bool enables = now->autocast_device.n != 0;
    bool grad = then->grad != now->grad;
    bool enabled = (then->autocast_device.n != 0) != enables;
    bool dtype = !enabled && !str_eq(then->autocast_dtype, now->autocast_dtype);
    bool deterministic = then->deterministic != now->deterministic;
    bool default_dtype = !str_eq(then->default_dtype, now->default_dtype);
    struct str device = enables ? now->autocast_device : then->autocast_device;
    if (!then->known || !now->known ||
        !(grad || enabled || dtype || deterministic || default_dtype))
        return true;
    if (!reason)
        return false;
    buf_puts(reason, "GLOBAL_STATE changed: ");
    if (grad)
        buf_puts(reason, "grad_mode ");
    if (enabled || dtype)
        buf_printf(reason, "autocast(%.*s)_%s ", STR_ARG(device), enabled ? "enabled" : "dtype");
    if (deterministic)
        buf_puts(reason, "deterministic_algorithms ");
    if (default_dtype)
        buf_puts(reason, "default_dtype ");
    return false;
}
