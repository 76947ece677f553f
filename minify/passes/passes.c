#include "minify/passes/pass.h"
#include "minify/passes/pass_edits.h"

const struct pass passes[] = {
#define PASS(id, name, description, once, kind) \
    { name, description, once, pass_##id, PASS_KIND_##kind },
#include "minify/passes/passes.def"
#undef PASS
};
const size_t n_passes = sizeof passes / sizeof *passes;
