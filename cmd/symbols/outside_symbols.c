#include "cmd/symbols/outside_symbols.h"

#include "profile/model/format.h"
#include "trace/events/symbols.h"

bool outside_symbols_put(struct trace *trace, struct buf *out, struct err *err)
{
    const struct symbol_table *table = trace_symbols(trace, err);
    uint64_t n = 0;
    for (uint32_t i = 0; table && i < table->n_symbols; i++)
        n += table->symbols[i].attempt == TRACE_NONE &&
             trace->recordings[table->symbols[i].recording].kind != RECORDING_PT2;
    if (!n)
        return table != NULL;
    buf_puts(out, "; ");
    format_plural(out, n, "symbol");
    buf_printf(out,
               " belong%s to no compile, because torch.export records no graph unless "
               "strict=True: name the .pt2 that torch.export.save() writes, or see symtape "
               "diagnose and symtape show --guards",
               n == 1 ? "s" : "");
    return !out->failed || err_nomem(err);
}
