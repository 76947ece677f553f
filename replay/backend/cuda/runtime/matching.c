#include "replay/backend/cuda/runtime/matching.h"

#include <fnmatch.h>
#include <stdlib.h>

struct name_matches matching_find(int parent, const char *folder, const char *pattern)
{
    struct name_matches ret = { 0 };
    int all = scandirat(parent, folder, &ret.names, NULL, alphasort);
    for (int i = 0; i < all; i++) {
        if (fnmatch(pattern, ret.names[i]->d_name, FNM_PERIOD) == 0)
            ret.names[ret.n++] = ret.names[i];
        else
            free(ret.names[i]);
    }
    if (all < 0)
        ret.names = NULL;
    return ret;
}

void matching_release(struct name_matches *matching)
{
    for (int i = 0; i < matching->n; i++)
        free(matching->names[i]);
    free(matching->names);
    *matching = (struct name_matches){ 0 };
}
