#include "trace/graph/annotation.h"

#include "trace/graph/python_name.h"

struct annotation_reader {
    struct graph_pool *pool;
    struct str rest;
    bool failed; /* memory ran out */
};

static bool take_annotation_char(struct annotation_reader *in, char c)
{
    if (in->rest.n == 0 || in->rest.p[0] != c)
        return false;
    in->rest = str_from(in->rest, 1);
    return true;
}

static bool is_annotation_char(char c)
{
    return is_word_char(c) || c == '.' || c < 0;
}

static struct str take_type_word(struct annotation_reader *in)
{
    size_t n = 0;
    while (n < in->rest.n && is_annotation_char(in->rest.p[n]))
        n++;
    struct str word = str_first(in->rest, n);
    in->rest = str_from(in->rest, n);
    return word;
}

static bool take_expr(struct annotation_reader *in, expr_id *ret)
{
    struct err err = { .kind = ERR_NONE };
    size_t used;
    *ret = expr_parse_start(&in->pool->exprs, in->rest, &used, &err);
    in->failed = in->failed || err.kind == ERR_ENV;
    if (*ret == EXPR_NONE)
        return false;
    in->rest = str_from(in->rest, used);
    return true;
}

/* Reads "[s77, 64]" into an array of the pool's arena. */
static bool take_dimensions(struct annotation_reader *in, const expr_id **ret, uint32_t *ret_n)
{
    vec_of(expr_id)
    dimensions = { 0 };
    bool good = take_annotation_char(in, '[');
    for (bool more = good && !take_annotation_char(in, ']'); more;
         more = good && !take_annotation_char(in, ']')) {
        expr_id dimension;
        good = (dimensions.n == 0 || take_annotation_char(in, ',')) && take_expr(in, &dimension);
        if (good && !vec_push(&dimensions, dimension)) {
            in->failed = true;
            good = false;
        }
    }
    expr_id *copy = arena_array(&in->pool->arena, expr_id, dimensions.n + 1);
    in->failed = in->failed || !copy;
    good = good && copy && dimensions.n < UINT32_MAX;
    if (good && dimensions.n)
        memcpy(copy, dimensions.v, dimensions.n * sizeof *copy);
    *ret = copy;
    *ret_n = (uint32_t)dimensions.n;
    vec_release(&dimensions);
    return good;
}

/* Reads f32[s77, 64][64, 1]cuda:0, in which the strides and the device may be missing. */
static bool take_tensor(struct annotation_reader *in, struct meta *meta)
{
    meta->kind = META_TENSOR;
    meta->dtype = dtype_by_short_name(take_type_word(in));
    if (meta->dtype == DTYPE_NONE || !take_dimensions(in, &meta->sizes, &meta->n_sizes))
        return false;
    if (in->rest.n && in->rest.p[0] == '[') {
        uint32_t n_strides;
        meta->has_strides = true;
        if (!take_dimensions(in, &meta->strides, &n_strides) || n_strides != meta->n_sizes)
            return false;
    }
    struct str rest = in->rest, kind = take_type_word(in), index = STR("");
    if (take_annotation_char(in, ':'))
        index = take_type_word(in);
    meta->device = str_first(rest, kind.n + (index.n ? index.n + 1 : 0));
    return meta->device.n == 0 || device_is_spelled(meta->device);
}

static bool take_symbol(struct annotation_reader *in, struct meta *meta)
{
    expr_id *expr = arena_new(&in->pool->arena, expr_id);
    in->failed = !expr;
    if (!expr || !take_expr(in, expr) || !take_annotation_char(in, ')'))
        return false;
    meta->kind = META_SYM;
    meta->sizes = expr;
    meta->n_sizes = 1;
    return in->rest.n == 0;
}

/* Reads the inside of CLASS( ... ), up to the text's end. */
static bool take_wrapped(struct annotation_reader *in, struct meta *meta)
{
    if (in->rest.n == 0 || in->rest.p[in->rest.n - 1] != ')')
        return false;
    in->rest.n--;
    if (!take_tensor(in, meta))
        return false;
    if (take_annotation_char(in, ',')) {
        meta->placement = str_trim(in->rest);
        in->rest = STR("");
    }
    return in->rest.n == 0;
}

static bool parse_annotation(struct annotation_reader *in, struct meta *meta)
{
    struct str text = in->rest, word = take_type_word(in);
    if (word.n == 0)
        return false;
    if (take_annotation_char(in, '(')) {
        if (str_is(word, "Sym"))
            return take_symbol(in, meta);
        meta->wrapper = word;
        return take_wrapped(in, meta);
    }
    in->rest = text;
    return take_tensor(in, meta) && in->rest.n == 0;
}

bool annotation_parse(struct graph_pool *pool, struct str text, struct meta *ret)
{
    const struct meta blank = {
        .text = text, .wrapper = STR(""), .placement = STR(""), .device = STR("")
    };
    struct annotation_reader in = { pool, text, false };
    *ret = blank;
    if (parse_annotation(&in, ret))
        return true;
    *ret = blank;
    ret->kind = META_OTHER;
    return !in.failed;
}
