/* Parses the text of --sizes s77=31,s27=8 in the commands that make a candidate: hints that
 * replace the recorded ones. */
#ifndef SYMTAPE_CMD_CLI_HINT_LIST_H
#define SYMTAPE_CMD_CLI_HINT_LIST_H

#include "minify/candidate/candidate.h"

enum { HINTS_MAX = 64 };

struct hint_list {
    struct cand_hint hints[HINTS_MAX]; /* their names point into the text */
    uint32_t n;
};

/* Reads a list; `list` must be empty, and NULL is an empty text. It fails with ERR_USAGE. */
bool hint_list_read(struct hint_list *list, const char *text, struct err *err);

#endif
