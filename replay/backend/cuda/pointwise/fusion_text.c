/* Writes texts of groups' kernels: a function computes one position of the space; loops over
 * elements, vectors, or strided positions call it. */
#include "replay/backend/cuda/pointwise/fusion_group.h"

struct kernel_writer {
    struct buf *out;
    const struct fusion_group *group;
    const struct point_plan *plan;
    struct point_functions_used used;
};

/* ---- Types ---- */

const char *point_dtype_name(enum dtype dtype)
{
    return dtype == DTYPE_C64 ? "c64" : dtype == DTYPE_C128 ? "c128" : cuda_type(dtype);
}

static enum point_type value_type(enum dtype dtype)
{
    if (dense_kind_of(dtype) == DENSE_COMPLEX)
        return dtype == DTYPE_C128 ? POINT_C128 : POINT_C64;
    if (dense_kind_of(dtype) != DENSE_REAL)
        return POINT_I64;
    return dtype == DTYPE_F64 ? POINT_F64 : POINT_F32;
}

static const char *value_type_name(enum dtype dtype)
{
    return point_type_name(value_type(dtype));
}

/* Writes complex_of_c64(re, im) for two slots. */
static void put_complex_slot(struct kernel_writer *w, enum point_type type, uint8_t slot)
{
    const char *real = point_type_name(point_real_type(type));
    buf_printf(w->out, "complex_of_%s((%s)a->s%u, (%s)a->s%u)", point_type_name(type), real, slot,
               real, slot + 1);
}

/* Writes a value of the dtype, converted to the node's type. */
static void put_operand(struct kernel_writer *w, const struct point_node *node,
                        struct point_operand x)
{
    const struct fusion_group *g = w->group;
    enum point_type to = (enum point_type)node->type;
    if (x.kind == POINT_NOTHING) {
        buf_puts(w->out, to == POINT_I64 ? "0" : "NAN");
        return;
    }
    if (x.kind == POINT_NUMBER && point_is_complex(to)) {
        put_complex_slot(w, to, x.i);
        return;
    }
    if (x.kind == POINT_NUMBER) {
        buf_printf(w->out, "(%s)a->s%u", point_type_name(to), x.i);
        return;
    }
    enum dtype from = x.kind == POINT_NODE ? g->nodes[x.i].dtype : g->streams[x.i].view.dtype;
    bool conj = x.conj && dense_kind_of(from) == DENSE_COMPLEX;
    if (from == DTYPE_U64 && to != POINT_I64)
        buf_printf(w->out, "(%s)(u64)", point_type_name(to));
    else if (value_type(from) != to || from == DTYPE_U64)
        buf_printf(w->out, "(%s)", point_type_name(to));
    buf_printf(w->out, "(%s%s%c%u%s)", x.neg ? "-" : "",
               !conj                ? ""
               : from == DTYPE_C128 ? "conj("
                                    : "conjf(",
               x.kind == POINT_NODE ? 'v' : 'x', x.i, conj ? ")" : "");
}

/* Returns the text around an expression that rounds it to the dtype, as storing it would. */
static const char *rounding_text(enum dtype dtype, const char **end)
{
    *end = "))";
    switch (dtype) {
    case DTYPE_F16: return "f32_of_f16(f16_of_f32(";
    case DTYPE_BF16: return "f32_of_bf16(bf16_of_f32(";
    case DTYPE_F8E4M3FN: return "f32_of_f8e4m3(f8e4m3_of_f32(";
    case DTYPE_F8E5M2: return "f32_of_f8e5m2(f8e5m2_of_f32(";
    case DTYPE_I32: return "(i64)((i32)(";
    case DTYPE_I16: return "(i64)((i16)(";
    case DTYPE_I8: return "(i64)((i8)(";
    case DTYPE_U32: return "(i64)((u32)(";
    case DTYPE_U16: return "(i64)((u16)(";
    case DTYPE_U8: return "(i64)((u8)(";
    case DTYPE_B8: *end = ") != 0)"; return "((";
    default: *end = ")"; return "(";
    }
}

static const char *greatest_literal(enum dtype dtype)
{
    return dtype == DTYPE_F64    ? "F64_MAX"
           : dtype == DTYPE_F16  ? "65504.f"
           : dtype == DTYPE_BF16 ? "3.38953139e+38f"
                                 : "F32_MAX";
}

/* ---- One position ---- */

static void put_slots(struct kernel_writer *w, const char *type, const char *name, uint8_t first,
                      uint32_t n)
{
    buf_printf(w->out, "        const %s %s[4] = {", type, name);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(w->out, "%s (%s)a->s%u", i ? "," : "", type, first + i);
    buf_puts(w->out, n ? " };\n" : " 0 };\n");
}

static void put_complex_slots(struct kernel_writer *w, const struct point_node *node)
{
    enum point_type type = (enum point_type)node->type;
    buf_printf(w->out, "        const %s c[4] = { ", point_type_name(type));
    for (uint32_t i = 0; i < node->n_numbers; i++) {
        put_complex_slot(w, type, (uint8_t)(node->complexes + 2 * i));
        buf_puts(w->out, ", ");
    }
    buf_puts(w->out, node->n_numbers ? "};\n" : "0 };\n");
}

static void put_variable(struct kernel_writer *w, const char *text, const char *type,
                         const char *name, uint8_t slot)
{
    if (point_mentions(text, name))
        buf_printf(w->out, "        const %s %s = (%s)a->s%u;\n", type, name, type, slot);
}

/* A division of 64 bits costs a hundred instructions, and registers. */
static const char *place_type(const struct kernel_writer *w)
{
    return w->plan->far ? "i64" : "i32";
}

static void put_variables(struct kernel_writer *w, const struct point_node *node, const char *text)
{
    static const char *const names[] = { "x", "y", "z", "w" };
    const char *type = point_type_name((enum point_type)node->type);
    const char *real = point_type_name(point_real_type((enum point_type)node->type));
    for (uint32_t i = 0; i < POINT_MAX_TENSORS; i++)
        if (point_mentions(text, names[i])) {
            buf_printf(w->out, "        const %s %s = ", type, names[i]);
            put_operand(w, node, node->x[i]);
            buf_puts(w->out, ";\n");
        }
    if (point_mentions(text, "p"))
        put_slots(w, real, "p", node->reals, node->n_numbers);
    if (point_mentions(text, "q"))
        put_slots(w, "f64", "q", node->reals, node->n_numbers);
    if (point_mentions(text, "n"))
        put_slots(w, "i64", "n", node->integers, node->n_numbers);
    if (point_mentions(text, "c"))
        put_complex_slots(w, node);
    if (point_mentions(text, "none"))
        buf_printf(w->out, "        const u32 none = %u;\n", node->none);
    if (point_mentions(text, "bits"))
        buf_printf(w->out, "        const int bits = %d;\n",
                   node->dtype == DTYPE_B8 ? 1 : 8 * (int)dtype_size(node->dtype));
    if (point_mentions(text, "most"))
        buf_printf(w->out, "        const %s most = %s;\n", real, greatest_literal(node->dtype));
    put_variable(w, text, "u64", "seed", node->seed);
    put_variable(w, text, place_type(w), "rows", node->rows);
    put_variable(w, text, place_type(w), "columns", node->columns);
}

static void put_node_statement(struct kernel_writer *w, uint32_t i)
{
    const struct point_node *node = &w->group->nodes[i];
    enum point_type type = (enum point_type)node->type, to = value_type(node->dtype);
    const char *text = point_node_text(node), *end;
    bool to_int = to == POINT_I64 && node->dtype != DTYPE_B8 && type != POINT_I64;
    bool part = point_is_complex(type) && !point_is_complex(to) && node->dtype != DTYPE_B8;
    buf_printf(w->out, "    %s v%u;\n    { /* %s */\n", value_type_name(node->dtype), i,
               point_rows[node->row].base);
    put_variables(w, node, text);
    const char *start = rounding_text(node->dtype, &end);
    buf_printf(w->out, "        v%u = %s", i, start);
    if (to_int)
        point_translate(w->out, "whole_of(", type, &w->used);
    else if (node->dtype != DTYPE_B8 && to != POINT_I64)
        buf_printf(w->out, "(%s)(", value_type_name(node->dtype));
    else
        buf_putc(w->out, '(');
    if (part)
        buf_printf(w->out, "%s((%s)(", type == POINT_C64 ? "crealf" : "creal",
                   point_type_name(type));
    point_translate(w->out, text, type, &w->used);
    buf_printf(w->out, "%s)%s;\n    }\n", part ? "))" : "", end);
}

static bool is_written(const struct kernel_writer *w, uint32_t s)
{
    return w->group->streams[s].written;
}

static void put_compute(struct kernel_writer *w)
{
    const struct fusion_group *g = w->group;
    buf_printf(w->out, "DEVICE void compute(const struct arguments *a, %s at", place_type(w));
    for (uint32_t s = 0; s < g->n_streams; s++)
        buf_printf(w->out, ", %s %s%u", value_type_name(g->streams[s].view.dtype),
                   is_written(w, s) ? "*y" : "x", s);
    buf_puts(w->out, ")\n{\n    (void)a, (void)at;\n");
    for (uint32_t i = 0; i < g->n_nodes; i++)
        put_node_statement(w, i);
    for (uint32_t s = 0; s < g->n_streams; s++)
        if (is_written(w, s))
            buf_printf(w->out, "    *y%u = v%u;\n", s, g->streams[s].writer);
    buf_puts(w->out, "}\n\n");
}

/* ---- Arguments and positions ---- */

static void put_argument_struct(struct kernel_writer *w)
{
    const struct fusion_group *g = w->group;
    char real[POINT_SLOTS] = { 0 };
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct point_node *node = &g->nodes[i];
        for (uint32_t j = 0; j < POINT_MAX_TENSORS; j++)
            if (node->x[j].kind == POINT_NUMBER)
                for (uint32_t part = 0; part < 1u + point_node_is_complex(node); part++)
                    real[node->x[j].i + part] = node->type != POINT_I64;
        for (uint32_t j = 0; j < node->n_numbers && node->reals != POINT_NO_SLOT; j++)
            real[node->reals + j] = 1;
        for (uint32_t j = 0; j < 2u * node->n_numbers && node->complexes != POINT_NO_SLOT; j++)
            real[node->complexes + j] = 1;
    }
    buf_puts(w->out, "struct arguments {\n    i64 n;\n");
    for (uint32_t s = 0; s < g->n_streams; s++)
        buf_printf(w->out, "    u64 p%u;\n", s);
    for (uint32_t i = 0; i < g->n_slots; i++)
        buf_printf(w->out, "    %s s%u;\n", real[i] ? "f64" : "i64", i);
    for (uint32_t d = 0; d < w->plan->ndim && !w->plan->flat; d++)
        buf_printf(w->out,
                   w->plan->wide ? "    i64 size%u;\n" : "    i64 size%u, multiplier%u, shift%u;\n",
                   d, d, d);
    for (uint32_t s = 0; s < g->n_streams && !w->plan->flat; s++)
        for (uint32_t d = 0; d < w->plan->ndim && w->plan->classes[s] != 's'; d++)
            buf_printf(w->out, "    i64 stride%u_%u;\n", s, d);
    if (w->plan->live)
        buf_puts(w->out, "    struct live_count live;\n");
    buf_puts(w->out, "};\n\n");
}

/* Writes the code that computes the position of a chunk's first element in each stream. */
static void put_places(struct kernel_writer *w)
{
    const struct point_plan *plan = w->plan;
    const char *type = plan->wide ? "i64" : "u32";
    if (plan->flat)
        return;
    buf_printf(w->out, "struct places {\n    %s unused", type);
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (plan->classes[s] != 's')
            buf_printf(w->out, ", o%u", s);
    buf_puts(w->out, ";\n};\n\n");
    if (!plan->wide)
        buf_puts(w->out, "/* Divides without a division, which takes twenty instructions. */\n"
                         "DEVICE u32 divide(u32 n, u32 multiplier, u32 shift)\n{\n"
                         "    return (u32)((((u64)n * multiplier >> 32) + n) >> shift);\n}\n\n");
    buf_printf(w->out,
               "DEVICE struct places place(const struct arguments *a, i64 c)\n{\n"
               "    struct places p = { 0 };\n    %s rest = (%s)c, i;\n",
               type, type);
    for (uint32_t d = plan->ndim; d-- > 0;) {
        if (d == 0) {
            buf_puts(w->out, "    i = rest;\n");
        } else if (plan->wide) {
            buf_printf(w->out, "    i = rest %% a->size%u;\n    rest /= a->size%u;\n", d, d);
        } else {
            buf_printf(w->out,
                       "    i = rest;\n    rest = divide(rest, (u32)a->multiplier%u, "
                       "(u32)a->shift%u);\n    i -= rest * (u32)a->size%u;\n",
                       d, d, d);
        }
        for (uint32_t s = 0; s < w->group->n_streams; s++)
            if (plan->classes[s] != 's')
                buf_printf(w->out, "    p.o%u += i * (%s)a->stride%u_%u;\n", s, type, s, d);
    }
    buf_puts(w->out, "    return p;\n}\n\n");
}

/* ---- Chunks ---- */

/* Returns the bytes that one access to a chunk of a stream moves: 16, fewer, or those of an
 * element. */
static uint32_t chunk_bytes(const struct kernel_writer *w, uint32_t s)
{
    return w->plan->width * (uint32_t)dtype_size(w->group->streams[s].view.dtype);
}

static bool is_vector_stream(const struct kernel_writer *w, uint32_t s)
{
    return w->plan->width > 1 && w->plan->classes[s] == 'v';
}

static const char *stream_type(const struct kernel_writer *w, uint32_t s)
{
    return point_dtype_name(w->group->streams[s].view.dtype);
}

static uint32_t per_vector(const struct kernel_writer *w, uint32_t s)
{
    uint32_t bytes = chunk_bytes(w, s) < 16 ? chunk_bytes(w, s) : 16;
    return bytes / (uint32_t)dtype_size(w->group->streams[s].view.dtype);
}

static void put_vector_type(struct kernel_writer *w, uint32_t s)
{
    if (chunk_bytes(w, s) >= 16)
        buf_printf(w->out, "VEC(%s)", stream_type(w, s));
    else
        buf_printf(w->out, "union part_%s", stream_type(w, s));
}

/* Writes the types of vectors of less than 16 bytes. */
static void put_vector_types(struct kernel_writer *w)
{
    bool done[64] = { false };
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        enum dtype dtype = w->group->streams[s].view.dtype;
        if (!is_vector_stream(w, s) || chunk_bytes(w, s) >= 16 || (unsigned)dtype >= 64 ||
            done[dtype])
            continue;
        done[dtype] = true;
        buf_printf(w->out, "union part_%s {\n    u%u word;\n    %s v[%u];\n};\n\n",
                   stream_type(w, s), 8 * chunk_bytes(w, s), stream_type(w, s), w->plan->width);
    }
}

static void put_chunk_body(struct kernel_writer *w)
{
    put_vector_types(w);
    buf_puts(w->out,
             "/* The elements of a chunk that are read. */\nstruct chunk {\n    u8 unused;\n");
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        if (is_written(w, s) || w->plan->classes[s] == 's')
            continue;
        buf_puts(w->out, "    ");
        if (!is_vector_stream(w, s)) {
            buf_printf(w->out, "%s x%u;\n", value_type_name(w->group->streams[s].view.dtype), s);
            continue;
        }
        put_vector_type(w, s);
        buf_printf(w->out, " x%u[%u];\n", s, w->plan->width / per_vector(w, s));
    }
    buf_puts(w->out, "};\n\n");
}

/* Writes "c * 4 + 8", "p.o3 + 8": an offset from the stream's address. */
static void put_offset(struct kernel_writer *w, uint32_t s, uint32_t element)
{
    if (w->plan->flat)
        buf_printf(w->out, w->plan->width > 1 ? "c * %u" : "c", w->plan->width);
    else
        buf_printf(w->out, w->plan->wide ? "p.o%u" : "(i64)p.o%u", s);
    if (element)
        buf_printf(w->out, " + %u", element);
}

static void put_read(struct kernel_writer *w)
{
    buf_printf(w->out,
               "DEVICE struct chunk read(const struct arguments *a, i64 c%s)\n{\n"
               "    struct chunk k;\n    (void)a, (void)c;\n    k.unused = 0;\n",
               w->plan->flat ? "" : ", struct places p");
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        const char *type = stream_type(w, s);
        if (is_written(w, s) || w->plan->classes[s] == 's')
            continue;
        if (!is_vector_stream(w, s)) {
            buf_printf(w->out, "    k.x%u = (%s)LOAD(%s, PTR(const %s, a->p%u), ", s,
                       value_type_name(w->group->streams[s].view.dtype), type, type, s);
            put_offset(w, s, 0);
            buf_puts(w->out, ");\n");
            continue;
        }
        for (uint32_t v = 0; v < w->plan->width / per_vector(w, s); v++) {
            if (chunk_bytes(w, s) >= 16)
                buf_printf(w->out, "    k.x%u[%u] = LOAD16(%s, PTR(const %s, a->p%u), ", s, v, type,
                           type, s);
            else
                buf_printf(w->out, "    k.x%u[%u].word = *(const u%u *)(PTR(const %s, a->p%u) + ",
                           s, v, 8 * chunk_bytes(w, s), type, s);
            put_offset(w, s, v * per_vector(w, s));
            buf_puts(w->out, ");\n");
        }
    }
    buf_puts(w->out, "    return k;\n}\n\n");
}

/* Writes the values that all elements share, as parameters or arguments. */
static void put_shared(struct kernel_writer *w, bool parameters)
{
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (!is_written(w, s) && w->plan->classes[s] == 's')
            buf_printf(w->out, ", %s%sx%u",
                       parameters ? value_type_name(w->group->streams[s].view.dtype) : "",
                       parameters ? " " : "", s);
}

static void put_place_call(struct kernel_writer *w)
{
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        const char *type = value_type_name(w->group->streams[s].view.dtype);
        if (is_written(w, s))
            buf_printf(w->out, ", &y%u", s);
        else if (w->plan->classes[s] == 's')
            buf_printf(w->out, ", x%u", s);
        else if (!is_vector_stream(w, s))
            buf_printf(w->out, ", k.x%u", s);
        else
            buf_printf(w->out, ", (%s)AT(%s, k.x%u[j / %u], j %% %u)", type, stream_type(w, s), s,
                       per_vector(w, s), per_vector(w, s));
    }
    buf_puts(w->out, ");\n");
}

static void put_stores(struct kernel_writer *w)
{
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        const char *type = stream_type(w, s);
        if (!is_written(w, s))
            continue;
        if (!is_vector_stream(w, s)) {
            buf_printf(w->out, "    STORE(%s, PTR(%s, a->p%u), ", type, type, s);
            put_offset(w, s, 0);
            buf_printf(w->out, ", y%u);\n", s);
            continue;
        }
        for (uint32_t v = 0; v < w->plan->width / per_vector(w, s); v++) {
            if (chunk_bytes(w, s) >= 16) {
                buf_printf(w->out, "    STORE16(%s, PTR(%s, a->p%u), ", type, type, s);
                put_offset(w, s, v * per_vector(w, s));
                buf_printf(w->out, ", z%u[%u]);\n", s, v);
            } else {
                buf_printf(w->out, "    *(u%u *)(PTR(%s, a->p%u) + ", 8 * chunk_bytes(w, s), type,
                           s);
                put_offset(w, s, 0);
                buf_printf(w->out, ") = z%u[0].word;\n", s);
            }
        }
    }
}

static void put_finish(struct kernel_writer *w)
{
    uint32_t width = w->plan->width;
    buf_printf(w->out, "DEVICE void finish(const struct arguments *a, i64 c%s, struct chunk k",
               w->plan->flat ? "" : ", struct places p");
    put_shared(w, true);
    buf_puts(w->out, ")\n{\n    (void)k;\n");
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        if (!is_written(w, s))
            continue;
        if (is_vector_stream(w, s)) {
            buf_puts(w->out, "    ");
            put_vector_type(w, s);
            buf_printf(w->out, " z%u[%u];\n", s, width / per_vector(w, s));
        }
        buf_printf(w->out, "    %s y%u;\n", value_type_name(w->group->streams[s].view.dtype), s);
    }
    if (width > 1)
        buf_printf(w->out, "    UNROLL\n    for (i32 j = 0; j < %u; j++) {\n    ", width);
    buf_printf(w->out, width > 1 ? "    compute(a, c * %u + j" : "    compute(a, c", width);
    put_place_call(w);
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (is_written(w, s) && is_vector_stream(w, s))
            buf_printf(w->out, "        PUT(%s, z%u[j / %u], j %% %u, y%u);\n", stream_type(w, s),
                       s, per_vector(w, s), per_vector(w, s), s);
    if (width > 1)
        buf_puts(w->out, "    }\n");
    put_stores(w);
    buf_puts(w->out, "}\n\n");
}

/* ---- The kernel ---- */

/* Writes the loop over elements after the last whole chunk. */
static void put_tail(struct kernel_writer *w)
{
    struct point_plan one = *w->plan;
    buf_printf(w->out,
               "    ROLLED\n    for (i64 c = chunks * %u + (i64)BLOCK_X * THREADS + THREAD; "
               "c < n;\n         c += (i64)GRID_X * THREADS) {\n",
               w->plan->width);
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (is_written(w, s))
            buf_printf(w->out, "        %s y%u;\n",
                       value_type_name(w->group->streams[s].view.dtype), s);
    one.width = 1;
    buf_puts(w->out, "        compute(&a, c");
    for (uint32_t s = 0; s < w->group->n_streams; s++) {
        if (is_written(w, s))
            buf_printf(w->out, ", &y%u", s);
        else if (one.classes[s] == 's')
            buf_printf(w->out, ", x%u", s);
        else
            buf_printf(w->out, ",\n                (%s)LOAD(%s, PTR(const %s, a.p%u), c)",
                       value_type_name(w->group->streams[s].view.dtype), stream_type(w, s),
                       stream_type(w, s), s);
    }
    buf_puts(w->out, ");\n");
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (is_written(w, s))
            buf_printf(w->out, "        STORE(%s, PTR(%s, a.p%u), c, y%u);\n", stream_type(w, s),
                       stream_type(w, s), s, s);
    buf_puts(w->out, "    }\n");
}

static void put_loop(struct kernel_writer *w)
{
    bool flat = w->plan->flat;
    uint32_t unroll = w->plan->unroll;
    buf_printf(w->out,
               "    ROLLED\n    for (i64 c = (i64)BLOCK_X * (THREADS * %u) + THREAD; c < chunks;\n"
               "         c += (i64)GRID_X * (THREADS * %u)) {\n        struct chunk k[%u];\n%s",
               unroll, unroll, unroll, "");
    if (!flat)
        buf_printf(w->out, "        struct places p[%u];\n", unroll);
    buf_printf(w->out,
               "        UNROLL\n        for (i32 u = 0; u < %u; u++)\n"
               "            if (c + (i64)u * THREADS < chunks) {\n",
               unroll);
    if (!flat)
        buf_puts(w->out, "                p[u] = place(&a, c + (i64)u * THREADS);\n");
    buf_printf(w->out, "                k[u] = read(&a, c + (i64)u * THREADS%s);\n            }\n",
               flat ? "" : ", p[u]");
    buf_printf(w->out,
               "        UNROLL\n        for (i32 u = 0; u < %u; u++)\n"
               "            if (c + (i64)u * THREADS < chunks)\n"
               "                finish(&a, c + (i64)u * THREADS%s, k[u]",
               unroll, flat ? "" : ", p[u]");
    put_shared(w, false);
    buf_puts(w->out, ");\n    }\n");
}

/* Writes the number of 16-byte accesses of one iteration, for MOVES16. */
static void put_promise(struct kernel_writer *w, const char *name)
{
    uint32_t moves[2] = { 0 };
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (is_vector_stream(w, s) && chunk_bytes(w, s) >= 16)
            moves[is_written(w, s)] += w->plan->unroll * (w->plan->width / per_vector(w, s));
    if (moves[0] + moves[1])
        buf_printf(w->out, "MOVES16(%s, %u, %u)\n", name, moves[0], moves[1]);
}

static void put_kernel(struct kernel_writer *w, const char *name)
{
    buf_printf(w->out, "KERNEL_OF(%s, struct arguments, 256)\n{\n    const i64 n = %s, chunks = n",
               name, w->plan->live ? "MAX(0, MIN(a.n, LIVE_COUNT(a.live)))" : "a.n");
    if (w->plan->flat && w->plan->width > 1)
        buf_printf(w->out, " / %u", w->plan->width);
    buf_puts(w->out, ";\n");
    for (uint32_t s = 0; s < w->group->n_streams; s++)
        if (!is_written(w, s) && w->plan->classes[s] == 's')
            buf_printf(w->out, "    const %s x%u = (%s)LOAD(%s, PTR(const %s, a.p%u), 0);\n",
                       value_type_name(w->group->streams[s].view.dtype), s,
                       value_type_name(w->group->streams[s].view.dtype), stream_type(w, s),
                       stream_type(w, s), s);
    put_loop(w);
    if (w->plan->flat && w->plan->width > 1)
        put_tail(w);
    buf_puts(w->out, "}\n");
    put_promise(w, name);
}

static bool has_complex(const struct fusion_group *g)
{
    bool has = false;
    for (uint32_t s = 0; s < g->n_streams; s++)
        has |= point_is_complex(value_type(g->streams[s].view.dtype));
    for (uint32_t i = 0; i < g->n_nodes; i++)
        has |= point_node_is_complex(&g->nodes[i]);
    return has;
}

void point_write_text(struct buf *out, const struct fusion_group *group,
                      const struct point_plan *plan, const char *name)
{
    struct buf body = BUF_INIT;
    struct kernel_writer w = { .out = &body, .group = group, .plan = plan };
    put_compute(&w);
    put_places(&w);
    put_chunk_body(&w);
    put_read(&w);
    put_finish(&w);
    put_kernel(&w, name);
    w.out = out;
    if (has_complex(group))
        buf_puts(out, "#include \"replay/backend/cuda/device/complex.h\"\n\n");
    put_argument_struct(&w);
    point_write_functions(out, w.used);
    buf_put(out, buf_str(&body));
    out->failed |= body.failed;
    buf_release(&body);
}
