#include "trace/graph/dtype.h"

struct dtype_row {
    struct str short_name, python_name;
    unsigned size;
    int64_t scalar_type;
};

static const struct dtype_row rows[DTYPE_COUNT] = {
    [DTYPE_NONE] = { { "", 0 }, { "", 0 }, 0, 0 },
#define DTYPE(id, short_name, python_name, size, scalar_type) \
    [DTYPE_##id] = { { short_name, sizeof short_name - 1 },   \
                     { python_name, sizeof python_name - 1 }, \
                     size,                                    \
                     scalar_type },
#include "trace/graph/dtypes.def"
#undef DTYPE
};

static const struct dtype_row *dtype_row_of(enum dtype dtype)
{
    return &rows[(unsigned)dtype < DTYPE_COUNT ? dtype : DTYPE_NONE];
}

const char *dtype_short_name(enum dtype dtype)
{
    return dtype_row_of(dtype)->short_name.p;
}

const char *dtype_python_name(enum dtype dtype)
{
    return dtype_row_of(dtype)->python_name.p;
}

unsigned dtype_size(enum dtype dtype)
{
    return dtype_row_of(dtype)->size;
}

enum dtype dtype_by_short_name(struct str name)
{
    for (unsigned i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        if (str_eq(rows[i].short_name, name))
            return (enum dtype)i;
    return DTYPE_NONE;
}

enum dtype dtype_by_python_name(struct str name)
{
    for (unsigned i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        if (str_eq(rows[i].python_name, name))
            return (enum dtype)i;
    return DTYPE_NONE;
}

enum dtype dtype_by_scalar_type(int64_t number)
{
    for (unsigned i = DTYPE_NONE + 1; number != 0 && i < DTYPE_COUNT; i++)
        if (rows[i].scalar_type == number)
            return (enum dtype)i;
    return DTYPE_NONE;
}
