#include "profile/model/build.h"
#include "profile/page/page_parts.h"
#include "trace/kernels/kernels.h"

static void put_ns(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns < 0)
        json_put_null(w, key);
    else
        json_put_i64(w, key, ns);
}

static void line_members(const struct kernel_line *line, struct json_writer *w)
{
    json_put_str(w, "file", line->file);
    json_put_u64(w, "line", line->line);
    json_put_str(w, "function", line->function);
    json_put_str(w, "code", line->code);
}

static void uses_json(const struct kernel_list *list, const struct kernel *kernel,
                      struct json_writer *w)
{
    json_open_array(w, "lines");
    for (uint32_t i = 0; i < kernel->n_uses; i++) {
        json_open_object(w, NULL);
        line_members(&list->lines[kernel->uses[i].line], w);
        json_put_u64(w, "nodes", kernel->uses[i].n_nodes);
        json_close(w);
    }
    json_close(w);
}

static void kernel_json(const struct kernel_list *list, const struct kernel *kernel,
                        struct json_writer *w)
{
    json_put_str(w, "name", kernel->name);
    json_put_cstr(w, "kind", kernel_kind_name(kernel->kind));
    json_put_u64(w, "calls", kernel->n_calls);
    json_put_u64(w, "nodes", kernel->n_nodes);
    json_put_str_or_null(w, "operators", kernel->ops);
    put_ns(w, "compile_ns", kernel->compile_ns);
    put_ns(w, "autotune_ns", kernel->autotune_ns);
    json_put_u64(w, "configurations", kernel->n_configs);
    json_put_str_or_null(w, "tuning", kernel->tuning);
    json_put_cstr(w, "origin", kernel_origin_name(kernel->origin));
    uses_json(list, kernel, w);
}

/* Which program of Inductor a kernel belongs to. */
static void program_json(const struct profile *profile, const struct build_input *in,
                         const struct kernel_graph *graph, struct json_writer *w)
{
    uint32_t compile = build_compile(in, graph->attempt);
    uint32_t recording = in->recording_of[in->trace->records[graph->record].recording];
    bool attempted = graph->attempt != TRACE_NONE;
    json_put_str_or_null(w, "recording",
                         recording == PROFILE_NONE ? STR("") : profile->recordings[recording].name);
    json_put_str_or_null(w, "compile",
                         compile == PROFILE_NONE ? STR("") : profile->compiles[compile].id);
    json_put_u64(w, "attempt", attempted ? in->trace->attempts[graph->attempt].number : 0);
    json_put_cstr(w, "program", graph->backward ? "backward" : "forward");
}

static bool trace_kernels_json(const struct profile *profile, const struct build_input *in,
                               struct json_writer *w, struct err *err)
{
    const struct profile_build *build = (const struct profile_build *)profile;
    struct kernel_list *list = kernels_read(in->trace, in->events, err);
    for (uint32_t i = 0; list && i < list->n_graphs; i++) {
        const struct kernel_graph *graph = &list->graphs[i];
        bool taken = build_takes(build, in, graph->record);
        for (uint32_t k = graph->first; taken && k < graph->first + graph->n; k++) {
            json_open_object(w, NULL);
            program_json(profile, in, graph, w);
            kernel_json(list, &list->kernels[k], w);
            json_close(w);
        }
    }
    bool ok = list != NULL;
    kernels_free(list);
    return ok;
}

bool page_kernels_json(const struct profile *profile, struct json_writer *w, struct err *err)
{
    bool ok = true;
    json_open_array(w, "kernels");
    for (uint32_t i = 0; ok && i < profile->n_traces; i++)
        ok = trace_kernels_json(profile, &profile_inputs(profile)[i], w, err);
    json_close(w);
    return ok;
}
