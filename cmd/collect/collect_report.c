#include "cmd/collect/collect.h"

static void put_json(struct collect *c, const char *output, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_close(&c->failures);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_COLLECT);
    json_put_cstr(&w, "output", output);
    json_put_u64(&w, "tapes", c->n_present + c->n_added);
    json_put_u64(&w, "added", c->n_added);
    json_put_u64(&w, "given", c->n_given);
    json_put_u64(&w, "passed_over", c->n_passed_over);
    json_put_raw(&w, "failed", buf_str(&c->failures_json));
    json_close(&w);
    buf_putc(out, '\n');
    out->failed = out->failed || c->failures_json.failed;
}

static void put_text(const struct collect *c, const char *output, struct buf *out)
{
    uint64_t tapes = c->n_present + c->n_added;
    buf_printf(out, "%s: %llu %s, %llu of them new", output, (unsigned long long)tapes,
               tapes == 1 ? "tape" : "tapes", (unsigned long long)c->n_added);
    if (c->n_failed)
        buf_printf(out, "; %llu could not be read", (unsigned long long)c->n_failed);
    if (c->n_passed_over)
        buf_printf(out, "; %llu %s no record of TORCH_TRACE", (unsigned long long)c->n_passed_over,
                   c->n_passed_over == 1 ? "log has" : "logs have");
    buf_putc(out, '\n');
}

int collect_report(struct collect *c, const char *output, bool json)
{
    struct buf text = BUF_INIT;
    if (json)
        put_json(c, output, &text);
    else
        put_text(c, output, &text);
    int code = out_buf(c->cmd->out, &text);
    buf_release(&text);
    return code == EXIT_DONE ? c->code : code;
}
