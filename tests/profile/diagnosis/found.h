/* Diagnoses of made logs, and what the tests of finders ask of them. */
#ifndef SYMTAPE_TESTS_PROFILE_DIAGNOSIS_FOUND_H
#define SYMTAPE_TESTS_PROFILE_DIAGNOSIS_FOUND_H

#include "profile/diagnosis/diagnosis.h"
#include "tests/profile/made.h"

struct found {
    struct made made;
    struct diagnosis *diagnosis;
};

static inline struct found found_in(struct log_make *log)
{
    struct err err = ERR_INIT;
    struct found found = { .made = made_profile(log, NULL) };
    found.diagnosis = diagnosis_build(found.made.profile, &err);
    assert_no_err(&err);
    assert_non_null(found.diagnosis);
    return found;
}

static inline void found_drop(struct found *found)
{
    diagnosis_free(found->diagnosis);
    made_drop(&found->made);
}

/* Returns the only finding of a kind; NULL if there is none. */
static inline const struct finding *found_one(const struct found *found, enum finding_kind kind)
{
    const struct finding *ret = NULL;
    for (uint32_t i = 0; i < found->diagnosis->n_findings; i++) {
        if (found->diagnosis->findings[i].kind != kind)
            continue;
        assert_null(ret);
        ret = &found->diagnosis->findings[i];
    }
    return ret;
}

static inline void assert_contains(struct str text, const char *part)
{
    if (!str_contains(text, str_of(part)))
        fail_msg("\"%.*s\" does not contain \"%s\"", STR_ARG(text), part);
}

static inline bool diagnose_once(void *arg)
{
    struct err err = ERR_INIT;
    struct diagnosis *diagnosis = diagnosis_build(arg, &err);
    bool ok = diagnosis != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    diagnosis_free(diagnosis);
    return ok;
}

/* A compile of f() with one operator, and its metrics with these members. */
static inline void found_compile(struct log_make *log, const char *members)
{
    struct buf meta = BUF_INIT;
    log_put(log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log_put(log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    buf_printf(&meta,
               "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/u/m.py\", "
               "\"co_firstlineno\": 3, \"entire_frame_compile_time_s\": 2.0, "
               "\"backend_compile_time_s\": 1.5, \"inductor_compile_time_s\": 1.0%s}",
               members);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

#endif
