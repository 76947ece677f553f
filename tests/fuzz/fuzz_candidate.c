/* Candidates read from texts, and edits of them: whatever is accepted prints to a text that reads
 * as the same candidate, and an edit leaves one that does, too. */
#include "tests/fuzz/fuzz.h"

#include "minify/edit/edit.h"

enum { EDITS_TRIED = 24, MAX_TEXT = 1 << 14 };

/* Of a name that is assigned twice, "before NAME" reads as the first. */
static bool has_name_twice(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        for (uint32_t k = 0; k < i; k++)
            if (graph->nodes[i].op != NODE_OUTPUT &&
                str_eq(graph->nodes[i].name, graph->nodes[k].name))
                return true;
    return false;
}

/* Opaque statements keep their text, names in it included, so they need not read as they were. */
static void check_round_trip(const struct candidate *candidate)
{
    struct buf text = BUF_INIT, again_text = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    FUZZ_CHECK(candidate_print_fx(candidate, &text));
    struct candidate *again = candidate_read_fx(buf_str(&text), NULL, &err);
    if (graph_counts(candidate->graph).opaque == 0 && !has_name_twice(candidate->graph) && again) {
        struct cand_hash a = candidate_hash(candidate), b = candidate_hash(again);
        FUZZ_CHECK(candidate_print_fx(again, &again_text));
        if (str_eq(buf_str(&text), buf_str(&again_text)) &&
            graph_equal(candidate->graph, again->graph, NULL))
            FUZZ_CHECK(a.low == b.low && a.high == b.high);
    }
    candidate_free(again);
    buf_release(&text);
    buf_release(&again_text);
}

static struct edit some_edit(const struct candidate *candidate, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t r = *state >> 20;
    uint32_t nodes = candidate->graph->n_nodes;
    struct edit edit = { (enum edit_kind)(r % EDIT_KINDS), 0, 0, (int64_t)(r >> 8) % 9 - 1 };
    edit.a = (uint32_t)(r >> 12) % (nodes + 1);
    edit.b = (uint32_t)(r >> 24) % (r & 1 ? 3 : nodes + 1);
    if (edit.kind == EDIT_DTYPE) {
        edit.a = (uint32_t)(r >> 12) % DTYPE_COUNT;
        edit.b = DTYPE_F32;
    } else if (edit.kind == EDIT_SIZE_CONSTANT && r & 2) {
        edit.a = NODE_NONE;
        edit.b = (uint32_t)(r >> 24) % 9;
    } else if (edit.kind == EDIT_STATIC || edit.kind == EDIT_MERGE || edit.kind == EDIT_HINT ||
               edit.kind == EDIT_WIDEN) {
        edit.a %= candidate->n_symbols + 1;
        edit.b %= candidate->n_symbols + 1;
    }
    return edit;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str text = { (const char *)data, n < MAX_TEXT ? n : MAX_TEXT };
    struct candidate *candidate = candidate_read_fx(text, NULL, &err);
    if (!candidate) {
        FUZZ_CHECK(err.kind == ERR_INPUT);
        return 0;
    }
    check_round_trip(candidate);
    uint64_t state = candidate_hash(candidate).low;
    for (int i = 0; i < EDITS_TRIED; i++) {
        struct edit edit = some_edit(candidate, &state);
        struct err why = { .kind = ERR_NONE };
        struct candidate *less = candidate_apply(candidate, &edit, 1, &why);
        FUZZ_CHECK(less || why.kind == ERR_USAGE || why.kind == ERR_INPUT);
        if (!less)
            continue;
        check_round_trip(less);
        candidate_free(candidate);
        candidate = less;
    }
    struct candidate *nameless = candidate_anonymize(candidate, NULL, &err);
    if (nameless)
        check_round_trip(nameless);
    candidate_free(nameless);
    candidate_free(candidate);
    return 0;
}
