/* The rules of mask_rules.def. */
#include "minify/rewrite/mask_call.h"

#define MASK_REDUCTION(base, fill, derivative)
#define MASK_RULE(base, class, derivative, argument) \
    { base, ROW_##class, DERIV_##derivative, argument },
static const struct row_rule rules[] = {
#include "minify/rewrite/mask_rules.def"
};
#undef MASK_RULE
#undef MASK_REDUCTION
#define MASK_RULE(base, class, derivative, argument)
#define MASK_REDUCTION(base, fill, derivative) { base, FILL_##fill, DERIV_##derivative },
static const struct row_reduction reductions[] = {
#include "minify/rewrite/mask_rules.def"
};
#undef MASK_RULE
#undef MASK_REDUCTION

const struct row_rule *mask_find_rule(struct str base)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (str_is(base, rules[i].base))
            return &rules[i];
    return NULL;
}

bool mask_has_rule(struct str base)
{
    return mask_find_rule(base) != NULL;
}

const struct row_reduction *mask_find_reduction(struct str base)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (str_is(base, reductions[i].base))
            return &reductions[i];
    return NULL;
}
