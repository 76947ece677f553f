/* The configuration that the name of a result file says, as PyTorch names them:
 *
 *     COMPILER_SUITE_DTYPE_MODE_DEVICE_performance.csv      the nightly runs; also _accuracy
 *     CONFIG_SUITE_MODE.csv                                 benchmarks/dynamo/ci_expected_accuracy
 *     MODE_SUITE.csv                                        the reports of CI jobs
 *
 * Words are found wherever they stand, also between '-'. A mode, or a suite of PyTorch's, makes a
 * name one that says a configuration; all others say nothing. Words of neither kind belong to the
 * compiler (dynamic_inductor). */
#ifndef SYMTAPE_PROFILE_DASH_CONFIG_NAME_H
#define SYMTAPE_PROFILE_DASH_CONFIG_NAME_H

#include "profile/dash/dash.h"

/* Sets the texts of *ret that a name says (a base name, with or without endings), and leaves the
 * others. Returns false with err set when memory ran out. */
bool config_name_read(struct dash *dash, struct str name, struct dash_config *ret, struct err *err);
/* Returns the name of a model's file without its endings: "bert" of "runs/bert.log.zst". */
struct str config_name_stem(struct str path);

#endif
