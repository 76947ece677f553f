#include "profile/report/section.h"

static bool is_grouped(const struct profile *p)
{
    for (int by = 0; by < PROFILE_BYS; by++)
        if (p->groups[by].asked)
            return true;
    return false;
}

void report_text(const struct profile *profile, const struct report_options *options,
                 struct buf *out)
{
    static const struct section *const SECTIONS[] = {
        &section_summary,   &section_unfinished,    &section_recordings,   &section_differences,
        &section_compiles,  &section_restarts,      &section_phase_tree,   &section_phases,
        &section_failures,  &section_breaks,        &section_recompiles,   &section_lines,
        &section_guards,    &section_guard_symbols, &section_levels,       &section_expansion,
        &section_costs,     &section_allocations,   &section_counters,     &section_spots,
        &section_size_uses, &section_operators,     &section_phase_memory, &section_graph_memory,
        &section_saved,     &section_caches,
    };
    struct report r = { .p = profile, .options = options, .out = out };
    if (profile->options.cost_model) {
        section_text(&r, &section_cost_model);
        return;
    }
    if (is_grouped(profile)) {
        section_text(&r, &section_groups);
        return;
    }
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        section_text(&r, SECTIONS[i]);
}
