/* Private to the profile room: groups that are being built. */
#ifndef SYMTAPE_PROFILE_MODEL_GROUP_ROWS_H
#define SYMTAPE_PROFILE_MODEL_GROUP_ROWS_H

#include "profile/model/build.h"

struct group_rows {
    vec_of(struct profile_group)
    rows;
    struct intern keys;
};

/* Returns the row of a key, valid until the next call, or NULL when memory ran out. */
struct profile_group *group_row(struct group_rows *rows, struct str key);

bool groups_by_stack(struct profile_build *b, struct group_rows *rows);
bool groups_by_module(struct profile_build *b, struct group_rows *rows);

#endif
