#include "profile/advice/advice_report.h"
#include "profile/advice/remedy_plan.h"
#include "profile/report/diagnosis_report.h"
#include "trace/base/text/json_write.h"

static void put_counts(struct json_writer *w, const char *key, const struct advice_counts *counts)
{
    json_open_object(w, key);
    json_put_u64(w, "compiles", counts->compiles);
    json_put_u64(w, "attempts", counts->attempts);
    json_put_u64(w, "breaks", counts->breaks);
    json_put_u64(w, "failures", counts->failures);
    json_put_u64(w, "eager", counts->eager);
    json_put_u64(w, "guards", counts->guards);
    if (counts->dispatches_known)
        json_put_u64(w, "dispatches", counts->dispatches);
    else
        json_put_null(w, "dispatches");
    json_put_double(w, "seconds", counts->seconds);
    json_close(w);
}

static void put_run(struct json_writer *w, const struct plan_run_time *run)
{
    if (!run->calls) {
        json_put_null(w, "run");
        return;
    }
    json_open_object(w, "run");
    json_put_u64(w, "calls", run->calls);
    json_put_double(w, "seconds_before", run->before);
    json_put_double(w, "seconds_after", run->after);
    json_close(w);
}

static void put_remedy(struct json_writer *w, const struct advice *advice,
                       const struct advice_item *item)
{
    const struct finding *f = &advice->diagnosis->findings[item->finding];
    const struct remedy *remedy = &f->remedies[item->remedy];
    json_open_object(w, NULL);
    json_put_u64(w, "finding", item->finding);
    json_put_cstr(w, "kind", remedy_kind_name(remedy->kind));
    json_put_str(w, "text", remedy->text);
    json_put_str_or_null(w, "statement", remedy_statement(remedy->text));
    json_put_str(w, "cause", f->cause);
    json_put_cstr(w, "verdict", advice_verdict_name(item->verdict));
    json_put_bool(w, "proved", item->verdict == ADVICE_PROVED);
    json_put_cstr(w, "why", item->why);
    const struct remedy_proof saves = advice_saves(&advice->recorded, &item->after);
    report_saves_json(item->has_counts ? &saves : NULL, w);
    put_run(w, &item->run);
    json_close(w);
}

static void put_together(struct json_writer *w, const struct advice *advice,
                         const struct program_patch *patch)
{
    json_open_array(w, "together");
    for (uint32_t i = 0; i < advice->n_together; i++) {
        const struct advice_step *step = &advice->together[i];
        json_open_object(w, NULL);
        json_put_u64(w, "remedy", step->item);
        put_counts(w, "after", &step->after);
        put_run(w, &step->run);
        if (patch)
            json_put_bool(w, "applied", patch->applied[i]);
        json_close(w);
    }
    json_close(w);
}

void advice_json(const struct advice *advice, const struct program_patch *patch, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_ADVISE);
    json_put_bool(&w, "calls", advice->has_calls);
    put_counts(&w, "recorded", &advice->recorded);
    put_together(&w, advice, patch);
    json_open_array(&w, "remedies");
    for (uint32_t i = 0; i < advice->n_items; i++)
        put_remedy(&w, advice, &advice->items[i]);
    json_close(&w);
    if (patch)
        json_put_str(&w, "patch", buf_str(&patch->diff));
    json_close(&w);
    buf_putc(out, '\n');
}
