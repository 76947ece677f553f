#include "cmd/solver/solver_arg.h"

bool solver_arg_start(const char *word, struct decide_limits *limits, struct err *err)
{
    struct err ignored = { 0 };
    struct str solver = str_of(word ? word : "auto");
    if (str_is(solver, "own"))
        return true;
    limits->only_z3 = str_is(solver, "z3");
    limits->z3 = z3_start(NULL, limits->only_z3 ? err : &ignored);
    if (ignored.no_memory)
        return err_nomem(err);
    return !limits->only_z3 ||
           (limits->z3 && (z3_check(limits->z3, err) || err_at(err, "--solver")));
}
