#include "profile/model/profile.h"

static const struct {
    const char *name; /* a name that ends in '*' is a prefix */
    enum phase_part part;
    bool backend;
    const char *meaning;
} PHASES[] = {
#define PHASE_NAME(name, part, backend, meaning) { name, PHASE_##part, backend, meaning },
#include "profile/model/phases/phase_names.def"
#undef PHASE_NAME
};

enum { N_PHASES = sizeof PHASES / sizeof *PHASES };

static size_t find_phase_name(struct str name)
{
    for (size_t i = 0; i < N_PHASES; i++) {
        struct str known = str_of(PHASES[i].name);
        bool start = str_ends(known, STR("*"));
        if (start ? str_starts(name, str_first(known, known.n - 1)) : str_eq(name, known))
            return i;
    }
    return N_PHASES;
}

enum phase_part phase_part_of(struct str name)
{
    size_t i = find_phase_name(name);
    return i < N_PHASES ? PHASES[i].part : PHASE_OTHER;
}

int phase_whole_compile(struct str name)
{
    static const char *const WHOLE[] = { "entire_frame_compile", "dynamo" };
    for (int i = 0; i < (int)(sizeof WHOLE / sizeof *WHOLE); i++)
        if (str_is(name, WHOLE[i]))
            return i;
    return -1;
}

const char *phase_meaning(struct str name)
{
    size_t i = find_phase_name(name);
    return i < N_PHASES ? PHASES[i].meaning : "";
}

bool phase_is_backend(struct str name)
{
    size_t i = find_phase_name(name);
    return i < N_PHASES && PHASES[i].backend;
}

const char *phase_part_title(enum phase_part part)
{
    static const char *const TITLES[PHASE_PARTS] = {
#define PHASE_PART(id, title) [PHASE_##id] = title,
#include "profile/model/phases/phase_parts.def"
#undef PHASE_PART
    };
    return TITLES[part];
}
