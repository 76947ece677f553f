/* Reads result files of benchmarks into a point of a dashboard.
 *
 * A file is CSV with a header, or JSON lines: an object a line. Columns and members have the same
 * names (result_columns.def), PyTorch's among them; a row needs a name. What the file's name says
 * of the configuration (config_name.h) is replaced by columns of the row, and completed by the
 * point's defaults. A column that is not known and has one value in the whole file is a fact of the
 * point: a commit, a version, a setting.
 *
 * As in PyTorch's summarize_perf.py, a row with a speed-up of 0 did not run, and one in which a
 * number of PyTorch's is missing has no values. */
#ifndef SYMTAPE_PROFILE_DASH_RESULT_FILE_H
#define SYMTAPE_PROFILE_DASH_RESULT_FILE_H

#include "profile/dash/dash.h"

/* Adds the rows of a file. `peak_tflops` is the device's peak, for MFU from FLOPs and latencies; 0:
 * not known. Returns false with err set: ERR_INPUT with the line, or out of memory. */
bool result_file_read(struct dash *dash, struct dash_point *point, struct str path, struct str text,
                      double peak_tflops, struct err *err);
/* Reads a point's own facts, one JSON object: suite, compiler, dtype, mode and device are its
 * defaults, every other text or number is a fact. */
bool point_facts_read(struct dash *dash, struct dash_point *point, struct str text,
                      struct err *err);
/* Reads a number as pandas does. Returns false if it is none; *ret is NAN for what pandas takes for
 * a missing value, and for infinities. */
bool result_number(struct str text, double *ret);

#endif
