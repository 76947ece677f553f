#include "trace/graph/graph_operator.h"

#define S(literal)                  \
    {                               \
        literal, sizeof literal - 1 \
    }

// clang-format off
static const struct graph_operator operators[] = {
    { S("+"),  S("operator.add"),      S("operator.iadd"),      S("operator.pos") },
    { S("*"),  S("operator.mul"),      S("operator.imul"),      S("") },
    { S("-"),  S("operator.sub"),      S("operator.isub"),      S("operator.neg") },
    { S("/"),  S("operator.truediv"),  S("operator.itruediv"),  S("") },
    { S("//"), S("operator.floordiv"), S("operator.ifloordiv"), S("") },
    { S("%"),  S("operator.mod"),      S("operator.imod"),      S("") },
    { S("**"), S("operator.pow"),      S("operator.ipow"),      S("") },
    { S("@"),  S("operator.matmul"),   S("operator.imatmul"),   S("") },
    { S("=="), S("operator.eq"),       S(""),                   S("") },
    { S("!="), S("operator.ne"),       S(""),                   S("") },
    { S("<"),  S("operator.lt"),       S(""),                   S("") },
    { S("<="), S("operator.le"),       S(""),                   S("") },
    { S(">"),  S("operator.gt"),       S(""),                   S("") },
    { S(">="), S("operator.ge"),       S(""),                   S("") },
    { S("&"),  S("operator.and_"),     S("operator.iand"),      S("") },
    { S("|"),  S("operator.or_"),      S("operator.ior"),       S("") },
    { S("^"),  S("operator.xor"),      S("operator.ixor"),      S("") },
    { S("<<"), S("operator.lshift"),   S("operator.ilshift"),   S("") },
    { S(">>"), S("operator.rshift"),   S("operator.irshift"),   S("") },
    { S("~"),  S(""),                  S(""),                   S("operator.invert") },
};
// clang-format on

enum { N_OPERATORS = sizeof operators / sizeof *operators };

const struct graph_operator *graph_operator_by_sign(struct str sign)
{
    for (size_t i = 0; i < N_OPERATORS; i++)
        if (str_eq(operators[i].sign, sign))
            return &operators[i];
    return NULL;
}

const struct graph_operator *graph_operator_by_target(struct str target)
{
    for (size_t i = 0; target.n && i < N_OPERATORS; i++)
        if (str_eq(operators[i].infix, target) || str_eq(operators[i].inplace, target) ||
            str_eq(operators[i].prefix, target))
            return &operators[i];
    return NULL;
}
