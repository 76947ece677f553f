/* The reader of worker messages: any bytes are refused, are not enough, or are messages, whose
 * parts are bounded; a job that is read prints as a message that reads as the same job. */
#include "tests/fuzz/fuzz.h"

#include "minify/remote/message.h"

static void check_job(const struct job *job)
{
    struct buf text = BUF_INIT;
    struct message again;
    struct err err = { 0 };
    FUZZ_CHECK(job->words.n > 0 && job->files.n <= JOB_FILES_MAX);
    FUZZ_CHECK(job->input == JOB_TEXT || job->input < job->files.n);
    for (size_t i = 0; i < job->files.n; i++)
        FUZZ_CHECK(job->files.v[i].name.n > 0 &&
                   str_find_char(job->files.v[i].name, '/') == job->files.v[i].name.n);
    message_print_run(job, &text);
    FUZZ_CHECK(!text.failed);
    struct str rest = buf_str(&text);
    if (str_find_char(rest, '\n') <= MESSAGE_LINE_MAX) {
        FUZZ_CHECK(message_read(&rest, &again, &err) == MESSAGE_READ && rest.n == 0);
        FUZZ_CHECK(again.job.words.n == job->words.n && again.job.files.n == job->files.n &&
                   again.job.variables.n == job->variables.n && again.job.input == job->input);
        message_release(&again);
    }
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    for (;;) {
        struct message message;
        struct err err = { 0 };
        size_t before = text.n;
        enum message_read got = message_read(&text, &message, &err);
        FUZZ_CHECK((got == MESSAGE_BAD) == err_is_set(&err));
        if (got != MESSAGE_READ)
            return 0;
        FUZZ_CHECK(text.n < before);
        if (message.kind == MESSAGE_RUN)
            check_job(&message.job);
        message_release(&message);
    }
}
