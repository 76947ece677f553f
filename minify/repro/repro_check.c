/* Prints the code around f: imports, the compile, and the check. Exit codes: 1 the bug occurs, 0 it
 * does not, 125 cannot run. */

#include "minify/process/signature.h"
#include "minify/repro/repro_inside.h"

/* ---- What is needed ---- */

static bool any_target(const struct repro *r, bool (*wanted)(const struct node *node))
{
    for (size_t k = 0; k < r->graphs.n; k++)
        for (uint32_t i = 0; i < r->graphs.v[k].graph->n_nodes; i++)
            if (wanted(&r->graphs.v[k].graph->nodes[i]))
                return true;
    return false;
}

static bool is_checkpoint(const struct node *node)
{
    return str_is(node->target, "torch.ops.higher_order.tag_activation_checkpoint");
}

static bool is_plain_operator(const struct node *node)
{
    return node->op == NODE_CALL_FUNCTION && str_starts(node->target, STR("operator.")) &&
           node->form == FORM_PLAIN && !str_is(node->target, "operator.getitem");
}

static bool is_mutation(const struct node *node)
{
    struct str name = node->target;
    if (node->form == FORM_SETITEM || node->form == FORM_INPLACE)
        return true;
    if (!node_is_call(node))
        return false;
    if (str_starts(name, STR("torch.ops.")))
        name = str_from(name, str_find_char(str_from(name, 10), '.') + 11);
    name = str_first(name, str_find_char(name, '.'));
    return name.n > 1 && name.p[name.n - 1] == '_' && name.p[name.n - 2] != '_';
}

bool repro_mutates(const struct repro *r)
{
    return any_target(r, is_mutation);
}

static bool candidate_has_unbacked(const struct repro *r)
{
    for (uint32_t i = 0; i < r->candidate->n_symbols; i++)
        if (!r->candidate->symbols[i].backed)
            return true;
    return false;
}

/* Checks for operators of PyTorch that need more than PyTorch to run. */
static void check_operator(struct repro *r, struct str target)
{
    struct str rest = str_from(target, 10), space = str_first(rest, str_find_char(rest, '.'));
    if (str_starts(rest, STR("higher_order.triton_kernel_wrapper")))
        repro_cannot(r, "a Triton kernel's source is not recorded");
    else if (str_starts(space, STR("_c10d")) || str_starts(space, STR("c10d")))
        repro_cannot(r, "%.*s needs a process group", STR_ARG(target));
}

static void check_target(struct repro *r, const struct node *node)
{
    struct buf why = BUF_INIT;
    if (node->op != NODE_CALL_FUNCTION || node->form != FORM_PLAIN)
        return;
    switch (program_target(node->target, r->what->setup.allow)) {
    case PROGRAM_OPERATOR: check_operator(r, node->target); break;
    case PROGRAM_FUNCTION: break;
    case PROGRAM_FOREIGN:
    case PROGRAM_REFUSED:
        program_explain(node->target, r->what->setup.allow, &why);
        repro_refuse(r, "%.*s", STR_ARG(buf_str(&why)));
        break;
    }
    r->failed |= why.failed;
    buf_release(&why);
}

void repro_check_targets(struct repro *r)
{
    for (size_t k = 0; k < r->graphs.n; k++)
        for (uint32_t i = 0; i < r->graphs.v[k].graph->n_nodes; i++)
            check_target(r, &r->graphs.v[k].graph->nodes[i]);
}

static const char *device_check(const struct repro *r)
{
    if (r->what->route == REPRO_CUDA)
        return "torch.cuda.is_available()";
    for (size_t i = 0; i < r->inputs.n && !r->what->cpu; i++) {
        const struct meta *meta = repro_meta(r->inputs.v[i].graph, r->inputs.v[i].meta);
        if (meta && str_starts(meta->device, STR("cuda")))
            return "torch.cuda.is_available()";
        if (meta && str_starts(meta->device, STR("xpu")))
            return "torch.xpu.is_available()";
        if (meta && str_starts(meta->device, STR("mps")))
            return "torch.backends.mps.is_available()";
    }
    return NULL;
}

static bool eager_first(const struct repro *r)
{
    return r->what->check != REPRO_NOTHING && r->what->check != REPRO_RUNS &&
           r->what->check != REPRO_SECONDS &&
           (!r->what->eager_fails || r->what->check == REPRO_WRONG);
}

static bool compares_inputs(const struct repro *r)
{
    return repro_mutates(r) && eager_first(r);
}

static bool asks_gradients(const struct repro *r)
{
    return candidate_n_gradients(r->candidate) > 0 && r->what->route == REPRO_COMPILE;
}

static bool asks_guards(const struct repro *r)
{
    return r->what->check == REPRO_GUARD || r->what->check == REPRO_GUARDS;
}

/* A program for a GPU computes on two devices, and only its check compares them. */
static bool is_plain(const struct repro *r)
{
    return r->what->plain && !asks_guards(r) && r->what->check != REPRO_NOTHING &&
           r->what->check != REPRO_SECONDS && r->what->route != REPRO_CUDA;
}

static void put_plain_imports(struct repro *r)
{
    program_put_env(&r->what->setup, r->out);
    buf_puts(r->out, "import torch\n");
    program_put_setup_imports(&r->what->setup, 0, r->out);
}

/* A Python that lacks a module cannot tell whether the bug occurs. */
static void put_checked_imports(struct repro *r)
{
    if ((r->what->check == REPRO_RAISES && r->what->message.n) || r->what->check == REPRO_GUARD)
        buf_puts(r->out, "import re\n");
    buf_puts(r->out, "import sys\n");
    if (r->what->check == REPRO_SECONDS)
        buf_puts(r->out, "import time\n");
    program_put_env(&r->what->setup, r->out);
    buf_puts(r->out, "\ntry:\n    import torch\n");
    program_put_setup_imports(&r->what->setup, 4, r->out);
    buf_puts(r->out, "except ImportError:\n    sys.exit(125)\n");
}

void repro_put_imports(struct repro *r, struct str body)
{
    const char *device = device_check(r);
    if (compares_inputs(r))
        buf_puts(r->out, "import copy\n");
    if (str_find(body, STR("math.")) < body.n)
        buf_puts(r->out, "import math\n");
    if (any_target(r, is_plain_operator))
        buf_puts(r->out, "import operator\n");
    if (is_plain(r))
        put_plain_imports(r);
    else
        put_checked_imports(r);
    program_put_config(&r->what->setup, r->out);
    if (any_target(r, is_checkpoint))
        buf_puts(r->out, "import torch.utils.checkpoint\n");
    if (r->what->route == REPRO_MAKE_FX)
        buf_puts(r->out, "from torch.fx.experimental.proxy_tensor import make_fx\n");
    if (device && !is_plain(r))
        buf_printf(r->out, "if not %s:\n    sys.exit(125)\n", device);
    if (candidate_has_unbacked(r) && r->what->route == REPRO_COMPILE)
        buf_puts(r->out, "torch._dynamo.config.capture_scalar_outputs = True\n"
                         "torch._dynamo.config.capture_dynamic_output_shape_ops = True\n");
    buf_putc(r->out, '\n');
}

/* ---- How it is compiled ---- */

static struct str backend(const struct repro *r)
{
    return r->what->backend.n ? r->what->backend : STR("aot_eager");
}

#define CANNOT_RUN                 \
    "except Exception as error:\n" \
    "    print(\"cannot run:\", error)\n    sys.exit(125)\n"

static bool has_dynamic(const struct repro *r)
{
    for (size_t i = 0; i < r->inputs.n; i++) {
        const struct repro_input *input = &r->inputs.v[i];
        const struct meta *meta = repro_meta(input->graph, input->meta);
        if (!meta && !input->constant)
            return true;
        if (!meta)
            continue;
        for (uint32_t d = 0; d < meta->n_sizes && !input->constant; d++)
            if (expr_at(&input->graph->pool->exprs, meta->sizes[d])->kind != EXPR_INT)
                return true;
    }
    return false;
}

bool repro_exports(const struct repro *r)
{
    return r->what->route == REPRO_EXPORT || r->what->route == REPRO_DECOMPOSE ||
           r->what->route == REPRO_CONSTRAINTS;
}

/* Prints the range of a symbol as arguments of a Dim: "min=3, max=100". */
static void put_bounds(const struct cand_symbol *s, const char *before, struct buf *out)
{
    if (s->min > 2)
        buf_printf(out, "%smin=%lld", before, (long long)s->min);
    if (s->max < INT32_MAX)
        buf_printf(out, "%smax=%lld", s->min > 2 ? ", " : before, (long long)s->max);
}

/* Prints the Dim of a symbolic size. In the question `constraints`, one that has a range has a
 * name: PyTorch checks that all sizes of its range satisfy the guards for those alone
 * (produce_guards_verbose() of torch/fx/experimental/symbolic_shapes.py); of Dim.DYNAMIC, only
 * that it does not become a number. Returns whether it has neither a name nor a range. */
static bool put_dim(struct repro *r, const struct cand_symbol *s, struct buf *out)
{
    bool constraints = r->what->route == REPRO_CONSTRAINTS;
    bool backed = s && s->backed, range = backed && repro_has_range(s);
    if (constraints && backed && (range || r->what->named_dims)) {
        buf_puts(out, "torch.export.Dim(\"");
        repro_put_name(r, out, s->name);
        buf_putc(out, '"');
        if (range)
            put_bounds(s, ", ", out);
        buf_putc(out, ')');
        return false;
    }
    if (range) {
        buf_puts(out, "torch.export.Dim.AUTO(");
        put_bounds(s, "", out);
        buf_putc(out, ')');
        return false;
    }
    buf_puts(out, constraints ? "dynamic" : "auto");
    return true;
}

/* Prints a torch.export.Dim for each size that was symbolic, by input. Older releases do not have
 * each kind. */
static void put_dynamic_shapes(struct repro *r)
{
    struct buf line = BUF_INIT;
    if (!has_dynamic(r))
        return;
    bool constraints = r->what->route == REPRO_CONSTRAINTS, plain = false;
    bool checks = r->what->check != REPRO_NOTHING && !r->what->plain;
    const char *indent = checks ? "    " : "";
    buf_puts(&line, "shapes = (");
    for (size_t i = 0; i < r->inputs.n; i++) {
        const struct repro_input *input = &r->inputs.v[i];
        const struct meta *meta = repro_meta(input->graph, input->meta);
        uint32_t n = 0;
        for (uint32_t d = 0; d < (meta ? meta->n_sizes : 1) && !input->constant; d++) {
            if (meta && expr_at(&input->graph->pool->exprs, meta->sizes[d])->kind == EXPR_INT)
                continue;
            buf_printf(&line, "%s%u: ", n++ ? ", " : "{", (unsigned)d);
            plain |= put_dim(r, repro_symbol_of_dim(r, input, d), &line);
        }
        buf_puts(&line, n ? "}" : "None");
        buf_puts(&line, i + 1 < r->inputs.n ? ", " : r->inputs.n == 1 ? ",)" : ")");
    }
    buf_puts(&line, r->inputs.n ? "" : ")");
    r->failed |= line.failed;
    buf_puts(r->out, checks ? "try:\n" : "");
    if (plain)
        buf_printf(r->out, "%s%s\n", indent,
                   constraints ? "dynamic = torch.export.Dim.DYNAMIC"
                               : "auto = torch.export.Dim.AUTO");
    repro_put_line(r, buf_str(&line), (unsigned)strlen(indent));
    buf_puts(r->out, checks ? CANNOT_RUN : "");
    buf_release(&line);
}

static void put_module_class(struct repro *r)
{
    struct buf names = BUF_INIT;
    for (size_t i = 0; i < r->inputs.n; i++) {
        buf_puts(&names, ", ");
        repro_put_name(r, &names, r->inputs.v[i].name);
    }
    buf_puts(r->out, "class Module(torch.nn.Module):\n");
    struct buf line = BUF_INIT;
    buf_puts(&line, "def forward(self");
    buf_put(&line, buf_str(&names));
    buf_puts(&line, "):");
    repro_put_line(r, buf_str(&line), 4);
    buf_clear(&line);
    buf_puts(&line, "return f(");
    buf_put(&line, str_from(buf_str(&names), 2));
    buf_putc(&line, ')');
    repro_put_line(r, buf_str(&line), 8);
    buf_puts(r->out, "\n\n");
    r->failed |= names.failed || line.failed;
    put_dynamic_shapes(r);
    buf_release(&names);
    buf_release(&line);
}

static void put_backend(struct repro *r)
{
    struct str module, name;
    buf_puts(r->out, "envs = []\n\n\ndef backend(graph, example_inputs):\n"
                     "    envs.append(torch._guards.TracingContext.get().fake_mode.shape_env)\n"
                     "    return ");
    if (program_backend_parts(backend(r), &module, &name)) {
        program_put_backend(backend(r), r->out);
    } else {
        buf_puts(r->out, "torch._dynamo.lookup_backend(");
        program_put_backend(backend(r), r->out);
        buf_putc(r->out, ')');
    }
    buf_puts(r->out, "(graph, example_inputs)\n\n\n");
}

static void put_compile_call(struct repro *r, const char *assigned)
{
    const char *inputs = "inputs";
    switch (r->what->route) {
    case REPRO_CUDA:
        buf_printf(r->out,
                   "device = \"cuda\"\n"
                   "    with torch.device(device):\n"
                   "        %sf(*[x.cuda() if isinstance(x, torch.Tensor) else x for x in "
                   "inputs])\n",
                   assigned);
        break;
    case REPRO_COMPILE:
        buf_printf(r->out, "%s%storch.compile(f, ", assigned,
                   asks_gradients(r) ? "gradients(" : "");
        buf_puts(r->out, "backend=");
        if (asks_guards(r))
            buf_puts(r->out, "backend");
        else
            program_put_backend(backend(r), r->out);
        buf_printf(r->out, ", fullgraph=True)(*%s)%s\n", inputs,
                   asks_gradients(r) ? ", inputs)" : "");
        break;
    case REPRO_MAKE_FX:
        buf_printf(r->out, "%smake_fx(f, tracing_mode=\"symbolic\")(*%s)%s\n",
                   asks_guards(r) ? "traced = " : assigned, inputs,
                   r->what->check == REPRO_WRONG ? "(*inputs)" : "");
        break;
    case REPRO_EXPORT:
    case REPRO_CONSTRAINTS:
    case REPRO_DECOMPOSE:
        buf_printf(r->out, "%storch.export.export(Module(), %s%s)%s%s\n",
                   r->what->check == REPRO_WRONG ? assigned : "exported = ", inputs,
                   has_dynamic(r) ? ", dynamic_shapes=shapes" : "",
                   r->what->route == REPRO_DECOMPOSE ? ".run_decompositions()" : "",
                   r->what->check == REPRO_WRONG ? ".module()(*inputs)" : "");
        break;
    }
}

/* ---- Gradients ---- */

static uint32_t output_count(const struct repro *r)
{
    const struct graph *graph = r->candidate->graph;
    return graph->n_nodes ? graph->nodes[graph->n_nodes - 1].n_args : 0;
}

/* Prints the function that calls the backward pass: any gradients of the outputs do, but not those
 * that are all one, by which a softmax has none. */
static void put_gradients(struct repro *r)
{
    bool one = !r->candidate->graph->returns_tuple && output_count(r) == 1;
    buf_printf(r->out,
               "def gradients(outputs, inputs):\n"
               "    torch.manual_seed(%llu)\n"
               "    y = [t for t in %s if isinstance(t, torch.Tensor) and t.requires_grad]\n"
               "    x = [t for t in inputs if t.requires_grad]\n"
               "    dy = [torch.randn_like(t) for t in y]\n"
               "    return outputs, y and torch.autograd.grad(y, x, dy, allow_unused=True)\n\n\n",
               (unsigned long long)r->candidate->seed, one ? "(outputs,)" : "outputs");
}

/* ---- The check ---- */

static void put_seed_again(struct repro *r)
{
    buf_printf(r->out, "torch.manual_seed(%llu)\n", (unsigned long long)r->candidate->seed);
}

/* Prints the call in eager mode, whose inputs are copies if it writes to them. */
static void put_eager_call(struct repro *r, const char *assigned)
{
    bool copies = compares_inputs(r);
    if (asks_gradients(r))
        buf_printf(r->out, "%sgradients(f(*%s), %s)\n", assigned, copies ? "copies" : "inputs",
                   copies ? "copies" : "inputs");
    else
        buf_printf(r->out, "%sf(*%s)\n", assigned, copies ? "copy.deepcopy(inputs)" : "inputs");
}

static void put_copies(struct repro *r)
{
    if (asks_gradients(r) && compares_inputs(r))
        buf_puts(r->out, "copies = copy.deepcopy(inputs)\n");
}

static void put_eager(struct repro *r)
{
    if (r->what->route == REPRO_CUDA)
        buf_puts(r->out, "device = \"cpu\"\n");
    put_copies(r);
    buf_puts(r->out, "try:\n    ");
    put_eager_call(r, r->what->check == REPRO_WRONG ? "expected = " : "");
    buf_puts(r->out, CANNOT_RUN);
    if (r->what->check == REPRO_WRONG)
        put_seed_again(r);
}

/* Prints the end of a plain program. */
static void put_plain(struct repro *r)
{
    bool wrong = r->what->check == REPRO_WRONG;
    if (wrong) {
        put_copies(r);
        put_eager_call(r, "expected = ");
        put_seed_again(r);
    }
    put_compile_call(r, wrong ? "actual = " : "");
    if (wrong)
        buf_puts(r->out, "torch.testing.assert_close(actual, expected, equal_nan=True)\n");
}

/* Returns a message "ValueError: Cannot view" without the class, which str() of an exception leaves
 * out. */
static struct str without_class(struct str message)
{
    static const char *const ends[] = { "Error", "Exception", "Node" };
    struct str name = str_first(message, str_find(message, STR(": ")));
    for (size_t i = 0; i < name.n; i++)
        if (!is_word_char(name.p[i]) && name.p[i] != '.')
            return message;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (name.n < message.n && str_ends(name, str_of(ends[i])))
            return str_from(message, name.n + 2);
    return message;
}

static void put_raises(struct repro *r)
{
    struct buf regex = BUF_INIT;
    signature_regex(without_class(r->what->message), &regex);
    buf_puts(r->out, "try:\n    ");
    put_compile_call(r, "");
    buf_puts(r->out, "except Exception as error:\n    print(type(error).__name__, error)\n");
    if (regex.n) {
        buf_puts(r->out, "    sys.exit(1 if re.search(");
        python_put_regex(r->out, buf_str(&regex));
        buf_puts(r->out, ", str(error)) else 125)\n");
    } else if (r->what->exception.n) {
        buf_puts(r->out, "    sys.exit(1 if type(error).__name__ == ");
        python_put_string(r->out, r->what->exception);
        buf_puts(r->out, " else 125)\n");
    } else {
        buf_puts(r->out, "    sys.exit(1)\n");
    }
    r->failed |= regex.failed;
    buf_release(&regex);
}

static void put_specializes(struct repro *r)
{
    buf_puts(r->out, "try:\n    ");
    put_compile_call(r, "");
    buf_puts(r->out,
             "except Exception as error:\n    print(error)\n"
             "    sys.exit(1 if \"specialized it to be a constant\" in str(error) else 125)\n");
}

static void put_wrong(struct repro *r)
{
    buf_puts(r->out, "try:\n    ");
    put_compile_call(r, "actual = ");
    buf_printf(r->out, "    torch.testing.assert_close(actual, expected, equal_nan=True%s)\n",
               r->what->route == REPRO_CUDA ? ", check_device=False" : "");
    buf_puts(r->out,
             "except AssertionError as error:\n    print(error)\n    sys.exit(1)\n" CANNOT_RUN);
}

/* The first call compiles; a second one, which does not, tells what running takes. What the first
 * compile of a process takes once is not counted. */
static void put_seconds(struct repro *r)
{
    buf_puts(r->out, "def warm(x):\n    return x + 1\n\n\ntorch.compile(warm, backend=");
    program_put_backend(backend(r), r->out);
    buf_puts(r->out, ", dynamic=True)(torch.zeros(3))\nbegan = time.process_time()\ntry:\n    ");
    put_compile_call(r, "");
    buf_puts(r->out, "    once = time.process_time()\n    ");
    put_compile_call(r, "");
    buf_puts(r->out, CANNOT_RUN);
    buf_puts(r->out, "seconds = 2 * once - began - time.process_time()\n"
                     "print(\"compiling took\", seconds, \"s of processor time\")\n");
    buf_printf(r->out, "sys.exit(seconds >= %.3g)\n", r->what->seconds);
}

static const char *env_list(const struct repro *r)
{
    switch (r->what->route) {
    case REPRO_COMPILE: return "envs";
    case REPRO_MAKE_FX: return "[traced.shape_env]";
    default:
        return "[v.meta[\"val\"].fake_mode.shape_env for v in exported.graph.nodes"
               " if isinstance(v.meta.get(\"val\"), torch.Tensor)][:1]";
    }
}

static void put_guard_checks(struct repro *r)
{
    struct buf regex = BUF_INIT;
    signature_expr_regex(r->what->expr, &regex);
    put_compile_call(r, "");
    buf_printf(r->out, "guards = [str(guard.expr) for env in %s for guard in env.guards]\n",
               env_list(r));
    buf_puts(r->out, "print(*guards, sep=\"\\n\")\n");
    if (r->what->check == REPRO_GUARD) {
        buf_puts(r->out, "sys.exit(any(re.fullmatch(");
        python_put_regex(r->out, buf_str(&regex));
        buf_puts(r->out, ", guard) for guard in guards))\n");
    } else {
        buf_printf(r->out, "sys.exit(len(guards) >= %llu)\n",
                   (unsigned long long)r->what->at_least);
    }
    r->failed |= regex.failed;
    buf_release(&regex);
}

void repro_put_check(struct repro *r)
{
    if (r->what->check == REPRO_NOTHING) {
        if (repro_exports(r)) /* who asks the question exports it */
            put_dynamic_shapes(r);
        return;
    }
    if (repro_exports(r))
        put_module_class(r);
    if (r->what->route == REPRO_COMPILE && asks_guards(r))
        put_backend(r);
    if (asks_gradients(r))
        put_gradients(r);
    if (is_plain(r)) {
        put_plain(r);
        return;
    }
    if (eager_first(r))
        put_eager(r);
    switch (r->what->check) {
    case REPRO_RAISES: put_raises(r); break;
    case REPRO_SPECIALIZES: put_specializes(r); break;
    case REPRO_WRONG: put_wrong(r); break;
    case REPRO_GUARD:
    case REPRO_GUARDS: put_guard_checks(r); break;
    case REPRO_RUNS: put_compile_call(r, ""); break;
    case REPRO_SECONDS: put_seconds(r); break;
    case REPRO_NOTHING: break;
    }
}
