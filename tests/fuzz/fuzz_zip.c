/* The ZIP reader: an archive that it opens has members that lie inside the bytes, apart from one
 * another, and are found by their names; what it reads has the size that it said. */
#include "tests/fuzz/fuzz.h"

#include "trace/pt2/zip.h"

static void use_member(const struct zip *zip, const struct zip_member *m, struct buf *scratch)
{
    struct err err = { .kind = ERR_NONE };
    struct str text;
    FUZZ_CHECK(m->data <= zip->bytes.n && m->packed <= zip->bytes.n - m->data);
    FUZZ_CHECK(zip_find(zip, m->name) == m);
    bool read = zip_read(zip, m, scratch, &text, &err);
    FUZZ_CHECK(read != err_is_set(&err));
    FUZZ_CHECK(!read || text.n == m->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct zip_limits limits = { .members = 1000, .ratio = 100, .member_bytes = 1 << 20 };
    struct err err = { .kind = ERR_NONE };
    struct buf scratch = BUF_INIT;
    struct zip zip;
    bool opened = zip_open(&zip, (struct str){ (const char *)data, n }, &limits, &err);
    FUZZ_CHECK(opened != err_is_set(&err));
    uint64_t bytes = 0;
    for (uint32_t i = 0; opened && i < zip.n_members; i++) {
        bytes += zip.members[i].packed;
        use_member(&zip, &zip.members[i], &scratch);
    }
    FUZZ_CHECK(bytes <= n);
    if (opened)
        zip_close(&zip);
    buf_release(&scratch);
    return 0;
}
