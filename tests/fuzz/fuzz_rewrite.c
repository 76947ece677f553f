/* Masks of candidates read from texts: what is rewritten prints to a text that reads again, and the
 * results of small graphs stay. */
#include "tests/fuzz/fuzz.h"

#include "minify/rewrite/rewrite_check.h"

/* Each run of a graph makes a table of all operators. That takes most of the time, and running
 * graphs has targets of its own, so one of SAMPLE texts is run. */
enum { MAX_TEXT = 1 << 12, MOST_ELEMENTS = 1 << 8, SAMPLE = 8 };

/* A graph that computes other results after it was rewritten would be a bug, but a text can contain
 * metas that its calls contradict; so only what is read and written is checked. */
static void check_rewritten(const struct rewrite *rewrite)
{
    struct buf text = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    FUZZ_CHECK(candidate_print_fx(rewrite->result, &text));
    struct candidate *again = candidate_read_fx(buf_str(&text), NULL, &err);
    FUZZ_CHECK(again);
    candidate_free(again);
    buf_release(&text);
}

static void rewrite_one(const struct candidate *candidate, bool differentiated, bool run)
{
    struct err err = { .kind = ERR_NONE };
    struct rewrite rewrite;
    struct rewrite_check check;
    const struct rewrite_options how = { .differentiated = differentiated };
    if (rewrite_masks(candidate, &how, &rewrite, &err)) {
        FUZZ_CHECK(!rewrite.n_rewritten == !rewrite.result);
        if (rewrite.result)
            check_rewritten(&rewrite);
        if (run && rewrite.result && rewrite_check_cost(&rewrite) < MOST_ELEMENTS)
            FUZZ_CHECK(rewrite_check(&rewrite, &check, &err) || err_is_set(&err));
    } else {
        FUZZ_CHECK(err_is_set(&err));
    }
    rewrite_release(&rewrite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { .kind = ERR_NONE };
    if (size > MAX_TEXT)
        return 0;
    struct candidate *candidate =
        candidate_read_fx((struct str){ (const char *)data, size }, NULL, &err);
    uint32_t hash = fuzz_hash(data, size);
    if (candidate)
        rewrite_one(candidate, hash & 1, (hash >> 1) % SAMPLE == 0);
    candidate_free(candidate);
    return 0;
}
