/* Reads a program that Inductor wrote: the Python of an inductor_output_code record, as
 * PythonWrapperCodegen prints it (torch/_inductor/codegen/wrapper.py). It is read by lines, and
 * nothing of it is executed or checked. */
#include "trace/base/hash.h"
#include "trace/graph/python_name.h"
#include "trace/graph/traceback.h"
#include "trace/kernels/kernel_reading.h"

/* The comments in front of a definition or a call, as they stand in the payload. */
struct program_comments {
    struct str sources; /* "conv2d, x" */
    struct str ops;     /* "aten.convolution, aten.silu" */
    struct str place;   /* "/home/user/model.py:2", where a user's Triton kernel is defined */
    struct str handle;  /* "extern_kernels.mm:7", the provenance handle of a call */
    const char *nodes;  /* start and end of the mapping and the fragment; NULL: none */
    const char *end;
};

struct program {
    struct kernel_reader *r;
    struct str rest;
    struct program_comments comments;
    uint32_t first_kernel;
    vec_of(struct called)
    called; /* one for each kernel of the program */
};

struct called {
    uint32_t first; /* ordinal of its first call; TRACE_NONE: never called */
    uint32_t kernel;
};

/* Reads the next of the names in "a, b, c". */
static bool next_name(struct str *list, struct str *ret)
{
    while (list->n) {
        size_t comma = str_find_char(*list, ',');
        *ret = str_trim(str_first(*list, comma));
        *list = str_from(*list, comma + 1);
        if (ret->n)
            return true;
    }
    return false;
}

static bool claim_named(struct kernel_reader *r, uint32_t kernel, struct str name, bool in_dynamo)
{
    if (!python_is_word(name))
        return true;
    uint32_t node = kernel_find_node(r, name, in_dynamo, true);
    return node != TRACE_NONE && kernel_claim_node(r, kernel, node, KERNEL_COMMENTS);
}

/* "#   %add_5 : Tensor ... = call_function[target=torch.ops.aten.add.Tensor](args = ...)" or
 * "#   group_norm => add_5, rsqrt". */
static bool claim_comment_line(struct kernel_reader *r, uint32_t kernel, struct str line)
{
    static const struct str ARROW = { " => ", 4 }, CALL = { " = call_function[target=", 24 };
    struct str name;
    line = str_trim(str_from(line, 1));
    if (str_starts(line, STR("%"))) {
        size_t end = 1;
        while (end < line.n && is_word_char(line.p[end]))
            end++;
        return !str_contains(line, CALL) ||
               claim_named(r, kernel, str_first(str_from(line, 1), end - 1), false);
    }
    struct str names = str_from(line, str_find(line, ARROW) + ARROW.n);
    while (next_name(&names, &name))
        if (!claim_named(r, kernel, name, false))
            return false;
    return true;
}

static bool claim_comments(struct program *p, uint32_t kernel)
{
    const struct program_comments *c = &p->comments;
    struct str names = c->sources, name, line;
    if (c->nodes) {
        struct str block = { c->nodes, (size_t)(c->end - c->nodes) };
        while (text_next_line(&block, &line))
            if (!claim_comment_line(p->r, kernel, line))
                return false;
    }
    while (next_name(&names, &name))
        if (!claim_named(p->r, kernel, name, true))
            return false;
    return true;
}

/* Returns what stands between `open` and the next ']'. */
static struct str bracketed(struct str line, struct str open)
{
    struct str rest = str_from(line, str_find(line, open) + open.n);
    return str_first(rest, str_find_char(rest, ']'));
}

static void read_comment(struct program *p, struct str line)
{
    static const struct str SOURCES = { "# Topologically Sorted Source Nodes: [", 38 },
                            OPS = { "Original ATen: [", 16 }, PLACE = { "# Original path: ", 17 };
    struct program_comments *c = &p->comments;
    if (str_starts(line, SOURCES)) {
        *c = (struct program_comments){ .sources = bracketed(line, SOURCES),
                                        .ops = bracketed(line, OPS) };
    } else if (str_starts(line, PLACE)) {
        c->place = str_from(line, PLACE.n);
    } else if (str_starts(line, STR("#   "))) {
        c->nodes = c->nodes ? c->nodes : line.p;
        c->end = line.p + line.n;
    }
}

/* "# AOT ID: ['0_backward']" */
static bool read_id(struct program *p, struct str line)
{
    static const struct str OPEN = { "['", 2 };
    struct kernel_graph *graph = &p->r->graphs.v[p->r->graphs.n - 1];
    struct str rest = str_from(line, str_find(line, OPEN) + OPEN.n);
    graph->id = kernel_text(p->r, str_first(rest, str_find_char(rest, '\'')));
    graph->backward = str_ends(graph->id, STR("_backward"));
    return graph->id.p != NULL;
}

static bool index_kernel(struct kernel_reader *r, uint32_t index)
{
    const struct kernel *kernel = &r->kernels.v[index];
    if (!hash_index_reserve(&r->kernel_index, 1) || !hash_index_reserve(&r->function_index, 1))
        return false;
    hash_index_add(&r->kernel_index, (uint32_t)hash_str(kernel->name), index);
    hash_index_add(&r->function_index, (uint32_t)hash_str(kernel->function), index);
    return true;
}

static uint32_t add_kernel(struct program *p, struct kernel kernel)
{
    struct kernel_reader *r = p->r;
    uint32_t old = kernel_find(r, kernel.name);
    if (old != TRACE_NONE)
        return old;
    kernel.graph = (uint32_t)r->graphs.n - 1;
    kernel.origin = KERNEL_ORIGIN_NONE;
    kernel.compile_ns = kernel.autotune_ns = -1;
    kernel.tuning = STR("");
    kernel.name = kernel_text(r, kernel.name);
    kernel.function = kernel_text(r, kernel.function);
    kernel.backend = kernel_text(r, kernel.backend);
    kernel.ops = kernel_text(r, p->comments.ops);
    if (!kernel.name.p || !kernel.function.p || !kernel.backend.p || !kernel.ops.p ||
        !vec_push(&r->kernels, kernel))
        return TRACE_NONE;
    uint32_t index = (uint32_t)r->kernels.n - 1;
    return index_kernel(r, index) && vec_push(&p->called, (struct called){ TRACE_NONE, index })
               ? index
               : TRACE_NONE;
}

static enum kernel_kind kind_of_backend(struct str backend)
{
    return str_is(backend, "triton")         ? KERNEL_TRITON
           : str_starts(backend, STR("cpp")) ? KERNEL_CPP
                                             : KERNEL_OTHER;
}

/* "/home/user/model.py:2", the line of a user's Triton kernel. */
static bool claim_place(struct program *p, uint32_t kernel)
{
    struct str place = p->comments.place;
    size_t colon = place.n;
    uint64_t number;
    while (colon > 0 && place.p[colon - 1] != ':')
        colon--;
    if (colon == 0 || !str_to_u64(str_from(place, colon), &number) || number > UINT32_MAX)
        return true;
    struct kernel *k = &p->r->kernels.v[kernel];
    k->kind = KERNEL_USER_TRITON;
    uint32_t line = kernel_add_line(p->r, (struct kernel_line){ .file = str_first(place, colon - 1),
                                                                .function = k->function,
                                                                .code = STR(""),
                                                                .line = (uint32_t)number });
    return line != TRACE_NONE && kernel_claim_line(p->r, kernel, line);
}

/* Skips a text in triple quotes that begins on `line` and does not end there. */
static void skip_quoted(struct program *p, struct str line)
{
    static const struct str QUOTES[] = { { "'''", 3 }, { "\"\"\"", 3 } };
    for (size_t i = 0; i < sizeof QUOTES / sizeof *QUOTES; i++) {
        size_t open = str_find(line, QUOTES[i]);
        if (open == line.n || str_contains(str_from(line, open + 3), QUOTES[i]))
            continue;
        p->rest = str_from(p->rest, str_find(p->rest, QUOTES[i]));
        p->rest = str_from(p->rest, str_find_char(p->rest, '\n') + 1);
        return;
    }
}

/* "NAME = async_compile.triton('FUNCTION', '''" */
static bool read_definition(struct program *p, struct str line, size_t equals)
{
    struct str name = str_first(line, equals), call = str_from(line, equals + 3);
    static const struct str COMPILE = { "async_compile.", 14 };
    call = str_from(call, COMPILE.n);
    struct str backend = str_first(call, str_find_char(call, '(')), function = name;
    struct str argument = str_from(call, backend.n + 1);
    if (str_starts(argument, STR("'")))
        function = str_first(str_from(argument, 1), str_find_char(str_from(argument, 1), '\''));
    uint32_t kernel = add_kernel(p, (struct kernel){ .kind = kind_of_backend(backend),
                                                     .name = name,
                                                     .function = function,
                                                     .backend = backend });
    return kernel != TRACE_NONE && claim_comments(p, kernel) && claim_place(p, kernel);
}

static bool read_module_line(struct program *p, struct str line)
{
    static const struct str DEFINES = { " = async_compile.", 17 };
    size_t equals = str_find(line, DEFINES);
    bool ok = equals == line.n || !python_is_name(str_first(line, equals)) ||
              read_definition(p, line, equals);
    skip_quoted(p, line);
    p->comments = (struct program_comments){ 0 };
    return ok;
}

/* Returns whether `callee` is a kernel of a library or an operator. Allocation and views are
 * operators of the namespace `inductor`, and not kernels. */
static bool is_extern(struct str callee)
{
    static const struct str PREFIXES[] = {
        { "extern_kernels.", 15 },
        { "torch.ops.", 10 },
        { "aten.", 5 },
        { "_quantized.", 11 },
    };
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (str_starts(callee, PREFIXES[i]))
            return !str_starts(callee, STR("torch.ops.inductor.")) && python_is_dotted(callee);
    return false;
}

static bool keep_handle(struct program *p, uint32_t kernel)
{
    struct kernel_reader *r = p->r;
    struct str handle = p->comments.handle;
    if (handle.n == 0 || intern_find(&r->handles, handle) != INTERN_NONE)
        return true;
    return intern(&r->handles, handle) != INTERN_NONE && vec_push(&r->handle_kernels, kernel);
}

/* "buf5 = KERNEL(", "KERNEL.run(" */
static bool read_call(struct program *p, struct str line)
{
    static const struct str ASSIGNS = { " = ", 3 };
    size_t equals = str_find(line, ASSIGNS), open = str_find_char(line, '(');
    if (equals < open && open < line.n)
        line = str_from(line, equals + ASSIGNS.n);
    struct str callee = str_first(line, str_find_char(line, '('));
    if (callee.n == line.n)
        return true;
    if (str_ends(callee, STR(".run")))
        callee.n -= 4;
    uint32_t kernel = kernel_find(p->r, callee);
    if (kernel == TRACE_NONE && !is_extern(callee))
        return true;
    if (kernel == TRACE_NONE)
        kernel = add_kernel(p, (struct kernel){ .kind = KERNEL_EXTERN,
                                                .name = callee,
                                                .function = callee,
                                                .backend = STR("extern") });
    if (kernel == TRACE_NONE)
        return false;
    struct called *called = &p->called.v[kernel - p->first_kernel];
    called->first = called->first == TRACE_NONE ? (uint32_t)p->r->calls.n : called->first;
    p->r->kernels.v[kernel].n_calls++;
    bool ok = vec_push(&p->r->calls, kernel) && claim_comments(p, kernel) && keep_handle(p, kernel);
    p->comments = (struct program_comments){ 0 };
    return ok;
}

static bool read_body_line(struct program *p, struct str line)
{
    static const struct str HANDLE = { "# [Provenance debug handles] ", 29 };
    line = str_trim(line);
    if (str_starts(line, HANDLE))
        p->comments.handle = str_from(line, HANDLE.n);
    else if (str_starts(line, STR("#")))
        read_comment(p, line);
    else
        return read_call(p, line);
    return true;
}

static bool read_program_line(struct program *p, struct str line)
{
    if (line.n == 0)
        return true;
    if (str_starts(line, STR("# AOT ID: ")))
        return read_id(p, line);
    if (line.p[0] == '#')
        return read_comment(p, line), true;
    return is_space(line.p[0]) ? read_body_line(p, line) : read_module_line(p, line);
}

static int by_first_call(const void *a, const void *b)
{
    const struct called *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

/* Puts the program's kernels in the order of their first calls. */
static bool order_by_calls(struct program *p)
{
    struct kernel_reader *r = p->r;
    size_t n = p->called.n;
    if (n == 0)
        return true;
    qsort(p->called.v, n, sizeof *p->called.v, by_first_call);
    struct kernel *kernels = malloc(n * sizeof *kernels);
    uint32_t *places = malloc(n * sizeof *places);
    bool ok = kernels && places;
    for (size_t i = 0; ok && i < n; i++) {
        kernels[i] = r->kernels.v[p->called.v[i].kernel];
        places[p->called.v[i].kernel - p->first_kernel] = p->first_kernel + (uint32_t)i;
    }
    if (ok)
        memcpy(&r->kernels.v[p->first_kernel], kernels, n * sizeof *kernels);
    for (size_t i = 0; ok && i < r->claims.n; i++)
        r->claims.v[i].kernel = places[r->claims.v[i].kernel - p->first_kernel];
    for (size_t i = 0; ok && i < r->line_claims.n; i++)
        r->line_claims.v[i].kernel = places[r->line_claims.v[i].kernel - p->first_kernel];
    for (size_t i = 0; ok && i < r->handle_kernels.n; i++)
        r->handle_kernels.v[i] = places[r->handle_kernels.v[i] - p->first_kernel];
    for (size_t i = 0; ok && i < r->calls.n; i++)
        r->calls.v[i] = places[r->calls.v[i] - p->first_kernel];
    free(kernels);
    free(places);
    /* What was indexed moved. */
    hash_index_clear(&r->claim_index);
    hash_index_clear(&r->kernel_index);
    hash_index_clear(&r->function_index);
    for (size_t i = 0; ok && i < n; i++)
        ok = index_kernel(r, p->first_kernel + (uint32_t)i);
    return ok && kernel_index_claims(r);
}

bool kernels_scan_program(struct kernel_reader *r, struct str text)
{
    struct program p = { .r = r, .rest = text, .first_kernel = (uint32_t)r->kernels.n };
    struct str line;
    bool ok = true;
    while (ok && text_next_line(&p.rest, &line))
        ok = read_program_line(&p, line);
    ok = ok && order_by_calls(&p);
    vec_release(&p.called);
    return ok;
}
