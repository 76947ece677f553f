/* GLOBAL_STATE: the modes of the process against those of a compile (struct GlobalStateGuard in
 * torch/csrc/dynamo/guards.cpp). */
#include "profile/calls/guards/check_leaf.h"

/* Moves past what stands in parentheses at the start of a text. */
static struct str after_device(struct str text)
{
    return text.n && text.p[0] == '(' ? str_from(text, str_find_char(text, ')') + 1) : text;
}

/* Compares "DeviceContext(meta), OtherMode" without the devices. */
static bool same_modes(struct str a, struct str b)
{
    while (a.n && b.n && a.p[0] == b.p[0]) {
        a = after_device(str_from(a, 1));
        b = after_device(str_from(b, 1));
    }
    return !a.n && !b.n;
}

bool check_function_modes(const struct call_mode *then, const struct call_mode *now, bool device)
{
    return !then->known || !now->known ||
           (device ? str_eq(then->function_modes, now->function_modes)
                   : same_modes(then->function_modes, now->function_modes));
}

enum setting_place { AHEAD, BEHIND };

static const struct {
    const char *name;
    enum setting_place place;
} SETTINGS[] = {
#define SETTING(name, place) { #name, place },
#include "profile/calls/values/mode_settings.def"
#undef SETTING
};

static bool put_settings(const struct call_mode *then, const struct call_mode *now,
                         enum setting_place place, struct buf *reason)
{
    bool changed = false;
    for (int i = 0; i < MODE_SETTING_COUNT; i++) {
        if (SETTINGS[i].place != place || str_eq(then->settings[i], now->settings[i]))
            continue;
        changed = true;
        if (reason)
            buf_printf(reason, "%s ", SETTINGS[i].name);
    }
    return changed;
}

static void put_if(bool changed, const char *what, struct buf *reason)
{
    if (changed)
        buf_printf(reason, "%s ", what);
}

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
        !(grad || enabled || dtype || deterministic || default_dtype ||
          put_settings(then, now, AHEAD, NULL) || put_settings(then, now, BEHIND, NULL)))
        return true;
    if (!reason)
        return false;
    buf_puts(reason, "GLOBAL_STATE changed: ");
    put_if(grad, "grad_mode", reason);
    if (enabled || dtype)
        buf_printf(reason, "autocast(%.*s)_%s ", STR_ARG(device), enabled ? "enabled" : "dtype");
    put_settings(then, now, AHEAD, reason);
    put_if(deterministic, "deterministic_algorithms", reason);
    put_settings(then, now, BEHIND, reason);
    put_if(default_dtype, "default_dtype", reason);
    return false;
}
