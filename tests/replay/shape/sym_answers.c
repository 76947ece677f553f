/* Answers the questions of sym_cases.py: "form<TAB>formula" lines in, one answer a line out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/replay/shape/sym_formula.h"

int main(void)
{
    struct err err = { .kind = ERR_NONE };
    struct sym_pool *pool = sym_pool_new(&err);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while (pool && (n = getline(&line, &cap, stdin)) > 0) {
        struct str text = str_trim((struct str){ line, (size_t)n });
        size_t tab = str_find_char(text, '\t');
        struct buf out = BUF_INIT;
        sym_answer_case(pool, str_first(text, tab), str_from(text, tab + 1), &out);
        printf("%.*s\n", (int)out.n, out.p ? out.p : "");
        buf_release(&out);
    }
    free(line);
    sym_pool_free(pool);
    return 0;
}
