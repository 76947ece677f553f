#include "profile/ranks/collective_ops.h"

static const struct str SPACES[] = {
#define COLLECTIVE_SPACE(name) { name, sizeof name - 1 },
#include "profile/ranks/collective_ops.def"
};
static const struct str LOCAL[] = {
#define COLLECTIVE_LOCAL(name) { name, sizeof name - 1 },
#include "profile/ranks/collective_ops.def"
};
static const struct str PEER[] = {
#define COLLECTIVE_PEER(name) { name, sizeof name - 1 },
#include "profile/ranks/collective_ops.def"
};
static const struct str UNEVEN[] = {
#define COLLECTIVE_UNEVEN(name) { name, sizeof name - 1 },
#include "profile/ranks/collective_ops.def"
};

static bool has_name(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

#define HAS_NAME(names, name) has_name(names, sizeof(names) / sizeof *(names), name)

bool is_collective(struct str op, struct str *name)
{
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++) {
        if (!str_starts(op, SPACES[i]))
            continue;
        *name = str_from(op, SPACES[i].n);
        *name = str_first(*name, str_find_char(*name, '.'));
        return !HAS_NAME(LOCAL, *name);
    }
    return false;
}

bool is_peer_call(struct str name)
{
    return HAS_NAME(PEER, name);
}

bool is_send(struct str name)
{
    return str_ends(name, STR("send"));
}

bool is_uneven(struct str name)
{
    return HAS_NAME(UNEVEN, name);
}
