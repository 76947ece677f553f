#include "trace/pt2/zip.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/trace/pt2/zip_make.h"

static const struct str POEM = { "stored, stored, stored, stored, stored", 38 };

/* Two members: "a/stored" and "a/deflated", both POEM. */
static struct str two_members(struct zip_make *make)
{
    make_member(make, STR("a/stored"), POEM, false);
    make_member(make, STR("a/deflated"), POEM, true);
    return make_finish(make, "");
}

static void check_member(const struct zip *zip, const char *name, enum zip_method method)
{
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct str text;
    const struct zip_member *m = zip_find(zip, str_of(name));
    assert_non_null(m);
    assert_int_equal(m->method, method);
    assert_int_equal(m->size, POEM.n);
    assert_true(zip_read(zip, m, &scratch, &text, &err));
    assert_str_eq(text, POEM);
    if (method == ZIP_STORED) {
        assert_ptr_equal(text.p, zip->bytes.p + m->data);
        assert_int_equal(m->packed, m->size);
    }
    buf_release(&scratch);
}

static void check_two_members(struct zip_make *make)
{
    struct err err = ERR_INIT;
    struct zip zip;
    struct str bytes = two_members(make);
    assert_true(zip_looks_like(bytes));
    if (!zip_open(&zip, bytes, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(zip.n_members, 2);
    assert_str_is(zip.members[0].name, "a/stored");
    check_member(&zip, "a/stored", ZIP_STORED);
    check_member(&zip, "a/deflated", ZIP_DEFLATED);
    assert_null(zip_find(&zip, STR("a/")));
    assert_null(zip_find(&zip, STR("b")));
    zip_close(&zip);
    assert_int_equal(zip.n_members, 0);
    make_release(make);
}

static void test_stored_and_deflated_members_are_read(void **state)
{
    (void)state;
    check_two_members(&(struct zip_make){ 0 });
}

/* ---- in a file ---- */

static const char *write_archive(struct str bytes)
{
    const char *path = temp_path("archive.zip");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, file), bytes.n);
    fclose(file);
    return path;
}

static void test_an_archive_in_a_file_is_the_same(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct err err = ERR_INIT;
    struct str bytes = two_members(&make), text;
    struct buf scratch = BUF_INIT;
    struct file file;
    struct zip zip;
    assert_true(file_open(&file, write_archive(bytes), &err));
    assert_true(zip_open_file(&zip, &file, NULL, &err));
    assert_int_equal(zip.size, bytes.n);
    assert_int_equal(zip.n_members, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(zip_read(&zip, &zip.members[i], &scratch, &text, &err));
        assert_str_eq(text, POEM);
    }
    assert_no_err(&err);
    buf_release(&scratch);
    zip_close(&zip);
    file_close(&file);
    make_release(&make);
}

/* Between the opening of an archive and the reading of its members. */
static void test_a_file_that_is_cut_short_is_an_error(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct str bytes = two_members(&make);
    const char *path = write_archive(bytes);
    for (size_t left = 0; left < bytes.n; left++) {
        struct err err = ERR_INIT;
        struct buf scratch = BUF_INIT;
        struct str text;
        struct file file;
        struct zip zip;
        assert_string_equal(path, write_archive(bytes));
        assert_true(file_open(&file, path, &err));
        assert_true(zip_open_file(&zip, &file, NULL, &err));
        assert_int_equal(truncate(path, (off_t)left), 0);
        for (uint32_t i = 0; i < 2; i++) {
            const struct zip_member *m = &zip.members[i];
            bool whole = m->data + m->packed <= left;
            err = (struct err){ .kind = ERR_NONE };
            assert_int_equal(zip_read(&zip, m, &scratch, &text, &err), whole);
            assert_int_equal(err.kind, whole ? ERR_NONE : ERR_ENV);
            assert_true(whole || str_starts(str_of(err.text), STR("member a/")));
        }
        zip_close(&zip);
        err = (struct err){ .kind = ERR_NONE };
        assert_false(zip_open_file(&zip, &file, NULL, &err)); /* and while it is opened */
        assert_int_equal(err.kind, ERR_ENV);
        buf_release(&scratch);
        file_close(&file);
    }
    make_release(&make);
}

static void test_sizes_may_follow_the_data(void **state)
{
    (void)state;
    check_two_members(&(struct zip_make){ .descriptor = true });
}

static void test_zip64_is_read(void **state)
{
    (void)state;
    check_two_members(&(struct zip_make){ .zip64 = true });
    check_two_members(&(struct zip_make){ .zip64 = true, .descriptor = true });
}

static void test_an_empty_archive_has_no_members(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct zip_make make = { 0 };
    struct zip zip;
    assert_true(zip_open(&zip, make_finish(&make, "a comment"), NULL, &err));
    assert_int_equal(zip.n_members, 0);
    assert_null(zip_find(&zip, STR("a")));
    zip_close(&zip);
    make_release(&make);
}

static void test_an_empty_member_is_read(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct zip_make make = { 0 };
    struct zip zip;
    struct buf scratch = BUF_INIT;
    struct str text;
    make_member(&make, STR("stored"), STR(""), false);
    make_member(&make, STR("deflated"), STR(""), true);
    make_member(&make, STR("folder/"), STR(""), false);
    assert_true(zip_open(&zip, make_finish(&make, ""), NULL, &err));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(zip_read(&zip, &zip.members[i], &scratch, &text, &err));
        assert_int_equal(text.n, 0);
    }
    buf_release(&scratch);
    zip_close(&zip);
    make_release(&make);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void check_refused(struct str bytes, const struct zip_limits *limits, const char *message)
{
    struct err err = ERR_INIT;
    struct zip zip;
    assert_false(zip_open(&zip, bytes, limits, &err));
    assert_null(zip.members);
    assert_err(&err, ERR_INPUT, message);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    assert_false(zip_looks_like(STR("")));
    assert_false(zip_looks_like(STR("V0722 12:00:00.000000 1 a.py:1] {\"a\": {}}")));
    check_refused(STR(""), NULL, "offset 0: no end of central directory");
    check_refused(STR("PK\3\4 and not much else follows here"), NULL,
                  "the ZIP archive is not complete");
}

/* What is put over the archive of two_members(), counted from one of its parts. */
enum part { LOCAL, ENTRY, END };

struct damage {
    enum part part; /* of the first member */
    size_t at;
    const char *bytes;
    size_t n;
    const char *message;
};

static void test_headers_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct damage DAMAGES[] = {
        { LOCAL, 0, "XX", 2, "member a/stored: offset 0: no local header here" },
        { LOCAL, 8, "\x08", 1, "member a/stored: offset 0: local header and central directory" },
        { LOCAL, 14, "\1", 1, "local header and central directory disagree" },
        { LOCAL, 18, "\1", 1, "local header and central directory disagree" },
        { LOCAL, 22, "\1", 1, "local header and central directory disagree" },
        { LOCAL, 28, "\xFF\xFF", 2, "local header reaches past the members" },
        { LOCAL, 30, "b", 1, "local header and central directory disagree" },
        { ENTRY, 0, "XX", 2, "no entry of the central directory here" },
        { ENTRY, 8, "\1", 1, "encrypted or patched" },
        { ENTRY, 10, "\x0C", 1, "method other than deflate" },
        { ENTRY, 20, "\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F", 8, "disagree" },
        { ENTRY, 20, "\xFF\xFF\xFF\xFF", 4, "damaged ZIP64 sizes" },
        { ENTRY, 24, "\1", 1, "stored, but its two sizes differ" },
        { ENTRY, 30, "\xFF\xFF", 2, "entry reaches past the central directory" },
        { ENTRY, 34, "\1", 1, "on another disk" },
        { ENTRY, 42, "\xFE\xFF\xFF\xFF", 4, "no local header here" },
        { END, 4, "\1", 1, "several disks" },
        { END, 8, "\1", 1, "several disks" },
        { END, 8, "\xFF\x7F\xFF\x7F", 4, "too small for its entries" },
        { END, 12, "\xFF\xFF\xFF\x7F", 4, "central directory lies outside the file" },
        { END, 16, "\xFF\xFF\xFF\x7F", 4, "central directory lies outside the file" },
        { END, 20, "\1", 1, "no end of central directory" },
    };
    for (size_t i = 0; i < sizeof DAMAGES / sizeof *DAMAGES; i++) {
        const struct damage *d = &DAMAGES[i];
        struct zip_make make = { 0 };
        struct str bytes = two_members(&make);
        size_t entry = make.end - make.directory.n;
        size_t from = d->part == LOCAL ? 0 : d->part == ENTRY ? entry : make.end;
        memcpy(make.bytes.p + from + d->at, d->bytes, d->n);
        check_refused(bytes, NULL, d->message);
        make_release(&make);
    }
}

static void test_zip64_records_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct damage DAMAGES[] = {
        { END, 8, "\3\0\3\0", 4, "the two ends of the central directory disagree" },
        { END, 16, "\1\0\0\0", 4, "the two ends of the central directory disagree" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct zip_make make = { .zip64 = true };
        struct str bytes = two_members(&make);
        memcpy(make.bytes.p + make.end + DAMAGES[i].at, DAMAGES[i].bytes, DAMAGES[i].n);
        check_refused(bytes, NULL, DAMAGES[i].message);
        make_release(&make);
    }
    struct zip_make make = { .zip64 = true };
    struct str bytes = two_members(&make);
    memset(make.bytes.p + make.end - 12, 0xFF, 8); /* the locator's offset */
    check_refused(bytes, NULL, "no ZIP64 end of central directory where its locator says");
    make_release(&make);
}

static void test_unsafe_names_are_refused(void **state)
{
    (void)state;
    static const struct str NAMES[] = {
        { "/etc/passwd", 11 }, { "..", 2 },       { "a/../../b", 9 }, { "a\\..\\b", 6 },
        { "\\a", 2 },          { "a\0.json", 7 }, { "", 0 },          { "a/..", 4 },
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct zip_make make = { 0 };
        make_member(&make, NAMES[i], POEM, false);
        check_refused(make_finish(&make, ""), NULL, "name is absolute, empty or contains \"..\"");
        make_release(&make);
    }
    struct zip_make make = { 0 };
    struct zip zip;
    struct err err = ERR_INIT;
    make_member(&make, STR("..a/b../...c"), POEM, false);
    assert_true(zip_open(&zip, make_finish(&make, ""), NULL, &err));
    zip_close(&zip);
    make_release(&make);
}

static void test_names_in_messages_are_printable(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    make_member(&make, STR("/\n\x1b[31m\xFF"), POEM, false);
    check_refused(make_finish(&make, ""), NULL, "member /??[31m?: offset");
    make_release(&make);
}

static void test_a_second_member_of_a_name_is_refused(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    make_member(&make, STR("a"), POEM, false);
    make_member(&make, STR("b"), POEM, false);
    make_member(&make, STR("a"), STR("other"), false);
    check_refused(make_finish(&make, ""), NULL, "a second member of this name");
    make_release(&make);
}

static void test_overlapping_members_are_refused(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct str name = STR("b");
    struct buf inner = BUF_INIT;
    struct zip_make quoted = { 0 };
    make_local(&quoted, name, 0, make_crc(POEM), POEM, POEM.n);
    buf_put(&inner, buf_str(&quoted.bytes));
    /* A member whose data holds the whole of another member, header and all. */
    make_member(&make, STR("a"), buf_str(&inner), false);
    make_entry(&make, name, 0, make_crc(POEM), POEM.n, POEM.n, 31);
    check_refused(make_finish(&make, ""), NULL, "member b: offset 31: overlaps member a");
    make_release(&make);
    make_release(&quoted);
    buf_release(&inner);
}

static void test_members_past_the_directory_are_refused(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    size_t header = make_local(&make, STR("a"), 0, make_crc(POEM), POEM, 4096);
    make.bytes.p[18] = 0;
    make.bytes.p[19] = 16;
    make_entry(&make, STR("a"), 0, make_crc(POEM), 4096, 4096, header);
    check_refused(make_finish(&make, ""), NULL, "reaches past the end of the members");
    make_release(&make);
}

static void test_limits_are_the_callers(void **state)
{
    (void)state;
    struct zip_limits limits = { .members = 1, .ratio = 300, .member_bytes = POEM.n };
    struct zip_make make = { 0 };
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct zip zip;
    struct str text, bytes = two_members(&make);
    check_refused(bytes, &limits, "2 members, more than the limit of 1");
    limits.members = 2;
    assert_true(zip_open(&zip, bytes, &limits, &err));
    assert_true(zip_read(&zip, &zip.members[1], &scratch, &text, &err));
    zip_close(&zip);
    limits.member_bytes--;
    assert_true(zip_open(&zip, bytes, &limits, &err));
    assert_false(zip_read(&zip, &zip.members[1], &scratch, &text, &err));
    assert_err(&err, ERR_INPUT, "member a/deflated: offset 76: 38 bytes, more than the limit of");
    zip_close(&zip);
    buf_release(&scratch);
    make_release(&make);
}

/* 64 MiB of zeros deflate to 64 KiB. */
static void test_a_bomb_is_refused_unread(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct buf zeros = BUF_INIT;
    assert_true(buf_reserve(&zeros, 64 << 20));
    memset(zeros.p, 0, zeros.n = 64 << 20);
    make_member(&make, STR("bomb"), buf_str(&zeros), true);
    buf_release(&zeros);
    struct str bytes = make_finish(&make, "");
    check_refused(bytes, NULL, "67108864 bytes from");
    check_refused(bytes, NULL, "more than the limit of 300 to 1");
    make_release(&make);
}

/* An archive of one deflated member "a", whose data and sizes are as given. */
static void check_unreadable(struct str packed, size_t size, uint32_t crc, const char *message)
{
    struct zip_make make = { 0 };
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct zip zip;
    struct str text = { 0 };
    size_t header = make_local(&make, STR("a"), 8, crc, packed, size);
    make_entry(&make, STR("a"), 8, crc, packed.n, size, header);
    assert_true(zip_open(&zip, make_finish(&make, ""), NULL, &err));
    assert_false(zip_read(&zip, &zip.members[0], &scratch, &text, &err));
    assert_null(text.p);
    assert_err(&err, ERR_INPUT, message);
    zip_close(&zip);
    buf_release(&scratch);
    make_release(&make);
}

static void test_deflated_data_is_held_to_its_header(void **state)
{
    (void)state;
    struct buf packed = BUF_INIT;
    make_deflate(POEM, &packed);
    uint32_t crc = make_crc(POEM);
    struct str whole = buf_str(&packed);
    check_unreadable(whole, POEM.n, crc ^ 1, "member a: offset 31: checksum (CRC-32)");
    check_unreadable(whole, POEM.n - 1, crc, "inflates to more bytes than its entry says");
    check_unreadable(whole, POEM.n + 1, crc, "inflates to fewer bytes than its entry says");
    check_unreadable(str_first(whole, whole.n - 2), POEM.n, crc, "deflated data ends early");
    check_unreadable(STR("\xFF\xFF\xFF"), POEM.n, crc, "invalid block type");
    check_unreadable(STR(""), POEM.n, crc, "deflated data ends early");
    buf_putc(&packed, 'x');
    check_unreadable(buf_str(&packed), POEM.n, crc, "inflates to fewer bytes than its entry says");
    buf_release(&packed);
}

static void test_a_changed_stored_member_is_noticed(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct err err = ERR_INIT;
    struct zip zip;
    struct str text, bytes = two_members(&make);
    assert_true(zip_open(&zip, bytes, NULL, &err));
    make.bytes.p[zip.members[0].data + 5] ^= 1;
    assert_false(zip_read(&zip, &zip.members[0], &(struct buf){ 0 }, &text, &err));
    assert_err(&err, ERR_INPUT, "member a/stored: offset 38: checksum (CRC-32) does not match");
    zip_close(&zip);
    make_release(&make);
}

/* ---- hostile ------------------------------------------------------------------------------- */

/* Opens a copy that ends where the bytes do, so that a sanitizer sees any look beyond. */
static void open_and_read(struct str bytes)
{
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct zip zip;
    char *copy = malloc(bytes.n + (bytes.n == 0));
    assert_non_null(copy);
    memcpy(copy, bytes.p, bytes.n);
    if (zip_open(&zip, (struct str){ copy, bytes.n }, NULL, &err)) {
        for (uint32_t i = 0; i < zip.n_members; i++) {
            struct err each = ERR_INIT;
            struct str text;
            bool ok = zip_read(&zip, &zip.members[i], &scratch, &text, &each);
            assert_int_equal(each.kind, ok ? ERR_NONE : ERR_INPUT);
        }
        zip_close(&zip);
    } else {
        assert_int_equal(err.kind, ERR_INPUT);
    }
    buf_release(&scratch);
    free(copy);
}

static void test_every_truncation_and_every_flip_is_survived(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct zip_make make = { .zip64 = form & 1, .descriptor = form & 2 };
        struct str bytes = two_members(&make);
        for (size_t n = 0; n < bytes.n; n++) {
            struct err err = ERR_INIT;
            struct zip zip;
            open_and_read(str_first(bytes, n));
            assert_false(zip_open(&zip, str_first(bytes, n), NULL, &err));
        }
        for (size_t i = 0; i < bytes.n; i++)
            for (int mask = 1; mask < 256; mask = mask * 2 + 1) {
                make.bytes.p[i] = (char)(make.bytes.p[i] ^ mask);
                open_and_read(bytes);
                make.bytes.p[i] = (char)(make.bytes.p[i] ^ mask);
            }
        make_release(&make);
    }
}

static bool open_attempt(void *arg)
{
    const struct str *bytes = arg;
    struct err err = ERR_INIT;
    struct buf scratch = BUF_INIT;
    struct zip zip;
    struct str text;
    bool ok = zip_open(&zip, *bytes, NULL, &err);
    if (ok) {
        ok = zip_read(&zip, &zip.members[1], &scratch, &text, &err);
        zip_close(&zip);
    }
    buf_release(&scratch);
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    return ok;
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    struct str bytes = two_members(&make);
    check_alloc_failures(open_attempt, &bytes);
    make_release(&make);
}

static void test_a_list_of_members_is_found_by_name(void **state)
{
    (void)state;
    const struct zip_member members[] = { { .name = STR("b"), .data = 7 }, { .name = STR("a") } };
    struct err err = ERR_INIT;
    struct zip zip;
    assert_true(zip_of_members(&zip, members, 2, &err));
    assert_int_equal(zip_find(&zip, STR("b"))->data, 7);
    assert_ptr_equal(zip_find(&zip, STR("a")), &zip.members[1]);
    assert_null(zip_find(&zip, STR("c")));
    zip_close(&zip);
    assert_true(zip_of_members(&zip, NULL, 0, &err));
    assert_null(zip_find(&zip, STR("a")));
    zip_close(&zip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_and_deflated_members_are_read),
        cmocka_unit_test(test_an_archive_in_a_file_is_the_same),
        cmocka_unit_test(test_a_file_that_is_cut_short_is_an_error),
        cmocka_unit_test(test_sizes_may_follow_the_data),
        cmocka_unit_test(test_zip64_is_read),
        cmocka_unit_test(test_an_empty_archive_has_no_members),
        cmocka_unit_test(test_an_empty_member_is_read),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_headers_that_lie_are_refused),
        cmocka_unit_test(test_zip64_records_that_lie_are_refused),
        cmocka_unit_test(test_unsafe_names_are_refused),
        cmocka_unit_test(test_names_in_messages_are_printable),
        cmocka_unit_test(test_a_second_member_of_a_name_is_refused),
        cmocka_unit_test(test_overlapping_members_are_refused),
        cmocka_unit_test(test_members_past_the_directory_are_refused),
        cmocka_unit_test(test_limits_are_the_callers),
        cmocka_unit_test(test_a_bomb_is_refused_unread),
        cmocka_unit_test(test_deflated_data_is_held_to_its_header),
        cmocka_unit_test(test_a_changed_stored_member_is_noticed),
        cmocka_unit_test(test_every_truncation_and_every_flip_is_survived),
        cmocka_unit_test(test_memory_may_run_out),
        cmocka_unit_test(test_a_list_of_members_is_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
