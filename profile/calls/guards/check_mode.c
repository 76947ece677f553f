/* GLOBAL_STATE: the modes of the process against those of a compile (struct GlobalStateGuard in
 * torch/csrc/dynamo/guards.cpp). */
#include "profile/calls/guards/check_leaf.h"

bool check_mode(const struct call_mode *then, const struct call_mode *now, struct buf *reason)
{
    struct buf none = BUF_INIT, *out = reason ? reason : &none;
    size_t before = out->n;
    if (!then->known || !now->known)
        return true;
    buf_puts(out, "GLOBAL_STATE changed: ");
    size_t start = out->n;
    if (then->grad != now->grad)
        buf_puts(out, "grad_mode ");
    bool enabled = then->autocast_device.n != 0, enables = now->autocast_device.n != 0;
    struct str device = enables ? now->autocast_device : then->autocast_device;
    if (enabled != enables)
        buf_printf(out, "autocast(%.*s)_enabled ", STR_ARG(device));
    else if (!str_eq(then->autocast_dtype, now->autocast_dtype))
        buf_printf(out, "autocast(%.*s)_dtype ", STR_ARG(device));
    if (then->deterministic != now->deterministic)
        buf_puts(out, "deterministic_algorithms ");
    if (!str_eq(then->default_dtype, now->default_dtype))
        buf_puts(out, "default_dtype ");
    bool same = out->n == start && !out->failed;
    if (same)
        out->n = before;
    buf_release(&none);
    return same;
}
