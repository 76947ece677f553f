/* JSON report: --by. */
#include "profile/report/report_json.h"

static void put_frames(struct json_report *r, const struct profile_group *g)
{
    json_open_array(&r->w, "frames");
    for (uint32_t i = 0; i < g->n_frames; i++) {
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "file", g->frames[i].file);
        json_put_u64(&r->w, "line", g->frames[i].line);
        json_put_str(&r->w, "function", g->frames[i].function);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_group(struct json_report *r, enum profile_by by, const struct profile_group *g)
{
    json_open_object(&r->w, NULL);
    if (by == PROFILE_OP || by == PROFILE_MODULE)
        json_put_str(&r->w, "name", g->name);
    else
        put_frames(r, g);
    json_put_u64(&r->w, "dynamo_calls", g->dynamo_calls);
    json_put_u64(&r->w, "aten_calls", g->aten_calls);
    json_put_u64(&r->w, "guards", g->guards);
    if (by == PROFILE_MODULE) {
        json_put_u64(&r->w, "total_dynamo_calls", g->total_dynamo_calls);
        json_put_u64(&r->w, "total_aten_calls", g->total_aten_calls);
        json_put_u64(&r->w, "total_guards", g->total_guards);
    }
    json_put_u64(&r->w, "real_dispatches", g->real_dispatches);
    json_put_u64(&r->w, "dispatches", g->dispatches);
    json_put_u64(&r->w, "exprs", g->exprs);
    json_put_u64(&r->w, "symbolic_tensors", g->symbolic_tensors);
    json_put_u64(&r->w, "saved_bytes", g->saved_bytes);
    json_put_i64(&r->w, "self_ns", g->self_ns);
    json_put_i64(&r->w, "estimated_ns", g->estimated_ns);
    json_close(&r->w);
}

void json_groups(struct json_report *r)
{
    json_open_object(&r->w, "by");
    for (int by = 0; by < PROFILE_BYS; by++) {
        const struct profile_groups *groups = &r->p->groups[by];
        if (!groups->asked)
            continue;
        json_open_array(&r->w, profile_by_name((enum profile_by)by));
        for (uint32_t i = 0; i < report_shown(r->options, groups->n_rows); i++)
            put_group(r, (enum profile_by)by, &groups->rows[i]);
        json_close(&r->w);
    }
    json_close(&r->w);
}
