/* Sections: costs of operators, real and replayed. Without a deep recording, or without a replay,
 * JSON has null for those fields. */
#include "profile/model/format.h"
#include "profile/report/section.h"

/* ---- Operators ---- */

enum { REAL, REPLAYED }; /* the tables of text, of which one is shown */

/* Writes counts by the number of dispatches around them, without the zeros at the end. */
static void json_depths(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const uint64_t *by_depth = at;
    int n = PROFILE_DEPTHS;
    (void)context;
    while (n > 0 && by_depth[n - 1] == 0)
        n--;
    json_open_array(w, key);
    for (int i = 0; i < n; i++)
        json_put_u64(w, NULL, by_depth[i]);
    json_close(w);
}

static void cell_self_share(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    format_share(out, *(const int64_t *)at, p->costs.self_ns);
}

static const struct field REAL_COST[] = {
    { "fake_mode", MEMBER(struct operator_cost, by_mode[DEEP_FAKE_TENSOR_MODE]),
      TEXT(3, "dispatches", COUNT, 0) },
    { "fake_tensor", MEMBER(struct operator_cost, by_mode[DEEP_FAKE_TENSOR]),
      TEXT(4, "FakeTensor", COUNT, 7) },
    { "proxy", MEMBER(struct operator_cost, by_mode[DEEP_PROXY_MODE]), TEXT(5, "proxy", COUNT, 6) },
    { "by_depth", JSON(json_depths, struct operator_cost, by_depth) },
    { "cache_hits", MEMBER(struct operator_cost, hits), TEXT(7, "cache hits", COUNT, 8) },
    { "cache_misses", MEMBER(struct operator_cost, misses), TEXT(8, "misses", COUNT, 5) },
    { "cache_bypasses", MEMBER(struct operator_cost, bypasses), TEXT(9, "bypassed", COUNT, 9) },
    { "fast", MEMBER(struct operator_cost, fast) },
    { "slow", MEMBER(struct operator_cost, slow) },
    { "raised", MEMBER(struct operator_cost, raised) },
    { "ns", MEMBER(struct operator_cost, ns) },
    { "self_ns", MEMBER(struct operator_cost, self_ns), TEXT(1, "self time", SPENT, 0) },
    { NULL, CELL(cell_self_share, struct operator_cost, self_ns), TEXT(2, "share", RATIO, 3) },
};
static const struct fields REAL_FIELDS = FIELDS_OF(REAL_COST);

static const struct field REPLAYED_COST[] = {
    { "calls", MEMBER(struct operator_cost, calls), IN_TABLE(REPLAYED, 3, "calls", COUNT, 4) },
    { "dispatches", MEMBER(struct operator_cost, dispatches),
      IN_TABLE(REPLAYED, 1, "dispatches", COUNT, 0) },
    { "by_depth", JSON(json_depths, struct operator_cost, replayed_by_depth) },
    { "guards", MEMBER(struct operator_cost, guards), TEXT(10, "guards", COUNT, 1),
      IN_TABLE(REPLAYED, 4, "guards", COUNT, 0) },
    { "exprs", MEMBER(struct operator_cost, exprs), TEXT(11, "exprs", COUNT, 4),
      IN_TABLE(REPLAYED, 5, "exprs", COUNT, 0) },
    { "evaluations", MEMBER(struct operator_cost, evaluations),
      IN_TABLE(REPLAYED, 6, "evaluations", COUNT, 3) },
    { "symbolic_tensors", MEMBER(struct operator_cost, symbolic_tensors),
      IN_TABLE(REPLAYED, 7, "symbolic tensors", COUNT, 1) },
};
static const struct fields REPLAYED_FIELDS = FIELDS_OF(REPLAYED_COST);

REACH_IN(if_deep, struct profile, void, in->costs.deep ? row : NULL)
REACH_IN(if_replayed, struct profile, void, in->costs.replayed ? row : NULL)
GETTER(get_deepest, void, datum_count(operator_cost_depth(row)))

static const struct field COST[] = {
    { "op", GET(get_profile_name, struct operator_cost, op), TEXT(12, "operator", TEXT, 0),
      IN_TABLE(REPLAYED, 8, "operator", TEXT, 0) },
    { "deepest", .get = get_deepest, TEXT(6, "deepest", COUNT, 2),
      IN_TABLE(REPLAYED, 2, "deepest", COUNT, 2) },
    { "real", .group = &REAL_FIELDS, .reach = if_deep },
    { "replayed", .group = &REPLAYED_FIELDS, .reach = if_replayed },
};
static const struct fields COST_FIELDS = FIELDS_OF(COST);

static void text_costs(struct report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    struct rows rows = ROWS(costs->operators, costs->n_operators);
    if (costs->self_ns == 0)
        text_rows(r,
                  "Costs of operators in one replay of the graphs (record --deep has the real "
                  "ones)",
                  &COST_FIELDS, REPLAYED, &rows, r->options->limit);
    else
        text_rows(r,
                  costs->replayed
                      ? "Costs of operators, as recorded (guards and exprs: of one replay)"
                      : "Costs of operators, as recorded",
                  &COST_FIELDS, REAL, &rows, r->options->limit);
}

static void json_costs(struct report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    struct rows rows = ROWS(costs->operators, costs->n_operators);
    json_put_bool(&r->w, "deep", costs->deep);
    json_put_bool(&r->w, "replayed", costs->replayed);
    fields_json_rows(&r->w, "operator_costs", &COST_FIELDS, r->p, &rows, r->options->limit);
}

const struct section section_costs = { .text = text_costs, .json = json_costs };

/* ---- Counters ---- */

GETTER(get_pytorch, struct cost_counter, row->is_real ? datum_count(row->pytorch) : datum_null())
GETTER(get_recorded, struct cost_counter, row->is_real ? datum_count(row->recorded) : datum_null())
GETTER_IN(get_estimated, void, void, if_replayed(in, row) ? get_u64(in, row) : datum_null())
GETTER(get_counter_ratio, struct cost_counter,
       datum_number(row->pytorch > 0 ? (double)row->replayed / (double)row->pytorch : 0))

static const struct field COUNTER[] = {
    { "label", MEMBER(struct cost_counter, label), TEXT(5, "counter", TEXT, 0) },
    { "pytorch", .get = get_pytorch, TEXT(1, "PyTorch", COUNT, 0) },
    { "recorded", .get = get_recorded, TEXT(2, "recorded", COUNT, 1) },
    { "estimated", GET(get_estimated, struct cost_counter, replayed), TEXT(3, "replay", COUNT, 0) },
    { NULL, .get = get_counter_ratio, TEXT(4, "ratio", RATIO, 0) },
};
static const struct fields COUNTER_FIELDS = FIELDS_OF(COUNTER);

const struct section section_counters = {
    .key = "counters",
    .title = "PyTorch's counters (replay: estimated for the graphs that were recorded)",
    .fields = &COUNTER_FIELDS,
    PROFILE_ROWS(costs.counters, costs.n_counters),
    .whole = true,
};
