/* Times of kernels and programs from the phases that PyTorch reports. */
#include "trace/base/hash.h"
#include "trace/kernels/kernel_reading.h"

/* A phase that has begun; phases of one name nest. */
struct begun_phase {
    uint32_t attempt, depth;
    uint32_t program; /* the last one of its attempt when it began */
    struct str name, detail;
    int64_t begin_ns;
};

/* What has happened so far in an attempt. */
struct attempt_phases {
    uint32_t last; /* its last program, or TRACE_NONE */
    /* Time of what precedes the next program; -1: none. */
    int64_t codegen_ns, choices_ns;
};

struct phase_reader {
    struct kernel_reader *r;
    vec_of(struct begun_phase)
    open;
    struct attempt_phases *attempts; /* the last one is of records without an attempt */
    struct intern compiles; /* "3 0/0", a recording and a compile id as PyTorch prints it */
    vec_of(uint32_t)
    last_in_compile;               /* by compile: its last program */
    uint32_t *previous_in_compile; /* by program: the one in front of it in its compile */
    size_t next_program;           /* the first that was logged behind the current event */
    struct hash_index names;       /* kernels by program and name */
};

/* A benchmark is looked for in so many programs of its compile, from the last one on: a forward, a
 * backward and a few nested graphs. */
enum { MOST_PROGRAMS = 16 };

/* Phases that are open at a time; more are no nesting, but phases that never ended. */
enum { MOST_OPEN = 64 };

/* Returns the phase of that name that is open, or NULL. */
static struct begun_phase *find_open(struct phase_reader *p, const struct chromium_event *event)
{
    for (size_t i = p->open.n; i-- > 0;)
        if (p->open.v[i].attempt == event->attempt && str_eq(p->open.v[i].name, event->name) &&
            str_eq(p->open.v[i].detail, event->detail))
            return &p->open.v[i];
    return NULL;
}

static void add_ns(int64_t *sum, int64_t ns)
{
    if (ns >= 0 && ns <= INT64_MAX - (*sum > 0 ? *sum : 0))
        *sum = (*sum > 0 ? *sum : 0) + ns;
}

static size_t attempt_row(const struct phase_reader *p, uint32_t attempt)
{
    return attempt == TRACE_NONE ? p->r->trace->n_attempts : attempt;
}

/* Returns the row in last_in_compile of a compile id, without the ordinal that a trace appends
 * after torch._dynamo.reset(); UINT32_MAX when memory ran out. */
static uint32_t compile_row(struct phase_reader *p, uint32_t recording, struct str compile)
{
    struct buf key = BUF_INIT;
    buf_u64(&key, recording);
    buf_putc(&key, ' ');
    buf_put(&key, str_first(compile, str_find_char(compile, '.')));
    uint32_t row = key.failed ? INTERN_NONE : intern(&p->compiles, buf_str(&key));
    buf_release(&key);
    if (row != INTERN_NONE && row == p->last_in_compile.n &&
        !vec_push(&p->last_in_compile, TRACE_NONE))
        return UINT32_MAX;
    return row;
}

static uint32_t name_hash(uint32_t program, struct str name)
{
    return (uint32_t)hash_mix(program, hash_str(name));
}

static struct kernel *find_in_program(struct phase_reader *p, uint32_t program, struct str name)
{
    uint32_t hash = name_hash(program, name), row;
    for (size_t at = hash_index_start(&p->names, hash);
         hash_index_next(&p->names, hash, &at, &row);) {
        struct kernel *kernel = &p->r->kernels.v[row];
        if (kernel->graph == program && str_eq(kernel->name, name))
            return kernel;
    }
    return NULL;
}

/* Charges a benchmark to the kernel of that name in the compile's last program that has one. It is
 * done at the first call of the compiled function, whose records name the compile in the phase
 * only. */
static bool charge_kernel(struct phase_reader *p, const struct chromium_event *event, int64_t ns)
{
    const struct trace *trace = p->r->trace;
    struct str compile =
        event->attempt == TRACE_NONE ? event->compile : trace->attempts[event->attempt].compile;
    uint32_t row = compile_row(p, trace->records[event->record].recording, compile);
    if (row == UINT32_MAX)
        return false;
    uint32_t program = p->last_in_compile.v[row];
    for (int i = 0; i < MOST_PROGRAMS && program != TRACE_NONE; i++) {
        struct kernel *kernel = find_in_program(p, program, event->detail);
        if (kernel && p->r->graphs.v[program].backward == event->backward) {
            add_ns(&kernel->autotune_ns, ns);
            return true;
        }
        program = p->previous_in_compile[program];
    }
    return true;
}

static bool charge(struct phase_reader *p, const struct begun_phase *phase,
                   const struct chromium_event *end)
{
    int64_t ns = end->time_ns - phase->begin_ns;
    struct attempt_phases *attempt = &p->attempts[attempt_row(p, end->attempt)];
    if (str_starts(phase->name, STR("CachingAutotuner.")))
        return charge_kernel(p, end, ns);
    if (str_is(phase->name, "GraphLowering.codegen"))
        add_ns(&attempt->codegen_ns, ns);
    else if (!str_is(phase->name, "PyCodeCache.load_by_key_path"))
        add_ns(&attempt->choices_ns, ns);
    else if (phase->program != TRACE_NONE)
        add_ns(&p->r->graphs.v[phase->program].load_ns, ns);
    return true;
}

/* Takes the programs that were logged in front of `record`. */
static bool pass_programs(struct phase_reader *p, uint32_t record)
{
    struct kernel_reader *r = p->r;
    for (; p->next_program < r->graphs.n && r->graphs.v[p->next_program].record < record;
         p->next_program++) {
        uint32_t program = (uint32_t)p->next_program;
        struct kernel_graph *graph = &r->graphs.v[program];
        struct attempt_phases *attempt = &p->attempts[attempt_row(p, graph->attempt)];
        graph->codegen_ns = attempt->codegen_ns;
        graph->choices_ns = attempt->choices_ns;
        *attempt = (struct attempt_phases){ program, -1, -1 };
        p->previous_in_compile[program] = TRACE_NONE;
        if (graph->attempt == TRACE_NONE)
            continue;
        uint32_t row = compile_row(p, r->trace->records[graph->record].recording,
                                   r->trace->attempts[graph->attempt].compile);
        if (row == UINT32_MAX)
            return false;
        p->previous_in_compile[program] = p->last_in_compile.v[row];
        p->last_in_compile.v[row] = program;
    }
    return true;
}

/* Returns whether a phase is one of those that are charged. */
static bool is_charged(struct str name)
{
    static const char *const NAMES[] = { "GraphLowering.codegen", "PyCodeCache.load_by_key_path" };
    return STR_IS_ANY(name, NAMES) || str_starts(name, STR("CachingAutotuner.")) ||
           str_ends(name, STR("_template_precompiling")) ||
           str_ends(name, STR("_template_autotuning"));
}

static bool read_kernel_phase(struct phase_reader *p, const struct chromium_event *event)
{
    if (!event->timed || (event->phase != 'B' && event->phase != 'E') || !is_charged(event->name))
        return true;
    struct begun_phase *open = find_open(p, event);
    if (event->phase == 'B' && open) {
        open->depth++;
    } else if (event->phase == 'B') {
        uint32_t last = p->attempts[attempt_row(p, event->attempt)].last;
        if (p->open.n == MOST_OPEN)
            p->open.n = 0;
        return vec_push(&p->open, (struct begun_phase){ .attempt = event->attempt,
                                                        .program = last,
                                                        .name = event->name,
                                                        .detail = event->detail,
                                                        .begin_ns = event->time_ns });
    } else if (open && open->depth > 0) {
        open->depth--;
    } else if (open) {
        struct begun_phase begun = *open;
        *open = p->open.v[--p->open.n];
        return charge(p, &begun, event);
    }
    return true;
}

static bool begin_phases(struct phase_reader *p)
{
    const struct trace *trace = p->r->trace;
    size_t n = (size_t)trace->n_attempts + 1;
    p->attempts = calloc(n, sizeof *p->attempts);
    p->previous_in_compile = calloc(p->r->graphs.n + 1, sizeof *p->previous_in_compile);
    if (!p->attempts || !p->previous_in_compile || !hash_index_reserve(&p->names, p->r->kernels.n))
        return false;
    for (size_t i = 0; i < n; i++)
        p->attempts[i] = (struct attempt_phases){ TRACE_NONE, -1, -1 };
    for (size_t i = 0; i < p->r->kernels.n; i++) {
        const struct kernel *kernel = &p->r->kernels.v[i];
        hash_index_add(&p->names, name_hash(kernel->graph, kernel->name), (uint32_t)i);
    }
    return true;
}

bool kernels_read_phases(struct kernel_reader *r, const struct chromium_list *events)
{
    struct phase_reader p = { .r = r };
    bool ok = begin_phases(&p);
    for (uint32_t i = 0; ok && i < events->n; i++) {
        ok = pass_programs(&p, events->events[i].record) &&
             read_kernel_phase(&p, &events->events[i]);
    }
    ok = ok && pass_programs(&p, UINT32_MAX);
    free(p.attempts);
    intern_release(&p.compiles);
    vec_release(&p.last_in_compile);
    free(p.previous_in_compile);
    hash_index_release(&p.names);
    vec_release(&p.open);
    return ok;
}
