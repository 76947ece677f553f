/* A .pt2 archive with a program of three symbols and one weight, for the tests of what is read from
 * archives that were imported. */
#ifndef SYMTAPE_TESTS_TRACE_PT2_PT2_MAKE_H
#define SYMTAPE_TESTS_TRACE_PT2_PT2_MAKE_H

#include "tests/trace/pt2/zip_make.h"
#include "tests/trace/tape/log_make.h"

/* clang-format off */
#define SYMBOL(name, hint)                                                                 \
    "{\"as_expr\": {\"expr_str\": \"Symbol('" name "', integer=True)\", \"hint\": " hint "}}"
#define TENSOR(sizes)                                                                      \
    "{\"dtype\": 7, \"sizes\": [" sizes "], \"device\": {\"type\": \"cpu\"}, \"strides\": [" sizes \
    "]}"

#define PT2_PROGRAM                                                                        \
    "{\"graph_module\": {\"graph\": {\"inputs\": [{\"as_tensor\": {\"name\": \"w\"}}, "    \
    "{\"as_tensor\": {\"name\": \"x\"}}, {\"as_sym_int\": {\"as_name\": \"n\"}}], "        \
    "\"outputs\": [{\"as_tensor\": {\"name\": \"x\"}}], \"nodes\": [], \"tensor_values\": {" \
    "\"w\": " TENSOR(SYMBOL("s1", "{\"as_int\": 4}")) ", "                                 \
    "\"x\": " TENSOR(SYMBOL("u0", "null") ", {\"as_int\": 4}, "                            \
                  SYMBOL("s1", "{\"as_int\": 4}") ", " SYMBOL("s1", "{\"as_int\": 4}")) "}, " \
    "\"sym_int_values\": {\"n\": " SYMBOL("s2", "{\"as_int\": 9}") "}}, "                  \
    "\"signature\": {\"input_specs\": ["                                                   \
    "{\"parameter\": {\"arg\": {\"name\": \"w\"}, \"parameter_name\": \"w\"}}, "           \
    "{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}, "                    \
    "{\"user_input\": {\"arg\": {\"as_sym_int\": {\"as_name\": \"n\"}}}}], "               \
    "\"output_specs\": [{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}]}}, " \
    "\"range_constraints\": {\"s1\": {\"min_val\": 2, \"max_val\": null}, "                \
    "\"zuf3\": {\"min_val\": null, \"max_val\": 7}}, \"torch_version\": \"2.13.0\"}"

#define PT2_WEIGHTS                                                                        \
    "{\"config\": {\"w\": {\"path_name\": \"weight_0\", \"is_param\": true, \"use_pickle\": " \
    "false, \"tensor_meta\": {\"dtype\": 7, \"sizes\": [{\"as_int\": 2}], \"requires_grad\": " \
    "true, \"device\": {\"type\": \"cpu\"}, \"strides\": [{\"as_int\": 1}], "              \
    "\"storage_offset\": {\"as_int\": 0}}}}}"
/* clang-format on */

/* Makes it and writes it to a file; `program` may be something else. The path is temp_path()'s. */
static inline const char *make_pt2(struct zip_make *make, const char *program, const char *weights)
{
    const char *path = temp_path("made.pt2");
    make->descriptor = true;
    make_member(make, STR("m/data/weights/weight_0"), STR("abcdefgh"), false);
    make_member(make, STR("m/data/weights/model_weights_config.json"), str_of(weights), true);
    make_member(make, STR("m/models/model.json"), str_of(program), false);
    make_member(make, STR("m/archive_format"), STR("pt2"), false);
    put_file(path, make_finish(make, ""));
    return path;
}

#endif
