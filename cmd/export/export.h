/* Declarations that the files of `symtape export` share. */
#ifndef SYMTAPE_CMD_EXPORT_EXPORT_H
#define SYMTAPE_CMD_EXPORT_EXPORT_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"

struct export_args {
    bool log, python, cpu, overwrite, strict;
    struct opt_sizes sizes;
    const char *output, *allow, *sqlite, *jsonl;
};

/* Exports the one graph that the selector names with --python. Returns an exit code. */
int export_program(struct out *out, const struct export_args *args, struct tape_arg *tape);

/* Writes what the selector names as tables, with --sqlite and --jsonl. Returns an exit code. */
int export_tables(struct out *out, const struct export_args *args, struct tape_arg *tape);

#endif
