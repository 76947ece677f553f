#include "minify/candidate/sizes.h"

#include "trace/graph/expr_value.h"

struct size_reader {
    const struct candidate *candidate;
    const int64_t *values;
};

const struct cand_symbol *cand_symbol_named(const struct candidate *candidate, struct str name)
{
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        if (str_eq(candidate->symbols[i].name, name))
            return &candidate->symbols[i];
    return NULL;
}

static bool given_symbol_value(void *user, struct str name, int64_t *ret)
{
    const struct size_reader *in = user;
    const struct cand_symbol *symbol = cand_symbol_named(in->candidate, name);
    if (!symbol || symbol->is_float || (!in->values && !symbol->has_hint))
        return false;
    *ret = in->values ? in->values[symbol - in->candidate->symbols] : symbol->hint;
    return true;
}

bool cand_eval(const struct candidate *candidate, const struct expr_pool *pool, expr_id expr,
               const int64_t *values, int64_t *ret)
{
    struct size_reader in = { candidate, values };
    return expr_value(pool, expr, given_symbol_value, &in, ret);
}
