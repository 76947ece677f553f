#include "minify/oracle/oracle.h"

static const char *const names[VERDICTS] = {
    [VERDICT_INTERESTING] = "interesting", [VERDICT_BORING] = "boring", [VERDICT_OTHER] = "other",
    [VERDICT_UNRESOLVED] = "unresolved",   [VERDICT_BROKEN] = "broken",
};

const char *verdict_name(enum verdict verdict)
{
    return (size_t)verdict < VERDICTS ? names[verdict] : "?";
}

bool verdict_read(struct str name, enum verdict *verdict)
{
    for (size_t i = 0; i < VERDICTS; i++) {
        if (!str_is(name, names[i]))
            continue;
        *verdict = (enum verdict)i;
        return true;
    }
    return false;
}

void answer_release(struct answer *answer)
{
    arena_release(&answer->arena);
    *answer = (struct answer){ 0 };
}
