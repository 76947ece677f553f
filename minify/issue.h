/* A bug report: what somebody pastes into an issue about PyTorch, as Markdown. */
#ifndef SYMTAPE_MINIFY_ISSUE_H
#define SYMTAPE_MINIFY_ISSUE_H

#include "minify/minify.h"
#include "minify/repro/repro_verify.h"
#include "minify/search/why.h"

struct issue {
    const struct candidate *best;
    const struct minify_result *result;
    struct str repro;                      /* repro.py's text */
    const char *cannot;                    /* why PyTorch alone cannot run it; "" */
    struct str oracle;                     /* the oracle and its options: "--check ./fails.sh" */
    struct str eager;                      /* the error without any compiler; "" */
    const struct repro_verified *verified; /* NULL: not asked */
    const struct why_list *whys;           /* NULL: not asked */
    const char *symtape_version;
};

/* A title that others would search for: the operator and the normalised error, shortened and
 * escaped by markdown_title(). */
void issue_title(const struct issue *issue, struct buf *out);
/* False: out of memory. */
bool issue_print(const struct issue *issue, struct buf *out);

#endif
