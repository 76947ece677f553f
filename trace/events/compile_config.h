/* The settings of Dynamo that decide which sizes of a compile become symbols, as
 * compilation_metrics records them (dynamo_config and compiler_config, torch 2.9 and later).
 * torch.compile(dynamic=True) sets assume_static_by_default to false, dynamic=False sets
 * automatic_dynamic_shapes to false (torch/_dynamo/eval_frame.py). */
#ifndef SYMTAPE_TRACE_EVENTS_COMPILE_CONFIG_H
#define SYMTAPE_TRACE_EVENTS_COMPILE_CONFIG_H

#include "trace/open.h"

enum config_flag { CONFIG_UNKNOWN, CONFIG_OFF, CONFIG_ON };

struct compile_config {
    enum config_flag assume_static_by_default, automatic_dynamic_shapes;
    enum config_flag specialize_int, specialize_float;
    struct str dynamic_sources, unbacked_sources; /* patterns of sources; "" */
};

/* Reads them for an attempt. All are unknown where the compile has no such record. Texts belong to
 * `arena`. Returns false with err set when memory ran out or the tape could not be read. */
bool compile_config_read(struct trace *trace, uint32_t attempt, struct arena *arena,
                         struct compile_config *ret, struct err *err);

#endif
