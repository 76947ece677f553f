#include "profile/calls/levels/levels_run.h"

#include "profile/calls/dynamic/policy_run.h"
#include "profile/calls/levels/levels_builder.h"

/* ---- What answers each look-up ---- */

static bool map_codes(struct levels_builder *b)
{
    const struct calls_table *table = &b->run->table;
    b->table_codes = malloc((b->run->cache.codes.n + 1) * sizeof *b->table_codes);
    if (!b->table_codes)
        return false;
    for (size_t i = 0; i < b->run->cache.codes.n; i++)
        b->table_codes[i] = NO_ENTRY;
    for (uint32_t i = 0; i < table->codes.n; i++)
        b->table_codes[table->codes.v[i].code] = i;
    return true;
}

/* Runs the calls of a code object whose later levels have derived sizes. */
static bool run_code(struct levels_builder *b, struct code_calls *code)
{
    struct policy_options options = { .policy = CALLS_AUTOMATIC };
    struct policy_counts counts;
    uint64_t recorded = 0;
    for (size_t i = 0; i < code->calls.n; i++) {
        enum lookup_outcome outcome = b->run->cache.lookups.v[code->calls.v[i].lookup].outcome;
        recorded += outcome == LOOKUP_COMPILED || outcome == LOOKUP_NO_ENTRY;
    }
    if (!policy_run(&b->run->table, code, &options, &counts, NULL))
        return false;
    b->run->n_doubtful += counts.compiles != recorded;
    options = (struct policy_options){ .policy = CALLS_MARKED,
                                       .marks_of = derived_sizes_marks,
                                       .data = &b->derived,
                                       .answered = b->answered };
    b->by_policy[code->code] = true;
    return policy_run(&b->run->table, code, &options, &counts, NULL);
}

static bool run_codes(struct levels_builder *b)
{
    b->derived = (struct derived_sizes){ .table = &b->run->table,
                                         .levels = &b->run->levels,
                                         .table_codes = b->table_codes };
    b->answered = calloc(b->run->cache.lookups.n + 1, sizeof *b->answered);
    b->by_policy = calloc(b->run->cache.codes.n + 1, sizeof *b->by_policy);
    bool ok = b->answered && b->by_policy;
    for (size_t i = 0; ok && i < b->run->table.codes.n; i++) {
        struct code_calls *code = &b->run->table.codes.v[i];
        ok = derived_sizes_find(&b->derived, code) && (!b->derived.slots.n || run_code(b, code));
    }
    return ok;
}

/* ---- Artifacts ---- */

/* Numbers the entry that answers a look-up under levels, which is made if it is new. Sets *ret to
 * CALL_NONE if none does. */
static bool number_part(struct levels_builder *b, uint32_t lookup, uint32_t *ret)
{
    const struct lookup_row *row = &b->run->cache.lookups.v[lookup];
    bool by_policy = b->by_policy[row->code];
    struct level_part part = { .code = row->code, .entry = row->answered, .look = lookup };
    if (!by_policy && !backward_guards_forward(&b->backward_guards, lookup, &part.entry))
        return false;
    part.seconds = b->run->cache.entries.v[part.entry].seconds;
    if (by_policy) {
        part.entry = b->answered[lookup].entry;
        part.seconds = b->answered[lookup].seconds;
    }
    *ret = CALL_NONE;
    if (part.entry == NO_ENTRY)
        return true;
    buf_clear(&b->key);
    buf_le32(&b->key, part.code);
    buf_le32(&b->key, part.entry);
    *ret = b->key.failed ? INTERN_NONE : intern(&b->part_keys, buf_str(&b->key));
    return *ret != INTERN_NONE && (*ret < b->run->parts.n || vec_push(&b->run->parts, part));
}

static struct level_counts *counts_of(struct levels_builder *b, uint32_t level)
{
    while (b->run->counts.n < level)
        if (!vec_push(&b->run->counts, (struct level_counts){ 0 }))
            return NULL;
    return &b->run->counts.v[level - 1];
}

bool levels_use_artifact(struct levels_builder *b, struct level_artifact artifact,
                         struct level_counts *counts, uint32_t *ret)
{
    *ret = b->key.failed ? INTERN_NONE : intern(&b->artifact_keys, buf_str(&b->key));
    if (*ret == INTERN_NONE)
        return false;
    if (*ret < b->run->artifacts.n) {
        b->run->artifacts.v[*ret].answers++;
        return true;
    }
    counts->levels++;
    counts->seconds += artifact.seconds;
    return vec_push(&b->run->artifacts, artifact);
}

/* Runs the artifact of a segment, whose look-ups stand from `first` to `end`. */
static bool run_segment(struct levels_builder *b, uint32_t first, uint32_t end)
{
    struct levels_run *run = b->run;
    const struct lookup_row *rows = run->cache.lookups.v;
    struct level_counts *counts = counts_of(b, run->levels.looks.v[first].level);
    struct level_artifact artifact = { .level = run->levels.looks.v[first].level,
                                       .first_part = (uint32_t)run->artifact_parts.n,
                                       .call = rows[first].call };
    uint32_t id, n = (uint32_t)run->artifacts.n;
    if (!counts)
        return false;
    for (uint32_t i = first; i < end; i++) {
        uint32_t part;
        if (!number_part(b, i, &part))
            return false;
        counts->recorded += rows[i].outcome == LOOKUP_COMPILED;
        counts->recorded_seconds += rows[i].outcome == LOOKUP_COMPILED ? rows[i].seconds : 0;
        if (part == CALL_NONE)
            continue;
        artifact.seconds += run->parts.v[part].seconds;
        artifact.n_parts++;
        if (!vec_push(&run->artifact_parts, part))
            return false;
    }
    if (!artifact.n_parts)
        return true;
    buf_clear(&b->key);
    buf_putc(&b->key, 'f');
    for (uint32_t i = 0; i < artifact.n_parts; i++)
        buf_le32(&b->key, run->artifact_parts.v[artifact.first_part + i]);
    if (!levels_use_artifact(b, artifact, counts, &id))
        return false;
    bool made = run->artifacts.n > n;
    if (!made)
        run->artifact_parts.n = artifact.first_part;
    for (uint32_t i = first; i < end; i++) {
        b->artifact_of[i] = id;
        const struct spared_compile spared = { i, id, made };
        if (rows[i].outcome == LOOKUP_COMPILED && (!made || i > first) &&
            !vec_push(&run->spared, spared))
            return false;
    }
    return true;
}

/* A compile that makes no entry is the same under both. */
static bool count_failed(struct levels_builder *b, const struct lookup_row *row)
{
    struct level_counts *counts = counts_of(b, 1);
    if (!counts)
        return false;
    bool compiles = row->outcome == LOOKUP_NO_ENTRY;
    counts->recorded += compiles;
    counts->levels += compiles;
    counts->recorded_seconds += compiles ? row->seconds : 0;
    counts->seconds += compiles ? row->seconds : 0;
    return true;
}

/* Counts the graphs of a call, whose look-ups stand from `first` to `end`. */
static bool count_graphs(struct levels_builder *b, uint32_t first, uint32_t end)
{
    struct levels_run *run = b->run;
    const struct lookup_row *row = &run->cache.lookups.v[first];
    struct call_graphs graphs = { .code = row->code, .call = row->call };
    for (uint32_t i = first; i < end; i++) {
        graphs.recorded += run->levels.looks.v[i].group != CALL_NONE;
        graphs.levels += run->levels.looks.v[i].segment == i;
    }
    if (row->code == CALL_NONE || !graphs.recorded)
        return true;
    uint32_t *at = &b->graphs_of[row->code];
    if (*at == CALL_NONE) {
        *at = (uint32_t)run->graphs.n;
        return vec_push(&run->graphs, graphs);
    }
    if (graphs.recorded > run->graphs.v[*at].recorded)
        run->graphs.v[*at] = graphs;
    return true;
}

static bool run_calls(struct levels_builder *b)
{
    const struct look_level *looks = b->run->levels.looks.v;
    const struct lookup_row *rows = b->run->cache.lookups.v;
    uint32_t n = (uint32_t)b->run->cache.lookups.n;
    b->artifact_of = malloc((n + 1) * sizeof *b->artifact_of);
    b->graphs_of = malloc((b->run->cache.codes.n + 1) * sizeof *b->graphs_of);
    if (!b->artifact_of || !b->graphs_of)
        return false;
    for (size_t i = 0; i < b->run->cache.codes.n; i++)
        b->graphs_of[i] = CALL_NONE;
    for (uint32_t i = 0, end; i < n; i = end) {
        b->artifact_of[i] = CALL_NONE;
        end = i + 1;
        if (looks[i].group == CALL_NONE) {
            if (!count_failed(b, &rows[i]))
                return false;
            continue;
        }
        while (end < n && looks[end].segment == looks[i].segment)
            b->artifact_of[end++] = CALL_NONE;
        if (!run_segment(b, i, end))
            return false;
    }
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && b->log->calls.v[rows[end].call].inside;)
            end++;
        if (!count_graphs(b, i, end))
            return false;
    }
    return true;
}

/* ---- All of it ---- */

static void add_up(struct level_counts *sum, const struct level_counts *one)
{
    sum->recorded += one->recorded;
    sum->levels += one->levels;
    sum->recorded_seconds += one->recorded_seconds;
    sum->seconds += one->seconds;
}

static bool run_levels(struct levels_builder *b, uint32_t recording, struct err *err)
{
    struct levels_run *run = b->run;
    if (!backward_guards_make(&b->backward_guards, &run->table, recording, err))
        return false;
    if (!(map_codes(b) && run_codes(b) && run_calls(b) &&
          asked_guards_count(&run->asked, b->log, &run->cache, &run->levels)))
        return err_nomem(err);
    if (!levels_run_backwards(b, recording, err))
        return false;
    for (size_t i = 0; i < run->counts.n; i++)
        add_up(&run->all, &run->counts.v[i]);
    add_up(&run->all, &run->backward);
    return true;
}

bool levels_run_make(struct levels_run *run, struct trace *trace, uint32_t recording,
                     struct call_log *log, const struct cache_options *options, struct err *err)
{
    struct levels_builder b = { .run = run, .trace = trace, .log = log };
    *run = (struct levels_run){ 0 };
    bool ok = cache_run_make(&run->cache, trace, recording, log, options, err) &&
              call_levels_make(&run->levels, trace, recording, log, &run->cache, err) &&
              calls_table_make(&run->table, trace, recording, log, &run->cache, err) &&
              run_levels(&b, recording, err);
    run->no_frames = run->levels.n_compiles && !run->cache.inside.lookups;
    derived_sizes_release(&b.derived);
    backward_guards_release(&b.backward_guards);
    intern_release(&b.part_keys);
    intern_release(&b.artifact_keys);
    buf_release(&b.key);
    free(b.table_codes);
    free(b.answered);
    free(b.by_policy);
    free(b.artifact_of);
    free(b.graphs_of);
    return ok;
}

void levels_run_release(struct levels_run *run)
{
    vec_release(&run->parts);
    vec_release(&run->artifact_parts);
    vec_release(&run->artifacts);
    vec_release(&run->counts);
    vec_release(&run->graphs);
    vec_release(&run->spared);
    call_levels_release(&run->levels);
    calls_table_release(&run->table);
    cache_run_release(&run->cache);
}
