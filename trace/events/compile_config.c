#include "trace/events/compile_config.h"

#include "trace/events/settings.h"

/* Returns the value of a setting as Python writes it; "" when it was not recorded. */
static struct str value_of(const struct setting_list *list, const char *module, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_is(list->settings[i].name, name) && str_is(list->settings[i].module, module))
            return list->settings[i].value;
    return STR("");
}

static enum config_flag flag_of(const struct setting_list *list, const char *name)
{
    struct str value = value_of(list, "torch._dynamo.config", name);
    return str_is(value, "True") ? CONFIG_ON : str_is(value, "False") ? CONFIG_OFF : CONFIG_UNKNOWN;
}

/* Copies a string without its quotes. */
static bool keep_pattern(const struct setting_list *list, const char *name, struct arena *arena,
                         struct str *ret)
{
    struct str value = value_of(list, "torch.compiler.config", name);
    bool text = value.n >= 2 && value.p[0] == '\'';
    *ret = text ? arena_copy(arena, (struct str){ value.p + 1, value.n - 2 }) : STR("");
    return ret->p != NULL;
}

static bool read_settings(const struct setting_list *list, struct arena *arena,
                          struct compile_config *ret)
{
    ret->assume_static_by_default = flag_of(list, "assume_static_by_default");
    ret->automatic_dynamic_shapes = flag_of(list, "automatic_dynamic_shapes");
    ret->specialize_int = flag_of(list, "specialize_int");
    ret->specialize_float = flag_of(list, "specialize_float");
    return keep_pattern(list, "dynamic_sources", arena, &ret->dynamic_sources) &&
           keep_pattern(list, "unbacked_sources", arena, &ret->unbacked_sources);
}

/* Returns the record of the compile's metrics, which belongs to its last attempt; or TRACE_NONE. */
static uint32_t find_metrics(const struct trace *trace, uint32_t attempt)
{
    uint32_t last = attempt;
    for (uint32_t next; (next = trace->attempts[last].next) != TRACE_NONE && next > last;)
        last = next;
    const struct attempt *a = &trace->attempts[last];
    for (uint32_t i = a->n_records; i-- > 0;)
        if (trace->records[a->records[i]].event == EVENT_COMPILATION_METRICS)
            return a->records[i];
    return TRACE_NONE;
}

bool compile_config_read(struct trace *trace, uint32_t attempt, struct arena *arena,
                         struct compile_config *ret, struct err *err)
{
    uint32_t record = find_metrics(trace, attempt);
    *ret = (struct compile_config){ .dynamic_sources = STR(""), .unbacked_sources = STR("") };
    if (record == TRACE_NONE)
        return true;
    struct setting_list *list = settings_of_record(trace, record, err);
    bool ok = list && (read_settings(list, arena, ret) || err_nomem(err));
    settings_free(list);
    return ok;
}
