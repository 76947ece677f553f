/* The rows of one input: of a file that is read and profiled, or of another corpus. */
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/collect/collect.h"

static struct trace *open_input(struct collect *c, const struct collect_input *input,
                                struct err *err)
{
    const struct trace_options options = { .strict = c->strict,
                                           .meter = &c->cmd->out->limit->meter };
    return input->piped ? trace_open_bytes(input->path, buf_str(&c->piped), &options, err)
                        : trace_open(input->path, &options, err);
}

/* What the sink failed with is not the input's fault, unless memory ran
 * out, which the input may have asked for. */
static enum collect_result write_rows(struct collect *c, struct collect_input *input,
                                      const struct profile *profile,
                                      const struct collect_target *target, struct err *err)
{
    struct table_sink *sink = target->begin(target->user, &input->tape, err);
    if (!sink)
        return COLLECT_STOPPED;
    bool good = tables_write(profile, sink, err);
    if (sink->end(sink, good, err) && good)
        return COLLECT_ADDED;
    if (err->kind == ERR_ENV && !err->no_memory)
        return COLLECT_STOPPED;
    err_at(err, "%s", input->path);
    collect_fail(c, input, err);
    return COLLECT_HALF;
}

static enum collect_result read_input(struct collect *c, struct collect_input *input,
                                      struct trace *trace, const struct collect_target *target,
                                      struct err *err)
{
    struct trace *traces[] = { trace };
    const struct profile_options what = { .jobs = 1 };
    uint64_t damaged = trace_damage(trace, NULL, 0);
    struct profile *profile = NULL;
    if (!tape_has_records(trace))
        err_set(err, ERR_INPUT, "%s: it contains no record of a TORCH_TRACE log", input->path);
    else if (!(profile = profile_build(traces, 1, &what, err)))
        err_at(err, "%s", input->path);
    if (!profile) {
        collect_fail(c, input, err);
        return COLLECT_SKIPPED;
    }
    if (damaged)
        out_note(c->cmd->out, "%s: %llu %s; the rest was read", input->path,
                 (unsigned long long)damaged,
                 damaged == 1 ? "place is damaged" : "places are damaged");
    enum collect_result result = write_rows(c, input, profile, target, err);
    profile_free(profile);
    return result;
}

static enum collect_result copy_rows(struct collect *c, struct collect_input *input,
                                     const struct collect_target *target, struct err *err)
{
    struct collect_corpus *corpus = &c->corpora.v[input->corpus];
    struct corpus_reader *reader = collect_reader(c, input->corpus, err);
    struct table_sink *sink = reader ? target->begin(target->user, &input->tape, err) : NULL;
    if (!sink)
        return COLLECT_STOPPED;
    bool good = corpus_reader_copy(reader, input->number, sink, err);
    if (!good && err->kind == ERR_INPUT)
        err_at(err, "%s", corpus->path);
    return sink->end(sink, good, err) && good ? COLLECT_ADDED : COLLECT_STOPPED;
}

enum collect_result collect_rows(struct collect *c, struct collect_input *input,
                                 const struct collect_target *target, struct err *err)
{
    memory_limit_restart(c->cmd->out->limit, c->kept + c->piped.n);
    if (!input->path)
        return copy_rows(c, input, target, err);
    struct trace *trace = open_input(c, input, err);
    if (!trace) {
        collect_fail(c, input, err);
        return COLLECT_SKIPPED;
    }
    enum collect_result result = read_input(c, input, trace, target, err);
    trace_close(trace);
    return result;
}
