#include "minify/passes/pass.h"
#include "minify/passes/pass_edits.h"

const struct pass passes[] = {
#define PASS(id, name, description, once, usual) \
    { name, description, once, pass_##id, USUAL_##usual },
#include "minify/passes/passes.def"
#undef PASS
};
const size_t n_passes = sizeof passes / sizeof *passes;
