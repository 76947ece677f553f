#include "profile/report/section.h"

void report_json(const struct profile *profile, const struct report_options *options,
                 struct buf *out)
{
    static const struct section *const SECTIONS[] = {
        &section_summary,       &section_recordings,
        &section_differences,   &section_compiles,
        &section_unfinished,    &section_phases,
        &section_phase_tree,    &section_phases_by_compile,
        &section_phase_parts,   &section_operators,
        &section_lines,         &section_guards,
        &section_guard_symbols, &section_restarts,
        &section_recompiles,    &section_breaks,
        &section_failures,      &section_caches,
        &section_costs,         &section_counters,
        &section_spots,         &section_size_uses,
        &section_phase_memory,  &section_graph_memory,
        &section_processes,     &section_groups,
        &section_cost_model,
    };
    struct report r = { profile, options, out, json_writer_of(out) };
    json_open_object(&r.w, NULL);
    json_put_cstr(&r.w, "schema", "symtape.profile/1");
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        section_json(&r, SECTIONS[i]);
    json_close(&r.w);
    buf_putc(out, '\n');
}
