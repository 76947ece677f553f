/* Any log: its attempts are validated with few steps, or there is an error. No claim is counted
 * twice, and each one that is not proved is listed. */
#include "tests/fuzz/shared/walk.h"

#include "prove/validate/validate.h"

/* Most of the time goes into the table of operators that each replay makes, so one of SAMPLE logs
 * is validated. */
enum { MAX_TEXT = 1 << 14, STEPS = 2000, ATTEMPT_STEPS = 20000, SAMPLE = 4 };

static void check_attempt(const struct validate_attempt *a)
{
    uint64_t open = 0, refuted = 0;
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        FUZZ_CHECK(a->proved[kind] + a->refuted[kind] <= a->claims[kind]);
        open += a->claims[kind] - a->proved[kind];
    }
    FUZZ_CHECK(a->n_findings == (open < VALIDATE_MAX_FINDINGS ? open : VALIDATE_MAX_FINDINGS));
    for (size_t i = 0; i < a->n_findings; i++) {
        const struct validate_finding *finding = &a->findings[i];
        FUZZ_CHECK(finding->verdict != DECIDE_PROVED && finding->claim.n);
        FUZZ_CHECK(finding->verdict == DECIDE_REFUTED || !finding->n_values);
        refuted += finding->verdict == DECIDE_REFUTED;
    }
    FUZZ_CHECK(!refuted || validate_attempt_verdict(a) == DECIDE_REFUTED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    char path[32];
    if (n > MAX_TEXT || fuzz_hash(data, n) % SAMPLE)
        return 0;
    int fd = walk_file((struct str){ (const char *)data, n }, path);
    struct trace *trace = trace_open(path, NULL, &err);
    if (trace) {
        struct validate_options how = VALIDATE_DEFAULT;
        how.limits.steps = STEPS;
        how.attempt_steps = ATTEMPT_STEPS;
        struct validation *v = validate_trace(trace, &how, &err);
        FUZZ_CHECK(!v == err_is_set(&err));
        for (size_t i = 0; v && i < v->n_attempts; i++)
            check_attempt(v->attempts[i]);
        validation_free(v);
        trace_close(trace);
    }
    close(fd);
    return 0;
}
