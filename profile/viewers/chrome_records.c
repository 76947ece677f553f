#include "profile/viewers/chrome_records.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/model/format.h"

enum { MAX_FRAMES = 20 }; /* of a guard's stack, the innermost ones */

void chrome_put_us(struct json_writer *w, const char *key, int64_t ns)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%lld.%03d", (long long)(ns / 1000), (int)(ns % 1000));
    json_put_raw(w, key, (struct str){ text, (size_t)n });
}

/* ---- Clocks ---- */

static int64_t ns_since_first(const struct trace *trace, const struct record_clock *clock,
                              uint32_t record)
{
    return record_us_between(trace, clock->first_record, record) * 1000;
}

static void read_event(const struct build_input *in, const struct chromium_event *event,
                       struct record_clock *clocks)
{
    uint32_t recording = in->recording_of[in->trace->records[event->record].recording];
    int64_t start;
    if (recording == PROFILE_NONE || !event->timed ||
        __builtin_sub_overflow(
            event->time_ns, ns_since_first(in->trace, &clocks[recording], event->record), &start))
        return;
    struct record_clock *clock = &clocks[recording];
    if (!clock->known || start > clock->start_ns)
        clock->start_ns = start;
    clock->known = true;
}

struct record_clock *record_clocks(const struct profile *profile)
{
    struct record_clock *clocks = calloc((size_t)profile->n_recordings + 1, sizeof *clocks);
    const struct build_input *inputs = profile_inputs(profile);
    for (uint32_t i = 0; clocks && i < profile->n_recordings; i++) {
        const struct profile_recording *r = &profile->recordings[i];
        clocks[i].first_record = profile->traces[r->input]->recordings[r->recording].first_record;
    }
    for (uint32_t i = 0; clocks && i < profile->n_traces; i++)
        for (uint32_t k = 0; k < inputs[i].events->n; k++)
            read_event(&inputs[i], &inputs[i].events->events[k], clocks);
    return clocks;
}

/* ---- Records in the order of their lists ---- */

enum counter { COUNT_GUARDS, COUNT_SYMBOLS, COUNT_SPECIALIZATIONS, COUNT_GRAPHS, COUNTERS };

static const char *const counter_names[COUNTERS] = { "guards", "symbols", "specializations",
                                                     "graphs" };

/* What has a place on the time axis: record k of a list, or none. */
static uint32_t listed_record(const struct build_input *in, enum counter counter, uint32_t k)
{
    switch (counter) {
    case COUNT_GUARDS:
        return in->guards->guards[k].kind == GUARD_EVAL ? in->guards->guards[k].record : TRACE_NONE;
    case COUNT_SYMBOLS: return in->symbols->symbols[k].record;
    case COUNT_SPECIALIZATIONS: return in->symbols->specializations[k].record;
    default: return in->graphs->refs[k].record;
    }
}

static uint32_t list_length(const struct build_input *in, enum counter counter)
{
    const uint32_t lengths[COUNTERS] = { in->guards->n, in->symbols->n_symbols,
                                         in->symbols->n_specializations, in->graphs->n };
    return lengths[counter];
}

/* A record on the time axis. */
struct placed {
    const struct build_input *in;
    enum counter counter;
    uint32_t k, record; /* of the counter's list */
    uint32_t recording; /* of the profile */
    int64_t ns;         /* since 1970 */
};

static bool place_record(const struct profile *profile, const struct record_clock *clocks,
                         struct placed *p)
{
    const struct profile_build *b = (const struct profile_build *)profile;
    p->record = listed_record(p->in, p->counter, p->k);
    if (p->record == TRACE_NONE || !build_takes(b, p->in, p->record))
        return false;
    p->recording = p->in->recording_of[p->in->trace->records[p->record].recording];
    const struct record_clock *clock = &clocks[p->recording];
    return clock->known &&
           !__builtin_add_overflow(clock->start_ns, ns_since_first(p->in->trace, clock, p->record),
                                   &p->ns);
}

/* Calls `visit` for each record that has a place. */
static void each_placed(const struct profile *profile, const struct record_clock *clocks,
                        void (*visit)(void *user, const struct placed *placed), void *user)
{
    for (uint32_t i = 0; i < profile->n_traces; i++)
        for (enum counter c = 0; c < COUNTERS; c++) {
            struct placed p = { .in = &profile_inputs(profile)[i], .counter = c };
            for (; p.k < list_length(p.in, c); p.k++)
                if (place_record(profile, clocks, &p))
                    visit(user, &p);
        }
}

static void take_earliest(void *user, const struct placed *placed)
{
    int64_t *least = user;
    *least = placed->ns < *least ? placed->ns : *least;
}

int64_t chrome_earliest_record(const struct profile *profile, const struct record_clock *clocks,
                               int64_t least)
{
    each_placed(profile, clocks, take_earliest, &least);
    return least;
}

/* ---- Events ---- */

struct record_writer {
    const struct profile *profile;
    struct json_writer *w;
    int64_t base_ns;
    uint64_t thread;
    uint64_t *counts; /* by recording, then counter */
};

static void put_stack(const struct trace *trace, uint32_t recording, stack_id stack,
                      struct json_writer *w)
{
    struct buf text = BUF_INIT;
    json_open_array(w, "stack");
    for (int i = 0; stack != 0 && i < MAX_FRAMES; i++, stack = stack_parent(trace, stack)) {
        struct frame frame = stack_frame(trace, recording, stack);
        buf_clear(&text);
        buf_put(&text, frame.function);
        buf_puts(&text, " ");
        format_place(&text, frame.file, frame.line);
        json_put_str(w, NULL, buf_str(&text));
    }
    json_close(w);
    w->out->failed |= text.failed;
    buf_release(&text);
}

static void put_guard(const struct record_writer *r, const struct placed *p)
{
    const struct guard *guard = &p->in->guards->guards[p->k];
    const struct trace *trace = p->in->trace;
    uint32_t compile = build_compile(p->in, guard->attempt);
    json_open_object(r->w, NULL);
    json_put_str(r->w, "name", guard->expr);
    json_put_cstr(r->w, "cat", "guards");
    json_put_cstr(r->w, "ph", "i");
    json_put_cstr(r->w, "s", "t");
    chrome_put_us(r->w, "ts", p->ns - r->base_ns);
    json_put_u64(r->w, "pid", p->recording);
    json_put_u64(r->w, "tid", r->thread + p->recording);
    json_open_object(r->w, "args");
    if (compile != PROFILE_NONE)
        json_put_str(r->w, "compile_id", r->profile->compiles[compile].id);
    if (guard->attempt != TRACE_NONE)
        json_put_u64(r->w, "attempt", trace->attempts[guard->attempt].number);
    json_put_cstr(r->w, "asked_by", guard_class_name(guard->asked_by));
    put_stack(trace, trace->records[p->record].recording, guard->user_stack, r->w);
    json_close(r->w);
    json_close(r->w);
}

static void put_counter(const struct record_writer *r, const struct placed *p)
{
    const char *name = counter_names[p->counter];
    json_open_object(r->w, NULL);
    json_put_cstr(r->w, "name", name);
    json_put_cstr(r->w, "ph", "C");
    chrome_put_us(r->w, "ts", p->ns - r->base_ns);
    json_put_u64(r->w, "pid", p->recording);
    json_put_u64(r->w, "tid", 0);
    json_open_object(r->w, "args");
    json_put_u64(r->w, name, ++r->counts[(size_t)p->recording * COUNTERS + p->counter]);
    json_close(r->w);
    json_close(r->w);
}

static void put_placed(void *user, const struct placed *placed)
{
    const struct record_writer *r = user;
    if (placed->counter == COUNT_GUARDS)
        put_guard(r, placed);
    put_counter(r, placed);
}

void chrome_put_records(const struct profile *profile, const struct record_clock *clocks,
                        int64_t base_ns, uint64_t thread, struct json_writer *w)
{
    struct record_writer r = {
        .profile = profile,
        .w = w,
        .base_ns = base_ns,
        .thread = thread,
        .counts = calloc((size_t)profile->n_recordings + 1, COUNTERS * sizeof *r.counts),
    };
    w->out->failed |= !r.counts;
    if (r.counts)
        each_placed(profile, clocks, put_placed, &r);
    free(r.counts);
}
