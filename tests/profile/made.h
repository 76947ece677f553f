/* A log with some of everything, and profiles of made logs. */
#ifndef SYMTAPE_TESTS_PROFILE_MADE_H
#define SYMTAPE_TESTS_PROFILE_MADE_H

#include "profile/model/profile.h"
#include "tests/log_make.h"

struct made {
    struct trace *trace;
    struct profile *profile;
};

static inline struct made made_profile(struct log_make *log, const struct profile_options *options)
{
    struct err err = ERR_INIT;
    struct made made = { .trace = log_open(log) };
    made.profile = profile_build(&made.trace, 1, options, &err);
    assert_no_err(&err);
    assert_non_null(made.profile);
    return made;
}

static inline void made_drop(struct made *made)
{
    profile_free(made->profile);
    trace_close(made->trace);
}

#define MADE_USER \
    "{\"line\": 12, \"name\": \"forward\", \"filename\": 1, \"loc\": \"x = self.bn(x)\"}"
#define MADE_TORCH \
    "{\"line\": 194, \"name\": \"forward\", \"filename\": 2, \"loc\": \"return F.bn(\"}"
/* A guard on line 12, asked for by PyTorch's own line 194 below it. */
static inline void made_guard(struct log_make *log, const char *expr, const char *kind)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"guard_added_fast\": {\"expr\": \"%s\", \"user_stack\": [" MADE_USER
               ", " MADE_TORCH "], \"stack\": [" MADE_USER ", " MADE_TORCH
               ", {\"line\": 5, \"name\": "
               "\"evaluate_expr\", \"filename\": 3, \"loc\": \"self._log_guard(\\\"%s\\\", g)\"}]}",
               expr, kind);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static inline void made_strings(struct log_make *log)
{
    log_put(log, "\"str\": [\"/u/zoo/model.py\", 1]", NULL);
    log_put(log, "\"str\": [\"/env/torch/nn/modules/batchnorm.py\", 2]", NULL);
    log_put(log, "\"str\": [\"/env/torch/fx/experimental/symbolic_shapes.py\", 3]", NULL);
}

static const char MADE_DYNAMO[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, s0: \"Sym(s0)\", L_x_: \"f32[s0, 3][3, 1]cpu\"):\n"
    "        l_x_ = L_x_\n"
    "        \n"
    "         # File: /u/zoo/model.py:12 in forward, code: x = self.bn(x)\n"
    "        x: \"f32[s0, 3][3, 1]cpu\" = torch.relu(l_x_);  l_x_ = None\n"
    "        return (x,)\n"
    "        \n";

static const char MADE_INFERENCE[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"Sym(s0)\", arg1_1: \"f32[s0, 3][3, 1]cpu\"):\n"
    "         # File: /u/zoo/model.py:12 in forward, code: x = self.bn(x)\n"
    "        add: \"f32[s0, 3][3, 1]cpu\" = torch.ops.aten.add.Tensor(arg1_1, 1)\n"
    "        relu: \"f32[s0, 3][3, 1]cpu\" = torch.ops.aten.relu.default(add);  add = None\n"
    "        add_1: \"f32[s0, 3][3, 1]cpu\" = torch.ops.aten.add.Tensor(arg1_1, relu)\n"
    "        return (add_1,)\n"
    "        \n";

/* An attempt of compile 0/0, 1 ms a record and 20 ms before a guard. */
static inline void made_attempt(struct log_make *log, char number, bool ends)
{
    char name[] = { 'c', 'o', 'm', 'p', 'i', 'l', 'e', '_',    'a',
                    't', 't', 'e', 'm', 'p', 't', '_', number, '\0' };
    const char *base = number == '0' ? "100000" : "200000";
    log->context = number == '0' ? LOG_COMPILE(0, 0, 0) : LOG_COMPILE(0, 0, 1);
    log_phase(log, 'B', name, base, "");
    log->time_us += 1000;
    log_put(log,
            "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"3\", \"user_stack\": [" MADE_USER
            "], \"stack\": []}",
            NULL);
    log->time_us += 20000;
    made_guard(log, "Ne(s0, 1)", "eval");
    log->time_us += 1000;
    log_put(log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    log_put(log, "\"aot_inference_graph\": {}", MADE_INFERENCE);
    if (ends)
        log_phase(log, 'E', name, number == '0' ? "150000" : "260000", "");
}

/* One compile that was restarted and then went well. */
static inline struct log_make made_log(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    log_phase(&log, 'B', "dynamo", "90000", "");
    made_attempt(&log, '0', true);
    made_attempt(&log, '1', true);
    made_guard(&log, "Ne(s0, 1)", "eval");
    made_guard(&log, "Eq(s0, 7)", "eval [guard suppressed]");
    made_guard(&log, "u0 >= 0", "runtime_assert");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"k\"}");
    log_put(
        &log,
        "\"compilation_metrics\": {\"co_name\": \"forward\", \"co_filename\": "
        "\"/u/zoo/model.py\", \"co_firstlineno\": 10, \"entire_frame_compile_time_s\": 0.18, "
        "\"restart_reasons\": [\"<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>\"]}",
        NULL);
    log_phase(&log, 'E', "dynamo", "290000", "");
    return log;
}

#endif
