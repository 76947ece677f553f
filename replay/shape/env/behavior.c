#include "replay/shape/env/behavior.h"
#include "replay/shape/env/env_inside.h"

static const struct behavior_row behaviors[] = {
#define BEHAVIOR(name, since, file, function) { #name, since, file, function },
#include "replay/shape/env/behaviors.def"
#undef BEHAVIOR
};

const struct behavior_row *behavior_row(enum behavior behavior)
{
    return &behaviors[behavior];
}

bool behaves(const struct shape_env *env, enum behavior behavior)
{
    return env->settings.torch >= behaviors[behavior].since;
}

static bool same_letter(char written, char upper)
{
    return written == upper || (written >= 'a' && written <= 'z' && written - 'a' + 'A' == upper);
}

static bool is_named(const struct behavior_row *row, struct str name)
{
    struct str own = str_of(row->name);
    bool same = own.n == name.n;
    for (size_t i = 0; i < own.n && same; i++)
        same = same_letter(name.p[i], own.p[i]);
    return same;
}

bool behavior_find(struct str name, enum behavior *ret)
{
    for (int i = 0; i < BEHAVIORS; i++)
        if (is_named(&behaviors[i], name))
            return *ret = (enum behavior)i, true;
    return false;
}

static size_t digits(struct str text, int *ret)
{
    enum { MOST = 3 };
    size_t i = 0;
    for (*ret = 0; i < text.n && i < MOST && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        *ret = 10 * *ret + (text.p[i] - '0');
    return i;
}

int torch_release(struct str version)
{
    int major, minor;
    size_t at = digits(version, &major);
    if (!at || at >= version.n || version.p[at] != '.' ||
        !digits(str_from(version, at + 1), &minor) || minor > 99)
        return 0;
    return 100 * major + minor;
}
