/* The configuration of PyTorch while it compiled, as recorded.
 *
 * A log holds it in two places: compilation_metrics records have each configuration module as JSON
 * (dynamo_config, inductor_config ...; _get_dynamo_config_for_logging() and its kin in
 * torch/_dynamo/utils.py), as it was when the compile ended; and Inductor's artifact
 * fx_graph_runnable begins with assignments of the settings that torch.compile(mode=, options=) and
 * the program changed (save_graph_repro() in torch/_dynamo/repro/after_aot.py).
 *
 * Each setting is listed once for each recording and value, in the order of the records. Names and
 * values are Python's: "torch._inductor.config", "triton.cudagraphs", "True". */
#ifndef SYMTAPE_TRACE_EVENTS_SETTINGS_H
#define SYMTAPE_TRACE_EVENTS_SETTINGS_H

#include "trace/open.h"

struct setting {
    uint32_t record; /* the first that has this value */
    struct str module, name, value;
};

struct setting_list {
    const struct setting *settings;
    uint32_t n;
};

/* Reads the settings. Of a recording, at most 64 records whose configuration differs from that of
 * the record before are read. The caller frees the list, which is NULL with err set when memory ran
 * out or the tape could not be read. */
struct setting_list *settings_read(struct trace *trace, struct err *err);
/* Reads the settings of one record in the same way. */
struct setting_list *settings_of_record(struct trace *trace, uint32_t record, struct err *err);
void settings_free(struct setting_list *list); /* NULL is allowed */

#endif
