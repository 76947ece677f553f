#include "profile/calls/warm/warm_start.h"

#include "profile/calls/cache/key_components.h"
#include "profile/calls/warm/key_difference.h"

/* The most graphs of a code object that a key is compared with, those with the nearest numbers:
 * more would take the square of their count. */
enum { MOST_NEAR = 16 };

/* The most components that are compared in all, and how many bytes of a key take as long to read as
 * one comparison. */
enum { MOST_COMPARED = 20000000, BYTES_A_PART = 16 };

/* What a key has under a name. */
struct part_slot {
    uint32_t turn, hash;
    bool matched;
};

struct warm_builder {
    struct warm_start *ret;
    struct part_slot *slots; /* by text: the parts of the key that is compared at `turn` */
    uint32_t turn;
    uint64_t compared;           /* components, in all */
    uint32_t *by_key;            /* by text: the first graph of the cold start with that key */
    uint32_t *first, *of_series; /* the cold graphs of each series, by their numbers */
    bool *taken;                 /* by cold graph: a graph of the warm start is that one */
    struct intern groups;
    struct json doc;
    struct buf text, values[CHANGES_LISTED][2];
    struct err *err;
};

const char *warm_outcome_name(enum warm_outcome outcome)
{
    static const char *const NAMES[WARM_OUTCOMES] = {
        [WARM_AGAIN] = "compiled again",
        [WARM_NEW] = "new",
        [WARM_TRACED] = "traced again",
        [WARM_TAKEN] = "from the cache",
    };
    return NAMES[outcome];
}

const char *warm_cause_name(enum warm_cause cause)
{
    static const char *const NAMES[CAUSES] = {
        [CAUSE_KEY] = "key",         [CAUSE_ABSENT] = "absent", [CAUSE_GUARD] = "guard",
        [CAUSE_BYPASS] = "bypass",   [CAUSE_OFF] = "off",       [CAUSE_FIRST] = "first",
        [CAUSE_UNKNOWN] = "unknown",
    };
    return NAMES[cause];
}

/* ---- Which graph of the cold start it is ---- */

/* Counts work that is bounded in all. Returns whether it may be done. */
static bool spend(struct warm_builder *b, uint64_t n)
{
    if (b->compared > MOST_COMPARED || n > MOST_COMPARED - b->compared) {
        b->ret->partial = true;
        return false;
    }
    b->compared += n;
    return true;
}

/* Returns how many components two keys have, as far as count_differing() compares them. */
static uint64_t count_compared(const struct warm_builder *b, const struct start_graph *cold,
                               const struct start_graph *warm)
{
    const struct part_list *settings = b->ret->texts.settings.v;
    uint64_t n = (uint64_t)cold->parts.n + warm->parts.n + 1;
    if (cold->settings != warm->settings)
        n += (uint64_t)settings[cold->settings].n + settings[warm->settings].n;
    return n;
}

/* Returns how many names are new at this turn. */
static uint32_t fill_slots(struct warm_builder *b, struct part_list list)
{
    const struct key_part *parts = start_parts(&b->ret->texts, list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list.n; i++) {
        n += b->slots[parts[i].name].turn != b->turn;
        b->slots[parts[i].name] = (struct part_slot){ b->turn, parts[i].hash, false };
    }
    return n;
}

/* Counts the parts that differ from those of the slots, and those that match a name there. */
static void count_parts(struct warm_builder *b, struct part_list list, uint32_t *differ,
                        uint32_t *matched)
{
    const struct key_part *parts = start_parts(&b->ret->texts, list);
    for (uint32_t i = 0; i < list.n; i++) {
        struct part_slot *slot = &b->slots[parts[i].name];
        *differ += slot->turn != b->turn || slot->hash != parts[i].hash;
        *matched += slot->turn == b->turn && !slot->matched;
        slot->matched |= slot->turn == b->turn;
    }
}

/* Graphs that share their settings differ in their own parts alone. */
static uint32_t count_differing(struct warm_builder *b, const struct start_graph *cold,
                                const struct start_graph *warm)
{
    const struct start_texts *texts = &b->ret->texts;
    bool settings = cold->settings != warm->settings;
    uint32_t differ = 0, matched = 0;
    b->turn++;
    uint32_t n = fill_slots(b, cold->parts);
    if (settings)
        n += fill_slots(b, texts->settings.v[cold->settings]);
    count_parts(b, warm->parts, &differ, &matched);
    if (settings)
        count_parts(b, texts->settings.v[warm->settings], &differ, &matched);
    return differ + (n - matched);
}

/* Returns how far a cold graph is from one of the warm start; less is nearer. A key that is not
 * recorded, or not compared, leaves the number of the graph. */
static uint64_t distance(struct warm_builder *b, uint32_t cold, const struct start_graph *warm)
{
    const struct start_graph *graph = &b->ret->cold.graphs.v[cold];
    bool known = start_has_key(&b->ret->texts, graph) && start_has_key(&b->ret->texts, warm);
    uint64_t differ = INT32_MAX; /* the bit above it says that the graph is taken */
    if (known && spend(b, count_compared(b, graph, warm))) {
        uint32_t n = count_differing(b, graph, warm);
        differ = n < INT32_MAX ? n : INT32_MAX - 1;
    }
    uint32_t apart = graph->ordinal > warm->ordinal ? graph->ordinal - warm->ordinal
                                                    : warm->ordinal - graph->ordinal;
    return (uint64_t)b->taken[cold] << 63 | differ << 32 | apart;
}

static uint32_t find_nearest(struct warm_builder *b, const struct start_graph *warm)
{
    uint32_t from = b->first[warm->series], n = b->first[warm->series + 1] - from;
    uint32_t start = warm->ordinal > MOST_NEAR / 2 ? warm->ordinal - MOST_NEAR / 2 : 0;
    if (n <= MOST_NEAR)
        start = 0;
    else if (start > n - MOST_NEAR)
        start = n - MOST_NEAR;
    uint32_t ret = WARM_NONE;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = start; i < n && i < start + MOST_NEAR; i++) {
        uint32_t cold = b->of_series[from + i];
        uint64_t here = distance(b, cold, warm);
        if (here < best) {
            best = here;
            ret = cold;
        }
    }
    return ret;
}

static bool make_tables(struct warm_builder *b)
{
    const struct start *cold = &b->ret->cold;
    size_t n_texts = b->ret->texts.all.texts.n, n_series = b->ret->texts.series.texts.n;
    b->slots = calloc(n_texts + 1, sizeof *b->slots);
    b->by_key = malloc((n_texts + 1) * sizeof *b->by_key);
    b->first = calloc(n_series + 2, sizeof *b->first);
    b->of_series = calloc(cold->graphs.n + 1, sizeof *b->of_series);
    b->taken = calloc(cold->graphs.n + 1, sizeof *b->taken);
    if (!b->slots || !b->by_key || !b->first || !b->of_series || !b->taken)
        return err_nomem(b->err);
    memset(b->by_key, 0xff, (n_texts + 1) * sizeof *b->by_key); /* WARM_NONE */
    for (size_t i = cold->graphs.n; i-- > 0;)
        b->by_key[cold->graphs.v[i].key] = (uint32_t)i;
    for (size_t i = 0; i < cold->graphs.n; i++)
        b->first[cold->graphs.v[i].series + 1]++;
    for (size_t i = 0; i < n_series; i++)
        b->first[i + 1] += b->first[i];
    for (size_t i = 0; i < cold->graphs.n; i++) {
        const struct start_graph *graph = &cold->graphs.v[i];
        b->of_series[b->first[graph->series] + graph->ordinal] = (uint32_t)i;
    }
    return true;
}

/* Marks the cold graphs whose key the warm start has, on whichever rank. */
static bool mark_known(struct warm_builder *b)
{
    const struct warm_start *w = b->ret;
    bool *asked = calloc(w->texts.all.texts.n + 1, sizeof *asked);
    if (!asked)
        return err_nomem(b->err);
    for (size_t i = 0; i < w->warm.graphs.n; i++)
        asked[w->warm.graphs.v[i].key] = true;
    for (size_t i = 0; i < w->cold.graphs.n; i++) {
        uint32_t key = w->cold.graphs.v[i].key;
        b->taken[i] = asked[key] && intern_text(&w->texts.all, key).n;
    }
    free(asked);
    return true;
}

static bool is_compiled(const struct start_graph *graph)
{
    return graph->state != CACHE_HIT;
}

static uint32_t find_by_key(const struct warm_builder *b, const struct start_graph *warm)
{
    bool known = intern_text(&b->ret->texts.all, warm->key).n != 0;
    return known ? b->by_key[warm->key] : WARM_NONE;
}

static enum warm_cause cause_of(const struct warm_row *row, const struct start_graph *warm,
                                bool same_key)
{
    switch (warm->state) {
    case CACHE_BYPASS: return CAUSE_BYPASS;
    case CACHE_DISABLED: return CAUSE_OFF;
    default: break;
    }
    if (str_is(warm->detail, "guard_miss"))
        return CAUSE_GUARD;
    if (row->cold == WARM_NONE)
        return CAUSE_FIRST;
    return same_key ? CAUSE_ABSENT : row->n_differ ? CAUSE_KEY : CAUSE_UNKNOWN;
}

/* What AOTAutograd's cache did not have, although Inductor's had the graph. */
static enum warm_cause aot_cause_of(const struct warm_builder *b, const struct start_graph *warm,
                                    const struct start_graph *cold)
{
    bool same_key = cold && cold->has_aot && warm->has_aot && cold->aot_key == warm->aot_key &&
                    intern_text(&b->ret->texts.all, warm->aot_key).n;
    if (!warm->has_aot)
        return CAUSE_OFF;
    if (warm->aot == CACHE_BYPASS)
        return CAUSE_BYPASS;
    if (str_is(warm->aot_detail, "guard_miss"))
        return CAUSE_GUARD;
    return same_key ? CAUSE_ABSENT : CAUSE_UNKNOWN;
}

/* Without any answer of AOTAutograd's cache in a start, it was off there, unless it is a start of
 * PyTorch before it had one; a graph beside others with answers is a backward of several. */
static bool is_traced(const struct warm_start *w, const struct start_graph *graph)
{
    if (graph->has_aot)
        return graph->aot != CACHE_HIT;
    const uint32_t *cold = w->cold.counts[CACHE_AOTAUTOGRAD];
    const uint32_t *warm = w->warm.counts[CACHE_AOTAUTOGRAD];
    return cold[CACHE_HIT] + cold[CACHE_MISS] && !(warm[CACHE_HIT] + warm[CACHE_MISS]);
}

/* ---- Which components of the key differ ---- */

static bool add_change(struct warm_builder *b, struct warm_row *row, uint32_t name)
{
    struct key_change change = { .name = intern_text(&b->ret->texts.all, name) };
    if (row->n_changes == CHANGES_LISTED)
        return true;
    row->n_changes++;
    return vec_push(&b->ret->changes, change) || err_nomem(b->err);
}

/* Lists names of the parts that differ; the slots are those of count_differing(). */
static bool list_changes(struct warm_builder *b, struct warm_row *row, struct part_list cold,
                         struct part_list warm)
{
    const struct key_part *before = start_parts(&b->ret->texts, cold);
    const struct key_part *after = start_parts(&b->ret->texts, warm);
    for (uint32_t i = 0; i < warm.n; i++) {
        const struct part_slot *slot = &b->slots[after[i].name];
        if ((slot->turn != b->turn || slot->hash != after[i].hash) &&
            !add_change(b, row, after[i].name))
            return false;
    }
    for (uint32_t i = 0; i < cold.n; i++) {
        struct part_slot *slot = &b->slots[before[i].name];
        if (!slot->matched && !add_change(b, row, before[i].name))
            return false;
        slot->matched = true; /* a name that the key has twice is listed once */
    }
    return true;
}

/* Reads the values that the components of one key have under the names of a row's changes. */
static bool read_values(struct warm_builder *b, const struct warm_row *row, int side,
                        struct trace *trace, uint32_t record)
{
    struct str payload;
    struct err why = { 0 };
    struct key_component part;
    if (!trace_payload(trace, record, &payload, b->err))
        return !err_is_set(b->err);
    if (!json_parse(&b->doc, payload, &why))
        return why.kind == ERR_INPUT || (*b->err = why, false);
    json_id components = json_get(&b->doc, JSON_ROOT, STR("components"));
    for (json_id c = json_first(&b->doc, components); c != JSON_NONE; c = json_next(&b->doc, c)) {
        bool is_part = key_component_read(&b->doc, c, &b->text, &part);
        for (uint32_t i = 0; is_part && i < row->n_changes; i++)
            if (str_eq(b->ret->changes.v[row->first_change + i].name, part.name)) {
                buf_clear(&b->values[i][side]);
                buf_put(&b->values[i][side], part.value);
            }
    }
    return !b->text.failed || err_nomem(b->err);
}

static bool keep_narrowed(struct warm_builder *b, struct key_change *change, struct buf *values)
{
    struct str before = buf_str(&values[0]), after = buf_str(&values[1]);
    key_difference_narrow(&before, &after);
    change->before = arena_copy(&b->ret->arena, before);
    change->after = arena_copy(&b->ret->arena, after);
    return (!values[0].failed && !values[1].failed && change->before.p && change->after.p) ||
           err_nomem(b->err);
}

static bool explain_key(struct warm_builder *b, struct warm_row *row)
{
    const struct start_graph *cold = &b->ret->cold.graphs.v[row->cold];
    const struct start_graph *warm = &b->ret->warm.graphs.v[row->graph];
    row->first_change = (uint32_t)b->ret->changes.n;
    const struct start_texts *texts = &b->ret->texts;
    if (!start_has_key(texts, cold) || !start_has_key(texts, warm))
        return true;
    uint64_t bytes = trace_payload_size(b->ret->cold.trace, cold->record) +
                     trace_payload_size(b->ret->warm.trace, warm->record);
    if (!spend(b, count_compared(b, cold, warm) + bytes / BYTES_A_PART))
        return true;
    row->n_differ = count_differing(b, cold, warm);
    if (cold->settings != warm->settings &&
        !list_changes(b, row, texts->settings.v[cold->settings], texts->settings.v[warm->settings]))
        return false;
    if (!list_changes(b, row, cold->parts, warm->parts))
        return false;
    for (int i = 0; i < CHANGES_LISTED; i++)
        for (int side = 0; side < 2; side++)
            buf_clear(&b->values[i][side]);
    if (row->n_changes && (!read_values(b, row, 0, b->ret->cold.trace, cold->record) ||
                           !read_values(b, row, 1, b->ret->warm.trace, warm->record)))
        return false;
    for (uint32_t i = 0; i < row->n_changes; i++)
        if (!keep_narrowed(b, &b->ret->changes.v[row->first_change + i], b->values[i]))
            return false;
    return true;
}

/* ---- Rows ---- */

static enum warm_outcome outcome_of(const struct warm_builder *b, const struct warm_row *row,
                                    bool same_key)
{
    const struct start_graph *warm = &b->ret->warm.graphs.v[row->graph];
    if (!is_compiled(warm))
        return is_traced(b->ret, warm) ? WARM_TRACED : WARM_TAKEN;
    return row->cold != WARM_NONE && (same_key || !b->taken[row->cold]) ? WARM_AGAIN : WARM_NEW;
}

static bool add_row(struct warm_builder *b, uint32_t graph)
{
    const struct start_graph *warm = &b->ret->warm.graphs.v[graph];
    struct warm_row row = { .graph = graph, .cold = find_by_key(b, warm) };
    bool same_key = row.cold != WARM_NONE;
    if (!same_key)
        row.cold = find_nearest(b, warm);
    row.outcome = outcome_of(b, &row, same_key);
    if (is_compiled(warm) && row.cold != WARM_NONE && !same_key && !explain_key(b, &row))
        return false;
    if (is_compiled(warm))
        row.cause = cause_of(&row, warm, same_key);
    else if (row.outcome == WARM_TRACED)
        row.cause =
            aot_cause_of(b, warm, row.cold == WARM_NONE ? NULL : &b->ret->cold.graphs.v[row.cold]);
    if (row.cold != WARM_NONE)
        b->taken[row.cold] = true;
    return vec_push(&b->ret->rows, row) || err_nomem(b->err);
}

static bool add_rows(struct warm_builder *b)
{
    if (!mark_known(b))
        return false;
    for (uint32_t i = 0; i < b->ret->warm.graphs.n; i++)
        if (!add_row(b, i))
            return false;
    for (size_t i = 0; i < b->ret->cold.graphs.n; i++)
        b->ret->n_unasked += !b->taken[i];
    return true;
}

/* ---- Groups ---- */

static struct str group_text(const struct warm_builder *b, const struct warm_row *row)
{
    if (row->cause == CAUSE_KEY && row->n_changes)
        return b->ret->changes.v[row->first_change].name;
    if (row->cause == CAUSE_GUARD)
        return b->ret->warm.graphs.v[row->graph].guard;
    return row->cause == CAUSE_BYPASS ? b->ret->warm.graphs.v[row->graph].reason : STR("");
}

/* "example_inputs" for "example_inputs[3]". */
static struct str without_number(struct str name)
{
    return key_component_is_of_graph(name) ? str_first(name, str_find_char(name, '[')) : name;
}

static void count_in_group(struct warm_builder *b, struct warm_group *group,
                           const struct warm_row *row)
{
    int64_t ns = b->ret->warm.graphs.v[row->graph].ns;
    group->n++;
    if (ns > 0 && ns <= INT64_MAX - group->ns)
        group->ns += ns;
    if (group->change == WARM_NONE)
        return;
    const struct key_change *one = &b->ret->changes.v[group->change];
    const struct key_change *other = &b->ret->changes.v[row->first_change];
    group->same_change &= str_eq(one->before, other->before) && str_eq(one->after, other->after);
}

static bool add_to_group(struct warm_builder *b, uint32_t at)
{
    const struct warm_row *row = &b->ret->rows.v[at];
    struct str what = row->outcome == WARM_TAKEN ? STR("") : group_text(b, row);
    if (row->cause == CAUSE_KEY)
        what = without_number(what);
    buf_clear(&b->text);
    buf_printf(&b->text, "%d %d ", (int)row->outcome, (int)row->cause);
    buf_put(&b->text, what);
    uint32_t id = b->text.failed ? INTERN_NONE : intern(&b->groups, buf_str(&b->text));
    struct warm_group fresh = {
        .outcome = row->outcome,
        .cause = row->cause,
        .what = what,
        .row = at,
        .change = row->cause == CAUSE_KEY && row->n_changes ? row->first_change : WARM_NONE,
        .same_change = true,
    };
    if (id == INTERN_NONE || (id == b->ret->groups.n && !vec_push(&b->ret->groups, fresh)))
        return err_nomem(b->err);
    count_in_group(b, &b->ret->groups.v[id], row);
    return true;
}

static int by_cost(enum warm_outcome a, int64_t a_ns, enum warm_outcome b, int64_t b_ns)
{
    return a != b ? (a < b ? -1 : 1) : (a_ns < b_ns) - (a_ns > b_ns);
}

static int by_row(const void *a, const void *b)
{
    const struct warm_row *x = a, *y = b;
    int order = by_cost(x->outcome, x->ns, y->outcome, y->ns);
    return order ? order : (x->graph > y->graph) - (x->graph < y->graph);
}

static int by_group(const void *a, const void *b)
{
    const struct warm_group *x = a, *y = b;
    int order = by_cost(x->outcome, x->ns, y->outcome, y->ns);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static bool add_groups(struct warm_builder *b)
{
    struct warm_start *w = b->ret;
    for (size_t i = 0; i < w->rows.n; i++)
        w->rows.v[i].ns = w->warm.graphs.v[w->rows.v[i].graph].ns;
    if (w->rows.n)
        qsort(w->rows.v, w->rows.n, sizeof *w->rows.v, by_row);
    for (uint32_t i = 0; i < w->rows.n; i++) {
        const struct warm_row *row = &w->rows.v[i];
        w->counts[row->outcome]++;
        if (row->ns > 0 && row->ns <= INT64_MAX - w->ns[row->outcome])
            w->ns[row->outcome] += row->ns;
        if (row->outcome != WARM_TAKEN && !add_to_group(b, i))
            return false;
    }
    if (w->groups.n)
        qsort(w->groups.v, w->groups.n, sizeof *w->groups.v, by_group);
    return true;
}

/* ---- The whole ---- */

int64_t warm_start_saved_ns(const struct warm_start *w)
{
    int64_t ns;
    return __builtin_add_overflow(w->ns[WARM_TAKEN], w->ns[WARM_TRACED], &ns) ? INT64_MAX : ns;
}

bool warm_start_make(struct warm_start *ret, struct trace *cold, uint32_t cold_recording,
                     struct trace *warm, uint32_t warm_recording, struct err *err)
{
    struct warm_builder b = { .ret = ret, .err = err };
    bool ok = start_read(&ret->cold, &ret->texts, cold, cold_recording, err) &&
              start_read(&ret->warm, &ret->texts, warm, warm_recording, err) && make_tables(&b) &&
              add_rows(&b) && add_groups(&b);
    free(b.slots);
    free(b.by_key);
    free(b.first);
    free(b.of_series);
    free(b.taken);
    intern_release(&b.groups);
    json_release(&b.doc);
    buf_release(&b.text);
    for (int i = 0; i < CHANGES_LISTED; i++)
        for (int side = 0; side < 2; side++)
            buf_release(&b.values[i][side]);
    return ok;
}

void warm_start_release(struct warm_start *w)
{
    vec_release(&w->rows);
    vec_release(&w->changes);
    vec_release(&w->groups);
    start_release(&w->cold);
    start_release(&w->warm);
    start_texts_release(&w->texts);
    arena_release(&w->arena);
}
