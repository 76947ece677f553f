/* Parses --sizes s77=31,s27=8 or --sizes FILE in the commands that make a candidate: hints that
 * replace the recorded ones, one of each symbol. */
#ifndef SYMTAPE_CMD_CLI_HINT_LIST_H
#define SYMTAPE_CMD_CLI_HINT_LIST_H

#include "cmd/cli/size_grid.h"
#include "minify/candidate/candidate.h"

struct hint_list {
    struct cand_hint hints[GRID_SYMBOLS];
    uint32_t n;
    struct size_grid grid; /* owns their names */
};

/* Reads a list; `list` is zero before, and is to be released on failure, too. `meter`: see
 * text_file_read(). It fails with ERR_USAGE if several sizes are given, or a file that does not
 * exist, and otherwise as size_grid_read() does. */
bool hint_list_read(struct hint_list *list, const struct opt_sizes *sizes,
                    struct source_meter *meter, struct err *err);
void hint_list_release(struct hint_list *list);

#endif
