/* Writes the result as a bug report in Markdown, for an issue of PyTorch. */
#ifndef SYMTAPE_MINIFY_ISSUE_H
#define SYMTAPE_MINIFY_ISSUE_H

#include "minify/minify.h"
#include "minify/repro/repro_verify.h"
#include "minify/search/why.h"

/* A graph in numbers, as the command reports them. */
struct issue_size {
    uint64_t calls, symbols, guards;
};

struct issue {
    const struct candidate *best;
    struct issue_size before, after;
    const struct minify_result *result;
    struct str repro;                      /* the program, as repro.h prints it when `plain` */
    const char *cannot;                    /* the reason why PyTorch alone cannot run it; "" */
    struct str oracle;                     /* the oracle and its options: "--check ./fails.sh" */
    struct str machine;                    /* "Linux x86_64"; "" */
    struct str eager;                      /* the error without any compiler; "" */
    struct str compiler;                   /* "inductor, lowerings: relu"; "" */
    const struct repro_verified *verified; /* NULL: not run */
    const struct why_list *whys;           /* NULL: not determined */
    const char *symtape_version;
};

/* Appends a title that others would search for: the operator and the normalised error, shortened
 * and escaped by markdown_title(). */
void issue_title(const struct issue *issue, struct buf *out);
/* Returns false when memory ran out. */
bool issue_print(const struct issue *issue, struct buf *out);

#endif
