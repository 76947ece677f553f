#include "profile/calls/cudagraphs/kernel_arguments.h"

/* What is known of a kernel before the line that defines it. */
struct kernel_text {
    struct str signature; /* 'in_ptr0': '*fp32', 'xnumel': 'i32' */
    struct str written;   /* 'out_ptr0', 'in_out_ptr0' */
    bool always;
};

struct str name_at(struct str text)
{
    size_t n = 0;
    while (n < text.n && is_word_char(text.p[n]))
        n++;
    return str_first(text, n);
}

/* Returns what is behind a text; "" if it is not there. */
static struct str behind(struct str line, struct str what)
{
    return str_from(line, str_find(line, what) + what.n);
}

/* "in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr": returns the number of a parameter, or
 * UINT32_MAX. */
static uint32_t position_of(struct str parameters, struct str name)
{
    for (uint32_t i = 0; parameters.n; i++) {
        parameters = str_trim(parameters);
        if (str_eq(name_at(parameters), name))
            return i;
        parameters = str_from(parameters, str_find_char(parameters, ',') + 1);
    }
    return UINT32_MAX;
}

/* Returns the bytes of an element: the bits in the name of Triton's type, fp32, i64 or fp8e4nv; i1
 * has a byte. */
static unsigned element_bytes(struct str signature, struct str name)
{
    while (signature.n) {
        static const struct str POINTER = { ": '*", 4 };
        size_t at = str_find(signature, name);
        struct str rest = str_from(signature, at + name.n);
        bool whole =
            at && at < signature.n && signature.p[at - 1] == '\'' && rest.n && rest.p[0] == '\'';
        struct str type = str_from(rest, 1);
        if (whole && str_starts(type, POINTER)) {
            uint64_t bits = 0;
            type = name_at(str_from(type, POINTER.n));
            while (type.n && (type.p[0] < '0' || type.p[0] > '9'))
                type = str_from(type, 1);
            bool ok = str_to_u64(str_first(type, str_digits(type)), &bits) && bits <= 1024;
            return ok && bits >= 8 ? (unsigned)(bits / 8) : 1;
        }
        signature = rest;
    }
    return 1;
}

static bool add_kernel(struct kernel_arguments *in, const struct kernel_text *kernel,
                       struct str name, struct str parameters)
{
    struct written_arguments row = { (uint32_t)in->written.n, 0, kernel->always };
    struct str names = kernel->written;
    if (intern_find(&in->kernels, name) != INTERN_NONE)
        return true;
    while (names.n && row.n < MOST_WRITTEN) {
        names = str_from(names, str_find_char(names, '\'') + 1);
        struct str one = name_at(names);
        uint32_t position = one.n ? position_of(parameters, one) : UINT32_MAX;
        names = str_from(names, str_find_char(names, '\'') + 1);
        if (position == UINT32_MAX)
            continue;
        if (!vec_push(&in->written,
                      (struct written_argument){ position, element_bytes(kernel->signature, one) }))
            return false;
        row.n++;
    }
    return !row.n || (intern(&in->kernels, name) != INTERN_NONE && vec_push(&in->rows, row));
}

/* Takes one line of a program. */
static bool read_line(struct kernel_arguments *in, struct kernel_text *kernel, struct str line)
{
    static const struct str SIGNATURE = { "'signature': {", 14 };
    static const struct str WRITTEN = { "'mutated_arg_names': [", 22 }, DEF = { "def ", 4 };
    if (str_contains(line, SIGNATURE)) {
        struct str list = behind(line, SIGNATURE);
        kernel->signature = str_first(list, str_find_char(list, '}'));
    }
    if (str_contains(line, WRITTEN)) {
        struct str list = behind(line, WRITTEN);
        kernel->written = str_first(list, str_find_char(list, ']'));
        kernel->always = str_contains(line, STR("'optimize_mem': False"));
    }
    line = str_trim(line);
    if (!str_starts(line, DEF))
        return true;
    struct str name = name_at(str_from(line, DEF.n));
    struct str parameters = str_from(line, DEF.n + name.n + 1);
    bool ok = !name.n || !kernel->written.n || add_kernel(in, kernel, name, parameters);
    *kernel = (struct kernel_text){ 0 };
    return ok;
}

bool kernel_arguments_read(struct kernel_arguments *arguments, struct str program)
{
    struct kernel_text kernel = { 0 };
    while (program.n) {
        size_t n = str_find_char(program, '\n');
        if (!read_line(arguments, &kernel, str_first(program, n)))
            return false;
        program = str_from(program, n + 1);
    }
    return true;
}

struct written_arguments kernel_arguments_find(const struct kernel_arguments *arguments,
                                               struct str kernel)
{
    uint32_t id = intern_find(&arguments->kernels, kernel);
    return id == INTERN_NONE ? (struct written_arguments){ 0 } : arguments->rows.v[id];
}

void kernel_arguments_release(struct kernel_arguments *arguments)
{
    intern_release(&arguments->kernels);
    vec_release(&arguments->rows);
    vec_release(&arguments->written);
}
