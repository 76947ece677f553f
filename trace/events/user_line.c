#include "trace/events/user_line.h"

/* Public packages and modules of torch 2.7 to 2.13. */
/* clang-format off */
static const char *const OWN[] = {
    "accelerator", "amp", "ao", "autograd", "backends", "bin", "compiler", "contrib", "cpu", "csrc",
    "cuda", "distributed", "distributions", "export", "fft", "func", "functional.py", "futures",
    "fx", "hub.py", "jit", "library.py", "linalg", "masked", "monitor", "mps", "mtia",
    "multiprocessing", "nativert", "nested", "nn", "numa", "onnx", "optim", "overrides.py",
    "package", "profiler", "quantization", "quasirandom.py", "random.py", "return_types.py",
    "serialization.py", "signal", "sparse", "special", "storage.py", "testing", "torch_version.py",
    "types.py", "utils", "version.py", "xpu",
};
/* clang-format on */

bool torch_is_own(struct str name)
{
    if (str_starts(name, STR("_")))
        return true;
    return STR_IS_ANY(name, OWN);
}

bool torch_is_own_file(struct str file)
{
    static const struct str TORCH = { "/torch/", 7 };
    for (size_t at = str_find(file, TORCH); at < file.n; at = str_find(file, TORCH)) {
        struct str folder = str_first(file, at);
        file = str_from(file, at + TORCH.n);
        if (str_ends(folder, STR("/site-packages")) || str_ends(folder, STR("/dist-packages")) ||
            torch_is_own(str_first(file, str_find_char(file, '/'))))
            return true;
    }
    return false;
}

stack_id user_line(const struct trace *trace, uint32_t recording, stack_id stack)
{
    for (stack_id s = stack; s != 0; s = stack_parent(trace, s))
        if (!torch_is_own_file(stack_frame(trace, recording, s).file))
            return s;
    return stack;
}

enum user_file user_file_of(struct str file)
{
    if (torch_is_own_file(file) || str_starts(file, STR("<")))
        return USER_FILE_TORCH;
    if (file.n > 0 && file.p[0] != '/' && str_find_char(file, '/') < file.n &&
        torch_is_own(str_first(file, str_find_char(file, '/'))))
        return USER_FILE_TORCH;
    if (str_contains(file, STR("/site-packages/")) || str_contains(file, STR("/dist-packages/")))
        return USER_FILE_LIBRARY;
    return USER_FILE_PROGRAM;
}

stack_id user_program_line(const struct trace *trace, uint32_t recording, stack_id stack)
{
    stack_id library = 0;
    for (stack_id s = stack; s != 0; s = stack_parent(trace, s)) {
        enum user_file kind = user_file_of(stack_frame(trace, recording, s).file);
        if (kind == USER_FILE_PROGRAM)
            return s;
        if (kind == USER_FILE_LIBRARY && library == 0)
            library = s;
    }
    return library ? library : user_line(trace, recording, stack);
}

/* torch/_dynamo/bytecode_transformation.py and resume_execution.py. */
bool function_resumes(struct str function, struct str *ret)
{
    static const struct str NEW = { "torch_dynamo_resume_in_", 23 }, OLD = { "<resume in ", 11 },
                            AT = { "_at_", 4 };
    *ret = function;
    if (str_starts(function, OLD)) {
        *ret = str_from(function, OLD.n);
        *ret = str_first(*ret, ret->n ? ret->n - 1 : 0);
        return true;
    }
    if (!str_starts(function, NEW))
        return false;
    *ret = str_from(function, NEW.n);
    for (size_t i = ret->n; i-- > 0;)
        if (str_starts(str_from(*ret, i), AT)) {
            *ret = str_first(*ret, i);
            break;
        }
    return true;
}
