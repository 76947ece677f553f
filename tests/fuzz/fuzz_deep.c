/* Side files of deep recordings. What is packed of them, whatever they hold, reads as records: each
 * header line is an envelope. */
#include "tests/fuzz/fuzz.h"

#include "trace/graph/traceback.h"
#include "trace/log/deep/deep_pack.h"
#include "trace/log/envelope.h"
#include "trace/tape/glog.h"

static void check_line(struct envelope_reader *reader, struct stack_table *stacks, struct str line)
{
    struct glog glog;
    struct envelope envelope;
    struct err err = { 0 };
    if (line.n && line.p[0] == '\t')
        return;
    size_t prefix = glog_parse(line, &glog);
    FUZZ_CHECK(prefix > 0);
    FUZZ_CHECK(envelope_read(reader, stacks, str_from(line, prefix), &envelope, &err));
    FUZZ_CHECK(str_starts(envelope.event, STR("symtape_")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct deep_file file;
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct envelope_reader reader = { 0 };
    struct intern strings = INTERN_INIT;
    struct stack_table stacks;
    FUZZ_CHECK(stacks_init(&stacks, &strings));
    if (deep_file_read(&file, (struct str){ (const char *)data, size }, &err)) {
        FUZZ_CHECK(deep_pack(&file, &text, &err));
        struct str rest = buf_str(&text), line;
        reader.root = stacks_root(&stacks, 0);
        while (text_next_line(&rest, &line))
            check_line(&reader, &stacks, line);
    }
    deep_file_release(&file);
    envelope_release(&reader);
    stacks_release(&stacks);
    intern_release(&strings);
    buf_release(&text);
    return 0;
}
