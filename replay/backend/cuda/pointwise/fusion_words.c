#include "replay/backend/cuda/pointwise/fusion_words.h"

struct function {
    const char *type, *name, *parameters, *body;
};

static const struct function functions[] = {
#define FUNCTION(type, name, parameters, ...) { #type, #name, #parameters, #__VA_ARGS__ },
#include "replay/backend/pointwise/pointwise_functions.def"
#undef FUNCTION
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };
_Static_assert(FUNCTIONS <= 64, "a bit each in struct point_functions_used");

/* Functions of C's library, which have a suffix f in float32. */
static const char *const math[] = {
    "acos",  "acosh", "asin",      "asinh",     "atan", "atan2", "atanh",  "ceil", "copysign",
    "cos",   "cosh",  "erf",       "erfc",      "exp",  "exp2",  "expm1",  "fabs", "floor",
    "fmax",  "fmin",  "fmod",      "hypot",     "j0",   "j1",    "lgamma", "log",  "log10",
    "log1p", "log2",  "nearbyint", "nextafter", "pow",  "rint",  "sin",    "sinh", "sqrt",
    "tan",   "tanh",  "tgamma",    "trunc",     "y0",   "y1",
};
/* Functions of complex numbers, named in the same way. */
static const char *const complex_math[] = {
    "cabs",   "cacos", "cacosh", "carg",  "casin", "casinh", "catan",
    "catanh", "ccos",  "ccosh",  "cexp",  "cimag", "clog",   "conj",
    "cpow",   "creal", "csin",   "csinh", "csqrt", "ctan",   "ctanh",
};
/* In float32 these are functions of device/trigonometry.h. */
static const char *const trigonometry[] = { "cos", "sin", "tan" };
static const char *const unchanged_functions[] = { "isnan",   "isinf",      "isfinite",
                                                   "signbit", "nextafterf", "if",
                                                   "for",     "while",      "return" };

static const struct {
    const char *c, *device;
} types[] = { { "double", "f64" },   { "float", "f32" },    { "int64_t", "i64" },
              { "uint64_t", "u64" }, { "uint32_t", "u32" }, { "unsigned", "u32" } };

const char *point_type_name(enum point_type type)
{
    static const char *const names[] = { "f32", "f64", "i64", "c64", "c128" };
    return names[type];
}

bool point_is_complex(enum point_type type)
{
    return type == POINT_C64 || type == POINT_C128;
}

enum point_type point_real_type(enum point_type type)
{
    return type == POINT_F32 || type == POINT_C64 ? POINT_F32 : POINT_F64;
}

static size_t function_named(struct str name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (str_is(name, functions[i].name))
            return i;
    return FUNCTIONS;
}

/* ---- Tokens ---- */

/* Reads a name, a number, or one other character. */
static struct str next_token(const char **at)
{
    const char *p = *at, *start = p;
    if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) {
        bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
        for (; is_word_char(*p) || *p == '.' ||
               ((*p == '+' || *p == '-') && strchr(hex ? "pP" : "eE", p[-1]) && p > start);
             p++)
            ;
    } else if (is_word_char(*p)) {
        while (is_word_char(*p))
            p++;
    } else {
        p++;
    }
    *at = p;
    return (struct str){ start, (size_t)(p - start) };
}

static bool is_name_token(struct str token)
{
    return is_word_char(token.p[0]) && !is_digit(token.p[0]);
}

static bool is_call(const char *behind)
{
    return behind[strspn(behind, " ")] == '(';
}

bool point_mentions(const char *expression, const char *name)
{
    for (const char *p = expression; *p;)
        if (str_is(next_token(&p), name))
            return true;
    return false;
}

static bool is_real_function(size_t i)
{
    return point_mentions(functions[i].type, "real") ||
           point_mentions(functions[i].parameters, "real");
}

/* ---- Translation ---- */

static bool is_real_literal(struct str token)
{
    bool hex = token.n > 1 && token.p[0] == '0' && (token.p[1] == 'x' || token.p[1] == 'X');
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] == '.' || strchr(hex ? "pP" : "eE", token.p[i]))
            return true;
    return false;
}

static void put_literal(struct buf *out, struct str token, enum point_type type)
{
    buf_put(out, token);
    if (type == POINT_F32 && is_real_literal(token))
        buf_putc(out, 'f');
}

static bool translate_name(struct buf *out, struct str name, bool call, enum point_type type,
                           struct point_functions_used *used)
{
    size_t function = function_named(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(name, types[i].c))
            return buf_puts(out, types[i].device), true;
    if (str_is(name, "real")) {
        buf_puts(out, point_type_name(type));
    } else if (str_is(name, "PI")) {
        put_literal(out, STR("3.14159265358979323846264338327950288"), type);
    } else if (function < FUNCTIONS) {
        bool is_real = is_real_function(function);
        used->by_type[is_real ? type : POINT_I64] |= (uint64_t)1 << function;
        buf_printf(out, "%s%s%s", functions[function].name, is_real ? "_" : "",
                   is_real ? point_type_name(type) : "");
    } else if (str_is(name, "complex_of")) {
        buf_puts(out, type == POINT_F32 ? "complex_of_c64" : "complex_of_c128");
    } else if (call && type == POINT_F32 && STR_IS_ANY(name, trigonometry)) {
        used->trigonometry = true;
        buf_printf(out, "%.*s_f32", STR_ARG(name));
    } else if (call && (STR_IS_ANY(name, math) || STR_IS_ANY(name, complex_math))) {
        buf_printf(out, "%.*s%s", STR_ARG(name), type == POINT_F32 ? "f" : "");
    } else {
        buf_put(out, name);
        return !call || STR_IS_ANY(name, unchanged_functions);
    }
    return true;
}

bool point_translate(struct buf *out, const char *expression, enum point_type type,
                     struct point_functions_used *used)
{
    bool known = true;
    for (const char *p = expression; *p;) {
        struct str token = next_token(&p);
        if (is_name_token(token))
            known &= translate_name(out, token, is_call(p), point_real_type(type), used);
        else if (is_digit(token.p[0]) || token.n > 1)
            put_literal(out, token, point_real_type(type));
        else
            buf_put(out, token);
    }
    return known;
}

bool point_can_translate(const char *expression)
{
    for (const char *p = expression; *p;) {
        struct str name = next_token(&p);
        if (is_name_token(name) && is_call(p) && function_named(name) == FUNCTIONS &&
            !STR_IS_ANY(name, math) && !STR_IS_ANY(name, complex_math) &&
            !str_is(name, "complex_of") && !STR_IS_ANY(name, unchanged_functions))
            return false;
    }
    return true;
}

unsigned point_asks(const char *expression)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = { { "p", POINT_ASKS_REALS },    { "q", POINT_ASKS_REALS },
                  { "n", POINT_ASKS_INTEGERS }, { "seed", POINT_ASKS_SEED },
                  { "rows", POINT_ASKS_ROWS },  { "columns", POINT_ASKS_COLUMNS },
                  { "at", POINT_ASKS_PLACE },   { "c", POINT_ASKS_COMPLEXES } };
    unsigned ret = POINT_ASKS_KNOWN | (point_can_translate(expression) ? POINT_TRANSLATES : 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ret |= point_mentions(expression, names[i].name) ? names[i].bit : 0;
    return ret;
}

/* ---- Definitions ---- */

/* Writes a line for each statement. */
static void put_statements(struct buf *out, const char *text)
{
    int depth = 0, parentheses = 0;
    for (const char *p = text; *p; p++) {
        bool closes = *p == '}';
        depth -= closes;
        parentheses += (*p == '(') - (*p == ')');
        if (closes)
            buf_printf(out, "%*s", depth > 0 ? 4 * depth : 0, "");
        buf_putc(out, *p);
        depth += *p == '{';
        if (*p == '{' || closes || (*p == ';' && parentheses == 0)) {
            buf_putc(out, '\n');
            p += strspn(p + 1, " ");
            if (p[1] && p[1] != '}')
                buf_printf(out, "%*s", depth > 0 ? 4 * depth : 0, "");
        }
    }
}

static void put_function_text(struct buf *out, size_t i, enum point_type type,
                              struct point_functions_used *used)
{
    const struct function *f = &functions[i];
    struct buf body = BUF_INIT;
    bool is_real = is_real_function(i);
    enum point_type in = is_real ? type : POINT_F64;
    buf_puts(out, "DEVICE ");
    point_translate(out, f->type, in, used);
    buf_printf(out, " %s%s%s", f->name, is_real ? "_" : "", is_real ? point_type_name(type) : "");
    point_translate(out, f->parameters, in, used);
    buf_putc(out, '\n');
    point_translate(&body, f->body, in, used);
    buf_putc(&body, '\0');
    if (body.failed)
        out->failed = true;
    else
        put_statements(out, body.p);
    buf_release(&body);
}

/* Functions stand in the table after those that they use, so that one backward pass finds all. */
static void find_used(struct point_functions_used *used)
{
    struct buf ignored = BUF_INIT;
    for (size_t i = FUNCTIONS; i-- > 0;)
        for (int type = 0; type < 3; type++)
            if (used->by_type[type] >> i & 1) {
                buf_clear(&ignored);
                put_function_text(&ignored, i, (enum point_type)type, used);
            }
    buf_release(&ignored);
}

void point_write_functions(struct buf *out, struct point_functions_used used)
{
    find_used(&used);
    if (used.trigonometry)
        buf_puts(out, "#include \"replay/backend/cuda/device/trigonometry.h\"\n\n");
    for (size_t i = 0; i < FUNCTIONS; i++)
        for (int type = 0; type < 3; type++)
            if (used.by_type[type] >> i & 1) {
                put_function_text(out, i, (enum point_type)type, &used);
                buf_putc(out, '\n');
            }
}
